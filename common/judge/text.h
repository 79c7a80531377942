/* Numbers for people: sizes, times, cores. Absent is "-". */
#ifndef PFR_JUDGE_TEXT_H
#define PFR_JUDGE_TEXT_H

#include <stdint.h>

#define PFR_TEXT_SIZE 40

/* "1.24 GiB", "512 B" */
const char *pfr_size_text(int64_t bytes, char text[static PFR_TEXT_SIZE]);

/* 3723.4 s as "1:02:03 h", 62.5 s as "1:02 min", "12.34 s" */
const char *pfr_time_text(int64_t ns, char text[static PFR_TEXT_SIZE]);

/* Thousandths of a core: "3.94" */
const char *pfr_cores_text(int64_t thousandths, char text[static PFR_TEXT_SIZE]);

#endif
