#!/bin/bash
# What sites do to a plugin, on a real Slurm: it is listed twice, asked to be quiet, has no
# stderr; and how much of it is in slurmd's log.
# shellcheck disable=SC1091,SC2034,SC2119,SC2154 # names of tap.sh, lab.sh and plugin.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
. "$top_srcdir/tests/slurm/lab.sh"
. "$top_srcdir/tests/slurm/plugin.sh"
need_plugin

# log_lines: of slurmd and its steps, so far
log_lines() { cat "$lab_dir"/log/slurmd.* | wc -l; }

# summaries FILE: how many are in it
summaries() { grep -c '^profres: ' "$1"; }

batch() { # SBATCH-ARGUMENT...: a job that does next to nothing; its number
    lab_as_user sbatch --parsable --wait "$@" --wrap true
}

plan 21
start
bin=$lab_dir/bin

# --- listed twice ---
ln -s . "$bin/again"
mkdir "$bin/copy" && cp "$bin/profile_res.so" "$bin/copy"
words="sampler=$bin/profres-sampler profres=$bin/profres"
for second in again copy; do
    lab_spank "$bin/profile_res.so $words" "$bin/$second/profile_res.so $words"
    lab_srun --profile-res=dir=$second sleep 0.3 >out 2>err
    is "listed twice ($second): the step runs" "$?:$(cat out)" 0:
    is "... one summary" "$(summaries err)" 1
    is "... of the step, which has the command" "$(files $second):$(of $second 0 '.info.command[0]')" \
        "0/n1.json 0/n1.jsonl :sleep"
done
use_plugin

# --- quiet ---
lab_srun -Q --profile-res=dir=q true >out 2>err
is "srun -Q says nothing" "$?:$(cat out err)" 0:
lab_srun --profile-res=dir=closed true >out 2>&-
is "a closed stderr: nothing on stdout" "$?:$(cat out)" 0:
use_plugin default=quiet dir=unasked
lab_srun true >out 2>err
is "default=quiet: nothing is said, and it is measured" "$?:$(cat out err):$(files unasked)" \
    "0::0/n1.json 0/n1.jsonl "
lab_srun --profile-res=dir=asked true >out 2>err
is "... but who asks is told" "$(summaries err)" 1
use_plugin

# --- what cannot be a directory is named ---
lab_srun -J .. --profile-res=dir=p-%x true >out 2>err
is "a job named '..': the step runs" "$?:$(cat out)" 0:
like "... and it is named" "$(cat err)" "*'dir=p-%x'*job name '..'*"

# --- slurmd's log ---
clean
before=$(log_lines)
job=$(batch --output=plain.out)
clean
without=$(($(log_lines) - before))
before=$(log_lines)
job=$(batch --profile-res --output=job.out)
clean
with=$(($(log_lines) - before))
is "a batch job has its summary" "$(summaries "$lab_home/job.out")" 1
is "... and no more lines in slurmd's log than without it" "$with" "$without"
use_plugin sampler=/no/such/sampler
before=$(log_lines)
job=$(batch --profile-res --output=trouble.out)
clean
is "trouble is one line more" "$(($(log_lines) - before))" "$((without + 1))"

# --- profres doctor ---
use_plugin
lab_as_user "$bin/profres" doctor >out
is "the doctor finds nothing that fails" "$?:$(grep ^fail out)" 0:
is "... the same inside a job" \
    "$(lab_srun "$bin/profres" doctor --json | jq -r '.checks[] | select(.status == "ok") | .name' |
        grep -c 'slurm\|plugstack\|plugin\|sampler\|cgroup\|dir')" 6
chown "$lab_uid" "$bin/profres-sampler"
like "a sampler that is not root's" "$(lab_as_user "$bin/profres" doctor)" "*fail sampler *not root's*"
chown 0 "$bin/profres-sampler"
lab_spank "$bin/profile_res.so" "$bin/again/profile_res.so"
like "a plugin that is listed twice" "$(lab_as_user "$bin/profres" doctor)" "*warn plugstack *2 times*"
mkdir "$bin/bad" && echo 'no plugin' >"$bin/bad/profile_res.so"
lab_spank "$bin/bad/profile_res.so"
like "a plugin that Slurm does not load" "$(lab_as_user "$bin/profres" doctor)" \
    "*fail plugin *does not load*"
use_plugin
ok "nothing is left" clean
