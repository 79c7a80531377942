/* The collectors of a session: all are opened, read and released in one place. */
#ifndef PFR_SAMPLER_COLLECTORS_H
#define PFR_SAMPLER_COLLECTORS_H

#include "common/collect/collector.h"

/* By pfr_collector_id, in the order in which they read. */
extern const struct pfr_collector *const pfr_collectors[PFR_COLLECTOR_COUNT];

/* What a session keeps of each. */
struct pfr_collecting {
    void *state;
    bool open, told;
    int64_t time;      /* spent in it, of the wall clock */
    uint64_t failures; /* ticks without it */
};

/* One that cannot be opened is left out, and its measurements say why. */
void pfr_collectors_open(struct pfr_session *session, pid_t pid);
void pfr_collectors_release(struct pfr_session *session);

/* One that fails is left out of this sample and reported once; the others go on. */
void pfr_collectors_read(struct pfr_session *session, struct pfr_sample *sample);

#endif
