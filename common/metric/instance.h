/*
 * Things that have values and a name: tasks, commands, and whatever else the
 * table has a family for. An instance has a slot that stays its own for the
 * run, an id that is stable in it, and a label for people. What a collector
 * sets here goes into windows, the run, files and exports without further code.
 */
#ifndef PFR_METRIC_INSTANCE_H
#define PFR_METRIC_INSTANCE_H

#include "common/metric/process.h"
#include "common/metric/sum.h"

#define PFR_INSTANCE_NAME 64
#define PFR_INSTANCES_MAX 4096 /* of a family; more are counted and left out */

/* One measurement of one instance: the window, and the run so far. */
struct pfr_instance_value {
    struct pfr_sum sum;
    uint64_t count;
    int64_t max, max_at, min;
    double weighted, weight;
};

struct pfr_instance {
    char id[PFR_INSTANCE_NAME], label[PFR_INSTANCE_NAME];
    int64_t from, to; /* stamps; to is 0 while it is there */
    bool fresh;       /* it is as new as the run: its counters began at zero */
    bool announced;   /* for the writer of the series */
    struct pfr_instance_value *values; /* by pfr_family_index() */
};

struct pfr_instance_table {
    struct pfr_instance *list; /* by slot */
    uint32_t count, capacity;
    uint64_t dropped;
};

struct pfr_instances {
    const struct pfr_metric_set *collect; /* what else is set is not kept */
    struct pfr_instance_table of[PFR_SCOPE_COUNT];
};

void pfr_instances_init(struct pfr_instances *instances, const struct pfr_metric_set *collect);
void pfr_instances_release(struct pfr_instances *instances);

/* The slot of the instance with this id, made when it is new; or PFR_SLOT_NONE. */
uint32_t pfr_instance_add(struct pfr_instances *instances, enum pfr_scope family, const char *id,
                          const char *label, int64_t stamp, bool fresh);

/* A reading; the id says of which family. */
void pfr_instance_set(struct pfr_instances *instances, uint32_t slot, enum pfr_metric_id id,
                      int64_t value, int64_t stamp);

/* It has done nothing until then: its counters have not grown. */
void pfr_instance_skip(struct pfr_instances *instances, enum pfr_scope family, uint32_t slot,
                       int64_t stamp);

/* It is not there any more; it stays in the table. */
void pfr_instance_end(struct pfr_instances *instances, enum pfr_scope family, uint32_t slot,
                      int64_t stamp);

/* The value of the window; false when it was not read in it. */
bool pfr_instance_window(const struct pfr_instance *instance, enum pfr_metric_id id,
                         int64_t *value);

/* A new window begins. */
void pfr_instances_reopen(struct pfr_instances *instances);

/* The run so far; what does not apply to the measurement is absent (false). */
struct pfr_instance_run {
    bool gauge; /* min, max, last, mean, max_at; else total */
    int64_t min, max, max_at, last, mean, total;
};

bool pfr_instance_so_far(const struct pfr_instance *instance, enum pfr_metric_id id,
                         struct pfr_instance_run *run);

#endif
