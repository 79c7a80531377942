/*
 * A kernel made of files: a tree of tests/fixtures copied to a temporary
 * root, a clock that stands until it is moved, and the log in a buffer. The
 * files of the next tick are written over those of the last one in place,
 * because the collectors keep theirs open.
 */
#ifndef PFR_TESTS_FIXTURE_H
#define PFR_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/parse.h"
#include "common/collect/env.h"
#include "common/record/json.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define MS INT64_C(1000000)

struct fixture {
    char root[256]; /* of the fake kernel */
    char out[300];  /* an empty directory beside it, for results */
    char base[200];
    char tree[64];
    struct pfr_env env;
    int64_t monotonic, boottime, realtime;
    char log[4096]; /* warnings and errors, one a line */
    char info[1024];
};

/* tests/fixtures/TREE/base, the profiler's own cgroups included. */
void fixture_open(struct fixture *fixture, const char *tree);
void fixture_close(struct fixture *fixture);

/* tests/fixtures/TREE/PART over what is there. */
void fixture_overlay(struct fixture *fixture, const char *part);

void fixture_advance(struct fixture *fixture, int64_t ns);

/* The clock of the fixture, for an env that was made by somebody else. */
void fixture_set_clock(struct fixture *fixture, struct pfr_env *env);

/* Paths are below root. Text is written in place, directories are made. */
void fixture_write(struct fixture *fixture, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fixture_write_bytes(struct fixture *fixture, const char *path, const void *data, size_t size);
void fixture_remove(struct fixture *fixture, const char *path);
void fixture_path(const struct fixture *fixture, const char *path, char *text, size_t size);

/* A process as /proc shows it; what is 0 or NULL gets a plausible value. */
struct fake_process {
    const char *comm;
    char state;
    int64_t ppid, pgrp, session, tpgid, nice, threads;
    int64_t utime, stime, start; /* ticks */
    int64_t minflt, majflt;
    int64_t rss, vsz, locked, swap; /* kB */
    int64_t read_bytes, write_bytes;
    int64_t pss; /* kB; 0 = no smaps_rollup */
    bool no_memory; /* a zombie: no Vm lines */
};
void fixture_process(struct fixture *fixture, int pid, const struct fake_process *process);

/* ---- asking JSON: "measurements.ps_rss_total.max", "processes.top.0.pid" ---- */

struct json_object *fixture_json(struct json_object *object, const char *path);

#define assert_json_absent(object, path) assert_null(fixture_json(object, path))
#define assert_json_int(object, path, value)                                                    \
    do {                                                                                        \
        assert_true(json_object_is_type(fixture_json(object, path), json_type_int));            \
        assert_int_equal(json_object_get_int64(fixture_json(object, path)), value);             \
    } while (0)
#define assert_json_text(object, path, value)                                                   \
    do {                                                                                        \
        assert_true(json_object_is_type(fixture_json(object, path), json_type_string));         \
        assert_string_equal(json_object_get_string(fixture_json(object, path)), value);         \
    } while (0)
/* As it is spelt, so that 0.5 is "0.5". */
#define assert_json_number(object, path, value)                                                 \
    do {                                                                                        \
        assert_non_null(fixture_json(object, path));                                            \
        assert_string_equal(json_object_to_json_string(fixture_json(object, path)), value);     \
    } while (0)

/* Every line of a series as a JSON array; put it. */
struct json_object *fixture_lines(const char *dir, const char *name);

/* The first line of this type (and event, when not NULL) in such an array. */
struct json_object *fixture_line(struct json_object *lines, const char *type, const char *event);
size_t fixture_count(struct json_object *lines, const char *type);

/* A case that cannot run here says why and passes: "not ok # SKIP" of this cmocka would fail. */
#define SKIP_BECAUSE(...)                \
    do {                                 \
        print_message("# skipped: ");    \
        print_message(__VA_ARGS__);      \
        print_message("\n");             \
        return;                          \
    } while (0)

#endif
