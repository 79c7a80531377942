/*
 * What is in the files beside the numbers of a step: tasks, processes, phases,
 * windows, instances of a family, and why something was not measured. One row at a time.
 */
#ifndef PFR_PROFRES_DETAIL_H
#define PFR_PROFRES_DETAIL_H

#include "common/judge/facts.h"
#include "tools/profres/find.h"
#include "tools/profres/table.h"

enum pfr_detail_kind {
    PFR_DETAIL_TASK, PFR_DETAIL_PROCESS, PFR_DETAIL_PHASE, PFR_DETAIL_TIME,
    PFR_DETAIL_FAMILY /* + pfr_scope: the instances of a family */
};

/* A task, a process, a phase or a window; what it does not have is absent. */
struct pfr_detail {
    const struct pfr_facts *facts; /* of the node */
    int64_t rank, pid, from, to, exit, signal, samples;
    char name[64], id[64], comm[64], command[512], states[64];
    bool unended; /* no mark ended the phase */
    int64_t value[PFR_METRIC_COUNT];
};

/*
 * The kernel's own peak of a phase: since it began (Linux 6.12 and v2), else the
 * one of the run, which a phase has only when it rose in it. PFR_ABSENT.
 */
int64_t pfr_detail_phase_peak(const struct pfr_detail *phase);

/* The columns that rows of this kind have. */
const struct pfr_columns *pfr_detail_columns(enum pfr_detail_kind kind);

/* The columns that are shown when none are chosen. */
const char *pfr_detail_format(enum pfr_detail_kind kind);

/*
 * Calls `take` for each row of one node, in the order of the file. How many,
 * or -errno; `*malformed` counts lines of a series that were passed over.
 */
int64_t pfr_detail_each(enum pfr_detail_kind kind, const struct pfr_found *found,
                        const struct pfr_facts *node,
                        void (*take)(const struct pfr_detail *row, void *arg), void *arg,
                        int64_t *malformed);

/* Calls `take` for each measurement that is not there, with the reason. */
int pfr_detail_reasons(const struct pfr_found *found, const char *node,
                       void (*take)(const char *key, const char *reason, void *arg), void *arg);

#endif
