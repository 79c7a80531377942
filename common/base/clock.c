#include "common/base/clock.h"

#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"

int64_t pfr_clock_ns(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return ts.tv_sec * PFR_NS_PER_S + ts.tv_nsec;
}

void pfr_clock_format(int64_t realtime_ns, char text[static PFR_STAMP_SIZE])
{
    time_t seconds = (time_t)(realtime_ns / PFR_NS_PER_S);
    int ms = (int)(realtime_ns % PFR_NS_PER_S / 1000000);
    struct tm tm;
    size_t n;

    gmtime_r(&seconds, &tm);
    n = strftime(text, PFR_STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, PFR_STAMP_SIZE - n, ".%03dZ", ms);
}

/* Digits of a fixed number; -1 when there are others. */
static int fixed(const char **p, int width)
{
    int value = 0;

    for (int i = 0; i < width; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return -1;
        value = value * 10 + (**p - '0');
    }
    return value;
}

/* Days since 1970 of a day of the Gregorian calendar, counted in years from March. */
static int64_t days_since_epoch(int year, int month, int day)
{
    int64_t years = month > 2 ? year : year - 1;
    int64_t era = years / 400, in_era = years % 400;
    int64_t in_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

bool pfr_clock_parse(const char *text, int64_t *realtime_ns)
{
    static const struct { int width; char behind; int low, high; } parts[] = {
        { 4, '-', 1970, 2261 }, { 2, '-', 1, 12 }, { 2, 'T', 1, 31 },
        { 2, ':', 0, 23 }, { 2, ':', 0, 59 }, { 2, '\0', 0, 60 },
    };
    int64_t fraction = 0, place = PFR_NS_PER_S / 10;
    int part[6];

    for (size_t i = 0; i < 6; i++) {
        part[i] = fixed(&text, parts[i].width);
        if (part[i] < parts[i].low || part[i] > parts[i].high ||
            (parts[i].behind && *text++ != parts[i].behind))
            return false;
    }
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, place /= 10)
            fraction += (*text - '0') * place;
    if (strcmp(text, "Z") != 0)
        return false;
    *realtime_ns = (days_since_epoch(part[0], part[1], part[2]) * 86400 + part[3] * 3600 +
                    part[4] * 60 + part[5]) * PFR_NS_PER_S + fraction;
    return true;
}
