#include "common/judge/text.h"

#include <stdio.h>

#include "common/judge/facts.h"

const char *pfr_size_text(int64_t bytes, char text[static PFR_TEXT_SIZE])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = (double)bytes;
    int unit = 0;

    if (!pfr_known(bytes))
        return "-";
    while (value >= 1024 && unit < 6) {
        value /= 1024;
        unit++;
    }
    snprintf(text, PFR_TEXT_SIZE, unit == 0 ? "%.0f %s" : value < 10 ? "%.2f %s" : "%.1f %s",
             value, units[unit]);
    return text;
}

const char *pfr_time_text(int64_t ns, char text[static PFR_TEXT_SIZE])
{
    double seconds = (double)ns / 1e9;
    int64_t whole = ns / 1000000000;

    if (!pfr_known(ns))
        return "-";
    if (whole < 60)
        snprintf(text, PFR_TEXT_SIZE, "%.2f s", seconds);
    else if (whole < 3600)
        snprintf(text, PFR_TEXT_SIZE, "%d:%02d min", (int)(whole / 60), (int)(whole % 60));
    else
        snprintf(text, PFR_TEXT_SIZE, "%lld:%02d:%02d h", (long long)(whole / 3600),
                 (int)(whole / 60 % 60), (int)(whole % 60));
    return text;
}

const char *pfr_cores_text(int64_t thousandths, char text[static PFR_TEXT_SIZE])
{
    if (!pfr_known(thousandths))
        return "-";
    snprintf(text, PFR_TEXT_SIZE, "%.2f", (double)thousandths / 1000);
    return text;
}
