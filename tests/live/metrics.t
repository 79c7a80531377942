#!/bin/bash
# profres metrics: the table, and what this host can measure.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
plan 9
cd "$work" || exit 1

"$profres" metrics --json >all.json
is "it exits 0" $? 0
ok "it is a JSON array of rows with a help each" jq_true 'length > 50 and all(.[]; .key and .help and .unit and .kind)' all.json
ok "what is not available has a reason" jq_true 'all(.[]; .available or (.reason | length > 5))' all.json
ok "process keys are available" jq_true 'any(.[]; .key == "ps_rss" and .available)' all.json
is "a glob chooses" "$("$profres" metrics --json 'ps_*' | jq -r '[.[].key | startswith("ps_")] | all')" true
"$profres" metrics nothing_like_it 2>err
is "an unknown key is exit 2" $? 2
like "the text has a line per key" "$("$profres" metrics ps_rss)" "*ps_rss*bytes*gauge*max*pid*yes*"
like "-v explains" "$("$profres" metrics -v cgroup_mem_peak)" "*page cache*"

# what it says is available is what a run then measures
"$profres" run -q -d run -- sleep 0.4
missing=$(jq -r --slurpfile all all.json '
    (.measurements | keys) as $have
    | $all[0][] | select(.available and .scope == "step" and (.costly | not))
    | select(.key as $k | $have | index($k) | not) | .key' "$(summary run)" |
    grep -vx -e cgroup_mem_limit | tr '\n' ' ')
is "what it promises, a run measures" "$missing" ""
