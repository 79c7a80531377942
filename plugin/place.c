#include "plugin/place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void pfr_step_name(uint32_t step, char *name, size_t size)
{
    if (step == PFR_STEP_BATCH)
        snprintf(name, size, "batch");
    else if (step == PFR_STEP_INTERACTIVE)
        snprintf(name, size, "interactive");
    else if (step == PFR_STEP_EXTERN)
        snprintf(name, size, "extern");
    else
        snprintf(name, size, "%u", step);
}

/* slurm-7.profres, slurm-5_2.profres of an array, slurm-7.r1.profres when requeued */
static void job_directory(const struct pfr_job *job, char *name, size_t size)
{
    char restart[32] = "";

    if (job->restarts > 0)
        snprintf(restart, sizeof(restart), ".r%lld", (long long)job->restarts);
    if (job->array_task != PFR_NO_ARRAY)
        snprintf(name, size, "slurm-%u_%u%s.profres", job->array_job, job->array_task, restart);
    else
        snprintf(name, size, "slurm-%u%s.profres", job->job, restart);
}

/* What stands for %j and the like; NULL for a letter that stands for nothing. */
static const char *expansion(const struct pfr_job *job, char letter, char text[static 32])
{
    bool array = job->array_task != PFR_NO_ARRAY;

    switch (letter) {
    case 'j':
        snprintf(text, 32, "%u", job->job);
        return text;
    case 'A':
        snprintf(text, 32, "%u", array ? job->array_job : job->job);
        return text;
    case 'a':
        snprintf(text, 32, "%u", array ? job->array_task : 0);
        return text;
    case 'u':
        return job->user ? job->user : "user";
    case 'x':
        return job->name ? job->name : "job";
    case '%':
        return "%";
    default:
        return NULL;
    }
}

static bool is_component(const char *name)
{
    return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int expand(const struct pfr_job *job, const char *pattern, char *path, size_t size)
{
    size_t used = 0;

    for (const char *p = pattern; *p; p++) {
        char text[32], literal[3] = { *p, '\0', '\0' };
        const char *piece = literal;

        if (*p == '%' && p[1]) {
            piece = expansion(job, p[1], text);
            if (!piece) {
                literal[1] = p[1];
                piece = literal;
            } else if (strchr("ux", p[1]) && !is_component(piece)) {
                return -EINVAL; /* a name is one component, never a way elsewhere */
            }
            p++;
        }
        used += (size_t)snprintf(path + used, size - used, "%s", piece);
        if (used >= size)
            return -ENAMETOOLONG;
    }
    return 0;
}

int pfr_place(const struct pfr_job *job, const char *base, const char *pattern, char *path,
              size_t size)
{
    char name[512];
    int r;

    if (pattern && *pattern) {
        r = expand(job, pattern, name, sizeof(name));
        if (r < 0)
            return r;
    } else {
        job_directory(job, name, sizeof(name));
    }
    if (name[0] == '/')
        return (size_t)snprintf(path, size, "%s", name) < size ? 0 : -ENAMETOOLONG;
    if (!base || base[0] != '/')
        return -EINVAL;
    return (size_t)snprintf(path, size, "%s/%s", base, name) < size ? 0 : -ENAMETOOLONG;
}
