#!/bin/bash
# Beside Slurm's own accounting: what sstat says of a step that runs, and what
# sacct says of it afterwards, from a real slurmdbd and its database.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin dbd
start dbd=yes freq=1 KillWait=1

script work.sh <<'EOS'
#!/bin/bash
# CPU of both kinds, and memory that is held, without CPU, until somebody says go
for ((i = 0; i < 200000; i++)); do :; done
head -c 200M /dev/urandom >/dev/null
(head -c 60M /dev/zero && echo >"held.$SLURM_PROCID" && read -r _ <"go.$SLURM_PROCID") | tail -c 50M >/dev/null
exit 3
EOS
lab_as_user mkfifo go.0 go.1

holds() { [ "$1" -le "$2" ]; } # whole numbers
holds_live() {
    local live
    live=$(jq '.measurements.cgroup_mem_anon.last // 0' "$lab_home"/acct/0/*.json) &&
        holds $((100 << 20)) "$live"
}
# tres NAME LIST: of "cpu=00:00:04,mem=107872256", in seconds and bytes
tres() { tr , '\n' <<<"$2" | sed -n "s/^$1=//p" | seconds; }
# seconds: of [HH:]MM:SS[.mmm] on standard input; of a plain number, that
seconds() { awk -F: '{ s = 0; for (i = 1; i <= NF; i++) s = s * 60 + $i; printf "%.3f\n", s }' | sed 's/\.000$//'; }
sstat_has() {
    used=$(lab_client sstat -anP --noconvert -j 1.0 -o TRESUsageInTot) &&
        holds $((100 << 20)) "$(tres mem "$used")"
}
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a >= b) }'; }

# twice COUNT: Slurm counts huge pages twice here; instead of so many points
twice() {
    lab_unified && [[ $(lab_client srun --version) = *" 22."* ]] || return
    skip "$1" "Slurm counts huge pages twice on v2 before 23.02.6"
}

# --- while it runs ---
lab_srun -n2 --profile-res=dir=acct,window=1s,quiet ./work.sh 2>err &
client=$!
lab_until 30 test -e "$lab_home/held.0" && lab_until 30 test -e "$lab_home/held.1"
ok "sstat has seen the step's memory" lab_until 20 sstat_has
ok "so has the summary of the step that runs" lab_until 20 holds_live
live() { jq -r "$1" "$lab_home"/acct/0/*.json; }
is "... whose state says so" "$(live .state)" LIVE
# the sum of each task's anonymous memory; ours has slurmstepd's megabyte besides
if ! twice 2; then
    near "memory that is held, against sstat" "$(live .measurements.cgroup_mem_anon.last)" \
        "$(tres mem "$used")" 2500000
    ok "... of which the peak is no less" at_least "$(live .measurements.cgroup_mem_peak.max)" "$(tres mem "$used")"
fi
# sstat has whole seconds, cut off for each of the two tasks
ok "CPU is no less than sstat has" at_least "$(live .measurements.cgroup_cpu_seconds.total)" "$(tres cpu "$used")"
ok "... and no more than its seconds hide" at_least "$(($(tres cpu "$used") + 2))" \
    "$(live .measurements.cgroup_cpu_seconds.total)"
is "tasks as sstat counts them" "$(live '.tasks | length')" "$(lab_client sstat -anP -j 1.0 -o NTasks)"
for rank in 0 1; do timeout 20 sh -c 'echo >"$0"' "$lab_home/go.$rank"; done
wait $client

# --- when it is over ---
is "the step's status" $? 3
IFS='|' read -r rss ave total user system state code elapsed tot < <(lab_sacct 1 \
    MaxRSS,AveRSS,TotalCPU,UserCPU,SystemCPU,State,ExitCode,Elapsed,TRESUsageInTot --noconvert |
    sed -n 2p)
echo "# sacct: $rss $ave $total $user $system $state $code $elapsed $tot"
is "sacct: the state" "$state" FAILED
is "... the exit code is that of the tasks" "$code" "$(of acct 0 '[.tasks[].exit] | max'):0"
# from when slurmctld made the step to when it heard of its end, in whole seconds
near "... elapsed" "$(of acct 0 .elapsed_seconds)" "$(seconds <<<"$elapsed")" $((lab_patience + 1))
ok "... MaxRSS is no less than what was held" at_least "$rss" $((50 << 20))
# sacct's is the largest of what was sampled of a task, ours the kernel's high-water mark
if ! twice 2; then
    ok "... and no more than our largest peak of a task" at_least \
        "$(of acct 0 '[.tasks[].cgroup_mem_peak] | max')" "$rss"
    ok "... the sum over tasks is no more than our peak of the step" at_least \
        "$(of acct 0 .measurements.cgroup_mem_peak.max)" "$(tres mem "$tot")"
fi
# rusage of the tasks, from their fork on, before they were in the cgroup
# (an emulated CPU that is not run for a while counts that for whoever is on it)
most=0.05
[ "$lab_patience" -eq 1 ] || most=$(awk -v t="$(seconds <<<"$total")" 'BEGIN { print 0.05 * t }')
near "... TotalCPU" "$(of acct 0 .measurements.cgroup_cpu_seconds.total)" "$(seconds <<<"$total")" "$most"
# how it is divided is guessed by the kernel from clock ticks, and for us in another way
part=$(awk -v t="$(seconds <<<"$total")" 'BEGIN { print 0.2 * t }')
near "... UserCPU" "$(of acct 0 .measurements.cgroup_cpu_user_seconds.total)" "$(seconds <<<"$user")" "$part"
near "... SystemCPU" "$(of acct 0 .measurements.cgroup_cpu_system_seconds.total)" "$(seconds <<<"$system")" "$part"

# --- a batch job, of which the batch step and the one inside are two rows ---
script batch.sh <<'EOS'
#!/bin/bash
for ((i = 0; i < 100000; i++)); do :; done
srun sh -c 'kill -SEGV $$'
exit 5
EOS
job=$(lab_sbatch --profile-res=quiet batch.sh)
lab_wait_job "$job"
lab_sacct "$job" JobID,State,ExitCode,TotalCPU >rows
sed 's/^/# sacct: /' rows
row() { sed -n "s/^$job\.$1|//p" rows; }
is "a batch job: the batch step" "$(row batch | cut -d '|' -f 1,2)" \
    "FAILED|$(of "slurm-$job.profres" batch '.tasks[0].exit'):0"
# whether that is FAILED or CANCELLED depends on the version
is "... the step inside, by its signal" "$(row 0 | cut -d '|' -f 2)" \
    "0:$(of "slurm-$job.profres" 0 '.tasks[0].signal')"
near "... CPU of the batch step has nothing of the other's" \
    "$(of "slurm-$job.profres" batch .measurements.cgroup_cpu_seconds.total)" \
    "$(row batch | cut -d '|' -f 3 | seconds)" 0.05

# --- a step that ran out of memory ---
lab_srun --mem=40M --profile-res=dir=oom,quiet sh -c 'head -c 200M /dev/zero | tail -c 150M | wc -c' >out 2>err
job=$(of oom 0 .info.allocation.job_id)
like "out of memory: sacct says so" "$(lab_sacct "$job" State -j "$job.0")" "OUT_OF_ME*"
ok "... and we count the kills" is_true oom 0 '.measurements.cgroup_oom_kills.total >= 1'

ok "nothing is left of all these" clean
lab_stop
is "... and the lab ends with nothing left" "$?:$lab_why" 0:

plan $count
