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

/* What plugstack.conf, the environment and the command line came to. */
struct pfr_choice {
    struct pfr_spec spec; /* site defaults, then the user's words over them */
    bool wanted;          /* by default, by the environment or by the option */
    bool given;           /* by the option: the environment is not looked at */
    int64_t least_interval;
    char sampler[512], profres[512]; /* programs */
};

/* Fills in base and job from the environment and Slurm; used by both sides. */
int pfr_choose_place(const struct pfr_choice *choice, const struct pfr_job *job,
                     const char *job_dir, const char *submit_dir, const char *cwd, char *path,
                     size_t size);

/* The variable that carries the job's directory from the batch step to its steps. */
#define PFR_DIR_VARIABLE "SLURM_PROFILE_RES_DIR"

/* ---- slurmstepd ---- */
void pfr_step_begin(spank_t sp, struct pfr_choice *choice);
void pfr_step_user(spank_t sp, const struct pfr_choice *choice);
void pfr_step_task(spank_t sp, const struct pfr_choice *choice);
void pfr_step_task_exit(spank_t sp, const struct pfr_choice *choice);
void pfr_step_end(void);

/* ---- srun ---- */
void pfr_client_launched(spank_t sp);
void pfr_client_end(const struct pfr_choice *choice);

#endif
