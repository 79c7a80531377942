# A real browser for tests: sourced after tap.sh. It speaks WebDriver, which is HTTP and
# JSON, so curl and jq are all it takes. browser_open, browser_go, browser_js, browser_click,
# browser_keys, browser_move, browser_drag, browser_log, browser_close.
# shellcheck shell=bash

browser=
for browser_name in chromium chromium-browser google-chrome; do
    [ -z "$browser" ] && browser=$(command -v "$browser_name")
done

# Why there is none; nothing when there is one.
browser_missing() {
    local program

    [ -n "$browser" ] || echo "no chromium"
    for program in chromedriver curl jq; do
        command -v "$program" >/dev/null || echo "no $program"
    done
}

# browser_send METHOD PATH [JSON]: what it answered
browser_send() {
    curl -s -m 30 -X "$1" "http://127.0.0.1:$browser_port/$2" \
        -H 'Content-Type: application/json' ${3:+-d "$3"}
}

# A profile of its own, and nothing that it would fetch by itself.
browser_open() {
    local flags

    chromedriver --port=0 >"$work/driver.log" 2>&1 &
    browser_driver=$!
    started+=("$browser_driver")
    until_true 30 grep -q 'started successfully on port' "$work/driver.log" || return 1
    browser_port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$work/driver.log")
    flags=$(jq -nc --arg data "--user-data-dir=$work/browser" '[$data, "--headless",
        "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--window-size=1280,1000"]')
    browser_session=$(browser_send POST session "$(jq -nc --argjson flags "$flags" \
        --arg binary "$browser" '{capabilities: {alwaysMatch: {
            "goog:chromeOptions": {args: $flags, binary: $binary},
            "goog:loggingPrefs": {browser: "ALL"}}}}')" | jq -r '.value.sessionId // empty')
    [ -n "$browser_session" ]
}

browser_close() {
    browser_send DELETE "session/$browser_session" >/dev/null
    kill "$browser_driver" 2>/dev/null
    wait "$browser_driver" 2>/dev/null
    return 0
}

browser_do() { browser_send POST "session/$browser_session/$1" "$2"; }

# browser_go FILE: loads it from the disk, and waits until it has drawn itself
browser_go() {
    browser_do url "$(jq -nc --arg url "file://$1" '{url: $url}')" >/dev/null
    until_true 20 browser_is 'document.body.dataset.ready !== undefined'
}

# browser_js EXPRESSION: its value as text
browser_js() {
    browser_do execute/sync "$(jq -nc --arg js "return $1" '{script: $js, args: []}')" |
        jq -r '.value | if type == "string" then . else tojson end'
}

browser_is() { [ "$(browser_js "$1")" = true ]; }

# browser_element SELECTOR: its id
browser_element() {
    browser_do element "$(jq -nc --arg css "$1" '{using: "css selector", value: $css}')" |
        jq -r '.value | to_entries[0].value'
}

# browser_click SELECTOR: as with a mouse
browser_click() {
    browser_do "element/$(browser_element "$1")/click" '{}' | jq -e '.value == null' >/dev/null
}

# browser_act SOURCE-JSON: what a hand does
browser_act() { browser_do actions "{\"actions\": [$1]}" >/dev/null; }

# browser_keys KEY...: each pressed and let go; \uE004 is Tab, \uE014 right, \uE007 enter
browser_keys() {
    local key list=

    for key in "$@"; do
        list+="${list:+,}{\"type\":\"keyDown\",\"value\":\"$key\"},{\"type\":\"keyUp\",\"value\":\"$key\"}"
    done
    browser_act "{\"type\":\"key\",\"id\":\"keys\",\"actions\":[$list]}"
}

# browser_at SELECTOR SHARE: "x y" of a place in the element, so far from its left
browser_at() {
    browser_js "(() => { const e = document.querySelector('$1'); e.scrollIntoView({block: 'center'});
        const b = e.getBoundingClientRect();
        return Math.round(b.left + b.width * $2) + ' ' + Math.round(b.top + b.height / 2); })()"
}

# browser_move SELECTOR SHARE: the pointer to there
browser_move() {
    local x y

    read -r x y < <(browser_at "$1" "$2")
    browser_act "{\"type\":\"pointer\",\"id\":\"mouse\",\"parameters\":{\"pointerType\":\"mouse\"},
        \"actions\":[{\"type\":\"pointerMove\",\"x\":$x,\"y\":$y,\"duration\":0}]}"
}

# browser_drag SELECTOR FROM TO: with the button held
browser_drag() {
    local x y to

    read -r x y < <(browser_at "$1" "$2")
    read -r to y < <(browser_at "$1" "$3")
    browser_act "{\"type\":\"pointer\",\"id\":\"mouse\",\"parameters\":{\"pointerType\":\"mouse\"},
        \"actions\":[{\"type\":\"pointerMove\",\"x\":$x,\"y\":$y,\"duration\":0},
        {\"type\":\"pointerDown\",\"button\":0},
        {\"type\":\"pointerMove\",\"x\":$to,\"y\":$y,\"duration\":50},
        {\"type\":\"pointerUp\",\"button\":0}]}"
}

# browser_media NAME VALUE: as if the system had said so; browser_media media print
browser_media() {
    local params

    if [ "$1" = media ]; then
        params=$(jq -nc --arg v "$2" '{media: $v}')
    else
        params=$(jq -nc --arg n "$1" --arg v "$2" '{features: [{name: $n, value: $v}]}')
    fi
    browser_do goog/cdp/execute "{\"cmd\":\"Emulation.setEmulatedMedia\",\"params\":$params}" \
        >/dev/null
}

# What the page has complained of since it was last asked.
browser_log() {
    browser_do se/log '{"type": "browser"}' | jq -r '.value[] | .level + " " + .message'
}

# browser_picture FILE.png: the whole page
browser_picture() {
    browser_do goog/cdp/execute '{"cmd":"Page.captureScreenshot",
        "params":{"captureBeyondViewport":true}}' | jq -r '.value.data' | base64 -d >"$1"
}
