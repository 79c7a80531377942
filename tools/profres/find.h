/*
 * From what a person types to the directories of the steps: a job as sacct
 * names it (4711, 4711.batch, 4711_[1-9], 4711+1), or a path to a job's
 * directory, a step's, a file of it, or a directory that holds many.
 *
 * A job is looked for in the working directory, then in PROFRES_PATH, then in
 * the WorkDir that scontrol or sacct tell; the first place that has it is it.
 */
#ifndef PFR_PROFRES_FIND_H
#define PFR_PROFRES_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/profres/ask.h"
#include "tools/profres/names.h"

struct pfr_found {
    char *dir;  /* of the step: NODE.json and NODE.jsonl are in it */
    char *job;  /* "4711", "4711_3", "run-14426": as its directory says */
    char *step; /* "0", "batch", "interactive" */
    char *node; /* when a file of one node was named; else NULL: all */
    char **nodes; /* those that were there, as pfr_found_nodes() has them; NULL: not known yet */
    int restart;
};

/* What Slurm said of a job, for who looks again and again. */
struct pfr_told {
    char job[64]; /* "": it was not asked yet, or did not know */
    struct pfr_job_place place;
};

struct pfr_finds {
    struct pfr_found *found;
    size_t count, room;
    /* set before: */
    bool restarts;         /* earlier runs of a requeued job, too */
    struct pfr_told *told; /* where to keep Slurm's answer, which is asked for once then */
    bool mute;             /* Slurm is not asked */
    void (*denied)(const char *path, int error, void *arg); /* a directory that cannot be read */
    void *denied_arg;
};

/*
 * Adds what `what` names, which may be a list with commas. The number of steps
 * added, 0 when there is no such profile, -EINVAL when it is neither a path nor
 * a job. What was added is in order: by job, restart, step.
 */
int pfr_find(struct pfr_finds *finds, const char *what);

/* Says why there was nothing, and what to do: to be called after pfr_find(). */
void pfr_find_explain(const char *what, int result);

void pfr_finds_release(struct pfr_finds *finds);

/* The nodes of a step, sorted; NULL-terminated, one block to free(). */
char **pfr_found_nodes(const struct pfr_found *found);

#endif
