/*
 * What the sampler is told of the tasks. It is kept, so that another one can be
 * told of it again when the first is gone.
 */
#ifndef PFR_PLUGIN_NOTICE_H
#define PFR_PLUGIN_NOTICE_H

#include "plugin/talk.h"

/* Both in the order in which slurmstepd sees them. */
void pfr_notice_start(struct pfr_talk *talk, pid_t pid, uint32_t rank);
void pfr_notice_exit(struct pfr_talk *talk, pid_t pid, int status);

/* All of it, to the other end of control; never waits. */
void pfr_notice_repeat(int control);

#endif
