#include "common/record/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/base/parse.h"
#include "common/record/instances.h"

#define BINS 16

const char *pfr_state_name(enum pfr_state state)
{
    static const char *const names[] = { "LIVE", "DRAINING", "COMPLETE" };

    return names[state];
}

static struct json_object *command_json(char *const *command)
{
    struct json_object *array = json_object_new_array();

    for (; *command; command++)
        json_object_array_add(array, pfr_json_text(*command));
    return array;
}

static struct json_object *cgroups_json(const struct pfr_info *info)
{
    struct json_object *object = json_object_new_object();

    for (int i = 0; i < info->cgroup_count; i++) {
        const struct pfr_info_cgroup *cgroup = &info->cgroups[i];
        struct json_object *row = json_object_new_object();

        pfr_json_add(row, "path", pfr_json_text(cgroup->path));
        pfr_json_add(row, "scoped", json_object_new_boolean(cgroup->scoped));
        if (!cgroup->scoped)
            pfr_json_add(row, "reason", pfr_json_text(cgroup->reason));
        pfr_json_add(object, cgroup->controller, row);
    }
    return object;
}

/* Named by the user or not: what is not measured here, and why (R27). */
static struct json_object *unavailable_json(const struct pfr_availability *have)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_METRIC(id)
        if (have->reason[id][0])
            pfr_json_add(object, pfr_metrics[id].key, pfr_json_text(have->reason[id]));
    return object;
}

/* Somebody chose it: a job may be called 007. */
static bool is_word(const char *key)
{
    return strcmp(key, "job_name") == 0 || strcmp(key, "user") == 0 || strcmp(key, "cluster") == 0;
}

/* Numbers as numbers; the key ends at the first '='. */
static struct json_object *facts_json(const struct pfr_info *info)
{
    struct json_object *object = json_object_new_object();

    for (int i = 0; i < info->fact_count; i++) {
        const char *value = strchr(info->facts[i], '=');
        char key[64];
        int64_t number;

        if (!value)
            continue;
        snprintf(key, sizeof(key), "%.*s", (int)(value - info->facts[i]), info->facts[i]);
        pfr_json_add(object, key, !is_word(key) && pfr_parse_int(value + 1, &number)
                                      ? json_object_new_int64(number) : pfr_json_text(value + 1));
    }
    return object;
}

struct json_object *pfr_info_json(const struct pfr_info *info)
{
    struct json_object *object = json_object_new_object();

    pfr_json_add(object, "profres", json_object_new_string(PACKAGE_VERSION));
    pfr_json_add(object, "job", pfr_json_text(info->job));
    pfr_json_add(object, "step", pfr_json_text(info->step));
    pfr_json_add(object, "node", pfr_json_text(info->node));
    if (info->fact_count)
        pfr_json_add(object, "allocation", facts_json(info));
    if (info->command)
        pfr_json_add(object, "command", command_json(info->command));
    pfr_json_add(object, "start", pfr_json_time(info->wall_start));
    if (!info->have)
        return object; /* nothing was measured: there is no how */
    pfr_json_add(object, "kernel", pfr_json_text(info->kernel));
    if (info->cpus)
        pfr_json_add(object, "node_cpus", json_object_new_int64(info->cpus));
    if (info->mem_total)
        pfr_json_add(object, "node_mem_total", json_object_new_int64(info->mem_total));
    pfr_json_add(object, "interval_seconds", pfr_json_value(PFR_SECONDS, info->interval));
    pfr_json_add(object, "window_seconds", pfr_json_value(PFR_SECONDS, info->window));
    pfr_json_add(object, "top", json_object_new_int64(info->top));
    pfr_json_add(object, "processes_from", pfr_json_text(info->process_source));
    pfr_json_add(object, "cgroup_mode", pfr_json_text(info->cgroup_mode));
    if (info->cgroup_count)
        pfr_json_add(object, "cgroups", cgroups_json(info));
    pfr_json_add(object, "unavailable", unavailable_json(info->have));
    return object;
}

/* A mean that is not exact, and a deviation only where there is one (R82). */
static struct json_object *gauge_json(const struct pfr_run *run, enum pfr_metric_id id,
                                      int64_t start)
{
    const struct pfr_metric *metric = &pfr_metrics[id];
    const struct pfr_stat *stat = run->stat[pfr_step_index(id)];
    struct json_object *object = json_object_new_object();
    double deviation = pfr_stat_deviation(stat);

    if (metric->lasting) {
        /* One number that the kernel keeps; between samples it says nothing new. */
        pfr_json_add(object, pfr_reduce_name(metric->reduce),
                     pfr_json_value(metric->unit,
                                    metric->reduce == PFR_MAX ? stat->max : stat->last));
        return object;
    }
    pfr_json_add(object, "max", pfr_json_value(metric->unit, stat->max));
    pfr_json_add(object, "min", pfr_json_value(metric->unit, stat->min));
    pfr_json_add(object, "mean", pfr_json_real(metric->unit, pfr_stat_mean(stat)));
    if (deviation >= 0)
        pfr_json_add(object, "stddev", pfr_json_real(metric->unit, deviation));
    pfr_json_add(object, "p50", pfr_json_value(metric->unit, pfr_stat_percentile(stat, 0.50)));
    pfr_json_add(object, "p95", pfr_json_value(metric->unit, pfr_stat_percentile(stat, 0.95)));
    pfr_json_add(object, "p99", pfr_json_value(metric->unit, pfr_stat_percentile(stat, 0.99)));
    pfr_json_add(object, "last", pfr_json_value(metric->unit, stat->last));
    pfr_json_add(object, "max_at_seconds",
                 pfr_json_value(PFR_SECONDS, stat->max_at - start));
    return object;
}

/* A rate's mean is the growth over the whole span, not the mean of rates. */
static struct json_object *rate_json(const struct pfr_run *run, enum pfr_metric_id id,
                                     int64_t start)
{
    int base = pfr_step_index(pfr_metrics[id].of[0]);
    struct json_object *object;

    if (run->span[base] <= 0)
        return NULL;
    if (run->stat[pfr_step_index(id)])
        object = gauge_json(run, id, start);
    else
        object = json_object_new_object();
    pfr_json_add(object, "mean",
                 pfr_json_value(PFR_PERCENT, pfr_rate(run->total[base], run->span[base])));
    return object;
}

/* What was there before the first sample, and belongs to the run: of no process, so a rest. */
static int64_t before(const struct pfr_run *run, enum pfr_metric_id id)
{
    if (pfr_metrics[id].derive == PFR_REST)
        id = pfr_metrics[id].of[0];
    return run->before[pfr_step_index(id)];
}

static struct json_object *measurement_json(const struct pfr_run *run, enum pfr_metric_id id,
                                            int64_t start)
{
    const struct pfr_metric *metric = &pfr_metrics[id];
    struct json_object *object;

    if (metric->derive == PFR_RATE)
        return rate_json(run, id, start);
    if (!pfr_metric_set_has(&run->present, id))
        return NULL;
    if (metric->kind == PFR_GAUGE)
        return gauge_json(run, id, start);
    object = json_object_new_object();
    pfr_json_add(object, "total",
                 pfr_json_value(metric->unit, run->total[pfr_step_index(id)] + before(run, id)));
    return object;
}

static struct json_object *measurements_json(const struct pfr_snapshot *snapshot)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_STEP_METRIC(id) {
        struct json_object *value =
            pfr_metric_set_has(&snapshot->info->selection->wanted, id)
                ? measurement_json(snapshot->run, id, snapshot->info->start)
                : NULL;

        if (value)
            pfr_json_add(object, pfr_metrics[id].key, value);
    }
    return object;
}

static struct json_object *histogram_json(const struct pfr_stat *stat, enum pfr_unit unit)
{
    struct json_object *object = json_object_new_object();
    struct json_object *edge_array = json_object_new_array();
    struct json_object *weight_array = json_object_new_array();
    double edges[BINS + 1];
    int64_t weights[BINS];

    pfr_histogram_bins(&stat->histogram, stat->min, stat->max, BINS, edges, weights);
    for (int i = 0; i <= BINS; i++)
        json_object_array_add(edge_array, pfr_json_real(unit, edges[i]));
    for (int i = 0; i < BINS; i++)
        json_object_array_add(weight_array, pfr_json_value(PFR_SECONDS, weights[i]));
    pfr_json_add(object, "edges", edge_array);
    pfr_json_add(object, "seconds", weight_array);
    return object;
}

static struct json_object *histograms_json(const struct pfr_snapshot *snapshot)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_STEP_METRIC(id) {
        const struct pfr_stat *stat = snapshot->run->stat[pfr_step_index(id)];

        if (pfr_metrics[id].detail && stat && stat->weighted > 1 && stat->max > stat->min &&
            pfr_metric_set_has(&snapshot->info->selection->wanted, id))
            pfr_json_add(object, pfr_metrics[id].key, histogram_json(stat, pfr_metrics[id].unit));
    }
    return object;
}

struct json_object *pfr_tally_json(const struct pfr_tally *tally)
{
    struct json_object *object = json_object_new_object();
    char state[PFR_STATE_SIZE];

    for (int i = 0; i < PFR_TALLY_CODES && tally->count[i]; i++) {
        pfr_state_text(tally->code[i], state);
        pfr_json_add(object, state, json_object_new_int64(tally->count[i]));
    }
    if (tally->other)
        pfr_json_add(object, "other", json_object_new_int64(tally->other));
    return object;
}

static struct json_object *process_json(const struct pfr_top_process *process,
                                        const struct pfr_info *info)
{
    struct json_object *object = json_object_new_object();

    pfr_json_add(object, "pid", json_object_new_int64(process->pid));
    pfr_json_add(object, "comm", pfr_json_text(process->comm));
    if (process->cmd)
        pfr_json_add(object, "ps_cmd", pfr_json_text(process->cmd));
    pfr_json_add(object, "first_seconds",
                 pfr_json_value(PFR_SECONDS, process->row.from - info->start));
    pfr_json_add(object, "last_seconds",
                 pfr_json_value(PFR_SECONDS, process->row.to - info->start));
    PFR_EACH_PID_METRIC(id) {
        if (!(process->row.present >> id & 1) ||
            !pfr_metric_set_has(&info->selection->wanted, id))
            continue;
        pfr_json_add(object, pfr_metrics[id].key,
                     pfr_metrics[id].reduce == PFR_TALLY
                         ? pfr_tally_json(&process->row.states)
                         : pfr_json_value(pfr_metrics[id].unit, process->row.value[id]));
    }
    return object;
}

/* "make, sh": the commands with most CPU time in children that were not sampled. */
static void name_short_lived(const struct pfr_commands *commands, char *text, size_t size)
{
    int64_t below = INT64_MAX;

    text[0] = '\0';
    for (int i = 0; i < 2; i++) {
        const struct pfr_command *most = NULL;
        size_t used = strlen(text);

        for (uint32_t k = 0; k < commands->count; k++)
            if (commands->list[k].run.children < below &&
                (!most || commands->list[k].run.children > most->run.children))
                most = &commands->list[k];
        if (!most || most->run.children <= 0)
            return;
        below = most->run.children;
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", most->name);
    }
}

static struct json_object *processes_json(const struct pfr_snapshot *snapshot)
{
    struct json_object *object = json_object_new_object(), *top = json_object_new_array();
    char parents[2 * PFR_COMM_SIZE + 2];

    pfr_json_add(object, "seen", json_object_new_int64((int64_t)snapshot->processes_seen));
    name_short_lived(&snapshot->run->commands, parents, sizeof(parents));
    if (parents[0])
        pfr_json_add(object, "short_lived_children_of", pfr_json_text(parents));
    for (uint32_t i = 0; i < snapshot->run->top_count; i++)
        json_object_array_add(top, process_json(&snapshot->run->top[i], snapshot->info));
    pfr_json_add(object, "top", top);
    return object;
}

static void add_known(struct json_object *object, enum pfr_metric_id id, int64_t value)
{
    if (value >= 0)
        pfr_json_add(object, pfr_metrics[id].key, pfr_json_value(pfr_metrics[id].unit, value));
}

static struct json_object *totals_json(const struct pfr_totals *totals)
{
    struct json_object *object = json_object_new_object();

    add_known(object, PFR_CGROUP_MEM_PEAK, totals->mem_peak);
    add_known(object, PFR_CGROUP_CPU_SECONDS, totals->cpu);
    add_known(object, PFR_CGROUP_OOM_KILLS, totals->oom_kills);
    return object;
}

static struct json_object *tasks_json(const struct pfr_snapshot *snapshot)
{
    struct json_object *array = json_object_new_array();

    for (uint32_t i = 0; i < snapshot->task_count; i++) {
        const struct pfr_task *task = &snapshot->tasks[i];
        struct json_object *row = json_object_new_object();

        pfr_json_add(row, "pid", json_object_new_int64(task->pid));
        pfr_json_add(row, "rank", json_object_new_int(task->rank));
        pfr_json_add(row, "start_seconds",
                     pfr_json_value(PFR_SECONDS, task->started - snapshot->info->start));
        if (task->ended) {
            pfr_json_add(row, "end_seconds",
                         pfr_json_value(PFR_SECONDS, task->ended - snapshot->info->start));
            if (WIFSIGNALED(task->wait_status))
                pfr_json_add(row, "signal", json_object_new_int(WTERMSIG(task->wait_status)));
            else
                pfr_json_add(row, "exit", json_object_new_int(WEXITSTATUS(task->wait_status)));
        }
        add_known(row, PFR_CGROUP_MEM_PEAK, task->mem_peak);
        add_known(row, PFR_CGROUP_CPU_SECONDS, task->cpu);
        add_known(row, PFR_CGROUP_OOM_KILLS, task->oom_kills);
        json_object_array_add(array, row);
    }
    return array;
}

struct json_object *pfr_phase_json(const struct pfr_info *info, const struct pfr_phase *phase)
{
    struct json_object *object = json_object_new_object(), *values;
    int64_t value;

    pfr_json_add(object, "name", pfr_json_text(phase->name));
    if (phase->rank >= 0)
        pfr_json_add(object, "rank", json_object_new_int(phase->rank));
    pfr_json_add(object, "from", pfr_json_value(PFR_SECONDS, phase->from - info->start));
    if (!phase->to)
        return object;
    pfr_json_add(object, "to", pfr_json_value(PFR_SECONDS, phase->to - info->start));
    pfr_json_add(object, "seconds", pfr_json_value(PFR_SECONDS, phase->to - phase->from));
    if (phase->unended)
        pfr_json_add(object, "unended", json_object_new_boolean(true));
    values = json_object_new_object();
    for (int i = 0; i < PFR_PHASE_KEYS; i++) {
        const struct pfr_metric *metric = &pfr_metrics[pfr_phase_keys[i]];

        if (pfr_phase_value(phase, i, &value))
            pfr_json_add(values, metric->key, pfr_json_value(metric->unit, value));
    }
    pfr_json_add(object, "measurements", values);
    return object;
}

/* Those that have ended, then those that are open. */
static void add_phases(struct json_object *object, const struct pfr_snapshot *snapshot)
{
    const struct pfr_phases *phases = snapshot->phases;
    struct json_object *array;

    if (!phases || (!phases->done_count && !phases->active_count))
        return;
    array = json_object_new_array();
    for (uint32_t i = 0; i < phases->done_count; i++)
        json_object_array_add(array, pfr_phase_json(snapshot->info, &phases->done[i]));
    for (uint32_t i = 0; i < phases->active_count; i++)
        if (!phases->active[i].to)
            json_object_array_add(array, pfr_phase_json(snapshot->info, &phases->active[i]));
    pfr_json_add(object, "phases", array);
    if (phases->dropped)
        pfr_json_add(object, "phases_dropped", json_object_new_int64((int64_t)phases->dropped));
}

static struct json_object *collectors_json(const struct pfr_cost *cost)
{
    struct json_object *object = json_object_new_object();

    for (int i = 0; i < PFR_COLLECTOR_COUNT; i++) {
        struct json_object *row;

        if (!cost->collectors[i].name)
            continue;
        row = json_object_new_object();
        pfr_json_add(row, "seconds", pfr_json_value(PFR_SECONDS, cost->collectors[i].time));
        if (cost->collectors[i].failures)
            pfr_json_add(row, "failures",
                         json_object_new_int64((int64_t)cost->collectors[i].failures));
        pfr_json_add(object, cost->collectors[i].name, row);
    }
    return object;
}

static struct json_object *cost_json(const struct pfr_cost *cost)
{
    const struct { const char *key; uint64_t value; bool always; } counts[] = {
        { "ticks", cost->ticks, true },
        { "late_ticks", cost->late_ticks, true },
        { "reads", cost->reads, true },
        { "series_bytes", (uint64_t)cost->series_bytes, true },
        { "saved_ticks", cost->saved_ticks, false },
        { "write_errors", cost->write_errors, false },
        { "lost_windows", cost->lost_windows, false },
        { "dropped_marks", cost->dropped_marks, false },
        { "hidden_processes", cost->hidden, false },
        { "denied_reads", cost->denied, false },
        { "malformed_reads", cost->malformed, false },
        { "out_of_memory", cost->no_memory, false },
    };
    struct json_object *object = json_object_new_object();

    pfr_json_add(object, "cpu_seconds", pfr_json_value(PFR_SECONDS, cost->cpu));
    pfr_json_add(object, "max_rss", json_object_new_int64(cost->max_rss));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i].always || counts[i].value)
            pfr_json_add(object, counts[i].key, json_object_new_int64((int64_t)counts[i].value));
    pfr_json_add(object, "series_span_seconds", pfr_json_value(PFR_SECONDS, cost->series_span));
    pfr_json_add(object, "collectors", collectors_json(cost));
    return object;
}

/* The tasks' own time: from the first start to the last end, or to now. */
static int64_t elapsed(const struct pfr_snapshot *snapshot)
{
    int64_t from = INT64_MAX, to = 0;

    for (uint32_t i = 0; i < snapshot->task_count; i++) {
        const struct pfr_task *task = &snapshot->tasks[i];
        int64_t end = task->ended ? task->ended : snapshot->now;

        from = task->started < from ? task->started : from;
        to = end > to ? end : to;
    }
    return to > from ? to - from : snapshot->now - snapshot->info->start;
}

void pfr_summary_tasks(struct json_object *object, const struct pfr_snapshot *snapshot)
{
    if (snapshot->task_count)
        pfr_json_add(object, "elapsed_seconds", pfr_json_value(PFR_SECONDS, elapsed(snapshot)));
    pfr_json_add(object, "tasks", tasks_json(snapshot));
}

struct json_object *pfr_summary_json(const struct pfr_snapshot *snapshot)
{
    struct json_object *object = json_object_new_object();

    if (!object)
        return NULL;
    pfr_json_add(object, "schema", json_object_new_string(PFR_SCHEMA_SUMMARY));
    pfr_json_add(object, "state", json_object_new_string(pfr_state_name(snapshot->state)));
    pfr_json_add(object, "n_pending", json_object_new_int64(snapshot->pending));
    pfr_json_add(object, "ts", pfr_json_time(snapshot->wall));
    pfr_json_add(object, "elapsed_seconds",
                 pfr_json_value(PFR_SECONDS, elapsed(snapshot)));
    pfr_json_add(object, "info", pfr_info_json(snapshot->info));
    pfr_json_add(object, "num_samples", json_object_new_int64((int64_t)snapshot->run->num_samples));
    pfr_json_add(object, "num_windows", json_object_new_int64((int64_t)snapshot->run->num_windows));
    if (snapshot->run->counter_falls)
        pfr_json_add(object, "counter_falls",
                     json_object_new_int64((int64_t)snapshot->run->counter_falls));
    pfr_json_add(object, "measurements", measurements_json(snapshot));
    pfr_json_add(object, "histograms", histograms_json(snapshot));
    if (snapshot->totals.given)
        pfr_json_add(object, "totals_at_exit", totals_json(&snapshot->totals));
    pfr_json_add(object, "tasks", tasks_json(snapshot));
    add_phases(object, snapshot);
    pfr_json_add(object, "processes", processes_json(snapshot));
    if (snapshot->instances)
        pfr_json_add(object, "instances", pfr_instances_json(snapshot->info, snapshot->instances));
    pfr_json_add(object, "sampler", cost_json(&snapshot->cost));
    return object;
}
