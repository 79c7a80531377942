/* Following a file that grows, is cut, is replaced, and is anything but regular. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/record/reader.h"
#include "tests/unit/top_files.h"
#include "tools/profres/top/tail.h"

/* "<" when it starts over, then each line and a ";" */
static char said[4096];
static size_t lines;
static bool may_jump;

static bool take(void *arg, const char *line, size_t length)
{
    size_t used = strlen(said);

    assert_ptr_equal(arg, &lines);
    if (line)
        assert_int_equal(strlen(line), length);
    lines += line != NULL;
    if (used < sizeof(said) - 100)
        snprintf(said + used, sizeof(said) - used, "%.60s%s", line ? line : "<", line ? ";" : "");
    return may_jump;
}

static const char *look(struct pfr_tail *tail)
{
    said[0] = '\0';
    lines = 0;
    assert_true(pfr_tail_read(tail, AT_FDCWD, "f", take, &lines) >= 0);
    return said;
}

static int setup(void **state)
{
    (void)state;
    top_files_begin();
    may_jump = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    top_files_end();
    return 0;
}

static void test_absent_and_empty(void **state)
{
    struct pfr_tail tail = { 0 };

    (void)state;
    assert_string_equal(look(&tail), "");
    top_files_append("f", "");
    assert_string_equal(look(&tail), "<");
    assert_string_equal(look(&tail), "");
    top_files_append("f", "\n");
    assert_string_equal(look(&tail), ";");
    pfr_tail_release(&tail);
}

static void test_each_line_once(void **state)
{
    struct pfr_tail tail = { 0 };

    (void)state;
    top_files_append("f", "one\ntwo\n");
    assert_string_equal(look(&tail), "<one;two;");
    assert_string_equal(look(&tail), "");
    top_files_append("f", "three\n");
    assert_string_equal(look(&tail), "three;");
    pfr_tail_release(&tail);
}

static void test_torn_line_waits(void **state)
{
    struct pfr_tail tail = { 0 };

    (void)state;
    top_files_append("f", "one\ntw");
    assert_string_equal(look(&tail), "<one;");
    top_files_append("f", "o");
    assert_string_equal(look(&tail), "");
    top_files_append("f", "\nthree\n");
    assert_string_equal(look(&tail), "two;three;");
    pfr_tail_release(&tail);
}

static void test_replaced_and_cut(void **state)
{
    struct pfr_tail tail = { 0 };

    (void)state;
    top_files_append("f", "one\ntwo\ntorn");
    assert_string_equal(look(&tail), "<one;two;");
    top_files_replace("f", "merged, and much longer than it was before\nnew\n");
    assert_string_equal(look(&tail), "<merged, and much longer than it was before;new;");
    assert_int_equal(truncate("f", 5), 0); /* as when a line did not fit */
    assert_string_equal(look(&tail), "<");
    top_files_append("f", "!\n");
    assert_string_equal(look(&tail), "merge!;");
    pfr_tail_release(&tail);
}

/* The first line and the end, in little memory; all of it when the first line says so. */
static void test_long_file(void **state)
{
    struct pfr_tail tail = { 0 };
    char line[1025];
    FILE *file = fopen("f", "we");

    (void)state;
    memset(line, 'x', sizeof(line));
    line[1024] = '\0';
    assert_non_null(file);
    fputs("first\n", file);
    for (int i = 0; i < 8192; i++) {
        snprintf(line, 12, "%-10d", i);
        line[10] = 'x';
        fprintf(file, "%s\n", line);
    }
    fclose(file);
    look(&tail);
    assert_memory_equal(said, "<first;", 7);
    assert_in_range(lines, PFR_TAIL_SPAN / 1200, PFR_TAIL_SPAN / 1000);
    assert_in_range(tail.room, 1, 1 << 20);
    top_files_append("f", "last\n");
    assert_string_equal(look(&tail), "last;");
    pfr_tail_release(&tail);

    may_jump = false;
    look(&tail);
    assert_int_equal(lines, 8194);
    pfr_tail_release(&tail);
}

static void test_line_without_end(void **state)
{
    struct pfr_tail tail = { 0 };
    FILE *file = fopen("f", "we");
    char *mib = malloc(1 << 20);

    (void)state;
    assert_non_null(file);
    memset(mib, 'x', 1 << 20);
    for (size_t i = 0; i <= PFR_LINE_MAX >> 20; i++)
        fwrite(mib, 1, 1 << 20, file);
    fputs("\nshort\n", file);
    fclose(file);
    free(mib);
    assert_string_equal(look(&tail), "<short;");
    assert_in_range(tail.room, 0, PFR_LINE_MAX);
    pfr_tail_release(&tail);
}

/* A FIFO or a directory in its place must not hold us. */
static void test_not_a_file(void **state)
{
    struct pfr_tail tail = { 0 };

    (void)state;
    assert_int_equal(mkfifo("f", 0600), 0);
    assert_int_equal(pfr_tail_read(&tail, AT_FDCWD, "f", take, &lines), -EINVAL);
    assert_int_equal(mkdir("d", 0700), 0);
    assert_int_equal(pfr_tail_read(&tail, AT_FDCWD, "d", take, &lines), -EINVAL);
    pfr_tail_release(&tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_absent_and_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_line_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_line_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replaced_and_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_line_without_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_a_file, setup, teardown),
    };

    return cmocka_run_group_tests_name("top_tail", tests, NULL, NULL);
}
