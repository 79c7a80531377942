/*
 * The sampler's own CPU time: a hundredth of what the step's cores can give,
 * and a second at once for a beginning or a crisis. What is over is waited for.
 */
#ifndef PFR_SAMPLER_BUDGET_H
#define PFR_SAMPLER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct pfr_budget {
    int64_t cores; /* times the percent that may be used of them */
    int64_t credit; /* nanoseconds of CPU time; below 0 it is a debt */
    int64_t at, used; /* when that was so, and what had been used then */
};

/* The step's cores, at least one is taken; the time; the CPU time used until now. */
void pfr_budget_init(struct pfr_budget *budget, int64_t cores, int64_t now, int64_t used);

/* When the next work that could wait may be done: now, or when the debt is paid. */
int64_t pfr_budget_next(struct pfr_budget *budget, int64_t now, int64_t used);

#endif
