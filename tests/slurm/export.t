#!/bin/bash
# openmetrics= of a step on a real Slurm, and export of its job while it runs and
# after.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin
start nodes=2 cpus=4 KillWait=1

metrics=$lab_dir/metrics
mkdir "$metrics"
chmod 1777 "$metrics" # as an administrator would make it
prom() { (cd "$metrics" && echo *.prom); }
two_files() { [ "$(find "$metrics" -name 'profres-*.prom' | wc -l)" = 2 ]; }
no_files() { [ -z "$(ls -A "$metrics")" ]; }

script wait.sh <<'EOF'
#!/bin/bash
until [ -e "$1" ]; do sleep 0.1; done
EOF
lab_as_user sh -c 'umask 077; exec srun -N2 -n2 --ntasks-per-node=1 --profile-res="$@"' - \
    "window=0.5,dir=om,quiet,openmetrics=$metrics" ./wait.sh go 2>err &
client=$!
lab_until 15 two_files
is "a file for each node of the step" "$?" 0
is "... of the user, for all to read" "$(stat -c '%U %a' "$metrics"/*.prom | sort -u)" "nobody 644"
like "... with the job and the step" "$(grep -h profres_step_info "$metrics"/*.prom | tail -n 1)" \
    'profres_step_info{jobid="[0-9]*",step="0",node="*",state="LIVE"} 1'
lab_as_user "$lab_dir/bin/profres" export -f csv --follow om >followed.csv 2>follow.err &
follower=$!
touch "$lab_home/go"
wait $client
is "the step ends as ever" "$?:$(cat err)" 0:
ok "... and the files are gone" lab_until 5 no_files
wait $follower
is "who follows it ends with it" "$?:$(cat follow.err)" 0:
is "... and has the windows of both nodes" "$(sort followed.csv | cksum)" \
    "$(lab_as_user "$lab_dir/bin/profres" export -f csv om | sort | cksum)"
is "... which are those of the files" "$(grep -c "^[0-9]" followed.csv)" \
    "$(cat "$lab_home"/om/0/*.jsonl | jq -c 'select(.type == "usage")' | wc -l)"

lab_srun --profile-res="openmetrics=$lab_dir/conf/x.prom,dir=no,quiet" true 2>err
is "a place that may not be written: the step runs" "$?" 0
lab_srun --profile-res=openmetrics=x.prom true 2>err
like "a relative one: refused before anything runs" "$?:$(cat err)" "1:*openmetrics=/absolute/path*"

rm "$lab_home/go"
"${lab_user[@]}" srun --profile-res="window=0.5,dir=kill,quiet,openmetrics=$metrics" ./wait.sh go 2>err &
client=$!
a_file() { [ "$(prom)" != '*.prom' ]; }
lab_until 15 a_file
kill -KILL "$(samplers)"
lab_until 5 no_samplers
touch "$lab_home/go"
wait $client
is "the sampler was killed: the step ends as ever" "$?" 0
ok "... and its file is cleaned up" lab_until 10 no_files
ok "nothing is left" clean
lab_stop
is "... in the lab either" "$?:$lab_why" 0:
plan $count
