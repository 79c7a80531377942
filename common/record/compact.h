/*
 * Makes a series shorter: neighbouring windows become one as long as that
 * covers no more than a span, without loss for peaks, counters and tallies;
 * the samples inside windows are given up, so exact percentiles are then
 * those of the run's histogram.
 */
#ifndef PFR_RECORD_COMPACT_H
#define PFR_RECORD_COMPACT_H

#include <stdint.h>

#include "common/record/json.h"

/* Rewrites dirfd/name, whole or not at all. 0 or -errno. */
int pfr_series_compact(int dirfd, const char *name, double span, uint32_t most_processes);

/*
 * Merges usage line b into a, which comes before it; `header` names the
 * columns of the process rows.
 */
void pfr_usage_merge(struct json_object *a, struct json_object *b, struct json_object *header,
                     uint32_t most_processes);

#endif
