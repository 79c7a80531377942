/* Sacct's lines beside ours: parsing, finding, and the words for a difference. */
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

#include "common/base/parse.h"
#include "tools/profres/sacct.h"

#define GIB (INT64_C(1) << 30)
#define S PFR_NS_PER_S

/* id user cluster state exit reqmem partition account limit elapsed cpu start end rss tasks ... */
static const char two_steps[] =
    "4713|ann|lab|OUT_OF_MEMORY|0:125|4G|main|phys|01:00:00|00:01:10|00:12.500|1700000000"
    "|1700000070|||1|4|n1|sim | 3|x\n"
    "4713.batch||lab|CANCELLED by 1000|0:0||||| 00:01:10||1700000000|1700000070|0|1|1|4|n1|batch\n"
    "4713.0||lab|OUT_OF_MEMORY|0:125|||||1-00:01:10|1-02:03:04|1700000001|Unknown|1048576K|8|2|4"
    "|n[1-2]|sim\n"
    "what is this\n"
    "\n";

static void load(struct pfr_sacct *sacct, const char *lines)
{
    char *text = strdup(lines);

    *sacct = (struct pfr_sacct){ .gather.frequency = PFR_ABSENT };
    pfr_sacct_parse(sacct, text);
    free(text);
}

static struct pfr_facts facts_of(enum pfr_extent level, const char *step)
{
    struct pfr_facts facts;

    pfr_facts_init(&facts);
    facts.extent = level;
    facts.progress = PFR_PROGRESS_COMPLETE;
    facts.job_id = 4713;
    facts.start = 1700000001 * S;
    snprintf(facts.step, sizeof(facts.step), "%s", step);
    return facts;
}

static void test_lines(void **state)
{
    struct pfr_facts facts = facts_of(PFR_EXTENT_JOB, "");
    const struct pfr_sacct_row *row;
    struct pfr_sacct sacct;

    (void)state;
    load(&sacct, two_steps);
    assert_int_equal(sacct.count, 3);
    row = pfr_sacct_find(&sacct, &facts);
    assert_non_null(row);
    assert_string_equal(row->state, "OUT_OF_MEMORY");
    assert_string_equal(row->req_mem, "4G");
    assert_string_equal(row->name, "sim | 3|x"); /* a name may hold the delimiter */
    assert_int_equal(row->time_limit, 3600 * S);
    assert_int_equal(row->elapsed, 70 * S);
    assert_int_equal(row->total_cpu, 12500 * S / 1000);
    assert_int_equal(row->end, 1700000070 * S);
    assert_false(pfr_known(row->max_rss)); /* a job has none */
    facts = facts_of(PFR_EXTENT_STEP, "0");
    row = pfr_sacct_find(&sacct, &facts);
    assert_non_null(row);
    assert_int_equal(row->max_rss, GIB);
    assert_int_equal(row->elapsed, 86470 * S);
    assert_int_equal(row->total_cpu, 93784 * S);
    assert_int_equal(row->tasks, 8);
    assert_false(pfr_known(row->end));
    assert_false(pfr_known(row->time_limit));
    facts = facts_of(PFR_EXTENT_STEP, "batch");
    assert_int_equal(pfr_sacct_find(&sacct, &facts)->max_rss, 0); /* zero is not absent */
    facts = facts_of(PFR_EXTENT_STEP, "1");
    assert_null(pfr_sacct_find(&sacct, &facts));
    pfr_sacct_release(&sacct);
}

/* The same number may be a job of another cluster, or of another time. */
static void test_other_job(void **state)
{
    struct pfr_facts facts = facts_of(PFR_EXTENT_JOB, "");
    struct pfr_sacct sacct;

    (void)state;
    load(&sacct, two_steps);
    assert_non_null(pfr_sacct_find(&sacct, &facts));
    snprintf(facts.cluster, sizeof(facts.cluster), "other");
    assert_null(pfr_sacct_find(&sacct, &facts));
    snprintf(facts.cluster, sizeof(facts.cluster), "lab");
    assert_non_null(pfr_sacct_find(&sacct, &facts));
    facts.start = 1600000000 * S;
    assert_null(pfr_sacct_find(&sacct, &facts));
    facts.start = 1800000000 * S;
    assert_null(pfr_sacct_find(&sacct, &facts));
    facts.start = PFR_ABSENT;
    assert_non_null(pfr_sacct_find(&sacct, &facts));
    facts.job_id = PFR_ABSENT;
    assert_null(pfr_sacct_find(&sacct, &facts));
    pfr_sacct_release(&sacct);
}

/* A job may be called "x\n4713.0|..." to look like another's line. */
static void test_forged(void **state)
{
    struct pfr_facts facts = facts_of(PFR_EXTENT_STEP, "0");
    char lines[1024];
    struct pfr_sacct sacct;

    (void)state;
    snprintf(lines, sizeof(lines), "%s%s", two_steps,
             "4713.0|||COMPLETED|0:0|||||00:00:01|00:01|||999G|1|1|1|n1|x\n");
    load(&sacct, lines);
    assert_null(pfr_sacct_find(&sacct, &facts));
    facts.extent = PFR_EXTENT_JOB;
    assert_non_null(pfr_sacct_find(&sacct, &facts));
    pfr_sacct_release(&sacct);
}

static void test_complete(void **state)
{
    struct pfr_facts facts = facts_of(PFR_EXTENT_STEP, "batch");
    struct pfr_sacct sacct;

    (void)state;
    load(&sacct, two_steps);
    pfr_sacct_complete(&sacct, &facts);
    assert_string_equal(facts.scheduler_state, "CANCELLED by 1000");
    assert_int_equal(facts.time_limit, 3600 * S);
    assert_string_equal(facts.user, "ann");
    assert_string_equal(facts.cluster, "lab");
    facts = facts_of(PFR_EXTENT_STEP, "0");
    facts.time_limit = 7 * S;
    pfr_sacct_complete(&sacct, &facts);
    assert_int_equal(facts.time_limit, 7 * S); /* what the profile knows stays */
    pfr_sacct_release(&sacct);
}

static void test_config(void **state)
{
    struct pfr_sacct_gather gather = { .frequency = PFR_ABSENT };

    (void)state;
    pfr_sacct_parse_config(&gather, "JobAcctGatherFrequency  = task=15,energy=0\n"
                                    "JobAcctGatherType       = jobacct_gather/cgroup\n"
                                    "SLURM_VERSION           = 24.11.5\n");
    assert_int_equal(gather.frequency, 15 * S);
    assert_string_equal(gather.plugin, "jobacct_gather/cgroup");
    assert_int_equal(gather.version, 2411);
    pfr_sacct_parse_config(&gather, "JobAcctGatherFrequency  = 30\n");
    assert_int_equal(gather.frequency, 30 * S);
    pfr_sacct_parse_config(&gather, "nothing of that");
    assert_false(pfr_known(gather.frequency));
    assert_string_equal(gather.plugin, "");
}

/* ---- words --------------------------------------------------------------- */

static bool says(const struct pfr_said *said, const char *words)
{
    for (int i = 0; i < said->count; i++)
        if (strstr(said->line[i], words))
            return true;
    return false;
}

static struct pfr_facts measured(int64_t peak, int64_t file)
{
    struct pfr_facts facts = facts_of(PFR_EXTENT_STEP, "0");

    facts.stats[pfr_step_index(PFR_CGROUP_MEM_PEAK)].max = peak;
    facts.stats[pfr_step_index(PFR_CGROUP_MEM_FILE)].max = file;
    facts.elapsed = 86470 * S;
    return facts;
}

static void test_why_less(void **state)
{
    struct pfr_facts facts = measured(5 * GIB, 2 * GIB);
    struct pfr_sacct sacct;
    struct pfr_said said;

    (void)state;
    load(&sacct, two_steps);
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_true(says(&said, "MaxRSS 1G by sacct, cgroup_mem_peak 5G here:"));
    assert_true(says(&said, "30 s apart unless"));
    assert_true(says(&said, "the largest of 8 tasks alone"));
    assert_true(says(&said, "up to 2G of what was charged was page cache"));
    sacct.gather = (struct pfr_sacct_gather){ "jobacct_gather/linux", 30 * S, 2205 };
    facts.elapsed = 12 * S;
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_true(says(&said, "30 s apart, and the step lasted 12.00 s"));
    assert_true(says(&said, "page cache"));
    assert_true(says(&said, "Elapsed 1-00:01:10 by sacct"));
    sacct.gather = (struct pfr_sacct_gather){ "jobacct_gather/cgroup", 30 * S, 2411 };
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_false(says(&said, "apart")); /* this one has the kernel's peak, with its cache */
    assert_false(says(&said, "page cache"));
    assert_true(says(&said, "tasks alone"));
    pfr_sacct_release(&sacct);
}

static void test_why_more(void **state)
{
    struct pfr_facts facts = measured(GIB / 2, PFR_ABSENT);
    struct pfr_sacct sacct;
    struct pfr_said said;

    (void)state;
    load(&sacct, two_steps);
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_true(says(&said, "not known from here"));
    sacct.gather = (struct pfr_sacct_gather){ "jobacct_gather/linux", 30 * S, 2205 };
    facts.nodes = 1;
    facts.nodes_given = 2;
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_true(says(&said, "only 1 of the step's 2 nodes"));
    assert_true(says(&said, "once for each of them"));
    assert_false(says(&said, "not known"));
    pfr_sacct_release(&sacct);
}

static void test_agree(void **state)
{
    struct pfr_facts facts = measured(GIB + GIB / 50, PFR_ABSENT);
    struct pfr_sacct sacct;
    struct pfr_said said;

    (void)state;
    load(&sacct, two_steps);
    facts.stats[pfr_step_index(PFR_CGROUP_CPU_SECONDS)].total = 93780 * S;
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_int_equal(said.count, 1);
    assert_true(says(&said, "they agree"));
    facts.stats[pfr_step_index(PFR_CGROUP_CPU_SECONDS)].total = 193780 * S;
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_true(says(&said, "TotalCPU 93784.00 s by sacct, cgroup_cpu_seconds 193780.00 s here"));
    facts = facts_of(PFR_EXTENT_STEP, "0");
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_true(says(&said, "no memory was measured here"));
    facts = facts_of(PFR_EXTENT_STEP, "7"); /* of which sacct knows nothing */
    pfr_sacct_explain(&said, &sacct, &facts);
    assert_int_equal(said.count, 0);
    pfr_sacct_release(&sacct);
}

/* ---- asking -------------------------------------------------------------- */

/* A sacct of our own, first in PATH. */
static void put_sacct(const char *dir, const char *script)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/sacct", dir);
    file = fopen(path, "we");
    assert_non_null(file);
    fputs(script, file);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

static void test_asking(void **state)
{
    char dir[] = "/tmp/profres-sacct.XXXXXX", path[256], *old = strdup(getenv("PATH"));
    struct pfr_facts facts = facts_of(PFR_EXTENT_JOB, "");
    int64_t jobs[1201];
    struct pfr_sacct sacct;

    (void)state;
    for (size_t i = 0; i < 1201; i++)
        jobs[i] = i == 7 ? PFR_ABSENT : (int64_t)(4000 + i);
    assert_non_null(mkdtemp(dir));
    setenv("PATH", dir, 1);
    pfr_sacct_load(&sacct, jobs, 1201); /* there is none */
    assert_false(sacct.answered);
    assert_int_equal(sacct.count, 0);
    /* one line for each job it is asked for: all were, and in a few questions */
    put_sacct(dir, "#!/bin/sh\n"
                   "while [ $# -gt 0 ]; do [ \"$1\" = -j ] && list=$2; shift; done\n"
                   "echo . >>\"${0%/*}/asked\"; IFS=,\n"
                   "for job in $list; do echo \"$job||lab|COMPLETED||||||||$SLURM_TIME_FORMAT"
                   "|||||||x\"; done\n");
    pfr_sacct_load(&sacct, jobs, 1201);
    assert_true(sacct.answered);
    assert_int_equal(sacct.count, 1200);
    assert_non_null(pfr_sacct_find(&sacct, &facts));
    pfr_sacct_release(&sacct);
    snprintf(path, sizeof(path), "%s/asked", dir);
    {
        struct stat status;

        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, 2 * 3);
    }
    unlink(path);
    put_sacct(dir, "#!/bin/sh\necho '4713|||COMPLETED|||||||||||||||x'; exit 1\n");
    pfr_sacct_load(&sacct, jobs, 1201);
    assert_false(sacct.answered);
    assert_int_equal(sacct.count, 0);
    setenv("PATH", old, 1);
    free(old);
    snprintf(path, sizeof(path), "%s/sacct", dir);
    unlink(path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),    cmocka_unit_test(test_other_job),
        cmocka_unit_test(test_forged),   cmocka_unit_test(test_complete),
        cmocka_unit_test(test_config),   cmocka_unit_test(test_why_less),
        cmocka_unit_test(test_why_more), cmocka_unit_test(test_agree),
        cmocka_unit_test(test_asking),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
