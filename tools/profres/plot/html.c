/*
 * The page: the figure as JSON, and the script and the style that were put
 * into this program when it was built. It asks nothing of any network.
 */
#include <math.h>
#include <string.h>

#include "tools/profres/plot/page.h"
#include "tools/profres/plot/render.h"
#include "tools/profres/plot/sha256.h"

/* ---- numbers, in as few letters as will do ---- */

/* Each as the difference to the one before, in whole quanta: short, and exact. */
struct differences {
    FILE *out;
    double quantum;
    long long last;
    bool any;
};

static void put_number(struct differences *d, double value)
{
    double exact = value / d->quantum; /* beyond 2^53 a script has no whole numbers */
    long long whole = exact >= 0x1p53 ? 1LL << 53 : exact > -0x1p53 ? llround(exact) : -(1LL << 53);

    fprintf(d->out, d->any ? ",%lld" : "%lld", whole - d->last);
    d->last = whole;
    d->any = true;
}

static void put_gap(struct differences *d)
{
    fputs(d->any ? ",null" : "null", d->out);
    d->any = true;
}

static void put_curve(FILE *out, const struct pfr_curve *curve, const char *times,
                      const char *values, double quantum)
{
    for (int round = 0; round < 2; round++) {
        struct differences d = { out, round ? quantum : 0.001, 0, false };

        fprintf(out, ",\"%s\":[", round ? values : times);
        for (size_t i = 0; i < curve->count; i++) {
            struct pfr_point points[4];
            int count = pfr_bucket_points(&curve->buckets[i], points);

            if (curve->buckets[i].after_gap)
                put_gap(&d);
            for (int k = 0; k < count; k++)
                put_number(&d, round ? points[k].v : points[k].t);
        }
        putc(']', out);
    }
}

static void put_member(FILE *out, const char *before, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\":", before, key);
    pfr_escape_json(out, text);
}

/* ---- the parts of a view ---- */

static void put_line(FILE *out, const struct pfr_stroke *line, double quantum)
{
    static const char *const styles[] = {
        [PFR_STROKE_SOLID] = "solid", [PFR_STROKE_LIMIT] = "limit", [PFR_STROKE_KEPT] = "kept",
        [PFR_STROKE_STACK] = "stack", [PFR_STROKE_BAND] = "band",
    };

    put_member(out, "{", "key", line->key);
    put_member(out, ",", "label", line->label);
    put_member(out, ",", "style", styles[line->style]);
    fprintf(out, ",\"colour\":%d%s", line->colour, line->hidden ? ",\"hidden\":true" : "");
    put_curve(out, &line->curve, "t", "v", quantum);
    if (line->style == PFR_STROKE_BAND)
        put_curve(out, &line->lower, "lt", "lv", quantum);
    putc('}', out);
}

static void put_panel(FILE *out, const struct pfr_panel *panel)
{
    put_member(out, "{", "name", panel->name);
    put_member(out, ",", "title", panel->title);
    put_member(out, ",", "note", panel->note);
    put_member(out, ",", "axis", pfr_axis_name(panel->axis));
    fprintf(out, ",\"quantum\":%g,\"lines\":[", pfr_axis_quantum(panel->axis));
    for (size_t i = 0; i < panel->count; i++) {
        if (i)
            fputs(",\n", out);
        put_line(out, &panel->lines[i], pfr_axis_quantum(panel->axis));
    }
    fputs("]}", out);
}

/* Cells in thousandths of the largest; -1 where nothing was measured. */
static void put_heat(FILE *out, const struct pfr_heat *heat)
{
    put_member(out, "{", "title", heat->title);
    put_member(out, ",", "note", heat->note);
    put_member(out, ",", "axis", pfr_axis_name(heat->axis));
    fprintf(out, ",\"most\":%.17g,\"seconds\":%.3f,\"columns\":%zu,\"names\":[", heat->most,
            heat->seconds, heat->columns);
    for (size_t i = 0; i < heat->rows; i++) {
        if (i)
            putc(',', out);
        pfr_escape_json(out, heat->names[i]);
    }
    fputs("],\"cells\":[", out);
    for (size_t i = 0; i < heat->rows * heat->columns; i++) {
        double share = heat->most > 0 ? heat->cells[i] / heat->most : heat->cells[i];

        fprintf(out, i ? ",%d" : "%d", isnan(share) ? -1 : (int)lround(1000 * share));
    }
    fputs("]}", out);
}

static void put_moments(FILE *out, const struct pfr_view *view)
{
    fputs(",\"moments\":[", out);
    for (size_t i = 0; i < view->moment_count; i++) {
        const struct pfr_moment *moment = &view->moments[i];

        fprintf(out, "%s{\"from\":%.3f,\"to\":%.3f,", i ? "," : "", moment->from, moment->to);
        put_member(out, "", "text", moment->text);
        if (moment->to > moment->from)
            fprintf(out, ",\"colour\":%d", moment->colour);
        fputs(moment->tone == PFR_TONE_BAD ? ",\"bad\":true}" : "}", out);
    }
    putc(']', out);
}

static void put_headlines(FILE *out, const struct pfr_view *view)
{
    fputs(",\"facts\":[", out);
    for (size_t i = 0; i < view->headline_count; i++) {
        put_member(out, i ? ",{" : "{", "name", view->headlines[i].name);
        put_member(out, ",", "value", view->headlines[i].value);
        put_member(out, ",", "note", view->headlines[i].note);
        fputs(view->headlines[i].tone == PFR_TONE_BAD ? ",\"bad\":true}" : "}", out);
    }
    fputs("],\"notes\":[", out);
    for (size_t i = 0; i < view->note_count; i++) {
        put_member(out, i ? ",{" : "{", "text", view->notes[i].text);
        fputs(view->notes[i].tone == PFR_TONE_BAD ? ",\"bad\":true}" : "}", out);
    }
    putc(']', out);
}

static void put_view(FILE *out, const struct pfr_view *view)
{
    put_member(out, "{", "group", view->group);
    put_member(out, ",", "name", view->name);
    put_member(out, ",", "command", view->command);
    fprintf(out, ",\"end\":%.3f", view->end);
    put_headlines(out, view);
    put_moments(out, view);
    fputs(",\"panels\":[", out);
    for (size_t i = 0; i < view->panel_count; i++) {
        if (i)
            fputs(",\n", out);
        put_panel(out, &view->panels[i]);
    }
    fputs("],\"heats\":[", out);
    for (size_t i = 0; i < view->heat_count; i++) {
        if (i)
            putc(',', out);
        put_heat(out, &view->heats[i]);
    }
    fputs("]}", out);
}

static void put_lines(FILE *out, const char *const *lines)
{
    for (; *lines; lines++)
        fputs(*lines, out);
}

/* Of what stands between the tags: a newline, and the lines. */
static void put_hash(FILE *out, const char *rule, const char *const *lines)
{
    char text[PFR_SHA256_BASE64];
    struct pfr_sha256 sha;

    pfr_sha256_init(&sha);
    pfr_sha256_add(&sha, "\n", 1);
    for (; *lines; lines++)
        pfr_sha256_add(&sha, *lines, strlen(*lines));
    pfr_sha256_end(&sha, text);
    fprintf(out, "; %s 'sha256-%s'", rule, text);
}

/*
 * Our own script and style run, and nothing else: no script that got into the
 * page by a fault of ours. Attributes with style load nothing.
 */
static void put_policy(FILE *out)
{
    fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'", out);
    put_hash(out, "script-src", pfr_page_js);
    put_hash(out, "style-src", pfr_page_css);
    fputs("; style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">"
          "\n", out);
}

/* A picture of the first view; its maps of warmth would be most of the page. */
static void put_without_script(FILE *out, const struct pfr_figure *figure)
{
    struct pfr_view view;

    if (figure->count == 0)
        return;
    view = figure->views[figure->first];
    view.heat_count = 0;
    pfr_render_svg(out, figure, &view);
}

void pfr_render_html(FILE *out, const struct pfr_figure *figure)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
          out);
    put_policy(out);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"profres " PACKAGE_VERSION "\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          out);
    pfr_escape_xml(out, figure->title);
    fputs("</title>\n<style>\n", out);
    put_lines(out, pfr_page_css);
    fputs("</style>\n</head>\n<body>\n<div id=\"page\"></div>\n<noscript>\n", out);
    put_without_script(out, figure);
    fputs("</noscript>\n<script type=\"application/json\" id=\"figure\">\n", out);
    put_member(out, "{", "title", figure->title);
    put_member(out, ",", "made", "profres " PACKAGE_VERSION);
    fprintf(out, ",\"first\":%zu,\"palette\":[", figure->first);
    for (int i = 0; i < PFR_COLOURS; i++)
        fprintf(out, "%s\"%s\"", i ? "," : "", pfr_palette[i]);
    fputs("],\"views\":[\n", out);
    for (size_t i = 0; i < figure->count; i++) {
        if (i)
            fputs(",\n", out);
        put_view(out, &figure->views[i]);
    }
    fputs("\n]}\n</script>\n<script>\n", out);
    put_lines(out, pfr_page_js);
    fputs("</script>\n</body>\n</html>\n", out);
}
