# A real unified cgroup v2 on any host: User-mode Linux (Debian's package
# user-mode-linux, kernel 6.1) booted on the host's own file system. Sourced.
# shellcheck shell=bash
#
#   uml_available        true, or the reason why not is in $uml_why
#   uml_run SCRIPT ARG...
#       runs SCRIPT in there as root; its output comes to stdout when it is
#       over, its exit status is returned; 124: it took longer than
#       $uml_seconds (120), 125: the kernel did not come up, $uml_why says why
#
# Needs tap.sh of tests/live. Inside, the host's files can be read and not
# written, but for $uml_box, a new directory for each run; /tmp, /run and
# /dev/shm are empty and of memory, and what is put there is gone at the end.

uml_seconds=120
uml_memory=1G
uml_why=
uml_box=

uml_available() {
    uml_why="PROFRES_SKIP_LABS is set"
    [ -z "${PROFRES_SKIP_LABS:-}" ] || return 1
    uml_why=
    if ! command -v linux.uml >/dev/null; then
        uml_why="linux.uml is not installed (Debian: user-mode-linux)"
    elif [ "$(id -u)" != 0 ]; then
        uml_why="not root: the file system is shown as its owner sees it"
    fi
    [ -z "$uml_why" ]
}

# The first process inside. What is below /tmp or /run on the host, as builds
# and test directories are, is shown in its place again.
uml_write_init() { # SHOWN...
    {
        echo '#!/bin/bash'
        echo "box=$(printf %q "$uml_box")"
        echo "shown=($(printf '%q ' "$@"))"
        cat <<'INIT'
echo >"$box/booted"
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir /run/host /run/lock
mount --bind / /run/host
mount -o remount,bind,ro /
mount -t tmpfs -o mode=1777 tmpfs /tmp
mountpoint -q /dev || mount -t devtmpfs dev /dev
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm
for dir in "${shown[@]}"; do
    case $dir in
    /tmp/* | /run/*) mkdir -p "$dir" && mount -o bind,ro "/run/host$dir" "$dir" ;;
    esac
done
mkdir -p "$box" && mount --bind "/run/host$box" "$box"
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for controller in cpu memory pids io; do
    echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
done 2>/dev/null
# for a name to be found at all, a second address has to be there
ip link set lo up
ip addr add 127.0.0.2/8 dev lo
hostname uml
printf '%s\n' '127.0.0.1 localhost' '127.0.0.2 uml' >/run/hosts
mount --bind /run/hosts /etc/hosts
[ ! -e /etc/resolv.conf ] || { : >/run/resolv && mount --bind /run/resolv /etc/resolv.conf; }
. "$box/environment"
bash "$box/command" >"$box/output" 2>&1 </dev/null
echo $? >"$box/status"
sync
echo 1 >/proc/sys/kernel/sysrq
echo o >/proc/sysrq-trigger
sleep 10
INIT
    } >"$uml_box/init"
    chmod 755 "$uml_box/init"
}

# Asked first, for then it ends the processes that are its own processes'.
uml_stop() { # PID
    local i

    kill -TERM "$1" 2>/dev/null
    for ((i = 0; i < 50; i++)); do
        kill -0 "$1" 2>/dev/null || return
        sleep 0.1
    done
    kill -KILL -- "-$1" 2>/dev/null
}

uml_run() {
    local pid end

    uml_box=$(mktemp -d "${work:?}/uml.XXXXXX") || return 125
    mkdir "$uml_box/uml"
    printf '%q ' bash "$@" >"$uml_box/command"
    { export -p | grep -E '^declare -x (PATH|LC_ALL|top_srcdir|top_builddir)='; } >"$uml_box/environment"
    uml_write_init "${top_srcdir:?}" "${top_builddir:?}"
    # its memory is a file: on /dev/shm when nothing else is said
    env -u TMPDIR -u TMP -u TEMP setsid linux.uml "mem=$uml_memory" root=/dev/root rootfstype=hostfs \
        rootflags=/ rw "init=$uml_box/init" con=null ssl=null con0=null,fd:1 quiet panic=-1 \
        "uml_dir=$uml_box/uml" </dev/null >"$uml_box/console" 2>&1 &
    pid=$!
    started+=("-$pid") # a group of its own: all of it ends with the test
    end=$((SECONDS + uml_seconds))
    while kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $end ]; do sleep 0.1; done
    if kill -0 "$pid" 2>/dev/null; then
        uml_stop "$pid"
        echo 124 >"$uml_box/status"
    fi
    wait "$pid" 2>/dev/null
    unset 'started[-1]'
    [ ! -e "$uml_box/output" ] || cat "$uml_box/output"
    [ ! -e "$uml_box/status" ] || return "$(cat "$uml_box/status")"
    uml_why="no kernel came up: $(tail -n 1 "$uml_box/console" | tr -d '\r')"
    return 125
}
