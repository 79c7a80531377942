/* Many runs of one thing as one: how they are spread, which stand out, what to ask for. */
#ifndef PFR_PROFRES_GROUP_H
#define PFR_PROFRES_GROUP_H

#include <stdio.h>

#include "common/judge/advice.h"

struct pfr_group_run {
    char name[96]; /* "4711_3", "4711.0" */
    enum pfr_verdict_id verdict;
    enum pfr_metric_id source; /* of memory */
    int64_t memory, cores, elapsed, mem_given, cpus;
};

struct pfr_group {
    struct pfr_group_run *runs;
    size_t count, room;
    struct pfr_needs needs;
};

/* Zero it first. 0 or -ENOMEM. */
int pfr_group_add(struct pfr_group *group, const struct pfr_facts *facts,
                  enum pfr_verdict_id verdict);

/*
 * Counts, minimum, median, 95th percentile and maximum, how memory and cores
 * are spread, those that stand out by name, failures by verdict, and one advice.
 */
void pfr_group_print(FILE *out, const struct pfr_group *group);

void pfr_group_release(struct pfr_group *group);

#endif
