#include "tools/profres/top/tasks.h"

#include <stdlib.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "common/judge/facts.h"
#include "common/record/scan.h"

static void take_task(struct pfr_scan *scan, struct pfr_top_task *task)
{
    const struct { const char *key; int64_t quantum, *number; } numbers[] = {
        { "rank", 1, &task->rank },
        { "pid", 1, &task->pid },
        { "exit", 1, &task->exit },
        { "signal", 1, &task->signal },
        { "start_seconds", PFR_NS_PER_S, &task->started },
        { "end_seconds", PFR_NS_PER_S, &task->ended },
        { "cgroup_mem_peak", 1, &task->mem_peak },
        { "cgroup_cpu_seconds", PFR_NS_PER_S, &task->cpu },
        { "cgroup_oom_kills", 1, &task->oom_kills },
    };
    struct pfr_span key;

    task->pdcpu = PFR_ABSENT;
    for (size_t i = 0; i < PFR_COUNT(numbers); i++)
        *numbers[i].number = PFR_ABSENT;
    while (pfr_scan_member(scan, &key)) {
        size_t i = 0;

        while (i < PFR_COUNT(numbers) && !pfr_span_is(key, numbers[i].key))
            i++;
        if (i < PFR_COUNT(numbers))
            pfr_scan_number(scan, numbers[i].quantum, numbers[i].number);
        else
            pfr_scan_skip(scan);
    }
}

/* False when there is no memory. */
static bool make_room(struct pfr_top_tasks *tasks, size_t *room)
{
    struct pfr_top_task *list;

    if (tasks->count < *room)
        return true;
    list = realloc(tasks->list, (2 * *room + 16) * sizeof(*list));
    if (!list)
        return false;
    tasks->list = list;
    *room = 2 * *room + 16;
    return true;
}

static void take_tasks(struct pfr_scan *scan, struct pfr_top_tasks *tasks)
{
    size_t room = 0;

    if (!pfr_scan_into(scan, '['))
        return;
    while (pfr_scan_element(scan)) {
        if (!make_room(tasks, &room) || !pfr_scan_enter(scan, '{'))
            pfr_scan_skip(scan);
        else
            take_task(scan, &tasks->list[tasks->count++]);
    }
}

/* They are written in the same order every time. */
static void compare(struct pfr_top_tasks *tasks, const struct pfr_top_tasks *before, int64_t passed)
{
    for (size_t i = 0; passed > 0 && i < tasks->count && i < before->count; i++) {
        struct pfr_top_task *task = &tasks->list[i];
        const struct pfr_top_task *was = &before->list[i];

        if (task->pid == was->pid && task->rank == was->rank && !pfr_known(task->ended) &&
            pfr_known(task->cpu) && pfr_known(was->cpu) && task->cpu >= was->cpu)
            task->pdcpu = pfr_muldiv(task->cpu - was->cpu, 100000, passed);
    }
}

void pfr_top_tasks_parse(struct pfr_top_tasks *tasks, const char *summary, size_t length,
                         int64_t passed)
{
    struct pfr_top_tasks before = *tasks;
    struct pfr_scan scan;
    struct pfr_span key;

    *tasks = (struct pfr_top_tasks){ 0 };
    pfr_scan_init(&scan, summary, length);
    if (pfr_scan_enter(&scan, '{'))
        while (pfr_scan_member(&scan, &key)) {
            if (pfr_span_is(key, "tasks") && tasks->count == 0)
                take_tasks(&scan, tasks);
            else
                pfr_scan_skip(&scan);
        }
    compare(tasks, &before, passed);
    free(before.list);
}
