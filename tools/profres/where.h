/*
 * Which rows: "cgroup_mem_peak > 4G && Elapsed >= 1h and Verdict = oom", where
 * the names are those of columns. A row without the value does not match.
 */
#ifndef PFR_PROFRES_WHERE_H
#define PFR_PROFRES_WHERE_H

#include "tools/profres/table.h"

enum pfr_where_op { PFR_EQUAL, PFR_UNLIKE, PFR_LESS, PFR_AT_MOST, PFR_MORE, PFR_AT_LEAST };

#define PFR_WHERE_MAX 16

struct pfr_where {
    struct pfr_term {
        const struct pfr_column *column;
        enum pfr_where_op op;
        int64_t number;
        char text[128]; /* a pattern as in file names, any case */
    } terms[PFR_WHERE_MAX];
    int count;
};

/* Adds the terms of an expression; 0, or -EINVAL when it is wrong, which was said. */
int pfr_where_parse(struct pfr_where *where, const struct pfr_columns *columns, const char *text,
                    int64_t now);

bool pfr_where_match(const struct pfr_where *where, const void *row);

#endif
