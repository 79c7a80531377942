/*
 * What slurmdbd has of the same jobs, asked of sacct once for many. Without
 * sacct, or when it does not answer in time, there is nothing, and that is no
 * error. The names are sacct's, because the meaning is sacct's (R24).
 */
#ifndef PFR_PROFRES_SACCT_H
#define PFR_PROFRES_SACCT_H

#include "common/judge/facts.h"
#include "common/judge/verdict.h"

/* One line of sacct: a job's or a step's. Text is "" and a number PFR_ABSENT without it. */
struct pfr_sacct_row {
    char id[64]; /* JobIDRaw: "4713", "4713.batch" */
    char user[64], cluster[64], state[64], exit_code[16], req_mem[32], partition[64], account[64];
    char node_list[256], name[256];
    int64_t time_limit, elapsed, total_cpu; /* ns */
    int64_t start, end;                     /* ns since 1970 */
    int64_t max_rss;                        /* bytes */
    int64_t tasks, nodes, cpus;
};

/* How MaxRSS comes about on this cluster, as scontrol tells. */
struct pfr_sacct_gather {
    char plugin[64];   /* "jobacct_gather/cgroup"; "" when not known */
    int64_t frequency; /* ns between its samples; PFR_ABSENT */
    int version;       /* 2205 is 22.05; 0 when not known */
};

struct pfr_sacct {
    struct pfr_sacct_row *rows;
    size_t count, room;
    struct pfr_sacct_gather gather;
    bool answered; /* sacct did, if only to say that it has no such job */
};

/* Asks for these jobs and all their steps, by Slurm's numbers; PFR_ABSENT is passed over. */
void pfr_sacct_load(struct pfr_sacct *sacct, const int64_t *jobs, size_t count);

/* Adds what sacct -nP printed, and puts all in order. For pfr_sacct_load() and tests. */
void pfr_sacct_parse(struct pfr_sacct *sacct, char *text);

/* What scontrol show config printed. */
void pfr_sacct_parse_config(struct pfr_sacct_gather *gather, const char *text);

/* The line of this step, or of the job at PFR_EXTENT_JOB; NULL: it has none, or it is of another
 * cluster or time. */
const struct pfr_sacct_row *pfr_sacct_find(const struct pfr_sacct *sacct,
                                           const struct pfr_facts *facts);

/* Puts the time limit and the scheduler's state into the facts, for the verdict and the advice. */
void pfr_sacct_complete(const struct pfr_sacct *sacct, struct pfr_facts *facts);

/*
 * Sacct's numbers of a step beside ours, and where they differ why: sampled or
 * the kernel's peak, with cache or without, one task or all of them at once.
 */
void pfr_sacct_explain(struct pfr_said *said, const struct pfr_sacct *sacct,
                       const struct pfr_facts *facts);

void pfr_sacct_release(struct pfr_sacct *sacct);

#endif
