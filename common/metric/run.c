#include "common/metric/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pfr_run_init(struct pfr_run *run, uint32_t top_limit)
{
    memset(run, 0, sizeof(*run));
    run->top_limit = top_limit;
    run->top = calloc(2 * (size_t)top_limit + 1, sizeof(*run->top));
    if (!run->top)
        return -ENOMEM;
    return pfr_commands_init(&run->commands);
}

void pfr_run_release(struct pfr_run *run)
{
    for (int i = 0; i < PFR_STEP_COUNT; i++)
        free(run->stat[i]);
    for (uint32_t i = 0; i < run->top_count; i++)
        free(run->top[i].cmd);
    free(run->top);
    pfr_commands_release(&run->commands);
}

void pfr_run_gauge(struct pfr_run *run, enum pfr_metric_id id, int64_t value, int64_t weight_ns,
                   int64_t stamp)
{
    struct pfr_stat **stat = &run->stat[pfr_step_index(id)];

    if (!*stat)
        *stat = calloc(1, sizeof(**stat));
    if (!*stat)
        return;
    pfr_stat_add(*stat, value, weight_ns, stamp);
    pfr_metric_set_add(&run->present, id);
}

void pfr_run_counter(struct pfr_run *run, enum pfr_metric_id id, int64_t total, int64_t span)
{
    run->total[pfr_step_index(id)] = total;
    run->span[pfr_step_index(id)] = span;
    pfr_metric_set_add(&run->present, id);
}

/* How many of the list have more of this than entry i; ties go to the earlier. */
static uint32_t rank(const struct pfr_run *run, uint32_t i, enum pfr_metric_id id)
{
    uint32_t larger = 0;

    for (uint32_t j = 0; j < run->top_count; j++) {
        int64_t a = run->top[j].row.value[id], b = run->top[i].row.value[id];

        if (j != i && (a > b || (a == b && j < i)))
            larger++;
    }
    return larger;
}

static bool belongs(const struct pfr_run *run, uint32_t i)
{
    return rank(run, i, PFR_PS_CPU_SECONDS) < run->top_limit ||
           rank(run, i, PFR_PS_RSS) < run->top_limit;
}

static void drop(struct pfr_run *run, uint32_t i)
{
    free(run->top[i].cmd);
    run->top[i] = run->top[--run->top_count];
}

/*
 * At most 2 * top_limit entries can belong, and there is room for one more:
 * whatever is added, someone can be found who does not belong.
 */
void pfr_run_offer(struct pfr_run *run, const struct pfr_process *process,
                   const struct pfr_row *row)
{
    struct pfr_top_process *entry;

    if (run->top_limit == 0)
        return;
    entry = &run->top[run->top_count++];
    *entry = (struct pfr_top_process){
        .pid = process->pid, .start_ticks = process->start_ticks, .gone = process->gone,
        .row = *row,
    };
    memcpy(entry->comm, process->comm, sizeof(entry->comm));
    pfr_row_finish(&entry->row);
    if (!belongs(run, run->top_count - 1)) {
        drop(run, run->top_count - 1);
        return;
    }
    entry->cmd = process->cmd ? strdup(process->cmd) : NULL;
    for (uint32_t i = 0; i < run->top_count && run->top_count > run->top_limit; i++)
        if (!belongs(run, i))
            drop(run, i--);
}

void pfr_run_forget_living(struct pfr_run *run)
{
    for (uint32_t i = 0; i < run->top_count; i++)
        if (!run->top[i].gone)
            drop(run, i--);
}
