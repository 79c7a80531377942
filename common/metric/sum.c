#include "common/metric/sum.h"

#include "common/metric/row.h"

void pfr_sum_seed(struct pfr_sum *sum, int64_t base, int64_t stamp)
{
    sum->base = sum->newest = sum->opened = sum->rated = base;
    sum->base_at = sum->opened_at = sum->rated_at = stamp;
    sum->seeded = true;
}

bool pfr_sum_counter(struct pfr_sum *sum, int64_t value, int64_t stamp, bool may_fall)
{
    bool fell = value < sum->newest && !may_fall;

    if (!fell)
        sum->newest = value;
    sum->newest_at = stamp;
    sum->count++;
    return !fell;
}

int64_t pfr_sum_gauge(struct pfr_sum *sum, int64_t value, int64_t stamp)
{
    int64_t weight = sum->newest_at ? stamp - sum->newest_at : 0;

    if (!sum->count || value > sum->max)
        sum->max = value;
    if (!sum->count || value < sum->min)
        sum->min = value;
    sum->last = value;
    sum->count++;
    sum->newest_at = stamp;
    sum->weighted += (double)value * (double)weight;
    sum->weight += (double)weight;
    return weight;
}

bool pfr_sum_reduce(const struct pfr_sum *sum, const struct pfr_metric *metric, int64_t *value)
{
    if (!sum->count)
        return false;
    switch (metric->reduce) {
    case PFR_DELTA:
        *value = sum->newest - sum->opened;
        break;
    case PFR_MAX:
        *value = sum->max;
        break;
    case PFR_MIN:
        *value = sum->min;
        break;
    case PFR_MEAN:
        *value = sum->weight > 0 ? (int64_t)(sum->weighted / sum->weight) : sum->last;
        break;
    default:
        *value = sum->last;
    }
    return true;
}

bool pfr_sum_rate(const struct pfr_sum *sum, int64_t *rate)
{
    int64_t span = sum->newest_at - sum->opened_at;

    if (!sum->count || span < PFR_SHORTEST_RATE)
        return false;
    *rate = pfr_rate(sum->newest - sum->opened, span);
    return true;
}

void pfr_sum_reopen(struct pfr_sum *sum)
{
    sum->opened = sum->newest;
    sum->opened_at = sum->newest_at;
    sum->count = 0;
    sum->weighted = sum->weight = 0;
}
