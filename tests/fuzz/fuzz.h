/*
 * Targets for a fuzzer. Each takes any bytes, feeds them to parsers, and aborts on
 * what must not be. They are driven by libFuzzer (make fuzz) or by replay.c, which
 * runs the seeds of the tree with any compiler.
 */
#ifndef PFR_FUZZ_H
#define PFR_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct pfr_fuzz {
    const char *name; /* also of its directory in seeds/ */
    void (*run)(const char *text, size_t length); /* text[length] is NUL */
};

extern const struct pfr_fuzz pfr_fuzz_targets[];

void pfr_fuzz_shape(const char *text, size_t length);
void pfr_fuzz_cgroup(const char *text, size_t length);
void pfr_fuzz_words(const char *text, size_t length);
void pfr_fuzz_json(const char *text, size_t length);
void pfr_fuzz_facts(const char *text, size_t length);
void pfr_fuzz_compact(const char *text, size_t length);
void pfr_fuzz_job(const char *text, size_t length);

/* A directory of this process, removed at its end; made at the first call. */
const char *pfr_fuzz_dir(void);

/* Writes directory/name; aborts when it cannot. */
void pfr_fuzz_put(const char *name, const char *text, size_t length);

/* One input: NUL-terminated and on the heap, so that reading past it is seen. */
void pfr_fuzz_one(const struct pfr_fuzz *target, const uint8_t *data, size_t size);

#endif
