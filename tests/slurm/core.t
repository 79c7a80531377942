#!/bin/bash
# The plugin under a real Slurm, in whatever lab this is: short enough for the
# slow ones. What is measured is held against the kernel's files as the jobs read
# them themselves; however a step ends, its status is its own, and nothing of it
# is left.
# shellcheck disable=SC1091,SC2016,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin
start cpus=2 memory=800 KillWait=1
self
node=${lab_nodes[0]}
if lab_unified; then
    modes=v2 from="cgroup v2" controller=unified
    outside="0::/system.slice/${node}_slurmstepd.scope/system"
    place="/system.slice/${node}_slurmstepd.scope/*/step_0/user/task_0"
    more=4096 # how much more a peak may be than what the task has seen: here a page
else
    modes='v1 hybrid' from="cgroup v1" controller=memory
    outside=
    place="/slurm_$node/uid_*/step_0/task_0"
    more=2000000 # slurmstepd is in the step
fi

# To start a process takes a tenth of a second and more in here: what follows
# asks each program but once, and the shell for the rest.

# nothing_left: the step is over (1 point)
nothing_left() {
    clean
    is "... the node is idle, no cgroup of the job is left, no sampler" "$?:$lab_why" 0:
}

# take DIR STEP EXPRESSION...: of a summary, when the sampler has ended, into got[]
take() {
    local file=$lab_home/$1/$2/$node.json all
    shift 2
    settled
    printf -v all '(%s),' "$@"
    mapfile -t got < <(jq -r "${all%,}" "$file")
}

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
lab_srun --profile-res=dir=one ./self.sh -m 32 -s 5000 -x 6 one >out 2>err
is "one task: its status" "$?:$(<out)" 6:
seen one 0
both='(.measurements | keys) as $m | $m - ($m - (.info.unavailable | keys)) | length'
take one 0 .state .info.cgroup_mode .info.processes_from ".info.cgroups.$controller.path" $peak \
    .measurements.cgroup_cpu_seconds.total '.tasks[0].cgroup_mem_peak' '.tasks[0].cgroup_cpu_seconds' \
    '[.n_pending, .tasks[0].exit, .tasks[0].rank] | tostring' "$same" \
    '.measurements.cgroup_mem_limit.last == .info.allocation.step_mem_bytes' \
    '[.instances.command[].id] | any(. == "self.sh")' '.info.unavailable | all(.[]; length > 5)' "$both"
is "... complete" "${got[0]}" COMPLETE
like "... the mode of its cgroups" " $modes " "* ${got[1]} *"
like "... its processes are from there" "${got[2]}" "$from"
like "... it was in its step" "$path" "$place"
echo "# $path"
is "... measured is the step, on v2 the user's part of it" "${got[3]}" "${path%/task_0}"
near "... the peak is the kernel's" "${got[4]}" "$step_peak" $more
ok "... and holds what was allocated" test "${step_peak:-0}" -gt $((32 << 20))
near "... CPU is the kernel's" "${got[5]}" "$step_cpu" $moment
near "... the task's peak" "${got[6]}" "$task_peak" $more
near "... the task's CPU" "${got[7]}" "$task_cpu" $moment
is "... nothing pending, exit and rank" "${got[8]}" "[0,6,0]"
is "... slurmstepd has read the same" "${got[9]}" true
is "... the limit is the step's" "${got[10]}" true
is "... its command is known" "${got[11]}" true
is "... no reason is empty" "${got[12]}" true
is "... no key is both measured and missing" "${got[13]}" 0
like "... srun says so" "$(said one 0)" "*profres: *.0
  elapsed * exit 6
  memory * peak, file cache included (* of 200.0 MiB allocated)*"
known=$(record one 0) || known="no record"
case $known in
new:*) skip 1 "not in docs/matrix.json, where 'make matrix' puts it: ${known#new: }" ;;
*) is "... there is to measure what docs/matrix.json says (if not: make matrix)" "$known" "" ;;
esac
nothing_left

# --- two tasks ---
lab_srun -n2 --profile-res=dir=two,quiet sh -c \
    './self.sh -m $((SLURM_PROCID * 8 + 8)) -s 1000 -x $((SLURM_PROCID + 3)) two' 2>err
is "two tasks: the larger status" $? 4
take two 0 .state "$same" '[.tasks[] | .rank, .exit] | tostring' '.tasks[].cgroup_mem_peak' '.tasks[].cgroup_cpu_seconds'
is "... complete" "${got[0]}" COMPLETE
is "... slurmstepd has read the same" "${got[1]}" true
is "... ranks and exits" "${got[2]}" "[0,3,1,4]"
for rank in 0 1; do
    seen two $rank
    near "... peak of rank $rank" "${got[3 + rank]}" "$task_peak" $more
    near "... CPU of rank $rank" "${got[5 + rank]}" "$task_cpu" $moment
done
nothing_left

# --- a batch job ---
script batch.sh <<'EOF'
#!/bin/bash
srun ./self.sh -m 8 -s 100 first
srun ./self.sh -m 16 -s 100 second
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
    near "... its peak is its own" "${got[2]}" "$step_peak" $more
done
take "slurm-$job.profres" batch .state "$same"
is "... so is the batch step" "${got[*]}" "COMPLETE true"
like "... the brief is the end of its output" "$(output "$job")" "*profres: $job.batch
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
near "... the peak is at the limit" "${got[3]}" $((50 << 20)) 2000000
like "... it is said" "$(said oom 0)" "*OOM*1 process killed*"
nothing_left

# --- cancelled ---
srun_until_up cancel sh -c 'echo $SLURM_JOB_ID >cancel.up; sleep 60'
is "a sampler is outside its step" "$(grep -cE '/(uid|step)_' "/proc/$sampler/cgroup")" 0
like "... on v2 in a place of Slurm's for such" "$(<"/proc/$sampler/cgroup")" "${outside:-*}"
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
    local file=$lab_home/$1/0/$node.lost.json
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
ok "... it is not waited for" test $(($(lab_clock) - begin)) -lt $((8000 * lab_patience))
ok "... the node is idle, no cgroup of the job is left" lab_wait_idle
kill -CONT "$sampler" 2>/dev/null # it may have been sent on already
take stopped 0 .state '.tasks[0].exit'
is "... complete when it goes on" "${got[*]}" "COMPLETE 7"
nothing_left

mv "$lab_dir/bin/profres-sampler" "$lab_dir/bin/late-sampler"
cat >"$lab_dir/bin/late.sh" <<'EOF'
#!/bin/sh
sleep 1
exec "${0%late.sh}late-sampler" "$@"
EOF
chmod 755 "$lab_dir/bin/late.sh"
use_plugin sampler="$lab_dir/bin/late.sh" patience=85ms # it is not waited for
lab_srun --profile-res=dir=late,quiet sh -c 'exit 11' 2>err
is "the sampler is late: the status is the job's" $? 11
lost late
nothing_left
mv "$lab_dir/bin/late-sampler" "$lab_dir/bin/profres-sampler"
use_plugin

# --- many: each lasts until its sampler listens, however slow the machine is ---
script begun.sh <<'EOF'
#!/bin/bash
for ((i = 0; i < 600; i++)); do [ ! -S "$PROFRES_MARK" ] || break; sleep 0.05; done
exit "$1"
EOF
script ten.sh <<'EOF'
#!/bin/bash
for ((i = 0; i < 10; i++)); do
    srun ./begun.sh "$i"
    echo "$i:$?" >>ten.status
done
echo >ten.done
EOF
job=$(lab_sbatch --profile-res=quiet,dir=ten ten.sh)
ok "ten steps in a row end" batch_ends ten "$job"
is "... each with its status" "$(tr '\n' ' ' <"$lab_home/ten.status")" "$(printf '%s:%s ' {0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9})"
settled
is "... each complete" "$(jq -r '.state, .tasks[0].exit' "$lab_home"/ten/[0-9]/*.json | tr '\n' ' ')" "$(printf 'COMPLETE %s ' {0..9})"
nothing_left

is "slurmd has nothing to say of cgroups" "$(grep -iE 'error.*(cgroup|rmdir|kill|busy)' "$lab_dir/log/slurmd.$node" |
    grep -vE 'cpuset is not enabled|oom.kill event')" ""
lab_stop
is "nothing is left of Slurm" "$?:$lab_why" 0:
plan $count
