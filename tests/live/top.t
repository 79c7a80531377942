#!/bin/bash
# profres top as a person meets it: on a terminal (tmux's), in a script, and when
# something is wrong with what it looks at.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 55
cd "$work" || exit 1
escape=$'\e'

# --- called wrongly, or for nothing ---
"$profres" top --help >out
is "--help is on one screen" "$(awk 'length > 85 { wide = 1 } END { print (NR <= 24 && !wide) }' out)" 1
"$profres" top 2>err
is "no job is 2" $? 2
like "... and says how" "$(cat err)" "*profres top 4711*"
for wrong in -d0 '-d x' -n0 '-p cores' '-s size' '-w x' --no-such; do
    # shellcheck disable=SC2086 # two words
    "$profres" top $wrong x 2>err
    [ $? = 2 ] && [ -s err ] || echo "# $wrong: not refused"
done >refused
is "options that make no sense are refused" "$(cat refused)" ""
"$profres" top nonsense 2>err
is "a name that is neither job nor path is 2" $? 2
"$profres" top -b -w 0.3 ./nowhere >out 2>err
is "nothing there by then is 1" $? 1
like "... said while it waits" "$(cat out)" "waiting for a profile of ./nowhere*"
like "... and at the end" "$(cat err)" "*there is no profile in './nowhere'*"

# --- a step to look at: 60 MiB, a core, and an argument that a terminal must not see ---
cat >hold <<'SCRIPT'
#!/bin/sh
# hold STOP: until that file is there
yes >/dev/null &
busy=$!
{ head -c 60M /dev/zero; while [ ! -e "$1" ]; do sleep 0.1; done; } | tail -c 60M >/dev/null
kill $busy
SCRIPT
chmod 755 hold
# hold DIR STOP [ARG]: a step that runs until the file STOP is there
hold() {
    "$profres" run -q --mode=0644 -i 0.2 -w 1 -d "$1" -- ./hold "$2" "${3:-}" &
    runner=$!
    started+=("$runner")
}
# let_go STOP: whatever happens, nothing of it is left running
let_go() {
    touch "$1"
    wait "$runner"
}
has_window() { grep -q '"type":"usage"' "$1"/0/*.jsonl; }
filled() { jq_true '.measurements.cgroup_mem_current.last // .measurements.ps_rss_total.last // 0 > 6e7' "$(summary "$1")"; }

hold live stop $'\e]0;owned\a\e[2J'
until_true 30 has_window live
until_true 30 filled live
TERM=dumb LC_ALL=C "$profres" top -d 0.5 -n 3 live >out 2>err </dev/null
is "a dumb terminal gets frames, and as many as wanted" "$?:$(grep -c '^live.0  LIVE' out):$(cat err)" "0:3:"
is "... of no byte that is not ASCII in the C locale" "$(LC_ALL=C grep -c $'[\x80-\xff]' out)" 0
ok "... and none that a terminal would obey" test "$(tr -d '\n -~' <out | wc -c)" = 0
like "... though the command has some" "$(cat out)" '*hold stop *owned*'
shown=$(sed -n 's/^mem .*\] \([0-9.]*\)M .*/\1/p' out | tail -n 1)
near "the memory shown is the summary's, in MiB" "$shown" \
    "$(jq '(.measurements.cgroup_mem_current.last // .measurements.ps_rss_total.last) / 1048576' "$(summary live)")" 3
near "... and it is what the command holds" "$shown" 62 6
cores=$(sed -n 's/^cpu .*\] \([0-9.]*\) of .*/\1/p' out | tail -n 1)
near "the cores shown are those of the newest window" "$cores" \
    "$(tail -n 2 live/0/*.jsonl | jq -s 'map(select(.type == "usage")) | last | (.measurements.cgroup_pdcpu // .measurements.ps_pdcpu_total) / 100')" 0.6
ok "... as bars" grep -q '^cpu  \[#' out
like "the processes are listed" "$(cat out)" "*COMMAND*yes*tail -c 60M*"
"$profres" top -b -n 1 -p tasks live >out
like "so are the tasks" "$(cat out)" "*RANK*running*"
"$profres" top -b -n 1 -p n -s mem live/0 >out
like "so are the nodes, of a step by its path" "$(cat out)" "*OF LIMIT*LIVE*"
if LC_ALL=C.UTF-8 locale charmap 2>/dev/null | grep -qx UTF-8; then
    like "blocks where the locale has them" "$(LC_ALL=C.UTF-8 "$profres" top -b -n 1 live)" '*█*'
else
    skip 1 "no locale C.UTF-8"
fi
is "lines are no longer than the terminal" \
    "$(COLUMNS=40 LC_ALL=C "$profres" top -b -n 1 live | awk 'length > 40')" ""
is "with mode=0644, one that is not root reads as well" \
    "$(if is_root; then as_user "$profres" top -b -n 1 live; else "$profres" top -b -n 1 live; fi | grep -c LIVE)" 1

# --- a sampler that stands still ---
sampler=$(pgrep -P "$runner" -x profres-sampler)
frame_has() { "$profres" top -b -n 1 live | grep -qE "$1"; }
kill -STOP "$sampler"
ok "a stopped sampler is said to be STALE" until_true 60 frame_has '^live.0  STALE'
like "... loudly, with its age" "$("$profres" top -b -n 1 live)" "*STALE: nothing from * for [0-9]* s*"
kill -CONT "$sampler"
ok "... and not when it writes again" until_true 60 frame_has '^live.0  LIVE'

# --- on a terminal ---
socket=$work/tmux
tmux() { command tmux -f /dev/null -S "$socket" "$@"; }
# a session's name alone may mean something else: "top" is a place
screen() { tmux capture-pane -p "${@:2}" -t "=${1:-top}:"; }
press() { tmux send-keys -t "=$1:" "${@:2}"; }
resize() { tmux resize-window -t "=$1:" -x "$2" -y "$3"; }
shows() { screen "${2:-top}" | grep -qE -- "$1"; }
shows_not() { ! shows "$1"; }
# watch NAME COMMAND: in a terminal of 80x24, with its exit status at the end
watch() {
    tmux new-session -d -s "$1" -x 80 -y 24 "$2; echo \"status \$?\"; exec cat"
}
# wait_for TEXT PATTERN [NAME]: the screen shows it
wait_for() {
    count=$((count + 1))
    if until_true 30 shows "$2" "${3:-top}"; then
        echo "ok $count - $1"
    else
        failures=$((failures + 1))
        echo "not ok $count - $1"
        echo "# no '$2' on the screen:"
        screen "${3:-top}" | sed 's/^/# |/'
    fi
}

if ! type -P tmux >/dev/null; then
    skip 30 "no tmux"
    let_go stop
    exit 0
fi
locale=C
LC_ALL=C.UTF-8 command locale charmap 2>/dev/null | grep -qx UTF-8 && locale=C.UTF-8
export LC_ALL=$locale
watch top "env -u NO_COLOR '$profres' top -d 0.5 live"
started+=("$(tmux display -p '#{pid}')")
wait_for "a terminal of 80x24 shows the step" '^live.0  LIVE'
wait_for "... its memory" '^mem  \[.*60|^mem  \[.*6[0-9]\.'
wait_for "... the course of the last minutes" 's, up to [0-9.]*M'
wait_for "... processes" 'PID .*COMMAND'
wait_for "... and the keys" '^q quit  h help'
if screen top -e | grep -q "$escape\[3[0-8]m"; then
    ok "... in colours" true
else
    ok "... in colours" false
fi
ok "the screen has nothing of the argument but letters" shows_not owned$'\a'
press top t
wait_for "t: tasks" '^ RANK NODE'
press top n
wait_for "n: nodes" '^NODE +STATE'
press top p
wait_for "p: processes" '^ +PID S'
press top m
wait_for "m: sorted by memory" 'sorted by memory'
first_row() { screen | awk '/ PID S/ { getline; print $NF, $(NF - 1), $(NF - 2) }'; }
by_memory() { [[ $(first_row) == *60M* ]]; }
ok "... the largest first" until_true 10 by_memory
press top r
wait_for "r: reversed" 'sorted by memory, reversed'
press top h
wait_for "h: the keys explained" 'quit$'
wait_for "... to the last line" 'STALE: it should have written'
press top h
wait_for "h: and back" '^live.0  LIVE'
press top Down End PageUp Home '[' ']' f + - Space Tab F5 x
wait_for "other keys do no harm" '^live.0  LIVE'
resize top 20 5
is_small() { [ "$(screen | wc -l)" -le 5 ] && shows '^live.0  LIVE'; }
ok "20x5: what fits" until_true 20 is_small
resize top 1 1
resize top 120 40
wait_for "120x40 again" 'cores (on|alloc)'
wait_for "... to the last line" '^q quit'

watch bare "NO_COLOR=1 '$profres' top -d 0.5 live"
wait_for "NO_COLOR" '^live.0  LIVE' bare
is "... has none" "$(screen bare -e | grep -c "$escape\[[0-9;]*3[0-8]m")" 0
press bare q
wait_for "q quits with 0" '^status 0' bare
watch interrupted "'$profres' top -d 0.5 live"
wait_for "another one" '^live.0  LIVE' interrupted
press interrupted C-c
wait_for "^C quits, too" '^status 0' interrupted

# --- the end, and a beginning ---
watch waiting "'$profres' top -d 0.2 ./later"
wait_for "what has not begun is waited for" 'waiting for a profile of ./later' waiting
let_go stop
wait_for "it ends by itself" '^status 0'
wait_for "... with the verdict" '^ +verdict +ok'
hold later stop2
wait_for "what was waited for is shown" '^later.0  LIVE' waiting
let_go stop2
wait_for "... to its end" '^status 0' waiting
