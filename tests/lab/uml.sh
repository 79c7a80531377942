# User-mode Linux (Debian's package user-mode-linux), booted on the host's own
# file system. Sourced by vm.sh, which calls these.
# shellcheck shell=bash disable=SC2034,SC2154 # names of vm.sh

uml_memory=1G
uml_patience=2

uml_available() {
    vm_why="linux.uml is not installed (Debian: user-mode-linux)"
    command -v linux.uml >/dev/null && vm_why=
}

uml_mount_box() { echo "mount -t hostfs -o $(printf %q "$vm_box") box run/box"; }

uml_command() {
    mkdir "$vm_box/uml"
    printf '%q ' exec linux.uml "mem=$uml_memory" root=/dev/root rootfstype=hostfs rootflags=/ rw \
        "init=$vm_box/init" con=null ssl=null con0=null,fd:1 quiet panic=-1 "uml_dir=$vm_box/uml"
}
