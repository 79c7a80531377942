/*
 * Statistics of one gauge over a run: extremes, time-weighted mean and
 * variance (Welford, R82), percentiles.
 */
#ifndef PFR_METRIC_STAT_H
#define PFR_METRIC_STAT_H

#include <stdint.h>

#include "common/metric/histogram.h"

struct pfr_stat {
    int64_t count;
    int64_t weighted; /* readings that stood for some time */
    int64_t min, max, last;
    int64_t max_at; /* stamp of the reading that was the maximum */
    double weight;  /* seconds seen */
    double mean;
    double spread; /* weighted sum of squared distances from the mean */
    struct pfr_histogram histogram;
};

/*
 * A reading stands for the time since the reading before it: `weight_ns`.
 * The first of a run has none and counts for the extremes only.
 */
void pfr_stat_add(struct pfr_stat *stat, int64_t value, int64_t weight_ns, int64_t stamp);

/* The mean; of a single unweighted reading, that reading. count must be > 0. */
double pfr_stat_mean(const struct pfr_stat *stat);

/* < 0 when fewer than two weighted readings are there. */
double pfr_stat_deviation(const struct pfr_stat *stat);

/* From the histogram, within [min, max]; the last reading when nothing has weight. */
int64_t pfr_stat_percentile(const struct pfr_stat *stat, double share);

#endif
