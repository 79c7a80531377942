/* --state: our verdicts, how far a profile is, and sacct's states with their short forms. */
#ifndef PFR_PROFRES_STATE_H
#define PFR_PROFRES_STATE_H

#include "tools/profres/columns.h"

/* 0; *sacct when only sacct knows one of them. -EINVAL for a word that is none, which was said. */
int pfr_state_check(const char *list, bool *sacct);

bool pfr_state_match(const char *list, const struct pfr_line *line);

#endif
