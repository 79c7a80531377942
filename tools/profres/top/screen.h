/* The terminal: shows a canvas and hears keys. All that knows of curses is behind this. */
#ifndef PFR_TOP_SCREEN_H
#define PFR_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/profres/top/canvas.h"

/* Keys that are no characters. */
enum pfr_key {
    PFR_KEY_NONE = -1,
    PFR_KEY_GONE = -2, /* nobody will press any more */
    PFR_KEY_UP = 256,
    PFR_KEY_DOWN,
    PFR_KEY_PAGE_UP,
    PFR_KEY_PAGE_DOWN,
    PFR_KEY_HOME,
    PFR_KEY_END,
    PFR_KEY_RESIZE,
};

/* Takes the terminal. False when it cannot be drawn on: then frames have to be printed. */
bool pfr_screen_open(void);

/* Gives it back as it was; does nothing when it is not ours. */
void pfr_screen_close(void);

void pfr_screen_size(int *rows, int *columns);
void pfr_screen_show(const struct pfr_canvas *canvas);

/* A key, or PFR_KEY_NONE when there was none for so long or a signal came. */
int pfr_screen_key(int wait_ms);

#endif
