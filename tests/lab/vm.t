#!/bin/bash
# How vm.sh tells the ways in which a guest ends, with one that is a shell: only a
# kernel that never came up is tried again, and that is said.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154 # names of tap.sh and vm.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
cd "$work" || exit 1

fake_patience=1
fake_mount_box() { :; }
# what each boot does, from $boots
fake_command() {
    printf 'box=%q\n' "$vm_box"
    echo >>tries
    echo "${boots[$(wc -l <tries) - 1]}"
}
# guest BOOT...: runs it, with so many boots at hand
guest() {
    boots=("$@")
    : >tries
    vm_run fake none >out
    got="$? after $(wc -l <tries)"
}
up='echo >$box/booted'
over='echo hello >$box/output; echo 3 >$box/status'

guest "$up; $over" "exit 1"
is "one that comes up: its status" "$got:$(cat out)" "3 after 1:hello"
guest "echo one; echo 'Kernel panic - not syncing: so'; echo rebooting" "$up; $over"
is "one that does not: another" "$got:$(tail -n 1 out)" "3 after 2:hello"
is "... which is said" "$(grep -c '^# no kernel came up: Kernel panic - not syncing: so; once more' out)" 1
is "... with its console" "$(grep -c '^# rebooting' out)" 1
guest "$up; echo 'Oops: int3'; seq 99" ""
is "... from where the trouble began, and the end" "$(grep -c '^# Oops: int3' out) $(grep -c '^# [0-9]*$' out)" "1 61"
guest "exit 1" "exit 1" "$up; $over"
is "two that do not: no third" "$got" "125 after 2"
guest "$up; echo 'ok 1' >\$box/output; echo dead" "$up; $over"
is "one that dies in the test: no other" "$got:$(head -n 1 out)" "126 after 1:ok 1"
is "... why" "$vm_why" "it ended before its script did: dead"
guest "$up; kill -KILL \$\$" "$up; $over"
like "one that is killed: it is said" "$got:$vm_why" "126 after 1:* ?signal KILL?"
vm_boot_seconds=1
guest "exec sleep 100" "$up; $over"
is "one that hangs before: another" "$got" "3 after 2"
is "... which is said" "$(grep -c '^# no kernel came up: not up after 1 s.*once more' out)" 1
vm_seconds=2
guest "$up; exec sleep 100" "$up; $over"
is "one that hangs in the test: no other" "$got" "124 after 1"
plan "$count"
