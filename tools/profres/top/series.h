/* The lines of a series, taken into a node. */
#ifndef PFR_TOP_SERIES_H
#define PFR_TOP_SERIES_H

#include "tools/profres/top/node.h"

/* A pfr_tail_take; arg is the node. */
bool pfr_top_series_take(void *arg, const char *line, size_t length);

#endif
