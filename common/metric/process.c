#include "common/metric/process.h"

#include <stdlib.h>
#include <string.h>

void pfr_process_table_init(struct pfr_process_table *table)
{
    memset(table, 0, sizeof(*table));
}

void pfr_process_table_release(struct pfr_process_table *table)
{
    for (uint32_t i = 0; i < table->high; i++)
        free(table->slots[i].cmd);
    free(table->slots);
    free(table->hash);
    pfr_process_table_init(table);
}

static uint32_t hash_home(const struct pfr_process_table *table, pid_t pid)
{
    return ((uint32_t)pid * 2654435761u) & (table->hash_size - 1);
}

static void hash_insert(struct pfr_process_table *table, uint32_t slot)
{
    uint32_t i = hash_home(table, table->slots[slot].pid);

    while (table->hash[i])
        i = (i + 1) & (table->hash_size - 1);
    table->hash[i] = slot + 1;
}

/* Twice as many hash cells as slots, so that probing always ends. */
static bool grow(struct pfr_process_table *table)
{
    uint32_t capacity = table->capacity ? 2 * table->capacity : 64;
    struct pfr_process *slots = realloc(table->slots, capacity * sizeof(*slots));
    uint32_t *hash;

    if (!slots)
        return false;
    memset(slots + table->capacity, 0, (capacity - table->capacity) * sizeof(*slots));
    table->slots = slots;
    hash = calloc(2 * (size_t)capacity, sizeof(*hash));
    if (!hash)
        return false;
    free(table->hash);
    table->hash = hash;
    table->hash_size = 2 * capacity;
    table->capacity = capacity;
    for (uint32_t i = 0; i < table->high; i++)
        if (slots[i].used && !slots[i].gone)
            hash_insert(table, i);
    return true;
}

/* The hash cell that holds this pid, or that would. */
static uint32_t hash_cell(const struct pfr_process_table *table, pid_t pid)
{
    uint32_t i = hash_home(table, pid);

    while (table->hash[i] && table->slots[table->hash[i] - 1].pid != pid)
        i = (i + 1) & (table->hash_size - 1);
    return i;
}

uint32_t pfr_process_find(const struct pfr_process_table *table, pid_t pid)
{
    uint32_t entry;

    if (!table->hash_size)
        return PFR_SLOT_NONE;
    entry = table->hash[hash_cell(table, pid)];
    return entry ? entry - 1 : PFR_SLOT_NONE;
}

static uint32_t free_slot(struct pfr_process_table *table)
{
    if (table->high < table->capacity)
        return table->high++;
    for (uint32_t i = 0; i < table->high; i++)
        if (!table->slots[i].used)
            return i;
    if (!grow(table))
        return PFR_SLOT_NONE;
    return table->high++;
}

uint32_t pfr_process_add(struct pfr_process_table *table, pid_t pid)
{
    uint32_t slot = free_slot(table);

    if (slot == PFR_SLOT_NONE)
        return slot;
    table->slots[slot] = (struct pfr_process){ .pid = pid, .used = true };
    hash_insert(table, slot);
    table->live++;
    table->total++;
    return slot;
}

/* Linear probing: the run of cells behind an emptied one is put back in place. */
static void hash_remove(struct pfr_process_table *table, pid_t pid)
{
    uint32_t mask = table->hash_size - 1, i = hash_cell(table, pid);

    table->hash[i] = 0;
    for (i = (i + 1) & mask; table->hash[i]; i = (i + 1) & mask) {
        uint32_t slot = table->hash[i] - 1;

        table->hash[i] = 0;
        hash_insert(table, slot);
    }
}

void pfr_process_retire(struct pfr_process_table *table, uint32_t slot)
{
    struct pfr_process *process = &table->slots[slot];

    if (!process->used || process->gone)
        return;
    hash_remove(table, process->pid);
    process->gone = true;
    table->live--;
}

void pfr_process_sweep(struct pfr_process_table *table)
{
    for (uint32_t i = 0; i < table->high; i++) {
        struct pfr_process *process = &table->slots[i];

        if (!process->gone)
            continue;
        free(process->cmd);
        *process = (struct pfr_process){ 0 };
    }
    while (table->high > 0 && !table->slots[table->high - 1].used)
        table->high--;
}
