/*
 * Which measurements are wanted, which can be had here and why not (R27, R34,
 * R35). The user names flat keys; collectors stay internal.
 */
#ifndef PFR_METRIC_SELECT_H
#define PFR_METRIC_SELECT_H

#include <stddef.h>

#include "common/metric/table.h"

struct pfr_selection {
    struct pfr_metric_set wanted;  /* written out */
    struct pfr_metric_set named;   /* spelt out by the user: must be available */
    struct pfr_metric_set collect; /* wanted, and what the wanted are computed from */
};

/*
 * "cgroup_*,ps_rss" or "cgroup_*+ps_rss"; NULL or "" is the default: all but
 * the costly ones. A glob never selects a costly key. "-cgroup_*" takes away from
 * what is before it, as a first word from the default. 0, or -EINVAL with a
 * sentence in error that names the nearest keys.
 */
int pfr_selection_parse(struct pfr_selection *selection, const char *spec, char *error,
                        size_t size);

#define PFR_REASON_SIZE 120

struct pfr_availability {
    struct pfr_metric_set available;
    char reason[PFR_METRIC_COUNT][PFR_REASON_SIZE]; /* "" when available */
};

/* All unavailable, "not probed". */
void pfr_availability_init(struct pfr_availability *have);
void pfr_availability_grant(struct pfr_availability *have, enum pfr_metric_id id);
void pfr_availability_deny(struct pfr_availability *have, enum pfr_metric_id id,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Computed rows are available when all they are computed from is. */
void pfr_availability_derive(struct pfr_availability *have);

/*
 * Takes what is not available out of the selection. 0, or -ENODEV with a
 * sentence in error when a key that was named is among it.
 */
int pfr_selection_restrict(struct pfr_selection *selection, const struct pfr_availability *have,
                           char *error, size_t size);

#endif
