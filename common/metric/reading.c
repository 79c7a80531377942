#include "common/metric/reading.h"

#include <stdlib.h>
#include <string.h>

void pfr_readings_init(struct pfr_readings *readings)
{
    memset(readings, 0, sizeof(*readings));
}

void pfr_readings_release(struct pfr_readings *readings)
{
    free(readings->samples);
    free(readings->pids);
    pfr_readings_init(readings);
}

void pfr_readings_clear(struct pfr_readings *readings)
{
    readings->count = 0;
    readings->pid_count = 0;
}

/* The array with room for one more element, doubled when full; NULL without memory. */
static void *with_room(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
    uint32_t wanted = *capacity ? 2 * *capacity : 32;
    void *grown;

    if (count < *capacity)
        return array;
    grown = realloc(array, wanted * size);
    if (grown)
        *capacity = wanted;
    return grown;
}

struct pfr_sample *pfr_readings_begin(struct pfr_readings *readings)
{
    struct pfr_sample *samples =
        with_room(readings->samples, &readings->capacity, readings->count, sizeof(*samples));
    struct pfr_sample *sample;

    if (!samples)
        return NULL;
    readings->samples = samples;
    sample = &samples[readings->count++];
    memset(sample, 0, sizeof(*sample));
    sample->first = readings->pid_count;
    return sample;
}

struct pfr_pid_reading *pfr_readings_add_pid(struct pfr_readings *readings, uint32_t slot)
{
    struct pfr_pid_reading *pids =
        with_room(readings->pids, &readings->pid_capacity, readings->pid_count, sizeof(*pids));
    struct pfr_pid_reading *reading;

    if (!pids)
        return NULL;
    readings->pids = pids;
    reading = &pids[readings->pid_count++];
    reading->slot = slot;
    reading->present = 0;
    readings->samples[readings->count - 1].count++;
    return reading;
}

bool pfr_readings_are_full(const struct pfr_readings *readings, uint32_t processes)
{
    return readings->count >= PFR_SAMPLES_MAX ||
           (readings->count > 0 && readings->pid_count + processes > PFR_READINGS_MAX);
}

int64_t pfr_sample_stamp(const struct pfr_sample *sample)
{
    int64_t latest = 0;

    for (int i = 0; i < PFR_COLLECTOR_COUNT; i++)
        if (sample->stamp[i] > latest)
            latest = sample->stamp[i];
    return latest;
}
