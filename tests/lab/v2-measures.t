#!/bin/bash
# Every number of a full kernel's cgroup v2 against the file it is from, read by
# the command itself when its work is done, or against a load of known size:
# limits, events, throttling, pressure, swap, storage, and the peaks of windows.
# One boot of Debian 13's kernel; the same script runs in there with "inside".
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, vm.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
vm_seconds=540 # it takes a quarter of that on a host that is idle
[ "${1:-}" = inside ] || vm_test qemu "$top_srcdir/tests/lab/v2-measures.t" inside

cd "$work" || exit 1
top=/sys/fs/cgroup

# in_group DIR COMMAND...: from within this cgroup
in_group() (
    echo $BASHPID >"$1/cgroup.procs" || exit 99
    shift
    "$@"
)
reason() { jq -r --arg k "$2" '.info.unavailable[$k] // empty' "$(summary "$1")"; }

# What a command is given to see itself with; it works without starting processes.
cat >self.sh <<'SCRIPT'
while IFS=: read -r _ _ path; do dir=/sys/fs/cgroup$path; done </proc/self/cgroup
# tell FILE...: their lines as "FILE WORD... NUMBER"
tell() {
    for file; do
        while read -r line; do echo "$file $line"; done <"$dir/$file"
    done
}
# recorded DIR TEXT: whether it is in the series by now
recorded() {
    for series in "$1"/0/*.jsonl; do
        [ -e "$series" ] || return
        while read -r line; do case $line in *"$2"*) return 0 ;; esac; done <"$series"
    done
    return 1
}
SCRIPT

# seen DIR FILE [WORD]: the number behind it
seen() { awk -v f="$2" -v w="${3:-}" '$1 == f && (w == "" || $2 == w) { print $NF; exit }' "$1.seen"; }
# pressure DIR FILE LINE: total of a pressure file, in seconds
pressure() { awk -v f="$2" -v l="$3" '$1 == f && $2 == l { sub(/total=/, "", $NF); printf "%.6f", $NF / 1e6 }' "$1.seen"; }
usec() { awk -v u="$(seen "$@")" 'BEGIN { printf "%.6f", u / 1e6 }'; }
# same DIR KEY FIELD FILE [WORD]: exactly what stood there
same() { is "$1: $2 is ${5:+$5 in }$4" "$(measured "$1" "$2" "$3")" "$(seen "$1" "$4" "${5:-}")"; }
above() { ok "$1 ($2 > $3)" awk -v a="$2" -v b="$3" 'BEGIN { exit !(a + 0 > b + 0) }'; }
# pressed DIR RESOURCE SECONDS: both lines; so much may come until the last reading
pressed() {
    local line
    above "$1: not all waited for $2 when some did" "$(pressure "$1" "$2.pressure" some)" "$(pressure "$1" "$2.pressure" full)"
    for line in some full; do
        near "$1: pressure of $2, $line" "$(measured "$1" "cgroup_psi_$2_${line}_seconds" total)" \
            "$(pressure "$1" "$2.pressure" $line)" "$3"
    done
}

# --- a CPU bandwidth limit; lifted at the end, so that nothing more is counted ---
cat >throttle.sh <<'SCRIPT'
. ./self.sh
busy() { i=0 && while [ $i -lt 20000 ]; do i=$((i + 1)); done; }
busy & busy & busy & # for two cores: some wait, and never all
wait
echo "20000 100000" >"$dir/cpu.max"
throttled=0
while [ "$throttled" -lt 6 ] || ! recorded throttle '"cgroup_cpu_limit":20'; do
    i=0
    while [ $i -lt 2000 ]; do i=$((i + 1)); done
    while read -r key value; do [ "$key" != nr_throttled ] || throttled=$value; done <"$dir/cpu.stat"
done
echo "max 100000" >"$dir/cpu.max"
tell cpu.stat cpu.pressure
SCRIPT
"$profres" run -q -w 300ms -d throttle -- sh throttle.sh >throttle.seen
same throttle cgroup_cpu_periods total cpu.stat nr_periods
same throttle cgroup_cpu_throttled_periods total cpu.stat nr_throttled
near "throttle: for as long as the kernel says" "$(measured throttle cgroup_cpu_throttled_seconds total)" "$(usec throttle cpu.stat throttled_usec)" 0
above "throttle: it was" "$(seen throttle cpu.stat nr_throttled)" 5
near "throttle: CPU" "$(measured throttle cgroup_cpu_seconds total)" "$(usec throttle cpu.stat usage_usec)" 0.1
near "throttle: user CPU" "$(measured throttle cgroup_cpu_user_seconds total)" "$(usec throttle cpu.stat user_usec)" 0.1
near "throttle: system CPU" "$(measured throttle cgroup_cpu_system_seconds total)" "$(usec throttle cpu.stat system_usec)" 0.1
is "throttle: the limit is a fifth of a core" "$(measured throttle cgroup_cpu_limit last)" 20
pressed throttle cpu 0.1
above "throttle: who is stopped waits for a core" "$(pressure throttle cpu.pressure some)" 0.1

# --- memory.high with swap below it ---
mkswap /dev/vdb >/dev/null && swapon /dev/vdb
is "there is swap" "$(awk 'NR > 1' /proc/swaps | wc -l)" 1
cat >high.sh <<'SCRIPT'
. ./self.sh
echo 1G >"$dir/memory.swap.max"
(while :; do :; done) & # on the same core: who does not wait for memory when the other does
busy=$!
echo 24M >"$dir/memory.high"
# over and over, so that what was swapped out comes back, until that was seen
perl -e 'my $s = "x" x (48 << 20);
    for my $round (1 .. 50) {
        for (my $i = 0; $i < length $s; $i += 4096) { $n += ord substr $s, $i, 1 }
        for my $name (glob "high/0/*.jsonl") {
            open my $f, "<", $name or next;
            exit if $round > 1 && grep { /"cgroup_mem_high_limit":25165824/ && /"cgroup_swap_current":[1-9]/ } <$f>;
        }
    }'
kill $busy
wait
echo max >"$dir/memory.high"
tell memory.peak memory.events memory.events.local memory.swap.peak memory.swap.events memory.pressure memory.stat
SCRIPT
"$profres" run -q -w 300ms -d high -- taskset -c 0 sh high.sh >high.seen
same high cgroup_mem_peak max memory.peak
same high cgroup_mem_high_events total memory.events high
same high cgroup_mem_high_events_local total memory.events.local high
above "high: it was slowed" "$(seen high memory.events high)" 0
same high cgroup_mem_failcnt total memory.events max
same high cgroup_swap_peak max memory.swap.peak
above "high: it was swapped" "$(seen high memory.swap.peak)" $((16 << 20))
same high cgroup_swap_failcnt total memory.swap.events max
same high cgroup_swap_fails total memory.swap.events fail
is "high: the threshold" "$(measured high cgroup_mem_high_limit last)" $((24 << 20))
is "high: the swap limit" "$(measured high cgroup_swap_limit last)" $((1 << 30))
is "high: a window saw the swap of it all" "$(measured high cgroup_swap_window_peak max)" "$(seen high memory.swap.peak)"
above "high: and a sample some" "$(measured high cgroup_swap_current max)" 0
near "high: major faults" "$(measured high cgroup_mem_faults_major total)" "$(seen high memory.stat pgmajfault)" 100
above "high: there were" "$(seen high memory.stat pgmajfault)" 1000
near "high: refaults" "$(measured high cgroup_mem_refaults_file total)" "$(seen high memory.stat workingset_refault_file)" 100
pressed high memory 0.005
above "high: it waited for memory" "$(pressure high memory.pressure some)" 0.001

# --- too little swap ---
cat >noswap.sh <<'SCRIPT'
. ./self.sh
echo 4M >"$dir/memory.swap.max"
echo 16M >"$dir/memory.max"
# the kernel may give up just below the limit
kills=0 met=0
while [ $kills -lt 30 ] && [ "$met" = 0 ]; do
    perl -e '$s = "x" x (32 << 20)'
    kills=$((kills + 1))
    while read -r key value; do [ "$key" != max ] || met=$value; done <"$dir/memory.swap.events"
done
echo "kills $kills"
until recorded noswap '"cgroup_mem_limit":16777216'; do :; done
echo max >"$dir/memory.max"
tell memory.events memory.swap.events memory.swap.peak
SCRIPT
"$profres" run -q -w 300ms -d noswap -- sh noswap.sh >noswap.seen 2>/dev/null
same noswap cgroup_swap_failcnt total memory.swap.events max
same noswap cgroup_swap_fails total memory.swap.events fail
above "noswap: it met the limit" "$(seen noswap memory.swap.events max)" 0
same noswap cgroup_swap_peak max memory.swap.peak
same noswap cgroup_oom_kills total memory.events oom_kill
same noswap cgroup_oom_events total memory.events oom
same noswap cgroup_mem_failcnt total memory.events max
is "noswap: killed" "$(measured noswap cgroup_oom_kills total)" "$(seen noswap kills)"
is "noswap: the limit" "$(measured noswap cgroup_mem_limit last)" $((16 << 20))
swapoff /dev/vdb

# --- what happens below is counted, and told from what happens here ---
cat >below.sh <<'SCRIPT'
. ./self.sh
mkdir "$dir/main" "$dir/small"
echo $$ >"$dir/main/cgroup.procs"
echo +memory >"$dir/cgroup.subtree_control"
echo 16M >"$dir/small/memory.max"
sh -c 'echo $$ >"$1/small/cgroup.procs"; exec perl -e "\$s = \"x\" x (32 << 20)"' - "$dir"
tell memory.events memory.events.local
SCRIPT
"$profres" run -q -d below -- sh below.sh >below.seen 2>/dev/null
for key in oom_kills:oom_kill oom_events:oom mem_failcnt:max; do
    same below "cgroup_${key%:*}" total memory.events "${key#*:}"
    same below "cgroup_${key%:*}_local" total memory.events.local "${key#*:}"
done
is "below: a kill, and not here" "$(measured below cgroup_oom_kills total) $(measured below cgroup_oom_kills_local total)" "1 0"

# --- storage: a real disk, past the cache, so that each byte is known ---
cat >disk.sh <<'SCRIPT'
. ./self.sh
(while :; do :; done) &
dd if=/dev/zero of=/dev/vda bs=64k count=64 oflag=direct 2>/dev/null
dd if=/dev/vda of=/dev/null bs=64k count=32 iflag=direct 2>/dev/null
kill $!
wait
tell io.stat io.pressure
SCRIPT
"$profres" run -q -d disk -- taskset -c 0 sh disk.sh >disk.seen
field() { sed -n "s/^io.stat .*[ :]$1=\([0-9]*\).*/\1/p" disk.seen; }
for key in read_bytes:rbytes:$((2 << 20)) write_bytes:wbytes:$((4 << 20)) read_ops:rios:32 write_ops:wios:64; do
    IFS=: read -r name word number <<<"$key"
    is "disk: cgroup_io_$name is $word in io.stat" "$(measured disk "cgroup_io_$name" total)" "$(field "$word")"
    is "disk: which is what was done" "$(field "$word")" "$number"
done
pressed disk io 0.005
above "disk: it waited for the disk" "$(pressure disk io.pressure some)" 0

# --- processes ---
cat >forks.sh <<'SCRIPT'
. ./self.sh
sh -c '(:); (:) & (:) & wait'
echo 2 >"$dir/pids.max"
sh -c '(:)' 2>/dev/null
echo max >"$dir/pids.max"
tell pids.peak pids.events
SCRIPT
"$profres" run -q -d forks -- sh forks.sh >forks.seen
same forks cgroup_pids_peak max pids.peak
same forks cgroup_pids_failcnt total pids.events max
is "forks: one was refused" "$(measured forks cgroup_pids_failcnt total)" 1

# --- the peak of each window, against a descriptor of the command's own ---
# A reset of one loses what the other had seen: so it is reset when a window has
# just begun, and read before that is over, and that but once: in the next window
# it would do the work of the one that is tested.
cat >phases.pl <<'SCRIPT'
use strict;
$| = 1;
my ($out, @sizes) = @ARGV; # MB; or "own"
open my $c, '<', '/proc/self/cgroup' or die;
my ($path) = map { /^0::(.*)/ } <$c>;
$path =~ s{/task_\d+$}{} if $path =~ m{/step_[^/]*/user/};
my $file = "/sys/fs/cgroup$path/memory.peak";
my $writable = open my $peak, '+<', $file;

sub windows {
    my $n = 0;
    for my $name (glob "$out/0/*.jsonl") {
        open my $f, '<', $name or next;
        $n += grep { /"type":"usage"/ } <$f>;
    }
    return $n;
}
sub next_window {
    my $n = windows();
    for (1 .. 400) { return windows() if windows() > $n; select undef, undef, undef, 0.05 }
    die "no window ended";
}
sub spike {
    my ($mb) = @_;
    my $pid = fork;
    if (!$pid) { my $s = "x" x ($mb << 20); exit 0 }
    waitpid $pid, 0;
}
sub own {
    my $text;
    sysseek $peak, 0, 0;
    sysread $peak, $text, 64;
    chomp $text;
    return $text;
}
if ($sizes[0] eq 'own') { # what windows that end after it leave of what we saw within one
    next_window();
    syswrite $peak, "mine";
    spike(30);
    next_window();
    open my $whole, '<', $file or die;
    chomp(my $all = <$whole>);
    print own(), " $all\n";
    exit 0;
}
for my $mb (@sizes) {
    my $before = next_window();
    syswrite $peak, "mine" if $writable && $mb == $sizes[0];
    spike($mb);
    my $text = $writable && $mb == $sizes[0] ? own() : '-';
    print "window ", $before + 1, " $mb $text ", windows() - $before, "\n";
}
next_window();
open my $whole, '<', $file or die;
print "peak ", scalar <$whole>;
SCRIPT
# check_phases NAME SERIES SUMMARY: of phases.pl with 60 and 20
check_phases() {
    local word number mb peak moved global windows=()
    mapfile -t windows < <(jq -r 'select(.type == "usage") | .measurements.cgroup_mem_window_peak // 0' "$2")
    global=$(awk '$1 == "peak" { print $2 }' "$1.seen")
    is "$1: two phases" "$(grep -c '^window' "$1.seen")" 2
    while read -r word number mb peak moved; do
        [ "$word" = window ] || continue
        is "$1: the $mb MB were within a window" "$moved" 0
        if [ "$peak" = - ]; then
            near "$1: its peak is that of the load" "${windows[number - 1]}" $((mb << 20)) $((8 << 20))
        else
            is "$1: its peak is that of another descriptor" "${windows[number - 1]}" "$peak"
        fi
        above "$1: it holds the load" "${windows[number - 1]}" $((mb << 20))
    done <"$1.seen"
    is "$1: the kernel's own peak was not touched" "$(jq .measurements.cgroup_mem_peak.max "$3")" "$global"
    above "$1: it is above that of the other window" "$global" $((windows[number - 1] + (30 << 20)))
    is "$1: the run's is the largest window's" "$(jq .measurements.cgroup_mem_window_peak.max "$3")" "$global"
}
"$profres" run -q -w 4s -d phases -- perl phases.pl phases 60 20 >phases.seen
check_phases phases phases/0/*.jsonl phases/0/*.json

# --- what that does to the command's own descriptor, and who does not want it ---
"$profres" run -q -w 3s -d erased -- perl phases.pl erased own >erased.seen
read -r own all <erased.seen
above "erased: the next window makes the kernel forget what the command saw" "$all" $((own + (15 << 20)))
"$profres" run -q -w 3s -m '-cgroup_*_window_peak' -d kept -- perl phases.pl kept own >kept.seen
read -r own all <kept.seen
is "kept: not when peaks of windows are not measured" "$own" "$all"
above "kept: there was something to forget" "$own" $((30 << 20))
is "kept: nothing else is left out" "$(jq -r .measurements\|keys[] erased/0/*.json | grep -v '_window_peak$')" \
    "$(jq -r .measurements\|keys[] kept/0/*.json)"

# --- an ordinary user in a delegated subtree ---
mkdir -p $top/user/shell
echo "+memory +cpu +io +pids" >$top/user/cgroup.subtree_control
for dir in $top/user $top/user/shell; do
    chown 65534:65534 "$dir" "$dir"/cgroup.{procs,threads,subtree_control}
done
mkdir home && chown 65534:65534 home
in_group $top/user/shell as_user "$profres" run -q -w 4s -d home/user -- perl phases.pl home/user 60 20 >user.seen
check_phases user home/user/0/*.jsonl home/user/0/*.json
ok "user: pressure, storage and processes are there, too" jq_true '.measurements |
    has("cgroup_psi_memory_some_seconds") and has("cgroup_io_read_ops") and has("cgroup_pids_peak")
    and has("cgroup_mem_high_events_local") and has("cgroup_swap_window_peak")' "$(summary home/user)"
ok "user: no reason is empty" jq_true '.info.unavailable | all(.[]; length > 5)' "$(summary home/user)"
is "user: nothing is left" "$(find $top -name 'profres-*')" ""

# --- what a steady tick does on this kernel ---
steady=$top_builddir/tests/unit/test_steady
if [ -x "$steady" ]; then
    CMOCKA_MESSAGE_OUTPUT=TAP "$steady" >steady.out 2>&1
    is "a steady tick opens and allocates nothing here" "$? $(grep -c '^not ok' steady.out)" "0 0"
else
    skip 1 "test_steady is not built"
fi

# --- a Slurm step: the sampler is the user's and the peaks are root's ---
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
if ! have_plugin; then
    skip 16 "$lab_why"
else
    start cpus=2 memory=800 KillWait=1
    cp phases.pl "$lab_home/phases.pl"
    chmod 644 "$lab_home/phases.pl"
    lab_srun --profile-res=dir=win,quiet,window=4 perl phases.pl win 60 20 >step.seen 2>err
    settled
    check_phases step "$lab_home"/win/0/*.jsonl "$lab_home"/win/0/*.json
    is "step: nothing is said" "$(cat err)" ""
    like "step: it is where the tasks are, and slurmstepd is not" \
        "$(of win 0 .info.cgroups.unified.path)" "*/step_0/user"
    lab_srun --profile-res='dir=without,quiet,metrics=-cgroup_*_window_peak' true 2>err
    settled
    is "step: peaks of windows can be left out" "$?:$(cat err):$(of without 0 '.measurements | has("cgroup_mem_peak"), has("cgroup_mem_window_peak")' | tr '\n' ' ')" \
        "0::true false "
    lab_srun -n2 --profile-res=dir=two,quiet perl -e '$s = "x" x (40 << 20); for (my $i = 0; $i < 4e6; $i++) {} select undef, undef, undef, 2.5' 2>err
    settled
    ok "two tasks: their CPU adds up" is_true two 0 '[.measurements.cgroup_tasks_cpu_seconds.total,
        ([.tasks[].cgroup_cpu_seconds] | add)] | .[0] > 0 and (.[0] - .[1] | fabs) < 0.001'
    ok "two tasks: their memory is that of both" is_true two 0 \
        '.measurements.cgroup_tasks_mem_sampled_peak.max as $sum |
        $sum > 1.5 * ([.tasks[].cgroup_mem_peak] | max) and $sum <= .measurements.cgroup_mem_peak.max'
fi
plan "$count"
