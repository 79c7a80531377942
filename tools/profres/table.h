/*
 * A table in the manner of sacct: columns that are named and chosen with
 * --format, a header and a line of dashes, or one row a line for programs.
 *
 * What is absent is '-' in the table for people, nothing between two
 * delimiters (as with sacct -P), and no member in JSON.
 */
#ifndef PFR_PROFRES_TABLE_H
#define PFR_PROFRES_TABLE_H

#include <getopt.h>
#include <stdio.h>

#include "tools/profres/cell.h"

struct pfr_column {
    const char *name, *help;
    enum pfr_cell_kind kind;
    int width; /* as sacct has it: to the left when it is negative */
    /* False when the row has no such value. `which` is the column's own. */
    bool (*get)(const void *row, int which, struct pfr_cell *cell);
    int which;
};

/* All columns that may be chosen, the first of which help and ALL list (0: all). */
struct pfr_columns {
    const struct pfr_column *list;
    size_t count, listed;
};

/* NULL when there is none; upper and lower case are one. */
const struct pfr_column *pfr_column_find(const struct pfr_columns *columns, const char *name);

/* "there is no WHAT 'typed'; nearest: a, b, c" */
void pfr_column_miss(const struct pfr_columns *columns, const char *what, const char *typed);

/* --helpformat: one line for each. */
void pfr_columns_help(FILE *out, const struct pfr_columns *columns);

enum pfr_table_form { PFR_TABLE_PLAIN, PFR_TABLE_PARSABLE, PFR_TABLE_PARSABLE2, PFR_TABLE_JSON };

/* What the options ask for; all zeros is the table for people. */
struct pfr_table_style {
    enum pfr_table_form form;
    const char *format; /* NULL: as the command has it */
    const char *delimiter;
    char units;
    bool no_header, help_format;
};

enum { PFR_OPT_DELIMITER = 0x1000, PFR_OPT_UNITS, PFR_OPT_JSON };

/* For the command's own lists: sacct's letters. */
#define PFR_TABLE_LETTERS "eno:pP"
#define PFR_TABLE_OPTIONS                                                                       \
    { "format", required_argument, NULL, 'o' }, { "helpformat", no_argument, NULL, 'e' },       \
        { "parsable", no_argument, NULL, 'p' }, { "parsable2", no_argument, NULL, 'P' },        \
        { "noheader", no_argument, NULL, 'n' },                                                 \
        { "delimiter", required_argument, NULL, PFR_OPT_DELIMITER },                            \
        { "units", required_argument, NULL, PFR_OPT_UNITS },                                    \
    {                                                                                           \
        "json", no_argument, NULL, PFR_OPT_JSON                                                 \
    }

/* 1 it was one of these, 0 it was not, -EINVAL it was one and is wrong, which was said. */
int pfr_table_option(struct pfr_table_style *style, int option, const char *argument);

struct pfr_table {
    FILE *out;
    const struct pfr_table_style *style;
    struct pfr_chosen {
        const struct pfr_column *column;
        int width;
    } *chosen;
    size_t count, rows;
};

/*
 * Chooses the columns, from the options' format or else from this one, and
 * prints the header. 0; -EINVAL when there is no such column, which was said.
 */
int pfr_table_open(struct pfr_table *table, const struct pfr_table_style *style,
                   const struct pfr_columns *columns, const char *format, FILE *out);
void pfr_table_row(struct pfr_table *table, const void *row);

/* The end; also releases. Safe on what was not opened. */
void pfr_table_close(struct pfr_table *table);

#endif
