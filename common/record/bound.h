/*
 * The bound of a series. Past its room, neighbouring windows in it are merged
 * (compact.h); what cannot be merged has a share of the room, and what is
 * past everything is not written.
 */
#ifndef PFR_RECORD_BOUND_H
#define PFR_RECORD_BOUND_H

#include "common/record/series.h"

/* Merges windows when the file is past its room at that time. */
void pfr_series_bound(struct pfr_series *series, int64_t now);

/* False when a command line has to stay out: they have a quarter of the room. */
bool pfr_series_has_command_room(const struct pfr_series *series, int64_t now);

#endif
