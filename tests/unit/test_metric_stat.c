/* Statistics, histogram, process table (R80-R82). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/metric/process.h"
#include "common/metric/row.h"
#include "common/metric/stat.h"

#define SECOND INT64_C(1000000000)
#define MIB INT64_C(1048576)

static struct pfr_stat stat;

static int clear(void **state)
{
    (void)state;
    memset(&stat, 0, sizeof(stat));
    return 0;
}

/* A reading counts for the time it stood for, not once per reading. */
static void mean_is_weighted_by_time(void **state)
{
    (void)state;
    pfr_stat_add(&stat, 1000, 0, 1);
    pfr_stat_add(&stat, 100, 1 * SECOND, 2);
    pfr_stat_add(&stat, 400, 9 * SECOND, 3);
    assert_true(fabs(pfr_stat_mean(&stat) - 370) < 1e-9);
    assert_int_equal(stat.max, 1000); /* the first has no weight, but is an extreme */
    assert_int_equal(stat.max_at, 1);
    assert_int_equal(stat.last, 400);
}

/* R82: sum_sq - total^2/n loses everything here; Welford does not. */
static void variance_is_stable_far_from_zero(void **state)
{
    const int64_t far = INT64_C(4) << 50;

    (void)state;
    for (int i = 0; i < 1000; i++)
        pfr_stat_add(&stat, far + (i % 2 ? 3 : -3), SECOND, i);
    assert_true(fabs(pfr_stat_deviation(&stat) - 3) < 1e-3);
}

static void one_reading_has_no_deviation(void **state)
{
    (void)state;
    pfr_stat_add(&stat, 7, 0, 1);
    assert_true(pfr_stat_deviation(&stat) < 0);
    assert_true(fabs(pfr_stat_mean(&stat) - 7) < 1e-12);
    pfr_stat_add(&stat, 9, SECOND, 2);
    assert_true(pfr_stat_deviation(&stat) < 0);
}

static void percentiles_are_near_and_inside(void **state)
{
    (void)state;
    for (int i = 1; i <= 1000; i++)
        pfr_stat_add(&stat, i * MIB, SECOND, i);
    assert_true(llabs(pfr_stat_percentile(&stat, 0.50) - 500 * MIB) < 10 * MIB);
    assert_true(llabs(pfr_stat_percentile(&stat, 0.95) - 950 * MIB) < 19 * MIB);
    assert_true(pfr_stat_percentile(&stat, 1.0) <= stat.max);
    assert_true(pfr_stat_percentile(&stat, 0.0) >= stat.min);
}

/* Time at a level decides, not how often it was read: 20 fast readings, then 100 s. */
static void percentiles_are_weighted_by_time(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        pfr_stat_add(&stat, 10, SECOND / 10, i);
    pfr_stat_add(&stat, 30, 100 * SECOND, 21);
    assert_int_equal(pfr_stat_percentile(&stat, 0.50), 30);
}

static void histogram_takes_every_value(void **state)
{
    static struct pfr_histogram histogram;
    const int64_t values[] = { 0, 1, 31, 32, 33, 1023, 1 << 20, INT64_MAX / 2, INT64_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        int64_t found;

        memset(&histogram, 0, sizeof(histogram));
        pfr_histogram_add(&histogram, values[i], 5);
        found = pfr_histogram_percentile(&histogram, 0.5);
        assert_true(found >= 0);
        assert_true(fabs((double)found - (double)values[i]) <= (double)values[i] / 60);
    }
}

/* R81: bins between the observed extremes, all weight inside. */
static void bins_zoom_to_what_was_seen(void **state)
{
    double edges[9];
    int64_t weights[8], sum = 0;

    (void)state;
    for (int i = 0; i < 100; i++)
        pfr_stat_add(&stat, 1000 + 90 * i, SECOND, i);
    pfr_histogram_bins(&stat.histogram, stat.min, stat.max, 8, edges, weights);
    assert_true(edges[0] == 1000 && edges[8] == 9910);
    for (int i = 0; i < 8; i++) {
        assert_true(edges[i] < edges[i + 1]);
        sum += weights[i];
    }
    assert_true(sum == stat.histogram.total);
}

static void processes_come_and_go(void **state)
{
    struct pfr_process_table table;
    uint32_t slot;

    (void)state;
    pfr_process_table_init(&table);
    for (pid_t pid = 1; pid <= 1000; pid++)
        assert_int_not_equal(pfr_process_add(&table, pid), PFR_SLOT_NONE);
    slot = pfr_process_find(&table, 500);
    pfr_process_retire(&table, slot);
    assert_int_equal(pfr_process_find(&table, 500), PFR_SLOT_NONE);
    assert_int_equal(table.slots[slot].pid, 500); /* still readable until the sweep */
    /* the pid is reused before the sweep: another slot */
    assert_int_not_equal(pfr_process_add(&table, 500), slot);
    for (pid_t pid = 1; pid <= 1000; pid++)
        assert_int_equal(table.slots[pfr_process_find(&table, pid)].pid, pid);
    pfr_process_sweep(&table);
    assert_int_equal(table.live, 1000);
    for (pid_t pid = 1; pid <= 1000; pid++)
        pfr_process_retire(&table, pfr_process_find(&table, pid));
    pfr_process_sweep(&table);
    assert_int_equal(table.high, 0);
    assert_int_equal((int)table.total, 1001);
    pfr_process_table_release(&table);
}

static void states_read_as_ps_writes_them(void **state)
{
    char text[PFR_STATE_SIZE];

    (void)state;
    pfr_state_text('S' | PFR_STATE_LEADER | PFR_STATE_THREADS | PFR_STATE_FOREGROUND, text);
    assert_string_equal(text, "Ssl+");
    pfr_state_text('R' | PFR_STATE_NICE | PFR_STATE_LOCKED, text);
    assert_string_equal(text, "RNL");
}

/* R6: a tally keeps every code, and does not lose those that find no place. */
static void tally_loses_nothing(void **state)
{
    struct pfr_tally tally = { 0 };
    uint32_t sum = 0;

    (void)state;
    for (int i = 0; i < 30; i++)
        pfr_tally_add(&tally, 'A' + i % 10, 1);
    for (int i = 0; i < PFR_TALLY_CODES; i++)
        sum += tally.count[i];
    assert_int_equal(sum + tally.other, 30);
    assert_int_equal(tally.count[0], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(mean_is_weighted_by_time, clear),
        cmocka_unit_test_setup(variance_is_stable_far_from_zero, clear),
        cmocka_unit_test_setup(one_reading_has_no_deviation, clear),
        cmocka_unit_test_setup(percentiles_are_near_and_inside, clear),
        cmocka_unit_test_setup(percentiles_are_weighted_by_time, clear),
        cmocka_unit_test_setup(histogram_takes_every_value, clear),
        cmocka_unit_test_setup(bins_zoom_to_what_was_seen, clear),
        cmocka_unit_test(processes_come_and_go),
        cmocka_unit_test(states_read_as_ps_writes_them),
        cmocka_unit_test(tally_loses_nothing),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
