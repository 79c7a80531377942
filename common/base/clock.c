#include "common/base/clock.h"

#include <stdio.h>

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
