#!/bin/bash
# bench/slurm.sh BUILD OUT.json: what --profile-res adds to steps on a real Slurm,
# with and without in turn, on a private cluster. Part of 'make bench'; says why
# and does nothing where there is no Slurm.
set -u
build=$(cd "$1" && pwd)
out=$2
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
# shellcheck source=../tests/slurm/lab.sh
. "$top_srcdir/tests/slurm/lab.sh"
rounds=50 steps=200 seconds=10
[ -z "${BENCH_QUICK:-}" ] || rounds=10 steps=20 seconds=4

so=$build/.libs/profile_res.so
# shellcheck disable=SC2119
if ! lab_available; then
    echo "steps under Slurm: not measured, $lab_why"
    exit 0
elif [ ! -e "$so" ]; then
    echo "steps under Slurm: not measured, the plugin is not built"
    exit 0
fi

programs=$(mktemp -d)
chmod 755 "$programs"
cp "$so" "$build/profres" "$build/profres-sampler" "$build/bench/forker" "$programs/"
spank="optional $programs/profile_res.so sampler=$programs/profres-sampler profres=$programs/profres"

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# timed COMMAND...: microseconds on stdout
timed() {
    local begin=${EPOCHREALTIME/[^0-9]/}
    "$@" >/dev/null 2>&1 || echo "failed: $*" >&2
    echo $((${EPOCHREALTIME/[^0-9]/} - begin))
}

# row NAME WITHOUT WITH: microseconds
rows=
row() {
    awk -v name="$1" -v a="$2" -v b="$3" 'BEGIN {
        printf "%-28s %9.1f ms %9.1f ms %+8.1f ms  x%.2f\n", name, a / 1000, b / 1000,
            (b - a) / 1000, b / a }'
    rows+="${rows:+,}{\"what\":\"$1\",\"bare_us\":$2,\"with_us\":$3}"
}

# pair NAME ROUNDS SRUN-ARGUMENTS...: a row, with and without in turn
spec=
pair() {
    local name=$1 count=$2 i
    shift 2
    : >"$programs/bare" && : >"$programs/with"
    for ((i = 0; i < count; i++)); do
        timed lab_srun "$@" >>"$programs/bare"
        timed lab_srun --profile-res="$spec" "$@" >>"$programs/with"
    done
    row "$name" "$(median <"$programs/bare")" "$(median <"$programs/with")"
}

echo
printf '%-28s %12s %12s %11s\n' 'steps under Slurm' without with added
lab_start nodes=4 spank="$spank" || { echo "no lab: $lab_why"; exit 1; }
pair 'srun true' $rounds true
pair 'srun -N4 -n8 true' $((rounds / 3)) -N4 -n8 true

# many steps in one allocation, as a script would: the mean of each kind, in turn
cat >"$lab_home/many.sh" <<EOF
#!/bin/bash
one() {
    local begin=\${EPOCHREALTIME/[^0-9]/}
    srun "\$@" true
    took=\$((\${EPOCHREALTIME/[^0-9]/} - begin))
}
for ((i = 0; i < $steps; i++)); do
    one && bare=\$((bare + took))
    one --profile-res=quiet && with=\$((with + took))
done
echo "\$((bare / $steps)) \$((with / $steps))" >many
EOF
chmod 755 "$lab_home/many.sh"
job=$(lab_sbatch -o /dev/null "$lab_home/many.sh")
lab_wait_job "$job" 300
read -r bare with <"$lab_home/many" && row "$steps steps in a row, each" "$bare" "$with"

# The promise of harm.t: whatever the sampler or its files do, a step takes less than
# 100 ms longer. Medians of pairs in turn, one row for each fault.
# fault NAME SAMPLER [SPEC]
fault() {
    lab_spank "${spank/sampler=*sampler /sampler=$2 }"
    spec=${3:-}
    pair "srun true, $1" $((rounds / 3)) true
    spec=
}
for name in stuck stopped; do
    printf '#!/bin/sh\necho $$ >>%s\n' "$lab_home/stuck" >"$programs/$name"
    chmod 755 "$programs/$name"
done
echo 'exec sleep 60' >>"$programs/stuck"
echo 'kill -STOP $$' >>"$programs/stopped"
mkdir "$lab_home/roots"
fault 'no sampler' "$programs/none"
fault 'sampler fails' /bin/false
fault 'sampler is stopped' "$programs/stopped"
fault 'directory of another user' "$programs/profres-sampler" dir=roots
fault 'no such directory' "$programs/profres-sampler" dir=/proc/none
fault 'sampler stuck' "$programs/stuck"
unstuck() { # those end by themselves, after 10 s
    local pid
    while read -r pid; do ! lab_alive "$pid" || return; done <"$lab_home/stuck"
}
lab_until 15 unstuck
lab_stop || echo "left behind: $lab_why"

# the same 128 processes read once a second by slurmstepd and by us: CPU time
has_stepd() { # $stepd is the slurmstepd of the job's step 0: not a fork of it, it has a task
    for stepd in $(lab_stepds); do
        ! grep -qa "slurmstepd: \[$job\.0\]" "/proc/$stepd/cmdline" ||
            ! pgrep -P "$stepd" -x forker >/dev/null || return 0
    done
    return 1
}
keep_cpu() { # PID: keeps the newest CPU time of its thread that gathers in $cpu, in ns; true when it has gone
    local thread now=0
    for thread in "/proc/$1/task/"*; do
        [ "$(cat "$thread/comm" 2>/dev/null)" != acctg ] || read -r now _ <"$thread/schedstat"
    done 2>/dev/null
    [ "$now" -gt "$cpu" ] && cpu=$now
    [ ! -e "/proc/$1/task" ]
}
job_runs() { job=$(lab_client squeue -h -t R -o %A) && [ -n "$job" ]; }
gather() { # [--profile-res...]: $cpu of slurmstepd's gathering over the step
    local client
    cpu=0
    "${lab_user[@]}" srun "$@" "$programs/forker" -t "$seconds" 128 >/dev/null 2>&1 &
    client=$!
    lab_until 20 job_runs
    lab_until 20 has_stepd
    lab_until $((seconds + 20)) keep_cpu "$stepd"
    wait $client
}
complete() { [ "$(jq -r .state "$lab_home"/gather/0/*.json)" = COMPLETE ]; }
if lab_start nodes=1 gather=linux freq=1 spank="$spank"; then
    gather --profile-res=dir=gather,quiet
    lab_until 10 complete
    ours=$(jq '.sampler.cpu_seconds' "$lab_home"/gather/0/*.json)
    awk -v g="$cpu" -v o="${ours:--}" -v s="$seconds" 'BEGIN {
        printf "\n128 processes for %d s, CPU: jobacct_gather/linux at 1 s %.3f s in slurmstepd; profres %s s\n",
            s, g / 1e9, o }'
    rows+=",{\"what\":\"128 processes\",\"seconds\":$seconds,\"jobacct_ns\":$cpu,\"profres_cpu_seconds\":${ours:-null}}"
    lab_stop || echo "left behind: $lab_why"
fi
printf '{"slurm":[%s]}\n' "$rows" >"$out"
rm -rf "$programs"
