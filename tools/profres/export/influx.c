/*
 * Line protocol of InfluxDB: a point for each window and one for each event.
 * Bytes and counts are integers, seconds and percent floats, always, for a field
 * has one type for ever.
 */
#include <json-c/json.h>

#include "common/base/clock.h"
#include "common/record/json.h"
#include "tools/profres/export/format.h"

/* A tag: what would end it is escaped, and there is no way to write a newline. */
static void put_tag(FILE *out, const char *key, const char *text)
{
    if (!*text)
        return;
    fprintf(out, ",%s=", key);
    for (; *text; text++) {
        if (strchr(", =", *text))
            fputc('\\', out);
        /* a backslash at the end would take the delimiter with it */
        fputc((unsigned char)*text < ' ' || (*text == '\\' && !text[1]) ? '_' : *text, out);
    }
}

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void put_series(struct pfr_export *export, const struct pfr_export_source *source,
                       const char *measurement)
{
    fputs(measurement, export->out);
    put_tag(export->out, "job", source->job);
    put_tag(export->out, "step", source->step);
    put_tag(export->out, "node", source->node);
}

static bool parse_time(struct pfr_span ts, int64_t *ns)
{
    char text[PFR_STAMP_SIZE];

    snprintf(text, sizeof(text), "%.*s", (int)(ts.length < 31 ? ts.length : 31),
             ts.length ? ts.at : "");
    return pfr_clock_parse(text, ns);
}

static void put_window(struct pfr_export *export, const struct pfr_export_source *source,
                       const char *text, size_t length)
{
    struct pfr_export_window window;
    int64_t ns;
    bool any = false;

    if (!pfr_export_window_scan(&window, text, length) || !parse_time(window.ts, &ns))
        return;
    for (int i = 0; i < PFR_STEP_COUNT; i++) {
        const struct pfr_metric *metric = &pfr_metrics[pfr_step_metric(i)];
        struct pfr_span value = window.value[i];
        bool whole = metric->unit != PFR_SECONDS && metric->unit != PFR_PERCENT;

        if (!value.length ||
            !pfr_metric_set_has(&export->columns, pfr_step_metric(i)))
            continue;
        if (!any)
            put_series(export, source, "profres");
        fputc_unlocked(any ? ',' : ' ', export->out);
        fputs_unlocked(metric->key, export->out);
        fputc_unlocked('=', export->out);
        fwrite_unlocked(value.at, 1, value.length, export->out);
        if (whole)
            fputc_unlocked('i', export->out);
        any = true;
    }
    if (any)
        fprintf(export->out, " %lld\n", (long long)ns);
}

/*
 * Of what happened: its name, its time in the run, and what a phase is called. The
 * rank is a tag: tasks start in the same millisecond, and of two points with the
 * same tags and time the database keeps one.
 */
static void put_event(struct pfr_export *export, const struct pfr_export_source *source,
                      const char *text, size_t length)
{
    char event[64] = "", name[256] = "", ts[PFR_STAMP_SIZE] = "", rank[24] = "";
    struct pfr_scan scan;
    struct pfr_span key;
    int64_t ns, number;

    pfr_scan_init(&scan, text, length);
    if (!pfr_scan_enter(&scan, '{'))
        return;
    while (pfr_scan_member(&scan, &key)) {
        if (pfr_span_is(key, "event")) {
            pfr_scan_text(&scan, event, sizeof(event));
        } else if (pfr_span_is(key, "name")) {
            pfr_scan_text(&scan, name, sizeof(name));
        } else if (pfr_span_is(key, "ts")) {
            pfr_scan_text(&scan, ts, sizeof(ts));
        } else if (pfr_span_is(key, "rank")) {
            if (pfr_scan_number(&scan, 1, &number))
                snprintf(rank, sizeof(rank), "%lld", (long long)number);
        } else {
            pfr_scan_skip(&scan);
        }
    }
    if (!pfr_scan_done(&scan) || !*event || !pfr_clock_parse(ts, &ns))
        return;
    put_series(export, source, "profres_event");
    put_tag(export->out, "event", event);
    put_tag(export->out, "rank", rank);
    fputs(" text=", export->out);
    put_string(export->out, *name ? name : event);
    fprintf(export->out, " %lld\n", (long long)ns);
}

static void line(struct pfr_export *export, struct pfr_export_source *source,
                 enum pfr_line_kind kind, const char *text, size_t length)
{
    if (kind == PFR_LINE_USAGE)
        put_window(export, source, text, length);
    else if (kind == PFR_LINE_EVENT)
        put_event(export, source, text, length);
}

const struct pfr_format pfr_format_influx = {
    .name = "influx",
    .help = "InfluxDB line protocol: a point for each window and event",
    .streams = true,
    .line = line,
};
