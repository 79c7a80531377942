#!/bin/bash
# The page of profres plot in a real browser: it loads from the disk, complains of nothing,
# draws what was measured, and can be used with a mouse, with keys, in light and in dark.
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=plot.sh
. "$(dirname "$0")/plot.sh"
# shellcheck source=browser.sh
. "$(dirname "$0")/browser.sh"
points=46
plan $points
cd "$work" || exit 1

missing=$(browser_missing)
if [ -n "$missing" ]; then
    skip $points "${missing//$'\n'/, }"
    exit
fi

# A job of two steps, one of them on three nodes; its command and a phase with bad names.
hostile='</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>'
printf '%s' "$plot_work" >work.py
for n in 1 2 3; do
    "$profres" run -q -i 0.05 -w 0.2 -d run$n -- python3 work.py $((2 * n)) "$hostile"
    plot_place run$n slurm-71.profres 0 node$n 71
done
plot_place run1 slurm-71.profres batch node1 71
plot_insert slurm-71.profres/0/node3.jsonl \
    '{"type":"event","ts":"2026-11-16T00:00:00.000Z","t":0.4,"event":"phase","name":"<b>load</b> data","from":0.1,"to":0.4}'
plot_insert slurm-71.profres/0/node3.jsonl \
    '{"type":"event","ts":"2026-11-16T00:00:00.000Z","t":0.3,"event":"oom","kills":1,"gone":[{"pid":1,"comm":"greedy"}]}'
"$profres" plot -o page.html 71

browser_open || {
    skip $points "the browser does not start: $(tail -n 1 driver.log)"
    exit
}
browser_media prefers-color-scheme light
ok "the page loads from file://" browser_go "$work/page.html"
is "... without a complaint" "$(browser_log)" ""
is "... and asks nothing of any network" "$(browser_js 'performance.getEntriesByType("resource").length')" 0
is "its title" "$(browser_js document.title)" "profres: 71.0"
is "no script of others has run" "$(browser_js 'typeof window.pwned')" undefined
is "... there are two, and no image" "$(browser_js '[document.scripts.length, document.images.length]')" '[2,0]'

# --- choosing ---
is "the nodes together come first" "$(browser_js 'document.querySelector("h1").textContent')" "71.0 · all 3 nodes"
is "a line for each node" "$(browser_js 'document.querySelectorAll("section:first-of-type path.line").length')" 3
ok "a map of warmth" browser_is 'document.querySelectorAll(".heat canvas[tabindex]").length >= 1'
browser_move '.heat .cells canvas' 0.5
like "... that is read with the pointer" "$(browser_js 'document.querySelector(".tip").innerText')" "*node*:*"
ok "a node is chosen" browser_click '#node option:nth-child(4)'
is "... and shown" "$(browser_js 'document.querySelector("h1").textContent')" "71.0 · node3"
is "... the others are not" "$(browser_js 'document.querySelectorAll(".heat").length')" 0
like "the command is text" "$(browser_js 'document.querySelector(".command").textContent')" "*<script>window.pwned=1</script><img*"

# --- what is drawn is what was measured ---
# the highest point of a line as it stands on the screen, by the scale of its panel
screen_most() {
    browser_js "(() => { const p = document.querySelector('path.line[data-key=\"$1\"]');
        const d = p.ownerSVGElement.dataset;
        return (d.y0 - p.getBBox().y) / (d.y0 - d.y1) * d.top; })()"
}
pixel() { browser_js "(() => { const d = document.querySelector('path.line[data-key=\"$1\"]')
    .ownerSVGElement.dataset; return d.top / (d.y0 - d.y1); })()"; }
most_of() { browser_js "Number(document.querySelector('.legend button[data-key=\"$1\"]').dataset.most)"; }
if [ -n "$(measured run3 cgroup_mem_sampled_peak max)" ]; then
    charged=cgroup_mem_current
    peak=$(measured run3 cgroup_mem_sampled_peak max)
else
    charged=ps_rss_total
    peak=$(measured run3 ps_rss_total max)
fi
near "the drawn maximum of memory is the summary's peak" "$(screen_most $charged)" "$peak" "$(pixel $charged)"
is "... and to the byte in the legend" "$(most_of $charged)" "$peak"
if [ -n "$(measured run3 cgroup_mem_peak max)" ]; then
    near "the kernel's peak is a line of its own" "$(screen_most cgroup_mem_peak)" \
        "$(measured run3 cgroup_mem_peak max)" "$(pixel cgroup_mem_peak)"
    is "... to the byte" "$(most_of cgroup_mem_peak)" "$(measured run3 cgroup_mem_peak max)"
else
    skip 2 "no kernel peak"
fi
ok "processes are stacked" browser_is 'document.querySelectorAll("[data-panel=process-memory] path[data-key]").length >= 1'
ok "the phase is marked in every panel" browser_is 'document.querySelectorAll(".phase").length === document.querySelectorAll("svg.plot").length'
ok "... and so is the kill" browser_is 'document.querySelectorAll(".moment.bad").length === document.querySelectorAll("svg.plot").length'
like "... both in the list, as text" "$(browser_js 'document.querySelector(".events").innerText')" "*<b>load</b> data*out of memory: greedy*"

# --- with a mouse ---
value() { browser_js "document.querySelector('[data-panel=memory] .legend button[data-key=\"$charged\"] b').textContent"; }
before=$(value)
browser_move '[data-panel=memory] svg' 0.2
like "pointing reads all lines" "$(browser_js 'document.querySelector(".tip").hidden + document.querySelector(".tip").innerText')" "false*0.* s*"
ok "... and the legend has the values there" test "$(value)" != "$before"
is "... with a line across all panels" "$(browser_js '[...document.querySelectorAll(".cursor")].every((c) => c.getAttribute("visibility") === "visible")')" true
browser_move h1 0.1
is "it ends when the pointer leaves" "$(value)" "$before"
lines() { browser_js "document.querySelectorAll('[data-panel=memory] path[data-key=\"$charged\"]').length"; }
ok "a name in the legend can be clicked" browser_click "[data-panel=memory] .legend button[data-key=\"$charged\"]"
is "... which takes the line away" "$(lines)" 0
is "... and says so" "$(browser_js "document.querySelector('[data-panel=memory] .legend button[data-key=\"$charged\"]').getAttribute('aria-pressed')")" false
browser_click '#node option:nth-child(3)'
is "... on other nodes, too" "$(lines)" 0
browser_click "[data-panel=memory] .legend button[data-key=\"$charged\"]"
is "... until it is clicked again" "$(lines)" 1
ticks() { browser_js '[...document.querySelectorAll("[data-panel=memory] text.time")].map((t) => t.textContent).join(" ")'; }
whole=$(ticks)
browser_drag '[data-panel=memory] svg' 0.4 0.7
ok "dragging zooms" test "$(ticks)" != "$whole"
browser_click '#reset'
is "... and a button goes back" "$(ticks)" "$whole"

# --- with keys alone ---
focus() { browser_js '(document.activeElement.id || document.activeElement.getAttribute("class") || document.activeElement.dataset.key)'; }
browser_go "$work/page.html"
browser_keys '\uE004' '\uE004'
is "Tab goes to the choice of nodes" "$(focus)" node
browser_keys '\uE015' '\uE015' '\uE015'
is "... an arrow chooses one" "$(browser_js 'document.querySelector("h1").textContent')" "71.0 · node3"
reached=
for _ in $(seq 40); do
    browser_keys '\uE004'
    reached+=" $(focus)"
    [[ $reached == *" plot" ]] && break
done
like "... and Tab goes on to the legend and the panel" "$reached" "*theme*$charged*plot"
ok "... and it shows where it is" browser_is 'getComputedStyle(document.activeElement).outlineStyle !== "none"'
browser_keys '\uE014' '\uE014' '\uE014'
ok "arrows read values" browser_is '!document.querySelector(".tip").hidden'
like "... which are said, too" "$(browser_js 'document.querySelector("[aria-live]").textContent')" "*:*charged*"
whole=$(ticks)
browser_keys + +
ok "plus zooms" test "$(ticks)" != "$whole"
browser_keys 0
is "0 shows all" "$(ticks)" "$whole"

# --- light, dark, paper ---
paper() { browser_js 'getComputedStyle(document.body).backgroundColor'; }
light=$(paper)
browser_click '#theme'
ok "a button makes it dark" test "$(paper)" != "$light"
browser_click '#theme'
is "... and light again" "$(paper)" "$light"
browser_js 'localStorage.clear()' >/dev/null
browser_media prefers-color-scheme dark
browser_go "$work/page.html"
is "it is dark where the system is" "$(browser_js 'document.documentElement.dataset.theme')" dark
browser_media media print
is "on paper there are no buttons" "$(browser_js 'getComputedStyle(document.querySelector(".controls")).display')" none
[ -z "${PROFRES_PICTURES:-}" ] || browser_picture "$PROFRES_PICTURES/page.png"
is "in the end, still no complaint" "$(browser_log)" ""
browser_close
