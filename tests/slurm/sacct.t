#!/bin/bash
# Sacct's columns beside ours, from a real slurmdbd and its database; and that
# nothing is missing but those columns when there is none.
# shellcheck disable=SC1091,SC2016,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin dbd
start dbd=yes freq=30 KillWait=1

profres_() { timeout 60 "${lab_user[@]}" "$lab_dir/bin/profres" "$@" 2>err; }
field() { local format=$1; shift; profres_ ls -nP -o "$format" "$@"; }
words() { profres_ report "$@" | tr -s ' \n' ' '; }

script spike.sh <<'EOS'
#!/bin/bash
# memory that comes and goes between two samples of slurmstepd's
head -c 80M /dev/zero | tail >/dev/null
sleep 1
EOS
job=$(lab_sbatch --profile-res -n2 -t 7 --mem=300 -J 'a | "name"' --wrap 'srun -n2 ./spike.sh; exit 3')
lab_wait_job "$job"
gone=$(lab_sbatch --profile-res -n1 --wrap 'srun sleep 600')
lab_until 30 test -e "$lab_home/slurm-$gone.profres/0"
lab_as_user scancel "$gone"
lab_wait_job "$gone"
settled
IFS='|' read -r rss total state < <(lab_sacct "$job" MaxRSS,TotalCPU,State --noconvert | sed -n 3p)
echo "# sacct of step 0: $rss $total $state"
lab_sacct "$gone" State | sed 's/^/# /'

# --- beside ours ---
is "sacct's columns of a job" "$(field JobID,State,ReqMem,Timelimit,Partition,JobName,SacctExitCode -X "$job")" \
    "$job|FAILED|300M|00:07:00|$(lab_client sacct -nPX -j "$job" -o Partition)|a \\x7c \"name\"|3:0"
is "... of its steps" "$(field JobID,State,Timelimit "$job")" "$job.batch|FAILED|00:07:00
$job.0|COMPLETED|00:07:00"
is "MaxRSS in bytes, as sacct has it" "$(field MaxRSS "$job.0")" "$rss"
is "... a job has none, nor does it get one here" "$(field MaxRSS -X "$job")" ""
ok "ours beside it has seen the spike" test "$(field cgroup_mem_peak "$job.0")" -gt $((150 << 20))
is "sacct is asked when it is the condition" "$(field JobID --where 'State = CANCELLED*' | sort -u)" \
    "$gone.0
$gone.batch"
is "... or the state" "$(field JobID -X --state CA)" "$gone"
is "... or the order" "$(field JobID --sort State -X | tr '\n' ' ')" "$gone $job "
out=$(words "$job")
like "the report has them beside ours, and says why they differ" "$out" "*MaxRSS * by sacct, cgroup_mem_peak * here:*"
like "... that it was sampled, and how often" "$out" "*the largest of samples, 30 s apart, and the step lasted *"
like "... that it is of one task" "$out" "*the largest of 2 tasks alone*"
like "... and knows the time limit" "$(profres_ report --by=job -nP -o Timelimit "$job")" 00:07:00
is "nothing is said of it when it is not wanted" "$(words --no-sacct "$job" | grep -c 'by sacct')" 0

# --- of many jobs, sacct is asked once ---
array=$(lab_sbatch --profile-res -n1 -t 9 --array=1-4 --wrap true)
lab_wait_job "$array"
settled
for i in 1 2 3 4; do lab_sacct "${array}_$i" State >/dev/null; done
mkdir "$lab_home/bin"
printf '#!/bin/sh\necho . >>%q\nexec %q "$@"\n' "$work/asked" "$(command -v sacct)" >"$lab_home/bin/sacct"
chmod 755 "$lab_home/bin" "$lab_home/bin/sacct"
touch "$work/asked" && chmod 666 "$work/asked"
cp -a "$lab_home/slurm-$job.profres" "$lab_home/odd" # its number is in its files only
is "the jobs of an array, and one without a number" "$(
    PATH=$lab_home/bin:$PATH profres_ report --by=job -nP -o JobID,Timelimit,State "$array" "$gone" odd)" \
    "$(for i in 1 2 3 4; do echo "${array}_$i|00:09:00|COMPLETED"; done)
$gone||CANCELLED by $(id -u nobody)
$job|00:07:00|FAILED"
is "... in two questions" "$(wc -l <"$work/asked")" 2

# --- without slurmdbd ---
before=$(profres_ report --no-sacct "$job")
lab_end slurmdbd
out=$(field JobID,Elapsed,Verdict,cgroup_mem_peak,ReqMem,MaxRSS,TotalCPU "$job.0")
is "without slurmdbd no failure" "$?" 0
like "... nothing is missing but its columns" "$out" "$job.0|00:00:0?|ok|*[0-9]|||"
is "... and nothing is complained of" "$(cat err)" ""
out=$(profres_ report "$job")
is "the report is there" "$?" 0
out=$(profres_ report "$job" | sed 's/; [0-9]* % of its time limit.*//') # slurmctld still knows it
is "... the same as without asking" "$out" "$before"
plan $count
