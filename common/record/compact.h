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
#include "common/record/seal.h"

struct pfr_compaction {
    double span;             /* seconds that a merged window may cover */
    uint32_t most_processes; /* rows of a merged window */
    int64_t command_room;    /* bytes of command lines that are kept ... */
    int64_t command_bytes;   /* ... and those that were */
};

/* Appends the lines of text, merged, to fd and adds them to the seal. 0 or -errno. */
int pfr_series_compact(struct pfr_compaction *how, const char *text, size_t length, int fd,
                       struct pfr_seal *seal);

/*
 * Merges usage line b into a, which comes before it; `header` names the
 * columns of the process rows.
 */
void pfr_usage_merge(struct json_object *a, struct json_object *b, struct json_object *header,
                     uint32_t most_processes);

#endif
