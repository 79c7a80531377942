/* From the steps that were found to the views of a figure. */
#ifndef PFR_PLOT_GATHER_H
#define PFR_PLOT_GATHER_H

#include "tools/profres/find.h"
#include "tools/profres/plot/figure.h"

/*
 * Reads all nodes of all steps, or the one node. A step on several nodes gets a
 * view of all of them, several jobs get one of all runs of the same step; the
 * largest sixteen nodes have views of their own. 0, or -errno after saying on
 * standard error why nothing can be drawn.
 */
int pfr_gather(struct pfr_figure *figure, const struct pfr_finds *finds, const char *node);

#endif
