#include "tools/profres/top/draw.h"

#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "tools/profres/cell.h"

/* A frame without room for everything shows no courses, and then no keys either. */
#define ROWS_FOR_COURSE 16
#define ROWS_FOR_KEYS 10
#define COLUMNS_FOR_BAR 44
#define COURSE_MAX PFR_PAST_SLOTS

struct text {
    char text[PFR_CELL_SIZE];
};

/* A number as people read it, "-" when it is not known; for one statement. */
static struct text show(enum pfr_cell_kind kind, int64_t number)
{
    struct text cell = { "-" };

    if (number != PFR_ABSENT)
        pfr_cell_format(kind, number, 0, false, cell.text);
    return cell;
}

static struct text percent(int64_t part, int64_t whole)
{
    return show(PFR_CELL_PERCENT, pfr_muldiv(part, 100000, whole));
}

/* ---- the title ---- */

static bool is_lost(const struct pfr_top_node *node)
{
    return node->state == PFR_TOP_KNOWN && node->facts.progress == PFR_PROGRESS_LOST;
}

static const char *state_of(const struct pfr_top *top, const struct pfr_top_sums *sums)
{
    bool draining = true, lost = false;

    for (size_t i = 0; i < top->node_count; i++) {
        const struct pfr_top_node *node = top->nodes[i];

        draining = draining && node->state == PFR_TOP_KNOWN &&
                   node->facts.progress >= PFR_PROGRESS_DRAINING;
        lost = lost || is_lost(node);
    }
    if (sums->running + sums->stale == 0)
        return top->node_count == 0 ? "starting" : lost ? "LOST" : "COMPLETE";
    return sums->running == 0 ? "STALE" : draining ? "DRAINING" : "LIVE";
}

static void draw_title(struct pfr_canvas *canvas, int row, const struct pfr_top *top,
                       const struct pfr_top_sums *sums)
{
    const struct pfr_found *found = pfr_top_step(top);
    int at = pfr_canvas_say(canvas, row, 0, PFR_TITLE, "%s.%s  %s", found->job, found->step,
                            state_of(top, sums));

    if (sums->nodes_given > (int64_t)top->node_count)
        at = pfr_canvas_say(canvas, row, at, PFR_TITLE, "  %zu of %lld nodes", top->node_count,
                            (long long)sums->nodes_given);
    else if (top->node_count > 1)
        at = pfr_canvas_say(canvas, row, at, PFR_TITLE, "  %zu nodes", top->node_count);
    else if (top->node_count == 1)
        at = pfr_canvas_say(canvas, row, at, PFR_TITLE, "  %s", top->nodes[0]->name);
    if (sums->tasks > 1 && sums->tasks_running != sums->tasks)
        at = pfr_canvas_say(canvas, row, at, PFR_TITLE, "  %lld of %lld tasks run",
                            (long long)sums->tasks_running, (long long)sums->tasks);
    else if (sums->tasks > 1)
        at = pfr_canvas_say(canvas, row, at, PFR_TITLE, "  %lld tasks", (long long)sums->tasks);
    if (top->node_count)
        pfr_canvas_say(canvas, row, at, PFR_TITLE, "  %s", top->nodes[0]->facts.command);
    pfr_canvas_paint(canvas, row, PFR_TITLE);
}

static void draw_times(struct pfr_canvas *canvas, int row, const struct pfr_top *top,
                       const struct pfr_top_sums *sums)
{
    int at = pfr_canvas_say(canvas, row, 0, PFR_PLAIN, "elapsed %s",
                            show(PFR_CELL_ELAPSED, sums->elapsed).text);

    if (sums->left != PFR_ABSENT && sums->running && sums->left >= 0)
        at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, ", %s left of %s",
                            show(PFR_CELL_ELAPSED, sums->left).text,
                            show(PFR_CELL_ELAPSED, sums->limit).text);
    if (sums->age != PFR_ABSENT && sums->running + sums->stale)
        at = pfr_canvas_say(canvas, row, at, sums->running ? PFR_PLAIN : PFR_ALARM,
                            "  newest sample %lld s ago", (long long)(sums->age / PFR_NS_PER_S));
    if (top->finds.count > 1)
        pfr_canvas_say(canvas, row, at, PFR_PLAIN, "  step %zu of %zu", top->current + 1,
                       top->finds.count);
}

/* ---- what is wrong ---- */

static int draw_alarms(struct pfr_canvas *canvas, int row, const struct pfr_top *top,
                       const struct pfr_top_sums *sums, struct pfr_top_now now)
{
    size_t newer = 0, lost = 0;

    for (size_t i = 0; i < top->node_count; i++) {
        newer += top->nodes[i]->state == PFR_TOP_NEWER || top->nodes[i]->series_newer;
        lost += is_lost(top->nodes[i]);
    }
    if (sums->oldest) {
        char more[32] = "";

        if (sums->stale > 1)
            snprintf(more, sizeof(more), " and %zu more", sums->stale - 1);
        pfr_canvas_say(canvas, row++, 0, PFR_ALARM,
                       "STALE: nothing from %s%s for %lld s: sampler or node stopped? Old numbers!",
                       sums->oldest->name, more,
                       (long long)(pfr_facts_age(&sums->oldest->facts, now.wall) / PFR_NS_PER_S));
    }
    if (sums->oom_kills > 0)
        pfr_canvas_say(canvas, row++, 0, PFR_ALARM,
                       "OOM: %lld process%s killed by the kernel for want of memory",
                       (long long)sums->oom_kills, sums->oom_kills == 1 ? "" : "es");
    if (lost)
        pfr_canvas_say(canvas, row++, 0, PFR_ALARM,
                       "LOST: the sampler of %zu node%s died; the step runs on unmeasured there",
                       lost, lost == 1 ? "" : "s");
    if (newer)
        pfr_canvas_say(canvas, row++, 0, PFR_ALARM,
                       "%zu node%s written by a later profres: not shown; please update this one",
                       newer, newer == 1 ? "" : "s");
    return row;
}

/* ---- memory and cores ---- */

static int draw_course(struct pfr_canvas *canvas, int row, const int64_t *values, size_t count,
                       enum pfr_cell_kind kind, const char *unit)
{
    int64_t most = PFR_ABSENT;
    size_t first = 0;

    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    while (first < count && values[first] == PFR_ABSENT)
        first++;
    if (first == count)
        return 0;
    pfr_canvas_spark(canvas, row, 5, PFR_GOOD, values, count);
    return pfr_canvas_say(canvas, row, 6 + (int)count, PFR_PLAIN, "%zu s, up to %s%s",
                          (count - first) * PFR_PAST_SECONDS, show(kind, most).text, unit);
}

static enum pfr_style strain(int64_t part, int64_t whole)
{
    int64_t thousandths = pfr_muldiv(part, 1000, whole);

    return thousandths >= 900 ? PFR_ALARM : thousandths >= 750 ? PFR_WARN : PFR_GOOD;
}

static int bar_width(const struct pfr_canvas *canvas)
{
    return canvas->columns < COLUMNS_FOR_BAR ? 0 : canvas->columns * 3 / 10;
}

static void draw_memory(struct pfr_canvas *canvas, int row, const struct pfr_top *top,
                        const struct pfr_top_sums *sums)
{
    const struct pfr_top_node *node = sums->full;
    int width = bar_width(canvas), at = width ? 6 + width : 4;
    int64_t memory = node ? pfr_top_node_memory(node) : PFR_ABSENT;

    pfr_canvas_put(canvas, row, 0, PFR_BOLD, "mem");
    if (!pfr_known(memory)) {
        pfr_canvas_put(canvas, row, 5, PFR_DIM, "no sample yet");
        return;
    }
    if (sums->full_of != PFR_ABSENT)
        pfr_canvas_bar(canvas, row, 5, width, strain(memory, sums->full_of), memory, sums->full_of);
    at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, "%s", show(PFR_CELL_BYTES, memory).text);
    if (pfr_top_node_memory_is_sum(node))
        at = pfr_canvas_put(canvas, row, at, PFR_PLAIN, " RSS of processes");
    if (sums->full_of != PFR_ABSENT)
        at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, " of %s %s, %s %%",
                            show(PFR_CELL_BYTES, sums->full_of).text, sums->full_kind,
                            percent(memory, sums->full_of).text);
    if (top->node_count > 1)
        pfr_canvas_say(canvas, row, at, PFR_PLAIN, " (%s, the fullest)", node->name);
}

static void draw_cores(struct pfr_canvas *canvas, int row, const struct pfr_top *top,
                       const struct pfr_top_sums *sums)
{
    int width = bar_width(canvas), at = width ? 6 + width : 4;
    int64_t all = sums->cpus > 0 ? sums->cpus * 100000 : PFR_ABSENT;
    size_t live = sums->running ? sums->running : sums->stale;

    pfr_canvas_put(canvas, row, 0, PFR_BOLD, "cpu");
    if (sums->pdcpu == PFR_ABSENT) {
        pfr_canvas_put(canvas, row, 5, PFR_DIM, "no window yet");
        return;
    }
    if (all != PFR_ABSENT)
        pfr_canvas_bar(canvas, row, 5, width, PFR_GOOD, sums->pdcpu, all);
    at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, "%s",
                        show(PFR_CELL_CORES, sums->pdcpu).text);
    if (all != PFR_ABSENT)
        at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, " of %lld cores %s%s, %s %%",
                            (long long)sums->cpus, sums->cpus_kind,
                            top->node_count > 1 && strcmp(sums->cpus_kind, "on the node") == 0
                                ? "s" : "",
                            percent(sums->pdcpu, all).text);
    if (sums->counted < live || live < top->node_count)
        at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, " (%zu of %zu nodes)", sums->counted,
                            top->node_count);
    if (sums->cpu_summed)
        pfr_canvas_put(canvas, row, at, PFR_PLAIN, " by processes");
}

static int draw_meters(struct pfr_canvas *canvas, int row, const struct pfr_top *top,
                       const struct pfr_top_sums *sums, struct pfr_top_now now)
{
    int64_t memory[COURSE_MAX], pdcpu[COURSE_MAX];
    size_t count = (size_t)(canvas->columns / 2);
    bool courses = canvas->rows >= ROWS_FOR_COURSE && canvas->columns >= COLUMNS_FOR_BAR;
    int at;

    count = count < COURSE_MAX ? count : COURSE_MAX;
    pfr_top_past(top, sums, now, memory, pdcpu, count);
    draw_memory(canvas, row++, top, sums);
    if (courses && sums->full) {
        at = draw_course(canvas, row, memory, count, PFR_CELL_BYTES, "");
        pfr_canvas_say(canvas, row++, at ? at : 5, PFR_PLAIN, "%speak %s", at ? "; " : "",
                       show(PFR_CELL_BYTES, pfr_top_node_peak(sums->full)).text);
    }
    draw_cores(canvas, row++, top, sums);
    if (courses) {
        at = draw_course(canvas, row, pdcpu, count, PFR_CELL_CORES, " cores");
        if (sums->throttled > 0)
            at = pfr_canvas_say(canvas, row, at ? at : 5, PFR_WARN, "%sthrottled %s %%",
                                at ? "; " : "", show(PFR_CELL_PERCENT, sums->throttled).text);
        row += at > 0;
    }
    return row;
}

/* Pressure, traffic and what else has no limit. */
static int draw_rest(struct pfr_canvas *canvas, int row, const struct pfr_top_sums *sums)
{
    int64_t kept = sums->full ? pfr_facts_stats(&sums->full->facts,
                                                PFR_CGROUP_MEM_NONRECLAIMABLE)->last
                              : PFR_ABSENT;
    int at = 0;

    if (pfr_known(kept))
        at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, "%s needed by the program  ",
                            show(PFR_CELL_BYTES, kept).text);
    if (sums->read != PFR_ABSENT && sums->write != PFR_ABSENT)
        at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, "read %s/s  write %s/s  ",
                            show(PFR_CELL_BYTES, sums->read).text,
                            show(PFR_CELL_BYTES, sums->write).text);
    if (sums->processes != PFR_ABSENT)
        at = pfr_canvas_say(canvas, row, at, PFR_PLAIN, "%lld process%s",
                            (long long)sums->processes, sums->processes == 1 ? "" : "es");
    row += at > 0;
    if (sums->psi_cpu == PFR_ABSENT && sums->psi_memory == PFR_ABSENT &&
        sums->psi_io == PFR_ABSENT)
        return row;
    pfr_canvas_put(canvas, row, 0, PFR_BOLD, "psi");
    pfr_canvas_say(canvas, row, 5, PFR_PLAIN,
                   "some task waited for: cpu %s %%  memory %s %%  io %s %% of the time",
                   show(PFR_CELL_PERCENT, sums->psi_cpu).text,
                   show(PFR_CELL_PERCENT, sums->psi_memory).text,
                   show(PFR_CELL_PERCENT, sums->psi_io).text);
    return row + 1;
}

/* ---- all of it ---- */

static void draw_help(struct pfr_canvas *canvas, const struct pfr_view *view)
{
    static const char *const lines[] = {
        "n t p  Tab      nodes, tasks, processes; the next of them",
        "c m i a         sort by CPU, memory, I/O, name (rank, process id)",
        "r               the other way round",
        "up down PgUp PgDn Home End   move in the list",
        "[ ]             the step before, the next one; f follows the newest again",
        "+ -             redraw less often, more often",
        "space           redraw now",
        "h ?             this text, and back",
        "q               quit",
        "",
        "mem   charged to the step's cgroup, page cache included; where there is no",
        "      cgroup the sum of the processes' RSS, in which shared pages repeat",
        "cpu   cores used in the newest window; psi: pressure in it",
        "Samples are written once a window (10 s unless window= says otherwise), so",
        "an age up to that is normal. STALE: it should have written, and has not.",
    };
    int row = 0;

    pfr_canvas_say(canvas, row, 0, PFR_TITLE, "profres top: keys (redrawn every %s s)",
                   show(PFR_CELL_SECONDS, view->delay).text);
    pfr_canvas_paint(canvas, row++, PFR_TITLE);
    for (size_t i = 0; i < PFR_COUNT(lines); i++)
        pfr_canvas_put(canvas, row++, 1, PFR_PLAIN, lines[i]);
}

static void draw_keys(struct pfr_canvas *canvas, int row, const struct pfr_view *view)
{
    int at = pfr_canvas_put(canvas, row, 0, PFR_BOLD, "q");

    at = pfr_canvas_put(canvas, row, at, PFR_PLAIN, " quit  ");
    at = pfr_canvas_put(canvas, row, at, PFR_BOLD, "h");
    at = pfr_canvas_put(canvas, row, at, PFR_PLAIN, " help  ");
    for (int i = 0; i < PFR_PANE_COUNT; i++) {
        const char *name = pfr_pane_name((enum pfr_top_pane)i);

        at = pfr_canvas_put(canvas, row, at, (int)view->pane == i ? PFR_TITLE : PFR_PLAIN, name);
        at = pfr_canvas_put(canvas, row, at, PFR_PLAIN, " ");
    }
    pfr_canvas_say(canvas, row, at, PFR_PLAIN, " sorted by %s%s (c m i a r)",
                   pfr_sort_name(view->sort), view->reverse ? ", reversed" : "");
}

void pfr_draw(struct pfr_canvas *canvas, const struct pfr_top *top, struct pfr_view *view,
              struct pfr_top_now now)
{
    struct pfr_top_sums sums;
    int row = 0, end = canvas->rows;

    if (view->help) {
        draw_help(canvas, view);
        return;
    }
    pfr_top_sum(top, now, &sums);
    draw_title(canvas, row++, top, &sums);
    draw_times(canvas, row++, top, &sums);
    row = draw_alarms(canvas, row, top, &sums, now);
    row = draw_meters(canvas, row, top, &sums, now);
    row = draw_rest(canvas, row, &sums);
    if (view->keys && canvas->rows >= ROWS_FOR_KEYS)
        draw_keys(canvas, --end, view);
    pfr_draw_pane(canvas, row, end, top, view, now);
}

void pfr_draw_waiting(struct pfr_canvas *canvas, const struct pfr_top *top,
                      const struct pfr_view *view, int64_t waited)
{
    int row = 0;

    pfr_canvas_say(canvas, row++, 0, PFR_BOLD, "waiting for a profile of %s (%s)", top->what,
                   show(PFR_CELL_ELAPSED, waited).text);
    if (top->job.state[0])
        pfr_canvas_say(canvas, row++, 0, PFR_PLAIN, "Slurm says that the job is %s%s%s%s",
                       top->job.state, top->job.reason[0] ? " (" : "", top->job.reason,
                       top->job.reason[0] ? ")" : "");
    pfr_canvas_say(canvas, row++, 0, PFR_PLAIN,
                   "It begins with the first step that runs with --profile-res%s",
                   view->keys ? "; q quits." : ".");
}

int pfr_draw_rows(const struct pfr_top *top, const struct pfr_view *view)
{
    size_t rows = 0, most = 10000;

    for (size_t i = 0; i < top->node_count; i++)
        rows += view->pane == PFR_PANE_TASKS ? top->nodes[i]->tasks.count
                : view->pane == PFR_PANE_PROCESSES ? top->nodes[i]->row_count
                                                   : 1;
    return 16 + (int)(rows < most ? rows : most);
}
