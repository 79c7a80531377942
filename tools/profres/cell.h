/* Values as text: numbers by their kind. */
#ifndef PFR_PROFRES_CELL_H
#define PFR_PROFRES_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/json.h"

enum pfr_cell_kind {
    PFR_CELL_TEXT,
    PFR_CELL_COUNT,
    PFR_CELL_BYTES,
    PFR_CELL_SECONDS, /* nanoseconds; 12.34 */
    PFR_CELL_ELAPSED, /* nanoseconds; [DD-]HH:MM:SS */
    PFR_CELL_PERCENT, /* thousandths of a percent; 97.3 */
    PFR_CELL_CORES,   /* the same, 100 % being one core; 3.52 */
    PFR_CELL_REAL,    /* thousandths of any other unit; 97.3 */
    PFR_CELL_STAMP,   /* nanoseconds since 1970; local time, as sacct shows it */
};

/* What a column has in a row: the text when it is one, else the number. */
struct pfr_cell {
    const char *text;
    int64_t number;
};

#define PFR_CELL_SIZE 48

/* How numbers of this unit are shown. */
enum pfr_cell_kind pfr_cell_of_unit(enum pfr_unit unit);

/*
 * A number of any kind but text. `units` is 'K', 'M' or 'G' for bytes, 0 for
 * the unit that suits. `exact`: to be computed with, so bytes are bytes and
 * nothing is rounded off.
 */
void pfr_cell_format(enum pfr_cell_kind kind, int64_t number, char units, bool exact,
                     char text[static PFR_CELL_SIZE]);

/* In seconds, percent, cores, bytes; a stamp is UTC. */
struct json_object *pfr_cell_json(enum pfr_cell_kind kind, const struct pfr_cell *cell);

/* "bytes", "seconds", ...: what the numbers of this kind are in JSON. */
const char *pfr_cell_kind_name(enum pfr_cell_kind kind);

#endif
