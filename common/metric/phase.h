/*
 * Phases that the step itself marks: what the step used between two samples
 * that were taken at its word. They are reduced when a window is closed, from
 * the samples in which computed rows are filled in by then.
 */
#ifndef PFR_METRIC_PHASE_H
#define PFR_METRIC_PHASE_H

#include "common/metric/reading.h"

#define PFR_PHASE_NAME 128
#define PFR_PHASE_KEYS 16
#define PFR_PHASES_ACTIVE 512
#define PFR_PHASES_MAX 256

struct pfr_phase {
    char name[PFR_PHASE_NAME];
    int rank;         /* of the task that marks it; -1 = it has none */
    int64_t from, to; /* stamps; to is 0 while it is open */
    bool unended;     /* it ended with its task */
    uint32_t present, again; /* by place in pfr_phase_keys: it was read, and read again */
    int64_t first[PFR_PHASE_KEYS], value[PFR_PHASE_KEYS];
};

/* What is told of a phase: counters as their growth, gauges as their maximum. */
extern const enum pfr_metric_id pfr_phase_keys[PFR_PHASE_KEYS];

struct pfr_phases {
    struct pfr_phase *active; /* open, or ended in the window that is not closed yet */
    uint32_t active_count;
    struct pfr_phase *done;   /* the first of those that have ended */
    uint32_t done_count;
    uint64_t dropped;         /* phases beyond that, or that there was no room for */
};

void pfr_phases_release(struct pfr_phases *phases);

/* Begins one at this stamp; NULL when there is no room (it is counted). */
struct pfr_phase *pfr_phases_begin(struct pfr_phases *phases, const char *name, int rank,
                                   int64_t stamp);

/* Ends the one that this rank has open; false when it has none. */
bool pfr_phases_end(struct pfr_phases *phases, int rank, int64_t stamp);

/* The task is over (PFR_ANY_RANK: all are), and with it what it has open. */
#define PFR_ANY_RANK (-2)
void pfr_phases_cut(struct pfr_phases *phases, int rank, int64_t stamp);

/* A window was closed: its samples into the phases that they are in. */
void pfr_phases_fold(struct pfr_phases *phases, const struct pfr_readings *readings,
                     const struct pfr_metric_set *wanted);

/*
 * After that: takes out one that has ended and keeps it among those done if it
 * is one of the first. NULL when there is none; valid until the next call.
 */
const struct pfr_phase *pfr_phases_settle(struct pfr_phases *phases);

/*
 * The value at this place of pfr_phase_keys; false when it was not measured. A
 * peak that the kernel keeps is that of the phase only if it rose in it.
 */
bool pfr_phase_value(const struct pfr_phase *phase, int place, int64_t *value);

#endif
