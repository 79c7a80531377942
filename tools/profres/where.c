#include "tools/profres/where.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "tools/profres/when.h"

static int refuse(const char *text, const char *why)
{
    pfr_error("'%s': %s", text, why);
    return -EINVAL;
}

struct unit {
    const char *name;
    int64_t quanta; /* in the kind's own quantum */
};

static const struct unit sizes[] = {
    { "", 1 },
    { "B", 1 },
    { "K", 1 << 10 },
    { "M", 1 << 20 },
    { "G", 1 << 30 },
    { "T", INT64_C(1) << 40 },
    { NULL, 0 },
};
static const struct unit times[] = {
    { "", PFR_NS_PER_S },         { "s", PFR_NS_PER_S },        { "ms", 1000000 },
    { "m", 60 * PFR_NS_PER_S },   { "min", 60 * PFR_NS_PER_S }, { "h", 3600 * PFR_NS_PER_S },
    { "d", 86400 * PFR_NS_PER_S }, { NULL, 0 },
};
static const struct unit percents[] = { { "", 1000 }, { "%", 1000 }, { NULL, 0 } };
static const struct unit cores[] = { { "", 100000 }, { NULL, 0 } };
static const struct unit counts[] = { { "", 1 }, { NULL, 0 } };

static const struct {
    const struct unit *units;
    const char *like;
} kinds[] = {
    [PFR_CELL_COUNT] = { counts, "a number, as in 12" },
    [PFR_CELL_BYTES] = { sizes, "a size, as in 4G, 512M or 1.5T" },
    [PFR_CELL_SECONDS] = { times, "a time, as in 90, 90s, 5m, 2h or 01:30:00" },
    [PFR_CELL_ELAPSED] = { times, "a time, as in 90, 90s, 5m, 2h or 01:30:00" },
    [PFR_CELL_PERCENT] = { percents, "a percentage, as in 90 or 90%" },
    [PFR_CELL_CORES] = { cores, "a number of cores, as in 3.5" },
};

/* "1.5G": digits, a fraction to nine places, and a unit. */
static bool parse_decimal(const char *text, const struct unit *units, int64_t *value)
{
    int64_t whole, nano = 0, place = PFR_NS_PER_S;

    if (!pfr_parse_digits(&text, &whole))
        return false;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            nano += (place /= 10) * (*text - '0');
    text += strspn(text, " ");
    for (; units->name; units++)
        if (strcasecmp(text, units->name) == 0) {
            if (__builtin_mul_overflow(whole, units->quanta, &whole))
                return false;
            *value = whole + pfr_muldiv(nano, units->quanta, PFR_NS_PER_S);
            return true;
        }
    return false;
}

/* "[1-]02:03:04" */
static bool parse_clock(const char *text, int64_t *ns)
{
    int64_t days = 0, hours, minutes, seconds;

    if (strchr(text, '-') && (!pfr_parse_digits(&text, &days) || *text++ != '-'))
        return false;
    if (!pfr_parse_digits(&text, &hours) || *text++ != ':' || !pfr_parse_digits(&text, &minutes) ||
        *text++ != ':' || !pfr_parse_digits(&text, &seconds) || *text || days > 100000 ||
        hours > 1000000 || minutes > 59 || seconds > 59)
        return false;
    *ns = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * PFR_NS_PER_S;
    return true;
}

static int parse_value(struct pfr_term *term, const char *text, int64_t now)
{
    enum pfr_cell_kind kind = term->column->kind;

    if (kind == PFR_CELL_TEXT) {
        if (term->op != PFR_EQUAL && term->op != PFR_UNLIKE)
            return refuse(text, "words can be = or !=, not more or less");
        if (strlen(text) >= sizeof(term->text))
            return refuse(text, "this is too long to compare with");
        memcpy(term->text, text, strlen(text) + 1);
        return 0;
    }
    if (kind == PFR_CELL_STAMP)
        return pfr_when_parse(text, now, &term->number)
                   ? 0
                   : refuse(text, "this is no time; write it " PFR_WHEN_HELP);
    if (((kind == PFR_CELL_ELAPSED || kind == PFR_CELL_SECONDS) &&
         parse_clock(text, &term->number)) ||
        parse_decimal(text, kinds[kind].units, &term->number))
        return 0;
    pfr_error("%s is compared with %s", term->column->name, kinds[kind].like);
    return -EINVAL;
}

static bool parse_op(const char **text, enum pfr_where_op *op)
{
    static const struct {
        const char *sign;
        enum pfr_where_op op;
    } ops[] = { { "==", PFR_EQUAL }, { "!=", PFR_UNLIKE },   { "<=", PFR_AT_MOST },
                { ">=", PFR_AT_LEAST }, { "=", PFR_EQUAL }, { "<", PFR_LESS }, { ">", PFR_MORE } };

    for (size_t i = 0; i < PFR_COUNT(ops); i++)
        if (strncmp(*text, ops[i].sign, strlen(ops[i].sign)) == 0) {
            *text += strlen(ops[i].sign);
            *op = ops[i].op;
            return true;
        }
    return false;
}

/* Without the blanks, and the quotes, around it. */
static char *trim(char *text)
{
    size_t n;

    text += strspn(text, " \t");
    for (n = strlen(text); n && strchr(" \t", text[n - 1]); n--)
        text[n - 1] = '\0';
    if (n >= 2 && (*text == '"' || *text == '\'') && text[n - 1] == *text) {
        text[n - 1] = '\0';
        text++;
    }
    return text;
}

static int parse_term(struct pfr_where *where, const struct pfr_columns *columns, char *text,
                      int64_t now)
{
    struct pfr_term *term = &where->terms[where->count];
    size_t length = strcspn(text, "=!<>");
    const char *rest = text + length;
    char name[64];

    if (where->count == PFR_WHERE_MAX)
        return refuse(text, "so many conditions at once are not possible");
    if (!parse_op(&rest, &term->op))
        return refuse(text, "a condition is NAME, one of = != < <= > >=, and a value,"
                            " as in 'cgroup_mem_peak > 4G'");
    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    term->column = pfr_column_find(columns, trim(name));
    if (!term->column) {
        pfr_column_miss(columns, "field", trim(name));
        return -EINVAL;
    }
    if (parse_value(term, trim((char *)rest), now) < 0)
        return -EINVAL;
    where->count++;
    return 0;
}

/* Where the next "&&" or "and" begins, and how long it is; 0 at the end. */
static size_t find_joint(const char *text, size_t *length)
{
    char quote = '\0';

    for (size_t i = 0; text[i]; i++) {
        if (quote || text[i] == '"' || text[i] == '\'') {
            quote = quote == text[i] ? '\0' : quote ? quote : text[i];
            continue;
        }
        *length = strncmp(text + i, "&&", 2) == 0 ? 2 : 0;
        if (i && isspace((unsigned char)text[i - 1]) && strncasecmp(text + i, "and", 3) == 0 &&
            isspace((unsigned char)text[i + 3]))
            *length = 3;
        if (*length)
            return i;
    }
    *length = 0;
    return strlen(text);
}

int pfr_where_parse(struct pfr_where *where, const struct pfr_columns *columns, const char *text,
                    int64_t now)
{
    PFR_AUTO_FREE char *copy = strdup(text);
    size_t length;

    if (!copy)
        return -ENOMEM;
    for (char *p = copy;;) {
        size_t end = find_joint(p, &length);

        p[end] = '\0';
        if (parse_term(where, columns, trim(p), now) < 0)
            return -EINVAL;
        if (!length)
            return 0;
        p += end + length;
    }
}

static bool match_number(enum pfr_where_op op, int64_t a, int64_t b)
{
    switch (op) {
    case PFR_EQUAL:
        return a == b;
    case PFR_UNLIKE:
        return a != b;
    case PFR_LESS:
        return a < b;
    case PFR_AT_MOST:
        return a <= b;
    case PFR_MORE:
        return a > b;
    case PFR_AT_LEAST:
        return a >= b;
    }
    return false;
}

bool pfr_where_match(const struct pfr_where *where, const void *row)
{
    for (int i = 0; i < where->count; i++) {
        const struct pfr_term *term = &where->terms[i];
        struct pfr_cell cell = { 0 };

        if (!term->column->get(row, term->column->which, &cell))
            return false;
        if (term->column->kind == PFR_CELL_TEXT) {
            bool same = fnmatch(term->text, cell.text, FNM_CASEFOLD) == 0;

            if (same != (term->op == PFR_EQUAL))
                return false;
        } else if (!match_number(term->op, cell.number, term->number)) {
            return false;
        }
    }
    return true;
}
