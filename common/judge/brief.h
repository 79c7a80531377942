/* The few lines a person reads when the command has ended. */
#ifndef PFR_JUDGE_BRIEF_H
#define PFR_JUDGE_BRIEF_H

#include <stdio.h>

#include "common/judge/facts.h"

/*
 * At most ten lines, a pure function of the facts (R89): what was not measured
 * has no line, never a zero. `files` says where they are; NULL when there are
 * none. `now` of the wall clock.
 */
void pfr_brief_print(FILE *out, const struct pfr_facts *facts, const char *files, int64_t now);

#endif
