# The built plugin in a lab, for tests: sourced after tap.sh and lab.sh.
# shellcheck shell=bash disable=SC2034,SC2119,SC2120,SC2154 # names of tap.sh and lab.sh

# start ARG...: a lab with the plugin, or there is nothing more to see
start() {
    # a disk that is slow to sync, under other tests, is not what is tested here
    cp /bin/true "/dev/shm/profres-true.$$" 2>/dev/null && "/dev/shm/profres-true.$$" &&
        local TMPDIR=/dev/shm
    rm -f "/dev/shm/profres-true.$$"
    if ! lab_start "$@"; then
        lab_log
        echo "Bail out! no lab: $lab_why"
        failures=1
        exit 1
    fi
    # the build's own directory need not be open to the jobs' user
    mkdir "$lab_dir/bin"
    cp "$top_builddir"/.libs/profile_res.so "$top_builddir"/profres-sampler "$top_builddir"/profres \
        "$lab_dir/bin"
    use_plugin
}

# use_plugin WORD...: of plugstack.conf, over the lab's own. A slow guest gets a longer
# patience, so that what the sampler has to say is heard there, too, and a larger budget:
# emulated, a sample takes fifty times as long.
patience_ms=85 budget=1
[ "$lab_patience" -le 1 ] || patience_ms=$((2000 * lab_patience)) budget=100
use_plugin() {
    local bin=$lab_dir/bin
    lab_spank "optional $bin/profile_res.so sampler=$bin/profres-sampler profres=$bin/profres min_interval=10ms patience=${patience_ms}ms budget=$budget $*"
}

# have_plugin: whether there is one to test, else the reason in $lab_why
have_plugin() {
    lab_available || return
    lab_why="the plugin was not built (no slurm/spank.h)"
    [ -e "$top_builddir/.libs/profile_res.so" ] || return
    lab_why="there is no jq"
    type -P jq >/dev/null && lab_why=
}

# need_plugin [dbd]: else the test is skipped; in the directory of the test
need_plugin() {
    if ! have_plugin || ! lab_available "$@"; then
        echo "1..0 # SKIP $lab_why; packages: $(lab_packages "$@")"
        exit 0
    fi
    cd "$work" || exit 1
}

# samplers: pids of those of the lab
samplers() {
    local pid
    for pid in $(pgrep -x profres-sampler); do
        [[ $(readlink "/proc/$pid/exe") != "$lab_dir"/* ]] || echo "$pid"
    done
}
no_samplers() { [ -z "$(samplers)" ]; }
a_sampler() { [ -n "$(samplers)" ]; }

# settled: no sampler is still writing
settled() { lab_until 5 no_samplers; }

# clean: nodes idle, no cgroup of a job, no sampler
clean() { lab_wait_idle && settled; }

# files DIR: names below a directory of the jobs' user, sorted, on one line; the
# nodes are called n1, n2, ..., whichever Slurm has taken
files() {
    local list node i=0
    settled
    list=$(cd "$lab_home/$1" 2>/dev/null && find . -type f | sed 's,^\./,,' | sort)
    for node in "${lab_nodes[@]}"; do
        [[ $list != *"$node."* ]] || list=${list//"$node."/"n$((++i))."}
    done
    [ -z "$list" ] || tr '\n' ' ' <<<"$list"
}

# of DIR STEP EXPRESSION [N]: of the summary of the step's first node, or Nth
of() {
    local summaries
    settled
    summaries=("$lab_home/$1/$2"/*.json)
    jq -r "$3" "${summaries[${4:-1} - 1]}"
}

# is_true DIR STEP EXPRESSION [NODE]: what jq makes of it
is_true() {
    [ "$(of "$@")" = true ] && return
    of "$1" "$2" '.state, .tasks, .measurements.cgroup_cpu_seconds' "${4:-1}" | sed 's/^/# /'
    return 1
}

# schema COMMAND...: of tests/live/schema.py
schema() {
    PYTHONDONTWRITEBYTECODE=1 schema_dir=$top_srcdir/docs \
        "${python:-python3}" -W ignore "$top_srcdir/tests/live/schema.py" "$@"
}

# valid LEAST NAME-PATTERN COMMAND...: what schema.py says of all such files of the
# jobs' user, of which there are at least so many (1 point)
valid() {
    local least=$1 names=$2 files wrong python
    shift 2
    if [ "$lab_patience" -gt 2 ]; then
        skip 1 "the schemas are checked in faster labs: minutes here"
        return
    fi
    settled
    for python in python3 /usr/bin/python3; do schema probe 2>/dev/null && break; done
    if ! schema probe 2>/dev/null; then
        skip 1 "no python3 with jsonschema (draft 7)"
        return
    fi
    mapfile -t files < <(find "$lab_home" -path "*/$names" -type f)
    wrong=$(schema "$@" "${files[@]}" 2>&1)
    is "${#files[@]} files $names: schema.py $*" "$((${#files[@]} >= least)):${wrong:0:2000}" 1:
}

# said DIR STEP: what srun has said in err of a step at its end. It waits 20 ms for
# the files: on a slow machine it may come too early, and is asked again.
said() {
    settled
    if [ "$lab_patience" -gt 1 ] && grep -q 'INCOMPLETE.*state LIVE' err; then
        "$lab_dir/bin/profres" brief "$lab_home/$1/$2"
    else
        cat err
    fi
}

# record DIR STEP: leaves for tests/lab/matrix what can be measured here and what
# not, as the series says, and prints where that is not as it was recorded before
record() {
    local dir=${LAB_RECORDS:-$top_builddir/lab} slurm name
    settled
    mkdir -p "$dir"
    slurm=$(lab_client srun --version | grep -o '[0-9]*\.[0-9]*' | head -n 1)
    head -n 1 "$lab_home/$1/$2/${lab_nodes[0]}.jsonl" | jq --arg slurm "$slurm" '{
        kernel: (.info.kernel | capture("(?<v>[0-9]+\\.[0-9]+)").v),
        cgroup: .info.cgroup_mode, slurm: $slurm, present: (.metrics | keys),
        absent: (.info.unavailable | with_entries(select(.value | startswith("not selected") | not)))
    }' >"$work/record" || return
    name=$(jq -r '"record-\(.cgroup)-\(.kernel)-\(.slurm).json"' "$work/record")
    cp "$work/record" "$dir/$name"
    jq -rs '.[1] as $now | [.[0][] | select(.kernel == $now.kernel and .cgroup == $now.cgroup
        and .slurm == $now.slurm)][0] as $before | if $before then
        ($now.present - $before.present | map("+" + .)) + ($before.present - $now.present | map("-" + .))
        | join(" ") else "new: \($now.cgroup), Linux \($now.kernel), Slurm \($now.slurm)" end' \
        "$top_srcdir/docs/matrix.json" "$work/record"
}

# output JOB: of a batch job. The plugin waits a moment only for the brief of the
# batch step: on a slow machine it may miss it, and is asked again.
output() {
    settled
    cat "$lab_home/slurm-$1.out"
    [ "$lab_patience" = 1 ] || grep -q "^profres: $1.batch" "$lab_home/slurm-$1.out" ||
        "$lab_dir/bin/profres" brief "$lab_home/slurm-$1.profres/batch"
}

# script NAME: standard input as an executable of the jobs' user
script() {
    cat >"$lab_home/$1"
    chmod 755 "$lab_home/$1"
}

# self: the job self.sh, which sees at its end what its own cgroups say. The
# step's peak has been reached by then, and of CPU it uses but a little more.
self() {
    script self.sh <<'EOF'
#!/bin/bash
# [-m MB] [-s LOOPS] [-x STATUS] [NAME]: uses memory and CPU, writes what it has used
megabytes=0 loops=0 status=0 memory=
while getopts m:s:x: o; do
    case $o in m) megabytes=$OPTARG ;; s) loops=$OPTARG ;; *) status=$OPTARG ;; esac
done
shift $((OPTIND - 1))
[ "$megabytes" = 0 ] || head -c "${megabytes}M" /dev/zero | tail >/dev/null
for ((i = 0; i < loops; i++)); do :; done
while IFS=: read -r _ controllers path; do
    case ,$controllers, in
    ,,) unified=$path ;;
    *,memory,*) memory=$path ;;
    *,cpuacct,*) cpuacct=$path ;;
    esac
done </proc/self/cgroup
if [ -n "$memory" ]; then
    path=$memory m=/sys/fs/cgroup/memory$memory c=/sys/fs/cgroup/cpuacct$cpuacct
    read -r step_peak <"${m%/task_*}/memory.max_usage_in_bytes"
    read -r task_peak <"$m/memory.max_usage_in_bytes"
    read -r task_cpu <"$c/cpuacct.usage"
    read -r step_cpu <"${c%/task_*}/cpuacct.usage"
else
    path=$unified d=/sys/fs/cgroup$unified
    read -r step_peak <"${d%/task_*}/memory.peak"
    read -r task_peak <"$d/memory.peak"
    read -r _ task_cpu <"$d/cpu.stat"
    read -r _ step_cpu <"${d%/task_*}/cpu.stat"
    task_cpu+=000 step_cpu+=000
fi
echo "$path $step_peak $task_peak $step_cpu $task_cpu" >"${1:-self}.$SLURM_PROCID"
exit "$status"
EOF
}

# seen NAME RANK: of self.sh: $path, $step_peak and $task_peak in bytes,
# $step_cpu and $task_cpu in seconds
seen() {
    path='' step_peak='' task_peak='' step_cpu='' task_cpu=''
    read -r path step_peak task_peak step_cpu task_cpu <"$lab_home/$1.$2"
    step_cpu=$(of_ns "$step_cpu") task_cpu=$(of_ns "$task_cpu")
}

# what a job uses of CPU after its last look, in seconds
moment=$((50 * lab_patience))e-3

of_ns() { printf '%d.%09d' $((${1:-0} / 1000000000)) $((${1:-0} % 1000000000)); } # in s
