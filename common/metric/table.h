/*
 * What every measurement means, in one table (R5, R6, R24, R25, R28).
 *
 * All values inside profres are int64_t in the quantum of their unit: bytes,
 * nanoseconds, counts, thousandths of a percent, watt, joule or degree. Decimal
 * numbers appear only where text or JSON is written (R7, R11).
 *
 * To add a measurement: one id and one row here, one place row beside its
 * collector. CONTRIBUTING.md walks through it.
 */
#ifndef PFR_METRIC_TABLE_H
#define PFR_METRIC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfr_metric_id {
    PFR_METRIC_NONE,

    /* one value per process */
    PFR_PS_RSS,
    PFR_PS_VSZ,
    PFR_PS_PMEM,
    PFR_PS_CPU_SECONDS,
    PFR_PS_CHILDREN_CPU_SECONDS,
    PFR_PS_PDCPU,
    PFR_PS_ETIME,
    PFR_PS_STAT,
    PFR_PS_CMD,
    PFR_PROC_HWM,
    PFR_PROC_SWAP,
    PFR_PROC_PSS,
    PFR_PROC_THREADS,
    PFR_PROC_IO_RCHAR,
    PFR_PROC_IO_WCHAR,
    PFR_PROC_IO_READ_BYTES,
    PFR_PROC_IO_WRITE_BYTES,
    PFR_PROC_IO_CANCELLED_BYTES,
    PFR_PROC_CTXT_VOLUNTARY,
    PFR_PROC_CTXT_INVOLUNTARY,
    PFR_PROC_FAULTS_MINOR,
    PFR_PROC_FAULTS_MAJOR,
    PFR_PID_END,

    /* one value per step: sums over its processes */
    PFR_PS_RSS_TOTAL = PFR_PID_END,
    PFR_PS_VSZ_TOTAL,
    PFR_PS_PMEM_TOTAL,
    PFR_PS_CPU_SECONDS_TOTAL,
    PFR_PS_CHILDREN_CPU_SECONDS_TOTAL,
    PFR_PS_PDCPU_TOTAL,
    PFR_PROC_COUNT,
    PFR_PROC_SWAP_TOTAL,
    PFR_PROC_PSS_TOTAL,
    PFR_PROC_THREADS_TOTAL,
    PFR_PROC_IO_RCHAR_TOTAL,
    PFR_PROC_IO_WCHAR_TOTAL,
    PFR_PROC_IO_READ_BYTES_TOTAL,
    PFR_PROC_IO_WRITE_BYTES_TOTAL,
    PFR_PROC_IO_CANCELLED_BYTES_TOTAL,
    PFR_PROC_CTXT_VOLUNTARY_TOTAL,
    PFR_PROC_CTXT_INVOLUNTARY_TOTAL,
    PFR_PROC_FAULTS_MINOR_TOTAL,
    PFR_PROC_FAULTS_MAJOR_TOTAL,

    /* one value per step: the kernel's own accounting */
    PFR_CGROUP_MEM_PEAK,
    PFR_CGROUP_MEM_WINDOW_PEAK,
    PFR_CGROUP_MEM_CURRENT,
    PFR_CGROUP_MEM_SAMPLED_PEAK,
    PFR_CGROUP_MEM_ANON,
    PFR_CGROUP_MEM_FILE,
    PFR_CGROUP_MEM_INACTIVE_FILE,
    PFR_CGROUP_MEM_SHMEM,
    PFR_CGROUP_MEM_KERNEL,
    PFR_CGROUP_MEM_NONRECLAIMABLE,
    PFR_CGROUP_MEM_LIMIT,
    PFR_CGROUP_MEM_HIGH_LIMIT,
    PFR_CGROUP_MEM_FAILCNT,
    PFR_CGROUP_MEM_FAILCNT_LOCAL,
    PFR_CGROUP_MEM_HIGH_EVENTS,
    PFR_CGROUP_MEM_HIGH_EVENTS_LOCAL,
    PFR_CGROUP_MEM_FAULTS_MAJOR,
    PFR_CGROUP_MEM_REFAULTS_FILE,
    PFR_CGROUP_SWAP_CURRENT,
    PFR_CGROUP_SWAP_PEAK,
    PFR_CGROUP_SWAP_WINDOW_PEAK,
    PFR_CGROUP_SWAP_LIMIT,
    PFR_CGROUP_SWAP_FAILCNT,
    PFR_CGROUP_SWAP_FAILS,
    PFR_CGROUP_OOM_EVENTS,
    PFR_CGROUP_OOM_EVENTS_LOCAL,
    PFR_CGROUP_OOM_KILLS,
    PFR_CGROUP_OOM_KILLS_LOCAL,
    PFR_CGROUP_CPU_SECONDS,
    PFR_CGROUP_CPU_USER_SECONDS,
    PFR_CGROUP_CPU_SYSTEM_SECONDS,
    PFR_CGROUP_PDCPU,
    PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS,
    PFR_CGROUP_CPU_LIMIT,
    PFR_CGROUP_CPU_PERIODS,
    PFR_CGROUP_CPU_THROTTLED_PERIODS,
    PFR_CGROUP_CPU_THROTTLED_SECONDS,
    PFR_CGROUP_IO_READ_BYTES,
    PFR_CGROUP_IO_WRITE_BYTES,
    PFR_CGROUP_IO_READ_OPS,
    PFR_CGROUP_IO_WRITE_OPS,
    PFR_CGROUP_PIDS_CURRENT,
    PFR_CGROUP_PIDS_PEAK,
    PFR_CGROUP_PIDS_FAILCNT,
    PFR_CGROUP_PSI_CPU_SOME_SECONDS,
    PFR_CGROUP_PSI_CPU_FULL_SECONDS,
    PFR_CGROUP_PSI_MEMORY_SOME_SECONDS,
    PFR_CGROUP_PSI_MEMORY_FULL_SECONDS,
    PFR_CGROUP_PSI_IO_SOME_SECONDS,
    PFR_CGROUP_PSI_IO_FULL_SECONDS,
    PFR_CGROUP_TASKS_MEM_SAMPLED_PEAK,
    PFR_CGROUP_TASKS_CPU_SECONDS,

    /* one value per step: what wait4() said of the tasks that ended */
    PFR_RUSAGE_CPU_SECONDS,
    PFR_RUSAGE_MAX_RSS,

    PFR_STEP_END,

    /* one value per task: of its own cgroup */
    PFR_TASK_MEM_CURRENT = PFR_STEP_END,
    PFR_TASK_MEM_PEAK,
    PFR_TASK_CPU_SECONDS,
    PFR_TASK_PDCPU,
    PFR_TASK_OOM_KILLS,

    /* one value per command: over the processes of that name */
    PFR_COMMAND_PROCESSES,
    PFR_COMMAND_CPU_SECONDS,
    PFR_COMMAND_CHILDREN_CPU_SECONDS,
    PFR_COMMAND_PDCPU,
    PFR_COMMAND_RSS_TOTAL,
    PFR_COMMAND_RSS_LARGEST,
    PFR_COMMAND_READ_BYTES,
    PFR_COMMAND_WRITE_BYTES,

    PFR_METRIC_COUNT
};

#define PFR_PID_FIRST (PFR_METRIC_NONE + 1)
#define PFR_STEP_FIRST PFR_PID_END
#define PFR_STEP_COUNT (PFR_STEP_END - PFR_STEP_FIRST)

/* Ids are looked up and walked through with these, not by arithmetic. */
#define PFR_EACH(ID, FIRST, END) \
    for (enum pfr_metric_id ID = (enum pfr_metric_id)(FIRST); ID < (END); ID++)
#define PFR_EACH_METRIC(ID) PFR_EACH(ID, PFR_PID_FIRST, PFR_METRIC_COUNT)
#define PFR_EACH_PID_METRIC(ID) PFR_EACH(ID, PFR_PID_FIRST, PFR_PID_END)
#define PFR_EACH_STEP_METRIC(ID) PFR_EACH(ID, PFR_STEP_FIRST, PFR_STEP_END)

/* Readings of processes have a mask with a bit for each id: no other id is in it. */
static inline bool pfr_pid_mask_has(uint32_t mask, enum pfr_metric_id id)
{
    return id < PFR_PID_END && (mask >> id & 1);
}

static inline bool pfr_metric_is_step(enum pfr_metric_id id)
{
    return id >= PFR_STEP_FIRST && id < PFR_STEP_END;
}

/* Its place in an array of PFR_STEP_COUNT; the id must be one of a step. */
static inline int pfr_step_index(enum pfr_metric_id id)
{
    return (int)id - (int)PFR_STEP_FIRST;
}

static inline enum pfr_metric_id pfr_step_metric(int index)
{
    return (enum pfr_metric_id)((int)PFR_STEP_FIRST + index);
}

/*
 * Counters of a process that the kernel adds to its parent's when that waits
 * for it: the rows PFR_PROC_IO_*. CPU time it adds too, as that of children.
 */
#define PFR_INHERITED_FIRST PFR_PROC_IO_RCHAR
#define PFR_INHERITED_COUNT 5

enum pfr_kind { PFR_GAUGE, PFR_COUNTER, PFR_LABEL, PFR_CATEGORICAL };
enum pfr_unit {
    PFR_BYTES, PFR_SECONDS, PFR_PERCENT, PFR_ITEMS, PFR_TEXT,
    PFR_WATTS, PFR_JOULES, PFR_DEGREES, PFR_HERTZ, PFR_BYTES_PER_SECOND,
    PFR_UNIT_COUNT
};
enum pfr_reduce { PFR_MAX, PFR_MIN, PFR_MEAN, PFR_LAST, PFR_DELTA, PFR_TALLY };

/* Of what it is: of a process, of the step, or of an instance of a family. */
enum pfr_scope {
    PFR_SCOPE_PID, PFR_SCOPE_STEP, PFR_SCOPE_TASK, PFR_SCOPE_COMMAND, PFR_SCOPE_COUNT
};

/* Who reads it; each stamps its readings for itself. */
enum pfr_collector_id {
    PFR_FROM_PROCS, PFR_FROM_CGROUP, PFR_FROM_TASKS, PFR_FROM_WAIT, PFR_COLLECTOR_COUNT
};

/* What the value of several nodes is. */
enum pfr_merge {
    PFR_MERGE_NONE,  /* there is none: they were not taken at the same time */
    PFR_MERGE_SUM,   /* their sum, if all are known */
    PFR_MERGE_KNOWN, /* their sum; of those that are known, if that is more than nothing */
    PFR_MERGE_NODE,  /* that of the node that is named, which needs the most memory */
    PFR_MERGE_COUNT
};

/* How a value comes about; all but READ are computed from `of`. */
enum pfr_derive {
    PFR_READ, /* a collector reads it */
    PFR_RATE, /* change of a counter over the time between two readings */
    PFR_SUM,  /* over the processes of one sample (R14), or of their deltas (R8) */
    PFR_SAME, /* the same reading under another reduce */
    PFR_ADD,  /* of[0] + of[1] + of[2] of one sample */
    PFR_REST, /* of[0] - of[1] - of[2], all counted from the first sample */
};

struct pfr_metric {
    const char *key;
    const char *help;
    enum pfr_kind kind;
    enum pfr_unit unit;
    enum pfr_reduce reduce;
    enum pfr_scope scope;
    enum pfr_collector_id from;
    enum pfr_merge merge;
    enum pfr_derive derive;
    bool costly;   /* slows the application: only when named */
    bool lasting;  /* holds of an empty cgroup too: a kept peak, a limit, a total */
    bool past;     /* of the time since the value before, not of the moment */
    bool detail;   /* keep every sample in the series, for exact percentiles ... */
    enum pfr_metric_id yields; /* ... unless this better one is measured */
    enum pfr_metric_id of[3]; /* of a row that is read: what has to be read with it */
};

extern const struct pfr_metric pfr_metrics[PFR_METRIC_COUNT];

/* A kind of thing that has values. The ids of its measurements follow each other. */
struct pfr_family {
    const char *name;     /* as in --by=NAME and in the files */
    const char *title;    /* for people */
    const char *identity; /* what the id of an instance is */
    enum pfr_metric_id first, last;
    enum pfr_metric_id order[2]; /* a window keeps the largest by these; none: all */
};

extern const struct pfr_family pfr_families[PFR_SCOPE_COUNT];

#define PFR_EACH_FAMILY(FAMILY) \
    for (enum pfr_scope FAMILY = (enum pfr_scope)(PFR_SCOPE_STEP + 1); \
         FAMILY < PFR_SCOPE_COUNT; FAMILY++)
#define PFR_EACH_METRIC_OF(FAMILY, ID) \
    PFR_EACH(ID, pfr_families[FAMILY].first, pfr_families[FAMILY].last + 1)

static inline int pfr_family_width(enum pfr_scope family)
{
    return (int)pfr_families[family].last - (int)pfr_families[family].first + 1;
}

/* Its place in an array of the width of its family. */
static inline int pfr_family_index(enum pfr_metric_id id)
{
    return (int)id - (int)pfr_families[pfr_metrics[id].scope].first;
}

/* PFR_SCOPE_COUNT when no family is called so. */
enum pfr_scope pfr_family_find(const char *name);

/* A set of measurements. */
struct pfr_metric_set {
    uint64_t word[(PFR_METRIC_COUNT + 63) / 64];
};

static inline bool pfr_metric_set_has(const struct pfr_metric_set *set, enum pfr_metric_id id)
{
    return set->word[id / 64] >> (id % 64) & 1;
}

static inline void pfr_metric_set_add(struct pfr_metric_set *set, enum pfr_metric_id id)
{
    set->word[id / 64] |= UINT64_C(1) << (id % 64);
}

static inline void pfr_metric_set_remove(struct pfr_metric_set *set, enum pfr_metric_id id)
{
    set->word[id / 64] &= ~(UINT64_C(1) << (id % 64));
}

/* PFR_METRIC_NONE when there is no such key. */
enum pfr_metric_id pfr_metric_find(const char *key);

/* The same of so many bytes, and fast when it is `next` or one of those behind it. */
enum pfr_metric_id pfr_metric_find_from(enum pfr_metric_id next, const char *key, size_t length);

/* A label cannot be max-ed, a counter is not a level (R5). */
bool pfr_reduce_is_legal(enum pfr_kind kind, enum pfr_reduce reduce);

/* True when the row is computed from `base` (directly). */
bool pfr_metric_uses(enum pfr_metric_id id, enum pfr_metric_id base);

const char *pfr_kind_name(enum pfr_kind kind);
const char *pfr_unit_name(enum pfr_unit unit);
const char *pfr_reduce_name(enum pfr_reduce reduce);
const char *pfr_merge_name(enum pfr_merge merge);
const char *pfr_scope_name(enum pfr_scope scope);

/* Quanta in one unit: 1e9 for seconds; 1000 for percent, watts, joules, degrees; else 1. */
int64_t pfr_unit_quantum(enum pfr_unit unit);

#endif
