/*
 * What is known of a node's part of a step, of a step, or of a job: the numbers
 * of the summary as plain data without pointers, so that thousands can be held.
 *
 * A number that is not known is PFR_ABSENT, never 0. Values of measurements are
 * in the quantum of their unit (bytes, nanoseconds, thousandths of a percent,
 * counts), times in nanoseconds.
 */
#ifndef PFR_JUDGE_FACTS_H
#define PFR_JUDGE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/metric/table.h"

#define PFR_ABSENT INT64_MIN

static inline bool pfr_known(int64_t value)
{
    return value != PFR_ABSENT;
}

/* a + b: absent when one is, and at the end of the range when it is too much. */
int64_t pfr_plus(int64_t a, int64_t b);

/* How far the profile is; in this order, the least of a job's parts is the job's. */
enum pfr_progress {
    PFR_PROGRESS_LOST,     /* the sampler died; slurmstepd wrote what it read itself */
    PFR_PROGRESS_LIVE,     /* goes on, or was cut off: see pfr_facts_is_dead() */
    PFR_PROGRESS_DRAINING, /* the last task has ended */
    PFR_PROGRESS_COMPLETE,
};

const char *pfr_progress_name(enum pfr_progress progress);

/* The members of one measurement in the summary; most have only some. */
struct pfr_stats {
    int64_t total, max, min, mean, stddev, p50, p95, p99, last, max_at;
};

/* One number of the tasks held against each other. */
struct pfr_spread {
    int64_t min, max;
    int64_t min_rank, max_rank;
};

enum pfr_extent { PFR_EXTENT_NODE, PFR_EXTENT_STEP, PFR_EXTENT_JOB };

#define PFR_SHORT_LIVED_SIZE 40

struct pfr_facts {
    enum pfr_extent extent;
    enum pfr_progress progress;

    /* who; "" when not known. Printable UTF-8, whatever the file held. */
    char job[64], step[32], node[256]; /* of several nodes: the one with the largest memory */
    char user[64], name[128], cluster[64];
    char command[256];
    int64_t uid; /* the owner of the file */
    int64_t job_id, array_job, array_task, restart;

    /* when: of the wall clock since 1970, and spans */
    int64_t start, written;
    int64_t elapsed;
    int64_t interval, window;

    /* what was given; of a step or job on several nodes, cpus are those of all of them */
    int64_t nodes, nodes_given; /* profiles put together; as many as there should be */
    int64_t tasks, tasks_given; /* seen in the profiles; tasks of the step */
    int64_t cpus;
    int64_t mem_given;          /* bytes on one node, for the step; at PFR_EXTENT_JOB for the job */
    int64_t job_mem_given;
    int64_t time_limit;         /* of the job */
    int64_t job_start, job_end; /* when the job began, and when its time is up */
    int64_t node_cpus, node_mem;

    /* how it ended: the first task that failed, else any */
    int64_t tasks_ended, tasks_failed;
    int64_t exit, signal, rank;
    int64_t failed_at; /* when that was, of the wall clock: the first to fail is the telling one */
    char scheduler_state[32]; /* as sacct says it, "TIMEOUT"; "" unless somebody asked */

    /* what was measured, by pfr_step_index(); see pfr_facts_stats() */
    struct pfr_stats stats[PFR_STEP_COUNT];
    struct pfr_spread task_mem, task_cpu; /* of tasks with a cgroup of their own */
    int64_t cores_per_task; /* p95 of the node with most, in thousandths of a core */
    int64_t cpus_per_task;  /* as many CPUs as there were for a task, on that node */
    int64_t mem_steps;      /* of a job: steps at one time whose peaks its memory is the sum of */
    bool one_script;        /* there is a script and no step: nobody tells of its tasks */
    int64_t processes_seen, processes_at_once;
    char short_lived_of[PFR_SHORT_LIVED_SIZE]; /* "make, sh": parents of unsampled ones */

    /* how well it was measured */
    int64_t samples, windows, pending;
    int64_t sampler_cpu, late_ticks, write_errors, lost_windows, counter_falls;
    bool newer_schema; /* a later version wrote it: some of it may be unknown here */
};

/* All absent. */
void pfr_facts_init(struct pfr_facts *facts);

/* The script of a job, which starts its steps, or the shell of an interactive one. */
bool pfr_facts_is_script(const struct pfr_facts *facts);

static inline const struct pfr_stats *pfr_facts_stats(const struct pfr_facts *facts,
                                                      enum pfr_metric_id id)
{
    return &facts->stats[pfr_step_index(id)];
}

/*
 * The one number that stands for a measurement of the step: the total of a
 * counter; of a gauge what its reduce says (max, mean, last). PFR_ABSENT.
 */
int64_t pfr_facts_value(const struct pfr_facts *facts, enum pfr_metric_id id);

/*
 * A summary in memory. 0, or -EBADMSG when it is cut off or no summary,
 * -EPROTO when its schema is of a later major version or not ours.
 */
int pfr_facts_parse(struct pfr_facts *facts, const char *text, size_t length);

/*
 * NODE.json, with what is in NODE.lost.json; NODE may have directories before
 * it. 1, 0 when there is neither, -errno as above and for what cannot be read.
 */
int pfr_facts_load(struct pfr_facts *facts, int dirfd, const char *node);

/* Which measurements are read; of those whose number is their max no more is sure to be. */
struct pfr_wanted {
    struct pfr_metric_set numbers;
    struct pfr_metric_set stats; /* those of them that are read in full */
};

/*
 * The same, but only what is wanted (NULL: all); the rest is absent, as is what
 * is known of processes and of the sampler. What is to be judged needs those of
 * pfr_facts_judged() besides what is shown.
 */
int pfr_facts_load_some(struct pfr_facts *facts, int dirfd, const char *node,
                        const struct pfr_wanted *wanted);

/* All that is asked for by name in this room. */
struct pfr_metric_set pfr_facts_judged(void);

/*
 * The nodes of a step into one: memory is of the node with the largest peak,
 * which is named, totals are sums, and what was not simultaneous is absent.
 * `count` > 0; `merged` must not be among `nodes`.
 */
void pfr_facts_merge(struct pfr_facts *merged, const struct pfr_facts *nodes, size_t count);

/*
 * The nodes of all steps of a job into one: as above, and steps that ran at the
 * same time on a node need the sum of their memory there.
 */
void pfr_facts_merge_job(struct pfr_facts *merged, const struct pfr_facts *nodes, size_t count);

/*
 * Where memory is taken from (R31), in one place: the kernel's peak, else the
 * largest sampled charge, else the sum over processes, which repeats shared
 * pages. PFR_METRIC_NONE when there is none. The value is pfr_facts_value().
 */
enum pfr_metric_id pfr_facts_memory_source(const struct pfr_facts *facts);

/*
 * What memory is held against: the smaller of what was allocated on a node and
 * the cgroup's limit, which a site may set below the allocation (AllowedRAMSpace).
 */
int64_t pfr_facts_memory_bound(const struct pfr_facts *facts);

/* Whether that is the cgroup's limit and not the allocation. */
bool pfr_facts_bound_is_limit(const struct pfr_facts *facts);

/* CPU time: the kernel's of the step, else of tasks waited for, else of processes seen. */
enum pfr_metric_id pfr_facts_cpu_source(const struct pfr_facts *facts);

/* The rate that goes with it, in percent: cgroup_pdcpu, else ps_pdcpu_total. */
enum pfr_metric_id pfr_facts_rate_source(const struct pfr_facts *facts);

/* CPU time over elapsed time, in thousandths of a core; PFR_ABSENT. */
int64_t pfr_facts_cores_mean(const struct pfr_facts *facts);

/* Time since the summary was written, never below 0 (clocks are set); `now` of the wall clock. */
int64_t pfr_facts_age(const struct pfr_facts *facts, int64_t now);

/* Not complete, and nothing has been written for so long that nothing will be (R55). */
bool pfr_facts_is_dead(const struct pfr_facts *facts, int64_t now);

#endif
