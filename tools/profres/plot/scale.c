#include "tools/profres/plot/scale.h"

#include <math.h>
#include <stdio.h>

#include "common/base/cleanup.h"

/* 1, 2 or 5 times a power of ten that is not below `least`. */
static double round_up(double least)
{
    double power = pow(10, floor(log10(least)));

    for (int i = 0; i < 3; i++) {
        double step = power * (double[]){ 1, 2, 5 }[i];

        if (step >= least * (1 - 1e-9))
            return step;
    }
    return 10 * power;
}

/* A round number of KiB, MiB, ..., so that labels are short. */
static double round_bytes(double least)
{
    double unit = 1;

    while (least > 512 * unit && unit < 0x1p60)
        unit *= 1024;
    return unit * fmax(round_up(least / unit), unit == 1 ? 1 : 0);
}

struct pfr_scale pfr_scale_make(enum pfr_axis axis, double most, int ticks)
{
    static const double least[] = { [PFR_AXIS_BYTES] = 4096, [PFR_AXIS_RATE] = 4096,
                                    [PFR_AXIS_CORES] = 0.1,  [PFR_AXIS_SHARE] = 1,
                                    [PFR_AXIS_COUNT] = 1 };
    struct pfr_scale scale;
    double step;

    most = fmax(most, least[axis]);
    step = axis <= PFR_AXIS_RATE ? round_bytes(most / ticks) : round_up(most / ticks);
    if (axis == PFR_AXIS_COUNT && step < 1)
        step = 1;
    scale.step = step;
    scale.ticks = (int)ceil(most / step - 1e-9);
    scale.top = step * scale.ticks;
    return scale;
}

struct pfr_scale pfr_scale_time(double most, int ticks)
{
    static const double steps[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
                                    1800, 3600, 7200, 10800, 21600, 43200, 86400 };
    struct pfr_scale scale = { .top = fmax(most, 0.1) };
    double least = scale.top / ticks;

    scale.step = least > 86400 ? 86400 * round_up(least / 86400) : 0;
    for (size_t i = 0; i < PFR_COUNT(steps) && scale.step == 0; i++)
        if (steps[i] >= least * (1 - 1e-9))
            scale.step = steps[i];
    scale.ticks = (int)floor(scale.top / scale.step + 1e-9);
    return scale;
}

/* Three digits that say something, and no zeros behind them. */
static void short_number(double value, char *text, size_t size)
{
    double size_of = fabs(value);
    int decimals = size_of >= 100 ? 0 : size_of >= 10 ? 1 : 2;
    size_t n = (size_t)snprintf(text, size, "%.*f", decimals, value);

    if (decimals == 0 || n >= size)
        return;
    while (text[n - 1] == '0')
        text[--n] = '\0';
    if (text[n - 1] == '.')
        text[n - 1] = '\0';
}

static void bytes_text(double value, const char *end, char text[static PFR_SCALE_TEXT])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    char number[16];
    int unit = 0;

    while (value >= 999.5 && unit < 6) {
        value /= 1024;
        unit++;
    }
    short_number(value, number, sizeof(number));
    snprintf(text, PFR_SCALE_TEXT, "%s %s%s", number, units[unit], end);
}

void pfr_scale_text(enum pfr_axis axis, double value, char text[static PFR_SCALE_TEXT])
{
    char number[24];

    if (axis <= PFR_AXIS_RATE) {
        if (value == 0)
            snprintf(text, PFR_SCALE_TEXT, "0");
        else
            bytes_text(value, axis == PFR_AXIS_RATE ? "/s" : "", text);
        return;
    }
    short_number(value, number, sizeof(number));
    snprintf(text, PFR_SCALE_TEXT, "%s%s", number,
             axis == PFR_AXIS_SHARE && value != 0 ? " %" : "");
}

void pfr_scale_time_text(double seconds, double step, char text[static PFR_SCALE_TEXT])
{
    long whole = lround(seconds);

    if (step < 1 && seconds < 60)
        snprintf(text, PFR_SCALE_TEXT, seconds == 0 ? "0" : "%.1f s", seconds);
    else if (seconds < 60)
        snprintf(text, PFR_SCALE_TEXT, whole == 0 ? "0" : "%ld s", whole);
    else if (whole < 3600)
        snprintf(text, PFR_SCALE_TEXT, "%ld:%02ld", whole / 60, whole % 60);
    else if (whole < 86400)
        snprintf(text, PFR_SCALE_TEXT, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                 whole % 60);
    else
        snprintf(text, PFR_SCALE_TEXT, "%ldd %02ld:%02ld", whole / 86400, whole / 3600 % 24,
                 whole / 60 % 60);
}

double pfr_axis_quantum(enum pfr_axis axis)
{
    switch (axis) {
    case PFR_AXIS_CORES: /* from percent with three decimals */
        return 1e-5;
    case PFR_AXIS_SHARE:
        return 1e-3;
    default:
        return 1;
    }
}

const char *pfr_axis_name(enum pfr_axis axis)
{
    static const char *const names[] = { [PFR_AXIS_BYTES] = "bytes", [PFR_AXIS_RATE] = "rate",
                                         [PFR_AXIS_CORES] = "cores", [PFR_AXIS_SHARE] = "share",
                                         [PFR_AXIS_COUNT] = "count" };

    return names[axis];
}
