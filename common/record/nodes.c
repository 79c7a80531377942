/* The nodes of a step put together for the brief. */
#include <string.h>

#include "common/record/brief.h"

static struct json_object *measurement(struct json_object *summary, const char *key)
{
    return pfr_json_get(pfr_json_get(summary, "measurements"), key);
}

static double peak_of(struct json_object *summary)
{
    return json_object_get_double(pfr_json_get(measurement(summary, "cgroup_mem_peak"), "max"));
}

/* The node that asks for most is the one that --mem has to hold. */
static struct json_object *largest(struct json_object *summaries)
{
    struct json_object *best = json_object_array_get_idx(summaries, 0);

    for (size_t i = 1; i < json_object_array_length(summaries); i++) {
        struct json_object *other = json_object_array_get_idx(summaries, i);

        if (peak_of(other) > peak_of(best))
            best = other;
    }
    return best;
}

/* object[key] over all summaries, found by `get`; absent in one is absent in the sum. */
static void sum_at(struct json_object *summaries, const char *room, const char *key,
                   const char *field, struct json_object *to, const char *to_key)
{
    double sum = 0;

    for (size_t i = 0; i < json_object_array_length(summaries); i++) {
        struct json_object *object = json_object_array_get_idx(summaries, i);
        struct json_object *value = NULL;

        object = room ? pfr_json_get(object, room) : object;
        value = field ? pfr_json_get(pfr_json_get(object, key), field) : pfr_json_get(object, key);
        if (!value) {
            json_object_object_del(to, to_key);
            return;
        }
        sum += json_object_get_double(value);
    }
    pfr_json_add(to, to_key, json_object_new_double(sum));
}

static void sum_totals(struct json_object *summaries, struct json_object *merged)
{
    static const char *const keys[] = {
        "cgroup_cpu_seconds", "ps_cpu_seconds_total", "cgroup_cpu_unattributed_seconds",
        "cgroup_io_read_bytes", "cgroup_io_write_bytes", "proc_io_read_bytes_total",
        "proc_io_write_bytes_total", "cgroup_oom_kills",
    };
    struct json_object *measured = pfr_json_get(merged, "measurements");

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (pfr_json_get(measured, keys[i]))
            sum_at(summaries, "measurements", keys[i], "total", pfr_json_get(measured, keys[i]),
                   "total");
    /* rates and counts of several nodes were not taken at the same time */
    json_object_object_del(measured, "cgroup_pdcpu");
    json_object_object_del(measured, "ps_pdcpu_total");
    json_object_object_del(measured, "proc_count");
}

static void gather(struct json_object *summaries, struct json_object *merged)
{
    struct json_object *tasks = json_object_new_array();
    double longest = 0;

    for (size_t i = 0; i < json_object_array_length(summaries); i++) {
        struct json_object *summary = json_object_array_get_idx(summaries, i);
        struct json_object *some = pfr_json_get(summary, "tasks");
        const char *state = json_object_get_string(pfr_json_get(summary, "state"));
        double elapsed = json_object_get_double(pfr_json_get(summary, "elapsed_seconds"));

        for (size_t k = 0; some && k < json_object_array_length(some); k++)
            json_object_array_add(tasks, json_object_get(json_object_array_get_idx(some, k)));
        longest = elapsed > longest ? elapsed : longest;
        if (state && strcmp(state, "COMPLETE") != 0)
            pfr_json_add(merged, "state", json_object_new_string(state));
    }
    pfr_json_add(merged, "tasks", tasks);
    pfr_json_add(merged, "elapsed_seconds", json_object_new_double(longest));
}

struct json_object *pfr_brief_merge(struct json_object *summaries)
{
    struct json_object *first = largest(summaries);
    struct json_object *merged, *allocation;

    if (json_object_array_length(summaries) == 1)
        return json_object_get(first);
    merged = json_tokener_parse(json_object_to_json_string(first));
    if (!merged)
        return json_object_get(first);
    allocation = pfr_json_get(pfr_json_get(merged, "info"), "allocation");
    gather(summaries, merged);
    sum_totals(summaries, merged);
    sum_at(summaries, NULL, "num_samples", NULL, merged, "num_samples");
    sum_at(summaries, NULL, "n_pending", NULL, merged, "n_pending");
    sum_at(summaries, "sampler", "cpu_seconds", NULL, pfr_json_get(merged, "sampler"),
           "cpu_seconds");
    sum_at(summaries, "processes", "seen", NULL, pfr_json_get(merged, "processes"), "seen");
    if (allocation)
        sum_at(summaries, "info", "allocation", "job_cpus", allocation, "job_cpus");
    pfr_json_add(merged, "merged_nodes",
                 json_object_new_int64((int64_t)json_object_array_length(summaries)));
    return merged;
}
