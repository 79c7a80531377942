#!/bin/bash
# The plugin under a real Slurm on a real unified cgroup v2. One boot of
# User-mode Linux; the same script runs in there with "inside". What is
# measured is held against the kernel's files as the jobs read them themselves;
# however a step ends, its status is its own, and nothing of it is left.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"

# reasons not to boot for nothing
missing() {
    local need
    for need in slurmctld slurmd munged srun jq; do
        PATH=$PATH:/usr/sbin:/sbin type -P "$need" >/dev/null || { echo "there is no $need" && return; }
    done
    [ -e "$top_builddir/.libs/profile_res.so" ] || echo "the plugin was not built (no slurm/spank.h)"
}

if [ "${1:-}" != inside ]; then
    why=$(missing)
    [ -z "$why" ] || { echo "1..0 # SKIP $why" && exit 0; }
    vm_seconds=240 # it takes a third of that on a host that is idle
    vm_test uml "$top_srcdir/tests/lab/v2-slurm.t" inside
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

# To start a process takes a tenth of a second and more in here: what follows
# asks each program but once, and the shell for the rest.

# seen NAME RANK: $path, $user_peak, $task_peak, $user_cpu, $task_cpu (us) of self.sh
seen() {
    path='' user_peak='' task_peak='' user_cpu='' task_cpu=''
    read -r path user_peak task_peak user_cpu task_cpu <"$lab_home/$1.$2"
}

# about TEXT GOT EXPECTED TOLERANCE: integers; 50 ms of CPU are what a job uses after its last look
about() {
    ok "$1 ($2 against $3)" test "$((${2:-0} > 0 && ${2:-0} - ${3:-0} <= $4 && ${3:-0} - ${2:-0} <= $4))" = 1
}
page=4096 moment=50000

# no_processes: of the jobs' user, samplers among them; this kernel has no other work for it
no_processes() { [[ " $(stat -c %u /proc/[0-9]* 2>/dev/null | tr '\n' ' ')" != *" $lab_uid "* ]]; }

# node_idle: and no cgroup of a job below its scope
node_idle() {
    local dir
    for dir in "/sys/fs/cgroup$scope"/*/; do
        case $dir in */system/ | */slurmd/) ;; *) return 1 ;; esac
    done
    lab_is_idle "${lab_nodes[0]}"
}

# nothing_left: the step is over (2 points)
nothing_left() {
    ok "... no process is left, nor the sampler" lab_until 10 no_processes
    ok "... the node is idle, no cgroup of the job is left" lab_until 10 node_idle
}

# take DIR STEP EXPRESSION...: of a summary, when the sampler has ended, into got[]
take() {
    local file=$lab_home/$1/$2/${lab_nodes[0]}.json all
    shift 2
    lab_until 10 no_processes
    printf -v all '(%s),' "$@"
    mapfile -t got < <(jq -r "${all%,}" "$file")
}
us() { echo "($1 * 1000000 | round)"; }

# srun_until_up NAME ARG...: in the background, until its task has made the file NAME.up
srun_until_up() {
    local name=$1
    shift
    "${lab_user[@]}" srun --profile-res="dir=$name,quiet" "$@" 2>"$name.err" &
    client=$!
    lab_until 20 test -s "$lab_home/$name.up"
    sampler=$(samplers)
}

# batch_ends NAME JOBID: squeue, asked again and again, would take the job's only CPU
batch_ends() { lab_until 60 test -e "$lab_home/$1.done" && lab_wait_job "$2" 20; }

peak=.measurements.cgroup_mem_peak.max
same='(.totals_at_exit | [.cgroup_mem_peak, .cgroup_cpu_seconds, .cgroup_oom_kills])
    == (.measurements | [.cgroup_mem_peak.max, .cgroup_cpu_seconds.total, .cgroup_oom_kills.total])'

# --- one task ---
lab_srun --profile-res=dir=one ./self.sh one 32 5000 6 >out 2>err
is "one task: its status" "$?:$(<out)" 6:
seen one 0
both='(.measurements | keys) as $m | $m - ($m - (.info.unavailable | keys)) | length'
take one 0 .state .info.cgroup_mode .info.processes_from .info.cgroups.unified.path $peak \
    "$(us .measurements.cgroup_cpu_seconds.total)" '.tasks[0].cgroup_mem_peak' "$(us '.tasks[0].cgroup_cpu_seconds')" \
    '[.n_pending, .tasks[0].exit, .tasks[0].rank] | tostring' "$same" \
    '.measurements.cgroup_mem_limit.last == .info.allocation.step_mem_bytes' \
    '[.commands[].comm] | any(. == "self.sh")' '.info.unavailable | all(.[]; length > 5)' "$both" \
    .info.unavailable.cgroup_psi_cpu_some_seconds .info.unavailable.cgroup_swap_peak .info.unavailable.cgroup_pids_peak
is "... complete" "${got[0]}" COMPLETE
is "... of cgroup v2" "${got[1]}" v2
is "... so are its processes" "${got[2]}" "cgroup v2"
like "... it was in its step" "$path" "$scope/job_*/step_0/user/task_0"
is "... measured is the user's part of the step" "${got[3]}" "${path%/task_0}"
about "... the peak is the kernel's" "${got[4]}" "$user_peak" $page
ok "... and holds what was allocated" test "${user_peak:-0}" -gt $((32 << 20))
about "... CPU is the kernel's" "${got[5]}" "$user_cpu" $moment
about "... the task's peak" "${got[6]}" "$task_peak" $page
about "... the task's CPU" "${got[7]}" "$task_cpu" $moment
is "... nothing pending, exit and rank" "${got[8]}" "[0,6,0]"
is "... slurmstepd has read the same" "${got[9]}" true
is "... the limit is the step's" "${got[10]}" true
is "... its command is known" "${got[11]}" true
is "... no reason is empty" "${got[12]}" true
is "... no key is both measured and missing" "${got[13]}" 0
like "... pressure is missing with its reason" "${got[14]}" "no cpu.pressure (unified)*"
like "... so is the peak of swap" "${got[15]}" "no memory.swap.peak (unified)*"
like "... and of processes" "${got[16]}" "no pids.peak (unified)*"
like "... srun says so" "$(<err)" "*profres: *.0
  elapsed * exit 6
  memory * charged at peak (* of 200.0 MiB allocated)*"
nothing_left

# --- two tasks ---
lab_srun -n2 --profile-res=dir=two,quiet sh -c './self.sh two $((SLURM_PROCID * 8 + 8)) 1000 $((SLURM_PROCID + 3))' 2>err
is "two tasks: the larger status" $? 4
take two 0 .state "$same" '[.tasks[] | .rank, .exit] | tostring' '.tasks[].cgroup_mem_peak' "$(us '.tasks[].cgroup_cpu_seconds')"
is "... complete" "${got[0]}" COMPLETE
is "... slurmstepd has read the same" "${got[1]}" true
is "... ranks and exits" "${got[2]}" "[0,3,1,4]"
for rank in 0 1; do
    seen two $rank
    about "... peak of rank $rank" "${got[3 + rank]}" "$task_peak" $page
    about "... CPU of rank $rank" "${got[5 + rank]}" "$task_cpu" $moment
done
nothing_left

# --- a batch job ---
script batch.sh <<'EOF'
#!/bin/bash
srun ./self.sh first 8 100
srun ./self.sh second 16 100
echo >batch.done
exit 3
EOF
job=$(lab_sbatch --profile-res batch.sh)
ok "a batch job ends" batch_ends batch "$job"
is "... its status" "$(lab_job "$job" ExitCode)" 3:0
is "... all its steps are in one directory" "$(files "slurm-$job.profres")" \
    "0/n1.json 0/n1.jsonl 1/n1.json 1/n1.jsonl batch/n1.json batch/n1.jsonl "
for pair in first:0 second:1; do
    seen "${pair%:*}" 0
    take "slurm-$job.profres" "${pair#*:}" .state "$same" $peak
    is "... the ${pair%:*} step is complete, its totals as slurmstepd has read" "${got[*]:0:2}" "COMPLETE true"
    about "... its peak is its own" "${got[2]}" "$user_peak" $page
done
take "slurm-$job.profres" batch .state "$same"
is "... so is the batch step" "${got[*]}" "COMPLETE true"
like "... the brief is the end of its output" "$(<"$lab_home/slurm-$job.out")" "*profres: $job.batch
  elapsed *exit 3*"
nothing_left

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
take oom 0 .state "$same" .measurements.cgroup_oom_kills.total $peak
is "... complete, the kill is counted" "${got[*]:0:3}" "COMPLETE true 1"
about "... the peak is at the limit" "${got[3]}" $((50 << 20)) 1048576
like "... it is said" "$(<err)" "*OOM*1 process killed*"
nothing_left

# --- cancelled ---
srun_until_up cancel sh -c 'echo $SLURM_JOB_ID >cancel.up; sleep 60'
is "a sampler is outside its step" "$(<"/proc/$sampler/cgroup")" "0::$scope/system"
is "... the user's, but closed to the user" "$(stat -c %U "/proc/$sampler"{,/environ} | tr '\n' ' ')" "nobody root "
lab_as_user scancel "$(<"$lab_home/cancel.up")"
wait $client
is "cancelled: srun says so" $? 143
take cancel 0 .state "$same" '.tasks[0].signal'
is "... complete, with its signal" "${got[*]}" "COMPLETE true 15"
nothing_left

# --- one that stays ---
lab_srun --profile-res=dir=daemon,quiet sh -c 'setsid sleep 60 </dev/null >/dev/null 2>&1 & sleep 0.5; exit 5' 2>err
is "a daemon is left: the status" $? 5
take daemon 0 .state .n_pending
is "... complete, and it was seen" "${got[*]}" "COMPLETE 1"
nothing_left

# --- the sampler ends, hangs, or comes too late ---
lost() { # NAME
    local file=$lab_home/$1/0/${lab_nodes[0]}.lost.json
    ok "... the totals are written down" lab_until 10 test -s "$file"
    ok "... with numbers" jq_true '.state == "LOST" and .measurements.cgroup_mem_peak.max > 0
        and .measurements.cgroup_cpu_seconds.total >= 0' "$file"
}
srun_until_up killed sh -c 'echo >killed.up; sleep 2; exit 8'
kill -KILL "$sampler"
wait $client
is "the sampler is killed: the status is the job's" $? 8
lost killed
nothing_left

srun_until_up stopped sh -c 'echo >stopped.up; sleep 2; exit 7'
kill -STOP "$sampler"
begin=$(lab_clock)
wait $client
is "the sampler is stopped: the status is the job's" $? 7
ok "... it is not waited for" test $(($(lab_clock) - begin)) -lt 8000
ok "... the node is idle, no cgroup of the job is left" lab_until 10 node_idle
kill -CONT "$sampler"
take stopped 0 .state '.tasks[0].exit'
is "... complete when it goes on" "${got[*]}" "COMPLETE 7"
nothing_left

mv "$lab_dir/bin/profres-sampler" "$lab_dir/bin/late-sampler"
script late.sh <<'EOF'
#!/bin/sh
sleep 1
exec "${0%late.sh}../bin/late-sampler" "$@"
EOF
use_plugin sampler="$lab_home/late.sh"
lab_srun --profile-res=dir=late,quiet sh -c 'exit 11' 2>err
is "the sampler is late: the status is the job's" $? 11
lost late
nothing_left
mv "$lab_dir/bin/late-sampler" "$lab_dir/bin/profres-sampler"
use_plugin

# --- many ---
script ten.sh <<'EOF'
#!/bin/bash
for ((i = 0; i < 10; i++)); do
    srun sh -c "sleep 0.2; exit $i"
    echo "$i:$?" >>ten.status
done
echo >ten.done
EOF
job=$(lab_sbatch --profile-res=quiet,dir=ten ten.sh)
ok "ten steps in a row end" batch_ends ten "$job"
is "... each with its status" "$(tr '\n' ' ' <"$lab_home/ten.status")" "$(printf '%s:%s ' {0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9})"
lab_until 10 no_processes
is "... each complete" "$(jq -r '.state, .tasks[0].exit' "$lab_home"/ten/[0-9]/*.json | tr '\n' ' ')" "$(printf 'COMPLETE %s ' {0..9})"
nothing_left

is "slurmd has nothing to say of cgroups" "$(grep -iE 'error.*(cgroup|rmdir|kill|busy)' "$lab_dir/log/slurmd.${lab_nodes[0]}" |
    grep -vE 'cpuset is not enabled|oom-kill event')" ""
lab_stop
is "nothing is left of Slurm" "$?:$lab_why" 0:
plan $count
