/* Sums over the tasks of a Slurm step, each of which has a cgroup of its own, or not. */
#include "tests/unit/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sampler/session.h"

#define M "measurements."
#define V2_USER "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user"

struct bench {
    struct fixture fixture;
    struct pfr_session *session;
    struct json_object *summary;
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    bench.session = calloc(1, sizeof(*bench.session));
    fixture_open(&bench.fixture, "v2-slurm");
    *state = &bench;
    return !bench.session;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    pfr_session_release(bench->session);
    free(bench->session);
    json_object_put(bench->summary);
    fixture_close(&bench->fixture);
    return 0;
}

static void init(struct bench *bench)
{
    struct pfr_options options = {
        .root = bench->fixture.root, .job = "42", .step = "0", .node = "n1", .slurm = true,
        .interval = PFR_NS_PER_S, .window = 10 * PFR_NS_PER_S, .top = 4, .tree = 4990,
    };
    char error[512];

    if (pfr_session_init(bench->session, &options, error, sizeof(error)) < 0)
        fail_msg("%s", error);
    fixture_set_clock(&bench->fixture, &bench->session->env);
}

static void start_task(struct bench *bench, pid_t pid, int rank)
{
    char error[512];

    if (pfr_session_start_task(bench->session, pid, rank, error, sizeof(error)) < 0)
        fail_msg("%s", error);
}

static void tick(struct bench *bench, const char *part)
{
    if (part)
        fixture_overlay(&bench->fixture, part);
    fixture_advance(&bench->fixture, PFR_NS_PER_S);
    pfr_session_tick(bench->session);
}

static void finish(struct bench *bench)
{
    bench->summary = pfr_session_finish(bench->session);
    assert_non_null(bench->summary);
}

/* Two tasks in task_0 and task_1 of a Slurm step, before the first sample. */
static void start_two_tasks(struct bench *bench, const char *second)
{
    fixture_write(&bench->fixture, "proc/5002/cgroup",
                  "0::/system.slice/slurmstepd.scope/job_42/step_0/user/%s\n", second);
    fixture_write(&bench->fixture, V2_USER "/task_1/memory.current", "%lld\n",
                  (long long)(20 * MIB));
    fixture_write(&bench->fixture, V2_USER "/task_1/cpu.stat", "usage_usec 1000000\n");
    init(bench);
    start_task(bench, 5001, 0);
    start_task(bench, 5002, 1);
    pfr_session_go(bench->session);
}

/* The step has more than its tasks: what they have themselves is a sum of its own. */
static void tasks_add_up(void **state)
{
    struct bench *bench = *state;

    start_two_tasks(bench, "task_1");
    tick(bench, "tick1"); /* 240 and 20 MiB */
    fixture_write(&bench->fixture, V2_USER "/task_1/memory.current", "%lld\n",
                  (long long)(150 * MIB));
    fixture_write(&bench->fixture, V2_USER "/task_1/cpu.stat", "usage_usec 3000000\n");
    tick(bench, "tick2"); /* 130 and 150 */
    pfr_session_end_task(bench->session, 5002, &(struct pfr_task_end){ .cpu = -1 });
    fixture_remove(&bench->fixture, V2_USER "/task_1"); /* its CPU time is still its own */
    tick(bench, NULL);
    finish(bench);
    assert_json_int(bench->summary, M "cgroup_tasks_mem_sampled_peak.max", 280 * MIB);
    assert_json_number(bench->summary, M "cgroup_tasks_cpu_seconds.total", "14.4");
    assert_json_number(bench->summary, M "cgroup_cpu_seconds.total", "11.4");
    assert_json_absent(bench->summary, "counter_falls");
}

/* A sum over tasks that share a cgroup would count it twice. */
static void tasks_in_one_cgroup_have_no_sum(void **state)
{
    struct bench *bench = *state;

    start_two_tasks(bench, "task_0");
    tick(bench, "tick1");
    finish(bench);
    assert_json_absent(bench->summary, M "cgroup_tasks_mem_sampled_peak");
    assert_json_absent(bench->summary, M "cgroup_tasks_cpu_seconds");
    assert_json_number(bench->summary, M "cgroup_cpu_seconds.total", "10.9");
}

static void tasks_without_cgroups_have_no_sum(void **state)
{
    struct bench *bench = *state;

    fixture_write(&bench->fixture, "proc/5001/cgroup",
                  "0::/system.slice/slurmstepd.scope/job_42/step_0/user\n");
    init(bench);
    start_task(bench, 5001, 0);
    pfr_session_go(bench->session);
    finish(bench);
    assert_json_absent(bench->summary, M "cgroup_tasks_cpu_seconds");
    assert_json_text(bench->summary, "info.unavailable.cgroup_tasks_cpu_seconds",
                     "of the tasks: unified controller: no cgroup of its own");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(tasks_add_up),
        CASE(tasks_in_one_cgroup_have_no_sum),
        CASE(tasks_without_cgroups_have_no_sum),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
