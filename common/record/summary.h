/* The summary: one JSON object that says how the run went, or goes. */
#ifndef PFR_RECORD_SUMMARY_H
#define PFR_RECORD_SUMMARY_H

#include "common/record/json.h"
#include "common/record/schema.h"

/* NULL when memory ran out. */
struct json_object *pfr_summary_json(const struct pfr_snapshot *snapshot);

/* Of it, only how long the tasks took and how they ended. */
void pfr_summary_tasks(struct json_object *object, const struct pfr_snapshot *snapshot);

/* The facts of a run, shared by summary and series header. */
struct json_object *pfr_info_json(const struct pfr_info *info);

/* A phase that was marked: name, rank, from, to, seconds, measurements; open: less. */
struct json_object *pfr_phase_json(const struct pfr_info *info, const struct pfr_phase *phase);

/* {"S": 9, "R": 1} */
struct json_object *pfr_tally_json(const struct pfr_tally *tally);

#endif
