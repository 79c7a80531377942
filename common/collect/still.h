/*
 * Processes that stand still. A process whose CPU clock has not moved since it
 * was read has not run, so its counters are the same: the last reading is
 * repeated instead of reading three files. Without running, only what others
 * do to it can change (its memory is reclaimed, its parent ends, it waits for
 * a core): so each is read again every tenth tick, and after 10 s at the latest.
 */
#ifndef PFR_COLLECT_STILL_H
#define PFR_COLLECT_STILL_H

#include "common/collect/env.h"
#include "common/metric/reading.h"

struct pfr_still_entry {
    int64_t start_ticks; /* whose it is; 0 = nobody's */
    int64_t clock;       /* before its files were read */
    int64_t read_at;
    struct pfr_pid_reading last;
};

struct pfr_still {
    struct pfr_still_entry *entries; /* by slot */
    uint32_t capacity;
};

void pfr_still_release(struct pfr_still *still);

/* The CPU clock of a process in nanoseconds; -1 where there is none. */
int64_t pfr_still_clock(const struct pfr_env *env, pid_t pid);

/* What was read of it when the clock said so. Memory trouble: it is read each time. */
void pfr_still_keep(struct pfr_still *still, const struct pfr_process_table *table, uint32_t slot,
                    int64_t clock, int64_t stamp, const struct pfr_pid_reading *reading);

/* Its last reading if it still holds, else NULL. */
const struct pfr_pid_reading *pfr_still_find(const struct pfr_still *still,
                                             const struct pfr_process *process, uint32_t slot,
                                             int64_t clock, int64_t stamp, uint32_t tick);

#endif
