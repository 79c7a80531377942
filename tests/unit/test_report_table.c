/* Tables in the manner of sacct, and what may not break them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/cleanup.h"
#include "tools/profres/table.h"

struct row {
    const char *name;
    int64_t number[8]; /* by kind; below 0: absent */
};

static bool get_name(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    cell->text = ((const struct row *)row)->name;
    return cell->text != NULL;
}

static bool get_number(const void *row, int which, struct pfr_cell *cell)
{
    cell->number = ((const struct row *)row)->number[which];
    return cell->number >= 0;
}

static const struct pfr_column list[] = {
    { "JobID", "the job", PFR_CELL_TEXT, -12, get_name, 0 },
    { "Name", "its name", PFR_CELL_TEXT, 6, get_name, 0 },
    { "Count", "how many", PFR_CELL_COUNT, 6, get_number, PFR_CELL_COUNT },
    { "Memory", "bytes", PFR_CELL_BYTES, 10, get_number, PFR_CELL_BYTES },
    { "Elapsed", "time", PFR_CELL_ELAPSED, 10, get_number, PFR_CELL_ELAPSED },
    { "Cores", "cores", PFR_CELL_CORES, 7, get_number, PFR_CELL_CORES },
    { "Share", "percent", PFR_CELL_PERCENT, 7, get_number, PFR_CELL_PERCENT },
    { "Seconds", "seconds", PFR_CELL_SECONDS, 9, get_number, PFR_CELL_SECONDS },
};
static const struct pfr_columns columns = { .list = list, .count = PFR_COUNT(list) };

static const struct row plain = { "4711.0",
    { [PFR_CELL_COUNT] = 3, [PFR_CELL_BYTES] = 1299227607, [PFR_CELL_ELAPSED] = 93784000000000,
      [PFR_CELL_CORES] = 352134, [PFR_CELL_PERCENT] = 97321, [PFR_CELL_SECONDS] = 12345678901 } };
static const struct row absent = { NULL, { -1, -1, -1, -1, -1, -1, -1, -1 } };

/* The whole table of these options; to be freed. */
static char *printed(struct pfr_table_style style, const char *format, const struct row *rows,
                     size_t count)
{
    struct pfr_table table;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(pfr_table_open(&table, &style, &columns, format, out), 0);
    for (size_t i = 0; i < count; i++)
        pfr_table_row(&table, &rows[i]);
    pfr_table_close(&table);
    fclose(out);
    return text;
}

static void expect(struct pfr_table_style style, const char *format, const struct row *row,
                   const char *expected)
{
    PFR_AUTO_FREE char *text = printed(style, format, row, 1);

    assert_string_equal(text, expected);
}

static void test_as_sacct(void **state)
{
    struct pfr_table_style style = { 0 };

    (void)state;
    expect(style, "JobID,Count,Memory,Elapsed,Cores,Share,Seconds", &plain,
           "JobID         Count     Memory    Elapsed   Cores   Share   Seconds\n"
           "------------ ------ ---------- ---------- ------- ------- ---------\n"
           "4711.0            3      1.21G 1-02:03:04    3.52    97.3     12.35\n");
    style.no_header = true;
    expect(style, "jobid%4,COUNT%-4,memory", &plain, "471+ 3         1.21G\n");
    expect(style, "Memory%2", &plain, "1.21G\n"); /* no number loses its end */
    expect(style, "Count,JobID", &absent, "     - -\n");
    style.units = 'M';
    expect(style, "Memory", &plain, "  1239.04M\n");
}

static void test_for_programs(void **state)
{
    struct pfr_table_style style = { .form = PFR_TABLE_PARSABLE2 };

    (void)state;
    expect(style, "JobID,Memory,Cores,Seconds", &plain,
           "JobID|Memory|Cores|Seconds\n4711.0|1299227607|3.52134|12.345678901\n");
    expect(style, "JobID,Memory,Count", &absent, "JobID|Memory|Count\n||\n");
    style.form = PFR_TABLE_PARSABLE;
    expect(style, "JobID%2,Count", &plain, "JobID|Count|\n4711.0|3|\n");
    style.no_header = true;
    style.delimiter = ";;";
    expect(style, "JobID,Count", &plain, "4711.0;;3;;\n");
    style.units = 'K';
    expect(style, "Memory", &(struct row){ "x", { [PFR_CELL_BYTES] = 2048 } }, "2K;;\n");
}

static void test_json(void **state)
{
    const struct row rows[] = { plain, absent, { "a\"\x1b[2J\x7f\xc2\x9b\xff", { 0 } } };
    struct pfr_table_style style = { .form = PFR_TABLE_JSON };
    PFR_AUTO_FREE char *text = printed(style, "JobID,Memory,Cores,Share,Elapsed", rows, 3);
    PFR_AUTO_JSON *whole = json_tokener_parse(text);
    struct json_object *object, *row;

    (void)state;
    assert_string_equal(json_object_get_string(pfr_json_get(whole, "schema")),
                        "profres-table/1.0");
    assert_null(strpbrk(text, "\x1b\x7f"));
    assert_null(strstr(text, "\xc2\x9b"));
    object = pfr_json_get(whole, "rows");
    assert_int_equal(json_object_array_length(object), 3);
    row = json_object_array_get_idx(object, 0);
    assert_int_equal(json_object_get_int64(pfr_json_get(row, "Memory")), 1299227607);
    assert_string_equal(json_object_get_string(pfr_json_get(row, "Cores")), "3.52134");
    assert_string_equal(json_object_get_string(pfr_json_get(row, "Share")), "97.321");
    assert_string_equal(json_object_get_string(pfr_json_get(row, "Elapsed")), "93784");
    assert_int_equal(json_object_object_length(json_object_array_get_idx(object, 1)), 0);
    row = json_object_array_get_idx(object, 2);
    assert_string_equal(json_object_get_string(pfr_json_get(row, "JobID")),
                        "a\"\x1b[2J\x7f\xc2\x9b?");
}

/* A job's name or a command line can hold anything. */
static void test_hostile(void **state)
{
    const struct row row = { "a\x1b[31m\nb|c\t\\\xff\xc2\x9b" "1\xe2\x80\xae\xc3\xa4", { 0 } };
    struct pfr_table_style style = { .no_header = true };

    (void)state;
    expect(style, "JobID%-80", &row,
           "a\\x1b[31m\\nb|c\\t\\\\\\xff\\u009b1\\u202e\xc3\xa4\n");
    expect(style, "JobID%-4,Count", &row, "a  +      0\n"); /* no half of an escape */
    expect(style, "JobID%3", &(struct row){ "\xc3\xa4\xc3\xb6\xc3\xbc", { 0 } },
           "\xc3\xa4\xc3\xb6\xc3\xbc\n");
    expect(style, "JobID%3", &(struct row){ "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4", { 0 } },
           "\xc3\xa4\xc3\xb6+\n");
    style.form = PFR_TABLE_PARSABLE2;
    expect(style, "JobID,Count", &row,
           "a\\x1b[31m\\nb\\x7cc\\t\\\\\\xff\\u009b1\\u202e\xc3\xa4|0\n");
    style.delimiter = "::";
    expect(style, "JobID,Count", &(struct row){ "a:b::c", { 0 } }, "a:b\\x3a:c::0\n");
}

static void test_wrong(void **state)
{
    static const char *const formats[] = { "JobId,Memry", "JobID%0", "JobID%", "JobID%x",
                                           "JobID%99999", ",", "" };
    static const char *const delimiters[] = { "", "x", "1", "\\", "a|", "." };
    struct pfr_table_style style = { 0 };
    struct pfr_table table;

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(formats); i++)
        assert_int_equal(pfr_table_open(&table, &style, &columns, formats[i], stdout), -EINVAL);
    for (size_t i = 0; i < PFR_COUNT(delimiters); i++)
        assert_int_equal(pfr_table_option(&style, PFR_OPT_DELIMITER, delimiters[i]), -EINVAL);
    assert_int_equal(pfr_table_option(&style, PFR_OPT_DELIMITER, "\t"), 1);
    assert_int_equal(pfr_table_option(&style, PFR_OPT_UNITS, "T"), -EINVAL);
    assert_int_equal(pfr_table_option(&style, PFR_OPT_UNITS, "g"), 1);
    assert_int_equal(style.units, 'G');
    assert_int_equal(pfr_table_option(&style, 'x', NULL), 0);
}

static void test_numbers(void **state)
{
    static const struct {
        enum pfr_cell_kind kind;
        int64_t number;
        bool exact;
        const char *text;
    } cases[] = {
        { PFR_CELL_BYTES, 0, false, "0" },
        { PFR_CELL_BYTES, 1023, false, "1023" },
        { PFR_CELL_BYTES, 4 * INT64_C(1073741824), false, "4G" },
        { PFR_CELL_BYTES, INT64_MAX, false, "8.00E" },
        { PFR_CELL_ELAPSED, 0, false, "00:00:00" },
        { PFR_CELL_ELAPSED, 86399 * INT64_C(1000000000), false, "23:59:59" },
        { PFR_CELL_ELAPSED, 864001 * INT64_C(1000000000), false, "10-00:00:01" },
        { PFR_CELL_ELAPSED, -61 * INT64_C(1000000000), false, "-00:01:01" },
        { PFR_CELL_ELAPSED, INT64_MAX, false, "106751-23:47:16" },
        { PFR_CELL_SECONDS, 999999999, false, "1.00" },
        { PFR_CELL_SECONDS, 1, true, "0.000000001" },
        { PFR_CELL_PERCENT, 250, false, "0.3" },
        { PFR_CELL_PERCENT, -250, false, "-0.3" },
        { PFR_CELL_CORES, 100000, true, "1" },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        char text[PFR_CELL_SIZE];

        pfr_cell_format(cases[i].kind, cases[i].number, 0, cases[i].exact, text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_sacct), cmocka_unit_test(test_for_programs),
        cmocka_unit_test(test_json),     cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_wrong),    cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
