#!/bin/bash
# profres export of a real run: each format against what jq reads from the same
# files, against Prometheus itself, and while the run goes on.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
cd "$work" || exit 1
export profres

cat >job.sh <<'EOF'
$profres mark "load, \"quoted\""
awk 'BEGIN { for (i = 0; i < 3000000; i++) x += i }'
sleep 0.6
$profres mark second
head -c 30M /dev/zero | tail >/dev/null
sleep 0.6
EOF
"$profres" run -q -w 0.4 -d a -- bash job.sh
series=$(echo a/0/*.jsonl)
node=$(basename "$series" .jsonl)
job=$(jq -r .info.job "$(summary a)")
windows=$(jq -c 'select(.type == "usage")' "$series" | wc -l)

# --- csv ---
"$profres" export -f csv a >a.csv 2>err
is "csv: no trouble" "$?:$(cat err)" 0:
is "... a row for each window, and the names" "$(wc -l <a.csv)" $((windows + 1))
is "... the first columns are fixed" "$(head -n 1 a.csv | cut -d , -f 1-7)" job,step,node,ts,from,to,num_samples
is "... the others are those of 'profres metrics', in its order" "$(head -n 1 a.csv | cut -d , -f 8- | tr , '\n')" \
    "$("$profres" metrics --json | jq -r '.. | objects | select(.scope? == "step") | .key')"
# csv_column KEY: its cells, empty ones as -
csv_column() { awk -F , -v k="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == k) c = i; next } { print $c == "" ? "-" : $c }' a.csv; }
jq_column() { jq -r "select(.type == \"usage\") | .measurements.$1 // \"-\" | tostring" "$series"; }
for key in ps_rss_total cgroup_mem_current cgroup_cpu_seconds cgroup_mem_limit proc_count; do
    is "... $key as in the series" "$(csv_column $key)" "$(jq_column $key)"
done
ok "... bytes are whole numbers" awk '!/^([0-9]+|-)$/ { exit 1 }' <(csv_column ps_rss_total)
is "... of named keys alone" "$("$profres" export -f csv -m ps_rss_total,proc_count a | head -n 1)" \
    job,step,node,ts,from,to,num_samples,ps_rss_total,proc_count
"$profres" export -f csv -o b.csv a
ok "... to a file" cmp a.csv b.csv

# --- jsonl ---
"$profres" export -f jsonl a >a.jsonl
is "jsonl: the lines with their origin" "$(jq -cS 'del(.job, .step, .node)' a.jsonl | cksum)" "$(jq -cS . "$series" | cksum)"
is "... which is in each" "$(jq -r '[.job, .step, .node] | join(" ")' a.jsonl | sort -u)" "$job 0 $node"

# --- influx ---
"$profres" export -f influx a >a.influx
is "influx: a point for each window" "$(grep -c '^profres,' a.influx)" "$windows"
ok "... each a measurement, tags, fields and nanoseconds" awk '
    !/^profres(_event)?,job=[^ ]+,step=0,node=[^ ]+ .+ [0-9]+$/ || length($NF) != 19 { bad = 1; print "# " $0 }
    END { exit bad }' a.influx
is "... bytes are integers, seconds are not" "$(grep -m 1 '^profres,' a.influx | grep -o 'ps_rss_total=[0-9]*i,' | wc -l):$(grep -c 'seconds=[0-9.]*i' a.influx)" 1:0
like "... text is quoted" "$(grep 'event=phase_start' a.influx | head -n 1)" '*text="load, \\"quoted\\"" *'

# --- duct and prmon: the shapes that con-duct 0.21 and prmon_plot read ---
mkdir duct prmon
"$profres" export -f duct -o duct a
is "duct: two files" "$(cd duct && echo *)" "a.0.${node}_info.json a.0.${node}_usage.jsonl"
ok "... what con-duct ls needs" jq_true '(.schema_version == "0.2.2") and (.execution_summary |
    .exit_code == 0 and .peak_rss > 0 and .average_rss > 0 and .wall_clock_time > 0 and
    .end_time > .start_time and (.command | startswith("bash"))) and (.output_paths.usage | endswith("usage.jsonl")) and
    .system.memory_total > 0 and has("message") and has("working_directory")' duct/*_info.json
ok "... what con-duct plot needs of every line" jq_true -s 'length > 1 and all(.[]; (.timestamp | test("\\+00:00$")) and
    (.totals | (.rss | type) == "number" and (.pcpu | type) == "number") and (.processes | type) == "object" and
    all(.processes[]; (.rss | type) == "number" and (.etime | test("^([0-9]+-)?([0-9]+:)?[0-9]+:[0-9]+$")) and (.cmd | type) == "string"))' duct/*_usage.jsonl
"$profres" export -f prmon -o prmon a
is "prmon: two files" "$(cd prmon && echo *)" "a.0.$node.prmon.json a.0.$node.prmon.txt"
is "... a row for each window" "$(wc -l <prmon/*.txt)" $((windows + 1))
like "... tabs and its names" "$(head -n 1 prmon/*.txt)" $'Time\tnprocs\tnthreads\t*rchar\tread_bytes\twchar\twrite_bytes\trss\tswap\tvmem\twtime'
ok "... counters only grow" awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "rchar") c = i; next }
    $c + 0 < last + 0 { exit 1 } { last = $c }' prmon/*.txt
is "... the largest resident set, in kB" "$(jq .Max.rss prmon/*.json)" "$(($(measured a ps_rss_total max) / 1024))"

# --- openmetrics ---
"$profres" export -f openmetrics a >a.prom
like "openmetrics: the peak" "$(grep '^profres_ps_rss_all_bytes' a.prom)" "profres_ps_rss_all_bytes{jobid=\"$job\",step=\"0\",node=\"$node\"} [0-9]*"
if type -P promtool >/dev/null; then
    is "... promtool finds nothing to complain of" "$(promtool check metrics <a.prom 2>&1)" ""
else
    skip 1 "there is no promtool (package prometheus)"
fi

# free_port: one that nobody listens on
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
has_metric() { curl -s "http://127.0.0.1:$1/metrics" | grep -q "$2"; }
query() { curl -s "http://127.0.0.1:$1/api/v1/query" --data-urlencode "query=$2"; }
answers() { query "$1" "$2" | grep -q '"metric":'; }
node_exporter=$(type -P prometheus-node-exporter || type -P node_exporter)
if [ -n "$node_exporter" ] && type -P prometheus curl python3 >/dev/null; then
    mkdir textfile
    exporter=$(free_port) server=$(free_port)
    "$node_exporter" --web.listen-address="127.0.0.1:$exporter" --collector.disable-defaults \
        --collector.textfile --collector.textfile.directory="$work/textfile" 2>exporter.log &
    started+=($!)
    cat >prometheus.yml <<EOF
global: {scrape_interval: 200ms, scrape_timeout: 200ms}
scrape_configs:
  - job_name: node
    static_configs: [{targets: ['127.0.0.1:$exporter']}]
EOF
    prometheus --config.file=prometheus.yml --storage.tsdb.path="$work/tsdb" \
        --web.listen-address="127.0.0.1:$server" 2>prometheus.log &
    started+=($!)
    "$profres" run -q -w 0.4 --openmetrics="$work/textfile" -d live -- \
        sh -c 'touch running; until [ -e enough ]; do sleep 0.1; done' &
    runner=$!
    started+=("$runner")
    until_true 30 answers "$server" profres_ps_rss_all_bytes
    is "a running step is scraped by Prometheus" "$?" 0
    ok "... its file has no complaint of the collector" has_metric "$exporter" '^node_textfile_scrape_error 0'
    is "... with its labels, none of them renamed" "$(query "$server" profres_step_info | jq -r '.data.result[0].metric | [.jobid, .step, .state, .exported_job] | tostring')" \
        "[\"run-$runner\",\"0\",\"LIVE\",null]"
    is "... a counter is one" "$(curl -s "http://127.0.0.1:$server/api/v1/metadata?metric=profres_ps_cpu_seconds_total" | jq -r '.data[][0].type')" counter
    touch enough
    wait $runner
    is "at its end the file is gone" "$(ls -A textfile)" ""
    gone() { query "$server" profres_ps_rss_all_bytes | grep -q '"result":\[\]'; }
    ok "... and so is the gauge" until_true 30 gone
else
    skip 6 "there is no prometheus, prometheus-node-exporter, curl or python3"
fi

# --- the file of --openmetrics, and what may stand in its place ---
mkdir place
ln -s /etc/passwd place/link
mkfifo place/fifo
before=$(cksum /etc/passwd)
for name in link fifo nowhere/file; do
    timeout 20 "$profres" run -q -w 0.4 --openmetrics="place/$name" -d "p-${name%/*}" -- sleep 0.5 2>err
    is "--openmetrics=$name: no harm" "$?" 0
    like "... but it is said" "$(cat err)" "*cannot write metrics to place/$name*going on without*"
done
is "... and all is as it was" "$(cksum /etc/passwd):$(cd place && echo *)" "$before:fifo link"
"$profres" run -q -w 0.4 --openmetrics=place/mine.prom -d k -- \
    bash -c 'until [ -s place/mine.prom ]; do sleep 0.05; done; kill -KILL "$(pgrep -x profres-sampler -P "$PPID")"; sleep 0.2' 2>err
is "a sampler that was killed leaves no file either" "$(cd place && echo *)" "fifo link"

# --- while it runs ---
"$profres" run -q -w 0.2 -d f -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.2; done' &
runner=$!
started+=("$runner")
until_true 10 test -s f/0/"$node".jsonl
timeout 60 "$profres" export -f csv --follow f >followed.csv 2>err
is "--follow ends when the run is complete" "$?:$(cat err)" 0:
wait $runner
ok "... and has each window once" cmp followed.csv <("$profres" export -f csv f)
# a sampler that was killed an hour ago will not go on
cp -r f cut
jq '.state = "LIVE" | .ts = (now - 3600 | todate)' "$(summary f)" >"$(summary cut)"
grep -v '"type":"final"' "$(summary f)l" >"$(summary cut)l"
timeout 60 "$profres" export -f csv --follow cut >followed.csv 2>err
is "--follow ends when its profiler was cut off" "$?" 0
like "... and says so" "$(cat err)" "*was cut off: nothing was written since *"
"$profres" export -f openmetrics --follow a >out 2>err
is "--follow of what is no stream: usage" "$?" 2

# --- bad input ---
for kind in empty torn future garbage header; do
    mkdir -p bad/$kind/0
    file=bad/$kind/0/n1.jsonl
    case $kind in
    empty) : >$file ;;
    torn) head -c -40 "$series" >$file ;;
    future) sed '1s,profres-series/2,profres-series/9,' "$series" >$file ;;
    garbage) { head -c 3000 /dev/urandom; cat "$series"; echo; echo '{"type":"usage"'; } >$file ;;
    header) head -n 1 "$series" >$file ;;
    esac
    cp "$(summary a)" bad/$kind/0/n1.json
    for format in csv jsonl influx openmetrics duct prmon; do
        mkdir -p bad/out
        timeout 20 "$profres" export -f $format "$([ $format = duct ] || [ $format = prmon ] && echo -obad/out || echo -o/dev/null)" bad/$kind >out 2>err
        status=$?
        case $kind:$format in
        future:openmetrics) expected=0 ;; # the summary is of this version
        future:*) expected=1 ;;
        *) expected=0 ;;
        esac
        is "$kind as $format" $status $expected
    done
done
like "the future is named" "$("$profres" export -f csv bad/future 2>&1 >out)" "*profres-series/9.0*newer profres*"
is "a torn last line loses only itself" "$("$profres" export -f csv bad/torn | wc -l)" $((windows + 1))
like "what was passed over is said" "$("$profres" export -f csv bad/garbage 2>&1 >out)" "*lines could not be read*"

# --- called wrongly ---
for words in "a" "-f nonsense a" "-f csv" "-f csv -m nonsense a" "--nonsense"; do
    # shellcheck disable=SC2086 # words on purpose
    "$profres" export $words >out 2>err
    is "export $words: usage" "$?" 2
done
"$profres" export -f csv no-such-place >out 2>err
is "what is not there: 1" "$?" 1
"$profres" export -f csv a >/dev/full 2>err
is "a full disk: 1" "$?" 1
like "... is said" "$(cat err)" "*cannot write*No space left*"
plan $count
