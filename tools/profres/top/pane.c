/* The lower part of a frame: nodes, tasks or processes, a row each. */
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "tools/profres/cell.h"
#include "tools/profres/top/draw.h"

#define TEXT 256

/* What a cell is made of. */
struct line {
    const struct pfr_top_row *row;
    struct pfr_top_now now;
};

/* The columns in their order; a width below 0 is on the left, 0 is what is left of the line. */
struct column {
    const char *title;
    int width;
    void (*text)(const struct line *line, char *text);
    bool several; /* only when there are several nodes */
};

static void show(char *text, enum pfr_cell_kind kind, int64_t number)
{
    char cell[PFR_CELL_SIZE];

    if (number == PFR_ABSENT)
        snprintf(cell, sizeof(cell), "-");
    else
        pfr_cell_format(kind, number, 0, false, cell);
    snprintf(text, TEXT, "%s", cell);
}

static void node_name(const struct line *line, char *text)
{
    snprintf(text, TEXT, "%s", line->row->node->name);
}

/* ---- nodes ---- */

static void node_state(const struct line *line, char *text)
{
    const struct pfr_top_node *node = line->row->node;

    snprintf(text, TEXT, "%s",
             pfr_top_node_is_stale(node, line->now.wall, line->now.monotonic) ? "STALE"
             : node->state == PFR_TOP_KNOWN ? pfr_progress_name(node->facts.progress)
             : node->state == PFR_TOP_NEWER ? "newer"
                                            : "-");
}

static void node_age(const struct line *line, char *text)
{
    int64_t age = pfr_facts_age(&line->row->node->facts, line->now.wall);

    if (pfr_known(age))
        snprintf(text, TEXT, "%lld s", (long long)(age / PFR_NS_PER_S));
    else
        snprintf(text, TEXT, "-");
}

static void node_memory(const struct line *line, char *text)
{
    show(text, PFR_CELL_BYTES, pfr_top_node_memory(line->row->node));
}

static void node_fullness(const struct line *line, char *text)
{
    int64_t limit = pfr_top_mem_limit(line->row->node, NULL);
    int64_t memory = pfr_top_node_memory(line->row->node);

    show(text, PFR_CELL_PERCENT, pfr_known(limit) && pfr_known(memory)
                                     ? pfr_muldiv(memory, 100000, limit)
                                     : PFR_ABSENT);
}

static void node_peak(const struct line *line, char *text)
{
    show(text, PFR_CELL_BYTES, pfr_top_node_peak(line->row->node));
}

static void node_cores(const struct line *line, char *text)
{
    show(text, PFR_CELL_CORES, line->row->node->newest.pdcpu);
}

static void node_processes(const struct line *line, char *text)
{
    show(text, PFR_CELL_COUNT, pfr_facts_stats(&line->row->node->facts, PFR_PROC_COUNT)->last);
}

static void node_read(const struct line *line, char *text)
{
    show(text, PFR_CELL_BYTES, line->row->node->newest.read);
}

static void node_write(const struct line *line, char *text)
{
    show(text, PFR_CELL_BYTES, line->row->node->newest.write);
}

static void node_oom(const struct line *line, char *text)
{
    show(text, PFR_CELL_COUNT, pfr_facts_value(&line->row->node->facts, PFR_CGROUP_OOM_KILLS));
}

static const struct column node_columns[] = {
    { "NODE", -15, node_name, false },
    { "STATE", -9, node_state, false },
    { "AGE", 5, node_age, false },
    { "MEMORY", 9, node_memory, false },
    { "OF LIMIT", 9, node_fullness, false },
    { "PEAK", 9, node_peak, false },
    { "CORES", 7, node_cores, false },
    { "PROCS", 6, node_processes, false },
    { "OOM", 4, node_oom, false },
    { "READ/s", 9, node_read, false },
    { "WRITE/s", 9, node_write, false },
    { 0 },
};

/* ---- tasks ---- */

static void task_rank(const struct line *line, char *text)
{
    show(text, PFR_CELL_COUNT, line->row->task->rank);
}

static void task_pid(const struct line *line, char *text)
{
    show(text, PFR_CELL_COUNT, line->row->task->pid);
}

static void task_state(const struct line *line, char *text)
{
    const struct pfr_top_task *task = line->row->task;

    if (task->signal != PFR_ABSENT)
        snprintf(text, TEXT, "signal %lld", (long long)task->signal);
    else if (task->exit != PFR_ABSENT)
        snprintf(text, TEXT, "exit %lld", (long long)task->exit);
    else
        snprintf(text, TEXT, "%s", task->ended == PFR_ABSENT ? "running" : "ended");
}

static void task_elapsed(const struct line *line, char *text)
{
    const struct pfr_top_task *task = line->row->task;
    const struct pfr_top_node *node = line->row->node;
    bool ended = pfr_top_node_has_ended(node);
    int64_t end = task->ended;

    /* of a task that runs, the time since the summary was written has passed, too */
    if (!pfr_known(end))
        end = pfr_plus(node->facts.elapsed,
                       ended ? 0 : pfr_facts_age(&node->facts, line->now.wall));
    show(text, PFR_CELL_ELAPSED,
         pfr_known(end) && pfr_known(task->started) && end >= task->started ? end - task->started
                                                                            : PFR_ABSENT);
}

static void task_cpu(const struct line *line, char *text)
{
    show(text, PFR_CELL_SECONDS, line->row->task->cpu);
}

static void task_cores(const struct line *line, char *text)
{
    show(text, PFR_CELL_CORES, line->row->task->pdcpu);
}

static void task_peak(const struct line *line, char *text)
{
    show(text, PFR_CELL_BYTES, line->row->task->mem_peak);
}

static void task_oom(const struct line *line, char *text)
{
    show(text, PFR_CELL_COUNT, line->row->task->oom_kills);
}

static const struct column task_columns[] = {
    { "RANK", 5, task_rank, false },
    { "NODE", -15, node_name, false },
    { "PID", 8, task_pid, false },
    { "STATE", -10, task_state, false },
    { "ELAPSED", 11, task_elapsed, false },
    { "CPU s", 10, task_cpu, false },
    { "CORES", 7, task_cores, false },
    { "PEAK", 9, task_peak, false },
    { "OOM", 4, task_oom, false },
    { 0 },
};

/* ---- processes ---- */

static void process_pid(const struct line *line, char *text)
{
    show(text, PFR_CELL_COUNT, line->row->process->pid);
}

static void process_state(const struct line *line, char *text)
{
    snprintf(text, TEXT, "%c", line->row->process->state);
}

static void process_cpu(const struct line *line, char *text)
{
    show(text, PFR_CELL_PERCENT, line->row->process->pdcpu);
}

static void process_rss(const struct line *line, char *text)
{
    show(text, PFR_CELL_BYTES, line->row->process->rss);
}

static void process_threads(const struct line *line, char *text)
{
    show(text, PFR_CELL_COUNT, line->row->process->threads);
}

/* Read and written; half of it would be no sum. */
static void process_disk(const struct line *line, char *text)
{
    int64_t read = line->row->process->read, write = line->row->process->write;

    show(text, PFR_CELL_BYTES, read == PFR_ABSENT || write == PFR_ABSENT ? PFR_ABSENT
                                                                         : read + write);
}

/* As ps does, the bare name in brackets where the command line is not known. */
static void process_cmd(const struct line *line, char *text)
{
    const struct pfr_top_proc *process = line->row->process;
    const char *cmd = pfr_top_node_cmd(line->row->node, process);

    if (cmd)
        snprintf(text, TEXT, "%s", cmd);
    else
        snprintf(text, TEXT, "[%s]", process->comm);
}

static const struct column process_columns[] = {
    { "PID", 8, process_pid, false },
    { "NODE", -12, node_name, true },
    { "S", -2, process_state, false },
    { "CPU %", 7, process_cpu, false },
    { "RSS", 9, process_rss, false },
    { "THR", 4, process_threads, false },
    { "DISK/s", 9, process_disk, false },
    { "COMMAND", 0, process_cmd, false },
    { 0 },
};

/* ---- all of them ---- */

static const struct column *const panes[PFR_PANE_COUNT] = {
    [PFR_PANE_NODES] = node_columns,
    [PFR_PANE_TASKS] = task_columns,
    [PFR_PANE_PROCESSES] = process_columns,
};

const char *pfr_pane_name(enum pfr_top_pane pane)
{
    static const char *const names[] = { "nodes", "tasks", "processes" };

    return names[pane];
}

const char *pfr_sort_name(enum pfr_top_sort sort)
{
    static const char *const names[] = { "cpu", "memory", "io", "name" };

    return names[sort];
}

/* The line of one row, or without one the heading; a column that does not fit is left out. */
static void draw_line(struct pfr_canvas *canvas, int row, const struct column *column,
                      const struct line *line, bool several, enum pfr_style style)
{
    char text[TEXT];

    for (int at = 0; column->title; column++) {
        int width = abs(column->width), room = canvas->columns - at;

        if (column->several && !several)
            continue;
        if (width > room || room < 1)
            return;
        if (line)
            column->text(line, text);
        else
            snprintf(text, sizeof(text), "%s", column->title);
        if (width == 0) {
            pfr_canvas_put(canvas, row, at, style, text);
            return;
        }
        pfr_canvas_field(canvas, row, at, column->width, style, text);
        at += width + (column->width > 0);
    }
}

static enum pfr_style style_of(const struct line *line)
{
    const struct pfr_top_node *node = line->row->node;
    const struct pfr_top_task *task = line->row->task;

    if (pfr_top_node_is_stale(node, line->now.wall, line->now.monotonic))
        return PFR_WARN;
    if (task && (task->signal != PFR_ABSENT || task->exit > 0))
        return PFR_WARN;
    return pfr_top_node_has_ended(node) || (task && task->ended != PFR_ABSENT) ? PFR_DIM
                                                                               : PFR_PLAIN;
}

void pfr_draw_pane(struct pfr_canvas *canvas, int row, int end, const struct pfr_top *top,
                   struct pfr_view *view, struct pfr_top_now now)
{
    size_t count, room = end > row + 1 ? (size_t)(end - row - 1) : 0;
    PFR_AUTO_FREE struct pfr_top_row *rows =
        pfr_top_rows(top, view->pane, view->sort, view->reverse, &count);
    bool several = top->node_count > 1;

    view->page = room;
    if (view->scroll + room > count)
        view->scroll = count > room ? count - room : 0;
    if (row >= end)
        return;
    draw_line(canvas, row, panes[view->pane], NULL, several, PFR_TITLE);
    pfr_canvas_paint(canvas, row, PFR_TITLE);
    for (size_t i = 0; i < room && view->scroll + i < count; i++) {
        struct line line = { &rows[view->scroll + i], now };

        draw_line(canvas, row + 1 + (int)i, panes[view->pane], &line, several, style_of(&line));
    }
}
