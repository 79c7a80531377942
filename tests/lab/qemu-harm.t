#!/bin/bash
# The tests of tests/slurm again, under the same Slurm, on the unified cgroup v2
# of a full kernel: whatever becomes of the sampler and however a step ends, and
# beside sstat and sacct. The others are in qemu-slurm.t.
# shellcheck disable=SC1091,SC2034,SC2154 # names of tap.sh, vm.sh and lab.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
vm_seconds=1700
vm_slurm qemu harm ends account
