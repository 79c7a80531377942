/* Time stamps: UTC ISO 8601 with milliseconds (R109), nanoseconds inside. */
#ifndef PFR_BASE_CLOCK_H
#define PFR_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PFR_STAMP_SIZE 32

int64_t pfr_clock_ns(clockid_t clock);

/* "2026-11-16T02:07:38.120Z" */
void pfr_clock_format(int64_t realtime_ns, char text[static PFR_STAMP_SIZE]);

/* Back from such a text, with or without a fraction; false when it is none. */
bool pfr_clock_parse(const char *text, int64_t *realtime_ns);

#endif
