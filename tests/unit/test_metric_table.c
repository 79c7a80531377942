/* The metric table, selection and availability (R5, R6, R24-R28, R34, R35). */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/cleanup.h"
#include "common/metric/reading.h"
#include "common/metric/select.h"

static void every_row_is_filled(void **state)
{
    (void)state;
    PFR_EACH_METRIC(id) {
        const struct pfr_metric *metric = &pfr_metrics[id];

        assert_non_null(metric->key);
        assert_non_null(metric->help);
        assert_int_equal(pfr_metric_find(metric->key), id); /* unique, too */
        assert_true(pfr_reduce_is_legal(metric->kind, metric->reduce));
        assert_true(id >= pfr_families[metric->scope].first);
        assert_true(id <= pfr_families[metric->scope].last);
        assert_int_equal(metric->scope == PFR_SCOPE_STEP, pfr_metric_is_step(id));
    }
}

/* R25: source first; R16: no cgroup key speaks of rss; R28: the unit is in the name or the row. */
static void keys_name_their_source(void **state)
{
    static const char *const sources[] = { "ps_",     "proc_", "cgroup_",
                                           "rusage_", "task_", "command_" };

    (void)state;
    PFR_EACH_METRIC(id) {
        const char *key = pfr_metrics[id].key;
        bool known = false;

        for (size_t i = 0; i < PFR_COUNT(sources); i++)
            known = known || strncmp(key, sources[i], strlen(sources[i])) == 0;
        assert_true(known);
        assert_false(strncmp(key, "cgroup_", 7) == 0 && strstr(key, "rss"));
        assert_false(strcmp(key, "ps_pcpu") == 0); /* R10 */
        for (const char *p = key; *p; p++)
            assert_true(islower(*p) || *p == '_');
    }
}

/* What a row leaves out is none, and no measurement. */
static void none_is_no_measurement(void **state)
{
    (void)state;
    assert_int_equal(PFR_METRIC_NONE, 0);
    assert_null(pfr_metrics[PFR_METRIC_NONE].key);
    assert_int_equal(pfr_metrics[PFR_CGROUP_MEM_CURRENT].yields, PFR_METRIC_NONE);
    assert_int_equal(pfr_metrics[PFR_PS_VSZ_TOTAL].yields, PFR_METRIC_NONE);
    assert_int_equal(pfr_metric_find_from(PFR_METRIC_NONE, "ps_rss", 6), PFR_PS_RSS);
    assert_int_equal(pfr_metric_find_from(PFR_PS_VSZ, "ps_rss", 6), PFR_PS_RSS);
    assert_int_equal(pfr_metric_find_from(PFR_PS_VSZ, "ps_rs", 5), PFR_METRIC_NONE);
}

/* A mask of 32 bits is asked for ids that it cannot have, too. */
static void masks_have_bits_of_processes_only(void **state)
{
    (void)state;
    assert_true(pfr_pid_mask_has(1u << PFR_PS_RSS, PFR_PS_RSS));
    assert_false(pfr_pid_mask_has(1u << PFR_PS_RSS, PFR_PS_VSZ));
    PFR_EACH_STEP_METRIC(id)
        assert_false(pfr_pid_mask_has(UINT32_MAX, id));
}

/* Counters add up over nodes; a level of several nodes is not one number. */
static void rows_say_how_nodes_are_merged(void **state)
{
    (void)state;
    PFR_EACH_STEP_METRIC(id) {
        enum pfr_merge merge = pfr_metrics[id].merge;
        bool sum = merge == PFR_MERGE_SUM || merge == PFR_MERGE_KNOWN;

        assert_non_null(pfr_merge_name(merge));
        if (id != PFR_RUSAGE_CPU_SECONDS)
            assert_int_equal(sum, pfr_metrics[id].kind == PFR_COUNTER);
        if (pfr_metrics[id].kind == PFR_GAUGE && pfr_metrics[id].unit == PFR_BYTES)
            assert_int_equal(merge, PFR_MERGE_NODE);
    }
}

static void units_have_a_name(void **state)
{
    (void)state;
    for (int unit = 0; unit < PFR_UNIT_COUNT; unit++) {
        assert_non_null(pfr_unit_name((enum pfr_unit)unit));
        assert_true(pfr_unit_quantum((enum pfr_unit)unit) >= 1);
    }
}

static void computed_rows_say_from_what(void **state)
{
    (void)state;
    PFR_EACH_METRIC(id) {
        const struct pfr_metric *metric = &pfr_metrics[id];

        if (metric->derive == PFR_READ) {
            if (metric->of[0]) /* what has to be read with it */
                assert_int_equal(pfr_metrics[metric->of[0]].derive, PFR_READ);
            continue;
        }
        assert_int_not_equal(metric->of[0], PFR_METRIC_NONE);
        if (metric->derive == PFR_RATE)
            assert_int_equal(pfr_metrics[metric->of[0]].kind, PFR_COUNTER);
        if (metric->derive == PFR_SUM) {
            assert_int_equal(pfr_metrics[metric->of[0]].scope, PFR_SCOPE_PID);
            assert_int_equal(pfr_metrics[metric->of[0]].kind, metric->kind);
        }
        if (metric->derive != PFR_RATE)
            assert_int_equal(pfr_metrics[metric->of[0]].unit, metric->unit);
    }
}

/* R5: a label cannot be max-ed; a counter must not be read as a level. */
static void kinds_decide_the_reduces(void **state)
{
    (void)state;
    assert_false(pfr_reduce_is_legal(PFR_LABEL, PFR_MAX));
    assert_false(pfr_reduce_is_legal(PFR_COUNTER, PFR_MAX));
    assert_false(pfr_reduce_is_legal(PFR_COUNTER, PFR_MEAN));
    assert_false(pfr_reduce_is_legal(PFR_GAUGE, PFR_DELTA));
    assert_false(pfr_reduce_is_legal(PFR_CATEGORICAL, PFR_MAX));
    assert_true(pfr_reduce_is_legal(PFR_GAUGE, PFR_MEAN));
    assert_true(pfr_reduce_is_legal(PFR_COUNTER, PFR_DELTA));
    assert_true(pfr_reduce_is_legal(PFR_CATEGORICAL, PFR_TALLY));
}

static void default_is_all_but_the_costly(void **state)
{
    struct pfr_selection selection;
    char error[512];

    (void)state;
    assert_int_equal(pfr_selection_parse(&selection, NULL, error, sizeof(error)), 0);
    PFR_EACH_METRIC(id)
        assert_int_equal(pfr_metric_set_has(&selection.wanted, id),
                         !pfr_metrics[id].costly);
    assert_int_equal(pfr_selection_parse(&selection, "*", error, sizeof(error)), 0);
    assert_false(pfr_metric_set_has(&selection.wanted, PFR_PROC_PSS));
    assert_int_equal(pfr_selection_parse(&selection, "proc_pss", error, sizeof(error)), 0);
    assert_true(pfr_metric_set_has(&selection.wanted, PFR_PROC_PSS));
}

static void a_key_brings_what_it_is_computed_from(void **state)
{
    struct pfr_selection selection;
    char error[512];

    (void)state;
    assert_int_equal(pfr_selection_parse(&selection, "ps_pdcpu_total", error, sizeof(error)), 0);
    assert_true(pfr_metric_set_has(&selection.collect, PFR_PS_CPU_SECONDS_TOTAL));
    assert_true(pfr_metric_set_has(&selection.collect, PFR_PS_CPU_SECONDS));
    assert_false(pfr_metric_set_has(&selection.wanted, PFR_PS_CPU_SECONDS));
    assert_false(pfr_metric_set_has(&selection.collect, PFR_PS_RSS));
}

static void globs_and_both_separators(void **state)
{
    struct pfr_selection a, b;
    char error[512];

    (void)state;
    assert_int_equal(pfr_selection_parse(&a, "cgroup_mem_*,ps_rss", error, sizeof(error)), 0);
    assert_int_equal(pfr_selection_parse(&b, "cgroup_mem_*+ps_rss", error, sizeof(error)), 0);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_true(pfr_metric_set_has(&a.wanted, PFR_CGROUP_MEM_PEAK));
    assert_false(pfr_metric_set_has(&a.wanted, PFR_CGROUP_CPU_SECONDS));
    assert_true(pfr_metric_set_has(&a.named, PFR_PS_RSS));
    assert_false(pfr_metric_set_has(&a.named, PFR_CGROUP_MEM_PEAK)); /* only globbed */
}

static void a_word_with_a_minus_takes_away(void **state)
{
    struct pfr_selection selection, rest;
    char error[512];

    (void)state;
    assert_int_equal(pfr_selection_parse(&rest, NULL, error, sizeof(error)), 0);
    assert_int_equal(
        pfr_selection_parse(&selection, "-cgroup_*_window_peak", error, sizeof(error)), 0);
    assert_false(pfr_metric_set_has(&selection.collect, PFR_CGROUP_MEM_WINDOW_PEAK));
    assert_false(pfr_metric_set_has(&selection.collect, PFR_CGROUP_SWAP_WINDOW_PEAK));
    pfr_metric_set_remove(&rest.wanted, PFR_CGROUP_MEM_WINDOW_PEAK);
    pfr_metric_set_remove(&rest.wanted, PFR_CGROUP_SWAP_WINDOW_PEAK);
    assert_memory_equal(&selection.wanted, &rest.wanted, sizeof(rest.wanted));

    assert_int_equal(pfr_selection_parse(&selection, "+-ps_rss,proc_pss", error, sizeof(error)), 0);
    assert_false(pfr_metric_set_has(&selection.wanted, PFR_PS_RSS));
    assert_true(pfr_metric_set_has(&selection.wanted, PFR_PROC_PSS));
    assert_true(pfr_metric_set_has(&selection.wanted, PFR_CGROUP_MEM_PEAK));

    /* from what is before it, be that named or costly */
    assert_int_equal(
        pfr_selection_parse(&selection, "ps_rss+proc_pss+ps_vsz+-*ss", error, sizeof(error)), 0);
    assert_false(pfr_metric_set_has(&selection.named, PFR_PS_RSS));
    assert_false(pfr_metric_set_has(&selection.wanted, PFR_PROC_PSS));
    assert_true(pfr_metric_set_has(&selection.wanted, PFR_PS_VSZ));
    assert_false(pfr_metric_set_has(&selection.wanted, PFR_CGROUP_MEM_PEAK));

    assert_int_equal(pfr_selection_parse(&selection, "-ps_rs", error, sizeof(error)), -EINVAL);
    assert_non_null(strstr(error, "'ps_rs'"));
}

/* R35: unknown keys fail at once, and say what was meant. */
static void unknown_keys_name_the_nearest(void **state)
{
    struct pfr_selection selection;
    char error[512];

    (void)state;
    memset(&selection, 0x5a, sizeof(selection));
    assert_int_equal(pfr_selection_parse(&selection, "ps_rs", error, sizeof(error)), -EINVAL);
    assert_non_null(strstr(error, "'ps_rs'"));
    assert_non_null(strstr(error, "ps_rss"));
    assert_int_equal(((unsigned char *)&selection)[0], 0x5a); /* untouched */
    assert_int_equal(pfr_selection_parse(&selection, "mem_peak", error, sizeof(error)), -EINVAL);
    assert_non_null(strstr(error, "cgroup_mem_peak"));
    assert_int_equal(pfr_selection_parse(&selection, "nothing_*", error, sizeof(error)), -EINVAL);
}

static void availability_follows_through(void **state)
{
    static struct pfr_availability have;
    struct pfr_selection selection;
    char error[512];

    (void)state;
    pfr_availability_init(&have);
    pfr_availability_grant(&have, PFR_CGROUP_MEM_ANON);
    pfr_availability_grant(&have, PFR_CGROUP_MEM_SHMEM);
    pfr_availability_deny(&have, PFR_CGROUP_MEM_KERNEL, "too old by %d", 3);
    pfr_availability_derive(&have);
    assert_false(pfr_metric_set_has(&have.available, PFR_CGROUP_MEM_NONRECLAIMABLE));
    assert_string_equal(have.reason[PFR_CGROUP_MEM_NONRECLAIMABLE], "needs cgroup_mem_kernel");

    /* by glob: left out; by name: an error that says why (R35) */
    assert_int_equal(pfr_selection_parse(&selection, "cgroup_mem_*", error, sizeof(error)), 0);
    assert_int_equal(pfr_selection_restrict(&selection, &have, error, sizeof(error)), 0);
    assert_false(pfr_metric_set_has(&selection.wanted, PFR_CGROUP_MEM_KERNEL));
    assert_true(pfr_metric_set_has(&selection.wanted, PFR_CGROUP_MEM_ANON));
    assert_int_equal(pfr_selection_parse(&selection, "cgroup_mem_kernel", error, sizeof(error)), 0);
    assert_int_equal(pfr_selection_restrict(&selection, &have, error, sizeof(error)), -ENODEV);
    assert_non_null(strstr(error, "too old by 3"));
}

/* Each row belongs to the collector that stamps it (R9). */
static void rows_know_their_collector(void **state)
{
    (void)state;
    PFR_EACH_METRIC(id) {
        const char *key = pfr_metrics[id].key;
        enum pfr_collector_id expected = strncmp(key, "cgroup_tasks_", 13) == 0 ||
                                                 strncmp(key, "task_", 5) == 0
                                             ? PFR_FROM_TASKS
                                         : strncmp(key, "cgroup_", 7) == 0      ? PFR_FROM_CGROUP
                                         : strncmp(key, "rusage_", 7) == 0      ? PFR_FROM_WAIT
                                                                                : PFR_FROM_PROCS;

        assert_int_equal(pfr_metrics[id].from, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_filled),
        cmocka_unit_test(keys_name_their_source),
        cmocka_unit_test(none_is_no_measurement),
        cmocka_unit_test(masks_have_bits_of_processes_only),
        cmocka_unit_test(rows_say_how_nodes_are_merged),
        cmocka_unit_test(units_have_a_name),
        cmocka_unit_test(computed_rows_say_from_what),
        cmocka_unit_test(kinds_decide_the_reduces),
        cmocka_unit_test(default_is_all_but_the_costly),
        cmocka_unit_test(a_key_brings_what_it_is_computed_from),
        cmocka_unit_test(globs_and_both_separators),
        cmocka_unit_test(a_word_with_a_minus_takes_away),
        cmocka_unit_test(unknown_keys_name_the_nearest),
        cmocka_unit_test(availability_follows_through),
        cmocka_unit_test(rows_know_their_collector),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
