/*
 * The end of a series: the newest sample, how long nothing has moved, and who
 * was there. It is what one wants to know of a run that stands still or died.
 */
#ifndef PFR_JUDGE_LAST_H
#define PFR_JUDGE_LAST_H

#include "common/judge/facts.h"
#include "common/record/scan.h"

#define PFR_LAST_PROCESSES 3
#define PFR_LAST_VICTIMS 4
#define PFR_LAST_STATES 8

/* Nothing has moved for so long: no pause of a working program is that long. */
#define PFR_LAST_STALL (10 * 60 * PFR_NS_PER_S)

struct pfr_last_process {
    int64_t pid, rss, cpu; /* its resident set and CPU time in the last window */
    char comm[64];
};

struct pfr_last {
    /* seconds since the run began, in ns; PFR_ABSENT without any window */
    int64_t at;
    int64_t mem, nonreclaimable, rss_total, pdcpu; /* the newest sample, or the newest window */
    int64_t processes;

    int64_t still_since; /* since when no CPU, no I/O and no GPU was used; PFR_ABSENT when it was */
    int64_t stall;       /* as long as that, it is a stall: PFR_LAST_STALL, or what was asked for */
    bool everywhere;     /* the other nodes of the step stood still, too */
    char node[256];

    struct pfr_last_process top[PFR_LAST_PROCESSES];
    int top_count;
    bool has_srun; /* was among the processes of the last window */
    struct { char code[8]; int64_t count; } states[PFR_LAST_STATES]; /* of the last window */
    int state_count;

    struct pfr_last_process victims[PFR_LAST_VICTIMS]; /* gone when the kernel killed */
    int victim_count;
    int64_t oom_at, oom_kills;

    /* how the file is */
    int64_t lines, malformed;
    bool torn, final;
};

/*
 * A header, of which the type was read: 0 when we can read what follows it,
 * -EPROTO when a later major version wrote it.
 */
int pfr_header_check(struct pfr_scan scan);

/*
 * Reads the series once, in constant memory. 1, 0 when there is none, -errno;
 * -EPROTO as above.
 */
int pfr_last_load(struct pfr_last *last, int dirfd, const char *node);

#endif
