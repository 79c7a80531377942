#!/bin/bash
# profres mark inside profres run: what a phase used against what time(1) says of
# the command in it, and no harm where there is no profiler.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 36
cd "$work" || exit 1
export profres

# of NAME FIELD: of the phase of that name in the summary of the run in $dir
of() { jq -r --arg n "$1" ".phases[] | select(.name == \$n) | $2" "$(summary "$dir")"; }
# used NAME KEY: its measurement
used() { of "$1" ".measurements.$2 // empty"; }
# CPU of a phase, of the cgroup where there is one
cpu_key=cgroup_cpu_seconds
# timed NAME: user + system of time -f '%U %S' into NAME.time
timed() { awk '{ print $1 + $2 }' "$1.time"; }
events() { jq -c "select(.type == \"event\" and .event == \"$1\")" "$dir"/0/*.jsonl; }

# --- without a profiler ---
err=$(env -u PROFRES_MARK "$profres" mark "load data" 2>&1)
is "no profiler: no error and not a word" "$?:$err" 0:
err=$(PROFRES_MARK=$work/nowhere/0/.n.mark "$profres" mark --end 2>&1)
is "nor with one that has gone" "$?:$err" 0:
mkdir gone
touch gone/n.json
err=$(PROFRES_MARK=$work/gone/.n.mark "$profres" mark -v x 2>&1)
is "... but -v says it" "$?:$err" "0:profres: no profiler at $work/gone/.n.mark: No such file or directory"
mkfifo gone/.n.mark
err=$(PROFRES_MARK=$work/gone/.n.mark timeout 5 "$profres" mark x 2>&1)
is "a FIFO in its place does not hold" "$?:$err" 0:
err=$(env -u PROFRES_MARK "$profres" mark -v --event a=1 2>&1)
like "-v names the variable" "$err" "*PROFRES_MARK is not set*"

# --- called wrongly: the same with and without ---
for words in "" "a b" "--end x" "--event" "--event novalue" "--event =x" "--end --event a=b" "--nonsense"; do
    # shellcheck disable=SC2086 # words on purpose
    "$profres" mark $words 2>err >out
    is "mark $words: usage" "$?" 2
done
"$profres" mark "" 2>err
is "an empty name: usage" "$?" 2
like "... says what to do" "$(cat err)" "*a phase needs a name*--help*"

# --- phases ---
cat >job.sh <<'EOF2'
profres=${profres:?}
$profres mark -v "load data" 2>said
ls -l "$PROFRES_MARK" | cut -c 1-10 >mode
/usr/bin/time -o load.time -f '%U %S' awk 'BEGIN { for (i = 0; i < 12000000; i++) x += i }'
cd / # from anywhere
$profres mark -v "compute" 2>>"$OLDPWD/said"
cd "$OLDPWD"
/usr/bin/time -o compute.time -f '%U %S' awk 'BEGIN { for (i = 0; i < 4000000; i++) x += i }'
$profres mark -v --event epoch=3 loss=0.125 note='<b>"quoted"' 2>>said
$profres mark -v --end 2>>said
awk 'BEGIN { for (i = 0; i < 4000000; i++) x += i }'
$profres mark -v "memory" 2>>said
head -c 80M /dev/zero | tail >/dev/null
$profres mark -v $'tail\e[31m' 2>>said
EOF2
dir=a
"$profres" run -q -d a -- bash job.sh
is "the job has run" $? 0
is "the socket is the user's alone" "$(cat mode)" srw-------
is "every mark was recorded" "$(cat said)" ""
is "four phases, in order, no control characters" "$(jq -c '[.phases[].name]' "$(summary a)")" \
    '["load data","compute","memory","tail?[31m"]'
[ -n "$(used compute $cpu_key)" ] || cpu_key=ps_cpu_seconds_total
near "CPU of the first is time(1)'s" "$(used "load data" $cpu_key)" "$(timed load)" 0.1
near "CPU of the second is time(1)'s" "$(used compute $cpu_key)" "$(timed compute)" 0.1
ok "CPU between phases is in neither" awk -v run="$(measured a $cpu_key total)" \
    -v sum="$(jq "[.phases[].measurements.$cpu_key // 0] | add" "$(summary a)")" \
    -v part="$(timed compute)" 'BEGIN { exit !(run - sum > part / 2) }'
near "elapsed is from mark to mark" "$(of compute .seconds)" \
    "$(of compute '.to - .from')" 0.000002
ok "they do not overlap" jq_true '.phases as $p | [range(1; $p | length) | $p[.].from >= $p[. - 1].to] | all' "$(summary a)"
if [ -n "$(measured a cgroup_mem_peak max)" ]; then
    is "the peak rose in one phase: there it is, exactly" "$(used memory cgroup_mem_peak)" "$(measured a cgroup_mem_peak max)"
    is "... and not in one where it did not" "$(used "tail?[31m" cgroup_mem_peak)" ""
else
    skip 2 "no peak of the kernel's here"
fi
is "the last one ended with the run" "$(of "tail?[31m" .unended)" true
is "the event is in the series" "$(events mark | jq -c .data)" '{"epoch":3,"loss":0.125,"note":"<b>\"quoted\""}'
is "each beginning is, at once" "$(events phase_start | jq -r .name | wc -l)" 4
is "and each phase as in the summary" "$(events phase | jq -c '[.name, .from, .to, .measurements]')" \
    "$(jq -c '.phases[] | [.name, .from, .to, .measurements]' "$(summary a)")"
is "nothing is left" "$(find a -type s)" ""
like "the report tells what each used" "$("$profres" report a)" "*phases *load data: * s from * on, *"

# --- a sampler that was killed ---
cat >killed.sh <<'EOF2'
profres=${profres:?}
$profres mark one
kill -KILL "$(pgrep -x profres-sampler -P "$PPID")"
while pgrep -x profres-sampler -P "$PPID" -r S,R >/dev/null; do :; done
$profres mark two
echo "$?" >after
EOF2
"$profres" run -q -d b -- bash killed.sh 2>err
is "a mark after the profiler's end does no harm" "$?:$(cat after)" 0:0
is "its socket is not left" "$(find b -type s)" ""

# --- many, at once ---
dir=c
"$profres" run -q -d c -- bash -c 'for k in 1 2 3 4; do for i in {1..60}; do SLURM_PROCID=$k "$profres" mark "p$i"; done & done; wait'
is "a flood of marks does no harm" "$?" 0
ok "... all are recorded or counted" jq_true '(.phases | length) + (.phases_dropped // 0) + (.sampler.dropped_marks // 0) >= 240' "$(summary c)"
