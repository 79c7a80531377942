#!/bin/bash
# profres run as a person meets it: the command's exit status, streams and
# signals are its own, and nothing is left behind.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 50
cd "$work" || exit 1

cgroups_left() { find /sys/fs/cgroup -type d -name "profres-$1" 2>/dev/null; }

# --- exit status ---
"$profres" run -q -d a -- true
is "exit 0" $? 0
"$profres" run -q -d b -- sh -c 'exit 3'
is "exit 3 is kept" $? 3
is "... and recorded" "$(jq -c '.tasks[0].exit' "$(summary b)")" 3
"$profres" run -q -d c -- sh -c 'kill -KILL $$'
is "killed by 9 is 137" $? 137
is "... and recorded" "$(jq -c '.tasks[0] | [.signal, .exit]' "$(summary c)")" '[9,null]'
err=$("$profres" run -q -d none -- no-such-command-here 2>&1)
is "an unknown command is 127" $? 127
like "... says so" "$err" "*no-such-command-here*not found*"
ok "... and leaves nothing" test ! -e none
echo 'not a program' >plain
err=$("$profres" run -q -d none -- ./plain 2>&1)
is "a file that cannot be executed is 126" $? 126
"$profres" run -q -d none -i 0 -- true 2>err
is "a bad interval is 125" $? 125
like "... says what to write" "$(cat err)" "*interval '0'*500ms*"
"$profres" run -q -d none -m ps_rs -- touch ran 2>err
is "an unknown key is 125" $? 125
like "... names the nearest" "$(cat err)" "*ps_rss*"
ok "... and the command has not run" test ! -e ran
"$profres" run 2>err
is "no command is 125" $? 125

# --- streams ---
is "stdin and stdout are the command's" "$(echo hello | "$profres" run -d d -- cat 2>err)" hello
ok "the summary is at most ten lines" test "$(wc -l <err)" -le 10
for word in elapsed memory CPU processes samples files; do
    like "the summary speaks of $word" "$(cat err)" "*$word*"
done
"$profres" run -q -d e -- sh -c 'echo out; echo problem >&2' >out 2>err
is "quiet adds nothing to stderr" "$(cat err)" problem
is "... nor to stdout" "$(cat out)" out
ls -l /proc/self/fd >bare 2>&1
"$profres" run -q -d f -- sh -c 'ls /proc/self/fd | wc -l' >fds
is "no descriptor is inherited by the command" "$(cat fds)" "$(sh -c 'ls /proc/self/fd | wc -l')"
"$profres" run -q -d f2 -- grep -E 'Sig(Blk|Ign)' /proc/self/status >signals
is "nor a changed signal mask" "$(cat signals)" "$(grep -E 'Sig(Blk|Ign)' /proc/self/status)"

# --- signals ---
"$profres" run -q -d g -- sh -c 'trap "exit 7" TERM; touch up; while :; do sleep 0.05; done' &
runner=$!
started+=("$runner")
until_true 20 test -e up
kill -TERM $runner
wait $runner
is "SIGTERM is passed on" $? 7
ok "its cgroup is gone" test -z "$(cgroups_left $runner)"

# --- the default directory, the shape of the files ---
mkdir default && (cd default && "$profres" run -q -- true)
like "files go to run-PID.profres/0" "$(echo default/run-*.profres/0/*.json)" "default/run-[0-9]*.profres/0/*.json"
is "the state is COMPLETE" "$(jq -r .state default/run-*/0/*.json)" COMPLETE
is "the last line is final" "$(tail -n 1 default/run-*/0/*.jsonl | jq -r .type)" final
ok "no temporary file is left" test -z "$(find . -name '*.tmp')"

# --- what daemonises is seen, what stays is said ---
"$profres" run -d h -- sh -c 'setsid sh -c "exec sleep 30" & until pgrep -g 0 x >/dev/null || [ -n "$(pgrep -x sleep)" ]; do :; done; sleep 0.3' 2>err
is "a process that stays is pending" "$(jq .n_pending "$(summary h)")" 1
like "... and said so" "$(cat err)" "*1 process of the command is still running*"
sleeper=$(jq -r '.processes.top[] | select(.comm == "sleep" and (.ps_cmd | endswith("30"))) | .pid' "$(summary h)")
started+=("$sleeper")
ok "... and it lives on" kill -0 "$sleeper"
cage=$(jq -r '.info.cgroups[].path' "$(summary h)" | grep -o 'profres-[0-9]*' | sort -u)
is "its cgroup is gone all the same" "${cage:+$(find /sys/fs/cgroup -name "$cage" 2>/dev/null | wc -l)}" "${cage:+0}"
kill "$sleeper"

"$profres" run -q -d forks -- sh -c 'for k in 1 2 3; do (i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done) & done; sleep 0.1' &
runner=$!
started+=("$runner")
wait $runner
ok "also when what stays forks on and on" test -z "$(cgroups_left $runner)"

# --- by the process tree, as an ordinary user ---
mkdir user && chmod 777 user
if is_root; then
    as_user "$profres" run -q -d user/t -- sh -c '(setsid sh -c "sleep 0.4; awk \"BEGIN { for (i = 0; i < 30000000; i++) x += i }\"" &) ; sleep 1.2; :'
    is "an ordinary user is measured by the process tree" "$(jq -r .info.processes_from "$(summary user/t)")" "process tree"
    ok "an orphan is still of the tree" jq_true '[.instances.command[] | select(.id | test("awk"))] | length > 0' "$(summary user/t)"
    is "no cgroup key is there, each with its reason" \
        "$(jq -c '[([.measurements | keys[] | select(startswith("cgroup_"))] | length), (.info.unavailable.cgroup_mem_peak | contains("not scoped"))]' "$(summary user/t)")" '[0,true]'
    ok "its CPU is in rusage" test -n "$(measured user/t rusage_cpu_seconds max)"
    is "the files are the user's" "$(stat -c %u "$(summary user/t)")" 65534
    is "... and for nobody else" "$(stat -c %a user/t{,/0,/0/*} | sort -u | tr '\n' ' ')" "600 700 "
    as_user "$profres" run -q -d user/open --mode=0640 -- true
    is "... but --mode opens them to the group" "$(stat -c %a user/open{,/0,/0/*} | sort -u | tr '\n' ' ')" "640 750 "
    as_user "$profres" run -q -d user/bare -- sh -c 'tr "\0" " " </proc/$(pgrep -x profres-sampler -P $PPID)/cmdline; : secret' >said 2>&1
    is "the command is not an argument of the sampler" "$(grep -c secret said)" 0
    like "... but in the files" "$(jq -r '.info.command | join(" ")' "$(summary user/bare)")" "sh -c *secret"
    as_user "$profres" run -q -d user/named -m cgroup_mem_peak -- touch "$work/user/ran" 2>err
    is "a named key that cannot be had is 125" $? 125
    like "... says why" "$(cat err)" "*cgroup_mem_peak cannot be measured here*"
    ok "... and the command has not run" test ! -e user/ran
else
    skip 12 "not root"
fi
