/* A view in letters: for a terminal, a mail, a file that is looked at with less(1). */
#include <math.h>
#include <string.h>

#include "common/judge/chart.h"
#include "tools/profres/plot/render.h"

enum { INDENT = 12, ROWS = 6, EVENTS_SHOWN = 12 };

/* The line that stands for its panel: the first that is shown and is not zero throughout. */
static const struct pfr_stroke *chief_of(const struct pfr_panel *panel)
{
    const struct pfr_stroke *chief = NULL;

    for (size_t i = 0; i < panel->count; i++) {
        const struct pfr_stroke *line = &panel->lines[i];

        if (line->hidden || line->style == PFR_STROKE_LIMIT || line->curve.count == 0)
            continue;
        if (pfr_curve_high(&line->curve)->v > 0)
            return line;
        chief = chief ? chief : line;
    }
    return chief;
}

static double bound_of(const struct pfr_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++)
        if (!panel->lines[i].hidden && panel->lines[i].style == PFR_STROKE_LIMIT)
            return pfr_curve_high(&panel->lines[i].curve)->v;
    return 0;
}

/* Columns, not bytes: what follows a first byte of UTF-8 takes none. */
static int columns_of(const char *text, size_t bytes)
{
    int columns = 0;

    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Broken between words, and further lines indented like the first. */
static void put_wrapped(FILE *out, const char *first, const char *text, int columns)
{
    int indent = columns_of(first, strlen(first)), used = indent;

    fputs(first, out);
    while (*text) {
        size_t length = strcspn(text, " ");
        int width = columns_of(text, length);

        if (used > indent && used + 1 + width > columns) {
            fprintf(out, "\n%*s", indent, "");
            used = indent;
        }
        used += width + (used > indent);
        fprintf(out, "%s%.*s", used > indent + width ? " " : "", (int)length, text);
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void put_legend(FILE *out, const struct pfr_panel *panel, const struct pfr_stroke *chief,
                       int columns)
{
    int used = 0; /* of the line that is being written */

    for (size_t i = 0; i < panel->count; i++) {
        const struct pfr_stroke *line = &panel->lines[i];
        const struct pfr_point *high = pfr_curve_high(&line->curve);
        char most[PFR_SCALE_TEXT], text[256];

        if (line == chief || !high)
            continue;
        pfr_scale_text(panel->axis, high->v, most);
        snprintf(text, sizeof(text), "%s %s", line->label, most);
        if (used > 0 && used + 2 + (int)strlen(text) > columns) {
            fputc('\n', out);
            used = 0;
        }
        used += used > 0 ? fprintf(out, "; %s", text) : fprintf(out, "%*s%s", INDENT, "", text);
    }
    if (used > 0)
        fputc('\n', out);
}

static void put_rows(FILE *out, const struct pfr_chart_frame *frame, const struct pfr_curve *curve,
                     enum pfr_axis axis, int rows_per_tick)
{
    for (int row = 0; row < frame->height; row++) {
        char text[PFR_SCALE_TEXT] = "";

        if (row % rows_per_tick == 0)
            pfr_scale_text(axis, frame->top * (frame->height - row) / frame->height, text);
        fprintf(out, "%*s %s", INDENT - 2, text, frame->ascii ? "|" : "▕");
        pfr_chart_row(out, frame, curve, row);
        fputc('\n', out);
    }
}

static void put_panel(FILE *out, const struct pfr_view *view, const struct pfr_panel *panel,
                      int columns, bool ascii)
{
    const struct pfr_stroke *chief = chief_of(panel);
    struct pfr_chart_frame frame = { .end = view->end, .width = columns - INDENT,
                                     .ascii = ascii, .bound = bound_of(panel) };
    struct pfr_scale scale;
    char most[PFR_SCALE_TEXT];
    double high;

    if (!chief || chief->style == PFR_STROKE_STACK)
        return;
    high = pfr_curve_high(&chief->curve)->v;
    scale = pfr_scale_make(panel->axis, fmax(high, frame.bound), 3);
    frame.top = scale.top;
    frame.height = scale.ticks < 2 ? ROWS - 2 : scale.ticks * (ROWS / scale.ticks);
    pfr_scale_text(panel->axis, high, most);
    fprintf(out, "%s: %s, %s at most\n", panel->title, chief->label, most);
    put_rows(out, &frame, &chief->curve, panel->axis, frame.height / scale.ticks);
    pfr_chart_times(out, INDENT, frame.width, view->end);
    put_legend(out, panel, chief, columns);
    fputc('\n', out);
}

/* Each row in its own scale would lie: all have that of the largest. */
static void put_heat(FILE *out, const struct pfr_heat *heat, int columns, bool ascii)
{
    int names = 16, width = columns - names - 12;
    char most[PFR_SCALE_TEXT];

    pfr_scale_text(heat->axis, heat->most, most);
    fprintf(out, "%s, %s at most\n", heat->title, most);
    for (size_t r = 0; r < heat->rows; r++) {
        struct pfr_chart_frame frame = { .end = heat->seconds, .width = width, .ascii = ascii,
                                         .top = heat->most > 0 ? heat->most : 1 };
        struct pfr_curve curve;
        double high = -1;

        pfr_curve_init(&curve, 2 * heat->columns);
        for (size_t c = 0; c < heat->columns; c++) {
            double value = heat->cells[r * heat->columns + c];
            double step = heat->seconds / (double)heat->columns;

            if (isnan(value))
                pfr_curve_break(&curve);
            else
                pfr_curve_add(&curve, ((double)c + 0.5) * step, value);
            high = isnan(value) ? high : fmax(high, value);
        }
        pfr_scale_text(heat->axis, fmax(high, 0), most);
        fprintf(out, "%*.*s ", names - 1, names - 1, heat->names[r]);
        pfr_chart_spark(out, &frame, &curve);
        fprintf(out, " %s\n", high < 0 ? "-" : most);
        pfr_curve_release(&curve);
    }
    fputc('\n', out);
}

static void put_moments(FILE *out, const struct pfr_view *view, int columns)
{
    for (size_t i = 0; i < view->moment_count && i < EVENTS_SHOWN; i++) {
        const struct pfr_moment *moment = &view->moments[i];
        char from[PFR_SCALE_TEXT], to[PFR_SCALE_TEXT], first[3 * PFR_SCALE_TEXT];

        pfr_scale_time_text(moment->from, moment->from < 60 ? 0.1 : 1, from);
        pfr_scale_time_text(moment->to, moment->to < 60 ? 0.1 : 1, to);
        snprintf(first, sizeof(first), moment->to > moment->from ? "%9s  to %s: " : "%9s  %.0s",
                 from, to);
        put_wrapped(out, first, moment->text, columns);
    }
    if (view->moment_count > EVENTS_SHOWN)
        fprintf(out, "%9s  and %zu more\n", "", view->moment_count - EVENTS_SHOWN);
}

void pfr_render_text(FILE *out, const struct pfr_figure *figure, const struct pfr_view *view,
                     int columns, bool ascii)
{
    columns = columns < 40 ? 40 : columns > 200 ? 200 : columns;
    fprintf(out, "%s, %s\n", view->group[0] ? view->group : figure->title, view->name);
    for (size_t i = 0; i < view->headline_count; i++) {
        const struct pfr_headline *headline = &view->headlines[i];
        char name[32], text[192];

        snprintf(name, sizeof(name), "  %-16s ", headline->name);
        snprintf(text, sizeof(text), "%s%s%s", headline->value, headline->note[0] ? ", " : "",
                 headline->note);
        put_wrapped(out, name, text, columns);
    }
    for (size_t i = 0; i < view->note_count; i++)
        put_wrapped(out, "  note: ", view->notes[i].text, columns);
    fputc('\n', out);
    for (size_t i = 0; i < view->panel_count; i++)
        put_panel(out, view, &view->panels[i], columns, ascii);
    for (size_t i = 0; i < view->heat_count; i++)
        put_heat(out, &view->heats[i], columns, ascii);
    put_moments(out, view, columns);
}
