/*
 * What the files say, as plain data. The series and the summary are pure
 * functions of these (R89); nothing here knows of /proc or of cgroups.
 */
#ifndef PFR_RECORD_SCHEMA_H
#define PFR_RECORD_SCHEMA_H

#include "common/metric/phase.h"
#include "common/metric/run.h"
#include "common/metric/select.h"

/*
 * Raised in its first part when an old reader would misread a new file, in
 * its second when something was added (R29, R30).
 */
#define PFR_SCHEMA_SERIES "profres-series/2.0"
#define PFR_SCHEMA_SUMMARY "profres-summary/2.0"

#define PFR_INFO_CGROUPS 12

struct pfr_info_cgroup {
    const char *controller, *path, *reason;
    bool scoped;
};

/* What the scheduler gave and said: "mem_bytes=2147483648". */
#define PFR_FACTS_MAX 24

/* What does not change in a run. */
struct pfr_info {
    const char *job, *step, *node;
    const char *facts[PFR_FACTS_MAX];
    int fact_count;
    char *const *command; /* NULL-terminated, or NULL */
    const char *kernel;
    const char *cgroup_mode; /* none, v1, v2, hybrid */
    const char *process_source; /* how the processes are found */
    struct pfr_info_cgroup cgroups[PFR_INFO_CGROUPS];
    int cgroup_count;
    int64_t cpus, mem_total; /* of the node; 0 = not known */
    int64_t interval, window;
    uint32_t top;
    int64_t wall_start, start; /* realtime; the stamps' clock */
    const struct pfr_selection *selection;
    const struct pfr_availability *have; /* NULL: nothing was measured */
};

enum pfr_state { PFR_LIVE, PFR_DRAINING, PFR_COMPLETE };

const char *pfr_state_name(enum pfr_state state);

/* Of one collector: time of the wall clock spent in it, ticks in which it failed. */
struct pfr_collector_cost {
    const char *name;
    int64_t time;
    uint64_t failures;
};

/* What the profiler itself cost and met. */
struct pfr_cost {
    int64_t cpu, max_rss;
    uint64_t ticks, late_ticks, reads;
    uint64_t saved_ticks; /* left out to keep to the CPU budget */
    uint64_t write_errors, hidden, denied, malformed, no_memory, lost_windows, dropped_marks;
    int64_t series_bytes, series_span;
    struct pfr_collector_cost collectors[PFR_COLLECTOR_COUNT];
};

struct pfr_task {
    pid_t pid;
    int rank;
    int64_t started, ended; /* stamps; 0 = not yet */
    int wait_status;        /* as wait(2) gives it */
    /* of its own cgroup; -1 = it has none, or it was not read */
    int64_t mem_peak, cpu, oom_kills;
    uint32_t instance; /* slot + 1; 0 = it has none */
};

/* What the one who waits for the tasks read of the step itself; -1 = nothing. */
struct pfr_totals {
    bool given;
    int64_t mem_peak, oom_kills, cpu;
};

struct pfr_snapshot {
    const struct pfr_info *info;
    const struct pfr_run *run;
    enum pfr_state state;
    uint32_t pending; /* processes still there at the end (R68) */
    uint64_t processes_seen;
    int64_t wall, now;
    const struct pfr_task *tasks;
    uint32_t task_count;
    struct pfr_totals totals;
    const struct pfr_phases *phases; /* or NULL */
    const struct pfr_instances *instances; /* or NULL */
    struct pfr_cost cost;
};

#endif
