#!/bin/bash
# profres plot on files that were measured just now: every form of output, bad input, names
# that would like to be something else, and that what is drawn is what was measured.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=plot.sh
. "$(dirname "$0")/plot.sh"
plan 61
cd "$work" || exit 1
export LC_ALL=C.UTF-8

plot_run one 4
data() { sed -n '/id="figure"/,/<\/script>/p' "$1" | sed '1d;$d'; }

# drawn FILE KEY: the largest value of a line, out of the page's differences
drawn() {
    data "$1" | jq --arg key "$2" '[.views[] | .panels[] | .quantum as $q | .lines[] |
        select(.key == $key) | [foreach (.v[] | numbers) as $d (0; . + $d)] | max * $q] | max'
}

# --- the forms ---
"$profres" plot -o page.html one
is "a page is made" $? 0
ok "... of one file below 2 MB" test "$(stat -c %s page.html)" -lt 2000000
ok "... whose data are JSON" jq_true -n "$(data page.html | jq -c . >/dev/null && echo true)"
is "... and that loads nothing" "$(grep -ciE '<(script|link|img|iframe)[^>]* (src|href)="?(https?:|//)' page.html)" 0
"$profres" plot -o picture.svg one
is "a picture is made" $? 0
ok "... which is XML" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' picture.svg
"$profres" plot -o text.txt one
ok "text is made" grep -q '^Memory: ' text.txt
"$profres" plot one >piped.txt
ok "without -o it goes to standard output" grep -q '^Memory: ' piped.txt
ok "... in Unicode blocks" grep -q '█' piped.txt
ok "... not wider than 80 columns" test "$(wc -L <piped.txt)" -le 80
LC_ALL=C "$profres" plot one >plain.txt
ok "... or in ASCII where the locale has no more" test -z "$(LC_ALL=C grep -P '[^\x00-\x7f]' plain.txt)"
COLUMNS=120 "$profres" plot one >wide.txt
ok "COLUMNS makes it wider" test "$(wc -L <wide.txt)" -gt 100
"$profres" plot -f svg -o - one >stdout.svg
ok "-o - and a format" cmp -s picture.svg stdout.svg
if command -v rsvg-convert >/dev/null; then
    "$profres" plot -o picture.png one
    is "a PNG is one" "$(head -c 8 picture.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
else
    skip 1 "no rsvg-convert"
fi
mkdir bare && ln -s "$(command -v true)" bare/
err=$(PATH=$work/bare "$profres" plot -o none.png one 2>&1)
is "without rsvg-convert a PNG fails" $? 1
like "... and says what to install" "$err" "*rsvg-convert*librsvg2-bin*"
ok "... and leaves nothing" test ! -e none.png
ok "--help fits a screen" test "$("$profres" plot --help | wc -l)" -le 24

# --- what is drawn is what was measured ---
for key in cgroup_mem_nonreclaimable cgroup_mem_peak ps_rss_total proc_count; do
    most=$(measured one "$key" max)
    if [ -n "$most" ]; then
        is "the drawn maximum of $key is the summary's" "$(drawn page.html "$key")" "$most"
    else
        is "$key was not measured and is not drawn" "$(drawn page.html "$key")" null
    fi
done
if [ -n "$(measured one cgroup_mem_sampled_peak max)" ]; then
    is "that of what was charged, too" "$(drawn page.html cgroup_mem_current)" "$(measured one cgroup_mem_sampled_peak max)"
    near "and that of the cores" "$(drawn page.html cgroup_pdcpu)" \
        "$(measured one cgroup_pdcpu max | jq './100')" 0.00001
else
    skip 2 "no cgroup"
fi
like "the page says the verdict" "$(data page.html | jq -r '.views[0].facts[0] | .name + " " + .value')" "verdict *"

# --- several nodes, several steps, several jobs ---
for n in 1 2 3; do
    plot_run run$n $n
    plot_place run$n slurm-71.profres 0 node$n 71
    plot_place run$n slurm-7$((n + 1)).profres 0 node1 7$((n + 1))
done
plot_place run3 slurm-71.profres batch node1 71
"$profres" plot -o nodes.html 71
is "a job is found by its number" $? 0
is "each node of each step has a view, and the nodes together" "$(data nodes.html | jq -c '[.views[] | .group + " " + .name]')" \
    '["71.batch node1","71.0 all 3 nodes","71.0 node1","71.0 node2","71.0 node3"]'
is "nodes are laid over each other" "$(data nodes.html | jq -c '[.views[1].panels[0].lines[].label]')" '["node1","node2","node3"]'
is "... and make a map of warmth" "$(data nodes.html | jq -c '.views[1].heats[0].names')" '["node1","node2","node3"]'
is "one step alone" "$("$profres" plot -f html -o - 71.batch | data - | jq -c '[.views[].group]')" '["71.batch"]'
is "one node alone" "$("$profres" plot -f html -o - -n node2 71 | data - | jq -c '[.views[].name]')" '["node2"]'
err=$("$profres" plot -n nobody 71 2>&1)
is "a node that is not there fails" $? 1
like "... and is named" "$err" "*'nobody'*"
"$profres" plot -o jobs.html 72 73 74
is "jobs are laid over each other" "$(data jobs.html | jq -c '[.views[0].name, (.views[0].panels[0].lines | length)]')" '["all 3 runs",3]'
for n in $(seq 80 91); do plot_place "run$((n % 3 + 1))" "slurm-$n.profres" 0 node1 "$n"; done
mapfile -t jobs < <(seq 80 91)
"$profres" plot -o many.html "${jobs[@]}"
is "many become a band and a median" "$(data many.html | jq -c '[.views[0].panels[0].lines[] | .style + " " + .label]')" \
    '["band p10 to p90 of 12 runs","solid median","solid largest"]'
is "the largest of them is the summaries'" "$(data many.html | jq '.views[0].panels[0] | .quantum as $q | .lines[2] | [foreach (.v[] | numbers) as $d (0; . + $d)] | max * $q')" \
    "$(for n in 1 2 3; do measured run$n cgroup_mem_sampled_peak max; done | sort -n | tail -n 1 | grep . || for n in 1 2 3; do measured run$n ps_rss_total max; done | sort -n | tail -n 1)"
"$profres" plot "${jobs[@]}" >many.txt
ok "as text, a line for each" test "$(grep -c 'node1' many.txt)" -ge 12

# --- phases and events ---
plot_place run1 slurm-95.profres 0 node1 95
series=slurm-95.profres/0/node1.jsonl
plot_insert "$series" '{"type":"event","ts":"2026-11-16T00:00:00.000Z","t":0.4,"event":"phase","name":"load data","from":0.1,"to":0.4}'
plot_insert "$series" '{"type":"event","ts":"2026-11-16T00:00:00.000Z","t":0.2,"event":"oom","kills":1,"gone":[{"pid":1,"comm":"greedy"}]}'
"$profres" plot -o phases.html 95
# the task's own end is one, too, where it came long before the last sample; and jq 1.7
# keeps 0.100 as it is written
is "phases and kills are marked" "$(data phases.html | jq -c '[.views[0].moments[] | select(.text | startswith("rank ") | not)
    | [.from + 0, .to + 0, .text, .bad]]')" \
    '[[0.1,0.4,"load data",null],[0.2,0.2,"out of memory: greedy",true]]'
like "... in text, too" "$("$profres" plot 95)" "*0.1 s  to 0.4 s: load data*"

# --- names that would like to be something else ---
hostile='</script><script>window.pwned=1</script><img src=x onerror=alert(1)>'
"$profres" run -q -d hostile -- python3 -c 'import time; time.sleep(0.2)' "$hostile" $'\e]0;title\a' "'\"&"
"$profres" plot -o hostile.html hostile
is "a hostile command is in no page as markup" "$(grep -c '<script>window.pwned\|<img src=x' hostile.html)" 0
is "... and there are two scripts, the data and ours" "$(grep -o '<script' hostile.html | wc -l)" 2
like "... but as text it is there" "$(data hostile.html | jq -r '.views[0].command')" "*window.pwned=1*"
"$profres" plot -o hostile.svg hostile
is "... nor in a picture" "$(grep -c '<script\|<img' hostile.svg)" 0
ok "... which is XML all the same" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' hostile.svg
is "no escape reaches a terminal" "$("$profres" plot hostile | grep -c $'\e\|\a')" 0
mkdir -p "evil/0" && cp one/0/*.json "evil/0/$(printf 'n\033[31m<b>').json"
cp one/0/*.jsonl "evil/0/$(printf 'n\033[31m<b>').jsonl"
is "... nor one in the name of a file" "$("$profres" plot evil 2>&1 | grep -c $'\e')" 0

# --- bad input ---
err=$("$profres" plot -o x.html nothing-here 2>&1)
is "what is not there fails" $? 1
like "... and says so" "$err" "profres: *nothing-here*"
"$profres" plot -o x.gif one 2>err
is "a form that is none is a usage error" $? 2
like "... and says which there are" "$(cat err)" "*html, svg, png or txt*"
"$profres" plot 2>err
is "nothing named is a usage error" $? 2
err=$("$profres" plot -o /nowhere/x.html one 2>&1)
is "a place that cannot be written fails" $? 1
like "... and says why" "$err" "*cannot write /nowhere/x.html*"
mkdir -p empty/0 && : >empty/0/n.jsonl
like "an empty series is said to be one" "$("$profres" plot empty 2>&1)" "*nothing to draw*"
mkdir -p torn/0 && cp one/0/*.json torn/0/n.json
head -c -40 one/0/*.jsonl >torn/0/n.jsonl
like "a torn line is said" "$("$profres" plot torn)" "*cut off*"
mkdir -p short/0 && sed '/"type":"usage"/,$d' one/0/*.jsonl >short/0/n.jsonl
grep -m1 '"type":"usage"' one/0/*.jsonl >>short/0/n.jsonl
"$profres" plot -o short.html short
is "a series with one window is drawn" $? 0
mkdir -p future/0 && sed 's,profres-series/2,profres-series/9,' one/0/*.jsonl >future/0/n.jsonl
err=$("$profres" plot future 2>&1)
is "a future version is refused" $? 1
like "... with what to do" "$err" "*later version*newer profres*"

# --- a series of a month, sampled far too often ---
mkdir -p huge/0 && head -n 1 one/0/*.jsonl >huge/0/n.jsonl
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "{\"type\":\"usage\",\"from\":%d,\"to\":%d,\"measurements\":{\"ps_rss_total\":%.0f,\"proc_count\":%d}}\n",
    10 * i, 10 * i + 10, i == 123456 ? 7777777777 : 1000000000 + i % 1000, i % 7 }' >>huge/0/n.jsonl
"$profres" plot -o huge.html huge
is "a huge series is drawn" $? 0
ok "... in less than 2 MB" test "$(stat -c %s huge.html)" -lt 2000000
is "... with the one window that stood out" "$(drawn huge.html ps_rss_total)" 7777777777
