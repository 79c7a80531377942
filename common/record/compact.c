#include "common/record/compact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/record/file.h"
#include "common/record/reader.h"

/*
 * Anybody may have written into the file: of what is not the shape we write,
 * nothing is taken, and nothing breaks.
 */
static size_t length_of(struct json_object *array)
{
    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

static struct json_object *at(struct json_object *array, size_t index)
{
    return index < length_of(array) ? json_object_array_get_idx(array, index) : NULL;
}

static const char *name_at(struct json_object *columns, size_t index)
{
    struct json_object *name = at(columns, index);

    return json_object_is_type(name, json_type_string) ? json_object_get_string(name) : "";
}

static double span_of(struct json_object *usage)
{
    return json_object_get_double(pfr_json_get(usage, "to")) -
           json_object_get_double(pfr_json_get(usage, "from"));
}

/* {"S": 9} and {"S": 1, "R": 2} */
static struct json_object *merge_tally(struct json_object *a, struct json_object *b)
{
    struct json_object *merged;

    if (!json_object_is_type(a, json_type_object) || !json_object_is_type(b, json_type_object))
        return json_object_get(b);
    merged = json_object_new_object();
    json_object_object_foreach(a, ka, va)
        pfr_json_add(merged, ka, json_object_get(va));
    json_object_object_foreach(b, kb, vb)
        pfr_json_add(merged, kb,
                     json_object_new_int64(json_object_get_int64(pfr_json_get(merged, kb)) +
                                           json_object_get_int64(vb)));
    return merged;
}

/* One value of two windows, by what the metric table says; consumes nothing. */
static struct json_object *merge_value(enum pfr_metric_id id, struct json_object *a,
                                       struct json_object *b, double span_a, double span_b)
{
    const struct pfr_metric *metric = &pfr_metrics[id];
    int64_t va, vb;

    if (!a || !b)
        return json_object_get(a ? a : b);
    if (metric->reduce == PFR_TALLY)
        return merge_tally(a, b);
    if (!pfr_json_get_value(a, metric->unit, &va) || !pfr_json_get_value(b, metric->unit, &vb))
        return json_object_get(b);
    switch (metric->reduce) {
    case PFR_DELTA:
        return pfr_json_value(metric->unit, va + vb);
    case PFR_MAX:
        return pfr_json_value(metric->unit, va > vb ? va : vb);
    case PFR_MIN:
        return pfr_json_value(metric->unit, va < vb ? va : vb);
    case PFR_MEAN:
        if (span_a + span_b <= 0)
            return json_object_get(b);
        return pfr_json_real(metric->unit, ((double)va * span_a + (double)vb * span_b) /
                                               (span_a + span_b));
    default:
        return json_object_get(b);
    }
}

static void merge_measurements(struct json_object *a, struct json_object *b, double span_a,
                               double span_b)
{
    if (!json_object_is_type(a, json_type_object) || !json_object_is_type(b, json_type_object))
        return;
    json_object_object_foreach(b, key, vb)
    {
        enum pfr_metric_id id = pfr_metric_find(key);
        struct json_object *va = pfr_json_get(a, key);

        pfr_json_add(a, key, id == PFR_METRIC_NONE ? json_object_get(vb)
                                                   : merge_value(id, va, vb, span_a, span_b));
    }
}

/* ---- rows with columns ---- */

static bool same_row(struct json_object *a, struct json_object *b, size_t keys)
{
    for (size_t i = 0; i < keys; i++)
        if (!json_object_equal(at(a, i), at(b, i)))
            return false;
    return length_of(a) > keys && length_of(b) > keys;
}

static struct json_object *find_row(struct json_object *rows, struct json_object *row, size_t keys)
{
    for (size_t i = 0; i < length_of(rows); i++)
        if (same_row(at(rows, i), row, keys))
            return at(rows, i);
    return NULL;
}

static void merge_row(struct json_object *a, struct json_object *b, struct json_object *columns,
                      size_t keys, double span_a, double span_b)
{
    for (size_t i = keys; i < length_of(columns) && i < length_of(a); i++) {
        enum pfr_metric_id id = pfr_metric_find(name_at(columns, i));
        struct json_object *va = at(a, i), *vb = at(b, i);
        struct json_object *merged =
            id != PFR_METRIC_NONE /* "processes" of a command: distinct ones, a count */
                ? merge_value(id, va, vb, span_a, span_b)
                : json_object_new_int64(json_object_get_int64(va) + json_object_get_int64(vb));

        json_object_array_put_idx(a, i, merged);
    }
}

/* The first `keys` columns say which rows are of the same process or command. */
static void merge_rows(struct json_object *a, struct json_object *b, const char *name,
                       struct json_object *columns, size_t keys)
{
    struct json_object *rows = pfr_json_get(a, name), *more = pfr_json_get(b, name);

    if (!length_of(more) || !columns)
        return;
    if (!json_object_is_type(rows, json_type_array)) {
        pfr_json_add(a, name, json_object_get(more));
        return;
    }
    for (size_t i = 0; i < length_of(more); i++) {
        struct json_object *row = at(more, i);
        struct json_object *known = find_row(rows, row, keys);

        if (known)
            merge_row(known, row, columns, keys, span_of(a), span_of(b));
        else
            json_object_array_add(rows, json_object_get(row));
    }
}

static size_t column_of(struct json_object *columns, const char *key)
{
    for (size_t i = 0; i < length_of(columns); i++)
        if (strcmp(name_at(columns, i), key) == 0)
            return i;
    return SIZE_MAX;
}

struct rank {
    double cpu, rss;
    bool keep;
};

/* Keeps one more: the largest by CPU (if it used any) or by memory. */
static bool keep_next(struct rank *ranks, size_t count, bool by_cpu)
{
    struct rank *best = NULL;

    for (size_t i = 0; i < count; i++) {
        struct rank *rank = &ranks[i];

        if (!rank->keep && (by_cpu ? rank->cpu > 0 : true) &&
            (!best || (by_cpu ? rank->cpu > best->cpu : rank->rss > best->rss)))
            best = rank;
    }
    if (best)
        best->keep = true;
    return best;
}

/*
 * A merged window may have up to twice the rows. As in a window of its own,
 * half the room is for the largest by CPU and the rest for the largest by
 * memory.
 */
static void trim_rows(struct json_object *rows, struct json_object *columns, uint32_t most)
{
    size_t cpu = column_of(columns, "ps_cpu_seconds"), rss = column_of(columns, "ps_rss");
    size_t count = length_of(rows), kept = 0;
    PFR_AUTO_FREE struct rank *ranks = count > most ? calloc(count, sizeof(*ranks)) : NULL;

    if (!ranks)
        return;
    for (size_t i = 0; i < count; i++) {
        ranks[i].cpu = json_object_get_double(at(at(rows, i), cpu));
        ranks[i].rss = json_object_get_double(at(at(rows, i), rss));
    }
    while (kept < most / 2 && keep_next(ranks, count, true))
        kept++;
    while (kept < most && keep_next(ranks, count, false))
        kept++;
    for (size_t i = count; i-- > 0;)
        if (!ranks[i].keep)
            json_object_array_del_idx(rows, i, 1);
}

static int64_t int_of(struct json_object *object, const char *key)
{
    return json_object_get_int64(pfr_json_get(object, key));
}

void pfr_usage_merge(struct json_object *a, struct json_object *b, struct json_object *header,
                     uint32_t most_processes)
{
    struct json_object *columns = pfr_json_get(header, "process_columns");
    struct json_object *measured = pfr_json_get(a, "measurements");

    if (measured)
        merge_measurements(measured, pfr_json_get(b, "measurements"), span_of(a), span_of(b));
    else if (pfr_json_get(b, "measurements"))
        pfr_json_add(a, "measurements", json_object_get(pfr_json_get(b, "measurements")));
    merge_rows(a, b, "processes", columns, 3);
    trim_rows(pfr_json_get(a, "processes"), columns, most_processes);
    merge_rows(a, b, "commands", pfr_json_get(header, "command_columns"), 1);
    json_object_object_del(a, "samples");
    pfr_json_add(a, "num_samples",
                 json_object_new_int64(int_of(a, "num_samples") + int_of(b, "num_samples")));
    if (int_of(b, "process_count") > int_of(a, "process_count"))
        pfr_json_add(a, "process_count", json_object_new_int64(int_of(b, "process_count")));
    pfr_json_add(a, "merged",
                 json_object_new_int64((pfr_json_get(a, "merged") ? int_of(a, "merged") : 1) +
                                       (pfr_json_get(b, "merged") ? int_of(b, "merged") : 1)));
    pfr_json_add(a, "ts", json_object_get(pfr_json_get(b, "ts")));
    pfr_json_add(a, "to", json_object_get(pfr_json_get(b, "to")));
}

/* ---- the file ---- */

static void put_line(FILE *file, struct json_object *object)
{
    fputs(pfr_json_line(object), file);
    fputc('\n', file);
}

/* Command lines whose process has not been in a window that was written. */
struct waiting {
    struct waiting_line {
        int64_t pid, start_ticks;
        struct json_object *line;
    } *lines;
    size_t count, capacity;
};

static void waiting_release(struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->count; i++)
        json_object_put(waiting->lines[i].line);
    free(waiting->lines);
}

/* Takes the line; without memory the command is lost, not the series. */
static void waiting_add(struct waiting *waiting, struct json_object *line)
{
    if (waiting->count == waiting->capacity) {
        size_t capacity = waiting->capacity ? 2 * waiting->capacity : 64;
        struct waiting_line *lines = realloc(waiting->lines, capacity * sizeof(*lines));

        if (!lines) {
            json_object_put(line);
            return;
        }
        waiting->lines = lines;
        waiting->capacity = capacity;
    }
    waiting->lines[waiting->count++] =
        (struct waiting_line){ int_of(line, "pid"), int_of(line, "start_ticks"), line };
}

static bool has_row(struct json_object *rows, int64_t pid, int64_t start_ticks)
{
    for (size_t i = 0; i < length_of(rows); i++) {
        struct json_object *row = at(rows, i);

        if (json_object_get_int64(at(row, 0)) == pid &&
            json_object_get_int64(at(row, 1)) == start_ticks)
            return true;
    }
    return false;
}

/*
 * The command lines of the processes in this window, before the window. Those
 * that no row speaks of any more are never written: that is what keeps the
 * file of a step with a hundred thousand processes small.
 */
static void put_processes(FILE *out, struct waiting *waiting, struct json_object *usage)
{
    struct json_object *rows = pfr_json_get(usage, "processes");
    size_t kept = 0;

    for (size_t i = 0; i < waiting->count && rows; i++) {
        struct waiting_line *process = &waiting->lines[i];

        if (has_row(rows, process->pid, process->start_ticks)) {
            put_line(out, process->line);
            json_object_put(process->line);
        } else {
            waiting->lines[kept++] = *process;
        }
    }
    if (rows)
        waiting->count = kept;
}

static void put_usage(FILE *out, struct waiting *waiting, struct json_object *usage)
{
    put_processes(out, waiting, usage);
    put_line(out, usage);
}

struct merge {
    FILE *out;
    double span;
    uint32_t most_processes;
    struct json_object *header, *held; /* held: a window that waits for its neighbour */
    struct waiting waiting;
};

static void merge_release(struct merge *merge)
{
    json_object_put(merge->header);
    json_object_put(merge->held);
    waiting_release(&merge->waiting);
}

static void put_held(struct merge *merge)
{
    if (merge->held)
        put_usage(merge->out, &merge->waiting, merge->held);
    json_object_put(merge->held);
    merge->held = NULL;
}

/* Windows end some milliseconds early or late. */
static bool fits(const struct merge *merge, struct json_object *line)
{
    return merge->held && json_object_get_double(pfr_json_get(line, "to")) -
                                  json_object_get_double(pfr_json_get(merge->held, "from")) <=
                              1.05 * merge->span;
}

/* Takes the line. */
static void merge_usage(struct merge *merge, struct json_object *line)
{
    if (fits(merge, line)) {
        pfr_usage_merge(merge->held, line, merge->header, merge->most_processes);
        json_object_put(line);
        return;
    }
    put_held(merge);
    merge->held = line;
}

/* A run ends or begins: its windows are no neighbours of another run's. */
static void merge_border(struct merge *merge, struct json_object *line, bool is_header)
{
    put_held(merge);
    put_line(merge->out, line);
    if (!is_header) {
        json_object_put(line);
        return;
    }
    json_object_put(merge->header);
    merge->header = line;
}

static int merge_lines(struct pfr_reader *reader, FILE *out, double span, uint32_t most_processes)
{
    PFR_CLEANUP(merge_release) struct merge merge = { .out = out,
                                                      .span = span,
                                                      .most_processes = most_processes };
    struct json_object *line;
    int r;

    while ((r = pfr_reader_next(reader, &line)) > 0) {
        const char *type = pfr_line_type(line);

        if (strcmp(type, "process") == 0) {
            waiting_add(&merge.waiting, line);
        } else if (strcmp(type, "usage") == 0) {
            merge_usage(&merge, line);
        } else if (strcmp(type, "header") == 0 || strcmp(type, "final") == 0) {
            merge_border(&merge, line, strcmp(type, "header") == 0);
        } else {
            put_line(out, line);
            json_object_put(line);
        }
    }
    put_held(&merge);
    return r;
}

/* Through a stream of our own, so that the new file's fd stays ours. */
static int merge_to_fd(struct pfr_reader *reader, int fd, double span, uint32_t most_processes)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
    int r;

    if (!out) {
        r = -errno;
        if (copy >= 0)
            close(copy);
        return r;
    }
    r = merge_lines(reader, out, span, most_processes);
    if (ferror(out))
        r = -EIO;
    if (fclose(out) != 0 && r == 0)
        r = -errno;
    return r;
}

/* O_NONBLOCK: a FIFO put in the file's place must not hold us. */
static int open_series(int dirfd, const char *name)
{
    PFR_AUTO_FD fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    return S_ISREG(st.st_mode) ? pfr_take_fd(&fd) : -EINVAL;
}

int pfr_series_compact(int dirfd, const char *name, double span, uint32_t most_processes)
{
    int fd = open_series(dirfd, name);
    struct pfr_new_file file;
    struct pfr_reader reader;
    int r;

    if (fd < 0)
        return fd;
    if ((r = pfr_reader_open(&reader, fd)) < 0)
        return r;
    r = pfr_new_file_open(&file, dirfd, name);
    if (r == 0) {
        r = merge_to_fd(&reader, file.fd, span, most_processes);
        if (r == 0)
            r = pfr_new_file_commit(&file);
        else
            pfr_new_file_abandon(&file);
    }
    pfr_reader_release(&reader);
    return r;
}
