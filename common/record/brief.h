/* The few lines a person reads when the command has ended. */
#ifndef PFR_RECORD_BRIEF_H
#define PFR_RECORD_BRIEF_H

#include <stdio.h>

#include "common/record/json.h"

/*
 * At most ten lines, a pure function of the summary (R89): what was not
 * measured has no line, never a zero. `files` says where they are; NULL when
 * there are none.
 */
void pfr_brief_print(FILE *out, struct json_object *summary, const char *files);

/*
 * One summary out of those of a step's nodes (an array, not empty): memory is
 * that of the node with the largest peak, totals are sums. What was not
 * simultaneous is not there. json_object_put it.
 */
struct json_object *pfr_brief_merge(struct json_object *summaries);

/* The profile is whole: its state is COMPLETE. */
bool pfr_summary_is_complete(struct json_object *summary);

/* "1.24 GiB", "512 B" */
#define PFR_SIZE_TEXT 24
void pfr_size_text(double bytes, char text[static PFR_SIZE_TEXT]);

#endif
