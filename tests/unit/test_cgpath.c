/* Where a process is in the cgroup trees, in every layout we know (R38-R41). */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/collect/cgpath.h"

struct bench {
    struct fixture fixture;
    struct pfr_cgtarget target;
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

static void resolve(struct bench *bench, const char *tree)
{
    fixture_open(&bench->fixture, tree);
    assert_int_equal(
        pfr_cgtarget_resolve(&bench->fixture.env, 5001, getpid(),
                             PFR_LEVEL_OWN, &bench->target), 0);
}

static void again(struct bench *bench)
{
    assert_int_equal(
        pfr_cgtarget_resolve(&bench->fixture.env, 5001, getpid(),
                             PFR_LEVEL_OWN, &bench->target), 0);
}

static void assert_scoped(const struct bench *bench, enum pfr_controller controller,
                          const char *below_root)
{
    const struct pfr_cgdir *dir = &bench->target.dirs[controller];
    char expected[PFR_CGPATH_SIZE];

    snprintf(expected, sizeof(expected), "%s/%s", bench->fixture.root, below_root);
    assert_string_equal(dir->dir, expected);
    assert_true(dir->scoped);
    assert_string_equal(dir->reason, "");
    assert_int_equal(access(dir->dir, F_OK), 0);
}

static void assert_not_scoped(const struct bench *bench, enum pfr_controller controller,
                              const char *reason)
{
    const struct pfr_cgdir *dir = &bench->target.dirs[controller];

    assert_false(dir->scoped);
    if (!strstr(dir->reason, reason))
        fail_msg("%s: '%s' does not say '%s'", pfr_controller_name(controller), dir->reason,
                 reason);
}

#define STEP "slurm_n1/uid_1000/job_42/step_0"

/* One path per controller, several controllers in one hierarchy (R39). */
static void v1_has_a_path_per_controller(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v1-slurm");
    assert_scoped(bench, PFR_MEMORY, "sys/fs/cgroup/memory/" STEP "/task_0");
    assert_scoped(bench, PFR_CPU, "sys/fs/cgroup/cpu,cpuacct/" STEP "/task_0");
    assert_scoped(bench, PFR_CPUACCT, "sys/fs/cgroup/cpu,cpuacct/" STEP "/task_0");
    assert_scoped(bench, PFR_FREEZER, "sys/fs/cgroup/freezer/" STEP);
    assert_not_scoped(bench, PFR_UNIFIED, "no such cgroup hierarchy");
    assert_string_equal(pfr_cgtarget_mode(&bench->target), "v1");
}

/* blkio and pids hold slurmd, its steps and us: not the step's numbers (R40). */
static void v1_shared_controllers_are_not_scoped(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v1-slurm");
    assert_not_scoped(bench, PFR_BLKIO, "in one cgroup with its surroundings");
    assert_not_scoped(bench, PFR_PIDS, "in one cgroup with its surroundings");
}

/* jobacct_gather/linux: nobody makes a cpuacct directory for the step (R40). */
static void v1_cpuacct_in_the_root_is_not_scoped(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v1-linuxgather");
    assert_not_scoped(bench, PFR_CPUACCT, "in the root cgroup");
    assert_not_scoped(bench, PFR_CPU, "in the root cgroup");
    assert_scoped(bench, PFR_MEMORY, "sys/fs/cgroup/memory/" STEP "/task_0");
}

/* The profiler below the step's own directory: it would measure itself. */
static void cgroup_above_the_profiler_is_not_scoped(void **state)
{
    struct bench *bench = *state;
    char path[64];

    resolve(bench, "v2-slurm");
    assert_true(bench->target.dirs[PFR_UNIFIED].scoped);
    snprintf(path, sizeof(path), "proc/%d/cgroup", (int)getpid());
    fixture_write(&bench->fixture, path, "0::%s/deep/er\n",
                  bench->target.dirs[PFR_UNIFIED].path);
    again(bench);
    assert_not_scoped(bench, PFR_UNIFIED, "with its surroundings");
    assert_string_equal(pfr_cgtarget_mode(&bench->target), "none");
    /* a neighbour whose name only begins the same is no trouble */
    fixture_write(&bench->fixture, path, "0::%s1\n", bench->target.dirs[PFR_UNIFIED].path);
    again(bench);
    assert_true(bench->target.dirs[PFR_UNIFIED].scoped);
}

static void v2_has_one_path(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v2-slurm");
    assert_scoped(bench, PFR_UNIFIED,
                  "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/task_0");
    for (int i = PFR_UNIFIED + 1; i < PFR_CONTROLLER_COUNT; i++)
        assert_not_scoped(bench, (enum pfr_controller)i, "no such cgroup hierarchy");
    assert_string_equal(pfr_cgtarget_mode(&bench->target), "v2");
}

/* From 26.05 the job's directory is not called job_N: nothing may depend on it. */
static void v2_job_directory_may_have_any_name(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v2-sluid");
    assert_scoped(bench, PFR_UNIFIED, "sys/fs/cgroup/system.slice/slurmstepd.scope/"
                                      "s4K2M9Q1T7XW0B/step_0/user/task_0");
}

static void hybrid_has_both(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "hybrid");
    assert_scoped(bench, PFR_UNIFIED, "sys/fs/cgroup/unified/" STEP);
    assert_scoped(bench, PFR_MEMORY, "sys/fs/cgroup/memory/" STEP "/task_0");
    assert_string_equal(pfr_cgtarget_mode(&bench->target), "hybrid");
}

static void systemd_scope(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "systemd-scope");
    assert_scoped(bench, PFR_UNIFIED, "sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/"
                                      "app.slice/run-rab12.scope");
}

/* "/.." leads out of what is mounted: another cgroup's numbers, or none. */
static void namespace_outside_is_not_followed(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "cgroup-namespace");
    assert_not_scoped(bench, PFR_UNIFIED, "not below a mounted hierarchy");
    assert_string_equal(bench->target.dirs[PFR_UNIFIED].dir, "");
}

static void namespace_root_is_not_scoped(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "cgroup-namespace");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "0::/\n");
    again(bench);
    assert_not_scoped(bench, PFR_UNIFIED, "in the root cgroup");
}

/* In a container the mount may show a part of the tree: its root is cut off. */
static void mount_root_is_cut_off(void **state)
{
    struct bench *bench = *state;
    char mount[PFR_CGPATH_SIZE];

    resolve(bench, "mount-root");
    assert_scoped(bench, PFR_UNIFIED, "sys/fs/cgroup/task");
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", bench->fixture.root);
    assert_string_equal(bench->target.dirs[PFR_UNIFIED].mount, mount);
    fixture_write(&bench->fixture, "proc/5001/cgroup", "0::/kubepods/pod77/task\n");
    again(bench);
    assert_not_scoped(bench, PFR_UNIFIED, "not below a mounted hierarchy");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "0::/kubepods/pod7\n");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "0::/elsewhere\n");
    again(bench);
    assert_not_scoped(bench, PFR_UNIFIED, "not below a mounted hierarchy");
}

/* The first mount that shows the place is taken, not the first of the type. */
static void second_mount_may_show_it(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "mount-root");
    fixture_write(&bench->fixture, "proc/self/mountinfo",
                  "27 21 0:22 /other /mnt/part rw shared:8 - cgroup2 cgroup2 rw\n"
                  "28 21 0:22 /kubepods/pod7 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                  "29 21 0:22 / /mnt/whole rw - cgroup2 cgroup2 rw\n");
    again(bench);
    assert_scoped(bench, PFR_UNIFIED, "sys/fs/cgroup/task");
}

static void blanks_in_mount_points(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "mount-blanks");
    assert_scoped(bench, PFR_UNIFIED, "mnt/my cgroups/task");
    /* tab, newline and backslash too */
    fixture_write(&bench->fixture, "mnt/a\tb\nc\\d/task/cgroup.procs", "5001\n");
    fixture_write(&bench->fixture, "proc/self/mountinfo",
                  "27 21 0:22 / /mnt/a\\011b\\012c\\134d rw - cgroup2 cgroup2 rw\n");
    again(bench);
    assert_scoped(bench, PFR_UNIFIED, "mnt/a\tb\nc\\d/task");
}

/* A controller's name within another word is not the controller. */
static void controllers_are_whole_words(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v1-slurm");
    fixture_write(&bench->fixture, "proc/5001/cgroup",
                  "4:cpuset:/set\n3:name=memory:/named\n2:cpuacct:/acct\n");
    again(bench);
    assert_string_equal(bench->target.dirs[PFR_CPU].path, "");
    assert_string_equal(bench->target.dirs[PFR_MEMORY].path, "");
    assert_string_equal(bench->target.dirs[PFR_CPUACCT].path, "/acct");
}

static void colons_in_paths_are_paths(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v2-slurm");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "0::/a:b/c::d\n");
    again(bench);
    assert_string_equal(bench->target.dirs[PFR_UNIFIED].path, "/a:b/c::d");
}

/* A path too long for us must not be cut into that of an ancestor. */
static void long_paths_are_refused(void **state)
{
    struct bench *bench = *state;
    char text[2048] = "0::";

    resolve(bench, "v2-slurm");
    while (strlen(text) < 1500)
        strcat(text, "/123456789");
    strcat(text, "\n");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "%s", text);
    fixture_write(&bench->fixture, "proc/self/mountinfo",
                  "27 21 0:22 %.500s /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", text + 3);
    again(bench);
    assert_not_scoped(bench, PFR_UNIFIED, "not below a mounted hierarchy");
    assert_string_equal(bench->target.dirs[PFR_UNIFIED].dir, "");
}

static void malformed_lines_are_passed_over(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v2-slurm");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "junk\n\n:\n0:\n::\n0::/task\n");
    fixture_write(&bench->fixture, "proc/self/mountinfo",
                  "junk\n\n27 21\n - \n - cgroup2\n27 - cgroup2 cgroup2 rw\n"
                  "27 21 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    fixture_write(&bench->fixture, "sys/fs/cgroup/task/cgroup.procs", "5001\n");
    again(bench);
    assert_scoped(bench, PFR_UNIFIED, "sys/fs/cgroup/task");
}

static void missing_process_or_mounts_is_an_error(void **state)
{
    struct bench *bench = *state;

    resolve(bench, "v2-slurm");
    assert_int_equal(pfr_cgtarget_resolve(&bench->fixture.env, 9, getpid(),
                                          PFR_LEVEL_OWN, &bench->target),
                     -ESRCH);
    assert_int_equal(pfr_cgtarget_resolve(&bench->fixture.env, 5001, 9,
                                          PFR_LEVEL_OWN, &bench->target), -ESRCH);
    fixture_remove(&bench->fixture, "proc/self/mountinfo");
    assert_int_equal(pfr_cgtarget_resolve(&bench->fixture.env, 5001, getpid(),
                                          PFR_LEVEL_OWN, &bench->target),
                     -ENOENT);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(v1_has_a_path_per_controller),
        CASE(v1_shared_controllers_are_not_scoped),
        CASE(v1_cpuacct_in_the_root_is_not_scoped),
        CASE(cgroup_above_the_profiler_is_not_scoped),
        CASE(v2_has_one_path),
        CASE(v2_job_directory_may_have_any_name),
        CASE(hybrid_has_both),
        CASE(systemd_scope),
        CASE(namespace_outside_is_not_followed),
        CASE(namespace_root_is_not_scoped),
        CASE(mount_root_is_cut_off),
        CASE(second_mount_may_show_it),
        CASE(blanks_in_mount_points),
        CASE(controllers_are_whole_words),
        CASE(colons_in_paths_are_paths),
        CASE(long_paths_are_refused),
        CASE(malformed_lines_are_passed_over),
        CASE(missing_process_or_mounts_is_an_error),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
