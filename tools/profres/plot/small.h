/* The small chart below a summary, from the files. */
#ifndef PFR_PLOT_SMALL_H
#define PFR_PLOT_SMALL_H

#include <stdio.h>

/* Of one node in a step's directory; nothing when there is no series to read. */
void pfr_chart_of_files(FILE *out, const char *dir, const char *node);

#endif
