/*
 * What the files of one node say by now, as plain data: the summary whole, and
 * of the series the newest window and the course of the last minutes.
 *
 * A number that is not known is PFR_ABSENT, never 0. Values are in the quantum
 * of their unit (bytes, nanoseconds, thousandths of a percent), rates are per
 * second, times of the wall clock in nanoseconds.
 */
#ifndef PFR_TOP_NODE_H
#define PFR_TOP_NODE_H

#include <time.h>

#include "common/judge/facts.h"
#include "common/record/json.h"
#include "tools/profres/top/cmds.h"
#include "tools/profres/top/tail.h"
#include "tools/profres/top/tasks.h"

enum pfr_top_state {
    PFR_TOP_NOTHING, /* no summary yet */
    PFR_TOP_KNOWN,   /* facts.progress tells how far it is */
    PFR_TOP_NEWER,   /* written by a later version that we would misread */
};

/* The course of the last minutes: a value for every five seconds of the wall clock. */
#define PFR_PAST_SLOTS 120
#define PFR_PAST_SECONDS 5

struct pfr_past {
    int64_t slot; /* which five seconds since 1970 */
    int64_t memory; /* the largest */
    int64_t cpu, cpu_count; /* a sum, and of how many */
};

struct pfr_top_proc {
    int64_t pid, start_ticks;
    int64_t pdcpu, rss, threads, read, write;
    char state; /* the one seen most often */
    char comm[PFR_TOP_NAME];
};

/* The columns of a process row that are shown. */
enum pfr_top_column {
    PFR_TOP_PID,
    PFR_TOP_TICKS,
    PFR_TOP_COMM,
    PFR_TOP_PDCPU,
    PFR_TOP_RSS,
    PFR_TOP_THREADS,
    PFR_TOP_READ,
    PFR_TOP_WRITE,
    PFR_TOP_STAT,
    PFR_TOP_COLUMNS
};

/* A measurement of the newest window, and where it is from. */
struct pfr_top_window {
    int64_t from, to; /* since the run began; PFR_ABSENT: no window yet */
    int64_t pdcpu;
    int64_t psi_cpu, psi_memory, psi_io; /* of the window, thousandths of a percent */
    int64_t throttled;                   /* the same, of all cores together */
    int64_t read, write;
};

struct pfr_top_node {
    char *name;
    enum pfr_top_state state;

    /* the summary */
    struct timespec changed; /* which one it is that was read: its time ... */
    ino_t inode;             /* ... and its inode */
    int64_t seen;            /* our monotonic clock when it was another than before */
    bool watched;            /* it has changed while we looked */
    struct pfr_facts facts;
    struct pfr_top_tasks tasks;

    /* the series */
    struct pfr_tail tail;
    bool series_newer;
    int columns[PFR_TOP_COLUMNS]; /* where in a process row; -1: it has none */
    const char *mem_key, *cpu_key; /* what the past is of (R32: one source only) */
    int64_t series_start;
    struct pfr_top_window newest;
    struct pfr_top_proc *rows;
    size_t row_count;
    struct pfr_past past[PFR_PAST_SLOTS];
    struct pfr_top_cmds cmds;
    int64_t malformed;
};

struct pfr_top_node *pfr_top_node_new(const char *name);
void pfr_top_node_free(struct pfr_top_node *node);

/* Looks at the files in the step's directory. 1 when something is new, 0 when not. */
int pfr_top_node_read(struct pfr_top_node *node, int dirfd, int64_t monotonic);

/* At the summary only. */
int pfr_top_node_peek(struct pfr_top_node *node, int dirfd, int64_t monotonic);

/* Nothing more will be written. */
bool pfr_top_node_has_ended(const struct pfr_top_node *node);

/*
 * It should have written, and has not (R55): by its own stamp, and as far as we
 * have watched; a clock that is set differently there does not make it stale.
 */
bool pfr_top_node_is_stale(const struct pfr_top_node *node, int64_t wall, int64_t monotonic);

/* The memory charged now, or where there is no cgroup the sum over the processes. */
int64_t pfr_top_node_memory(const struct pfr_top_node *node);
bool pfr_top_node_memory_is_sum(const struct pfr_top_node *node);

/* The most it has been, from the best source there is (R31). */
int64_t pfr_top_node_peak(const struct pfr_top_node *node);

/* The command line of a process; NULL when it is not known. */
const char *pfr_top_node_cmd(const struct pfr_top_node *node, const struct pfr_top_proc *process);

/* In that slot; NULL when nothing is known of it. */
const struct pfr_past *pfr_top_node_past(const struct pfr_top_node *node, int64_t slot);

#endif
