#include "tools/sampler/lost.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/mark.h"
#include "common/base/parse.h"
#include "common/collect/shape.h"
#include "common/record/file.h"
#include "common/record/summary.h"
#include "tools/sampler/expose.h"

/* Births are in ticks of 10 ms, rounded down. */
#define BIRTH_SLACK (PFR_NS_PER_S / 100)

bool pfr_lost_is(const struct pfr_env *env, pid_t pid, int64_t when)
{
    int64_t asleep = pfr_env_now(env, CLOCK_BOOTTIME) - pfr_env_now(env, CLOCK_MONOTONIC), birth;
    char path[PATH_MAX + 32], text[1024];
    struct pfr_stat_line line;

    snprintf(path, sizeof(path), "%s/%d/stat", env->proc, (int)pid);
    if (pfr_file_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0 ||
        pfr_shape_stat(text, &line) <= 0)
        return true;
    birth = line.field[PFR_STAT_START] * (PFR_NS_PER_S / env->clock_ticks) - asleep;
    return birth > when + BIRTH_SLACK;
}

void pfr_lost_start(struct pfr_session *session, pid_t pid, int rank, int64_t when)
{
    struct pfr_lost *lost = &session->lost;

    if (!lost->tasks)
        lost->tasks = calloc(PFR_TASKS_MAX, sizeof(*lost->tasks));
    if (lost->tasks && lost->count < PFR_TASKS_MAX)
        lost->tasks[lost->count++] = (struct pfr_task){ .pid = pid, .rank = rank, .started = when,
                                                        .mem_peak = -1, .cpu = -1,
                                                        .oom_kills = -1 };
}

void pfr_lost_end(struct pfr_session *session, pid_t pid, const struct pfr_task_end *end)
{
    struct pfr_lost *lost = &session->lost;

    for (uint32_t i = 0; i < lost->count; i++)
        if (lost->tasks[i].pid == pid && !lost->tasks[i].ended) {
            lost->tasks[i].wait_status = end->wait_status;
            lost->tasks[i].ended = end->ended;
            return;
        }
}

void pfr_lost_join(struct pfr_session *session)
{
    for (uint32_t i = 0; i < session->lost.count && session->task_count < PFR_TASKS_MAX; i++)
        session->tasks[session->task_count++] = session->lost.tasks[i];
}

static void add_measured(struct json_object *object, enum pfr_metric_id id, const char *field,
                         int64_t value)
{
    struct json_object *row;

    if (value < 0)
        return;
    row = json_object_new_object();
    pfr_json_add(row, field, pfr_json_value(pfr_metrics[id].unit, value));
    pfr_json_add(object, pfr_metrics[id].key, row);
}

/* When the first was seen, or now: both clocks. */
static void set_start(const struct pfr_session *session, struct pfr_info *info)
{
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC);

    info->start = session->lost.count ? session->lost.tasks[0].started : now;
    info->wall_start = pfr_env_now(&session->env, CLOCK_REALTIME) - (now - info->start);
}

/* The shape of a summary, with what little there is. */
static struct json_object *lost_json(const struct pfr_session *session)
{
    const struct pfr_options *options = &session->options;
    const struct pfr_totals *totals = &session->totals;
    struct pfr_info info = { .job = options->job, .step = options->step, .node = options->node,
                             .fact_count = options->fact_count };
    struct pfr_snapshot snapshot = { .info = &info, .tasks = session->lost.tasks,
                                     .task_count = session->lost.count };
    struct json_object *object = json_object_new_object(), *measured = json_object_new_object();

    memcpy(info.facts, options->facts, sizeof(info.facts));
    set_start(session, &info);
    snapshot.now = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    pfr_json_add(object, "schema", json_object_new_string(PFR_SCHEMA_SUMMARY));
    pfr_json_add(object, "state", json_object_new_string("LOST"));
    pfr_json_add(object, "ts", pfr_json_time(pfr_env_now(&session->env, CLOCK_REALTIME)));
    pfr_json_add(object, "info", pfr_info_json(&info));
    if (totals->given) {
        add_measured(measured, PFR_CGROUP_MEM_PEAK, "max", totals->mem_peak);
        add_measured(measured, PFR_CGROUP_OOM_KILLS, "total", totals->oom_kills);
        add_measured(measured, PFR_CGROUP_CPU_SECONDS, "total", totals->cpu);
    }
    pfr_json_add(object, "measurements", measured);
    pfr_summary_tasks(object, &snapshot);
    return object;
}

int pfr_lost_write(struct pfr_session *session)
{
    const struct pfr_options *options = &session->options;
    PFR_AUTO_JSON *object = NULL;
    char path[PATH_MAX], name[256];
    PFR_AUTO_FD dir = -1;
    const char *text;

    if (session->started || session->lost.written ||
        (!session->totals.given && !session->lost.count))
        return 0;
    session->lost.written = true;
    pfr_expose_clean(options);
    if (!options->dir || (size_t)snprintf(path, sizeof(path), "%s/%s", options->dir,
                                          options->step) >= sizeof(path))
        return -ENAMETOOLONG;
    dir = pfr_dir_make(path);
    if (dir < 0)
        return dir;
    snprintf(name, sizeof(name), PFR_MARK_FILE, options->node);
    unlinkat(dir, name, 0); /* the one who made it could not */
    object = lost_json(session);
    text = pfr_json_line(object);
    snprintf(name, sizeof(name), "%.200s.lost.json", options->node);
    return pfr_file_replace(dir, name, text, strlen(text));
}
