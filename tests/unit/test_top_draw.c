/* The frames of profres top: what must be in them, on any terminal, whatever the files say. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/top_files.h"
#include "tools/profres/top/draw.h"

#define STEP "slurm-4711.profres/0"

static struct pfr_top top;
static struct pfr_view view;
static char frame[65536];

static int setup(void **state)
{
    (void)state;
    top_files_begin();
    pfr_top_init(&top, "4711");
    top.mute = true;
    view = (struct pfr_view){ .pane = PFR_PANE_PROCESSES, .keys = true, .delay = TOP_S };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pfr_top_release(&top);
    top_files_end();
    return 0;
}

/* The text of a frame of that size at that time. */
static const char *draw(int rows, int columns, bool unicode, int64_t seconds)
{
    struct pfr_top_now now = { .wall = TOP_START + seconds * TOP_S, .monotonic = seconds * TOP_S };
    struct pfr_canvas canvas;
    FILE *out = fmemopen(frame, sizeof(frame), "w");
    int r = pfr_top_look(&top, now);

    assert_non_null(out);
    assert_int_equal(pfr_canvas_init(&canvas, rows, columns, unicode), 0);
    if (r > 0)
        pfr_draw(&canvas, &top, &view, now);
    else
        pfr_draw_waiting(&canvas, &top, &view, seconds * TOP_S);
    pfr_canvas_write(&canvas, out);
    pfr_canvas_release(&canvas);
    fclose(out);
    return frame;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' in:\n%s", part, text);
}

/* No more rows and columns than there are, and nothing that a terminal would obey. */
static void assert_fits(const char *text, int rows, int columns)
{
    int row = 0, column = 0;

    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '\n') {
            row++;
            column = 0;
            continue;
        }
        if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
            fail_msg("byte %02x in the frame", *p);
        column += *p < 0x80 || *p >= 0xc0;
        assert_true(column <= columns);
    }
    assert_true(row <= rows);
}

static void one_node(void)
{
    top_files_summary(STEP, TOP_SUMMARY(.at = 20));
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"process\",\"pid\":77,\"start_ticks\":5,"
                     "\"ps_cmd\":\"./app -x\"}\n");
    top_files_window(STEP, "n1", 0, 10, 50, 1 << 19, "app");
    top_files_window(STEP, "n1", 0, 20, 200, 1 << 20, "app");
}

static void test_usual_frame(void **state)
{
    const char *text;

    (void)state;
    one_node();
    text = draw(24, 80, true, 23);
    assert_fits(text, 24, 80);
    assert_has(text, "4711.0  LIVE  n1  ./app\n");
    assert_has(text, "elapsed 00:00:23");
    assert_has(text, "newest sample 3 s ago");
    assert_has(text, "1M of 4M allocated, 25.0 %");
    assert_has(text, "2.00 of 4 cores allocated, 50.0 %");
    assert_has(text, "peak 1.00M");
    assert_has(text, "up to 2.00 cores");
    assert_has(text, "read 2K/s  write 4K/s  2 processes");
    assert_has(text, "cpu 25.0 %  memory - %");
    assert_has(text, "COMMAND");
    assert_has(text, "./app -x");
    assert_has(text, "q quit");
    assert_has(text, "█");
    assert_has_not(text, "STALE");
    assert_has_not(text, "OOM");
}

static void test_ascii(void **state)
{
    const char *text;

    (void)state;
    one_node();
    text = draw(24, 80, false, 23);
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x80);
    assert_has(text, "[######................] 1M of 4M");
    assert_has(text, "[###########...........] 2.00 of 4");
}

/* Every pane in every size, also in those that nobody has; and the help. */
static void test_sizes(void **state)
{
    static const int sizes[][2] = { { 24, 80 }, { 5, 20 }, { 1, 1 }, { 2, 3 }, { 10, 44 },
                                    { 16, 43 }, { 200, 400 }, { 9, 80 }, { 0, 0 } };

    (void)state;
    one_node();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int pane = 0; pane <= PFR_PANE_COUNT; pane++) {
            int rows = sizes[i][0] ? sizes[i][0] : 1, columns = sizes[i][1] ? sizes[i][1] : 1;

            view.help = pane == PFR_PANE_COUNT;
            view.pane = view.help ? PFR_PANE_NODES : (enum pfr_top_pane)pane;
            assert_fits(draw(sizes[i][0], sizes[i][1], true, 23), rows, columns);
            assert_fits(draw(sizes[i][0], sizes[i][1], false, 23), rows, columns);
        }
    view.help = false;
    assert_has(draw(5, 20, true, 23), "4711.0  LIVE");
}

static void test_help_fits(void **state)
{
    (void)state;
    one_node();
    view.help = true;
    assert_has(draw(24, 80, true, 23), "an age up to that is normal. STALE:");
}

/* Loud, and in a frame of any size. */
static void test_stale_is_said(void **state)
{
    const char *text;

    (void)state;
    one_node();
    text = draw(24, 80, true, 60);
    assert_has(text, "4711.0  STALE");
    assert_has(text, "newest sample 40 s ago");
    assert_has(text, "STALE: nothing from n1 for 40 s");
    assert_has(text, "elapsed 00:00:20"); /* it may have ended since */
    assert_has(draw(3, 20, true, 60), "STALE: nothing from");
}

static void test_oom_is_said(void **state)
{
    (void)state;
    one_node();
    top_files_summary(STEP, TOP_SUMMARY(.at = 30, .more = ",\"totals_at_exit\":"
                                                          "{\"cgroup_oom_kills\":2}"));
    assert_has(draw(24, 80, true, 31), "OOM: 2 processes killed");
}

/* What others wrote cannot move the cursor, whatever it is. */
static void test_hostile_text(void **state)
{
    const char *text;

    (void)state;
    top_files_summary(STEP, TOP_SUMMARY(
        .at = 20, .command = "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\n\\u202ex"));
    top_files_header(STEP, "n1", 0, "profres-series/2.0");
    top_files_append(STEP "/n1.jsonl",
                     "{\"type\":\"process\",\"pid\":77,\"start_ticks\":5,\"ps_cmd\":"
                     "\"\\u001b[31mred \\u009b2J \\u0000 \\u007f \\r\\n \\u202e \\t end\"}\n");
    top_files_window(STEP, "n1", 0, 20, 200, 1 << 20, "\\u001b[5m");
    text = draw(24, 120, true, 23);
    assert_fits(text, 24, 120);
    assert_has(text, "[31mred");
    assert_has_not(text, "\xe2\x80\xae"); /* right-to-left override */
    text = draw(24, 120, false, 23);
    assert_fits(text, 24, 120);
}

/* A wide letter takes two columns, and one that cannot stand alone none of its own. */
static void test_wide_text(void **state)
{
    struct pfr_canvas canvas;

    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    assert_int_equal(pfr_canvas_init(&canvas, 2, 6, true), 0);
    assert_int_equal(pfr_canvas_put(&canvas, 0, 0, PFR_PLAIN, "a漢b"), 4);
    assert_string_equal(pfr_canvas_at(&canvas, 0, 1)->text, "漢");
    assert_string_equal(pfr_canvas_at(&canvas, 0, 2)->text, "");
    assert_string_equal(pfr_canvas_at(&canvas, 0, 3)->text, "b");
    pfr_canvas_put(&canvas, 1, 0, PFR_PLAIN, "12345漢"); /* half of it would be too wide */
    assert_string_equal(pfr_canvas_at(&canvas, 1, 5)->text, "?");
    pfr_canvas_put(&canvas, 1, 0, PFR_PLAIN, "e\xcc\x81x"); /* a combining accent */
    assert_string_equal(pfr_canvas_at(&canvas, 1, 1)->text, "?");
    pfr_canvas_release(&canvas);
    setlocale(LC_CTYPE, "C");
}

static void test_bars(void **state)
{
    struct pfr_canvas canvas;
    static const struct { int64_t part, whole; const char *text; } cases[] = {
        { 0, 10, "[....]" }, { 1, 1000000, "[#...]" }, { 5, 10, "[##..]" },
        { 10, 10, "[####]" }, { 25, 10, "[####]" }, { INT64_MAX, INT64_MAX, "[####]" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[16] = "";

        assert_int_equal(pfr_canvas_init(&canvas, 1, 6, false), 0);
        pfr_canvas_bar(&canvas, 0, 0, 6, PFR_PLAIN, cases[i].part, cases[i].whole);
        for (int k = 0; k < 6; k++)
            strcat(text, pfr_canvas_at(&canvas, 0, k)->text);
        assert_string_equal(text, cases[i].text);
        pfr_canvas_release(&canvas);
    }
}

static void test_spark(void **state)
{
    static const int64_t values[] = { 0, 50, INT64_MIN, 100 };
    struct pfr_canvas canvas;

    (void)state;
    assert_int_equal(pfr_canvas_init(&canvas, 1, 4, true), 0);
    pfr_canvas_spark(&canvas, 0, 0, PFR_PLAIN, values, 4);
    assert_string_equal(pfr_canvas_at(&canvas, 0, 0)->text, "▁");
    assert_string_equal(pfr_canvas_at(&canvas, 0, 1)->text, "▅");
    assert_string_equal(pfr_canvas_at(&canvas, 0, 2)->text, " "); /* not known is not 0 */
    assert_string_equal(pfr_canvas_at(&canvas, 0, 3)->text, "█");
    pfr_canvas_release(&canvas);
}

static void test_many_nodes(void **state)
{
    const char *text;

    (void)state;
    for (int i = 1; i <= 64; i++) {
        char name[16];

        snprintf(name, sizeof(name), "n%d", i);
        top_files_summary(STEP, TOP_SUMMARY(.node = name, .nodes = 65, .at = 10,
                                            .memory = i << 10));
    }
    view.pane = PFR_PANE_NODES;
    view.sort = PFR_SORT_MEMORY;
    text = draw(24, 80, true, 11);
    assert_fits(text, 24, 80);
    assert_has(text, "64 of 65 nodes  64 tasks");
    assert_has(text, "(n64, the fullest)");
    assert_has(text, "\nn64 ");
    assert_has_not(text, "\nn1 ");
    view.scroll = 1000; /* no further than the last page */
    text = draw(24, 80, true, 12);
    assert_has(text, "\nn1 ");
    assert_int_equal(view.scroll + view.page, 64);
}

static void test_waiting(void **state)
{
    const char *text;

    (void)state;
    text = draw(24, 80, true, 5);
    assert_has(text, "waiting for a profile of 4711 (00:00:05)");
    snprintf(top.job.state, sizeof(top.job.state), "PENDING");
    snprintf(top.job.reason, sizeof(top.job.reason), "Resources");
    assert_has(draw(24, 80, true, 6), "Slurm says that the job is PENDING (Resources)");
}

static void test_time_left(void **state)
{
    const char *text;

    (void)state;
    one_node();
    top.job = (struct pfr_job_now){ .limit = 3600 * TOP_S, .left = 3000 * TOP_S };
    top.job_at = 20 * TOP_S;
    text = draw(24, 80, true, 30);
    assert_has(text, "elapsed 00:00:30, 00:49:50 left of 01:00:00");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(usual_frame), TEST(ascii), TEST(sizes), TEST(help_fits), TEST(stale_is_said),
        TEST(oom_is_said), TEST(hostile_text), TEST(wide_text), TEST(bars), TEST(spark),
        TEST(many_nodes), TEST(waiting), TEST(time_left),
    };

    return cmocka_run_group_tests_name("top_draw", tests, NULL, NULL);
}
