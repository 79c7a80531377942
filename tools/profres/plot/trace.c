#include "tools/profres/plot/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/safe.h"
#include "common/record/json.h"
#include "common/record/lines.h"
#include "common/record/reader.h"
#include "common/record/schema.h"
#include "tools/profres/plot/usage.h"

static const char *text_at(struct json_object *object, const char *key)
{
    struct json_object *text = pfr_json_get(object, key);

    return json_object_is_type(text, json_type_string) ? json_object_get_string(text) : NULL;
}

static bool number_at(struct json_object *object, const char *key, double *value)
{
    struct json_object *number = pfr_json_get(object, key);

    if (!json_object_is_type(number, json_type_int) &&
        !json_object_is_type(number, json_type_double))
        return false;
    *value = json_object_get_double(number);
    return isfinite(*value);
}

/* ---- tasks ---- */

/* Kept in the order of their pids; see task_of() in usage.c. */
static void add_task(struct pfr_trace *trace, struct json_object *from)
{
    double pid, rank;
    struct pfr_member *tasks;
    size_t at = 0;

    if (!number_at(from, "pid", &pid) || !number_at(from, "rank", &rank) ||
        trace->task_count >= 65536)
        return;
    while (at < trace->task_count && (double)trace->tasks[at].pid < pid)
        at++;
    if (at < trace->task_count && (double)trace->tasks[at].pid == pid)
        return;
    tasks = realloc(trace->tasks, (trace->task_count + 1) * sizeof(*tasks));
    if (!tasks)
        return;
    trace->tasks = tasks;
    memmove(tasks + at + 1, tasks + at, (trace->task_count - at) * sizeof(*tasks));
    trace->task_count++;
    tasks[at] = (struct pfr_member){ .pid = (int64_t)pid, .rank = (int)rank };
    pfr_curve_init(&tasks[at].memory, trace->buckets < 64 ? trace->buckets : 64);
    pfr_curve_init(&tasks[at].cpu, trace->buckets < 64 ? trace->buckets : 64);
}

static int compare_rank(const void *a, const void *b)
{
    const struct pfr_member *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* ---- events ---- */

static struct pfr_moment *add_moment(struct pfr_trace *trace, double from, double to)
{
    struct pfr_moment *moments;

    if (trace->moment_count >= PFR_MOMENTS_MAX)
        return NULL;
    moments = realloc(trace->moments, (trace->moment_count + 1) * sizeof(*moments));
    if (!moments)
        return NULL;
    trace->moments = moments;
    moments += trace->moment_count++;
    *moments = (struct pfr_moment){ .from = from, .to = to };
    return moments;
}

/* "python, pid 4711" of each that went, as far as there is room. */
static void list_victims(struct json_object *gone, char *text, size_t size)
{
    size_t count = json_object_is_type(gone, json_type_array) ? json_object_array_length(gone) : 0;

    for (size_t i = 0; i < count && i < 3; i++) {
        struct json_object *process = json_object_array_get_idx(gone, i);
        const char *comm = text_at(process, "comm");
        size_t used = strlen(text);

        if (comm)
            snprintf(text + used, size - used, "%s %s", i ? "," : ":", comm);
    }
}

/* Whatever else an event has, for those that we know nothing of. */
static void list_members(struct json_object *event, char *text, size_t size)
{
    json_object_object_foreach(event, key, value) {
        size_t used = strlen(text);

        if (strcmp(key, "type") == 0 || strcmp(key, "ts") == 0 || strcmp(key, "t") == 0 ||
            strcmp(key, "event") == 0 ||
            json_object_is_type(value, json_type_object) ||
            json_object_is_type(value, json_type_array))
            continue;
        snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", key,
                 json_object_get_string(value));
    }
}

static void tell_exit(struct json_object *event, struct pfr_moment *moment, char *text, size_t size)
{
    double rank = 0, value;

    number_at(event, "rank", &rank);
    if (number_at(event, "signal", &value)) {
        snprintf(text, size, "rank %.0f killed by signal %.0f", rank, value);
        moment->tone = PFR_TONE_BAD;
    } else if (number_at(event, "exit", &value)) {
        snprintf(text, size, "rank %.0f ended with %.0f", rank, value);
        moment->tone = value != 0 ? PFR_TONE_BAD : PFR_TONE_PLAIN;
        moment->routine = value == 0;
    } else {
        snprintf(text, size, "rank %.0f ended", rank);
    }
}

/* "load data", and of several tasks whose phase it is. */
static void name_phase(struct json_object *event, char *text, size_t size)
{
    const char *name = text_at(event, "name");
    double rank;

    snprintf(text, size, "%s", name ? name : "phase");
    if (number_at(event, "rank", &rank))
        snprintf(text + strlen(text), size - strlen(text), " (rank %.0f)", rank);
}

static void describe(struct json_object *event, const char *what, struct pfr_moment *moment)
{
    struct json_object *data = pfr_json_get(event, "data");
    char text[512] = "";

    if (strncmp(what, "phase", 5) == 0) {
        name_phase(event, text, sizeof(text));
    } else if (strcmp(what, "task_exit") == 0) {
        tell_exit(event, moment, text, sizeof(text));
    } else if (strcmp(what, "oom") == 0) {
        moment->tone = PFR_TONE_BAD;
        snprintf(text, sizeof(text), "out of memory");
        list_victims(pfr_json_get(event, "gone"), text, sizeof(text));
    } else {
        if (strcmp(what, "mark") != 0)
            snprintf(text, sizeof(text), "%s", what);
        list_members(json_object_is_type(data, json_type_object) ? data : event, text,
                     sizeof(text));
    }
    pfr_safe_text(text[0] ? text : what, moment->text, sizeof(moment->text));
}

/* The end of a phase: its beginning was there before, unless that line was lost. */
static struct pfr_moment *begun(struct pfr_trace *trace, struct json_object *event)
{
    struct pfr_moment wanted = { 0 };

    describe(event, "phase", &wanted);
    for (size_t i = trace->moment_count; i-- > 0;)
        if (trace->moments[i].open && strcmp(trace->moments[i].text, wanted.text) == 0)
            return &trace->moments[i];
    return NULL;
}

static void take_phase(struct pfr_trace *trace, struct json_object *event)
{
    struct pfr_moment *moment;
    double from, to;

    if (!number_at(event, "from", &from) || !number_at(event, "to", &to) || to < from)
        return;
    moment = begun(trace, event);
    if (!moment && !(moment = add_moment(trace, from, to)))
        return;
    moment->from = from;
    moment->to = to;
    moment->open = false;
    describe(event, "phase", moment);
    trace->end = fmax(trace->end, to);
}

static void take_event(struct pfr_trace *trace, struct json_object *event)
{
    const char *what = text_at(event, "event");
    struct pfr_moment *moment;
    double t;

    if (!what)
        return;
    if (strcmp(what, "task_start") == 0) {
        add_task(trace, event);
    } else if (strcmp(what, "phase") == 0) {
        take_phase(trace, event);
    } else if (number_at(event, "t", &t) && (moment = add_moment(trace, t, t))) {
        moment->open = strcmp(what, "phase_start") == 0;
        describe(event, what, moment);
        trace->end = fmax(trace->end, t);
    }
}

/* ---- the files ---- */

static void copy_text(char *to, size_t size, const char *text)
{
    if (text && *text)
        pfr_safe_text(text, to, size);
}

static int take_summary(struct pfr_trace *trace, int dir, const char *node)
{
    struct pfr_facts *facts = &trace->facts;
    int r = pfr_facts_load(facts, dir, node);

    if (r <= 0) {
        pfr_facts_init(facts);
        trace->future = r == -EPROTO;
        return r == -EPROTO ? r : 0; /* one that is cut off is as none */
    }
    trace->has_summary = true;
    trace->complete = facts->progress == PFR_PROGRESS_COMPLETE;
    copy_text(trace->job, sizeof(trace->job), facts->job);
    copy_text(trace->step, sizeof(trace->step), facts->step);
    copy_text(trace->node, sizeof(trace->node), facts->node);
    copy_text(trace->command, sizeof(trace->command), facts->command);
    if (pfr_known(facts->elapsed))
        trace->end = (double)facts->elapsed / 1e9;
    return 1;
}

/* Where there is no summary, the header says whose series it is. */
static void name_it(struct pfr_trace *trace, struct json_object *info)
{
    copy_text(trace->job, sizeof(trace->job), text_at(info, "job"));
    copy_text(trace->step, sizeof(trace->step), text_at(info, "step"));
}

static void forget_members(struct pfr_trace *trace)
{
    for (size_t i = 0; i < trace->member_count; i++) {
        pfr_curve_release(&trace->members[i].memory);
        pfr_curve_release(&trace->members[i].cpu);
    }
    for (size_t i = 0; i < trace->task_count; i++) {
        pfr_curve_release(&trace->tasks[i].memory);
        pfr_curve_release(&trace->tasks[i].cpu);
        trace->tasks[i].start_ticks = 0;
    }
    trace->member_count = 0;
}

/* A header ends the run before it, which was another. */
static void forget_curves(struct pfr_trace *trace)
{
    for (size_t i = 0; i < PFR_PLANS_MAX; i++)
        pfr_curve_release(&trace->curves[i]);
    for (size_t i = 0; i < trace->extra_count; i++)
        pfr_curve_release(&trace->extras[i].curve);
    forget_members(trace);
    memset(trace->curve_seen, 0, sizeof(trace->curve_seen));
    trace->extra_count = trace->moment_count = trace->task_count = 0;
    trace->windows = trace->merged = 0;
}

static int take_header(struct pfr_trace *trace, struct pfr_usage_shape *shape,
                       struct json_object *header)
{
    const char *schema = text_at(header, "schema");

    forget_curves(trace);
    trace->future = !schema || pfr_schema_check(schema, PFR_SCHEMA_SERIES) < 0;
    if (trace->future)
        return -EPROTO;
    pfr_usage_shape_set(shape, header);
    if (!trace->has_summary) {
        trace->end = 0;
        name_it(trace, pfr_json_get(header, "info"));
    }
    return 1;
}

static bool type_is(const char *line, size_t length, struct pfr_span *type)
{
    struct pfr_scan scan;
    struct pfr_span key;

    pfr_scan_init(&scan, line, length);
    if (!pfr_scan_enter(&scan, '{'))
        return false;
    while (pfr_scan_member(&scan, &key)) {
        if (pfr_span_is(key, "type"))
            return pfr_scan_span(&scan, type);
        pfr_scan_skip(&scan);
    }
    return false;
}

static struct json_object *parse(const char *line, size_t length)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *object = tokener ? json_tokener_parse_ex(tokener, line, (int)length) : NULL;

    json_tokener_free(tokener);
    if (json_object_is_type(object, json_type_object))
        return object;
    json_object_put(object);
    return NULL;
}

/* False: malformed. */
static bool take_line(struct pfr_trace *trace, struct pfr_usage_shape *shape, const char *line,
                      size_t length)
{
    PFR_AUTO_JSON *object = NULL;
    struct pfr_span type;
    double t;

    if (!type_is(line, length, &type))
        return false;
    if (pfr_span_is(type, "usage"))
        return trace->future || pfr_usage_take(trace, shape, line, length);
    if (!pfr_span_is(type, "header") && !pfr_span_is(type, "event") && !pfr_span_is(type, "final"))
        return true; /* of no interest, or of a later version */
    object = parse(line, length);
    if (!object)
        return false;
    if (pfr_span_is(type, "header"))
        take_header(trace, shape, object);
    else if (pfr_span_is(type, "event") && !trace->future)
        take_event(trace, object);
    else if (number_at(object, "t", &t) && t > trace->end)
        trace->end = t;
    return true;
}

static int take_series(struct pfr_trace *trace, int dir, const char *node)
{
    PFR_AUTO_FREE struct pfr_usage_shape *shape = calloc(1, sizeof(*shape));
    struct pfr_lines lines;
    char name[NAME_MAX + 1];
    const char *line;
    struct stat st;
    size_t length;
    int fd, r;

    if (!shape || (size_t)snprintf(name, sizeof(name), "%s.jsonl", node) >= sizeof(name))
        return -ENOMEM;
    fd = pfr_file_open_foreign(dir, name, &st);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    shape->rss = shape->cpu = -1;
    pfr_lines_init(&lines, fd);
    while ((r = pfr_lines_next(&lines, &line, &length)) > 0)
        if (!take_line(trace, shape, line, length))
            trace->malformed++;
    trace->lines = (uint64_t)lines.count;
    trace->malformed += (uint64_t)lines.too_long;
    trace->torn = lines.torn;
    pfr_lines_release(&lines);
    return r < 0 ? r : trace->future ? -EPROTO : 1;
}

int pfr_trace_load(struct pfr_trace *trace, const char *dir, const char *node, size_t buckets)
{
    PFR_AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int summary, series;

    memset(trace, 0, sizeof(*trace));
    pfr_facts_init(&trace->facts);
    trace->buckets = buckets;
    for (size_t i = 0; i < PFR_PLANS_MAX; i++)
        pfr_curve_init(&trace->curves[i], buckets);
    pfr_safe_text(node, trace->node, sizeof(trace->node));
    if (fd < 0)
        return -errno;
    summary = take_summary(trace, fd, node);
    series = take_series(trace, fd, node);
    for (size_t i = 0; i < trace->moment_count; i++)
        if (trace->moments[i].open) /* it goes on */
            trace->moments[i].to = trace->end;
    if (trace->task_count)
        qsort(trace->tasks, trace->task_count, sizeof(*trace->tasks), compare_rank);
    if (summary < 0 || series < 0)
        return summary < 0 ? summary : series;
    return summary > 0 || series > 0;
}

void pfr_trace_release(struct pfr_trace *trace)
{
    forget_curves(trace);
    free(trace->members);
    free(trace->tasks);
    free(trace->moments);
    memset(trace, 0, sizeof(*trace));
}

void pfr_trace_slim(struct pfr_trace *trace)
{
    size_t kept = 0;

    for (size_t i = 0; i < pfr_plan_count; i++) {
        if (pfr_plans[i].compared)
            pfr_curve_shrink(&trace->curves[i], trace->buckets);
        else
            pfr_curve_release(&trace->curves[i]);
    }
    forget_members(trace);
    free(trace->members);
    free(trace->tasks);
    trace->members = trace->tasks = NULL;
    trace->task_count = 0;
    for (size_t i = 0; i < trace->moment_count; i++)
        if (trace->moments[i].tone == PFR_TONE_BAD)
            trace->moments[kept++] = trace->moments[i];
    trace->moment_count = kept;
}

const struct pfr_curve *pfr_trace_curve(const struct pfr_trace *trace, const char *key)
{
    for (size_t i = 0; i < pfr_plan_count; i++)
        if (strcmp(pfr_plans[i].key, key) == 0)
            return trace->curves[i].count ? &trace->curves[i] : NULL;
    return NULL;
}

double pfr_trace_size(const struct pfr_trace *trace)
{
    enum pfr_metric_id source = pfr_facts_memory_source(&trace->facts);

    return source == PFR_METRIC_NONE ? 0 : (double)pfr_facts_value(&trace->facts, source);
}

double pfr_trace_cpu(const struct pfr_trace *trace)
{
    enum pfr_metric_id source = pfr_facts_cpu_source(&trace->facts);

    return source == PFR_METRIC_NONE ? 0 : (double)pfr_facts_value(&trace->facts, source) / 1e9;
}
