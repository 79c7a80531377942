#!/bin/bash
# Our numbers against sources nobody here wrote: the cgroup's own files, ps(1),
# time(1). (R1, R13, R21)
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 27
cd "$work" || exit 1

# --- memory peak: the kernel's own file, read by the command itself at its end ---
cat >peak.sh <<'EOF'
awk 'BEGIN { s = "x"; while (length(s) < 1048576) s = s s; for (i = 0; i < 96; i++) a[i] = s i }'
memory=$(awk -F: '$2 == "memory" { print "/sys/fs/cgroup/memory" $3 "/memory.max_usage_in_bytes" }' /proc/self/cgroup)
[ -e "$memory" ] || memory=$(awk -F: '$1 == 0 { print "/sys/fs/cgroup" $3 "/memory.peak" }' /proc/self/cgroup)
read -r peak <"$memory"
echo "$peak"
EOF
if is_root; then
    peak=$("$profres" run -q -d peak -- sh peak.sh)
    near "cgroup_mem_peak is the cgroup file's number" "$(measured peak cgroup_mem_peak max)" "$peak" 4096
    ok "it holds what the command allocated" test "$peak" -gt $((96 << 20))
    ok "a sampled peak stands beside it" test -n "$(measured peak cgroup_mem_sampled_peak max)"
    ok "... never above" test "$(measured peak cgroup_mem_sampled_peak max)" -le "$peak"
else
    skip 4 "not root: no cgroup of one's own on this host"
fi

# --- CPU: a fork-heavy build under time(1) ---
mkdir src
for i in $(seq 24); do
    printf '#include <stdio.h>\n#include <stdlib.h>\nint f%d(int x) { printf("%%d", x); return x + %d; }\n' "$i" "$i" >"src/f$i.c"
done
printf 'all:%s\n' "$(for i in $(seq 24); do printf ' f%d.o' "$i"; done)" >src/Makefile
printf '%%.o: %%.c\n\t$(CC) -O2 -c $< -o $@\n' >>src/Makefile
if command -v /usr/bin/time >/dev/null && command -v cc >/dev/null; then
    "$profres" run -q -d build -- /usr/bin/time -o times -f '%U %S' \
        sh -c 'for i in 1 2 3; do make -s -B -j2 -C src CC=cc || exit 1; done; sleep 2'
    is "the build ran" "$?" 0
    time_cpu=$(awk '{ print $1 + $2 }' times)
    tolerance=$(awk -v t="$time_cpu" 'BEGIN { print t * 0.02 + 0.02 }')
    if is_root; then
        near "cgroup_cpu_seconds within 2 % of time(1)" "$(measured build cgroup_cpu_seconds total)" "$time_cpu" "$tolerance"
        near "user + system is the whole" \
            "$(jq '.measurements | .cgroup_cpu_user_seconds.total + .cgroup_cpu_system_seconds.total' "$(summary build)")" \
            "$(measured build cgroup_cpu_seconds total)" 0.05
        near "attributed + unattributed is the whole" \
            "$(jq '.measurements | .ps_cpu_seconds_total.total + .ps_children_cpu_seconds_total.total + .cgroup_cpu_unattributed_seconds.total' "$(summary build)")" \
            "$(measured build cgroup_cpu_seconds total)" 0.0001
        ok "nine tenths of it belong to a process or to the parent of short ones" jq_true \
            '.measurements | .cgroup_cpu_unattributed_seconds.total < 0.1 * .cgroup_cpu_seconds.total' \
            "$(summary build)"
        ok "no CPU time is attributed twice" jq_true \
            '.measurements.cgroup_cpu_unattributed_seconds.total > -0.05' "$(summary build)"
        like "the parents of processes too short to be sampled are named" \
            "$("$profres" brief build/*)" '*of CPU in processes too short to be sampled, of which * are children of *make*'
    else
        skip 6 "not root: no cgroup of one's own on this host"
    fi
    near "rusage_cpu_seconds within 2 % of time(1)" "$(measured build rusage_cpu_seconds max)" "$time_cpu" "$tolerance"
    ok "more compilers than samples are accounted for by name" \
        jq_true '[.instances.command[] | select(.id == "cc1")] | length == 1' "$(summary build)"
    near "commands have all the CPU time of processes" \
        "$(jq '[.instances.command[].measurements.command_cpu_seconds.total] | add' "$(summary build)")" \
        "$(measured build ps_cpu_seconds_total total)" 0.0001
else
    skip 10 "no time(1) or no cc"
fi

# --- I/O: the kernel adds a child's to its parent's when that waits; nothing counts twice ---
head -c 20000000 /dev/zero >data
"$profres" run -q -i 0.1 -d io -- sh -c '
    for i in 1 2 3; do dd if=data of=/dev/null bs=4k 2>/dev/null; cat data >/dev/null; done
    dd if=data bs=1000k 2>/dev/null | { sleep 0.3; cat >/dev/null; }
    while read -r key value; do [ "$key" = rchar: ] && echo "$value"; done </proc/$$/io
    sleep 0.5' >rchar
near "proc_io_rchar_total is what the kernel has summed up in the shell" "$(measured io proc_io_rchar_total total)" "$(cat rchar)" 200000

# --- the same when the child, its parent and that one's parent end between two samples ---
cat >writer.py <<'EOF'
import time
with open("/dev/null", "wb", buffering=0) as sink:
    for i in range(10):
        sink.write(bytes(10 << 20))
        time.sleep(0.1)
EOF
printf 'python3 writer.py\n:\n' >inner.sh
printf 'bash inner.sh\n:\n' >outer.sh
"$profres" run -q -i 0.3 -d chain -- sh -c '
    bash outer.sh
    while read -r key value; do [ "$key" = wchar: ] && echo "$value"; done </proc/$$/io
    sleep 0.7' >wchar
near "100 MiB written by a grandchild are 100 MiB" "$(measured chain proc_io_wchar_total total)" "$(cat wchar)" 1048576

# --- ps: a stopped process stands still, so both see the same ---
"$profres" run -q -i 0.1 -w 0.3 -d ps -- python3 -c '
import os, signal
x = bytearray(30 << 20)
sum(i * i for i in range(4000000))
open("ready", "w").write(str(os.getpid()))
os.kill(os.getpid(), signal.SIGSTOP)' &
runner=$!
started+=("$runner")
ok "the process runs and stops" until_true 20 sh -c 'test -s ready && ps -o stat= -p "$(cat ready)" | grep -q T'
pid=$(cat ready)
top() { jq -r --argjson p "$pid" --arg k "$1" '.processes.top[] | select(.pid == $p) | .[$k]' "$(summary ps)"; }
stopped_twice() { jq_true --argjson p "$pid" '[.processes.top[] | select(.pid == $p) | .ps_stat | to_entries[] | select(.key | startswith("T")) | .value][0] > 3' "$(summary ps)"; }
ok "and is seen stopped" until_true 20 stopped_twice
ps_of() { ps -o "$1=" -p "$pid" | sed 's/^ *//; s/ *$//'; }
is "ps_rss is ps's rss" "$(top ps_rss)" "$(($(ps_of rss) * 1024))"
is "ps_vsz is ps's vsz" "$(top ps_vsz)" "$(($(ps_of vsz) * 1024))"
is "ps_cmd is ps's args" "$(top ps_cmd)" "$(ps -ww -o args= -p "$pid")"
ok "ps_stat has ps's stat" jq_true --argjson p "$pid" --arg s "$(ps_of stat)" '.processes.top[] | select(.pid == $p) | .ps_stat[$s] > 0' "$(summary ps)"
near "ps_pmem is ps's pmem" "$(top ps_pmem)" "$(ps_of pmem)" 0.1
near "ps_cpu_seconds is the kernel's utime + stime" "$(top ps_cpu_seconds)" "$(awk -v t="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / t }' "/proc/$pid/stat")" 0.02
near "... and ps's cputimes" "$(top ps_cpu_seconds)" "$(ps_of cputimes)" 1
near "ps_etime is ps's etimes" "$(top ps_etime)" "$(ps_of etimes)" 2
near "proc_hwm is the kernel's VmHWM" "$(top proc_hwm)" "$(awk '/VmHWM/ { print $2 * 1024 }' "/proc/$pid/status")" 0
kill -CONT "$pid"
wait "$runner"
