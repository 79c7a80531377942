/* One array of collectors, one loop: what happens when one of them fails. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "tools/sampler/session.h"

struct bench {
    struct fixture fixture;
    struct pfr_session *session;
    const struct pfr_collector *collectors[PFR_COLLECTOR_COUNT];
    struct pfr_collector broken; /* in the place of the cgroup's */
    struct json_object *summary;
    int warnings;
};

static void count_warnings(enum pfr_log_level level, const char *text, void *arg)
{
    (void)level;
    ((struct bench *)arg)->warnings += strstr(text, "cannot read cgroup: Input/output") != NULL;
}

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    bench.session = calloc(1, sizeof(*bench.session));
    memcpy(bench.collectors, pfr_collectors, sizeof(bench.collectors));
    bench.broken = *pfr_collectors[PFR_FROM_CGROUP];
    bench.collectors[PFR_FROM_CGROUP] = &bench.broken;
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

static void play(struct bench *bench)
{
    struct pfr_task_end end = { .cpu = -1 };
    struct pfr_options options;
    char error[512] = "";

    fixture_open(&bench->fixture, "v2-slurm");
    pfr_log_set(count_warnings, bench);
    options = (struct pfr_options){
        .root = bench->fixture.root, .job = "42", .step = "0", .node = "n1",
        .dir = bench->fixture.out, .interval = PFR_NS_PER_S, .window = 10 * PFR_NS_PER_S, .top = 4,
        .tree = 4990,
    };
    assert_int_equal(pfr_session_init(bench->session, &options, error, sizeof(error)), 0);
    bench->session->collectors = bench->collectors;
    fixture_set_clock(&bench->fixture, &bench->session->env);
    assert_int_equal(pfr_session_start_task(bench->session, 5001, 0, error, sizeof(error)), 0);
    pfr_session_go(bench->session);
    for (int i = 1; i <= 2; i++) {
        fixture_overlay(&bench->fixture, i == 1 ? "tick1" : "tick2");
        fixture_advance(&bench->fixture, PFR_NS_PER_S);
        pfr_session_tick(bench->session);
    }
    pfr_session_end_task(bench->session, 5001, &end);
    bench->summary = pfr_session_finish(bench->session);
    assert_non_null(bench->summary);
}

static int fail_to_collect(void *state, struct pfr_tick *tick)
{
    (void)state;
    (void)tick;
    return -EIO;
}

static void failing_collector_is_left_out(void **state)
{
    struct bench *bench = *state;

    bench->broken.collect = fail_to_collect;
    play(bench);
    assert_int_equal(bench->warnings, 1); /* said once, counted each time */
    assert_json_int(bench->summary, "sampler.collectors.cgroup.failures", 4);
    assert_json_absent(bench->summary, "sampler.collectors.procs.failures");
    assert_json_absent(bench->summary, "measurements.cgroup_mem_current");
    assert_non_null(fixture_json(bench->summary, "measurements.ps_rss_total"));
    assert_non_null(fixture_json(bench->summary, "sampler.collectors.procs.seconds"));
}

static int fail_to_open(void **state, const struct pfr_place *place)
{
    (void)state;
    (void)place;
    return -ENXIO;
}

static void unopened_collector_says_why(void **state)
{
    struct bench *bench = *state;

    bench->broken.open = fail_to_open;
    play(bench);
    assert_json_text(bench->summary, "info.unavailable.cgroup_mem_current",
                     "cannot be opened: No such device or address");
    assert_json_text(bench->summary, "info.unavailable.cgroup_pdcpu", "needs cgroup_cpu_seconds");
    assert_non_null(fixture_json(bench->summary, "measurements.ps_rss_total"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(failing_collector_is_left_out),
        CASE(unopened_collector_says_why),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
