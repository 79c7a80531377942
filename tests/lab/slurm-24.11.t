#!/bin/bash
# The core of the tests of tests/slurm under Slurm 24.11, that of Debian's trixie:
# directories of jobs are called job_N.
# shellcheck disable=SC1091,SC2034,SC2154 # names of tap.sh and vm.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
. "$top_srcdir/tests/lab/tree.sh"
vm_seconds=600
tree_slurm trixie core
