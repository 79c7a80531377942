#include "common/judge/verdict.h"

#include <string.h>

#include "common/base/parse.h"

/* Slurm looks at its time limits every half minute, and then sends SIGTERM first. */
#define LIMIT_NEAR_NS (30 * PFR_NS_PER_S)

/* Nothing has moved for so long until the limit: a pause is shorter. */
#define HUNG_AFTER_NS (30 * PFR_NS_PER_S)

/* A shorter run says little about what it had no use for. */
#define IDLE_AFTER_NS (60 * PFR_NS_PER_S)

const char *pfr_verdict_name(enum pfr_verdict_id id)
{
    static const char *const names[PFR_VERDICT_COUNT] = {
        [PFR_VERDICT_OK] = "ok",
        [PFR_VERDICT_RUNNING] = "running",
        [PFR_VERDICT_IDLE] = "idle",
        [PFR_VERDICT_INCOMPLETE] = "incomplete",
        [PFR_VERDICT_STALLED] = "stalled",
        [PFR_VERDICT_WORKER_KILLED] = "worker-killed",
        [PFR_VERDICT_EXIT] = "exit-code",
        [PFR_VERDICT_SIGNAL] = "signal",
        [PFR_VERDICT_TIME_LIMIT] = "time-limit",
        [PFR_VERDICT_HUNG] = "hung",
        [PFR_VERDICT_OOM_NODE] = "oom-outside",
        [PFR_VERDICT_OOM] = "oom",
    };

    return names[id];
}

bool pfr_verdict_is_failure(enum pfr_verdict_id id)
{
    return id >= PFR_VERDICT_WORKER_KILLED;
}

int64_t pfr_verdict_still(const struct pfr_last *last)
{
    if (!last || !pfr_known(last->still_since) || !pfr_known(last->at) ||
        last->at <= last->still_since)
        return 0;
    return last->at - last->still_since;
}

/*
 * The kernel has killed: was it at the limit of the step? On v2 the event is
 * counted where the limit is, the kill where the process is. On v1 there is
 * only the number of times that the limit was met.
 */
static bool at_own_limit(const struct pfr_facts *facts)
{
    int64_t events = pfr_facts_value(facts, PFR_CGROUP_OOM_EVENTS);
    int64_t met = pfr_facts_value(facts, PFR_CGROUP_MEM_FAILCNT);
    int64_t peak = pfr_facts_value(facts, PFR_CGROUP_MEM_PEAK);
    int64_t bound = pfr_facts_memory_bound(facts);

    if (pfr_known(peak) && pfr_known(bound) && peak >= bound - bound / 20)
        return true;
    if (pfr_known(events))
        return events > 0;
    return !pfr_known(met) || met > 0;
}

static bool has_failed(const struct pfr_facts *facts)
{
    return pfr_known(facts->signal) || (pfr_known(facts->exit) && facts->exit != 0);
}

/* The signal it died of, also when a shell turned that into 128 + N; 0. */
static int64_t died_of(const struct pfr_facts *facts)
{
    if (pfr_known(facts->signal))
        return facts->signal;
    return pfr_known(facts->exit) && facts->exit > 128 && facts->exit <= 128 + 64
               ? facts->exit - 128 : 0;
}

static bool at_time_limit(const struct pfr_facts *facts)
{
    int64_t end = pfr_plus(facts->start, facts->elapsed);
    int64_t signal = died_of(facts);

    if (strcmp(facts->scheduler_state, "TIMEOUT") == 0)
        return true;
    if (!pfr_known(facts->job_end) || !pfr_known(end) || end < facts->job_end - LIMIT_NEAR_NS)
        return false;
    return signal == 15 || signal == 9 || facts->tasks_ended < facts->tasks;
}

/* More time would not have helped: nothing moved for the last half of it, or more. */
static bool is_hung(const struct pfr_facts *facts, const struct pfr_last *last)
{
    int64_t still = pfr_verdict_still(last);

    return still >= HUNG_AFTER_NS && pfr_known(facts->elapsed) && still >= facts->elapsed / 2;
}

/* Cores or memory that were asked for and hardly touched; of a whole job only. */
static bool is_idle(const struct pfr_facts *facts)
{
    int64_t cores = pfr_facts_cores_mean(facts);
    enum pfr_metric_id rate = pfr_facts_rate_source(facts), source = pfr_facts_memory_source(facts);
    int64_t memory = source == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_value(facts, source);
    int64_t p95 = rate == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_stats(facts, rate)->p95;

    if (facts->extent != PFR_EXTENT_JOB || facts->elapsed < IDLE_AFTER_NS)
        return false;
    if (pfr_known(p95) && p95 / 100 > cores)
        cores = p95 / 100;
    if (pfr_known(cores) && pfr_known(facts->cpus) && facts->cpus > 1 &&
        cores / 200 < facts->cpus && cores / 1000 < facts->cpus - 1)
        return true;
    return pfr_known(memory) && pfr_known(facts->mem_given) && memory < facts->mem_given / 10 &&
           facts->mem_given - memory > INT64_C(1) << 30;
}

static bool is_whole(const struct pfr_facts *facts)
{
    if (pfr_known(facts->tasks) && facts->tasks_ended < facts->tasks)
        return false;
    return facts->extent == PFR_EXTENT_NODE || !pfr_known(facts->nodes_given) ||
           facts->nodes >= facts->nodes_given;
}

static enum pfr_verdict_id of_unfinished(const struct pfr_facts *facts, const struct pfr_last *last,
                                         int64_t now)
{
    if (pfr_facts_is_dead(facts, now))
        return PFR_VERDICT_INCOMPLETE;
    return last && pfr_verdict_still(last) >= last->stall ? PFR_VERDICT_STALLED
                                                          : PFR_VERDICT_RUNNING;
}

enum pfr_verdict_id pfr_verdict_of(const struct pfr_facts *facts, const struct pfr_last *last,
                                   int64_t now)
{
    int64_t kills = pfr_facts_value(facts, PFR_CGROUP_OOM_KILLS);
    bool over = facts->progress == PFR_PROGRESS_COMPLETE || facts->progress == PFR_PROGRESS_LOST;

    if (strcmp(facts->scheduler_state, "OUT_OF_MEMORY") == 0 && !(kills > 0))
        return PFR_VERDICT_OOM;
    if (pfr_known(kills) && kills > 0) {
        if (!has_failed(facts) && facts->tasks_ended > 0 && facts->tasks_ended == facts->tasks)
            return PFR_VERDICT_WORKER_KILLED;
        return at_own_limit(facts) ? PFR_VERDICT_OOM : PFR_VERDICT_OOM_NODE;
    }
    if ((over || has_failed(facts)) && at_time_limit(facts))
        return is_hung(facts, last) ? PFR_VERDICT_HUNG : PFR_VERDICT_TIME_LIMIT;
    if (pfr_known(facts->signal))
        return PFR_VERDICT_SIGNAL;
    if (has_failed(facts))
        return PFR_VERDICT_EXIT;
    if (facts->progress != PFR_PROGRESS_COMPLETE)
        return of_unfinished(facts, last, now);
    if (!is_whole(facts))
        return PFR_VERDICT_INCOMPLETE;
    return is_idle(facts) ? PFR_VERDICT_IDLE : PFR_VERDICT_OK;
}

enum pfr_verdict_id pfr_verdict_of_parts(const struct pfr_facts *facts,
                                         const struct pfr_facts *nodes, size_t count, int64_t now)
{
    enum pfr_verdict_id worst = pfr_verdict_of(facts, NULL, now);

    if (facts->extent != PFR_EXTENT_JOB || count < 2)
        return worst;
    for (size_t i = 0, next; i < count; i = next) {
        struct pfr_facts step;
        enum pfr_verdict_id verdict;

        for (next = i + 1; next < count && strcmp(nodes[next].step, nodes[i].step) == 0;)
            next++;
        pfr_facts_merge(&step, &nodes[i], next - i);
        verdict = pfr_verdict_of(&step, NULL, now);
        worst = verdict > worst ? verdict : worst;
    }
    return worst;
}
