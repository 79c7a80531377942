/* A view as SVG: plain attributes only, so that everything that reads SVG can draw it. */
#include <math.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "tools/profres/plot/render.h"

const char *const pfr_palette[PFR_COLOURS] = { "#2f6bd8", "#dd7a08", "#12977f", "#c62f66",
                                               "#7e57c2", "#94820c", "#3aa3d9", "#6b7280" };

enum { WIDTH = 1040, LEFT = 86, RIGHT = 24, PLOT = WIDTH - LEFT - RIGHT, PANEL = 132,
       HEAT_ROW_MOST = 16, EVENTS_SHOWN = 12 };

/* Of a letter at a size of 11; there is no font to ask. */
#define LETTER 6.1

struct canvas {
    FILE *out;
    const struct pfr_view *view;
    double y; /* how far down we are */
};

#define INK "#1d2430"
#define DIM "#5b6472"
#define RULE "#dfe3e8"
#define BAD "#b3261e"

static double x_of(const struct canvas *canvas, double t)
{
    double end = canvas->view->end;

    return LEFT + (end > 0 ? PLOT * fmin(fmax(t / end, 0), 1) : 0);
}

static void put_text(const struct canvas *canvas, double x, double y, const char *attributes,
                     const char *text)
{
    fprintf(canvas->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    pfr_escape_xml(canvas->out, text);
    fputs("</text>\n", canvas->out);
}

static void put_rule(const struct canvas *canvas, double x1, double y1, double x2, double y2,
                     const char *attributes)
{
    fprintf(canvas->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2,
            y2, attributes);
}

/* ---- the top ---- */

static void put_headlines(struct canvas *canvas)
{
    const struct pfr_view *view = canvas->view;
    size_t count = view->headline_count;
    double step = count ? (double)(WIDTH - 2 * RIGHT) / (double)count : 0;

    for (size_t i = 0; i < view->headline_count; i++) {
        const struct pfr_headline *fact = &view->headlines[i];
        double x = RIGHT + (double)i * step;
        size_t room = (size_t)(step / 5.9);
        char note[sizeof(fact->note) + 4];

        snprintf(note, sizeof(note), "%.*s%s", (int)(room > 3 ? room - 1 : 2), fact->note,
                 strlen(fact->note) >= room ? "…" : "");
        put_text(canvas, x, canvas->y + 10, "font-size=\"11\" fill=\"" DIM "\"", fact->name);
        put_text(canvas, x, canvas->y + 30,
                 fact->tone == PFR_TONE_BAD
                     ? "font-size=\"17\" font-weight=\"600\" fill=\"" BAD "\""
                     : "font-size=\"17\" font-weight=\"600\" fill=\"" INK "\"",
                 fact->value);
        put_text(canvas, x, canvas->y + 45, "font-size=\"9.5\" fill=\"" DIM "\"", note);
    }
    canvas->y += view->headline_count ? 58 : 0;
}

static void put_top(struct canvas *canvas, const struct pfr_figure *figure)
{
    const struct pfr_view *view = canvas->view;
    char title[400];

    snprintf(title, sizeof(title), "%s · %s", view->group[0] ? view->group : figure->title,
             view->name);
    put_text(canvas, RIGHT, 34, "font-size=\"20\" font-weight=\"600\" fill=\"" INK "\"", title);
    canvas->y = 46;
    if (view->command[0]) {
        char command[160];

        snprintf(command, sizeof(command), "%.150s%s", view->command,
                 strlen(view->command) > 150 ? "…" : "");
        put_text(canvas, RIGHT, 54,
                 "font-size=\"11\" font-family=\"monospace\" fill=\"" DIM "\"", command);
        canvas->y = 64;
    }
    for (size_t i = 0; i < view->note_count; i++) {
        put_text(canvas, RIGHT, canvas->y + 12,
                 view->notes[i].tone == PFR_TONE_BAD ? "font-size=\"11\" fill=\"" BAD "\""
                                                     : "font-size=\"11\" fill=\"" DIM "\"",
                 view->notes[i].text);
        canvas->y += 16;
    }
    canvas->y += 8;
    put_headlines(canvas);
}

/* ---- lines ---- */

static double y_in(double top, const struct pfr_scale *scale, double value)
{
    return top + PANEL * (1 - fmin(fmax(value / scale->top, 0), 1));
}

/* The points of a curve; `back` for the lower edge of a band, from its end to its start. */
static void put_points(const struct canvas *canvas, const struct pfr_curve *curve, double top,
                       const struct pfr_scale *scale, bool back, bool joined)
{
    bool first = !joined;

    for (size_t i = 0; i < curve->count; i++) {
        const struct pfr_bucket *bucket = &curve->buckets[back ? curve->count - 1 - i : i];
        struct pfr_point points[4];
        int count = pfr_bucket_points(bucket, points);

        for (int k = 0; k < count; k++) {
            const struct pfr_point *point = &points[back ? count - 1 - k : k];

            fprintf(canvas->out, "%c%.1f %.1f", first || (bucket->after_gap && k == 0 && !joined)
                                                    ? 'M' : 'L',
                    x_of(canvas, point->t), y_in(top, scale, point->v));
            first = false;
        }
    }
}

static void put_fill(const struct canvas *canvas, const struct pfr_stroke *line, double top,
                     const struct pfr_scale *scale)
{
    bool band = line->style == PFR_STROKE_BAND;
    const struct pfr_bucket *first = &line->curve.buckets[0];
    const struct pfr_bucket *last = &line->curve.buckets[line->curve.count - 1];
    double bottom = band ? line->lower.buckets[0].first.v : 0;

    fprintf(canvas->out, "<path fill=\"%s\" fill-opacity=\"%s\" stroke=\"none\" d=\"M%.1f %.1f",
            pfr_palette[line->colour], band ? "0.22" : "0.10", x_of(canvas, first->first.t),
            y_in(top, scale, bottom));
    put_points(canvas, &line->curve, top, scale, false, true);
    if (band)
        put_points(canvas, &line->lower, top, scale, true, true);
    else
        fprintf(canvas->out, "L%.1f %.1f", x_of(canvas, last->last.t), top + PANEL);
    fputs("Z\"/>\n", canvas->out);
}

static void put_line(const struct canvas *canvas, const struct pfr_stroke *line, double top,
                     const struct pfr_scale *scale, bool filled)
{
    static const char *const strokes[] = {
        [PFR_STROKE_SOLID] = "stroke-width=\"1.6\"",
        [PFR_STROKE_LIMIT] = "stroke-width=\"1.4\" stroke-dasharray=\"7 4\"",
        [PFR_STROKE_KEPT] = "stroke-width=\"1.4\" stroke-dasharray=\"2 3\"",
        [PFR_STROKE_STACK] = "",
        [PFR_STROKE_BAND] = "",
    };

    if (line->curve.count == 0)
        return;
    if (filled || line->style == PFR_STROKE_BAND)
        put_fill(canvas, line, top, scale);
    if (line->style == PFR_STROKE_BAND)
        return;
    fprintf(canvas->out, "<path fill=\"none\" stroke=\"%s\" stroke-linejoin=\"round\" %s d=\"",
            pfr_palette[line->colour], strokes[line->style]);
    put_points(canvas, &line->curve, top, scale, false, false);
    fputs("\"/>\n", canvas->out);
}

/* Areas on top of each other; all have the same times. */
static void put_stack(const struct canvas *canvas, const struct pfr_panel *panel, double top,
                      const struct pfr_scale *scale)
{
    double sums[512] = { 0 };

    for (size_t i = 0; i < panel->count; i++) {
        const struct pfr_stroke *line = &panel->lines[i];
        size_t count = line->curve.count < PFR_COUNT(sums) ? line->curve.count : PFR_COUNT(sums);
        double below[PFR_COUNT(sums)];

        if (line->style != PFR_STROKE_STACK || line->hidden || count == 0)
            continue;
        memcpy(below, sums, sizeof(below));
        fprintf(canvas->out, "<path fill=\"%s\" fill-opacity=\"0.75\" stroke=\"none\" d=\"",
                pfr_palette[line->colour]);
        for (size_t c = 0; c < count; c++) {
            sums[c] += line->curve.buckets[c].first.v;
            fprintf(canvas->out, "%c%.1f %.1f", c ? 'L' : 'M',
                    x_of(canvas, line->curve.buckets[c].first.t), y_in(top, scale, sums[c]));
        }
        for (size_t c = count; c-- > 0;)
            fprintf(canvas->out, "L%.1f %.1f", x_of(canvas, line->curve.buckets[c].first.t),
                    y_in(top, scale, below[c]));
        fputs("Z\"/>\n", canvas->out);
    }
}

/* ---- panels ---- */

static void put_grid(const struct canvas *canvas, double top, const struct pfr_scale *scale,
                     enum pfr_axis axis)
{
    struct pfr_scale time = pfr_scale_time(canvas->view->end, 8);
    char text[PFR_SCALE_TEXT];

    for (int i = 0; i <= scale->ticks; i++) {
        double y = y_in(top, scale, i * scale->step);

        put_rule(canvas, LEFT, y, LEFT + PLOT, y,
                 i ? "stroke=\"" RULE "\"" : "stroke=\"#9aa3af\"");
        pfr_scale_text(axis, i * scale->step, text);
        put_text(canvas, LEFT - 7, y + 3.5,
                 "font-size=\"10.5\" text-anchor=\"end\" fill=\"" DIM "\"", text);
    }
    for (int i = 0; i <= time.ticks; i++) {
        double x = x_of(canvas, i * time.step);

        put_rule(canvas, x, top, x, top + PANEL, "stroke=\"" RULE "\"");
        pfr_scale_time_text(i * time.step, time.step, text);
        put_text(canvas, fmin(x, WIDTH - 2), top + PANEL + 14,
                 x > WIDTH - 40 ? "font-size=\"10.5\" text-anchor=\"end\" fill=\"" DIM "\""
                                : "font-size=\"10.5\" text-anchor=\"middle\" fill=\"" DIM "\"",
                 text);
    }
}

static void put_legend(struct canvas *canvas, const struct pfr_panel *panel)
{
    double x = LEFT;

    for (size_t i = 0; i < panel->count; i++) {
        const struct pfr_stroke *line = &panel->lines[i];
        const struct pfr_point *high = pfr_curve_high(&line->curve);
        char most[PFR_SCALE_TEXT] = "", text[256];
        double width;

        if (line->hidden || !high)
            continue;
        pfr_scale_text(panel->axis, high->v, most);
        snprintf(text, sizeof(text), "%s %s", line->label, most);
        width = 26 + LETTER * (double)strlen(text);
        if (x + width > LEFT + PLOT && x > LEFT) {
            x = LEFT;
            canvas->y += 15;
        }
        fprintf(canvas->out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"3\" %s/>\n",
                x, canvas->y + 7, x + 14, canvas->y + 7, pfr_palette[line->colour],
                line->style == PFR_STROKE_LIMIT  ? "stroke-dasharray=\"5 3\""
                : line->style == PFR_STROKE_KEPT ? "stroke-dasharray=\"2 2\""
                                               : "");
        put_text(canvas, x + 19, canvas->y + 11, "font-size=\"11\" fill=\"" INK "\"", text);
        x += width;
    }
    canvas->y += 19;
}

static void put_moments(const struct canvas *canvas, double top)
{
    for (size_t i = 0; i < canvas->view->moment_count; i++) {
        const struct pfr_moment *moment = &canvas->view->moments[i];
        double x = x_of(canvas, moment->from), to = x_of(canvas, moment->to);

        if (moment->to > moment->from)
            fprintf(canvas->out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\" "
                    "fill-opacity=\"0.07\"/>\n",
                    x, top, fmax(to - x, 1), PANEL, pfr_palette[moment->colour]);
        else
            put_rule(canvas, x, top, x, top + PANEL,
                     moment->tone == PFR_TONE_BAD
                         ? "stroke=\"" BAD "\" stroke-width=\"1.3\""
                         : "stroke=\"" DIM "\" stroke-width=\"1\" stroke-dasharray=\"1 3\"");
    }
}

static void put_panel(struct canvas *canvas, const struct pfr_panel *panel)
{
    struct pfr_scale scale = pfr_scale_make(panel->axis, pfr_panel_most(panel), 4);
    bool filled = panel->count < 2 || strcmp(panel->lines[0].key, panel->lines[1].key) != 0;
    double top;
    char note[128];

    put_text(canvas, LEFT, canvas->y + 14,
             "font-size=\"14\" font-weight=\"600\" fill=\"" INK "\"", panel->title);
    snprintf(note, sizeof(note), "%s", panel->note);
    put_text(canvas, LEFT + 14 + 8.6 * (double)strlen(panel->title), canvas->y + 14,
             "font-size=\"11\" fill=\"" DIM "\"", note);
    canvas->y += 22;
    put_legend(canvas, panel);
    top = canvas->y + 4;
    put_moments(canvas, top);
    put_grid(canvas, top, &scale, panel->axis);
    put_stack(canvas, panel, top, &scale);
    for (size_t i = 0; i < panel->count; i++) {
        const struct pfr_stroke *line = &panel->lines[i];

        if (line->hidden || line->style == PFR_STROKE_STACK)
            continue;
        put_line(canvas, line, top, &scale, filled && line->style == PFR_STROKE_SOLID);
        filled = false;
    }
    canvas->y = top + PANEL + 34;
}

/* ---- warmth ---- */

/* From pale to dark through one hue, so that it can be read in grey, too. */
void pfr_heat_colour(double share, char text[static 8])
{
    static const double stops[][3] = { { 240, 244, 250 }, { 158, 196, 240 }, { 66, 128, 216 },
                                       { 24, 70, 156 },   { 10, 26, 74 } };
    double place = fmin(fmax(share, 0), 1) * 4;
    int at = place >= 4 ? 3 : (int)place;
    int rgb[3];

    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lround(stops[at][i] + (stops[at + 1][i] - stops[at][i]) * (place - at));
    snprintf(text, 8, "#%02x%02x%02x", rgb[0] & 0xff, rgb[1] & 0xff, rgb[2] & 0xff);
}

static void put_heat_key(const struct canvas *canvas, const struct pfr_heat *heat)
{
    char text[PFR_SCALE_TEXT], colour[8];

    for (int i = 0; i < 20; i++) {
        pfr_heat_colour(i / 19.0, colour);
        fprintf(canvas->out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"6.5\" height=\"9\" fill=\"%s\"/>\n",
                LEFT + PLOT - 190 + 6 * (double)i, canvas->y + 5, colour);
    }
    pfr_scale_text(heat->axis, heat->most, text);
    put_text(canvas, LEFT + PLOT - 196, canvas->y + 13,
             "font-size=\"10.5\" text-anchor=\"end\" fill=\"" DIM "\"", "0");
    put_text(canvas, LEFT + PLOT - 64, canvas->y + 13, "font-size=\"10.5\" fill=\"" DIM "\"", text);
}

static void put_heat(struct canvas *canvas, const struct pfr_heat *heat)
{
    double height = fmin(HEAT_ROW_MOST, fmax(3, 480.0 / (double)heat->rows));
    double width = (double)PLOT / (double)heat->columns;
    size_t named = (size_t)ceil(11 / height); /* every so many rows there is room for a name */

    put_text(canvas, LEFT, canvas->y + 14,
             "font-size=\"14\" font-weight=\"600\" fill=\"" INK "\"", heat->title);
    put_text(canvas, LEFT + 14 + 8.2 * (double)strlen(heat->title), canvas->y + 14,
             "font-size=\"11\" fill=\"" DIM "\"", heat->note);
    put_heat_key(canvas, heat);
    canvas->y += 24;
    for (size_t r = 0; r < heat->rows; r++) {
        double y = canvas->y + (double)r * height;

        if (r % named == 0)
            put_text(canvas, LEFT - 7, y + height / 2 + 3.5,
                     "font-size=\"10\" text-anchor=\"end\" fill=\"" DIM "\"", heat->names[r]);
        for (size_t c = 0; c < heat->columns; c++) {
            double value = heat->cells[r * heat->columns + c];
            char colour[8];

            if (isnan(value))
                continue;
            pfr_heat_colour(heat->most > 0 ? value / heat->most : 0, colour);
            fprintf(canvas->out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>\n",
                    LEFT + (double)c * width, y, width + 0.3, height - (height > 6 ? 1 : 0),
                    colour);
        }
    }
    canvas->y += (double)heat->rows * height + 28;
}

/* ---- the bottom ---- */

static void put_events(struct canvas *canvas)
{
    const struct pfr_view *view = canvas->view;
    size_t shown = view->moment_count < EVENTS_SHOWN ? view->moment_count : EVENTS_SHOWN;

    if (shown == 0)
        return;
    put_text(canvas, LEFT, canvas->y + 14,
             "font-size=\"14\" font-weight=\"600\" fill=\"" INK "\"", "Events");
    canvas->y += 22;
    for (size_t i = 0; i < shown; i++) {
        const struct pfr_moment *moment = &view->moments[i];
        char from[PFR_SCALE_TEXT], to[PFR_SCALE_TEXT], text[256];

        pfr_scale_time_text(moment->from, moment->from < 60 ? 0.1 : 1, from);
        pfr_scale_time_text(moment->to, moment->to < 60 ? 0.1 : 1, to);
        snprintf(text, sizeof(text), moment->to > moment->from ? "%s to %s   %s" : "%s%.0s   %s",
                 from, to, moment->text);
        put_text(canvas, LEFT, canvas->y + 11,
                 moment->tone == PFR_TONE_BAD ? "font-size=\"11\" fill=\"" BAD "\""
                                              : "font-size=\"11\" fill=\"" INK "\"",
                 text);
        canvas->y += 15;
    }
    if (view->moment_count > shown) {
        char text[64];

        snprintf(text, sizeof(text), "and %zu more", view->moment_count - shown);
        put_text(canvas, LEFT, canvas->y + 11, "font-size=\"11\" fill=\"" DIM "\"", text);
        canvas->y += 15;
    }
}

static void put_all(struct canvas *canvas, const struct pfr_figure *figure)
{
    put_top(canvas, figure);
    for (size_t i = 0; i < canvas->view->panel_count; i++)
        put_panel(canvas, &canvas->view->panels[i]);
    for (size_t i = 0; i < canvas->view->heat_count; i++)
        put_heat(canvas, &canvas->view->heats[i]);
    put_events(canvas);
    put_text(canvas, RIGHT, canvas->y + 16, "font-size=\"10\" fill=\"" DIM "\"",
             "profres " PACKAGE_VERSION "; time is since the run began");
    canvas->y += 28;
}

/* Its height is known when all of it is written. */
void pfr_render_svg(FILE *out, const struct pfr_figure *figure, const struct pfr_view *view)
{
    PFR_AUTO_FREE char *body = NULL;
    size_t size = 0;
    struct canvas canvas = { open_memstream(&body, &size), view, 0 };

    if (!canvas.out)
        return;
    put_all(&canvas, figure);
    fclose(canvas.out);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" "
            "role=\"img\">\n<title>",
            WIDTH, canvas.y, WIDTH, canvas.y);
    pfr_escape_xml(out, figure->title);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
    fwrite(body, 1, size, out);
    fputs("</svg>\n", out);
}
