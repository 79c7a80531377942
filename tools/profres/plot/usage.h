/* The windows of a series, which are most of it, put into the curves of a trace. */
#ifndef PFR_PLOT_USAGE_H
#define PFR_PLOT_USAGE_H

#include "common/record/json.h"
#include "common/record/scan.h"
#include "tools/profres/plot/trace.h"

/* Where things are in the lines of this file; a header sets it. */
struct pfr_usage_shape {
    int rss, cpu; /* columns of a process row; -1: not there */
    struct {
        char key[64];
        int plan; /* -1: not drawn */
    } known[96];  /* the n-th member of measurements was this one the last time */
    struct {
        char key[64];
        enum pfr_panel_id panel;
    } wanted[PFR_EXTRAS_MAX]; /* keys of the header that no plan knows of */
    size_t wanted_count;
    double last_to;
};

void pfr_usage_shape_set(struct pfr_usage_shape *shape, struct json_object *header);

/* One line of the type "usage". False when it is malformed. */
bool pfr_usage_take(struct pfr_trace *trace, struct pfr_usage_shape *shape, const char *line,
                    size_t length);

#endif
