/* The profiles that were found, read and put together by step. */
#ifndef PFR_PROFRES_LOAD_H
#define PFR_PROFRES_LOAD_H

#include "common/judge/facts.h"
#include "tools/profres/find.h"

/* One step, or one job, with the nodes it was put together from. */
struct pfr_load {
    const struct pfr_found *found; /* of a job: its first step */
    const struct pfr_facts *facts, *nodes;
    size_t node_count;
};

/*
 * Calls `take` for every step that was found, or with `jobs` for every job, in
 * their order; what it is given lasts until it returns, and below 0 it ends the
 * loop. Files that cannot be used are named on standard error and passed over.
 *
 * Only what is `wanted` of the measurements is read (NULL: all).
 *
 * Profiles of another cluster that lie in the same directory are another job.
 *
 * How many files could not be used, or what `take` returned below 0.
 */
int pfr_load_all(const struct pfr_finds *finds, bool jobs, const struct pfr_wanted *wanted,
                 int (*take)(const struct pfr_load *load, void *arg), void *arg);

/* For pfr_finds.denied: says so on standard error, and counts in the int at arg. */
void pfr_load_denied(const char *path, int error, void *arg);

#endif
