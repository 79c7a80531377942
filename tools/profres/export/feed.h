/*
 * The lines of one series, each once, also of a file that grows and of one that
 * was replaced by a shorter one in which old windows are merged
 * (profres-series(5), Size).
 */
#ifndef PFR_EXPORT_FEED_H
#define PFR_EXPORT_FEED_H

#include <stdint.h>
#include <sys/types.h>

#include "tools/profres/export/format.h"

struct pfr_feed {
    struct pfr_found found; /* strings of our own */
    struct pfr_export_source source;
    int dirfd, fd;
    char name[300];
    bool opened; /* it was there once */
    char *text; /* what was read and is not used up: at most the beginning of a line */
    size_t used, room;
    bool skipping;      /* the rest of a line that is too long */
    uint64_t kept;      /* lines so far that a merging keeps as they are */
    uint64_t passed;    /* of the file at hand, those that were in the one before it */
    uint64_t runs, run; /* headers met, and of these in the file at hand */
    double last;        /* end of the newest window of the newest run */
    bool final;         /* its last line was that of a run that is over */
    bool refused;       /* of a version that cannot be read; it was said */
    uint64_t malformed;
    int64_t written, watched; /* the summary when it was seen to change, and when that was */
    bool cut;                 /* it was said that its profiler was cut off */
};

/* Of this node of a step that was found. NULL: no memory, or no such directory. */
struct pfr_feed *pfr_feed_new(const struct pfr_found *found, const char *node);
void pfr_feed_free(struct pfr_feed *feed);

bool pfr_feed_is_of(const struct pfr_feed *feed, const struct pfr_found *found, const char *node);

/* Hands on what is new. 1 there was something, 0 nothing, -errno. */
int pfr_feed_read(struct pfr_feed *feed, struct pfr_export *export,
                  const struct pfr_format *format);

/* The summary as it is now (json_object_put it), or NULL. */
struct json_object *pfr_feed_summary(const struct pfr_feed *feed);

/* Nothing more will come: the profiler has finished, or was lost or cut off, which is said. */
bool pfr_feed_is_over(struct pfr_feed *feed);

#endif
