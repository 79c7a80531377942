/* The tasks that a summary lists. */
#ifndef PFR_TOP_TASKS_H
#define PFR_TOP_TASKS_H

#include <stddef.h>
#include <stdint.h>

/* Numbers as in common/judge/facts.h; times since the run began. */
struct pfr_top_task {
    int64_t rank, pid, exit, signal;
    int64_t started, ended;
    int64_t mem_peak, cpu, oom_kills;
    int64_t pdcpu; /* between this summary and the one before, in thousandths of a percent */
};

struct pfr_top_tasks {
    struct pfr_top_task *list;
    size_t count;
};

/* Takes the place of those of the summary before, which was written so long before; 0: none was. */
void pfr_top_tasks_parse(struct pfr_top_tasks *tasks, const char *summary, size_t length,
                         int64_t passed);

#endif
