/*
 * Where the files of a job go, the same for slurmstepd and for srun:
 * slurm-<job>.profres beside the job's output, or what dir= says.
 */
#ifndef PFR_PLUGIN_PLACE_H
#define PFR_PLUGIN_PLACE_H

#include <stddef.h>
#include <stdint.h>

struct pfr_job {
    uint32_t job, step, array_job, array_task; /* PFR_NO_ARRAY when it is none */
    int64_t restarts;
    const char *user, *name; /* may be NULL */
};

#define PFR_NO_ARRAY 0xfffffffeu

/* Names of the steps that have no number (slurm.h). */
#define PFR_STEP_BATCH 0xfffffffbu
#define PFR_STEP_EXTERN 0xfffffffcu
#define PFR_STEP_INTERACTIVE 0xfffffffau

/* "0", "batch", "interactive" */
void pfr_step_name(uint32_t step, char *name, size_t size);

/*
 * `base` is where Slurm puts slurm-<job>.out; pattern ("" or NULL: none) is
 * what dir= said. 0, or -ENAMETOOLONG, or -EINVAL when it would not be absolute.
 */
int pfr_place(const struct pfr_job *job, const char *base, const char *pattern, char *path,
              size_t size);

#endif
