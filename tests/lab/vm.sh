# A kernel of our own with a real unified cgroup v2, on any host. Sourced, after
# tap.sh of tests/live.
# shellcheck shell=bash
#
#   kind    kernel                           what it lacks
#   uml     User-mode Linux of this Debian   a second CPU, cpuset, PSI
#   qemu    Debian 13's 6.12, emulated       speed
#
#   vm_available KIND    true, or the reason why not is in $vm_why
#   vm_run KIND SCRIPT ARG...
#       runs SCRIPT in there as root; its output comes to stdout when it is
#       over, its exit status is returned; 124: it took longer than
#       $vm_seconds, 125: no kernel came up, also when tried once more, which
#       is said; 126: it went down before the script was over, for which there
#       is no second try; $vm_why says why
#   vm_test KIND SCRIPT ARG...
#       the same for a test in TAP, and the end of the shell
#   vm_slurm KIND NAME...
#       the same for tests/slurm/NAME.t, one after the other in one boot
#
# Inside, the host's files can be read and not written; /tmp, /run and /dev/shm
# are empty and of memory, and what is put there is gone at the end. What is
# written to /run/box stays, as $vm_box, as long as $work. $LAB_KIND is the kind,
# $LAB_PATIENCE how many times as long as elsewhere something may take.
# With qemu, /dev/vda and /dev/vdb are empty disks.
#
# With $vm_tree the root inside is that directory, a system of its own; sources
# and build are then in /run/source and /run/build.

vm_seconds=120
vm_boot_seconds=120 # of these, for the kernel; it takes a tenth of that
vm_why=
vm_box=
vm_tree=
vm_records=${top_builddir:?}/lab # of the host's build, whichever is tested

# shellcheck source-path=SCRIPTDIR
. "${top_srcdir:?}/tests/lab/uml.sh"
# shellcheck source-path=SCRIPTDIR
. "$top_srcdir/tests/lab/qemu.sh"

vm_available() {
    vm_why="PROFRES_SKIP_LABS is set"
    [ -z "${PROFRES_SKIP_LABS:-}" ] || return 1
    vm_why="not root: the file system is shown as its owner sees it"
    [ "$(id -u)" = 0 ] || return 1
    vm_why=
    "$1_available"
}

# The first process inside. What is below /tmp or /run on the host, as builds
# and test directories are, is shown in its place again.
vm_write_init() { # KIND
    local patience=$1_patience
    {
        echo '#!/bin/bash'
        echo "kind=$1"
        echo "patience=${!patience}"
        echo "tree=$(printf %q "$vm_tree")"
        echo "source=$(printf %q "${top_srcdir:?}")"
        echo "build=$(printf %q "${top_builddir:?}")"
        cat <<'INIT'
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mkdir -p /run/host /run/new
mount --bind / /run/host
mount --bind "/run/host$tree" /run/new
cd /run/new
mount -o remount,bind,ro .
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t devtmpfs dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs tmpfs run
[ -e dev/fd ] || ln -s /proc/self/fd dev/fd
mkdir -p dev/shm run/lock run/box
mount -t tmpfs -o mode=1777 tmpfs dev/shm
INIT
        "$1_mount_box"
        cat <<'INIT'
echo >run/box/booted
show() { # FROM TO
    mkdir -p "./$2" && mount -o bind,ro "/run/host$1" "./$2"
}
. run/box/environment
if [ -n "$tree" ]; then
    export top_srcdir=/run/source top_builddir=/run/build
    show "$source" "$top_srcdir"
    show "$build" "$top_builddir"
else
    for dir in "$source" "$build"; do
        case $dir in /tmp/* | /run/*) show "$dir" "$dir" ;; esac
    done
fi
mount -t cgroup2 cgroup2 sys/fs/cgroup
for controller in cpu cpuset memory pids io; do
    echo "+$controller" >sys/fs/cgroup/cgroup.subtree_control
done 2>/dev/null
# for a name to be found at all, a second address has to be there
ip link set lo up
ip addr add 127.0.0.2/8 dev lo
hostname "$kind"
printf '%s\n' '127.0.0.1 localhost' "127.0.0.2 $kind" >run/hosts
mount --bind run/hosts etc/hosts
[ ! -e etc/resolv.conf ] || { : >run/resolv && mount --bind run/resolv etc/resolv.conf; }
export LAB_KIND=$kind LAB_PATIENCE=$patience LAB_RECORDS=/run/box
chroot . bash /run/box/command >run/box/output 2>&1 </dev/null
echo $? >run/box/status
sync
echo 1 >proc/sys/kernel/sysrq
echo o >proc/sysrq-trigger
sleep 10
INIT
    } >"$vm_box/init"
    chmod 755 "$vm_box/init"
}

# Asked first, for then it ends the processes that are its own processes'.
vm_stop() { # PID
    local i

    kill -TERM "$1" 2>/dev/null
    for ((i = 0; i < 50; i++)); do
        kill -0 "$1" 2>/dev/null || return
        sleep 0.1
    done
    kill -KILL -- "-$1" 2>/dev/null
}

# An emulator may fail before anything of ours runs. What dies later is not tried
# again: it may be us who did it.
vm_run() {
    local status

    vm_once "$@"
    status=$?
    [ $status = 125 ] || return $status
    echo "# $vm_why; once more"
    vm_once "$@"
}

vm_once() {
    local kind=$1 pid status

    shift
    vm_box=$(mktemp -d "${work:?}/$kind.XXXXXX") || return 125
    printf '%s\n' "$(printf '%q ' bash "$@")" >"$vm_box/command"
    { export -p | grep -E '^declare -x (PATH|LC_ALL|top_srcdir|top_builddir)='; } >"$vm_box/environment"
    vm_write_init "$kind"
    # its memory is a file: on /dev/shm when nothing else is said
    env -u TMPDIR -u TMP -u TEMP setsid bash -c "$("${kind}_command")" \
        </dev/null >"$vm_box/console" 2>&1 &
    pid=$!
    started+=("-$pid") # a group of its own: all of it ends with the test
    vm_wait "$pid"
    wait "$pid" 2>/dev/null
    status=$?
    unset 'started[-1]'
    [ ! -e "$vm_box/output" ] || cat "$vm_box/output"
    [ ! -e "$vm_box/status" ] || return "$(cat "$vm_box/status")"
    vm_tell_end "$status"
    [ ! -e "$vm_box/booted" ] || return 126
    vm_why="no kernel came up: ${vm_why#*: }"
    return 125
}

# Until it has ended, or time is up.
vm_wait() { # PID
    local end=$((SECONDS + vm_seconds)) boot=$((SECONDS + vm_boot_seconds))

    while kill -0 "$1" 2>/dev/null && [ $SECONDS -lt $end ] &&
        { [ -e "$vm_box/booted" ] || [ $SECONDS -lt $boot ]; }; do
        sleep 0.1
    done
    kill -0 "$1" 2>/dev/null || return
    vm_stop "$1"
    if [ -e "$vm_box/booted" ]; then
        echo 124 >"$vm_box/status"
    else
        printf '\nnot up after %s s, stopped\n' "$vm_boot_seconds" >>"$vm_box/console"
    fi
}

# Of a panic the last line says nothing, and one that was killed says nothing at
# all. What the kernel says first of its trouble is far above its end.
vm_tell_end() { # STATUS, of what runs the kernel
    tr -d '\r' <"$vm_box/console" | awk '{ line[NR] = $0 } /Oops|BUG:|Kernel panic/ && !first { first = NR }
        END { for (i = 1; i <= NR; i++) if (i > NR - 50 || (first && i >= first && i < first + 12)) print "# " line[i] }'
    vm_why="it ended before its script did: $({ grep -a -m 1 'Kernel panic' "$vm_box/console" ||
        tail -n 1 "$vm_box/console"; } | tr -d '\r')"
    [ "$1" -le 128 ] || vm_why+=" (signal $(kill -l "$1"))"
}

vm_test() {
    local status

    vm_available "$1" || { echo "1..0 # SKIP $vm_why" && exit 0; }
    export top_srcdir top_builddir
    vm_run "$@"
    status=$?
    mkdir -p "$vm_records"
    cp "$vm_box"/record-*.json "$vm_records" 2>/dev/null
    case $status in
    124) echo "Bail out! $1 still ran after $vm_seconds s" ;;
    126) echo "Bail out! $vm_why" ;;
    125) echo "1..0 # SKIP $vm_why" && exit 0 ;;
    esac
    exit "$status"
}

vm_slurm() {
    local kind=$1 why
    shift
    vm_available "$kind" || { echo "1..0 # SKIP $vm_why" && exit 0; } # not in vain
    why=$(vm_slurm_missing)
    [ -z "$why" ] || { echo "1..0 # SKIP $why" && exit 0; }
    # shellcheck disable=SC2016 # known inside
    vm_test "$kind" -c 'exec bash "$top_srcdir/tests/lab/several" "$@"' several "${@/#/tests/slurm/}"
}

vm_slurm_missing() {
    local need
    for need in slurmctld slurmd munged srun jq; do
        PATH=$PATH:/usr/sbin:/sbin type -P "$need" >/dev/null || { echo "there is no $need" && return; }
    done
    [ -e "$top_builddir/.libs/profile_res.so" ] || echo "the plugin was not built (no slurm/spank.h)"
}
