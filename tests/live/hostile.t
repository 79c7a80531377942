#!/bin/bash
# What readers make of files that another user wrote to harm them: nothing of it
# acts on the terminal, and nothing outside of the named directory is touched.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 38
cd "$work" || exit 1
export TZ=UTC0 PYTHONIOENCODING=utf-8
unset PROFRES_PATH
not() { ! "$@"; }
hostile() { python3 "$here/hostile.py" "$@"; }
# shown WHAT COMMAND...: something is on stdout or stderr, and nothing harmful
shown() {
    local what=$1
    shift
    timeout 60 "$@" >out 2>&1
    is "$what" "$(hostile check <out)" ""
}

"$profres" run -q -i 0.1 -w 0.2 -d slurm-1.profres -- sh -c 'sleep 0.7'
cp -r slurm-1.profres slurm-2.profres
step=slurm-2.profres/0
node=$(basename "$step"/*.jsonl .jsonl)
jq -c '.info.allocation = {job_id: 2, job_name: "name", cluster: "c", user: "u", nodes: 2}
       | .info.reasons = {ps_pss: "why"} | .state = "LIVE"' "$step/$node.json" >edited
mv edited "$step/$node.json"
echo '{"type":"event","ts":"2026-11-10T12:00:00.000Z","t":0.1,"event":"phase","name":"a"}' \
    >>"$step/$node.jsonl"
hostile poison "$step/$node.json" "$step/$node.jsonl"
ok "there is something to be afraid of" grep -q $'\e' "$step/$node.jsonl"
is "... which the check sees" "$(hostile check <"$step/$node.jsonl" | grep -c U+001B)" 1

shown "report" "$profres" report --no-sacct "$step"
shown "report --why" "$profres" report --no-sacct --why "$step"
for by in job step node task process phase time; do
    shown "report --by=$by" "$profres" report --no-sacct --by=$by "$step"
done
shown "report --json" "$profres" report --no-sacct --json "$step"
shown "ls" "$profres" ls "$step"
shown "ls -P, every column" "$profres" ls -P -o ALL "$step"
shown "ls --group" "$profres" ls --group "$step"
shown "brief" "$profres" brief --chart "$step"
shown "plot as text" "$profres" plot -o - -f txt "$step"
shown "top" env TERM=dumb "$profres" top --frames=1 "$step"
for format in csv influx jsonl openmetrics; do
    shown "export $format" "$profres" export -f $format "$step"
done
mkdir prmon
"$profres" export -f prmon -o prmon "$step"
shown "export prmon" sh -c "cat prmon/*.txt | tr '\\t' ' '"

# --- schemas and names ---
mkdir -p $'slurm-3\e[31m.profres/0'
for file in json jsonl; do
    sed $'s,profres-[a-z]*/1[^"]*,x\x1b[31m/9.9,' "$step/$node.$file" \
        >$'slurm-3\e[31m.profres/0'/"$node.$file"
    cp "slurm-1.profres/0/$node.$file" $'slurm-3\e[31m.profres/0/n\e[31m.'"$file"
done
shown "a version that nobody knows" "$profres" export -f csv $'slurm-3\e[31m.profres'
shown "... in a report" "$profres" report --no-sacct $'slurm-3\e[31m.profres'
shown "a word that is none" "$profres" ls $'\e[31m/none'

# --- what is not a file of ours ---
mkdir loop && cd loop || exit 1
cp -r ../slurm-1.profres .
for i in $(seq 40); do ln -s . "s$i" && ln -s .. "slurm-1.profres/t$i"; done
is "links that lead in circles are not followed" \
    "$(timeout 20 "$profres" ls -nP -o JobID . | wc -l)/$?" "1/0"
ln -s slurm-1.profres named
is "... but the one that was named" "$(timeout 20 "$profres" ls -nP -o JobID named | wc -l)" 1
cd .. || exit 1

# A node is what its file is called. $elsewhere is a profile that the file points to.
cp -r slurm-1.profres slurm-4.profres
mkdir -p other/secret
cp "slurm-1.profres/0/$node.jsonl" other/secret/elsewhere.jsonl
echo '{"type":"event","ts":"2026-11-10T12:00:00.000Z","t":0.1,"event":"phase","name":"a"}' \
    >>other/secret/elsewhere.jsonl
jq '.info.node = "../../other/secret/elsewhere"' "slurm-1.profres/0/$node.json" \
    >"slurm-4.profres/0/$node.json"
is "a node is named by its file" "$("$profres" ls -nP -o Node slurm-4.profres)" "$node"
"$profres" report --no-sacct --exact slurm-4.profres >out 2>&1
is "... not by what is in it" "$(grep -c elsewhere out)" 0

# opened FILE COMMAND...: how often the command opens it
opened() {
    local file=$1
    shift
    timeout 60 strace -f -qq -e trace=open,openat -o trace "$@" >/dev/null 2>&1
    grep -F "$file" trace | grep -vc 'ENOENT\|ELOOP'
}
cp -r slurm-1.profres slurm-5.profres
for file in json jsonl; do
    rm "slurm-5.profres/0/$node.$file"
    ln -s "$work/slurm-1.profres/0/$node.$file" "slurm-5.profres/0/$node.$file"
done
out=$("$profres" report --no-sacct slurm-5.profres 2>&1)
like "a link in place of a summary" "$?/$out" "1/*is no file*"
out=$("$profres" export -f csv slurm-5.profres 2>&1)
is "... or of a series" "$?" 1
cp -r slurm-1.profres slurm-6.profres
rm "slurm-6.profres/0/$node.json" "slurm-6.profres/0/$node.jsonl"
mkfifo "slurm-6.profres/0/$node.json" "slurm-6.profres/0/$node.jsonl"
if type -P strace >/dev/null && strace -o trace true 2>/dev/null; then
    is "a FIFO is not opened by report" \
        "$(opened "$node.json" "$profres" report --no-sacct slurm-6.profres)" 0
    is "... by export" "$(opened "$node.jsonl" "$profres" export -f csv slurm-6.profres)" 0
    is "... by plot" "$(opened "$node.jsonl" "$profres" plot -f txt -o - slurm-6.profres)" 0
    is "... by top" "$(opened "$node.json" "$profres" top -b -n 1 slurm-6.profres)" 0
else
    skip 4 "there is no strace that may trace"
fi

# --- the page ---
"$profres" plot -o page.html "$step" >/dev/null
ok "the policy of the page allows its own script and style" hostile policy <page.html
sed '/^<script>$/a alert(1)' page.html >other.html
ok "... and no other" not hostile policy <other.html
