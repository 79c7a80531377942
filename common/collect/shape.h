/*
 * The shapes in which the kernel writes numbers. Pure functions from text to
 * number: 1 found, 0 not there (or "max", which is no number), -EINVAL when it
 * is there and malformed. *value is touched only on 1.
 */
#ifndef PFR_COLLECT_SHAPE_H
#define PFR_COLLECT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum pfr_suffix { PFR_PLAIN, PFR_KB };

/* The whole file is one number: "4096\n", "max\n". */
int pfr_shape_single(const char *text, int64_t *value);

/*
 * A line "key number" or "key:\tnumber kB". The search begins at *cursor,
 * moves it behind the line found, and wraps to the beginning of text once: a
 * caller that asks in the file's own order reads it once.
 */
int pfr_shape_flat(const char *text, const char **cursor, const char *key,
                   enum pfr_suffix suffix, int64_t *value);

/*
 * "line name=number name=number": the number of `field` summed over the lines
 * that begin with `line` (NULL: all of them).
 */
int pfr_shape_nested(const char *text, const char *line, const char *field, int64_t *value);

/* "8:0 Read 4096" (blkio): the third column summed where the second is `field`. */
int pfr_shape_device(const char *text, const char *field, int64_t *value);

/* "50000 100000" (cpu.max), both above 0: the first in parts of the second, times scale. */
int pfr_shape_quota(const char *text, int64_t scale, int64_t *value);

#define PFR_STAT_FIELDS 22

struct pfr_stat_line {
    char comm[16];
    char state;
    int64_t field[PFR_STAT_FIELDS]; /* behind the ')': [1] is ppid; [0] unused */
    int count;
};

enum pfr_stat_field {
    PFR_STAT_PPID = 1,
    PFR_STAT_PGRP = 2,
    PFR_STAT_SESSION = 3,
    PFR_STAT_TPGID = 5,
    PFR_STAT_MINFLT = 7,
    PFR_STAT_MAJFLT = 9,
    PFR_STAT_UTIME = 11,
    PFR_STAT_STIME = 12,
    PFR_STAT_CUTIME = 13,
    PFR_STAT_CSTIME = 14,
    PFR_STAT_NICE = 16,
    PFR_STAT_THREADS = 17,
    PFR_STAT_START = 19,
};

/* /proc/PID/stat, from the last ')' (R44); short lines are refused (R45). */
int pfr_shape_stat(const char *text, struct pfr_stat_line *line);

#endif
