/*
 * A file with the newest numbers for a textfile collector of Prometheus, kept
 * fresh while the step runs and taken away at its end, so that no gauge of a step
 * that is over stands still (R52, R55).
 */
#ifndef PFR_SAMPLER_EXPOSE_H
#define PFR_SAMPLER_EXPOSE_H

#include "tools/sampler/session.h"

/* Replaces the file, if one was asked for. What goes wrong is said once and harms nothing. */
void pfr_expose_write(struct pfr_session *session, struct json_object *summary);

/* Takes it away, if it is still ours. */
void pfr_expose_remove(struct pfr_session *session);

/* The same for a sampler that was killed: a file of this user's in its place. */
void pfr_expose_clean(const struct pfr_options *options);

#endif
