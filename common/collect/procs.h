/*
 * The process collector: what ps(1) would show of each process and what else
 * /proc/PID tells, by the places in procs.c. Files stay open while the fd
 * budget lasts, so a steady tick is one pread per file. An open /proc file
 * belongs to the process, not to the number: it cannot read a reused pid.
 */
#ifndef PFR_COLLECT_PROCS_H
#define PFR_COLLECT_PROCS_H

#include "common/collect/env.h"
#include "common/collect/still.h"
#include "common/metric/reading.h"
#include "common/metric/select.h"

enum pfr_procfile { PFR_PROC_STAT, PFR_PROC_STATUS, PFR_PROC_IO, PFR_PROC_ROLLUP, PFR_PROCFILES };

/* Reads of a file that failed for a reason other than the process's end. */
struct pfr_procs_trouble {
    uint64_t denied[PFR_PROCFILES];    /* EACCES, EPERM: counted per reading */
    uint64_t malformed[PFR_PROCFILES]; /* not the shape that was expected */
    uint64_t hidden;  /* listed, but never seen in /proc (hidepid, or very short) */
    uint64_t no_memory;
};

struct pfr_procs {
    const struct pfr_env *env;
    struct pfr_process_table *table;
    const struct pfr_metric_set *wanted;
    bool needed[PFR_PROCFILES];
    bool record_cmd;
    bool needs_rss; /* for what is computed from it, or decided by it */
    int proc_fd;
    int (*fds)[PFR_PROCFILES]; /* by slot; 0 = not open (never our fd) */
    uint32_t fds_capacity;
    uint32_t fds_open, fds_budget;
    uint32_t tick;
    int64_t pss_next, pss_interval, pss_cap;
    struct pfr_procs_trouble trouble;
    struct pfr_still still;
    char text[8192];
};

/*
 * 0 or -errno. `fds_budget` is how many files may be kept open. Says in
 * `have` what can be had.
 */
int pfr_procs_open(struct pfr_procs *procs, const struct pfr_env *env,
                   struct pfr_process_table *table, const struct pfr_metric_set *wanted,
                   uint32_t fds_budget, struct pfr_availability *have);
void pfr_procs_release(struct pfr_procs *procs);

/*
 * One tick: reads every listed process into the last sample of readings,
 * retires those that are not listed any more. The number of processes read.
 */
uint32_t pfr_procs_collect(struct pfr_procs *procs, const pid_t *pids, uint32_t count,
                           struct pfr_readings *readings);

#endif
