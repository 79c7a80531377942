#include "tools/profres/when.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"

/* Digits within limits, and what has to stand behind them (0: anything). */
static bool number(const char **text, int least, int most, char behind, int *value)
{
    int64_t n;

    if (!pfr_parse_digits(text, &n) || n < least || n > most)
        return false;
    *value = (int)n;
    if (!behind)
        return true;
    return *(*text)++ == behind;
}

/* "05:30[:15]" up to the end. */
static bool parse_clock(const char *text, struct tm *tm)
{
    tm->tm_sec = 0;
    if (!number(&text, 0, 23, ':', &tm->tm_hour) || !number(&text, 0, 59, 0, &tm->tm_min))
        return false;
    if (*text == ':' && (text++, !number(&text, 0, 60, 0, &tm->tm_sec)))
        return false;
    return *text == '\0';
}

static void set_midnight(struct tm *tm)
{
    tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
}

/* The 31st of February is the third of March to mktime(), and a slip to its author. */
static bool is_day(const struct tm *tm)
{
    struct tm day = { .tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday };

    return timegm(&day) != (time_t)-1 && day.tm_mday == tm->tm_mday;
}

/* "2026-11-16[T05:30]" */
static bool parse_date(const char *text, struct tm *tm)
{
    if (!number(&text, 1970, 9999, '-', &tm->tm_year) || !number(&text, 1, 12, '-', &tm->tm_mon) ||
        !number(&text, 1, 31, 0, &tm->tm_mday))
        return false;
    tm->tm_year -= 1900;
    tm->tm_mon--;
    set_midnight(tm);
    return is_day(tm) && (*text == '\0' || (*text == 'T' && parse_clock(text + 1, tm)));
}

/* "11/16[/26]", without a year of this one */
static bool parse_month_first(const char *text, struct tm *tm)
{
    int year;

    if (!number(&text, 1, 12, '/', &tm->tm_mon) || !number(&text, 1, 31, 0, &tm->tm_mday))
        return false;
    tm->tm_mon--;
    set_midnight(tm);
    if (*text == '\0')
        return is_day(tm);
    text++;
    if (text[-1] != '/' || !number(&text, 0, 9999, 0, &year) || *text)
        return false;
    tm->tm_year = year < 100 ? year + 100 : year - 1900;
    return is_day(tm);
}

static bool parse_word(const char *text, struct tm *tm)
{
    static const struct {
        const char *name;
        int days, hour;
    } words[] = { { "today", 0, 0 },     { "midnight", 0, 0 }, { "noon", 0, 12 },
                  { "yesterday", -1, 0 }, { "tomorrow", 1, 0 } };

    for (size_t i = 0; i < PFR_COUNT(words); i++)
        if (strcasecmp(text, words[i].name) == 0) {
            set_midnight(tm);
            tm->tm_mday += words[i].days;
            tm->tm_hour = words[i].hour;
            return true;
        }
    return false;
}

/* "now", "now-2days", "now+1hour"; a number alone is seconds. */
static bool parse_now(const char *text, int64_t now, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = { { "", 1 },        { "seconds", 1 }, { "minutes", 60 },
                  { "hours", 3600 }, { "days", 86400 }, { "weeks", 7 * 86400 } };
    int64_t count = 0;
    int sign;

    if (strncasecmp(text, "now", 3) != 0)
        return false;
    text += 3;
    *ns = now;
    if (!*text)
        return true;
    sign = *text == '-' ? -1 : 1;
    if ((*text != '-' && *text != '+') || (text++, !pfr_parse_digits(&text, &count)) ||
        count > 100000000)
        return false;
    for (size_t i = 0; i < PFR_COUNT(units); i++) {
        size_t n = strlen(units[i].name);

        /* "day" and "days", as people say it */
        if (strcasecmp(text, units[i].name) == 0 ||
            (n && strlen(text) == n - 1 && strncasecmp(text, units[i].name, n - 1) == 0)) {
            *ns = now + sign * count * units[i].seconds * PFR_NS_PER_S;
            return true;
        }
    }
    return false;
}

bool pfr_when_parse(const char *text, int64_t now, int64_t *ns)
{
    time_t seconds = (time_t)(now / PFR_NS_PER_S);
    struct tm today, tm;

    if (parse_now(text, now, ns))
        return true;
    if (!localtime_r(&seconds, &today))
        return false;
    tm = today;
    if (!parse_date(text, &tm) && (tm = today, !parse_month_first(text, &tm)) &&
        (tm = today, !parse_clock(text, &tm)) && (tm = today, !parse_word(text, &tm)))
        return false;
    tm.tm_isdst = -1;
    seconds = mktime(&tm);
    if (seconds == (time_t)-1 || seconds > INT64_MAX / PFR_NS_PER_S)
        return false;
    *ns = (int64_t)seconds * PFR_NS_PER_S;
    return true;
}
