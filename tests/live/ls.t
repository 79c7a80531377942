#!/bin/bash
# profres ls: what is listed, chosen and refused, and what bad files do to it.
# The summaries are of a real run, with changes that a test can foresee.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 96
cd "$work" || exit 1
export TZ=UTC0
unset PROFRES_PATH
PATH=$work/none:$PATH
ls_() { "$profres" ls "$@"; }

"$profres" run -q -i 0.1 -d first -- sh -c 'sleep 0.3'
base=$work/base.json
cp "$(summary first)" "$base"
rm -r first

# make JOB STEP NODE FILTER: a summary with what the filter changes
make() {
    mkdir -p "slurm-$1.profres/$2"
    jq --arg job "$1" --arg step "$2" --arg node "$3" '
        .info.job = $job | .info.step = $step | .info.node = $node
        | .info.allocation = {job_id: ($job | split("_")[0] | tonumber), nodes: 1, job_cpus: 4,
                              step_mem_bytes: 8589934592, job_mem_bytes: 8589934592}
        | .elapsed_seconds = 60 | .measurements.cgroup_mem_peak = {max: 1073741824}
        | .measurements.cgroup_cpu_seconds = {total: 120}
        | .info.start = "2026-11-10T12:00:00.000Z" | .ts = "2026-11-10T12:01:00.000Z"
        | '"${4:-.}" "$base" >"slurm-$1.profres/$2/$3.json"
}

make 7 0 n1
make 7 batch n1 '.measurements.cgroup_mem_peak.max = 3221225472'
make 9_10 0 n1 '.measurements.cgroup_oom_kills = {total: 1} | .tasks[0] = {pid: 1, rank: 0,
    start_seconds: 0, end_seconds: 60, signal: 9} | .measurements.cgroup_mem_peak.max = 8589934592'
make 9_2 0 n1 '.tasks[0] = {pid: 1, rank: 0, start_seconds: 0, end_seconds: 60, exit: 3}
    | .measurements.cgroup_mem_peak.max = 524288000 | .info.allocation.job_name = "sim"'
make 12 0 n1 '.info.start = "2026-11-12T08:00:00.000Z" | .ts = "2026-11-12T09:00:00.000Z"
    | .elapsed_seconds = 3600 | .info.allocation.user = "ann" | .info.allocation.job_name = "Big"
    | .measurements.cgroup_mem_peak.max = 6442450944'

# --- the table ---
is "all that is below the working directory, in order" "$(ls_ -n -o JobID | tr -d ' ' | tr '\n' ' ')" \
    "7.batch 7.0 9_2.0 9_10.0 12.0 "
is "... and from elsewhere" "$(cd / && ls_ -n -o JobID "$work" | wc -l)" 5
out=$(ls_)
ok "it fits a terminal" test "$(wc -L <<<"$out")" -le 80
is "a header, a line of dashes, a row each" "$(wc -l <<<"$out")" 7
like "numbers to the right, the job to the left" "$(sed -n 4p <<<"$out")" \
    "7.0 *-*00:01:00 *1G *12.5 *2.00 *4 ok"
is "chosen columns with widths" "$(ls_ -n -o jobid%-6,ALLOCMEM%5,cgroup_mem_peak%4 7.0)" \
    "7.0       8G   1G"
is "-P" "$(ls_ -P -o JobID,MemPeak,JobName 7.0)" "JobID|MemPeak|JobName
7.0|1073741824|"
is "-p, -n, --delimiter and --units" "$(ls_ -pn --delimiter=';' --units=M -o JobID,MemPeak 12)" \
    "12.0;6144M;"
is "--json" "$(ls_ --json -o JobID,MemPeak,JobName,Elapsed 7.0 | jq -c .rows)" \
    '[{"JobID":"7.0","MemPeak":1073741824,"Elapsed":60}]'
is "what of a measurement" "$(ls_ -nP -o cgroup_mem_peak.max,cgroup_mem_peak.p95 7.0)" "1073741824|"
make 8 0 n1 '.measurements.cgroup_mem_nonreclaimable = {max: 900, min: 3, p95: 800}'
is "... what is asked for is read of what is else only known by its max" \
    "$(ls_ -nP -o cgroup_mem_nonreclaimable,cgroup_mem_nonreclaimable.p95 8)" "900|800"
is "... by a condition, too" "$(ls_ -nP -o JobID -w 'cgroup_mem_nonreclaimable.min = 3')" 8.0
is "... and by an order" "$(ls_ -nP -o JobID --sort cgroup_mem_nonreclaimable.p95 | head -n 1)" 8.0
rm -r slurm-8.profres
like "--helpformat" "$(ls_ --helpformat)" "JobID *text *MaxRSS *bytes *sacct*cgroup_mem_peak *bytes*"
undocumented=$(ls_ --helpformat | awk '$1 ~ /^[A-Z]/ { print $1 }' | while read -r name; do
    grep -q "^.It Li $name$" "$top_srcdir/man/profres-ls.1" || echo "$name"
done)
is "... all of which the manual page has" "$undocumented" ""
ok "--help fits a screen" test "$(ls_ --help | wc -l)" -le 24
ok "... and its width" test "$(ls_ --help | wc -L)" -le 80
is "-X: a line for each job, whose steps ran at the same time" \
    "$(ls_ -X -nP -o JobID,MemPeak 7)" "7|4294967296"
is "jobs by their number" "$(ls_ -nP -o JobID -j '9_[2-10],12' | tr '\n' ' ')" "9_2.0 9_10.0 12.0 "
is "without a match a header only, and no failure" "$(ls_ -P -o JobID --where 'MemPeak > 1T'; echo $?)" \
    "JobID
0"

# --- which ---
listed() { ls_ -nP -o JobID "$@" | tr '\n' ' '; }
is "--where" "$(listed --where 'cgroup_mem_peak > 4G')" "9_10.0 12.0 "
is "... with and" "$(listed -w 'MemPeak > 4G && Elapsed >= 1h')" "12.0 "
is "... by the share of memory" "$(listed -w 'MemUse >= 100%')" "9_10.0 "
is "--since" "$(listed --since 2026-11-11)" "12.0 "
is "--since during a run" "$(listed -S 2026-11-12T08:30)" "12.0 "
is "--until" "$(listed --until 2026-11-11T00:00)" "7.batch 7.0 9_2.0 9_10.0 "
is "--state by verdict" "$(listed --state oom)" "9_10.0 "
is "... by sacct's name" "$(listed --state FAILED)" "9_2.0 "
is "... by its short forms" "$(listed -s oom,f)" "9_2.0 9_10.0 "
is "... by how far it is" "$(listed -s complete | wc -w)" 5
is "--name" "$(listed --name 'sim,b*')" "9_2.0 12.0 "
is "--user" "$(listed --user ann)" "12.0 "
is "... else the owner of the files" "$(listed -u "$(id -un)" | wc -w)" 4
is "--sort" "$(listed --sort MemPeak)" "9_2.0 7.0 7.batch 12.0 9_10.0 "
is "--sort -r" "$(listed --sort mempeak -r)" "9_10.0 12.0 7.batch 7.0 9_2.0 "
is "what has no value is last, either way round" \
    "$(listed --sort JobName)/$(listed --sort JobName -r)" \
    "12.0 9_2.0 7.batch 7.0 9_10.0 /9_2.0 12.0 7.batch 7.0 9_10.0 "

# refused STATUS PATTERN OPTION...
refused() {
    local pattern=$1 out
    shift
    out=$(ls_ "$@" 2>&1 >stdout)
    is "refused: $*" "$?/$(wc -c <stdout)" 2/0
    like "... with words" "$out" "$pattern"
}
refused "*no field 'MemPaek'; nearest: MemPeak,*" -o JobID,MemPaek
refused "*no field 'cgroup_mem_paek'; nearest: cgroup_mem_peak,*" --where 'cgroup_mem_paek > 1'
refused "*compared with a size, as in 4G*" --where 'cgroup_mem_peak > 4h'
refused "*is no time; write it as 2026-11-16*" --since 'last tuesday'
refused "*no state 'FAILD'; nearest: FAILED,*" --state FAILD
refused "*no field 'size'*" --sort size

# --- nothing there ---
mkdir empty
out=$(ls_ empty 2>&1)
is "an empty directory" "$?" 1
like "... is said" "$out" "*no profile in 'empty'*"
out=$(ls_ -nP -o JobID 7.0 nowhere/at/all 12 2>err)
is "what is missing does not hold up the rest" "$?/$out" "1/7.0
12.0"
like "... and is said" "$(cat err)" "*no profile in 'nowhere/at/all'*"

# --- hostile names ---
make 20 0 n1 '.info.allocation.job_name = "x\u001b[31m\nforged|1|2\t\u009b2J" | .info.node = "n\u0000"
    | .info.command = ["a\u202eb", "\\"]'
out=$(ls_ -o JobID,JobName%60,Command 20 | tr -d '\n' | LC_ALL=C tr -d ' -~')
is "no escape sequence gets to the terminal" "$out" ""
is "... nor a row is broken" "$(ls_ -nP -o JobID,JobName,Elapsed 20)" \
    '20.0|x?[31m forged\x7c1\x7c2 ?2J|00:01:00'
ok "... and JSON is JSON" jq_true '.rows | length == 1' <(ls_ --json -o ALL 20)
rm -r slurm-20.profres

# --- files that are not as they should be ---
spoiled() { # TEXT PATTERN: of job 21
    out=$(ls_ -nP -o JobID 7.0 21 12 2>err)
    is "$1: the others are listed, and it counts as a failure" "$?/${out//$'\n'/ }" "1/7.0 12.0"
    like "... and it is said" "$(cat err)" "$2"
}
make 21 0 n1
head -c 3000 slurm-21.profres/0/n1.json >half && mv half slurm-21.profres/0/n1.json
spoiled "half of a file" "*slurm-21.profres/0/n1.json is cut off or damaged*"
: >slurm-21.profres/0/n1.json
spoiled "an empty file" "*cut off or damaged*"
make 21 0 n1 '.schema = "profres-summary/3.0"'
spoiled "a later schema" "*schema that this version * does not know*newer profres*"
{ head -c 17000000 /dev/zero | tr '\0' ' '; } >slurm-21.profres/0/n1.json
spoiled "a summary of 17 MB" "*too large to be a summary*"
rm slurm-21.profres/0/n1.json && mkfifo slurm-21.profres/0/n1.json
spoiled "a pipe in its place" "*is no file*"
rm slurm-21.profres/0/n1.json
make 21 0 n1 '.schema = "profres-summary/2.99" | .later = [{"a": null}] | .state = "COMPLETE"
    | .measurements.gpu_later = {max: 1}'
is "a schema with additions is read" "$(ls_ -nP -o JobID,MemPeak 21 2>&1)" "21.0|1073741824"
make 21 0 n1
LC_ALL=C sed -i 's/"kernel": "[^"]*"/"kernel": "\xff\xfe"/' slurm-21.profres/0/n1.json
is "bytes that are no UTF-8 do no harm" "$(ls_ -nP -o JobID,MemPeak 21 2>&1)" "21.0|1073741824"
LC_ALL=C sed -i 's/"kernel": "[^"]*"/"kernel": "a\x00b"/' slurm-21.profres/0/n1.json
like "a NUL is met with words or passed over" "$(ls_ -nP -o JobID 21 2>&1)" "*21*"
rm -r slurm-21.profres

# --- somebody else's ---
if is_root; then
    chmod 755 "$work" && chmod 700 slurm-9_2.profres && chmod 600 slurm-12.profres/0/n1.json
    out=$(as_user "$profres" ls -nP -o JobID 2>err)
    is "what may not be read is passed over" "$?/${out//$'\n'/ }" "1/7.batch 7.0 9_10.0"
    like "... by name" "$(cat err)" "*slurm-9_2.profres: Permission denied (it is root's)*"
    like "... a file, too" "$(cat err)" "*slurm-12.profres/0/n1.json: Permission denied*"
    chmod -R a+rX .
else
    skip 3 "not root"
fi

# --- profiles that do not belong together, or not quite ---
make 30 0 n1 '.info.allocation.cluster = "blue"'
make 30 0 n2 '.info.allocation.cluster = "green" | .measurements.cgroup_mem_peak.max = 2147483648'
is "two clusters' jobs of one number are two" \
    "$(ls_ -nP -o JobID,Cluster,NNodes,MemPeak 30 | sort)" "30.0|blue|1|1073741824
30.0|green|1|2147483648"
is "... as jobs, too" "$(ls_ -X -nP -o JobID,Cluster,MemPeak 30 | sort)" "30|blue|1073741824
30|green|2147483648"
mkdir -p elsewhere && cp -r slurm-7.profres elsewhere/
is "the same job in two places is two" "$(ls_ -X -nP -o JobID,Dir -w 'JobID = 7' | sort)" \
    "7|elsewhere/slurm-7.profres/batch
7|slurm-7.profres/batch"
rm -r elsewhere slurm-30.profres
make 31 0 n1 '.info.allocation.nodes = 3'
make 31 0 n2 '.info.allocation.nodes = 3 | .measurements.cgroup_mem_peak.max = 2147483648'
is "nodes of a step are one line, the largest named; a missing one is told" \
    "$(ls_ -nP -o JobID,Node,NNodes,NNodesGiven,MemPeak,Verdict 31)" "31.0|n2|2|3|2147483648|incomplete"
rm -r slurm-31.profres
make 32 0 n1 '.ts = "2026-11-10T11:00:00.000Z" | .state = "LIVE"'
like "a clock that was set back" "$(ls_ -nP -o JobID,Elapsed,End,Verdict 32 2>&1)" \
    "32.0|00:01:00||incomplete"
make 32 0 n1 '.info.start = "2099-01-01T00:00:00.000Z" | .ts = "2099-01-01T00:00:01.000Z"'
is "... a start in the future" "$(listed --since now)" "32.0 "
rm -r slurm-32.profres

# --- the verdict on a job is the worst on its steps ---
make 33 batch n1 '.tasks[0] = {pid: 1, rank: 0, start_seconds: 0, end_seconds: 60, exit: 0}'
make 33 0 n1 '.tasks[0] = {pid: 1, rank: 0, start_seconds: 0, end_seconds: 60, exit: 3}'
is "a step failed, its script did not: the job is not ok" \
    "$(ls_ -X -nP -o JobID,ExitCode,Verdict 33)" "33|0:0|exit-code"
is "... nor in order" "$(ls_ -X -nP --sort Elapsed -o JobID,Verdict 33)" "33|exit-code"
like "... nor in a group" "$(ls_ -g 33)" "*exit-code *1 *33*"
like "... which is one of jobs: steps side by side need both" "$(ls_ -g 33 | tr -s ' ')" "1 run*memory 2G 2G 2G 2G*"
make 33 0 n1
make 33 batch n1 '.state = "LIVE" | .ts = (now | todate) | .elapsed_seconds = (now - 1794312000)
    | .tasks[0] = {pid: 1, rank: 0, start_seconds: 0}'
is "a job whose first step is long over goes on" \
    "$(ls_ -X -nP -o JobID,ExitCode,Verdict,Progress 33)" "33||running|LIVE"
make 33 batch n1 '.state = "LIVE" | .ts = (now - 30 | todate) | .tasks[0] = {pid: 1, rank: 0,
    start_seconds: 0} | .elapsed_seconds = (now - 30 - 1794312000)'
is "... also now, not only when that was written last" "$(listed --since now-5seconds)" "33.batch "
for state in $(ls_ --help | sed -n 's/.*by verdict (\(.*\)) or.*/\1/p' | tr -d ,); do
    ls_ -s "$state" >/dev/null 2>&1 || echo "no state $state"
done >unknown
is "the states of the help are some" "$(cat unknown)" ""
rm -r slurm-33.profres

# --- days that are none ---
like "there is no 31st of February" "$(ls_ -S 2026-02-31 2>&1; ls_ -E 2/30/26 2>&1)" \
    "*'2026-02-31' is no time*'2/30/26' is no time*"
ok "... but a 29th, every fourth year" ls_ -S 2028-02-29 -E 2/29/28

# --- many as one ---
for i in 40 41 42 43 44 45 46 47 48; do
    make "$i" 0 n1 ".measurements.cgroup_mem_peak.max = (1000 + $i) * 1048576"
done
make 49 0 n1 '.measurements.cgroup_mem_peak.max = 7000 * 1048576'
make 50 0 n1 '.tasks[0] = {pid: 1, rank: 0, start_seconds: 0, end_seconds: 60, exit: 3}'
make 51 0 n1 'del(.measurements.cgroup_mem_peak, .measurements.cgroup_mem_current,
    .measurements.cgroup_mem_sampled_peak) | .measurements.ps_rss_total = {max: 99000000000}'
out=$(ls_ -X --group -w 'JobID >= 0' 2>&1)
like "a condition on a word is refused in a group, too" "$out" "*words can be = or !=*"
out=$(ls_ -X --group slurm-4?.profres slurm-5?.profres)
like "the group: how many" "$out" "12 runs, 40 to 51*"
like "... by verdict, with names" "$out" "*exit-code *1 *50*"
like "... spread" "$(grep '  memory  ' <<<"$out")" "*1G *1.02G *6.84G *6.84G *of 11 runs*"
like "... its histogram" "$(grep -A8 'memory: runs' <<<"$out")" "*1G - 1.73G *######* 10*6.84G * 1"
like "... an outlier by name" "$out" "*outliers*49 * memory 6.84G, median 1.02G*"
like "... what was measured another way is left out, and told" "$out" "*left out of 1 run,*"
like "... and one advice" "$out" "*advice from 12 runs*#SBATCH --mem=*"
ok "... on a terminal's width" test "$(wc -L <<<"$out")" -le 80
make 48 0 n1 '.measurements.cgroup_mem_peak.max = -9000000000000000000'
make 49 0 n1 '.measurements.cgroup_mem_peak.max = 9000000000000000000'
like "... even if numbers are out of all proportion" \
    "$(ls_ -X --group slurm-4?.profres 2>&1; echo " = $?")" "10 runs*memory: runs by size*# 8*advice* = 0"
