/* Text of the kernel to numbers: strings in, numbers out, no files. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/collect/shape.h"

#define UNTOUCHED (-77)

/* ---- one number ---- */

static void single_numbers(void **state)
{
    static const struct { const char *text; int result; int64_t value; } cases[] = {
        { "0\n", 1, 0 },
        { "4096\n", 1, 4096 },
        { "4096", 1, 4096 },
        { "max\n", 0, UNTOUCHED },
        { "", 0, UNTOUCHED },
        { "9223372036854771712\n", 1, INT64_C(9223372036854771712) },
        { "9223372036854775807\n", 1, INT64_MAX },
        { "9223372036854775808\n", -EINVAL, UNTOUCHED },
        { "18446744073709551615\n", -EINVAL, UNTOUCHED },
        { "99999999999999999999999\n", -EINVAL, UNTOUCHED },
        { "-1\n", -EINVAL, UNTOUCHED },
        { "+1\n", -EINVAL, UNTOUCHED },
        { " 1\n", -EINVAL, UNTOUCHED },
        { "0x10\n", -EINVAL, UNTOUCHED },
        { "12 34\n", -EINVAL, UNTOUCHED },
        { "12.5\n", -EINVAL, UNTOUCHED },
        { "junk\n", -EINVAL, UNTOUCHED },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        int64_t value = UNTOUCHED;

        if (pfr_shape_single(cases[i].text, &value) != cases[i].result ||
            value != cases[i].value)
            fail_msg("case %zu: '%s'", i, cases[i].text);
    }
}

/* ---- "key number" ---- */

static int flat(const char *text, const char *key, enum pfr_suffix suffix, int64_t *value)
{
    const char *cursor = text;

    *value = UNTOUCHED;
    return pfr_shape_flat(text, &cursor, key, suffix, value);
}

static void flat_keys_are_whole_words(void **state)
{
    const char *text = "oom 3\noom_kill 7\nanon 5\nanon_thp 9\ninactive_anon 1\nmax max\n";
    int64_t value;

    (void)state;
    assert_int_equal(flat(text, "oom_kill", PFR_PLAIN, &value), 1);
    assert_int_equal(value, 7);
    assert_int_equal(flat(text, "anon", PFR_PLAIN, &value), 1);
    assert_int_equal(value, 5);
    assert_int_equal(flat(text, "anon_", PFR_PLAIN, &value), 0);
    assert_int_equal(flat(text, "kill", PFR_PLAIN, &value), 0);
    assert_int_equal(flat(text, "max", PFR_PLAIN, &value), 0);
    assert_int_equal(value, UNTOUCHED);
}

static void flat_cursor_wraps_once(void **state)
{
    const char *text = "a 1\nb 2\nc 3\n", *cursor = text;
    int64_t value;

    (void)state;
    assert_int_equal(pfr_shape_flat(text, &cursor, "c", PFR_PLAIN, &value), 1);
    assert_int_equal(value, 3);
    assert_int_equal(pfr_shape_flat(text, &cursor, "a", PFR_PLAIN, &value), 1);
    assert_int_equal(value, 1);
    assert_int_equal(pfr_shape_flat(text, &cursor, "b", PFR_PLAIN, &value), 1);
    assert_int_equal(value, 2);
    assert_int_equal(pfr_shape_flat(text, &cursor, "d", PFR_PLAIN, &value), 0);
    assert_int_equal(value, 2);
}

/* VmRSS is "digits kB" and nothing else (R46). */
static void kilobytes_are_strict(void **state)
{
    static const struct { const char *text; int result; int64_t value; } cases[] = {
        { "VmRSS:\t    1234 kB\n", 1, 1234 * KIB },
        { "VmRSS:\t       0 kB\n", 1, 0 },
        { "VmRSS:\t1234 kB", 1, 1234 * KIB },
        { "VmRSS:\t1234\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t1234 MB\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t1234kB\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t1234 kB junk\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t12x34 kB\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t-1234 kB\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t9223372036854775807 kB\n", -EINVAL, UNTOUCHED },
        { "VmRSS:\t9007199254740991 kB\n", 1, INT64_C(9007199254740991) * 1024 },
        { "VmRSS:\t9007199254740992 kB\n", -EINVAL, UNTOUCHED },
        { "xVmRSS:\t1234 kB\n", 0, UNTOUCHED },
        { "VmRSS:1234 kB\n", 0, UNTOUCHED },
        { "", 0, UNTOUCHED },
    };
    int64_t value;

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++)
        if (flat(cases[i].text, "VmRSS:", PFR_KB, &value) != cases[i].result ||
            value != cases[i].value)
            fail_msg("case %zu: '%s'", i, cases[i].text);
}

/* A line's key must not be found in the text of another line. */
static void name_line_cannot_pose_as_memory(void **state)
{
    int64_t value;

    (void)state;
    assert_int_equal(flat("Name:\tVmRSS: 1 kB\nVmRSS:\t7 kB\n", "VmRSS:", PFR_KB, &value), 1);
    assert_int_equal(value, 7 * KIB);
}

/* ---- "line field=number" ---- */

static void io_stat_sums_devices(void **state)
{
    const char *text = "8:0 rbytes=100 wbytes=7 rios=1 wios=2 dbytes=0 dios=0\n"
                       "8:16 rbytes=20 wbytes=3 rios=1 wios=2 dbytes=0 dios=0\n"
                       "253:0 \n";
    int64_t value = UNTOUCHED;

    (void)state;
    assert_int_equal(pfr_shape_nested(text, NULL, "rbytes", &value), 1);
    assert_int_equal(value, 120);
    assert_int_equal(pfr_shape_nested(text, NULL, "wbytes", &value), 1);
    assert_int_equal(value, 10);
    value = UNTOUCHED;
    assert_int_equal(pfr_shape_nested(text, NULL, "bytes", &value), 0);
    assert_int_equal(pfr_shape_nested("", NULL, "rbytes", &value), 0);
    assert_int_equal(value, UNTOUCHED);
}

static void pressure_total_of_each_line(void **state)
{
    const char *text = "some avg10=1.50 avg60=0.20 avg300=0.00 total=123456\n"
                       "full avg10=0.00 avg60=0.00 avg300=0.00 total=789\n";
    int64_t value = UNTOUCHED;

    (void)state;
    assert_int_equal(pfr_shape_nested(text, "some", "total", &value), 1);
    assert_int_equal(value, 123456);
    assert_int_equal(pfr_shape_nested(text, "full", "total", &value), 1);
    assert_int_equal(value, 789);
    value = UNTOUCHED;
    /* cpu.pressure of kernels before 5.13 has no "full" */
    assert_int_equal(pfr_shape_nested("some avg10=0.00 total=5\n", "full", "total", &value), 0);
    assert_int_equal(pfr_shape_nested("some avg10=0.00 total=x\n", "some", "total", &value),
                     -EINVAL);
    assert_int_equal(value, UNTOUCHED);
}

static void nested_sum_does_not_wrap(void **state)
{
    int64_t value = UNTOUCHED;

    (void)state;
    assert_int_equal(pfr_shape_nested("8:0 rbytes=9223372036854775807\n8:1 rbytes=1\n", NULL,
                                      "rbytes", &value), -EINVAL);
    assert_int_equal(pfr_shape_nested("8:0 rbytes=9223372036854775808\n", NULL, "rbytes", &value),
                     -EINVAL);
    assert_int_equal(value, UNTOUCHED);
}

/* ---- blkio ---- */

static void blkio_sums_devices_without_total(void **state)
{
    const char *text = "8:0 Read 100\n8:0 Write 7\n8:0 Sync 7\n8:0 Async 100\n8:0 Total 107\n"
                       "8:16 Read 20\n8:16 Write 3\n8:16 Total 23\nTotal 130\n";
    int64_t value = UNTOUCHED;

    (void)state;
    assert_int_equal(pfr_shape_device(text, "Read", &value), 1);
    assert_int_equal(value, 120);
    assert_int_equal(pfr_shape_device(text, "Write", &value), 1);
    assert_int_equal(value, 10);
    value = UNTOUCHED;
    assert_int_equal(pfr_shape_device("Total 0\n", "Read", &value), 0);
    assert_int_equal(pfr_shape_device("8:0 Read many\n", "Read", &value), -EINVAL);
    assert_int_equal(value, UNTOUCHED);
}

/* ---- /proc/PID/stat ---- */

#define REST " S 7 8 9 0 -1 4194304 11 12 13 14 150 160 17 18 20 5 3 0 4242 1000 25\n"

static void quota_is_a_part_of_its_period(void **state)
{
    static const char *const bad[] = { "50000\n", "50000 0\n", "50000 x\n", "x 100000\n",
                                       "50000 100000 7\n", "-1 100000\n" };
    int64_t value = UNTOUCHED;

    (void)state;
    assert_int_equal(pfr_shape_quota("50000 100000\n", 100000, &value), 1);
    assert_int_equal(value, 50000);
    assert_int_equal(pfr_shape_quota("10000000 1000", 100000, &value), 1);
    assert_int_equal(value, 1000000000);
    value = UNTOUCHED;
    assert_int_equal(pfr_shape_quota("max 100000\n", 100000, &value), 0);
    assert_int_equal(pfr_shape_quota("", 100000, &value), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(pfr_shape_quota(bad[i], 100000, &value), -EINVAL);
    assert_int_equal(value, UNTOUCHED);
}

static void stat_columns(void **state)
{
    struct pfr_stat_line line;

    (void)state;
    assert_int_equal(pfr_shape_stat("42 (sleep)" REST, &line), 1);
    assert_string_equal(line.comm, "sleep");
    assert_int_equal(line.state, 'S');
    assert_int_equal(line.field[PFR_STAT_PPID], 7);
    assert_int_equal(line.field[PFR_STAT_PGRP], 8);
    assert_int_equal(line.field[PFR_STAT_SESSION], 9);
    assert_int_equal(line.field[PFR_STAT_TPGID], -1);
    assert_int_equal(line.field[PFR_STAT_MINFLT], 11);
    assert_int_equal(line.field[PFR_STAT_MAJFLT], 13);
    assert_int_equal(line.field[PFR_STAT_UTIME], 150);
    assert_int_equal(line.field[PFR_STAT_STIME], 160);
    assert_int_equal(line.field[PFR_STAT_NICE], 5);
    assert_int_equal(line.field[PFR_STAT_THREADS], 3);
    assert_int_equal(line.field[PFR_STAT_START], 4242);
}

/* From the last ')': a name may hold anything (R44). */
static void stat_names_may_hold_anything(void **state)
{
    static const char *const names[] = {
        "a b", "(x)", ")", "a) S 1 2", "a\nb", ") R 1 1 1 1", "(((", "", "tmux: server",
        "\xff\xfe", "0123456789abcde",
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(names); i++) {
        struct pfr_stat_line line;
        char text[512];

        snprintf(text, sizeof(text), "42 (%s)" REST, names[i]);
        assert_int_equal(pfr_shape_stat(text, &line), 1);
        assert_string_equal(line.comm, names[i]);
        assert_int_equal(line.state, 'S');
        assert_int_equal(line.field[PFR_STAT_PPID], 7);
        assert_int_equal(line.field[PFR_STAT_UTIME], 150);
    }
}

/* Kernel threads have names past 15 characters (kworker/u8:2-events_unbound). */
static void stat_long_names_are_cut(void **state)
{
    struct pfr_stat_line line;

    (void)state;
    assert_int_equal(pfr_shape_stat("42 (kworker/u8:2-events_unbound)" REST, &line), 1);
    assert_string_equal(line.comm, "kworker/u8:2-ev");
}

/* Too few columns: refused, never half used (R45). */
static void stat_short_lines_are_refused(void **state)
{
    const char *whole = "42 (x)" REST;
    struct pfr_stat_line line;
    char text[256];
    int enough = 0;

    (void)state;
    snprintf(text, sizeof(text), "%s", whole);
    for (char *blank; (blank = strrchr(text, ' ')); *blank = '\0')
        enough += pfr_shape_stat(text, &line) > 0;
    /* all but the last two columns, vsize and rss, are needed */
    assert_int_equal(enough, 3);
    assert_int_equal(pfr_shape_stat("42 (x) S 1 2 3 4 5 6 7 8 9 10 11 12", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("42 (x) S", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("42 (x) ", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("42 (x)", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("42 (x", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("42 x) S 1", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat(")(", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("", &line), 0);
}

static void stat_junk_columns_are_refused(void **state)
{
    struct pfr_stat_line line;

    (void)state;
    assert_int_equal(pfr_shape_stat("42 (x) S 7 8 9 0 -1 4194304 11 12 13 14 x 160 17 18 20 5 3 "
                                    "0 4242 1000 25\n", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("42 (x) S 7 8 9 0 - 4194304 11 12 13 14 150 160 17 18 20 5 3 "
                                    "0 4242 1000 25\n", &line), -EINVAL);
    assert_int_equal(pfr_shape_stat("42 (x) S 7 8 9 0 -1 4194304 11 12 13 14 150  160 17 18 20 5 "
                                    "3 0 4242 1000 25\n", &line), -EINVAL);
}

/* An address or limit past 2^63 stands in a column nobody needs. */
static void stat_unneeded_giants_pass(void **state)
{
    struct pfr_stat_line line;

    (void)state;
    assert_int_equal(pfr_shape_stat("42 (x) S 7 8 9 0 -1 18446744073709551615 11 12 13 14 150 160 "
                                    "17 18 20 5 3 0 4242 18446744073709551615 25\n", &line), 1);
    assert_int_equal(line.field[PFR_STAT_MINFLT], 11);
    assert_int_equal(line.field[PFR_STAT_START], 4242);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_numbers),
        cmocka_unit_test(flat_keys_are_whole_words),
        cmocka_unit_test(flat_cursor_wraps_once),
        cmocka_unit_test(kilobytes_are_strict),
        cmocka_unit_test(name_line_cannot_pose_as_memory),
        cmocka_unit_test(io_stat_sums_devices),
        cmocka_unit_test(pressure_total_of_each_line),
        cmocka_unit_test(nested_sum_does_not_wrap),
        cmocka_unit_test(blkio_sums_devices_without_total),
        cmocka_unit_test(quota_is_a_part_of_its_period),
        cmocka_unit_test(stat_columns),
        cmocka_unit_test(stat_names_may_hold_anything),
        cmocka_unit_test(stat_long_names_are_cut),
        cmocka_unit_test(stat_short_lines_are_refused),
        cmocka_unit_test(stat_junk_columns_are_refused),
        cmocka_unit_test(stat_unneeded_giants_pass),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
