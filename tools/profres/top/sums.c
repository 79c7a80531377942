/* The nodes of a step put together, as far as that can be done honestly. */
#include <string.h>

#include "common/base/parse.h"
#include "tools/profres/top/model.h"

int64_t pfr_top_mem_limit(const struct pfr_top_node *node, const char **kind)
{
    int64_t bound = pfr_facts_memory_bound(&node->facts);
    const char *which = pfr_known(node->facts.mem_given) ? "allocated" : "limit";

    if (!pfr_known(bound)) {
        which = "on the node";
        bound = node->facts.node_mem;
    }
    if (kind)
        *kind = which;
    return bound > 0 ? bound : PFR_ABSENT;
}

/* How full, in billionths; below 0 when that cannot be told. */
static int64_t fullness(const struct pfr_top_node *node)
{
    int64_t limit = pfr_top_mem_limit(node, NULL), memory = pfr_top_node_memory(node);

    if (!pfr_known(memory))
        return -2;
    return pfr_known(limit) ? pfr_muldiv(memory, 1000000000, limit) : -1;
}

static void add(int64_t *sum, int64_t value)
{
    if (value != PFR_ABSENT)
        *sum = *sum == PFR_ABSENT ? value : *sum + value;
}

static void raise_to(int64_t *most, int64_t value)
{
    if (value > *most)
        *most = value; /* absent is the smallest there is */
}

/* What is over and done adds to what was, but not to what is. */
static void sum_lasting(const struct pfr_top_node *node, struct pfr_top_sums *sums)
{
    const struct pfr_facts *facts = &node->facts;

    if (pfr_known(facts->tasks)) {
        sums->tasks += facts->tasks;
        sums->tasks_running += facts->tasks - facts->tasks_ended;
    }
    raise_to(&sums->elapsed, facts->elapsed);
    add(&sums->oom_kills, pfr_facts_value(facts, PFR_CGROUP_OOM_KILLS));
    add(&sums->cpus, pfr_known(facts->cpus) ? facts->cpus : facts->node_cpus);
    if (!pfr_known(facts->cpus))
        sums->cpus_kind = "on the node";
    raise_to(&sums->nodes_given, facts->nodes_given);
}

static void sum_present(const struct pfr_top_node *node, struct pfr_top_sums *sums)
{
    if (!sums->full || fullness(node) > fullness(sums->full))
        sums->full = node;
    if (node->newest.pdcpu != PFR_ABSENT)
        sums->counted++;
    add(&sums->pdcpu, node->newest.pdcpu);
    add(&sums->read, node->newest.read);
    add(&sums->write, node->newest.write);
    add(&sums->processes, pfr_facts_stats(&node->facts, PFR_PROC_COUNT)->last);
    raise_to(&sums->throttled, node->newest.throttled);
    raise_to(&sums->psi_cpu, node->newest.psi_cpu);
    raise_to(&sums->psi_memory, node->newest.psi_memory);
    raise_to(&sums->psi_io, node->newest.psi_io);
    sums->cpu_summed = sums->cpu_summed || (pfr_known(node->newest.pdcpu) &&
                                            strncmp(node->cpu_key, "ps_", 3) == 0);
}

/* Which nodes there is something to say of now: those that write, else all. */
enum { RUNS, IS_STALE, HAS_ENDED };

static int way_of(const struct pfr_top_node *node, struct pfr_top_now now)
{
    if (pfr_top_node_has_ended(node))
        return HAS_ENDED;
    return pfr_top_node_is_stale(node, now.wall, now.monotonic) ? IS_STALE : RUNS;
}

static void count_nodes(const struct pfr_top *top, struct pfr_top_now now,
                        struct pfr_top_sums *sums)
{
    for (size_t i = 0; i < top->node_count; i++) {
        const struct pfr_top_node *node = top->nodes[i];
        int64_t age = pfr_facts_age(&node->facts, now.wall);
        int way = way_of(node, now);

        sums->running += way == RUNS;
        sums->stale += way == IS_STALE;
        sums->ended += way == HAS_ENDED;
        if (way == IS_STALE && (!sums->oldest || node->facts.written < sums->oldest->facts.written))
            sums->oldest = node;
        if (age != PFR_ABSENT && (sums->age == PFR_ABSENT || age < sums->age))
            sums->age = age;
        sum_lasting(node, sums);
    }
}

/* The job's, of which the step is a part: from the files, or as Slurm said when it was asked. */
static void sum_time(const struct pfr_top *top, struct pfr_top_now now, struct pfr_top_sums *sums)
{
    const struct pfr_facts *facts = top->node_count ? &top->nodes[0]->facts : NULL;

    if (facts && pfr_known(facts->job_end)) {
        sums->limit = facts->time_limit;
        sums->left = facts->job_end - now.wall;
    } else if (top->job_at != PFR_ABSENT && top->job.limit >= 0 && top->job.left >= 0) {
        sums->limit = top->job.limit;
        sums->left = top->job.left - (now.monotonic - top->job_at);
    }
}

void pfr_top_sum(const struct pfr_top *top, struct pfr_top_now now, struct pfr_top_sums *sums)
{
    *sums = (struct pfr_top_sums){
        .nodes_given = PFR_ABSENT, .elapsed = PFR_ABSENT,
        .age = PFR_ABSENT, .limit = PFR_ABSENT, .left = PFR_ABSENT, .full_of = PFR_ABSENT,
        .full_kind = "", .pdcpu = PFR_ABSENT, .cpus = PFR_ABSENT, .cpus_kind = "allocated",
        .psi_cpu = PFR_ABSENT, .psi_memory = PFR_ABSENT, .psi_io = PFR_ABSENT,
        .throttled = PFR_ABSENT, .read = PFR_ABSENT, .write = PFR_ABSENT,
        .processes = PFR_ABSENT, .oom_kills = PFR_ABSENT,
    };
    count_nodes(top, now, sums);
    for (size_t i = 0; i < top->node_count; i++) {
        int way = way_of(top->nodes[i], now);

        /* a sum of old values and new ones would be true of no moment */
        if (sums->running ? way == RUNS : sums->stale ? way == IS_STALE : true)
            sum_present(top->nodes[i], sums);
    }
    if (sums->full)
        sums->full_of = pfr_top_mem_limit(sums->full, &sums->full_kind);
    sum_time(top, now, sums);
    /* the time since it was written has passed, too; a stale one may have ended since */
    if (sums->running && sums->elapsed != PFR_ABSENT && sums->age != PFR_ABSENT)
        sums->elapsed += sums->age;
}

/* The cores of all nodes that run at that time; absent when one is not known. */
static int64_t cores_at(const struct pfr_top *top, struct pfr_top_now now, int64_t slot)
{
    int64_t sum = PFR_ABSENT;

    for (size_t i = 0; i < top->node_count; i++) {
        const struct pfr_past *past = pfr_top_node_past(top->nodes[i], slot);

        if (past && past->cpu_count)
            add(&sum, past->cpu / past->cpu_count);
        else if (way_of(top->nodes[i], now) == RUNS)
            return PFR_ABSENT;
    }
    return sum;
}

/* The newest slot that any node has something of. */
static int64_t newest_slot(const struct pfr_top *top)
{
    int64_t newest = PFR_ABSENT;

    for (size_t i = 0; i < top->node_count; i++)
        for (int k = 0; k < PFR_PAST_SLOTS; k++)
            raise_to(&newest, top->nodes[i]->past[k].slot);
    return newest;
}

void pfr_top_past(const struct pfr_top *top, const struct pfr_top_sums *sums,
                  struct pfr_top_now now, int64_t *memory, int64_t *pdcpu, size_t count)
{
    int64_t newest = newest_slot(top);

    for (size_t i = 0; i < count; i++) {
        int64_t slot = newest == PFR_ABSENT ? -1 : newest - (int64_t)(count - 1 - i);
        const struct pfr_past *past = sums->full ? pfr_top_node_past(sums->full, slot) : NULL;

        memory[i] = past ? past->memory : PFR_ABSENT;
        pdcpu[i] = slot < 0 ? PFR_ABSENT : cores_at(top, now, slot);
    }
}
