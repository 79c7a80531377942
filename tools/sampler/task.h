/* The tasks of a step: their names, their own cgroups, their lines in the series. */
#ifndef PFR_SAMPLER_TASK_H
#define PFR_SAMPLER_TASK_H

#include "tools/sampler/session.h"

/* After the first sample that saw it. */
void pfr_task_meet(struct pfr_session *session, pid_t pid);

/*
 * Its cgroup below the step's, where it has one: opened, and read at its end.
 * The first one opened decides whether there are sums over tasks.
 */
void pfr_task_open_meter(struct pfr_session *session, uint32_t i, pid_t pid);
void pfr_task_read_meter(struct pfr_session *session, uint32_t i);

/* The host saw the newest task start at this time: before us, if we are late. */
void pfr_task_began(struct pfr_session *session, int64_t when);

/* What the tasks' own cgroups have together, a sample at a time. */
extern const struct pfr_collector pfr_task_collector;

void pfr_task_release_meters(struct pfr_session *session);

/* Events in the series. */
void pfr_task_started(struct pfr_session *session, const struct pfr_task *task);
void pfr_task_ended(struct pfr_session *session, const struct pfr_task *task);

#endif
