#include "common/record/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/record/bound.h"
#include "common/record/file.h"
#include "common/record/instances.h"
#include "common/record/summary.h"

void pfr_series_note_error(struct pfr_series *series, int error)
{
    series->errors++;
    if (series->told)
        return;
    series->told = true;
    pfr_warning("cannot write %s: %s; going on without what does not fit", series->name,
                strerror(-error));
}

/*
 * A whole line or none: what was written of it is taken back. The length that
 * the file has grown by.
 */
static int64_t write_line(struct pfr_series *series, struct json_object *object)
{
    PFR_AUTO_FREE char *line = NULL;
    int length, r;

    if (series->fd < 0)
        return 0;
    length = asprintf(&line, "%s\n", pfr_json_line(object));
    r = length < 0 ? -ENOMEM : 0;
    if (r == 0 && series->seal.bytes - series->seal.base + length > PFR_SERIES_MOST)
        r = -EFBIG;
    if (r < 0) {
        pfr_series_note_error(series, r);
        return 0;
    }
    r = pfr_fd_write_all(series->fd, line, (size_t)length);
    if (r == 0) {
        pfr_seal_add(&series->seal, line, (size_t)length);
        return length;
    }
    pfr_series_note_error(series, r);
    if (ftruncate(series->fd, series->seal.bytes) < 0)
        pfr_series_note_error(series, -errno);
    return 0;
}

static struct json_object *line_of(const char *type, int64_t wall)
{
    struct json_object *object = json_object_new_object();

    pfr_json_add(object, "type", json_object_new_string(type));
    pfr_json_add(object, "ts", pfr_json_time(wall));
    return object;
}

/* ---- header ---- */

/* The rows in use explain every field of the file, so that it stays readable. */
static struct json_object *metrics_json(const struct pfr_info *info)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_METRIC(id) {
        const struct pfr_metric *metric = &pfr_metrics[id];
        struct json_object *row;

        if (!pfr_metric_set_has(&info->selection->wanted, id))
            continue;
        row = json_object_new_object();
        pfr_json_add(row, "kind", json_object_new_string(pfr_kind_name(metric->kind)));
        pfr_json_add(row, "unit", json_object_new_string(pfr_unit_name(metric->unit)));
        pfr_json_add(row, "reduce", json_object_new_string(pfr_reduce_name(metric->reduce)));
        pfr_json_add(row, "scope", json_object_new_string(pfr_scope_name(metric->scope)));
        pfr_json_add(row, "help", json_object_new_string(metric->help));
        pfr_json_add(object, metric->key, row);
    }
    return object;
}

/* Process rows are arrays; the command line stands in a line of its own. */
static bool is_column(const struct pfr_info *info, int id)
{
    return id != PFR_PS_CMD &&
           pfr_metric_set_has(&info->selection->wanted, id);
}

static struct json_object *process_columns_json(const struct pfr_info *info)
{
    static const char *const first[] = { "pid", "start_ticks", "comm" };
    struct json_object *array = json_object_new_array();

    for (int i = 0; i < 3; i++)
        json_object_array_add(array, json_object_new_string(first[i]));
    PFR_EACH_PID_METRIC(id)
        if (is_column(info, id))
            json_object_array_add(array, json_object_new_string(pfr_metrics[id].key));
    return array;
}

static void write_header(struct pfr_series *series)
{
    const struct pfr_info *info = series->info;
    PFR_AUTO_JSON *object = line_of("header", info->wall_start);

    pfr_json_add(object, "schema", json_object_new_string(PFR_SCHEMA_SERIES));
    pfr_json_add(object, "info", pfr_info_json(info));
    pfr_json_add(object, "metrics", metrics_json(info));
    pfr_json_add(object, "process_columns", process_columns_json(info));
    pfr_json_add(object, "families", pfr_families_json(info));
    write_line(series, object);
}

int pfr_series_open(struct pfr_series *series, const struct pfr_info *info, int dirfd,
                    const char *name)
{
    int r;

    memset(series, 0, sizeof(*series));
    series->info = info;
    series->dirfd = dirfd;
    series->limit = PFR_SERIES_LIMIT;
    series->span = info->window;
    snprintf(series->name, sizeof(series->name), "%s", name);
    series->fd = dirfd < 0 ? -1 : pfr_file_append(dirfd, name);
    if (series->fd < 0)
        return dirfd < 0 ? -ENOTDIR : series->fd;
    r = pfr_seal_begin(&series->seal, series->fd);
    if (r == 0 && series->seal.base > PFR_SERIES_EARLIER)
        r = -EFBIG;
    if (r < 0) {
        pfr_series_release(series);
        return r;
    }
    write_header(series);
    return series->told ? -EIO : 0;
}

void pfr_series_release(struct pfr_series *series)
{
    if (series->fd >= 0)
        close(series->fd);
    free(series->announced);
    series->announced = NULL;
    series->fd = -1;
}

/* ---- usage ---- */

static struct json_object *seconds_since(const struct pfr_series *series, int64_t stamp)
{
    /* Milliseconds are enough for a place in time, and shorter. */
    return pfr_json_value(PFR_SECONDS, (stamp - series->info->start) / 1000000 * 1000000);
}

static struct json_object *measurements_json(const struct pfr_usage *usage)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_STEP_METRIC(id)
        if (pfr_metric_set_has(&usage->present, id))
            pfr_json_add(object, pfr_metrics[id].key,
                         pfr_json_value(pfr_metrics[id].unit, usage->step[pfr_step_index(id)]));
    return object;
}

/* One array per detailed measurement; null where a sample has no such value. */
static struct json_object *sample_array(const struct pfr_usage *usage, enum pfr_metric_id id)
{
    struct json_object *array = json_object_new_array();
    bool any = false;

    for (uint32_t i = 0; i < usage->readings->count; i++) {
        const struct pfr_sample *sample = &usage->readings->samples[i];
        bool has = pfr_sample_has(sample, id);

        any = any || has;
        json_object_array_add(
            array, has ? pfr_json_value(pfr_metrics[id].unit, pfr_sample_get(sample, id)) : NULL);
    }
    if (any)
        return array;
    json_object_put(array);
    return NULL;
}

static bool is_detailed(const struct pfr_info *info, int id)
{
    const struct pfr_metric_set *wanted = &info->selection->wanted;
    enum pfr_metric_id better = pfr_metrics[id].yields;

    return pfr_metrics[id].detail && pfr_metric_set_has(wanted, id) &&
           (better == PFR_METRIC_NONE || !pfr_metric_set_has(wanted, better));
}

static struct json_object *samples_json(const struct pfr_series *series,
                                        const struct pfr_usage *usage)
{
    struct json_object *object = json_object_new_object(), *times = json_object_new_array();

    for (uint32_t i = 0; i < usage->readings->count; i++) {
        const struct pfr_sample *sample = &usage->readings->samples[i];
        int64_t stamp = sample->stamp[PFR_FROM_CGROUP] ? sample->stamp[PFR_FROM_CGROUP]
                                                       : sample->stamp[PFR_FROM_PROCS];

        json_object_array_add(times, seconds_since(series, stamp));
    }
    pfr_json_add(object, "t", times);
    PFR_EACH_STEP_METRIC(id) {
        struct json_object *array =
            is_detailed(series->info, id) ? sample_array(usage, id) : NULL;

        if (array)
            pfr_json_add(object, pfr_metrics[id].key, array);
    }
    return object;
}

static struct json_object *process_row(const struct pfr_series *series,
                                       const struct pfr_usage *usage, uint32_t slot)
{
    const struct pfr_process *process = &usage->processes->slots[slot];
    const struct pfr_row *row = &usage->sums[slot].window;
    struct json_object *array = json_object_new_array();

    json_object_array_add(array, json_object_new_int64(process->pid));
    json_object_array_add(array, json_object_new_int64(process->start_ticks));
    json_object_array_add(array, pfr_json_text(process->comm));
    PFR_EACH_PID_METRIC(id) {
        struct json_object *value = NULL;

        if (!is_column(series->info, id))
            continue;
        if (row->present >> id & 1)
            value = pfr_metrics[id].reduce == PFR_TALLY
                        ? pfr_tally_json(&row->states)
                        : pfr_json_value(pfr_metrics[id].unit, row->value[id]);
        json_object_array_add(array, value);
    }
    return array;
}

/* The command line of a process once, before its first row (R105). */
static void announce(struct pfr_series *series, const struct pfr_usage *usage, uint32_t slot)
{
    const struct pfr_process *process = &usage->processes->slots[slot];
    struct pfr_announced *known, now = { process->start_ticks, 0 };

    if (!process->cmd || !pfr_series_has_command_room(series, usage->to))
        return;
    now.cmd_hash = pfr_hash_text(process->cmd);
    if (slot >= series->announced_capacity) {
        uint32_t capacity = usage->processes->capacity;

        known = realloc(series->announced, capacity * sizeof(*known));
        if (!known)
            return;
        memset(known + series->announced_capacity, 0,
               (capacity - series->announced_capacity) * sizeof(*known));
        series->announced = known;
        series->announced_capacity = capacity;
    }
    known = &series->announced[slot];
    if (known->start_ticks == now.start_ticks && known->cmd_hash == now.cmd_hash)
        return;
    *known = now;
    PFR_AUTO_JSON *object = line_of("process", usage->wall);
    pfr_json_add(object, "pid", json_object_new_int64(process->pid));
    pfr_json_add(object, "start_ticks", json_object_new_int64(process->start_ticks));
    pfr_json_add(object, "ps_cmd", pfr_json_text(process->cmd));
    series->command_bytes += write_line(series, object);
}

/* Who a slot is, once, before its first row. */
static void announce_instances(struct pfr_series *series, const struct pfr_usage *usage)
{
    PFR_EACH_FAMILY(family)
        for (uint32_t i = 0; i < usage->instances->of[family].count; i++) {
            struct pfr_instance *instance = &usage->instances->of[family].list[i];
            PFR_AUTO_JSON *object = NULL;

            if (instance->announced || !pfr_family_in_use(series->info, family))
                continue;
            object = line_of("instance", usage->wall);
            pfr_json_add(object, "family", json_object_new_string(pfr_families[family].name));
            pfr_json_add(object, "slot", json_object_new_int64(i));
            pfr_json_add(object, "id", pfr_json_text(instance->id));
            pfr_json_add(object, "label", pfr_json_text(instance->label));
            pfr_json_add(object, "from", seconds_since(series, instance->from));
            instance->announced = write_line(series, object) > 0;
        }
}

void pfr_series_usage(struct pfr_series *series, const struct pfr_usage *usage)
{
    PFR_AUTO_JSON *object = NULL;
    struct json_object *rows;

    if (series->fd < 0)
        return;
    for (uint32_t i = 0; i < usage->top_count; i++)
        announce(series, usage, usage->top[i]);
    if (usage->instances)
        announce_instances(series, usage);
    object = line_of("usage", usage->wall);
    pfr_json_add(object, "from", seconds_since(series, usage->from));
    pfr_json_add(object, "to", seconds_since(series, usage->to));
    pfr_json_add(object, "num_samples", json_object_new_int64(usage->num_samples));
    pfr_json_add(object, "measurements", measurements_json(usage));
    pfr_json_add(object, "samples", samples_json(series, usage));
    if (usage->process_count) {
        rows = json_object_new_array();
        for (uint32_t i = 0; i < usage->top_count; i++)
            json_object_array_add(rows, process_row(series, usage, usage->top[i]));
        pfr_json_add(object, "process_count", json_object_new_int64(usage->process_count));
        pfr_json_add(object, "processes", rows);
    }
    if (usage->instances && (rows = pfr_rows_json(series->info, usage->instances)))
        pfr_json_add(object, "rows", rows);
    write_line(series, object);
    pfr_series_bound(series, usage->to);
}

/* ---- events and the end ---- */

void pfr_series_event(struct pfr_series *series, const char *event, int64_t wall, int64_t stamp,
                      struct json_object *object)
{
    PFR_AUTO_JSON *line = NULL;

    if (series->fd < 0) { /* not open, or not any more */
        json_object_put(object);
        return;
    }
    line = line_of("event", wall);
    pfr_json_add(line, "t", seconds_since(series, stamp));
    pfr_json_add(line, "event", json_object_new_string(event));
    if (object) {
        json_object_object_foreach(object, key, value)
            pfr_json_add(line, key, json_object_get(value));
        json_object_put(object);
    }
    write_line(series, line);
}

void pfr_series_final(struct pfr_series *series, const struct pfr_snapshot *snapshot)
{
    PFR_AUTO_JSON *object = NULL;

    if (series->fd < 0)
        return;
    object = line_of("final", snapshot->wall);
    pfr_json_add(object, "t", seconds_since(series, snapshot->now));
    pfr_json_add(object, "state", json_object_new_string(pfr_state_name(snapshot->state)));
    pfr_json_add(object, "n_pending", json_object_new_int64(snapshot->pending));
    pfr_json_add(object, "num_samples", json_object_new_int64((int64_t)snapshot->run->num_samples));
    pfr_json_add(object, "num_windows", json_object_new_int64((int64_t)snapshot->run->num_windows));
    if (snapshot->cost.saved_ticks)
        pfr_json_add(object, "saved_ticks",
                     json_object_new_int64((int64_t)snapshot->cost.saved_ticks));
    write_line(series, object);
}
