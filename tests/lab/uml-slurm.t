#!/bin/bash
# The core of the tests of tests/slurm on the unified cgroup v2 of a small kernel:
# one CPU, no cpuset, no PSI. One boot of User-mode Linux.
# shellcheck disable=SC1091,SC2034,SC2154 # names of tap.sh and vm.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
vm_seconds=600 # it takes a sixth of that on a host that is idle
vm_slurm uml core
