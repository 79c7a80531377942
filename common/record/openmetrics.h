/*
 * A summary as Prometheus reads it, in the form of textfile collectors: base
 * units in the names, counters end in _total, percent are ratios, and there are
 * no timestamps. What was not measured is not there.
 */
#ifndef PFR_RECORD_OPENMETRICS_H
#define PFR_RECORD_OPENMETRICS_H

#include <stdio.h>

#include "common/record/json.h"

/* A file of one step, by job, step and node, where only a directory was named. */
#define PFR_OPENMETRICS_FILE "profres-%.64s.%.32s.%.100s.prom"

/* Room for the longest name. */
#define PFR_OPENMETRICS_NAME 80

/* "cgroup_mem_current" to "profres_cgroup_mem_current_bytes". */
void pfr_openmetrics_name(const struct pfr_metric *metric, char name[static PFR_OPENMETRICS_NAME]);

/* One family after the other, with a sample for each summary that has it. */
void pfr_openmetrics_write(FILE *out, struct json_object *const *summaries, size_t count);

#endif
