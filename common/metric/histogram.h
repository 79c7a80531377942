/*
 * Log-linear histogram of non-negative values, weighted (R80, R81): 32 steps to
 * each power of two, so a percentile is at most 1.6 % off. Exact percentiles
 * come from the series' samples, at report time.
 */
#ifndef PFR_METRIC_HISTOGRAM_H
#define PFR_METRIC_HISTOGRAM_H

#include <stdint.h>

#define PFR_HISTOGRAM_STEPS 32
#define PFR_HISTOGRAM_BUCKETS (59 * PFR_HISTOGRAM_STEPS)

struct pfr_histogram {
    int64_t total; /* sum of the weights */
    int64_t weight[PFR_HISTOGRAM_BUCKETS];
};

void pfr_histogram_add(struct pfr_histogram *histogram, int64_t value, int64_t weight);

/* The value that a share of the weight (0 to 1) does not pass; -1 when empty. */
int64_t pfr_histogram_percentile(const struct pfr_histogram *histogram, double share);

/*
 * Weight in each of `bins` log-spaced bins between low and high; edges[] gets
 * the bins + 1 edges.
 */
void pfr_histogram_bins(const struct pfr_histogram *histogram, int64_t low, int64_t high,
                        int bins, double *edges, int64_t *weights);

#endif
