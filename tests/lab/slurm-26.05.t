#!/bin/bash
# The core of the tests of tests/slurm under Slurm 26.05, that of Debian's forky:
# directories of jobs are called by SLUID.
# shellcheck disable=SC1091,SC2034,SC2154 # names of tap.sh and vm.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
. "$top_srcdir/tests/lab/tree.sh"
vm_seconds=600
tree_slurm forky core
