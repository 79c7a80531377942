#include "tools/profres/cell.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/parse.h"

/* The digits up to `end`, which is behind them, at least so many; where they begin. */
static char *digits_before(char *end, uint64_t number, int least)
{
    for (; number || least > 0; number /= 10, least--)
        *--end = (char)('0' + number % 10);
    return end;
}

/* By hand: a table of a million rows has millions of numbers. */
static void whole(int64_t number, char *text)
{
    char buffer[24], *end = buffer + sizeof(buffer), *begin;

    begin = digits_before(end, number < 0 ? -(uint64_t)number : (uint64_t)number, 1);
    if (number < 0)
        *--begin = '-';
    memcpy(text, begin, (size_t)(end - begin));
    text[end - begin] = '\0';
}

/* number/quantum with so many places, rounded; `trim` takes trailing zeros off. */
static void decimal(int64_t number, int64_t quantum, int places, bool trim, char *text)
{
    uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number, scale = 1, units, part;
    char buffer[PFR_CELL_SIZE], *end = buffer + sizeof(buffer), *begin;

    for (int i = 0; i < places; i++)
        scale *= 10;
    units = size / (uint64_t)quantum;
    part = (uint64_t)(((__uint128_t)(size % (uint64_t)quantum) * scale + (uint64_t)quantum / 2) /
                      (uint64_t)quantum);
    units += part / scale;
    part %= scale;
    begin = digits_before(end, part, places);
    *--begin = '.';
    begin = digits_before(begin, units, 1);
    if (number < 0 && (units || part))
        *--begin = '-';
    while (trim && end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    memcpy(text, begin, (size_t)(end - begin));
    text[end - begin] = '\0';
}

/* 1.21G, and 4G where nothing is lost, as sacct has it. */
static void format_bytes(int64_t bytes, char units, bool exact, char *text)
{
    static const char names[] = "KMGTPE";
    int64_t quantum = 1024;
    int unit = 0;
    size_t n;

    if (!units && (exact || bytes < 1024)) {
        whole(bytes, text);
        return;
    }
    while (names[unit + 1] && (units ? names[unit] != units : bytes / quantum >= 1024)) {
        quantum *= 1024;
        unit++;
    }
    decimal(bytes, quantum, exact ? 6 : 2, exact || bytes % quantum == 0, text);
    n = strlen(text);
    snprintf(text + n, PFR_CELL_SIZE - n, "%c", names[unit]);
}

static void format_elapsed(int64_t ns, char *text)
{
    uint64_t seconds = (uint64_t)(ns < 0 ? -(ns / PFR_NS_PER_S) : ns / PFR_NS_PER_S);
    char buffer[PFR_CELL_SIZE], *end = buffer + sizeof(buffer), *begin;

    begin = digits_before(end, seconds % 60, 2);
    *--begin = ':';
    begin = digits_before(begin, seconds / 60 % 60, 2);
    *--begin = ':';
    begin = digits_before(begin, seconds / 3600 % 24, 2);
    if (seconds >= 86400) {
        *--begin = '-';
        begin = digits_before(begin, seconds / 86400, 1);
    }
    if (ns < 0 && seconds)
        *--begin = '-';
    memcpy(text, begin, (size_t)(end - begin));
    text[end - begin] = '\0';
}

static void format_stamp(int64_t ns, char *text)
{
    time_t seconds = (time_t)(ns / PFR_NS_PER_S);
    struct tm tm;

    if (!localtime_r(&seconds, &tm) ||
        !strftime(text, PFR_CELL_SIZE, "%Y-%m-%dT%H:%M:%S", &tm)) /* digits in every locale */
        snprintf(text, PFR_CELL_SIZE, "?");
}

enum pfr_cell_kind pfr_cell_of_unit(enum pfr_unit unit)
{
    switch (unit) {
    case PFR_BYTES:
    case PFR_BYTES_PER_SECOND:
        return PFR_CELL_BYTES;
    case PFR_SECONDS:
        return PFR_CELL_SECONDS;
    case PFR_PERCENT:
        return PFR_CELL_PERCENT;
    default:
        return pfr_unit_quantum(unit) == 1000 ? PFR_CELL_REAL : PFR_CELL_COUNT;
    }
}

void pfr_cell_format(enum pfr_cell_kind kind, int64_t number, char units, bool exact,
                     char text[static PFR_CELL_SIZE])
{
    switch (kind) {
    case PFR_CELL_BYTES:
        format_bytes(number, units, exact, text);
        break;
    case PFR_CELL_SECONDS:
        decimal(number, PFR_NS_PER_S, exact ? 9 : 2, exact, text);
        break;
    case PFR_CELL_ELAPSED:
        format_elapsed(number, text);
        break;
    case PFR_CELL_PERCENT:
    case PFR_CELL_REAL:
        decimal(number, 1000, exact ? 3 : 1, exact, text);
        break;
    case PFR_CELL_CORES:
        decimal(number, 100000, exact ? 5 : 2, exact, text);
        break;
    case PFR_CELL_STAMP:
        format_stamp(number, text);
        break;
    default:
        whole(number, text);
    }
}

struct json_object *pfr_cell_json(enum pfr_cell_kind kind, const struct pfr_cell *cell)
{
    char text[PFR_CELL_SIZE];

    switch (kind) {
    case PFR_CELL_TEXT:
        return pfr_json_text(cell->text);
    case PFR_CELL_SECONDS:
    case PFR_CELL_ELAPSED:
        return pfr_json_value(PFR_SECONDS, cell->number);
    case PFR_CELL_PERCENT:
    case PFR_CELL_REAL:
        return pfr_json_value(PFR_PERCENT, cell->number);
    case PFR_CELL_CORES:
        pfr_cell_format(kind, cell->number, 0, true, text);
        return json_object_new_double_s((double)cell->number / 100000, text);
    case PFR_CELL_STAMP:
        return pfr_json_time(cell->number);
    default:
        return json_object_new_int64(cell->number);
    }
}

const char *pfr_cell_kind_name(enum pfr_cell_kind kind)
{
    static const char *const names[] = {
        [PFR_CELL_REAL] = "number",
        [PFR_CELL_TEXT] = "text",       [PFR_CELL_COUNT] = "count",
        [PFR_CELL_BYTES] = "bytes",     [PFR_CELL_SECONDS] = "seconds",
        [PFR_CELL_ELAPSED] = "seconds", [PFR_CELL_PERCENT] = "percent",
        [PFR_CELL_CORES] = "cores",     [PFR_CELL_STAMP] = "time",
    };

    return names[kind];
}
