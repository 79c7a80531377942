/* Families and their instances as JSON: columns, rows of a window, the run. */
#ifndef PFR_RECORD_INSTANCES_H
#define PFR_RECORD_INSTANCES_H

#include "common/record/json.h"
#include "common/record/schema.h"

/* Is anything of it wanted? */
bool pfr_family_in_use(const struct pfr_info *info, enum pfr_scope family);

/* {"task": {"title": ..., "id": ..., "columns": ["slot", ...]}, ...}: those in use. */
struct json_object *pfr_families_json(const struct pfr_info *info);

/* {"task": [[0, ...], ...], ...}: what was read in the window; NULL when nothing was. */
struct json_object *pfr_rows_json(const struct pfr_info *info,
                                  const struct pfr_instances *instances);

/* {"task": [{"slot": 0, "id": ..., "measurements": {...}}, ...], ...} */
struct json_object *pfr_instances_json(const struct pfr_info *info,
                                       const struct pfr_instances *instances);

#endif
