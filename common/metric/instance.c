#include "common/metric/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/metric/row.h"

void pfr_instances_init(struct pfr_instances *instances, const struct pfr_metric_set *collect)
{
    memset(instances, 0, sizeof(*instances));
    instances->collect = collect;
}

void pfr_instances_release(struct pfr_instances *instances)
{
    PFR_EACH_FAMILY(family) {
        for (uint32_t i = 0; i < instances->of[family].count; i++)
            free(instances->of[family].list[i].values);
        free(instances->of[family].list);
    }
    pfr_instances_init(instances, NULL);
}

static bool make_room(struct pfr_instance_table *table)
{
    uint32_t capacity = table->capacity ? 2 * table->capacity : 16;
    struct pfr_instance *list;

    if (table->count < table->capacity)
        return true;
    list = realloc(table->list, capacity * sizeof(*list));
    if (!list)
        return false;
    table->list = list;
    table->capacity = capacity;
    return true;
}

uint32_t pfr_instance_add(struct pfr_instances *instances, enum pfr_scope family, const char *id,
                          const char *label, int64_t stamp, bool fresh)
{
    struct pfr_instance_table *table = &instances->of[family];
    struct pfr_instance_value *values = NULL;
    struct pfr_instance *instance;

    for (uint32_t slot = 0; slot < table->count; slot++)
        if (strncmp(table->list[slot].id, id, PFR_INSTANCE_NAME - 1) == 0)
            return slot;
    if (table->count < PFR_INSTANCES_MAX && make_room(table))
        values = calloc((size_t)pfr_family_width(family), sizeof(*values));
    if (!values) {
        table->dropped++;
        return PFR_SLOT_NONE;
    }
    instance = &table->list[table->count];
    *instance = (struct pfr_instance){ .from = stamp, .fresh = fresh, .values = values };
    snprintf(instance->id, sizeof(instance->id), "%s", id);
    snprintf(instance->label, sizeof(instance->label), "%s", label);
    return table->count++;
}

static void set_gauge(struct pfr_instance_value *of, int64_t value, int64_t stamp)
{
    int64_t weight = pfr_sum_gauge(&of->sum, value, stamp);

    if (!of->count || value > of->max) {
        of->max = value;
        of->max_at = stamp;
    }
    if (!of->count || value < of->min)
        of->min = value;
    of->weighted += (double)value * (double)weight;
    of->weight += (double)weight;
}

void pfr_instance_set(struct pfr_instances *instances, uint32_t slot, enum pfr_metric_id id,
                      int64_t value, int64_t stamp)
{
    struct pfr_instance_table *table = &instances->of[pfr_metrics[id].scope];
    struct pfr_instance_value *of;

    if (slot >= table->count || !pfr_metric_set_has(instances->collect, id))
        return;
    of = &table->list[slot].values[pfr_family_index(id)];
    if (pfr_metrics[id].kind != PFR_COUNTER) {
        set_gauge(of, value, stamp);
    } else {
        if (!of->sum.seeded)
            pfr_sum_seed(&of->sum, table->list[slot].fresh ? 0 : value,
                         table->list[slot].fresh ? table->list[slot].from : stamp);
        pfr_sum_counter(&of->sum, value, stamp, false);
    }
    of->count++;
}

void pfr_instance_skip(struct pfr_instances *instances, enum pfr_scope family, uint32_t slot,
                       int64_t stamp)
{
    struct pfr_instance_table *table = &instances->of[family];

    for (int k = 0; k < pfr_family_width(family) && slot < table->count; k++)
        table->list[slot].values[k].sum.newest_at = table->list[slot].values[k].sum.opened_at =
            stamp;
}

void pfr_instance_end(struct pfr_instances *instances, enum pfr_scope family, uint32_t slot,
                      int64_t stamp)
{
    if (slot < instances->of[family].count && !instances->of[family].list[slot].to)
        instances->of[family].list[slot].to = stamp;
}

/* What a rate is taken of; the value itself of anything else. */
static const struct pfr_instance_value *source(const struct pfr_instance *instance,
                                               enum pfr_metric_id id)
{
    if (pfr_metrics[id].derive == PFR_RATE)
        id = pfr_metrics[id].of[0];
    return &instance->values[pfr_family_index(id)];
}

bool pfr_instance_window(const struct pfr_instance *instance, enum pfr_metric_id id,
                         int64_t *value)
{
    const struct pfr_sum *sum = &source(instance, id)->sum;

    return pfr_metrics[id].derive == PFR_RATE ? pfr_sum_rate(sum, value)
                                              : pfr_sum_reduce(sum, &pfr_metrics[id], value);
}

void pfr_instances_reopen(struct pfr_instances *instances)
{
    PFR_EACH_FAMILY(family)
        for (uint32_t i = 0; i < instances->of[family].count; i++)
            for (int k = 0; k < pfr_family_width(family); k++)
                if (instances->of[family].list[i].values[k].sum.count)
                    pfr_sum_reopen(&instances->of[family].list[i].values[k].sum);
}

bool pfr_instance_so_far(const struct pfr_instance *instance, enum pfr_metric_id id,
                         struct pfr_instance_run *run)
{
    const struct pfr_instance_value *of = source(instance, id);
    int64_t span = of->sum.newest_at - of->sum.base_at;

    memset(run, 0, sizeof(*run));
    if (!of->count)
        return false;
    if (pfr_metrics[id].derive == PFR_RATE) {
        if (span < PFR_SHORTEST_RATE)
            return false;
        run->mean = pfr_rate(of->sum.newest - of->sum.base, span);
        return true;
    }
    if (pfr_metrics[id].kind == PFR_COUNTER) {
        run->total = of->sum.newest - of->sum.base;
        return true;
    }
    run->gauge = true;
    run->min = of->min;
    run->max = of->max;
    run->max_at = of->max_at;
    run->last = of->sum.last;
    run->mean = of->weight > 0 ? (int64_t)(of->weighted / of->weight) : of->sum.last;
    return true;
}
