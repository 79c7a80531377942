/* The levels of a Slurm step in cgroup paths, and reading at them (R38-R40). */
#include "tests/unit/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/collect/cgpath.h"
#include "common/collect/level.h"

enum version { V1, V2 };

static void assert_step(enum version version, const char *path, const char *expected)
{
    char step[PFR_CGPATH_SIZE];

    if (!pfr_level_step(path, version == V2, step, sizeof(step)))
        fail_msg("no step in %s", path);
    assert_string_equal(step, expected);
}

static void assert_no_step(enum version version, const char *path)
{
    char step[PFR_CGPATH_SIZE];

    if (pfr_level_step(path, version == V2, step, sizeof(step)))
        fail_msg("%s taken for the step of %s", step, path);
}

static void assert_outside(enum version version, const char *path, const char *expected)
{
    char outside[PFR_CGPATH_SIZE];

    if (!pfr_level_outside(path, version == V2, outside, sizeof(outside)))
        fail_msg("no way out of %s", path);
    assert_string_equal(outside, expected);
}

static void assert_nothing_to_leave(enum version version, const char *path)
{
    char outside[PFR_CGPATH_SIZE];

    if (pfr_level_outside(path, version == V2, outside, sizeof(outside)))
        fail_msg("%s taken for the outside of %s", outside, path);
}

/* ---- paths ---- */

static void v1_steps(void **state)
{
    (void)state;
    assert_step(V1, "/slurm/uid_7/job_5/step_0/task_3", "/slurm/uid_7/job_5/step_0");
    assert_step(V1, "/slurm_n1/uid_7/job_5/step_0", "/slurm_n1/uid_7/job_5/step_0");
    assert_step(V1, "/slurm_n1/uid_7/job_5/step_batch/task_0",
                "/slurm_n1/uid_7/job_5/step_batch");
    assert_step(V1, "/slurm/uid_7/job_5/step_0+1/task_0", "/slurm/uid_7/job_5/step_0+1");
    /* "user" is a level of v2 only */
    assert_step(V1, "/slurm/uid_7/job_5/step_0/user/x", "/slurm/uid_7/job_5/step_0");
}

static void v2_steps(void **state)
{
    (void)state;
    assert_step(V2, "/system.slice/slurmstepd.scope/job_5/step_0/user/task_3",
                "/system.slice/slurmstepd.scope/job_5/step_0/user");
    assert_step(V2, "/system.slice/n1_slurmstepd.scope/job_5/step_interactive/user/task_special",
                "/system.slice/n1_slurmstepd.scope/job_5/step_interactive/user");
    assert_step(V2, "/slurmstepd.scope/job_5/step_0/user", "/slurmstepd.scope/job_5/step_0/user");
    /* slurmstepd's own place, and what only begins like the tasks' */
    assert_step(V2, "/slurmstepd.scope/job_5/step_0/slurm", "/slurmstepd.scope/job_5/step_0");
    assert_step(V2, "/slurmstepd.scope/job_5/step_0/userland/x", "/slurmstepd.scope/job_5/step_0");
    assert_step(V2, "/slurmstepd.scope/job_5/step_0", "/slurmstepd.scope/job_5/step_0");
}

/* From 26.05 the job's directory has no "job_" in it. */
static void sluid_directories(void **state)
{
    (void)state;
    assert_step(V2, "/slurmstepd.scope/sFPSM7GZVGKZ00/step_0/user/task_0",
                "/slurmstepd.scope/sFPSM7GZVGKZ00/step_0/user");
    assert_outside(V2, "/slurmstepd.scope/sFPSM7GZVGKZ00/step_0/slurm",
                   "/slurmstepd.scope/system");
}

/* What a container engine makes below its task is still of the step. */
static void containers_below_the_task(void **state)
{
    (void)state;
    assert_step(V2, "/slurmstepd.scope/job_5/step_0/user/task_0/libpod-77/step_9/user",
                "/slurmstepd.scope/job_5/step_0/user");
    assert_outside(V2, "/slurmstepd.scope/job_5/step_0/user/task_0/libpod-77",
                   "/slurmstepd.scope/system");
    assert_step(V1, "/slurm/uid_7/job_5/step_0/task_0/docker/77", "/slurm/uid_7/job_5/step_0");
}

/* slurmstepd in a container: what is above the scope stays as it is. */
static void prefixes_above_the_scope(void **state)
{
    (void)state;
    assert_step(V2, "/kubepods/pod7/slurmstepd.scope/job_5/step_1/user/task_0",
                "/kubepods/pod7/slurmstepd.scope/job_5/step_1/user");
    assert_outside(V2, "/kubepods/pod7/slurmstepd.scope/job_5/step_1/slurm",
                   "/kubepods/pod7/slurmstepd.scope/system");
}

static void no_step(void **state)
{
    (void)state;
    for (int version = V1; version <= V2; version++) {
        assert_no_step((enum version)version, "/");
        assert_no_step((enum version)version, "");
        assert_no_step((enum version)version, "/user.slice/user-7.slice/run-r1.scope");
        assert_no_step((enum version)version, "/slurm_n1/uid_7/job_5");
        assert_no_step((enum version)version, "/system.slice/slurmd.service");
        assert_nothing_to_leave((enum version)version, "/");
        assert_nothing_to_leave((enum version)version, "");
        assert_nothing_to_leave((enum version)version, "/user.slice/user-7.slice/run-r1.scope");
        assert_nothing_to_leave((enum version)version, "/system.slice/slurmd.service");
    }
    assert_nothing_to_leave(V2, "/system.slice/slurmstepd.scope/system");
    assert_nothing_to_leave(V1, "/slurm_n1");
}

/* A component begins so; to have it inside, or alone, is something else. */
static void words_inside_other_names(void **state)
{
    (void)state;
    assert_no_step(V1, "/footstep_0/x");
    assert_no_step(V2, "/my.step_0.scope/x");
    assert_no_step(V2, "/steps/step/x");
    assert_nothing_to_leave(V1, "/guid_7/job_5");
    assert_nothing_to_leave(V2, "/footstep_0/step/x");
    assert_step(V2, "/footstep_0/job_5/step_1/user/t", "/footstep_0/job_5/step_1/user");
}

static void v1_outside(void **state)
{
    (void)state;
    assert_outside(V1, "/slurm_n1/uid_7/job_5/step_0/task_1", "/slurm_n1");
    assert_outside(V1, "/slurm_n1/uid_7/job_5", "/slurm_n1"); /* where the freezer has us */
    assert_outside(V1, "/prefix/slurm/uid_0/job_5/step_0", "/prefix/slurm");
    /* on v1 the step alone tells nothing: uid_ is above it */
    assert_nothing_to_leave(V1, "/x/step_0");
    assert_nothing_to_leave(V1, "/uid_7/job_5"); /* the root holds everything */
}

static void too_long(void **state)
{
    char text[16];

    (void)state;
    assert_true(pfr_level_step("/a/step_0/t", false, text, 10));
    assert_string_equal(text, "/a/step_0");
    assert_false(pfr_level_step("/a/step_0/t", false, text, 9));
    assert_true(pfr_level_outside("/a/j/step_0", true, text, 10));
    assert_string_equal(text, "/a/system");
    assert_false(pfr_level_outside("/a/j/step_0", true, text, 9));
    assert_false(pfr_level_outside("/abc/uid_0", false, text, 4));
}

/* ---- trees ---- */

struct bench {
    struct fixture fixture;
    struct pfr_cgtarget step, own;
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    fixture_close(&bench->fixture);
    return 0;
}

static void resolve(struct bench *bench)
{
    const struct pfr_env *env = &bench->fixture.env;

    assert_int_equal(pfr_cgtarget_resolve(env, 5001, getpid(), PFR_LEVEL_STEP, &bench->step), 0);
    assert_int_equal(pfr_cgtarget_resolve(env, 5001, getpid(), PFR_LEVEL_OWN, &bench->own), 0);
    pfr_cgtarget_narrow(&bench->own, &bench->step);
}

static void open_tree(struct bench *bench, const char *tree)
{
    fixture_open(&bench->fixture, tree);
    resolve(bench);
}

static void assert_at(const struct bench *bench, const struct pfr_cgtarget *target,
                      enum pfr_controller controller, const char *below_root)
{
    const struct pfr_cgdir *dir = &target->dirs[controller];
    char expected[PFR_CGPATH_SIZE];

    snprintf(expected, sizeof(expected), "%s/%s", bench->fixture.root, below_root);
    assert_string_equal(dir->dir, expected);
    assert_true(dir->scoped);
    assert_int_equal(access(dir->dir, F_OK), 0);
}

static void assert_not_at(const struct pfr_cgtarget *target, enum pfr_controller controller,
                          const char *reason)
{
    assert_false(target->dirs[controller].scoped);
    if (!strstr(target->dirs[controller].reason, reason))
        fail_msg("%s: '%s' does not say '%s'", pfr_controller_name(controller),
                 target->dirs[controller].reason, reason);
}

#define STEP "slurm_n1/uid_1000/job_42/step_0"

static void v1_tree(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "v1-slurm");
    assert_at(bench, &bench->step, PFR_MEMORY, "sys/fs/cgroup/memory/" STEP);
    assert_at(bench, &bench->step, PFR_CPUACCT, "sys/fs/cgroup/cpu,cpuacct/" STEP);
    assert_string_equal(bench->step.dirs[PFR_MEMORY].path, "/" STEP);
    assert_at(bench, &bench->own, PFR_MEMORY, "sys/fs/cgroup/memory/" STEP "/task_0");
    /* the freezer has no level of a task: the step's number is not the task's */
    assert_at(bench, &bench->step, PFR_FREEZER, "sys/fs/cgroup/freezer/" STEP);
    assert_not_at(&bench->own, PFR_FREEZER, "no cgroup of its own");
    /* slurmd's service is somebody else's, though it can be read */
    assert_not_at(&bench->step, PFR_BLKIO, "the step has no cgroup there");
    assert_not_at(&bench->step, PFR_PIDS, "the step has no cgroup there");
    assert_string_equal(bench->step.dirs[PFR_BLKIO].dir, "");
    assert_string_equal(pfr_cgtarget_mode(&bench->step), "v1");
}

/* jobacct_gather/linux: CPU of the root is the node's (R40). */
static void v1_without_cpuacct(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "v1-linuxgather");
    assert_not_at(&bench->step, PFR_CPUACCT, "the step has no cgroup there");
    assert_at(bench, &bench->step, PFR_MEMORY, "sys/fs/cgroup/memory/" STEP);
}

static void v2_tree(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "v2-slurm");
    assert_at(bench, &bench->step, PFR_UNIFIED,
              "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user");
    assert_at(bench, &bench->own, PFR_UNIFIED,
              "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/task_0");
    assert_string_equal(pfr_cgtarget_mode(&bench->step), "v2");
}

static void v2_sluid_tree(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "v2-sluid");
    assert_at(bench, &bench->step, PFR_UNIFIED,
              "sys/fs/cgroup/system.slice/slurmstepd.scope/s4K2M9Q1T7XW0B/step_0/user");
}

static void hybrid_tree(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "hybrid");
    assert_at(bench, &bench->step, PFR_MEMORY, "sys/fs/cgroup/memory/" STEP);
    assert_at(bench, &bench->step, PFR_UNIFIED, "sys/fs/cgroup/unified/" STEP);
    assert_not_at(&bench->own, PFR_UNIFIED, "no cgroup of its own");
}

/* A container engine has made a cgroup of its own below the task's. */
static void container_in_the_task(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "v2-slurm");
    fixture_write(&bench->fixture, "proc/5001/cgroup",
                  "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0/libpod-7/step_9\n");
    fixture_write(&bench->fixture,
                  "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/task_0/"
                  "libpod-7/step_9/cgroup.procs", "5001\n");
    resolve(bench);
    assert_at(bench, &bench->step, PFR_UNIFIED,
              "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user");
}

/* slurmd in a cgroup namespace: its scope is the root of what can be seen. */
static void scope_is_the_namespace(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "cgroup-namespace");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "0::/job_42/step_0/user/task_0\n");
    fixture_write(&bench->fixture, "sys/fs/cgroup/job_42/step_0/user/task_0/cgroup.procs",
                  "5001\n");
    resolve(bench);
    assert_at(bench, &bench->step, PFR_UNIFIED, "sys/fs/cgroup/job_42/step_0/user");
    assert_outside(V2, "/job_42/step_0/slurm", "/system");
}

/* cgroup.conf: CgroupMountpoint=/cgroup */
static void mounted_elsewhere(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "v1-slurm");
    fixture_write(&bench->fixture, "proc/self/mountinfo",
                  "30 27 0:25 / /cgroup/memory rw - cgroup cgroup rw,memory\n");
    fixture_write(&bench->fixture, "cgroup/memory/" STEP "/task_0/cgroup.procs", "5001\n");
    resolve(bench);
    assert_at(bench, &bench->step, PFR_MEMORY, "cgroup/memory/" STEP);
    assert_at(bench, &bench->own, PFR_MEMORY, "cgroup/memory/" STEP "/task_0");
    assert_not_at(&bench->step, PFR_CPUACCT, "");
}

/* No cgroup plugin in Slurm: the tree of processes is all there is. */
static void tree_without_a_step(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "systemd-scope");
    assert_not_at(&bench->step, PFR_UNIFIED, "the step has no cgroup there");
    assert_string_equal(pfr_cgtarget_mode(&bench->step), "none");
    /* and the task's is that of slurmd's surroundings, not of its own */
    assert_not_at(&bench->own, PFR_UNIFIED, "no cgroup of its own");
}

/* The sampler that could not leave the step would measure itself. */
static void sampler_inside_the_step(void **state)
{
    struct bench *bench = *state;
    char path[64];

    open_tree(bench, "v2-slurm");
    snprintf(path, sizeof(path), "proc/%d/cgroup", (int)getpid());
    fixture_write(&bench->fixture, path,
                  "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_7\n");
    resolve(bench);
    assert_not_at(&bench->step, PFR_UNIFIED, "in one cgroup with its surroundings");
    /* beside slurmstepd, in .../step_0/slurm, is not in the tasks' part */
    fixture_write(&bench->fixture, path,
                  "0::/system.slice/slurmstepd.scope/job_42/step_0/slurm\n");
    resolve(bench);
    assert_true(bench->step.dirs[PFR_UNIFIED].scoped);
}

/* A mount that begins below the step: what is there is all that can be read. */
static void step_above_the_mount(void **state)
{
    struct bench *bench = *state;

    open_tree(bench, "v2-slurm");
    fixture_write(&bench->fixture, "proc/self/mountinfo",
                  "27 21 0:22 /system.slice/slurmstepd.scope/job_42/step_0/user/task_0 "
                  "/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    resolve(bench);
    assert_at(bench, &bench->step, PFR_UNIFIED, "sys/fs/cgroup");
}

int main(void)
{
#define CASE(name) cmocka_unit_test(name)
#define TREE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(v1_steps),
        CASE(v2_steps),
        CASE(sluid_directories),
        CASE(containers_below_the_task),
        CASE(prefixes_above_the_scope),
        CASE(no_step),
        CASE(words_inside_other_names),
        CASE(v1_outside),
        CASE(too_long),
        TREE(v1_tree),
        TREE(v1_without_cpuacct),
        TREE(v2_tree),
        TREE(v2_sluid_tree),
        TREE(hybrid_tree),
        TREE(container_in_the_task),
        TREE(scope_is_the_namespace),
        TREE(mounted_elsewhere),
        TREE(tree_without_a_step),
        TREE(sampler_inside_the_step),
        TREE(step_above_the_mount),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
