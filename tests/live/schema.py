"""Checks profres files against their JSON Schemas, for schema.t.

  schema.py probe                        exit 0 when jsonschema is usable
  schema.py work SECONDS                 a job: CPU, memory, processes
  schema.py check series|summary|report FILE...  exit 1 and a line for each fault
  schema.py agree FILE...                what a schema cannot say of a series
  schema.py mutants series|summary|report FILE  "ok NAME" or "not ok NAME" a line
The schemas are in $schema_dir.
"""
import copy
import json
import os
import subprocess
import sys
import time


def validator(name):
    import jsonschema

    with open(os.path.join(os.environ["schema_dir"], name + ".schema.json")) as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def documents(name, path):
    """The objects of a file: each line of a series, or the one of a summary."""
    with open(path, encoding="utf-8") as file:
        if name != "series":
            return [json.load(file)]
        return [json.loads(line) for line in file]


def faults(check, document):
    return ["%s: %s" % ("/".join(map(str, error.path)) or ".", error.message[:160])
            for error in check.iter_errors(document)]


def work(seconds):
    end = time.monotonic() + seconds
    memory = bytearray(48 << 20)
    memory[::4096] = b"x" * len(memory[::4096])
    while time.monotonic() < end:
        subprocess.run(["true"], check=True)
        sum(range(100000))


def check(name, *paths):
    rules = validator(name)
    bad = 0
    for path in paths:
        found = documents(name, path)
        if not found:
            print("%s is empty" % path)
            bad = 1
        for number, document in enumerate(found, 1):
            for fault in faults(rules, document):
                print("%s %d: %s" % (path, number, fault))
                bad = 1
    return bad


def agree(*paths):
    return max(map(agree_one, paths))


def agree_one(path):
    """Rows fit their columns, samples their times, keys the header, windows each other."""
    found = []
    header = before = None
    for number, line in enumerate(documents("series", path), 1):
        def claim(holds, text):
            if not holds:
                found.append("%s %d: %s" % (path, number, text))

        if line["type"] == "instance":
            slots.add((line["family"], line["slot"]))
        if line["type"] == "header":
            header = line
            slots = set()
            before = None # the first window begins with the first sample
        claim(header is not None, "there is no header before this line")
        if header is None or line["type"] != "usage":
            continue
        known = {k for k, m in header["metrics"].items() if m["scope"] == "step"}
        claim(set(line["measurements"]) <= known, "a measurement is not in the header")
        claim(not set(line["measurements"]) & set(header["info"]["unavailable"]),
              "a measurement is said to be unavailable")
        claim(before in (None, line["from"]), "the window does not begin where the last ended")
        claim(line["from"] <= line["to"], "the window ends before it begins")
        before = line["to"]
        for row in line.get("processes", []):
            claim(len(row) == len(header["process_columns"]), "a process has other columns")
        for family, rows in line.get("rows", {}).items():
            for row in rows:
                claim(len(row) == len(header["families"][family]["columns"]),
                      "a row of %s has other columns" % family)
                claim((family, row[0]) in slots, "a row of %s is of nobody" % family)
        samples = line.get("samples", {})
        for key, values in samples.items():
            claim(len(values) == len(samples["t"]), "samples of %s are not as many as t" % key)
            claim(key == "t" or key in known, "samples of %s, not in the header" % key)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


def pick(found, kind):
    """A copy of the first line of this type; of usage, one that has rows."""
    for line in found:
        if line["type"] == kind and (kind != "usage" or line.get("processes")):
            return copy.deepcopy(line)
    raise SystemExit("there is no %s line to change" % kind)


def put(path, value):
    def change(document):
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value
    return change


def drop(*path):
    def change(document):
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]
    return change


SERIES = [
    # type of line, what is done, change, whether it must still be valid
    ("usage", "no ts", drop("ts"), False),
    ("usage", "no type", drop("type"), False),
    ("usage", "a ts without milliseconds", put(["ts"], "2026-11-16T02:07:38Z"), False),
    ("usage", "a ts of another zone", put(["ts"], "2026-11-16T02:07:38.120+01:00"), False),
    ("usage", "a ts in the 13th month", put(["ts"], "2026-13-16T02:07:38.120Z"), False),
    ("usage", "no num_samples", drop("num_samples"), False),
    ("usage", "no measurements", drop("measurements"), False),
    ("usage", "no samples and not merged", drop("samples"), False),
    ("usage", "an unknown measurement", put(["measurements", "mem_peak"], 1), False),
    ("usage", "a measurement that is text", put(["measurements", "ps_rss_total"], "1"), False),
    ("usage", "a measurement that is null", put(["measurements", "ps_rss_total"], None), False),
    ("usage", "half a byte", put(["measurements", "ps_rss_total"], 1.5), False),
    ("usage", "from that is text", put(["from"], "0"), False),
    ("usage", "samples without t", drop("samples", "t"), False),
    ("usage", "samples of an unknown key", put(["samples", "rss"], [1]), False),
    ("usage", "a pid that is text", put(["processes", 0, 0], "1"), False),
    ("usage", "a slot that is text", put(["rows", "command", 0, 0], "1"), False),
    ("instance", "a slot that is text", put(["slot"], "0"), False),
    ("instance", "no family", drop("family"), False),
    ("header", "a family without columns", drop("families", "command", "columns"), False),
    ("usage", "rows without their count", drop("process_count"), False),
    ("header", "no schema", drop("schema"), False),
    ("header", "another major version", put(["schema"], "profres-series/1.0"), False),
    ("header", "the schema of a summary", put(["schema"], "profres-summary/2.0"), False),
    ("header", "no info.unavailable", drop("info", "unavailable"), False),
    ("header", "an unknown key in metrics", put(["metrics", "rss"], {}), False),
    ("header", "an unknown unit", put(["metrics", "ps_rss", "unit"], "KiB"), False),
    ("header", "other first columns", put(["process_columns", 0], "ps_rss"), False),
    ("event", "no name of the event", drop("event"), False),
    ("event", "a start without a pid", drop("pid"), False),
    ("final", "a final that is LIVE", put(["state"], "LIVE"), False),
    ("final", "no n_pending", drop("n_pending"), False),
    ("header", "a newer minor version", put(["schema"], "profres-series/2.7"), True),
    ("header", "a new member of info", put(["info", "cluster"], "c1"), True),
    ("header", "a new column", lambda d: d["process_columns"].append("proc_new"), True),
    ("usage", "a new member", put(["tasks"], []), True),
    ("usage", "a new measurement", put(["measurements", "cgroup_new_bytes"], 1), True),
    ("usage", "a merged window", lambda d: (d.pop("samples"), d.update(merged=2)), True),
    ("event", "a new event", lambda d: (d.pop("pid"), d.update(event="reboot", name="io")), True),
    ("event", "a new type of line", put(["type"], "remark"), True),
]

SUMMARY = [
    ("no state", drop("state"), False),
    ("an unknown state", put(["state"], "FINISHED"), False),
    ("n_pending that is text", put(["n_pending"], "0"), False),
    ("a bad ts", put(["ts"], "2026-11-16 02:07:38"), False),
    ("no measurements", drop("measurements"), False),
    ("an unknown measurement", put(["measurements", "rss"], {"max": 1}), False),
    ("a measurement that is a number", put(["measurements", "ps_rss_total"], 1), False),
    ("a measurement with nothing in it", put(["measurements", "ps_rss_total"], {}), False),
    ("a max that is text", put(["measurements", "ps_rss_total", "max"], "1"), False),
    ("a gauge without its percentile", drop("measurements", "ps_rss_total", "p95"), False),
    ("another major version", put(["schema"], "profres-summary/1.0"), False),
    ("no info", drop("info"), False),
    ("an info without its job", drop("info", "job"), False),
    ("an info without its interval", drop("info", "interval_seconds"), False),
    ("a task that ended nowhere", drop("tasks", 0, "end_seconds"), False),
    ("a task with two ends", put(["tasks", 0, "signal"], 9), False),
    ("a process without a pid", drop("processes", "top", 0, "pid"), False),
    ("a process measured in text", put(["processes", "top", 0, "ps_rss"], "1"), False),
    ("an instance without an id", drop("instances", "command", 0, "id"), False),
    ("no cost of the sampler", drop("sampler"), False),
    ("a zero that should be absent", put(["sampler", "write_errors"], 0), False),
    ("a newer minor version", put(["schema"], "profres-summary/2.7"), True),
    ("a new member", put(["verdict"], {}), True),
    ("a new member of info", put(["info", "cluster"], "c1"), True),
    ("a new member of a measurement", put(["measurements", "ps_rss_total", "p999"], 1), True),
    ("a state that goes on", put(["state"], "DRAINING"), True),
    ("what is left of a lost one", lambda d: (d.pop("sampler"), d.pop("histograms"),
                                              d.update(state="LOST")), True),
    ("a lost one without its tasks", lambda d: (d.pop("tasks"), d.update(state="LOST")), False),
]

JOB = ["jobs", 0]
REPORT = [
    ("no jobs", drop("jobs"), False),
    ("another major version", put(["schema"], "profres-report/2.0"), False),
    ("an unknown verdict", put(JOB + ["verdict", "id"], "good"), False),
    ("evidence that is empty", put(JOB + ["verdict", "evidence"], [""]), False),
    ("no voice for the administrator", drop(*JOB, "verdict", "admin"), False),
    ("a number without its source", drop(*JOB, "facts", "memory_source"), False),
    ("an unknown source", put(JOB + ["facts", "memory_source"], "MaxRSS"), False),
    ("two ends", put(JOB + ["facts", "signal"], 9), False),
    ("an unknown state", put(JOB + ["facts", "state"], "DONE"), False),
    ("a measurement that is null",
     put(JOB + ["facts", "measurements", "cgroup_new"], None), False),
    ("an advice of an unknown kind", put(JOB + ["advice", "mem", "kind"], "maybe"), False),
    ("an advice that refuses without a reason",
     put(JOB + ["advice", "mem"], {"kind": "cannot"}), False),
    ("an advice without what to paste",
     put(JOB + ["advice", "mem"], {"kind": "tell", "basis": "x"}), False),
    ("a job without steps", put(JOB + ["steps"], []), False),
    ("a step without nodes", put(JOB + ["steps", 0, "nodes"], []), False),
    ("a newer minor version", put(["schema"], "profres-report/1.7"), True),
    ("a new member", put(JOB + ["partition"], "p1"), True),
    ("a new measurement", put(JOB + ["facts", "measurements", "gpu_new"], {"max": 1}), True),
]


def mutants(name, path):
    rules = validator(name)
    found = documents(name, path)
    rows = SERIES if name == "series" else [
        ("",) + row for row in (SUMMARY if name == "summary" else REPORT)]
    for kind, what, change, valid in rows:
        document = pick(found, kind) if kind else copy.deepcopy(found[0])
        if faults(rules, document):
            print("not ok the original is not valid: %s" % what)
            continue
        change(document)
        held = (not faults(rules, document)) == valid
        print("%s %s: %s (%s)" % ("ok" if held else "not ok",
                                  "accepted" if valid else "rejected", what, kind or name))
    return 0


def main(args):
    if args[0] == "probe":
        import jsonschema
        return not hasattr(jsonschema, "Draft7Validator")
    if args[0] == "work":
        return work(float(args[1]))
    return {"check": check, "agree": agree, "mutants": mutants}[args[0]](*args[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
