/* Small helpers over json-c: values by unit, text that is always valid UTF-8. */
#ifndef PFR_RECORD_JSON_H
#define PFR_RECORD_JSON_H

#include <json-c/json.h>
#include <stdint.h>

#include "common/metric/table.h"

static inline void pfr_cleanup_json(struct json_object **object)
{
    json_object_put(*object);
}

#define PFR_AUTO_JSON __attribute__((cleanup(pfr_cleanup_json))) struct json_object

/*
 * A value in its unit: integers stay integers, seconds have at most six
 * decimals and percent three, without trailing zeros, whatever the locale.
 */
struct json_object *pfr_json_value(enum pfr_unit unit, int64_t value);

/* The same of a mean or deviation, which need not be whole. */
struct json_object *pfr_json_real(enum pfr_unit unit, double value);

/* Back from JSON to the quantum; false when it is not a number. */
bool pfr_json_get_value(struct json_object *object, enum pfr_unit unit, int64_t *value);

/* Bytes that are not UTF-8 become '?': a command line may hold anything. */
struct json_object *pfr_json_text(const char *text);

/* What a person typed: a number where it is one as JSON writes it, else text. */
struct json_object *pfr_json_typed(const char *text);

/* "2026-11-16T02:07:38.120Z" */
struct json_object *pfr_json_time(int64_t realtime_ns);

void pfr_json_add(struct json_object *object, const char *key, struct json_object *value);

/* The member at this key, NULL when absent; never an error. */
struct json_object *pfr_json_get(struct json_object *object, const char *key);

/* One line of JSON, as long as the object lives. */
const char *pfr_json_line(struct json_object *object);

#endif
