#include "common/collect/shape.h"

#include <errno.h>
#include <string.h>

#include "common/base/parse.h"

int pfr_shape_single(const char *text, int64_t *value)
{
    int64_t v;

    if (strncmp(text, "max", 3) == 0)
        return 0;
    if (!*text)
        return 0;
    if (!pfr_parse_digits(&text, &v) || (*text && *text != '\n'))
        return -EINVAL;
    *value = v;
    return 1;
}

/* The line that begins with key, from `from` up to `end` (NULL: to the end). */
static const char *find_line(const char *from, const char *end, const char *key)
{
    size_t length = strlen(key);

    while (from && *from && (!end || from < end)) {
        /* most lines differ in their first letter: no call for those */
        if (*from == *key && strncmp(from, key, length) == 0 &&
            (from[length] == ' ' || from[length] == '\t'))
            return from + length;
        from = strchr(from, '\n');
        from = from ? from + 1 : NULL;
    }
    return NULL;
}

int pfr_shape_flat(const char *text, const char **cursor, const char *key,
                   enum pfr_suffix suffix, int64_t *value)
{
    const char *p = find_line(*cursor, NULL, key);
    int64_t v;

    if (!p)
        p = find_line(text, *cursor, key);
    if (!p)
        return 0;
    while (*p == ' ' || *p == '\t')
        p++;
    if (strncmp(p, "max", 3) == 0)
        return 0;
    if (!pfr_parse_digits(&p, &v))
        return -EINVAL;
    if (suffix == PFR_KB) {
        if (strncmp(p, " kB", 3) != 0 || v > INT64_MAX / 1024)
            return -EINVAL;
        p += 3;
        v *= 1024;
    }
    if (*p && *p != '\n')
        return -EINVAL;
    *cursor = *p ? p + 1 : p;
    *value = v;
    return 1;
}

/* The number of "field=number" on this line; 0 when it is not on it. */
static int line_field(const char *line, size_t length, const char *field, int64_t *value)
{
    size_t n = strlen(field);

    for (const char *p = line; p < line + length; p++) {
        if ((p != line && p[-1] != ' ') || strncmp(p, field, n) != 0 || p[n] != '=')
            continue;
        p += n + 1;
        return pfr_parse_digits(&p, value) ? 1 : -EINVAL;
    }
    return 0;
}

int pfr_shape_nested(const char *text, const char *line, const char *field, int64_t *value)
{
    size_t skip = line ? strlen(line) : 0;
    int64_t sum = 0;
    int found = 0;

    while (*text) {
        size_t length = strcspn(text, "\n");
        int64_t v;
        int r = 0;

        if (!line || (strncmp(text, line, skip) == 0 && text[skip] == ' '))
            r = line_field(text, length, field, &v);
        if (r < 0)
            return r;
        if (r > 0) {
            if (__builtin_add_overflow(sum, v, &sum))
                return -EINVAL;
            found = 1;
        }
        text += length + (text[length] == '\n');
    }
    if (found)
        *value = sum;
    return found;
}

int pfr_shape_device(const char *text, const char *field, int64_t *value)
{
    size_t n = strlen(field);
    int64_t sum = 0;
    int found = 0;

    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *p = memchr(text, ' ', length);
        int64_t v;

        if (p && strncmp(p + 1, field, n) == 0 && p[1 + n] == ' ') {
            p += n + 2;
            if (!pfr_parse_digits(&p, &v) || __builtin_add_overflow(sum, v, &sum))
                return -EINVAL;
            found = 1;
        }
        text += length + (text[length] == '\n');
    }
    if (found)
        *value = sum;
    return found;
}

int pfr_shape_quota(const char *text, int64_t scale, int64_t *value)
{
    int64_t quota, period;

    if (!*text || strncmp(text, "max", 3) == 0)
        return 0;
    if (!pfr_parse_digits(&text, &quota) || *text++ != ' ' || !pfr_parse_digits(&text, &period) ||
        (*text && *text != '\n') || period == 0)
        return -EINVAL;
    *value = pfr_muldiv(quota, scale, period);
    return 1;
}

/* A field of stat may be negative (tpgid is -1 without a terminal). */
static bool parse_signed(const char **p, int64_t *value)
{
    bool negative = **p == '-';

    *p += negative;
    if (!pfr_parse_digits(p, value)) {
        /* u64 addresses such as kstkesp pass 2^63: not needed, not fatal */
        if (**p < '0' || **p > '9')
            return false;
        *p += strspn(*p, "0123456789");
        *value = INT64_MAX;
    }
    if (negative)
        *value = -*value;
    return true;
}

int pfr_shape_stat(const char *text, struct pfr_stat_line *line)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')'), *p;
    size_t length;

    if (!*text)
        return 0;
    if (!open || !close || close < open || close[1] != ' ' || !close[2])
        return -EINVAL;
    length = (size_t)(close - open - 1);
    if (length >= sizeof(line->comm))
        length = sizeof(line->comm) - 1;
    memset(line->comm, 0, sizeof(line->comm));
    memcpy(line->comm, open + 1, length);
    line->state = close[2];
    p = close + 3;
    for (line->count = 1; line->count < PFR_STAT_FIELDS && *p == ' '; line->count++) {
        p++;
        if (!parse_signed(&p, &line->field[line->count]))
            return -EINVAL;
    }
    return line->count > PFR_STAT_START ? 1 : -EINVAL;
}
