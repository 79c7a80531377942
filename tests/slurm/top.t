#!/bin/bash
# profres top on a real Slurm: a job by its number from anywhere, several nodes
# and tasks, a job that has not begun, one step after another, and the end.
# shellcheck disable=SC1091,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin
plan 18
start nodes=2 cpus=4 KillWait=1

# The nodes of the lab are on one machine: by their own names, in one directory.
script two.sh <<'SCRIPT'
#!/bin/bash
srun --overlap -N2 -n4 ./hold.sh one
srun --overlap -N2 -n2 ./hold.sh two
SCRIPT
script hold.sh <<'SCRIPT'
#!/bin/bash
# hold.sh NAME: until the file is there; rank 0 is busy
touch "up.$1"
while [ ! -e "stop.$1" ]; do
    if [ "$SLURM_PROCID" = 0 ]; then for ((i = 0; i < 20000; i++)); do :; done; else sleep 0.1; fi
done
SCRIPT

# look ARG...: one frame, as the jobs' user would from this directory, which is not the job's
look() { "${lab_root[@]}" env LC_ALL=C COLUMNS=100 "$lab_dir/bin/profres" top -b "$@"; }
frame_has() { look -n 1 -w 5 "${@:2}" >out 2>err && grep -qE -- "$1" out; }
# shown TEXT PATTERN ARG...: within a while, a frame has it
shown() {
    count=$((count + 1))
    if lab_until 30 frame_has "${@:2}"; then
        echo "ok $count - $1"
    else
        failures=$((failures + 1))
        echo "not ok $count - $1"
        echo "# no '$2' in:"
        sed 's/^/# |/' out err
    fi
}

# --- a job that has not begun ---
later=$(lab_sbatch --profile-res=quiet --begin=now+1hour -t 10 --wrap 'srun true')
look -d 0.3 -w 4 "$later" >out 2>err
is "a job that has not begun: no frame within the time is 1" $? 1
like "... it is waited for, and said so" "$(cat out)" "waiting for a profile of $later*"
like "... with what Slurm says of it" "$(cat out)" "*the job is PENDING (BeginTime)*"
like "... and why there was nothing" "$(cat err)" "*no profile of job $later*"
lab_client scancel "$later"

# --- two nodes, four tasks ---
job=$(lab_sbatch --profile-res=quiet,interval=0.2,window=1 -N2 --ntasks-per-node=2 -t 10 two.sh)
shown "a job by its number, from anywhere: the newest step that runs" "^$job.0  LIVE  2 nodes  4 tasks" "$job"
shown "... with its nodes" "^${lab_nodes[0]} .*LIVE" "$job"
ok "... both" grep -qE "^${lab_nodes[1]} .*LIVE" out
shown "... which step of how many" 'step 2 of 2' "$job"
shown "... memory against the allocation" '^mem .* of [0-9.]*[MG] (allocated|limit), ' "$job"
shown "... cores against the allocation" '^cpu .* of 4 cores allocated, ' "$job"
# the time left comes from squeue, which is asked once something is on the screen
with_time() { look -n 3 -d 0.3 "$job" >out 2>err && grep -qE 'elapsed .* left of 00:10:00' out; }
ok "... and the time that is left" lab_until 20 with_time
shown "tasks: by rank" '^    3 .*running' -p tasks -s name "$job"
busy() {
    look -n 2 -d 2.5 -p tasks -s cpu "$job" >out 2>err &&
        awk '/RANK/ { getline; rank = $1; cores = $7 } END { exit !(rank == 0 && cores > 0.1) }' out
}
ok "... the one that is busy first, with its cores" lab_until 30 busy
shown "processes, of both nodes" "hold.sh one" -p processes "$job"
shown "one step by its name" "^$job.batch  LIVE" "$job.batch"

# --- it follows the next step, and ends with the last ---
look -d 0.5 "$job" >follow 2>err &
follower=$!
started+=("$follower")
lab_until 20 test -s follow
touch "$lab_home/stop.one"
follows() { grep -q "^$job.1  LIVE" follow; }
ok "the next step is followed" lab_until 30 follows
touch "$lab_home/stop.two"
wait $follower
is "it ends by itself when nothing runs any more" $? 0
like "... with the verdict" "$(tail -n 12 follow)" "*elapsed*memory*verdict *ok*"
clean
lab_stop
