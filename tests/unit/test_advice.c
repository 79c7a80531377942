/* What to ask for, from one run or many, and each refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/parse.h"
#include "common/judge/advice.h"

#define S PFR_NS_PER_S
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static struct pfr_facts facts;
static struct pfr_needs needs;
static struct pfr_advice advice;

static void set_max(enum pfr_metric_id id, int64_t value)
{
    facts.stats[pfr_step_index(id)].max = value;
}

static int good(void **state)
{
    (void)state;
    pfr_facts_init(&facts);
    pfr_needs_init(&needs);
    facts.elapsed = 3000 * S;
    facts.samples = 3000;
    facts.nodes = 1;
    facts.cpus = 4;
    facts.tasks = 1;
    facts.cores_per_task = 3950;
    facts.cpus_per_task = 4;
    facts.mem_given = 8 * GIB;
    set_max(PFR_CGROUP_MEM_PEAK, 1000 * MIB);
    set_max(PFR_CGROUP_MEM_NONRECLAIMABLE, 950 * MIB);
    return 0;
}

static void add(enum pfr_verdict_id verdict)
{
    pfr_needs_add(&needs, &facts, verdict);
    pfr_advice_give(&advice, &needs);
}

static void from_one_run(void **state)
{
    (void)state;
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=1200M");
    assert_string_equal(advice.mem.basis,
                        "1000.0 MiB peak, file cache included (of 1 run) + 20 %");
    assert_string_equal(advice.mem.why, "the charged peak was used: what a limit is held against");
    assert_string_equal(advice.mem_per_cpu.paste, "#SBATCH --mem-per-cpu=300M");
    assert_string_equal(advice.cpus.paste, "#SBATCH --cpus-per-task=4");
    assert_string_equal(advice.cpus.basis, "3.95 cores a task in 95 % of the time (of 1 run)");
    assert_non_null(strstr(advice.cpus.why, "used all that it had"));
    assert_string_equal(advice.time.paste, "#SBATCH --time=01:00:00");
    assert_string_equal(advice.time.basis, "50:00 min (of 1 run) + 20 %");
    assert_int_equal(advice.runs, 1);
}

/* Two of four CPUs, in a job of a script and a step: nothing was used up. */
static void what_a_task_had(void **state)
{
    (void)state;
    facts.tasks = 2;
    facts.cores_per_task = 2000;
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.cpus.paste, "#SBATCH --cpus-per-task=2");
    assert_string_equal(advice.cpus.why, "");
    facts.one_script = true;
    facts.cores_per_task = 3950;
    add(PFR_VERDICT_OK);
    assert_non_null(strstr(advice.cpus.why, "a script is taken as one task"));
    assert_non_null(strstr(advice.cpus.why, "; it used all that it had"));
}

/* Page cache filled the limit of both: it is the one with more of its own that has to fit. */
static void from_the_largest_floor(void **state)
{
    (void)state;
    set_max(PFR_CGROUP_MEM_PEAK, 8 * GIB);
    set_max(PFR_CGROUP_MEM_NONRECLAIMABLE, 1 * GIB);
    add(PFR_VERDICT_OK);
    set_max(PFR_CGROUP_MEM_PEAK, 8 * GIB - MIB);
    set_max(PFR_CGROUP_MEM_NONRECLAIMABLE, 5 * GIB);
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=6700M"); /* 6656 */
    assert_string_equal(advice.mem.basis,
                        "5.00 GiB needed by the program (largest of 2 runs) + 30 %");
}

/* Pasted together, memory for a CPU and fewer CPUs are still enough memory. */
static void fewer_cpus_have_more_memory_each(void **state)
{
    (void)state;
    facts.cpus = 8;
    facts.tasks = 2;
    facts.cores_per_task = 900; /* of four each */
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.cpus.paste, "#SBATCH --cpus-per-task=1");
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=1200M");
    assert_string_equal(advice.mem_per_cpu.paste, "#SBATCH --mem-per-cpu=600M");
    assert_string_equal(advice.mem_per_cpu.basis,
                        "instead of --mem, with 2 CPUs a node, as advised");
}

/* One of other nodes, and the first at that, is not what is advised for all (R32). */
static void from_what_most_runs_had(void **state)
{
    (void)state;
    set_max(PFR_CGROUP_MEM_PEAK, PFR_ABSENT);
    set_max(PFR_CGROUP_MEM_SAMPLED_PEAK, 500 * MIB);
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=600M");
    set_max(PFR_CGROUP_MEM_PEAK, 4000 * MIB);
    add(PFR_VERDICT_OK);
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=4800M");
    assert_string_equal(advice.mem.basis,
                        "3.91 GiB peak, file cache included (largest of 2 runs) + 20 %");
}

static void from_many_runs(void **state)
{
    (void)state;
    for (int i = 1; i <= 12; i++) {
        set_max(PFR_CGROUP_MEM_PEAK, i * 100 * MIB);
        facts.cores_per_task = i * 100;
        facts.elapsed = i * 3600 * S;
        add(PFR_VERDICT_OK);
    }
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=1500M"); /* 1440 */
    assert_non_null(strstr(advice.mem.basis, "largest of 12 runs"));
    assert_string_equal(advice.cpus.paste, "#SBATCH --cpus-per-task=2");
    assert_string_equal(advice.time.paste, "#SBATCH --time=15:00:00");
}

static void rounding(void **state)
{
    static const struct { int64_t bytes; const char *paste; } sizes[] = {
        { 1 * MIB, "#SBATCH --mem=100M" },       { 80 * MIB, "#SBATCH --mem=100M" },
        { 84 * MIB, "#SBATCH --mem=200M" },      { 8 * GIB, "#SBATCH --mem=9900M" },
        { 10 * GIB, "#SBATCH --mem=12G" },       { 100 * GIB, "#SBATCH --mem=120G" },
        { 2 * GIB / 12 * 10, "#SBATCH --mem=2100M" },
    };
    static const struct { int64_t seconds; const char *paste; } spans[] = {
        { 10, "#SBATCH --time=00:05:00" },     { 240, "#SBATCH --time=00:05:00" },
        { 251, "#SBATCH --time=00:10:00" },    { 3600, "#SBATCH --time=01:15:00" },
        { 6 * 3600, "#SBATCH --time=08:00:00" }, { 86400, "#SBATCH --time=1-05:00:00" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        good(NULL);
        facts.mem_given = PFR_ABSENT;
        set_max(PFR_CGROUP_MEM_PEAK, sizes[i].bytes);
        add(PFR_VERDICT_OK);
        assert_string_equal(advice.mem.paste, sizes[i].paste);
    }
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        good(NULL);
        facts.elapsed = spans[i].seconds * S;
        add(PFR_VERDICT_OK);
        assert_string_equal(advice.time.paste, spans[i].paste);
    }
}

/* Page cache in the peak: the ceiling is used, and it is said what the floor is. */
static void cache_is_explained(void **state)
{
    (void)state;
    set_max(PFR_CGROUP_MEM_NONRECLAIMABLE, 300 * MIB);
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=1200M");
    assert_non_null(strstr(advice.mem.why, "700.0 MiB of it was page cache"));
    assert_non_null(strstr(advice.mem.why, "300.0 MiB is the least"));
}

/* ... but a cache that filled the limit says nothing of the need: then the floor. */
static void cache_that_filled_the_limit(void **state)
{
    (void)state;
    facts.mem_given = 1000 * MIB;
    set_max(PFR_CGROUP_MEM_NONRECLAIMABLE, 300 * MIB);
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=400M");
    assert_string_equal(advice.mem.basis, "300.0 MiB needed by the program (of 1 run) + 30 %");
    assert_non_null(strstr(advice.mem.why, "page cache filled the limit"));
}

static void without_a_cgroup(void **state)
{
    (void)state;
    set_max(PFR_CGROUP_MEM_PEAK, PFR_ABSENT);
    set_max(PFR_CGROUP_MEM_NONRECLAIMABLE, PFR_ABSENT);
    set_max(PFR_PS_RSS_TOTAL, 1000 * MIB);
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=1200M");
    assert_non_null(strstr(advice.mem.basis, "resident, summed"));
    assert_non_null(strstr(advice.mem.why, "shared pages count repeatedly"));
}

/* A number of another source is no part of the maximum (R32). */
static void sources_are_not_mixed(void **state)
{
    (void)state;
    add(PFR_VERDICT_OK);
    set_max(PFR_CGROUP_MEM_PEAK, PFR_ABSENT);
    set_max(PFR_PS_RSS_TOTAL, 9000 * MIB);
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.mem.paste, "#SBATCH --mem=1200M");
    assert_non_null(strstr(advice.mem.basis, "of 1 run"));
}

static void refused_after_oom(void **state)
{
    (void)state;
    set_max(PFR_CGROUP_MEM_PEAK, 8 * GIB);
    add(PFR_VERDICT_OOM);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_MORE);
    assert_string_equal(advice.mem.basis, "more than 8.00 GiB");
    assert_string_equal(advice.mem.paste, "");
    assert_int_equal(advice.mem_per_cpu.kind, PFR_ADVICE_NONE);
    assert_int_equal(advice.cpus.kind, PFR_ADVICE_CANNOT);
    assert_int_equal(advice.time.kind, PFR_ADVICE_CANNOT);
    good(NULL);
    add(PFR_VERDICT_WORKER_KILLED);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_MORE);
}

/* Eleven were content with little, one was not: more than it had. */
static void one_oom_among_many(void **state)
{
    (void)state;
    facts.mem_given = 2 * GIB;
    for (int i = 0; i < 11; i++)
        add(PFR_VERDICT_OK);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_TELL);
    set_max(PFR_CGROUP_MEM_PEAK, 2 * GIB);
    add(PFR_VERDICT_OOM);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_MORE);
    assert_string_equal(advice.mem.basis, "more than 2.00 GiB");
    facts.mem_given = PFR_ABSENT;
    set_max(PFR_CGROUP_MEM_PEAK, 4 * GIB);
    add(PFR_VERDICT_OK); /* and one that had enough tells how much */
    assert_int_equal(advice.mem.kind, PFR_ADVICE_TELL);
}

static void refused_after_the_time_limit(void **state)
{
    (void)state;
    facts.time_limit = 3600 * S;
    add(PFR_VERDICT_TIME_LIMIT);
    assert_int_equal(advice.time.kind, PFR_ADVICE_MORE);
    assert_string_equal(advice.time.basis, "more than 1:00:00 h");
    assert_int_equal(advice.mem.kind, PFR_ADVICE_CANNOT); /* it might have needed more later */
}

static void refuse_all(const char *why)
{
    const struct pfr_advice_line *lines[] = { &advice.mem, &advice.cpus, &advice.time };

    for (int i = 0; i < 3; i++) {
        assert_int_equal(lines[i]->kind, PFR_ADVICE_CANNOT);
        assert_string_equal(lines[i]->paste, "");
        assert_non_null(strstr(lines[i]->why, "cannot tell"));
        assert_non_null(strstr(lines[i]->why, why));
    }
}

static void refused_when_it_failed(void **state)
{
    static const enum pfr_verdict_id failures[] = { PFR_VERDICT_EXIT, PFR_VERDICT_SIGNAL,
                                                    PFR_VERDICT_OOM_NODE };

    (void)state;
    for (int i = 0; i < 3; i++) {
        good(NULL);
        add(failures[i]);
        refuse_all("failed");
    }
}

static void refused_before_the_end(void **state)
{
    static const enum pfr_verdict_id open[] = { PFR_VERDICT_RUNNING, PFR_VERDICT_STALLED,
                                                PFR_VERDICT_INCOMPLETE };

    (void)state;
    for (int i = 0; i < 3; i++) {
        good(NULL);
        add(open[i]);
        refuse_all("not ended");
    }
}

static void refused_when_too_short(void **state)
{
    (void)state;
    facts.elapsed = 9 * S;
    add(PFR_VERDICT_OK);
    refuse_all("too short");
}

/* The kernel's peak needs no samples; cores do, and so does a sampled peak. */
static void refused_with_too_few_samples(void **state)
{
    (void)state;
    facts.samples = 9;
    add(PFR_VERDICT_OK);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_TELL);
    assert_int_equal(advice.cpus.kind, PFR_ADVICE_CANNOT);
    assert_non_null(strstr(advice.cpus.why, "fewer than 10 samples"));
    good(NULL);
    facts.samples = 9;
    set_max(PFR_CGROUP_MEM_PEAK, PFR_ABSENT);
    set_max(PFR_CGROUP_MEM_SAMPLED_PEAK, 500 * MIB);
    add(PFR_VERDICT_OK);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_CANNOT);
}

static void nothing_measured_nothing_said(void **state)
{
    (void)state;
    pfr_advice_give(&advice, &needs);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_NONE);
    set_max(PFR_CGROUP_MEM_PEAK, PFR_ABSENT);
    facts.cores_per_task = PFR_ABSENT;
    add(PFR_VERDICT_OK);
    assert_int_equal(advice.mem.kind, PFR_ADVICE_NONE);
    assert_int_equal(advice.cpus.kind, PFR_ADVICE_NONE);
    assert_int_equal(advice.time.kind, PFR_ADVICE_TELL);
}

/* The job's own time counts, not only that of the step. */
static void time_from_the_start_of_the_job(void **state)
{
    (void)state;
    facts.start = 100000 * S;
    facts.job_start = 100000 * S - 600 * S;
    add(PFR_VERDICT_OK);
    assert_string_equal(advice.time.basis, "1:00:00 h (of 1 run) + 20 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(from_one_run, good),
        cmocka_unit_test_setup(what_a_task_had, good),
        cmocka_unit_test_setup(from_the_largest_floor, good),
        cmocka_unit_test_setup(fewer_cpus_have_more_memory_each, good),
        cmocka_unit_test_setup(from_what_most_runs_had, good),
        cmocka_unit_test_setup(from_many_runs, good),
        cmocka_unit_test_setup(rounding, good),
        cmocka_unit_test_setup(cache_is_explained, good),
        cmocka_unit_test_setup(cache_that_filled_the_limit, good),
        cmocka_unit_test_setup(without_a_cgroup, good),
        cmocka_unit_test_setup(sources_are_not_mixed, good),
        cmocka_unit_test_setup(refused_after_oom, good),
        cmocka_unit_test_setup(one_oom_among_many, good),
        cmocka_unit_test_setup(refused_after_the_time_limit, good),
        cmocka_unit_test_setup(refused_when_it_failed, good),
        cmocka_unit_test_setup(refused_before_the_end, good),
        cmocka_unit_test_setup(refused_when_too_short, good),
        cmocka_unit_test_setup(refused_with_too_few_samples, good),
        cmocka_unit_test_setup(nothing_measured_nothing_said, good),
        cmocka_unit_test_setup(time_from_the_start_of_the_job, good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
