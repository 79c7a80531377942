# What is fetched from Debian for the labs, and kept between runs outside of the
# sources. Sourced; on Debian only.
# shellcheck shell=bash disable=SC2034 # debian_why and debian_dir are for the caller
#
#   debian_cache         where it is kept: $PROFRES_CACHE, or in the user's cache;
#                        what is removed there is fetched anew
#   debian_once NAME COMMAND ARG...
#       the directory NAME in there, in $debian_dir, made by COMMAND ARG...
#       DIRECTORY unless it is there already
#   debian_apt SUITE WORD...
#       apt-get or apt-cache (the first word) for another release of Debian; what
#       the host has, and what it knows of its own release, is left alone
#
# The reason of a failure is in $debian_why.

debian_why=
debian_dir=

debian_cache() {
    local base=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
    case $base in /nonexistent/*) base=/var/cache ;; esac
    echo "${PROFRES_CACHE:-$base/profres}"
}

debian_once() {
    local name=$1 cache lock
    shift
    cache=$(debian_cache)
    debian_dir=$cache/$name
    debian_why="cannot write in $cache"
    mkdir -p "$cache" || return
    # two tests at a time: the second waits, and finds it made
    exec {lock}>"$cache/.$name.lock" && flock -w 900 "$lock" || return
    if [ ! -d "$debian_dir" ]; then
        rm -rf --one-file-system "$cache/.$name.new"
        mkdir "$cache/.$name.new"
        debian_why="$name cannot be made, see $cache/$name.log"
        "$@" "$cache/.$name.new" >"$cache/$name.log" 2>&1 &&
            mv "$cache/.$name.new" "$debian_dir"
    fi
    exec {lock}>&-
    [ -d "$debian_dir" ] && debian_why=
}

# debian_mirror: where this host has its packages from
debian_mirror() {
    # shellcheck disable=SC2016 # apt's
    apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
        awk '$2 !~ /-/ && $1 ~ /debian/ { print $1; exit }'
}

debian_apt() {
    local suite=$1 program=$2 debian_dir options
    shift 2
    debian_once "apt-$suite" debian_apt_make "$suite" || return
    mapfile -t options < <(debian_apt_options "$debian_dir")
    "$program" "${options[@]}" -q "$@"
}

debian_apt_options() { # DIR
    printf '%s\n' -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$1/etc" \
        -o "Dir::State=$1/state" -o Dir::State::status=/dev/null -o "Dir::Cache=$1/cache" \
        -o APT::Sandbox::User=root
}

debian_apt_make() { # SUITE DIR
    local mirror options
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || return
    mkdir -p "$2"/{etc,state/lists/partial,cache/archives/partial}
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" \
        >"$2/etc/$1.list"
    mapfile -t options < <(debian_apt_options "$2")
    apt-get "${options[@]}" -q -o APT::Update::Error-Mode=any update
}
