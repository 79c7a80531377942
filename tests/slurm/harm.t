#!/bin/bash
# Whatever becomes of the sampler and its files, a step runs and ends as if the
# plugin were not there: its status is its own, srun ends, the node is idle, and
# no cgroup, process or temporary file is left.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin
mounted=()
unmount() {
    local dir
    for dir in "${mounted[@]}"; do umount "$dir" 2>/dev/null; done
    mounted=()
}
trap 'unmount; lab_finish' EXIT

start KillWait=1 debug=verbose

# The promise is that our hooks hold a step for less than 100 ms, whatever the sampler
# does. On a busy machine each wake-up comes late; bench/slurm.sh measures the promise
# there as a median. A slow guest waits as long as its patience= allows.
bound() {
    local load
    read -r load _ </proc/loadavg
    if [ "$lab_patience" -gt 1 ]; then
        echo $((2 * patience_ms))
    elif [ "${load%.*}" -lt "$(nproc)" ]; then
        echo 100
    else
        echo 250
    fi
}

# hooks: how long the hooks of the last step took, in ms, as the plugin counts it
hooks() {
    sed -n 's/.*the hooks of this step took \([0-9]*\) us.*/\1/p' "$lab_dir/log/slurmd.${lab_nodes[0]}" |
        tail -n +$((counted + 1))
}
counted=0

# run NAME COMMAND...: a step with files in NAME, that ends with status 3: held by us
# no longer than promised, and cleanly. (3 points; output in out and err)
run() {
    local name=$1 took
    shift
    [ "${lab_repeat[0]:-}" = lose ] || lab_repeat=(lab_as_user srun --profile-res="dir=$name" "$@")
    lab_as_user srun --profile-res="dir=$name" "$@" >out 2>err
    status=$?
    is "$name: the step's status is its own" $status 3
    lab_until 5 has_hooks
    took=$(hooks)
    counted=$((counted + $(wc -w <<<"$took")))
    ok "... the hooks hold it for less than $(bound) ms: $took us" \
        test "${took:-99999999}" -lt "$(bound)000"
    untouched
}
has_hooks() { [ -n "$(hooks)" ]; }

# untouched: nothing of a step is left (1 point)
untouched() {
    clean
    is "... nothing is left" "$?:$lab_why:$(samplers):$(find "$lab_home" -name '.*.tmp')" "0:::"
}

step=(sh -c 'sleep 0.3; exit 3')
run good "${step[@]}"

# --- no sampler, or one that does not work ---
use_plugin sampler="$lab_dir/bin/none"
run missing "${step[@]}"
like "... it is told once" "$(cat err)" "*profile-res: cannot run $lab_dir/bin/none: No such file*"
ok "... no files" test ! -e "$lab_home/missing"
use_plugin sampler=/bin/false
run crashing "${step[@]}"
like "... it is told once" "$(cat err)" "*profile-res: the sampler of step *.0 has ended early; the step goes on*"
cat >"$lab_dir/bin/stopped" <<EOF
#!/bin/sh
echo \$\$ >$lab_dir/stopped
kill -STOP \$\$
exec $lab_dir/bin/profres-sampler "\$@"
EOF
chmod 755 "$lab_dir/bin/stopped"
use_plugin sampler="$lab_dir/bin/stopped"
run stopped-before "${step[@]}"
gone() { ! lab_alive "$1"; }
ok "... nor the one that was stopped" lab_until 5 gone "$(cat "$lab_dir/stopped")"
printf '#!/bin/sh\necho $$ >%s\nexec sleep 60\n' "$lab_dir/stuck" >"$lab_dir/bin/stuck"
chmod 755 "$lab_dir/bin/stuck"
use_plugin sampler="$lab_dir/bin/stuck"
run stuck "${step[@]}"
is "... which was outside of the step" "$(grep -cE "/(uid|step)_" "/proc/$(cat "$lab_dir/stuck")/cgroup")" 0
use_plugin

# --- one that is lost ---
# meanwhile NAME SIGNAL: during a step, to its sampler
meanwhile() {
    local pid
    lab_until 10 test -s "$lab_home/$1.up"
    lab_until 5 a_sampler
    pid=$(samplers)
    kill "-$2" "$pid"
    echo "$pid" >"$work/$1.pid"
    touch "$lab_home/$1.on"
}
# shellcheck disable=SC2016 # the step's
waiting='echo >$0.up; until [ -e $0.on ]; do sleep 0.02; done; exit 3'
# lose SIGNAL: such a step once more, for lab_forgive
lose() {
    rm -f "$lab_home/$1".{up,on}
    meanwhile "$1" "$1" &
    lab_as_user srun --profile-res="dir=$1.again" sh -c "$waiting" "$1"
    wait $!
}
for signal in KILL STOP SEGV TERM; do
    lab_repeat=(lose "$signal")
    meanwhile "$signal" $signal &
    run "$signal" sh -c "$waiting" "$signal"
    wait $!
    ok "... nor the sampler" lab_until 5 gone "$(cat "$signal.pid")"
    case $signal in
    STOP) is "... which goes on at the end" "$(of STOP 0 '[.state, .tasks[0].exit] | tostring')" '["COMPLETE",3]' ;;
    KILL)
        like "... what slurmstepd has read is told" "$(cat err)" "*ended early*profres: *exit 3*peak, file cache included*CPU *INCOMPLETE*"
        is "... and written down" "$(jq -r '[.state, .tasks[0].exit] | tostring' "$lab_home"/KILL/0/*.lost.json)" '["LOST",3]'
        ;;
    *) like "... the user is told" "$(cat err)" "*profile-res: *ended early*" ;;
    esac
done
lab_repeat=()

# --- one that could not leave the step by itself: it was born outside ---
cat >"$lab_dir/bin/caught" <<EOF
#!/bin/sh
exec unshare -m sh -c '
    for d in /sys/fs/cgroup/ /sys/fs/cgroup/*/; do mount -o remount,bind,ro "\$d" 2>/dev/null; done
    exec "\$0" "\$@"' $lab_dir/bin/profres-sampler "\$@"
EOF
chmod 755 "$lab_dir/bin/caught"
readonly_dir=/sys/fs/cgroup
lab_unified || readonly_dir+=/freezer
if unshare -m mount -o remount,bind,ro $readonly_dir 2>/dev/null; then
    use_plugin sampler="$lab_dir/bin/caught"
    run caught "${step[@]}"
    is "... and measures" "$(of caught 0 '[.state, .tasks[0].exit] | tostring')" '["COMPLETE",3]'
    use_plugin
else
    skip 4 "cannot make cgroups read-only for one process"
fi

# --- one that cannot be put outside of the step does not run in it either ---
procs=/sys/fs/cgroup/freezer/slurm_${lab_nodes[0]}/cgroup.procs
if ! lab_unified && mount --bind "$procs" "$procs" && mounted+=("$procs") &&
    mount -o remount,bind,ro "$procs"; then
    run unmoved "${step[@]}"
    like "... the user is told" "$(cat err)" "*profile-res: the sampler cannot be put outside step *.0: *; the step is not measured*"
    ok "... no files" test ! -e "$lab_home/unmoved"
else
    skip 5 "cannot make a place outside of the step read-only"
fi
unmount

# --- files ---
mkdir "$lab_home/roots"
run roots "${step[@]}"
like "a directory of another user: the user is told" "$(cat err)" \
    "*profile-res: cannot make $lab_home/roots/0: Permission denied; measuring without files*"
is "... nothing is put there" "$(ls "$lab_home/roots")" ""
run /proc/none/at/all "${step[@]}"
like "... one that cannot be" "$(cat err)" "*profile-res: cannot make /proc/none*"
echo content >"$lab_home/file"
run file "${step[@]}"
is "... a file in its place is not touched" "$(cat "$lab_home/file")" content

lab_as_user mkdir target linked
lab_as_user ln -s target planted
run planted "${step[@]}"
like "... the user is told" "$(cat err)" "*profile-res: cannot make $lab_home/planted/0: *; measuring without files*"
lab_as_user ln -s ../target linked/0
run linked "${step[@]}"
is "a symbolic link as the directory of job or step is not followed" "$(ls "$lab_home/target")" ""
like "... the user is told" "$(cat err)" "*profile-res: cannot make $lab_home/linked/0: *; measuring without files*"
lab_as_user mkdir -p names/0 fifo/0
echo content >"$lab_home/target/victim"
chown nobody "$lab_home/target/victim"
node=${lab_nodes[0]}
for name in "$node.json" "$node.jsonl" ".$node.json.tmp"; do
    lab_as_user ln -s ../../target/victim "names/0/$name"
done
run names "${step[@]}"
is "a symbolic link as a file is not followed" "$(cat "$lab_home/target/victim")" content
is "... its place is the summary's" "$(stat -c %F "$lab_home/names/0/$node.json")" "regular file"
for name in "$node.json" "$node.jsonl" ".$node.json.tmp"; do
    lab_as_user mkfifo "fifo/0/$name"
done
run fifo "${step[@]}"
is "a FIFO in a file's place holds nobody" "$(stat -c %F "$lab_home/fifo/0/$node.json"{,l} | tr '\n' ' ')" \
    "regular file fifo "
like "... the user is told" "$(cat err)" "*profile-res: cannot write $node.jsonl: *"

# full from the start, and full before the end
mkdir "$lab_home/full" "$lab_home/fuller"
if mount -t tmpfs -o size=4k,mode=1777 none "$lab_home/full" 2>err &&
    mounted+=("$lab_home/full") &&
    mount -t tmpfs -o size=16k,mode=1777 none "$lab_home/fuller" 2>err; then
    mounted+=("$lab_home/fuller")
    run full "${step[@]}"
    like "... the user is told" "$(cat err)" "*profile-res: cannot write *: No space left on device*"
    run fuller "${step[@]}"
    unmount
else
    skip 7 "cannot mount a tmpfs: $(head -n 1 err)"
fi
is "all that was written is the user's" "$(find "$lab_home" -path '*/0/*' ! -user nobody)" ""
ok "what was no sampler has not stayed" lab_until 15 gone "$(cat "$lab_dir/stuck")"

plan $count
