/*
 * One profiled step on one node: collectors, window, run and files put
 * together. It knows nothing of timing or of who asks; loop.c does.
 */
#ifndef PFR_SAMPLER_SESSION_H
#define PFR_SAMPLER_SESSION_H

#include "common/collect/cgroup.h"
#include "common/collect/procs.h"
#include "common/judge/chart.h"
#include "common/metric/window.h"
#include "common/record/series.h"
#include "tools/sampler/budget.h"
#include "tools/sampler/collectors.h"
#include "tools/sampler/track.h"

struct pfr_options {
    const char *root; /* "" is the live system */
    const char *job, *step, *node;
    char *const *command;
    const char *dir; /* of the job; NULL: no files */
    const char *metrics;
    const char *openmetrics; /* a file or a directory; NULL: none */
    int64_t interval, window;
    uint32_t top;
    uint32_t budget; /* percent of the step's cores for ourselves; 0: 1 */
    pid_t tree; /* whose descendants are the step, when there is no cgroup */
    bool slurm;   /* the task is in a Slurm step: measure that */
    bool no_cmd;  /* no command lines in the files */
    bool brief;   /* the host wants lines to print, not JSON */
    bool chart;   /* ... and a small chart below them */
    const char *facts[PFR_FACTS_MAX];
    int fact_count;
    bool watched; /* whatever hangs is ended by the kernel (confine.h) */
    bool lenient; /* a named key that cannot be had is left out, not refused */
};

#define PFR_TASKS_MAX 4096

/* Tasks that had ended before we could look at them (lost.h). */
struct pfr_lost {
    struct pfr_task *tasks;
    uint32_t count;
    bool written;
};

/* Waiting for the OOM killer (oom.h). */
struct pfr_oom {
    int fd;         /* -1: nothing to wait on */
    int control_fd; /* v1: what the watch hangs on */
    bool v2;
    int64_t again; /* not looked at before this time */
    int64_t kills; /* at the newest sample; -1 = not known */
    int64_t fresh; /* kills not yet written down ... */
    uint32_t tick; /* ... when the first of them was counted ... */
    int64_t until; /* ... and until when its victim may take to die */
};

/* What the tasks have to say (mark.h). */
struct pfr_marks {
    int fd; /* -1: there is no socket */
    char name[256];
    ino_t inode;
    int64_t credit, credit_at; /* of samples at their word */
    int64_t bytes;             /* that they have written to the series */
    uint64_t dropped;
};

/* The file for a textfile collector (expose.h). */
struct pfr_exposed {
    int dirfd; /* -1: not open */
    char name[256];
    ino_t inode; /* of what we wrote last */
    bool told;
};

struct pfr_session {
    struct pfr_options options;
    struct pfr_env env;
    struct pfr_selection selection;
    struct pfr_availability have;
    const struct pfr_collector *const *collectors;
    struct pfr_collecting collecting[PFR_COLLECTOR_COUNT];
    struct pfr_cgtarget target;
    struct pfr_handed handed;
    struct pfr_track track;
    struct pfr_oom oom;
    struct pfr_marks marks;
    struct pfr_exposed exposed;
    struct pfr_phases phases;
    struct pfr_process_table processes;
    struct pfr_instances instances;
    struct pfr_cgroup cgroup;
    struct pfr_procs procs;
    struct pfr_window window;
    struct pfr_run run;
    struct pfr_info info;
    struct pfr_series series;
    struct pfr_chart chart;
    int dirfd;
    char kernel[256];
    char summary_name[256];
    enum pfr_state state;
    bool started, finished, stored;
    uint32_t task_count, tasks_met, tasks_ended;
    struct pfr_task *tasks;
    struct pfr_cgroup **meters; /* by task: its own cgroup; NULL = it has none */
    bool meters_shared;         /* one cgroup for two tasks: a sum would count it twice */
    struct pfr_totals totals;
    struct pfr_lost lost;
    bool files_open, dir_presumed;
    int64_t rusage_cpu, rusage_max_rss; /* of the tasks that ended; 0 = none */
    int64_t window_end;
    struct pfr_cost cost;
    struct pfr_budget budget;
    uint32_t pending; /* processes in the newest sample */
    bool cgroup_gone, summary_told, drain_written;
};

/* 0, or -EINVAL with a sentence in error when the options make no sense. */
int pfr_session_init(struct pfr_session *session, const struct pfr_options *options, char *error,
                     size_t size);
void pfr_session_release(struct pfr_session *session);

/*
 * A task is there and has not run yet: finds out where it is. 0, or -errno with
 * a sentence in error when nothing can be measured, or a named measurement
 * cannot.
 */
int pfr_session_start_task(struct pfr_session *session, pid_t pid, int rank, char *error,
                           size_t size);

/* All tasks known are about to run: the first sample of theirs. */
void pfr_session_go(struct pfr_session *session);

/* Is anything wanted that this collector reads? */
bool pfr_session_wants(const struct pfr_session *session, enum pfr_collector_id from);

/* Writes the summary as it is now. */
void pfr_session_publish(struct pfr_session *session);

/* One sample, now; its stamp, 0 when it could not be taken. */
int64_t pfr_session_sample(struct pfr_session *session);

/* One sample; closes the window when that is due. */
void pfr_session_tick(struct pfr_session *session);

struct pfr_task_end {
    int wait_status;
    int64_t started, ended; /* as the one who waited saw it; 0 = take ours */
    int64_t cpu, max_rss;   /* rusage; < 0 = not known */
};

/* A task has ended: the last sample that its cgroup can give. */
void pfr_session_end_task(struct pfr_session *session, pid_t pid, const struct pfr_task_end *end);

/*
 * The end: last sample, last window, COMPLETE. The summary (json_object_put
 * it) as it will be written; NULL when nothing was started, or it is over.
 */
struct json_object *pfr_session_conclude(struct pfr_session *session);

/* Concludes if that is not done yet, and writes it down; the summary, as above. */
struct json_object *pfr_session_finish(struct pfr_session *session);

#endif
