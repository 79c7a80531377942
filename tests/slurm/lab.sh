# A private Slurm cluster in a temporary directory, for tests: sourced, after
# tests/live/tap.sh if that is used, too. All that it starts it stops, at the
# latest when the shell ends.
#
#   lab_available || skip everything: $lab_why (lab_needs_v1 if it matters)
#   lab_start nodes=4 gather=linux spank="optional $so key=value" || lab_log
#   lab_srun -n2 hostname
#   lab_stop || echo "# left behind: $lab_why"
#
# Never export SLURM_CONF: it is how the processes of a lab are told from those
# of the test. The functions give it to whatever they run.
# shellcheck shell=bash

lab_dir=     # of the lab that runs, empty without one; readable for all
lab_conf=    # its slurm.conf
lab_home=    # the directory of the jobs, the user's own
lab_nodes=() # names of its nodes, made for this lab alone
lab_user=()  # command prefix: as the user, in lab_home, bounded (see lab_as_user)
lab_root=()  # command prefix: as root, bounded
lab_why=     # why the last function failed
lab_patience=${LAB_PATIENCE:-1} # all that is waited for here takes so many times as long
lab_seconds=${lab_seconds:-$((60 * lab_patience))} # how long one client command may run

lab_mount=/sys/fs/cgroup
lab_slice=$lab_mount/system.slice # on cgroup v2: where Slurm is when systemd is not asked
lab_controllers='freezer memory cpuset cpuacct devices'
declare -A lab_pid=() # pid of each daemon
declare -A lab_opt=() # options of lab_start
lab_slice_made= # yes: ours to remove
lab_forgiven=   # what Slurm itself has left, once (see lab_forgive)
lab_repeat=()   # how to run the last step again: lab_srun's, or what the test says
lab_own=() # KEY=VALUE of the caller's for slurm.conf and cgroup.conf

lab_finish() {
    lab_stop
    ! declare -F finish >/dev/null || finish
}
trap lab_finish EXIT

lab_packages() {
    echo slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libslurm-dev
    [ "${1:-}" != dbd ] || echo slurmdbd mariadb-server-core mariadb-client-core
}

# lab_available [dbd]: whether a lab can run here, else the reason in $lab_why
lab_available() {
    local need controller
    lab_why="PROFRES_SKIP_LABS is set"
    [ -z "${PROFRES_SKIP_LABS:-}" ] || return 1
    for need in slurmctld slurmd munged srun setpriv ${1:+slurmdbd sacctmgr mariadbd}; do
        lab_why="there is no $need"
        PATH=$PATH:/usr/sbin:/sbin type -P "$need" >/dev/null || return 1
    done
    lab_why="env does not know --default-signal"
    env -C / --default-signal true 2>/dev/null || return 1
    lab_why="not root"
    [ "$(id -u)" = 0 ] || return 1
    if lab_unified; then
        lab_unified_available
        return
    fi
    for controller in $lab_controllers; do
        lab_why="no cgroup v1 that may be written in $lab_mount/$controller"
        mkdir "$lab_mount/$controller/lab_$$" 2>/dev/null || return 1
        [ -e "$lab_mount/$controller/lab_$$/tasks" ]
        need=$?
        rmdir "$lab_mount/$controller/lab_$$"
        [ $need = 0 ] || return 1
    done
    lab_why=
}

# lab_unified: whether this host has cgroup v2 and nothing else
lab_unified() { [ "$(stat -f -c %T "$lab_mount" 2>/dev/null)" = cgroup2fs ]; }

# lab_needs_v1: for tests that know the files of cgroup v1 by name
lab_needs_v1() {
    lab_why="this test is of cgroup v1, and here is v2"
    ! lab_unified && lab_why=
}

lab_unified_available() {
    local controller
    for controller in memory cpu; do
        lab_why="cgroup v2 in $lab_mount is without $controller"
        grep -qw "$controller" "$lab_mount/cgroup.controllers" || return 1
    done
    lab_why="cgroup v2 in $lab_mount may not be written"
    mkdir "$lab_mount/lab_$$" 2>/dev/null && rmdir "$lab_mount/lab_$$" && lab_why=
}

# Slurm makes its scope in there, and takes what controllers it finds.
lab_unified_make() {
    local dir controller controllers
    lab_why="no controllers in $lab_slice"
    if [ ! -d "$lab_slice" ]; then
        mkdir "$lab_slice" || return
        lab_slice_made=yes
    fi
    for dir in "$lab_mount" "$lab_slice"; do
        read -ra controllers <"$dir/cgroup.controllers"
        for controller in "${controllers[@]}"; do
            echo "+$controller" >"$dir/cgroup.subtree_control"
        done 2>/dev/null
    done
    grep -qw memory "$lab_slice/cgroup.subtree_control" && lab_why=
}

# lab_until SECONDS COMMAND...: waits for a condition, not for a time
lab_until() {
    local end=$(($(lab_clock) + $1 * 1000 * lab_patience))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(lab_clock)" -lt $end ] || return 1
        sleep 0.03
    done
}

lab_clock() { echo $((${EPOCHREALTIME/[^0-9]/} / 1000)); } # ms

# lab_start [KEY=VALUE...]: a cluster with all its nodes idle, or 1 and $lab_why.
#
#   nodes=1       how many          cpus=    of each; default: of this host, >= 2
#   memory=2000   MB of each        user=nobody  whom the jobs run as
#   gather=cgroup jobacct_gather: cgroup, linux or none
#   freq=30       JobAcctGatherFrequency
#   ram=yes       ConstrainRAMSpace cores=   ConstrainCores; default: if there are cpus
#   affinity=no   task/affinity     contain=no  PrologFlags=Contain
#   spank=LINE    of plugstack.conf: [optional|required] FILE [ARG...]; may be repeated
#   debug=info    SlurmdDebug       dbd=no   accounting through lab_dbd
#
# A key with a capital goes into slurm.conf as it is, or into cgroup.conf if it
# begins with Allowed, Cgroup, Constrain or IgnoreSystemd, in the place of the lab's own.
lab_start() {
    local try
    [ -z "$lab_dir" ] || lab_stop
    lab_options "$@" || return
    for try in 1 2 3 4 5; do
        lab_make && lab_daemons && return 0
        lab_clash || break
        # another has taken the port between our look and the daemon's bind
        lab_stop
        lab_why="no free ports, $try tries"
    done
    return 1
}

lab_clash() { grep -qi 'address already in use' "$lab_dir"/log/* 2>/dev/null; }

lab_options() {
    local pair key value
    # a lab inside a job is not of that job
    unset "${!SLURM_@}" "${!SBATCH_@}" "${!SALLOC_@}" "${!SRUN_@}"
    lab_opt=([nodes]=1 [memory]=2000 [user]=nobody [gather]=cgroup [freq]=30 [ram]=yes
        [affinity]=no [contain]=no [debug]=info [dbd]=no [spank]="" [cores]="")
    lab_opt[cpus]=$(nproc)
    [ "${lab_opt[cpus]}" -gt 1 ] || lab_opt[cpus]=2
    lab_own=()
    for pair; do
        key=${pair%%=*} value=${pair#*=}
        case $key in
        [A-Z]*) lab_own+=("$pair") ;;
        spank) lab_opt[spank]+=$value$'\n' ;;
        *)
            lab_why="lab_start knows no '$key'"
            [ -n "${lab_opt[$key]+set}" ] || return 1
            lab_opt[$key]=$value
            ;;
        esac
    done
    [ -n "${lab_opt[cores]}" ] || lab_opt[cores]=$(lab_yes lab_has_cores)
}

lab_has_cores() {
    [ "${lab_opt[cpus]}" -le "$(nproc)" ] || return
    ! lab_unified || grep -qw cpuset "$lab_mount/cgroup.controllers"
}

lab_yes() { if "$@"; then echo yes; else echo no; fi; }

# The directory has to be open to the jobs' user all the way, and short enough
# for sockets in it; a test's TMPDIR may be neither.
lab_base() {
    local base
    base=$(cd "${TMPDIR:-/tmp}" && pwd -P) && [ ${#base} -lt 50 ] &&
        setpriv --reuid="$lab_uid" --regid="$lab_gid" --clear-groups -- test -x "$base" || base=/tmp
    echo "$base"
}

# Directory, ports, names, files: everything before the first daemon.
lab_make() {
    lab_why="no user ${lab_opt[user]}"
    lab_uid=$(id -u "${lab_opt[user]}") || return
    lab_gid=$(id -g "${lab_opt[user]}") || return
    lab_why="no temporary directory"
    lab_dir=$(mktemp -d "$(lab_base)/profres-lab.XXXXXX") || return
    lab_conf=$lab_dir/slurm.conf
    lab_home=$lab_dir/home
    chmod 755 "$lab_dir"
    mkdir "$lab_dir"/{log,state,spool,munge,home}
    chown "$lab_uid:$lab_gid" "$lab_home"
    lab_root=(env --default-signal SLURM_CONF="$lab_conf" timeout --foreground -k 5 "$lab_seconds")
    lab_user=(env -C "$lab_home" --default-signal SLURM_CONF="$lab_conf" HOME="$lab_home"
        USER="${lab_opt[user]}" LOGNAME="${lab_opt[user]}" TMPDIR=/tmp
        timeout --foreground -k 5 "$lab_seconds"
        setpriv --reuid="$lab_uid" --regid="$lab_gid" --clear-groups --)
    lab_choose_ports || return
    ! lab_unified || lab_unified_make || return
    lab_write_conf
    lab_why=
}

# A row of free ports, at random; the nodes are called after it, so that the
# cgroups slurm_<node> of two labs at a time are not the same ones.
lab_choose_ports() {
    local try node used=" "
    used+=$(awk '$4 == "0A" { sub(".*:", "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 \
        2>/dev/null | while read -r node; do printf '%d ' "0x$node"; done)
    for ((try = 0; try < 50; try++)); do
        lab_port=$((10000 + (RANDOM * 32768 + RANDOM) % 20000))
        lab_nodes=()
        for ((node = 0; node < lab_opt[nodes] + 2; node++)); do
            [[ $used != *" $((lab_port + node)) "* ]] || continue 2
        done
        for ((node = 1; node <= lab_opt[nodes]; node++)); do
            lab_nodes+=("lab${lab_port}n$node")
        done
        [ -z "$(lab_cgroup_roots)" ] && return 0
    done
    lab_why="no free ports"
    return 1
}

lab_write_conf() {
    local host node plugins=task/cgroup
    host=$(hostname -s)
    [ "${lab_opt[affinity]}" = no ] || plugins=task/affinity,task/cgroup
    {
        lab_settings slurm \
            ClusterName=lab SlurmctldHost="$host(127.0.0.1)" SlurmUser=root SlurmdUser=root \
            AuthType=auth/munge AuthInfo="socket=$lab_dir/munge/socket" CredType=cred/munge \
            SlurmctldPort="$lab_port" SlurmdPort=$((lab_port + 2)) \
            StateSaveLocation="$lab_dir/state" SlurmdSpoolDir="$lab_dir/spool/%n" \
            SlurmctldPidFile="$lab_dir/slurmctld.pid" SlurmdPidFile="$lab_dir/slurmd.%n.pid" \
            SlurmctldLogFile="$lab_dir/log/slurmctld" SlurmdLogFile="$lab_dir/log/slurmd.%n" \
            SlurmctldDebug=info SlurmdDebug="${lab_opt[debug]}" \
            PlugStackConfig="$lab_dir/plugstack.conf" \
            ProctrackType=proctrack/cgroup TaskPlugin="$plugins" \
            JobAcctGatherType="jobacct_gather/${lab_opt[gather]}" \
            JobAcctGatherFrequency="${lab_opt[freq]}" \
            SelectType=select/cons_tres SelectTypeParameters=CR_Core_Memory DefMemPerCPU=200 \
            SlurmdParameters=config_overrides ReturnToService=2 \
            MpiDefault=none SwitchType=switch/none KillWait=2 MailProg=/bin/true \
            SchedulerParameters=batch_sched_delay=0,sched_interval=1 \
            PrologFlags="$(lab_if contain Contain)" \
            AccountingStorageType="$(lab_if dbd accounting_storage/slurmdbd)" \
            AccountingStorageHost="$(lab_if dbd 127.0.0.1)" \
            AccountingStoragePort="$(lab_if dbd $((lab_port + 1)))" \
            AccountingStoragePass="$(lab_if dbd "$lab_dir/munge/socket")"
        for ((node = 1; node <= lab_opt[nodes]; node++)); do
            echo "NodeName=${lab_nodes[node - 1]} NodeHostname=$host NodeAddr=127.0.0.1" \
                "Port=$((lab_port + 1 + node)) CPUs=${lab_opt[cpus]}" \
                "RealMemory=${lab_opt[memory]}"
        done
        echo "PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
    } >"$lab_conf"
    # where there is swap, a limit on memory alone kills nothing
    [ -e $lab_mount/memory/memory.memsw.limit_in_bytes ] || [ -e $lab_slice/memory.swap.max ] &&
        lab_opt[swap]=${lab_opt[ram]}
    lab_opt[unified]=$(lab_yes lab_unified)
    lab_settings cgroup \
        CgroupPlugin="cgroup/$(if lab_unified; then echo v2; else echo v1; fi)" \
        IgnoreSystemd="$(lab_if unified yes)" CgroupMountpoint=$lab_mount \
        ConstrainRAMSpace="${lab_opt[ram]}" ConstrainCores="${lab_opt[cores]}" \
        ConstrainSwapSpace="$(lab_if swap yes)" AllowedSwapSpace="$(lab_if swap 0)" \
        >"$lab_dir/cgroup.conf"
    lab_spank "${lab_opt[spank]}"
}

lab_if() { [ "${lab_opt[$1]:-no}" = no ] || echo "$2"; }

# lab_settings slurm|cgroup KEY=VALUE...: the lines of a file, the caller's own
# values in the place of these; an empty value leaves the key to Slurm
lab_settings() {
    local file=$1 pair key
    local -A table=()
    shift
    for pair; do table[${pair%%=*}]=${pair#*=}; done
    for pair in "${lab_own[@]}"; do
        case $pair in
        Allowed* | Cgroup* | Constrain* | IgnoreSystemd*) [ "$file" = cgroup ] || continue ;;
        *) [ "$file" = slurm ] || continue ;;
        esac
        table[${pair%%=*}]=${pair#*=}
    done
    for key in "${!table[@]}"; do [ -z "${table[$key]}" ] || echo "$key=${table[$key]}"; done | sort
}

# lab_spank LINE...: another plugstack.conf, for what is started from now on;
# slurmd alone keeps what it has read
lab_spank() {
    local line
    printf '%s\n' "$@" | while read -r line; do
        case $line in
        '' | optional* | required* | include*) echo "$line" ;;
        *) echo "optional $line" ;;
        esac
    done >"$lab_dir/plugstack.new"
    mv "$lab_dir/plugstack.new" "$lab_dir/plugstack.conf"
}

# lab_daemon NAME COMMAND...: a session of its own, so that a signal to the
# test's process group does not end the cluster before lab_stop does
lab_daemon() {
    local name=$1
    shift
    # a shell without job control starts it with SIGINT and SIGQUIT ignored
    env -C "$lab_dir" --default-signal SLURM_CONF="$lab_conf" PATH="$PATH:/usr/sbin:/sbin" \
        setsid "$@" \
        >"$lab_dir/log/$name.out" 2>&1 </dev/null &
    lab_pid[$name]=$!
    disown $!
}

# lab_up NAME SECONDS COMMAND...: until the condition holds or the daemon ends
lab_up() {
    local name=$1 end=$(($(lab_clock) + $2 * 1000 * lab_patience))
    shift 2
    until "$@" >/dev/null 2>&1; do
        lab_why="$name ended"
        lab_alive "${lab_pid[$name]}" || return 1
        lab_why="$name is not up in time"
        [ "$(lab_clock)" -lt $end ] || return 1
        sleep 0.03
    done
    lab_why=
}

lab_daemons() {
    local node
    # munged insists on directories of its own user, and on a key of its own
    head -c 1024 /dev/urandom >"$lab_dir/munge/key"
    chmod 600 "$lab_dir/munge/key"
    lab_daemon munged munged -F --force --num-threads=4 --socket="$lab_dir/munge/socket" \
        --key-file="$lab_dir/munge/key" --pid-file="$lab_dir/munge/pid" \
        --seed-file="$lab_dir/munge/seed"
    lab_up munged 10 munge -n -S "$lab_dir/munge/socket" || return
    [ "${lab_opt[dbd]}" = no ] || lab_dbd || return
    lab_daemon slurmctld slurmctld -D -c -i -f "$lab_conf"
    lab_up slurmctld 20 lab_listens slurmctld "$lab_port" || return
    for node in "${lab_nodes[@]}"; do
        lab_daemon "slurmd.$node" slurmd -D -N "$node" -f "$lab_conf"
    done
    for node in "${lab_nodes[@]}"; do
        lab_up "slurmd.$node" 20 lab_is_idle "$node" || return
    done
}


# lab_listens NAME PORT: that daemon, not another one, listens there
lab_listens() {
    local inode
    inode=$(awk -v "port=:$(printf %04X "$2")\$" '$4 == "0A" && $2 ~ port { print $10 }' \
        /proc/net/tcp /proc/net/tcp6 2>/dev/null | head -n 1)
    [ -n "$inode" ] && find "/proc/${lab_pid[$1]}/fd" -lname "socket:\[$inode\]" 2>/dev/null | grep -q .
}

lab_is_idle() { [ "$("${lab_root[@]}" sinfo -h -n "$1" -o %T 2>&1)" = idle ]; }

# lab_alive PID: a process that is no zombie
lab_alive() { [ -n "$1" ] && [ -e "/proc/$1" ] && ! grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null; }

# lab_client COMMAND...: a client command as root
lab_client() { "${lab_root[@]}" "$@"; }

# lab_as_user COMMAND...: as the jobs' user, in the directory of the jobs. For a
# client in the background that is to get signals, take the prefix itself, so
# that $! is not a shell: "${lab_user[@]}" srun ... &
lab_as_user() { "${lab_user[@]}" "$@"; }

lab_srun() {
    lab_repeat=(lab_as_user srun "$@")
    lab_as_user srun "$@"
}

# lab_sbatch ARG...: prints the job's number
lab_sbatch() { lab_as_user sbatch --parsable "$@"; }
# (it runs in a subshell: a test that looks for leaks of a batch job sets lab_repeat itself)

# lab_wait_job JOBID [SECONDS]: until the job has left the queue
lab_wait_job() {
    lab_why="job $1 is still in the queue"
    lab_until "${2:-30}" lab_not_queued "$1" && lab_why=
}

lab_not_queued() {
    local line
    line=$(lab_client squeue -h -j "$1" 2>&1) || [[ $line == *"Invalid job id"* ]] || return 1
    [[ -z $line || $line == *"Invalid job id"* ]]
}

# lab_wait_idle [SECONDS]: until all nodes are idle and no job has a cgroup
lab_wait_idle() {
    lab_why="nodes are $(lab_node_states | tr '\n' ' ')"
    { lab_until "${1:-20}" lab_idle || { lab_forgive && lab_idle; }; } && lab_why=
}

# lab_forgive: Slurm itself leaves the empty freezer directory of a job now and then
# (22.05 on v1, without any plugin: 1 of 3012 steps), when a thread of slurmstepd is
# still on its way out of it at the only rmdir there is. One in a lab is reported and
# removed, but only when the same step, run three times more, leaves nothing: a leak of
# ours would come again.
lab_forgive() {
    local left
    left=$(lab_cgroups | grep -v '/freezer/[^/]*/uid_[0-9]*$')
    [ -z "$lab_forgiven" ] && [[ $left =~ ^[^[:space:]]*/freezer/[^/]*/uid_[0-9]*/job_[0-9]*$ ]] &&
        rmdir "$left" 2>/dev/null && lab_repeats_cleanly && lab_forgiven=$left &&
        echo "# Slurm has left $left, which was empty; the step again, three times: nothing left"
    rmdir "${left%/*}" 2>/dev/null
    [ -n "$left" ] && [ "$lab_forgiven" = "$left" ]
}

lab_repeats_cleanly() {
    local _
    for _ in 1 2 3; do
        [ ${#lab_repeat[@]} = 0 ] || "${lab_repeat[@]}" >/dev/null 2>&1 </dev/null
        lab_until 20 lab_no_cgroups || return
    done
}

lab_idle() {
    local states
    states=$(lab_node_states) || return
    [ -z "$(awk '$2 != "idle"' <<<"$states")" ] && [ -z "$(lab_cgroups)" ]
}

# lab_node_states: a line for each node: name, state, reason
lab_node_states() { lab_client sinfo -h -N -o '%N %T %E'; }

# lab_job JOBID FIELD: of scontrol show job, such as JobState or ExitCode
lab_job() {
    lab_client scontrol show job "$1" | tr -s ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

lab_cgroup_roots() {
    local node
    for node in "${lab_nodes[@]}"; do
        find $lab_mount/*/ -maxdepth 1 -type d \
            \( -name "slurm_$node" -o -name "${node}_slurmstepd.scope" \) 2>/dev/null
    done | sort -u
}

# lab_cgroups: the directories of the lab's users, jobs, steps and tasks; on v2
# the node's own are beside those of the jobs
lab_cgroups() {
    local root
    lab_cgroup_roots | while read -r root; do
        find "$root" -mindepth 1 \( -path "$root/system" -o -path "$root/slurmd" \) -prune \
            -o -mindepth 1 -type d -print 2>/dev/null
    done
}

# lab_stepds: pids of the lab's slurmstepds. Their title covers their
# environment, but they are in slurmd's directory.
# (So is what they have forked, as long as it has not called exec.) On v2 one
# that holds the scope may stay between jobs.
lab_stepds() {
    local pid
    for pid in $(pgrep -x slurmstepd); do
        ! grep -qs '_slurmstepd.scope/system$' "/proc/$pid/cgroup" || continue
        [[ $(readlink "/proc/$pid/cwd")/ != "$lab_dir"/* ]] || echo "$pid"
    done
}

# lab_processes: pids of all that is of the lab: daemons, clients and tasks by
# their environment, stepds, and whatever is in its cgroups
lab_processes() {
    local root pid
    [ -n "$lab_dir" ] || return 0
    {
        grep -lzxF "SLURM_CONF=$lab_conf" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3
        lab_stepds
        lab_cgroup_roots | while read -r root; do
            find "$root" -name cgroup.procs -exec cat {} + 2>/dev/null
        done
    } | sort -un | while read -r pid; do
        ! lab_alive "$pid" || echo "$pid"
    done
}

# lab_describe PID...: for messages
lab_describe() {
    local pid
    for pid; do echo "$pid ($(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null))"; done
}

# lab_stop: ends the lab. 1 if jobs did not leave a clean machine: $lab_why says
# what was left, and it has been removed all the same.
lab_stop() {
    local name left=
    [ -n "$lab_dir" ] || return 0
    lab_end_jobs || left="$lab_why; "
    for name in "${!lab_pid[@]}"; do [[ $name != slurmd.* ]] || kill -TERM "${lab_pid[$name]}"; done 2>/dev/null
    for name in "${!lab_pid[@]}"; do [[ $name != slurmd.* ]] || lab_end "$name"; done
    for name in slurmctld slurmdbd mariadbd munged; do lab_end "$name"; done
    lab_sweep || left+="$lab_why"
    if [ -n "$(lab_processes)$(lab_cgroup_roots)" ]; then
        left+="; still there: $(lab_processes) $(lab_cgroup_roots)"
    fi
    rm -rf "$lab_dir"
    lab_dir=
    lab_forgiven=
    lab_repeat=()
    lab_nodes=()
    lab_pid=()
    lab_why=$left
    [ -z "$left" ]
}

# Jobs are cancelled and get 10 s, a little more than KillWait and the second
# look of proctrack. What is there of their cgroups a while after the queue is
# empty is a leak: nobody comes back for it.
lab_end_jobs() {
    local jobs
    lab_alive "${lab_pid[slurmctld]:-}" || return 0
    jobs=$(lab_client squeue -h -o %A 2>/dev/null)
    # shellcheck disable=SC2086 # one word each
    [ -z "$jobs" ] || lab_client scancel --full $jobs 2>/dev/null
    lab_until 10 lab_no_jobs
    { lab_until 3 lab_no_cgroups || { lab_forgive && lab_no_cgroups; }; } && return 0
    lab_why="cgroups of jobs left: $(lab_cgroups | tr '\n' ' ')"
    return 1
}

lab_no_jobs() { [ -z "$(lab_client squeue -h -o %A)" ]; }
lab_no_cgroups() { [ -z "$(lab_cgroups)" ]; }

# lab_end NAME: TERM, wait, KILL
lab_end() {
    local pid=${lab_pid[$1]:-}
    lab_alive "$pid" || return 0
    kill -TERM "$pid" 2>/dev/null
    lab_until 10 lab_gone "$pid" || kill -KILL "$pid"
    lab_until 5 lab_gone "$pid"
}

lab_gone() { ! lab_alive "$1"; }

# Whatever is left of the lab's own: processes by pid, its nodes' cgroups.
lab_sweep() {
    local pids root status=0
    # a client whose cluster has gone ends by itself
    lab_until 1 lab_no_processes
    pids=$(lab_processes)
    if [ -n "$pids" ]; then
        # shellcheck disable=SC2086 # one word each
        lab_why="killed $(lab_describe $pids | tr '\n' ' ')"
        # shellcheck disable=SC2086
        kill -KILL $pids 2>/dev/null
        lab_until 5 lab_no_processes
        status=1
    fi
    lab_cgroup_roots | while read -r root; do
        lab_until 5 lab_remove_cgroup "$root"
    done
    # unless another lab is in it by now
    [ -z "$lab_slice_made" ] || rmdir "$lab_slice" 2>/dev/null
    lab_slice_made=
    return $status
}

lab_no_processes() { [ -z "$(lab_processes)" ]; }

lab_remove_cgroup() {
    find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
    [ ! -e "$1" ]
}

# lab_log [LINES]: the ends of the daemons' logs, as TAP comments
lab_log() {
    local file
    [ -n "$lab_dir" ] || return 0
    for file in "$lab_dir"/log/*; do
        [ -s "$file" ] || continue
        echo "# --- ${file##*/}"
        tail -n "${1:-20}" "$file" | sed 's/^/# /'
    done
}

# lab_dbd: MariaDB and slurmdbd with the cluster, an account 'lab' and the jobs'
# user in it. lab_start dbd=yes calls it before slurmctld.
lab_dbd() {
    local socket=$lab_dir/db/socket
    mkdir "$lab_dir/db"
    lab_why="mariadb-install-db failed"
    mariadb-install-db --no-defaults --user=root --datadir="$lab_dir/db/data" --skip-test-db \
        --auth-root-authentication-method=socket >"$lab_dir/log/mariadb-install" 2>&1 ||
        return
    lab_daemon mariadbd mariadbd --no-defaults --user=root --datadir="$lab_dir/db/data" \
        --socket="$socket" --pid-file="$lab_dir/db/pid" --skip-networking --skip-log-bin \
        --innodb-buffer-pool-size=32M --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=0
    lab_up mariadbd 30 mariadb --no-defaults -S "$socket" -e 'select 1' || return
    cat >"$lab_dir/slurmdbd.conf" <<END
AuthType=auth/munge
AuthInfo=socket=$lab_dir/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((lab_port + 1))
SlurmUser=root
PidFile=$lab_dir/slurmdbd.pid
LogFile=$lab_dir/log/slurmdbd
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
END
    chmod 600 "$lab_dir/slurmdbd.conf"
    # it reads its own file beside slurm.conf, and the socket's place from here
    lab_daemon slurmdbd env MYSQL_UNIX_PORT="$socket" slurmdbd -D
    lab_up slurmdbd 30 lab_client sacctmgr -n show cluster || return
    lab_why="sacctmgr failed"
    lab_client sacctmgr -i add cluster lab >"$lab_dir/log/sacctmgr" 2>&1 &&
        lab_client sacctmgr -i add account lab cluster=lab >>"$lab_dir/log/sacctmgr" 2>&1 &&
        lab_client sacctmgr -i add user "${lab_opt[user]}" account=lab cluster=lab \
            >>"$lab_dir/log/sacctmgr" 2>&1 && lab_why=
}

# lab_sacct JOBID FORMAT [ARG...]: what the database has of an ended job, with
# bars between the fields; slurmctld sends it some seconds later
lab_sacct() {
    local job=$1 format=$2
    shift 2
    lab_why="no end of job $job in the database"
    lab_until 20 lab_in_database "$job" || return
    lab_why=
    lab_client sacct -anP -j "$job" -o "$format" "$@"
}

lab_in_database() {
    [[ $(lab_client sacct -anXP -j "$1" -o State,End) =~ ^[A-Z]{3}.*\|[0-9] ]]
}
