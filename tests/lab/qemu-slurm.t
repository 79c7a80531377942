#!/bin/bash
# The tests of tests/slurm again, under the same Slurm, on the unified cgroup v2
# of a full kernel: two CPUs, cpuset, PSI. How steps end is in qemu-harm.t.
# shellcheck disable=SC1091,SC2034,SC2154 # names of tap.sh, vm.sh and lab.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
vm_seconds=1700
vm_slurm qemu core step mark
