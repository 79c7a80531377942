#include <errno.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "tools/profres/export/format.h"

/* Nothing but these characters: it is copied as it stands. */
static bool is_made_of(struct pfr_span span, const char *characters)
{
    for (size_t i = 0; i < span.length; i++)
        if (!span.at[i] || !strchr(characters, span.at[i]))
            return false;
    return true;
}

/* The text of a number; nothing when it is something else. */
static struct pfr_span scan_raw(struct pfr_scan *scan)
{
    bool number = pfr_scan_peek(scan) == '0';
    struct pfr_span span = { scan->p, 0 };

    if (pfr_scan_skip(scan) && number)
        span.length = (size_t)(scan->p - span.at);
    return is_made_of(span, "0123456789.eE+-") ? span : (struct pfr_span){ "", 0 };
}

/* Keys come in the order of the table: the next one is looked for first. */
static int find_key(struct pfr_span key, int from)
{
    for (int i = 0; i < PFR_STEP_COUNT; i++) {
        int at = (from + i) % PFR_STEP_COUNT;

        if (pfr_span_is(key, pfr_metrics[pfr_step_metric(at)].key))
            return at;
    }
    return -1;
}

static void scan_measurements(struct pfr_scan *scan, struct pfr_export_window *window)
{
    struct pfr_span key;
    int next = 0;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        int at = find_key(key, next);

        if (at < 0) {
            pfr_scan_skip(scan); /* of a newer version */
            continue;
        }
        window->value[at] = scan_raw(scan);
        next = (at + 1) % PFR_STEP_COUNT;
    }
}

bool pfr_export_window_scan(struct pfr_export_window *window, const char *text, size_t length)
{
    struct pfr_scan scan;
    struct pfr_span key;

    *window = (struct pfr_export_window){ 0 };
    pfr_scan_init(&scan, text, length);
    if (!pfr_scan_enter(&scan, '{'))
        return false;
    while (pfr_scan_member(&scan, &key)) {
        if (pfr_span_is(key, "ts"))
            pfr_scan_span(&scan, &window->ts);
        else if (pfr_span_is(key, "from"))
            window->from = scan_raw(&scan);
        else if (pfr_span_is(key, "to"))
            window->to = scan_raw(&scan);
        else if (pfr_span_is(key, "num_samples"))
            window->num_samples = scan_raw(&scan);
        else if (pfr_span_is(key, "measurements"))
            scan_measurements(&scan, window);
        else
            pfr_scan_skip(&scan);
    }
    return pfr_scan_done(&scan) && window->to.length && is_made_of(window->ts, "0123456789-:.TZ");
}

FILE *pfr_export_file(struct pfr_export *export, const struct pfr_export_source *source,
                      const char *ending, char *name, size_t size)
{
    FILE *file = NULL;

    errno = ENAMETOOLONG;
    if ((size_t)snprintf(name, size, "%s/%s.%s.%s%s", export->dir, source->found->job,
                         source->found->step, source->node, ending) < size)
        file = fopen(name, "we");
    if (!file) {
        pfr_error("cannot write %s: %s", name, strerror(errno));
        export->failed = true;
    }
    return file;
}

void pfr_export_close(struct pfr_export *export, FILE *file, const char *name)
{
    bool wrong = ferror(file) != 0;

    if (fclose(file) == 0 && !wrong)
        return;
    pfr_error("cannot write %s: %s", name, strerror(errno ? errno : EIO));
    export->failed = true;
}
