#!/bin/bash
# profres run on a real unified cgroup v2, against the kernel's own files. One
# boot of User-mode Linux; the same script runs in there with "inside".
# shellcheck disable=SC1091,SC2034,SC2154 # names of tap.sh and vm.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
vm_seconds=300
[ "${1:-}" = inside ] || vm_test uml "$top_srcdir/tests/lab/uml-run.t" inside

plan 84
cd "$work" || exit 1
top=/sys/fs/cgroup

# in_group DIR COMMAND...: from within this cgroup
in_group() (
    echo $BASHPID >"$1/cgroup.procs" || exit 99
    shift
    "$@"
)

cages() { find "$top" -type d -name 'profres-*'; }
path_of() { jq -r .info.cgroups.unified.path "$(summary "$1")"; }
reason() { jq -r --arg k "$2" '.info.unavailable[$k] // empty' "$(summary "$1")"; }

# What the command sees of its own cgroup when it has done its work.
cat >load.sh <<'SCRIPT'
[ "$1" = light ] || {
    awk 'BEGIN { s = "x"; while (length(s) < 1048576) s = s s; for (i = 0; i < 48; i++) a[i] = s i }'
    awk 'BEGIN { for (i = 0; i < 1500000; i++) x += i }'
}
while IFS=: read -r _ _ path; do dir=/sys/fs/cgroup$path; done </proc/self/cgroup
echo "path ${dir#/sys/fs/cgroup}"
[ ! -e "$dir/memory.peak" ] || { read -r peak <"$dir/memory.peak" && echo "peak $peak"; }
[ ! -e "$dir/pids.peak" ] || { read -r pids <"$dir/pids.peak" && echo "pids $pids"; }
while read -r key value; do echo "$key $value"; done <"$dir/cpu.stat"
exit 21
SCRIPT
seen() { awk -v k="$2" '$1 == k { print $2 }' "$1.seen"; }
seconds() { awk -v u="$(seen "$1" "$2")" 'BEGIN { print u / 1000000 }'; }

# What must hold wherever there is a cgroup with memory accounting.
check_load() { # DIR STATUS
    is "$1: the exit status is kept" "$2" 21
    is "$1: nothing is said" "$(cat "$1.err")" ""
    is "$1: the mode is v2" "$(jq -r .info.cgroup_mode "$(summary "$1")")" v2
    is "$1: processes come from cgroup v2" "$(jq -r .info.processes_from "$(summary "$1")")" "cgroup v2"
    is "$1: the path is the command's" "$(path_of "$1")" "$(seen "$1" path)"
    near "$1: the peak is the kernel's" "$(measured "$1" cgroup_mem_peak max)" "$(seen "$1" peak)" 4096
    ok "$1: it holds what was allocated" test "$(seen "$1" peak)" -gt $((48 << 20))
    near "$1: CPU is the kernel's" "$(measured "$1" cgroup_cpu_seconds total)" "$(seconds "$1" usage_usec)" 0.05
    near "$1: user CPU" "$(measured "$1" cgroup_cpu_user_seconds total)" "$(seconds "$1" user_usec)" 0.05
    ok "$1: both commands are known" jq_true '[.instances.command[] | select(.id | test("awk"))] | length > 0' "$(summary "$1")"
    is "$1: nothing is left" "$(cages)" ""
}

# --- root, in the root cgroup ---
"$profres" run -q -d root -- sh load.sh heavy >root.seen 2>root.err
check_load root $?
near "root: pids.peak" "$(measured root cgroup_pids_peak max)" "$(seen root pids)" 0
for key in cgroup_psi_cpu_some_seconds:cpu.pressure cgroup_psi_memory_full_seconds:memory.pressure \
    cgroup_swap_peak:memory.swap.peak; do
    like "root: ${key%%:*} is missing with its reason" "$(reason root "${key%%:*}")" "no ${key#*:}*"
done
like "root: no peak of a window, with the reason" "$(reason root cgroup_mem_window_peak)" "memory.peak cannot be reset: that needs Linux 6.12"
ok "root: no reason is empty" jq_true '.info.unavailable | all(.[]; length > 5)' "$(summary root)"
ok "root: no key is both" jq_true '(.measurements | keys) as $m | ($m | length > 30) and $m - (.info.unavailable | keys) == $m' "$(summary root)"
is "root: no limit is not a large limit" "$(measured root cgroup_mem_limit last)" ""
if [ -x /usr/bin/time ]; then
    "$profres" run -q -d timed -- /usr/bin/time -o times -f '%U %S' awk 'BEGIN { for (i = 0; i < 6000000; i++) x += i }'
    near "CPU is that of time(1), but for the clock's ticks" "$(measured timed cgroup_cpu_seconds total)" "$(awk '{ print $1 + $2 }' times)" \
        "$(awk '{ print ($1 + $2) * 0.1 + 0.1 }' times)"
else
    skip 1 "no time(1)"
fi

# --- the OOM killer; a limit of the command's own ---
cat >oom.sh <<'SCRIPT'
while IFS=: read -r _ _ path; do dir=/sys/fs/cgroup$path; done </proc/self/cgroup
echo 32M >"$dir/memory.max" || exit 77
awk 'BEGIN { s = "x"; while (1) s = s s }'
exit 14
SCRIPT
"$profres" run -d oom -- sh oom.sh 2>err
is "oom: the exit status is kept" $? 14
is "oom: the kill is counted" "$(measured oom cgroup_oom_kills total)" 1
is "oom: the limit is known" "$(measured oom cgroup_mem_limit last)" $((32 << 20))
ok "oom: meeting the limit is counted" test "$(measured oom cgroup_mem_failcnt total)" -gt 0
near "oom: the peak is at the limit" "$(measured oom cgroup_mem_peak max)" $((32 << 20)) 1048576
like "oom: it is said" "$(cat err)" "*OOM*1 process killed*"

# --- limits above; the smallest counts ---
mkdir -p $top/site/group/leaf
for dir in $top/site $top/site/group; do echo "+cpu +memory +pids" >"$dir/cgroup.subtree_control"; done
echo 150M >$top/site/memory.max
echo 200M >$top/site/group/memory.max
in_group $top/site/group/leaf "$profres" run -q -d above -- sh load.sh heavy >above.seen 2>above.err
is "limits above: measured beside its own cgroup" "$(path_of above)" "/site/group/profres-$(jq -r '.info.job | ltrimstr("run-")' "$(summary above)")"
is "limits above: the smallest counts" "$(measured above cgroup_mem_limit last)" $((150 << 20))
near "limits above: the peak is the kernel's" "$(measured above cgroup_mem_peak max)" "$(seen above peak)" 4096
echo 120M >$top/site/group/memory.max
in_group $top/site/group/leaf "$profres" run -q -d above2 -- true
is "limits above: also the nearer one" "$(measured above2 cgroup_mem_limit last)" $((120 << 20))

# --- limits of its own: they must not be escaped ---
confined() { # TEXT FILE LIMIT HOW
    local leaf=$top/site/group/leaf before
    read -r before <"$leaf/$2"
    echo "$3" >"$leaf/$2"
    rm -rf own
    in_group "$leaf" "$profres" run -q -d own -- sh load.sh "$4" >own.seen 2>err
    is "$1: the exit status is kept" $? 21
    like "$1: the command stays below it" "$(seen own path)" "/site/group/leaf/profres-*"
    echo "$before" >"$leaf/$2"
}
confined "own memory.high" memory.high 400M light
confined "own pids.max" pids.max 100 light
confined "own cpu.max" cpu.max "90000 100000" light
confined "own memory.max" memory.max 400M heavy
near "own memory.max: CPU is the kernel's" "$(measured own cgroup_cpu_seconds total)" "$(seconds own usage_usec)" 0.05
like "own memory.max: memory has its reason" "$(reason own cgroup_mem_peak)" "no memory.peak*not enabled*"
is "own limits: nothing is said" "$(cat err)" ""

# --- a profile within a profile is part of it ---
in_group $top/site/group/leaf "$profres" run -q -d outer -- "$profres" run -q -d inner -- sh load.sh heavy >inner.seen 2>err
is "nested: the exit status is kept" $? 21
like "nested: the inner cgroup is in the outer one" "$(path_of inner)" "$(path_of outer)/profres-*"
ok "nested: the outer peak holds the inner command" test "$(measured outer cgroup_mem_peak max)" -gt $((48 << 20))
ok "nested: the outer CPU holds the inner" jq_true -n --argjson o "$(measured outer cgroup_cpu_seconds total)" \
    --argjson i "$(measured inner cgroup_cpu_seconds total)" '$o >= $i'
is "nested: nothing is left" "$(cages)" ""

# --- what stays, what makes cgroups of its own ---
cat >stay.sh <<'SCRIPT'
while IFS=: read -r _ _ path; do dir=/sys/fs/cgroup$path; done </proc/self/cgroup
mkdir -p "$dir/sub/deep"
sh -c 'echo $$ >"$1/sub/deep/cgroup.procs"; echo $$ >"$2"; exec sleep 60' - "$dir" "$1" &
while [ ! -s "$1" ]; do :; done
sleep 0.3
exit 22
SCRIPT
in_group $top/site/group/leaf "$profres" run -d stay -- sh stay.sh "$work/stayer" 2>err
is "stays: the exit status is kept" $? 22
read -r stayed <stayer
started+=("$stayed")
is "stays: it is pending" "$(jq .n_pending "$(summary stay)")" 1
like "stays: it is said" "$(cat err)" "*1 process of the command is still running*"
is "stays: it is back where we are" "$(cat "/proc/$stayed/cgroup")" "0::/site/group/leaf"
is "stays: the command's own cgroups go, too" "$(cages)" ""
kill "$stayed"
"$profres" run -q -d crowd -- sh -c 'for i in $(seq 40); do sleep 60 & done; exit 23'
is "a crowd stays: the exit status is kept" $? 23
is "a crowd stays: it is pending" "$(jq .n_pending "$(summary crowd)")" 40
is "a crowd stays: nothing is left" "$(cages)" ""
pkill -KILL -x sleep # of this kernel, where there is nobody else
"$profres" run -q -d dying -- sh -c '
    awk "BEGIN { s = \"x\"; while (length(s) < 2^25) s = s s; system(\"touch big\"); while (1) x++ }" &
    while [ ! -e big ]; do sleep 0.05; done
    kill -KILL $!'
is "a large one is dying at the end: nothing is left" "$(cages)" ""

# --- an ordinary user with a delegated subtree ---
mkdir -p $top/user/shell $top/plain
echo "+memory" >$top/user/cgroup.subtree_control
for dir in $top/user $top/user/shell; do
    chown 65534:65534 "$dir" "$dir"/cgroup.{procs,threads,subtree_control}
done
mkdir home && chown 65534:65534 home
in_group $top/user/shell as_user "$profres" run -q -d home/user -- sh load.sh heavy >home/user.seen 2>home/user.err
check_load home/user $?
like "user: measured in its own subtree" "$(path_of home/user)" "/user/profres-*"
like "user: no peak of a window, with the reason" "$(reason home/user cgroup_mem_window_peak)" "memory.peak cannot be reset: that needs Linux 6.12"
like "user: what was not given is missing with its reason" "$(reason home/user cgroup_pids_current)" "no pids.current*not enabled*"
in_group $top/user/shell as_user "$profres" run -q -d home/oom -- sh oom.sh 2>err
is "user: the OOM kill is counted" "$? $(measured home/oom cgroup_oom_kills total)" "14 1"
in_group $top/user/shell as_user "$profres" run -q -d home/stay -- sh stay.sh "$work/home/stayed"
read -r stayed <home/stayed
started+=("$stayed")
is "user: what stays comes back" "$(cat "/proc/$stayed/cgroup")" "0::/user/shell"
is "user: nothing is left" "$(cages)" ""
kill "$stayed"

# --- an ordinary user without ---
chown 0:0 $top/user/cgroup.procs # may make cgroups, may not move processes
for dir in $top/plain $top/user/shell; do
    in_group "$dir" as_user "$profres" run -q -d home/none -- sh load.sh light >none.seen 2>err
    is "${dir#"$top"/}, not delegated: the exit status is kept" $? 21
    is "... nothing is said" "$(cat err)" ""
    is "... by the process tree" "$(jq -r .info.processes_from "$(summary home/none)")" "process tree"
    like "... and no cgroup key, with its reason" "$(measured home/none cgroup_mem_peak max)$(reason home/none cgroup_mem_peak)" "*not scoped*"
    ok "... CPU is in rusage" test -n "$(measured home/none rusage_cpu_seconds max)"
    is "... nothing is left" "$(cages)" ""
    rm -rf home/none
done
