/* Times as sacct takes them, and conditions on columns. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "tools/profres/when.h"
#include "tools/profres/where.h"

/* 2026-11-16T05:30:15Z, a Monday */
#define NOW (INT64_C(1794807015) * PFR_NS_PER_S)

static int set_zone(void **state)
{
    (void)state;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1); /* an hour ahead, two in summer */
    tzset();
    return 0;
}

/* In UTC, "" when it is no time. */
static const char *utc(const char *text)
{
    static char stamp[64];
    int64_t ns;
    time_t seconds;
    struct tm tm;

    if (!pfr_when_parse(text, NOW, &ns))
        return "";
    seconds = (time_t)(ns / PFR_NS_PER_S);
    strftime(stamp, sizeof(stamp), "%FT%T", gmtime_r(&seconds, &tm));
    return stamp;
}

static void test_times(void **state)
{
    static const struct {
        const char *typed, *means;
    } cases[] = {
        { "now", "2026-11-16T05:30:15" },
        { "NOW-2days", "2026-11-14T05:30:15" },
        { "now-1day", "2026-11-15T05:30:15" },
        { "now-1week", "2026-11-09T05:30:15" },
        { "now-90", "2026-11-16T05:28:45" },
        { "now-90minutes", "2026-11-16T04:00:15" },
        { "now+1hour", "2026-11-16T06:30:15" },
        { "today", "2026-11-15T23:00:00" },
        { "yesterday", "2026-11-14T23:00:00" },
        { "noon", "2026-11-16T11:00:00" },
        { "tomorrow", "2026-11-16T23:00:00" },
        { "2026-11-01", "2026-10-31T23:00:00" },
        { "2026-07-01", "2026-06-30T22:00:00" },
        { "2026-11-01T12:30", "2026-11-01T11:30:00" },
        { "2026-11-01T12:30:45", "2026-11-01T11:30:45" },
        { "03:04", "2026-11-16T02:04:00" },
        { "03:04:05", "2026-11-16T02:04:05" },
        { "11/02", "2026-11-01T23:00:00" },
        { "11/02/25", "2025-11-01T23:00:00" },
        { "", "" }, { "noow", "" }, { "now-", "" }, { "now-2fortnights", "" }, { "2026-13-01", "" },
        { "2026-11-01T25:00", "" }, { "2026-11-01 ", "" }, { "12", "" }, { "now-1dayss", "" },
        { "11/02/", "" }, { "now-99999999999999", "" },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++)
        assert_string_equal(utc(cases[i].typed), cases[i].means);
}

/* ---- conditions ---------------------------------------------------------- */

struct row {
    const char *name;
    int64_t bytes, elapsed, percent, cores, stamp;
};

static bool get_name(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    cell->text = ((const struct row *)row)->name;
    return cell->text != NULL;
}

static bool get_number(const void *row, int which, struct pfr_cell *cell)
{
    cell->number = *(const int64_t *)(const void *)((const char *)row + which);
    return cell->number >= 0;
}

static const struct pfr_column list[] = {
    { "Name", "", PFR_CELL_TEXT, 9, get_name, 0 },
    { "cgroup_mem_peak", "", PFR_CELL_BYTES, 9, get_number, offsetof(struct row, bytes) },
    { "Elapsed", "", PFR_CELL_ELAPSED, 9, get_number, offsetof(struct row, elapsed) },
    { "MemUse", "", PFR_CELL_PERCENT, 9, get_number, offsetof(struct row, percent) },
    { "Cores", "", PFR_CELL_CORES, 9, get_number, offsetof(struct row, cores) },
    { "Start", "", PFR_CELL_STAMP, 19, get_number, offsetof(struct row, stamp) },
};
static const struct pfr_columns columns = { .list = list, .count = PFR_COUNT(list) };

static const struct row row = { "big and slow", INT64_C(5) << 30, 3600 * PFR_NS_PER_S, 99500,
                                350000, NOW - 86400 * PFR_NS_PER_S };
static const struct row empty = { NULL, -1, -1, -1, -1, -1 };

/* 1 it matches, 0 it does not, -EINVAL it cannot be read. */
static int matches(const char *expression, const struct row *of)
{
    struct pfr_where where = { .count = 0 };
    int r = pfr_where_parse(&where, &columns, expression, NOW);

    return r < 0 ? r : pfr_where_match(&where, of);
}

static void test_conditions(void **state)
{
    static const struct {
        const char *expression;
        int result;
    } cases[] = {
        { "cgroup_mem_peak > 4G", 1 },
        { "CGROUP_MEM_PEAK>=5G", 1 },
        { "cgroup_mem_peak > 5G", 0 },
        { "cgroup_mem_peak = 5368709120", 1 },
        { "cgroup_mem_peak == 5120M", 1 },
        { "cgroup_mem_peak<4.9999g", 0 },
        { "Elapsed >= 1h && MemUse > 99%", 1 },
        { "Elapsed >= 1h AND MemUse > 99.5", 0 },
        { "Elapsed = 01:00:00 and Elapsed = 60m and Elapsed=3600", 1 },
        { "Elapsed < 1-00:00:00", 1 },
        { "Elapsed != 3600s", 0 },
        { "Cores > 3.4&&Cores < 3.6", 1 },
        { "Name = 'BIG and*'", 1 },
        { "Name != \"big and slow\"", 0 },
        { "Name=big*", 1 },
        { "Start > now-2days and Start < yesterday", 0 },
        { "Start > now-2days", 1 },
        { "", -EINVAL }, { "cgroup_mem_peak", -EINVAL }, { "cgroup_mem_peak >", -EINVAL },
        { "cgroup_mem_peak > 4s", -EINVAL }, { "cgroup_mem_peak > many", -EINVAL },
        { "Elapsed > 4G", -EINVAL }, { "Name > 3", -EINVAL }, { "cgroup_mem_paek > 3", -EINVAL },
        { "Elapsed > 1 &&", -EINVAL }, { "Start > soon", -EINVAL }, { "Cores > -1", -EINVAL },
        { "cgroup_mem_peak > 99999999999T", -EINVAL },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++)
        assert_int_equal(matches(cases[i].expression, &row), cases[i].result);
}

/* What was not measured is neither more nor less, nor unlike. */
static void test_absent(void **state)
{
    (void)state;
    assert_int_equal(matches("cgroup_mem_peak < 4G", &empty), 0);
    assert_int_equal(matches("cgroup_mem_peak != 4G", &empty), 0);
    assert_int_equal(matches("Name != x", &empty), 0);
}

static void test_many(void **state)
{
    char expression[1024] = "Cores > 0";

    (void)state;
    for (int i = 1; i < PFR_WHERE_MAX; i++)
        strcat(expression, " && Cores > 0");
    assert_int_equal(matches(expression, &row), 1);
    strcat(expression, " && Cores > 0");
    assert_int_equal(matches(expression, &row), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, set_zone, NULL);
}
