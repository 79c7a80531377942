/*
 * What to ask Slurm for next time, from one run or from many, with what it is
 * based on; and when that cannot be said, why. Never a scolding, never a
 * percentage cut off at 100.
 */
#ifndef PFR_JUDGE_ADVICE_H
#define PFR_JUDGE_ADVICE_H

#include "common/judge/verdict.h"

enum pfr_advice_kind {
    PFR_ADVICE_NONE,     /* nothing was measured that tells */
    PFR_ADVICE_TELL,     /* ask for this */
    PFR_ADVICE_MORE,     /* more than this: it was cut off */
    PFR_ADVICE_CANNOT,   /* too short, too few samples */
};

struct pfr_advice_line {
    enum pfr_advice_kind kind;
    int64_t value; /* bytes, cores, or ns: rounded for people; with MORE what it had */
    char paste[64];            /* "#SBATCH --mem=1200M"; "" unless TELL */
    char basis[PFR_SAY_SIZE];  /* "peak 1.02 GiB charged (largest of 12 runs) + 20 %" */
    char why[PFR_SAY_SIZE];    /* cache explained, or why it cannot be told; may be "" */
};

struct pfr_advice {
    int64_t runs;    /* looked at */
    int64_t counted; /* of these, that could tell of memory */
    struct pfr_advice_line mem, mem_per_cpu, cpus, time;
};

/* What the runs needed, gathered one after another; zero it first. */
struct pfr_needs {
    int64_t runs;
    int64_t mem_runs, mem_cut, mem_ceiling, mem_floor, mem_cut_at, mem_given;
    enum pfr_metric_id mem_source;
    int64_t cpu_runs, cores, tasks_per_node, cpus_given;
    int64_t time_runs, time_cut, time_longest, time_limit;
    int64_t too_short, too_few;
};

/* One run: the facts of a job (pfr_facts_merge_job) or of a step. */
void pfr_needs_add(struct pfr_needs *needs, const struct pfr_facts *facts,
                   enum pfr_verdict_id verdict);

void pfr_advice_give(struct pfr_advice *advice, const struct pfr_needs *needs);

#endif
