#!/bin/bash
# profres doctor: each thing that it looks at is broken once, and the line is found. Slurm
# is played by two scripts; tests/slurm/site.t asks a real one.
# shellcheck disable=SC1091,SC2154 # names of tap.sh
. "${top_srcdir:-$(dirname "$0")/../..}/tests/live/tap.sh"
cd "$work" || exit 1

# A site where all is well; each case changes one thing and puts it back.
well() {
    mkdir -p bin plugins lib inc scratch
    chmod 755 bin plugins lib
    chmod 777 scratch
    cat >bin/scontrol <<EOF2
#!/bin/sh
cat $work/config
EOF2
    cat >bin/srun <<EOF2
#!/bin/sh
echo "      --profile-res=[SPEC]    measure"
EOF2
    cat >config <<EOF2
Configuration data as of 2026-11-18T03:00:00
JobAcctGatherType       = jobacct_gather/cgroup
JobContainerType        = job_container/none
PluginDir               = /nowhere:$work/plugins
PlugStackConfig         = $work/plugstack.conf
SLURM_VERSION           = 22.05.8

Cgroup Support Configuration:
ConstrainRAMSpace       = yes
EOF2
    {
        echo "# optional profile_res.so in a comment"
        echo "optional profile_res.so sampler=$work/lib/profres-sampler dir=$work/scratch/%u/%j"
        echo "include inc/*.conf"
    } >plugstack.conf
    : >plugins/profile_res.so
    rm -f inc/*
    cp -f "$top_builddir/profres-sampler" lib/profres-sampler
    chmod 755 bin/scontrol bin/srun lib/profres-sampler
}

doctor() { PATH=$work/bin:$PATH "$profres" doctor "$@"; }

# line NAME: what the doctor says of it, and what to do
line() { doctor "${@:2}" | grep -A1 "^[a-z]*  *$1 " | grep "^[a-z]*  *$1 \|^ *->"; }

# finds NAME STATUS PATTERN [OPTION...]: that line, with something to do; then all is well again
finds() {
    local text
    text=$(line "$1" "${@:4}")
    like "broken: $1: $2" "$text" "$2 *$1 $3*->*"
    doctor "${@:4}" >/dev/null
    is "... exit status" $? "$([ "$2" = fail ] && echo 1 || echo 0)"
    well
}

plan 43
if ! is_root; then
    skip 43 "not root: the sampler has to be root's"
    exit
fi
well
doctor >out
is "a good site: exit status" "$?" 0
is "... nothing fails" "$(grep ^fail out)" ""
for name in slurm plugstack plugin memory gather tmp sampler cgroup dir; do
    like "... $name" "$(grep " $name " out)" "ok *"
done

echo "exit 1" >bin/scontrol
finds slurm fail "*does not answer"
rm plugstack.conf
finds plugstack fail "*cannot read*"
echo "optional other.so" >plugstack.conf
finds plugstack fail "*does not list*"
echo "required $work/plugins/profile_res.so" >inc/a.conf
finds plugstack warn "*2 times*"
rm plugins/profile_res.so
finds plugin fail "*not in the PluginDir*"
printf '#!/bin/sh\necho Usage: srun\n' >bin/srun
finds plugin fail "*22.05.8) does not load*"
sed -i 's/^\(ConstrainRAMSpace.*\)yes/\1no/' config
finds memory warn "*not limited*"
sed -i 's,jobacct_gather/cgroup,jobacct_gather/none,' config
finds gather warn "*jobacct_gather/none*"
sed -i 's,job_container/none,job_container/tmpfs,' config
finds tmp warn "*own /tmp*"
rm lib/profres-sampler
finds sampler fail "*No such file*"
chmod 775 lib
finds sampler fail "*others may write*"
chmod 755 lib
printf '#!/bin/sh\necho profres-sampler 0.0.1\n' >lib/profres-sampler
finds sampler fail "*not of version*"
mkdir -p empty
like "broken: cgroup" "$(line cgroup --root="$work/empty")" "fail *no memory and CPU*->*"
like "broken: psi" "$(line psi --root="$work/empty")" "warn *no pressure*->*"
like "broken: btf" "$(line btf --root="$work/empty")" "warn *BTF*->*"
chmod 700 scratch
cp "$profres" bin/profres
text=$(PATH=$work/bin:$PATH as_user bin/profres doctor | grep -A1 " dir ")
like "broken: dir, as a user" "$text" "fail *cannot be written*->*"
well
like "clock: a line" "$(line clock)" "@(ok|warn) *clock*"
rm lib/profres-sampler
is "a host that only submits needs no sampler" "$(doctor --submit >/dev/null; echo $?):$(line sampler --submit)" 0:
well
is "JSON has the same lines" "$(doctor --json | jq -r '.checks[] | "\(.status) \(.name)"')" \
    "$(doctor | awk '/^[a-z]/ { print $1, $2 }')"
doctor extra 2>/dev/null
is "called wrongly" $? 2
