/* The nodes of a step, or of all steps of a job, put together. */
#include <string.h>

#include "common/judge/facts.h"

static int64_t larger(int64_t a, int64_t b)
{
    return !pfr_known(a) || (pfr_known(b) && b > a) ? b : a;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return !pfr_known(a) || (pfr_known(b) && b < a) ? b : a;
}

/* A better source comes before a larger number: they are not comparable (R32). */
static bool needs_more(const struct pfr_facts *a, const struct pfr_facts *b)
{
    enum pfr_metric_id source = pfr_facts_memory_source(a), other = pfr_facts_memory_source(b);

    if (source == PFR_METRIC_NONE || other == PFR_METRIC_NONE)
        return other == PFR_METRIC_NONE && source != PFR_METRIC_NONE;
    if (source != other)
        return source == PFR_CGROUP_MEM_PEAK ||
               (source == PFR_CGROUP_MEM_SAMPLED_PEAK && other == PFR_PS_RSS_TOTAL);
    return pfr_facts_value(a, source) > pfr_facts_value(b, source);
}

/*
 * A step too short to be sampled lacks what only samples tell. It has no part
 * worth mentioning in a sum: those that have it ran 20 times as long.
 */
static bool is_nearly_all(const struct pfr_facts *nodes, size_t count, enum pfr_metric_id id)
{
    double with = 0, without = 0;

    for (size_t i = 0; i < count; i++) {
        double elapsed = pfr_known(nodes[i].elapsed) ? (double)nodes[i].elapsed : 1e18;

        *(pfr_known(pfr_facts_value(&nodes[i], id)) ? &with : &without) += elapsed;
    }
    return without * 20 < with;
}

/* Totals are sums, but only of what all have; memory stays that of the node that is named. */
static void merge_stats(struct pfr_facts *merged, const struct pfr_facts *nodes, size_t count)
{
    PFR_EACH_STEP_METRIC(id) {
        struct pfr_stats *stats = &merged->stats[pfr_step_index(id)];
        enum pfr_merge merge = pfr_metrics[id].merge;
        bool sum = merge == PFR_MERGE_SUM || merge == PFR_MERGE_KNOWN;
        int64_t total = 0, known = 0;

        for (size_t i = 0; sum && i < count; i++) {
            int64_t value = pfr_facts_value(&nodes[i], id);

            total = pfr_plus(total, value);
            known = pfr_known(value) ? pfr_plus(known, value) : known;
        }
        /* a kill that was counted has happened, whatever else is not known */
        if ((merge == PFR_MERGE_KNOWN && known > 0) ||
            (merge == PFR_MERGE_SUM && is_nearly_all(nodes, count, id)))
            total = known;
        if (pfr_metrics[id].kind == PFR_COUNTER)
            stats->total = total;
        else if (sum)
            stats->max = total;
        else if (merge == PFR_MERGE_NONE)
            /* rates and counts of several nodes were not taken at the same time */
            memcpy(stats, &(struct pfr_stats){ PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, PFR_ABSENT,
                                               PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, PFR_ABSENT,
                                               PFR_ABSENT, PFR_ABSENT }, sizeof(*stats));
    }
}

static void merge_spread(struct pfr_spread *to, const struct pfr_spread *from)
{
    if (pfr_known(from->max) && (!pfr_known(to->max) || from->max > to->max)) {
        to->max = from->max;
        to->max_rank = from->max_rank;
    }
    if (pfr_known(from->min) && (!pfr_known(to->min) || from->min < to->min)) {
        to->min = from->min;
        to->min_rank = from->min_rank;
    }
}

/* The first that failed; without one, the end of any. */
static void merge_end(struct pfr_facts *merged, const struct pfr_facts *node)
{
    bool failed = pfr_known(node->tasks_failed) && node->tasks_failed > 0;
    bool had = pfr_known(merged->failed_at) || pfr_known(merged->signal) ||
               (pfr_known(merged->exit) && merged->exit != 0);

    if (failed ? had && !(node->failed_at < merged->failed_at) : had || pfr_known(merged->exit))
        return;
    merged->exit = node->exit;
    merged->signal = node->signal;
    merged->rank = node->rank;
    merged->failed_at = node->failed_at;
}

/*
 * The oldest of those that are not complete tells whether one was cut off. One
 * that is complete is not written any more, and says nothing of the others.
 */
static int64_t written(const struct pfr_facts *a, const struct pfr_facts *b)
{
    bool over = a->progress == PFR_PROGRESS_COMPLETE, other = b->progress == PFR_PROGRESS_COMPLETE;

    if (over != other)
        return over ? b->written : a->written;
    return over ? larger(a->written, b->written) : smaller(a->written, b->written);
}

static void add_node(struct pfr_facts *merged, const struct pfr_facts *node)
{
    /* a sum of what is known; absent in one is absent in the sum */
    const struct { int64_t *to, from; } sums[] = {
        { &merged->tasks, node->tasks },
        { &merged->tasks_ended, node->tasks_ended },
        { &merged->tasks_failed, node->tasks_failed },
        { &merged->processes_seen, node->processes_seen },
        { &merged->samples, node->samples },
        { &merged->pending, node->pending },
        { &merged->sampler_cpu, node->sampler_cpu },
        { &merged->cpus, node->cpus },
        { &merged->node_cpus, node->node_cpus },
    };

    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        *sums[i].to = pfr_plus(*sums[i].to, sums[i].from);
    merged->nodes++;
    if (!merged->short_lived_of[0])
        memcpy(merged->short_lived_of, node->short_lived_of, sizeof(merged->short_lived_of));
    merged->windows = larger(merged->windows, node->windows);
    merged->late_ticks = larger(merged->late_ticks, node->late_ticks);
    merged->write_errors = larger(merged->write_errors, node->write_errors);
    merged->lost_windows = larger(merged->lost_windows, node->lost_windows);
    merged->counter_falls = larger(merged->counter_falls, node->counter_falls);
    merged->written = written(merged, node);
    merged->progress = node->progress < merged->progress ? node->progress : merged->progress;
    merged->elapsed = larger(merged->elapsed, node->elapsed);
    merged->start = smaller(merged->start, node->start);
    if (larger(merged->cores_per_task, node->cores_per_task) != merged->cores_per_task) {
        merged->cores_per_task = node->cores_per_task;
        merged->cpus_per_task = node->cpus_per_task;
    }
    merged->newer_schema |= node->newer_schema;
    merge_spread(&merged->task_mem, &node->task_mem);
    merge_spread(&merged->task_cpu, &node->task_cpu);
    merge_end(merged, node);
}

/* That all is well is known when all have ended. */
static void settle_end(struct pfr_facts *merged)
{
    if (merged->exit == 0 && merged->tasks_ended < merged->tasks)
        merged->exit = merged->rank = PFR_ABSENT;
}

void pfr_facts_merge(struct pfr_facts *merged, const struct pfr_facts *nodes, size_t count)
{
    const struct pfr_facts *largest = &nodes[0];

    for (size_t i = 1; i < count; i++)
        if (needs_more(&nodes[i], largest))
            largest = &nodes[i];
    *merged = *largest;
    merged->extent = PFR_EXTENT_STEP;
    if (count == 1)
        return;
    merged->processes_at_once = PFR_ABSENT;
    for (size_t i = 0; i < count; i++)
        if (&nodes[i] != largest)
            add_node(merged, &nodes[i]);
    settle_end(merged);
    merge_stats(merged, nodes, count);
}

static int64_t end_of(const struct pfr_facts *facts)
{
    return pfr_plus(facts->start, facts->elapsed);
}

/* Did b run on the same node when a began? Steps whose times are not known did. */
static bool beside(const struct pfr_facts *a, const struct pfr_facts *b)
{
    if (strcmp(a->node, b->node) != 0)
        return false;
    if (!pfr_known(a->start) || !pfr_known(end_of(b)))
        return true;
    return b->start <= a->start && a->start < end_of(b);
}

/* The largest sum of a peak over steps that ran at the same time, on this node or (NULL) on one. */
static int64_t stacked(const struct pfr_facts *nodes, size_t count, enum pfr_metric_id id,
                       const char *node, const struct pfr_facts **where, int64_t *steps)
{
    int64_t most = PFR_ABSENT;

    for (size_t i = 0; i < count; i++) {
        int64_t sum = pfr_facts_value(&nodes[i], id), summed = 1;

        if (node && strcmp(nodes[i].node, node) != 0)
            continue;
        for (size_t k = 0; k < count; k++)
            if (k != i && beside(&nodes[i], &nodes[k])) {
                sum = pfr_plus(sum, pfr_facts_value(&nodes[k], id));
                summed++;
            }
        if (pfr_known(sum) && (!pfr_known(most) || sum > most)) {
            most = sum;
            *where = &nodes[i];
            *steps = summed;
        }
    }
    return most;
}

/* All memory of a job is of one node: the one whose best source is largest, which is returned. */
static const struct pfr_facts *stack_memory(struct pfr_facts *merged,
                                            const struct pfr_facts *nodes, size_t count)
{
    static const enum pfr_metric_id stackable[] = {
        PFR_CGROUP_MEM_PEAK, PFR_CGROUP_MEM_SAMPLED_PEAK, PFR_PS_RSS_TOTAL, /* best first */
        PFR_CGROUP_MEM_NONRECLAIMABLE,
    };
    const struct pfr_facts *where = NULL, *other;
    int64_t limit = PFR_ABSENT, steps;

    for (size_t i = 0; i < sizeof(stackable) / sizeof(stackable[0]); i++)
        merged->stats[pfr_step_index(stackable[i])].max =
            stacked(nodes, count, stackable[i], where ? where->node : NULL,
                    where ? &other : &where, where ? &steps : &merged->mem_steps);
    /* a step may have a limit of its own; the largest is nearest to the job's */
    for (size_t i = 0; i < count; i++)
        limit = larger(limit, pfr_facts_stats(&nodes[i], PFR_CGROUP_MEM_LIMIT)->last);
    merged->stats[pfr_step_index(PFR_CGROUP_MEM_LIMIT)].last = limit;
    if (where && merged->mem_steps > 1) /* peaks at different times; the kernel let no more be */
        for (size_t i = 0; i < sizeof(stackable) / sizeof(stackable[0]) && pfr_known(limit); i++) {
            int64_t *sum = &merged->stats[pfr_step_index(stackable[i])].max;

            if (stackable[i] != PFR_PS_RSS_TOTAL && *sum > limit)
                *sum = limit;
        }
    return where;
}

bool pfr_facts_is_script(const struct pfr_facts *facts)
{
    return strcmp(facts->step, "batch") == 0 || strcmp(facts->step, "interactive") == 0;
}

/*
 * A script is one task, but what it starts by itself has the CPUs of all tasks
 * of the job: its use is divided among as many as a step had on a node.
 */
static void merge_task_cores(struct pfr_facts *merged, const struct pfr_facts *nodes, size_t count)
{
    int64_t tasks = 1;

    merged->one_script = true;
    for (size_t i = 0; i < count; i++)
        if (!pfr_facts_is_script(&nodes[i])) {
            merged->one_script = false;
            tasks = nodes[i].tasks > tasks ? nodes[i].tasks : tasks;
        }
    merged->cores_per_task = merged->cpus_per_task = PFR_ABSENT;
    for (size_t i = 0; i < count; i++) {
        int64_t share = pfr_facts_is_script(&nodes[i]) ? tasks : 1;

        if (!pfr_known(nodes[i].cores_per_task) ||
            nodes[i].cores_per_task / share <= merged->cores_per_task)
            continue;
        merged->cores_per_task = nodes[i].cores_per_task / share;
        merged->cpus_per_task = pfr_known(nodes[i].cpus_per_task) ? nodes[i].cpus_per_task / share
                                                                  : PFR_ABSENT;
    }
}

/* CPUs are told by every step on every node; a node counts once. */
static void sum_cpus(struct pfr_facts *merged, const struct pfr_facts *nodes, size_t count)
{
    merged->nodes = merged->cpus = merged->node_cpus = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (k < i && strcmp(nodes[k].node, nodes[i].node) != 0)
            k++;
        if (k < i)
            continue;
        merged->nodes++;
        merged->cpus = pfr_plus(merged->cpus, nodes[i].cpus);
        merged->node_cpus = pfr_plus(merged->node_cpus, nodes[i].node_cpus);
    }
}

/* What is of one step only, and does not add up. */
static void forget(struct pfr_facts *merged)
{
    struct pfr_facts none;

    pfr_facts_init(&none);
    PFR_EACH_STEP_METRIC(id)
        if (pfr_metrics[id].kind == PFR_GAUGE && id != PFR_RUSAGE_CPU_SECONDS &&
            id != PFR_CGROUP_MEM_LIMIT)
            merged->stats[pfr_step_index(id)] = none.stats[pfr_step_index(id)];
    merged->task_mem = none.task_mem;
    merged->task_cpu = none.task_cpu;
    merged->processes_at_once = PFR_ABSENT;
}

void pfr_facts_merge_job(struct pfr_facts *merged, const struct pfr_facts *nodes, size_t count)
{
    const struct pfr_facts *where = NULL;
    int64_t end = PFR_ABSENT;

    pfr_facts_merge(merged, nodes, count);
    merged->extent = PFR_EXTENT_JOB;
    merged->mem_given = merged->job_mem_given;
    merge_task_cores(merged, nodes, count);
    merged->step[0] = '\0';
    if (count == 1)
        return;
    forget(merged);
    where = stack_memory(merged, nodes, count);
    if (where) {
        memcpy(merged->node, where->node, sizeof(merged->node));
        merged->mem_given = where->job_mem_given;
    }
    sum_cpus(merged, nodes, count);
    merged->nodes_given = PFR_ABSENT;
    merged->tasks_given = PFR_ABSENT;
    for (size_t i = 0; i < count; i++) {
        end = larger(end, end_of(&nodes[i]));
        merged->nodes_given = larger(merged->nodes_given, nodes[i].nodes_given);
        if (strcmp(nodes[i].step, "batch") == 0 && nodes[i].tasks_ended > 0) {
            merged->exit = nodes[i].exit; /* what the script returns is what the job returns */
            merged->signal = nodes[i].signal;
        }
    }
    if (pfr_known(end) && pfr_known(merged->start) && end > merged->start)
        merged->elapsed = end - merged->start;
}
