#!/bin/bash
# What people look at, under a real Slurm on the unified cgroup v2 of a small kernel:
# report, top, plot and export of its jobs. The same tests run natively on v1.
# shellcheck disable=SC1091,SC2034,SC2154 # names of tap.sh and vm.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/lab/vm.sh"
vm_seconds=900
uml_patience=5 # one CPU, which a job that never rests shares with the others
vm_slurm uml report top plot export
