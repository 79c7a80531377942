/* Lines over time in bounded room: no extreme is lost, no gap is filled; and their text. */
#include "tests/unit/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/judge/chart.h"
#include "common/record/curve.h"

static int open_curve(void **state)
{
    static struct pfr_curve curve;

    pfr_curve_init(&curve, 64);
    *state = &curve;
    return 0;
}

static int close_curve(void **state)
{
    pfr_curve_release(*state);
    return 0;
}

/* What random() gives is the same everywhere; rand() is not asked for more than that. */
static double noise(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return (double)(*seed >> 8 & 0xffff);
}

static size_t point_count(const struct pfr_curve *curve)
{
    struct pfr_point points[4];
    size_t count = 0;

    for (size_t i = 0; i < curve->count; i++)
        count += (size_t)pfr_bucket_points(&curve->buckets[i], points);
    return count;
}

static void few_points_stay_as_they_are(void **state)
{
    struct pfr_curve *curve = *state;
    struct pfr_point points[4];

    for (int i = 0; i < 10; i++)
        pfr_curve_add(curve, i, i * i);
    assert_int_equal(curve->count, 10);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(pfr_bucket_points(&curve->buckets[i], points), 1);
        assert_true(points[0].t == i && points[0].v == i * i);
    }
}

static void a_million_keep_their_extremes(void **state)
{
    struct pfr_curve *curve = *state;
    double high = -1, high_at = 0, low = 1e9, low_at = 0;
    unsigned seed = 7;

    for (int i = 0; i < 1000000; i++) {
        double v = 1000 + noise(&seed);

        if (i == 777777)
            v = 1e6; /* one sample that stands out */
        if (i == 123456)
            v = 3;
        if (v > high) {
            high = v;
            high_at = i * 0.1;
        }
        if (v < low) {
            low = v;
            low_at = i * 0.1;
        }
        pfr_curve_add(curve, i * 0.1, v);
    }
    assert_true(curve->count <= 64 && curve->count >= 32);
    assert_true(curve->room <= 64);
    assert_true(point_count(curve) <= 4 * 64);
    assert_true(pfr_curve_high(curve)->v == high && pfr_curve_high(curve)->t == high_at);
    assert_true(pfr_curve_low(curve)->v == low && pfr_curve_low(curve)->t == low_at);
    assert_true(curve->buckets[0].first.t == 0);
    assert_true(curve->buckets[curve->count - 1].last.t == 999999 * 0.1);
}

static void points_come_in_the_order_of_time(void **state)
{
    struct pfr_curve *curve = *state;
    unsigned seed = 1;
    double last = -1;

    for (int i = 0; i < 5000; i++)
        pfr_curve_add(curve, i, noise(&seed));
    for (size_t i = 0; i < curve->count; i++) {
        struct pfr_point points[4];
        int count = pfr_bucket_points(&curve->buckets[i], points);

        for (int k = 0; k < count; k++) {
            assert_true(points[k].t >= last);
            last = points[k].t;
        }
    }
}

static void shrinking_loses_no_extreme(void **state)
{
    struct pfr_curve *curve = *state;

    for (int i = 0; i < 60; i++)
        pfr_curve_add(curve, i, i == 31 ? 500 : i % 7);
    pfr_curve_shrink(curve, 8);
    assert_true(curve->count <= 8);
    assert_true(pfr_curve_high(curve)->v == 500 && pfr_curve_high(curve)->t == 31);
    assert_true(pfr_curve_low(curve)->v == 0);
}

static void a_value_is_read_between_points(void **state)
{
    struct pfr_curve *curve = *state;
    double v = -1;

    pfr_curve_add(curve, 1, 10);
    pfr_curve_add(curve, 3, 30);
    assert_true(pfr_curve_at(curve, 2, &v) && v == 20);
    assert_true(pfr_curve_at(curve, 1, &v) && v == 10);
    assert_true(pfr_curve_at(curve, 3, &v) && v == 30);
    v = -1;
    assert_false(pfr_curve_at(curve, 0.9, &v));
    assert_false(pfr_curve_at(curve, 3.1, &v));
    assert_true(v == -1);
}

/* Absent is absent: nothing is drawn across a time in which nothing was measured. */
static void a_gap_stays_open(void **state)
{
    struct pfr_curve *curve = *state;
    double v = -1;

    pfr_curve_add_span(curve, 0, 10, 5);
    pfr_curve_break(curve);
    pfr_curve_add_span(curve, 20, 30, 7);
    assert_true(curve->buckets[2].after_gap);
    assert_false(pfr_curve_at(curve, 15, &v));
    assert_false(pfr_curve_most(curve, 12, 18, &v));
    assert_true(v == -1);
    assert_true(pfr_curve_at(curve, 10, &v) && v == 5);
    assert_true(pfr_curve_at(curve, 20, &v) && v == 7);
    assert_true(pfr_curve_most(curve, 5, 25, &v) && v == 7);
}

static void the_most_in_a_time_is_on_the_line(void **state)
{
    struct pfr_curve *curve = *state;
    double v;

    pfr_curve_add(curve, 0, 0);
    pfr_curve_add(curve, 10, 100);
    pfr_curve_add(curve, 20, 0);
    assert_true(pfr_curve_most(curve, 0, 20, &v) && v == 100);
    assert_true(pfr_curve_most(curve, 1, 2, &v) && fabs(v - 20) < 1e-9);
    assert_true(pfr_curve_most(curve, 15, 19, &v) && fabs(v - 50) < 1e-9);
    assert_false(pfr_curve_most(curve, 21, 22, &v));
}

static void what_is_no_number_is_left_out(void **state)
{
    struct pfr_curve *curve = *state;
    double v;

    pfr_curve_add(curve, NAN, 1);
    pfr_curve_add(curve, 1, INFINITY);
    assert_int_equal(curve->count, 0);
    assert_null(pfr_curve_high(curve));
    assert_null(pfr_curve_low(curve));
    assert_false(pfr_curve_at(curve, 1, &v));
    assert_false(pfr_curve_most(curve, 0, 2, &v));
    pfr_curve_shrink(curve, 4);
    assert_int_equal(curve->count, 0);
}

static void times_that_fall_lose_nothing(void **state)
{
    struct pfr_curve *curve = *state;

    pfr_curve_add(curve, 10, 1);
    pfr_curve_add(curve, 5, 99);
    assert_true(pfr_curve_high(curve)->v == 99);
    assert_int_equal(curve->count, 1);
}

/* ---- letters ---- */

static char *row_text(const struct pfr_curve *curve, const struct pfr_chart_frame *frame, int row)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    pfr_chart_row(out, frame, curve, row);
    fclose(out);
    return text;
}

static void blocks_are_as_high_as_the_value(void **state)
{
    struct pfr_curve *curve = *state;
    struct pfr_chart_frame frame = { .end = 3, .top = 16, .width = 3, .height = 2 };
    PFR_AUTO_FREE char *top = NULL, *bottom = NULL;

    pfr_curve_add_span(curve, 0, 0.99, 4);
    pfr_curve_break(curve);
    pfr_curve_add_span(curve, 1.01, 1.99, 12);
    pfr_curve_break(curve);
    pfr_curve_add_span(curve, 2.01, 3, 16);
    top = row_text(curve, &frame, 0);
    bottom = row_text(curve, &frame, 1);
    assert_string_equal(top, " ▄█");
    assert_string_equal(bottom, "▄██");
}

static void something_is_never_blank(void **state)
{
    struct pfr_curve *curve = *state;
    struct pfr_chart_frame frame = { .end = 1, .top = 1e9, .width = 1, .height = 1 };
    PFR_AUTO_FREE char *text = NULL, *ascii = NULL;

    pfr_curve_add_span(curve, 0, 1, 1);
    text = row_text(curve, &frame, 0);
    assert_string_equal(text, "▁");
    frame.ascii = true;
    ascii = row_text(curve, &frame, 0);
    assert_string_equal(ascii, ".");
}

static void a_bound_is_drawn_where_there_is_room(void **state)
{
    struct pfr_curve *curve = *state;
    struct pfr_chart_frame frame = { .end = 2, .top = 10, .width = 2, .height = 2, .bound = 10,
                                     .ascii = true };
    PFR_AUTO_FREE char *text = NULL;

    pfr_curve_add_span(curve, 1.01, 2, 10);
    text = row_text(curve, &frame, 0);
    assert_string_equal(text, "-#");
}

/* At most 8 lines of 80 columns, also in the longest run. */
static void the_small_chart_is_small(void **state)
{
    struct pfr_chart chart;
    PFR_AUTO_FREE char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int lines = 0;

    (void)state;
    pfr_chart_init(&chart);
    for (int i = 0; i < 100000; i++) {
        pfr_curve_add(&chart.memory, i, 1e15);
        pfr_curve_add(&chart.cores, i, 1000);
    }
    chart.end = 99999;
    pfr_chart_print(out, &chart, true);
    fclose(out);
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        assert_true(strlen(line) <= 80);
        lines++;
    }
    assert_true(lines > 4 && lines <= 8);
    pfr_chart_release(&chart);
}

static void nothing_measured_is_no_chart(void **state)
{
    struct pfr_chart chart;
    PFR_AUTO_FREE char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    pfr_chart_init(&chart);
    pfr_chart_print(out, &chart, false);
    fclose(out);
    assert_string_equal(text, "");
    pfr_chart_release(&chart);
}

static void letters_by_the_environment(void **state)
{
    (void)state;
    setenv("LC_ALL", "C", 1);
    assert_true(pfr_chart_needs_ascii());
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    assert_false(pfr_chart_needs_ascii());
    setenv("LC_ALL", "", 1);
    setenv("LC_CTYPE", "en_US.utf8", 1);
    assert_false(pfr_chart_needs_ascii());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_points_stay_as_they_are, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(a_million_keep_their_extremes, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(points_come_in_the_order_of_time, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(shrinking_loses_no_extreme, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(a_value_is_read_between_points, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(a_gap_stays_open, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(the_most_in_a_time_is_on_the_line, open_curve,
                                        close_curve),
        cmocka_unit_test_setup_teardown(what_is_no_number_is_left_out, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(times_that_fall_lose_nothing, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(blocks_are_as_high_as_the_value, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(something_is_never_blank, open_curve, close_curve),
        cmocka_unit_test_setup_teardown(a_bound_is_drawn_where_there_is_room, open_curve,
                                        close_curve),
        cmocka_unit_test(the_small_chart_is_small),
        cmocka_unit_test(nothing_measured_is_no_chart),
        cmocka_unit_test(letters_by_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
