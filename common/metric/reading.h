/*
 * Raw readings of one window, as the collectors took them (R2): nothing is
 * aggregated here. A sample is one tick; each collector stamps it for itself
 * just before it reads (R9).
 */
#ifndef PFR_METRIC_READING_H
#define PFR_METRIC_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/metric/process.h"
#include "common/metric/table.h"

struct pfr_pid_reading {
    uint32_t slot;
    uint32_t present; /* bit = metric id */
    int64_t value[PFR_PID_END];
};

struct pfr_sample {
    int64_t wall;                       /* realtime, shared by the collectors */
    int64_t stamp[PFR_COLLECTOR_COUNT]; /* monotonic; 0 = did not read */
    bool empty; /* processes were asked for and there were none (R18) */
    uint32_t partial; /* process metrics that some process did not give: no sum */
    struct pfr_metric_set present;
    int64_t step[PFR_STEP_COUNT];
    uint32_t first, count; /* its process readings in the buffer */
};

static inline void pfr_sample_set(struct pfr_sample *sample, enum pfr_metric_id id, int64_t value)
{
    sample->step[pfr_step_index(id)] = value;
    pfr_metric_set_add(&sample->present, id);
}

static inline bool pfr_sample_has(const struct pfr_sample *sample, enum pfr_metric_id id)
{
    return pfr_metric_set_has(&sample->present, id);
}

static inline int64_t pfr_sample_get(const struct pfr_sample *sample, enum pfr_metric_id id)
{
    return sample->step[pfr_step_index(id)];
}

/* When its last collector read; 0 = none did. */
int64_t pfr_sample_stamp(const struct pfr_sample *sample);

/* Enough for 4096 processes over eleven ticks; more closes the window early. */
#define PFR_READINGS_MAX 45056
#define PFR_SAMPLES_MAX 256

struct pfr_readings {
    struct pfr_sample *samples;
    uint32_t count, capacity;
    struct pfr_pid_reading *pids;
    uint32_t pid_count, pid_capacity;
};

void pfr_readings_init(struct pfr_readings *readings);
void pfr_readings_release(struct pfr_readings *readings);
void pfr_readings_clear(struct pfr_readings *readings);

/* A zeroed sample at the end; NULL when memory ran out. Valid until the next. */
struct pfr_sample *pfr_readings_begin(struct pfr_readings *readings);

/* A process reading of the last sample; NULL when memory ran out. */
struct pfr_pid_reading *pfr_readings_add_pid(struct pfr_readings *readings, uint32_t slot);

/* No room for one more sample of `processes` processes: close the window first. */
bool pfr_readings_are_full(const struct pfr_readings *readings, uint32_t processes);

#endif
