/*
 * The scanner against json-c: of an object that both take they read the same members,
 * numbers and texts.
 */
#include "tests/fuzz/fuzz.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/safe.h"
#include "common/record/json.h"
#include "common/record/reader.h"
#include "common/record/scan.h"

static void compare_number(struct pfr_scan *scan, struct json_object *value)
{
    double real = json_object_get_double(value);
    int64_t number = 0;

    if (!pfr_scan_number(scan, 1, &number)) {
        if (!scan->bad)
            abort();
        return; /* json-c also takes "1." for a number, which JSON does not have */
    }
    if (json_object_is_type(value, json_type_int) && number > -INT64_MAX && number < INT64_MAX &&
        number != json_object_get_int64(value))
        abort();
    if (fabs(real) < 1e15 && fabs((double)number - real) > 0.5000001)
        abort();
}

static void compare_text(struct pfr_scan *scan, struct json_object *value)
{
    const char *theirs = json_object_get_string(value);
    char ours[256];

    if (!pfr_scan_text(scan, ours, sizeof(ours)) || !pfr_safe_is_plain(ours))
        abort();
    if ((size_t)json_object_get_string_len(value) == strlen(theirs) && strlen(theirs) < 200 &&
        pfr_safe_is_plain(theirs) && strcmp(ours, theirs) != 0)
        abort();
}

static void compare_member(struct pfr_scan *scan, struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_int:
    case json_type_double:
        compare_number(scan, value);
        break;
    case json_type_string:
        compare_text(scan, value);
        break;
    default:
        if (!pfr_scan_skip(scan))
            abort();
    }
}

/* How many members there are; json-c keeps one of several with the same key. */
static int count_members(const char *text, size_t length)
{
    struct pfr_scan scan;
    struct pfr_span key;
    int count = 0;

    pfr_scan_init(&scan, text, length);
    if (!pfr_scan_enter(&scan, '{'))
        return -1;
    while (pfr_scan_member(&scan, &key) && pfr_scan_skip(&scan))
        count++;
    return pfr_scan_done(&scan) ? count : -1;
}

static struct json_object *parse_strictly(const char *text, size_t length)
{
    struct json_tokener *tokener = json_tokener_new_ex(16);
    struct json_object *object;

    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    object = json_tokener_parse_ex(tokener, text, (int)length + 1);
    if (json_tokener_get_error(tokener) != json_tokener_success ||
        json_tokener_get_parse_end(tokener) < length ||
        !json_object_is_type(object, json_type_object)) {
        json_object_put(object);
        object = NULL;
    }
    json_tokener_free(tokener);
    return object;
}

void pfr_fuzz_json(const char *text, size_t length)
{
    PFR_AUTO_JSON *object = NULL;
    PFR_AUTO_JSON *ours = pfr_object_parse(text, length);
    int count = count_members(text, length);
    struct pfr_scan scan;
    struct pfr_span key;

    if (memchr(text, '\0', length))
        return;
    object = parse_strictly(text, length);
    if (!object)
        return;
    if (count < 0)
        return;
    if (count < json_object_object_length(object))
        abort();
    pfr_scan_init(&scan, text, length);
    pfr_scan_enter(&scan, '{');
    while (pfr_scan_member(&scan, &key)) {
        struct json_object *value;
        char name[64];

        if (count != json_object_object_length(object) || key.length >= sizeof(name) ||
            memchr(key.at, '\\', key.length)) {
            pfr_scan_skip(&scan);
            continue;
        }
        memcpy(name, key.at, key.length);
        name[key.length] = '\0';
        if (!json_object_object_get_ex(object, name, &value))
            abort();
        compare_member(&scan, value);
    }
    if (!pfr_scan_done(&scan) && !scan.bad)
        abort();
}
