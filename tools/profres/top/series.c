#include "tools/profres/top/series.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/record/reader.h"
#include "common/record/schema.h"

static const struct {
    const char *key;
    enum pfr_unit unit;
} columns[PFR_TOP_COLUMNS] = {
    [PFR_TOP_PID] = { "pid", PFR_ITEMS },
    [PFR_TOP_TICKS] = { "start_ticks", PFR_ITEMS },
    [PFR_TOP_COMM] = { "comm", PFR_TEXT },
    [PFR_TOP_PDCPU] = { "ps_pdcpu", PFR_PERCENT },
    [PFR_TOP_RSS] = { "ps_rss", PFR_BYTES },
    [PFR_TOP_THREADS] = { "proc_threads", PFR_ITEMS },
    [PFR_TOP_READ] = { "proc_io_read_bytes", PFR_BYTES },
    [PFR_TOP_WRITE] = { "proc_io_write_bytes", PFR_BYTES },
    [PFR_TOP_STAT] = { "ps_stat", PFR_TEXT },
};

/* The member as a value of that unit. */
static int64_t number_at(struct json_object *object, const char *key, enum pfr_unit unit)
{
    int64_t value;

    return pfr_json_get_value(pfr_json_get(object, key), unit, &value) ? value : PFR_ABSENT;
}

/* A "ts" of the member. */
static int64_t time_at(struct json_object *object, const char *key)
{
    struct json_object *text = pfr_json_get(object, key);
    int64_t value;

    return json_object_is_type(text, json_type_string) &&
                   pfr_clock_parse(json_object_get_string(text), &value)
               ? value
               : PFR_ABSENT;
}

static size_t length_of(struct json_object *array)
{
    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

/* What a file may claim and still be added up: a run of a century, begun in this one. */
#define LONGEST (INT64_MAX / 3)
#define LATEST (INT64_MAX / 3 * 2)

/* A run begins, or the file does: nothing is known of it. */
static void forget(struct pfr_top_node *node)
{
    node->newest = (struct pfr_top_window){
        .from = PFR_ABSENT, .to = PFR_ABSENT, .pdcpu = PFR_ABSENT, .psi_cpu = PFR_ABSENT,
        .psi_memory = PFR_ABSENT, .psi_io = PFR_ABSENT, .throttled = PFR_ABSENT,
        .read = PFR_ABSENT, .write = PFR_ABSENT,
    };
    for (int i = 0; i < PFR_PAST_SLOTS; i++)
        node->past[i].slot = PFR_ABSENT;
    for (int i = 0; i < PFR_TOP_COLUMNS; i++)
        node->columns[i] = -1;
    node->row_count = 0;
    pfr_top_cmds_clear(&node->cmds);
    node->series_start = PFR_ABSENT;
    node->series_newer = false;
}

static void find_columns(struct pfr_top_node *node, struct json_object *names)
{
    size_t count = length_of(names);

    for (size_t i = 0; i < count; i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(names, i));

        for (int k = 0; name && k < PFR_TOP_COLUMNS; k++)
            if (strcmp(name, columns[k].key) == 0)
                node->columns[k] = (int)i;
    }
}

/* True when what follows may be passed over: it is the run that the summary is of. */
static bool take_header(struct pfr_top_node *node, struct json_object *line)
{
    struct json_object *schema = pfr_json_get(line, "schema");
    struct json_object *metrics = pfr_json_get(line, "metrics");
    bool readable = json_object_is_type(schema, json_type_string) &&
                    pfr_schema_check(json_object_get_string(schema), PFR_SCHEMA_SERIES) >= 0;

    forget(node);
    node->series_newer = !readable;
    if (!readable)
        return true;
    find_columns(node, pfr_json_get(line, "process_columns"));
    node->mem_key = pfr_json_get(metrics, "cgroup_mem_current") ? "cgroup_mem_current"
                                                                : "ps_rss_total";
    node->cpu_key = pfr_json_get(metrics, "cgroup_pdcpu") ? "cgroup_pdcpu" : "ps_pdcpu_total";
    node->series_start = time_at(pfr_json_get(line, "info"), "start");
    if (node->series_start > LATEST)
        node->series_start = PFR_ABSENT;
    return !pfr_known(node->facts.start) || node->facts.start == node->series_start;
}

/* ---- a window ---- */

static struct pfr_past *past_at(struct pfr_top_node *node, int64_t slot)
{
    struct pfr_past *past = &node->past[slot % PFR_PAST_SLOTS];

    if (past->slot != slot)
        *past = (struct pfr_past){ .slot = slot, .memory = PFR_ABSENT };
    return past;
}

static void remember(struct pfr_top_node *node, int64_t slot, int64_t memory, int64_t cpu)
{
    struct pfr_past *past = past_at(node, slot);

    if (memory > past->memory)
        past->memory = memory; /* absent is the smallest there is */
    if (cpu != PFR_ABSENT) {
        past->cpu += cpu;
        past->cpu_count++;
    }
}

static int64_t slot_of(const struct pfr_top_node *node, int64_t since_start)
{
    return (node->series_start + since_start) / (PFR_PAST_SECONDS * PFR_NS_PER_S);
}

static int64_t element(struct json_object *array, size_t i, enum pfr_unit unit)
{
    int64_t value;

    return i < length_of(array) &&
                   pfr_json_get_value(json_object_array_get_idx(array, i), unit, &value)
               ? value
               : PFR_ABSENT;
}

/* The samples of a window; where there are none, the window itself stands for its time. */
static void take_past(struct pfr_top_node *node, struct json_object *line)
{
    struct json_object *samples = pfr_json_get(line, "samples");
    struct json_object *times = pfr_json_get(samples, "t");
    struct json_object *memory = pfr_json_get(samples, node->mem_key);
    struct json_object *cpu = pfr_json_get(samples, node->cpu_key);
    struct json_object *measured = pfr_json_get(line, "measurements");
    size_t count = length_of(times);
    int64_t first, last;

    if (node->series_start == PFR_ABSENT || node->newest.to == PFR_ABSENT)
        return;
    for (size_t i = 0; i < count; i++) {
        int64_t t = element(times, i, PFR_SECONDS);

        if (t >= node->newest.from && t <= node->newest.to)
            remember(node, slot_of(node, t), element(memory, i, PFR_BYTES),
                     element(cpu, i, PFR_PERCENT));
    }
    last = slot_of(node, node->newest.to - 1);
    first = slot_of(node, node->newest.from);
    if (first <= last - PFR_PAST_SLOTS)
        first = last - PFR_PAST_SLOTS + 1;
    for (int64_t slot = first; slot <= last; slot++) {
        const struct pfr_past *past = past_at(node, slot);

        remember(node, slot,
                 pfr_known(past->memory) ? PFR_ABSENT
                                         : number_at(measured, node->mem_key, PFR_BYTES),
                 past->cpu_count ? PFR_ABSENT : number_at(measured, node->cpu_key, PFR_PERCENT));
    }
}

/* A counter's growth in the window, for each second of it. */
static int64_t rate(const struct pfr_top_window *window, int64_t growth)
{
    return growth == PFR_ABSENT ? PFR_ABSENT
                                : pfr_muldiv(growth, PFR_NS_PER_S, window->to - window->from);
}

/*
 * Storage traffic for each second of the window: on block devices, or by the
 * processes seen where that is more (network file systems, buffered writes on v1).
 */
static int64_t traffic(const struct pfr_top_window *window, struct json_object *measured,
                       const char *charged, const char *seen)
{
    int64_t bytes = number_at(measured, charged, PFR_BYTES);
    int64_t other = number_at(measured, seen, PFR_BYTES);

    return rate(window, bytes == PFR_ABSENT || (other != PFR_ABSENT && other > bytes) ? other
                                                                                     : bytes);
}

/* Seconds of the window's, as a share of it in thousandths of a percent. */
static int64_t share(const struct pfr_top_window *window, struct json_object *measured,
                     const char *key)
{
    int64_t seconds = number_at(measured, key, PFR_SECONDS);

    return seconds == PFR_ABSENT ? PFR_ABSENT
                                 : pfr_muldiv(seconds, 100000, window->to - window->from);
}

static void take_window(struct pfr_top_node *node, struct json_object *line)
{
    struct json_object *measured = pfr_json_get(line, "measurements");
    struct pfr_top_window window = { .from = number_at(line, "from", PFR_SECONDS),
                                     .to = number_at(line, "to", PFR_SECONDS) };

    if (window.from < 0 || window.to <= window.from || window.to > LONGEST)
        return;
    window.pdcpu = number_at(measured, node->cpu_key, PFR_PERCENT);
    window.psi_cpu = share(&window, measured, "cgroup_psi_cpu_some_seconds");
    window.psi_memory = share(&window, measured, "cgroup_psi_memory_some_seconds");
    window.psi_io = share(&window, measured, "cgroup_psi_io_some_seconds");
    window.throttled = share(&window, measured, "cgroup_cpu_throttled_seconds");
    window.read = traffic(&window, measured, "cgroup_io_read_bytes", "proc_io_read_bytes_total");
    window.write = traffic(&window, measured, "cgroup_io_write_bytes",
                           "proc_io_write_bytes_total");
    node->newest = window;
    take_past(node, line);
}

/* ---- its processes ---- */

static char usual_state(struct json_object *tally)
{
    int64_t most = 0, count;
    char state = '-';

    if (!json_object_is_type(tally, json_type_object))
        return state;
    json_object_object_foreach(tally, code, times)
    {
        if (!pfr_json_get_value(times, PFR_ITEMS, &count) || count <= most)
            continue;
        most = count;
        state = code[0] > ' ' && code[0] < 0x7f ? code[0] : '?';
    }
    return state;
}

static int64_t cell(const struct pfr_top_node *node, struct json_object *row,
                    enum pfr_top_column column)
{
    return node->columns[column] < 0
               ? PFR_ABSENT
               : element(row, (size_t)node->columns[column], columns[column].unit);
}

static struct json_object *cell_json(const struct pfr_top_node *node, struct json_object *row,
                                     enum pfr_top_column column)
{
    int i = node->columns[column];

    return i >= 0 && (size_t)i < length_of(row) ? json_object_array_get_idx(row, (size_t)i) : NULL;
}

static void take_row(struct pfr_top_node *node, struct json_object *row,
                     struct pfr_top_proc *process)
{
    const char *comm = json_object_get_string(cell_json(node, row, PFR_TOP_COMM));

    *process = (struct pfr_top_proc){
        .pid = cell(node, row, PFR_TOP_PID),
        .start_ticks = cell(node, row, PFR_TOP_TICKS),
        .pdcpu = cell(node, row, PFR_TOP_PDCPU),
        .rss = cell(node, row, PFR_TOP_RSS),
        .threads = cell(node, row, PFR_TOP_THREADS),
        .read = rate(&node->newest, cell(node, row, PFR_TOP_READ)),
        .write = rate(&node->newest, cell(node, row, PFR_TOP_WRITE)),
        .state = usual_state(cell_json(node, row, PFR_TOP_STAT)),
    };
    snprintf(process->comm, sizeof(process->comm), "%s", comm ? comm : "?");
}

/* No window has more rows than that, whatever was asked for. */
#define ROWS_MAX 1024

static void take_rows(struct pfr_top_node *node, struct json_object *rows)
{
    size_t count = length_of(rows);
    struct pfr_top_proc *room;

    node->row_count = 0;
    if (count > ROWS_MAX)
        count = ROWS_MAX;
    room = count ? realloc(node->rows, count * sizeof(*room)) : NULL;
    if (!room)
        return;
    node->rows = room;
    node->row_count = count;
    for (size_t i = 0; i < count; i++) {
        take_row(node, json_object_array_get_idx(rows, i), &node->rows[i]);
        pfr_top_cmds_need(&node->cmds, node->rows[i].pid, node->rows[i].start_ticks);
    }
}

static void take_cmd(struct pfr_top_node *node, struct json_object *line)
{
    const char *text = json_object_get_string(pfr_json_get(line, "ps_cmd"));

    if (text)
        pfr_top_cmds_add(&node->cmds, number_at(line, "pid", PFR_ITEMS),
                         number_at(line, "start_ticks", PFR_ITEMS), text);
}

bool pfr_top_series_take(void *arg, const char *text, size_t length)
{
    struct pfr_top_node *node = arg;
    PFR_AUTO_JSON *line = text ? pfr_object_parse(text, length) : NULL;
    const char *type = pfr_line_type(line);

    if (!text)
        forget(node);
    else if (!line)
        node->malformed++;
    else if (strcmp(type, "header") == 0)
        return take_header(node, line);
    else if (!node->series_newer && strcmp(type, "process") == 0)
        take_cmd(node, line);
    else if (!node->series_newer && strcmp(type, "usage") == 0 && node->mem_key) {
        take_window(node, line);
        take_rows(node, pfr_json_get(line, "processes"));
    }
    return true;
}
