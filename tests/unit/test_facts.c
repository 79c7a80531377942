/* Facts from summaries, put together over nodes and steps; the end of a series. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/judge/last.h"
#include "common/judge/text.h"

#define S PFR_NS_PER_S
#define MIB (INT64_C(1) << 20)

/* As the sampler writes it, shortened. */
static const char summary[] =
    "{ \"schema\": \"profres-summary/2.0\", \"state\": \"COMPLETE\", \"n_pending\": 0,\n"
    "  \"ts\": \"2026-11-16T05:25:37.844Z\", \"elapsed_seconds\": 100.5,\n"
    "  \"info\": { \"profres\": \"0.1.0\", \"job\": \"12\", \"step\": \"0\", \"node\": \"n1\",\n"
    "    \"allocation\": { \"job_id\": 12, \"nodes\": 2, \"tasks\": 2, \"tasks_of_step\": 4,\n"
    "      \"cpus_per_task\": 2, \"job_cpus\": 4, \"job_mem_bytes\": 629145600,\n"
    "      \"step_mem_bytes\": 209715200, \"array_job_id\": 11, \"array_task_id\": 3,\n"
    "      \"restart_count\": 1, \"job_name\": 2026, \"user\": \"alice\", \"unknown\": [1, 2],\n"
    "      \"job_start_time\": 1794806700, \"job_end_time\": 1794807000 },\n"
    "    \"command\": [ \"./app\", \"-x\", \"a\\u001bb\" ],\n"
    "    \"start\": \"2026-11-16T05:23:57.000Z\",\n"
    "    \"node_cpus\": 8, \"node_mem_total\": 25274793984, \"interval_seconds\": 0.5,\n"
    "    \"window_seconds\": 10, \"unavailable\": { \"proc_pss\": \"not selected\" } },\n"
    "  \"num_samples\": 201, \"num_windows\": 11, \"counter_falls\": 2,\n"
    "  \"measurements\": {\n"
    "    \"proc_count\": { \"max\": 5, \"min\": 1, \"mean\": 2.15 },\n"
    "    \"cgroup_mem_peak\": { \"max\": 157286400 },\n"
    "    \"cgroup_mem_nonreclaimable\": { \"max\": 104857600, \"last\": 7, \"new_member\": {} },\n"
    "    \"cgroup_mem_limit\": { \"last\": 209715200 },\n"
    "    \"cgroup_oom_kills\": { \"total\": 0 },\n"
    "    \"cgroup_cpu_seconds\": { \"total\": 150.25 },\n"
    "    \"cgroup_pdcpu\": { \"max\": 199.5, \"min\": 0, \"mean\": 149.5, \"p95\": 190,\n"
    "      \"max_at_seconds\": 12.5 },\n"
    "    \"a_new_key\": { \"max\": [ 1 ] } },\n"
    "  \"histograms\": { \"cgroup_pdcpu\": { \"edges\": [ 0, 1 ], \"seconds\": [ 1 ] } },\n"
    "  \"totals_at_exit\": { \"cgroup_mem_peak\": 157286401, \"cgroup_oom_kills\": 0 },\n"
    "  \"tasks\": [\n"
    "    { \"pid\": 1, \"rank\": 0, \"start_seconds\": 0, \"end_seconds\": 90, \"exit\": 1,\n"
    "      \"cgroup_mem_peak\": 1048576, \"cgroup_cpu_seconds\": 50 },\n"
    "    { \"pid\": 2, \"rank\": 1, \"start_seconds\": 0, \"end_seconds\": 80, \"signal\": 9,\n"
    "      \"cgroup_mem_peak\": 2097152, \"cgroup_cpu_seconds\": 100 } ],\n"
    "  \"processes\": { \"seen\": 17, \"top\": [ { \"pid\": 1 } ] },\n"
    "  \"instances\": {},\n"
    "  \"sampler\": { \"cpu_seconds\": 0.25, \"late_ticks\": 3 } }\n";

static void parse(struct pfr_facts *facts, const char *text)
{
    assert_int_equal(pfr_facts_parse(facts, text, strlen(text)), 0);
}

static void takes_what_is_there(void **state)
{
    struct pfr_facts f;

    (void)state;
    parse(&f, summary);
    assert_int_equal(f.progress, PFR_PROGRESS_COMPLETE);
    assert_string_equal(f.job, "11_3"); /* as sacct names a member of an array */
    assert_string_equal(f.step, "0");
    assert_string_equal(f.node, "n1");
    assert_string_equal(f.name, "2026"); /* a name that looks like a number */
    assert_string_equal(f.user, "alice");
    assert_string_equal(f.command, "./app -x a?b"); /* nothing for the terminal */
    assert_int_equal(f.job_id, 12);
    assert_int_equal(f.restart, 1);
    assert_int_equal(f.elapsed, 100 * S + S / 2);
    assert_int_equal(f.interval, S / 2);
    assert_int_equal(f.cpus, 4);
    assert_int_equal(f.mem_given, 200 * MIB);
    assert_int_equal(f.job_mem_given, 600 * MIB);
    assert_int_equal(f.time_limit, 300 * S);
    assert_int_equal(f.samples, 201);
    assert_int_equal(f.processes_seen, 17);
    assert_int_equal(f.processes_at_once, 5);
    assert_int_equal(f.late_ticks, 3);
    assert_int_equal(f.counter_falls, 2);
    assert_int_equal(f.sampler_cpu, S / 4);
    assert_int_equal(pfr_facts_value(&f, PFR_CGROUP_CPU_SECONDS), 150 * S + S / 4);
    assert_int_equal(pfr_facts_stats(&f, PFR_CGROUP_PDCPU)->p95, 190000);
    assert_int_equal(pfr_facts_stats(&f, PFR_CGROUP_PDCPU)->max_at, 12 * S + S / 2);
    assert_int_equal(pfr_facts_value(&f, PFR_CGROUP_PDCPU), 149500); /* its reduce is mean */
    assert_int_equal(pfr_facts_stats(&f, PFR_PROC_COUNT)->mean, 2);
    assert_int_equal(f.cores_per_task, 950); /* 1.9 cores over two tasks */
}

static void what_is_not_there_is_absent(void **state)
{
    struct pfr_facts f;

    (void)state;
    parse(&f, "{\"schema\":\"profres-summary/2.0\",\"state\":\"LIVE\","
              "\"info\":{\"job\":\"run-1\"}}");
    assert_false(pfr_known(f.elapsed));
    assert_false(pfr_known(f.exit));
    assert_false(pfr_known(f.tasks));
    assert_false(pfr_known(f.mem_given));
    assert_false(pfr_known(f.samples));
    assert_false(pfr_known(f.start));
    assert_int_equal(f.user[0], '\0');
    PFR_EACH_STEP_METRIC(id)
        assert_false(pfr_known(pfr_facts_value(&f, id)));
    assert_int_equal(pfr_facts_memory_source(&f), PFR_METRIC_NONE);
    assert_false(pfr_known(pfr_facts_cores_mean(&f)));
}

/* The first to fail is the one that tells; the others were perhaps killed for it. */
static void tasks_and_their_spread(void **state)
{
    struct pfr_facts f;

    (void)state;
    parse(&f, summary);
    assert_int_equal(f.tasks, 2);
    assert_int_equal(f.tasks_ended, 2);
    assert_int_equal(f.tasks_failed, 2);
    assert_int_equal(f.rank, 1);
    assert_int_equal(f.signal, 9);
    assert_false(pfr_known(f.exit));
    assert_int_equal(f.task_mem.min, MIB);
    assert_int_equal(f.task_mem.max, 2 * MIB);
    assert_int_equal(f.task_mem.max_rank, 1);
    assert_int_equal(f.task_cpu.max, 100 * S);
}

/* slurmstepd read the peak later than the sampler: the larger of the two holds. */
static void the_later_total_holds(void **state)
{
    struct pfr_facts f;

    (void)state;
    parse(&f, summary);
    assert_int_equal(pfr_facts_value(&f, PFR_CGROUP_MEM_PEAK), 157286401);
}

static void a_cut_summary_is_none(void **state)
{
    struct pfr_facts f;

    (void)state;
    for (size_t length = 0; length < strlen(summary) - 2; length++) {
        char *text = malloc(length + 1);

        memcpy(text, summary, length);
        assert_int_equal(pfr_facts_parse(&f, text, length), -EBADMSG);
        free(text);
    }
}

static void schemas(void **state)
{
    struct pfr_facts f;
    const struct { const char *text; int result; bool newer; } cases[] = {
        { "{\"schema\":\"profres-summary/2.0\"}", 0, false },
        { "{\"schema\":\"profres-summary/2.99\",\"news\":{\"a\":[{}]}}", 0, true },
        { "{\"schema\":\"profres-summary/3.0\"}", -EPROTO, false },
        { "{\"schema\":\"profres-series/2.0\"}", -EPROTO, false },
        { "{\"schema\":7}", -EPROTO, false },
        { "{}", -EPROTO, false },
        { "[]", -EBADMSG, false },
        { "null", -EBADMSG, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(pfr_facts_parse(&f, cases[i].text, strlen(cases[i].text)),
                         cases[i].result);
        if (cases[i].result == 0)
            assert_int_equal(f.newer_schema, cases[i].newer);
    }
}

/* Members of another type than they should be are absent, and nothing else is lost. */
static void strange_types(void **state)
{
    struct pfr_facts f;

    (void)state;
    parse(&f, "{\"schema\":\"profres-summary/2.0\",\"state\":{},\"n_pending\":\"x\",\"ts\":5,"
              "\"elapsed_seconds\":[],\"info\":[1],\"measurements\":{\"cgroup_mem_peak\":7,"
              "\"cgroup_oom_kills\":{\"total\":\"many\"}},\"tasks\":{\"a\":1},\"processes\":0,"
              "\"sampler\":null,\"num_samples\":3}");
    assert_int_equal(f.samples, 3);
    assert_false(pfr_known(f.pending));
    assert_false(pfr_known(pfr_facts_value(&f, PFR_CGROUP_MEM_PEAK)));
    assert_false(pfr_known(f.tasks));
    parse(&f, "{\"schema\":\"profres-summary/2.0\",\"tasks\":[1,{\"rank\":2,"
              "\"exit\":99999999999999999999},[],{\"end_seconds\":9e99,\"signal\":3}],"
              "\"elapsed_seconds\":9e99,"
              "\"info\":{\"start\":\"2261-01-01T00:00:00Z\"}}");
    assert_int_equal(f.tasks, 2); /* and no overflow, which the sanitizer would show */
}

/* R31: in one place, in this order. */
static void sources_in_their_order(void **state)
{
    struct pfr_facts f;

    (void)state;
    pfr_facts_init(&f);
    f.stats[pfr_step_index(PFR_PS_RSS_TOTAL)].max = 1;
    assert_int_equal(pfr_facts_memory_source(&f), PFR_PS_RSS_TOTAL);
    f.stats[pfr_step_index(PFR_CGROUP_MEM_SAMPLED_PEAK)].max = 2;
    assert_int_equal(pfr_facts_memory_source(&f), PFR_CGROUP_MEM_SAMPLED_PEAK);
    f.stats[pfr_step_index(PFR_CGROUP_MEM_PEAK)].max = 3;
    assert_int_equal(pfr_facts_memory_source(&f), PFR_CGROUP_MEM_PEAK);
    f.stats[pfr_step_index(PFR_PS_CPU_SECONDS_TOTAL)].total = 1;
    assert_int_equal(pfr_facts_cpu_source(&f), PFR_PS_CPU_SECONDS_TOTAL);
    f.stats[pfr_step_index(PFR_RUSAGE_CPU_SECONDS)].max = 1;
    assert_int_equal(pfr_facts_cpu_source(&f), PFR_RUSAGE_CPU_SECONDS);
    f.stats[pfr_step_index(PFR_CGROUP_CPU_SECONDS)].total = 0; /* measured, and none */
    assert_int_equal(pfr_facts_cpu_source(&f), PFR_CGROUP_CPU_SECONDS);
}

static void nodes_of_a_step(void **state)
{
    static struct pfr_facts n[3], m;

    (void)state;
    for (int i = 0; i < 3; i++) {
        parse(&n[i], summary);
        snprintf(n[i].node, sizeof(n[i].node), "n%d", i + 1);
    }
    n[1].stats[pfr_step_index(PFR_CGROUP_MEM_PEAK)].max = 190 * MIB;
    n[1].stats[pfr_step_index(PFR_CGROUP_MEM_NONRECLAIMABLE)].max = 150 * MIB;
    n[2].elapsed = 200 * S;
    n[2].progress = PFR_PROGRESS_LIVE;
    n[2].failed_at -= 60 * S;
    n[2].signal = 11;
    n[2].rank = 5;
    n[0].stats[pfr_step_index(PFR_CGROUP_OOM_KILLS)].total = PFR_ABSENT;
    pfr_facts_merge(&m, n, 3);
    assert_string_equal(m.node, "n2"); /* the one that --mem has to hold */
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_MEM_PEAK), 190 * MIB);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_MEM_NONRECLAIMABLE), 150 * MIB);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_CPU_SECONDS), 3 * (150 * S + S / 4));
    assert_false(pfr_known(pfr_facts_value(&m, PFR_CGROUP_OOM_KILLS))); /* absent in one */
    assert_false(pfr_known(pfr_facts_stats(&m, PFR_CGROUP_PDCPU)->p95)); /* not simultaneous */
    assert_false(pfr_known(pfr_facts_value(&m, PFR_PROC_COUNT)));
    assert_int_equal(m.nodes, 3);
    assert_int_equal(m.cpus, 12);
    assert_int_equal(m.tasks, 6);
    assert_int_equal(m.samples, 603);
    assert_int_equal(m.elapsed, 200 * S);
    assert_int_equal(m.progress, PFR_PROGRESS_LIVE);
    assert_int_equal(m.signal, 11); /* the first to fail of all */
    assert_int_equal(m.rank, 5);
    assert_int_equal(m.mem_given, 200 * MIB); /* of one node, not of three */
    pfr_facts_merge(&m, n, 1);
    assert_int_equal(pfr_facts_stats(&m, PFR_CGROUP_PDCPU)->p95, 190000); /* nothing lost */
}

/* Block devices know nothing of NFS, nor on v1 of buffered writes: no zero hides what was done. */
static void storage_by_both(void **state)
{
    static const enum pfr_metric_id ids[] = {
        PFR_CGROUP_IO_READ_BYTES, PFR_CGROUP_IO_WRITE_BYTES, PFR_PROC_IO_READ_BYTES_TOTAL,
        PFR_PROC_IO_WRITE_BYTES_TOTAL,
    };
    static const struct { int64_t mib[4]; const char *text; } cases[] = {
        { { -1, -1, -1, -1 }, "-" },
        { { 8, 2, -1, -1 }, "8.00 MiB read, 2.00 MiB written" },
        { { 8, 2, 0, 3 }, "8.00 MiB read, 2.00 MiB written" },
        { { -1, -1, 0, 3 }, "0 B read, 3.00 MiB written (by processes seen)" },
        { { 0, 0, 5, 64 }, "5.00 MiB read, 64.0 MiB written by processes seen; "
                           "0 B read, 0 B written on block devices" },
    };
    char text[PFR_STORAGE_SIZE];
    struct pfr_facts f;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pfr_facts_init(&f);
        for (int k = 0; k < 4; k++)
            if (cases[i].mib[k] >= 0)
                f.stats[pfr_step_index(ids[k])].total = cases[i].mib[k] * MIB;
        assert_string_equal(pfr_storage_text(&f, text), cases[i].text);
    }
}

/* Where no block device was used, what went through read and write calls is shown. */
static void storage_by_calls(void **state)
{
    char text[PFR_STORAGE_SIZE];
    struct pfr_facts f;

    (void)state;
    pfr_facts_init(&f);
    f.stats[pfr_step_index(PFR_CGROUP_IO_READ_BYTES)].total = 0;
    f.stats[pfr_step_index(PFR_CGROUP_IO_WRITE_BYTES)].total = 0;
    f.stats[pfr_step_index(PFR_PROC_IO_RCHAR_TOTAL)].total = 1150 * MIB;
    f.stats[pfr_step_index(PFR_PROC_IO_WCHAR_TOTAL)].total = MIB / 2;
    assert_string_equal(pfr_storage_text(&f, text), "0 B read, 0 B written; "
                                                    "read calls 1.12 GiB, write calls 512.0 KiB");
    /* not where the device did as much */
    f.stats[pfr_step_index(PFR_CGROUP_IO_READ_BYTES)].total = 1150 * MIB;
    assert_string_equal(pfr_storage_text(&f, text), "1.12 GiB read, 0 B written");
    pfr_facts_init(&f);
    f.stats[pfr_step_index(PFR_PROC_IO_RCHAR_TOTAL)].total = 4 * MIB;
    assert_string_equal(pfr_storage_text(&f, text), "read calls 4.00 MiB, write calls -");
}

/* The smaller of both holds: a site may give less than was allocated. */
static void bound_of_memory(void **state)
{
    struct pfr_facts f;

    (void)state;
    pfr_facts_init(&f);
    assert_false(pfr_known(pfr_facts_memory_bound(&f)));
    f.mem_given = 150 * MIB;
    assert_int_equal(pfr_facts_memory_bound(&f), 150 * MIB);
    f.stats[pfr_step_index(PFR_CGROUP_MEM_LIMIT)].last = 120 * MIB;
    assert_int_equal(pfr_facts_memory_bound(&f), 120 * MIB);
    assert_true(pfr_facts_bound_is_limit(&f));
    f.stats[pfr_step_index(PFR_CGROUP_MEM_LIMIT)].last = 150 * MIB;
    assert_false(pfr_facts_bound_is_limit(&f));
    f.stats[pfr_step_index(PFR_CGROUP_MEM_LIMIT)].last = 500 * MIB;
    assert_int_equal(pfr_facts_memory_bound(&f), 150 * MIB);
    f.mem_given = PFR_ABSENT;
    assert_int_equal(pfr_facts_memory_bound(&f), 500 * MIB);
}

/* Slurm says a year for a job without a limit; a week is one. */
static void no_time_limit(void **state)
{
    static const char pattern[] =
        "{ \"schema\": \"profres-summary/2.0\", \"info\": { \"allocation\": {"
        " \"job_start_time\": 1794806700, \"job_end_time\": %lld } } }";
    char text[512];
    struct pfr_facts f;

    (void)state;
    snprintf(text, sizeof(text), pattern, 1794806700LL + 365 * 86400);
    parse(&f, text);
    assert_false(pfr_known(f.time_limit));
    assert_false(pfr_known(f.job_end));
    snprintf(text, sizeof(text), pattern, 1794806700LL + 7 * 86400);
    parse(&f, text);
    assert_int_equal(f.time_limit, 7 * 86400 * S);
}

/* A node without the kernel's peak is not larger because its summed RSS is (R32). */
static void sources_are_not_mixed(void **state)
{
    static struct pfr_facts n[2], m;

    (void)state;
    parse(&n[0], summary);
    parse(&n[1], summary);
    n[0].stats[pfr_step_index(PFR_CGROUP_MEM_PEAK)].max = PFR_ABSENT;
    n[0].stats[pfr_step_index(PFR_PS_RSS_TOTAL)].max = 1000 * MIB;
    snprintf(n[1].node, sizeof(n[1].node), "n2");
    pfr_facts_merge(&m, n, 2);
    assert_string_equal(m.node, "n2");
}

static struct pfr_facts part(const char *step, const char *node, int64_t from, int64_t to,
                             int64_t peak)
{
    struct pfr_facts f;

    parse(&f, summary);
    snprintf(f.step, sizeof(f.step), "%s", step);
    snprintf(f.node, sizeof(f.node), "%s", node);
    f.start = 1000 * S + from * S;
    f.elapsed = (to - from) * S;
    f.stats[pfr_step_index(PFR_CGROUP_MEM_PEAK)].max = peak * MIB;
    f.exit = 0;
    f.signal = PFR_ABSENT;
    f.tasks_failed = 0;
    return f;
}

/* Peaks of steps side by side are added up, called so, and no more than the limit let be. */
static void sum_within_the_limit(void **state)
{
    static struct pfr_facts n[2], m;

    (void)state;
    n[0] = part("0", "n1", 0, 100, 110);
    n[1] = part("1", "n1", 10, 90, 108);
    for (int i = 0; i < 2; i++)
        n[i].stats[pfr_step_index(PFR_CGROUP_MEM_LIMIT)].last = 150 * MIB;
    pfr_facts_merge_job(&m, n, 2);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_MEM_PEAK), 150 * MIB);
    assert_int_equal(m.mem_steps, 2);
    for (int i = 0; i < 2; i++) /* nobody holds it down */
        n[i].stats[pfr_step_index(PFR_CGROUP_MEM_LIMIT)].last = PFR_ABSENT;
    pfr_facts_merge_job(&m, n, 2);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_MEM_PEAK), 218 * MIB);
    n[1] = part("1", "n1", 100, 190, 108); /* one after the other: no sum */
    pfr_facts_merge_job(&m, n, 2);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_MEM_PEAK), 110 * MIB);
    assert_int_equal(m.mem_steps, 1);
}

/* A step too short for samples hides nothing of the job; one that ran half of the time does. */
static void short_step_hides_nothing(void **state)
{
    static struct pfr_facts n[2], m;

    (void)state;
    n[0] = part("0", "n1", 0, 100, 50);
    n[1] = part("1", "n1", 100, 101, 5);
    n[0].stats[pfr_step_index(PFR_CGROUP_IO_READ_BYTES)].total = 7 * MIB;
    n[0].stats[pfr_step_index(PFR_CGROUP_OOM_KILLS)].total = 0;
    n[1].stats[pfr_step_index(PFR_CGROUP_OOM_KILLS)].total = PFR_ABSENT;
    pfr_facts_merge_job(&m, n, 2);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_IO_READ_BYTES), 7 * MIB);
    assert_false(pfr_known(pfr_facts_value(&m, PFR_CGROUP_OOM_KILLS))); /* a kill takes no time */
    n[1].elapsed = 50 * S;
    pfr_facts_merge_job(&m, n, 2);
    assert_false(pfr_known(pfr_facts_value(&m, PFR_CGROUP_IO_READ_BYTES)));
}

/* Memory of a job is of one node, and so is what of it the program needed; CPUs are of all. */
static void nodes_are_not_mixed(void **state)
{
    static struct pfr_facts n[2], m;

    (void)state;
    n[0] = part("0", "n1", 0, 100, 50);
    n[1] = part("0", "n2", 0, 100, 20);
    n[0].stats[pfr_step_index(PFR_CGROUP_MEM_NONRECLAIMABLE)].max = PFR_ABSENT;
    n[1].stats[pfr_step_index(PFR_CGROUP_MEM_NONRECLAIMABLE)].max = 15 * MIB;
    pfr_facts_merge_job(&m, n, 2);
    assert_string_equal(m.node, "n1");
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_MEM_PEAK), 50 * MIB);
    assert_false(pfr_known(pfr_facts_value(&m, PFR_CGROUP_MEM_NONRECLAIMABLE)));
    assert_int_equal(m.node_cpus, 16);
    pfr_facts_merge(&m, n, 2);
    assert_int_equal(m.node_cpus, 16);
}

/* The job needs what ran at the same time on a node together. */
static void steps_of_a_job(void **state)
{
    static struct pfr_facts n[5], m;

    (void)state;
    n[0] = part("batch", "n1", 0, 100, 10);
    n[1] = part("0", "n1", 10, 40, 100);
    n[2] = part("0", "n2", 10, 40, 105);
    n[3] = part("1", "n1", 40, 90, 120); /* after step 0 */
    n[4] = part("2", "n1", 50, 60, 30);  /* beside step 1 */
    n[0].exit = 3;
    pfr_facts_merge_job(&m, n, 5);
    assert_int_equal(m.extent, PFR_EXTENT_JOB);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_MEM_PEAK), 160 * MIB); /* 10 + 120 + 30 */
    assert_string_equal(m.node, "n1");
    assert_int_equal(m.elapsed, 100 * S);
    assert_int_equal(m.start, 1000 * S);
    assert_int_equal(m.nodes, 2);
    assert_int_equal(m.cpus, 8); /* a node's CPUs once, whatever number of steps */
    assert_int_equal(m.mem_given, 600 * MIB);
    assert_int_equal(m.exit, 3); /* the script's is the job's */
    assert_false(pfr_known(pfr_facts_stats(&m, PFR_CGROUP_PDCPU)->p95));
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_CPU_SECONDS), 5 * (150 * S + S / 4));
}

/* --cpus-per-task is of a task of a step; a script has the CPUs of them all. */
static void cores_of_a_task(void **state)
{
    static struct pfr_facts n[2], m;

    (void)state;
    n[0] = part("batch", "n1", 0, 100, 10);
    n[0].cpus = 8;
    n[0].tasks = 1;
    n[0].cores_per_task = 7200;
    n[0].cpus_per_task = 8;
    pfr_facts_merge_job(&m, n, 1);
    assert_true(m.one_script);
    assert_int_equal(m.cores_per_task, 7200);
    n[1] = part("0", "n1", 10, 90, 10);
    n[1].cpus = 8;
    n[1].tasks = 4;
    n[1].cores_per_task = 1500;
    n[1].cpus_per_task = 2;
    pfr_facts_merge_job(&m, n, 2);
    assert_false(m.one_script);
    assert_int_equal(m.cores_per_task, 1800); /* as much as the script used, for four */
    assert_int_equal(m.cpus_per_task, 2);
    n[0].cores_per_task = 10;
    pfr_facts_merge_job(&m, n, 2);
    assert_int_equal(m.cores_per_task, 1500);
    assert_int_equal(m.cpus_per_task, 2); /* not of the five tasks of both */
}

/* A node, or a step, that is complete is not written any more: the others are not dead by that. */
static void who_goes_on(void **state)
{
    static struct pfr_facts n[3], m;

    (void)state;
    n[0] = part("batch", "n1", 0, 1000, 10);
    n[1] = part("0", "n1", 10, 40, 100);
    n[2] = part("1", "n1", 50, 60, 100);
    n[0].written = 2000 * S;
    n[1].written = 1040 * S;
    n[2].written = 1060 * S;
    for (int i = 0; i < 3; i++)
        n[i].tasks = n[i].tasks_ended = 1;
    pfr_facts_merge_job(&m, n, 3);
    assert_int_equal(m.written, 2000 * S);
    assert_int_equal(m.exit, 0);
    n[0].progress = PFR_PROGRESS_LIVE;
    n[0].exit = PFR_ABSENT;
    n[0].tasks_ended = 0;
    pfr_facts_merge_job(&m, n, 3);
    assert_int_equal(m.written, 2000 * S);
    assert_false(pfr_facts_is_dead(&m, 2010 * S));
    assert_false(pfr_known(m.exit)); /* steps that went well are not yet a job that did */
    n[2].progress = PFR_PROGRESS_LIVE;
    pfr_facts_merge_job(&m, n, 3);
    assert_int_equal(m.written, 1060 * S); /* of those that should be written the oldest */
}

static void a_kill_stays_counted(void **state)
{
    static struct pfr_facts n[2], m;

    (void)state;
    n[0] = part("0", "n1", 0, 10, 10);
    n[1] = part("0", "n2", 0, 10, 20);
    n[0].stats[pfr_step_index(PFR_CGROUP_OOM_KILLS)].total = 2;
    n[1].stats[pfr_step_index(PFR_CGROUP_OOM_KILLS)].total = PFR_ABSENT;
    pfr_facts_merge(&m, n, 2);
    assert_int_equal(pfr_facts_value(&m, PFR_CGROUP_OOM_KILLS), 2);
}

/* One of two tasks has succeeded: that is no exit code of the step. */
static void a_success_of_all(void **state)
{
    static const char text[] =
        "{ \"schema\": \"profres-summary/2.0\", \"state\": \"LIVE\", \"tasks\": ["
        "{ \"pid\": 1, \"rank\": 0, \"end_seconds\": 9, \"exit\": %s }, "
        "{ \"pid\": 2, \"rank\": 1 } ] }";
    char well[256], ill[256];
    struct pfr_facts f;

    (void)state;
    snprintf(well, sizeof(well), text, "0");
    snprintf(ill, sizeof(ill), text, "3");
    parse(&f, well);
    assert_false(pfr_known(f.exit));
    parse(&f, ill);
    assert_int_equal(f.exit, 3);
}

static void ages(void **state)
{
    struct pfr_facts f;

    (void)state;
    parse(&f, summary);
    assert_int_equal(pfr_facts_age(&f, f.written + 5 * S), 5 * S);
    assert_int_equal(pfr_facts_age(&f, f.written - 500 * S), 0); /* the clock was set back */
    assert_false(pfr_facts_is_dead(&f, f.written + 1000 * S));   /* complete is complete */
    f.progress = PFR_PROGRESS_LIVE;
    assert_false(pfr_facts_is_dead(&f, f.written + 90 * S));
    assert_true(pfr_facts_is_dead(&f, f.written + 91 * S));
    f.progress = PFR_PROGRESS_LOST;
    assert_true(pfr_facts_is_dead(&f, f.written));
}

static void times(void **state)
{
    char text[PFR_STAMP_SIZE];
    int64_t ns;

    (void)state;
    assert_true(pfr_clock_parse("2026-11-16T02:07:38.120Z", &ns));
    pfr_clock_format(ns, text);
    assert_string_equal(text, "2026-11-16T02:07:38.120Z");
    assert_true(pfr_clock_parse("2024-02-29T23:59:59Z", &ns));
    assert_int_equal(ns, INT64_C(1709251199) * S);
    assert_true(pfr_clock_parse("1970-01-01T00:00:00.000Z", &ns));
    assert_int_equal(ns, 0);
    assert_true(pfr_clock_parse("2000-03-01T00:00:00.5Z", &ns));
    assert_int_equal(ns, INT64_C(951868800) * S + S / 2);
    assert_false(pfr_clock_parse("2026-11-16 02:07:38Z", &ns));
    assert_false(pfr_clock_parse("2026-13-16T02:07:38Z", &ns));
    assert_false(pfr_clock_parse("2026-11-16T02:07:38", &ns));
    assert_false(pfr_clock_parse("2026-11", &ns));
    assert_false(pfr_clock_parse("", &ns));
}

/* ---- files -------------------------------------------------------------------- */

static char base[] = "/tmp/profres-facts.XXXXXX";
static int dir = -1;

static void put(const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void files_of_a_node(void **state)
{
    struct pfr_facts f;

    (void)state;
    assert_int_equal(pfr_facts_load(&f, dir, "none"), 0);
    put("n1.json", summary);
    assert_int_equal(pfr_facts_load(&f, dir, "n1"), 1);
    assert_int_equal(f.uid, getuid());
    put("n2.json", "{\"schema\":\"profres-su");
    assert_int_equal(pfr_facts_load(&f, dir, "n2"), -EBADMSG);
    assert_int_equal(mkdirat(dir, "n3.json", 0777), 0);
    assert_true(pfr_facts_load(&f, dir, "n3") < 0);
    assert_int_equal(mkfifoat(dir, "n4.json", 0666), 0); /* must not wait for a writer */
    assert_int_equal(pfr_facts_load(&f, dir, "n4"), -EINVAL);
}

/* The summary with so many blanks before its tasks and before its end. */
static void put_wide(const char *name, int before, int behind)
{
    const char *tasks = strstr(summary, "\"tasks\": ["), *end = strrchr(summary, '}');
    char text[3 * 32768];

    snprintf(text, sizeof(text), "%.*s%*s%.*s%*s%s", (int)(tasks - summary), summary, before, "",
             (int)(end - tasks), tasks, behind, "", end);
    put(name, text);
}

/* Only some of it, of files of any size: it is the same, and nothing else. */
static void some_of_a_file(void **state)
{
    static const int wide[][2] = { { 0, 0 }, { 0, 30000 }, { 30000, 0 }, { 30000, 30000 } };
    struct pfr_wanted wanted = { .numbers = pfr_facts_judged() };
    struct pfr_facts f, all;

    (void)state;
    for (int at = 0; at < 4 + 12288; at += at < 4 ? 1 : 61) { /* the tasks anywhere in the head */
        put_wide("s1.json", at < 4 ? wide[at][0] : at, at < 4 ? wide[at][1] : 20000);
        assert_int_equal(pfr_facts_load(&all, dir, "s1"), 1);
        assert_int_equal(pfr_facts_load_some(&f, dir, "s1", &wanted), 1);
        PFR_EACH_STEP_METRIC(id)
            if (pfr_metric_set_has(&wanted.numbers, id))
                assert_int_equal(pfr_facts_value(&f, id),
                                 pfr_facts_value(&all, id));
        assert_memory_equal(pfr_facts_stats(&f, PFR_CGROUP_PDCPU),
                            pfr_facts_stats(&all, PFR_CGROUP_PDCPU), sizeof(struct pfr_stats));
        assert_int_equal(pfr_facts_memory_bound(&f), pfr_facts_memory_bound(&all));
        assert_false(pfr_known(pfr_facts_stats(&f, PFR_CGROUP_MEM_NONRECLAIMABLE)->last));
        assert_false(pfr_known(f.processes_seen));
        assert_int_equal(f.tasks, 2);
        assert_int_equal(f.uid, getuid());
    }
    pfr_metric_set_add(&wanted.stats, PFR_CGROUP_MEM_NONRECLAIMABLE);
    assert_int_equal(pfr_facts_load_some(&f, dir, "s1", &wanted), 1);
    assert_int_equal(pfr_facts_stats(&f, PFR_CGROUP_MEM_NONRECLAIMABLE)->last, 7);
}

/* Cut off where it is not looked at, too. */
static void some_of_a_cut_file(void **state)
{
    struct pfr_wanted wanted = { .numbers = pfr_facts_judged() };
    struct pfr_facts f;
    struct stat st;
    int fd;

    (void)state;
    for (int behind = 0; behind < 30000; behind += 9999)
        for (off_t keep = 100; keep > 0; keep /= 2) {
            put_wide("s2.json", 0, behind);
            fd = openat(dir, "s2.json", O_WRONLY | O_CLOEXEC);
            assert_int_equal(fstat(fd, &st), 0);
            assert_int_equal(ftruncate(fd, st.st_size * keep / 101 - 2), 0);
            close(fd);
            assert_int_equal(pfr_facts_load_some(&f, dir, "s2", &wanted), -EBADMSG);
        }
    put("s3.json", "{\"schema\":\"profres-summary/2.0\",\"tasks\":[],\"processes\":{}}");
    assert_int_equal(pfr_facts_load_some(&f, dir, "s3", &wanted), 1); /* shorter than its end */
}

/* What slurmstepd read itself takes the place of what the lost sampler had. */
static void a_lost_sampler(void **state)
{
    static const char live[] =
        "{\"schema\":\"profres-summary/2.0\",\"state\":\"LIVE\","
        "\"ts\":\"2026-11-16T05:00:00.000Z\","
        "\"elapsed_seconds\":5,\"info\":{\"node\":\"n1\",\"start\":\"2026-11-16T04:59:55.000Z\"},"
        "\"measurements\":{\"cgroup_mem_peak\":{\"max\":100},\"proc_count\":{\"max\":3}}}";
    static const char lost[] =
        "{\"schema\":\"profres-summary/2.0\",\"state\":\"LOST\","
        "\"ts\":\"2026-11-16T05:10:00.000Z\","
        "\"info\":{\"node\":\"n1\",\"start\":\"2026-11-16T05:10:00.000Z\"},"
        "\"measurements\":{\"cgroup_mem_peak\":{\"max\":900},\"cgroup_oom_kills\":{\"total\":1}}}";
    struct pfr_facts f;

    (void)state;
    put("l1.json", live);
    put("l1.lost.json", lost);
    assert_int_equal(pfr_facts_load(&f, dir, "l1"), 1);
    assert_int_equal(f.progress, PFR_PROGRESS_LOST);
    assert_int_equal(pfr_facts_value(&f, PFR_CGROUP_MEM_PEAK), 900);
    assert_int_equal(pfr_facts_value(&f, PFR_CGROUP_OOM_KILLS), 1);
    assert_int_equal(pfr_facts_stats(&f, PFR_PROC_COUNT)->max, 3);
    assert_int_equal(f.elapsed, 5 * S);
    put("l2.lost.json", lost);
    assert_int_equal(pfr_facts_load(&f, dir, "l2"), 1);
    assert_int_equal(pfr_facts_value(&f, PFR_CGROUP_MEM_PEAK), 900);
    assert_false(pfr_known(f.start)); /* it says when it was written, not when it began */
    put("l3.json", summary);
    put("l3.lost.json", lost);
    assert_int_equal(pfr_facts_load(&f, dir, "l3"), 1); /* it came to its end after all */
    assert_int_equal(f.progress, PFR_PROGRESS_COMPLETE);
}

static const char series[] =
    "{\"type\":\"header\",\"ts\":\"x\",\"process_columns\":[\"pid\",\"start_ticks\",\"comm\","
    "\"ps_rss\",\"ps_stat\",\"ps_cpu_seconds\"]}\n"
    "{\"type\":\"usage\",\"ts\":\"x\",\"from\":0,\"to\":10,\"measurements\":{"
    "\"cgroup_cpu_seconds\":9.5,\"proc_io_rchar_total\":0}}\n"
    "{\"type\":\"usage\",\"ts\":\"x\",\"from\":10,\"to\":20,\"measurements\":{"
    "\"cgroup_cpu_seconds\":0.01,\"proc_io_rchar_total\":50}}\n"
    "not json at all \x01\n"
    "{\"type\":\"event\",\"ts\":\"x\",\"t\":21.5,\"event\":\"oom\",\"kills\":2,\"gone\":["
    "{\"pid\":7,\"comm\":\"eater\",\"ps_rss\":4096},{\"pid\":8,\"comm\":\"other\"}]}\n"
    "{\"type\":\"something_new\",\"ts\":\"x\"}\n"
    "{\"type\":\"usage\",\"ts\":\"x\",\"from\":20,\"to\":30,\"measurements\":{"
    "\"cgroup_mem_current\":2,\"cgroup_cpu_seconds\":0,\"cgroup_io_read_bytes\":0},"
    "\"samples\":{\"t\":[21,25,29,30],"
    "\"cgroup_mem_current\":[1,2,3,null],\"cgroup_mem_nonreclaimable\":[1,1,2,null],"
    "\"cgroup_pdcpu\":[null,0,0.5,0]},\"process_count\":9,\"processes\":["
    "[1,2,\"small\",100,{\"S\":4},0],[2,2,\"big\",900,{\"S\":3,\"D\":1},1.5]]}\n";

static void the_end_of_a_series(void **state)
{
    char more[sizeof(series) + 128];
    struct pfr_last last;

    (void)state;
    assert_int_equal(pfr_last_load(&last, dir, "none"), 0);
    put("s.jsonl", series);
    assert_int_equal(pfr_last_load(&last, dir, "s"), 1);
    assert_int_equal(last.at, 29 * S); /* of the sample that has the memory */
    assert_int_equal(last.mem, 3);
    assert_int_equal(last.nonreclaimable, 2);
    assert_int_equal(last.pdcpu, 0);
    assert_int_equal(last.processes, 9);
    assert_int_equal(last.still_since, 10 * S);
    assert_int_equal(last.stall, PFR_LAST_STALL);
    assert_int_equal(last.top_count, 2);
    assert_string_equal(last.top[0].comm, "big");
    assert_int_equal(last.top[0].cpu, S + S / 2);
    assert_int_equal(last.state_count, 2);
    assert_string_equal(last.states[0].code, "S");
    assert_int_equal(last.states[0].count, 7);
    assert_int_equal(last.victim_count, 2);
    assert_string_equal(last.victims[0].comm, "eater");
    assert_false(pfr_known(last.victims[1].rss));
    assert_int_equal(last.oom_kills, 2);
    assert_int_equal(last.malformed, 1);
    assert_false(last.torn);
    snprintf(more, sizeof(more), "%s{\"type\":\"usage\",\"from\":30,\"to", series);
    put("s.jsonl", more);
    assert_int_equal(pfr_last_load(&last, dir, "s"), 1);
    assert_true(last.torn);
    assert_int_equal(last.mem, 3); /* a torn line loses only itself */
    snprintf(more, sizeof(more), "%s{\"type\":\"usage\",\"from\":30,\"to\":30.1,\"measurements\":{"
             "\"cgroup_cpu_seconds\":0}}\n", series);
    put("s.jsonl", more);
    assert_int_equal(pfr_last_load(&last, dir, "s"), 1);
    assert_int_equal(last.mem, 3); /* all had ended when the last window began */
    assert_int_equal(last.at, 29 * S);
    snprintf(more, sizeof(more), "%s{\"type\":\"header\",\"ts\":\"x\"}\n", series);
    put("s.jsonl", more);
    assert_int_equal(pfr_last_load(&last, dir, "s"), 1);
    assert_false(pfr_known(last.mem)); /* a new run has begun */
    assert_int_equal(last.victim_count, 0);
}

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(base))
        return -1;
    dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -1 : 0;
}

static int remove_dir(void **state)
{
    char command[64];

    (void)state;
    close(dir);
    snprintf(command, sizeof(command), "rm -rf %s", base);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_there),
        cmocka_unit_test(what_is_not_there_is_absent),
        cmocka_unit_test(tasks_and_their_spread),
        cmocka_unit_test(the_later_total_holds),
        cmocka_unit_test(a_cut_summary_is_none),
        cmocka_unit_test(schemas),
        cmocka_unit_test(strange_types),
        cmocka_unit_test(sources_in_their_order),
        cmocka_unit_test(nodes_of_a_step),
        cmocka_unit_test(storage_by_both),
        cmocka_unit_test(storage_by_calls),
        cmocka_unit_test(bound_of_memory),
        cmocka_unit_test(no_time_limit),
        cmocka_unit_test(short_step_hides_nothing),
        cmocka_unit_test(sum_within_the_limit),
        cmocka_unit_test(nodes_are_not_mixed),
        cmocka_unit_test(sources_are_not_mixed),
        cmocka_unit_test(steps_of_a_job),
        cmocka_unit_test(cores_of_a_task),
        cmocka_unit_test(who_goes_on),
        cmocka_unit_test(a_kill_stays_counted),
        cmocka_unit_test(a_success_of_all),
        cmocka_unit_test(ages),
        cmocka_unit_test(times),
        cmocka_unit_test(files_of_a_node),
        cmocka_unit_test(some_of_a_file),
        cmocka_unit_test(some_of_a_cut_file),
        cmocka_unit_test(a_lost_sampler),
        cmocka_unit_test(the_end_of_a_series),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
