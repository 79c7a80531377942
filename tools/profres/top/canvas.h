/*
 * A rectangle of characters with styles, for whoever shows it: the screen, a
 * file, a test. What lies outside of it is not drawn, so that nobody has to ask
 * for the size of a terminal. Text of others is made safe here, in one place.
 */
#ifndef PFR_TOP_CANVAS_H
#define PFR_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum pfr_style {
    PFR_PLAIN,
    PFR_BOLD,
    PFR_DIM,
    PFR_TITLE, /* a line that stands out: reversed */
    PFR_GOOD,
    PFR_WARN,
    PFR_ALARM, /* reversed, and red where there are colours */
    PFR_STYLES
};

struct pfr_spot {
    char text[8]; /* one character in UTF-8; "": the second half of a wide one */
    unsigned char style;
};

struct pfr_canvas {
    int rows, columns;
    bool unicode; /* blocks for bars, and letters beyond ASCII */
    struct pfr_spot *spots;
};

/* Blank. 0 or -ENOMEM. */
int pfr_canvas_init(struct pfr_canvas *canvas, int rows, int columns, bool unicode);
void pfr_canvas_release(struct pfr_canvas *canvas);

static inline const struct pfr_spot *pfr_canvas_at(const struct pfr_canvas *canvas, int row,
                                                   int column)
{
    return &canvas->spots[(size_t)row * (size_t)canvas->columns + (size_t)column];
}

/* Text of anybody, from there to the right. Where it ends. */
int pfr_canvas_put(struct pfr_canvas *canvas, int row, int column, enum pfr_style style,
                   const char *text);
int pfr_canvas_say(struct pfr_canvas *canvas, int row, int column, enum pfr_style style,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* In so many columns and no more: on the right, below 0 on the left with a blank behind it. */
void pfr_canvas_field(struct pfr_canvas *canvas, int row, int column, int width,
                      enum pfr_style style, const char *text);

/* The style of a whole row, whatever is in it. */
void pfr_canvas_paint(struct pfr_canvas *canvas, int row, enum pfr_style style);

/* [#####.....] of that width in all: `part` of `whole`; more than the whole is full. */
void pfr_canvas_bar(struct pfr_canvas *canvas, int row, int column, int width,
                    enum pfr_style style, int64_t part, int64_t whole);

/* One column a value, from 0 to the largest of them; a blank where there is none (INT64_MIN). */
void pfr_canvas_spark(struct pfr_canvas *canvas, int row, int column, enum pfr_style style,
                      const int64_t *values, size_t count);

/* As lines without blanks at their ends, and without empty lines at the end. */
void pfr_canvas_write(const struct pfr_canvas *canvas, FILE *out);

#endif
