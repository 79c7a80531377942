#!/bin/bash
# profres mark from the tasks of a real Slurm: each task has its phases, each node
# its socket, nothing is left of it, and a step without a profiler does not
# notice.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin
start nodes=2 cpus=4 KillWait=1

sockets() { find "$lab_home" -type s; }
# phases DIR STEP [NODE]: [rank, name] of each, sorted
phases() { of "$1" "$2" '[.phases[]? | [.rank, .name]] | sort | tostring' "${3:-1}"; }

script two.sh <<EOF
#!/bin/bash
# the tasks wait for each other, so that what is measured is known
mark="$lab_dir/bin/profres mark -v"
meet() { touch "\$1.\$SLURM_PROCID"; until [ -e "\$1.0" ] && [ -e "\$1.1" ]; do sleep 0.2; done; }
meet begin
\$mark load 2>>said
stat -c '%a %U' "\$PROFRES_MARK" >mode.\$SLURM_PROCID
meet loaded
if [ "\$SLURM_PROCID" = 0 ]; then
    \$mark work 2>>said
    c=/sys/fs/cgroup/cpuacct\$(sed -n 's/^[0-9]*:cpuacct://p' /proc/self/cgroup)
    [ ! -e "\$c/cpuacct.usage" ] || read -r before <"\$c/cpuacct.usage"
    for ((i = 0; i < 300000; i++)); do :; done
    [ ! -e "\$c/cpuacct.usage" ] || read -r after <"\$c/cpuacct.usage"
    \$mark --end 2>>said
    echo "\$((after - before))" >cpu
fi
\$mark --event rank="\$SLURM_PROCID" 2>>said
meet end
EOF
lab_srun -n2 --profile-res=dir=two,quiet ./two.sh 2>err
is "two tasks that mark: exit status, no output" "$?:$(cat err)" 0:
is "... all was recorded" "$(cat "$lab_home/said")" ""
is "... the socket is the user's alone" "$(cat "$lab_home"/mode.[01] | sort -u)" "600 nobody"
is "... each task has its own phases" "$(phases two 0)" '[[0,"load"],[0,"work"],[1,"load"]]'
ok "... what one had open at its end ended with it" is_true two 0 \
    '[.phases[] | select(.rank == 1) | .unended] == [true]'
if [ "$(cat "$lab_home/cpu")" -gt 0 ]; then
    near "... CPU of a phase is that of the cgroup" \
        "$(of two 0 '.phases[] | select(.name == "work") | .measurements.cgroup_cpu_seconds')" \
        "$(awk '{ print $1 / 1e9 }' "$lab_home/cpu")" 0.1
else
    skip 1 "no cpuacct on cgroup v2"
fi
is "... the events are in the series" \
    "$(jq -c 'select(.event == "mark") | [.rank, .data.rank]' "$lab_home"/two/0/*.jsonl | sort | tr '\n' ' ')" \
    "[0,0] [1,1] "
is "... nothing is left" "$(sockets)" ""

# --- a phase's memory that no sample saw, against the step's own files ---
script spike.sh <<EOF
#!/bin/bash
mark="$lab_dir/bin/profres mark -v"
spike() { perl -e 'vec(my \$s, \$ARGV[0] << 20, 8) = 1' "\$1"; }
look() { # the step's memory at its peak and now, and whether the kernel lets one begin anew
    while IFS=: read -r _ controllers path; do
        case ,\$controllers, in
        ,,) dir=/sys/fs/cgroup\${path%/task_*} names=(memory.peak memory.current) ;;
        *,memory,*) dir=/sys/fs/cgroup/memory\${path%/task_*} names=(memory.max_usage_in_bytes memory.usage_in_bytes) && break ;;
        esac
    done </proc/self/cgroup
    read -r most <"\$dir/\${names[0]}"
    read -r now <"\$dir/\${names[1]}"
    echo "\$most \$now \$(stat -c %a "\$dir/memory.peak" 2>/dev/null)"
}
until [ \$SECONDS -ge 4 ]; do sleep 0.2; done # at first there are many samples
spike 1 # what starting it takes is in memory by now
look >spike.before
\$mark loud 2>>said
spike 64
\$mark calm 2>>said
look >spike.after
spike 8
\$mark --end 2>>said
EOF
lab_srun --profile-res=dir=spike,quiet,interval=60,window=120 ./spike.sh 2>err
is "a spike between two samples: no trouble" "$?:$(cat err "$lab_home/said")" 0:
read -r _ had _ <"$lab_home/spike.before"
read -r most _ mode <"$lab_home/spike.after"
# of_phase NAME KEY
of_phase() { of spike 0 ".phases[] | select(.name == \"$1\") | .measurements.$2 // \"-\""; }
near "... the kernel saw it" "$most" $((had + (64 << 20))) $((6 << 20))
near "... the peak of the step grew in its phase" "$(of_phase loud cgroup_mem_peak)" "$most" 1000000
is "... and not in the next" "$(of_phase calm cgroup_mem_peak)" -
ok "... no sample saw it" test "$(of_phase loud cgroup_mem_sampled_peak)" -lt $((had + (32 << 20)))
if [ "$mode" = 644 ]; then
    is "... the peak within its phase is the kernel's" "$(of_phase loud cgroup_mem_window_peak)" "$most"
    calm=$(of_phase calm cgroup_mem_window_peak)
    ok "... that within the next is what was there then ($calm of $most)" \
        test "$calm" -gt $((8 << 20)) -a "$calm" -lt $((had + (16 << 20)))
else
    is "... this kernel has no peaks within phases" "$(of_phase loud cgroup_mem_window_peak) $(of_phase calm cgroup_mem_window_peak)" "- -"
    ok "... and it is said why" is_true spike 0 '.info.unavailable.cgroup_mem_window_peak | length > 5'
fi

lab_srun -N2 -n2 --ntasks-per-node=1 --profile-res=dir=nodes,quiet \
    sh -c "$lab_dir/bin/profres mark -v on-\$SLURM_PROCID" 2>err
is "on two nodes: no trouble" "$?:$(cat err)" 0:
is "... each has its own" "$(phases nodes 0 1) $(phases nodes 0 2)" '[[0,"on-0"]] [[1,"on-1"]]'

script batch.sh <<EOF
#!/bin/bash
mark="$lab_dir/bin/profres mark -v"
\$mark in-batch 2>>batch.said
srun --profile-res=quiet sh -c "\$mark in-step" 2>>batch.said
srun --profile-res=off sh -c 'echo "off: \$PROFRES_MARK"; '"$lab_dir/bin/profres mark in-off" >>batch.said 2>&1
EOF
job=$(lab_sbatch --profile-res=quiet batch.sh)
lab_wait_job "$job"
settled
is "a batch job: the step that is off does not hear of a profiler" "$(cat "$lab_home/batch.said")" "off: "
is "... and what is marked goes to the step it is marked in" \
    "$(phases "slurm-$job.profres" batch) $(phases "slurm-$job.profres" 0)" '[[0,"in-batch"]] [[0,"in-step"]]'

lab_srun sh -c "echo \"\${PROFRES_MARK-unset}\"; $lab_dir/bin/profres mark x; $lab_dir/bin/profres mark --end" >out 2>err
is "not profiled: nothing happens" "$?:$(cat out):$(cat err)" "0:unset:"

# --- the sampler is killed ---
script wait.sh <<EOF
#!/bin/bash
"$lab_dir/bin/profres" mark -v before 2>>killed.said
touch up
until [ -e killed ]; do sleep 0.05; done
"$lab_dir/bin/profres" mark after 2>>killed.said
EOF
"${lab_user[@]}" srun --profile-res=dir=killed-dir,quiet ./wait.sh 2>err &
client=$!
up() { [ -e "$lab_home/up" ]; }
lab_until 10 up
kill -KILL "$(samplers)"
lab_until 5 no_samplers
touch "$lab_home/killed"
wait $client
is "the sampler was killed: the job does not notice" "$?:$(cat "$lab_home/killed.said")" 0:
lost() { [ -e "$(echo "$lab_home"/killed-dir/0/*.lost.json)" ]; }
lab_until 10 lost
is "... and its socket is cleaned up" "$(sockets)" ""
ok "nothing is left" clean
lab_stop
is "... in the lab either" "$?:$lab_why" 0:

plan $count
