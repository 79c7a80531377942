#!/bin/bash
# README's section "With Slurm", to the letter but for the prefix: its commands, its line
# of plugstack.conf, and a step is profiled by what was installed. Then it is uninstalled.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin

# block N: the lines of the Nth code block of the section
block() {
    awk -v n="$1" '/^## / { here = $0 == "## With Slurm" }
        here && /^```/ { if (inside) inside = 0; else { inside = 1; seen++ }; next }
        here && inside && seen == n { sub(/ *#.*/, ""); print }' "$top_srcdir/README.md"
}

root=$work/prefix plugins=$work/prefix/lib/slurm log=$work/log

# The sources may be read-only, or be used by others at the same time: not changed here.
# The quicker compilation is of no consequence to what is installed where.
install_it() {
    local step
    mkdir build && cd build || return
    while read -r step; do
        case $step in
        autoreconf* | mkdir*) continue ;;
        ../configure)
            step="'$top_srcdir/configure' --prefix='$root' --with-spankdir='$plugins' CFLAGS=-O0" ;;
        esac
        echo "\$ $step"
        eval "$step" || return
    done < <(block 1) >"$log" 2>&1
}

# found_in CONFIGURE_ARGUMENT...: the place that configure prints
found_in() {
    mkdir -p "$work/found" && cd "$work/found" || return
    "$top_srcdir/configure" --cache-file="$work/found.cache" --without-ncurses "$@" 2>&1 | sed -n 's/^ *Slurm plugin *//p'
}

plan 13
if [ -e "$top_srcdir/config.status" ]; then
    skip 13 "the sources are configured in place"
    exit
fi
is "README has the commands" "$(block 1 | tr '\n' ';')" \
    "autoreconf -fi;mkdir -p build && cd build;../configure;make;make install;"
is "... and a line of plugstack.conf" "$(block 2)" "optional profile_res.so"

own=$(dirname "$(find /usr/lib* /usr/local/lib* /opt -name 'select_*.so' 2>/dev/null | head -n 1)")
is "configure finds the PluginDir of this Slurm" "$(found_in)" \
    "$own/profile_res.so (PluginDir of Slurm)"
mkdir -p "$work/scontrol" "$work/other" && touch "$work/other/select_any.so"
printf '#!/bin/sh\necho "PluginDir               = /nowhere:%s"\n' "$work/other" >"$work/scontrol/scontrol"
chmod 755 "$work/scontrol/scontrol"
is "... and the one that a running Slurm names" "$(PATH=$work/scontrol:$PATH found_in)" \
    "$work/other/profile_res.so (PluginDir of Slurm)"
is "... expanded" "$(found_in --prefix=/opt/p --with-spankdir='${libdir}/slurm')" \
    "/opt/p/lib/slurm/profile_res.so (--with-spankdir)"

cd "$work" || exit 1
ok "its commands succeed" install_it
tail -n 5 "$log" | sed 's/^/# /'
is "the plugin is in its place, alone" "$(ls "$plugins")" profile_res.so
"$top_builddir/profres" --version >expected
is "the command is there" "$("$root/bin/profres" --version)" "$(cat expected)"

start PluginDir="$plugins:$own"
lab_spank "$(block 2)"
lab_srun --profile-res=dir=one sleep 0.3 >out 2>err
is "a step with that line" "$?:$(cat out)" 0:
like "... its summary" "$(cat err)" "profres: *memory*"
is "... its files" "$(files one)" "0/n1.json 0/n1.jsonl "
ok "... nothing left" clean

make -C "$work/build" uninstall >"$log" 2>&1
is "uninstalled, no file is left, nor a directory of ours" \
    "$(find "$root" ! -type d -o -name profres)" ""
