#!/bin/bash
# profres report of real jobs: from their directory and from elsewhere, steps on
# several nodes, arrays, a job that runs, one at its time limit, OOM in a step.
# shellcheck disable=SC1091,SC2016,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin

start nodes=3 cpus=4 KillWait=1 MinJobAge=300 \
    SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1

report() { lab_as_user "$lab_dir/bin/profres" report "$@" 2>err; }
field() { local format=$1; shift; report -nP -o "$format" "$@"; }
words() { report "$@" | tr -s ' \n' ' '; }

script eat.sh <<'EOS'
#!/bin/bash
# eat.sh MB: so much memory at once, in a process of its own
head -c "${1}M" /dev/zero | tail >/dev/null
EOS
script steps.sh <<'EOS'
#!/bin/bash
srun -N2 -n4 --ntasks-per-node=2 sh -c './eat.sh $((SLURM_PROCID == 1 ? 60 : 5)); sleep 0.5'
srun -N1 -n1 ./eat.sh 20
srun -N1 -n1 sh -c 'exit 3'
echo "$SLURM_JOB_ID" >steps.done
exit 3
EOS

# --- the time limit takes a minute: it goes on beside the rest ---
limit=$(lab_sbatch --profile-res -n1 -t 1 -J limit --wrap "srun sh -c 'while :; do :; done'")
hung=$(lab_sbatch --profile-res -n1 -t 1 -J hung --wrap 'srun sleep 600')
idle=$(lab_sbatch --profile-res -n1 -c2 -J idle --wrap 'sleep 61')

# --- a job of several steps on two nodes ---
job=$(lab_sbatch --profile-res -N2 -n4 --ntasks-per-node=2 -J 'my steps' steps.sh)
lab_wait_job "$job" 60
settled
like "a job by its number, from its directory" "$(words "$job")" "* job $job \"my steps\", nobody, on lab on 2 nodes, *4 steps, *"
like "... the worst step is the job's verdict, and it is not the script" "$(words "$job")" \
    "* verdict exit-code: it ended with an error (step 2) *exit code 3*"
is "... the same by its steps" "$(field JobID,ExitCode,Verdict,NNodes,NTasks "$job")" \
    "$job.batch|3:0|exit-code|1|1
$job.0|0:0|ok|2|4
$job.1|0:0|ok|1|1
$job.2|3:0|exit-code|1|1"
first=$(jq -r '.info.node' "$lab_home/slurm-$job.profres/batch"/*.json)
is "... the node with the largest memory is named" "$(field Node "$job.0")" "$first"
like "... nodes that differ are shown" "$(report "$job.0")" "*JobID * Node *
*$job.0 *$first *
*$job.0 *"
is "... memory is the largest node's" "$(field cgroup_mem_peak "$job.0")" \
    "$(jq -s 'map(.measurements.cgroup_mem_peak.max) | max' "$lab_home/slurm-$job.profres/0"/*.json)"
near "... CPU time is the sum" "$(field cgroup_cpu_seconds "$job.0")" \
    "$(jq -s 'map(.measurements.cgroup_cpu_seconds.total) | add' "$lab_home/slurm-$job.profres/0"/*.json)" 0.000001
is "... what was given on a node, not on all" "$(field AllocMem "$job.0")" $((400 << 20))
like "... tasks that differ are told" "$(words "$job.0")" "*memory from * (task [023]) to * (task 1)*"
is "--by=task: all of them" "$(report --by=task -nP -o Rank "$job.0" | sort | tr '\n' ' ')" "0 1 2 3 "
is "--by=node" "$(report --by=node -nP -o Node "$job.0" | wc -l)" 2
is "one step alone" "$(field JobID "$job.1")" "$job.1"
like "from elsewhere, through scontrol" \
    "$(cd / && SLURM_CONF=$lab_conf "$lab_dir/bin/profres" report "$job" | tr -s ' \n' ' ')" "* job $job \"my steps\"*"
peak() { jq '.measurements.cgroup_mem_peak.max' "$lab_home/slurm-$job.profres/$1"/*.json | sort -n | tail -1; }
is "the job needs what ran side by side on a node: the script and its step" \
    "$(field cgroup_mem_peak --by=job "$job")" $(($(peak batch) + $(peak 0)))

# --- a node is missing ---
mkdir "$lab_home/part" && cp -a "$lab_home/slurm-$job.profres/0" "$lab_home/part/0" && rm "$lab_home/part/0/$first".*
like "a node is missing: said, and what is there is shown" "$(words part/0)" \
    "* 1 of 2 nodes*verdict incomplete*profiles of 1 of 2 nodes are there*memory *"

# --- out of memory, at the limit that Slurm set ---
lab_srun --profile-res=dir=oom -n1 ./eat.sh 400 >/dev/null 2>&1
settled
like "OOM in a step" "$(words oom)" "*verdict oom: out of memory*OOM kills [1-9]*--mem: more than 200.0 MiB*"
lab_srun --profile-res=dir=worker -n1 sh -c './eat.sh 400; exit 0' >/dev/null 2>&1
settled
is "... of a worker" "$(field Verdict worker)" worker-killed

# --- out of memory, at a limit above the step's: an administrator lowers it meanwhile ---
# a parent of the task's cgroup in the memory hierarchy: that of the job
parent() { sed -n 's|^[0-9]*:memory:\(.*\)/step_.*|\1|p' "/proc/$1/cgroup"; }
if lab_unified; then
    skip 3 "the parents' limits are those of the file system here"
else
    lab_srun --profile-res=dir=above -n1 sh -c \
        'echo $$ >above.pid; until [ -e above.go ]; do sleep 0.05; done; exec ./eat.sh 120' >/dev/null 2>&1 &
    above=$!
    lab_until 20 test -s "$lab_home/above.pid"
    up=$lab_mount/memory$(parent "$(cat "$lab_home/above.pid")")
    ok "the limit of the job is lowered" sh -c 'echo 48M >"$1/memory.limit_in_bytes"' - "$up"
    touch "$lab_home/above.go"
    wait "$above"
    settled
    # the files have the limit that held, not who set it, nor when: it was at that one
    like "OOM at a limit below the allocation, set above the step" "$(words -a above)" \
        "*verdict oom: out of memory*100 % of the 48.0 MiB that are its limit*OOM kills 1*"
    is "... nothing is advised from it" "$(words above | grep -c -- '#SBATCH --mem')" 0
fi

# --- an array ---
array=$(lab_sbatch --profile-res --array=1-4 --wrap './eat.sh $((SLURM_ARRAY_TASK_ID * 10)); [ $SLURM_ARRAY_TASK_ID != 3 ]')
lab_wait_job "$array"
settled
is "an array: members as sacct names them" "$(field JobID,Verdict "${array}_[1-3]")" \
    "${array}_1.batch|ok
${array}_2.batch|ok
${array}_3.batch|exit-code"
ok "... all of it is a group" [ "$(report "$array" | grep -c '^  verdict')" = 0 ]
like "... that counts" "$(words "$array")" "*4 *exit-code*"

# --- a job that runs ---
run=$(lab_sbatch --profile-res=interval=0.2,window=0.2 -J goes --wrap 'sleep 100')
a_window() { jq -e '.num_windows > 1' "$lab_home/slurm-$run.profres/batch"/*.json >/dev/null 2>&1; }
lab_until 20 a_window
like "a job that runs" "$(words "$run")" "* state LIVE, written *verdict running: *newest sample, at *"
is "... its JSON" "$(report --json "$run" | jq -c '.jobs[0] | [.verdict.id, .facts.state, .name]')" '["running","LIVE","goes"]'
lab_client scancel "$run"
lab_wait_job "$run"
settled
like "... and after scancel" "$(words "$run")" "* verdict signal: *killed by signal 15*scancel*"

# --- jobs that stand still, and those that only seem to ---
# seconds STEP: the seconds of the newest sample
seconds() { report --by=time -nP -o To "$1" 2>/dev/null | tail -n 1; }
later() { [ "$(seconds "$2" | cut -d. -f1)" -ge "$1" ] 2>/dev/null; }
ends() { lab_client scancel "$1" && lab_wait_job "$1" && settled; }
often=interval=0.1,window=0.2

stands=$(lab_sbatch --profile-res=$often --wrap 'sleep 100')
lab_until 20 later 3 "$stands.batch"
like "a job that stands still" "$(words --stalled=2s "$stands")" \
    "*verdict stalled: it runs, but nothing moves*no CPU and no I/O was used for the last *states seen in the last window: S *largest processes: *sleep*"
is "... is only running before the time is up" "$(field Verdict "$stands")" running
ends "$stands"

waits=$(lab_sbatch -n1 --profile-res=$often --wrap "srun sh -c 'while :; do :; done'")
lab_until 20 later 3 "$waits.batch"
lab_until 20 later 3 "$waits.0"
is "a script that waits for its step is not stalled" \
    "$(report --by=step --stalled=2s -nP -o JobID,Verdict "$waits")" "$waits.batch|running
$waits.0|running"
like "... nor is its job" "$(words --stalled=2s "$waits")" "*verdict running*"
ends "$waits"

# memory is largest where nothing moves: it is the node that is looked at
script one.sh <<'EOS'
#!/bin/bash
if [ "$SLURM_PROCID" = 0 ]; then x=$(head -c 20M /dev/zero | tr '\0' x); sleep 100; fi
while [ "$1" = busy ]; do :; done
sleep 100
EOS
stalls() { [ "$(report --by=step --stalled=2s -nP -o Verdict "$1")" = stalled ]; }
for how in busy still; do
    one=$(lab_sbatch --profile-res=$often -N2 -n2 --ntasks-per-node=1 --wrap "srun ./one.sh $how")
    lab_until 20 later 4 "$one.0"
    [ $how = busy ] || lab_until 20 stalls "$one.0" # its memory takes a while on a slow machine
    verdict=$(report --by=step --stalled=2s -nP -o Verdict "$one.0")
    [ $how = busy ] && is "a step of which one node moves is not stalled" "$verdict" running
    [ $how = still ] && is "... it is when none does" "$verdict" stalled
    [ $how = busy ] || like "... on any node, as is said" "$(words --stalled=2s "$one.0")" "*, on any node*"
    ends "$one"
done

# --- the one that used nothing, and the one at its time limit ---
ok "a minute of nothing" lab_wait_job "$idle" 120
settled
like "... is told of the job" "$(words "$idle")" \
    "*verdict idle: much of what was allocated was not used*cores: 0.00 of 2 on average*"
{ echo '#!/bin/bash'; report "$idle" | sed -n '/^#SBATCH/,$p'; echo true; } | script advised.sh
is "... its advice asks for memory once, though sbatch knows two ways" \
    "$(grep -c '^#SBATCH --mem' "$lab_home/advised.sh"):$(grep -c '^# or: #SBATCH --mem-per-cpu' "$lab_home/advised.sh")" 1:1
ok "... bash accepts it as it stands" bash -n "$lab_home/advised.sh"
ok "... and so does sbatch" lab_as_user sbatch --test-only advised.sh
ok "the time limit comes" lab_wait_job "$limit" 120
settled
like "... and is told" "$(words "$limit")" "*verdict time-limit: it ran into the time limit*the job's time limit is 1:00 min*--time: more than 1:00 min*"

ok "one that does nothing meets its limit" lab_wait_job "$hung" 120
settled
like "... hung: more time is not what it needs" "$(words "$hung")" "*verdict hung: it did nothing until the time limit ended it*no CPU and no I/O was used for the last *More time would not help*"
is "... nor is it advised" "$(report "$hung" | grep -c -- '--time: more than')" 0

ok "nothing left" clean
plan "$count"
