/* Every verdict, its evidence in its order, and both voices (R58-R61). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "common/judge/verdict.h"

#define S PFR_NS_PER_S
#define MIB (INT64_C(1) << 20)
#define NOW (1000000 * S)

static struct pfr_facts facts;
static struct pfr_last last;
static struct pfr_verdict verdict;

static void set(enum pfr_metric_id id, int64_t value)
{
    struct pfr_stats *stats = &facts.stats[pfr_step_index(id)];

    if (pfr_metrics[id].kind == PFR_COUNTER)
        stats->total = value;
    else
        stats->max = value;
}

/* A run of ten minutes that went well, of one task on one node. */
static int good(void **state)
{
    (void)state;
    pfr_facts_init(&facts);
    memset(&last, 0, sizeof(last));
    facts.progress = PFR_PROGRESS_COMPLETE;
    facts.extent = PFR_EXTENT_STEP;
    snprintf(facts.node, sizeof(facts.node), "n1");
    facts.start = NOW - 700 * S;
    facts.elapsed = 600 * S;
    facts.written = NOW - 100 * S;
    facts.window = 10 * S;
    facts.nodes = facts.nodes_given = 1;
    facts.tasks = facts.tasks_ended = 1;
    facts.tasks_failed = 0;
    facts.exit = 0;
    facts.rank = 0;
    facts.cpus = 4;
    facts.mem_given = 1000 * MIB;
    facts.samples = 600;
    set(PFR_CGROUP_MEM_PEAK, 800 * MIB);
    set(PFR_CGROUP_CPU_SECONDS, 2000 * S);
    set(PFR_CGROUP_OOM_KILLS, 0);
    last = (struct pfr_last){ .at = 599 * S, .mem = 790 * MIB, .nonreclaimable = 700 * MIB,
                              .rss_total = PFR_ABSENT, .pdcpu = 350000, .processes = 12,
                              .still_since = PFR_ABSENT, .stall = PFR_LAST_STALL,
                              .oom_at = PFR_ABSENT,
                              .oom_kills = PFR_ABSENT };
    return 0;
}

static void judge(enum pfr_verdict_id expected)
{
    pfr_verdict_judge(&verdict, &facts, &last, NOW);
    assert_string_equal(pfr_verdict_name(verdict.id), pfr_verdict_name(expected));
    assert_int_equal(pfr_verdict_of(&facts, &last, NOW), expected);
    assert_true(verdict.headline[0]);
    for (int i = 0; i < verdict.evidence.count; i++)
        assert_true(verdict.evidence.line[i][0]); /* no empty line for an absent part (R61) */
}

static void evidence(int line, const char *expected)
{
    assert_true(line < verdict.evidence.count);
    assert_string_equal(verdict.evidence.line[line], expected);
}

static bool says(const struct pfr_said *said, const char *part)
{
    for (int i = 0; i < said->count; i++)
        if (strstr(said->line[i], part))
            return true;
    return false;
}

/* Both voices have something to say, and not the same. */
static void voices(const char *user, const char *admin)
{
    assert_true(says(&verdict.user, user));
    assert_true(says(&verdict.admin, admin));
    assert_string_not_equal(verdict.user.line[0], verdict.admin.line[0]);
}

/* At a limit below the allocation (AllowedRAMSpace) it is at its own limit; far below it is not. */
static void limit_below_the_allocation(void **state)
{
    (void)state;
    facts.exit = 137;
    facts.tasks_failed = 1;
    set(PFR_CGROUP_OOM_KILLS, 1);
    facts.stats[pfr_step_index(PFR_CGROUP_MEM_LIMIT)].last = 800 * MIB;
    set(PFR_CGROUP_MEM_FAILCNT, 0); /* v1 counts where it was met first: in the job, not here */
    judge(PFR_VERDICT_OOM);
    set(PFR_CGROUP_MEM_PEAK, 500 * MIB); /* far below any limit of its own */
    judge(PFR_VERDICT_OOM_NODE);
}

/* At its limit: one that stood still is hung; one that worked, or paused, needs time. */
static void hung_until_its_limit(void **state)
{
    (void)state;
    facts.signal = 15;
    facts.exit = PFR_ABSENT;
    facts.tasks_failed = 1;
    facts.job_end = facts.start + facts.elapsed;
    facts.time_limit = 600 * S;
    judge(PFR_VERDICT_TIME_LIMIT); /* it worked until then */
    last.still_since = 20 * S;
    snprintf(last.node, sizeof(last.node), "n1");
    judge(PFR_VERDICT_HUNG);
    assert_true(says(&verdict.evidence, "no CPU and no I/O was used for the last 9:39 min"));
    assert_false(says(&verdict.user, "Ask for more time"));
    voices("More time would not help", "n1");
    last.still_since = 400 * S; /* a third of the time only */
    judge(PFR_VERDICT_TIME_LIMIT);
    last.still_since = 20 * S;
    facts.job_end = PFR_ABSENT; /* killed by somebody, not at its limit */
    judge(PFR_VERDICT_SIGNAL);
}

static void fine(void **state)
{
    (void)state;
    judge(PFR_VERDICT_OK);
    assert_int_equal(verdict.evidence.count, 0);
    assert_false(pfr_verdict_is_failure(verdict.id));
}

static void fail_with(int64_t code, int64_t signal)
{
    facts.exit = code;
    facts.signal = signal;
    facts.tasks_failed = 1;
}

static void out_of_memory(void **state)
{
    (void)state;
    fail_with(PFR_ABSENT, 9);
    set(PFR_CGROUP_OOM_KILLS, 1);
    set(PFR_CGROUP_OOM_EVENTS, 3);
    set(PFR_CGROUP_MEM_PEAK, 1000 * MIB);
    last.victims[0] = (struct pfr_last_process){ 77, 900 * MIB, PFR_ABSENT, "eater" };
    last.victim_count = 1;
    judge(PFR_VERDICT_OOM);
    /* the newest sample first (R59) */
    evidence(0, "newest sample, at 9:59 min: 790.0 MiB charged, 700.0 MiB needed by the program, "
                "3.50 cores, 12 processes in its window");
    evidence(1, "the kernel killed 1 process for want of memory; gone since: eater (pid 77, "
                "900.0 MiB)");
    evidence(2, "memory: 1000.0 MiB at most, 100 % of the 1000.0 MiB allocated");
    evidence(3, "it was killed by signal 9 (Killed)");
    voices("--mem", "Nothing to do on the node");
    assert_true(pfr_verdict_is_failure(verdict.id));
}

/* R60: without a CPU rate there is no word of cores, and nothing in its place. */
static void a_sample_without_cores(void **state)
{
    (void)state;
    fail_with(1, PFR_ABSENT);
    last.pdcpu = last.processes = PFR_ABSENT;
    judge(PFR_VERDICT_EXIT);
    evidence(0, "newest sample, at 9:59 min: 790.0 MiB charged, 700.0 MiB needed by the program");
    last.mem = last.nonreclaimable = PFR_ABSENT;
    last.rss_total = 5 * MIB;
    judge(PFR_VERDICT_EXIT);
    evidence(0, "newest sample, at 9:59 min: 5.00 MiB resident, summed");
}

/* v1 has no events: the limit was met, or the peak was at it. */
static void out_of_memory_on_v1(void **state)
{
    (void)state;
    fail_with(137, PFR_ABSENT);
    set(PFR_CGROUP_OOM_KILLS, 2);
    set(PFR_CGROUP_MEM_FAILCNT, 17);
    judge(PFR_VERDICT_OOM);
    set(PFR_CGROUP_MEM_FAILCNT, 0);
    judge(PFR_VERDICT_OOM_NODE);
    set(PFR_CGROUP_MEM_PEAK, 996 * MIB);
    judge(PFR_VERDICT_OOM);
}

static void out_of_memory_elsewhere(void **state)
{
    (void)state;
    fail_with(PFR_ABSENT, 9);
    set(PFR_CGROUP_OOM_KILLS, 1);
    set(PFR_CGROUP_OOM_EVENTS, 0); /* not at the limit of this cgroup */
    set(PFR_CGROUP_MEM_PEAK, 300 * MIB);
    judge(PFR_VERDICT_OOM_NODE);
    evidence(2, "memory: 300.0 MiB at most, 30 % of the 1000.0 MiB allocated");
    voices("did not reach its own limit", "kernel log of n1");
}

/* More than was allocated is said as it is, never cut at 100 %. */
static void over_a_hundred_percent(void **state)
{
    (void)state;
    fail_with(PFR_ABSENT, 9);
    set(PFR_CGROUP_OOM_KILLS, 1);
    set(PFR_CGROUP_MEM_PEAK, 1500 * MIB);
    judge(PFR_VERDICT_OOM);
    evidence(2, "memory: 1.46 GiB at most, 150 % of the 1000.0 MiB allocated");
}

static void a_worker_was_killed(void **state)
{
    (void)state;
    set(PFR_CGROUP_OOM_KILLS, 1);
    judge(PFR_VERDICT_WORKER_KILLED);
    assert_true(pfr_verdict_is_failure(verdict.id));
    voices("results are whole", "completed");
    assert_true(says(&verdict.evidence, "exit code 0"));
}

static void time_limit(void **state)
{
    (void)state;
    fail_with(PFR_ABSENT, 15);
    facts.job_start = facts.start - 10 * S;
    facts.job_end = facts.start + facts.elapsed + 5 * S;
    facts.time_limit = 610 * S;
    judge(PFR_VERDICT_TIME_LIMIT);
    evidence(1, "it ran 10:00 min; the job's time limit is 10:10 min");
    voices("--time", "as asked for");
    facts.job_end += 3600 * S; /* far from it: somebody else sent the signal */
    judge(PFR_VERDICT_SIGNAL);
    facts.job_end = PFR_ABSENT;
    judge(PFR_VERDICT_SIGNAL);
    snprintf(facts.scheduler_state, sizeof(facts.scheduler_state), "TIMEOUT");
    judge(PFR_VERDICT_TIME_LIMIT); /* Slurm knows best */
}

/* An exit code near the limit is an exit code, unless a shell speaks of SIGTERM. */
static void time_limit_through_a_shell(void **state)
{
    (void)state;
    facts.job_end = facts.start + facts.elapsed;
    fail_with(1, PFR_ABSENT);
    judge(PFR_VERDICT_EXIT);
    fail_with(143, PFR_ABSENT);
    judge(PFR_VERDICT_TIME_LIMIT);
}

static void signals(void **state)
{
    static const struct { int64_t signal; const char *user, *admin; } cases[] = {
        { 9, "counted no OOM kill in this step.", "who cancelled" },
        { 15, "scancel", "slurmctld" },
        { 11, "crashed", "compare nodes" },
        { 10, "signal(7)", "Nothing to do" },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        fail_with(PFR_ABSENT, cases[i].signal);
        judge(PFR_VERDICT_SIGNAL);
        voices(cases[i].user, cases[i].admin);
    }
    fail_with(PFR_ABSENT, 9);
    set(PFR_CGROUP_OOM_KILLS, PFR_ABSENT);
    judge(PFR_VERDICT_SIGNAL);
    assert_true(says(&verdict.user, "that was not measured"));
}

static void exit_codes(void **state)
{
    (void)state;
    fail_with(3, PFR_ABSENT);
    judge(PFR_VERDICT_EXIT);
    evidence(1, "it ended with exit code 3");
    voices("its output tells", "own exit code");
    fail_with(127, PFR_ABSENT);
    judge(PFR_VERDICT_EXIT);
    assert_true(says(&verdict.user, "not found"));
    fail_with(139, PFR_ABSENT);
    judge(PFR_VERDICT_EXIT);
    assert_true(says(&verdict.user, "signal 11 (Segmentation fault)"));
}

static void of_many_tasks(void **state)
{
    (void)state;
    facts.tasks = facts.tasks_ended = 8;
    fail_with(2, PFR_ABSENT);
    facts.tasks_failed = 3;
    facts.rank = 5;
    judge(PFR_VERDICT_EXIT);
    evidence(1, "task 5, the first to fail, ended with exit code 2");
    evidence(2, "3 of 8 tasks failed");
}

static void run_on(void)
{
    facts.progress = PFR_PROGRESS_LIVE;
    facts.written = NOW - 5 * S;
    facts.tasks_ended = 0;
    facts.exit = PFR_ABSENT;
}

static void running_and_stalled(void **state)
{
    (void)state;
    run_on();
    judge(PFR_VERDICT_RUNNING);
    assert_true(says(&verdict.evidence, "LIVE, written 5.00 s ago"));
    last.still_since = 100 * S;
    judge(PFR_VERDICT_RUNNING); /* not yet ten minutes */
    last.at = 800 * S;
    snprintf(last.states[0].code, sizeof(last.states[0].code), "D");
    last.states[0].count = 40;
    last.state_count = 1;
    last.top[0] = (struct pfr_last_process){ 5, 9 * MIB, 0, "waiter" };
    last.top_count = 1;
    judge(PFR_VERDICT_STALLED);
    evidence(1, "no CPU and no I/O was used for the last 11:40 min, since 1:40 min into the run");
    evidence(2, "states seen in the last window: D 40");
    evidence(3, "largest processes: waiter (pid 5, 9.00 MiB)");
    voices("waits for something", "n1");
    last.stall = 800 * S; /* --stalled */
    judge(PFR_VERDICT_RUNNING);
    last.stall = 700 * S;
    judge(PFR_VERDICT_STALLED);
    facts.nodes = 2; /* of one node it is said which */
    snprintf(last.node, sizeof(last.node), "n2");
    judge(PFR_VERDICT_STALLED);
    evidence(1, "no CPU and no I/O was used for the last 11:40 min, since 1:40 min into the run, "
                "on n2");
    last.everywhere = true;
    judge(PFR_VERDICT_STALLED);
    evidence(1, "no CPU and no I/O was used for the last 11:40 min, since 1:40 min into the run, "
                "on any node");
    pfr_verdict_judge(&verdict, &facts, NULL, NOW); /* without a series nobody can tell */
    assert_int_equal(verdict.id, PFR_VERDICT_RUNNING);
}

static void incomplete(void **state)
{
    (void)state;
    run_on();
    facts.written = NOW - 3600 * S;
    judge(PFR_VERDICT_INCOMPLETE);
    assert_true(says(&verdict.evidence, "LIVE, written 1:00:00 h ago"));
    voices("the end is missing", "cut off");
    facts.progress = PFR_PROGRESS_LOST;
    facts.written = NOW;
    judge(PFR_VERDICT_INCOMPLETE);
    voices("the end is missing", "slurmstepd's own");
}

static void parts_are_missing(void **state)
{
    (void)state;
    facts.nodes_given = 4;
    facts.nodes = 3;
    judge(PFR_VERDICT_INCOMPLETE);
    assert_true(says(&verdict.evidence, "profiles of 3 of 4 nodes"));
    facts.nodes = 4;
    judge(PFR_VERDICT_OK);
    facts.tasks = 3;
    judge(PFR_VERDICT_INCOMPLETE);
    assert_true(says(&verdict.evidence, "2 of 3 tasks had not ended"));
}

/* Of a job only: a script that waits for its steps uses nothing, and shall. */
static void idle(void **state)
{
    (void)state;
    set(PFR_CGROUP_CPU_SECONDS, 60 * S); /* 0.1 of 4 cores */
    judge(PFR_VERDICT_OK);
    facts.extent = PFR_EXTENT_JOB;
    judge(PFR_VERDICT_IDLE);
    evidence(0, "cores: 0.10 of 4 on average");
    voices("See the advice", "hardly used");
    facts.stats[pfr_step_index(PFR_CGROUP_PDCPU)].p95 = 390000; /* but needed them at times */
    facts.stats[pfr_step_index(PFR_CGROUP_PDCPU)].mean = 10000;
    judge(PFR_VERDICT_OK);
    facts.mem_given = 20000 * MIB;
    judge(PFR_VERDICT_IDLE);
    facts.elapsed = 59 * S; /* too short to say so */
    judge(PFR_VERDICT_OK);
    facts.elapsed = 600 * S;
    facts.cpus = 1;
    facts.mem_given = 900 * MIB;
    judge(PFR_VERDICT_OK);
}

static void all_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < PFR_VERDICT_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(pfr_verdict_name((enum pfr_verdict_id)i),
                                    pfr_verdict_name((enum pfr_verdict_id)k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fine, good),
        cmocka_unit_test_setup(hung_until_its_limit, good),
        cmocka_unit_test_setup(limit_below_the_allocation, good),
        cmocka_unit_test_setup(out_of_memory, good),
        cmocka_unit_test_setup(a_sample_without_cores, good),
        cmocka_unit_test_setup(out_of_memory_on_v1, good),
        cmocka_unit_test_setup(out_of_memory_elsewhere, good),
        cmocka_unit_test_setup(over_a_hundred_percent, good),
        cmocka_unit_test_setup(a_worker_was_killed, good),
        cmocka_unit_test_setup(time_limit, good),
        cmocka_unit_test_setup(time_limit_through_a_shell, good),
        cmocka_unit_test_setup(signals, good),
        cmocka_unit_test_setup(exit_codes, good),
        cmocka_unit_test_setup(of_many_tasks, good),
        cmocka_unit_test_setup(running_and_stalled, good),
        cmocka_unit_test_setup(incomplete, good),
        cmocka_unit_test_setup(parts_are_missing, good),
        cmocka_unit_test_setup(idle, good),
        cmocka_unit_test(all_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
