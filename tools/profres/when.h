/* Moments as sacct takes them on its command line, in local time. */
#ifndef PFR_PROFRES_WHEN_H
#define PFR_PROFRES_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * "2026-11-16", "2026-11-16T05:30[:15]", "05:30[:15]" (of today), "11/16[/26]",
 * "today", "midnight", "noon", "yesterday", "tomorrow", "now", "now-2days",
 * "now-90minutes". `now` and *ns are nanoseconds since 1970.
 */
bool pfr_when_parse(const char *text, int64_t now, int64_t *ns);

#define PFR_WHEN_HELP "as 2026-11-16, 2026-11-16T05:30, 05:30, today, yesterday or now-2days"

#endif
