/*
 * The two sides of the plugin. Each hook of profile_res.c calls one function
 * here, by context; nothing else of Slurm is known.
 */
#ifndef PFR_PLUGIN_PLUGIN_H
#define PFR_PLUGIN_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

#include <slurm/spank.h>

#include "plugin/place.h"
#include "plugin/spec.h"

/*
 * How long a sampler that does not answer may hold a step: all waits for it
 * together, of slurmstepd and of srun. With the rest of what we do that is below
 * 100 ms. A batch step has no srun that looks for its files, and the whole for
 * itself. What is not needed at the start is left for the end, of which a part is
 * kept in any case.
 */
#define PFR_PATIENCE_MS 85
#define PFR_PATIENCE_MAX_MS 10000

/* Of the whole patience, what srun may wait for the files. */
static inline int pfr_patience_files(int patience_ms)
{
    return patience_ms * 20 / PFR_PATIENCE_MS;
}

/* ... and what is kept for the end of the last task. */
static inline int pfr_patience_end(int patience_ms)
{
    return patience_ms * 20 / PFR_PATIENCE_MS;
}

/* How often to look at most, unless the site says min_interval=. */
#define PFR_LEAST_INTERVAL (PFR_NS_PER_S / 10)

/* What plugstack.conf, the environment and the command line came to. */
struct pfr_choice {
    struct pfr_spec spec; /* site defaults, then the user's words over them */
    bool wanted;          /* by default, by the environment or by the option */
    bool given;           /* by the option: the environment is not looked at */
    bool asked;           /* by the option or the environment, not only by default */
    bool quiet_unasked;   /* default=quiet: no summary for those who have not asked */
    int64_t least_interval;
    int patience_ms; /* PFR_PATIENCE_MS, or the site's own */
    int budget;      /* percent of the step's cores that the sampler may use */
    char sampler[512], profres[512]; /* programs */
};

/*
 * The variable that carries the job's directory from the batch step to its
 * steps, which may run elsewhere: "<job>:<directory>". One of another job, from
 * which this one was submitted, says nothing.
 */
#define PFR_BASE_VARIABLE "SLURM_PROFILE_RES_BASE"

/*
 * The variable that carries the user's name where dir= needs it, "<uid>:<name>":
 * srun and sbatch may ask a directory service and wait for it, slurmstepd should
 * not. One of another user, who has called us through sudo, says nothing.
 */
#define PFR_USER_VARIABLE "SLURM_PROFILE_RES_USER"

/*
 * Where the files go, from what both sides know: the variable's value and where
 * the job was submitted (each may be NULL), else where we are.
 */
int pfr_choose_place(const struct pfr_choice *choice, const struct pfr_job *job,
                     const char *variable, const char *submit_dir, const char *cwd, char *path,
                     size_t size);

/* ---- slurmstepd ---- */
void pfr_step_begin(spank_t sp, struct pfr_choice *choice);
void pfr_step_user(spank_t sp, const struct pfr_choice *choice);
void pfr_step_child(spank_t sp, const struct pfr_choice *choice);
void pfr_step_task(spank_t sp, const struct pfr_choice *choice);
void pfr_step_task_exit(spank_t sp, const struct pfr_choice *choice);
void pfr_step_end(void);

/* ---- srun, and the first also sbatch and salloc ---- */
void pfr_client_begin(const struct pfr_choice *choice);
void pfr_client_launched(spank_t sp);
void pfr_client_end(const struct pfr_choice *choice);

#endif
