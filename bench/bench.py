"""What the profiler costs, beside what there is to compare it with.

usage: bench.py BUILD_DIR JSON_FILE

Every figure that matters is a ratio of two things measured in turn in this
same run, in CPU time where that says it: the machine may be slow or busy.
BENCH_QUICK=1 in the environment: fewer rounds, under half a minute.
"""
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")
MIB = 1 << 20
CONTROLLERS = ("memory", "cpuacct", "pids", "blkio", "unified")  # as 'profres run' makes them


# ---- processes to look at, in a cgroup of their own ----

def mounts():
    """Where each hierarchy is mounted."""
    found = {}
    with open("/proc/self/mounts", encoding="utf-8") as lines:
        for line in lines:
            _, path, kind, options = line.split()[:4]
            if kind == "cgroup2":
                found["unified"] = path
            elif kind == "cgroup":
                found.update((name, path) for name in options.split(","))
    return found


def own_cgroups():
    """The directory of this process in each hierarchy."""
    where, found = mounts(), {}
    with open("/proc/self/cgroup", encoding="utf-8") as lines:
        for line in lines:
            _, names, path = line.rstrip("\n").split(":", 2)
            for name in names.split(",") if names else ["unified"]:
                if name in where:
                    found[name] = where[name] + path.rstrip("/")
    return found


@contextlib.contextmanager
def cgroups():
    """Directories made for us, as far as we may; they are gone afterwards."""
    own, made = own_cgroups(), []
    try:
        for name in CONTROLLERS:
            path = os.path.join(own.get(name, ""), f"profres-bench-{os.getpid()}")
            with contextlib.suppress(OSError):
                if name in own:
                    os.mkdir(path)
                    made.append(path)
        yield made
    finally:
        for path in made:
            remove_cgroup(path)


def remove_cgroup(path):
    for _ in range(100):  # those who have just died may still be in it
        try:
            os.rmdir(path)
            return
        except OSError:
            time.sleep(0.05)
    print(f"cannot remove {path}", file=sys.stderr)


@contextlib.contextmanager
def herd(build, count, *options):
    """Processes that stand there while we look; the forker that made them."""
    def join():
        for path in made:
            with open(f"{path}/cgroup.procs", "w", encoding="ascii") as file:
                file.write("0")

    with cgroups() as made:
        forker = subprocess.Popen([f"{build}/bench/forker", *options, str(count)], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=join)
        try:
            if forker.stdout.readline() != "ready\n":
                raise RuntimeError(f"cannot make {count} processes")
            yield forker
        finally:
            forker.stdin.close()
            forker.stdout.close()
            forker.wait()


def children(forker):
    path = f"/proc/{forker.pid}/task/{forker.pid}/children"
    with open(path, encoding="ascii") as file:
        return file.read().split()


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- what is measured ----

def measure_ticks(build, scratch):
    """A tick of ours against the bare pread of the same files."""
    rows = []
    for count in (16, 128, 1024, 4096):
        ticks = {16: 100, 128: 60}.get(count, 30)
        rounds = {16: 20, 128: 15, 1024: 9}.get(count, 5)
        if QUICK:
            ticks, rounds = (30, 5) if count < 1024 else (20, 3 if count == 1024 else 1)
        with herd(build, count) as forker, tempfile.TemporaryDirectory(dir=scratch) as files:
            row = json.loads(output(f"{build}/bench/tick", "-p", str(forker.pid), "-d", files,
                                    "-n", str(ticks), "-r", str(rounds)))
        row["count"] = count
        row["per_pid"] = row["tick"]["median"] / row["processes"]
        row["bare_per_pid"] = row["bare"]["median"] / row["processes"]
        row["with_window"] = row["tick"]["median"] + row["window"]["median"]
        rows.append(row)
    return rows


def cpu_of(command):
    """CPU milliseconds of one run of a command."""
    pid = os.posix_spawnp(command[0], command, os.environ,
                          file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"{command[0]} failed")
    return (usage.ru_utime + usage.ru_stime) * 1000


def python_with_psutil():
    for python in ("python3", "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", "import psutil"], check=False,
                                                   stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def psutil_cost(pids, rounds):
    python = python_with_psutil()
    if not python:
        return []
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "psutil_pass.py")
    passes = [float(line) for line in output(python, script, str(rounds), *pids).split()]
    return passes[1:]  # the first opens and imports what the others have


def measure_others(build, ours_ms):
    """128 processes once over, by other means."""
    rounds = 3 if QUICK else 7
    with herd(build, 128) as forker:
        pids = children(forker)
        commands = {
            "ps": ["ps", "-o", "pid,rss,vsz,pmem,cputime,etime,stat,args", "-p"],
            "pidstat": ["pidstat", "1", "1", "-r", "-u", "-d", "-p"],
        }
        rows = [{"name": name, "all": [], "one": []} for name in commands]
        for _ in range(rounds):
            for row in filter(lambda row: shutil.which(row["name"]), rows):
                row["all"].append(cpu_of(commands[row["name"]] + [",".join(pids)]))
                row["one"].append(cpu_of(commands[row["name"]] + pids[:1]))
        rows.append({"name": "psutil", "all": psutil_cost(pids, rounds), "one": []})
    for row in rows:
        samples = row.pop("all"), row.pop("one")
        row["ms"], row["one_ms"] = (statistics.median(s) if s else None for s in samples)
        row["ratio"] = row["ms"] and row["ms"] / ours_ms
    return rows


def measure_memory(build, scratch):
    """Resident set of the sampler that 'profres run' starts."""
    rows = []
    for count in (16, 128, 1024, 4096):
        if QUICK and count in (16, 1024):
            continue
        seconds = "2" if QUICK else "3"
        with tempfile.TemporaryDirectory(dir=scratch) as files:
            subprocess.run([f"{build}/profres", "run", "-q", "-i", "0.1", "-w", "1", "-d", files,
                            "--", f"{build}/bench/forker", "-t", seconds, str(count)],
                           check=True, stdout=subprocess.DEVNULL)
            (name,) = [n for n in os.listdir(f"{files}/0") if n.endswith(".json")]
            with open(f"{files}/0/{name}", encoding="utf-8") as file:
                summary = json.load(file)
        rows.append({"count": count, "max_rss": summary["sampler"]["max_rss"],
                     "samples": summary["num_samples"]})
    return rows


def longest_line(path):
    """Seconds that the longest line of a series speaks of."""
    with open(path, encoding="utf-8") as lines:
        usage = [line for line in map(json.loads, lines) if line["type"] == "usage"]
    return max(line["to"] - line["from"] for line in usage)


def measure_series(build, scratch):
    """Bytes after so much simulated time."""
    cases = [("an hour, 2 idle", 1, (), 3600), ("an hour, 128 idle", 128, (), 3600),
             ("an hour, 128 busy", 128, ("-b",), 3600), ("30 days, 2 idle", 1, (), 30 * 86400)]
    rows = []
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else scratch  # a month of fsync
    for name, count, options, seconds in [cases[0], cases[2]] if QUICK else cases:
        with herd(build, count, *options) as forker, \
                tempfile.TemporaryDirectory(dir=memory) as files:
            row = json.loads(output(f"{build}/bench/hour", "-p", str(forker.pid), "-d", files,
                                    "-s", str(seconds)))
            row["longest_line"] = longest_line(f"{files}/0/node.jsonl")
        row["name"] = name
        row["per_hour"] = row["bytes"] * 3600 / row["seconds"]
        rows.append(row)
    return rows


def wall_of(command):
    before = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError(f"{command[0]} failed")
    return (time.monotonic() - before) * 1000


def measure_start(build, scratch):
    """'profres run true' against 'true'."""
    bare, ours = [], []
    with tempfile.TemporaryDirectory(dir=scratch) as files:
        for i in range(15 if QUICK else 50):
            bare.append(wall_of(["true"]))
            ours.append(wall_of([f"{build}/profres", "run", "-q", "-d", f"{files}/{i}", "true"]))
    return {"true": statistics.median(bare), "profres": statistics.median(ours),
            "added": statistics.median(ours) - statistics.median(bare)}


def parse_all(paths):
    """CPU seconds to read the files and make objects of their lines, which is what it takes
    at the least to look at them in a language of scripts."""
    before = time.process_time()
    for path in paths:
        with open(path, "rb") as lines:
            for line in lines:
                json.loads(line)
    return time.process_time() - before


def measure_plot(build, scratch):
    """A day of eight nodes as a page, against reading and parsing its files."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else scratch
    hours = 1 if QUICK else 24
    with herd(build, 16, "-b") as forker, tempfile.TemporaryDirectory(dir=memory) as files:
        output(f"{build}/bench/hour", "-p", str(forker.pid), "-d", files, "-s", str(3600 * hours))
        for n in range(1, 8):
            for end in ("json", "jsonl"):
                shutil.copy(f"{files}/0/node.{end}", f"{files}/0/node{n}.{end}")
        series = [f"{files}/0/{name}" for name in os.listdir(f"{files}/0")
                  if name.endswith(".jsonl")]
        page = f"{scratch}/plot.html"
        plots, parses = [], []
        for _ in range(3):
            plots.append(cpu_of([f"{build}/profres", "plot", "-o", page, files]) / 1000)
            parses.append(parse_all(series))
        row = {"hours": hours, "nodes": len(series),
               "bytes": sum(os.path.getsize(path) for path in series),
               "page": os.path.getsize(page), "cpu": statistics.median(plots),
               "parse": statistics.median(parses)}
    row["ratio"] = row["cpu"] / row["parse"]
    return row


def make_long_series(build, scratch, lines):
    """A real series with its windows repeated, later and later."""
    subprocess.run([f"{build}/profres", "run", "-q", "-w", "0.2", "-d", f"{scratch}/long", "sleep",
                    "1"], check=True)
    step = f"{scratch}/long/0"
    path = [f"{step}/{name}" for name in os.listdir(step) if name.endswith(".jsonl")][0]
    with open(path, encoding="utf-8") as file:
        text = file.readlines()
    usage = json.loads([line for line in text if '"type":"usage"' in line[:20]][0])
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[0])
        for i in range(lines):
            usage["from"], usage["to"] = i * 10, i * 10 + 10
            file.write(json.dumps(usage, separators=(",", ":")) + "\n")
    return path


def measure_export(build, scratch):
    """A series of a million lines: each format against reading it once, and jq."""
    lines = 50000 if QUICK else 1000000
    path = make_long_series(build, scratch, lines)
    commands = {"cat": ["cat", path], "wc -l": ["wc", "-l", path]}
    for name in ("csv", "jsonl", "influx"):
        commands[name] = [f"{build}/profres", "export", "-f", name, path]
    if shutil.which("jq"):
        commands["jq"] = ["jq", "-r", 'select(.type == "usage") | [.to,'
                          " .measurements.cgroup_cpu_seconds] | @csv", path]
    cost = {name: cpu_of(command) for name, command in commands.items()}
    size = os.path.getsize(path)
    os.remove(path)
    return {"lines": lines, "bytes": size, "ms": cost}


def measure_top(build, scratch):
    """'profres top' of 64 nodes that write, against only reading what is new."""
    frames = 12 if QUICK else 32
    with herd(build, 16) as forker, tempfile.TemporaryDirectory(dir=scratch) as files:
        step = subprocess.Popen([f"{build}/bench/live", "-d", files, "-p", str(forker.pid)],
                                text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if step.stdout.readline() != "ready\n":
                raise RuntimeError("cannot make a step of 64 nodes")
            time.sleep(11)  # the first windows are there
            began = time.monotonic()
            top = cpu_of([f"{build}/profres", "top", "-b", "-d", "1", "-n", str(frames), files])
            wall = (time.monotonic() - began) * 1000
            bare = json.loads(output(f"{build}/bench/live", "-d", files, "-r", str(frames)))
        finally:
            step.stdin.close()
            step.stdout.close()
            step.wait()
    return {"nodes": 64, "frames": frames, "cpu_ms": top, "share": top / wall,
            "bare_ms": bare["cpu_ms"], "ratio": top / bare["cpu_ms"]}


# ---- what is said ----

def verdict(good):
    return "ok" if good else "OVER"


def print_ticks(rows):
    print("One tick of idle processes, default selection: CPU microseconds, median of rounds;"
          f" processes from: {rows[0]['from']}")
    print(f"  {'processes':>9} {'tick':>9} {'bare':>9} {'ratio':>6} {'goal':>8} {'tick/pid':>9}"
          f" {'bare/pid':>9} {'list':>7} {'cgroup':>7} {'+window':>8} {'with it':>7}")
    for row in rows:
        ratio = row["ratio"]["median"]
        goal = f"0.25 {verdict(ratio <= 0.25)}" if row["count"] >= 128 else "-"
        print(f"  {row['count']:>9} {row['tick']['median']:9.1f} {row['bare']['median']:9.1f}"
              f" {ratio:6.2f} {goal:>8} {row['per_pid']:9.2f} {row['bare_per_pid']:9.2f}"
              f" {row['list']['median']:7.1f} {row['cgroup']['median']:7.1f}"
              f" {row['window']['median']:8.1f}"
              f" {row['with_window'] / row['bare']['median']:7.2f}")
    print("  bare: one pread each of stat, status and io of the same processes\n"
          "  list, cgroup: of the tick, finding the processes and reading the cgroup's files\n"
          "  +window: closing windows of ten ticks (aggregation, JSON, files), per tick\n"
          "  the goal is for processes that a cgroup lists; a process tree means all of /proc")


def print_others(rows, ours_ms):
    print("\n128 processes once over: CPU milliseconds")
    print(f"  {'profres, with its part of the window':<38} {ours_ms:8.2f}")
    for row in rows:
        if row["ms"] is None:
            print(f"  {row['name']:<38} not installed: skipped")
        else:
            one = f"   asked for one process: {row['one_ms']:.2f}" if row["one_ms"] else ""
            print(f"  {row['name']:<38} {row['ms']:8.2f} {row['ratio']:7.1f} x{one}")
    print("  ps and pidstat are started for it, as a script would; ps reads all of /proc\n"
          "  whatever it is asked for, pidstat reads twice\n"
          "  con-duct and prmon: not packaged here, skipped")


def print_memory(rows):
    print("\nResident set of profres-sampler, at its largest: MiB")
    goals = {128: 4, 4096: 16}
    for row in rows:
        mib, goal = row["max_rss"] / MIB, goals.get(row["count"])
        note = f"  goal {goal} {verdict(mib <= goal)}" if goal else ""
        print(f"  {row['count']:>5} processes {mib:7.1f}{note}")


def print_series(rows):
    print("\nSeries, simulated time, one second, windows of ten at the beginning")
    print(f"  {'':<18} {'MB at the end':>13} {'at most':>8} {'an hour':>8} {'goal':>10}"
          f" {'window, s':>10} {'longest line, s':>16}")
    for row in rows:
        limit = 1e6 if row["seconds"] <= 3600 else 4e6
        goal = f"{limit / 1e6:.0f} {verdict(row['largest'] <= 1.02 * limit)}"
        print(f"  {row['name']:<18} {row['bytes'] / 1e6:13.2f} {row['largest'] / 1e6:8.2f}"
              f" {row['per_hour'] / 1e6:8.3f} {goal:>10} {row['window']:10g}"
              f" {row['longest_line']:16g}")


def print_export(row):
    print(f"\nExport of {row['lines']} windows, {row['bytes'] / 1e6:.0f} MB: CPU milliseconds")
    for name, cost in row["ms"].items():
        print(f"  {name:<8} {cost:10.0f} {cost / row['ms']['cat']:8.1f} x cat")


def print_start(row):
    print(f"\n'profres run true' {row['profres']:.1f} ms, 'true' {row['true']:.1f} ms:"
          f" {row['added']:.1f} ms added")


def print_plot(row):
    print(f"\n'profres plot' of {row['hours']} h on {row['nodes']} nodes,"
          f" {row['bytes'] / 1e6:.1f} MB of series: {row['cpu']:.2f} s of CPU,"
          f" goal 2 {verdict(row['cpu'] <= 2)}\n"
          f"  Python only to read and parse them: {row['parse']:.2f} s; ratio {row['ratio']:.2f}\n"
          f"  the page has {row['page'] / 1e6:.2f} MB, goal 2 {verdict(row['page'] <= 2e6)}")


def print_top(row):
    print(f"\n'profres top -b -d 1' of {row['nodes']} nodes, {row['frames']} frames:"
          f" {row['cpu_ms']:.0f} ms of CPU, {100 * row['share']:.2f} % of a core, goal 2 %"
          f" {verdict(row['share'] <= 0.02)}\n"
          f"  only reading what is new: {row['bare_ms']:.0f} ms, {row['ratio']:.1f} times less")


def main():
    build, out = sys.argv[1:3]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # clean up on the way out
    with tempfile.TemporaryDirectory(prefix="bench.", dir=build) as scratch:
        began = time.monotonic()
        ticks = measure_ticks(build, scratch)
        print_ticks(ticks)
        ours_ms = ticks[1]["with_window"] / 1000
        others = measure_others(build, ours_ms)
        print_others(others, ours_ms)
        memory = measure_memory(build, scratch)
        print_memory(memory)
        series = measure_series(build, scratch)
        print_series(series)
        start = measure_start(build, scratch)
        print_start(start)
        plot = measure_plot(build, scratch)
        print_plot(plot)
        export = measure_export(build, scratch)
        print_export(export)
        top = measure_top(build, scratch)
        print_top(top)
    result = {"quick": QUICK, "load": os.getloadavg(), "seconds": time.monotonic() - began,
              "ticks": ticks, "others": others, "memory": memory, "series": series,
              "start": start, "plot": plot, "export": export, "top": top}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
        file.write("\n")
    print(f"\nwritten to {out} after {result['seconds']:.0f} s")


if __name__ == "__main__":
    main()
