#!/bin/bash
# srun, sbatch and salloc with --profile-res on a real Slurm: what is written
# where, and that the numbers are those of the cgroup files, which the jobs read
# themselves.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin

scripts() {
    self
    script three.sh <<'EOF'
#!/bin/bash
srun sh -c 'sleep 0.2; exit 4'
srun --profile-res=interval=0.2,quiet sleep 0.2
srun --profile-res=off true
srun --overlap sleep 0.5 &
srun --overlap sleep 0.5 &
wait
echo "the last line of the script"
exit 3
EOF
    script tail.sh <<'EOF'
#!/bin/bash
exec tail < <(head -c 200M /dev/zero)
EOF
    script many.sh <<'EOF'
#!/bin/bash
for ((n = 0; n < 2000; n++)); do (:); done
./self.sh many
EOF
}

not() { ! "$@"; }

start nodes=4 cpus=4 KillWait=1 SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1 \
    LaunchParameters=use_interactive_step \
    InteractiveStepOptions='"--interactive --preserve-env ./inside.sh"'
scripts

# --- not asked for ---
lab_srun sh -c 'ls' >out 2>err
is "not asked for: the step runs" "$?:$(cat err)" 0:
is "... no files" "$(find "$lab_home" -name '*profres*')" ""
"${lab_user[@]}" srun sleep 60 2>err &
client=$!
a_stepd() { [ -n "$(lab_stepds)" ]; }
lab_until 10 a_stepd
ok "... no process" no_samplers
kill -TERM "$(pgrep -P $client -x srun)"
wait $client
ok "... nothing left" clean

# --- one task ---
lab_srun --profile-res=dir=one ./self.sh -m 50 -s 100000 >out 2>err
is "one task: exit status, no output" "$?:$(cat out)" 0:
is "... the files" "$(files one)" "0/n1.json 0/n1.jsonl "
seen self 0
near "... the step's peak" "$(of one 0 .measurements.cgroup_mem_peak.max)" "$step_peak" 2000000
near "... the task's peak" "$(of one 0 '.tasks[0].cgroup_mem_peak')" "$task_peak" 1000000
near "... CPU of the step" "$(of one 0 .measurements.cgroup_cpu_seconds.total)" "$step_cpu" $moment
near "... CPU of the task" "$(of one 0 '.tasks[0].cgroup_cpu_seconds')" "$task_cpu" $moment
is "... slurmstepd has read the same peak" "$(of one 0 .totals_at_exit.cgroup_mem_peak)" \
    "$(of one 0 .measurements.cgroup_mem_peak.max)"
near "... and CPU" "$(of one 0 .totals_at_exit.cgroup_cpu_seconds)" "$step_cpu" $moment
ok "... complete, nothing pending, exit 0" is_true one 0 \
    '.state == "COMPLETE" and .n_pending == 0 and .tasks[0].exit == 0 and .tasks[0].rank == 0'
ok "... what was given" is_true one 0 '.info.allocation | .step_mem_bytes == 200 * 1048576
    and .job_cpus == 1 and .nodes == 1 and .tasks == 1 and .restart_count == 0'
is "... what was run" "$(of one 0 '.info.command | join(" ")')" "./self.sh -m 50 -s 100000"
like "... and srun says so" "$(said one 0)" "profres: *.0
  elapsed * exit 0
  memory * peak, file cache included (* of 200.0 MiB allocated)*
  CPU * of 1 allocated
*files *$lab_home/one/0"
is "... files are the user's, and for nobody else" \
    "$(stat -c '%U:%G:%a' "$lab_home"/one{,/0,/0/*} | sort -u | tr '\n' ' ')" \
    "nobody:nogroup:600 nobody:nogroup:700 "
lab_srun --profile-res=dir=mask,mode=0640 sleep 0.2 2>err
is "... mode= opens them to the group" "$(stat -c %a "$lab_home"/mask{,/0,/0/*} | sort -u | tr '\n' ' ')" "640 750 "
lab_srun --profile-res=dir=status sh -c 'exit 7' 2>err
is "an exit status passes through" "$?:$(of status 0 '.tasks[0].exit')" 7:7
lab_srun --profile-res=dir=signal sh -c 'kill -SEGV $$' 2>err
is "so does a signal" "$?:$(of signal 0 '.tasks[0].signal')" 139:11
lab_srun --profile-res=dir=short ./self.sh short 2>err
seen short 0
near "a step never sampled between: its CPU" "$(of short 0 .measurements.cgroup_cpu_seconds.total)" "$step_cpu" $moment
near "... its peak" "$(of short 0 .measurements.cgroup_mem_peak.max)" "$step_peak" 2000000
ok "... the first sample was before the task's own time" is_true short 0 \
    '.measurements.cgroup_cpu_unattributed_seconds.total >= 0 and .processes.seen >= 1'

# --- four nodes, eight tasks ---
lab_srun -N4 -n8 --ntasks-per-node=2 --profile-res=dir=four \
    sh -c './self.sh -m $((SLURM_PROCID * 4 + 4)) eight; exit $SLURM_PROCID' 2>err
is "4 nodes x 2 tasks: exit status" $? 7
is "... two files for each node" "$(files four)" \
    "0/n1.json 0/n1.jsonl 0/n2.json 0/n2.jsonl 0/n3.json 0/n3.jsonl 0/n4.json 0/n4.jsonl "
for ((node = 1; node <= 4; node++)); do
    is "... ranks and exits on node $node" \
        "$(of four 0 '[.tasks[] | .rank, .exit] | tostring' $node)" \
        "[$((node * 2 - 2)),$((node * 2 - 2)),$((node * 2 - 1)),$((node * 2 - 1))]"
done
for rank in 0 7; do
    seen eight $rank
    near "... peak of rank $rank" "$(of four 0 ".tasks[$((rank % 2))].cgroup_mem_peak" $((rank / 2 + 1)))" \
        "$task_peak" 1000000
    # a busy host takes its time out of an emulated guest, which counts it as the task's
    tolerance=$moment
    [ "$lab_patience" -le 2 ] ||
        tolerance=$(awk -v c="$task_cpu" -v m="$moment" 'BEGIN { print m + c * 0.15 }')
    near "... CPU of rank $rank" "$(of four 0 ".tasks[$((rank % 2))].cgroup_cpu_seconds" $((rank / 2 + 1)))" \
        "$task_cpu" "$tolerance"
done
like "... srun merges the nodes" "$(said four 0)" "*profres: *.0 on 4 nodes, memory of *
  elapsed *, rank *: exit *
*of 8 allocated*"
lab_srun -N4 --profile-res=dir=first,nodes=first sleep 0.2 2>err
is "nodes=first: one node's files" "$(files first)" "0/n1.json 0/n1.jsonl "
like "... the brief does not wait for others" "$(said first 0)" "*profres: *exit 0*"
lab_srun -N4 --profile-res=dir=two,nodes=2,quiet sleep 0.2 2>err
is "nodes=2" "$(files two)" "0/n1.json 0/n1.jsonl 0/n2.json 0/n2.jsonl "
is "quiet: nothing is said" "$(cat err)" ""

# --- the tasks' own sums, against the files of their cgroups ---
script sums.sh <<EOF
#!/bin/bash
# holds memory while the other does, too; rank 0 has a sample taken, and looks
meet() { touch "\$1.\$SLURM_PROCID"; until [ -e "\$1.0" ] && [ -e "\$1.1" ]; do sleep 0.1; done; }
perl -e 'vec(my \$s, \$ARGV[0] << 20, 8) = 1; open my \$f, ">", "sums-has.\$ARGV[1]"; close \$f; sleep 60' \
    \$((SLURM_PROCID * 10 + 20)) "\$SLURM_PROCID" &
until [ -e "sums-has.\$SLURM_PROCID" ]; do sleep 0.1; done
meet sums-held
if [ "\$SLURM_PROCID" = 0 ]; then
    "$lab_dir/bin/profres" mark -v held
    while IFS=: read -r _ controllers path; do
        case ,\$controllers, in
        ,,) files=(/sys/fs/cgroup"\${path%/task_*}"/task_*/memory.current) ;;
        *,memory,*) files=(/sys/fs/cgroup/memory"\${path%/task_*}"/task_*/memory.usage_in_bytes) && break ;;
        esac
    done </proc/self/cgroup
    cat "\${files[@]}" >sums.files
fi
meet sums-seen
kill %1
./self.sh -s $((100000 / lab_patience)) sums
EOF
lab_srun -n2 --profile-res=dir=sums,quiet ./sums.sh 2>err
is "two tasks: no trouble" "$?:$(cat err)" 0:
is "... the kernel has a file of each" "$(wc -l <"$lab_home/sums.files")" 2
seen sums 0
cpu=$task_cpu
seen sums 1
near "... their memory is the sum of these" "$(of sums 0 .measurements.cgroup_tasks_mem_sampled_peak.max)" \
    "$(awk '{ n += $1 } END { print n }' "$lab_home/sums.files")" 4000000
near "... and their CPU" "$(of sums 0 .measurements.cgroup_tasks_cpu_seconds.total)" \
    "$(awk -v a="$cpu" -v b="$task_cpu" 'BEGIN { print a + b }')" "$(awk -v m=$moment 'BEGIN { print 2 * m }')"
ok "... not more than the step's, which on v1 holds slurmstepd, too" is_true sums 0 '.measurements
    | .cgroup_tasks_cpu_seconds.total <= .cgroup_cpu_seconds.total
    and .cgroup_tasks_mem_sampled_peak.max <= .cgroup_mem_peak.max'

# --- batch ---
job=$(lab_sbatch --profile-res three.sh)
lab_wait_job "$job"
out=$lab_home/slurm-$job.out
is "a batch job keeps its status" "$(lab_job "$job" ExitCode)" 3:0
settled
is "... all steps are in one directory, but the one that is off" \
    "$(cd "$lab_home/slurm-$job.profres" && echo *)" "0 1 3 4 batch"
for step in 3 4; do
    [ -d "$lab_home/slurm-$job.profres/$step" ] || { sed 's/^/# /' "$out" && lab_log 60; }
done
is "... each with the file of its node" "$(files "slurm-$job.profres" | tr ' ' '\n' | grep -c 'n1.json$')" 5
ok "... a step may have its own SPEC" is_true "slurm-$job.profres" 1 .info.interval_seconds==0.2
ok "... the others have the job's" is_true "slurm-$job.profres" 3 .info.interval_seconds==1
is "... its exit" "$(of "slurm-$job.profres" 0 '.tasks[0].exit')" 4
like "... the job's brief is the end of its output" "$(output "$job" | sed '1,/the last line of the script/d')" \
    "profres: $job.batch
  elapsed *exit 3
*files * $lab_home/slurm-$job.profres/batch*"
is "... each step's before it, but of a quiet one" "$(output "$job" | sed -n 's/^profres: //p' | sort | tr '\n' ' ')" \
    "$job.0 $job.3 $job.4 $job.batch "

job=$(lab_sbatch --profile-res=quiet --array=1-2 --wrap 'srun sleep 0.2')
lab_wait_job "$job"
is "an array: a directory for each member" "$(files "slurm-${job}_1.profres")$(files "slurm-${job}_2.profres")" \
    "0/n1.json 0/n1.jsonl batch/n1.json batch/n1.jsonl 0/n1.json 0/n1.jsonl batch/n1.json batch/n1.jsonl "
ok "... and its number among the facts" is_true "slurm-${job}_2.profres" 0 \
    ".info.allocation | .array_job_id == $job and .array_task_id == 2"
is "... the job's output has no brief when it is quiet" "$(cat "$lab_home/slurm-${job}_1.out")" ""
lab_as_user mkdir sub
job=$(lab_sbatch --profile-res=quiet -D "$lab_home/sub" --wrap 'srun sleep 0.2; cd /; srun sleep 0.2')
lab_wait_job "$job"
is "sbatch -D: beside the job's output" "$(cd "$lab_home/sub" && echo slurm-*; files "sub/slurm-$job.profres")" \
    "slurm-$job.out slurm-$job.profres
0/n1.json 0/n1.jsonl 1/n1.json 1/n1.jsonl batch/n1.json batch/n1.jsonl "
# shellcheck disable=SC2016 # the job's
job=$(lab_srun -D "$lab_home/sub" --profile-res sh -c 'pwd >&2; echo $SLURM_JOB_ID; sleep 0.2' 2>err)
is "srun -D: where it was typed" "$(head -n 1 err):$(files "slurm-$job.profres")" "$lab_home/sub:0/n1.json 0/n1.jsonl "
like "... and srun finds it there" "$(said "slurm-$job.profres" 0)" "*exit 0*files*$lab_home/slurm-$job.profres/0"
# 22.05 does not tell the batch step of the option then; from 23.11 it does
job=$(lab_sbatch --profile-res=quiet --export=NONE --wrap 'srun sleep 0.2')
lab_wait_job "$job"
like "sbatch --export=NONE: the steps are measured" "$(files "slurm-$job.profres")" "0/n1.json 0/n1.jsonl *"

# --- a sampler that takes its time to come up ---
cat >"$lab_dir/bin/late.sh" <<EOF
#!/bin/sh
sleep 0.3
exec $lab_dir/bin/profres-sampler "\$@"
EOF
chmod 755 "$lab_dir/bin/late.sh"
use_plugin sampler="$lab_dir/bin/late.sh" patience=85ms # it is not waited for
job=$(lab_sbatch --profile-res --wrap 'sleep 1; exit 5')
lab_wait_job "$job"
like "late at the start: the job's brief is there" "$(output "$job")" "profres: $job.batch
  elapsed *exit 5*"
lab_srun --profile-res=dir=late sh -c 'exit 6' 2>err
is "later than the end: the status is the job's" $? 6
ok "... the totals are written down" lab_until 5 test -s "$lab_home/late/0/${lab_nodes[0]}.lost.json"
is "... with the end of the task" "$(of late 0 '[.state, .tasks[0].rank, .tasks[0].exit] | tostring')" '["LOST",0,6]'
ok "... and what it used" is_true late 0 '.measurements | .cgroup_mem_peak.max > 0 and .cgroup_cpu_seconds.total > 0'
lab_srun -n2 --profile-res=dir=half,quiet sh -c '[ $SLURM_PROCID = 1 ] || exit 7; sleep 1; exit 8' 2>err
is "later than the end of a task: the other is measured, both ends are told" \
    "$(of half 0 '[.state, ([.tasks[] | {rank, exit}] | sort_by(.rank)[] | .rank, .exit)] | tostring')" \
    '["COMPLETE",0,7,1,8]'
ok "... from when the first began" is_true half 0 '.elapsed_seconds > 0.9 and ([.tasks[].start_seconds] | min) >= 0'
use_plugin

# --- requeue ---
job=$(lab_sbatch --requeue --profile-res=quiet --wrap 'srun sleep 0.2; touch "up.$SLURM_RESTART_COUNT"
    [ -n "$SLURM_RESTART_COUNT" ] || sleep 60')
lab_until 10 test -e "$lab_home/up."
lab_client scontrol requeue "$job"
# Slurm holds it back for two minutes; in the second in which it was killed,
# slurmd would take its credential for a revoked one
asked=
again() {
    [ -e "$lab_home/up.1" ] && return
    [ -z "$asked" ] && [ "$(lab_job "$job" Reason)" = BeginTime ] &&
        lab_client scontrol update jobid="$job" starttime=now+2 && asked=yes
    false
}
ok "a job that is requeued runs again" lab_until 120 again
[ -e "$lab_home/up.1" ] || lab_client scontrol show job "$job" | sed 's/^/# /'
lab_wait_job "$job"
is "... into a directory of its own" "$(files "slurm-$job.r1.profres")" "0/n1.json 0/n1.jsonl batch/n1.json batch/n1.jsonl "
is "... beside the first" "$(files "slurm-$job.profres")" "0/n1.json 0/n1.jsonl batch/n1.json batch/n1.jsonl "
is "... which was complete, too" "$(of "slurm-$job.profres" batch '.state, .tasks[0].signal' | tr '\n' ' ')" "COMPLETE 15 "
is "... the count is among the facts" "$(of "slurm-$job.r1.profres" 0 .info.allocation.restart_count)" 1
ok "nothing is left of all these" clean

# --- salloc, heterogeneous jobs ---
script inside.sh <<'EOF'
#!/bin/sh
srun --overlap sleep 0.2
echo "inside $SLURM_JOB_ID"
EOF
lab_as_user salloc --profile-res=quiet >out 2>err </dev/null
job=$(sed -n 's/^inside //p' out)
is "salloc: the interactive step and those inside" "$(files "slurm-$job.profres")" \
    "0/n1.json 0/n1.jsonl interactive/n1.json interactive/n1.jsonl "
# shellcheck disable=SC2016 # the job's
job=$(lab_srun --profile-res -n1 sh -c 'echo $SLURM_JOB_ID; sleep 0.2' : -n1 sleep 0.2 2>err)
is "a heterogeneous step: both parts in one directory" "$(files "slurm-$job.profres")" \
    "0/n1.json 0/n1.jsonl 0/n2.json 0/n2.jsonl "
job=$(lab_sbatch --profile-res=quiet -n1 : -n1 <<'EOF'
#!/bin/sh
srun --het-group=0,1 sleep 0.2
EOF
)
lab_wait_job "$job"
is "a heterogeneous job, too" "$(files "slurm-$job.profres")" \
    "0/n1.json 0/n1.jsonl 0/n2.json 0/n2.jsonl batch/n1.json batch/n1.jsonl "
ok "nothing is left of these" clean

# --- where a choice is made: command line, environment, plugstack.conf ---
# with VARIABLE=VALUE... COMMAND...: as the user
with() { "${lab_user[@]}" env "$@"; }
with SLURM_PROFILE_RES=dir=env,quiet srun sleep 0.2 2>err
is "SLURM_PROFILE_RES" "$(cat err):$(files env)" ":0/n1.json 0/n1.jsonl "
with SLURM_PROFILE_RES=dir=env2,quiet srun --profile-res=dir=line,quiet sleep 0.2 2>err
is "... the command line comes before it" "$(files env2):$(files line)" ":0/n1.json 0/n1.jsonl "
with SLURM_PROFILE_RES=dir=env3 srun --profile-res=off sleep 0.2 2>err
is "... also to turn it off" "$(cat err):$(files env3)" ":"
job=$(with SBATCH_PROFILE_RES=dir=batch.%j,quiet sbatch --parsable --wrap 'srun sleep 0.2')
lab_wait_job "$job"
is "SBATCH_PROFILE_RES" "$(files "batch.$job")" "0/n1.json 0/n1.jsonl batch/n1.json batch/n1.jsonl "
with SBATCH_PROFILE_RES=dir=no SALLOC_PROFILE_RES=dir=salloc,quiet salloc srun sleep 0.2 >out 2>err
is "SALLOC_PROFILE_RES is salloc's" "$(files no):$(files salloc)" ":0/n1.json 0/n1.jsonl "
job=$(lab_sbatch --profile-res=dir=%u-%x-%j-%A-%a-%%,quiet -J name --wrap 'sleep 0.2')
lab_wait_job "$job"
is "dir= with %u %x %j %A %a" "$(files "nobody-name-$job-$job-0-%")" "batch/n1.json batch/n1.jsonl "
lab_srun --profile-res="dir=$lab_home/%u/deep/er" sleep 0.2 2>err
like "... srun finds it, too" "$(said nobody/deep/er 0)" "profres: *exit 0*files *$lab_home/nobody/deep/er/0"
job=$(lab_sbatch --profile-res=dir=rel,quiet -D sub --wrap 'srun sleep 0.2')
lab_wait_job "$job"
is "... a relative one is one for all steps" "$(files sub/rel)" "0/n1.json 0/n1.jsonl batch/n1.json batch/n1.jsonl "
lab_srun --profile-res=dir=cmd,cmd=off,quiet ./self.sh secret 2>err
ok "cmd=off: no command line in the files" not grep -rq secret "$lab_home/cmd"
is "... though what else there is" "$(of cmd 0 .state)" COMPLETE
lab_srun --profile-res=dir=met,quiet,metrics=cgroup_mem_peak+ps_rss sleep 0.2 2>err
is "metrics= limits what is recorded" "$(of met 0 '.measurements | keys | join(" ")')" cgroup_mem_peak
lab_srun --profile-res='dir=less-of,quiet,metrics=cgroup_mem_peak+cgroup_cpu_*+-*_cpu_*' sleep 0.2 2>err
is "... a minus takes away" "$?:$(cat err):$(of less-of 0 '.measurements | keys | join(" ")')" 0::cgroup_mem_peak

use_plugin default=on min_interval=500ms dir=site.%j quiet
# shellcheck disable=SC2016 # the job's
job=$(lab_srun sh -c 'echo $SLURM_JOB_ID; sleep 0.2' 2>err)
is "plugstack: default=on, dir=, quiet" "$(cat err):$(files "site.$job")" ":0/n1.json 0/n1.jsonl "
lab_srun --profile-res=interval=10ms,dir=least,summary sleep 0.2 2>err
is "... min_interval" "$(of least 0 .info.interval_seconds)" 0.5
like "... a user may have the summary" "$(cat err)" "profres: *"
# shellcheck disable=SC2016 # the job's
job=$(lab_srun --profile-res=off sh -c 'echo $SLURM_JOB_ID; sleep 0.2' 2>err)
is "... and turn it off" "$(files "site.$job")" ""
use_plugin nonsense interval=2
lab_srun --profile-res=dir=nonsense,quiet sleep 0.2 2>err
like "... a wrong word is told, and left out" "$?:$(cat err)" "0:*plugstack.conf: 'nonsense'*"
is "... not the others" "$(of nonsense 0 .info.interval_seconds)" 2
use_plugin

# --- a wrong SPEC ---
before=$(lab_client scontrol show config | sed -n 's/^NEXT_JOB_ID *= //p')
lab_srun --profile-res=intervall=3 true 2>err
like "a wrong word: srun says which there are" "$?:$(cat err)" "1:srun: error: --profile-res: 'intervall=3' is not a word*interval=*metrics=*"
lab_sbatch --profile-res=interval=3x --wrap true 2>err
like "a wrong value: sbatch says what was meant" "$?:$(cat err)" "1:sbatch: error: --profile-res: 'interval=3x' *interval=500ms*"
lab_as_user salloc --profile-res=metrics=ps_rsss true 2>err
like "a wrong measurement: salloc says which is near" "$?:$(cat err)" "1:salloc: error: --profile-res: *'ps_rsss'*ps_rss*"
with SLURM_PROFILE_RES=top=x srun true 2>err
like "wrong in the environment: srun" "$?:$(cat err)" "1:srun: error: SLURM_PROFILE_RES: 'top=x'*top=16*"
with SBATCH_PROFILE_RES=top=x sbatch --wrap true 2>err
like "... sbatch" "$?:$(cat err)" "1:sbatch: error: SBATCH_PROFILE_RES: 'top=x'*"
is "... nothing was submitted" "$(lab_client scontrol show config | sed -n 's/^NEXT_JOB_ID *= //p')" "$before"
job=$(lab_sbatch --profile-res=quiet --wrap 'SLURM_PROFILE_RES=x srun --profile-res=rubbish true; echo $?')
lab_wait_job "$job"
like "in a batch job only that step fails" "$(cat "$lab_home/slurm-$job.out")" "*'rubbish' is not a word*1"

# --- 50 steps in a row; in a slow lab fewer ---
many=$((50 / lab_patience))
# fds NAME: how many a daemon has open
fds() { find "/proc/${lab_pid[slurmd.${lab_nodes[0]}]}/fd" -mindepth 1 | wc -l; }
lab_srun --profile-res=dir=warm,quiet sleep 0.2
clean
had=$(fds)
processes=$(lab_processes | wc -l)
begin=$(lab_clock)
job=$(lab_sbatch --profile-res=quiet,dir=fifty --wrap "for i in \$(seq $many); do srun --overlap true; done")
ok "$many steps in a row end" lab_wait_job "$job" 60
echo "# in $(($(lab_clock) - begin)) ms"
ok "... the nodes are idle, no cgroup, no sampler" clean
# on a busy node a sampler may be late for such a short step: then there are the totals
is "... each was measured" "$(find "$lab_home/fifty" -name '*.json' -exec dirname {} + | sort -u | wc -l)" $((many + 1))
is "... and nothing is half done" "$(find "$lab_home/fifty" -name '*.json' -exec jq -r .state {} + | grep -vcx -e COMPLETE -e LOST)" 0
is "... slurmd has no more files open" "$(fds)" "$had"
is "... no temporary file is left" "$(find "$lab_home" -name '.*.tmp')" ""
is "... nor a process" "$(lab_processes | wc -l)" "$processes"

# --- ends of other kinds ---
lab_srun --mem=40M --profile-res=dir=oom sh -c 'head -c 200M /dev/zero | tail | wc -c' >out 2>err
status=$?
ok "killed for memory: a status of its own" test $status -ne 0
ok "... the kills are counted" is_true oom 0 '.measurements.cgroup_oom_kills.total >= 1
    and .totals_at_exit.cgroup_oom_kills >= 1 and .tasks[0].cgroup_oom_kills >= 1'
near "... the peak is the limit" "$(of oom 0 .measurements.cgroup_mem_peak.max)" $((40 << 20)) 2000000
like "... the summary says so" "$(said oom 0)" "*  OOM *killed: *"
script grow.sh <<'EOF'
#!/bin/bash
# a process that grows by a megabyte at a time until it is killed
for ((i = 0; i < 200; i++)); do head -c 1M /dev/zero || exit; sleep 0.02; done |
    sh -c 'echo $$ >victim; exec tail' >/dev/null
# it is dead and has been waited for; the step lasts until that was noticed
for ((i = 0; i < 600; i++)); do ! grep -qs '"oom"' grow/0/*.jsonl || break; sleep 0.1; done
EOF
lab_srun --mem=40M --profile-res=dir=grow,interval=50ms,window=1m ./grow.sh 2>err
settled
victim=$(jq -rs '[.[] | select(.event? == "oom")][0].gone | max_by(.ps_rss) | [.comm, .pid] | join(" ")' \
    "$lab_home/grow/0/"*.jsonl)
if [ "$lab_patience" -gt 2 ] && [ "$victim" != "tail $(cat "$lab_home/victim")" ]; then
    skip 2 "emulated, the victim took longer to die than others that ended meanwhile: '$victim'"
else
    is "the victim is the largest of those that are gone, when the kill is seen" "$victim" \
        "tail $(cat "$lab_home/victim")"
    like "... it is named in the report" "$("$profres" report --no-sacct "$lab_home/grow" | tr -s ' \n' ' ')" \
        "*the kernel killed 1 process for want of memory; gone since: tail (pid $(cat "$lab_home/victim"), *"
fi
lab_srun --mem=40M --profile-res=dir=oom2 ./tail.sh 2>err
is "the task itself is killed" "$(of oom2 0 '.tasks[0] | [.signal, .cgroup_oom_kills] | tostring')" "[9,1]"

# alive NAME: a step has written its pid
up() { [ -s "$lab_home/$1" ]; }
job=$(lab_sbatch --profile-res=dir=cancel,quiet --wrap 'srun sh -c "echo >cancel.up; exec sleep 60"')
lab_until 10 up cancel.up
begin=$(lab_clock)
lab_as_user scancel "$job"
lab_wait_job "$job"
ok "scancel: the job ends" test $(($(lab_clock) - begin)) -lt $((10000 * lab_patience))
is "... its step is complete" "$(of cancel 0 '[.state, .tasks[0].signal, .n_pending] | tostring')" '["COMPLETE",15,0]'
is "... and so is the batch step" "$(of cancel batch .state)" COMPLETE
# shellcheck disable=SC2016 # the job's
lab_srun --profile-res=dir=stubborn,quiet sh -c 'trap "" TERM INT; echo $SLURM_JOB_ID >stubborn.up; while :; do sleep 0.1; done' 2>err &
lab_until 10 up stubborn.up
lab_as_user scancel "$(cat "$lab_home/stubborn.up")"
wait $!
is "one that has to be killed, as at its time limit" "$(of stubborn 0 '[.state, .tasks[0].signal] | tostring')" '["COMPLETE",9]'
"${lab_user[@]}" srun --profile-res=dir=ctrlc,quiet sh -c 'echo >ctrlc.up; exec sleep 60' 2>err &
lab_until 10 up ctrlc.up
client=$(pgrep -P $! -x srun)
kill -INT "$client"
lab_until 5 grep -q 'one more' err
kill -INT "$client"
wait $!
is "Ctrl-C twice" "$(of ctrlc 0 '[.state, .tasks[0].signal] | tostring')" '["COMPLETE",2]'
lab_srun --profile-res=dir=daemon,quiet sh -c 'setsid sleep 60 >/dev/null 2>&1 </dev/null & sleep 0.3' 2>err
is "a daemon that outlives the task: its step ends" "$?:$(of daemon 0 '[.state, .n_pending] | tostring')" '0:["COMPLETE",1]'
ok "... and is clean" clean
lab_srun --profile-res=dir=many,quiet ./many.sh 2>err
seen many 0
near "2000 short-lived children: all of their CPU" "$(of many 0 .measurements.cgroup_cpu_seconds.total)" "$step_cpu" $moment
ok "... of which the part that no sample saw is shown" is_true many 0 \
    '.measurements | .ps_children_cpu_seconds_total.total > 0.2 * .cgroup_cpu_seconds.total'
ok "... and belongs to the one who waited for them, all but a twentieth" is_true many 0 \
    '.measurements | .cgroup_cpu_unattributed_seconds.total < 0.05 * .cgroup_cpu_seconds.total + 0.1'
near "... the rest is that of the processes" "$(of many 0 '.measurements | .ps_cpu_seconds_total.total + .ps_children_cpu_seconds_total.total + .cgroup_cpu_unattributed_seconds.total')" \
    "$(of many 0 .measurements.cgroup_cpu_seconds.total)" 0.03
ok "nothing is left of all these" clean
valid "$many" '*/*.jsonl' check series
valid "$many" '*/*.jsonl' agree
valid "$many" '*/*.json' check summary
valid 1 '*/*.lost.json' check summary
lab_stop
is "the lab ends with nothing left" "$?:$lab_why" 0:

# --- less to read: no cpuacct, no memory of the step's own ---
if lab_unified; then
    skip 10 "cgroup v2 has the CPU and memory of a step, whatever Slurm is told to gather"
else
    start gather=linux ram=no cores=no
    scripts
    lab_srun --profile-res=dir=less sh -c 'sleep 0.2' 2>err
    is "no cgroup for CPU and memory: the step runs" $? 0
    is "... CPU is absent, not that of the node" "$(of less 0 '.measurements | has("cgroup_cpu_seconds"), has("cgroup_mem_peak") | tostring' | tr '\n' ' ')" "false false "
    like "... with the reason" "$(of less 0 '.info.unavailable | .cgroup_cpu_seconds, .cgroup_mem_peak')" "*not scoped*
*not scoped*"
    is "... processes are seen all the same" "$(of less 0 '.processes.seen >= 1 and .measurements.ps_rss_total.max > 0')" true
    like "... the brief says where its memory is from" "$(cat err)" "*memory * summed over processes*no cgroup*"
    lab_srun --profile-res=dir=named,quiet,metrics=cgroup_cpu_seconds+ps_rss sh -c 'exit 5' 2>err
    is "... naming it is no reason to fail" "$?:$(of named 0 .state)" 5:COMPLETE
    ok "... nothing is left" clean
    valid 2 '*/*.jsonl' check series
    valid 2 '*/*.json' check summary
    lab_stop
    is "... in the lab either" "$?:$lab_why" 0:
fi

plan $count
