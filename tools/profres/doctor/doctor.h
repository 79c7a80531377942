/* profres doctor: what it has found, and the two parts that look. */
#ifndef PFR_PROFRES_DOCTOR_H
#define PFR_PROFRES_DOCTOR_H

#include <limits.h>
#include <stdbool.h>

#include "common/collect/env.h"

enum pfr_health { PFR_HEALTH_OK, PFR_HEALTH_WARN, PFR_HEALTH_FAIL };

#define PFR_CHECKS_MAX 32

struct pfr_check {
    const char *name;
    enum pfr_health health;
    char text[600];
    const char *advice; /* what to do; NULL when nothing has to be done */
};

struct pfr_doctor {
    struct pfr_env env; /* where /proc and /sys are */
    bool submit;        /* a host that only submits jobs: it needs no sampler */
    char *config;       /* of 'scontrol show config'; NULL: Slurm does not answer */
    int listed;         /* how often the plugin is in plugstack.conf */
    char plugin[PATH_MAX], sampler[PATH_MAX], dir[PATH_MAX]; /* as there; the rest of a line wins */
    struct pfr_check checks[PFR_CHECKS_MAX];
    int count;
};

void pfr_doctor_add(struct pfr_doctor *doctor, const char *name, enum pfr_health health,
                    const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The value of a key of slurm.conf or cgroup.conf, as Slurm says it; false: it does not. */
bool pfr_doctor_config(const struct pfr_doctor *doctor, const char *key, char *text, size_t size);

/* Slurm, plugstack.conf and the plugin; the first, because it learns what the site has chosen. */
void pfr_doctor_slurm(struct pfr_doctor *doctor);

/* The sampler, the kernel and the place of the files. */
void pfr_doctor_host(struct pfr_doctor *doctor);

#endif
