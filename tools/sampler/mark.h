/*
 * Phases and events that the tasks tell of themselves (profres mark), over the
 * socket of common/base/mark.h. All of it is bounded: how much a message
 * may hold, how often a sample is taken at a task's word, and how much of the
 * series may be marks.
 */
#ifndef PFR_SAMPLER_MARK_H
#define PFR_SAMPLER_MARK_H

#include "tools/sampler/session.h"

/* Makes the socket beside the files; without it there are no marks, and no harm. */
void pfr_marks_open(struct pfr_session *session);

/* Takes it away, if it is still ours. */
void pfr_marks_close(struct pfr_session *session);

/* Takes what is there. */
void pfr_marks_receive(struct pfr_session *session);

/* A window was closed: what its samples say of phases, and those that have ended. */
void pfr_marks_settle(struct pfr_session *session);

#endif
