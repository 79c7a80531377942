/*
 * Aggregation: what goes into a window as raw readings and comes out as usage
 * and run totals. Each rule R2-R23 that lives here has a case that fails when
 * the rule is broken.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/metric/window.h"

#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)
#define START (1000 * SECOND)

struct bench {
    struct pfr_selection selection;
    struct pfr_process_table processes;
    struct pfr_window window;
    struct pfr_run run;
    struct pfr_usage usage;
};

static struct bench b;

static int open_bench(void **state)
{
    char error[256];

    (void)state;
    memset(&b, 0, sizeof(b));
    assert_int_equal(pfr_selection_parse(&b.selection, NULL, error, sizeof(error)), 0);
    pfr_process_table_init(&b.processes);
    assert_int_equal(pfr_run_init(&b.run, 4), 0);
    pfr_window_init(&b.window, &b.selection, &b.processes, 4);
    return 0;
}

static int close_bench(void **state)
{
    (void)state;
    pfr_window_release(&b.window);
    pfr_run_release(&b.run);
    pfr_process_table_release(&b.processes);
    return 0;
}

/* ---- a little language for ticks ---- */

static struct pfr_sample *tick_at(int64_t seconds_x1000)
{
    struct pfr_sample *sample = pfr_readings_begin(&b.window.readings);

    assert_non_null(sample);
    sample->stamp[PFR_FROM_PROCS] = START + seconds_x1000 * MS;
    sample->stamp[PFR_FROM_CGROUP] = START + seconds_x1000 * MS;
    sample->wall = sample->stamp[PFR_FROM_CGROUP];
    sample->empty = true;
    return sample;
}

static uint32_t born(pid_t pid, int64_t at_ms, const char *comm)
{
    uint32_t slot = pfr_process_add(&b.processes, pid);

    assert_int_not_equal(slot, PFR_SLOT_NONE);
    b.processes.slots[slot].birth = START + at_ms * MS;
    b.processes.slots[slot].start_ticks = at_ms / 10 + 1;
    strncpy(b.processes.slots[slot].comm, comm, PFR_COMM_SIZE - 1);
    return slot;
}

static void reads(uint32_t slot, int64_t rss, int64_t cpu_ms)
{
    struct pfr_pid_reading *reading = pfr_readings_add_pid(&b.window.readings, slot);

    reading->value[PFR_PS_RSS] = rss;
    reading->value[PFR_PS_CPU_SECONDS] = cpu_ms * MS;
    reading->value[PFR_PS_STAT] = 'R';
    reading->value[PFR_PS_CHILDREN_CPU_SECONDS] = 0;
    reading->present = 1u << PFR_PS_RSS | 1u << PFR_PS_CPU_SECONDS | 1u << PFR_PS_STAT |
                       1u << PFR_PS_CHILDREN_CPU_SECONDS;
    b.window.readings.samples[b.window.readings.count - 1].empty = false;
}

static void closes(void)
{
    assert_int_equal(pfr_window_close(&b.window, &b.run, &b.usage), 1);
}

static void reopens(void)
{
    pfr_window_reopen(&b.window, &b.run);
}

static int64_t step_value(enum pfr_metric_id id)
{
    assert_true(pfr_metric_set_has(&b.usage.present, id));
    return b.usage.step[pfr_step_index(id)];
}

static bool has_step(enum pfr_metric_id id)
{
    return pfr_metric_set_has(&b.usage.present, id);
}

static const struct pfr_row *row_of(uint32_t slot)
{
    return &b.window.sums[slot].window;
}

/* ---- R8 ---- */

/* A pid that accrued CPU exits mid-window: its growth still counts. */
static void exited_processes_keep_their_cpu(void **state)
{
    uint32_t a = born(1, -5000, "a"), c = born(2, -5000, "b");

    (void)state;
    tick_at(0);
    reads(a, 100, 1000);
    reads(c, 100, 0);
    tick_at(1000);
    reads(a, 100, 6000); /* burnt 5 s on several cores */
    reads(c, 100, 100);
    tick_at(2000);
    pfr_process_retire(&b.processes, a);
    reads(c, 100, 200);
    closes();
    assert_int_equal(step_value(PFR_PS_CPU_SECONDS_TOTAL), 5200 * MS);
    assert_int_equal(b.run.total[pfr_step_index(PFR_PS_CPU_SECONDS_TOTAL)], 5200 * MS);
}

/* Over windows the totals add up: the seed is the last reading of the one before. */
static void windows_add_up(void **state)
{
    uint32_t a = born(1, -5000, "a");
    int64_t sum = 0;

    (void)state;
    for (int w = 0; w < 5; w++) {
        for (int i = 0; i < 10; i++) {
            tick_at(w * 10000 + i * 1000);
            reads(a, 100, 700 + (w * 10 + i) * 300);
        }
        closes();
        sum += step_value(PFR_PS_CPU_SECONDS_TOTAL);
        reopens();
    }
    assert_int_equal(sum, 49 * 300 * MS);
}

/* A reused pid is another process: its lower counters are no fall. */
static void reused_pid_is_another_process(void **state)
{
    uint32_t a = born(7, -5000, "a"), again;

    (void)state;
    tick_at(0);
    reads(a, 100, 9000);
    tick_at(1000);
    reads(a, 100, 9500);
    pfr_process_retire(&b.processes, a);
    again = born(7, 1500, "a");
    tick_at(2000);
    reads(again, 100, 400);
    closes();
    assert_int_not_equal(a, again);
    assert_int_equal(step_value(PFR_PS_CPU_SECONDS_TOTAL), 900 * MS);
    assert_int_equal((int)b.run.counter_falls, 0);
}

/* A counter that falls is neither negative growth nor growth again when it is back. */
static void falling_counters_add_nothing_twice(void **state)
{
    uint32_t a = born(1, -5000, "a");
    const int64_t cpu[] = { 1000, 2000, 1990, 2000, 2500 };

    (void)state;
    for (int i = 0; i < 5; i++) {
        tick_at(i * 1000);
        reads(a, 100, cpu[i]);
    }
    closes();
    assert_int_equal(step_value(PFR_PS_CPU_SECONDS_TOTAL), 1500 * MS);
    assert_int_equal((int)b.run.counter_falls, 1);
}

static void falling_cgroup_counter_is_counted(void **state)
{
    const int64_t usage[] = { 10, 20, 15, 30 };

    (void)state;
    for (int i = 0; i < 4; i++)
        pfr_sample_set(tick_at(i * 1000), PFR_CGROUP_CPU_SECONDS, usage[i] * SECOND);
    closes();
    assert_int_equal(step_value(PFR_CGROUP_CPU_SECONDS), 20 * SECOND);
    assert_int_equal((int)b.run.counter_falls, 1);
}

/* What new cgroups had before the first sample is in the total, in no rate. */
static void new_cgroups_count_from_zero(void **state)
{
    (void)state;
    b.run.from_zero = true;
    pfr_sample_set(tick_at(0), PFR_CGROUP_CPU_SECONDS, 3 * SECOND);
    pfr_sample_set(tick_at(1000), PFR_CGROUP_CPU_SECONDS, 4 * SECOND);
    closes();
    assert_int_equal(b.run.before[pfr_step_index(PFR_CGROUP_CPU_SECONDS)], 3 * SECOND);
    assert_int_equal(b.run.total[pfr_step_index(PFR_CGROUP_CPU_SECONDS)], 1 * SECOND);
    assert_int_equal(step_value(PFR_CGROUP_PDCPU), 100 * 1000);
}

/* ---- R9, R11, R12, R47, R49, R101 ---- */

static void rates_are_percent_of_a_core(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    tick_at(0);
    reads(a, 100, 0);
    tick_at(1000);
    reads(a, 100, 1500);
    tick_at(2000);
    reads(a, 100, 3000);
    closes();
    assert_int_equal(row_of(a)->value[PFR_PS_PDCPU], 150 * 1000); /* R11 */
    assert_int_equal(step_value(PFR_PS_PDCPU_TOTAL), 150 * 1000);
}

/* Over the time that passed, not the interval that was asked for. */
static void rates_use_the_time_that_passed(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    tick_at(0);
    reads(a, 100, 0);
    tick_at(4000); /* a late tick */
    reads(a, 100, 4000);
    closes();
    assert_int_equal(row_of(a)->value[PFR_PS_PDCPU], 100 * 1000);
}

/* R9: each collector's values are over that collector's own stamps. */
static void each_collector_has_its_own_clock(void **state)
{
    struct pfr_sample *sample = tick_at(0);

    (void)state;
    pfr_sample_set(sample, PFR_CGROUP_CPU_SECONDS, 0);
    sample = tick_at(1000);
    sample->stamp[PFR_FROM_CGROUP] += 1000 * MS; /* read a second after the processes */
    pfr_sample_set(sample, PFR_CGROUP_CPU_SECONDS, 2 * SECOND);
    closes();
    assert_int_equal(step_value(PFR_CGROUP_PDCPU), 100 * 1000);
}

/* R12: born inside the window: cputime over age, from birth, not from the window's start. */
static void newborn_has_a_rate(void **state)
{
    uint32_t a = born(1, -5000, "a"), baby;

    (void)state;
    tick_at(0);
    reads(a, 100, 0);
    baby = born(2, 600, "b");
    tick_at(1000);
    reads(a, 100, 0);
    reads(baby, 100, 200);
    closes();
    assert_true(row_of(baby)->present >> PFR_PS_PDCPU & 1);
    assert_int_equal(row_of(baby)->value[PFR_PS_PDCPU], 50 * 1000);
    assert_int_equal(row_of(baby)->value[PFR_PS_CPU_SECONDS], 200 * MS); /* all of it is ours */
}

/* R12: older than the sample before at first sight: no rate, and its past is not ours. */
static void stranger_has_no_rate_yet(void **state)
{
    uint32_t a = born(1, -5000, "a"), old;

    (void)state;
    tick_at(0);
    reads(a, 100, 0);
    old = born(2, -3600000, "old");
    tick_at(1000);
    reads(a, 100, 0);
    reads(old, 100, 3600000);
    closes();
    assert_false(row_of(old)->present >> PFR_PS_PDCPU & 1);
    assert_int_equal(row_of(old)->value[PFR_PS_CPU_SECONDS], 0);
    assert_int_equal(step_value(PFR_PS_CPU_SECONDS_TOTAL), 0);
}

/* R51: the first sample has no rate at all. */
static void first_sample_has_no_rate(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    pfr_sample_set(tick_at(0), PFR_CGROUP_CPU_SECONDS, 50 * SECOND);
    reads(a, 100, 4000);
    closes();
    assert_false(row_of(a)->present >> PFR_PS_PDCPU & 1);
    assert_false(has_step(PFR_CGROUP_PDCPU));
    assert_false(has_step(PFR_PS_PDCPU_TOTAL));
}

/* R101: no CPU used in between is a rate of zero, whatever the lifetime average. */
static void idle_process_has_rate_zero(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    tick_at(0);
    reads(a, 100, 85000);
    tick_at(1000);
    reads(a, 100, 85000);
    closes();
    assert_true(row_of(a)->present >> PFR_PS_PDCPU & 1);
    assert_int_equal(row_of(a)->value[PFR_PS_PDCPU], 0);
}

/* R49: no time between two readings: no rate, no division. */
static void no_time_no_rate(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    tick_at(0);
    reads(a, 100, 0);
    tick_at(0);
    reads(a, 100, 500);
    closes();
    assert_false(row_of(a)->present >> PFR_PS_PDCPU & 1);
    assert_false(has_step(PFR_PS_PDCPU_TOTAL));
}

/*
 * The kernel brings counters forward in steps of some ms: over a reading taken
 * half a millisecond after another, that would be cores that do not exist.
 */
static void short_intervals_make_no_peaks(void **state)
{
    (void)state;
    pfr_sample_set(tick_at(0), PFR_CGROUP_CPU_SECONDS, 0);
    pfr_sample_set(tick_at(1000), PFR_CGROUP_CPU_SECONDS, 1000 * MS);
    pfr_sample_set(tick_at(1001), PFR_CGROUP_CPU_SECONDS, 1005 * MS);
    closes();
    assert_int_equal(b.run.stat[pfr_step_index(PFR_CGROUP_PDCPU)]->max, 100 * 1000);
    assert_int_equal(b.run.total[pfr_step_index(PFR_CGROUP_CPU_SECONDS)], 1005 * MS);
}

/* A window's rate times its time is its growth: not a mean of rates. */
static void window_rate_is_growth_over_span(void **state)
{
    const int64_t at[] = { 0, 300, 600, 1600, 9600 }, cpu[] = { 0, 300, 600, 600, 8600 };

    (void)state;
    for (int i = 0; i < 5; i++)
        pfr_sample_set(tick_at(at[i]), PFR_CGROUP_CPU_SECONDS, cpu[i] * MS);
    closes();
    assert_int_equal(step_value(PFR_CGROUP_PDCPU), pfr_rate(8600 * MS, 9600 * MS));
}

/* ---- R13, R14 ---- */

/* The largest simultaneous sum, not the sum of the largest. */
static void totals_are_simultaneous(void **state)
{
    uint32_t a = born(1, -5000, "a"), c = born(2, -5000, "b");

    (void)state;
    tick_at(0);
    reads(a, 1000, 0);
    reads(c, 10, 0);
    tick_at(1000);
    reads(a, 10, 0);
    reads(c, 1000, 0);
    closes();
    assert_int_equal(row_of(a)->value[PFR_PS_RSS], 1000);
    assert_int_equal(row_of(c)->value[PFR_PS_RSS], 1000);
    assert_int_equal(step_value(PFR_PS_RSS_TOTAL), 1010);
}

static void states_are_tallied_per_process(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    for (int i = 0; i < 5; i++) {
        tick_at(i * 1000);
        reads(a, 1, 0);
        b.window.readings.pids[i].value[PFR_PS_STAT] = i < 3 ? 'D' : 'Z';
    }
    closes();
    assert_int_equal(row_of(a)->states.count[0], 3);
    assert_int_equal(row_of(a)->states.code[1], 'Z');
    assert_int_equal(row_of(a)->states.count[1], 2);
}

/* A sum with a process missing is no sum. */
static void partial_sums_are_absent(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    tick_at(0);
    reads(a, 1000, 0);
    b.window.readings.samples[0].partial = 1u << PFR_PS_RSS;
    closes();
    assert_false(has_step(PFR_PS_RSS_TOTAL));
    assert_true(row_of(a)->present >> PFR_PS_RSS & 1);
}

/* ---- R18, R19 ---- */

/*
 * A sample without processes is not counted and moves no level, no sum, no
 * process rate; the kernel's own counters and peaks in it are the last word.
 */
static void empty_sample_counts_for_kernel_totals_only(void **state)
{
    uint32_t a = born(1, -5000, "a");
    struct pfr_sample *sample = tick_at(0);

    (void)state;
    pfr_sample_set(sample, PFR_CGROUP_MEM_CURRENT, 500);
    pfr_sample_set(sample, PFR_CGROUP_MEM_PEAK, 600);
    pfr_sample_set(sample, PFR_CGROUP_CPU_SECONDS, 0);
    reads(a, 100, 0);
    sample = tick_at(1000);
    pfr_sample_set(sample, PFR_CGROUP_MEM_CURRENT, 500);
    pfr_sample_set(sample, PFR_CGROUP_MEM_PEAK, 600);
    pfr_sample_set(sample, PFR_CGROUP_CPU_SECONDS, 1 * SECOND);
    reads(a, 100, 900);
    sample = tick_at(2000);
    pfr_sample_set(sample, PFR_CGROUP_MEM_CURRENT, 3);
    pfr_sample_set(sample, PFR_CGROUP_MEM_PEAK, 900);
    pfr_sample_set(sample, PFR_CGROUP_CPU_SECONDS, 2 * SECOND);
    closes();
    assert_int_equal(b.usage.num_samples, 2);
    assert_int_equal(step_value(PFR_CGROUP_MEM_PEAK), 900);
    assert_int_equal(step_value(PFR_CGROUP_CPU_SECONDS), 2 * SECOND);
    assert_int_equal(step_value(PFR_CGROUP_MEM_CURRENT), 500);
    assert_int_equal(b.run.stat[pfr_step_index(PFR_CGROUP_MEM_CURRENT)]->min, 500);
    assert_int_equal(step_value(PFR_PS_PDCPU_TOTAL), 90 * 1000);
    /* what ran after the last sight of the process is said to be unattributed */
    assert_int_equal(step_value(PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS), 1100 * MS);
}

static void cgroup_alone_is_reported(void **state)
{
    struct pfr_sample *sample;

    (void)state;
    for (int i = 0; i < 3; i++) {
        sample = tick_at(i * 1000);
        sample->empty = false; /* no process collector was asked */
        pfr_sample_set(sample, PFR_CGROUP_MEM_CURRENT, 100 * (i + 1));
    }
    closes();
    assert_int_equal(b.usage.num_samples, 3);
    assert_true(has_step(PFR_CGROUP_MEM_CURRENT));
    assert_int_equal(step_value(PFR_CGROUP_MEM_SAMPLED_PEAK), 300);
    assert_int_equal(b.usage.process_count, 0);
}

static void nothing_buffered_is_no_window(void **state)
{
    (void)state;
    assert_int_equal(pfr_window_close(&b.window, &b.run, &b.usage), 0);
}

/* ---- R2, R4, R21, reconciliation ---- */

/* Nothing is aggregated before the window is closed: readings wait as they came. */
static void readings_wait_for_the_window(void **state)
{
    uint32_t a = born(1, -5000, "a");

    (void)state;
    tick_at(0);
    reads(a, 100, 0);
    tick_at(1000);
    reads(a, 300, 10);
    assert_int_equal(b.window.readings.count, 2);
    assert_int_equal(b.window.readings.pids[1].value[PFR_PS_RSS], 300);
    assert_int_equal((int)b.run.num_samples, 0);
    closes();
    reopens();
    assert_int_equal(b.window.readings.count, 0);
    assert_int_equal((int)b.run.num_samples, 2); /* the run has its own account (R4) */
}

/* The rest is what the cgroup has and no process has: it may shrink, totals hold. */
static void unattributed_rest_adds_up(void **state)
{
    uint32_t a = born(1, -5000, "a"), late;
    int64_t sum = 0;

    (void)state;
    pfr_sample_set(tick_at(0), PFR_CGROUP_CPU_SECONDS, 7 * SECOND);
    reads(a, 1, 100);
    pfr_sample_set(tick_at(1000), PFR_CGROUP_CPU_SECONDS, 9 * SECOND);
    reads(a, 1, 1100);
    closes();
    sum += step_value(PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS);
    assert_int_equal(sum, 1 * SECOND);
    reopens();
    late = born(2, 900, "b"); /* seen a tick after its CPU was in the cgroup's number */
    b.processes.slots[late].birth = START + 1000 * MS;
    pfr_sample_set(tick_at(2000), PFR_CGROUP_CPU_SECONDS, 9 * SECOND);
    reads(a, 1, 1100);
    reads(late, 1, 800);
    closes();
    sum += step_value(PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS);
    assert_int_equal(sum, 200 * MS);
    assert_int_equal(b.run.total[pfr_step_index(PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS)], 200 * MS);
}

static void nonreclaimable_is_of_one_sample(void **state)
{
    const int64_t anon[] = { 100, 900 }, kernel[] = { 50, 1 };
    struct pfr_sample *sample;

    (void)state;
    for (int i = 0; i < 2; i++) {
        sample = tick_at(i * 1000);
        sample->empty = false;
        pfr_sample_set(sample, PFR_CGROUP_MEM_ANON, anon[i]);
        pfr_sample_set(sample, PFR_CGROUP_MEM_SHMEM, 10);
        pfr_sample_set(sample, PFR_CGROUP_MEM_KERNEL, kernel[i]);
    }
    closes();
    assert_int_equal(step_value(PFR_CGROUP_MEM_NONRECLAIMABLE), 911); /* not 900 + 10 + 50 */
}

/* A gauge's window mean is weighted by time. */
static void level_is_weighted_by_time(void **state)
{
    const int64_t at[] = { 0, 100, 10000 }, level[] = { 1000, 1000, 100 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pfr_sample *sample = tick_at(at[i]);

        sample->empty = false;
        pfr_sample_set(sample, PFR_CGROUP_MEM_CURRENT, level[i]);
    }
    closes();
    assert_int_equal(step_value(PFR_CGROUP_MEM_CURRENT), (1000 * 100 + 100 * 9900) / 10000);
}

/* ---- top processes and commands ---- */

static void largest_by_cpu_and_by_memory(void **state)
{
    uint32_t slots[20];

    (void)state;
    for (int i = 0; i < 20; i++)
        slots[i] = born(100 + i, -5000, i < 10 ? "busy" : "fat");
    for (int t = 0; t < 2; t++) {
        tick_at(t * 1000);
        for (int i = 0; i < 20; i++)
            reads(slots[i], i < 10 ? 10 : 1000 * i, i < 10 ? 100 * i * t : 0);
    }
    closes();
    assert_int_equal(b.usage.process_count, 20);
    assert_int_equal(b.usage.top_count, 8);
    assert_int_equal(b.usage.top[0], slots[9]);
    assert_int_equal(b.usage.top[3], slots[6]);
    assert_int_equal(b.usage.top[4], slots[19]);
    assert_int_equal(b.usage.top[7], slots[16]);
    /* the sums are over all of them */
    assert_int_equal(step_value(PFR_PS_CPU_SECONDS_TOTAL), 4500 * MS);
}

/* Many short processes: remembered by name, totals exact, the list bounded. */
static void short_processes_are_summed_by_command(void **state)
{
    const struct pfr_command *command;
    uint32_t parent = born(1, -5000, "make");

    (void)state;
    for (int w = 0; w < 50; w++) {
        for (int i = 0; i < 20; i++) {
            uint32_t child;

            tick_at((w * 20 + i) * 100);
            reads(parent, 100, 0);
            child = born(1000 + w * 20 + i, (w * 20 + i) * 100 - 50, "cc1");
            reads(child, 5000, 40);
            pfr_process_retire(&b.processes, child);
        }
        closes();
        reopens();
    }
    command = &b.run.commands.list[pfr_commands_find(&b.run.commands, "cc1")];
    assert_int_equal(command->run.processes, 1000);
    /* all but the first, whose birth nothing was there to date */
    assert_int_equal(command->run.cpu, 999 * 40 * MS);
    assert_int_equal(command->run.rss, 5000);
    assert_true(b.run.top_count <= 8);
    assert_true(b.processes.capacity <= 128);
}

static void command_names_are_bounded(void **state)
{
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        pfr_commands_find(&b.run.commands, name);
    }
    assert_int_equal(b.run.commands.count, PFR_COMMANDS_MAX);
    assert_int_equal(pfr_commands_find(&b.run.commands, "c999"), 0); /* "(other)" */
    assert_int_not_equal(pfr_commands_find(&b.run.commands, "c3"), 0);
}

/* Those who left are remembered if they were among the largest. */
static void run_remembers_the_largest(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct pfr_process process = { .pid = i + 1, .gone = true };
        struct pfr_row row = { .present = 1u << PFR_PS_RSS | 1u << PFR_PS_CPU_SECONDS };

        row.value[PFR_PS_RSS] = (i * 37) % 101;
        row.value[PFR_PS_CPU_SECONDS] = (i * 53) % 103;
        pfr_run_offer(&b.run, &process, &row);
    }
    assert_true(b.run.top_count <= 8);
    for (int64_t want = 97; want <= 100; want++) {
        bool found = false;

        for (uint32_t i = 0; i < b.run.top_count; i++)
            found = found || b.run.top[i].row.value[PFR_PS_RSS] == want;
        assert_true(found);
    }
}

/* The buffer is bounded: it says so before a sample that would not fit. */
static void full_buffer_asks_for_a_new_window(void **state)
{
    (void)state;
    assert_false(pfr_readings_are_full(&b.window.readings, 1000000)); /* one always fits */
    tick_at(0);
    assert_true(pfr_readings_are_full(&b.window.readings, PFR_READINGS_MAX + 1));
    assert_false(pfr_readings_are_full(&b.window.readings, 100));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(exited_processes_keep_their_cpu),
        CASE(windows_add_up),
        CASE(reused_pid_is_another_process),
        CASE(falling_counters_add_nothing_twice),
        CASE(falling_cgroup_counter_is_counted),
        CASE(new_cgroups_count_from_zero),
        CASE(rates_are_percent_of_a_core),
        CASE(rates_use_the_time_that_passed),
        CASE(each_collector_has_its_own_clock),
        CASE(newborn_has_a_rate),
        CASE(stranger_has_no_rate_yet),
        CASE(first_sample_has_no_rate),
        CASE(idle_process_has_rate_zero),
        CASE(no_time_no_rate),
        CASE(short_intervals_make_no_peaks),
        CASE(window_rate_is_growth_over_span),
        CASE(totals_are_simultaneous),
        CASE(states_are_tallied_per_process),
        CASE(partial_sums_are_absent),
        CASE(empty_sample_counts_for_kernel_totals_only),
        CASE(cgroup_alone_is_reported),
        CASE(nothing_buffered_is_no_window),
        CASE(readings_wait_for_the_window),
        CASE(unattributed_rest_adds_up),
        CASE(nonreclaimable_is_of_one_sample),
        CASE(level_is_weighted_by_time),
        CASE(largest_by_cpu_and_by_memory),
        CASE(short_processes_are_summed_by_command),
        CASE(command_names_are_bounded),
        CASE(run_remembers_the_largest),
        CASE(full_buffer_asks_for_a_new_window),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
