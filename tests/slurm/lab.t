#!/bin/bash
# The lab of lab.sh: a real Slurm, in which jobs are run, limited and ended as on
# a cluster, and of which nothing is left. The probe plugin proves that SPANK
# works in it, and that a process which stays in a step's cgroups is noticed.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh and lab.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
if ! lab_available || ! lab_needs_v1; then
    echo "1..0 # SKIP $lab_why; packages: $(lab_packages)"
    exit 0
fi
plan 66
cd "$work" || exit 1

# start ARG...: or there is nothing more to see
start() {
    lab_start "$@" && return
    lab_log
    echo "Bail out! no lab: $lab_why"
    failures=1
    exit 1
}

# Processes may take a moment to be reaped.
gone() { lab_until 5 none_alive "$@"; }
none_alive() {
    local pid
    for pid; do ! lab_alive "$pid" || return 1; done
}
no_cgroups() { [ -z "$(find /sys/fs/cgroup/*/ -maxdepth 1 -name "slurm_${1%n*}n*" 2>/dev/null)" ]; }
states() { lab_node_states | awk '{ print $2 }' | sort -u; }

# stopped: ends the lab and looks for whatever is left of it (4 points)
stopped() {
    local dir=$lab_dir node=${lab_nodes[0]} pids
    mapfile -t pids < <(lab_processes)
    lab_stop
    is "the lab stops, its jobs left nothing" "$?:$lab_why" 0:
    ok "... none of its processes is there" gone "${pids[@]}"
    ok "... no cgroup of its nodes" no_cgroups "$node"
    ok "... nor its directory" test ! -e "$dir"
}

# --- one node ---
start
first=${lab_nodes[0]}
is "a node is up" "$(lab_node_states | cut -d ' ' -f 1,2)" "$first idle"
is "srun hostname" "$(lab_srun hostname)" "$(hostname)"
is "the job is an ordinary user's" "$(lab_srun id -u)" 65534
lab_srun sh -c 'pwd >where'
is "... in a directory that it may write" "$(cat "$lab_home/where")" "$lab_home"
lab_srun sh -c 'exit 3' 2>err
is "an exit status passes through" $? 3
lab_srun sh -c 'kill -KILL $$' 2>err
is "so does a signal" $? 137
lab_srun --mem=50M grep -E 'freezer|memory' /proc/self/cgroup >paths
is "the task is in cgroups of its step" "$(grep -c ":/slurm_$first/uid_65534/job_[0-9]*/step_0" paths)" 2
job=$(lab_sbatch --mem=50M --wrap 'head -c 200M /dev/zero | tail | wc -c')
ok "a batch job leaves the queue" lab_wait_job "$job"
is "... killed for memory beyond --mem" "$(lab_job "$job" JobState)" OUT_OF_MEMORY
lab_srun --mem=50M sh -c 'head -c 200M /dev/zero | tail | wc -c' >out 2>err
like "a step is killed for it, too" "$(cat err)" "*oom-kill*"
cat >"$lab_home/two.sh" <<'END'
#!/bin/sh
srun sh -c 'echo step $SLURM_STEP_ID'
srun sh -c 'echo step $SLURM_STEP_ID; exit 4'
END
job=$(lab_sbatch -o two.out two.sh 2>err)
ok "a script with two steps ends" lab_wait_job "$job"
is "... both have run" "$(grep ^step "$lab_home/two.out" | tr '\n' ' ')" "step 0 step 1 "
is "... its status is the last one's" "$(lab_job "$job" ExitCode)" 4:0
job=$(lab_sbatch --wrap 'touch up; sleep 600')
ok "a job runs" until_true 10 test -e "$lab_home/up"
ok "... and has cgroups" test -n "$(lab_cgroups)"
lab_wait_idle 0
like "... the node is busy for so long" "$?:$lab_why" "1:*mixed*"
lab_as_user scancel "$job"
lab_wait_job "$job"
is "... until its user cancels it" "$(lab_job "$job" JobState)" CANCELLED
ok "the node is idle, no job has a cgroup" lab_wait_idle
user=$lab_mount/freezer/slurm_${lab_nodes[0]}/uid_65534
mkdir -p "$user/job_77"
lab_repeat=(mkdir -p "$user/job_77")
lab_patience=1 lab_wait_idle 0 >out
is "what the same step leaves again is a leak of ours" $? 1
rmdir "$user/job_77"
lab_repeat=(lab_as_user srun true)
mkdir -p "$user/job_77"
ok "what Slurm itself may leave is forgiven" lab_wait_idle 0
mkdir -p "$user/job_78"
lab_wait_idle 0
is "... once" $? 1
rmdir "$user/job_78" "$user"
"${lab_user[@]}" srun sleep 600 2>err &
client=$!
started+=("$client")
has_job() { [ -n "$(lab_stepds)" ]; }
until_true 10 has_job
ok "the log of each daemon can be shown" test "$(lab_log 3 | grep -c '^# --- slurm')" -ge 2

# --- another lab at the same time ---
beside=$(bash -c '. "$0"; lab_start && lab_srun printenv SLURMD_NODENAME && lab_stop; echo "$?:$lab_why"' \
    "$top_srcdir/tests/slurm/lab.sh" 2>&1 | tr '\n' ' ')
like "a second lab runs beside the first" "$beside" "lab*n1 0: "
ok "... under another name" test "${beside%% *}" != "$first"
ok "a job that runs is ended with the lab" lab_alive "$client"
stopped
ok "... and so is its client" gone "$client"

# --- four nodes ---
start nodes=4 gather=linux freq=1 KillWait=1 ConstrainSwapSpace=
ok "the next lab is another one" test "${lab_nodes[0]}" != "$first"
is "four nodes are up" "$(lab_node_states | wc -l):$(states)" 4:idle
is "a key with a capital is Slurm's" \
    "$(lab_client scontrol show config | awk '$1 == "KillWait" { print $3 }')" 1
is "two tasks on each of four nodes" \
    "$(lab_srun -N4 -n8 --ntasks-per-node=2 printenv SLURMD_NODENAME | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" \
    "2 ${lab_nodes[0]} 2 ${lab_nodes[1]} 2 ${lab_nodes[2]} 2 ${lab_nodes[3]} "
ok "all are idle again" lab_wait_idle
stopped
lab_start nodse=4
is "an unknown option is refused" "$?:$lab_why" "1:lab_start knows no 'nodse'"

# --- a test that is killed ---
bash -c '. "$0"; lab_start; lab_sbatch --wrap "sleep 600" >/dev/null
    echo "$lab_dir" "${lab_nodes[0]}"; lab_processes >"$1"; kill -TERM $$; sleep 600' \
    "$top_srcdir/tests/slurm/lab.sh" "$work/pids" >names 2>err
is "a test dies of SIGTERM" $? 143
read -r dir node <names
mapfile -t pids <pids
ok "... its lab had processes" test "${#pids[@]}" -ge 4
ok "... none is left" gone "${pids[@]}"
ok "... no cgroup" no_cgroups "$node"
ok "... no directory" test ! -e "$dir"

# --- SPANK ---
probe=$top_srcdir/tests/slurm/probe_spank.c
if ! "${CC:-cc}" -shared -fPIC -Wall -o probe.so "$probe" 2>err; then
    skip 21 "the probe plugin does not compile: $(head -n 1 err)"
    exit 0
fi
# The jobs' user may not enter the test's own directory.
use_probe() {
    cp "$work/probe.so" "$lab_dir/probe.so"
    : >"$lab_dir/probe.log"
    chmod 666 "$lab_dir/probe.log"
    lab_spank "$lab_dir/probe.so log=$lab_dir/probe.log $*"
}
seen() { grep "^$1 remote $2 " "$lab_dir/probe.log" | cut -d ' ' -f 4- | sort -u; }
child_pid() { seen child started; }

start contain=yes
use_probe
like "the plugin's option is srun's" "$(lab_srun --help)" "*--probe*"
lab_srun --probe=word sh -c 'exit 3' 2>err
is "a step with it keeps its status" $? 3
like "... the user sees what a hook says" "$(cat err)" "*probe: a task has ended*"
lab_wait_idle
is "all hooks have run, in order" \
    "$(awk '$2 == "remote" && $3 == "job" && $6 == "0x0" && $1 !~ /^task_init/ { print $1 }' "$lab_dir/probe.log" | tr '\n' ' ')" \
    "init init_post_opt user_init task_post_fork task_exit exit "
is "the option's argument arrives" "$(grep -c '^option remote remote 1 argument word' "$lab_dir/probe.log")" 2
is "user_init is the user in effect" "$(seen user_init uid)" 0/65534/0
is "task_exit is root" "$(seen task_exit uid)" 0/0/0
like "a task is in its place in task_post_fork" "$(seen task_post_fork task)" \
    "*memory:/slurm_${lab_nodes[0]}/uid_65534/job_*/step_0/task_0*"
ok "the peak of the step is there in task_exit" test "$(seen task_exit step_peak)" -gt 0
is "... and no longer in exit" "$(grep '^exit remote step_peak' "$lab_dir/probe.log")" "exit remote step_peak gone"

for at in init_post_opt task_post_fork; do
    use_probe child=move at=$at seconds=60
    begin=$(lab_clock)
    lab_srun --probe true 2>err
    ok "$at: srun does not wait for a process moved out" test $(($(lab_clock) - begin)) -lt 10000
    ok "... which outlives the step" lab_alive "$(child_pid)"
    ok "... and holds no cgroup of it" lab_wait_idle
    kill "$(child_pid)"
done
use_probe child=stay seconds=60
lab_srun --probe true 2>err
ok "a process that stays is in the way" lab_until 10 lab_alive "$(child_pid)"
lab_wait_idle 1
is "... which lab_wait_idle finds" $? 1
node=${lab_nodes[0]}
child=$(child_pid)
lab_stop
like "... and lab_stop reports" "$?:$lab_why" "1:*cgroups of jobs left:*uid_65534*killed*"
ok "... and removes" no_cgroups "$node"
ok "... with the process" gone "$child"
