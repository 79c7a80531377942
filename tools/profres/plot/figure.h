/*
 * What is drawn, before it is known on what: views of panels of lines. The
 * renderers (SVG, HTML, text) take it as it is and decide nothing of the data.
 */
#ifndef PFR_PLOT_FIGURE_H
#define PFR_PLOT_FIGURE_H

#include "tools/profres/plot/trace.h"

enum pfr_stroke_style { PFR_STROKE_SOLID, PFR_STROKE_LIMIT, PFR_STROKE_KEPT, PFR_STROKE_STACK,
                      PFR_STROKE_BAND };

struct pfr_stroke {
    char key[64], label[128];
    enum pfr_stroke_style style;
    int colour; /* a place in the palette */
    int rank;    /* 0 to be shown at first, 1 if there is nothing else, 2 if not even that */
    bool hidden;
    struct pfr_curve curve;
    struct pfr_curve lower; /* of a band */
};

struct pfr_panel {
    const char *name;
    char title[64], note[96];
    enum pfr_axis axis;
    struct pfr_stroke *lines;
    size_t count;
};

/* Many rows over time, for nodes, ranks or runs. */
struct pfr_heat {
    char title[96], note[96];
    enum pfr_axis axis;
    size_t rows, columns;
    char (*names)[64];
    double *cells; /* rows * columns; NAN: not measured */
    double most, seconds;
};

/* A number that belongs to the top of a view. */
struct pfr_headline {
    char name[32], value[64], note[96];
    enum pfr_tone tone;
};

#define PFR_HEADLINES_MAX 8
#define PFR_NOTES_MAX 6

struct pfr_view {
    char group[200], name[128]; /* "4711.0" and "node7" */
    char command[256];
    double end;
    double weight; /* CPU seconds: what it is most likely asked for */
    struct pfr_panel panels[PFR_PANEL_COUNT];
    size_t panel_count;
    struct pfr_heat heats[2];
    size_t heat_count;
    struct pfr_moment *moments;
    size_t moment_count;
    struct pfr_headline headlines[PFR_HEADLINES_MAX];
    size_t headline_count;
    struct pfr_note {
        enum pfr_tone tone;
        char text[160];
    } notes[PFR_NOTES_MAX];
    size_t note_count;
};

struct pfr_figure {
    char title[200];
    struct pfr_view *views;
    size_t count;
    size_t first; /* the one to show first */
    int64_t now;  /* of the wall clock: a verdict may depend on it */
};

void pfr_figure_release(struct pfr_figure *figure);

/* A new view at the end; NULL when memory ran out. */
struct pfr_view *pfr_figure_add(struct pfr_figure *figure, const char *group, const char *name);

/* One node of one step with everything in it; takes the curves out of the trace. */
bool pfr_figure_add_trace(struct pfr_figure *figure, struct pfr_trace *trace);

/*
 * Several traces on one time axis: a line for each while there are few, else
 * the median and the band from the tenth to the ninetieth percentile. `what` they are:
 * "nodes", "runs". Their names are beside them.
 */
bool pfr_figure_add_overlay(struct pfr_figure *figure, const char *group, const char *what,
                            const struct pfr_trace *const *traces, const char *const *names,
                            size_t count);

/* As many points as a page may have, shared fairly. */
void pfr_figure_fit(struct pfr_figure *figure, size_t points);

/* -- for the builders -- */

struct pfr_stroke *pfr_panel_add(struct pfr_panel *panel, const char *key, const char *label);
struct pfr_panel *pfr_view_panel(struct pfr_view *view, enum pfr_panel_id id);
void pfr_view_note(struct pfr_view *view, enum pfr_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pfr_view_headline(struct pfr_view *view, enum pfr_tone tone, const char *name,
                       const char *value, const char *note);

/* What stands above the panels, from the summary. */
void pfr_view_headlines(struct pfr_view *view, const struct pfr_trace *trace, int64_t now);

/* Phases of the same name have the same colour. */
void pfr_view_colour_phases(struct pfr_view *view);

/* Hides what is zero throughout, or what is not there to be seen at first. */
void pfr_panel_settle(struct pfr_panel *panel);

/* The largest value of the lines that are shown, stacks added up. */
double pfr_panel_most(const struct pfr_panel *panel);

bool pfr_heat_init(struct pfr_heat *heat, size_t rows, double seconds, enum pfr_axis axis);
void pfr_heat_row(struct pfr_heat *heat, size_t row, const char *name,
                  const struct pfr_curve *curve);

#endif
