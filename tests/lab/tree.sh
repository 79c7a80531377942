# Another release of Debian as a tree of files, with its own Slurm, and the
# project built in there against its own headers and libraries. Sourced, after
# vm.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # names of vm.sh and debian.sh
#
#   tree_slurm SUITE NAME...    tests/slurm/NAME.t under the Slurm of that
#                               release, in User-mode Linux; the end of the shell

tree_packages=(gcc libc6-dev make pkg-config libjson-c-dev libcgroup-dev libslurm-dev slurmctld
    slurmd slurm-client slurm-wlm-basic-plugins munge jq procps iproute2)

tree_slurm() {
    local suite=$1
    shift
    tree_available "$suite" || { echo "1..0 # SKIP $vm_why" && exit 0; }
    vm_tree=$debian_dir
    if ! tree_build "$top_builddir/lab/$suite"; then
        tail -n 20 "$top_builddir/lab/$suite.log" | sed 's/^/# /'
        echo "Bail out! it does not build in Debian's $suite"
        exit 1
    fi
    top_builddir=$top_builddir/lab/$suite
    vm_slurm uml "$@"
}

tree_available() {
    local need
    vm_available uml || return
    for need in debootstrap unshare apt-get; do
        vm_why="there is no $need (Debian: $need)"
        command -v "$need" >/dev/null || return 1
    done
    vm_why="a test of the built plugin, which was not built (no slurm/spank.h)"
    [ -e "$top_builddir/.libs/profile_res.so" ] || return
    debian_once "tree-$1" tree_make "$1"
    vm_why=$debian_why
    [ -z "$vm_why" ]
}

tree_make() { # SUITE DIR
    local mirror
    mirror=$(debian_mirror)
    # what debootstrap does has been the same for all releases for years; what it
    # mounts is gone with it, however it ends
    [ -n "$mirror" ] &&
        unshare -m --propagation private debootstrap --variant=minbase \
            --include="$(IFS=, && echo "${tree_packages[*]}")" \
            --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
            "$1" "$2" "$mirror" /usr/share/debootstrap/scripts/sid &&
        rm -rf "$2"/var/cache/apt/archives/*.deb "$2"/var/lib/apt/lists/*
}

# What is mounted for it is gone with it, however it ends.
tree_build() { # BUILD
    mkdir -p "$1"
    # shellcheck disable=SC2016 # the inner shell's
    unshare -m --propagation private bash -ec '
        cd "$0"
        mount -t tmpfs tmpfs run
        mount -t tmpfs tmpfs tmp
        mount -t proc proc proc
        mount -t tmpfs tmpfs dev
        mknod -m 666 dev/null c 1 3
        mkdir run/source run/build
        mount --bind "$1" run/source
        mount -o remount,bind,ro run/source
        mount --bind "$2" run/build
        exec env -u TMPDIR chroot . sh -ec "
            cd /run/build
            [ -e Makefile ] || /run/source/configure --enable-werror
            # the host has made all that is made of other tools
            make -j2 AUTOMAKE=: AUTOCONF=: ACLOCAL=: AUTOHEADER=: \\
                profres profres-sampler profile_res.la
        "' "$vm_tree" "${top_srcdir:?}" "$1" >"$1.log" 2>&1 </dev/null
}
