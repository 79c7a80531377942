#include "common/record/instances.h"

#include <stdlib.h>

#include "common/base/cleanup.h"

static bool is_wanted(const struct pfr_info *info, enum pfr_metric_id id)
{
    return pfr_metric_set_has(&info->selection->wanted, id);
}

bool pfr_family_in_use(const struct pfr_info *info, enum pfr_scope family)
{
    PFR_EACH_METRIC_OF(family, id)
        if (is_wanted(info, id))
            return true;
    return false;
}

struct json_object *pfr_families_json(const struct pfr_info *info)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_FAMILY(family) {
        struct json_object *row, *columns;

        if (!pfr_family_in_use(info, family))
            continue;
        row = json_object_new_object();
        columns = json_object_new_array();
        json_object_array_add(columns, json_object_new_string("slot"));
        PFR_EACH_METRIC_OF(family, id)
            if (is_wanted(info, id))
                json_object_array_add(columns, json_object_new_string(pfr_metrics[id].key));
        pfr_json_add(row, "title", json_object_new_string(pfr_families[family].title));
        pfr_json_add(row, "id", json_object_new_string(pfr_families[family].identity));
        pfr_json_add(row, "columns", columns);
        pfr_json_add(object, pfr_families[family].name, row);
    }
    return object;
}

/* ---- the window ---- */

struct order {
    const struct pfr_instance_table *table;
    const struct pfr_family *family;
};

static int64_t rank_of(const struct order *order, uint32_t slot, int which)
{
    enum pfr_metric_id id = order->family->order[which];
    int64_t value = 0;

    if (id == PFR_METRIC_NONE || !pfr_instance_window(&order->table->list[slot], id, &value))
        return 0;
    return value;
}

static int compare(const void *a, const void *b, void *arg)
{
    uint32_t sa = *(const uint32_t *)a, sb = *(const uint32_t *)b;

    for (int i = 0; i < 2; i++) {
        int64_t va = rank_of(arg, sa, i), vb = rank_of(arg, sb, i);

        if (va != vb)
            return va < vb ? 1 : -1;
    }
    return sa < sb ? -1 : sa > sb;
}

static bool was_read(const struct pfr_info *info, enum pfr_scope family,
                     const struct pfr_instance *instance)
{
    int64_t value;

    PFR_EACH_METRIC_OF(family, id)
        if (is_wanted(info, id) && pfr_instance_window(instance, id, &value))
            return true;
    return false;
}

static struct json_object *row_json(const struct pfr_info *info, enum pfr_scope family,
                                    const struct pfr_instance_table *table, uint32_t slot)
{
    struct json_object *row = json_object_new_array();
    int64_t value;

    json_object_array_add(row, json_object_new_int64(slot));
    PFR_EACH_METRIC_OF(family, id)
        if (is_wanted(info, id))
            json_object_array_add(row, pfr_instance_window(&table->list[slot], id, &value)
                                           ? pfr_json_value(pfr_metrics[id].unit, value)
                                           : NULL);
    return row;
}

/* All, or as many as of processes when the family says by what they are ordered. */
static struct json_object *rows_of(const struct pfr_info *info, enum pfr_scope family,
                                   const struct pfr_instance_table *table)
{
    struct order order = { table, &pfr_families[family] };
    PFR_AUTO_FREE uint32_t *slots = calloc(table->count + 1, sizeof(*slots));
    struct json_object *rows;
    uint32_t count = 0;

    for (uint32_t i = 0; i < table->count && slots; i++)
        if (was_read(info, family, &table->list[i]))
            slots[count++] = i;
    if (!count)
        return NULL;
    if (order.family->order[0] != PFR_METRIC_NONE) {
        qsort_r(slots, count, sizeof(*slots), compare, &order);
        count = count > 2 * info->top ? 2 * info->top : count;
    }
    rows = json_object_new_array();
    for (uint32_t i = 0; i < count; i++)
        json_object_array_add(rows, row_json(info, family, table, slots[i]));
    return rows;
}

struct json_object *pfr_rows_json(const struct pfr_info *info,
                                  const struct pfr_instances *instances)
{
    struct json_object *object = NULL;

    PFR_EACH_FAMILY(family) {
        struct json_object *rows = rows_of(info, family, &instances->of[family]);

        if (rows && !object)
            object = json_object_new_object();
        if (rows)
            pfr_json_add(object, pfr_families[family].name, rows);
    }
    return object;
}

/* ---- the run ---- */

static struct json_object *value_json(const struct pfr_info *info, enum pfr_metric_id id,
                                      const struct pfr_instance_run *run)
{
    const struct pfr_metric *metric = &pfr_metrics[id];
    struct json_object *object = json_object_new_object();

    if (metric->kind == PFR_COUNTER) {
        pfr_json_add(object, "total", pfr_json_value(metric->unit, run->total));
    } else if (metric->lasting) {
        pfr_json_add(object, pfr_reduce_name(metric->reduce),
                     pfr_json_value(metric->unit,
                                    metric->reduce == PFR_MAX ? run->max : run->last));
    } else if (!run->gauge) {
        pfr_json_add(object, "mean", pfr_json_value(metric->unit, run->mean));
    } else {
        pfr_json_add(object, "max", pfr_json_value(metric->unit, run->max));
        pfr_json_add(object, "min", pfr_json_value(metric->unit, run->min));
        pfr_json_add(object, "mean", pfr_json_value(metric->unit, run->mean));
        pfr_json_add(object, "last", pfr_json_value(metric->unit, run->last));
        pfr_json_add(object, "max_at_seconds",
                     pfr_json_value(PFR_SECONDS, run->max_at - info->start));
    }
    return object;
}

static struct json_object *instance_json(const struct pfr_info *info, enum pfr_scope family,
                                         const struct pfr_instance *instance, uint32_t slot)
{
    struct json_object *object = json_object_new_object(), *values = json_object_new_object();
    struct pfr_instance_run run;

    pfr_json_add(object, "slot", json_object_new_int64(slot));
    pfr_json_add(object, "id", pfr_json_text(instance->id));
    pfr_json_add(object, "label", pfr_json_text(instance->label));
    pfr_json_add(object, "from", pfr_json_value(PFR_SECONDS, instance->from - info->start));
    if (instance->to)
        pfr_json_add(object, "to", pfr_json_value(PFR_SECONDS, instance->to - info->start));
    PFR_EACH_METRIC_OF(family, id)
        if (is_wanted(info, id) && pfr_instance_so_far(instance, id, &run))
            pfr_json_add(values, pfr_metrics[id].key, value_json(info, id, &run));
    pfr_json_add(object, "measurements", values);
    return object;
}

struct json_object *pfr_instances_json(const struct pfr_info *info,
                                       const struct pfr_instances *instances)
{
    struct json_object *object = json_object_new_object();

    PFR_EACH_FAMILY(family) {
        const struct pfr_instance_table *table = &instances->of[family];
        struct json_object *array;

        if (!table->count || !pfr_family_in_use(info, family))
            continue;
        array = json_object_new_array();
        for (uint32_t i = 0; i < table->count; i++)
            json_object_array_add(array, instance_json(info, family, &table->list[i], i));
        pfr_json_add(object, pfr_families[family].name, array);
    }
    return object;
}
