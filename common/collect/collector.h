/*
 * What every source of numbers looks like to the sampler. A collector knows
 * nothing of windows or files: it is opened once, reads once a tick, and says
 * what it cannot give and why.
 */
#ifndef PFR_COLLECT_COLLECTOR_H
#define PFR_COLLECT_COLLECTOR_H

#include "common/collect/cgpath.h"
#include "common/collect/env.h"
#include "common/metric/instance.h"
#include "common/metric/reading.h"
#include "common/metric/select.h"

struct pfr_session;

/* Where the step is, and what is wanted of it. */
struct pfr_place {
    const struct pfr_env *env;
    const struct pfr_cgtarget *target;
    const struct pfr_selection *selection;
    struct pfr_availability *have; /* to be filled in by grant and deny */
    pid_t pid;                     /* of the first task */
    struct pfr_session *session;   /* for those that are a part of the sampler */
};

struct pfr_tick {
    struct pfr_readings *readings;
    struct pfr_sample *sample;       /* the last one of them: the step, and processes */
    struct pfr_instances *instances; /* of all other families */
};

struct pfr_collector {
    const char *name;
    /* 0, or -errno: then none of its measurements can be had. */
    int (*open)(void **state, const struct pfr_place *place);
    /* > 0 it has read, 0 there was nothing, -errno it failed; it stamps the sample itself. */
    int (*collect)(void *state, struct pfr_tick *tick);
    /* Only after an open that succeeded; may be NULL. */
    void (*release)(void *state);
};

#endif
