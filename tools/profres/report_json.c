/* The report for programs: docs/report.schema.json says what is in it. */
#include <string.h>

#include "common/base/cleanup.h"
#include "common/record/json.h"
#include "tools/profres/detail.h"
#include "tools/profres/report.h"

/* What is absent has no member. */
static void add_number(struct json_object *object, const char *key, enum pfr_unit unit,
                       int64_t value)
{
    if (pfr_known(value))
        pfr_json_add(object, key, pfr_json_value(unit, value));
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
    if (text && *text)
        pfr_json_add(object, key, pfr_json_text(text));
}

static void add_time(struct json_object *object, const char *key, int64_t time)
{
    if (pfr_known(time))
        pfr_json_add(object, key, pfr_json_time(time));
}

static struct json_object *stats_json(const struct pfr_stats *stats, enum pfr_unit unit)
{
    const struct { const char *key; int64_t value; } members[] = {
        { "total", stats->total }, { "max", stats->max }, { "min", stats->min },
        { "mean", stats->mean }, { "stddev", stats->stddev }, { "p50", stats->p50 },
        { "p95", stats->p95 }, { "p99", stats->p99 }, { "last", stats->last },
    };
    struct json_object *object = NULL;

    for (size_t i = 0; i < PFR_COUNT(members); i++) {
        if (!pfr_known(members[i].value))
            continue;
        if (!object)
            object = json_object_new_object();
        add_number(object, members[i].key, unit, members[i].value);
    }
    return object;
}

static struct json_object *measurements_json(const struct pfr_facts *facts)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_STEP_METRIC(id) {
        struct json_object *stats = stats_json(pfr_facts_stats(facts, id),
                                               pfr_metrics[id].unit);

        if (stats)
            pfr_json_add(object, pfr_metrics[id].key, stats);
    }
    return object;
}

static void add_given(struct json_object *object, const struct pfr_facts *facts)
{
    add_number(object, "nodes", PFR_ITEMS, facts->nodes);
    add_number(object, "nodes_given", PFR_ITEMS, facts->nodes_given);
    add_number(object, "tasks", PFR_ITEMS, facts->tasks);
    add_number(object, "tasks_ended", PFR_ITEMS, facts->tasks_ended);
    add_number(object, "tasks_failed", PFR_ITEMS, facts->tasks_failed);
    add_number(object, "cpus", PFR_ITEMS, facts->cpus);
    add_number(object, "mem_bytes_on_node", PFR_BYTES, facts->mem_given);
    add_number(object, "time_limit_seconds", PFR_SECONDS, facts->time_limit);
    add_number(object, "exit", PFR_ITEMS, facts->exit);
    add_number(object, "signal", PFR_ITEMS, facts->signal);
    add_number(object, "rank", PFR_ITEMS, facts->rank);
}

static struct json_object *facts_json(const struct pfr_report *report,
                                      const struct pfr_facts *facts)
{
    struct json_object *object = json_object_new_object();
    enum pfr_metric_id memory = pfr_facts_memory_source(facts), cpu = pfr_facts_cpu_source(facts);

    pfr_json_add(object, "state", json_object_new_string(pfr_progress_name(facts->progress)));
    add_text(object, "scheduler_state", facts->scheduler_state);
    add_text(object, "largest_node", facts->node);
    add_time(object, "start", facts->start);
    add_time(object, "written", facts->written);
    add_number(object, "age_seconds", PFR_SECONDS, pfr_facts_age(facts, report->now));
    add_number(object, "elapsed_seconds", PFR_SECONDS, facts->elapsed);
    add_given(object, facts);
    if (memory != PFR_METRIC_NONE) {
        add_text(object, "memory_source", pfr_metrics[memory].key);
        add_number(object, "memory_bytes", PFR_BYTES, pfr_facts_value(facts, memory));
    }
    if (cpu != PFR_METRIC_NONE) {
        add_text(object, "cpu_source", pfr_metrics[cpu].key);
        add_number(object, "cpu_seconds", PFR_SECONDS, pfr_facts_value(facts, cpu));
    }
    if (pfr_known(pfr_facts_cores_mean(facts))) /* thousandths, as nanoseconds are of a second */
        add_number(object, "cores_mean", PFR_SECONDS, pfr_facts_cores_mean(facts) * 1000000);
    add_number(object, "num_samples", PFR_ITEMS, facts->samples);
    add_number(object, "n_pending", PFR_ITEMS, facts->pending);
    add_number(object, "processes_seen", PFR_ITEMS, facts->processes_seen);
    pfr_json_add(object, "measurements", measurements_json(facts));
    return object;
}

static struct json_object *said_json(const struct pfr_said *said)
{
    struct json_object *array = json_object_new_array();

    for (int i = 0; i < said->count; i++)
        json_object_array_add(array, pfr_json_text(said->line[i]));
    return array;
}

static struct json_object *verdict_json(const struct pfr_verdict *verdict)
{
    struct json_object *object = json_object_new_object();

    add_text(object, "id", pfr_verdict_name(verdict->id));
    pfr_json_add(object, "failure", json_object_new_boolean(pfr_verdict_is_failure(verdict->id)));
    add_text(object, "headline", verdict->headline);
    pfr_json_add(object, "evidence", said_json(&verdict->evidence));
    pfr_json_add(object, "user", said_json(&verdict->user));
    pfr_json_add(object, "admin", said_json(&verdict->admin));
    return object;
}

static void add_advice(struct json_object *object, const char *key, const char *unit_key,
                       enum pfr_unit unit, const struct pfr_advice_line *line)
{
    static const char *const kinds[] = { "none", "tell", "more", "cannot" };
    struct json_object *row;

    if (line->kind == PFR_ADVICE_NONE)
        return;
    row = json_object_new_object();
    add_text(row, "kind", kinds[line->kind]);
    if (line->kind != PFR_ADVICE_CANNOT)
        add_number(row, unit_key, unit, line->value);
    add_text(row, "paste", line->paste);
    add_text(row, "basis", line->basis);
    add_text(row, "why", line->why);
    pfr_json_add(object, key, row);
}

static struct json_object *advice_json(const struct pfr_advice *advice)
{
    struct json_object *object = json_object_new_object();

    add_number(object, "runs", PFR_ITEMS, advice->runs);
    add_advice(object, "mem", "bytes", PFR_BYTES, &advice->mem);
    add_advice(object, "mem_per_cpu", "bytes", PFR_BYTES, &advice->mem_per_cpu);
    add_advice(object, "cpus_per_task", "count", PFR_ITEMS, &advice->cpus);
    add_advice(object, "time", "seconds", PFR_SECONDS, &advice->time);
    return object;
}

static void take_phase(const struct pfr_detail *phase, void *arg)
{
    struct json_object *row = json_object_new_object(), *measured = json_object_new_object();

    add_text(row, "name", phase->name);
    add_text(row, "node", phase->facts->node);
    add_number(row, "rank", PFR_ITEMS, phase->rank);
    add_number(row, "from", PFR_SECONDS, phase->from);
    add_number(row, "to", PFR_SECONDS, phase->to);
    if (phase->unended)
        pfr_json_add(row, "unended", json_object_new_boolean(true));
    PFR_EACH_STEP_METRIC(id)
        add_number(measured, pfr_metrics[id].key, pfr_metrics[id].unit, phase->value[id]);
    pfr_json_add(row, "measurements", measured);
    json_object_array_add(arg, row);
}

static struct json_object *phases_json(const struct pfr_report_step *step)
{
    struct json_object *array = json_object_new_array();
    int64_t malformed = 0;

    for (size_t i = 0; i < step->node_count; i++)
        pfr_detail_each(PFR_DETAIL_PHASE, step->found, &step->nodes[i], take_phase, array,
                        &malformed);
    return array;
}

static struct json_object *step_json(const struct pfr_report *report,
                                     const struct pfr_report_step *step)
{
    struct json_object *object = json_object_new_object(), *nodes = json_object_new_array();

    add_text(object, "step", step->facts.step);
    add_text(object, "dir", step->found ? step->found->dir : NULL);
    pfr_json_add(object, "verdict", verdict_json(&step->verdict));
    pfr_json_add(object, "facts", facts_json(report, &step->facts));
    pfr_json_add(object, "phases", phases_json(step));
    for (size_t i = 0; i < step->node_count; i++) {
        struct json_object *node = json_object_new_object();

        add_text(node, "node", step->nodes[i].node);
        pfr_json_add(node, "facts", facts_json(report, &step->nodes[i]));
        json_object_array_add(nodes, node);
    }
    pfr_json_add(object, "nodes", nodes);
    return object;
}

struct json_object *pfr_report_json(const struct pfr_report *report,
                                    const struct pfr_report_job *job)
{
    struct json_object *object = json_object_new_object(), *steps = json_object_new_array();

    add_text(object, "job", job->facts.job);
    add_number(object, "job_id", PFR_ITEMS, job->facts.job_id);
    add_number(object, "restart", PFR_ITEMS, job->facts.restart);
    add_text(object, "name", job->facts.name);
    add_text(object, "user", pfr_owner(&job->facts));
    add_text(object, "cluster", job->facts.cluster);
    add_text(object, "command", job->facts.command);
    pfr_json_add(object, "verdict", verdict_json(&job->verdict));
    pfr_json_add(object, "facts", facts_json(report, &job->facts));
    pfr_json_add(object, "advice", advice_json(&job->advice));
    for (size_t i = 0; i < job->step_count; i++)
        json_object_array_add(steps, step_json(report, &job->steps[i]));
    pfr_json_add(object, "steps", steps);
    if (report->why) {
        struct json_object *absent = json_object_new_array();

        pfr_report_why(report, job, absent);
        pfr_json_add(object, "unavailable", absent);
    }
    return object;
}

struct why {
    const struct pfr_report *report;
    const struct pfr_facts *node;
    struct json_object *array;
    char heading[320];
};

static void take_reason(const char *key, const char *reason, void *arg)
{
    struct why *why = arg;
    struct json_object *row;

    if (!why->array) {
        fprintf(why->report->ink.out, "%s  %-32s %s\n", why->heading, key, reason);
        why->heading[0] = '\0';
        return;
    }
    row = json_object_new_object();
    add_text(row, "step", why->node->step);
    add_text(row, "node", why->node->node);
    add_text(row, "key", key);
    add_text(row, "reason", reason);
    json_object_array_add(why->array, row);
}

void pfr_report_why(const struct pfr_report *report, const struct pfr_report_job *job,
                    struct json_object *array)
{
    for (size_t i = 0; i < job->step_count; i++)
        for (size_t k = 0; k < job->steps[i].node_count; k++) {
            struct why why = { report, &job->steps[i].nodes[k], array, "" };

            snprintf(why.heading, sizeof(why.heading), "\nnot measured in step %s on %s:\n",
                     why.node->step, why.node->node);
            pfr_detail_reasons(job->steps[i].found, why.node->node, take_reason, &why);
        }
}
