/*
 * CSV: a row for each window, and a column for each measurement of the step in
 * the order of the table, whether it was measured or not. Numbers are copied as
 * they are spelt, so integers stay integers; what was not measured is empty.
 */
#include <json-c/json.h>

#include "tools/profres/export/format.h"

/* RFC 4180 */
static void put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_span(FILE *out, struct pfr_span span)
{
    fputc_unlocked(',', out);
    if (span.length)
        fwrite_unlocked(span.at, 1, span.length, out);
}

static bool is_column(const struct pfr_export *export, int i)
{
    return pfr_metric_set_has(&export->columns, pfr_step_metric(i));
}

static void begin(struct pfr_export *export)
{
    fputs("job,step,node,ts,from,to,num_samples", export->out);
    for (int i = 0; i < PFR_STEP_COUNT; i++)
        if (is_column(export, i))
            fprintf(export->out, ",%s", pfr_metrics[pfr_step_metric(i)].key);
    fputc('\n', export->out);
}

static void line(struct pfr_export *export, struct pfr_export_source *source,
                 enum pfr_line_kind kind, const char *text, size_t length)
{
    struct pfr_export_window window;

    if (kind != PFR_LINE_USAGE || !pfr_export_window_scan(&window, text, length))
        return;
    put_text(export->out, source->job);
    fputc(',', export->out);
    put_text(export->out, source->step);
    fputc(',', export->out);
    put_text(export->out, source->node);
    put_span(export->out, window.ts);
    put_span(export->out, window.from);
    put_span(export->out, window.to);
    put_span(export->out, window.num_samples);
    for (int i = 0; i < PFR_STEP_COUNT; i++)
        if (is_column(export, i))
            put_span(export->out, window.value[i]);
    fputc('\n', export->out);
}

const struct pfr_format pfr_format_csv = {
    .name = "csv",
    .help = "a row for each window, a column for each measurement",
    .streams = true,
    .begin = begin,
    .line = line,
};
