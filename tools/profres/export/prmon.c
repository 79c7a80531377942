/*
 * Files as prmon writes them: a table with a line for each window, in which
 * counters are totals so far, and a summary. A column that was not measured is
 * not there; times have decimals, which prmon's have not.
 */
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/record/json.h"
#include "tools/profres/export/format.h"

/* In the order of prmon; memory in kB. */
static const struct {
    const char *name;
    enum pfr_metric_id id;
    int64_t per; /* of our quanta in one of theirs; 0 for seconds, with decimals */
} columns[] = {
    { "nprocs", PFR_PROC_COUNT, 1 },
    { "nthreads", PFR_PROC_THREADS_TOTAL, 1 },
    { "stime", PFR_CGROUP_CPU_SYSTEM_SECONDS, 0 },
    { "utime", PFR_CGROUP_CPU_USER_SECONDS, 0 },
    { "rchar", PFR_PROC_IO_RCHAR_TOTAL, 1 },
    { "read_bytes", PFR_PROC_IO_READ_BYTES_TOTAL, 1 },
    { "wchar", PFR_PROC_IO_WCHAR_TOTAL, 1 },
    { "write_bytes", PFR_PROC_IO_WRITE_BYTES_TOTAL, 1 },
    { "pss", PFR_PROC_PSS_TOTAL, 1024 },
    { "rss", PFR_PS_RSS_TOTAL, 1024 },
    { "swap", PFR_PROC_SWAP_TOTAL, 1024 },
    { "vmem", PFR_PS_VSZ_TOTAL, 1024 },
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

struct prmon {
    FILE *file;
    char name[PATH_MAX];
    bool has[COLUMN_COUNT];
    int64_t total[COLUMN_COUNT];
};

static struct json_object *in_their_unit(size_t i, int64_t value)
{
    return columns[i].per ? json_object_new_int64(value / columns[i].per)
                          : pfr_json_value(PFR_SECONDS, value);
}

static struct prmon *open_prmon(struct pfr_export *export, struct pfr_export_source *source)
{
    struct prmon *prmon = source->own;

    if (!prmon) {
        prmon = source->own = calloc(1, sizeof(*prmon));
        if (prmon)
            prmon->file = pfr_export_file(export, source, ".prmon.txt", prmon->name,
                                          sizeof(prmon->name));
    }
    return prmon && prmon->file ? prmon : NULL;
}

/* A run begins; of several in one file the last one counts. */
static void header(struct pfr_export *export, struct pfr_export_source *source, const char *text,
                   size_t length)
{
    struct json_object *metrics = pfr_json_get(source->header, "metrics");
    struct prmon *prmon = open_prmon(export, source);

    (void)text;
    (void)length;
    if (!prmon)
        return;
    prmon->file = freopen(prmon->name, "we", prmon->file);
    if (!prmon->file)
        return;
    fputs("Time", prmon->file);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        prmon->total[i] = 0;
        prmon->has[i] = pfr_json_get(metrics, pfr_metrics[columns[i].id].key);
        if (prmon->has[i])
            fprintf(prmon->file, "\t%s", columns[i].name);
    }
    fputs("\twtime\n", prmon->file);
}

/* The number in its quantum; false when the window has none. */
static bool take_value(const struct pfr_export_window *window, size_t i, int64_t *value)
{
    struct pfr_span span = window->value[pfr_step_index(columns[i].id)];
    struct pfr_scan scan;

    pfr_scan_init(&scan, span.at, span.length + 1); /* with what stands behind it */
    return span.length &&
           pfr_scan_number(&scan, pfr_unit_quantum(pfr_metrics[columns[i].id].unit), value);
}

static void put_cell(struct prmon *prmon, const struct pfr_export_window *window, size_t i)
{
    bool counter = pfr_metrics[columns[i].id].kind == PFR_COUNTER;
    int64_t value = 0;

    fputc('\t', prmon->file);
    if (!take_value(window, i, &value) && !counter)
        return; /* an empty cell */
    if (counter)
        value = prmon->total[i] += value;
    PFR_AUTO_JSON *shown = in_their_unit(i, value);
    fputs(pfr_json_line(shown), prmon->file);
}

static void line(struct pfr_export *export, struct pfr_export_source *source,
                 enum pfr_line_kind kind, const char *text, size_t length)
{
    struct prmon *prmon = source->own;
    struct pfr_export_window window;
    char ts[PFR_STAMP_SIZE];
    int64_t ns;

    (void)export;
    if (!prmon || !prmon->file || kind != PFR_LINE_USAGE ||
        !pfr_export_window_scan(&window, text, length))
        return;
    snprintf(ts, sizeof(ts), "%.*s", (int)(window.ts.length < 31 ? window.ts.length : 0),
             window.ts.length ? window.ts.at : "");
    if (!pfr_clock_parse(ts, &ns))
        return;
    fprintf(prmon->file, "%lld", (long long)(ns / PFR_NS_PER_S));
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (prmon->has[i])
            put_cell(prmon, &window, i);
    fprintf(prmon->file, "\t%.*s\n", (int)window.to.length, window.to.at);
}

/* ---- the summary ---- */

/* Gauges have a mean; of counters prmon gives a rate, but for CPU time. */
static void add_summary(struct json_object *most, struct json_object *average, size_t i,
                        struct json_object *measured, double elapsed)
{
    enum pfr_unit unit = pfr_metrics[columns[i].id].unit;
    int64_t value;

    if (pfr_json_get_value(pfr_json_get(measured, "total"), unit, &value)) {
        pfr_json_add(most, columns[i].name, in_their_unit(i, value));
        if (columns[i].per && elapsed > 0)
            pfr_json_add(average, columns[i].name,
                         pfr_json_real(PFR_ITEMS, (double)value / elapsed));
    }
    if (pfr_json_get_value(pfr_json_get(measured, "max"), unit, &value))
        pfr_json_add(most, columns[i].name, in_their_unit(i, value));
    if (pfr_json_get(measured, "mean"))
        pfr_json_add(average, columns[i].name,
                     pfr_json_real(PFR_ITEMS,
                                   json_object_get_double(pfr_json_get(measured, "mean")) /
                                       (double)columns[i].per));
}

static struct json_object *summary_json(struct json_object *summary)
{
    struct json_object *object = json_object_new_object(), *version = json_object_new_object();
    struct json_object *most = json_object_new_object(), *average = json_object_new_object();
    struct json_object *all = pfr_json_get(summary, "measurements");
    struct json_object *elapsed = pfr_json_get(summary, "elapsed_seconds");

    for (size_t i = 0; i < COLUMN_COUNT; i++)
        add_summary(most, average, i, pfr_json_get(all, pfr_metrics[columns[i].id].key),
                    json_object_get_double(elapsed));
    pfr_json_add(most, "wtime", json_object_get(elapsed));
    pfr_json_add(object, "Avg", average);
    pfr_json_add(object, "Max", most);
    pfr_json_add(version, "Version", json_object_new_string("profres " PACKAGE_VERSION));
    pfr_json_add(object, "prmon", version);
    return object;
}

static void end(struct pfr_export *export, struct pfr_export_source *source)
{
    struct prmon *prmon = source->own;
    char name[PATH_MAX];
    FILE *file;

    if (!prmon)
        return;
    if (prmon->file)
        pfr_export_close(export, prmon->file, prmon->name);
    if (prmon->file && (file = pfr_export_file(export, source, ".prmon.json", name,
                                               sizeof(name)))) {
        PFR_AUTO_JSON *summary = summary_json(source->summary);

        fprintf(file, "%s\n", json_object_to_json_string_ext(summary, JSON_C_TO_STRING_PRETTY));
        pfr_export_close(export, file, name);
    }
    free(prmon);
    source->own = NULL;
}

const struct pfr_format pfr_format_prmon = {
    .name = "prmon",
    .help = "files for prmon_plot: JOB.STEP.NODE.prmon.txt and .json",
    .makes_files = true,
    .header = header,
    .line = line,
    .end = end,
};
