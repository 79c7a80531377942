#include "tools/profres/table.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/base/near.h"
#include "common/base/parse.h"
#include "common/base/safe.h"

#define NAME_SIZE 64
#define WIDEST 4096
#define TABLE_SCHEMA "profres-table/1.0"

const struct pfr_column *pfr_column_find(const struct pfr_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcasecmp(columns->list[i].name, name) == 0)
            return &columns->list[i];
    return NULL;
}

static size_t listed(const struct pfr_columns *columns)
{
    return columns->listed ? columns->listed : columns->count;
}

static const char *name_at(const void *list, size_t i)
{
    return ((const struct pfr_column *)list)[i].name;
}

void pfr_column_miss(const struct pfr_columns *columns, const char *what, const char *typed)
{
    char near[4 * NAME_SIZE] = "";

    pfr_near_append(typed, columns->list, listed(columns), name_at, near, sizeof(near));
    pfr_error("there is no %s '%s'; nearest: %s. --helpformat lists them all", what, typed, near);
}

void pfr_columns_help(FILE *out, const struct pfr_columns *columns)
{
    for (size_t i = 0; i < listed(columns); i++)
        fprintf(out, "%-32s %-8s %s\n", columns->list[i].name,
                pfr_cell_kind_name(columns->list[i].kind), columns->list[i].help);
}

/* ---- options ------------------------------------------------------------- */

/* One that could be in a number or in what stands for a character would break rows. */
static bool is_delimiter(const char *text)
{
    return *text && !strpbrk(text, "\\\n0123456789.-abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static int take_delimiter(struct pfr_table_style *style, const char *argument)
{
    if (!is_delimiter(argument)) {
        fputs("profres: a delimiter is a sign such as '|', ';' or a tab; letters, digits, '.', '-'"
              " and '\\' stand in values\n", stderr);
        return -EINVAL;
    }
    style->delimiter = argument;
    return 1;
}

static int take_units(struct pfr_table_style *style, const char *argument)
{
    if (!*argument || argument[1] || !strchr("KMGkmg", *argument)) {
        pfr_error("--units is K, M or G (of 1024), not '%s'", argument);
        return -EINVAL;
    }
    style->units = (char)(*argument & ~0x20);
    return 1;
}

int pfr_table_option(struct pfr_table_style *style, int option, const char *argument)
{
    switch (option) {
    case 'o':
        style->format = argument;
        return 1;
    case 'e':
        style->help_format = true;
        return 1;
    case 'n':
        style->no_header = true;
        return 1;
    case 'p':
        style->form = PFR_TABLE_PARSABLE;
        return 1;
    case 'P':
        style->form = PFR_TABLE_PARSABLE2;
        return 1;
    case PFR_OPT_JSON:
        style->form = PFR_TABLE_JSON;
        return 1;
    case PFR_OPT_DELIMITER:
        return take_delimiter(style, argument);
    case PFR_OPT_UNITS:
        return take_units(style, argument);
    default:
        return 0;
    }
}

/* ---- choosing ------------------------------------------------------------ */

/* "%20", "%-20", or nothing at all. */
static bool parse_width(const char *text, int *width)
{
    bool left;
    int64_t number;

    if (!*text)
        return true;
    left = *++text == '-';
    if (!pfr_parse_int(text + left, &number) || number < 1 || number > WIDEST)
        return false;
    *width = left ? (int)-number : (int)number;
    return true;
}

static void choose(struct pfr_table *table, const struct pfr_column *column, int width)
{
    table->chosen[table->count++] = (struct pfr_chosen){ .column = column, .width = width };
}

static int choose_one(struct pfr_table *table, const struct pfr_columns *columns, const char *item)
{
    char name[NAME_SIZE];
    size_t length = strcspn(item, "%");
    const struct pfr_column *column;
    int width;

    snprintf(name, sizeof(name), "%.*s", (int)length, item);
    if (strcasecmp(name, "ALL") == 0) {
        for (size_t i = 0; i < listed(columns); i++)
            choose(table, &columns->list[i], columns->list[i].width);
        return 0;
    }
    column = pfr_column_find(columns, name);
    if (!column) {
        pfr_column_miss(columns, "field", name);
        return -EINVAL;
    }
    width = column->width;
    if (!parse_width(item + length, &width)) {
        pfr_error("a width is %%NUMBER, to the left %%-NUMBER, as in %s%%20", column->name);
        return -EINVAL;
    }
    choose(table, column, width);
    return 0;
}

static int choose_all(struct pfr_table *table, const struct pfr_columns *columns,
                      const char *format)
{
    PFR_AUTO_FREE char *copy = strdup(format);
    size_t items = 1;
    char *rest = NULL;

    for (const char *p = format; *p; p++)
        items += *p == ',';
    table->chosen = calloc(items * (columns->count + 1), sizeof(*table->chosen));
    if (!copy || !table->chosen)
        return -ENOMEM;
    for (char *item = strtok_r(copy, ", ", &rest); item; item = strtok_r(NULL, ", ", &rest)) {
        int r = choose_one(table, columns, item);

        if (r < 0)
            return r;
    }
    if (table->count)
        return 0;
    fputs("profres: --format is a list of fields, as in JobID,Elapsed%12\n", stderr);
    return -EINVAL;
}

/* ---- printing ------------------------------------------------------------ */

static const char *delimiter_of(const struct pfr_table *table)
{
    if (table->style->form == PFR_TABLE_PLAIN)
        return NULL;
    return table->style->delimiter ? table->style->delimiter : "|";
}

static void spaces(FILE *out, int count)
{
    if (count > 0)
        fprintf(out, "%*s", count, "");
}

/* How much of it can be printed as it is: nearly always all. */
static size_t plain_length(const char *text, const char *delimiter)
{
    size_t n = 0;

    while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '\\' &&
           !(delimiter && text[n] == *delimiter))
        n++;
    return n;
}

static int columns_of(const char *text)
{
    char unit[PFR_SAFE_UNIT];
    int columns = 0;

    columns = (int)plain_length(text, NULL);
    text += columns;
    for (int n; (n = pfr_safe_next(&text, NULL, unit)) > 0;)
        columns += n;
    return columns;
}

/* At most `room` columns of it, the last of them '+' when there is more. */
static void print_cut(FILE *out, const char *text, int columns, int room)
{
    char unit[PFR_SAFE_UNIT];
    int left = columns > room ? room - 1 : columns, n;

    if (columns <= room && (size_t)columns == plain_length(text, NULL)) {
        fwrite_unlocked(text, 1, (size_t)columns, out);
        return;
    }
    while (left > 0 && (n = pfr_safe_next(&text, NULL, unit)) > 0 && n <= left) {
        fputs(unit, out);
        left -= n;
    }
    if (columns <= room)
        return;
    spaces(out, left); /* of a sign that would have been cut in two */
    fputc('+', out);
}

/*
 * In its place of a line; `cut` for words only: a number that lost its end
 * would be another number. The blanks behind the last column are spared.
 */
static void print_padded(const struct pfr_table *table, size_t i, const char *text, bool cut)
{
    int width = table->chosen[i].width, room = abs(width), columns = columns_of(text);
    int pad = columns < room ? room - columns : 0;

    if (i)
        fputc(' ', table->out);
    if (width > 0)
        spaces(table->out, pad);
    print_cut(table->out, text, columns, cut ? room : INT_MAX);
    if (width < 0 && i + 1 < table->count)
        spaces(table->out, pad);
}

static void print_delimited(const struct pfr_table *table, size_t i, const char *text)
{
    const char *delimiter = delimiter_of(table);
    char unit[PFR_SAFE_UNIT];

    for (;;) {
        size_t length = plain_length(text, delimiter);

        fwrite_unlocked(text, 1, length, table->out);
        text += length;
        if (!pfr_safe_next(&text, delimiter, unit))
            break;
        fputs_unlocked(unit, table->out);
    }
    if (i + 1 < table->count || table->style->form == PFR_TABLE_PARSABLE)
        fputs_unlocked(delimiter, table->out);
}

static void print_cell(const struct pfr_table *table, size_t i, const char *text, bool cut)
{
    if (table->style->form == PFR_TABLE_PLAIN)
        print_padded(table, i, text, cut);
    else
        print_delimited(table, i, text);
}

static void print_header(const struct pfr_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        print_cell(table, i, table->chosen[i].column->name, true);
    putc_unlocked('\n', table->out);
    for (size_t i = 0; table->style->form == PFR_TABLE_PLAIN && i < table->count; i++) {
        fputs(i ? " " : "", table->out);
        for (int k = abs(table->chosen[i].width); k > 0; k--)
            fputc('-', table->out);
    }
    if (table->style->form == PFR_TABLE_PLAIN)
        putc_unlocked('\n', table->out);
}

int pfr_table_open(struct pfr_table *table, const struct pfr_table_style *style,
                   const struct pfr_columns *columns, const char *format, FILE *out)
{
    int r;

    *table = (struct pfr_table){ .style = style };
    r = choose_all(table, columns, style->format ? style->format : format);
    if (r < 0) {
        pfr_table_close(table);
        return r;
    }
    table->out = out;
    if (style->form == PFR_TABLE_JSON)
        fputs("{\"schema\":\"" TABLE_SCHEMA "\",\"rows\":[", out);
    else if (!style->no_header)
        print_header(table);
    return 0;
}

/* JSON leaves DEL and the other set of controls as they are; terminals do not. */
static void print_json_line(FILE *out, const char *line)
{
    for (const char *p = line; *p; p++) {
        unsigned char next = (unsigned char)p[1];

        if (*p == 0x7f)
            fputs("\\u007f", out);
        else if ((unsigned char)*p == 0xc2 && next >= 0x80 && next < 0xa0)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*++p);
        else
            fputc(*p, out);
    }
}

static void print_json(const struct pfr_table *table, const void *row)
{
    PFR_AUTO_JSON *object = json_object_new_object();

    for (size_t i = 0; i < table->count; i++) {
        const struct pfr_column *column = table->chosen[i].column;
        struct pfr_cell cell = { 0 };

        if (column->get(row, column->which, &cell))
            pfr_json_add(object, column->name, pfr_cell_json(column->kind, &cell));
    }
    fputs(table->rows ? ",\n" : "\n", table->out);
    print_json_line(table->out, pfr_json_line(object));
}

static void print_row(const struct pfr_table *table, const void *row)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct pfr_column *column = table->chosen[i].column;
        bool plain = table->style->form == PFR_TABLE_PLAIN, text = column->kind == PFR_CELL_TEXT;
        struct pfr_cell cell = { 0 };
        char number[PFR_CELL_SIZE];

        if (!column->get(row, column->which, &cell)) {
            print_cell(table, i, plain ? "-" : "", false);
            continue;
        }
        if (!text)
            pfr_cell_format(column->kind, cell.number, table->style->units, !plain, number);
        print_cell(table, i, text ? cell.text : number, text);
    }
    putc_unlocked('\n', table->out);
}

void pfr_table_row(struct pfr_table *table, const void *row)
{
    if (table->style->form == PFR_TABLE_JSON)
        print_json(table, row);
    else
        print_row(table, row);
    table->rows++;
}

void pfr_table_close(struct pfr_table *table)
{
    if (table->out && table->style->form == PFR_TABLE_JSON)
        fputs("\n]}\n", table->out);
    free(table->chosen);
    *table = (struct pfr_table){ 0 };
}
