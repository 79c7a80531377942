/*
 * What the sampler gives up before it looks at anything of the user's. It is
 * outside the job's cgroups, so nothing else bounds what it can take of a
 * node: memory, descriptors, files, processes, privileges and time.
 */
#ifndef PFR_SAMPLER_CONFINE_H
#define PFR_SAMPLER_CONFINE_H

#include "common/collect/env.h"

/* As whoever we were started: the OOM killer's first choice; for ever without capabilities. */
void pfr_confine_early(const struct pfr_env *env);

/* As the user: limits, and nobody may trace us. */
void pfr_confine(void);

/* Descriptors that may be kept open for processes, and a few for the rest. */
#define PFR_CONFINE_FDS 16480

/*
 * From now on the kernel ends us after so many seconds, whatever we hang in; 0:
 * not any more. A wait for a file server ends with it, for that can be killed.
 */
void pfr_confine_deadline(unsigned seconds);

/* For one reading with its writes, and for everything after the end of the step. */
#define PFR_DEADLINE_BUSY 300
#define PFR_DEADLINE_END 60

#endif
