#include "common/metric/phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const enum pfr_metric_id pfr_phase_keys[PFR_PHASE_KEYS] = {
    PFR_CGROUP_CPU_SECONDS,
    PFR_CGROUP_CPU_USER_SECONDS,
    PFR_CGROUP_CPU_SYSTEM_SECONDS,
    PFR_CGROUP_CPU_THROTTLED_SECONDS,
    PFR_CGROUP_MEM_PEAK,
    PFR_CGROUP_MEM_WINDOW_PEAK,
    PFR_CGROUP_MEM_SAMPLED_PEAK,
    PFR_CGROUP_MEM_NONRECLAIMABLE,
    PFR_CGROUP_OOM_KILLS,
    PFR_CGROUP_IO_READ_BYTES,
    PFR_CGROUP_IO_WRITE_BYTES,
    PFR_PS_CPU_SECONDS_TOTAL,
    PFR_PS_RSS_TOTAL,
    PFR_PROC_COUNT,
    PFR_PROC_IO_READ_BYTES_TOTAL,
    PFR_PROC_IO_WRITE_BYTES_TOTAL,
};

void pfr_phases_release(struct pfr_phases *phases)
{
    free(phases->active);
    free(phases->done);
    *phases = (struct pfr_phases){ 0 };
}

struct pfr_phase *pfr_phases_begin(struct pfr_phases *phases, const char *name, int rank,
                                   int64_t stamp)
{
    struct pfr_phase *phase;

    if (!phases->active)
        phases->active = calloc(PFR_PHASES_ACTIVE + 1, sizeof(*phases->active));
    if (!phases->done)
        phases->done = calloc(PFR_PHASES_MAX, sizeof(*phases->done));
    if (!phases->active || !phases->done || phases->active_count == PFR_PHASES_ACTIVE) {
        phases->dropped++;
        return NULL;
    }
    phase = &phases->active[phases->active_count++];
    *phase = (struct pfr_phase){ .rank = rank, .from = stamp };
    snprintf(phase->name, sizeof(phase->name), "%s", name);
    return phase;
}

bool pfr_phases_end(struct pfr_phases *phases, int rank, int64_t stamp)
{
    for (uint32_t i = 0; i < phases->active_count; i++)
        if (phases->active[i].rank == rank && !phases->active[i].to) {
            phases->active[i].to = stamp;
            return true;
        }
    return false;
}

void pfr_phases_cut(struct pfr_phases *phases, int rank, int64_t stamp)
{
    for (uint32_t i = 0; i < phases->active_count; i++)
        if (!phases->active[i].to && (rank == PFR_ANY_RANK || phases->active[i].rank == rank)) {
            phases->active[i].to = stamp;
            phases->active[i].unended = true;
        }
}

static bool holds(const struct pfr_phase *phase, const struct pfr_sample *sample)
{
    int64_t stamp = pfr_sample_stamp(sample);

    return stamp >= phase->from && (!phase->to || stamp <= phase->to);
}

static void fold(struct pfr_phase *phase, const struct pfr_sample *sample,
                 const struct pfr_metric_set *wanted)
{
    for (int i = 0; i < PFR_PHASE_KEYS; i++) {
        enum pfr_metric_id id = pfr_phase_keys[i];
        bool first = !(phase->present >> i & 1);
        int64_t value;

        if (!pfr_sample_has(sample, id) || !pfr_metric_set_has(wanted, id) ||
            (pfr_metrics[id].past && pfr_sample_stamp(sample) == phase->from))
            continue;
        value = pfr_sample_get(sample, id);
        phase->present |= 1u << i;
        if (first)
            phase->first[i] = value;
        else
            phase->again |= 1u << i;
        /* a counter that was read lower than before has not grown (R8) */
        if (first || value > phase->value[i])
            phase->value[i] = value;
    }
}

void pfr_phases_fold(struct pfr_phases *phases, const struct pfr_readings *readings,
                     const struct pfr_metric_set *wanted)
{
    for (uint32_t i = 0; i < phases->active_count; i++)
        for (uint32_t k = 0; k < readings->count; k++)
            if (holds(&phases->active[i], &readings->samples[k]))
                fold(&phases->active[i], &readings->samples[k], wanted);
}

const struct pfr_phase *pfr_phases_settle(struct pfr_phases *phases)
{
    for (uint32_t i = 0; i < phases->active_count; i++) {
        /* one place more than can be used: there it stays until the next */
        struct pfr_phase *phase = &phases->active[PFR_PHASES_ACTIVE];

        if (!phases->active[i].to)
            continue;
        *phase = phases->active[i];
        memmove(&phases->active[i], &phases->active[i + 1],
                (--phases->active_count - i) * sizeof(*phase));
        if (phases->done_count < PFR_PHASES_MAX)
            phases->done[phases->done_count++] = *phase;
        else
            phases->dropped++;
        return phase;
    }
    return NULL;
}

bool pfr_phase_value(const struct pfr_phase *phase, int place, int64_t *value)
{
    const struct pfr_metric *metric = &pfr_metrics[pfr_phase_keys[place]];
    bool counter = metric->kind == PFR_COUNTER;

    if (!((counter ? phase->again : phase->present) >> place & 1))
        return false;
    if (metric->lasting && !metric->past && phase->value[place] == phase->first[place])
        return false;
    *value = counter ? phase->value[place] - phase->first[place] : phase->value[place];
    return true;
}
