#include "tools/profres/top/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/base/parse.h"
#include "common/base/safe.h"
#include "common/base/utf8.h"

int pfr_canvas_init(struct pfr_canvas *canvas, int rows, int columns, bool unicode)
{
    size_t count;

    rows = rows > 0 ? rows : 1;
    columns = columns > 0 ? columns : 1;
    count = (size_t)rows * (size_t)columns;
    *canvas = (struct pfr_canvas){ .rows = rows, .columns = columns, .unicode = unicode };
    canvas->spots = calloc(count, sizeof(*canvas->spots));
    if (!canvas->spots)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        canvas->spots[i].text[0] = ' ';
    return 0;
}

void pfr_canvas_release(struct pfr_canvas *canvas)
{
    free(canvas->spots);
    canvas->spots = NULL;
}

static void set(struct pfr_canvas *canvas, int row, int column, enum pfr_style style,
                const char *text)
{
    struct pfr_spot *spot;

    if (row < 0 || row >= canvas->rows || column < 0 || column >= canvas->columns)
        return;
    spot = &canvas->spots[(size_t)row * (size_t)canvas->columns + (size_t)column];
    snprintf(spot->text, sizeof(spot->text), "%.*s", (int)sizeof(spot->text) - 1, text);
    spot->style = (unsigned char)style;
}

/* How many columns the terminal gives to it; 0 for what cannot stand alone. */
static int width_of(const struct pfr_canvas *canvas, const char *unit)
{
    uint32_t code = 0;

    pfr_utf8_decode(unit, &code);
    if (code < 0x80)
        return 1;
    return canvas->unicode ? wcwidth((wchar_t)code) : 0;
}

/* One character, or the several that stand for a harmful one. */
static int put_unit(struct pfr_canvas *canvas, int row, int column, int end,
                    enum pfr_style style, const char *unit)
{
    int width = width_of(canvas, unit);

    if ((unsigned char)unit[0] < 0x80) {
        for (; *unit && column < end; unit++)
            set(canvas, row, column++, style, (char[]){ *unit, '\0' });
        return column;
    }
    if (width < 1 || (width == 2 && column + 1 >= end)) {
        set(canvas, row, column, style, "?");
        return column + 1;
    }
    set(canvas, row, column, style, unit);
    if (width == 2)
        set(canvas, row, column + 1, style, "");
    return column + width;
}

static int put_until(struct pfr_canvas *canvas, int row, int column, int end,
                     enum pfr_style style, const char *text)
{
    char unit[PFR_SAFE_UNIT];

    while (pfr_safe_next(&text, NULL, unit)) {
        if (column >= end)
            break;
        column = put_unit(canvas, row, column, end, style, unit);
    }
    return column < end ? column : end;
}

int pfr_canvas_put(struct pfr_canvas *canvas, int row, int column, enum pfr_style style,
                   const char *text)
{
    return put_until(canvas, row, column, canvas->columns, style, text);
}

void pfr_canvas_field(struct pfr_canvas *canvas, int row, int column, int width,
                      enum pfr_style style, const char *text)
{
    int length = (int)strlen(text); /* what stands on the right are numbers */

    if (width < 0)
        put_until(canvas, row, column, column - width - 1, style, text);
    else
        put_until(canvas, row, column + (length < width ? width - length : 0), column + width,
                  style, text);
}

int pfr_canvas_say(struct pfr_canvas *canvas, int row, int column, enum pfr_style style,
                   const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return pfr_canvas_put(canvas, row, column, style, text);
}

void pfr_canvas_paint(struct pfr_canvas *canvas, int row, enum pfr_style style)
{
    for (int i = 0; row >= 0 && row < canvas->rows && i < canvas->columns; i++)
        canvas->spots[(size_t)row * (size_t)canvas->columns + (size_t)i].style =
            (unsigned char)style;
}

void pfr_canvas_bar(struct pfr_canvas *canvas, int row, int column, int width,
                    enum pfr_style style, int64_t part, int64_t whole)
{
    static const char *const blocks[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    int inside = width - 2;
    int64_t eighths;

    if (inside < 1 || part < 0 || whole <= 0)
        return;
    eighths = pfr_muldiv(part < whole ? part : whole, 8 * inside, whole);
    if (eighths == 0 && part > 0)
        eighths = 1; /* a little is not nothing */
    set(canvas, row, column, PFR_PLAIN, "[");
    for (int i = 0; i < inside; i++) {
        int64_t rest = eighths - 8 * i;

        if (canvas->unicode)
            set(canvas, row, column + 1 + i, style,
                rest >= 8 ? "█" : blocks[rest > 0 ? rest : 0]);
        else
            set(canvas, row, column + 1 + i, style, rest >= (i ? 4 : 1) ? "#" : ".");
    }
    set(canvas, row, column + width - 1, PFR_PLAIN, "]");
}

void pfr_canvas_spark(struct pfr_canvas *canvas, int row, int column, enum pfr_style style,
                      const int64_t *values, size_t count)
{
    static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char *const letters[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
    int64_t most = 1;

    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < count; i++) {
        int64_t height = values[i] < 0 ? 0 : pfr_muldiv(values[i], 8, most);

        if (values[i] == INT64_MIN)
            continue;
        height = height > 7 ? 7 : height;
        set(canvas, row, column + (int)i, style, (canvas->unicode ? blocks : letters)[height]);
    }
}

static int length_of(const struct pfr_canvas *canvas, int row)
{
    int length = canvas->columns;

    while (length > 0 && strcmp(pfr_canvas_at(canvas, row, length - 1)->text, " ") == 0)
        length--;
    return length;
}

void pfr_canvas_write(const struct pfr_canvas *canvas, FILE *out)
{
    int rows = canvas->rows;

    while (rows > 0 && length_of(canvas, rows - 1) == 0)
        rows--;
    for (int row = 0; row < rows; row++) {
        for (int i = 0, length = length_of(canvas, row); i < length; i++)
            fputs(pfr_canvas_at(canvas, row, i)->text, out);
        fputc('\n', out);
    }
}
