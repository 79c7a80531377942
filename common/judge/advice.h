/*
 * What to ask Slurm for next time, from one run or from many, with what it is
 * based on; and when that cannot be said, why. Never a scolding, never a
 * percentage cut off at 100.
 */
#ifndef PFR_JUDGE_ADVICE_H
#define PFR_JUDGE_ADVICE_H

#include "common/judge/verdict.h"

enum pfr_advice_kind {
    PFR_ADVICE_NONE,   /* nothing was measured that tells, or there is nothing to advise */
    PFR_ADVICE_TELL,   /* ask for this */
    PFR_ADVICE_MORE,   /* more than this: it was cut off */
    PFR_ADVICE_CANNOT, /* failed, too short, too few samples: `why` says it */
};

struct pfr_advice_line {
    enum pfr_advice_kind kind;
    int64_t value; /* bytes, cores, or ns: rounded for people; with MORE what it had */
    char paste[64];            /* "#SBATCH --mem=1200M"; "" unless TELL */
    char basis[PFR_SAY_SIZE];  /* "peak 1.02 GiB charged (largest of 12 runs) + 20 %" */
    char why[PFR_SAY_SIZE];    /* cache explained, or why it cannot be told; may be "" */
};

struct pfr_advice {
    int64_t runs; /* looked at */
    struct pfr_advice_line mem, mem_per_cpu, cpus, time;
};

/* One thing that was needed: of the runs that tell, and of those that were cut off. */
struct pfr_need {
    int64_t runs, most; /* told, and the largest */
    int64_t cut, cut_at;
};

/* Memory that was measured in one way; the rest is of the run that has to be given most. */
struct pfr_memory_need {
    enum pfr_metric_id source;
    int64_t runs;
    int64_t most, floor; /* what was used, and what of it the program needed */
    bool by_floor;       /* the first says nothing */
    int64_t want;        /* with a margin */
    int64_t cpus_on_node;
    int64_t steps; /* whose peaks were added up */
};

/* What the runs needed, gathered one after another; pfr_needs_init() first. */
struct pfr_needs {
    int64_t runs;
    struct pfr_need mem, cores, time; /* bytes a node, thousandths of a core a task, ns */
    struct pfr_memory_need memory[3]; /* the best source first; numbers of two are no maximum */
    int64_t cpus_per_task;            /* given, in the run with most cores */
    bool one_script;                  /* that run was a script without steps */
    int64_t failed, unfinished, too_short, too_few; /* runs that do not tell, and why */
};

void pfr_needs_init(struct pfr_needs *needs);

/* One run: the facts of a job (pfr_facts_merge_job) or of a step. */
void pfr_needs_add(struct pfr_needs *needs, const struct pfr_facts *facts,
                   enum pfr_verdict_id verdict);

void pfr_advice_give(struct pfr_advice *advice, const struct pfr_needs *needs);

#endif
