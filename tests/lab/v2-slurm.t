#!/bin/bash
# The plugin under a real Slurm on a real unified cgroup v2. One boot of
# User-mode Linux; the same script runs in there with "inside". What is
# measured is held against the kernel's files as the jobs read them themselves;
# however a step ends, its status is its own, and nothing of it is left.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/uml.sh"

# reasons not to boot for nothing
missing() {
    local need
    for need in slurmctld slurmd munged srun jq; do
        PATH=$PATH:/usr/sbin:/sbin type -P "$need" >/dev/null || { echo "there is no $need" && return; }
    done
    [ -e "$top_builddir/.libs/profile_res.so" ] || echo "the plugin was not built (no slurm/spank.h)"
}

if [ "${1:-}" != inside ]; then
    uml_available || { echo "1..0 # SKIP $uml_why" && exit 0; }
    why=$(missing)
    [ -z "$why" ] || { echo "1..0 # SKIP $why" && exit 0; }
    export top_srcdir top_builddir
    uml_seconds=170
    uml_run "$top_srcdir/tests/lab/v2-slurm.t" inside
    status=$?
    case $status in
    124) echo "Bail out! User-mode Linux still ran after $uml_seconds s" ;;
    125) echo "1..0 # SKIP $uml_why" && exit 0 ;;
    esac
    exit "$status"
fi

. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
if ! have_plugin; then
    echo "1..0 # SKIP $lab_why; packages: $(lab_packages)"
    exit 0
fi
cd "$work" || exit 1
start cpus=2 memory=800 KillWait=1
scope=/system.slice/${lab_nodes[0]}_slurmstepd.scope

script self.sh <<'EOF'
#!/bin/bash
# NAME MB LOOPS [STATUS]: uses memory and CPU, then writes what its cgroups say
[ "$2" = 0 ] || head -c "${2}M" /dev/zero | tail >/dev/null
for ((i = 0; i < $3; i++)); do :; done
IFS=: read -r _ _ path </proc/self/cgroup
task=/sys/fs/cgroup$path
user=${task%/task_*}
read -r user_peak <"$user/memory.peak"
read -r task_peak <"$task/memory.peak"
read -r _ user_cpu <"$user/cpu.stat"
read -r _ task_cpu <"$task/cpu.stat"
echo "$path $user_peak $task_peak $user_cpu $task_cpu" >"$1.$SLURM_PROCID"
exit "${4:-0}"
EOF

# seen NAME RANK: $path, $user_peak, $task_peak, $user_cpu, $task_cpu of self.sh
seen() {
    path='' user_peak='' task_peak='' user_cpu='' task_cpu=''
    read -r path user_peak task_peak user_cpu task_cpu <"$lab_home/$1.$2"
    user_cpu=$(awk -v n="$user_cpu" 'BEGIN { printf "%.6f", n / 1e6 }')
    task_cpu=$(awk -v n="$task_cpu" 'BEGIN { printf "%.6f", n / 1e6 }')
}

# user_processes: all of the jobs' user; this kernel has no other work for it
user_processes() { pgrep -u "${lab_opt[user]}" -l; }
no_user_processes() { [ -z "$(user_processes)" ]; }

# nothing_left TEXT: the step is over (2 points)
nothing_left() {
    ok "$1: the node is idle, no cgroup of the job, no sampler" clean
    ok "$1: no process" lab_until 5 no_user_processes
}

# in_the_background NAME ARG...: srun, until its task has made the file NAME.up
in_the_background() {
    local name=$1
    shift
    "${lab_user[@]}" srun --profile-res="dir=$name,quiet" "$@" 2>"$name.err" &
    client=$!
    lab_until 20 test -s "$lab_home/$name.up"
}

same_totals='(.totals_at_exit | [.cgroup_mem_peak, .cgroup_cpu_seconds, .cgroup_oom_kills])
    == (.measurements | [.cgroup_mem_peak.max, .cgroup_cpu_seconds.total, .cgroup_oom_kills.total])'

# --- one task ---
lab_srun --profile-res=dir=one ./self.sh one 48 30000 6 >out 2>err
is "one task: its status" "$?:$(cat out)" 6:
seen one 0
like "... it was in its step" "$path" "$scope/job_*/step_0/user/task_0"
is "... the mode, where processes are from" "$(of one 0 '.info | .cgroup_mode, .processes_from' | tr '\n' ' ')" "v2 cgroup v2 "
is "... the level is the user's part of the step" "$(of one 0 .info.cgroups.unified.path)" "${path%/task_0}"
near "... its peak is the kernel's" "$(of one 0 .measurements.cgroup_mem_peak.max)" "$user_peak" 4096
ok "... and holds what was allocated" test "${user_peak:-0}" -gt $((48 << 20))
near "... CPU is the kernel's" "$(of one 0 .measurements.cgroup_cpu_seconds.total)" "$user_cpu" 0.05
near "... the task's peak" "$(of one 0 '.tasks[0].cgroup_mem_peak')" "$task_peak" 4096
near "... the task's CPU" "$(of one 0 '.tasks[0].cgroup_cpu_seconds')" "$task_cpu" 0.05
ok "... slurmstepd has read the same" is_true one 0 "$same_totals"
ok "... complete, with its exit" is_true one 0 \
    '.state == "COMPLETE" and .n_pending == 0 and .tasks[0].exit == 6 and .tasks[0].rank == 0'
ok "... the limit is the step's" is_true one 0 '.measurements.cgroup_mem_limit.last == .info.allocation.step_mem_bytes'
ok "... bash was seen" is_true one 0 '[.commands[].comm] | any(. == "self.sh" or . == "bash")'
ok "... no reason is empty" is_true one 0 '.info.unavailable | all(.[]; length > 5)'
is "... no key is both measured and missing" "$(of one 0 '(.measurements | keys) as $m | $m - ($m - (.info.unavailable | keys)) | tostring')" "[]"
for key in cgroup_psi_cpu_some_seconds:cpu.pressure cgroup_swap_peak:memory.swap.peak cgroup_pids_peak:pids.peak; do
    like "... ${key%%:*} is missing with its reason" "$(of one 0 ".info.unavailable.${key%%:*}")" "no ${key#*:} (unified)*"
done
like "... srun says so" "$(cat err)" "*profres: *.0
  elapsed * exit 6
  memory * charged at peak (* of 200.0 MiB allocated)*"
nothing_left "one task"

# --- two tasks ---
lab_srun -n2 --profile-res=dir=two,quiet sh -c './self.sh two $((SLURM_PROCID * 16 + 16)) 3000 $((SLURM_PROCID + 3))' 2>err
is "two tasks: the larger status" $? 4
for rank in 0 1; do
    seen two $rank
    near "... peak of rank $rank" "$(of two 0 ".tasks[$rank].cgroup_mem_peak")" "$task_peak" 4096
    near "... CPU of rank $rank" "$(of two 0 ".tasks[$rank].cgroup_cpu_seconds")" "$task_cpu" 0.05
    is "... exit of rank $rank" "$(of two 0 ".tasks[$rank] | .rank, .exit" | tr '\n' ' ')" "$rank $((rank + 3)) "
done
ok "... complete, and slurmstepd has read the same" is_true two 0 ".state == \"COMPLETE\" and $same_totals"
nothing_left "two tasks"

# --- a batch job ---
script batch.sh <<'EOF'
#!/bin/bash
srun ./self.sh first 16 3000 0
srun ./self.sh second 32 3000 0
exit 3
EOF
job=$(lab_sbatch --profile-res batch.sh)
ok "a batch job ends" lab_wait_job "$job" 40
is "... its status" "$(lab_job "$job" ExitCode)" 3:0
is "... all its steps are in one directory" "$(files "slurm-$job.profres")" \
    "0/n1.json 0/n1.jsonl 1/n1.json 1/n1.jsonl batch/n1.json batch/n1.jsonl "
for pair in first:0 second:1; do
    seen "${pair%:*}" 0
    near "... the ${pair%:*} step's peak is its own" \
        "$(of "slurm-$job.profres" "${pair#*:}" .measurements.cgroup_mem_peak.max)" "$user_peak" 4096
done
for step in 0 1 batch; do
    ok "... step $step is complete" is_true "slurm-$job.profres" $step ".state == \"COMPLETE\" and $same_totals"
done
like "... the brief is the end of its output" "$(cat "$lab_home/slurm-$job.out")" "*profres: $job.batch
  elapsed *exit 3*"
nothing_left "a batch job"

# --- out of memory ---
script oom.sh <<'EOF'
#!/bin/sh
head -c 300M /dev/zero | tail >/dev/null
exit 9
EOF
lab_srun --mem=50M ./oom.sh 2>plain
plain=$?
lab_srun --mem=50M --profile-res=dir=oom ./oom.sh 2>err
is "out of memory: the status is as without" $? $plain
is "... the kill is counted" "$(of oom 0 .measurements.cgroup_oom_kills.total)" 1
near "... the peak is at the limit" "$(of oom 0 .measurements.cgroup_mem_peak.max)" $((50 << 20)) 1048576
ok "... complete, and slurmstepd has read the same" is_true oom 0 ".state == \"COMPLETE\" and $same_totals"
like "... it is said" "$(cat err)" "*OOM*1 process killed*"
nothing_left "out of memory"

# --- cancelled ---
in_the_background cancel sh -c 'echo $SLURM_JOB_ID >cancel.up; sleep 60'
is "there is one sampler" "$(samplers | wc -l)" 1
is "... outside the step" "$(cat "/proc/$(samplers)/cgroup")" "0::$scope/system"
is "... the user's, but closed to the user" "$(stat -c %U "/proc/$(samplers)"{,/environ} | tr '\n' ' ')" "nobody root "
lab_as_user scancel "$(cat "$lab_home/cancel.up")"
wait $client
is "cancelled: srun says so" $? 143
is "... complete, with its signal" "$(of cancel 0 '.state, .tasks[0].signal' | tr '\n' ' ')" "COMPLETE 15 "
ok "... slurmstepd has read the same" is_true cancel 0 "$same_totals"
nothing_left "cancelled"

# --- one that stays ---
lab_srun --profile-res=dir=daemon,quiet sh -c 'setsid sleep 60 </dev/null >/dev/null 2>&1 & sleep 0.3; exit 5' 2>err
is "a daemon is left: the status" $? 5
is "... complete, and it was seen" "$(of daemon 0 '.state, .n_pending' | tr '\n' ' ')" "COMPLETE 1 "
nothing_left "a daemon is left"

# --- the sampler ends or hangs ---
in_the_background killed sh -c 'echo >killed.up; sleep 1; exit 8'
kill -KILL "$(samplers)"
wait $client
is "the sampler is killed: the status is the job's" $? 8
lost=$lab_home/killed/0/${lab_nodes[0]}.lost.json
ok "... the totals are written down" lab_until 5 test -s "$lost"
ok "... with numbers" jq_true '.state == "LOST" and .measurements.cgroup_mem_peak.max > 0
    and .measurements.cgroup_cpu_seconds.total > 0' "$lost"
nothing_left "the sampler is killed"

in_the_background stopped sh -c 'echo >stopped.up; sleep 1; exit 7'
sampler=$(samplers)
kill -STOP "$sampler"
begin=$(lab_clock)
wait $client
is "the sampler is stopped: the status is the job's" $? 7
ok "... it is not waited for" test $(($(lab_clock) - begin)) -lt 6000
ok "... the node is idle, no cgroup of the job" lab_wait_idle
kill -CONT "$sampler" 2>/dev/null
is "... complete when it goes on" "$(of stopped 0 '.state, .tasks[0].exit' | tr '\n' ' ')" "COMPLETE 7 "
nothing_left "the sampler is stopped"

mv "$lab_dir/bin/profres-sampler" "$lab_dir/bin/late-sampler"
printf '#!/bin/sh\nsleep 1\nexec %s/bin/late-sampler "$@"\n' "$lab_dir" >"$lab_dir/bin/profres-sampler"
chmod 755 "$lab_dir/bin/profres-sampler"
lab_srun --profile-res=dir=late,quiet sh -c 'exit 11' 2>err
is "the sampler is late: the status is the job's" $? 11
lost=$lab_home/late/0/${lab_nodes[0]}.lost.json
ok "... the totals are written down" lab_until 8 test -s "$lost"
ok "... with numbers" jq_true '.state == "LOST" and .measurements.cgroup_mem_peak.max > 0' "$lost"
nothing_left "the sampler is late"
mv "$lab_dir/bin/late-sampler" "$lab_dir/bin/profres-sampler"

# --- many ---
script ten.sh <<'EOF'
#!/bin/bash
for ((i = 0; i < 10; i++)); do
    srun sh -c "sleep 0.4; exit $i"
    echo "$i $?" >>ten.status
done
EOF
job=$(lab_sbatch --profile-res=quiet,dir=ten ten.sh)
ok "ten steps in a row end" lab_wait_job "$job" 60
is "... each with its status" "$(awk '$1 != $2' "$lab_home/ten.status"; wc -l <"$lab_home/ten.status")" 10
for ((step = 0; step < 10; step++)); do of ten $step '.state, .tasks[0].exit'; done | tr '\n' ' ' >states
is "... each complete" "$(cat states)" "$(printf 'COMPLETE %s ' {0..9})"
nothing_left "ten steps in a row"

is "slurmd has nothing to say of cgroups" "$(grep -iE 'error.*(cgroup|rmdir|kill|busy)' "$lab_dir/log/slurmd.${lab_nodes[0]}" |
    grep -vE 'cpuset is not enabled|oom-kill event')" ""
lab_stop
is "nothing is left of Slurm" "$?:$lab_why" 0:
plan $count
