/*
 * The cgroup collector: the kernel's own accounting of a step, from v1, v2 or
 * both. Where each measurement stands is the table in cgroup_places.c.
 */
#ifndef PFR_COLLECT_CGROUP_H
#define PFR_COLLECT_CGROUP_H

#include "common/collect/cgpath.h"
#include "common/collect/peak.h"
#include "common/collect/subtree.h"
#include "common/metric/reading.h"
#include "common/metric/select.h"

enum pfr_cgshape {
    PFR_CG_SINGLE,   /* the file is a number */
    PFR_CG_FLAT,     /* "field number" */
    PFR_CG_NESTED,   /* "line field=number", summed over lines */
    PFR_CG_DEVICE,   /* "8:0 field number", summed */
    PFR_CG_SUBTREE,  /* a number or flat field of v1, summed over the directories below */
    PFR_CG_SMALLEST, /* the smallest number from here up to the root */
    PFR_CG_QUOTA,    /* the smallest "quota period" from here up to the root */
    PFR_CG_SPAN,     /* a peak that can be counted anew (peak.h) */
};

struct pfr_cgplace {
    enum pfr_metric_id id;
    enum pfr_controller controller;
    const char *file;
    enum pfr_cgshape shape;
    const char *line, *field;
    int64_t scale; /* quanta per unit of the file; 0 = clock ticks */
};

/* In order of preference; several rows may serve one measurement. */
extern const struct pfr_cgplace pfr_cgplaces[];
extern const int pfr_cgplace_count;

#define PFR_CGFILES_MAX 40
#define PFR_CGANCESTORS_MAX 96
#define PFR_CGPEAKS_MAX 2

struct pfr_cgfile {
    const struct pfr_cgplace *first; /* controller and name */
    int fd;
};

struct pfr_cgvalue {
    const struct pfr_cgplace *place;
    int file; /* index of pfr_cgfile; of the subtree's file slot for PFR_CG_SUBTREE */
};

struct pfr_cgpeak {
    const struct pfr_cgplace *place;
    struct pfr_peak peak;
};

struct pfr_cgroup {
    const struct pfr_env *env;
    struct pfr_cgfile files[PFR_CGFILES_MAX];
    int file_count;
    struct pfr_cgvalue values[PFR_METRIC_COUNT];
    int value_count;
    struct pfr_cgfile ancestors[PFR_CGANCESTORS_MAX]; /* limit files above the step */
    int ancestor_count;
    struct pfr_cgpeak peaks[PFR_CGPEAKS_MAX];
    int peak_count;
    struct pfr_subtree subtree;
    const struct pfr_cgplace *subtree_place[PFR_SUBTREE_FILES];
    int subtree_count;
    bool gone; /* said once: the cgroup was removed under us */
};

/*
 * Opens what the target's scoped directories have of the wanted measurements,
 * and says in `have` what can be had and why not the rest.
 */
void pfr_cgroup_open(struct pfr_cgroup *cgroup, const struct pfr_env *env,
                     const struct pfr_cgtarget *target, const struct pfr_metric_set *wanted,
                     struct pfr_availability *have);
void pfr_cgroup_release(struct pfr_cgroup *cgroup);

/* Stamps the sample and puts in what could be read. 1, or 0 when the cgroup has gone. */
int pfr_cgroup_collect(struct pfr_cgroup *cgroup, struct pfr_sample *sample);

/* One measurement by itself: 1, or 0 when it is not there. */
int pfr_cgroup_read(struct pfr_cgroup *cgroup, enum pfr_metric_id id, int64_t *value);

/* A span ends with this sample and the next begins (peak.h): its peaks, into the sample. */
void pfr_cgroup_take_peaks(struct pfr_cgroup *cgroup, struct pfr_sample *sample);

/* For who may do more than the one who measures: pfr_peak_open() of such a place, else -1. */
int pfr_cgplace_open_peak(const struct pfr_cgtarget *target, const struct pfr_cgplace *place);

#endif
