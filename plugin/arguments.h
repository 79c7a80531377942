/* The sampler's command line, from what Slurm knows of the step and what was asked for. */
#ifndef PFR_PLUGIN_ARGUMENTS_H
#define PFR_PLUGIN_ARGUMENTS_H

#include <slurm/spank.h>

#include "plugin/plugin.h"

#define PFR_ARGUMENTS_MAX 256
#define PFR_ARGUMENTS_GROUPS 128000 /* bytes of the list of groups */

struct pfr_arguments {
    char *list[PFR_ARGUMENTS_MAX]; /* NULL at the end, for exec */
    int count;
    char text[32768 + PFR_ARGUMENTS_GROUPS];
    size_t used;
};

/* Keeps a copy; what does not fit is left out, arguments first. */
void pfr_arguments_add(struct pfr_arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * What every sampler of the step has to know: names, the user, what was given.
 * False when Slurm does not say who the user is: then none may be started.
 */
bool pfr_arguments_who(struct pfr_arguments *arguments, spank_t sp, const struct pfr_job *job,
                       const char *node);

/* What one that measures has to know besides. */
void pfr_arguments_choice(struct pfr_arguments *arguments, const struct pfr_job *job,
                          const struct pfr_choice *choice);

#endif
