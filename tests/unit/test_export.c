/*
 * Export: each line once, also of a file that was replaced while it was read, and
 * what hostile or damaged text becomes in each format.
 */
#include "tests/unit/fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/record/openmetrics.h"
#include "common/record/reader.h"
#include "tools/profres/export/feed.h"

#define HEADER(JOB) \
    "{\"type\":\"header\",\"ts\":\"2026-11-16T02:00:00.000Z\",\"schema\":\"profres-series/2.0\"," \
    "\"info\":{\"job\":\"" JOB "\",\"step\":\"0\",\"node\":\"n1\"},\"metrics\":{}," \
    "\"process_columns\":[\"pid\",\"start_ticks\",\"comm\"],\"command_columns\":[]}\n"
#define WINDOW(FROM, TO) \
    "{\"type\":\"usage\",\"ts\":\"2026-11-16T02:00:10.000Z\",\"from\":" #FROM ",\"to\":" #TO \
    ",\"num_samples\":10,\"measurements\":{\"cgroup_mem_current\":" #TO "000," \
    "\"cgroup_cpu_seconds\":0.5},\"samples\":{\"t\":[]}}\n"
#define EVENT(NAME) \
    "{\"type\":\"event\",\"ts\":\"2026-11-16T02:00:01.000Z\",\"t\":1,\"event\":\"" NAME "\"}\n"
#define FINAL \
    "{\"type\":\"final\",\"ts\":\"2026-11-16T02:00:30.000Z\",\"t\":30,\"state\":\"COMPLETE\"}\n"

struct bench {
    struct fixture fixture;
    struct pfr_found found;
    struct pfr_feed *feed;
    struct pfr_export export;
    char *text;
    size_t size;
    char dir[320], series[400];
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    fixture_open(&bench.fixture, "v2-slurm");
    snprintf(bench.dir, sizeof(bench.dir), "%s", bench.fixture.out);
    snprintf(bench.series, sizeof(bench.series), "%s/n1.jsonl", bench.dir);
    bench.found = (struct pfr_found){ .dir = bench.dir, .job = (char[]){ "7" },
                                      .step = (char[]){ "0" } };
    bench.feed = pfr_feed_new(&bench.found, "n1");
    memset(&bench.export.columns, 0xff, sizeof(bench.export.columns));
    bench.export.dir = bench.dir;
    bench.export.out = open_memstream(&bench.text, &bench.size);
    *state = &bench;
    return !bench.feed || !bench.export.out;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    fclose(bench->export.out);
    free(bench->text);
    pfr_feed_free(bench->feed);
    fixture_close(&bench->fixture);
    return 0;
}

static void put(const char *path, const char *mode, const char *text)
{
    FILE *file = fopen(path, mode);

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void append(struct bench *bench, const char *text)
{
    put(bench->series, "ae", text);
}

/* As a compaction does: another file takes the name. */
static void replace(struct bench *bench, const char *text)
{
    char name[500];

    snprintf(name, sizeof(name), "%s.new", bench->series);
    put(name, "we", text);
    assert_int_equal(rename(name, bench->series), 0);
}

/* All that was written so far. */
static const char *written(struct bench *bench, const struct pfr_format *format)
{
    assert_true(pfr_feed_read(bench->feed, &bench->export, format) >= 0);
    fflush(bench->export.out);
    return bench->text ? bench->text : "";
}

static void log_line(struct pfr_export *export, struct pfr_export_source *source,
                     enum pfr_line_kind kind, const char *text, size_t length)
{
    PFR_AUTO_JSON *line = pfr_object_parse(text, length);
    const char *what = kind == PFR_LINE_USAGE   ? "to"
                       : kind == PFR_LINE_EVENT ? "event" : "type";

    (void)source;
    fprintf(export->out, "%s ", json_object_get_string(fixture_json(line, what)));
}

static void log_header(struct pfr_export *export, struct pfr_export_source *source,
                       const char *text, size_t length)
{
    (void)text;
    (void)length;
    fprintf(export->out, "[%s] ", source->job);
}

static const struct pfr_format log_format = { .name = "log", .header = log_header,
                                              .line = log_line };

/* ---- each line once ---- */

static void growing_file(void **state)
{
    struct bench *bench = *state;

    assert_string_equal(written(bench, &log_format), "");
    append(bench, HEADER("7"));
    append(bench, WINDOW(0, 10));
    assert_string_equal(written(bench, &log_format), "[7] 10 ");
    append(bench, "{\"type\":\"event\",\"ts\":\"2026-11-16T02");
    assert_string_equal(written(bench, &log_format), "[7] 10 ");
    append(bench, ":00:01.000Z\",\"t\":1,\"event\":\"oom\"}\n");
    append(bench, WINDOW(10, 20));
    assert_string_equal(written(bench, &log_format), "[7] 10 oom 20 ");
    assert_string_equal(written(bench, &log_format), "[7] 10 oom 20 ");
    assert_false(pfr_feed_is_over(bench->feed));
    append(bench, FINAL);
    assert_string_equal(written(bench, &log_format), "[7] 10 oom 20 final ");
    assert_true(pfr_feed_is_over(bench->feed));
}

/* Merged and replaced between two looks, one window not read yet: it is read of the old file. */
static void replaced_file(void **state)
{
    struct bench *bench = *state;

    append(bench, HEADER("7") EVENT("a") WINDOW(0, 10) WINDOW(10, 20) EVENT("b"));
    assert_string_equal(written(bench, &log_format), "[7] a 10 20 b ");
    append(bench, WINDOW(20, 30));
    replace(bench, HEADER("7") EVENT("a") EVENT("b") WINDOW(0, 30));
    append(bench, EVENT("c") WINDOW(30, 40));
    assert_string_equal(written(bench, &log_format), "[7] a 10 20 b 30 c 40 ");
    append(bench, WINDOW(40, 50));
    replace(bench, HEADER("7") EVENT("a") EVENT("b") EVENT("c") WINDOW(0, 50));
    assert_string_equal(written(bench, &log_format), "[7] a 10 20 b 30 c 40 50 ");
    append(bench, EVENT("d") WINDOW(50, 60) FINAL);
    assert_string_equal(written(bench, &log_format), "[7] a 10 20 b 30 c 40 50 d 60 final ");
}

/* Two runs in one file: the windows of the second begin at zero again. */
static void second_run(void **state)
{
    struct bench *bench = *state;

    append(bench, HEADER("7") WINDOW(0, 10) WINDOW(10, 20) FINAL HEADER("8") WINDOW(0, 10));
    assert_string_equal(written(bench, &log_format), "[7] 10 20 final [8] 10 ");
    assert_false(pfr_feed_is_over(bench->feed));
    replace(bench, HEADER("7") WINDOW(0, 20) FINAL HEADER("8") WINDOW(0, 10));
    append(bench, WINDOW(10, 20));
    assert_string_equal(written(bench, &log_format), "[7] 10 20 final [8] 10 20 ");
}

static void lost_sampler_ends_it(void **state)
{
    struct bench *bench = *state;
    char name[500];

    append(bench, HEADER("7") WINDOW(0, 10));
    written(bench, &log_format);
    assert_false(pfr_feed_is_over(bench->feed));
    snprintf(name, sizeof(name), "%s/n1.lost.json", bench->dir);
    put(name, "we", "{}");
    assert_true(pfr_feed_is_over(bench->feed));
}

/* ---- bad input ---- */

static void damaged_lines_are_counted(void **state)
{
    struct bench *bench = *state;

    append(bench, "not json\n\n[1,2]\n{\"type\":\"usage\"\n" HEADER("7") "{\"a\":1}}\n");
    append(bench, WINDOW(0, 10) "{\"type\":\"new\",\"x\":[{}]}\n{\"type\":\"usage\",\"to\":2");
    assert_string_equal(written(bench, &log_format), "[7] 10 new ");
    assert_int_equal(bench->feed->malformed, 5);
}

static void newer_version_is_refused(void **state)
{
    struct bench *bench = *state;

    append(bench, "{\"type\":\"header\",\"schema\":\"profres-series/3.0\"}\n" WINDOW(0, 10));
    assert_string_equal(written(bench, &log_format), "");
    assert_true(bench->feed->refused);
    assert_true(pfr_feed_is_over(bench->feed));
}

static void newer_minor_is_read(void **state)
{
    struct bench *bench = *state;

    append(bench, "{\"type\":\"header\",\"schema\":\"profres-series/2.99\","
                  "\"info\":{\"job\":\"9\"}}\n");
    append(bench, "{\"type\":\"usage\",\"ts\":\"2026-11-16T02:00:10.000Z\",\"new\":{},\"from\":0,"
                  "\"to\":1,\"num_samples\":1,\"measurements\":{\"quantum_bits\":3,"
                  "\"cgroup_mem_current\":5}}\n");
    bench->export.columns = (struct pfr_metric_set){ { 0 } };
    pfr_metric_set_add(&bench->export.columns, PFR_CGROUP_MEM_CURRENT);
    pfr_format_csv.begin(&bench->export);
    assert_string_equal(written(bench, &pfr_format_csv),
                        "job,step,node,ts,from,to,num_samples,cgroup_mem_current\n"
                        "9,0,n1,2026-11-16T02:00:10.000Z,0,1,1,5\n");
}

static void strange_file_in_its_place(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(mkfifo(bench->series, 0600), 0);
    assert_true(pfr_feed_read(bench->feed, &bench->export, &log_format) < 0);
}

/* Numbers are copied; what is none is not. */
static void no_number_no_cell(void **state)
{
    struct bench *bench = *state;

    append(bench, HEADER("7") "{\"type\":\"usage\",\"ts\":\"2026-11-16T02:00:10.000Z\",\"from\":0,"
                  "\"to\":1,\"num_samples\":null,\"measurements\":{\"cgroup_mem_current\":\"1,2\","
                  "\"cgroup_cpu_seconds\":-0.002322,\"cgroup_oom_kills\":{}}}\n"
                  "{\"type\":\"usage\",\"ts\":\"x,y\",\"to\":2,\"measurements\":{}}\n");
    bench->export.columns = (struct pfr_metric_set){ { 0 } };
    pfr_metric_set_add(&bench->export.columns, PFR_CGROUP_MEM_CURRENT);
    pfr_metric_set_add(&bench->export.columns, PFR_CGROUP_OOM_KILLS);
    pfr_metric_set_add(&bench->export.columns, PFR_CGROUP_CPU_SECONDS);
    assert_string_equal(written(bench, &pfr_format_csv),
                        "7,0,n1,2026-11-16T02:00:10.000Z,0,1,,,,-0.002322\n");
}

/* ---- hostile names ---- */

#define HOSTILE "a,b \\\"c\\\"=d\\\\\\n\\u001b[31m"

static void hostile_in_csv(void **state)
{
    struct bench *bench = *state;

    append(bench, HEADER(HOSTILE) WINDOW(0, 10));
    bench->export.columns = (struct pfr_metric_set){ { 0 } };
    assert_string_equal(written(bench, &pfr_format_csv),
                        "\"a,b \"\"c\"\"=d\\\\\\n\\x1b[31m\","
                        "0,n1,2026-11-16T02:00:10.000Z,0,10,10\n");
}

static void hostile_in_influx(void **state)
{
    struct bench *bench = *state;

    append(bench, HEADER(HOSTILE) WINDOW(0, 10));
    append(bench, "{\"type\":\"event\",\"ts\":\"2026-11-16T02:00:01.000Z\",\"t\":1,\"event\":"
                  "\"phase\",\"rank\":3,\"name\":\"say \\\"x\\\"\\\\\"}\n");
    assert_string_equal(written(bench, &pfr_format_influx),
                        "profres,job=a\\,b\\ \"c\"\\=d\\\\\\n\\x1b[31m,step=0,node=n1 "
                        "cgroup_mem_current=10000i,cgroup_cpu_seconds=0.5 1794794410000000000\n"
                        "profres_event,job=a\\,b\\ \"c\"\\=d\\\\\\n\\x1b[31m,step=0,node=n1,"
                        "event=phase,"
                        "rank=3 text=\"say \\\"x\\\"\\\\\" 1794794401000000000\n");
}

static void hostile_in_jsonl(void **state)
{
    struct bench *bench = *state;

    append(bench, HEADER(HOSTILE));
    PFR_AUTO_JSON *line = json_tokener_parse(written(bench, &pfr_format_jsonl));
    assert_json_text(line, "job", "a,b \"c\"=d\\\\\\n\\x1b[31m");
    assert_json_text(line, "type", "header");
}

static void hostile_in_openmetrics(void **state)
{
    struct bench *bench = *state;
    PFR_AUTO_JSON *summary = json_tokener_parse(
        "{\"state\":\"LIVE\",\"info\":{\"job\":\"" HOSTILE "\",\"step\":\"0\",\"node\":\"n1\"},"
        "\"measurements\":{\"cgroup_mem_current\":{\"last\":5,\"max\":9},"
        "\"cgroup_mem_sampled_peak\":{\"last\":5,\"max\":9},\"cgroup_pdcpu\":{\"last\":150.5},"
        "\"cgroup_cpu_seconds\":{\"total\":1.5},\"ps_rss_total\":{\"mean\":3}}}");

    pfr_openmetrics_write(bench->export.out, &summary, 1);
    fflush(bench->export.out);
#define LABELS "{jobid=\"a,b \\\"c\\\"=d\\\\\\\\n\\\\x1b[31m\",step=\"0\",node=\"n1\"} "
    assert_non_null(strstr(bench->text, "\nprofres_cgroup_mem_current_bytes" LABELS "5\n"));
    assert_non_null(strstr(bench->text, "\nprofres_cgroup_mem_sampled_peak_bytes" LABELS "9\n"));
    assert_non_null(strstr(bench->text, "\nprofres_cgroup_pdcpu_ratio" LABELS "1.505\n"));
    assert_non_null(strstr(bench->text, "\nprofres_cgroup_cpu_seconds_total" LABELS "1.5\n"));
    assert_null(strstr(bench->text, "ps_rss")); /* a mean is not what it is now */
}

static void names_for_prometheus(void **state)
{
    char name[PFR_OPENMETRICS_NAME], other[PFR_OPENMETRICS_NAME];

    (void)state;
    pfr_openmetrics_name(&pfr_metrics[PFR_PS_RSS_TOTAL], name);
    assert_string_equal(name, "profres_ps_rss_all_bytes");
    pfr_openmetrics_name(&pfr_metrics[PFR_PROC_COUNT], name);
    assert_string_equal(name, "profres_proc_number");
    pfr_openmetrics_name(&pfr_metrics[PFR_CGROUP_IO_READ_BYTES], name);
    assert_string_equal(name, "profres_cgroup_io_read_bytes_total");
    pfr_openmetrics_name(&pfr_metrics[PFR_CGROUP_PDCPU], name);
    assert_string_equal(name, "profres_cgroup_pdcpu_ratio");
    PFR_EACH_STEP_METRIC(i)
        PFR_EACH(k, PFR_STEP_FIRST, i) { /* none is the name of two */
            pfr_openmetrics_name(&pfr_metrics[i], name);
            pfr_openmetrics_name(&pfr_metrics[k], other);
            assert_string_not_equal(name, other);
        }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(growing_file),
        CASE(replaced_file),
        CASE(second_run),
        CASE(lost_sampler_ends_it),
        CASE(damaged_lines_are_counted),
        CASE(newer_version_is_refused),
        CASE(newer_minor_is_read),
        CASE(strange_file_in_its_place),
        CASE(no_number_no_cell),
        CASE(hostile_in_csv),
        CASE(hostile_in_influx),
        CASE(hostile_in_jsonl),
        CASE(hostile_in_openmetrics),
        cmocka_unit_test(names_for_prometheus),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
