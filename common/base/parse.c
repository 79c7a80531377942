#include "common/base/parse.h"

#include <stddef.h>
#include <string.h>

bool pfr_parse_digits(const char **text, int64_t *value)
{
    const char *p = *text;
    int64_t v = 0;

    if (*p < '0' || *p > '9')
        return false;
    for (int i = 0; i < 18 && *p >= '0' && *p <= '9'; i++, p++) /* these always fit */
        v = 10 * v + (*p - '0');
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return false;
    *text = p;
    *value = v;
    return true;
}

bool pfr_parse_int(const char *text, int64_t *value)
{
    int64_t v;

    if (!pfr_parse_digits(&text, &v) || *text)
        return false;
    *value = v;
    return true;
}

bool pfr_parse_mode(const char *text, unsigned *mask)
{
    unsigned mode = 0;

    if (!*text || strlen(text) > 4)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '7')
            return false;
        mode = 8 * mode + (unsigned)(*text - '0');
    }
    if ((mode & 0600) != 0600 || (mode & ~0664u))
        return false;
    *mask = 0777 & ~(mode | 0100 | (mode & 0044) >> 2);
    return true;
}

int64_t pfr_muldiv(int64_t a, int64_t b, int64_t c)
{
    __int128 wide = (__int128)a * b / c;

    if (wide > INT64_MAX)
        return INT64_MAX;
    return wide < INT64_MIN ? INT64_MIN : (int64_t)wide;
}

/* Digits behind the decimal point, to nine places, as nanounits. */
static bool parse_fraction(const char **text, int64_t *nano)
{
    int64_t unit = PFR_NS_PER_S;
    const char *p = *text;

    if (*p < '0' || *p > '9')
        return false;
    for (*nano = 0; *p >= '0' && *p <= '9'; p++) {
        unit /= 10;
        *nano += unit * (*p - '0');
    }
    *text = p;
    return true;
}

bool pfr_parse_duration(const char *text, int64_t *ns)
{
    static const struct { const char *suffix; int64_t ns; } units[] = {
        { "", PFR_NS_PER_S },      { "s", PFR_NS_PER_S },
        { "ms", 1000000 },         { "m", 60 * PFR_NS_PER_S },
        { "h", 3600 * PFR_NS_PER_S },
    };
    int64_t whole = 0, nano = 0;

    if (!pfr_parse_digits(&text, &whole) || whole > 1000000000)
        return false;
    if (*text == '.') {
        text++;
        if (!parse_fraction(&text, &nano))
            return false;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].suffix) != 0)
            continue;
        int64_t v;

        if (__builtin_mul_overflow(whole, units[i].ns, &v) ||
            __builtin_add_overflow(v, pfr_muldiv(nano, units[i].ns, PFR_NS_PER_S), &v) || v <= 0)
            return false;
        *ns = v;
        return true;
    }
    return false;
}
