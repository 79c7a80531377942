/*
 * When the sampler of a step was lost, a second one writes down the few totals
 * that slurmstepd read itself: NODE.lost.json beside what the first one left.
 */
#ifndef PFR_SAMPLER_LOST_H
#define PFR_SAMPLER_LOST_H

#include "tools/sampler/session.h"

/* "PEAK,KILLS,CPU" as in the message "totals", -1 for what is not known. */
bool pfr_lost_parse(const char *text, struct pfr_totals *totals);

/* 0 or -errno. */
int pfr_lost_write(const struct pfr_options *options, const struct pfr_totals *totals);

#endif
