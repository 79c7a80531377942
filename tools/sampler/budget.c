#include "tools/sampler/budget.h"

#include "common/base/parse.h"

/* One part in so many. */
#define SHARE 100
#define BURST PFR_NS_PER_S

void pfr_budget_init(struct pfr_budget *budget, int64_t cores, int64_t now, int64_t used)
{
    *budget = (struct pfr_budget){ .cores = cores > 0 ? cores : 1, .credit = BURST, .at = now,
                                   .used = used };
}

int64_t pfr_budget_next(struct pfr_budget *budget, int64_t now, int64_t used)
{
    /* what it has earned: a long sleep must not overflow, nor is more than a burst kept */
    int64_t slept = now - budget->at, full = 2 * BURST * SHARE / budget->cores;

    slept = slept < 0 ? 0 : slept > full ? full : slept;
    budget->credit += slept * budget->cores / SHARE - (used - budget->used);
    if (budget->credit > BURST)
        budget->credit = BURST;
    budget->at = now;
    budget->used = used;
    return budget->credit >= 0 ? now : now - budget->credit * SHARE / budget->cores;
}
