# TAP for shell tests: sourced. Gives ok, is, like, near, skip, plan, and a
# directory of the test's own, removed at the end with whatever still runs.
# shellcheck shell=bash disable=SC2034

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top_srcdir=${top_srcdir:-$(cd "$here/../.." && pwd)}
top_builddir=${top_builddir:-$top_srcdir/build}
profres=$top_builddir/profres
work=$(mktemp -d "${TMPDIR:-/tmp}/profres-test.XXXXXX")
chmod 755 "$work"
started=()
count=0
failures=0

finish() {
    local pid
    for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null; done
    rm -rf "$work"
    [ "$failures" = 0 ] || exit 1
}
trap finish EXIT

plan() { echo "1..$1"; }

# ok TEXT COMMAND...: the command succeeds
ok() {
    local text=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $text"
    else
        failures=$((failures + 1))
        echo "not ok $count - $text"
        echo "# failed: $*"
    fi
}

is() { # TEXT GOT EXPECTED
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        failures=$((failures + 1))
        echo "not ok $count - $1"
        printf '# got      %s\n# expected %s\n' "$2" "$3"
    fi
}

like() { # TEXT GOT PATTERN
    count=$((count + 1))
    # shellcheck disable=SC2053 # a pattern on purpose
    if [[ $2 == $3 ]]; then
        echo "ok $count - $1"
    else
        failures=$((failures + 1))
        echo "not ok $count - $1"
        printf '# got     %s\n# pattern %s\n' "${2//$'\n'/$'\n'# }" "$3"
    fi
}

# near TEXT GOT EXPECTED TOLERANCE: |got - expected| <= tolerance
near() {
    count=$((count + 1))
    if awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; t += 1e-9; exit !(a != "" && b != "" && d <= t && -d <= t) }'; then
        echo "ok $count - $1 ($2 against $3)"
    else
        failures=$((failures + 1))
        echo "not ok $count - $1"
        echo "# got $2, expected $3 within $4"
    fi
}

skip() { # N REASON: N points
    local i
    for ((i = 0; i < $1; i++)); do
        count=$((count + 1))
        echo "ok $count # SKIP $2"
    done
}

# until_true SECONDS COMMAND...: waits for a condition, not for a time
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

summary() { echo "$1"/0/*.json; }

# measured DIR KEY FIELD: a number of the summary, empty when absent
measured() { jq -r --arg k "$2" --arg f "$3" '.measurements[$k][$f] // empty' "$(summary "$1")"; }

jq_true() { jq -e "$@" >/dev/null; }

is_root() { [ "$(id -u)" = 0 ]; }

# as_user COMMAND...: as an ordinary user who can read the work directory
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }

# Where the sources are only root's, an ordinary user could not run what was built.
if is_root && ! as_user test -x "$profres"; then
    mkdir "$work/bin"
    cp "$top_builddir/profres" "$top_builddir/profres-sampler" "$work/bin/"
    profres=$work/bin/profres
fi
