#include "tools/profres/detail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/judge/last.h"
#include "common/record/lines.h"
#include "common/record/reader.h"
#include "common/record/scan.h"

struct source {
    const struct pfr_facts *facts;
    void (*take)(const struct pfr_detail *row, void *arg);
    void *arg;
    int64_t count, *malformed;
    struct pfr_detail row;
};

static void clear(struct source *source)
{
    struct pfr_detail *row = &source->row;

    row->facts = source->facts;
    row->rank = row->pid = row->from = row->to = PFR_ABSENT;
    row->exit = row->signal = row->samples = PFR_ABSENT;
    row->unended = false;
    row->name[0] = row->comm[0] = row->command[0] = row->states[0] = '\0';
    PFR_EACH_METRIC(id)
        row->value[id] = PFR_ABSENT;
}

static void give(struct source *source)
{
    source->count++;
    source->take(&source->row, source->arg);
}

/* They come in the order of the table, so it is mostly the one behind the last. */
static enum pfr_metric_id find_metric(struct pfr_span key)
{
    static enum pfr_metric_id next;
    enum pfr_metric_id id = pfr_metric_find_from(next, key.at, key.length);

    if (id != PFR_METRIC_NONE)
        next = id + 1;
    return id;
}

/* "S 21, R 1" */
static void take_states(struct pfr_scan *scan, struct pfr_detail *row)
{
    struct pfr_span code;
    int64_t count;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &code)) {
        size_t used = strlen(row->states);

        if (pfr_scan_number(scan, 1, &count) && code.length < 8)
            snprintf(row->states + used, sizeof(row->states) - used, "%s%.*s:%lld",
                     used ? " " : "", (int)code.length, code.at, (long long)count);
    }
}

/* Of the statistics of an instance the one that the measurement is reduced to. */
static void take_statistics(struct pfr_scan *scan, enum pfr_metric_id id, int64_t *value)
{
    const struct pfr_metric *metric = &pfr_metrics[id];
    const char *name = metric->kind == PFR_COUNTER ? "total" : pfr_reduce_name(metric->reduce);
    struct pfr_span key;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, name))
            pfr_scan_number(scan, pfr_unit_quantum(metric->unit), value);
        else
            pfr_scan_skip(scan);
    }
}

static void take_metric(struct pfr_scan *scan, struct pfr_span key, struct pfr_detail *row)
{
    enum pfr_metric_id id = find_metric(key);

    if (id == PFR_PS_STAT)
        take_states(scan, row);
    else if (id == PFR_PS_CMD)
        pfr_scan_text(scan, row->command, sizeof(row->command));
    else if (id != PFR_METRIC_NONE && pfr_scan_peek(scan) == '{')
        take_statistics(scan, id, &row->value[id]);
    else if (id != PFR_METRIC_NONE)
        pfr_scan_number(scan, pfr_unit_quantum(pfr_metrics[id].unit), &row->value[id]);
    else
        pfr_scan_skip(scan);
}

static void take_metrics(struct pfr_scan *scan, struct pfr_detail *row)
{
    struct pfr_span key;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key))
        take_metric(scan, key, row);
}

/* An object of a task, a process, a phase or an instance. */
static void take_object(struct pfr_scan *scan, struct source *source)
{
    struct pfr_detail *row = &source->row;
    const struct { const char *key; int64_t quantum, *number; } numbers[] = {
        { "pid", 1, &row->pid },
        { "rank", 1, &row->rank },
        { "start_seconds", PFR_NS_PER_S, &row->from },
        { "end_seconds", PFR_NS_PER_S, &row->to },
        { "from", PFR_NS_PER_S, &row->from },
        { "to", PFR_NS_PER_S, &row->to },
        { "first_seconds", PFR_NS_PER_S, &row->from },
        { "last_seconds", PFR_NS_PER_S, &row->to },
        { "exit", 1, &row->exit },
        { "signal", 1, &row->signal },
    };
    struct pfr_span key;

    clear(source);
    while (pfr_scan_member(scan, &key)) {
        size_t i = 0;

        while (i < PFR_COUNT(numbers) && !pfr_span_is(key, numbers[i].key))
            i++;
        if (i < PFR_COUNT(numbers))
            pfr_scan_number(scan, numbers[i].quantum, numbers[i].number);
        else if (pfr_span_is(key, "comm"))
            pfr_scan_text(scan, row->comm, sizeof(row->comm));
        else if (pfr_span_is(key, "name") || pfr_span_is(key, "label"))
            pfr_scan_text(scan, row->name, sizeof(row->name));
        else if (pfr_span_is(key, "id"))
            pfr_scan_text(scan, row->id, sizeof(row->id));
        else if (pfr_span_is(key, "unended"))
            row->unended = pfr_scan_peek(scan) == 't' && pfr_scan_skip(scan);
        else if (pfr_span_is(key, "measurements"))
            take_metrics(scan, row);
        else
            take_metric(scan, key, row);
    }
    give(source);
}

static void take_array(struct pfr_scan *scan, struct source *source)
{
    if (!pfr_scan_into(scan, '['))
        return;
    while (pfr_scan_element(scan)) {
        if (pfr_scan_enter(scan, '{'))
            take_object(scan, source);
        else
            pfr_scan_skip(scan);
    }
}

/* To the member of this name in the object that stands next; false without one. */
static bool go_to(struct pfr_scan *scan, const char *name)
{
    struct pfr_span key;

    if (!pfr_scan_enter(scan, '{'))
        return false;
    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, name))
            return true;
        pfr_scan_skip(scan);
    }
    return false;
}

/* The text of DIR/NODE.ENDING, to be freed; NULL. */
static int open_file(const struct pfr_found *found, const char *node, const char *ending,
                     struct stat *st)
{
    char path[PATH_MAX];

    if (!found || (size_t)snprintf(path, sizeof(path), "%s/%s.%s", found->dir, node, ending) >=
                      sizeof(path))
        return -ENOENT;
    return pfr_file_open_foreign(AT_FDCWD, path, st);
}

static char *read_summary(const struct pfr_found *found, const char *node, size_t *length)
{
    struct stat st;
    PFR_AUTO_FD fd = open_file(found, node, "json", &st);
    char *text;
    ssize_t n;

    if (fd < 0 || st.st_size > PFR_LINE_MAX)
        return NULL;
    text = malloc((size_t)st.st_size + 1);
    n = text ? read(fd, text, (size_t)st.st_size) : -1;
    if (n < 0) {
        free(text);
        return NULL;
    }
    *length = (size_t)n;
    return text;
}

static void take_window(struct pfr_scan *scan, struct source *source)
{
    struct pfr_span key;

    clear(source);
    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "from")) {
            pfr_scan_number(scan, PFR_NS_PER_S, &source->row.from);
        } else if (pfr_span_is(key, "to")) {
            pfr_scan_number(scan, PFR_NS_PER_S, &source->row.to);
        } else if (pfr_span_is(key, "num_samples")) {
            pfr_scan_number(scan, 1, &source->row.samples);
        } else if (pfr_span_is(key, "measurements")) {
            take_metrics(scan, &source->row);
            break; /* nothing behind it is wanted */
        } else {
            pfr_scan_skip(scan);
        }
    }
    if (scan->bad)
        ++*source->malformed;
    else
        give(source);
}

/* "type" is the first member of every line that we write; behind it the scan goes on. */
static bool scan_type(struct pfr_scan *scan, const char *line, size_t length, struct pfr_span *type)
{
    struct pfr_span key;

    pfr_scan_init(scan, line, length);
    return pfr_scan_enter(scan, '{') && pfr_scan_member(scan, &key) && pfr_span_is(key, "type") &&
           pfr_scan_span(scan, type);
}

/* How many runs are in a series. */
static int64_t count_runs(const struct pfr_found *found, const char *node)
{
    struct stat st;
    int fd = open_file(found, node, "jsonl", &st);
    struct pfr_lines lines;
    struct pfr_scan scan;
    struct pfr_span type;
    int64_t count = 0;
    const char *line;
    size_t length;

    if (fd < 0)
        return 0;
    pfr_lines_init(&lines, fd);
    while (pfr_lines_next(&lines, &line, &length) > 0)
        count += scan_type(&scan, line, length, &type) && pfr_span_is(type, "header");
    pfr_lines_release(&lines);
    return count;
}

/* Of several runs in one series the last one: it is what the summary, and so the row, is of. */
static int each_window(struct source *source, const struct pfr_found *found, const char *node)
{
    int64_t before = count_runs(found, node);
    struct pfr_lines lines;
    struct pfr_scan scan;
    struct pfr_span type;
    const char *line;
    size_t length;
    struct stat st;
    int fd = open_file(found, node, "jsonl", &st), result, known = 0;

    if (fd < 0)
        return fd;
    pfr_lines_init(&lines, fd);
    while (known == 0 && (result = pfr_lines_next(&lines, &line, &length)) > 0) {
        if (!scan_type(&scan, line, length, &type)) {
            ++*source->malformed;
        } else if (pfr_span_is(type, "header")) {
            known = pfr_header_check(scan);
            before--;
        } else if (pfr_span_is(type, "usage") && before <= 0) {
            take_window(&scan, source);
        }
    }
    *source->malformed += lines.too_long + lines.torn;
    pfr_lines_release(&lines);
    return known < 0 ? known : result;
}

int64_t pfr_detail_each(enum pfr_detail_kind kind, const struct pfr_found *found,
                        const struct pfr_facts *node,
                        void (*take)(const struct pfr_detail *row, void *arg), void *arg,
                        int64_t *malformed)
{
    static const char *const members[] = { [PFR_DETAIL_TASK] = "tasks",
                                           [PFR_DETAIL_PROCESS] = "processes",
                                           [PFR_DETAIL_PHASE] = "phases" };
    struct source source = { node, take, arg, 0, malformed, { 0 } };
    PFR_AUTO_FREE char *text = NULL;
    struct pfr_scan scan;
    size_t length = 0;
    int result;

    if (kind == PFR_DETAIL_TIME) {
        result = each_window(&source, found, node->node);
        return result < 0 && result != -ENOENT ? result : source.count;
    }
    text = read_summary(found, node->node, &length);
    if (!text)
        return 0;
    pfr_scan_init(&scan, text, length);
    if (kind >= PFR_DETAIL_FAMILY
            ? go_to(&scan, "instances") &&
                  go_to(&scan, pfr_families[kind - PFR_DETAIL_FAMILY].name)
            : go_to(&scan, members[kind]) && (kind != PFR_DETAIL_PROCESS || go_to(&scan, "top")))
        take_array(&scan, &source);
    *malformed += scan.bad;
    return source.count;
}

int pfr_detail_reasons(const struct pfr_found *found, const char *node,
                       void (*take)(const char *key, const char *reason, void *arg), void *arg)
{
    size_t length;
    PFR_AUTO_FREE char *text = read_summary(found, node, &length);
    char name[64], reason[256];
    struct pfr_scan scan;
    struct pfr_span key;
    int count = 0;

    if (!text)
        return 0;
    pfr_scan_init(&scan, text, length);
    if (!go_to(&scan, "info") || !go_to(&scan, "unavailable") || !pfr_scan_enter(&scan, '{'))
        return 0;
    while (pfr_scan_member(&scan, &key)) {
        enum pfr_metric_id id = find_metric(key);

        if (!pfr_scan_text(&scan, reason, sizeof(reason)) || id == PFR_METRIC_NONE)
            continue;
        snprintf(name, sizeof(name), "%s", pfr_metrics[id].key);
        take(name, reason, arg);
        count++;
    }
    return count;
}
