/*
 * Out of memory, noticed when it happens: the kernel says so on a descriptor
 * (v2 memory.events, v1 an eventfd), and who has gone since is written down
 * before anything is torn down (R83).
 */
#ifndef PFR_SAMPLER_OOM_H
#define PFR_SAMPLER_OOM_H

#include <poll.h>

#include "tools/sampler/session.h"

/* Where to wait for it: fd -1 where the kernel or the cgroup offers nothing. */
void pfr_oom_open(struct pfr_oom *oom, const struct pfr_cgtarget *target);
void pfr_oom_release(struct pfr_oom *oom);

/* What to poll for at this time. */
struct pollfd pfr_oom_poll(const struct pfr_oom *oom, int64_t now);

/*
 * The descriptor was ready: makes it wait again, but not for a while. A step
 * that lives at its limit wakes us a hundred times a second.
 */
void pfr_oom_rearm(struct pfr_oom *oom, int64_t now);

/* After a sample: notes kills that were counted since the one before. */
void pfr_oom_check(struct pfr_session *session, const struct pfr_sample *sample);

/* Before a window forgets who has gone: writes down kills whose victims may be among them. */
void pfr_oom_end_window(struct pfr_session *session);

/* Writes them down with who has gone, if anybody. */
void pfr_oom_flush(struct pfr_session *session);

#endif
