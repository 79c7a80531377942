#include "common/collect/still.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/parse.h"

/* A tenth of those that stand still is read at each tick, none is older than this. */
#define TURNS 10
#define OLDEST (10 * PFR_NS_PER_S)

void pfr_still_release(struct pfr_still *still)
{
    free(still->entries);
    *still = (struct pfr_still){ 0 };
}

int64_t pfr_still_clock(const struct pfr_env *env, pid_t pid)
{
    return env->cpu_clock ? env->cpu_clock(pid, env->arg) : -1;
}

static bool make_room(struct pfr_still *still, uint32_t capacity)
{
    struct pfr_still_entry *entries;

    if (capacity <= still->capacity)
        return true;
    entries = realloc(still->entries, capacity * sizeof(*entries));
    if (!entries)
        return false;
    memset(entries + still->capacity, 0, (capacity - still->capacity) * sizeof(*entries));
    still->entries = entries;
    still->capacity = capacity;
    return true;
}

void pfr_still_keep(struct pfr_still *still, const struct pfr_process_table *table, uint32_t slot,
                    int64_t clock, int64_t stamp, const struct pfr_pid_reading *reading)
{
    if (clock < 0 || !make_room(still, table->capacity))
        return;
    still->entries[slot] = (struct pfr_still_entry){
        .start_ticks = table->slots[slot].start_ticks, .clock = clock, .read_at = stamp,
        .last = *reading,
    };
}

const struct pfr_pid_reading *pfr_still_find(const struct pfr_still *still,
                                             const struct pfr_process *process, uint32_t slot,
                                             int64_t clock, int64_t stamp, uint32_t tick)
{
    const struct pfr_still_entry *entry;

    if (slot >= still->capacity || clock < 0)
        return NULL;
    entry = &still->entries[slot];
    if (!process->start_ticks || entry->start_ticks != process->start_ticks ||
        entry->clock != clock || (tick + slot) % TURNS == 0 || stamp - entry->read_at >= OLDEST)
        return NULL;
    return &entry->last;
}
