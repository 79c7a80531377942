/* A figure as a file: each writes all of it, and says through ferror() when it could not. */
#ifndef PFR_PLOT_RENDER_H
#define PFR_PLOT_RENDER_H

#include <stdio.h>

#include "tools/profres/plot/figure.h"

#define PFR_COLOURS 8
extern const char *const pfr_palette[PFR_COLOURS];

/* One page that needs nothing else: all views, to be chosen from. */
void pfr_render_html(FILE *out, const struct pfr_figure *figure);

/* One view. */
void pfr_render_svg(FILE *out, const struct pfr_figure *figure, const struct pfr_view *view);

/* One view in so many columns; without ASCII, in Unicode blocks. */
void pfr_render_text(FILE *out, const struct pfr_figure *figure, const struct pfr_view *view,
                     int columns, bool ascii);

/*
 * Text inside HTML or XML, also in quotes: markup becomes entities, and what
 * XML does not allow becomes '?'.
 */
void pfr_escape_xml(FILE *out, const char *text);

/* The same as a JSON string with its quotes, fit for a script element. */
void pfr_escape_json(FILE *out, const char *text);

/* Of a cell of a heat map, from 0 to 1: "#rrggbb". */
void pfr_heat_colour(double share, char text[static 8]);

#endif
