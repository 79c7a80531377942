/*
 * The run accumulator (R4): what the summary is made of. It is fed by the
 * window when that is closed and knows nothing of collectors or files.
 */
#ifndef PFR_METRIC_RUN_H
#define PFR_METRIC_RUN_H

#include "common/metric/command.h"
#include "common/metric/process.h"
#include "common/metric/row.h"
#include "common/metric/stat.h"

/* A process worth remembering after it has gone. */
struct pfr_top_process {
    pid_t pid;
    int64_t start_ticks;
    char comm[PFR_COMM_SIZE];
    char *cmd;
    bool gone;
    struct pfr_row row;
};

struct pfr_run {
    struct pfr_metric_set present;
    struct pfr_stat *stat[PFR_STEP_COUNT];  /* gauges; made when first seen */
    int64_t total[PFR_STEP_COUNT];          /* counters: growth since the first reading */
    int64_t span[PFR_STEP_COUNT];           /* ... and the time it took */
    int64_t before[PFR_STEP_COUNT];         /* ... and what they had then, if that is the run's */
    bool from_zero;                         /* it is: what is counted was made for the run */
    struct pfr_commands commands;
    uint64_t num_samples;
    uint64_t num_windows;
    uint64_t counter_falls; /* readings of counters below an earlier one */
    int64_t first_stamp, last_stamp;
    uint32_t top_limit; /* by CPU, and as many by resident set */
    struct pfr_top_process *top;
    uint32_t top_count;
};

int pfr_run_init(struct pfr_run *run, uint32_t top_limit);
void pfr_run_release(struct pfr_run *run);

/* A gauge reading that stood for weight_ns. Memory trouble loses the statistic, not the run. */
void pfr_run_gauge(struct pfr_run *run, enum pfr_metric_id id, int64_t value, int64_t weight_ns,
                   int64_t stamp);

/* The growth of a counter so far, and over what time. */
void pfr_run_counter(struct pfr_run *run, enum pfr_metric_id id, int64_t total, int64_t span);

/* Offers a process to the list of the largest; keeps a copy if it belongs there. */
void pfr_run_offer(struct pfr_run *run, const struct pfr_process *process,
                   const struct pfr_row *row);

/* Processes that live are offered anew each time; this forgets the old offers. */
void pfr_run_forget_living(struct pfr_run *run);

#endif
