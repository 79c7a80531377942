/*
 * The window: raw readings go in, and once per window they are aggregated
 * (R2) into a usage record and folded into the run. What a value means, and
 * so how it is reduced, stands in the metric table and nowhere else.
 */
#ifndef PFR_METRIC_WINDOW_H
#define PFR_METRIC_WINDOW_H

#include "common/metric/reading.h"
#include "common/metric/row.h"
#include "common/metric/run.h"
#include "common/metric/select.h"
#include "common/metric/sum.h"

/* What is kept of each process, by slot. */
struct pfr_process_sum {
    bool known;
    bool newborn;                 /* all its counters are of this run */
    bool left;                    /* was not in the newest sample */
    bool departing;               /* ... and was in the one before */
    uint32_t serial;              /* of the newest sample it was in */
    uint32_t debts;               /* entries in window.debts of which it is the debtor */
    uint32_t seeded;              /* counters that have a first value */
    uint32_t command;             /* its entry in the run's commands */
    int64_t seen_at;              /* stamp of its newest reading */
    int64_t counter[PFR_PID_END]; /* newest, never falling */
    int64_t prepaid;              /* CPU time of children to be taken off later growth */
    struct pfr_row window, run;
};

/*
 * A process has gone, and its parent may wait for it: then the kernel adds
 * what it read and wrote to the parent's own counters, where it must not
 * count again, and its CPU time to that of children. The debtor is the nearest
 * ancestor that is still there.
 */
#define PFR_DEBT_CPU PFR_INHERITED_COUNT /* its place, behind those of I/O */

struct pfr_debt {
    uint32_t debtor; /* slot */
    uint32_t has;    /* bit = place */
    int64_t value[PFR_INHERITED_COUNT + 1];
};

#define PFR_DEBTS_MAX 1024

struct pfr_window {
    const struct pfr_selection *selection;
    struct pfr_process_table *processes;
    struct pfr_instances *instances; /* or NULL */
    struct pfr_readings readings;
    struct pfr_process_sum *sums;
    uint32_t sum_capacity;
    struct pfr_sum step[PFR_STEP_COUNT];
    int64_t attributed[PFR_PID_END]; /* sum of the growth of every process, ever (R8) */
    uint32_t attributing;            /* ... for these */
    struct pfr_debt *debts;
    uint32_t debt_count;
    uint32_t serial; /* of the sample being folded */
    int64_t procs_at;                /* stamp of the newest sample that had processes */
    uint32_t top_limit;
    uint32_t *ranking; /* slots, for the usage record */
    uint32_t ranking_capacity;
};

/* One closed window; points into the window and the run, valid until the next. */
struct pfr_usage {
    int64_t wall, from, to;
    uint32_t num_samples;
    struct pfr_metric_set present;
    int64_t step[PFR_STEP_COUNT];
    const struct pfr_readings *readings; /* the samples, computed rows filled in */
    const struct pfr_process_table *processes;
    const struct pfr_process_sum *sums;
    const uint32_t *top; /* slots: the largest by CPU and by resident set */
    uint32_t top_count;
    uint32_t process_count; /* processes that had a reading */
    struct pfr_instances *instances; /* of all families, this window; or NULL */
};

void pfr_window_init(struct pfr_window *window, const struct pfr_selection *selection,
                     struct pfr_process_table *processes, uint32_t top_limit);
void pfr_window_release(struct pfr_window *window);

/*
 * Aggregates what is buffered. 1 and *usage filled in, or 0 when nothing
 * was buffered, or -ENOMEM (the window is lost, the run goes on).
 */
int pfr_window_close(struct pfr_window *window, struct pfr_run *run, struct pfr_usage *usage);

/* After the usage record is written: processes that have gone leave the table. */
void pfr_window_reopen(struct pfr_window *window, struct pfr_run *run);

#endif
