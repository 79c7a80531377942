/* What profres top knows after a look at the files: nodes, steps, sums, rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/top_files.h"
#include "tools/profres/top/model.h"

#define STEP "slurm-4711.profres/0"

static struct pfr_top top;
static struct pfr_top_now now;

/* So many seconds after the start, both by the wall clock and by ours. */
static int look_at(int64_t seconds)
{
    now = (struct pfr_top_now){ .wall = TOP_START + seconds * TOP_S, .monotonic = seconds * TOP_S };
    return pfr_top_look(&top, now);
}

static struct pfr_top_sums sums_now(void)
{
    struct pfr_top_sums sums;

    pfr_top_sum(&top, now, &sums);
    return sums;
}

static int setup(void **state)
{
    (void)state;
    top_files_begin();
    pfr_top_init(&top, "4711");
    top.mute = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pfr_top_release(&top);
    top_files_end();
    return 0;
}

static void test_nothing_then_something(void **state)
{
    (void)state;
    assert_int_equal(look_at(0), 0);
    assert_null(pfr_top_step(&top));
    top_files_summary(STEP, TOP_SUMMARY());
    assert_int_equal(look_at(1), 0); /* steps are looked for every two seconds */
    assert_int_equal(look_at(3), 1);
    assert_int_equal(top.node_count, 1);
    assert_int_equal(sums_now().running, 1);
    pfr_top_release(&top);
    pfr_top_init(&top, "neither job nor path");
    assert_true(look_at(0) < 0);
}

/* A summary is there before the first window is. */
static void test_no_window_yet(void **state)
{
    struct pfr_top_sums sums;

    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.memory = -1));
    top_files_append(STEP "/n1.jsonl", "");
    assert_int_equal(look_at(10), 1);
    sums = sums_now();
    assert_int_equal(sums.pdcpu, PFR_ABSENT);
    assert_int_equal(sums.read, PFR_ABSENT);
    assert_int_equal(sums.psi_cpu, PFR_ABSENT);
    assert_int_equal(pfr_top_node_memory(top.nodes[0]), PFR_ABSENT);
    assert_int_equal(pfr_top_node_peak(top.nodes[0]), PFR_ABSENT);
    assert_int_equal(top.nodes[0]->row_count, 0);
}

static void test_values_of_a_window(void **state)
{
    struct pfr_top_sums sums;

    (void)state;
    top_files_summary(STEP, TOP_SUMMARY());
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 10, 150, 1 << 20, "app");
    assert_int_equal(look_at(13), 1);
    sums = sums_now();
    assert_int_equal(sums.pdcpu, 150000);
    assert_int_equal(sums.cpus, 4);
    assert_string_equal(sums.cpus_kind, "allocated");
    assert_int_equal(sums.read, 2048); /* 20480 in ten seconds */
    assert_int_equal(sums.write, 4096); /* by processes: v1 does not charge what is buffered */
    assert_int_equal(sums.psi_cpu, 25000);
    assert_int_equal(sums.psi_io, PFR_ABSENT);
    assert_int_equal(sums.age, 3 * TOP_S);
    assert_int_equal(sums.elapsed, 13 * TOP_S);
    assert_int_equal(sums.processes, 2);
    assert_int_equal(pfr_top_node_memory(sums.full), 1 << 20);
    assert_int_equal(sums.full_of, 4 << 20);
    assert_string_equal(sums.full_kind, "allocated");
    assert_int_equal(top.nodes[0]->row_count, 1);
    assert_int_equal(top.nodes[0]->rows[0].pid, 77);
    assert_int_equal(top.nodes[0]->rows[0].state, 'R');
    assert_int_equal(top.nodes[0]->rows[0].read, PFR_ABSENT); /* no such column */
}

/* Without an allocation it is held against the node, and said so. */
static void test_without_allocation(void **state)
{
    struct pfr_top_sums sums;

    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.limit = -1, .cpus = -1));
    assert_int_equal(look_at(10), 1);
    sums = sums_now();
    assert_int_equal(sums.cpus, 8);
    assert_string_equal(sums.cpus_kind, "on the node");
    assert_int_equal(sums.full_of, 1 << 30);
    assert_string_equal(sums.full_kind, "on the node");
}

static void test_torn_and_malformed(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY());
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_append(STEP "/n1.jsonl", "no JSON\n{\"type\":\"news\"}\n[1]\n\n{\"type\":7}\n");
    top_files_window(STEP, "n1", 0, 10, 150, 1 << 20, "app");
    top_files_append(STEP "/n1.jsonl", "{\"type\":\"usage\",\"from\":10,\"to\":20,\"measurem");
    look_at(10);
    assert_int_equal(top.nodes[0]->malformed, 3);
    assert_int_equal(top.nodes[0]->newest.to, 10 * TOP_S);
    top_files_append(STEP "/n1.jsonl", "ents\":{\"cgroup_pdcpu\":50}}\n");
    look_at(11);
    assert_int_equal(top.nodes[0]->newest.to, 20 * TOP_S);
    assert_int_equal(sums_now().pdcpu, 50000);
    assert_int_equal(sums_now().read, PFR_ABSENT); /* not that of the window before */
}

/* Numbers that cannot be: nothing is added up that overflows, no place is left. */
static void test_absurd_numbers(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY());
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"usage\",\"from\":-5,\"to\":10}\n"
                     "{\"type\":\"usage\",\"from\":0,\"to\":1e300}\n"
                     "{\"type\":\"usage\",\"from\":9e9,\"to\":9.1e9}\n"
                     "{\"type\":\"usage\",\"from\":5,\"to\":5,\"measurements\":{}}\n");
    look_at(10);
    assert_int_equal(top.nodes[0]->newest.to, PFR_ABSENT);
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"usage\",\"from\":0,\"to\":1e6,\"measurements\":"
                     "{\"cgroup_pdcpu\":100,\"cgroup_mem_current\":9e18},\"samples\":{\"t\":"
                     "[1e300,-1e300,null,\"x\",5]},\"processes\":[[1],7,{},[],[1,2,3,4,5,6,7]]}\n");
    look_at(11);
    assert_int_equal(top.nodes[0]->newest.to, 1000000 * TOP_S);
    assert_int_equal(top.nodes[0]->row_count, 5);
}

static void test_future_schema(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.schema = "profres-summary/2.9"));
    top_files_header(STEP, "n1", 0, "profres-series/2.9");
    top_files_window(STEP, "n1", 0, 10, 150, 1 << 20, "app");
    look_at(10);
    assert_int_equal(top.nodes[0]->state, PFR_TOP_KNOWN);
    assert_int_equal(sums_now().pdcpu, 150000);
    top_files_summary(STEP, TOP_SUMMARY(.schema = "profres-summary/3.0"));
    look_at(12);
    assert_int_equal(top.nodes[0]->state, PFR_TOP_NEWER);
    assert_true(pfr_top_has_ended(&top, now)); /* nothing to watch: the caller says why */

    pfr_top_release(&top);
    pfr_top_init(&top, "other");
    top_files_summary("other/0", TOP_SUMMARY());
    top_files_header("other/0", "n1", 0, "profres-series/3.0");
    top_files_window("other/0", "n1", 0, 10, 150, 1 << 20, "app");
    look_at(10);
    assert_true(top.nodes[0]->series_newer);
    assert_int_equal(sums_now().pdcpu, PFR_ABSENT);
    assert_int_equal(top.nodes[0]->row_count, 0);
}

/* A second run in the same file has other columns and begins anew. */
static void test_second_header(void **state)
{
    char filler[600];

    (void)state;
    memset(filler, ' ', sizeof(filler) - 2);
    strcpy(filler + sizeof(filler) - 2, "\n");
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 10, 150, 1 << 20, "old");
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"header\",\"schema\":\"profres-series/2.0\",\"info\":{\"start\":"
                     "\"2026-11-16T05:10:00.000Z\"},\"metrics\":{\"ps_rss_total\":{}},"
                     "\"process_columns\":[\"comm\",\"pid\"]}\n");
    for (int i = 0; i < 1000; i++)
        top_files_append(STEP "/n1.jsonl", filler);
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"usage\",\"from\":0,\"to\":10,\"measurements\":"
                     "{\"ps_pdcpu_total\":30,\"cgroup_pdcpu\":99},\"processes\":[[\"new\",8]]}\n");
    top_files_summary(STEP, TOP_SUMMARY(.start = 600, .at = 610));
    look_at(610);
    assert_int_equal(top.nodes[0]->rows[0].pid, 8);
    assert_string_equal(top.nodes[0]->rows[0].comm, "new");
    assert_int_equal(sums_now().pdcpu, 30000); /* by the source of this run's header (R32) */
    assert_true(sums_now().cpu_summed);
}

static void test_command_lines(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY());
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 10, 150, 1 << 20, "app");
    look_at(10);
    assert_null(pfr_top_node_cmd(top.nodes[0], &top.nodes[0]->rows[0]));
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"process\",\"pid\":77,\"start_ticks\":4,\"ps_cmd\":\"before\"}\n"
                     "{\"type\":\"process\",\"pid\":77,\"start_ticks\":5,\"ps_cmd\":\"first\"}\n"
                     "{\"type\":\"process\",\"pid\":77,\"start_ticks\":5,\"ps_cmd\":\"app -x\"}\n");
    look_at(11);
    assert_string_equal(pfr_top_node_cmd(top.nodes[0], &top.nodes[0]->rows[0]), "app -x");
    for (int i = 0; i < 3 * PFR_TOP_CMDS; i++) { /* many short ones do not push it out */
        char line[128];

        snprintf(line, sizeof(line),
                 "{\"type\":\"process\",\"pid\":%d,\"start_ticks\":1,\"ps_cmd\":\"c%d\"}\n",
                 1000 + i, i);
        top_files_append(STEP "/n1.jsonl", line);
        if (i % 50 == 0)
            top_files_window(STEP, "n1", 0, 20 + i, 150, 1 << 20, "app");
    }
    look_at(12);
    assert_string_equal(pfr_top_node_cmd(top.nodes[0], &top.nodes[0]->rows[0]), "app -x");
}

/* What was said before the part that is read is in the summary, if it stands out. */
static void test_command_lines_of_summary(void **state)
{
    struct pfr_top_proc *row;

    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.at = 1000, .more = ",\"processes\":{\"seen\":3,\"top\":["
        "{\"pid\":77,\"comm\":\"app\",\"last_seconds\":999,\"ps_cmd\":\"app -y\"},"
        "{\"pid\":78,\"comm\":\"app\",\"last_seconds\":900,\"ps_cmd\":\"long dead\"}]}"));
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 1000, 150, 1 << 20, "app");
    look_at(1000);
    row = &top.nodes[0]->rows[0];
    assert_string_equal(pfr_top_node_cmd(top.nodes[0], row), "app -y");
    snprintf(row->comm, sizeof(row->comm), "other");
    assert_null(pfr_top_node_cmd(top.nodes[0], row));
    snprintf(row->comm, sizeof(row->comm), "app");
    row->pid = 78; /* which may be another process by now */
    assert_null(pfr_top_node_cmd(top.nodes[0], row));
}

/* ---- the past ---- */

static void test_past(void **state)
{
    int64_t memory[4], cpu[4];
    struct pfr_top_sums sums;

    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.at = 20));
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 10, 100, 1000, "app"); /* samples at 0 and 5 */
    top_files_window(STEP, "n1", 0, 20, 300, 3000, "app"); /* at 10 and 15 */
    look_at(20);
    sums = sums_now();
    pfr_top_past(&top, &sums, now, memory, cpu, 4);
    assert_int_equal(memory[3], 3000);
    assert_int_equal(cpu[3], 300000);
    assert_int_equal(memory[2], 3000);
    assert_int_equal(cpu[2], 300000); /* no rate at its sample: that of the window */
    assert_int_equal(memory[1], 1000);
    assert_int_equal(cpu[1], 100000);
    assert_int_equal(memory[0], 1000);
}

/* A merged window has no samples; a file that was merged is read again. */
static void test_past_after_merging(void **state)
{
    int64_t memory[20], cpu[20];
    struct pfr_top_sums sums;

    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.at = 100));
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 10, 100, 1000, "app");
    look_at(10);
    unlink(STEP "/n1.jsonl");
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"usage\",\"from\":0,\"to\":94,\"merged\":9,\"measurements\":"
                     "{\"cgroup_pdcpu\":50,\"cgroup_mem_current\":500}}\n");
    look_at(100);
    sums = sums_now();
    pfr_top_past(&top, &sums, now, memory, cpu, 20);
    for (int i = 1; i < 20; i++) {
        assert_int_equal(memory[i], 500);
        assert_int_equal(cpu[i], 50000);
    }
    assert_int_equal(memory[0], PFR_ABSENT); /* before the run */
}

/* ---- several nodes ---- */

static void two_nodes(int64_t at_one, int64_t at_two)
{
    top_files_summary(STEP, TOP_SUMMARY(.at = at_one, .nodes = 2, .memory = 3 << 20,
                                        .limit = 8 << 20));
    top_files_summary(STEP, TOP_SUMMARY(.node = "n2", .at = at_two, .nodes = 2,
                                        .memory = 2 << 20, .limit = 4 << 20));
}

static void test_sums_over_nodes(void **state)
{
    struct pfr_top_sums sums;
    int64_t memory[3], cpu[3];

    (void)state;
    two_nodes(10, 10);
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 10, 100, 3 << 20, "app");
    top_files_header(STEP, "n2", 0, "profres-series/2.0");
    look_at(11);
    sums = sums_now();
    assert_int_equal(sums.counted, 1); /* the other has no window yet */
    assert_int_equal(sums.pdcpu, 100000);
    pfr_top_past(&top, &sums, now, memory, cpu, 3);
    assert_int_equal(cpu[1], PFR_ABSENT); /* half of the nodes would look like half of the use */

    top_files_window(STEP, "n2", 0, 10, 50, 2 << 20, "app");
    look_at(12);
    sums = sums_now();
    assert_int_equal(sums.counted, 2);
    assert_int_equal(sums.pdcpu, 150000);
    assert_int_equal(sums.cpus, 8);
    assert_int_equal(sums.tasks, 2);
    assert_string_equal(sums.full->name, "n2"); /* half of its limit, though less in bytes */
    pfr_top_past(&top, &sums, now, memory, cpu, 3);
    assert_int_equal(cpu[1], 150000);
    assert_int_equal(memory[1], 2 << 20);
}

/* R55: said, and what is old is not added to what is new. */
static void test_stale(void **state)
{
    struct pfr_top_sums sums;

    (void)state;
    two_nodes(10, 100);
    for (int i = 0; i < 2; i++) {
        top_files_header(STEP, i ? "n2" : "n1", 0, "profres-series/2.0");
        top_files_window(STEP, i ? "n2" : "n1", 0, i ? 100 : 10, i ? 50 : 100, 1 << 20, "app");
    }
    look_at(102);
    sums = sums_now();
    assert_int_equal(sums.stale, 1);
    assert_int_equal(sums.running, 1);
    assert_string_equal(sums.oldest->name, "n1");
    assert_int_equal(sums.pdcpu, 50000);
    assert_int_equal(sums.counted, 1);
    assert_string_equal(sums.full->name, "n2");
    assert_int_equal(sums.age, 2 * TOP_S);

    look_at(200); /* both: what was known last, and no time that goes on */
    sums = sums_now();
    assert_int_equal(sums.stale, 2);
    assert_int_equal(sums.running, 0);
    assert_int_equal(sums.pdcpu, 150000);
    assert_int_equal(sums.elapsed, 100 * TOP_S);
}

/* Two windows of ten seconds and five more: not before, but then. */
static void test_when_stale(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.at = 10));
    look_at(35);
    assert_int_equal(sums_now().stale, 0);
    look_at(36);
    assert_int_equal(sums_now().stale, 1);
    top_files_summary(STEP, TOP_SUMMARY(.at = 30, .memory = 2 << 20));
    look_at(37);
    assert_int_equal(sums_now().stale, 0);
    assert_false(pfr_top_has_ended(&top, now));
}

/* The node's clock is a minute behind ours: it is not stale as long as we see it write. */
static void test_other_clock(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.at = 10));
    look_at(70);
    assert_int_equal(sums_now().stale, 1); /* how should we know? */
    top_files_summary(STEP, TOP_SUMMARY(.at = 20));
    look_at(80);
    assert_int_equal(sums_now().stale, 0);
    look_at(106);
    assert_int_equal(sums_now().stale, 1);
    top_files_summary(STEP, TOP_SUMMARY(.at = 300)); /* or ahead of it */
    look_at(107);
    assert_int_equal(sums_now().age, 0);
}

/* ---- the end ---- */

static void test_complete(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY());
    look_at(10);
    assert_false(pfr_top_has_ended(&top, now));
    top_files_summary(STEP, TOP_SUMMARY(.state = "DRAINING", .at = 11));
    look_at(11);
    assert_false(pfr_top_has_ended(&top, now));
    top_files_summary(STEP, TOP_SUMMARY(.state = "COMPLETE", .at = 12));
    look_at(12);
    assert_true(pfr_top_has_ended(&top, now));
    look_at(1000);
    assert_int_equal(sums_now().stale, 0);
    assert_true(pfr_top_has_ended(&top, now));
}

static void test_lost(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY());
    look_at(10);
    top_files_replace(STEP "/n1.lost.json",
                      "{\"schema\":\"profres-summary/2.0\",\"state\":\"LOST\","
                      "\"ts\":\"2026-11-16T05:00:30.000Z\",\"info\":{\"node\":\"n1\"},"
                      "\"measurements\":{\"cgroup_mem_peak\":{\"max\":9999999}}}\n");
    look_at(31);
    assert_true(pfr_top_has_ended(&top, now));
    assert_int_equal(top.nodes[0]->facts.progress, PFR_PROGRESS_LOST);
    assert_int_equal(pfr_top_node_peak(top.nodes[0]), 9999999);
}

/* A node of which nothing was seen may still come (R75), but not for ever. */
static void test_late_node(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.state = "COMPLETE", .nodes = 2));
    look_at(10);
    assert_false(pfr_top_has_ended(&top, now));
    top_files_summary(STEP, TOP_SUMMARY(.node = "n2", .nodes = 2));
    look_at(11);
    assert_int_equal(top.node_count, 2);
    assert_false(pfr_top_has_ended(&top, now));
    top_files_summary(STEP, TOP_SUMMARY(.node = "n2", .nodes = 2, .state = "COMPLETE", .at = 12));
    look_at(12);
    assert_true(pfr_top_has_ended(&top, now));

    pfr_top_release(&top);
    pfr_top_init(&top, "other");
    top_files_summary("other/0", TOP_SUMMARY(.state = "COMPLETE", .nodes = 2));
    look_at(10);
    assert_false(pfr_top_has_ended(&top, now));
    look_at(13);
    assert_true(pfr_top_has_ended(&top, now));
}

/* ---- steps ---- */

static const char *shown(void)
{
    return pfr_top_step(&top)->step;
}

static void test_steps(void **state)
{
    (void)state;
    top_files_summary("slurm-4711.profres/batch", TOP_SUMMARY(.at = 100));
    top_files_summary(STEP, TOP_SUMMARY(.start = 5, .at = 50, .state = "COMPLETE"));
    top_files_summary("slurm-4711.profres/1", TOP_SUMMARY(.start = 60, .at = 100));
    look_at(100);
    assert_string_equal(shown(), "1"); /* the newest that runs */
    top_files_summary("slurm-4711.profres/2", TOP_SUMMARY(.start = 101, .at = 103));
    look_at(103);
    assert_string_equal(shown(), "2"); /* and it is followed */
    top_files_summary("slurm-4711.profres/2", TOP_SUMMARY(.start = 101, .at = 104,
                                                          .state = "COMPLETE"));
    look_at(104);
    assert_false(pfr_top_has_ended(&top, now)); /* others run */
    look_at(105);
    assert_string_equal(shown(), "1");
    pfr_top_switch(&top, -1); /* batch, 0, 1, 2 */
    look_at(106);
    assert_string_equal(shown(), "0");
    assert_int_equal(top.node_count, 1);
    look_at(110);
    assert_string_equal(shown(), "0"); /* who has chosen stays there */
    assert_false(pfr_top_has_ended(&top, now));
    pfr_top_switch(&top, -1);
    assert_string_equal(shown(), "batch");
    pfr_top_switch(&top, -1);
    assert_string_equal(shown(), "2");
    top.chosen = false;
    look_at(113);
    assert_string_equal(shown(), "1");
    top_files_summary("slurm-4711.profres/1", TOP_SUMMARY(.start = 60, .at = 114,
                                                          .state = "COMPLETE"));
    top_files_summary("slurm-4711.profres/batch", TOP_SUMMARY(.at = 114, .state = "COMPLETE"));
    look_at(115);
    look_at(116);
    assert_true(pfr_top_has_ended(&top, now));
}

/* One that has died does not keep it from ending. */
static void test_stale_step_beside(void **state)
{
    (void)state;
    top_files_summary("slurm-4711.profres/batch", TOP_SUMMARY(.at = 10));
    top_files_summary(STEP, TOP_SUMMARY(.start = 5, .at = 500));
    look_at(500);
    assert_string_equal(shown(), "0");
    top_files_summary(STEP, TOP_SUMMARY(.start = 5, .at = 501, .state = "COMPLETE"));
    look_at(501);
    look_at(502);
    assert_true(pfr_top_has_ended(&top, now));
    assert_string_equal(shown(), "0");
}

/* ---- rows ---- */

static void test_rows(void **state)
{
    struct pfr_top_row *rows;
    size_t count;

    (void)state;
    two_nodes(10, 10);
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_window(STEP, "n1", 0, 10, 50, 3 << 20, "app");
    top_files_header(STEP, "n2", 0, "profres-series/2.0");
    top_files_window(STEP, "n2", 0, 10, 100, 2 << 20, "app");
    top_files_summary(STEP, TOP_SUMMARY(.node = "n10", .memory = -1, .nodes = 3));
    look_at(11);
    assert_int_equal(top.node_count, 3);

    rows = pfr_top_rows(&top, PFR_PANE_NODES, PFR_SORT_NAME, false, &count);
    assert_int_equal(count, 3);
    assert_string_equal(rows[2].node->name, "n10"); /* by its number */
    free(rows);
    rows = pfr_top_rows(&top, PFR_PANE_NODES, PFR_SORT_CPU, false, &count);
    assert_string_equal(rows[0].node->name, "n2");
    assert_string_equal(rows[2].node->name, "n10"); /* not known is last ... */
    free(rows);
    rows = pfr_top_rows(&top, PFR_PANE_NODES, PFR_SORT_MEMORY, true, &count);
    assert_string_equal(rows[0].node->name, "n2");
    assert_string_equal(rows[2].node->name, "n10"); /* ... either way */
    free(rows);
    rows = pfr_top_rows(&top, PFR_PANE_PROCESSES, PFR_SORT_MEMORY, false, &count);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].node->name, "n1");
    free(rows);
    rows = pfr_top_rows(&top, PFR_PANE_TASKS, PFR_SORT_CPU, false, &count);
    assert_int_equal(count, 3);
    assert_int_equal(rows[0].task->pid, 77);
    free(rows);
}

/* A task's use of CPU is between two summaries; the first has none. */
static void test_task_rate(void **state)
{
    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(.at = 10, .task_cpu = 5));
    look_at(10);
    assert_int_equal(top.nodes[0]->tasks.list[0].cpu, 5 * TOP_S);
    assert_int_equal(top.nodes[0]->tasks.list[0].pdcpu, PFR_ABSENT);
    top_files_summary(STEP, TOP_SUMMARY(.at = 20, .task_cpu = 25));
    look_at(20);
    assert_int_equal(top.nodes[0]->tasks.list[0].pdcpu, 200000);
    top_files_summary(STEP, TOP_SUMMARY(.at = 30, .task_cpu = 1)); /* it fell: no rate */
    look_at(30);
    assert_int_equal(top.nodes[0]->tasks.list[0].pdcpu, PFR_ABSENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(nothing_then_something), TEST(no_window_yet), TEST(values_of_a_window),
        TEST(without_allocation), TEST(torn_and_malformed), TEST(absurd_numbers),
        TEST(future_schema), TEST(second_header), TEST(command_lines),
        TEST(command_lines_of_summary), TEST(past),
        TEST(past_after_merging), TEST(sums_over_nodes), TEST(stale), TEST(when_stale),
        TEST(other_clock), TEST(complete), TEST(lost), TEST(late_node), TEST(steps),
        TEST(stale_step_beside), TEST(rows), TEST(task_rate),
    };

    return cmocka_run_group_tests_name("top_model", tests, NULL, NULL);
}
