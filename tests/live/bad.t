#!/bin/bash
# Files as no one should have to read them: what a report says of each, and that
# it ends. The profile is of a real run; the damage is done to copies of it.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 38
cd "$work" || exit 1
export TZ=UTC0
unset PROFRES_PATH
report() { timeout 60 "$profres" report --no-sacct "$@"; }

"$profres" run -q -i 0.1 -w 0.2 -d slurm-1.profres -- sh -c 'sleep 0.7'
good=slurm-1.profres/0
node=$(basename "$good"/*.jsonl .jsonl)
windows=$(grep -c '"type":"usage"' "$good/$node.jsonl")

# copy JOB: a job of its own to spoil; $series and $summary are its files
copy() {
    rm -rf "slurm-$1.profres"
    cp -r slurm-1.profres "slurm-$1.profres"
    series=slurm-$1.profres/0/$node.jsonl
    summary=slurm-$1.profres/0/$node.json
    edit ".info.job = \"$1\""
}
edit() { jq "$1" "$summary" >edited && mv edited "$summary"; }
times() { report --by=time -nP -o From "$1" 2>err | wc -l; }

ok "there is something to spoil" test "$windows" -ge 3
is "as it is: a row for each window" "$(times 1)" "$windows"
is "... and no complaint" "$(cat err)" ""

# --- half written ---
summary=$good/$node.json
edit '.info.job = "1"'
copy 2
size=$(stat -c %s "$series")
truncate -s $((size - 300)) "$series"
like "a torn last line loses only itself" "$(times 2)" "$((windows - 1))"
like "... the report is there" "$(report 2 2>&1)" "*job  *2,*verdict*memory*"
copy 2
truncate -s 2000 "$summary"
out=$(report 2 2>err)
is "half a summary: nothing to report, a failure" "$?/$out" "1/"
like "... said in words" "$(cat err)" "*slurm-2.profres/0/$node.json is cut off or damaged*"
rm "$summary"
out=$(report 2 2>&1)
like "without a summary, with a series" "$?/$out" "1/*slurm-2.profres/0/$node.json is not there, only the series*"

# --- bytes ---
copy 3
printf '{"type":"usage","ts":"x\0y","from":0,"to":1,"measurements":{"cgroup_mem_current":1}}\n\0\0\0\n' >>"$series"
printf '{"type":"event","t":1,"event":"\xff\xfe\xc0\x80"}\n\xff\xff\n' >>"$series"
like "NUL and bytes that are no UTF-8" "$(times 3)" "[$windows-$((windows + 1))]"
out=$(report 3 2>&1)
is "... are no failure of the report" "$?" 0
ok "... nor in its output" iconv -f UTF-8 -t UTF-8 -o /dev/null <<<"$out"
copy 4
{
    printf '{"type":"event","t":1,"event":"'
    head -c 10000000 /dev/zero | tr '\0' x
    printf '"}\n'
    printf '{"type":"usage","ts":"2026-11-10T12:00:00.000Z","from":5,"to":6,"num_samples":1,"measurements":{"cgroup_mem_current":4096}}\n'
    head -c 10000000 /dev/zero | tr '\0' '['
} >>"$series"
is "a line of 10 MB is passed over, what is behind it is read" "$(times 4)" $((windows + 1))
out=$(report 4 2>&1)
is "... by the report, too" "$?" 0
copy 5
printf '%s\n' '{"type":"usage"' '[1,2' 'null' '"' '{"type":"usage","measurements":7,"samples":[],"processes":{}}' \
    '{"type":"usage","from":"x","to":null,"processes":[[],[1],"x"],"rows":{"command":[null],"task":7}}' >>"$series"
out=$(report 5 2>&1)
is "lines that are no JSON, or not what they say" "$?" 0
report --by=process -nP 5 >/dev/null 2>&1
is "... by process" "$?" 0

# --- of another version ---
copy 6
sed -i 's,profres-series/2\.[0-9]*,profres-series/2.99,' "$series"
echo '{"type":"later","ts":"2026-11-10T12:00:00.000Z","what":[{"a":1}]}' >>"$series"
edit '.schema = "profres-summary/2.99" | .later = {"a": [1, {"b": null}]}'
like "additions of a later version are read over" "$(report 6 2>err)" "*job  *6,*"
is "... all windows, too" "$(times 6)" "$windows"
edit '.schema = "profres-summary/1.0"'
out=$(report 6 2>err)
is "a later major version is refused" "$?/$out" "1/"
like "... with what to do" "$(cat err)" "*schema*does not know*newer profres*"
copy 6
sed -i 's,profres-series/2\.[0-9]*,profres-series/3.0,' "$series"
is "a series of a later major version is not read" "$(times 6)" 0
like "... with words" "$(cat err)" "*the schema of its series is not known to this version*"

# --- two of one number ---
copy 7
cp "$summary" "slurm-7.profres/0/other.json"
edit '.info.allocation.cluster = "blue"'
summary=slurm-7.profres/0/other.json
edit '.info.allocation.cluster = "green" | .info.node = "other"'
out=$(report 7)
is "two clusters' jobs of one number are two reports" "$(grep -c '^ *job ' <<<"$out")" 2
like "... each with its cluster" "$(grep '^ *job ' <<<"$out" | sort)" "*on blue*on green"

# --- time ---
copy 8
jq -c 'if .type == "usage" then .ts = "2001-01-01T00:00:00.000Z" else . end' "$series" >edited &&
    mv edited "$series"
backwards=$(jq -c 'select(.type == "usage") | .from = 0.1 | .to = 0.05' "$series" | head -n 1)
echo "$backwards" >>"$series"
edit '.ts = "2001-01-01T00:00:00.000Z" | .info.start = "2026-11-10T12:00:00.000Z" | .state = "LIVE"'
out=$(report 8 2>&1)
is "clocks that went back" "$?" 0
ok "... give no time below zero" bash -c '! grep -qE "(^|[^0-9A-Za-z.-])-[0-9]" <<<"$1"' - "$out"
ok "... nor by window" bash -c '! cut -d"|" -f3 <<<"$1" | grep -q "^-"' - \
    "$(report --by=time -nP -o From,To,Elapsed 8 2>/dev/null)"

# --- not all of it ---
copy 9
edit '.info.allocation = {job_id: 9, nodes: 3}'
out=$(report 9)
like "a node without a profile is told" "$out" "*1 of 3 nodes*"
like "... by ls, too" "$("$profres" ls -nP -o NNodes,NNodesGiven,Verdict 9)" "1|3|incomplete"
rm "$series"
out=$(report 9 2>&1)
is "without a series" "$?" 0
like "... what the summary has" "$out" "*memory*"
mkfifo "$series"
out=$(report 9 2>&1)
is "a pipe in its place does not hold us" "$?" 0

# --- somebody else's ---
copy 10
if is_root; then
    chmod 755 "$work"
    chmod -R a+rX slurm-1.profres slurm-10.profres
    chmod 600 "$series"
    out=$(as_user timeout 20 "$profres" report --no-sacct 10 2>&1)
    is "a series that may not be read" "$?" 0
    like "... is not needed" "$out" "*job *10,*memory*"
    chmod 600 "$summary"
    out=$(as_user timeout 20 "$profres" report --no-sacct 10 slurm-1.profres 2>err)
    is "a summary that may not" "$?" 1
    like "... is passed over" "$out" "*job *1,*"
    like "... and named, with its owner" "$(cat err)" "*slurm-10.profres/0/*Permission denied (it is root's)*"
else
    skip 5 "not root"
fi

# --- long ---
copy 11
head -n 1 "$series" >long
awk 'BEGIN { for (i = 0; i < 1000000; i++)
    printf "{\"type\":\"usage\",\"ts\":\"2026-11-10T12:00:00.000Z\",\"from\":%d,\"to\":%d,\"num_samples\":1," \
           "\"measurements\":{\"cgroup_mem_current\":%d}}\n", i, i + 1, 4096 + i }' >>long
mv long "$series"
out=$(ulimit -v 65536 && report 11 2>&1)
is "a million lines in 64 MB of address space" "$?" 0
is "... row by row" "$(ulimit -v 65536 && report --by=time -nP -o cgroup_mem_current 11 2>&1 | tail -n 1)" \
    $((4096 + 999999))
