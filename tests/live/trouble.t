#!/bin/bash
# Bad weather: whatever happens to the profiler, the command runs, its status
# is its own, and what was measured is kept.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 34
cd "$work" || exit 1

if ! is_root; then
    skip 34 "not root"
    exit 0
fi

# --- where the files cannot be ---
mkdir closed && chmod 755 closed
err=$(as_user "$profres" run -d closed/x -- sh -c 'exit 4' 2>&1)
is "an unwritable directory does not change the exit status" $? 4
like "... it is said" "$err" "*cannot make closed/x*Permission denied*measuring without files*"
like "... and the summary is printed all the same" "$err" "*elapsed*exit 4*"
err=$("$profres" run -d deep/er/still -- true 2>&1)
is "a missing directory is made" $? 0
ok "... with its files" test -s deep/er/still/0/*.json
echo file >occupied
err=$("$profres" run -d occupied -- sh -c 'exit 5' 2>&1)
is "a file in the directory's place" $? 5
like "... is said" "$err" "*cannot make occupied*"
mkdir target && mkdir linked && ln -s ../target linked/0
err=$("$profres" run -d linked -- true 2>&1)
ok "a planted link is not followed" test -z "$(ls target)"
mkdir -p fifo/0
node=$(uname -n)
mkfifo "fifo/0/${node%%.*}.jsonl"
timeout 20 "$profres" run -d fifo -- sh -c 'exit 6' 2>err
is "a FIFO in the file's place does not hold us" $? 6

# --- a full disk: a tmpfs of our own, in a mount namespace of our own ---
mkdir full
cat >full.sh <<'EOF'
mount -t tmpfs -o size=64k tmpfs full || exit 77
head -c 60000 /dev/zero >full/ballast
"$1" run -i 0.1 -w 0.2 -d full/x -- sh -c 'awk "BEGIN { for (i = 0; i < 20000000; i++) x += i }"; exit 8' 2>err
status=$?
ls -la full full/x/0 >listing 2>&1
cp full/x/0/*.jsonl kept.jsonl 2>/dev/null
exit $status
EOF
unshare -m bash full.sh "$profres"
status=$?
if [ $status = 77 ]; then
    skip 4 "no tmpfs can be mounted"
else
    is "a full disk does not change the exit status" $status 8
    like "... it is said once" "$(grep -c 'No space left' err)" "[12]"
    like "... the summary is printed from memory" "$(cat err)" "*elapsed*exit 8*CPU*"
    ok "... and what fits is whole lines" bash -c '! test -s kept.jsonl || test -z "$(tail -c 1 kept.jsonl)"'
fi

# --- the sampler dies ---
written() { test -s "$(summary "$1")"; } # the name is looked for at every try
find_sampler() { pgrep -P "$1" -x profres-sampler; }
"$profres" run -i 0.1 -w 0.2 -d killed -- sh -c 'while [ ! -e go ]; do sleep 0.05; done; exit 9' 2>err &
runner=$!
started+=("$runner")
until_true 20 written killed
until_true 20 jq_true '.num_windows > 1' "$(summary killed)"
kill -KILL "$(find_sampler $runner)"
until_true 20 grep -q 'sampler has ended' err
touch go
wait $runner
is "a killed sampler does not change the exit status" $? 9
like "... what it had is shown as incomplete" "$(cat err)" "*INCOMPLETE*"
is "... the file says LIVE" "$(jq -r .state "$(summary killed)")" LIVE
ok "... no cgroup is left" test -z "$(find /sys/fs/cgroup -name "profres-$runner" 2>/dev/null)"
rm -f go

# --- the sampler stops answering ---
"$profres" run -i 0.1 -w 0.2 -d stopped -- sh -c 'while [ ! -e go ]; do sleep 0.05; done; exit 10' 2>err &
runner=$!
started+=("$runner")
until_true 20 written stopped
sampler=$(find_sampler $runner)
started+=("$sampler")
kill -STOP "$sampler"
touch go
ok "a stopped sampler does not hold us for ever" until_true 30 bash -c "! kill -0 $runner 2>/dev/null"
wait $runner
is "... and does not change the exit status" $? 10
kill -CONT "$sampler" 2>/dev/null
kill -KILL "$sampler" 2>/dev/null
rm -f go

# --- SIGTERM to the sampler: it finishes ---
"$profres" run -q -i 0.1 -d asked -- sh -c 'while [ ! -e go ]; do sleep 0.05; done' 2>err &
runner=$!
started+=("$runner")
until_true 20 written asked
kill -TERM "$(find_sampler $runner)"
ok "a sampler asked to end finishes its files" until_true 20 jq_true '.state == "COMPLETE" and .n_pending > 0' "$(summary asked)"
touch go
wait $runner
rm -f go

# --- profres itself is killed: the command runs on, the profile is finished ---
"$profres" run -q -i 0.1 -d orphan -- sh -c 'while [ ! -e go ]; do sleep 0.05; done; touch lived' 2>err &
runner=$!
until_true 20 written orphan
kill -KILL $runner
wait $runner 2>/dev/null
ok "without profres the sampler finishes" until_true 20 jq_true '.state == "COMPLETE"' "$(summary orphan)"
touch go
ok "... and the command runs on" until_true 20 test -e lived
until_true 20 bash -c "! find /sys/fs/cgroup -path '*profres-$runner/cgroup.procs' -exec cat {} + | grep -q ."
find /sys/fs/cgroup -depth -type d -name "profres-$runner" -exec rmdir {} \; 2>/dev/null
rm -f go

# --- a missing sampler ---
mkdir alone && cp "$profres" alone/
err=$(alone/profres run -d alone/x -- sh -c 'exit 11' 2>&1)
status=$?
if [ -x "$(strings -a "$profres" 2>/dev/null | grep -m1 'libexec/profres$')/profres-sampler" ]; then
    skip 2 "a sampler is installed on this machine"
else
    is "without a sampler the command runs" $status 11
    like "... unmeasured, and that is said" "$err" "*runs unmeasured*"
fi

# --- the cgroup is removed under us ---
cat >leave.sh <<'EOF'
for file in $(awk -F: '{ print $2 ":" $3 }' /proc/self/cgroup | grep profres-); do
    controller=${file%%:*} path=${file#*:}
    dir=/sys/fs/cgroup/${controller:-unified}
    [ -d "$dir$path" ] || dir=/sys/fs/cgroup
    echo $$ >"$dir${path%/profres-*}/cgroup.procs" && rmdir "$dir$path"
done
awk 'BEGIN { for (i = 0; i < 30000000; i++) x += i }'
exit 12
EOF
"$profres" run -i 0.1 -d removed -- sh leave.sh 2>err
is "a cgroup removed mid-run does not change the exit status" $? 12
like "... it is said" "$(cat err)" "*cgroup was removed while it ran*"
ok "... and is an event" jq_true -s 'any(.[]; .event == "cgroup_gone")' removed/0/*.jsonl

# --- hidepid: the command's own processes are visible to its user ---
cat >hide.sh <<'EOF'
mount -t proc -o hidepid=2 proc /proc || exit 77
cd "$2" && setpriv --reuid=65534 --regid=65534 --clear-groups -- "$1" run -q -d hidden -- sh -c 'sleep 0.3; exit 13'
EOF
mkdir hide && chmod 777 hide
unshare -m --pid --fork bash hide.sh "$profres" "$work/hide" 2>err
status=$?
if [ $status = 77 ]; then
    skip 2 "proc cannot be mounted with hidepid"
else
    is "hidepid=2: the command runs" $status 13
    ok "... and its processes are seen" jq_true '.processes.seen >= 2' "$(summary hide/hidden)"
fi

# --- out of memory, counted by the kernel ---
cat >oom.sh <<'EOF'
memory=$(awk -F: '$2 == "memory" { print "/sys/fs/cgroup/memory" $3 }' /proc/self/cgroup)
if [ -e "$memory/memory.limit_in_bytes" ]; then
    echo 48M >"$memory/memory.limit_in_bytes" || exit 77
    echo 48M >"$memory/memory.memsw.limit_in_bytes" 2>/dev/null
else
    memory=/sys/fs/cgroup$(awk -F: '$1 == 0 { print $3 }' /proc/self/cgroup)
    echo 48M >"$memory/memory.max" || exit 77
fi
# one that was never seen could not be named
(exec awk 'BEGIN {
    while (n++ < 200 && system("grep -qs awk oom/0/*.jsonl || { sleep 0.05; false; }") != 0)
        ;
    s = "x"
    while (1)
        s = s s
}') &
wait $!
exit 14
EOF
"$profres" run -w 0.5 -d oom -- sh oom.sh 2>err
status=$?
if [ $status = 77 ]; then
    skip 5 "no memory controller of one's own"
else
    is "the OOM killer takes a child, the command's status is kept" $status 14
    is "the kill is counted" "$(measured oom cgroup_oom_kills total)" 1
    is "the limit is known" "$(measured oom cgroup_mem_limit last)" $((48 << 20))
    ok "the victim is named" jq_true -s 'any(.[]; .event == "oom" and .kills == 1 and any(.gone[]; .comm | test("awk")))' oom/0/*.jsonl
    like "it is said loudly" "$(cat err)" "*OOM*1 process killed*"
fi
