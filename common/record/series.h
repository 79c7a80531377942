/*
 * The series: JSON Lines, append only, bounded. When the file passes its
 * limit, neighbouring windows in it are merged (bound.h); new ones are
 * always of the length that was asked for, so what is recent is fine and on
 * disk.
 */
#ifndef PFR_RECORD_SERIES_H
#define PFR_RECORD_SERIES_H

#include "common/metric/window.h"
#include "common/record/json.h"
#include "common/record/schema.h"
#include "common/record/seal.h"

#define PFR_SERIES_PER_HOUR 1000000
#define PFR_SERIES_LIMIT 4000000

/* Nothing is written past this, whatever it is, nor after more of an earlier run. */
#define PFR_SERIES_MOST (PFR_SERIES_LIMIT + PFR_SERIES_PER_HOUR)
#define PFR_SERIES_EARLIER (4 * PFR_SERIES_LIMIT)

struct pfr_announced {
    int64_t start_ticks;
    uint32_t cmd_hash;
};

struct pfr_series {
    const struct pfr_info *info;
    int dirfd;
    char name[256];
    int fd; /* -1: nothing can be written */
    struct pfr_seal seal; /* of what is in the file */
    int64_t limit;
    int64_t again;         /* not shortened before it has so many bytes ... */
    int64_t command_bytes; /* ... of which command lines have these */
    int64_t span; /* nanoseconds up to which windows are merged by now */
    struct pfr_announced *announced; /* by slot: whose command is in the file */
    uint32_t announced_capacity;
    uint64_t errors;
    bool told; /* the first error was logged */
};

/*
 * Writes the header. 0 or -errno; the series can be used either way and then
 * drops what it is given. dirfd must outlive it.
 */
int pfr_series_open(struct pfr_series *series, const struct pfr_info *info, int dirfd,
                    const char *name);
void pfr_series_release(struct pfr_series *series);

void pfr_series_usage(struct pfr_series *series, const struct pfr_usage *usage);

/* An event: `object` gets type, ts and t, and is consumed. */
void pfr_series_event(struct pfr_series *series, const char *event, int64_t wall, int64_t stamp,
                      struct json_object *object);

/* What the file may hold by now: a megabyte for each hour begun, up to its limit. */
int64_t pfr_series_room(const struct pfr_series *series, int64_t now);

/* A failing disk is said once and counted; the run goes on (R57, R73). */
void pfr_series_note_error(struct pfr_series *series, int error);

void pfr_series_final(struct pfr_series *series, const struct pfr_snapshot *snapshot);

#endif
