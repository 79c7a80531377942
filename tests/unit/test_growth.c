/*
 * What belongs to which process: the kernel adds what a child read, wrote and
 * used to its parent's counters when that waits for it, and nothing may count
 * twice, whoever of a family vanishes between two samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/metric/window.h"

#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)
#define START (1000 * SECOND)

static struct pfr_selection selection;
static struct pfr_process_table processes;
static struct pfr_window window;
static struct pfr_run run;
static int now;

static int set_up(void **state)
{
    char error[256];

    (void)state;
    now = 0;
    assert_int_equal(pfr_selection_parse(&selection, NULL, error, sizeof(error)), 0);
    pfr_process_table_init(&processes);
    assert_int_equal(pfr_run_init(&run, 4), 0);
    pfr_window_init(&window, &selection, &processes, 4);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pfr_window_release(&window);
    pfr_run_release(&run);
    pfr_process_table_release(&processes);
    return 0;
}

/* One sample a second. */
static void tick(void)
{
    struct pfr_sample *sample = pfr_readings_begin(&window.readings);

    assert_non_null(sample);
    sample->stamp[PFR_FROM_PROCS] = START + ++now * SECOND;
}

static uint32_t born(pid_t pid, pid_t parent)
{
    uint32_t slot = pfr_process_add(&processes, pid);

    assert_int_not_equal(slot, PFR_SLOT_NONE);
    processes.slots[slot].parent = parent;
    processes.slots[slot].birth = START + now * SECOND + SECOND / 2;
    processes.slots[slot].start_ticks = now * 100 + 50;
    return slot;
}

static struct pfr_pid_reading *reads(uint32_t slot, int64_t wchar)
{
    struct pfr_pid_reading *reading = pfr_readings_add_pid(&window.readings, slot);

    for (int i = 0; i < PFR_INHERITED_COUNT; i++) {
        reading->value[PFR_INHERITED_FIRST + i] = 0;
        reading->present |= 1u << (PFR_INHERITED_FIRST + i);
    }
    reading->value[PFR_PROC_IO_WCHAR] = wchar;
    return reading;
}

static int64_t total_of(enum pfr_metric_id id)
{
    struct pfr_usage usage;

    assert_int_equal(pfr_window_close(&window, &run, &usage), 1);
    pfr_window_reopen(&window, &run);
    return run.total[pfr_step_index(id)];
}

static int64_t written(void)
{
    return total_of(PFR_PROC_IO_WCHAR_TOTAL);
}

/* The shell that everything below descends from, seen once. */
static uint32_t shell(void)
{
    uint32_t slot = born(10, 1);

    processes.slots[slot].task = true;
    tick();
    reads(slot, 0);
    return slot;
}

static void child_is_counted_once(void **state)
{
    uint32_t sh = shell(), child = born(11, 10);

    (void)state;
    tick();
    reads(sh, 0);
    reads(child, 100);
    pfr_process_retire(&processes, child);
    tick();
    reads(sh, 120); /* waited: 100 that were seen, 20 after the last sight */
    assert_int_equal(written(), 120);
}

static void child_never_seen_is_counted(void **state)
{
    uint32_t sh = shell();

    (void)state;
    tick();
    reads(sh, 70);
    assert_int_equal(written(), 70);
}

/* A1: the child, its parent and that one's parent end between two samples. */
static void family_that_vanishes_at_once_is_counted_once(void **state)
{
    uint32_t sh = shell(), outer = born(11, 10), inner = born(12, 11), child = born(13, 12);

    (void)state;
    tick();
    reads(sh, 0);
    reads(outer, 5);
    reads(inner, 7);
    reads(child, 100);
    pfr_process_retire(&processes, inner); /* in any order of slots */
    pfr_process_retire(&processes, child);
    pfr_process_retire(&processes, outer);
    tick();
    reads(sh, 115); /* 112 that were seen */
    assert_int_equal(written(), 115);
}

/* The debt of a parent that ends later passes on to the one who waits for that. */
static void debts_are_handed_over(void **state)
{
    uint32_t sh = shell(), inner = born(12, 10), child = born(13, 12);

    (void)state;
    tick();
    reads(sh, 0);
    reads(inner, 7);
    reads(child, 100);
    pfr_process_retire(&processes, child);
    tick();
    reads(sh, 0);
    reads(inner, 7); /* has not waited yet */
    pfr_process_retire(&processes, inner);
    tick();
    reads(sh, 107);
    assert_int_equal(written(), 107);
}

/* ... over the end of a window, too. */
static void debts_outlive_the_window(void **state)
{
    uint32_t sh = shell(), inner = born(12, 10), child = born(13, 12);

    (void)state;
    tick();
    reads(sh, 0);
    reads(inner, 7);
    reads(child, 100);
    assert_int_equal(written(), 107);
    pfr_process_retire(&processes, child);
    pfr_process_retire(&processes, inner);
    tick();
    reads(sh, 0);
    assert_int_equal(written(), 107);
    tick();
    reads(sh, 107);
    assert_int_equal(written(), 107);
}

/* An orphan is waited for by somebody outside: nobody's growth is reduced. */
static void orphans_owe_nothing_to_the_family(void **state)
{
    uint32_t sh = shell(), orphan = born(13, 1);

    (void)state;
    tick();
    reads(sh, 0);
    reads(orphan, 50);
    pfr_process_retire(&processes, orphan);
    tick();
    reads(sh, 200);
    assert_int_equal(written(), 250);
}

/* The pid of a parent that has gone is another's now: that one has not waited. */
static void reused_pid_is_no_parent(void **state)
{
    uint32_t sh = shell(), inner = born(12, 10), child = born(13, 12), other;

    (void)state;
    tick();
    reads(sh, 0);
    reads(inner, 0);
    reads(child, 100);
    pfr_process_retire(&processes, child);
    pfr_process_retire(&processes, inner);
    other = born(12, 1);
    tick();
    reads(sh, 100);
    reads(other, 300);
    assert_int_equal(written(), 400);
}

/* ---- CPU time of children ---- */

static void uses(uint32_t slot, int64_t cpu_ms, int64_t children_ms)
{
    struct pfr_pid_reading *reading = pfr_readings_add_pid(&window.readings, slot);

    reading->value[PFR_PS_CPU_SECONDS] = cpu_ms * MS;
    reading->value[PFR_PS_CHILDREN_CPU_SECONDS] = children_ms * MS;
    reading->present = 1u << PFR_PS_CPU_SECONDS | 1u << PFR_PS_CHILDREN_CPU_SECONDS;
}

static int64_t unsampled_ms(void)
{
    return total_of(PFR_PS_CHILDREN_CPU_SECONDS_TOTAL) / MS;
}

static uint32_t make(void)
{
    uint32_t slot = born(10, 1);

    processes.slots[slot].task = true;
    memcpy(processes.slots[slot].comm, "make", 5);
    tick();
    uses(slot, 0, 0);
    return slot;
}

/* What was sampled of a child is its own; what was not is its parent's children's. */
static void unsampled_end_of_a_child(void **state)
{
    uint32_t parent = make(), child = born(11, 10);

    (void)state;
    tick();
    uses(parent, 0, 300); /* one that nobody saw */
    uses(child, 500, 0);
    pfr_process_retire(&processes, child);
    tick();
    uses(parent, 10, 1000); /* waited: 500 sampled, 200 after that */
    assert_int_equal(unsampled_ms(), 500);
    assert_int_equal(run.total[pfr_step_index(PFR_PS_CPU_SECONDS_TOTAL)], 510 * MS);
    assert_int_equal(run.commands.list[pfr_commands_find(&run.commands, "make")].run.children,
                     500 * MS);
}

/* The kernel's number is recursive: so is what is taken off. */
static void unsampled_grandchildren(void **state)
{
    uint32_t top = make(), inner = born(12, 10), child = born(13, 12);

    (void)state;
    tick();
    uses(top, 0, 0);
    uses(inner, 100, 40); /* 40 of a grandchild that nobody saw: counted here */
    uses(child, 1000, 0);
    pfr_process_retire(&processes, child);
    pfr_process_retire(&processes, inner);
    tick();
    uses(top, 0, 1140 + 60);
    assert_int_equal(unsampled_ms(), 40 + 60);
}

/* Nobody has waited, as where SIGCHLD is ignored: nothing is taken off, nothing added. */
static void ignored_children_change_nothing(void **state)
{
    uint32_t parent = make(), child = born(11, 10);

    (void)state;
    tick();
    uses(parent, 0, 0);
    uses(child, 500, 0);
    pfr_process_retire(&processes, child);
    for (int i = 0; i < 3; i++) {
        tick();
        uses(parent, 100 * i, 0);
    }
    assert_int_equal(unsampled_ms(), 0);
    tick();
    uses(parent, 400, 90); /* less than the child had: another one */
    assert_int_equal(unsampled_ms(), 90);
}

/* The parent's number is in ticks of 10 ms, twice rounded down: that is not lost, nor kept. */
static void rounded_ticks_add_up(void **state)
{
    uint32_t parent = make(), child = born(11, 10);

    (void)state;
    tick();
    uses(parent, 0, 0);
    uses(child, 519, 0);
    pfr_process_retire(&processes, child);
    tick();
    uses(parent, 0, 500);
    assert_int_equal(unsampled_ms(), 0);
    tick();
    uses(parent, 0, 520); /* what was missing has come */
    assert_int_equal(unsampled_ms(), 1);
    tick();
    uses(parent, 0, 620);
    assert_int_equal(unsampled_ms(), 101);
}

/* Of a parent whose I/O may not be read, CPU time still tells that it has waited. */
static void unreadable_io_does_not_hinder(void **state)
{
    uint32_t parent = make(), child = born(11, 10);

    (void)state;
    tick();
    uses(parent, 0, 0);
    uses(child, 500, 0);
    window.readings.pids[window.readings.pid_count - 1].present |= 1u << PFR_PROC_IO_WCHAR;
    window.readings.pids[window.readings.pid_count - 1].value[PFR_PROC_IO_WCHAR] = 100;
    pfr_process_retire(&processes, child);
    tick();
    uses(parent, 0, 500);
    assert_int_equal(unsampled_ms(), 0);
}

/* Only one of the counters of I/O was asked for. */
static void single_counters_are_counted_once(void **state)
{
    uint32_t sh = shell(), child = born(11, 10);

    (void)state;
    tick();
    reads(sh, 0)->present = 1u << PFR_PROC_IO_WCHAR;
    reads(child, 100)->present = 1u << PFR_PROC_IO_WCHAR;
    pfr_process_retire(&processes, child);
    tick();
    reads(sh, 120)->present = 1u << PFR_PROC_IO_WCHAR;
    assert_int_equal(written(), 120);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(child_is_counted_once),
        CASE(child_never_seen_is_counted),
        CASE(family_that_vanishes_at_once_is_counted_once),
        CASE(debts_are_handed_over),
        CASE(debts_outlive_the_window),
        CASE(orphans_owe_nothing_to_the_family),
        CASE(reused_pid_is_no_parent),
        CASE(single_counters_are_counted_once),
        CASE(unsampled_end_of_a_child),
        CASE(unsampled_grandchildren),
        CASE(ignored_children_change_nothing),
        CASE(rounded_ticks_add_up),
        CASE(unreadable_io_does_not_hinder),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
