#include "common/metric/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/metric/growth.h"

void pfr_window_init(struct pfr_window *window, const struct pfr_selection *selection,
                     struct pfr_process_table *processes, uint32_t top_limit)
{
    memset(window, 0, sizeof(*window));
    window->selection = selection;
    window->processes = processes;
    window->top_limit = top_limit;
    pfr_readings_init(&window->readings);
}

void pfr_window_release(struct pfr_window *window)
{
    pfr_readings_release(&window->readings);
    free(window->sums);
    free(window->debts);
    free(window->ranking);
}

static bool make_sums(struct pfr_window *window)
{
    /* By what is used, not by what the table has room for: a sum is large. */
    uint32_t capacity = (window->processes->high + 255) / 256 * 256;
    struct pfr_process_sum *sums;

    if (capacity <= window->sum_capacity)
        return true;
    sums = realloc(window->sums, capacity * sizeof(*sums));
    if (!sums)
        return false;
    memset(sums + window->sum_capacity, 0, (capacity - window->sum_capacity) * sizeof(*sums));
    window->sums = sums;
    window->sum_capacity = capacity;
    return true;
}

/* ---- processes of one sample ---- */

static void fold_command(struct pfr_run *run, struct pfr_process_sum *sum,
                         const struct pfr_process *process, const struct pfr_pid_reading *reading,
                         const int64_t *growth, bool first)
{
    uint32_t entry = pfr_commands_find(&run->commands, process->comm);
    struct pfr_command *command = &run->commands.list[entry];
    struct pfr_command_sum *sums[] = { &command->window, &command->run };

    for (int i = 0; i < 2; i++) {
        sums[i]->processes += first || sum->command != entry;
        sums[i]->cpu += growth[PFR_PS_CPU_SECONDS];
        sums[i]->children += growth[PFR_PS_CHILDREN_CPU_SECONDS];
        sums[i]->read += growth[PFR_PROC_IO_READ_BYTES];
        sums[i]->write += growth[PFR_PROC_IO_WRITE_BYTES];
    }
    if (reading->present >> PFR_PS_RSS & 1) {
        command->rss_now += reading->value[PFR_PS_RSS];
        for (int i = 0; i < 2; i++)
            if (reading->value[PFR_PS_RSS] > sums[i]->largest)
                sums[i]->largest = reading->value[PFR_PS_RSS];
    }
    sum->command = entry;
}

static void fold_process(struct pfr_window *window, struct pfr_run *run,
                         const struct pfr_pid_reading *reading, int64_t stamp, int64_t *gauges,
                         uint32_t *gauges_present)
{
    struct pfr_process_sum *sum = &window->sums[reading->slot];
    const struct pfr_process *process = &window->processes->slots[reading->slot];
    bool first = !sum->known;
    int64_t growth[PFR_PID_END] = { 0 };

    pfr_growth_take(window, run, reading, stamp, growth);
    if (!sum->window.to)
        sum->window.from = sum->seen_at;
    for (uint32_t left = reading->present; left; left &= left - 1) {
        enum pfr_metric_id id = (enum pfr_metric_id)__builtin_ctz(left);
        int64_t value = reading->value[id];

        if (pfr_metrics[id].kind == PFR_COUNTER) {
            value = growth[id];
            window->attributed[id] += value;
            window->attributing |= 1u << id;
        } else {
            gauges[id] += value;
            *gauges_present |= 1u << id;
        }
        pfr_row_add(&sum->window, id, value);
        pfr_row_add(&sum->run, id, value);
    }
    sum->seen_at = sum->window.to = sum->run.to = stamp;
    if (process->task)
        sum->newborn = true; /* what could not be read before its exec begins at zero */
    fold_command(run, sum, process, reading, growth, first);
}

/*
 * Sums over the processes: gauges of this very sample (R14), counters as the
 * sum of each process's own growth so far, so that those who left still count
 * (R8).
 */
static void set_sums(const struct pfr_window *window, struct pfr_sample *sample,
                     const int64_t *gauges, uint32_t gauges_present)
{
    PFR_EACH_STEP_METRIC(id) {
        enum pfr_metric_id base = pfr_metrics[id].of[0];

        if (pfr_metrics[id].derive != PFR_SUM)
            continue;
        if (pfr_pid_mask_has(window->attributing, base))
            pfr_sample_set(sample, id, window->attributed[base]);
        else if (pfr_pid_mask_has(gauges_present & ~sample->partial, base))
            pfr_sample_set(sample, id, gauges[base]);
    }
}

static void fold_processes(struct pfr_window *window, struct pfr_run *run,
                           struct pfr_sample *sample)
{
    int64_t gauges[PFR_PID_END] = { 0 };
    uint32_t gauges_present = 0;
    int64_t stamp = sample->stamp[PFR_FROM_PROCS];

    if (sample->stamp[PFR_FROM_PROCS])
        pfr_growth_remove_departed(window, sample);
    for (uint32_t i = 0; i < sample->count; i++)
        fold_process(window, run, &window->readings.pids[sample->first + i], stamp, gauges,
                     &gauges_present);
    set_sums(window, sample, gauges, gauges_present);
    pfr_commands_end_sample(&run->commands);
    if (sample->count)
        window->procs_at = stamp;
}

/* ---- the step ---- */

/* What follows from other rows of the same sample. */
static void derive_in_sample(struct pfr_window *window, struct pfr_sample *sample)
{
    PFR_EACH_STEP_METRIC(id) {
        const struct pfr_metric *metric = &pfr_metrics[id];
        int64_t value = 0;
        bool all = metric->derive == PFR_SAME || metric->derive == PFR_ADD ||
                   metric->derive == PFR_REST;

        for (int k = 0; k < 3 && all; k++) {
            enum pfr_metric_id base = metric->of[k];

            if (base == PFR_METRIC_NONE)
                continue;
            if (!pfr_sample_has(sample, base)) {
                all = false;
            } else if (metric->derive == PFR_REST) {
                const struct pfr_sum *sum = &window->step[pfr_step_index(base)];
                int64_t since = sum->seeded ? pfr_sample_get(sample, base) - sum->base : 0;

                value += k ? -since : since;
            } else {
                value += pfr_sample_get(sample, base);
            }
        }
        if (all)
            pfr_sample_set(sample, id, value);
    }
}

static void fold_counter(struct pfr_window *window, struct pfr_run *run, enum pfr_metric_id id,
                         int64_t value, int64_t stamp)
{
    struct pfr_sum *sum = &window->step[pfr_step_index(id)];
    bool may_fall = pfr_metrics[id].derive == PFR_REST;

    if (!sum->seeded) {
        /* Sums over processes and rests count from the run's beginning. */
        pfr_sum_seed(sum, pfr_metrics[id].derive == PFR_READ ? value : 0, stamp);
        /* part of the total, but of no rate: who knows over what time */
        run->before[pfr_step_index(id)] = run->from_zero ? sum->base : 0;
    }
    run->counter_falls += !pfr_sum_counter(sum, value, stamp, may_fall);
    pfr_run_counter(run, id, sum->newest - sum->base, sum->newest_at - sum->base_at);
}

static void fold_gauge(struct pfr_window *window, struct pfr_run *run, enum pfr_metric_id id,
                       int64_t value, int64_t stamp)
{
    struct pfr_sum *sum = &window->step[pfr_step_index(id)];
    int64_t weight = pfr_sum_gauge(sum, value, stamp);

    pfr_run_gauge(run, id, value, weight, stamp);
}

/* A rate over the time since the last one, as soon as that is long enough. */
static void derive_rate(struct pfr_window *window, struct pfr_run *run, struct pfr_sample *sample,
                        enum pfr_metric_id id)
{
    struct pfr_sum *base = &window->step[pfr_step_index(pfr_metrics[id].of[0])];
    int64_t span = base->newest_at - base->rated_at;
    int64_t rate;

    if (!base->seeded || span < PFR_SHORTEST_RATE)
        return;
    rate = pfr_rate(base->newest - base->rated, span);
    base->rated = base->newest;
    base->rated_at = base->newest_at;
    pfr_sample_set(sample, id, rate);
    pfr_run_gauge(run, id, rate, span, base->newest_at);
}

/*
 * A sample without processes says nothing of levels nor of processes: the step
 * is over, or not begun. Only the kernel's counters and peaks are, and they
 * are the final ones (R18).
 */
static bool counts_when_empty(const struct pfr_metric *metric)
{
    return (metric->kind == PFR_COUNTER && metric->derive != PFR_SUM) || metric->lasting;
}

static void fold_step(struct pfr_window *window, struct pfr_run *run, struct pfr_sample *sample)
{
    derive_in_sample(window, sample);
    PFR_EACH_STEP_METRIC(id) {
        const struct pfr_metric *metric = &pfr_metrics[id];
        int64_t stamp = sample->stamp[metric->from];

        if (!pfr_sample_has(sample, id) || metric->derive == PFR_RATE)
            continue;
        if (sample->empty && !counts_when_empty(metric))
            pfr_metric_set_remove(&sample->present, id);
        else if (metric->kind == PFR_COUNTER)
            fold_counter(window, run, id, pfr_sample_get(sample, id), stamp);
        else
            fold_gauge(window, run, id, pfr_sample_get(sample, id), stamp);
    }
    PFR_EACH_STEP_METRIC(id)
        if (pfr_metrics[id].derive == PFR_RATE)
            derive_rate(window, run, sample, id);
}

/* ---- the usage record ---- */

/* The window's value of one measurement; false when it was not taken. */
static bool reduce_step(const struct pfr_window *window, enum pfr_metric_id id, int64_t *value)
{
    const struct pfr_metric *metric = &pfr_metrics[id];

    if (metric->derive == PFR_RATE) /* not the mean of rates: the growth over the whole span */
        return pfr_sum_rate(&window->step[pfr_step_index(metric->of[0])], value);
    return pfr_sum_reduce(&window->step[pfr_step_index(id)], metric, value);
}

struct rank_order {
    const struct pfr_process_sum *sums;
    enum pfr_metric_id id;
};

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct rank_order *order = arg;
    uint32_t sa = *(const uint32_t *)a, sb = *(const uint32_t *)b;
    int64_t va = order->sums[sa].window.value[order->id];
    int64_t vb = order->sums[sb].window.value[order->id];

    if (va != vb)
        return va < vb ? 1 : -1;
    return sa < sb ? -1 : sa > sb;
}

/* The first `limit` by CPU that used any, then as many by resident set. */
static uint32_t rank_processes(struct pfr_window *window, uint32_t count)
{
    struct rank_order order = { .sums = window->sums, .id = PFR_PS_CPU_SECONDS };
    uint32_t *slots = window->ranking, chosen = 0;

    qsort_r(slots, count, sizeof(*slots), compare_rows, &order);
    while (chosen < count && chosen < window->top_limit &&
           window->sums[slots[chosen]].window.value[PFR_PS_CPU_SECONDS] > 0)
        chosen++;
    order.id = PFR_PS_RSS;
    qsort_r(slots + chosen, count - chosen, sizeof(*slots), compare_rows, &order);
    return chosen + (count - chosen < window->top_limit ? count - chosen : window->top_limit);
}

static int list_processes(struct pfr_window *window, struct pfr_usage *usage)
{
    uint32_t high = window->processes->high, count = 0;

    if (window->ranking_capacity < high) {
        uint32_t *ranking = realloc(window->ranking, high * sizeof(*ranking));

        if (!ranking)
            return -ENOMEM;
        window->ranking = ranking;
        window->ranking_capacity = high;
    }
    for (uint32_t i = 0; i < high && i < window->sum_capacity; i++)
        if (window->sums[i].known && window->sums[i].window.to) {
            pfr_row_finish(&window->sums[i].window);
            window->ranking[count++] = i;
        }
    usage->process_count = count;
    usage->top = window->ranking;
    usage->top_count = count ? rank_processes(window, count) : 0;
    return 0;
}

static void describe(struct pfr_window *window, struct pfr_run *run, struct pfr_usage *usage)
{
    const struct pfr_readings *readings = &window->readings;
    const struct pfr_sample *last = &readings->samples[readings->count - 1];

    usage->wall = last->wall;
    for (uint32_t i = 0; i < readings->count; i++)
        usage->num_samples += !readings->samples[i].empty;
    usage->to = pfr_sample_stamp(last);
    usage->from = run->last_stamp ? run->last_stamp : run->first_stamp;
    run->last_stamp = usage->to;
    run->num_samples += usage->num_samples;
    run->num_windows++;
    usage->readings = readings;
    usage->processes = window->processes;
    usage->sums = window->sums;
    usage->instances = window->instances;
    if (window->instances)
        pfr_commands_report(&run->commands, window->instances, usage->from, usage->to);
}

static int64_t earliest_stamp(const struct pfr_sample *sample)
{
    int64_t earliest = 0;

    for (int i = 0; i < PFR_COLLECTOR_COUNT; i++)
        if (sample->stamp[i] && (!earliest || sample->stamp[i] < earliest))
            earliest = sample->stamp[i];
    return earliest;
}

int pfr_window_close(struct pfr_window *window, struct pfr_run *run, struct pfr_usage *usage)
{
    struct pfr_readings *readings = &window->readings;

    memset(usage, 0, sizeof(*usage));
    if (!readings->count)
        return 0;
    if (!make_sums(window)) {
        pfr_readings_clear(readings);
        return -ENOMEM;
    }
    if (!run->first_stamp)
        run->first_stamp = earliest_stamp(&readings->samples[0]);
    for (uint32_t i = 0; i < readings->count; i++) {
        fold_processes(window, run, &readings->samples[i]);
        fold_step(window, run, &readings->samples[i]);
    }
    describe(window, run, usage);
    PFR_EACH_STEP_METRIC(id)
        if (pfr_metric_set_has(&window->selection->wanted, id) &&
            reduce_step(window, id, &usage->step[pfr_step_index(id)]))
            pfr_metric_set_add(&usage->present, id);
    if (list_processes(window, usage) < 0)
        return -ENOMEM;
    return 1;
}

void pfr_window_reopen(struct pfr_window *window, struct pfr_run *run)
{
    for (int i = 0; i < PFR_STEP_COUNT; i++)
        pfr_sum_reopen(&window->step[i]);
    for (uint32_t i = 0; i < window->processes->high && i < window->sum_capacity; i++) {
        struct pfr_process_sum *sum = &window->sums[i];

        if (!sum->known)
            continue;
        memset(&sum->window, 0, sizeof(sum->window));
        if (window->processes->slots[i].gone) {
            pfr_run_offer(run, &window->processes->slots[i], &sum->run);
            sum->known = false;
        }
    }
    pfr_commands_end_window(&run->commands);
    if (window->instances)
        pfr_instances_reopen(window->instances);
    pfr_readings_clear(&window->readings);
    pfr_process_sweep(window->processes);
}
