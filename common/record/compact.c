#include "common/record/compact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/hash.h"
#include "common/record/reader.h"

/* Of what is not the shape we write nothing is taken, and nothing breaks. */
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

/* Nobody can have so many, but somebody may have written it. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
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
        return pfr_json_value(metric->unit, plus(va, vb));
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

/* Where the row with given first cells is: a hash of the first two, so that n rows cost n. */
struct row_index {
    struct json_object *rows;
    uint32_t *cells; /* row + 1; 0 = free. NULL without memory: then row by row */
    size_t mask;
};

static void row_index_release(struct row_index *index)
{
    free(index->cells);
}

static uint32_t hash_cell(struct json_object *cell)
{
    if (json_object_is_type(cell, json_type_string))
        return pfr_hash_text(json_object_get_string(cell));
    return (uint32_t)((uint64_t)json_object_get_int64(cell) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static uint32_t hash_key(struct json_object *const *key, size_t keys)
{
    return hash_cell(key[0]) ^ (keys > 1 ? 31 * hash_cell(key[1]) : 0);
}

static void row_index_build(struct row_index *index, struct json_object *rows, size_t keys)
{
    size_t count = length_of(rows);

    index->rows = rows;
    for (index->mask = 15; index->mask < 2 * count; index->mask = 2 * index->mask + 1)
        ;
    index->cells = calloc(index->mask + 1, sizeof(*index->cells));
    for (size_t i = 0; i < count && index->cells; i++) {
        struct json_object *key[] = { at(at(rows, i), 0), at(at(rows, i), 1) };
        size_t cell = hash_key(key, keys) & index->mask;

        while (index->cells[cell])
            cell = (cell + 1) & index->mask;
        index->cells[cell] = (uint32_t)i + 1;
    }
}

static bool has_key(struct json_object *row, struct json_object *const *key, size_t keys)
{
    for (size_t i = 0; i < keys; i++)
        if (!json_object_equal(at(row, i), key[i]))
            return false;
    return length_of(row) > keys;
}

static struct json_object *find_row(const struct row_index *index, struct json_object *const *key,
                                    size_t keys)
{
    size_t cell = hash_key(key, keys) & index->mask;

    for (size_t i = 0; !index->cells && i < length_of(index->rows); i++)
        if (has_key(at(index->rows, i), key, keys))
            return at(index->rows, i);
    for (; index->cells && index->cells[cell]; cell = (cell + 1) & index->mask)
        if (has_key(at(index->rows, index->cells[cell] - 1), key, keys))
            return at(index->rows, index->cells[cell] - 1);
    return NULL;
}

static void merge_row(struct json_object *a, struct json_object *b, struct json_object *columns,
                      size_t keys, double span_a, double span_b)
{
    for (size_t i = keys; i < length_of(columns) && i < length_of(a); i++) {
        enum pfr_metric_id id = pfr_metric_find(name_at(columns, i));
        struct json_object *va = at(a, i), *vb = at(b, i);
        struct json_object *merged =
            id != PFR_METRIC_NONE ? merge_value(id, va, vb, span_a, span_b) : json_object_get(vb);

        json_object_array_put_idx(a, i, merged);
    }
}

/* The first `keys` columns say which rows are of the same process or instance. */
static void merge_rows(struct json_object *a, struct json_object *b, const char *name,
                       struct json_object *columns, size_t keys, const double span[static 2])
{
    struct json_object *rows = pfr_json_get(a, name), *more = pfr_json_get(b, name);
    PFR_CLEANUP(row_index_release) struct row_index index = { 0 };

    if (!length_of(more) || !columns)
        return;
    if (!json_object_is_type(rows, json_type_array)) {
        pfr_json_add(a, name, json_object_get(more));
        return;
    }
    row_index_build(&index, rows, keys);
    for (size_t i = 0; i < length_of(more); i++) {
        struct json_object *row = at(more, i), *key[] = { at(row, 0), at(row, 1), at(row, 2) };
        struct json_object *known = length_of(row) > keys ? find_row(&index, key, keys) : NULL;

        if (known)
            merge_row(known, row, columns, keys, span[0], span[1]);
        else
            json_object_array_add(rows, json_object_get(row));
    }
}

/* Of all families that the header names; a slot says which instance a row is of. */
static void merge_families(struct json_object *a, struct json_object *b,
                           struct json_object *families, const double span[static 2])
{
    struct json_object *rows = pfr_json_get(a, "rows"), *more = pfr_json_get(b, "rows");

    if (!json_object_is_type(more, json_type_object) ||
        !json_object_is_type(families, json_type_object))
        return;
    if (!json_object_is_type(rows, json_type_object)) {
        pfr_json_add(a, "rows", json_object_get(more));
        return;
    }
    json_object_object_foreach(families, name, family)
        merge_rows(rows, more, name, pfr_json_get(family, "columns"), 1, span);
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
    const double span[] = { span_of(a), span_of(b) };

    if (measured)
        merge_measurements(measured, pfr_json_get(b, "measurements"), span_of(a), span_of(b));
    else if (pfr_json_get(b, "measurements"))
        pfr_json_add(a, "measurements", json_object_get(pfr_json_get(b, "measurements")));
    merge_rows(a, b, "processes", columns, 3, span);
    trim_rows(pfr_json_get(a, "processes"), columns, most_processes);
    merge_families(a, b, pfr_json_get(header, "families"), span);
    json_object_object_del(a, "samples");
    pfr_json_add(a, "num_samples",
                 json_object_new_int64(plus(int_of(a, "num_samples"), int_of(b, "num_samples"))));
    if (int_of(b, "process_count") > int_of(a, "process_count"))
        pfr_json_add(a, "process_count", json_object_new_int64(int_of(b, "process_count")));
    pfr_json_add(a, "merged",
                 json_object_new_int64(plus(pfr_json_get(a, "merged") ? int_of(a, "merged") : 1,
                                            pfr_json_get(b, "merged") ? int_of(b, "merged") : 1)));
    pfr_json_add(a, "ts", json_object_get(pfr_json_get(b, "ts")));
    pfr_json_add(a, "to", json_object_get(pfr_json_get(b, "to")));
}

/* ---- the lines ---- */

/* Command lines whose process has not been in a window that was written. */
struct waiting {
    struct json_object **lines;
    size_t count, capacity;
};

struct merge {
    struct pfr_compaction *how;
    FILE *out;
    struct pfr_seal *seal;
    struct json_object *header, *held; /* held: a window that waits for its neighbour */
    struct waiting waiting;
};

static void merge_release(struct merge *merge)
{
    json_object_put(merge->header);
    json_object_put(merge->held);
    for (size_t i = 0; i < merge->waiting.count; i++)
        json_object_put(merge->waiting.lines[i]);
    free(merge->waiting.lines);
}

/* How long it is. */
static int64_t put_line(struct merge *merge, struct json_object *object)
{
    PFR_AUTO_FREE char *line = NULL;
    int length = asprintf(&line, "%s\n", pfr_json_line(object));

    if (length < 0)
        return 0;
    fwrite(line, 1, (size_t)length, merge->out);
    pfr_seal_add(merge->seal, line, (size_t)length);
    return length;
}

/* Takes the line; without memory the command is lost, not the series. */
static void waiting_add(struct waiting *waiting, struct json_object *line)
{
    if (waiting->count == waiting->capacity) {
        size_t capacity = waiting->capacity ? 2 * waiting->capacity : 64;
        struct json_object **lines = realloc(waiting->lines, capacity * sizeof(*lines));

        if (!lines) {
            json_object_put(line);
            return;
        }
        waiting->lines = lines;
        waiting->capacity = capacity;
    }
    waiting->lines[waiting->count++] = line;
}

/*
 * The command lines of the processes in this window, before the window. Those
 * that no row speaks of any more are never written: that is what keeps the
 * file of a step with a hundred thousand processes small.
 */
static void put_processes(struct merge *merge, struct json_object *usage)
{
    struct json_object *rows = pfr_json_get(usage, "processes");
    PFR_CLEANUP(row_index_release) struct row_index index = { 0 };
    struct waiting *waiting = &merge->waiting;
    size_t kept = 0;

    if (!length_of(rows))
        return;
    row_index_build(&index, rows, 2);
    for (size_t i = 0; i < waiting->count; i++) {
        struct json_object *line = waiting->lines[i];
        struct json_object *key[] = { pfr_json_get(line, "pid"),
                                      pfr_json_get(line, "start_ticks") };

        if (!find_row(&index, key, 2)) {
            waiting->lines[kept++] = line;
            continue;
        }
        if (merge->how->command_bytes < merge->how->command_room)
            merge->how->command_bytes += put_line(merge, line);
        json_object_put(line);
    }
    waiting->count = kept;
}

static void put_held(struct merge *merge)
{
    if (merge->held) {
        put_processes(merge, merge->held);
        put_line(merge, merge->held);
    }
    json_object_put(merge->held);
    merge->held = NULL;
}

/* Windows end some milliseconds early or late. */
static bool fits(const struct merge *merge, struct json_object *line)
{
    return merge->held && json_object_get_double(pfr_json_get(line, "to")) -
                                  json_object_get_double(pfr_json_get(merge->held, "from")) <=
                              1.05 * merge->how->span;
}

/* Takes the line. */
static void merge_usage(struct merge *merge, struct json_object *line)
{
    if (fits(merge, line)) {
        pfr_usage_merge(merge->held, line, merge->header, merge->how->most_processes);
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
    put_line(merge, line);
    if (!is_header) {
        json_object_put(line);
        return;
    }
    json_object_put(merge->header);
    merge->header = line;
}

static int merge_lines(struct merge *merge, struct pfr_reader *reader)
{
    struct json_object *line;
    int r;

    while ((r = pfr_reader_next(reader, &line)) > 0) {
        const char *type = pfr_line_type(line);

        if (strcmp(type, "process") == 0) {
            waiting_add(&merge->waiting, line);
        } else if (strcmp(type, "usage") == 0) {
            merge_usage(merge, line);
        } else if (strcmp(type, "header") == 0 || strcmp(type, "final") == 0) {
            merge_border(merge, line, strcmp(type, "header") == 0);
        } else {
            put_line(merge, line);
            json_object_put(line);
        }
    }
    put_held(merge);
    return r;
}

int pfr_series_compact(struct pfr_compaction *how, const char *text, size_t length, int fd,
                       struct pfr_seal *seal)
{
    PFR_CLEANUP(merge_release) struct merge merge = { .how = how, .seal = seal };
    PFR_CLEANUP(pfr_reader_release) struct pfr_reader reader = { 0 };
    int copy, r = pfr_reader_open_text(&reader, text, length);

    if (r < 0)
        return r;
    copy = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* a stream of our own: fd stays the caller's */
    merge.out = copy < 0 ? NULL : fdopen(copy, "a");
    if (!merge.out) {
        r = -errno;
        if (copy >= 0)
            close(copy);
        return r;
    }
    how->command_bytes = 0;
    r = merge_lines(&merge, &reader);
    if (ferror(merge.out))
        r = -EIO;
    if (fclose(merge.out) != 0 && r == 0)
        r = -errno;
    return r;
}
