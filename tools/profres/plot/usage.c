#include "tools/profres/plot/usage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"

#define NS 1e9
#define PERCENT_QUANTUM 1000

/* What a usage line has; the scanner of each part stands at its value. */
struct parts {
    double from, to;
    bool has_from, has_to, has_measurements, has_samples, has_processes;
    struct pfr_scan measurements, samples, processes;
};

/* ---- the shape of the lines ---- */

static enum pfr_panel_id panel_of(struct json_object *metric)
{
    const char *unit = json_object_get_string(pfr_json_get(metric, "unit"));

    return unit && strcmp(unit, "bytes") == 0 ? PFR_PANEL_GPU_MEMORY : PFR_PANEL_GPU;
}

/* Keys of accelerators are found by their first letters. */
static void want_extras(struct pfr_usage_shape *shape, struct json_object *metrics)
{
    json_object_object_foreach(metrics, key, metric) {
        if (strncmp(key, "gpu_", 4) != 0 || shape->wanted_count == PFR_EXTRAS_MAX ||
            strlen(key) >= sizeof(shape->wanted[0].key))
            continue;
        snprintf(shape->wanted[shape->wanted_count].key, sizeof(shape->wanted[0].key), "%s", key);
        shape->wanted[shape->wanted_count++].panel = panel_of(metric);
    }
}

static int column_of(struct json_object *columns, const char *name)
{
    size_t count = json_object_is_type(columns, json_type_array)
                       ? json_object_array_length(columns)
                       : 0;

    for (size_t i = 0; i < count; i++) {
        const char *column = json_object_get_string(json_object_array_get_idx(columns, i));

        if (column && strcmp(column, name) == 0)
            return (int)i;
    }
    return -1;
}

void pfr_usage_shape_set(struct pfr_usage_shape *shape, struct json_object *header)
{
    struct json_object *columns = pfr_json_get(header, "process_columns");
    struct json_object *metrics = pfr_json_get(header, "metrics");

    memset(shape, 0, sizeof(*shape));
    shape->rss = column_of(columns, "ps_rss");
    shape->cpu = column_of(columns, "ps_cpu_seconds");
    if (json_object_is_type(metrics, json_type_object))
        want_extras(shape, metrics);
}

static int plan_of(struct pfr_span key)
{
    for (size_t i = 0; i < pfr_plan_count; i++)
        if (pfr_span_is(key, pfr_plans[i].key))
            return (int)i;
    return -1;
}

/* Lines of a file have their keys in the same order: the last answer is tried first. */
static int plan_at(struct pfr_usage_shape *shape, size_t place, struct pfr_span key)
{
    int plan;

    if (place >= PFR_COUNT(shape->known) || key.length >= sizeof(shape->known[0].key))
        return plan_of(key);
    if (shape->known[place].key[0] && pfr_span_is(key, shape->known[place].key))
        return shape->known[place].plan;
    plan = plan_of(key);
    snprintf(shape->known[place].key, sizeof(shape->known[0].key), "%.*s", (int)key.length,
             key.at);
    shape->known[place].plan = plan;
    return plan;
}

/* ---- values ---- */

/* A curve that had nothing in the window before does not go on from there. */
static void follow(struct pfr_curve *curve, int64_t *seen, int64_t window)
{
    if (*seen != window - 1 && *seen != window)
        pfr_curve_break(curve);
    *seen = window;
}

static void add_value(struct pfr_trace *trace, int plan, const struct parts *parts, double value)
{
    const struct pfr_plan *how = &pfr_plans[plan];

    value *= pfr_plan_scale(how);
    if (how->draw == PFR_DRAW_GROWTH) {
        if (parts->to <= parts->from)
            return;
        value /= parts->to - parts->from;
    }
    follow(&trace->curves[plan], &trace->curve_seen[plan], trace->windows);
    pfr_curve_add_span(&trace->curves[plan], parts->from, parts->to, value);
}

static bool take_number(struct pfr_scan *scan, double *value)
{
    int64_t number;

    /* the finest that the files have: a hundred years in microseconds, 9 PB in thousandths */
    if (!pfr_scan_number(scan, PERCENT_QUANTUM, &number))
        return false;
    *value = (double)number / PERCENT_QUANTUM;
    return true;
}

static void add_extra(struct pfr_trace *trace, const struct pfr_usage_shape *shape,
                      struct pfr_span key, const struct parts *parts, struct pfr_scan *scan)
{
    struct pfr_extra *extra = NULL;
    double value;

    for (size_t i = 0; i < trace->extra_count && !extra; i++)
        if (pfr_span_is(key, trace->extras[i].key))
            extra = &trace->extras[i];
    for (size_t i = 0; i < shape->wanted_count && !extra; i++)
        if (pfr_span_is(key, shape->wanted[i].key) && trace->extra_count < PFR_EXTRAS_MAX) {
            extra = &trace->extras[trace->extra_count++];
            snprintf(extra->key, sizeof(extra->key), "%s", shape->wanted[i].key);
            extra->panel = shape->wanted[i].panel;
            pfr_curve_init(&extra->curve, trace->buckets);
        }
    if (!extra) {
        pfr_scan_skip(scan);
    } else if (take_number(scan, &value)) {
        follow(&extra->curve, &extra->seen, trace->windows);
        pfr_curve_add_span(&extra->curve, parts->from, parts->to, value);
    }
}

/* Seconds have six decimals; everything else at most three. */
static bool take_seconds(struct pfr_scan *scan, double *value)
{
    int64_t number;

    if (!pfr_scan_number(scan, INT64_C(1000000), &number))
        return false;
    *value = (double)number / 1e6;
    return true;
}

static bool is_seconds(const char *key)
{
    size_t length = strlen(key);

    return length > 8 && strcmp(key + length - 8, "_seconds") == 0;
}

static void take_measurements(struct pfr_trace *trace, struct pfr_usage_shape *shape,
                              struct parts *parts, const bool *sampled)
{
    struct pfr_scan *scan = &parts->measurements;
    struct pfr_span key;
    double value;

    if (!pfr_scan_enter(scan, '{'))
        return;
    for (size_t place = 0; pfr_scan_member(scan, &key); place++) {
        int plan = plan_at(shape, place, key);

        if (plan < 0 && shape->wanted_count > 0)
            add_extra(trace, shape, key, parts, scan);
        else if (plan < 0 || sampled[plan])
            pfr_scan_skip(scan);
        else if (is_seconds(pfr_plans[plan].key) ? take_seconds(scan, &value)
                                                 : take_number(scan, &value))
            add_value(trace, plan, parts, value);
    }
}

/* A rate needs some time: one that no short window had does go on from the one before. */
static void follow_sample(struct pfr_trace *trace, int plan, double t)
{
    struct pfr_curve *curve = &trace->curves[plan];
    bool near = curve->count && t - curve->buckets[curve->count - 1].last.t < 1;

    if (near)
        trace->curve_seen[plan] = trace->windows;
    follow(curve, &trace->curve_seen[plan], trace->windows);
}

/* The array of times and that of a measurement, side by side. */
static bool take_sample_array(struct pfr_trace *trace, int plan, struct pfr_scan times,
                              struct pfr_scan *scan)
{
    bool any = false;

    if (!pfr_scan_enter(&times, '[') || !pfr_scan_enter(scan, '['))
        return false;
    while (pfr_scan_element(scan)) {
        double value;
        int64_t t;
        bool timed = pfr_scan_element(&times) && pfr_scan_number(&times, (int64_t)NS, &t);

        if (pfr_scan_peek(scan) != '0') {
            pfr_scan_skip(scan);
            continue;
        }
        if (!take_number(scan, &value) || !timed)
            continue;
        if (!any)
            follow_sample(trace, plan, (double)t / NS);
        any = true;
        pfr_curve_add(&trace->curves[plan], (double)t / NS,
                      value * pfr_plan_scale(&pfr_plans[plan]));
    }
    return any;
}

static bool find_times(struct pfr_scan scan, struct pfr_scan *times)
{
    struct pfr_span key;

    if (!pfr_scan_enter(&scan, '{'))
        return false;
    while (pfr_scan_member(&scan, &key)) {
        *times = scan;
        if (pfr_span_is(key, "t"))
            return true;
        pfr_scan_skip(&scan);
    }
    return false;
}

/* Single samples are finer than the window: what has them is drawn from them. */
static void take_samples(struct pfr_trace *trace, struct parts *parts, bool *sampled)
{
    struct pfr_scan *scan = &parts->samples, times;
    struct pfr_span key;

    if (!find_times(*scan, &times) || !pfr_scan_enter(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        int plan = plan_of(key);

        if (plan < 0)
            pfr_scan_skip(scan);
        else
            sampled[plan] = take_sample_array(trace, plan, times, scan);
    }
}

/* ---- processes ---- */

static void add_to_member(struct pfr_trace *trace, struct pfr_member *member,
                          const struct parts *parts, double rss, double cpu)
{
    int64_t seen = member->seen;

    if (rss >= 0) {
        follow(&member->memory, &seen, trace->windows);
        pfr_curve_add_span(&member->memory, parts->from, parts->to, rss);
        member->most_memory = fmax(member->most_memory, rss);
    }
    seen = member->seen;
    if (cpu >= 0) {
        follow(&member->cpu, &seen, trace->windows);
        pfr_curve_add_span(&member->cpu, parts->from, parts->to, cpu);
        member->most_cpu = fmax(member->most_cpu, cpu);
    }
    member->seen = trace->windows;
}

/* The largest that were seen, of memory and of CPU time. */
struct most {
    double memory, cpu;
};

static struct most most_of(const struct pfr_trace *trace, double memory, double cpu)
{
    struct most most = { memory, cpu };

    for (size_t i = 0; i < trace->member_count; i++) {
        most.memory = fmax(most.memory, trace->members[i].most_memory);
        most.cpu = fmax(most.cpu, trace->members[i].most_cpu);
    }
    return most;
}

/*
 * How far a process stands out, by memory or by CPU time: the one with most memory
 * before all others, and among those that are busy all the time the larger one.
 */
static double weight_of(struct most most, double memory, double cpu)
{
    double by_memory = most.memory > 0 ? fmax(memory, 0) / most.memory : 0;
    double by_cpu = most.cpu > 0 ? fmax(cpu, 0) / most.cpu : 0;

    return (by_memory >= 1 ? 2 : fmax(by_memory, by_cpu)) + (by_memory + by_cpu) / 1000;
}

/* The member that stands out least, if it does so less than a process with these. */
static struct pfr_member *lesser_of(const struct pfr_trace *trace, double memory, double cpu)
{
    struct most most = most_of(trace, memory, cpu);
    double least = weight_of(most, memory, cpu);
    struct pfr_member *found = NULL;

    for (size_t i = 0; i < trace->member_count; i++) {
        struct pfr_member *member = &trace->members[i];
        double weight = weight_of(most, member->most_memory, member->most_cpu);

        if (weight >= least)
            continue;
        found = member;
        least = weight;
    }
    return found;
}

/*
 * The place of a process among those that stand out, that of a lesser one if
 * need be. Which it will be in the end is not known before: what came before a
 * process was large is lost, and it was small then.
 */
static struct pfr_member *member_of(struct pfr_trace *trace, int64_t pid, int64_t start,
                                    double rss, double cpu)
{
    struct pfr_member *found;

    if (!trace->members &&
        !(trace->members = calloc(PFR_MEMBERS_MAX, sizeof(*trace->members))))
        return NULL;
    for (size_t i = 0; i < trace->member_count; i++) {
        struct pfr_member *member = &trace->members[i];

        if (member->pid == pid && member->start_ticks == start)
            return member;
    }
    if (trace->member_count < PFR_MEMBERS_MAX)
        found = &trace->members[trace->member_count++];
    else
        found = lesser_of(trace, rss, cpu);
    if (!found)
        return NULL;
    pfr_curve_release(&found->memory);
    pfr_curve_release(&found->cpu);
    *found = (struct pfr_member){ .pid = pid, .start_ticks = start, .rank = -1 };
    pfr_curve_init(&found->memory, trace->buckets);
    pfr_curve_init(&found->cpu, trace->buckets);
    return found;
}

static int compare_pid(const void *a, const void *b)
{
    const struct pfr_member *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Tasks are in the order of their pids while the file is read. */
static struct pfr_member *task_of(struct pfr_trace *trace, int64_t pid, int64_t start)
{
    struct pfr_member wanted = { .pid = pid };
    struct pfr_member *task = trace->task_count
                                  ? bsearch(&wanted, trace->tasks, trace->task_count,
                                            sizeof(wanted), compare_pid)
                                  : NULL;

    if (!task || (task->start_ticks && task->start_ticks != start))
        return NULL;
    task->start_ticks = start;
    return task;
}

static void take_row(struct pfr_trace *trace, const struct pfr_usage_shape *shape,
                     const struct parts *parts, struct pfr_scan *scan)
{
    double rss = -1, cpu = -1;
    int64_t pid = 0, start = 0;
    char name[32] = "";
    struct pfr_member *member, *task;

    if (!pfr_scan_into(scan, '['))
        return;
    for (int column = 0; pfr_scan_element(scan); column++) {
        bool number = pfr_scan_peek(scan) == '0';

        if (column == 0 && number)
            pfr_scan_number(scan, 1, &pid);
        else if (column == 1 && number)
            pfr_scan_number(scan, 1, &start);
        else if (column == 2)
            pfr_scan_text(scan, name, sizeof(name));
        else if (column == shape->rss && number)
            take_number(scan, &rss);
        else if (column == shape->cpu && number)
            take_seconds(scan, &cpu);
        else
            pfr_scan_skip(scan);
    }
    /* over the window and not over its life: processes that took turns do not add up */
    cpu = cpu >= 0 && parts->to > parts->from ? cpu / (parts->to - parts->from) : -1;
    task = task_of(trace, pid, start);
    if (task)
        add_to_member(trace, task, parts, rss, cpu);
    member = member_of(trace, pid, start, rss, cpu);
    if (!member)
        return;
    snprintf(member->name, sizeof(member->name), "%s", name);
    member->rank = task ? task->rank : -1;
    add_to_member(trace, member, parts, rss, cpu);
}

static void take_processes(struct pfr_trace *trace, const struct pfr_usage_shape *shape,
                           struct parts *parts)
{
    if (!pfr_scan_enter(&parts->processes, '['))
        return;
    while (pfr_scan_element(&parts->processes))
        take_row(trace, shape, parts, &parts->processes);
}

/* ---- a line ---- */

static bool split(struct pfr_scan *scan, struct parts *parts)
{
    struct pfr_span key;
    int64_t t;

    memset(parts, 0, sizeof(*parts));
    if (!pfr_scan_enter(scan, '{'))
        return false;
    while (pfr_scan_member(scan, &key)) {
        struct pfr_scan value = *scan;

        if (pfr_span_is(key, "from") && pfr_scan_number(&value, (int64_t)NS, &t)) {
            parts->from = (double)t / NS;
            parts->has_from = true;
        } else if (pfr_span_is(key, "to") && pfr_scan_number(&value, (int64_t)NS, &t)) {
            parts->to = (double)t / NS;
            parts->has_to = true;
        } else if (pfr_span_is(key, "measurements")) {
            parts->measurements = value;
            parts->has_measurements = true;
        } else if (pfr_span_is(key, "samples")) {
            parts->samples = value;
            parts->has_samples = true;
        } else if (pfr_span_is(key, "processes")) {
            parts->processes = value;
            parts->has_processes = true;
        }
        pfr_scan_skip(scan);
    }
    return pfr_scan_done(scan) && parts->has_from && parts->has_to && parts->to >= parts->from;
}

/* The sampler was stopped, or its windows were lost. */
static void note_pause(struct pfr_trace *trace, const struct parts *parts, double last_to)
{
    if (trace->windows > 1 && parts->from > last_to + fmax(0.5, 0.5 * (parts->to - parts->from)))
        trace->windows++; /* a window is missing: nothing follows on */
}

bool pfr_usage_take(struct pfr_trace *trace, struct pfr_usage_shape *shape, const char *line,
                    size_t length)
{
    bool sampled[PFR_PLANS_MAX] = { false };
    struct pfr_scan scan;
    struct parts parts;

    pfr_scan_init(&scan, line, length);
    if (!split(&scan, &parts))
        return false;
    trace->windows++;
    note_pause(trace, &parts, shape->last_to);
    shape->last_to = parts.to;
    if (parts.has_samples)
        take_samples(trace, &parts, sampled);
    else
        trace->merged++;
    if (parts.has_measurements)
        take_measurements(trace, shape, &parts, sampled);
    if (parts.has_processes)
        take_processes(trace, shape, &parts);
    trace->end = fmax(trace->end, parts.to);
    return true;
}
