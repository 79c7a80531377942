/*
 * The columns of runs: of a job, a step or a node's part of one. Names are
 * sacct's where the meaning is, and the keys of measurements where that is it.
 */
#ifndef PFR_PROFRES_COLUMNS_H
#define PFR_PROFRES_COLUMNS_H

#include "common/judge/facts.h"
#include "common/judge/verdict.h"
#include "tools/profres/sacct.h"
#include "tools/profres/table.h"

/* The row that these columns are of. */
struct pfr_line {
    const struct pfr_facts *facts;
    enum pfr_verdict_id verdict;
    const char *dir;                   /* where the files are; NULL */
    const struct pfr_sacct_row *sacct; /* NULL: not asked, or it has none */
    const struct pfr_sacct_row *sacct_job;
};

/* All of them; behind the listed ones also KEY.max, KEY.p95 and so on. */
const struct pfr_columns *pfr_line_columns(void);

/* Does sacct have to be asked for it? */
bool pfr_column_is_sacct(const struct pfr_column *column);

/* ... for any of those in a --format. */
bool pfr_format_needs_sacct(const char *format);

/* Adds the measurement that a column shows; nothing for those that show none. */
void pfr_column_measures(const struct pfr_column *column, struct pfr_wanted *wanted);

/* ... for all in a --format. */
void pfr_format_measures(const char *format, struct pfr_wanted *wanted);

/* Who owns the profile, by name if the host knows one; as long as the process lives. */
const char *pfr_owner(const struct pfr_facts *facts);

#endif
