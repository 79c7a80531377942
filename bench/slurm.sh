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

# pair NAME ROUNDS SRUN-ARGUMENTS...: a row, with and without in turn
rows=
pair() {
    local name=$1 count=$2 i bare with
    shift 2
    : >"$programs/bare" && : >"$programs/with"
    for ((i = 0; i < count; i++)); do
        timed lab_srun "$@" >>"$programs/bare"
        timed lab_srun --profile-res "$@" >>"$programs/with"
    done
    bare=$(median <"$programs/bare") with=$(median <"$programs/with")
    printf '%-28s %9.1f ms %9.1f ms %+8.1f ms  x%.2f\n' "$name" \
        "$(awk "BEGIN { print $bare / 1000 }")" "$(awk "BEGIN { print $with / 1000 }")" \
        "$(awk "BEGIN { print ($with - $bare) / 1000 }")" "$(awk "BEGIN { print $with / $bare }")"
    rows+="${rows:+,}{\"what\":\"$name\",\"bare_us\":$bare,\"with_us\":$with}"
}

echo
printf '%-28s %12s %12s %11s\n' 'steps under Slurm' without with added
lab_start nodes=4 spank="$spank" || { echo "no lab: $lab_why"; exit 1; }
pair 'srun true' $rounds true
pair 'srun -N4 -n8 true' $((rounds / 3)) -N4 -n8 true

# many steps in one allocation, as a script would
cat >"$lab_home/many.sh" <<EOF
#!/bin/bash
begin=\${EPOCHREALTIME/[^0-9]/}
for ((i = 0; i < $steps; i++)); do srun \$OPTION true; done
echo \$((\${EPOCHREALTIME/[^0-9]/} - begin)) >"\$RESULT"
EOF
chmod 755 "$lab_home/many.sh"
for option in '' --profile-res=quiet; do
    result=$lab_home/many${option:+.with}
    job=$(lab_sbatch --export="ALL,OPTION=$option,RESULT=$result" -o /dev/null "$lab_home/many.sh")
    lab_wait_job "$job" 300
done
bare=$(cat "$lab_home/many") with=$(cat "$lab_home/many.with")
awk -v n="$steps" -v a="$bare" -v b="$with" 'BEGIN {
    printf "%-28s %9.1f ms %9.1f ms %+8.1f ms  x%.2f\n", n " steps in a row, each",
        a / n / 1000, b / n / 1000, (b - a) / n / 1000, b / a }'
rows+=",{\"what\":\"$steps steps\",\"bare_us\":$bare,\"with_us\":$with}"
lab_stop || echo "left behind: $lab_why"

# the same 128 processes read once a second by slurmstepd and by us: CPU time
stepd_cpu() { # the CPU ticks of the slurmstepd of step JOB.0
    local pid
    for pid in $(lab_stepds); do
        grep -qa "slurmstepd: \[$1\.0\]" "/proc/$pid/cmdline" &&
            awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$pid/stat"
    done
}
gather() { # FREQUENCY [--profile-res...]: ticks of slurmstepd over the step
    local frequency=$1 client job
    shift
    "${lab_user[@]}" srun --acctg-freq="task=$frequency" "$@" -J "gather$frequency" \
        "$programs/forker" -t "$seconds" 128 >/dev/null 2>&1 &
    client=$!
    lab_until 20 job_runs
    job=$(lab_client squeue -h -o %A | head -n 1)
    lab_until $((seconds + 20)) almost_over "$job" >/dev/null
    ticks=$(cat "$programs/ticks" 2>/dev/null)
    wait $client
    echo "${ticks:-0} $job"
}
job_runs() { [ -n "$(lab_client squeue -h -t R -o %A)" ]; }
almost_over() { # keeps the newest reading until the step has gone
    local now
    now=$(stepd_cpu "$1")
    [ -n "$now" ] || return 0
    echo "$now" >"$programs/ticks"
    return 1
}
if lab_start nodes=1 gather=linux spank="$spank"; then
    read -r without _ < <(gather 0)
    read -r every _ < <(gather 1)
    read -r _ job < <(gather 0 --profile-res=quiet)
    ours=$(jq '.sampler.cpu_seconds' "$lab_home/slurm-$job.profres/0/"*.json 2>/dev/null)
    awk -v a="${without:-0}" -v b="${every:-0}" -v t="$(getconf CLK_TCK)" -v o="${ours:--}" -v s="$seconds" 'BEGIN {
        printf "\n128 processes for %d s, CPU: jobacct_gather/linux at 1 s %.2f s in slurmstepd; profres %s s\n",
            s, (b - a) / t, o }'
    rows+=",{\"what\":\"128 processes\",\"seconds\":$seconds,\"jobacct_ticks\":$((${every:-0} - ${without:-0})),\"profres_cpu_seconds\":${ours:-null}}"
    lab_stop || echo "left behind: $lab_why"
fi
printf '{"slurm":[%s]}\n' "$rows" >"$out"
rm -rf "$programs"
