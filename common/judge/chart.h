/*
 * Curves in the letters of a terminal: blocks of Unicode, or ASCII. The small
 * chart below the summary has memory and cores, at most 8 lines of 80 columns.
 */
#ifndef PFR_JUDGE_CHART_H
#define PFR_JUDGE_CHART_H

#include <stdio.h>

#include "common/metric/window.h"
#include "common/record/curve.h"

/* Where a curve is drawn: `height` rows of `width` cells, from 0 to `top` and to `end`. */
struct pfr_chart_frame {
    double end, top;
    int width, height;
    bool ascii;
    double bound; /* a line across where there is room; 0: none */
};

/* One row of it, the topmost being 0; each cell is as high as the largest value in it. */
void pfr_chart_row(FILE *out, const struct pfr_chart_frame *frame, const struct pfr_curve *curve,
                   int row);

/* A row that stands for a whole curve. */
void pfr_chart_spark(FILE *out, const struct pfr_chart_frame *frame,
                     const struct pfr_curve *curve);

/* The times below: the begin, the end, and what fits between. */
void pfr_chart_times(FILE *out, int indent, int width, double end);

/* Blocks of Unicode cannot be shown where the environment does not say UTF-8. */
bool pfr_chart_needs_ascii(void);

/* ---- the small chart ---- */

struct pfr_chart {
    struct pfr_curve memory, cores;
    bool charged;  /* memory is what the cgroup was charged, not a sum over processes */
    double end;
};

/* Bounded: a run of any length takes a few kilobytes. */
void pfr_chart_init(struct pfr_chart *chart);
void pfr_chart_release(struct pfr_chart *chart);

/* A window of the run that began at `start`. */
void pfr_chart_add(struct pfr_chart *chart, const struct pfr_usage *usage, int64_t start);

/* Nothing when there is nothing to show. */
void pfr_chart_print(FILE *out, const struct pfr_chart *chart, bool ascii);

#endif
