/* Axes: where the ticks are, and numbers as people read them on an axis. */
#ifndef PFR_PLOT_SCALE_H
#define PFR_PLOT_SCALE_H

#include <stddef.h>

/* What is drawn upwards. */
enum pfr_axis { PFR_AXIS_BYTES, PFR_AXIS_RATE, PFR_AXIS_CORES, PFR_AXIS_SHARE, PFR_AXIS_COUNT };

struct pfr_scale {
    double top, step; /* from 0 to top, a tick at every step */
    int ticks;        /* besides that at 0 */
};

/* Reaches at least `most`, with at most `ticks` steps of a round size. */
struct pfr_scale pfr_scale_make(enum pfr_axis axis, double most, int ticks);

/* The same for seconds; `top` is then `most`, which need not be round. */
struct pfr_scale pfr_scale_time(double most, int ticks);

#define PFR_SCALE_TEXT 32

/* "1.5 GiB", "20 MiB/s", "0.25", "60 %" */
void pfr_scale_text(enum pfr_axis axis, double value, char text[static PFR_SCALE_TEXT]);

/* "0", "45 s", "1:30", "2:00:00", "3d 04:00"; steps below a second have decimals. */
void pfr_scale_time_text(double seconds, double step, char text[static PFR_SCALE_TEXT]);

/* The smallest difference that is written down, in the unit of the axis. */
double pfr_axis_quantum(enum pfr_axis axis);

/* "bytes", "rate", "cores", ...: for plot.js */
const char *pfr_axis_name(enum pfr_axis axis);

#endif
