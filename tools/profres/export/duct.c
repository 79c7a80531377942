/*
 * Files as con-duct writes them (schema 0.2.2): PREFIXinfo.json and
 * PREFIXusage.jsonl, so that its own commands read them. What it calls pcpu is
 * here the CPU use within the window, not ps's average over a lifetime.
 */
#include <json-c/json.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/record/json.h"
#include "common/record/reader.h"
#include "tools/profres/export/format.h"

struct duct {
    FILE *usage;
    char name[PATH_MAX];
    int64_t reports;
    struct json_object *commands; /* "PID START" to the command line */
};

static struct json_object *member(struct json_object *object, const char *key)
{
    return json_object_get(pfr_json_get(object, key));
}

/* The stamp with an offset: Python before 3.11 does not read a Z. */
static struct json_object *python_time(struct json_object *ts)
{
    char text[PFR_STAMP_SIZE + 8];
    size_t length;

    if (!json_object_is_type(ts, json_type_string))
        return NULL;
    snprintf(text, sizeof(text), "%.31s", json_object_get_string(ts));
    length = strlen(text);
    if (length && text[length - 1] == 'Z')
        snprintf(text + length - 1, sizeof(text) - length + 1, "+00:00");
    return json_object_new_string(text);
}

/* "[[DD-]HH:]MM:SS", as ps has it. */
static struct json_object *etime_text(struct json_object *value)
{
    int64_t seconds = (int64_t)json_object_get_double(value);
    long long days = seconds / 86400, hours = seconds / 3600 % 24;
    char text[48];
    size_t n = 0;

    if (days)
        n = (size_t)snprintf(text, sizeof(text), "%lld-", days);
    if (days || hours)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%02lld:", hours);
    snprintf(text + n, sizeof(text) - n, "%02lld:%02lld", (long long)(seconds / 60 % 60),
             (long long)(seconds % 60));
    return json_object_new_string(text);
}

/* ---- usage.jsonl ---- */

static struct json_object *cell(struct json_object *columns, struct json_object *row,
                                const char *key)
{
    size_t count = json_object_is_type(columns, json_type_array) ? json_object_array_length(columns)
                                                                 : 0;

    if (!json_object_is_type(row, json_type_array))
        return NULL;
    for (size_t i = 0; i < count && i < json_object_array_length(row); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(columns, i));

        if (name && strcmp(name, key) == 0)
            return json_object_array_get_idx(row, i);
    }
    return NULL;
}

static void command_key(struct json_object *pid, struct json_object *start, char *key, size_t size)
{
    snprintf(key, size, "%lld %lld", (long long)json_object_get_int64(pid),
             (long long)json_object_get_int64(start));
}

static struct json_object *process_json(const struct duct *duct, struct json_object *columns,
                                        struct json_object *row, struct json_object *timestamp)
{
    static const struct { const char *theirs, *ours; } numbers[] = {
        { "pcpu", "ps_pdcpu" }, { "pmem", "ps_pmem" }, { "rss", "ps_rss" }, { "vsz", "ps_vsz" },
    };
    struct json_object *object = json_object_new_object(), *value;
    char key[64];

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if ((value = cell(columns, row, numbers[i].ours)))
            pfr_json_add(object, numbers[i].theirs, json_object_get(value));
    pfr_json_add(object, "timestamp", json_object_get(timestamp));
    if ((value = cell(columns, row, "ps_etime")))
        pfr_json_add(object, "etime", etime_text(value));
    value = cell(columns, row, "ps_stat");
    pfr_json_add(object, "stat", value ? json_object_get(value) : json_object_new_object());
    command_key(cell(columns, row, "pid"), cell(columns, row, "start_ticks"), key, sizeof(key));
    value = pfr_json_get(duct->commands, key);
    pfr_json_add(object, "cmd", json_object_get(value ? value : cell(columns, row, "comm")));
    return object;
}

static struct json_object *processes_json(const struct duct *duct,
                                          const struct pfr_export_source *source,
                                          struct json_object *window,
                                          struct json_object *timestamp)
{
    struct json_object *columns = pfr_json_get(source->header, "process_columns");
    struct json_object *rows = pfr_json_get(window, "processes");
    struct json_object *object = json_object_new_object();
    size_t count = json_object_is_type(rows, json_type_array) ? json_object_array_length(rows) : 0;

    for (size_t i = 0; i < count; i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        struct json_object *pid = cell(columns, row, "pid");

        if (pid)
            pfr_json_add(object, json_object_get_string(pid),
                         process_json(duct, columns, row, timestamp));
    }
    return object;
}

/* Where the window was too short for a rate of ours: its growth over its time. */
static struct json_object *total_cpu(struct json_object *window, struct json_object *measured)
{
    struct json_object *rate = pfr_json_get(measured, "ps_pdcpu_total");
    struct json_object *cpu = pfr_json_get(measured, "ps_cpu_seconds_total");
    double span = json_object_get_double(pfr_json_get(window, "to")) -
                  json_object_get_double(pfr_json_get(window, "from"));

    if (rate)
        return json_object_get(rate);
    return cpu && span > 0 ? pfr_json_real(PFR_PERCENT,
                                           json_object_get_double(cpu) / span * 100000)
                           : NULL;
}

/* NULL when the window has no processes, or not what every line there has. */
static struct json_object *totals_json(struct json_object *window)
{
    struct json_object *measured = pfr_json_get(window, "measurements");
    struct json_object *cpu = total_cpu(window, measured), *object;

    if (!cpu || !pfr_json_get(measured, "ps_rss_total")) {
        json_object_put(cpu);
        return NULL;
    }
    object = json_object_new_object();
    pfr_json_add(object, "pmem", member(measured, "ps_pmem_total"));
    pfr_json_add(object, "pcpu", cpu);
    pfr_json_add(object, "rss", member(measured, "ps_rss_total"));
    pfr_json_add(object, "vsz", member(measured, "ps_vsz_total"));
    return object;
}

static void put_window(struct duct *duct, const struct pfr_export_source *source,
                       struct json_object *window)
{
    PFR_AUTO_JSON *object = json_object_new_object();
    struct json_object *totals = totals_json(window);
    struct json_object *timestamp = python_time(pfr_json_get(window, "ts"));

    if (!totals || !timestamp) {
        json_object_put(totals);
        json_object_put(timestamp);
        return;
    }
    pfr_json_add(object, "timestamp", timestamp);
    pfr_json_add(object, "num_samples", member(window, "num_samples"));
    pfr_json_add(object, "processes", processes_json(duct, source, window, timestamp));
    pfr_json_add(object, "totals", totals);
    pfr_json_add(object, "averages", json_object_new_object());
    fprintf(duct->usage, "%s\n", pfr_json_line(object));
    duct->reports++;
}

static void keep_command(struct duct *duct, struct json_object *line)
{
    char key[64];

    command_key(pfr_json_get(line, "pid"), pfr_json_get(line, "start_ticks"), key, sizeof(key));
    if (pfr_json_get(line, "ps_cmd"))
        pfr_json_add(duct->commands, key, member(line, "ps_cmd"));
}

/* ---- info.json ---- */

static void add_from(struct json_object *object, const char *key, struct json_object *summary,
                     const char *metric, const char *field)
{
    struct json_object *all = pfr_json_get(summary, "measurements");

    pfr_json_add(object, key, member(pfr_json_get(all, metric), field));
}

/* Of the first task that failed; null when some have not ended. */
static struct json_object *exit_code(struct json_object *summary)
{
    struct json_object *tasks = pfr_json_get(summary, "tasks");
    bool some = json_object_is_type(tasks, json_type_array);
    size_t count = some ? json_object_array_length(tasks) : 0;
    int64_t code = 0;

    for (size_t i = 0; i < count; i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);
        struct json_object *signal = pfr_json_get(task, "signal");
        struct json_object *status = pfr_json_get(task, "exit");

        if (!signal && !status)
            return NULL;
        if (code == 0)
            code = signal ? 128 + json_object_get_int64(signal) : json_object_get_int64(status);
    }
    return count ? json_object_new_int64(code) : NULL;
}

/* The words with blanks between them; what con-duct shows. */
static struct json_object *command_text(struct json_object *command)
{
    size_t count = json_object_is_type(command, json_type_array) ? json_object_array_length(command)
                                                                 : 0;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_object *value;

    if (!out)
        return NULL;
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? " " : "",
                json_object_get_string(json_object_array_get_idx(command, i)));
    fclose(out);
    value = pfr_json_text(text);
    free(text);
    return value;
}

static struct json_object *summary_json(const struct duct *duct, struct json_object *summary,
                                        struct json_object *command, const char *prefix)
{
    struct json_object *object = json_object_new_object();
    struct json_object *start = pfr_json_get(pfr_json_get(summary, "info"), "start");
    int64_t ns = 0, elapsed = 0;
    bool timed = start && pfr_clock_parse(json_object_get_string(start), &ns) &&
                 pfr_json_get_value(pfr_json_get(summary, "elapsed_seconds"), PFR_SECONDS,
                                    &elapsed);

    pfr_json_add(object, "exit_code", exit_code(summary));
    pfr_json_add(object, "command", json_object_get(command));
    pfr_json_add(object, "logs_prefix", pfr_json_text(prefix));
    pfr_json_add(object, "wall_clock_time", member(summary, "elapsed_seconds"));
    add_from(object, "peak_rss", summary, "ps_rss_total", "max");
    add_from(object, "average_rss", summary, "ps_rss_total", "mean");
    add_from(object, "peak_vsz", summary, "ps_vsz_total", "max");
    add_from(object, "average_vsz", summary, "ps_vsz_total", "mean");
    add_from(object, "peak_pmem", summary, "ps_pmem_total", "max");
    add_from(object, "average_pmem", summary, "ps_pmem_total", "mean");
    add_from(object, "peak_pcpu", summary, "ps_pdcpu_total", "max");
    add_from(object, "average_pcpu", summary, "ps_pdcpu_total", "mean");
    pfr_json_add(object, "num_samples", member(summary, "num_samples"));
    pfr_json_add(object, "num_reports", json_object_new_int64(duct->reports));
    pfr_json_add(object, "start_time", timed ? pfr_json_value(PFR_SECONDS, ns) : NULL);
    pfr_json_add(object, "end_time", timed ? pfr_json_value(PFR_SECONDS, ns + elapsed) : NULL);
    pfr_json_add(object, "working_directory", json_object_new_string(""));
    return object;
}

/* Whose the profile is: the owner of its file. */
static struct json_object *system_json(const struct pfr_export_source *source,
                                       struct json_object *info)
{
    struct json_object *object = json_object_new_object();
    const struct passwd *user = NULL;
    struct stat st;

    pfr_json_add(object, "cpu_total", member(info, "node_cpus"));
    pfr_json_add(object, "memory_total", member(info, "node_mem_total"));
    pfr_json_add(object, "hostname", pfr_json_text(source->node));
    if (stat(source->found->dir, &st) == 0) {
        pfr_json_add(object, "uid", json_object_new_int64(st.st_uid));
        user = getpwuid(st.st_uid);
    }
    pfr_json_add(object, "user", user ? pfr_json_text(user->pw_name) : NULL);
    return object;
}

static struct json_object *paths_json(const char *prefix)
{
    static const char *const names[][2] = { { "stdout", "stdout" }, { "stderr", "stderr" },
                                            { "usage", "usage.jsonl" }, { "info", "info.json" } };
    struct json_object *object = json_object_new_object();
    char path[PATH_MAX + 16];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", prefix, names[i][1]);
        pfr_json_add(object, names[i][0], pfr_json_text(path));
    }
    pfr_json_add(object, "prefix", pfr_json_text(prefix));
    return object;
}

static struct json_object *info_json(const struct duct *duct,
                                     const struct pfr_export_source *source, const char *prefix)
{
    struct json_object *info = pfr_json_get(source->summary, "info");
    struct json_object *command = command_text(pfr_json_get(info, "command"));
    struct json_object *object = json_object_new_object();

    pfr_json_add(object, "command", command);
    pfr_json_add(object, "system", system_json(source, info));
    pfr_json_add(object, "env", json_object_new_object());
    pfr_json_add(object, "gpu", NULL);
    pfr_json_add(object, "duct_version", json_object_new_string("profres " PACKAGE_VERSION));
    pfr_json_add(object, "schema_version", json_object_new_string("0.2.2"));
    pfr_json_add(object, "execution_summary",
                 summary_json(duct, source->summary, command, prefix));
    pfr_json_add(object, "output_paths", paths_json(prefix));
    pfr_json_add(object, "working_directory", json_object_new_string(""));
    pfr_json_add(object, "message", json_object_new_string(""));
    return object;
}

/* ---- the format ---- */

static struct duct *open_duct(struct pfr_export *export, struct pfr_export_source *source)
{
    struct duct *duct = source->own;

    if (!duct) {
        duct = source->own = calloc(1, sizeof(*duct));
        if (duct)
            duct->commands = json_object_new_object();
        if (duct)
            duct->usage = pfr_export_file(export, source, "_usage.jsonl", duct->name,
                                          sizeof(duct->name));
    }
    return duct && duct->usage ? duct : NULL;
}

/* Another run in the same file: the last one counts. */
static void header(struct pfr_export *export, struct pfr_export_source *source, const char *text,
                   size_t length)
{
    struct duct *duct = open_duct(export, source);

    (void)text;
    (void)length;
    if (!duct)
        return;
    if (duct->reports)
        duct->usage = freopen(duct->name, "we", duct->usage);
    duct->reports = 0;
}

static void line(struct pfr_export *export, struct pfr_export_source *source,
                 enum pfr_line_kind kind, const char *text, size_t length)
{
    struct duct *duct = open_duct(export, source);
    PFR_AUTO_JSON *object = NULL;

    if (!duct || kind == PFR_LINE_EVENT || !(object = pfr_object_parse(text, length)))
        return;
    if (kind == PFR_LINE_USAGE)
        put_window(duct, source, object);
    else if (strcmp(pfr_line_type(object), "process") == 0)
        keep_command(duct, object);
}

static void end(struct pfr_export *export, struct pfr_export_source *source)
{
    struct duct *duct = source->own;
    char name[PATH_MAX], prefix[PATH_MAX];
    FILE *file;

    if (!duct)
        return;
    file = duct->usage ? pfr_export_file(export, source, "_info.json", name, sizeof(name)) : NULL;
    if (file) {
        snprintf(prefix, sizeof(prefix), "%.*s", (int)(strlen(name) - strlen("info.json")), name);
        PFR_AUTO_JSON *info = info_json(duct, source, prefix);
        fprintf(file, "%s\n", json_object_to_json_string_ext(info, JSON_C_TO_STRING_PRETTY |
                                                             JSON_C_TO_STRING_NOSLASHESCAPE));
        pfr_export_close(export, file, name);
    }
    if (duct->usage)
        pfr_export_close(export, duct->usage, duct->name);
    json_object_put(duct->commands);
    free(duct);
    source->own = NULL;
}

const struct pfr_format pfr_format_duct = {
    .name = "duct",
    .help = "files for con-duct: JOB.STEP.NODE_info.json and _usage.jsonl",
    .makes_files = true,
    .header = header,
    .line = line,
    .end = end,
};
