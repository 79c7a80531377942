/* Which processes belong to the step, and whether any is left (R20). */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "tools/sampler/track.h"

struct bench {
    struct fixture fixture;
    struct pfr_cgtarget target;
    struct pfr_track track;
    char pids[512]; /* of the last listing, as text */
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    bench.track.proc_fd = -1;
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    pfr_track_release(&bench->track);
    fixture_close(&bench->fixture);
    return 0;
}

static void start(struct bench *bench, pid_t root)
{
    assert_int_equal(
        pfr_cgtarget_resolve(&bench->fixture.env, 5001, getpid(),
                             PFR_LEVEL_OWN, &bench->target), 0);
    assert_int_equal(pfr_track_open(&bench->track, &bench->fixture.env, &bench->target, root), 0);
}

static int list(struct bench *bench)
{
    int r = pfr_track_list(&bench->track);
    size_t n = 0;

    bench->pids[0] = '\0';
    for (uint32_t i = 0; i < bench->track.count && i < 64; i++)
        n += (size_t)snprintf(bench->pids + n, sizeof(bench->pids) - n, "%d ",
                              (int)bench->track.pids[i]);
    return r;
}

#define V2_USER "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user"
#define V1_FREEZER "sys/fs/cgroup/freezer/slurm_n1/uid_1000/job_42/step_0"

/* ---- by cgroup ---- */

static void v2_lists_the_step(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    start(bench, 1);
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 5002 "); /* not slurmstepd (4980), nor us */
    assert_string_equal(pfr_track_source(&bench->track, &bench->target), "cgroup v2");
    assert_false(bench->track.reopen);
    fixture_overlay(&bench->fixture, "tick2");
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 ");
    fixture_overlay(&bench->fixture, "tick3");
    assert_int_equal(list(bench), 0);
    assert_int_equal(bench->track.count, 0);
}

/* memory has a task level, freezer has not: freezer holds the whole step. */
static void v1_lists_the_freezer(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v1-slurm");
    fixture_write(&bench->fixture, V1_FREEZER "/cgroup.procs", "5001\n5002\n5003\n");
    start(bench, 1);
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 5002 5003 ");
    assert_string_equal(pfr_track_source(&bench->track, &bench->target), "cgroup v1");
    assert_true(bench->track.reopen);
}

/* Containers and daemons make cgroups of their own below the step. */
static void directories_below_are_followed(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    start(bench, 1);
    list(bench);
    fixture_write(&bench->fixture, V2_USER "/task_0/container/inner/cgroup.procs", "6001\n");
    fixture_write(&bench->fixture, V2_USER "/task_0/container/cgroup.procs", "%s", "");
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 5002 6001 ");
    fixture_overlay(&bench->fixture, "tick3");
    assert_int_equal(list(bench), 1); /* the step is not over while one is left */
    assert_string_equal(bench->pids, "6001 ");
    fixture_remove(&bench->fixture, V2_USER "/task_0/container");
    assert_int_equal(list(bench), 0);
}

static void removed_step_is_told(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    start(bench, 1);
    list(bench);
    fixture_remove(&bench->fixture, V2_USER);
    assert_int_equal(list(bench), -ENODEV);
    assert_int_equal(bench->track.count, 0);
}

/* 0 stands for a process of another pid namespace: there is nothing to read of it. */
static void strange_pids_are_passed_over(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    fixture_write(&bench->fixture, V2_USER "/task_0/cgroup.procs", "0\n5001\n0\n");
    start(bench, 1);
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 ");
    fixture_write(&bench->fixture, V2_USER "/task_0/cgroup.procs", "5001\njunk\n5002\n");
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 ");
}

/* More than one buffer: numbers that are cut in two must not become two numbers. */
static void long_lists_are_whole(void **state)
{
    struct bench *bench = *state;
    PFR_AUTO_FREE char *text = malloc(300000);
    size_t n = 0;

    fixture_open(&bench->fixture, "v2-slurm");
    for (int pid = 99000; pid < 129000; pid++)
        n += (size_t)snprintf(text + n, 300000 - n, "%d\n", pid);
    fixture_write_bytes(&bench->fixture, V2_USER "/task_0/cgroup.procs", text, n);
    start(bench, 1);
    assert_int_equal(list(bench), 1);
    assert_int_equal(bench->track.count, 30000);
    for (uint32_t i = 0; i < 30000; i++)
        assert_int_equal(bench->track.pids[i], 99000 + (int)i);
}

/* ---- by descent ---- */

static void put_child(struct bench *bench, int pid, int parent)
{
    fixture_process(&bench->fixture, pid, &(struct fake_process){ .ppid = parent });
}

/* No cgroup of its own: the process is where we are. */
static void start_tree(struct bench *bench, pid_t root)
{
    char path[64];

    fixture_open(&bench->fixture, "v2-slurm");
    snprintf(path, sizeof(path), "proc/%d/cgroup", (int)getpid());
    fixture_write(&bench->fixture, path, "0::/somewhere\n");
    fixture_write(&bench->fixture, "proc/5001/cgroup", "0::/somewhere\n");
    start(bench, root);
    assert_string_equal(pfr_track_source(&bench->track, &bench->target), "process tree");
}

static void descendants_of_the_root(void **state)
{
    struct bench *bench = *state;

    start_tree(bench, 4990);
    put_child(bench, 4990, 1);
    put_child(bench, 5003, 5002);
    put_child(bench, 5004, 5003);
    put_child(bench, 3, 5004); /* pids wrap: a child may be before its parent */
    put_child(bench, 7000, 1);
    put_child(bench, 7001, 7000);
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "3 5001 5002 5003 5004 ");
}

/* We are a child of the same process; neither we nor what we start is the step. */
static void the_profiler_is_not_the_step(void **state)
{
    struct bench *bench = *state;
    int self = (int)getpid();

    start_tree(bench, 4990);
    put_child(bench, self, 4990);
    put_child(bench, self + 100000, self);
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 5002 ");
}

static void odd_families_end(void **state)
{
    struct bench *bench = *state;

    start_tree(bench, 4990);
    put_child(bench, 6000, 6001); /* read at different moments: a circle */
    put_child(bench, 6001, 6000);
    put_child(bench, 6002, 6002);
    put_child(bench, 6003, 9999); /* parent not there any more */
    fixture_write(&bench->fixture, "proc/6004/stat", "6004 (x) R\n");
    fixture_write(&bench->fixture, "proc/6005/comm", "no stat\n");
    assert_int_equal(list(bench), 1);
    assert_string_equal(bench->pids, "5001 5002 ");
    fixture_remove(&bench->fixture, "proc/5001");
    fixture_remove(&bench->fixture, "proc/5002");
    assert_int_equal(list(bench), 0);
}

static void deep_lines_of_descent(void **state)
{
    struct bench *bench = *state;

    start_tree(bench, 4990);
    fixture_remove(&bench->fixture, "proc/5001");
    fixture_remove(&bench->fixture, "proc/5002");
    for (int pid = 5000000; pid < 5000600; pid++) /* past the first size of every array */
        put_child(bench, pid, pid == 5000000 ? 4990 : pid - 1);
    assert_int_equal(list(bench), 1);
    assert_int_equal(bench->track.count, 600);
    assert_int_equal(list(bench), 1);
    assert_int_equal(bench->track.count, 600);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(v2_lists_the_step),
        CASE(v1_lists_the_freezer),
        CASE(directories_below_are_followed),
        CASE(removed_step_is_told),
        CASE(strange_pids_are_passed_over),
        CASE(long_lists_are_whole),
        CASE(descendants_of_the_root),
        CASE(the_profiler_is_not_the_step),
        CASE(odd_families_end),
        CASE(deep_lines_of_descent),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
