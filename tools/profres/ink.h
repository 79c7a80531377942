/*
 * Text for people: wrapped at the width of the terminal, with colours and bars
 * on a terminal only, and without colours when NO_COLOR is set.
 */
#ifndef PFR_PROFRES_INK_H
#define PFR_PROFRES_INK_H

#include <stdbool.h>
#include <stdio.h>

enum pfr_tint { PFR_TINT_NONE, PFR_TINT_GOOD, PFR_TINT_CARE, PFR_TINT_BAD, PFR_TINT_FAINT };

struct pfr_ink {
    FILE *out;
    bool colour, bars;
    int width; /* columns, at most 80 */
};

void pfr_ink_init(struct pfr_ink *ink, FILE *out);

void pfr_ink_begin(const struct pfr_ink *ink, enum pfr_tint tint);
void pfr_ink_end(const struct pfr_ink *ink, enum pfr_tint tint);

/*
 * "  LABEL      text", wrapped between words with what follows below the text;
 * an empty label goes on with the one before. Nothing for an empty text.
 */
void pfr_ink_say(const struct pfr_ink *ink, enum pfr_tint tint, const char *label,
                 const char *text);

/* " [######....]" of a share, more than all of it being all; "" without bars. */
#define PFR_BAR_SIZE 16
const char *pfr_ink_bar(const struct pfr_ink *ink, double share, char text[static PFR_BAR_SIZE]);

#endif
