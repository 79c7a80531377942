#!/bin/sh
# What 'profres run' really writes, against docs/*.schema.json. TAP.
here=$(cd "$(dirname "$0")" && pwd)
top_srcdir=${top_srcdir:-$here/../..}
[ -n "$top_builddir" ] || for top_builddir in . "$top_srcdir"/build*; do
    [ -x "$top_builddir/profres" ] && break
done
profres=$(cd "$top_builddir" && pwd)/profres
helper=$(cd "$top_srcdir" && pwd)/tests/live/schema.py
schema_dir=$(cd "$top_srcdir" && pwd)/docs
PYTHONDONTWRITEBYTECODE=1
export schema_dir PYTHONDONTWRITEBYTECODE
unset PROFRES_METRICS

python=
# shellcheck disable=SC2153 # it may come from outside
for candidate in "$PYTHON" python3 /usr/bin/python3; do
    if [ -n "$candidate" ] && "$candidate" -W ignore "$helper" probe 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "1..0 # SKIP no python3 with jsonschema (draft 7)"
    exit 0
fi
if [ ! -x "$profres" ]; then
    echo "Bail out! $profres is not there; is it built?"
    exit 1
fi

work=$(mktemp -d) || exit 1
run=
# Only what was started here is ended.
finish() {
    [ -z "$run" ] || kill "$run" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
cd "$work" || exit 1

n=0 failed=0
# say STATUS NAME TEXT
say() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        failed=1
        echo "not ok $n - $2"
        echo "$3" | sed 's/^/# /'
    fi
}

verify() {
    text=$("$python" "$helper" "$@" 2>&1)
}

# valid DIR WHAT: both files of a run
valid() {
    verify check series "$1"/0/*.jsonl
    say $? "every line of the series is valid: $2" "$text"
    verify agree "$1"/0/*.jsonl
    say $? "its lines agree with each other: $2" "$text"
    verify check summary "$1"/0/*.json
    say $? "the summary is valid: $2" "$text"
}

# A condition, asked for at most 20 seconds.
await() {
    tries=400
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.05
    done
}

# The first window is over: the run goes on and its summary has measurements.
window_is_written() {
    grep -q '"num_windows": *[1-9]' "$1"/0/*.json 2>/dev/null
}

# --- a job with CPU, memory and processes, looked at while it runs and after ---
"$profres" run -q -w 1s -d job -- "$python" "$helper" work 2.5 2>log &
run=$!
await window_is_written job
say $? "a window is written while the job runs" "$(cat log)"
cp job/0/*.json live.json
verify check summary live.json
say $? "the summary of a job that runs is valid" "$text"
grep -q '"state": *"LIVE"' live.json
say $? "its state is LIVE" "$(head -c 300 live.json)"
wait "$run"
status=$?
run=
say $status "the job ends well" "exit $status: $(cat log)"
valid job "a job with CPU, memory and processes"
for type in header event process usage final; do
    grep -q "^{\"type\":\"$type\"" job/0/*.jsonl
    say $? "the series has a line of type $type" "$(cut -c1-80 job/0/*.jsonl)"
done

# --- other ends and other selections ---
"$profres" run -q -d short -- true 2>>log
valid short "a command that does nothing"
# shellcheck disable=SC2016 # for the inner shell
"$profres" run -q -d signal -- sh -c 'kill -KILL $$' 2>>log
valid signal "a command killed by a signal"
"$profres" run -q -t 0 -d none -m 'ps_*,rusage_*' -- sh -c 'true; true' 2>>log
valid none "no rows and no cgroup"
"$profres" run -q -d only -m 'cgroup_*' -- true 2>>log
valid only "only what the cgroup tells"

# shellcheck disable=SC2016 # for the inner shell
"$profres" run -q -d marked -- sh -c '"$0" mark a; "$0" mark b; "$0" mark --event k=1 t=x; "$0" mark --end; "$0" mark c' "$profres" 2>>log
valid marked "a command that marks its phases"

# --- what the report makes of them ---
"$profres" report --no-sacct --why --json job short signal none only marked >report.json 2>>log
say $? "the report of all of them" "$(cat log)"
verify check report report.json
say $? "... is valid" "$text"

# --- the schemas can say no, and only where they should ---
for name in series summary report; do
    case $name in
    series) file=$(echo job/0/*.jsonl) ;;
    summary) file=$(echo job/0/*.json) ;;
    report) file=report.json ;;
    esac
# shellcheck disable=SC2094 # two different files
    "$python" "$helper" mutants $name "$file" >mutants 2>&1
    say $? "copies of the $name are changed" "$(cat mutants)"
    while read -r line; do
        case $line in
        "ok "*) say 0 "${line#ok }" "" ;;
        *) say 1 "${line#not ok }" "$line" ;;
        esac
    done <mutants
done
echo "1..$n"
exit $failed
