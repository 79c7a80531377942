/* From the lines of a series to a figure: scales, traces, views, and what may stand in a page. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "tools/profres/plot/figure.h"
#include "tools/profres/plot/render.h"

static char dir[] = "/tmp/profres-plot.XXXXXX";

static int open_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int close_dir(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/n.jsonl", dir);
    unlink(path);
    snprintf(path, sizeof(path), "%s/n.json", dir);
    unlink(path);
    return rmdir(dir);
}

static void write_file(const char *name, const char *text)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (!text) {
        unlink(path);
        return;
    }
    file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

#define HEADER                                                                                  \
    "{\"type\":\"header\",\"ts\":\"2026-11-16T00:00:00.000Z\","                                 \
    "\"schema\":\"profres-series/2.0\",\"info\":{\"job\":\"7\",\"step\":\"0\",\"node\":\"n\"}," \
    "\"metrics\":{\"gpu_util\":{\"unit\":\"percent\"},\"gpu_mem\":{\"unit\":\"bytes\"}},"       \
    "\"process_columns\":[\"pid\",\"start_ticks\",\"comm\",\"ps_cpu_seconds\",\"ps_rss\"]}\n"

static struct pfr_trace *load(const char *series, const char *summary, int expected)
{
    struct pfr_trace *trace = malloc(sizeof(*trace));

    assert_non_null(trace);
    write_file("n.jsonl", series);
    write_file("n.json", summary);
    assert_int_equal(pfr_trace_load(trace, dir, "n", 64), expected);
    return trace;
}

static void drop(struct pfr_trace *trace)
{
    pfr_trace_release(trace);
    free(trace);
}

static double high(const struct pfr_trace *trace, const char *key)
{
    const struct pfr_curve *curve = pfr_trace_curve(trace, key);

    assert_non_null(curve);
    return pfr_curve_high(curve)->v;
}

/* ---- scales ---- */

static void assert_text(enum pfr_axis axis, double value, const char *expected)
{
    char text[PFR_SCALE_TEXT];

    pfr_scale_text(axis, value, text);
    assert_string_equal(text, expected);
}

static void numbers_are_short(void **state)
{
    (void)state;
    assert_text(PFR_AXIS_BYTES, 0, "0");
    assert_text(PFR_AXIS_BYTES, 512, "512 B");
    assert_text(PFR_AXIS_BYTES, 1.5 * 1024 * 1024, "1.5 MiB");
    assert_text(PFR_AXIS_BYTES, 1023.0 * 1024 * 1024, "1 GiB");
    assert_text(PFR_AXIS_RATE, 20.0 * 1024 * 1024, "20 MiB/s");
    assert_text(PFR_AXIS_CORES, 0.254, "0.25");
    assert_text(PFR_AXIS_CORES, 128, "128");
    assert_text(PFR_AXIS_SHARE, 99.96, "100 %");
    assert_text(PFR_AXIS_COUNT, 1234567, "1234567");
}

static void ticks_are_round_and_reach_the_most(void **state)
{
    (void)state;
    for (int axis = PFR_AXIS_BYTES; axis <= PFR_AXIS_COUNT; axis++)
        for (double most = 0.001; most < 1e16; most *= 1.7) {
            struct pfr_scale scale = pfr_scale_make((enum pfr_axis)axis, most, 4);

            assert_true(scale.top >= most * (1 - 1e-9));
            assert_true(scale.ticks >= 1 && scale.ticks <= 4);
            assert_true(fabs(scale.top - scale.step * scale.ticks) < 1e-9 * scale.top);
        }
    assert_true(pfr_scale_make(PFR_AXIS_BYTES, 700.0 * MIB, 4).step == 200.0 * MIB);
    assert_true(pfr_scale_make(PFR_AXIS_CORES, 7.5, 4).step == 2);
    assert_true(pfr_scale_make(PFR_AXIS_COUNT, 2, 4).step == 1);
    assert_true(pfr_scale_make(PFR_AXIS_BYTES, 0, 4).top > 0);
}

static void times_are_round(void **state)
{
    char text[PFR_SCALE_TEXT];

    (void)state;
    assert_true(pfr_scale_time(86400, 8).step == 10800);
    assert_true(pfr_scale_time(59, 8).step == 10);
    assert_true(pfr_scale_time(30 * 86400.0, 8).step == 5 * 86400);
    assert_true(pfr_scale_time(0, 8).ticks >= 1);
    pfr_scale_time_text(90, 30, text);
    assert_string_equal(text, "1:30");
    pfr_scale_time_text(7200, 3600, text);
    assert_string_equal(text, "2:00:00");
    pfr_scale_time_text(2 * 86400 + 3 * 3600, 86400, text);
    assert_string_equal(text, "2d 03:00");
    pfr_scale_time_text(0.5, 0.1, text);
    assert_string_equal(text, "0.5 s");
}

/* ---- traces ---- */

static void samples_and_windows_become_lines(void **state)
{
    struct pfr_trace *trace = load(
        HEADER
        "{\"type\":\"usage\",\"from\":0,\"to\":2,\"measurements\":{\"cgroup_mem_current\":15,"
        "\"cgroup_mem_sampled_peak\":20,\"cgroup_cpu_system_seconds\":0.5,\"gpu_util\":50.5,"
        "\"cgroup_pdcpu\":75.5,\"cgroup_mem_peak\":25,\"new_key\":{\"a\":[1]}},"
        "\"samples\":{\"t\":[0.5,1.5],\"cgroup_mem_current\":[10,20],"
        "\"cgroup_pdcpu\":[null,151]}}\n"
        "{\"type\":\"usage\",\"from\":2,\"to\":4,\"measurements\":{\"cgroup_mem_current\":30,"
        "\"gpu_mem\":4096},\"merged\":2}\n",
        NULL, 1);
    const struct pfr_curve *memory = pfr_trace_curve(trace, "cgroup_mem_current");
    double v;

    (void)state;
    assert_int_equal(trace->windows, 2);
    assert_int_equal(trace->merged, 1);
    assert_true(trace->end == 4);
    assert_true(pfr_curve_at(memory, 0.5, &v) && v == 10);
    assert_true(pfr_curve_at(memory, 1.5, &v) && v == 20);
    assert_true(pfr_curve_at(memory, 3, &v) && v == 30);  /* the mean of a merged window */
    assert_true(high(trace, "cgroup_pdcpu") == 1.51);      /* cores, and the null is no zero */
    assert_int_equal(pfr_trace_curve(trace, "cgroup_pdcpu")->count, 1);
    assert_true(high(trace, "cgroup_cpu_system_seconds") == 0.25); /* growth over time */
    assert_true(high(trace, "cgroup_mem_peak") == 25);
    assert_null(pfr_trace_curve(trace, "ps_rss_total"));
    assert_int_equal(trace->extra_count, 2);
    assert_string_equal(trace->extras[0].key, "gpu_util");
    assert_int_equal(trace->extras[1].panel, PFR_PANEL_GPU_MEMORY);
    assert_string_equal(trace->job, "7");
    drop(trace);
}

/* A measurement that is missing from a window is not drawn across it (R26). */
static void an_absent_key_leaves_a_gap(void **state)
{
    struct pfr_trace *trace = load(
        HEADER "{\"type\":\"usage\",\"from\":0,\"to\":1,\"measurements\":{\"proc_count\":3}}\n"
               "{\"type\":\"usage\",\"from\":1,\"to\":2,\"measurements\":{}}\n"
               "{\"type\":\"usage\",\"from\":2,\"to\":3,\"measurements\":{\"proc_count\":5}}\n",
        NULL, 1);
    double v = -1;

    (void)state;
    assert_false(pfr_curve_at(pfr_trace_curve(trace, "proc_count"), 1.5, &v));
    assert_true(pfr_curve_at(pfr_trace_curve(trace, "proc_count"), 2.5, &v) && v == 5);
    drop(trace);
}

static void a_pause_leaves_a_gap(void **state)
{
    struct pfr_trace *trace = load(
        HEADER "{\"type\":\"usage\",\"from\":0,\"to\":10,\"measurements\":{\"proc_count\":3}}\n"
               "{\"type\":\"usage\",\"from\":10,\"to\":20,\"measurements\":{\"proc_count\":3}}\n"
               "{\"type\":\"usage\",\"from\":90,\"to\":100,\"measurements\":{\"proc_count\":3}}\n",
        NULL, 1);
    double v;

    (void)state;
    assert_true(pfr_curve_at(pfr_trace_curve(trace, "proc_count"), 10, &v));
    assert_false(pfr_curve_at(pfr_trace_curve(trace, "proc_count"), 50, &v));
    drop(trace);
}

static void a_new_header_is_a_new_run(void **state)
{
    struct pfr_trace *trace = load(
        HEADER "{\"type\":\"usage\",\"from\":0,\"to\":9,\"measurements\":{\"proc_count\":99}}\n"
        "{\"type\":\"event\",\"t\":1,\"event\":\"cgroup_gone\"}\n"
        HEADER "{\"type\":\"usage\",\"from\":0,\"to\":1,\"measurements\":{\"proc_count\":2}}\n",
        NULL, 1);

    (void)state;
    assert_true(high(trace, "proc_count") == 2);
    assert_int_equal(trace->moment_count, 0);
    assert_true(trace->end == 1);
    drop(trace);
}

static void bad_lines_are_counted_and_passed_over(void **state)
{
    struct pfr_trace *trace = load(
        HEADER "not json\n{}\n{\"type\":\"usage\"}\n{\"type\":\"usage\",\"from\":5,\"to\":1}\n"
               "{\"type\":\"usage\",\"from\":0,\"to\":1,\"measurements\":{\"proc_count\":1}\n"
               "{\"type\":\"later\",\"x\":1}\n"
               "{\"type\":\"usage\",\"from\":0,\"to\":1,\"measurements\":{\"proc_count\":4}}\n"
               "{\"type\":\"usage\",\"from\":1,\"to\":2,\"measurem",
        NULL, 1);

    (void)state;
    assert_int_equal(trace->malformed, 5);
    assert_true(trace->torn);
    assert_int_equal(trace->windows, 1);
    assert_true(high(trace, "proc_count") == 4);
    drop(trace);
}

static void a_future_major_version_is_refused(void **state)
{
    struct pfr_trace *trace;

    (void)state;
    trace = load("{\"type\":\"header\",\"schema\":\"profres-series/3.0\"}\n"
                 "{\"type\":\"usage\",\"from\":0,\"to\":1,\"measurements\":{\"proc_count\":1}}\n",
                 NULL, -EPROTO);
    assert_null(pfr_trace_curve(trace, "proc_count"));
    drop(trace);
    trace = load("{\"type\":\"header\",\"schema\":\"profres-series/2.9\"}\n"
                 "{\"type\":\"usage\",\"from\":0,\"to\":1,\"measurements\":{\"proc_count\":1}}\n",
                 NULL, 1);
    assert_non_null(pfr_trace_curve(trace, "proc_count"));
    drop(trace);
}

static void nothing_and_one_sample(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_trace *trace;

    (void)state;
    drop(load(NULL, NULL, 0));
    trace = load("", NULL, 1);
    assert_int_equal(trace->windows, 0);
    assert_true(pfr_figure_add_trace(&figure, trace));
    assert_int_equal(figure.views[0].panel_count, 0);
    drop(trace);
    trace = load(HEADER "{\"type\":\"usage\",\"from\":0,\"to\":0,\"measurements\":"
                        "{\"cgroup_mem_current\":5,\"cgroup_cpu_system_seconds\":1}}\n", NULL, 1);
    assert_true(high(trace, "cgroup_mem_current") == 5);
    assert_null(pfr_trace_curve(trace, "cgroup_cpu_system_seconds")); /* no time, no rate */
    assert_true(pfr_figure_add_trace(&figure, trace));
    drop(trace);
    pfr_figure_release(&figure);
}

static void events_and_phases(void **state)
{
    struct pfr_trace *trace = load(
        HEADER
        "{\"type\":\"event\",\"t\":0,\"event\":\"task_start\",\"pid\":10,\"rank\":1}\n"
        "{\"type\":\"event\",\"t\":0,\"event\":\"task_start\",\"pid\":9,\"rank\":0}\n"
        "{\"type\":\"event\",\"t\":1,\"event\":\"phase_start\",\"name\":\"load \\u001b[31mdata\"}\n"
        "{\"type\":\"event\",\"event\":\"phase\",\"name\":\"load \\u001b[31mdata\",\"from\":1,"
        "\"to\":5}\n"
        "{\"type\":\"event\",\"t\":2,\"event\":\"oom\",\"kills\":1,\"gone\":[{\"comm\":\"py\"}]}\n"
        "{\"type\":\"event\",\"t\":3,\"event\":\"mark\",\"data\":{\"epoch\":3}}\n"
        "{\"type\":\"event\",\"t\":4,\"event\":\"task_exit\",\"rank\":1,\"signal\":9}\n"
        "{\"type\":\"event\",\"t\":5,\"event\":\"new_thing\"}\n"
        "{\"type\":\"event\",\"t\":5,\"event\":\"phase_start\",\"name\":\"fit\",\"rank\":1}\n"
        "{\"type\":\"usage\",\"from\":0,\"to\":6,\"measurements\":{},\"processes\":["
        "[9,1,\"app\",3,100],[10,1,\"app\",null,200],[11,1,\"x\",0.5,50]]}\n",
        NULL, 1);

    (void)state;
    assert_int_equal(trace->moment_count, 6); /* a phase that has ended is one, not two */
    assert_string_equal(trace->moments[5].text, "fit (rank 1)");
    assert_true(trace->moments[5].from == 5 && trace->moments[5].to == 6); /* it goes on */
    assert_true(trace->moments[0].from == 1 && trace->moments[0].to == 5);
    assert_null(strchr(trace->moments[0].text, '\033'));
    assert_int_equal(trace->moments[1].tone, PFR_TONE_BAD);
    assert_string_equal(trace->moments[1].text, "out of memory: py");
    assert_string_equal(trace->moments[2].text, "epoch=3");
    assert_string_equal(trace->moments[3].text, "rank 1 killed by signal 9");
    assert_string_equal(trace->moments[4].text, "new_thing");
    assert_int_equal(trace->task_count, 2);
    assert_int_equal(trace->tasks[0].rank, 0);
    assert_true(pfr_curve_high(&trace->tasks[0].cpu)->v == 0.5);
    assert_null(pfr_curve_high(&trace->tasks[1].cpu)); /* null is not zero */
    assert_int_equal(trace->member_count, 3);
    assert_int_equal(trace->members[2].rank, -1);
    drop(trace);
}

/* A pid that is used again is another process. */
static void a_pid_used_again_is_another(void **state)
{
    struct pfr_trace *trace = load(
        HEADER "{\"type\":\"event\",\"t\":0,\"event\":\"task_start\",\"pid\":9,\"rank\":0}\n"
        "{\"type\":\"usage\",\"from\":0,\"to\":1,\"processes\":[[9,100,\"a\",1,10]]}\n"
        "{\"type\":\"usage\",\"from\":1,\"to\":2,\"processes\":[[9,200,\"b\",1,9000]]}\n",
        NULL, 1);

    (void)state;
    assert_int_equal(trace->member_count, 2);
    assert_true(trace->tasks[0].most_memory == 10);
    drop(trace);
}

static void the_largest_of_many_processes_are_kept(void **state)
{
    PFR_AUTO_FREE char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct pfr_trace *trace;
    double most = 0;

    (void)state;
    fputs(HEADER, out);
    for (int i = 1; i <= 500; i++)
        fprintf(out, "{\"type\":\"usage\",\"from\":%d,\"to\":%d,\"processes\":"
                     "[[%d,1,\"p\",1,%d]]}\n", i - 1, i, i, i == 250 ? 1000000 : i);
    fclose(out);
    trace = load(text, NULL, 1);
    assert_int_equal(trace->member_count, PFR_MEMBERS_MAX);
    for (size_t i = 0; i < trace->member_count; i++)
        most = fmax(most, trace->members[i].most_memory);
    assert_true(most == 1000000);
    drop(trace);
}

/* Busy compilers, one after the other, and an idle program that is larger than any. */
static void the_largest_is_kept_though_it_is_idle(void **state)
{
    PFR_AUTO_FREE char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct pfr_trace *trace;
    double most = 0, cpu = 0;

    (void)state;
    fputs(HEADER, out);
    for (int i = 1; i <= 200; i++)
        fprintf(out, "{\"type\":\"usage\",\"from\":%d,\"to\":%d,\"processes\":"
                     "[[%d,1,\"p\",%s,%d]]}\n", 10 * i, 10 * i + 10, i,
                i == 100 ? "0.01" : "5", i == 100 ? 413 : 45);
    fclose(out);
    trace = load(text, NULL, 1);
    for (size_t i = 0; i < trace->member_count; i++) {
        most = fmax(most, trace->members[i].most_memory);
        cpu = fmax(cpu, trace->members[i].most_cpu);
    }
    assert_true(most == 413);
    assert_true(cpu == 0.5); /* of the window, whatever its life was */
    drop(trace);
}

/* ---- figures ---- */

static const struct pfr_stroke *line_of(const struct pfr_view *view, const char *key)
{
    for (size_t i = 0; i < view->panel_count; i++)
        for (size_t k = 0; k < view->panels[i].count; k++)
            if (strcmp(view->panels[i].lines[k].key, key) == 0)
                return &view->panels[i].lines[k];
    return NULL;
}

#define BOTH                                                                                     \
    HEADER "{\"type\":\"usage\",\"from\":0,\"to\":10,\"measurements\":{\"ps_rss_total\":900,"    \
           "\"cgroup_mem_current\":500,\"cgroup_mem_nonreclaimable\":400,\"cgroup_mem_limit\":"  \
           "100000,\"cgroup_mem_peak\":700,\"cgroup_mem_window_peak\":600,"                      \
           "\"cgroup_io_read_bytes\":0,\"proc_io_read_bytes_total\":50,"                         \
           "\"proc_io_rchar_total\":5000}}\n"

/* R32: what was measured in different ways is in different lines, all of them there. */
static void sources_are_never_merged(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_trace *trace = load(BOTH, NULL, 1);
    const struct pfr_view *view;

    (void)state;
    assert_true(pfr_figure_add_trace(&figure, trace));
    view = &figure.views[0];
    assert_true(pfr_curve_high(&line_of(view, "cgroup_mem_current")->curve)->v == 500);
    assert_true(pfr_curve_high(&line_of(view, "ps_rss_total")->curve)->v == 900);
    assert_true(pfr_curve_high(&line_of(view, "cgroup_mem_peak")->curve)->v == 700);
    assert_true(pfr_curve_high(&line_of(view, "cgroup_mem_window_peak")->curve)->v == 600);
    assert_int_equal(line_of(view, "cgroup_mem_peak")->style, PFR_STROKE_KEPT);
    assert_false(line_of(view, "cgroup_mem_current")->hidden);
    assert_true(line_of(view, "ps_rss_total")->hidden);     /* there, but not at first */
    assert_true(line_of(view, "cgroup_mem_limit")->hidden); /* far above all else */
    assert_false(line_of(view, "proc_io_read_bytes_total")->hidden); /* as the other is zero */
    assert_true(line_of(view, "proc_io_rchar_total")->hidden);
    assert_true(pfr_panel_most(&view->panels[0]) == 700);
    drop(trace);
    pfr_figure_release(&figure);
}

/* Two processes that took turns: 45 each, and never more than 50 at once. */
static void a_stack_is_what_was_there_at_once(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_trace *trace = load(
        HEADER "{\"type\":\"usage\",\"from\":0,\"to\":10,\"measurements\":"
               "{\"ps_rss_total\":50},\"processes\":[[1,1,\"a\",6,45],[2,1,\"b\",4,45]]}\n",
        NULL, 1);
    const struct pfr_panel *panel = NULL;

    (void)state;
    assert_true(pfr_figure_add_trace(&figure, trace));
    for (size_t i = 0; i < figure.views[0].panel_count; i++)
        if (strcmp(figure.views[0].panels[i].name, "process-memory") == 0)
            panel = &figure.views[0].panels[i];
    assert_non_null(panel);
    assert_true(fabs(pfr_panel_most(panel) - 50) < 1e-6);
    assert_true(fabs(pfr_curve_high(&panel->lines[0].curve)->v - 25) < 1e-6);
    drop(trace);
    pfr_figure_release(&figure);
}

static void a_near_limit_is_shown(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_trace *trace = load(
        HEADER "{\"type\":\"usage\",\"from\":0,\"to\":1,\"measurements\":"
               "{\"cgroup_mem_current\":500,\"cgroup_mem_limit\":600}}\n", NULL, 1);

    (void)state;
    assert_true(pfr_figure_add_trace(&figure, trace));
    assert_false(line_of(&figure.views[0], "cgroup_mem_limit")->hidden);
    assert_true(pfr_panel_most(&figure.views[0].panels[0]) == 600);
    drop(trace);
    pfr_figure_release(&figure);
}

/* `count` runs whose memory is 1, 2, ... MiB; every third measured without a cgroup. */
static void add_runs(struct pfr_figure *figure, size_t count, bool mixed)
{
    PFR_AUTO_FREE const struct pfr_trace **traces = calloc(count, sizeof(*traces));
    PFR_AUTO_FREE const char **names = calloc(count, sizeof(*names));
    char text[2048];

    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof(text),
                 HEADER "{\"type\":\"usage\",\"from\":0,\"to\":10,\"measurements\":"
                        "{\"%s\":%zu}}\n",
                 mixed && i % 3 == 0 ? "ps_rss_total" : "cgroup_mem_current", (i + 1) << 20);
        traces[i] = load(text, NULL, 1);
        names[i] = "run";
    }
    assert_true(pfr_figure_add_overlay(figure, "g", "runs", traces, names, count));
    for (size_t i = 0; i < count; i++)
        drop((struct pfr_trace *)(uintptr_t)traces[i]);
}

static void many_runs_are_a_median_and_a_band(void **state)
{
    struct pfr_figure figure = { 0 };
    const struct pfr_panel *panel;
    double v;

    (void)state;
    add_runs(&figure, 21, false);
    panel = &figure.views[0].panels[0];
    assert_int_equal(panel->count, 3);
    assert_int_equal(panel->lines[0].style, PFR_STROKE_BAND);
    assert_true(pfr_curve_at(&panel->lines[1].curve, 5, &v) && v == 11 << 20); /* of 1 to 21 */
    assert_true(pfr_curve_at(&panel->lines[0].curve, 5, &v) && v == 19 << 20); /* p90 */
    assert_true(pfr_curve_at(&panel->lines[0].lower, 5, &v) && v == 3 << 20);  /* p10 */
    assert_true(pfr_curve_at(&panel->lines[2].curve, 5, &v) && v == 21 << 20);
    assert_int_equal(figure.views[0].heats[0].rows, 21);
    pfr_figure_release(&figure);
}

static void few_runs_are_lines(void **state)
{
    struct pfr_figure figure = { 0 };

    (void)state;
    add_runs(&figure, 8, false);
    assert_int_equal(figure.views[0].panels[0].count, 8);
    pfr_figure_release(&figure);
}

static void runs_of_different_sources_are_apart(void **state)
{
    struct pfr_figure figure = { 0 };
    const struct pfr_view *view;

    (void)state;
    add_runs(&figure, 12, true);
    view = &figure.views[0];
    assert_int_equal(view->panel_count, 2);
    assert_string_equal(view->panels[0].lines[0].label, "p10 to p90 of 8 runs");
    assert_string_equal(view->panels[1].lines[0].label, "p10 to p90 of 4 runs");
    pfr_figure_release(&figure);
}

static void a_heat_map_of_many_rows_keeps_the_largest(void **state)
{
    struct pfr_heat heat;
    struct pfr_curve curve;
    size_t each;

    (void)state;
    assert_true(pfr_heat_init(&heat, 1000, 60, PFR_AXIS_CORES));
    assert_true(heat.rows <= 192);
    each = (1000 + 191) / 192;
    pfr_curve_init(&curve, 8);
    pfr_curve_add_span(&curve, 0, 30, 2);
    pfr_heat_row(&heat, 777 / each, "n777", &curve);
    assert_true(heat.most == 2);
    assert_true(heat.cells[777 / each * heat.columns] == 2);
    assert_true(isnan(heat.cells[777 / each * heat.columns + heat.columns - 1])); /* not zero */
    pfr_curve_release(&curve);
    free(heat.names);
    free(heat.cells);
}

static void a_page_has_room_for_so_many_points(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_view *view = pfr_figure_add(&figure, "g", "n");
    struct pfr_panel *panel = pfr_view_panel(view, PFR_PANEL_MEMORY);
    size_t buckets = 0;

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct pfr_stroke *line = pfr_panel_add(panel, "k", "l");

        pfr_curve_init(&line->curve, 512);
        for (int k = 0; k < 10000; k++)
            pfr_curve_add(&line->curve, k, k == 4321 ? 1e6 : k % 10);
    }
    pfr_figure_fit(&figure, 4000);
    for (size_t i = 0; i < panel->count; i++) {
        buckets += panel->lines[i].curve.count;
        assert_true(pfr_curve_high(&panel->lines[i].curve)->v == 1e6);
    }
    assert_true(buckets * 4 <= 4000);
    pfr_figure_release(&figure);
}

/* ---- pages ---- */

/* not to be inlined: gcc 12 then takes what open_memstream() made for a local of this one */
__attribute__((noinline)) static char *rendered(const struct pfr_figure *figure, int what)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (what == 0)
        pfr_render_html(out, figure);
    else if (what == 1)
        pfr_render_svg(out, figure, &figure->views[0]);
    else
        pfr_render_text(out, figure, &figure->views[0], 80, what == 3);
    fclose(out);
    return text;
}

#define HOSTILE "</script><script>alert(1)</script>\033]0;x\007\" onload='x' <!-- & \302\205"

/* The data of a page end at the first '<' after they began: it must be that of their script. */
static void assert_no_markup_in_data(const char *page)
{
    const char *data = strstr(page, "id=\"figure\">"), *end;

    assert_non_null(data);
    end = strchr(data, '<');
    assert_non_null(end);
    assert_memory_equal(end, "</script>\n<script>\n'use strict'", 31);
}

static void hostile_names_stay_text(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_trace *trace = load(BOTH, NULL, 1);
    struct pfr_stroke *line;

    (void)state;
    snprintf(figure.title, sizeof(figure.title), "%s", HOSTILE);
    assert_true(pfr_figure_add_trace(&figure, trace));
    snprintf(figure.views[0].command, sizeof(figure.views[0].command), "%s", HOSTILE);
    line = pfr_panel_add(&figure.views[0].panels[0], "k\"<", HOSTILE);
    pfr_curve_init(&line->curve, 4);
    pfr_curve_add(&line->curve, 1, 1);
    for (int what = 0; what < 2; what++) {
        PFR_AUTO_FREE char *text = rendered(&figure, what);

        assert_null(strstr(text, "<script>alert"));
        assert_null(strstr(text, "</script><script>a"));
        assert_null(strstr(text, "onload='"));
        assert_null(strchr(text, '\033'));
        assert_null(strchr(text, '\007'));
        assert_non_null(strstr(text, "&lt;/script&gt;"));
        if (what == 0)
            assert_no_markup_in_data(text);
    }
    drop(trace);
    pfr_figure_release(&figure);
}

static void the_page_asks_nothing_of_a_network(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_trace *trace = load(BOTH, NULL, 1);
    PFR_AUTO_FREE char *text = NULL;

    (void)state;
    assert_true(pfr_figure_add_trace(&figure, trace));
    text = rendered(&figure, 0);
    assert_non_null(strstr(text, "default-src 'none'"));
    for (char *p = text; (p = strstr(p, "http")); p += 4) /* but for the name of what SVG is */
        if (strncmp(p, "http-equiv", 10) != 0)
            assert_memory_equal(p, "http://www.w3.org/2000/svg", 26);
    drop(trace);
    pfr_figure_release(&figure);
}

static void text_is_no_wider_than_asked(void **state)
{
    struct pfr_figure figure = { 0 };
    struct pfr_trace *trace = load(BOTH, NULL, 1);
    PFR_AUTO_FREE char *text = NULL;

    (void)state;
    assert_true(pfr_figure_add_trace(&figure, trace));
    text = rendered(&figure, 3);
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (strlen(line) > 80)
            fail_msg("%s", line);
        for (const char *p = line; *p; p++)
            assert_true((unsigned char)*p < 0x80);
    }
    drop(trace);
    pfr_figure_release(&figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(ticks_are_round_and_reach_the_most),
        cmocka_unit_test(times_are_round),
        cmocka_unit_test(samples_and_windows_become_lines),
        cmocka_unit_test(an_absent_key_leaves_a_gap),
        cmocka_unit_test(a_pause_leaves_a_gap),
        cmocka_unit_test(a_new_header_is_a_new_run),
        cmocka_unit_test(bad_lines_are_counted_and_passed_over),
        cmocka_unit_test(a_future_major_version_is_refused),
        cmocka_unit_test(nothing_and_one_sample),
        cmocka_unit_test(events_and_phases),
        cmocka_unit_test(a_pid_used_again_is_another),
        cmocka_unit_test(the_largest_of_many_processes_are_kept),
        cmocka_unit_test(the_largest_is_kept_though_it_is_idle),
        cmocka_unit_test(sources_are_never_merged),
        cmocka_unit_test(a_stack_is_what_was_there_at_once),
        cmocka_unit_test(a_near_limit_is_shown),
        cmocka_unit_test(many_runs_are_a_median_and_a_band),
        cmocka_unit_test(few_runs_are_lines),
        cmocka_unit_test(runs_of_different_sources_are_apart),
        cmocka_unit_test(a_heat_map_of_many_rows_keeps_the_largest),
        cmocka_unit_test(a_page_has_room_for_so_many_points),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(the_page_asks_nothing_of_a_network),
        cmocka_unit_test(text_is_no_wider_than_asked),
    };

    return cmocka_run_group_tests(tests, open_dir, close_dir);
}
