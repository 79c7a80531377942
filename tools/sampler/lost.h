/*
 * Tasks that had ended before we could look at them, because we came late or in
 * the place of a sampler that was lost. What the host says of them is written
 * down all the same: to the summary, if other tasks were measured, else, with the
 * few totals that it read itself, to NODE.lost.json beside what there may be.
 */
#ifndef PFR_SAMPLER_LOST_H
#define PFR_SAMPLER_LOST_H

#include "tools/sampler/session.h"

/*
 * Whether the task that the host saw start at `when` (a stamp) is gone: its
 * number is nobody's now, or another's.
 */
bool pfr_lost_is(const struct pfr_env *env, pid_t pid, int64_t when);

void pfr_lost_start(struct pfr_session *session, pid_t pid, int rank, int64_t when);
void pfr_lost_end(struct pfr_session *session, pid_t pid, const struct pfr_task_end *end);

/* At the end of a run that measured others. */
void pfr_lost_join(struct pfr_session *session);

/* At the end of one that measured nothing: once, if anything is known. 0 or -errno. */
int pfr_lost_write(struct pfr_session *session);

#endif
