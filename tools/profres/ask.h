/* Asking Slurm's own commands, which may be missing, slow or of another cluster. */
#ifndef PFR_PROFRES_ASK_H
#define PFR_PROFRES_ASK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What the command wrote to its standard output (to be freed), or NULL when it
 * is not there, failed, or was not done in time; its complaints are not shown.
 */
char *pfr_ask(const char *const argv[], int wait_ms);

/* How long a person waits for a scheduler that does not answer. */
#define PFR_ASK_MS 5000

struct pfr_job_place {
    char work_dir[PATH_MAX];
    char array_job[32], array_index[32]; /* "" when it is no member of an array */
};

/* From scontrol while the job is known there, else from sacct; false: neither knows. */
bool pfr_ask_job_place(const char *job, struct pfr_job_place *place);

struct pfr_job_now {
    char state[32], reason[64];  /* "PENDING", "Resources"; "" */
    int64_t limit, left;         /* of its time, in nanoseconds; < 0: none, or not known */
};

/* As squeue says it, so for jobs that have not ended only; `job` may be 4711, 4711_3 or 4711.0. */
bool pfr_ask_job_now(const char *job, struct pfr_job_now *now);

#endif
