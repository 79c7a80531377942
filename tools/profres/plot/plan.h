/*
 * Which measurement is drawn in which panel, and how. Each key is a line of
 * its own: what was measured in different ways is never joined (R32).
 */
#ifndef PFR_PLOT_PLAN_H
#define PFR_PLOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/profres/plot/scale.h"

enum pfr_panel_id { PFR_PANEL_MEMORY, PFR_PANEL_PROCESS_MEMORY, PFR_PANEL_CPU,
                    PFR_PANEL_PROCESS_CPU, PFR_PANEL_IO, PFR_PANEL_GPU, PFR_PANEL_GPU_MEMORY,
                    PFR_PANEL_PRESSURE, PFR_PANEL_PROCESSES, PFR_PANEL_COUNT };

struct pfr_panel_kind {
    const char *name, *title, *note;
    enum pfr_axis axis;
};

extern const struct pfr_panel_kind pfr_panel_kinds[PFR_PANEL_COUNT];

enum pfr_draw {
    PFR_DRAW_LEVEL,  /* the value as it is */
    PFR_DRAW_GROWTH, /* what a counter grew by, over the time it took */
    PFR_DRAW_LIMIT,  /* a level that is a bound */
    PFR_DRAW_KEPT,   /* a peak that the kernel keeps: it only rises */
};

struct pfr_plan {
    const char *key, *label;
    enum pfr_panel_id panel;
    enum pfr_draw draw;
    double scale;       /* from the unit of the file to that of the panel; 0: the same */
    bool chief;         /* stands for its panel where there is room for one line only */
    bool spare;         /* not shown at first ... */
    const char *behind; /* ... or not where this one was measured, too */
    int colour;
    const char *compared; /* the title of its own panel when many are compared; NULL: none */
};

extern const struct pfr_plan pfr_plans[];
extern const size_t pfr_plan_count;

static inline double pfr_plan_scale(const struct pfr_plan *plan)
{
    return plan->scale ? plan->scale : 1;
}

/* More than pfr_plan_count. */
#define PFR_PLANS_MAX 64

#endif
