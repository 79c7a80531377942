/* Many nodes or many runs on one axis of time, and as a map of warmth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/judge/text.h"
#include "tools/profres/plot/figure.h"

/* More lines than this cannot be told apart. */
#define LINES_MAX 8
#define BAND_COLUMNS 200
#define HEAT_COLUMNS 120
#define HEAT_ROWS 192

/* ---- a map of warmth ---- */

bool pfr_heat_init(struct pfr_heat *heat, size_t rows, double seconds, enum pfr_axis axis)
{
    size_t each = (rows + HEAT_ROWS - 1) / HEAT_ROWS; /* rows that share one */

    *heat = (struct pfr_heat){ .axis = axis, .rows = (rows + each - 1) / each,
                               .columns = HEAT_COLUMNS, .seconds = seconds };
    heat->names = calloc(heat->rows, sizeof(*heat->names));
    heat->cells = malloc(heat->rows * heat->columns * sizeof(*heat->cells));
    if (!heat->names || !heat->cells || seconds <= 0) {
        free(heat->names);
        free(heat->cells);
        return false;
    }
    for (size_t i = 0; i < heat->rows * heat->columns; i++)
        heat->cells[i] = NAN;
    if (each > 1)
        snprintf(heat->note, sizeof(heat->note), "each row is the largest of %zu", each);
    return true;
}

void pfr_heat_row(struct pfr_heat *heat, size_t row, const char *name,
                  const struct pfr_curve *curve)
{
    double step = heat->seconds / (double)heat->columns;

    if (row >= heat->rows)
        return;
    if (!heat->names[row][0])
        snprintf(heat->names[row], sizeof(heat->names[row]), "%.63s", name);
    for (size_t c = 0; c < heat->columns; c++) {
        double *cell = &heat->cells[row * heat->columns + c], value;

        if (!pfr_curve_most(curve, (double)c * step, (double)(c + 1) * step, &value))
            continue;
        *cell = isnan(*cell) ? value : fmax(*cell, value);
        heat->most = fmax(heat->most, value);
    }
}

/* ---- lines of many ---- */

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of sorted values, between neighbours. */
static double percentile(const double *values, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t at = (size_t)place;

    return at + 1 < count ? values[at] + (values[at + 1] - values[at]) * (place - (double)at)
                          : values[count - 1];
}

struct many {
    const struct pfr_trace *const *traces;
    const char *const *names;
    size_t count;
    double end;
};

static void add_band(struct pfr_panel *panel, const char *key, const char *what,
                     const struct many *many, size_t measured)
{
    PFR_AUTO_FREE double *values = calloc(many->count, sizeof(*values));
    struct pfr_stroke *band, *median, *most;
    char label[64];

    snprintf(label, sizeof(label), "p10 to p90 of %zu %s", measured, what);
    if (!values || !pfr_panel_add(panel, key, label) || !pfr_panel_add(panel, key, "median") ||
        !pfr_panel_add(panel, key, "largest"))
        return;
    band = &panel->lines[panel->count - 3];
    median = band + 1;
    most = band + 2;
    band->style = PFR_STROKE_BAND;
    most->colour = 3;
    for (size_t i = 0; i < 3; i++) {
        pfr_curve_init(&band[i].curve, BAND_COLUMNS + 2);
        pfr_curve_init(&band[i].lower, BAND_COLUMNS + 2);
    }
    for (int c = 0; c <= BAND_COLUMNS; c++) {
        double t = many->end * c / BAND_COLUMNS, step = many->end / BAND_COLUMNS;
        size_t count = 0;

        for (size_t i = 0; i < many->count; i++) {
            const struct pfr_curve *curve = pfr_trace_curve(many->traces[i], key);

            count += curve && pfr_curve_most(curve, t - step / 2, t + step / 2, &values[count]);
        }
        if (count == 0)
            continue;
        qsort(values, count, sizeof(*values), compare_values);
        pfr_curve_add(&band->curve, t, percentile(values, count, 0.9));
        pfr_curve_add(&band->lower, t, percentile(values, count, 0.1));
        pfr_curve_add(&median->curve, t, percentile(values, count, 0.5));
        pfr_curve_add(&most->curve, t, values[count - 1]);
    }
}

static bool copy_curve(struct pfr_curve *to, const struct pfr_curve *from)
{
    *to = *from;
    to->buckets = malloc(from->count * sizeof(*to->buckets));
    if (!to->buckets) {
        pfr_curve_init(to, from->most);
        return false;
    }
    memcpy(to->buckets, from->buckets, from->count * sizeof(*to->buckets));
    to->room = from->count;
    return true;
}

static void add_lines(struct pfr_panel *panel, const char *key, const struct many *many)
{
    for (size_t i = 0; i < many->count; i++) {
        const struct pfr_curve *curve = pfr_trace_curve(many->traces[i], key);
        struct pfr_stroke *line = curve ? pfr_panel_add(panel, key, many->names[i]) : NULL;

        if (!line)
            continue;
        line->colour = (int)(i % 8);
        copy_curve(&line->curve, curve);
    }
}

/* What was given, when it was the same for all. */
static void add_given(struct pfr_panel *panel, enum pfr_panel_id like, const struct many *many)
{
    int64_t given = PFR_ABSENT;
    struct pfr_stroke *line;

    for (size_t i = 0; i < many->count; i++) {
        const struct pfr_facts *facts = &many->traces[i]->facts;
        int64_t its = like == PFR_PANEL_CPU ? facts->cpus : facts->mem_given;

        if (!pfr_known(its) || (i > 0 && its != given))
            return;
        given = its;
    }
    if (many->count == 0 || like > PFR_PANEL_CPU ||
        !(line = pfr_panel_add(panel, like == PFR_PANEL_CPU ? "cpus" : "mem_given",
                               "allocated by Slurm")))
        return;
    line->style = PFR_STROKE_LIMIT;
    line->colour = 7;
    pfr_curve_init(&line->curve, 4);
    pfr_curve_add_span(&line->curve, 0, many->end, (double)given);
}

static bool is_zero(const struct many *many, const char *key)
{
    for (size_t i = 0; i < many->count; i++) {
        const struct pfr_curve *curve = pfr_trace_curve(many->traces[i], key);

        if (curve && pfr_curve_high(curve)->v > 0)
            return false;
    }
    return true;
}

/* Each key in a panel of its own, so that no two are mixed. */
static void add_compared(struct pfr_view *view, const struct pfr_plan *plan, const char *what,
                         const struct many *many)
{
    struct pfr_panel *panel;
    size_t measured = 0, needed = 0;

    for (size_t i = 0; i < many->count; i++) {
        measured += pfr_trace_curve(many->traces[i], plan->key) != NULL;
        needed += !plan->behind || !pfr_trace_curve(many->traces[i], plan->behind);
    }
    /* where all have the better way to measure the same, the other is left out */
    if (measured == 0 || needed == 0 || view->panel_count == PFR_PANEL_COUNT ||
        (plan->panel == PFR_PANEL_IO && is_zero(many, plan->key)))
        return;
    panel = &view->panels[view->panel_count++];
    panel->name = plan->key;
    panel->axis = pfr_panel_kinds[plan->panel].axis;
    snprintf(panel->title, sizeof(panel->title), "%s", plan->compared);
    if (measured < many->count)
        snprintf(panel->note, sizeof(panel->note), "%s; %zu of %zu %s have it", plan->key,
                 measured, many->count, what);
    else
        snprintf(panel->note, sizeof(panel->note), "%s", plan->key);
    if (many->count > LINES_MAX)
        add_band(panel, plan->key, what, many, measured);
    else
        add_lines(panel, plan->key, many);
    add_given(panel, plan->panel, many);
    pfr_panel_settle(panel);
}

static void add_heat(struct pfr_view *view, const struct many *many, const char *what,
                     const char *key, const char *title, enum pfr_axis axis)
{
    struct pfr_heat *heat = &view->heats[view->heat_count];
    size_t measured = 0, each = (many->count + HEAT_ROWS - 1) / HEAT_ROWS;

    for (size_t i = 0; i < many->count; i++)
        measured += pfr_trace_curve(many->traces[i], key) != NULL;
    if (measured < 2 || view->heat_count == PFR_COUNT(view->heats) ||
        !pfr_heat_init(heat, many->count, many->end, axis))
        return;
    view->heat_count++;
    snprintf(heat->title, sizeof(heat->title), "%s of %zu %s", title, measured, what);
    if (!heat->note[0])
        snprintf(heat->note, sizeof(heat->note), "%s", key);
    for (size_t i = 0; i < many->count; i++) {
        const struct pfr_curve *curve = pfr_trace_curve(many->traces[i], key);
        struct pfr_curve none;

        pfr_curve_init(&none, 2);
        pfr_heat_row(heat, i / each, many->names[i], curve ? curve : &none);
    }
}

/* ---- what stands above ---- */

static void add_totals(struct pfr_view *view, const struct many *many, const char *what)
{
    char text[64], note[96];
    double most = 0, least = INFINITY, longest = 0, shortest = INFINITY;
    size_t largest = 0, incomplete = 0;

    for (size_t i = 0; i < many->count; i++) {
        double size = pfr_trace_size(many->traces[i]);

        if (size > most)
            largest = i;
        most = fmax(most, size);
        least = size > 0 ? fmin(least, size) : least;
        longest = fmax(longest, many->traces[i]->end);
        shortest = fmin(shortest, many->traces[i]->end);
        incomplete += !many->traces[i]->complete;
    }
    snprintf(text, sizeof(text), "%zu", many->count);
    pfr_view_headline(view, PFR_TONE_PLAIN, what, text, "");
    pfr_scale_time_text(longest, longest < 10 ? 0.1 : 1, text);
    pfr_scale_time_text(shortest, shortest < 10 ? 0.1 : 1, note);
    memmove(note + 10, note, sizeof(note) - 10);
    memcpy(note, "shortest: ", 10);
    note[sizeof(note) - 1] = '\0';
    pfr_view_headline(view, PFR_TONE_PLAIN, "longest", text, note);
    if (most > 0) {
        char small[PFR_TEXT_SIZE], size[PFR_TEXT_SIZE];

        pfr_size_text((int64_t)most, size);
        pfr_size_text((int64_t)least, small);
        snprintf(note, sizeof(note), "%.48s; least %s", many->names[largest], small);
        pfr_view_headline(view, PFR_TONE_PLAIN, "largest memory peak", size, note);
    }
    if (incomplete)
        pfr_view_note(view, PFR_TONE_BAD,
                      "INCOMPLETE: %zu of %zu %s; their profiler has not finished", incomplete,
                      many->count, what);
}

static bool has_phases(const struct pfr_trace *trace)
{
    for (size_t i = 0; i < trace->moment_count; i++)
        if (trace->moments[i].to > trace->moments[i].from)
            return true;
    return false;
}

/* What went wrong on any of them, and of a step the phases of one: they are much the same. */
static void add_moments(struct pfr_view *view, const struct many *many, bool phases)
{
    size_t room = 0, speaker = 0;

    for (size_t i = 0; i < many->count; i++)
        room += many->traces[i]->moment_count;
    while (phases && speaker < many->count && !has_phases(many->traces[speaker]))
        speaker++;
    view->moments = room ? calloc(room, sizeof(*view->moments)) : NULL;
    for (size_t i = 0; i < many->count && view->moments; i++)
        for (size_t k = 0; k < many->traces[i]->moment_count; k++) {
            const struct pfr_moment *moment = &many->traces[i]->moments[k];
            bool phase = moment->to > moment->from;
            struct pfr_moment *copy = &view->moments[view->moment_count];

            if (phase ? !phases || i != speaker : moment->tone != PFR_TONE_BAD)
                continue;
            *copy = *moment;
            if (!phase)
                snprintf(copy->text, sizeof(copy->text), "%.40s: %.75s", many->names[i],
                         moment->text);
            if (++view->moment_count == PFR_MOMENTS_MAX)
                return;
        }
}

bool pfr_figure_add_overlay(struct pfr_figure *figure, const char *group, const char *what,
                            const struct pfr_trace *const *traces, const char *const *names,
                            size_t count)
{
    struct many many = { traces, names, count, 0 };
    struct pfr_view *view;
    char name[64];

    snprintf(name, sizeof(name), "all %zu %s", count, what);
    view = pfr_figure_add(figure, group, name);
    if (!view)
        return false;
    for (size_t i = 0; i < count; i++) {
        many.end = fmax(many.end, traces[i]->end);
        view->weight += pfr_trace_cpu(traces[i]);
    }
    view->end = many.end;
    snprintf(view->command, sizeof(view->command), "%s", count ? traces[0]->command : "");
    add_totals(view, &many, what);
    add_moments(view, &many, strcmp(what, "nodes") == 0);
    pfr_view_colour_phases(view);
    for (size_t i = 0; i < pfr_plan_count; i++)
        if (pfr_plans[i].compared)
            add_compared(view, &pfr_plans[i], what, &many);
    add_heat(view, &many, what, "cgroup_mem_current", "Memory charged", PFR_AXIS_BYTES);
    if (view->heat_count == 0)
        add_heat(view, &many, what, "ps_rss_total", "Memory resident", PFR_AXIS_BYTES);
    add_heat(view, &many, what, "cgroup_pdcpu", "Cores in use", PFR_AXIS_CORES);
    if (view->heat_count < 2)
        add_heat(view, &many, what, "ps_pdcpu_total", "Cores of the processes seen",
                 PFR_AXIS_CORES);
    return true;
}
