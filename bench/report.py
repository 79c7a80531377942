"""Reading profiles: many summaries, and a series of a million lines.

usage: report.py BUILD_DIR JSON_FILE

Every figure is a ratio of things done in turn in this same run, over files that
our own writers made: reading them and nothing else, and jq doing the same.
BENCH_QUICK=1 in the environment: a tenth of the files and lines.
"""
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench  # noqa: E402  pylint: disable=wrong-import-position

QUICK = bench.QUICK
RUNS = 1000 if QUICK else 10000
LINES = 100000 if QUICK else 1000000
ROUNDS = 3 if QUICK else 9


def make_files(build, scratch):
    with bench.herd(build, 16) as forker:
        subprocess.run([f"{build}/bench/runs", "-p", str(forker.pid), "-d", scratch,
                        "-n", str(RUNS), "-l", str(LINES)], check=True)
    shutil.rmtree(f"{scratch}/0")  # of the session itself
    # apart: what is to be aggregated is not to be counted as one run of many
    os.mkdir(f"{scratch}/long")
    os.rename(f"{scratch}/slurm-99.profres", f"{scratch}/long/slurm-99.profres")
    os.mkdir(f"{scratch}/many")
    for name in os.listdir(scratch):
        if name.startswith("slurm-"):
            os.rename(f"{scratch}/{name}", f"{scratch}/many/{name}")


def cost(build, command, cwd, stdin=os.devnull):
    """CPU seconds, wall seconds and the largest resident set of a command and its children."""
    with open(stdin, "rb") as source:
        done = subprocess.run([os.path.abspath(f"{build}/bench/cost"), *command], cwd=cwd,
                              stdin=source, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def in_turn(build, commands, rounds):
    """The median of each, and the median of the ratios to the first."""
    rows = {name: [] for name in commands}
    for _ in range(rounds):
        for name, arguments in commands.items():
            rows[name].append(cost(build, *arguments))
    first = rows[next(iter(rows))]
    return {name: {"cpu": statistics.median(r["cpu"] for r in row),
                   "wall": statistics.median(r["wall"] for r in row),
                   "rss": max(r["rss"] for r in row),
                   "ratio": statistics.median(r["cpu"] / f["cpu"] for r, f in zip(row, first))}
            for name, row in rows.items()}


def measure_many(build, scratch):
    profres, many = os.path.abspath(f"{build}/profres"), f"{scratch}/many"
    paths = f"{scratch}/paths"
    with open(paths, "w", encoding="ascii") as file:
        for name in sorted(os.listdir(many)):
            file.write(f"{name}/0/node.json\n")
    rows = in_turn(build, {
        "read": ([os.path.abspath(f"{build}/bench/readall")], many, paths),
        "ls": ([profres, "ls", "-nP"], many),
        "report": ([profres, "report", "."], many),
    }, ROUNDS)
    if shutil.which("jq"):
        query = '[.info.job, .elapsed_seconds, .measurements.cgroup_mem_peak.max,' \
                ' .measurements.cgroup_cpu_seconds.total, .state] | @tsv'
        rows["jq"] = cost(build, ["xargs", "jq", "-r", query], many, paths)
    return rows


def measure_long(build, scratch):
    profres, long = os.path.abspath(f"{build}/profres"), f"{scratch}/long"
    series = "slurm-99.profres/0/node.jsonl"
    short = f"{scratch}/short/slurm-99.profres/0"
    os.makedirs(short)
    shutil.copy(f"{long}/slurm-99.profres/0/node.json", short)
    with open(f"{long}/{series}", "rb") as source, open(f"{short}/node.jsonl", "wb") as sink:
        for _, line in zip(range(1000), source):
            sink.write(line)
    rows = in_turn(build, {
        "report": ([profres, "report", "--no-sacct", "slurm-99.profres"], long),
        "rows": ([profres, "report", "--no-sacct", "--by=time", "-nP", "-o",
                  "From,To,cgroup_mem_current,cgroup_pdcpu", "slurm-99.profres"], long),
    }, 3)
    rows["short"] = cost(build, [profres, "report", "--no-sacct", "slurm-99.profres"], f"{scratch}/short")
    if shutil.which("jq"):
        last = 'reduce (inputs | select(.type == "usage")) as $u ({}; .n += 1 | .to = $u.to |' \
               ' .max = ([.max, $u.measurements.cgroup_mem_current] | max))'
        each = 'inputs | select(.type == "usage") | [.from, .to,' \
               ' .measurements.cgroup_mem_current, .measurements.cgroup_pdcpu] | @tsv'
        rows["jq report"] = cost(build, ["jq", "-nc", last, series], long)
        rows["jq rows"] = cost(build, ["jq", "-nr", each, series], long)
    return rows


def print_many(rows):
    print(f"\n{RUNS} summaries: CPU seconds, median of {ROUNDS} in turn")
    print(f"  {'':<30} {'CPU':>7} {'wall':>7} {'ratio':>6} {'goal':>8}")
    for name, text in (("read", "open, read, close of each"), ("ls", "profres ls"),
                       ("report", "profres report, as a group")):
        row = rows[name]
        goal = "" if name == "read" else f"3 {bench.verdict(row['ratio'] <= 3)}"
        print(f"  {text:<30} {row['cpu']:7.3f} {row['wall']:7.3f} {row['ratio']:6.2f} {goal:>8}")
    if "jq" in rows:
        ratio = rows["jq"]["cpu"] / rows["ls"]["cpu"]
        print(f"  {'jq, the same columns':<30} {rows['jq']['cpu']:7.3f} {rows['jq']['wall']:7.3f}"
              f" {ratio:6.1f} x ls   goal 10 {bench.verdict(ratio >= 10)}")
    else:
        print("  jq: not installed: skipped")


def print_long(rows):
    print(f"\nA series of {LINES} lines: CPU seconds, and the largest resident set")
    print(f"  {'':<30} {'CPU':>7} {'MiB':>7} {'jq':>7} {'ratio':>6} {'goal':>8}")
    for name, text in (("report", "profres report"), ("rows", "profres report --by=time")):
        row, other = rows[name], rows.get(f"jq {name}")
        line = f"  {text:<30} {row['cpu']:7.3f} {row['rss'] / bench.MIB:7.1f}"
        if other:
            ratio = other["cpu"] / row["cpu"]
            line += f" {other['cpu']:7.3f} {ratio:6.1f} {'10 ' + bench.verdict(ratio >= 10):>8}"
        print(line)
    growth = rows["report"]["rss"] / rows["short"]["rss"]
    print(f"  memory, against a series of 1000 lines: {growth:.2f} times,"
          f" goal 1.1 {bench.verdict(growth <= 1.1)}")


def main():
    build, out = sys.argv[1:3]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # clean up on the way out
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else build
    with tempfile.TemporaryDirectory(prefix="bench.", dir=memory) as scratch:
        make_files(build, scratch)
        many = measure_many(build, scratch)
        print_many(many)
        long = measure_long(build, scratch)
        print_long(long)
    result = {"quick": QUICK, "load": os.getloadavg(), "runs": RUNS, "lines": LINES,
              "many": many, "long": long}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
