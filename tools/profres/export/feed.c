#include "tools/profres/export/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/base/safe.h"
#include "common/record/reader.h"
#include "common/record/schema.h"

#define CHUNK (256u << 10)

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

struct pfr_feed *pfr_feed_new(const struct pfr_found *found, const char *node)
{
    struct pfr_feed *feed = calloc(1, sizeof(*feed));

    if (!feed)
        return NULL;
    feed->fd = -1;
    feed->last = -1;
    feed->found = (struct pfr_found){ .dir = copy(found->dir), .job = copy(found->job),
                                      .step = copy(found->step), .node = copy(node),
                                      .restart = found->restart };
    feed->dirfd = open(found->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (feed->dirfd < 0 || !feed->found.dir || !feed->found.job || !feed->found.step ||
        !feed->found.node) {
        pfr_feed_free(feed);
        return NULL;
    }
    snprintf(feed->name, sizeof(feed->name), "%.250s.jsonl", node);
    feed->source.found = &feed->found;
    feed->source.node = feed->found.node;
    pfr_safe_text(found->job, feed->source.job, sizeof(feed->source.job));
    pfr_safe_text(found->step, feed->source.step, sizeof(feed->source.step));
    return feed;
}

void pfr_feed_free(struct pfr_feed *feed)
{
    if (!feed)
        return;
    if (feed->dirfd >= 0)
        close(feed->dirfd);
    if (feed->fd >= 0)
        close(feed->fd);
    json_object_put(feed->source.header);
    json_object_put(feed->source.summary);
    free(feed->found.dir);
    free(feed->found.job);
    free(feed->found.step);
    free(feed->found.node);
    free(feed->text);
    free(feed);
}

bool pfr_feed_is_of(const struct pfr_feed *feed, const struct pfr_found *found, const char *node)
{
    return strcmp(feed->found.dir, found->dir) == 0 && strcmp(feed->found.node, node) == 0;
}

/* ---- lines ---- */

static const char *text_of(struct json_object *object, const char *key)
{
    struct json_object *value = pfr_json_get(object, key);

    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* What the run calls itself; a member of an array by the array, as people do. */
static void take_names(struct pfr_export_source *source)
{
    struct json_object *info = pfr_json_get(source->header, "info");
    struct json_object *given = pfr_json_get(info, "allocation");
    struct json_object *array = pfr_json_get(given, "array_job_id");
    const char *job = text_of(info, "job"), *step = text_of(info, "step");

    if (array)
        snprintf(source->job, sizeof(source->job), "%lld_%lld",
                 (long long)json_object_get_int64(array),
                 (long long)json_object_get_int64(pfr_json_get(given, "array_task_id")));
    else if (job)
        pfr_safe_text(job, source->job, sizeof(source->job));
    if (step)
        pfr_safe_text(step, source->step, sizeof(source->step));
}

/* False when it is of a version that we would misread. */
static bool take_header(struct pfr_feed *feed, const char *text, size_t length)
{
    struct json_object *header = pfr_object_parse(text, length);
    const char *schema = text_of(header, "schema");

    if (schema && pfr_schema_check(schema, PFR_SCHEMA_SERIES) < 0) {
        pfr_error("%s/%s is '%.60s', which this version cannot read; profres 0.1 reads"
                  " schema 1, a newer profres a later one",
                  feed->found.dir, feed->name, schema);
        feed->refused = true;
        json_object_put(header);
        return false;
    }
    json_object_put(feed->source.header);
    feed->source.header = header;
    take_names(&feed->source);
    return true;
}

/* The type of a line, which ours begin with; and the end of a window. */
static bool look(const char *text, size_t length, struct pfr_span *type, double *to)
{
    struct pfr_scan scan;
    struct pfr_span key;
    int64_t micro;

    *type = (struct pfr_span){ "", 0 };
    pfr_scan_init(&scan, text, length);
    if (!pfr_scan_enter(&scan, '{'))
        return false;
    while (pfr_scan_member(&scan, &key)) {
        if (pfr_span_is(key, "type"))
            pfr_scan_span(&scan, type);
        else if (pfr_span_is(key, "to") && pfr_scan_number(&scan, 1000000, &micro))
            *to = (double)micro / 1e6;
        else if (!pfr_span_is(key, "to"))
            pfr_scan_skip(&scan);
    }
    return pfr_scan_done(&scan);
}

static void hand_on(struct pfr_feed *feed, struct pfr_export *export,
                    const struct pfr_format *format, enum pfr_line_kind kind, const char *text,
                    size_t length)
{
    if (format->line)
        format->line(export, &feed->source, kind, text, length);
}

/*
 * Windows of a file that took the place of another are known by their end; all
 * other lines but those of processes are in it as they were, so as many as there
 * were are passed over.
 */
static bool is_known(struct pfr_feed *feed, bool usage, bool process, double to)
{
    if (usage)
        return feed->run < feed->runs || to <= feed->last;
    if (process)
        return feed->passed < feed->kept;
    if (feed->passed < feed->kept) {
        feed->passed++;
        return true;
    }
    feed->passed = ++feed->kept;
    return false;
}

static void take_line(struct pfr_feed *feed, struct pfr_export *export,
                      const struct pfr_format *format, const char *text, size_t length)
{
    double to = 0;
    struct pfr_span type;
    bool usage, process, known, header;

    if (feed->refused)
        return;
    if (!look(text, length, &type, &to)) {
        feed->malformed++;
        return;
    }
    usage = pfr_span_is(type, "usage");
    process = pfr_span_is(type, "process");
    header = pfr_span_is(type, "header");
    if (header && ++feed->run > feed->runs) {
        feed->runs = feed->run;
        feed->last = -1;
    }
    known = is_known(feed, usage, process, to);
    if (known)
        return;
    if (!process)
        feed->final = pfr_span_is(type, "final");
    if (usage)
        feed->last = to;
    if (!header)
        hand_on(feed, export, format,
                usage ? PFR_LINE_USAGE
                : pfr_span_is(type, "event") ? PFR_LINE_EVENT : PFR_LINE_OTHER,
                text, length);
    else if (take_header(feed, text, length) && format->header)
        format->header(export, &feed->source, text, length);
}

/* ---- the file ---- */

/* Hands on the whole lines of what was read, and keeps the rest. */
static void take_text(struct pfr_feed *feed, struct pfr_export *export,
                      const struct pfr_format *format)
{
    char *p = feed->text, *end = feed->text + feed->used, *newline;

    while (p < end && (newline = memchr(p, '\n', (size_t)(end - p)))) {
        if (!feed->skipping)
            take_line(feed, export, format, p, (size_t)(newline - p));
        feed->skipping = false;
        p = newline + 1;
    }
    feed->used = (size_t)(end - p);
    memmove(feed->text, p, feed->used);
    if (feed->used > PFR_LINE_MAX) {
        feed->malformed += !feed->skipping;
        feed->skipping = true;
        feed->used = 0;
    }
}

static bool make_room(struct pfr_feed *feed)
{
    char *text;

    if (feed->used + CHUNK <= feed->room)
        return true;
    text = realloc(feed->text, feed->used + 2 * CHUNK);
    if (!text)
        return false;
    feed->text = text;
    feed->room = feed->used + 2 * CHUNK;
    return true;
}

static int drain(struct pfr_feed *feed, struct pfr_export *export, const struct pfr_format *format)
{
    int some = 0;

    while (!feed->refused) {
        ssize_t n;

        if (!make_room(feed))
            return -ENOMEM;
        n = read(feed->fd, feed->text + feed->used, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        some = 1;
        feed->used += (size_t)n;
        take_text(feed, export, format);
    }
    return some;
}

static int open_series(struct pfr_feed *feed)
{
    struct stat now, before;
    PFR_AUTO_FD fd = pfr_file_open_foreign(feed->dirfd, feed->name, &now);

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    if (feed->fd >= 0 && fstat(feed->fd, &before) == 0 && before.st_ino == now.st_ino &&
        before.st_dev == now.st_dev)
        return 0;
    if (feed->fd >= 0)
        close(feed->fd);
    feed->fd = pfr_take_fd(&fd);
    feed->opened = true;
    feed->used = 0;
    feed->skipping = false;
    feed->passed = feed->run = 0;
    return 1;
}

/* The old file to its end before the new one: nothing is in neither. */
int pfr_feed_read(struct pfr_feed *feed, struct pfr_export *export, const struct pfr_format *format)
{
    int some = feed->fd >= 0 ? drain(feed, export, format) : 0, r;

    if (some < 0 && some != -ESTALE)
        return some;
    r = open_series(feed);
    if (r > 0)
        r = drain(feed, export, format);
    return r < 0 ? r : some > 0 || r > 0;
}

struct json_object *pfr_feed_summary(const struct pfr_feed *feed)
{
    char name[300];

    snprintf(name, sizeof(name), "%.250s.json", feed->found.node);
    return pfr_summary_load(feed->dirfd, name);
}

/*
 * Cut off: its summary is older than one of a run that goes on, and stays as it
 * is while we watch, for the clock of its node may be wrong (R55).
 */
static bool is_dead(struct pfr_feed *feed, struct json_object *summary)
{
    int64_t now = pfr_clock_ns(CLOCK_MONOTONIC), written = 0, window = 10 * PFR_NS_PER_S;
    const char *ts = text_of(summary, "ts");

    pfr_json_get_value(pfr_json_get(pfr_json_get(summary, "info"), "window_seconds"), PFR_SECONDS,
                       &window);
    if (!ts || !pfr_clock_parse(ts, &written))
        return false;
    if (written != feed->written) {
        feed->written = written;
        feed->watched = now;
    }
    if (now - feed->watched <= 3 * window ||
        pfr_clock_ns(CLOCK_REALTIME) - written <= 3 * window + 60 * PFR_NS_PER_S)
        return false;
    if (!feed->cut)
        pfr_error("%s/%s was cut off: nothing was written since %s", feed->found.dir, feed->name,
                  ts);
    feed->cut = true;
    return true;
}

bool pfr_feed_is_over(struct pfr_feed *feed)
{
    PFR_AUTO_JSON *summary = NULL;
    const char *state;
    char name[300];

    if (feed->refused || feed->final)
        return true;
    snprintf(name, sizeof(name), "%.250s.lost.json", feed->found.node);
    if (faccessat(feed->dirfd, name, F_OK, 0) == 0)
        return true;
    summary = pfr_feed_summary(feed);
    state = text_of(summary, "state");
    return (state && strcmp(state, "COMPLETE") == 0) || is_dead(feed, summary);
}
