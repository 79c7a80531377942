/*
 * The lines of the series, those of all nodes and steps in one stream: each gets
 * the job, the step and the node it is of.
 */
#include <json-c/json.h>

#include "common/base/safe.h"
#include "common/base/utf8.h"
#include "common/record/json.h"
#include "tools/profres/export/format.h"

static void put_member(FILE *out, const char *key, const char *text)
{
    PFR_AUTO_JSON *value = pfr_json_text(text);

    fprintf(out, "\"%s\":%s,", key, pfr_json_line(value));
}

/* As \uXXXX; what is no UTF-8 becomes the replacement character. */
static void put_code(FILE *out, uint32_t code)
{
    if (code > 0xffff) {
        fprintf(out, "\\u%04x", (unsigned)(0xd800 + ((code - 0x10000) >> 10)));
        code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    fprintf(out, "\\u%04x", (unsigned)code);
}

/* What a terminal would obey may stand in a string only, and there it is escaped. */
static void put_safe(FILE *out, const char *text, const char *end)
{
    while (text < end) {
        const char *plain = text;
        char next[5] = "";
        uint32_t code = 0xfffd;
        size_t left;
        int n;

        while (text < end && *text >= ' ' && *text < 0x7f)
            text++;
        fwrite(plain, 1, (size_t)(text - plain), out);
        left = (size_t)(end - text);
        if (left == 0)
            break;
        memcpy(next, text, left < 4 ? left : 4);
        n = pfr_utf8_decode(next, &code);
        if (n > 0 && !pfr_safe_is_harmful(code))
            fwrite(text, 1, (size_t)n, out);
        else if (*text == '\t' || *text == '\r')
            fputc(' ', out);
        else
            put_code(out, code);
        text += n > 0 ? n : 1;
    }
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
    put_safe(export->out, brace + 1, text + length);
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
