#include "common/metric/histogram.h"

#include <math.h>
#include <string.h>

/* Values below 32 have a bucket each; above, the top six bits choose it. */
static int bucket_of(int64_t value)
{
    int exponent;

    if (value < PFR_HISTOGRAM_STEPS)
        return value < 0 ? 0 : (int)value;
    exponent = 63 - __builtin_clzll((unsigned long long)value);
    return (exponent - 4) * PFR_HISTOGRAM_STEPS +
           (int)(value >> (exponent - 5)) - PFR_HISTOGRAM_STEPS;
}

static int64_t bucket_low(int bucket)
{
    int exponent = bucket / PFR_HISTOGRAM_STEPS + 4;

    if (bucket < PFR_HISTOGRAM_STEPS)
        return bucket;
    return (int64_t)(bucket % PFR_HISTOGRAM_STEPS + PFR_HISTOGRAM_STEPS) << (exponent - 5);
}

static int64_t bucket_middle(int bucket)
{
    int exponent = bucket / PFR_HISTOGRAM_STEPS + 4;

    if (bucket < 2 * PFR_HISTOGRAM_STEPS)
        return bucket_low(bucket);
    return bucket_low(bucket) + (INT64_C(1) << (exponent - 6));
}

void pfr_histogram_add(struct pfr_histogram *histogram, int64_t value, int64_t weight)
{
    histogram->weight[bucket_of(value)] += weight;
    histogram->total += weight;
}

int64_t pfr_histogram_percentile(const struct pfr_histogram *histogram, double share)
{
    double goal = share * (double)histogram->total, sum = 0;

    if (histogram->total <= 0)
        return -1;
    for (int i = 0; i < PFR_HISTOGRAM_BUCKETS; i++) {
        sum += (double)histogram->weight[i];
        if (histogram->weight[i] && sum >= goal)
            return bucket_middle(i);
    }
    return -1;
}

void pfr_histogram_bins(const struct pfr_histogram *histogram, int64_t low, int64_t high,
                        int bins, double *edges, int64_t *weights)
{
    /* From 1 up: a logarithm has no place for 0, which goes into the first bin. */
    double a = log(low < 1 ? 1.0 : (double)low), b = log(high < 1 ? 1.0 : (double)high);
    double step = (b - a) / bins;

    for (int i = 0; i <= bins; i++)
        edges[i] = exp(a + i * step);
    edges[0] = (double)low;
    edges[bins] = (double)high;
    memset(weights, 0, (size_t)bins * sizeof(*weights));
    for (int i = 0; i < PFR_HISTOGRAM_BUCKETS; i++) {
        double middle = (double)bucket_middle(i);
        int bin = middle < 1 || step <= 0 ? 0 : (int)((log(middle) - a) / step);

        if (histogram->weight[i])
            weights[bin < 0 ? 0 : bin >= bins ? bins - 1 : bin] += histogram->weight[i];
    }
}
