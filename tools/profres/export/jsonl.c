/*
 * The lines of the series, those of all nodes and steps in one stream: each gets
 * the job, the step and the node it is of.
 */
#include <json-c/json.h>

#include "common/record/json.h"
#include "tools/profres/export/format.h"

static void put_member(FILE *out, const char *key, const char *text)
{
    PFR_AUTO_JSON *value = pfr_json_text(text);

    fprintf(out, "\"%s\":%s,", key, pfr_json_line(value));
}

/* The line itself is copied; what is not even an object was passed over before. */
static void put_line(struct pfr_export *export, const struct pfr_export_source *source,
                     const char *text, size_t length)
{
    const char *brace = memchr(text, '{', length);
    struct pfr_scan scan;

    pfr_scan_init(&scan, text, length);
    if (!brace || !pfr_scan_skip(&scan) || !pfr_scan_done(&scan))
        return;
    fputc('{', export->out);
    put_member(export->out, "job", source->job);
    put_member(export->out, "step", source->step);
    put_member(export->out, "node", source->node);
    fwrite(brace + 1, 1, (size_t)(text + length - brace - 1), export->out);
    fputc('\n', export->out);
}

static void header(struct pfr_export *export, struct pfr_export_source *source, const char *text,
                   size_t length)
{
    put_line(export, source, text, length);
}

static void line(struct pfr_export *export, struct pfr_export_source *source,
                 enum pfr_line_kind kind, const char *text, size_t length)
{
    (void)kind;
    put_line(export, source, text, length);
}

const struct pfr_format pfr_format_jsonl = {
    .name = "jsonl",
    .help = "the lines of the series, each with its job, step and node",
    .streams = true,
    .header = header,
    .line = line,
};
