#include "common/judge/facts.h"

#include "common/base/cleanup.h"

#include <errno.h>
#include <string.h>

#include "common/base/parse.h"

const char *pfr_progress_name(enum pfr_progress progress)
{
    static const char *const names[] = { "LOST", "LIVE", "DRAINING", "COMPLETE" };

    return names[progress];
}

int64_t pfr_plus(int64_t a, int64_t b)
{
    int64_t sum;

    if (!pfr_known(a) || !pfr_known(b))
        return PFR_ABSENT;
    if (__builtin_add_overflow(a, b, &sum))
        return a > 0 ? INT64_MAX : -INT64_MAX;
    return sum == PFR_ABSENT ? -INT64_MAX : sum;
}

static void spread_init(struct pfr_spread *spread)
{
    *spread = (struct pfr_spread){ PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, PFR_ABSENT };
}

void pfr_facts_init(struct pfr_facts *facts)
{
    int64_t *const numbers[] = {
        &facts->uid, &facts->job_id, &facts->array_job, &facts->array_task, &facts->restart,
        &facts->start, &facts->written, &facts->elapsed, &facts->interval, &facts->window,
        &facts->nodes, &facts->nodes_given, &facts->tasks, &facts->tasks_given, &facts->cpus,
        &facts->cpus_per_task, &facts->mem_given, &facts->job_mem_given, &facts->time_limit,
        &facts->job_start, &facts->job_end, &facts->node_cpus, &facts->node_mem,
        &facts->tasks_ended, &facts->tasks_failed, &facts->exit, &facts->signal, &facts->rank,
        &facts->failed_at, &facts->cores_per_task, &facts->mem_steps, &facts->processes_seen,
        &facts->processes_at_once, &facts->samples, &facts->windows, &facts->pending,
        &facts->sampler_cpu, &facts->late_ticks, &facts->write_errors, &facts->lost_windows,
        &facts->counter_falls,
    };
    int64_t *stat = (int64_t *)facts->stats;

    /* the texts need only an end each; the rest of 5 KiB is left as it is */
    facts->extent = PFR_EXTENT_NODE;
    facts->progress = PFR_PROGRESS_LIVE;
    facts->newer_schema = facts->one_script = false;
    facts->job[0] = facts->step[0] = facts->node[0] = facts->user[0] = facts->name[0] = '\0';
    facts->short_lived_of[0] = '\0';
    facts->cluster[0] = facts->command[0] = facts->scheduler_state[0] = '\0';
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = PFR_ABSENT;
    for (size_t i = 0; i < sizeof(facts->stats) / (sizeof(int64_t)); i++)
        stat[i] = PFR_ABSENT;
    spread_init(&facts->task_mem);
    spread_init(&facts->task_cpu);
}

int64_t pfr_facts_value(const struct pfr_facts *facts, enum pfr_metric_id id)
{
    const struct pfr_stats *stats = pfr_facts_stats(facts, id);

    if (pfr_metrics[id].kind == PFR_COUNTER)
        return stats->total;
    switch (pfr_metrics[id].reduce) {
    case PFR_MEAN:
        return stats->mean;
    case PFR_MIN:
        return stats->min;
    case PFR_LAST:
        return stats->last;
    default:
        return stats->max;
    }
}

static enum pfr_metric_id first_known(const struct pfr_facts *facts,
                                      const enum pfr_metric_id *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pfr_known(pfr_facts_value(facts, ids[i])))
            return ids[i];
    return PFR_METRIC_NONE;
}

enum pfr_metric_id pfr_facts_memory_source(const struct pfr_facts *facts)
{
    static const enum pfr_metric_id order[] = {
        PFR_CGROUP_MEM_PEAK, PFR_CGROUP_MEM_SAMPLED_PEAK, PFR_PS_RSS_TOTAL,
    };

    return first_known(facts, order, sizeof(order) / sizeof(order[0]));
}

bool pfr_facts_bound_is_limit(const struct pfr_facts *facts)
{
    int64_t limit = pfr_facts_stats(facts, PFR_CGROUP_MEM_LIMIT)->last;

    return pfr_known(limit) && (!pfr_known(facts->mem_given) || limit < facts->mem_given);
}

int64_t pfr_facts_memory_bound(const struct pfr_facts *facts)
{
    return pfr_facts_bound_is_limit(facts) ? pfr_facts_stats(facts, PFR_CGROUP_MEM_LIMIT)->last
                                           : facts->mem_given;
}

enum pfr_metric_id pfr_facts_cpu_source(const struct pfr_facts *facts)
{
    static const enum pfr_metric_id order[] = {
        PFR_CGROUP_CPU_SECONDS, PFR_RUSAGE_CPU_SECONDS, PFR_PS_CPU_SECONDS_TOTAL,
    };

    return first_known(facts, order, sizeof(order) / sizeof(order[0]));
}

enum pfr_metric_id pfr_facts_rate_source(const struct pfr_facts *facts)
{
    static const enum pfr_metric_id order[] = { PFR_CGROUP_PDCPU, PFR_PS_PDCPU_TOTAL };

    return first_known(facts, order, sizeof(order) / sizeof(order[0]));
}

int64_t pfr_facts_cores_mean(const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_cpu_source(facts);

    if (source == PFR_METRIC_NONE || !pfr_known(facts->elapsed) || facts->elapsed <= 0)
        return PFR_ABSENT;
    return pfr_muldiv(pfr_facts_value(facts, source), 1000, facts->elapsed);
}

int64_t pfr_facts_age(const struct pfr_facts *facts, int64_t now)
{
    if (!pfr_known(facts->written))
        return PFR_ABSENT;
    return now > facts->written ? now - facts->written : 0;
}

/* Three windows, and a minute for a file system that is slow to show what others wrote. */
bool pfr_facts_is_dead(const struct pfr_facts *facts, int64_t now)
{
    int64_t window = pfr_known(facts->window) ? facts->window : 10 * PFR_NS_PER_S;
    int64_t age = pfr_facts_age(facts, now);

    if (facts->progress == PFR_PROGRESS_COMPLETE)
        return false;
    return facts->progress == PFR_PROGRESS_LOST || !pfr_known(age) ||
           (age - 60 * PFR_NS_PER_S) / 3 > window;
}

/* tests/lint/judged holds this against what stands in the files beside. */
struct pfr_metric_set pfr_facts_judged(void)
{
    static const enum pfr_metric_id judged[] = {
        PFR_PS_RSS_TOTAL,
        PFR_PS_CPU_SECONDS_TOTAL,
        PFR_PS_CHILDREN_CPU_SECONDS_TOTAL,
        PFR_PS_PDCPU_TOTAL,
        PFR_PROC_COUNT,
        PFR_PROC_IO_RCHAR_TOTAL,
        PFR_PROC_IO_WCHAR_TOTAL,
        PFR_PROC_IO_READ_BYTES_TOTAL,
        PFR_PROC_IO_WRITE_BYTES_TOTAL,
        PFR_CGROUP_MEM_PEAK,
        PFR_CGROUP_MEM_CURRENT,
        PFR_CGROUP_MEM_SAMPLED_PEAK,
        PFR_CGROUP_MEM_NONRECLAIMABLE,
        PFR_CGROUP_MEM_LIMIT,
        PFR_CGROUP_MEM_FAILCNT,
        PFR_CGROUP_OOM_EVENTS,
        PFR_CGROUP_OOM_KILLS,
        PFR_CGROUP_CPU_SECONDS,
        PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS,
        PFR_CGROUP_PDCPU,
        PFR_CGROUP_IO_READ_BYTES,
        PFR_CGROUP_IO_WRITE_BYTES,
        PFR_RUSAGE_CPU_SECONDS,
    };
    struct pfr_metric_set set = { 0 };

    for (size_t i = 0; i < PFR_COUNT(judged); i++)
        pfr_metric_set_add(&set, judged[i]);
    return set;
}
