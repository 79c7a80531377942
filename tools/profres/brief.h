/* The few lines a person reads when the command has ended. */
#ifndef PFR_PROFRES_BRIEF_H
#define PFR_PROFRES_BRIEF_H

#include <stdio.h>

#include "common/record/json.h"

/*
 * At most ten lines, a pure function of the summary (R89): what was not
 * measured has no line, never a zero. `files` says where they are; NULL when
 * there are none.
 */
void pfr_brief_print(FILE *out, struct json_object *summary, const char *files);

/* "1.24 GiB", "512 B" */
#define PFR_SIZE_TEXT 24
void pfr_size_text(double bytes, char text[static PFR_SIZE_TEXT]);

#endif
