#include "tools/profres/plot/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"

/* Processes in a stack, and its steps in time, which all of them share. */
#define STACKED 7
#define STACK_COLUMNS 160

/* A bound this many times above everything else would flatten it. */
#define FAR 4

/* ---- pieces ---- */

static void release_view(struct pfr_view *view)
{
    for (size_t i = 0; i < view->panel_count; i++) {
        for (size_t k = 0; k < view->panels[i].count; k++) {
            pfr_curve_release(&view->panels[i].lines[k].curve);
            pfr_curve_release(&view->panels[i].lines[k].lower);
        }
        free(view->panels[i].lines);
    }
    for (size_t i = 0; i < view->heat_count; i++) {
        free(view->heats[i].names);
        free(view->heats[i].cells);
    }
    free(view->moments);
}

void pfr_figure_release(struct pfr_figure *figure)
{
    for (size_t i = 0; i < figure->count; i++)
        release_view(&figure->views[i]);
    free(figure->views);
    memset(figure, 0, sizeof(*figure));
}

struct pfr_view *pfr_figure_add(struct pfr_figure *figure, const char *group, const char *name)
{
    struct pfr_view *views = realloc(figure->views, (figure->count + 1) * sizeof(*views));

    if (!views)
        return NULL;
    figure->views = views;
    views += figure->count++;
    memset(views, 0, sizeof(*views));
    snprintf(views->group, sizeof(views->group), "%s", group);
    snprintf(views->name, sizeof(views->name), "%s", name);
    return views;
}

struct pfr_stroke *pfr_panel_add(struct pfr_panel *panel, const char *key, const char *label)
{
    struct pfr_stroke *lines = realloc(panel->lines, (panel->count + 1) * sizeof(*lines));

    if (!lines)
        return NULL;
    panel->lines = lines;
    lines += panel->count++;
    memset(lines, 0, sizeof(*lines));
    snprintf(lines->key, sizeof(lines->key), "%s", key);
    snprintf(lines->label, sizeof(lines->label), "%s", label);
    return lines;
}

struct pfr_panel *pfr_view_panel(struct pfr_view *view, enum pfr_panel_id id)
{
    const struct pfr_panel_kind *kind = &pfr_panel_kinds[id];
    struct pfr_panel *panel;

    for (size_t i = 0; i < view->panel_count; i++)
        if (strcmp(view->panels[i].name, kind->name) == 0)
            return &view->panels[i];
    panel = &view->panels[view->panel_count++];
    panel->name = kind->name;
    panel->axis = kind->axis;
    snprintf(panel->title, sizeof(panel->title), "%s", kind->title);
    snprintf(panel->note, sizeof(panel->note), "%s", kind->note);
    return panel;
}

void pfr_view_note(struct pfr_view *view, enum pfr_tone tone, const char *format, ...)
{
    struct pfr_note *note = &view->notes[view->note_count];
    va_list ap;

    if (view->note_count == PFR_NOTES_MAX)
        return;
    view->note_count++;
    note->tone = tone;
    va_start(ap, format);
    vsnprintf(note->text, sizeof(note->text), format, ap);
    va_end(ap);
}

void pfr_view_headline(struct pfr_view *view, enum pfr_tone tone, const char *name,
                       const char *value, const char *note)
{
    struct pfr_headline *fact = &view->headlines[view->headline_count];

    if (view->headline_count == PFR_HEADLINES_MAX)
        return;
    view->headline_count++;
    fact->tone = tone;
    snprintf(fact->name, sizeof(fact->name), "%s", name);
    snprintf(fact->value, sizeof(fact->value), "%s", value);
    snprintf(fact->note, sizeof(fact->note), "%s", note);
}

static double high_of(const struct pfr_curve *curve)
{
    const struct pfr_point *high = pfr_curve_high(curve);

    return high ? high->v : 0;
}

/* ---- what is shown at first ---- */

static bool is_bound(const struct pfr_stroke *line)
{
    return line->style == PFR_STROKE_LIMIT;
}

static double stack_most(const struct pfr_panel *panel)
{
    double sums[STACK_COLUMNS] = { 0 }, most = 0;

    for (size_t i = 0; i < panel->count; i++) {
        const struct pfr_stroke *line = &panel->lines[i];

        if (line->hidden || line->style != PFR_STROKE_STACK)
            continue;
        for (size_t c = 0; c < line->curve.count && c < STACK_COLUMNS; c++)
            sums[c] += line->curve.buckets[c].first.v;
    }
    for (size_t c = 0; c < STACK_COLUMNS; c++)
        most = fmax(most, sums[c]);
    return most;
}

static double shown_most(const struct pfr_panel *panel, bool bounds)
{
    double most = stack_most(panel);

    for (size_t i = 0; i < panel->count; i++)
        if (!panel->lines[i].hidden && panel->lines[i].style != PFR_STROKE_STACK &&
            (bounds || !is_bound(&panel->lines[i])))
            most = fmax(most, high_of(&panel->lines[i].curve));
    return most;
}

double pfr_panel_most(const struct pfr_panel *panel)
{
    return shown_most(panel, true);
}

void pfr_panel_settle(struct pfr_panel *panel)
{
    double most = 0;

    for (size_t i = 0; i < panel->count; i++)
        panel->lines[i].hidden = true;
    for (int rank = 0; rank <= 2 && most == 0; rank++) {
        for (size_t i = 0; i < panel->count; i++)
            if (panel->lines[i].rank == rank && !is_bound(&panel->lines[i]))
                panel->lines[i].hidden = high_of(&panel->lines[i].curve) == 0;
        most = shown_most(panel, false);
    }
    if (panel->count && most == 0)
        panel->lines[0].hidden = false; /* measured, and nothing: that is to be seen */
    for (size_t i = 0; i < panel->count; i++)
        if (is_bound(&panel->lines[i]))
            panel->lines[i].hidden = high_of(&panel->lines[i].curve) > FAR * most;
}

/* ---- one node ---- */

static enum pfr_stroke_style style_of(enum pfr_draw draw)
{
    return draw == PFR_DRAW_LIMIT  ? PFR_STROKE_LIMIT
           : draw == PFR_DRAW_KEPT ? PFR_STROKE_KEPT
                                   : PFR_STROKE_SOLID;
}

static void add_planned(struct pfr_view *view, struct pfr_trace *trace)
{
    for (size_t i = 0; i < pfr_plan_count; i++) {
        const struct pfr_plan *plan = &pfr_plans[i];
        struct pfr_stroke *line;

        if (trace->curves[i].count == 0 ||
            (trace->merged == 0 && strcmp(plan->key, "cgroup_mem_sampled_peak") == 0))
            continue; /* where every sample is drawn, the largest of them is */
        line = pfr_panel_add(pfr_view_panel(view, plan->panel), plan->key, plan->label);
        if (!line)
            return;
        line->style = style_of(plan->draw);
        line->colour = plan->colour;
        line->rank = plan->spare ? 2 : plan->behind && pfr_trace_curve(trace, plan->behind) ? 1 : 0;
        line->curve = trace->curves[i];
    }
    /* taken, but only now: pfr_trace_curve() was still to be asked */
    for (size_t i = 0; i < pfr_plan_count; i++) {
        bool kept = trace->merged == 0 &&
                    strcmp(pfr_plans[i].key, "cgroup_mem_sampled_peak") == 0;

        if (!kept)
            pfr_curve_init(&trace->curves[i], trace->buckets);
    }
}

static void add_extras(struct pfr_view *view, struct pfr_trace *trace)
{
    for (size_t i = 0; i < trace->extra_count; i++) {
        struct pfr_extra *extra = &trace->extras[i];
        struct pfr_panel *panel = pfr_view_panel(view, extra->panel);
        struct pfr_stroke *line = pfr_panel_add(panel, extra->key, extra->key);

        if (!line)
            return;
        line->colour = (int)(panel->count - 1) % 8;
        line->curve = extra->curve;
        pfr_curve_init(&extra->curve, trace->buckets);
    }
}

/* A value that holds for the whole run. */
static void add_bound(struct pfr_view *view, enum pfr_panel_id id, const char *key,
                      const char *label, double value, int colour)
{
    struct pfr_stroke *line = pfr_panel_add(pfr_view_panel(view, id), key, label);

    if (!line)
        return;
    line->style = PFR_STROKE_LIMIT;
    line->colour = colour;
    pfr_curve_init(&line->curve, 4);
    pfr_curve_add_span(&line->curve, 0, view->end, value);
}

static void add_allocation(struct pfr_view *view, const struct pfr_trace *trace)
{
    const struct pfr_facts *facts = &trace->facts;

    /* most often the limit is what was allocated: then one line says it */
    if (pfr_known(facts->mem_given) &&
        facts->mem_given != pfr_facts_stats(facts, PFR_CGROUP_MEM_LIMIT)->last)
        add_bound(view, PFR_PANEL_MEMORY, "mem_given", "allocated by Slurm",
                  (double)facts->mem_given, 7);
    if (pfr_known(facts->cpus))
        add_bound(view, PFR_PANEL_CPU, "cpus", "allocated by Slurm", (double)facts->cpus, 7);
    else if (pfr_known(facts->node_cpus))
        add_bound(view, PFR_PANEL_CPU, "node_cpus", "cores of the node",
                  (double)facts->node_cpus, 7);
}

static const struct pfr_curve *member_curve(const struct pfr_member *member, bool memory)
{
    return memory ? &member->memory : &member->cpu;
}

static int compare_memory(const void *a, const void *b)
{
    const struct pfr_member *x = *(const struct pfr_member *const *)a;
    const struct pfr_member *y = *(const struct pfr_member *const *)b;

    return (x->most_memory < y->most_memory) - (x->most_memory > y->most_memory);
}

static int compare_cpu(const void *a, const void *b)
{
    const struct pfr_member *x = *(const struct pfr_member *const *)a;
    const struct pfr_member *y = *(const struct pfr_member *const *)b;

    return (x->most_cpu < y->most_cpu) - (x->most_cpu > y->most_cpu);
}

static double value_at(const struct pfr_curve *curve, double t)
{
    double value;

    return pfr_curve_at(curve, t, &value) ? value : 0; /* no row: nothing is added */
}

/*
 * What a part of the stack is multiplied with: the largest of each process in a window
 * need not have been there at once. The stack is no higher than the sum that was.
 */
static double share_at(const struct pfr_view *view, const struct pfr_member *const *members,
                       size_t count, double t)
{
    double sum = 0, all = 0;

    for (size_t i = 0; i < count; i++)
        sum += value_at(&members[i]->memory, t);
    for (size_t i = 0; i < view->panel_count; i++)
        for (size_t k = 0; k < view->panels[i].count; k++)
            if (strcmp(view->panels[i].lines[k].key, "ps_rss_total") == 0)
                all = value_at(&view->panels[i].lines[k].curve, t);
    return all > 0 && sum > all ? all / sum : 1;
}

/*
 * The times of a stack: in each column the one at which the sum is largest, so
 * that what is added up was there at once.
 */
static void choose_times(double times[static STACK_COLUMNS],
                         const struct pfr_member *const *members, size_t count, bool memory,
                         double end)
{
    for (int c = 0; c < STACK_COLUMNS; c++) {
        double most = -1;

        for (int part = 0; part < 4; part++) {
            double t = end * (c + (c == STACK_COLUMNS - 1 ? 1 + part : part) / 4.0) / STACK_COLUMNS;
            double sum = 0;

            for (size_t i = 0; i < count; i++)
                sum += value_at(member_curve(members[i], memory), fmin(t, end));
            if (sum > most) {
                most = sum;
                times[c] = fmin(t, end);
            }
        }
    }
    times[0] = 0;
}

static void put_on_grid(struct pfr_curve *to, const struct pfr_curve *from,
                        const double times[static STACK_COLUMNS],
                        const double shares[static STACK_COLUMNS])
{
    pfr_curve_init(to, STACK_COLUMNS + 1);
    for (int c = 0; c < STACK_COLUMNS; c++)
        pfr_curve_add(to, times[c], shares[c] * value_at(from, times[c]));
}

static void member_label(const struct pfr_member *member, char *text, size_t size)
{
    if (member->rank >= 0)
        snprintf(text, size, "rank %d: %s (%lld)", member->rank, member->name,
                 (long long)member->pid);
    else
        snprintf(text, size, "%s (%lld)", member->name, (long long)member->pid);
}

static void add_stack(struct pfr_view *view, const struct pfr_trace *trace, bool memory)
{
    const struct pfr_member *order[PFR_MEMBERS_MAX];
    double times[STACK_COLUMNS], shares[STACK_COLUMNS];
    struct pfr_panel *panel;
    size_t count = 0, shown;

    for (size_t i = 0; i < trace->member_count; i++)
        if (high_of(member_curve(&trace->members[i], memory)) > 0)
            order[count++] = &trace->members[i];
    if (count == 0 || view->end <= 0)
        return;
    qsort(order, count, sizeof(*order), memory ? compare_memory : compare_cpu);
    shown = count < STACKED ? count : STACKED;
    choose_times(times, order, shown, memory, view->end);
    for (int c = 0; c < STACK_COLUMNS; c++)
        shares[c] = memory ? share_at(view, order, shown, times[c]) : 1;
    panel = pfr_view_panel(view, memory ? PFR_PANEL_PROCESS_MEMORY : PFR_PANEL_PROCESS_CPU);
    for (size_t i = 0; i < shown; i++) {
        struct pfr_stroke *line;
        char label[128];

        member_label(order[i], label, sizeof(label));
        if (!(line = pfr_panel_add(panel, memory ? "ps_rss" : "ps_cpu_seconds", label)))
            return;
        line->style = PFR_STROKE_STACK;
        line->colour = (int)i;
        put_on_grid(&line->curve, member_curve(order[i], memory), times, shares);
    }
    if (count > STACKED)
        snprintf(panel->note, sizeof(panel->note), "%s; %d of %zu", memory
                 ? "resident sets, stacked; shared pages repeat" : "cores, stacked", STACKED,
                 count);
}

static int compare_panels(const void *a, const void *b)
{
    const struct pfr_panel *x = a, *y = b;
    int ix = 0, iy = 0;

    for (int i = 0; i < PFR_PANEL_COUNT; i++) {
        ix = strcmp(pfr_panel_kinds[i].name, x->name) == 0 ? i : ix;
        iy = strcmp(pfr_panel_kinds[i].name, y->name) == 0 ? i : iy;
    }
    return ix - iy;
}

/* What a task did by itself; of ranks that did not stand out there is nothing. */
static void add_rank_heat(struct pfr_view *view, const struct pfr_trace *trace)
{
    size_t row = 0, rows = 0;
    struct pfr_heat *heat = &view->heats[view->heat_count];

    for (size_t i = 0; i < trace->task_count; i++)
        rows += trace->tasks[i].cpu.count > 0;
    if (rows < 2 || !pfr_heat_init(heat, rows, view->end, PFR_AXIS_CORES))
        return;
    view->heat_count++;
    snprintf(heat->title, sizeof(heat->title), "CPU by rank");
    snprintf(heat->note, sizeof(heat->note), "cores of the task's own process (ps_pdcpu)");
    for (size_t i = 0; i < trace->task_count; i++) {
        char name[64];

        if (trace->tasks[i].cpu.count == 0)
            continue;
        snprintf(name, sizeof(name), "rank %d", trace->tasks[i].rank);
        pfr_heat_row(heat, row++, name, &trace->tasks[i].cpu);
    }
}

static void add_notes(struct pfr_view *view, const struct pfr_trace *trace)
{
    if (!trace->has_summary)
        pfr_view_note(view, PFR_TONE_BAD,
                      "there is no summary: the run may have been cut short");
    else if (!trace->complete)
        pfr_view_note(view, PFR_TONE_BAD,
                      "INCOMPLETE: the profiler has not finished; this is what it had");
    else if (pfr_known(trace->facts.pending) && trace->facts.pending > 0)
        pfr_view_note(view, PFR_TONE_BAD, "%lld process%s still running when it was finished",
                      (long long)trace->facts.pending,
                      trace->facts.pending == 1 ? " was" : "es were");
    if (trace->torn)
        pfr_view_note(view, PFR_TONE_BAD,
                      "the last line of the series is cut off; it is left out");
    if (trace->malformed)
        pfr_view_note(view, PFR_TONE_BAD,
                      "%llu lines of the series could not be read and are left out",
                      (unsigned long long)trace->malformed);
    if (trace->windows == 0)
        pfr_view_note(view, PFR_TONE_PLAIN,
                      "the series has no window yet: there is nothing to draw");
    else if (trace->merged)
        pfr_view_note(view, PFR_TONE_PLAIN,
                      "%lld of %lld windows were merged: there, lines are means or maxima of "
                      "longer times", (long long)trace->merged, (long long)trace->windows);
}

void pfr_view_colour_phases(struct pfr_view *view)
{
    int names = 0;

    for (size_t i = 0; i < view->moment_count; i++) {
        struct pfr_moment *moment = &view->moments[i];
        size_t same = 0;

        while (same < i && strcmp(view->moments[same].text, moment->text) != 0)
            same++;
        if (moment->to > moment->from)
            moment->colour = same < i ? view->moments[same].colour : names++ % 7;
    }
}

/* That a task ended well, when all did, goes without saying. */
static void take_moments(struct pfr_view *view, struct pfr_trace *trace)
{
    size_t kept = 0;

    for (size_t i = 0; i < trace->moment_count; i++) {
        const struct pfr_moment *moment = &trace->moments[i];

        if (moment->routine && moment->from > 0.95 * trace->end)
            continue;
        trace->moments[kept++] = *moment;
    }
    view->moments = trace->moments;
    view->moment_count = kept;
    pfr_view_colour_phases(view);
    trace->moments = NULL;
    trace->moment_count = 0;
}

bool pfr_figure_add_trace(struct pfr_figure *figure, struct pfr_trace *trace)
{
    char group[sizeof(figure->views->group)];
    struct pfr_view *view;

    snprintf(group, sizeof(group), "%.120s.%.60s", trace->job, trace->step);
    view = pfr_figure_add(figure, group, trace->node);
    if (!view)
        return false;
    view->end = trace->end;
    view->weight = pfr_trace_cpu(trace);
    snprintf(view->command, sizeof(view->command), "%s", trace->command);
    pfr_view_headlines(view, trace, figure->now);
    add_notes(view, trace);
    if (trace->windows > 0) {
        add_planned(view, trace);
        add_extras(view, trace);
        add_allocation(view, trace);
        add_stack(view, trace, true);
        add_stack(view, trace, false);
        add_rank_heat(view, trace);
    }
    qsort(view->panels, view->panel_count, sizeof(*view->panels), compare_panels);
    for (size_t i = 0; i < view->panel_count; i++)
        pfr_panel_settle(&view->panels[i]);
    take_moments(view, trace);
    return true;
}

void pfr_figure_fit(struct pfr_figure *figure, size_t points)
{
    size_t curves = 0, each;

    for (size_t v = 0; v < figure->count; v++)
        for (size_t p = 0; p < figure->views[v].panel_count; p++)
            curves += figure->views[v].panels[p].count;
    each = curves ? points / 4 / curves : 0;
    each = each < 24 ? 24 : each > 512 ? 512 : each;
    for (size_t v = 0; v < figure->count; v++)
        for (size_t p = 0; p < figure->views[v].panel_count; p++)
            for (size_t i = 0; i < figure->views[v].panels[p].count; i++) {
                struct pfr_stroke *line = &figure->views[v].panels[p].lines[i];

                if (line->style == PFR_STROKE_SOLID || line->style == PFR_STROKE_KEPT)
                    pfr_curve_shrink(&line->curve, each);
            }
}
