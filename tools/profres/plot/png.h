/* SVG into PNG, by librsvg's own program: what draws it well is not for us to write. */
#ifndef PFR_PLOT_PNG_H
#define PFR_PLOT_PNG_H

#include <stddef.h>

/* Replaces the SVG by its picture. 0, or -errno after saying why and what to do. */
int pfr_png_make(char **data, size_t *size);

#endif
