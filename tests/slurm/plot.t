#!/bin/bash
# Jobs of a real Slurm drawn: the small chart at the end of the output, the nodes of a step
# over each other, its ranks as a map of warmth.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin
start nodes=2 cpus=4 KillWait=1

script rise.sh <<'EOF'
#!/bin/bash
# memory that rises, and a core, for a second on a machine of any speed: a rate is drawn
# from windows, and one shorter than them has none
text=x
end=$((${EPOCHREALTIME/./} + 1000000))
for ((i = 0; i < 18; i++)); do text=$text$text; done
while ((${EPOCHREALTIME/./} < end)); do :; done
EOF

# a chart: seven lines, the last with the times
chart='*files *
  memory   * ▕*
  charged * ▕*
 *0 ▕*
  cores * ▕*
 *▕*
 *0 ▕*
 *0 *s*'
out() { cat "$lab_home/slurm-$1.out"; }
data() { sed -n '/id="figure"/,/<\/script>/p' "$1" | sed '1d;$d'; }

# --- the small chart ---
lab_as_user env LC_ALL=C.UTF-8 srun --profile-res=chart,interval=50ms ./rise.sh 2>err
is "srun with a chart: the status is the task's" $? 0
like "... the chart is below the summary" "$(cat err)" "profres: *$chart"
ok "... at most 8 lines of it" test "$(grep -c '▕' err)" -le 8
lab_as_user env LC_ALL=C srun --profile-res=chart,interval=50ms ./rise.sh 2>err
ok "... in ASCII where the locale has no more" test -z "$(LC_ALL=C grep -P '[^\x00-\x7f]' err)"
like "... it is there, though" "$(cat err)" "*files *  memory *|*"
job=$(lab_sbatch --profile-res=chart,interval=50ms rise.sh)
lab_wait_job "$job"
settled
like "a batch job with a chart: it is the end of its output" "$(out "$job")" "profres: *$chart"
job=$(lab_sbatch --profile-res=chart,summary rise.sh)
lab_wait_job "$job"
is "... a later word takes it back" "$(out "$job" | grep -c '▕')" 0

# --- nodes and ranks ---
lab_srun -N2 -n4 --ntasks-per-node=2 --profile-res=dir=two,quiet,interval=50ms,window=200ms ./rise.sh
is "two nodes, four tasks" $? 0
settled
"$profres" plot -o page.html "$lab_home/two"
is "... are drawn" $? 0
is "... each node, and both together" \
    "$(data page.html | jq -c '[.views[].name] | length, .[0]' | tr '\n' ' ')" '3 "all 2 nodes" '
is "... and the ranks of a node" \
    "$(data page.html | jq -c '[.views[1:][].heats[0].names[]?] | sort')" \
    '["rank 0","rank 1","rank 2","rank 3"]'
peaks='[.views[1:][] | .panels[0].lines[] | select(.key == "cgroup_mem_peak") |
    [foreach (.v[] | numbers) as $d (0; . + $d)] | max]'
if [ "$(of two 0 '.measurements.cgroup_mem_peak != null')" = true ]; then
    is "the drawn peak of each node is its summary's" "$(data page.html | jq -c "$peaks")" \
        "$(jq -cs '[.[].measurements.cgroup_mem_peak.max]' "$lab_home"/two/0/*.json)"
else
    skip 1 "the kernel keeps no peak here"
fi
is "what was allocated is a line" "$(data page.html |
    jq '[.views[1].panels[] | select(.name == "cpu") | .lines[] | select(.key == "cpus")] | length')" 1
ok "nothing is left" clean
lab_stop
is "... in the lab either" "$?:$lab_why" 0:

plan $count
