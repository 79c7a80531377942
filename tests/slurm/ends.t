#!/bin/bash
# Ends that come from outside: the time limit of a job, and the death of
# slurmstepd itself, with which all must be as it is without the plugin.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin
start nodes=3 KillWait=1 OverTimeLimit=0 contain=yes

up() { [ -s "$lab_home/$1" ]; }

# --- the time limit: slurmctld looks at it every 30 s, so it has its own node ---
script limit.sh <<'EOS'
#!/bin/bash
echo "begun"
srun -n2 sh -c 'echo >limit.$SLURM_PROCID; exec sleep 300'
EOS
limit=$(lab_sbatch -w "${lab_nodes[0]}" -n2 --time=1 --profile-res limit.sh)
lab_until 20 up limit.0 && lab_until 20 up limit.1
lab_client scontrol update jobid="$limit" EndTime=now+1
# steps: of those that a sampler is there for now
steps() {
    local pid
    for pid in $(samplers); do tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n 's/^--step=//p'; done | sort
}
is "a job with three steps, one of them extern: two samplers" "$(steps | tr '\n' ' ')" "0 batch "
ok "... though the third is there" grep -qs . /sys/fs/cgroup/*/slurm_*/uid_*/job_"$limit"/step_extern/cgroup.procs \
    /sys/fs/cgroup/*/*slurmstepd.scope/job_"$limit"/step_extern/slurm/cgroup.procs

# --- slurmstepd is killed: on one node without the plugin's option, on one with it ---
# stepd_of JOB: pid of the slurmstepd of its step 0
stepd_of() {
    local pid
    for pid in $(lab_stepds); do
        ! grep -qa "slurmstepd: \[$1\.0\]" "/proc/$pid/cmdline" || echo "$pid"
    done
}

# orphan NAME NODE [OPTION...]: a step whose slurmstepd is killed; then its job is cancelled
orphan() {
    local name=$1 node=$2 client job
    shift 2
    # shellcheck disable=SC2016 # the step's
    "${lab_user[@]}" srun -w "$node" "$@" \
        sh -c 'echo $SLURM_JOB_ID $$ >"$0.up"; exec sleep 300' "$name" >"$name.out" 2>"$name.err" &
    client=$!
    lab_until 20 up "$name.up"
    read -r job task <"$lab_home/$name.up"
    [ $# = 0 ] || lab_until 5 test -s "$lab_home/$name/0/$node.json"
    [ $# = 0 ] || sampler=$(samplers_of "$node")
    kill -KILL "$(stepd_of "$job")"
    [ $# = 0 ] || ok "slurmstepd is killed: the sampler ends" lab_until 5 lab_gone "$sampler"
    {
        echo "task: $(lab_yes lab_alive "$task")"
        echo "node: $(lab_client sinfo -h -n "$node" -o '%T %E')"
        echo "job: $(lab_job "$job" JobState)"
    } >"$name.state"
    lab_client scancel "$job"
    wait $client
    echo "srun: $?" >>"$name.state"
    lab_wait_job "$job"
    {
        echo "job: $(lab_job "$job" JobState) $(lab_job "$job" ExitCode)"
        echo "node: $(lab_client sinfo -h -n "$node" -o '%T %E')"
        echo "task: $(lab_yes lab_alive "$task")"
        lab_cgroups | grep -F "_$node/" | sed "s/_$node/_NODE/; s/job_$job/job_JOB/"
    } >>"$name.state"
    kill -KILL "$task" 2>/dev/null
    said "$name" "$job" "$node"
}

# said NAME JOB NODE: what srun has said, whichever job and node it was, but for the brief
said() { sed "s/$2\.0/JOB.0/; s/$3/NODE/g; s/[0-9T:-]\{19\}/TIME/; /^profres: /,\$d" "$1.err" >"$1.said"; }

samplers_of() {
    local pid
    for pid in $(samplers); do
        ! tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxe "--node=$1" || echo "$pid"
    done
}

orphan bare "${lab_nodes[1]}"
orphan with "${lab_nodes[2]}" --profile-res=dir=with
is "... with a whole profile" "$(of with 0 .state)" COMPLETE
like "... that says what was still running" "$(of with 0 .n_pending)" "[1-9]"
is "... all else is as without the plugin: job, node, task, srun, directories" \
    "$(cat with.state)" "$(cat bare.state)"
sed 's/^/# /' bare.state
is "... and so is what srun says" "$(cat with.said)" "$(cat bare.said)"
is "... no temporary file is left" "$(find "$lab_home" -name '.*.tmp')" ""
lab_srun -w "${lab_nodes[2]}" --profile-res=dir=next,quiet true 2>err
is "... the node takes the next step" "$?:$(of next 0 .state)" 0:COMPLETE

# --- and what became of the other ---
ok "the time limit: the job ends" lab_wait_job "$limit" 100
is "... as TIMEOUT" "$(lab_job "$limit" JobState)" TIMEOUT
dir=slurm-$limit.profres
settled
is "... the extern step of the job was left alone" "$(cd "$lab_home/$dir" && echo *)" "0 batch"
is "... the step is complete, each task with its signal" \
    "$(of "$dir" 0 '[.state, .tasks[].signal] | tostring')" '["COMPLETE",15,15]'
is "... nothing of it is pending" "$(of "$dir" 0 .n_pending)" 0
is "... so is the batch step" "$(of "$dir" batch '[.state, .tasks[0].signal] | tostring')" '["COMPLETE",15]'
# srun's last word may come while the brief is written
like "... the brief is the end of the job's output" "$(grep -v '^srun: error: ' "$lab_home/slurm-$limit.out")" "begun
*DUE TO TIME LIMIT*
profres: $limit.batch
  elapsed *killed by signal 15*
*files * $lab_home/$dir/batch"

plan $count
