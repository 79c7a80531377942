/* The frame: from what is known to a canvas. Nothing here knows of terminals or of files. */
#ifndef PFR_TOP_DRAW_H
#define PFR_TOP_DRAW_H

#include "tools/profres/top/canvas.h"
#include "tools/profres/top/model.h"

/* What the person wants to see of it. */
struct pfr_view {
    enum pfr_top_pane pane;
    enum pfr_top_sort sort;
    bool reverse, help;
    bool keys;        /* there is somebody who can press them */
    size_t scroll;    /* the first row shown; drawing sets it to what there is */
    size_t page;      /* set by drawing: how many rows were shown */
    int64_t delay;
};

/* The step that pfr_top_look() has found. */
void pfr_draw(struct pfr_canvas *canvas, const struct pfr_top *top, struct pfr_view *view,
              struct pfr_top_now now);

/* There is none yet; `waited` so long. */
void pfr_draw_waiting(struct pfr_canvas *canvas, const struct pfr_top *top,
                      const struct pfr_view *view, int64_t waited);

/* How many rows a frame with everything in it has. */
int pfr_draw_rows(const struct pfr_top *top, const struct pfr_view *view);

/* The rows of the pane and their heading, from that row of the canvas down to `end`. */
void pfr_draw_pane(struct pfr_canvas *canvas, int row, int end, const struct pfr_top *top,
                   struct pfr_view *view, struct pfr_top_now now);

const char *pfr_pane_name(enum pfr_top_pane pane);
const char *pfr_sort_name(enum pfr_top_sort sort);

#endif
