#include "common/record/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"

/* value/10^9 as decimal text: six places, rounded, no trailing zeros. */
static void format_nano(int64_t nano, char *text, size_t size)
{
    bool negative = nano < 0;
    uint64_t micro = ((negative ? -(uint64_t)nano : (uint64_t)nano) + 500) / 1000;
    size_t n = (size_t)snprintf(text, size, "%s%llu.%06llu", negative && micro ? "-" : "",
                                (unsigned long long)(micro / 1000000),
                                (unsigned long long)(micro % 1000000));

    while (text[n - 1] == '0')
        n--;
    text[text[n - 1] == '.' ? n - 1 : n] = '\0';
}

static struct json_object *decimal(int64_t nano)
{
    char text[40];

    format_nano(nano, text, sizeof(text));
    return json_object_new_double_s((double)nano / 1e9, text);
}

struct json_object *pfr_json_value(enum pfr_unit unit, int64_t value)
{
    switch (pfr_unit_quantum(unit)) {
    case 1000000000:
        return decimal(value);
    case 1000:
        if (value > INT64_MAX / 1000000 || value < INT64_MIN / 1000000)
            return json_object_new_double((double)value / 1000);
        return decimal(value * 1000000);
    default:
        return json_object_new_int64(value);
    }
}

struct json_object *pfr_json_real(enum pfr_unit unit, double value)
{
    if (unit == PFR_ITEMS && fabs(value) < 9e9)
        return decimal(llround(value * 1e9)); /* one process and a half, on average */
    if (!(fabs(value) < 9e18))
        return json_object_new_double(value / (double)pfr_unit_quantum(unit));
    return pfr_json_value(unit, llround(value));
}

bool pfr_json_get_value(struct json_object *object, enum pfr_unit unit, int64_t *value)
{
    if (json_object_is_type(object, json_type_int)) {
        *value = json_object_get_int64(object);
        if (__builtin_mul_overflow(*value, pfr_unit_quantum(unit), value))
            *value = INT64_MAX;
        return true;
    }
    if (!json_object_is_type(object, json_type_double))
        return false;
    *value = llround(json_object_get_double(object) * (double)pfr_unit_quantum(unit));
    return true;
}

struct json_object *pfr_json_text(const char *text)
{
    char *copy = strdup(text);
    struct json_object *object;
    uint32_t code;

    if (!copy)
        return NULL;
    for (char *p = copy; *p;) {
        int n = pfr_utf8_decode(p, &code);

        if (n == 0)
            *p = '?';
        p += n ? n : 1;
    }
    object = json_object_new_string(copy);
    free(copy);
    return object;
}

/* Digits at *p, at least one. */
static bool pass_digits(const char **p)
{
    size_t n = strspn(*p, "0123456789");

    *p += n;
    return n > 0;
}

/* As RFC 8259 has it: no sign but '-', no zero in front, no end in a point. */
static bool is_number(const char *text, bool *whole)
{
    const char *p = text + (*text == '-'), *digits = p;

    if (!pass_digits(&p) || (*digits == '0' && p - digits > 1))
        return false;
    *whole = !*p;
    if (*p == '.' && (p++, !pass_digits(&p)))
        return false;
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '+' || p[1] == '-');
        if (!pass_digits(&p))
            return false;
    }
    return !*p;
}

struct json_object *pfr_json_typed(const char *text)
{
    bool whole;
    double value;

    if (strlen(text) > 32 || !is_number(text, &whole))
        return pfr_json_text(text);
    if (whole && strlen(text) <= 18)
        return json_object_new_int64(strtoll(text, NULL, 10));
    value = strtod(text, NULL); /* in the C locale, as every program of ours */
    return isfinite(value) ? json_object_new_double_s(value, text) : pfr_json_text(text);
}

struct json_object *pfr_json_time(int64_t realtime_ns)
{
    char text[PFR_STAMP_SIZE];

    pfr_clock_format(realtime_ns, text);
    return json_object_new_string(text);
}

void pfr_json_add(struct json_object *object, const char *key, struct json_object *value)
{
    json_object_object_add(object, key, value);
}

struct json_object *pfr_json_get(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    if (object && json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, key, &value);
    return value;
}

const char *pfr_json_line(struct json_object *object)
{
    return json_object_to_json_string_ext(object,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}
