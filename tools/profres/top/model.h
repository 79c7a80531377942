/*
 * What is shown: the steps of what a person named, and the nodes of one of
 * them. It follows from the files and the two clocks that it is given; nobody
 * else is asked but Slurm, once, where the job runs and how long it may.
 */
#ifndef PFR_TOP_MODEL_H
#define PFR_TOP_MODEL_H

#include "tools/profres/find.h"
#include "tools/profres/top/node.h"

/* How much of a step there is to see; the more the better. */
enum pfr_top_rank { PFR_TOP_ENDED, PFR_TOP_STALE, PFR_TOP_RUNNING };

struct pfr_top_step {
    enum pfr_top_rank rank;
    int64_t start;
    bool refused; /* of a later version */
};

struct pfr_top_now {
    int64_t wall, monotonic;
};

struct pfr_top {
    const char *what;
    struct pfr_told told;
    bool mute; /* Slurm is never asked */
    struct pfr_finds finds;
    struct pfr_top_step *steps; /* one for each that was found */
    int result;                 /* of pfr_find() */
    size_t current;
    bool chosen;  /* by the person: stay with it */
    int64_t scanned, asked; /* when the steps were looked for, and Slurm was asked; monotonic */

    struct pfr_top_node **nodes; /* of the current step, by name */
    size_t node_count;
    int64_t listed;
    int64_t ended_at; /* when all nodes there had ended; PFR_ABSENT */

    struct pfr_job_now job; /* as Slurm said it */
    int64_t job_at;         /* when; PFR_ABSENT: it was not asked */
    bool job_settled;       /* no need to ask again */
    bool looked;
};

/* `what` stays the caller's. */
void pfr_top_init(struct pfr_top *top, const char *what);
void pfr_top_release(struct pfr_top *top);

/*
 * Looks at the files. 1 there is a step to show, 0 there is none yet, < 0 as
 * pfr_find().
 */
int pfr_top_look(struct pfr_top *top, struct pfr_top_now now);

/* The step that is shown; NULL before there is one. */
const struct pfr_found *pfr_top_step(const struct pfr_top *top);

/* The next step (1) or the one before (-1), from now on. */
void pfr_top_switch(struct pfr_top *top, int by);

/* The step shown is over, and no other one runs. */
bool pfr_top_has_ended(const struct pfr_top *top, struct pfr_top_now now);

/* ---- the step in numbers; PFR_ABSENT when not known ---- */

struct pfr_top_sums {
    size_t running, stale, ended;  /* nodes */
    int64_t nodes_given, tasks, tasks_running;
    int64_t elapsed;
    int64_t age;                   /* of the newest sample */
    const struct pfr_top_node *oldest; /* of the stale ones (R55); NULL */
    int64_t limit, left;           /* of the job's time */

    const struct pfr_top_node *full; /* the node whose memory is nearest its limit; NULL */
    int64_t full_of;                 /* what it is held against ... */
    const char *full_kind;           /* ... and what that is: "limit", "allocated", "on the node" */

    int64_t pdcpu, cpus;    /* of the nodes that run and are not stale, or the last known */
    const char *cpus_kind;  /* "allocated", "on the nodes" */
    size_t counted;         /* of how many nodes pdcpu is */
    bool cpu_summed;        /* of some it is the sum over the processes seen */
    int64_t psi_cpu, psi_memory, psi_io; /* of the node that waits most */
    int64_t throttled, read, write, processes, oom_kills;
};

void pfr_top_sum(const struct pfr_top *top, struct pfr_top_now now, struct pfr_top_sums *sums);

/* What a node's memory is held against; PFR_ABSENT, and *kind what it is. */
int64_t pfr_top_mem_limit(const struct pfr_top_node *node, const char **kind);

/*
 * The course of the last `count` slots, the newest last: the memory of `sums->full`,
 * and the cores of all nodes that run; where one of them is not known, no sum is.
 */
void pfr_top_past(const struct pfr_top *top, const struct pfr_top_sums *sums,
                  struct pfr_top_now now, int64_t *memory, int64_t *pdcpu, size_t count);

/* ---- rows ---- */

enum pfr_top_pane { PFR_PANE_NODES, PFR_PANE_TASKS, PFR_PANE_PROCESSES, PFR_PANE_COUNT };
enum pfr_top_sort { PFR_SORT_CPU, PFR_SORT_MEMORY, PFR_SORT_IO, PFR_SORT_NAME, PFR_SORT_COUNT };

struct pfr_top_row {
    const struct pfr_top_node *node;
    const struct pfr_top_task *task;       /* in the tasks' pane */
    const struct pfr_top_proc *process; /* in the processes' */
};

/* The rows of a pane in order, as many as there are; one block to free(). NULL and 0: none. */
struct pfr_top_row *pfr_top_rows(const struct pfr_top *top, enum pfr_top_pane pane,
                                 enum pfr_top_sort sort, bool reverse, size_t *count);

#endif
