/* Files of a step as a sampler would leave them, for the tests of profres top. */
#ifndef PFR_TEST_TOP_FILES_H
#define PFR_TEST_TOP_FILES_H

#include <stdint.h>

/* 2026-11-16T05:00:00.000Z */
#define TOP_START (INT64_C(1794805200) * 1000000000)
#define TOP_S INT64_C(1000000000)

/* A directory of its own, which is then the working one; and gone. */
void top_files_begin(void);
void top_files_end(void);

/* A file with these contents, in the place of the old one by rename as the sampler's are. */
void top_files_replace(const char *path, const char *text);
void top_files_append(const char *path, const char *text);

/* What is left out is as usual: LIVE, our schema, n1, ./app, at 10 s, 1 of 4 MiB, 4 cores. */
struct top_summary {
    const char *state, *schema, *node, *command;
    int64_t start, at; /* seconds since TOP_START */
    int64_t memory, limit, cpus, nodes; /* -1: not there */
    double task_cpu;
    const char *more; /* further members */
};

#define TOP_SUMMARY(...) (&(struct top_summary){ __VA_ARGS__ })

/* DIR/NODE.json */
void top_files_summary(const char *dir, const struct top_summary *summary);

/* DIR/NODE.jsonl begins, with a header; */
void top_files_header(const char *dir, const char *node, int64_t start, const char *schema);

/* and has a window of ten seconds up to `to` with that use of cores and memory, and a process. */
void top_files_window(const char *dir, const char *node, int64_t start, int64_t to, double pdcpu,
                      int64_t memory, const char *comm);

#endif
