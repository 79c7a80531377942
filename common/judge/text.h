/* Numbers for people: sizes, times, cores. Absent is "-". */
#ifndef PFR_JUDGE_TEXT_H
#define PFR_JUDGE_TEXT_H

#include <stdint.h>

struct pfr_facts;

#define PFR_TEXT_SIZE 40
#define PFR_STORAGE_SIZE (8 * PFR_TEXT_SIZE)

/* "1.24 GiB", "512 B" */
const char *pfr_size_text(int64_t bytes, char text[static PFR_TEXT_SIZE]);

/* 3723.4 s as "1:02:03 h", 62.5 s as "1:02 min", "12.34 s" */
const char *pfr_time_text(int64_t ns, char text[static PFR_TEXT_SIZE]);

/* Thousandths of a core: "3.94" */
const char *pfr_cores_text(int64_t thousandths, char text[static PFR_TEXT_SIZE]);

/*
 * Storage is that of block devices, by the kernel, else that of the processes
 * seen. Where these did clearly more, both: network file systems are no block
 * devices, and v1 does not charge buffered writes.
 */
enum pfr_storage { PFR_STORAGE_NONE, PFR_STORAGE_CHARGED, PFR_STORAGE_SEEN, PFR_STORAGE_BOTH };

enum pfr_storage pfr_storage_source(const struct pfr_facts *facts);

/* "1.20 GiB read, 310.4 MiB written", and by whom; "-" */
const char *pfr_storage_text(const struct pfr_facts *facts, char text[static PFR_STORAGE_SIZE]);

/*
 * "27.55 s of CPU in processes too short to be sampled, of which 27.10 s are
 * children of make, sh"; "" when it is little. Processes that were sampled have
 * the rest.
 */
const char *pfr_short_lived_text(const struct pfr_facts *facts, char text[static PFR_STORAGE_SIZE]);

#endif
