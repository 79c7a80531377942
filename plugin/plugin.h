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

/*
 * The variable that carries the job's directory from the batch step to its
 * steps, which may run elsewhere: "<job>:<directory>". One of another job, from
 * which this one was submitted, says nothing.
 */
#define PFR_BASE_VARIABLE "SLURM_PROFILE_RES_BASE"

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

/* ---- srun ---- */
void pfr_client_launched(spank_t sp);
void pfr_client_end(const struct pfr_choice *choice);

#endif
