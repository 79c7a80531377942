/*
 * One measurement of one thing, the step or an instance, over a window: the
 * one place in which readings become the value of a window.
 */
#ifndef PFR_METRIC_SUM_H
#define PFR_METRIC_SUM_H

#include "common/metric/table.h"

/*
 * The kernel brings CPU counters up to date every few milliseconds: a rate
 * over less than this would show cores that do not exist.
 */
#define PFR_SHORTEST_RATE (250 * INT64_C(1000000))

struct pfr_sum {
    bool seeded;
    int64_t base, base_at;      /* counters: first reading */
    int64_t newest, newest_at;  /* never falling */
    int64_t opened, opened_at;  /* newest when the window began */
    int64_t rated, rated_at;    /* reading up to which a rate was taken */
    uint32_t count;             /* readings in this window; of gauges: */
    int64_t max, min, last;
    double weighted, weight;
};

/* The first reading of a counter; it counts from `base` on. */
void pfr_sum_seed(struct pfr_sum *sum, int64_t base, int64_t stamp);

/* A reading of a counter that has its first; false when it fell and was not taken. */
bool pfr_sum_counter(struct pfr_sum *sum, int64_t value, int64_t stamp, bool may_fall);

/* A reading of a gauge; for how long it stood. */
int64_t pfr_sum_gauge(struct pfr_sum *sum, int64_t value, int64_t stamp);

/* The value of the window by the row's reduce; false when there was no reading. */
bool pfr_sum_reduce(const struct pfr_sum *sum, const struct pfr_metric *metric, int64_t *value);

/* The rate of a counter over the window; false when that was too short. */
bool pfr_sum_rate(const struct pfr_sum *sum, int64_t *rate);

/* A new window begins. */
void pfr_sum_reopen(struct pfr_sum *sum);

#endif
