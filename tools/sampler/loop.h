/* When to sample, and what to answer on the lifeline. */
#ifndef PFR_SAMPLER_LOOP_H
#define PFR_SAMPLER_LOOP_H

#include <signal.h>

#include "tools/sampler/session.h"

/*
 * Samples on absolute deadlines until the other side closes or *stop is set:
 * every 0.1 s in the first two seconds, then every interval. Then finishes
 * the session and sends the summary.
 */
void pfr_loop_run(struct pfr_session *session, int control, const volatile sig_atomic_t *stop);

/* The first deadline after `now`; `start` is when the session began. */
int64_t pfr_loop_deadline(int64_t start, int64_t interval, int64_t now);

#endif
