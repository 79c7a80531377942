#!/bin/bash
# profres report on what the collector of today writes (R33): every way a command
# can end without Slurm, the numbers against the cgroup's own files and time(1),
# the tables, and what goes to a terminal.
# shellcheck disable=SC1091,SC2016,SC2154 # tap.sh; for inner shells
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
if ! type -P jq >/dev/null; then
    echo "1..0 # SKIP there is no jq"
    exit 0
fi
cd "$work" || exit 1
unset PROFRES_PATH NO_COLOR

report() { "$profres" report --no-sacct "$@" 2>err; }
# field FORMAT ARG...: one row for programs
field() { local format=$1; shift; report -nP -o "$format" "$@"; }
# words ARG...: the report on one line, so that where it wraps does not matter
words() { report "$@" | tr -s ' \n' ' '; }

# --- long enough for an advice; it goes on beside the rest ---
"$profres" run -q -d long -- sh -c '
    head -c 300M /dev/zero | tail >/dev/null
    i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done
    sleep 10' &
long=$!
started+=("$long")

# --- ends ---
"$profres" run -q -d fine -- sh -c 'sleep 0.3'
like "fine" "$(words fine)" "* verdict ok: no problem found elapsed *exit code 0*"
like "... too short for an advice, and it says so" "$(words fine)" \
    "*advice --mem, --cpus-per-task, --time: cannot tell: less than 10 s is too short*"
"$profres" run -q -d code -- sh -c 'sleep 0.2; exit 3'
like "an exit code: the newest sample comes first" "$(words code)" \
    "* verdict exit-code: it ended with an error newest sample, at *s: * charged,*it ended with exit code 3 you can *"
like "... nothing is advised" "$(words code)" "*cannot tell: it failed*"
"$profres" run -q -d signal -- sh -c 'kill -SEGV $$' 2>/dev/null
like "a signal" "$(words signal)" "* verdict signal: *killed by signal 11 (Segmentation fault)*"
is "... only the user is told what to do" "$(report signal | grep -c '^  admin')" 0
like "... with -a the administrator, too" "$(words -a signal)" "*you can The program crashed*admin *compare nodes*"
is "as a table" "$(field JobID,ExitCode,Verdict code | cut -d. -f2)" "0|3:0|exit-code"
is "... of a signal" "$(field ExitCode,Verdict signal)" "0:11|signal"

# --- out of memory, in a cgroup with a limit ---
cat >oom.sh <<'EOS'
memory=$(awk -F: '$2 == "memory" { print "/sys/fs/cgroup/memory" $3 }' /proc/self/cgroup)
if [ -e "$memory/memory.limit_in_bytes" ]; then
    echo 48M >"$memory/memory.limit_in_bytes" || exit 77
    echo 48M >"$memory/memory.memsw.limit_in_bytes" 2>/dev/null
else
    memory=/sys/fs/cgroup$(awk -F: '$1 == 0 { print $3 }' /proc/self/cgroup)
    echo 48M >"$memory/memory.max" || exit 77
fi
(exec awk 'BEGIN { s = "x"; while (1) s = s s }') &
wait $!
exit $1
EOS
"$profres" run -q -d oom -- sh oom.sh 14 2>/dev/null
if [ $? = 77 ]; then
    skip 6 "no memory controller of one's own"
else
    like "out of memory" "$(words oom)" \
        "* verdict oom: out of memory*the kernel killed 1 process for want of memory*memory: * % of the 48.0 MiB that are its limit*exit code 14*OOM kills 1*"
    like "... more than it had is all that can be told" "$(words oom)" "* advice --mem: more than 48.0 MiB; it ran out*"
    is "... nothing to paste" "$(report oom | grep -c '#SBATCH')" 0
    "$profres" run -q -d worker -- sh oom.sh 0 2>/dev/null
    is "a worker was killed, although the command succeeded" "$(field ExitCode,Verdict worker)" "0:0|worker-killed"
    like "... in words" "$(words worker)" "*it succeeded, but the kernel killed a process of it*results are whole*"
    like "... also in the brief" "$("$profres" brief worker/0)" "*OOM * 1 process killed: it succeeded, but*"
fi

# --- numbers against what the command itself sees, and time(1) ---
cat >self.sh <<'EOS'
head -c 60M /dev/zero | tail >/dev/null
i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done
v1=/sys/fs/cgroup/memory$(awk -F: '$2 == "memory" { print $3 }' /proc/self/cgroup)
v2=/sys/fs/cgroup$(awk -F: '$1 == 0 { print $3 }' /proc/self/cgroup)
cat "$v1/memory.max_usage_in_bytes" 2>/dev/null || cat "$v2/memory.peak"
EOS
peak=$("$profres" run -q -d self -- sh self.sh 2>/dev/null)
if [ -n "$peak" ] && [ -n "$(measured self cgroup_mem_peak max)" ]; then
    near "memory is the kernel's peak" "$(field cgroup_mem_peak self)" "$peak" 1000000
    is "... and MemPeak says so" "$(field MemSource self)" cgroup_mem_peak
    is "... to the byte that of the summary" "$(field MemPeak self)" "$(measured self cgroup_mem_peak max)"
else
    skip 3 "no memory controller of one's own"
fi
if type -P time >/dev/null; then
    "$profres" run -q -d timed -- "$(type -P time)" -f '%U %S' -o spent sh self.sh >/dev/null 2>&1
    near "CPU time is that of time(1)" "$(field CPUSeconds timed)" "$(awk '{ print $1 + $2 }' spent)" 0.1
else
    skip 1 "there is no time(1)"
fi
"$profres" run -q -d tree -m 'ps_*,proc_*' -- sh -c 'sleep 0.4'
like "without a cgroup the source is said" "$(words tree)" "*resident, summed over processes*"
is "... and in the table" "$(field MemSource tree)" ps_rss_total
is "what was not measured is '-', not 0" "$(report tree | grep -c '^  OOM kills  -$')" 1
is "... nothing between two delimiters" "$(field cgroup_mem_peak,Elapsed,MaxRSS tree)" "|00:00:00|"
like "--why: the reasons" "$(report --why tree)" "*not measured in step 0 on *cgroup_mem_peak * not selected*"

# --- by part ---
"$profres" run -q -w 0.3s -i 0.1s -d parts -- sh -c 'sleep 0.5 & sleep 0.7 & exec sleep 1.2'
is "--by=time: a row a window" "$(report --by=time -nP parts | wc -l)" "$(jq -c 'select(.type == "usage")' parts/0/*.jsonl | wc -l)"
is "... with what the window has" "$(report --by=time -nP -o proc_count parts | head -1)" \
    "$(jq -s 'map(select(.type == "usage"))[0].measurements.proc_count' parts/0/*.jsonl)"
is "--by=process" "$(report --by=process -nP -o Comm parts | sort -u)" sleep
is "... as the summary has them" "$(report --by=process -nP -o PID,ps_rss parts)" \
    "$(jq -r '.processes.top[] | "\(.pid)|\(.ps_rss)"' "$(summary parts)")"
is "--by=task" "$(report --by=task -nP -o Rank,ExitCode parts)" "0|0:0"
is "--by=node" "$(report --by=node -nP -o Node,NTasks parts)" "$(basename "$(summary parts)" .json)|1"
is "--by=job" "$(report --by=job -nP -o Verdict parts)" ok
like "--by=command" "$(report --by=command -nP -o ID parts | sort -u)" "*sleep*"
is "... as the summary has them" "$(report --by=command -nP -o ID,command_rss_largest,command_processes parts | sort)" \
    "$(jq -r '.instances.command[] | [.id, .measurements.command_rss_largest.max, .measurements.command_processes.total] | join("|")' parts/*/*.json | sort)"
like "--helpformat" "$(report --by=process --helpformat)" "*PID*ps_rss*"
is "--json by part: rows" "$(report --by=task --json parts | jq -c '[.. | .Rank? // empty]')" "[0]"

# --- exact percentiles, recomputed by jq from the samples ---
# a reading stands for the time since the one before (R80)
exact() {
    jq -s --arg k "$1" --argjson share "$2" '[.[] | select(.type == "usage").samples] |
        [([.[].t] | add), ([.[][$k]] | add)] | transpose | map(select(.[1] != null)) |
        [range(1; length) as $i | [.[$i][1], .[$i][0] - .[$i - 1][0]]] | sort_by(.[0]) |
        (map(.[1]) | add * $share / 100) as $wanted |
        reduce .[] as $x ([0, null]; if .[0] >= $wanted - 1e-9 then . else [.[0] + $x[1], $x[0]] end) | .[1]' "$3"
}
"$profres" run -q -i 0.02s -w 0.2s -d steps -- sh -c 'for n in 5 30 12 44 21; do head -c ${n}M /dev/zero | tail >/dev/null; sleep 0.1; done'
if [ -n "$(measured steps cgroup_mem_current max)" ]; then
    for share in 50 95 99; do
        is "--exact: p$share" "$(field "cgroup_mem_current.p$share" --exact steps)" \
            "$(exact cgroup_mem_current $share steps/0/*.jsonl)"
    done
    ok "... near those of the histogram" [ "$(field cgroup_mem_current.p95 steps)" != "" ]
else
    skip 4 "no memory controller of one's own"
fi
cp -r steps merged
sed -i 's/"samples":{.*},"process_count"/"process_count"/' merged/0/*.jsonl
is "... samples given up: as without it" "$(field cgroup_mem_current.p95 --exact merged)" "$(field cgroup_mem_current.p95 merged)"
report --exact merged >/dev/null
like "... and it is said" "$(cat err)" "*percentiles are from the histogram*"

# --- it goes on, it was cut off ---
"$profres" run -q -w 0.2s -i 0.1s -d live -- sleep 60 &
live=$!
started+=("$live")
a_window() { jq_true '.num_windows >= 2' "$(summary live)"; }
until_true 20 a_window
like "a run that goes on" "$(words live)" "*state LIVE, written * ago verdict running: running newest sample, at *"
like "... gives no advice" "$(words live)" "*cannot tell: it has not ended*"
cp -r live dead
jq '.ts = "2020-01-01T00:00:00.000Z"' "$(summary live)" >"$(summary dead)"
like "one that was cut off long ago" "$(words dead)" "*verdict incomplete: *state is LIVE, written * h ago*the end is missing*"
head -c 700 "$(summary live)" >half.json
mkdir -p cut/0 && mv half.json "cut/0/$(basename "$(summary live)")"
report cut >out
is "a summary cut in half: no report, status 1" "$?:$(cat out)" 1:
like "... and it is named" "$(cat err)" "*cut/0/*.json is cut off or damaged*"
report code cut >out
is "... others are reported, status 1 all the same" "$?:$(grep -c '^  verdict' out)" 1:1

# --- a step of which one node is done, an hour ago, and the other goes on ---
mkdir -p nodes/0
cp -r live frozen
for suffix in json jsonl; do
    cp "$(summary frozen | sed 's/json$//')$suffix" "nodes/0/n2.$suffix"
    cp "$(summary fine | sed 's/json$//')$suffix" "nodes/0/n1.$suffix"
done
for node in n1 n2; do
    jq --arg node $node '.info.job = "nodes" | .info.node = $node | .info.allocation = {nodes: 2}
        | if $node == "n1" then .ts = (now - 3600 | todate) | .measurements.cgroup_mem_peak.max = 1e9
          else . end' nodes/0/$node.json >changed && mv changed nodes/0/$node.json
done
is "one node is done, the other goes on: it runs" "$(field Verdict,ExitCode,NNodes nodes)" "running||2"
like "... and its newest sample is the newest" "$(words nodes)" \
    "*state LIVE, written *newest sample, at *s: * [0-9]* process* in its window*"
is "... of the one that goes on" \
    "$(report --json nodes | jq -r '.jobs[0].verdict.evidence[0]' | sed 's/:.*//')" \
    "$(report --json frozen | jq -r '.jobs[0].verdict.evidence[0]' | sed 's/:.*//')"
kill -KILL "$(pgrep -P "$live" -x sleep)"
wait "$live" 2>/dev/null

# --- a script that waits for a step which is not profiled (a program called srun) ---
mkfifo never
waiting=()
for program in srun other; do
    printf '#!/bin/sh\nread -r line <never\n' >$program
    chmod +x $program
    "$profres" run -q -w 0.2s -i 0.1s -d "by-$program" -- ./$program &
    waiting+=($!)
    started+=($!)
done
for program in srun other; do
    long_enough() { jq_true '.elapsed_seconds > 1.5' "$(summary "by-$program")"; }
    until_true 20 long_enough
    mkdir "script-$program"
    cp -r "by-$program/0" "script-$program/batch"
    jq '.info.step = "batch"' "$(summary "by-$program")" \
        >"script-$program/batch/$(basename "$(summary "by-$program")")"
done
is "a script that stands still is stalled" "$(field Verdict --stalled=500ms script-other)" stalled
is "... but not one that waits for its srun" "$(field Verdict --stalled=500ms script-srun)" running
: >never
wait "${waiting[@]}"

# --- a process that outlives the command is told of, however well that ended (R68) ---
"$profres" run -q -d outlived -- sh -c 'sleep 60 >&- 2>&- & echo $! >outliver; sleep 0.3'
like "a process that went on" "$(words outlived)" \
    "*verdict ok: no problem found 1 process was left behind: still there at the last sample *"
kill "$(cat outliver)"
is "... not where there was none" "$(report fine | grep -c 'still there')" 0

# --- two runs in one directory: the windows are those of the last, as all else is ---
for seconds in 0.7 0.4; do "$profres" run -q -i 0.1 -w 0.2 -d twice -- sleep $seconds; done
is "--by=time of two runs in one series" "$(report --by=time -nP -o To twice | sort -n | tail -n 1)" \
    "$(jq -r 'select(.type == "usage").to' "$(summary twice)l" | tail -n 1)"
is "... as many windows as the last has" "$(report --by=time -nP -o To twice | wc -l)" \
    "$(jq -r .num_windows "$(summary twice)")"

# --- phases ---
"$profres" run -q -d phases -- sh -c '"$0" mark load; sleep 0.3; "$0" mark solve; head -c 40M /dev/zero | tail >/dev/null; "$0" mark --end' "$profres"
like "phases" "$(words phases)" "*phases load: 0.* s from 0.* s on,*solve: 0.* s from 0.[3-9]* s on, * at *"
mkdir -p marked/0
for node in n1 n2; do
    jq --arg node $node '.info.job = "marked" | .info.node = $node' "$(summary phases)" >"marked/0/$node.json"
done
like "... of two nodes: whose they are" "$(words marked)" "*phases load (n1): 0.*load (n2): 0.*"
is "--by=phase" "$(report --by=phase -nP -o Phase phases | tr '\n' ' ')" "load solve "
is "... with its own numbers" "$(report --by=phase -nP -o cgroup_cpu_seconds phases)" \
    "$(jq -r '.phases[].measurements.cgroup_cpu_seconds // ""' "$(summary phases)")"
mkdir -p exact/0
jq '.info.job = "exact" | .phases[0].measurements += { cgroup_mem_window_peak: 524288000,
    cgroup_mem_sampled_peak: 104857600 } | del(.phases[].measurements.cgroup_mem_peak)
    | .phases[1].measurements += { cgroup_mem_sampled_peak: 104857600 }' "$(summary phases)" >"exact/0/$(basename "$(summary phases)")"
like "... the kernel's exact peak of a phase comes before what was sampled" "$(words exact)" \
    "*load: *, 500.0 MiB at peak*solve: *, 100.0 MiB at most when sampled*"
is "... in the table, too" "$(report --by=phase -nP -o MemPeak --units=M exact | tr '\n' ' ')" "500M 100M "
is "... and in JSON" "$(report --json phases | jq -c '[.jobs[0].steps[0].phases[].name]')" '["load","solve"]'

# --- several ---
report fine code >out
is "two: one after another" "$(grep -c '^  verdict' out)" 2
cp -r fine fine2
cp -r fine fine3
for dir in fine2 fine3; do jq --arg j "$dir" '.info.job = $j' "$(summary fine)" >"$(summary $dir)"; done
report fine fine2 fine3 code signal >out
is "five: as a group" "$?:$(grep -c '^  verdict' out)" 0:0
report --each fine fine2 fine3 code signal >out
is "... --each: one by one" "$(grep -c '^  verdict' out)" 5
is "a job that is not there: status 1" "$(report 4711999; echo $?)" 1
is "no job: usage" "$(report; echo $?)" 2
is "an unknown field: usage" "$(report -o nonsense fine; echo $?)" 2
is "an unknown part: usage" "$(report --by=colour fine; echo $?)" 2
is "--help fits a screen" "$("$profres" report --help | awk 'length > 80 { bad = 1 } END { print NR <= 24 && !bad }')" 1

# --- on a terminal, and not ---
is "lines have at most 80 columns" "$(report -a signal | awk 'length > 80' | wc -l)" 0
esc=$(printf '\033')
is "not a terminal: no colours, no bars" "$(report signal | grep -c "$esc\|\[#")" 0
if type -P script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    on_terminal() { TERM=xterm script -qec "stty cols 120 2>/dev/null; $*" /dev/null </dev/null; }
    like "a terminal: colours" "$(on_terminal "$profres report --no-sacct signal")" "*${esc}\[1;31m*"
    is "... NO_COLOR: none" "$(NO_COLOR=1 on_terminal "$profres report --no-sacct signal" | grep -c "$esc")" 0
    if [ -d oom ]; then
        like "... and bars" "$(on_terminal "$profres report --no-sacct oom")" "*\[#########*"
    else
        skip 1 "nothing with a limit"
    fi
else
    skip 3 "there is no script(1)"
fi

# --- the long one ---
wait "$long"
like "long enough: memory to paste" "$(report long)" "*
#SBATCH --mem=[34]00M
*peak, file cache included (of 1 run) + 20 %*"
like "... and cores" "$(report long)" "*
#SBATCH --cpus-per-task=1
*cores a task in 95 % of the time*"
like "... and time" "$(report long)" "*
#SBATCH --time=00:05:00
*+ 20 %*"
report long | sed -n '/^#SBATCH/,$p' >block
is "... all of it can be pasted: every line is a comment to the shell" "$(grep -vc '^#' block)" 0
is "... with one line for memory at most" "$(grep -c '^#SBATCH --mem' block)" 1
near "... from the peak" "$(report --json long | jq '.jobs[0].advice.mem.bytes')" \
    "$(measured long cgroup_mem_peak max | awk '{ b = $1 * 1.2; s = 104857600; print int((b + s - 1) / s) * s }')" 0

plan "$count"
