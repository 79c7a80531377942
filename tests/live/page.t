#!/bin/bash
# The script and the style of 'profres plot' inside the program: byte for byte those of
# the sources, whichever awk has put them there.
# shellcheck disable=SC1091,SC2154 # names of tap.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
cd "$work" || exit 1
plot=$top_srcdir/tools/profres/plot

cat >print.c <<'END'
#include <stdio.h>
#include "tools/profres/plot/page.h"
int main(int argc, char **argv)
{
    (void)argv;
    for (const char *const *line = argc > 1 ? pfr_page_css : pfr_page_js; *line; line++)
        fputs(*line, stdout);
    return 0;
}
END

# same PAGE.C: what a program made with it has in it is what is in the sources
same() {
    cc -w -I "$top_srcdir" -o print print.c "$1" || return
    ./print | cmp - "$plot/plot.js" && ./print css | cmp - "$plot/plot.css"
}

# made COMMAND...: page.c by that awk
made() { (cd "$plot" && "$@" -f page.awk NAME=pfr_page_js plot.js NAME=pfr_page_css plot.css) >page.c; }

plan 5
if ! type -P cc >/dev/null; then
    skip 5 "no C compiler"
    exit
fi
ok "the page of this build" same "$top_builddir/tools/profres/plot/page.c"
for awk in mawk gawk "busybox awk"; do
    # shellcheck disable=SC2086 # two words
    if $awk 'BEGIN { exit 0 }' </dev/null >/dev/null 2>&1; then
        made $awk
        ok "a page made by $awk" same page.c
    else
        skip 1 "no $awk"
    fi
done
sed 's/\\\\/\\/' "$top_builddir/tools/profres/plot/page.c" >page.c
is "a lost backslash is noticed" "$(same page.c >/dev/null 2>&1 && echo missed)" ""
