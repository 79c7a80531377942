#!/bin/bash
# What is concluded from real jobs: each verdict on a job that deserves it, and a
# neighbour that does not.
# shellcheck disable=SC1091,SC2016,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin

report() { lab_as_user "$lab_dir/bin/profres" report "$@" 2>err; }
words() { report "$@" | tr -s ' \n' ' '; }

eater() {
    script eat.sh <<'EOS'
#!/bin/bash
# eat.sh MB: so much memory at once, in a process of its own
head -c "${1}M" /dev/zero | tail >/dev/null
EOS
}

# --- a site whose cgroup limit is below what was allocated ---
start nodes=1 cpus=4 AllowedRAMSpace=50
eater
lab_srun --profile-res=dir=oom --mem=200 -n1 ./eat.sh 150 >/dev/null 2>&1
lab_srun --profile-res=dir=fits --mem=200 -n1 ./eat.sh 60 >/dev/null 2>&1
settled
like "killed at a cgroup limit below the allocation: at its own limit" "$(words oom)" \
    "*verdict oom: out of memory*% of the 100.0 MiB that are its limit*"
like "... one that fits is ok, and held against that limit" "$(words fits)" \
    "*verdict ok: no problem found*% of its limit, 100.0 MiB*"
ok "nothing left" clean

# --- two steps side by side, with their peaks one after the other, under a hard limit ---
lab_stop
start nodes=1 cpus=4
eater
script beside.sh <<'EOS'
#!/bin/bash
srun --overlap -n1 --mem=150 sh -c './eat.sh 100; touch first; until [ -e second ]; do sleep 0.05; done' &
srun --overlap -n1 --mem=150 sh -c 'until [ -e first ]; do sleep 0.05; done; ./eat.sh 100; touch second' &
wait
EOS
beside=$(lab_sbatch --profile-res -n1 --mem=150 beside.sh)
lab_wait_job "$beside" 60
after=$(lab_sbatch --profile-res -n1 --mem=150 --wrap 'srun ./eat.sh 60; srun ./eat.sh 60')
lab_wait_job "$after" 60
settled
like "steps side by side: no more than the job's limit, and called a sum" "$(words "$beside")" \
    "*memory 150.0 MiB peak, file cache included (at most: peaks of 3 steps that overlapped, added up); 100 % of 150.0 MiB*"
mib() { report --by=job -nP -o MemPeak "$1" --units=K | tr -d K; }
ok "... steps one after the other are not added up" [ "$(mib "$after")" -lt $((110 << 10)) ]
ok "nothing left" clean

plan "$count"
