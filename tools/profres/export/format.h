/*
 * What a profile can be written as. A format gets the lines of one series after
 * the other, or, where it is about the present, the summaries.
 */
#ifndef PFR_EXPORT_FORMAT_H
#define PFR_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/metric/select.h"
#include "common/record/scan.h"
#include "tools/profres/find.h"

/* Whose line it is: what its file and the header before it say. */
struct pfr_export_source {
    const struct pfr_found *found;
    const char *node;
    char job[256], step[64];
    struct json_object *header;  /* of the run; NULL: there was none yet */
    struct json_object *summary; /* when the format wants it; else NULL */
    void *own;                   /* of the format, released by its end() */
};

struct pfr_export {
    FILE *out;
    const char *dir;                /* where files of a format that makes some go */
    struct pfr_metric_set columns;  /* which measurements */
    bool failed;                    /* a file could not be written; it was said */
};

enum pfr_line_kind { PFR_LINE_USAGE, PFR_LINE_EVENT, PFR_LINE_OTHER };

struct pfr_format {
    const char *name, *help;
    bool streams;   /* a line goes out as it comes: --follow */
    bool makes_files;
    bool summaries; /* takes summaries, not lines */
    void (*begin)(struct pfr_export *export);
    /* a run begins: source->header is new */
    void (*header)(struct pfr_export *export, struct pfr_export_source *source, const char *text,
                   size_t length);
    void (*line)(struct pfr_export *export, struct pfr_export_source *source,
                 enum pfr_line_kind kind, const char *text, size_t length);
    void (*end)(struct pfr_export *export, struct pfr_export_source *source); /* of this source */
    void (*all)(struct pfr_export *export, struct json_object *const *summaries, size_t count);
};

extern const struct pfr_format pfr_format_csv, pfr_format_jsonl, pfr_format_influx,
    pfr_format_openmetrics, pfr_format_duct, pfr_format_prmon;

/* A window, as the text of the series has it: what is absent has no length. */
struct pfr_export_window {
    struct pfr_span ts, from, to, num_samples;
    struct pfr_span value[PFR_STEP_COUNT]; /* numbers, as they are spelt */
};

/* False when it is no window. */
bool pfr_export_window_scan(struct pfr_export_window *window, const char *text, size_t length);

/* A file of this ending in the directory; NULL, and it was said, when it cannot be. */
FILE *pfr_export_file(struct pfr_export *export, const struct pfr_export_source *source,
                      const char *ending, char *name, size_t size);

/* Closes it; what could not be written is said. */
void pfr_export_close(struct pfr_export *export, FILE *file, const char *name);

#endif
