#include "tools/sampler/lost.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/mark.h"
#include "common/record/file.h"
#include "common/record/summary.h"
#include "tools/sampler/expose.h"

bool pfr_lost_parse(const char *text, struct pfr_totals *totals)
{
    long long peak, kills, cpu;

    if (sscanf(text, "%lld,%lld,%lld", &peak, &kills, &cpu) != 3)
        return false;
    *totals = (struct pfr_totals){ true, peak, kills, cpu };
    return true;
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

/* The shape of a summary, with what little there is. */
static struct json_object *lost_json(const struct pfr_options *options,
                                     const struct pfr_totals *totals)
{
    static struct pfr_availability have;
    struct pfr_info info = { .job = options->job, .step = options->step, .node = options->node,
                             .kernel = "", .cgroup_mode = "", .process_source = "none",
                             .fact_count = options->fact_count, .have = &have,
                             .wall_start = pfr_clock_ns(CLOCK_REALTIME) };
    struct json_object *object = json_object_new_object(), *measured = json_object_new_object();

    memcpy(info.facts, options->facts, sizeof(info.facts));
    pfr_json_add(object, "schema", json_object_new_string(PFR_SCHEMA_SUMMARY));
    pfr_json_add(object, "state", json_object_new_string("LOST"));
    pfr_json_add(object, "ts", pfr_json_time(info.wall_start));
    pfr_json_add(object, "info", pfr_info_json(&info));
    add_measured(measured, PFR_CGROUP_MEM_PEAK, "max", totals->mem_peak);
    add_measured(measured, PFR_CGROUP_OOM_KILLS, "total", totals->oom_kills);
    add_measured(measured, PFR_CGROUP_CPU_SECONDS, "total", totals->cpu);
    pfr_json_add(object, "measurements", measured);
    return object;
}

int pfr_lost_write(const struct pfr_options *options, const struct pfr_totals *totals)
{
    PFR_AUTO_JSON *object = lost_json(options, totals);
    char path[PATH_MAX], name[256];
    const char *text = pfr_json_line(object);
    PFR_AUTO_FD dir = -1;

    pfr_expose_clean(options);
    if (!options->dir || (size_t)snprintf(path, sizeof(path), "%s/%s", options->dir,
                                          options->step) >= sizeof(path))
        return -ENAMETOOLONG;
    dir = pfr_dir_make(path);
    if (dir < 0)
        return dir;
    snprintf(name, sizeof(name), PFR_MARK_FILE, options->node);
    unlinkat(dir, name, 0); /* the one who made it could not */
    snprintf(name, sizeof(name), "%.200s.lost.json", options->node);
    return pfr_file_replace(dir, name, text, strlen(text));
}
