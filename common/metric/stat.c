#include "common/metric/stat.h"

#include <math.h>

void pfr_stat_add(struct pfr_stat *stat, int64_t value, int64_t weight_ns, int64_t stamp)
{
    if (stat->count == 0 || value > stat->max) {
        stat->max = value;
        stat->max_at = stamp;
    }
    if (stat->count == 0 || value < stat->min)
        stat->min = value;
    stat->last = value;
    stat->count++;
    if (weight_ns > 0) {
        double weight = (double)weight_ns / 1e9, away = (double)value - stat->mean;

        stat->weighted++;
        stat->weight += weight;
        stat->mean += away * weight / stat->weight;
        stat->spread += weight * away * ((double)value - stat->mean);
        pfr_histogram_add(&stat->histogram, value, weight_ns);
    }
}

double pfr_stat_mean(const struct pfr_stat *stat)
{
    return stat->weight > 0 ? stat->mean : (double)stat->last;
}

double pfr_stat_deviation(const struct pfr_stat *stat)
{
    if (stat->weighted < 2)
        return -1;
    return sqrt(stat->spread < 0 ? 0 : stat->spread / stat->weight);
}

int64_t pfr_stat_percentile(const struct pfr_stat *stat, double share)
{
    int64_t value = pfr_histogram_percentile(&stat->histogram, share);

    if (value < 0)
        return stat->last;
    return value < stat->min ? stat->min : value > stat->max ? stat->max : value;
}
