/* Out of the step before anything else, and no longer root. */
#ifndef PFR_SAMPLER_LEAVE_H
#define PFR_SAMPLER_LEAVE_H

#include "common/collect/cgpath.h"

/*
 * Moves this process out of the cgroups of the step it was started in, in every
 * hierarchy; the plugin has done so before, and this makes sure. Left there it
 * would be charged to the step, be killed with it, or hold it up until the node
 * is drained: when this fails (-errno), do not stay.
 */
int pfr_leave_step(const struct pfr_env *env);

/*
 * The user's identity, for good: groups, gid, uid, no new privileges. There is
 * no exec after this, so the user cannot trace a process outside the job.
 */
int pfr_become_user(uid_t uid, gid_t gid, const gid_t *groups, size_t count);

#endif
