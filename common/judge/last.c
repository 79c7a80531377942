#include "common/judge/last.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/record/lines.h"
#include "common/record/scan.h"
#include "common/record/schema.h"
#include "common/record/reader.h"

/* A window in which less than this was done is one in which nothing moved. */
#define STILL_CPU_PER_S (PFR_NS_PER_S / 100)
#define STILL_BYTES_PER_S 1024
#define STILL_GPU_MILLI 1000

/* Where in a row of processes a column is; -1 when it is not there. */
struct columns {
    int rss, cpu, stat;
};

struct series {
    struct pfr_last *last;
    struct columns columns;
    char *usage; /* a copy of the newest window */
    size_t length, room;
    int64_t still_since;
    int foreign; /* -EPROTO: not for us to read */
};

static void forget(struct series *series)
{
    struct pfr_last *last = series->last;
    int64_t lines = last->lines, malformed = last->malformed;

    memset(last, 0, sizeof(*last));
    last->lines = lines;
    last->malformed = malformed;
    last->at = last->mem = last->nonreclaimable = last->rss_total = last->pdcpu = PFR_ABSENT;
    last->processes = last->still_since = last->oom_at = last->oom_kills = PFR_ABSENT;
    series->columns = (struct columns){ -1, -1, -1 };
    series->still_since = PFR_ABSENT;
    series->length = 0;
}

static void take_columns(struct pfr_scan *scan, struct columns *columns)
{
    struct pfr_span name;

    if (!pfr_scan_into(scan, '['))
        return;
    for (int i = 0; pfr_scan_element(scan); i++) {
        if (!pfr_scan_span(scan, &name))
            continue;
        if (pfr_span_is(name, "ps_rss"))
            columns->rss = i;
        else if (pfr_span_is(name, "ps_cpu_seconds"))
            columns->cpu = i;
        else if (pfr_span_is(name, "ps_stat"))
            columns->stat = i;
    }
}

int pfr_header_check(struct pfr_scan scan)
{
    char schema[64] = "";
    struct pfr_span key;

    while (pfr_scan_member(&scan, &key)) {
        if (!pfr_span_is(key, "schema"))
            pfr_scan_skip(&scan);
        else if (pfr_scan_text(&scan, schema, sizeof(schema)))
            return pfr_schema_check(schema, PFR_SCHEMA_SERIES) < 0 ? -EPROTO : 0;
    }
    return 0;
}

/* A header ends the run before it. */
static void on_header(struct series *series, struct pfr_scan *scan)
{
    struct pfr_span key;

    forget(series);
    series->foreign = pfr_header_check(*scan);
    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "process_columns"))
            take_columns(scan, &series->columns);
        else
            pfr_scan_skip(scan);
    }
}

static bool begins(struct pfr_span key, const char *text)
{
    return key.length >= strlen(text) && memcmp(key.at, text, strlen(text)) == 0;
}

/* CPU time, bytes of I/O and use of a GPU in one window; did any sample find memory in use? */
struct movement {
    int64_t cpu, bytes, gpu;
    bool memory;
};

static void take_movement(struct pfr_scan *scan, struct movement *movement)
{
    struct pfr_span key;
    int64_t value;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "cgroup_cpu_seconds") || pfr_span_is(key, "ps_cpu_seconds_total")) {
            if (pfr_scan_number(scan, PFR_NS_PER_S, &value) &&
                (!pfr_known(movement->cpu) || value > movement->cpu))
                movement->cpu = value;
        } else if (begins(key, "cgroup_io_") || begins(key, "proc_io_")) {
            if (pfr_scan_number(scan, 1, &value) && value > movement->bytes)
                movement->bytes = value;
        } else if (begins(key, "gpu_util")) {
            if (pfr_scan_number(scan, 1000, &value) && value > movement->gpu)
                movement->gpu = value;
        } else {
            movement->memory = movement->memory || pfr_span_is(key, "cgroup_mem_current") ||
                               pfr_span_is(key, "ps_rss_total");
            pfr_scan_skip(scan);
        }
    }
}

static int keep(struct series *series, const char *line, size_t length)
{
    if (length > series->room) {
        char *larger = realloc(series->usage, length);

        if (!larger)
            return -ENOMEM;
        series->usage = larger;
        series->room = length;
    }
    memcpy(series->usage, line, length);
    series->length = length;
    return 0;
}

static int on_usage(struct series *series, struct pfr_scan *scan, const char *line, size_t length)
{
    struct movement movement = { .cpu = PFR_ABSENT };
    int64_t from = PFR_ABSENT, to = PFR_ABSENT, seconds;
    struct pfr_span key;
    bool still;

    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "from")) {
            pfr_scan_number(scan, PFR_NS_PER_S, &from);
        } else if (pfr_span_is(key, "to")) {
            pfr_scan_number(scan, PFR_NS_PER_S, &to);
        } else if (pfr_span_is(key, "measurements")) {
            take_movement(scan, &movement);
            break; /* what is behind it is wanted of the newest only */
        } else {
            pfr_scan_skip(scan);
        }
    }
    if (scan->bad || !pfr_known(from) || !pfr_known(to) || from < 0 || to < from)
        return -EBADMSG;
    seconds = (to - from) / PFR_NS_PER_S + 1;
    /* without CPU time nobody can say that it stood still */
    still = pfr_known(movement.cpu) && movement.cpu < seconds * STILL_CPU_PER_S &&
            movement.bytes < seconds * STILL_BYTES_PER_S && movement.gpu < STILL_GPU_MILLI;
    if (!still)
        series->still_since = PFR_ABSENT;
    else if (!pfr_known(series->still_since))
        series->still_since = from;
    series->last->at = to;
    /* one that began when all had ended tells nothing of the end */
    return movement.memory || series->length == 0 ? keep(series, line, length) : 0;
}

/* Kept in order of memory: who is large is who one asks about. */
static void rank(struct pfr_last_process *list, int *count, int most,
                 const struct pfr_last_process *process)
{
    int at = *count;

    while (at > 0 && list[at - 1].rss < process->rss)
        at--;
    if (at == most)
        return;
    if (*count < most)
        ++*count;
    memmove(&list[at + 1], &list[at], (size_t)(*count - at - 1) * sizeof(*list));
    list[at] = *process;
}

static void take_victims(struct pfr_scan *scan, struct pfr_last *last)
{
    if (!pfr_scan_into(scan, '['))
        return;
    while (pfr_scan_element(scan)) {
        struct pfr_last_process gone = { PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, "" };
        struct pfr_span key;

        if (!pfr_scan_enter(scan, '{')) {
            pfr_scan_skip(scan);
            continue;
        }
        while (pfr_scan_member(scan, &key)) {
            if (pfr_span_is(key, "pid"))
                pfr_scan_number(scan, 1, &gone.pid);
            else if (pfr_span_is(key, "comm"))
                pfr_scan_text(scan, gone.comm, sizeof(gone.comm));
            else if (pfr_span_is(key, "ps_rss"))
                pfr_scan_number(scan, 1, &gone.rss);
            else
                pfr_scan_skip(scan);
        }
        rank(last->victims, &last->victim_count, PFR_LAST_VICTIMS, &gone);
    }
}

static void on_event(struct series *series, struct pfr_scan *scan)
{
    struct pfr_last *last = series->last;
    struct pfr_span key, event = { "", 0 };
    int64_t at = PFR_ABSENT, kills = PFR_ABSENT;

    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "event"))
            pfr_scan_span(scan, &event);
        else if (pfr_span_is(key, "t"))
            pfr_scan_number(scan, PFR_NS_PER_S, &at);
        else if (pfr_span_is(key, "kills"))
            pfr_scan_number(scan, 1, &kills);
        else if (pfr_span_is(key, "gone") && pfr_span_is(event, "oom"))
            take_victims(scan, last);
        else
            pfr_scan_skip(scan);
    }
    if (!pfr_span_is(event, "oom"))
        return;
    if (!pfr_known(last->oom_at))
        last->oom_at = at;
    last->oom_kills = pfr_known(last->oom_kills) ? pfr_plus(last->oom_kills, kills) : kills;
}

static void on_line(struct series *series, const char *line, size_t length)
{
    struct pfr_scan scan;
    struct pfr_span key, type;

    pfr_scan_init(&scan, line, length);
    series->last->lines++;
    /* "type" is the first member of every line that we write */
    if (!pfr_scan_enter(&scan, '{') || !pfr_scan_member(&scan, &key) ||
        !pfr_span_is(key, "type") || !pfr_scan_span(&scan, &type)) {
        series->last->malformed++;
        return;
    }
    if (pfr_span_is(type, "usage")) {
        if (on_usage(series, &scan, line, length) < 0)
            series->last->malformed++;
        return;
    }
    if (pfr_span_is(type, "header"))
        on_header(series, &scan);
    else if (pfr_span_is(type, "event"))
        on_event(series, &scan);
    else if (pfr_span_is(type, "final"))
        series->last->final = true;
    else
        return;
    series->last->malformed += scan.bad;
}

/* The last element that is a number, and its place; -1 without any. */
static int take_newest(struct pfr_scan *scan, int64_t quantum, int64_t *value)
{
    int place = -1;

    if (!pfr_scan_enter(scan, '[')) {
        pfr_scan_skip(scan);
        return -1;
    }
    for (int i = 0; pfr_scan_element(scan); i++)
        if (pfr_scan_number(scan, quantum, value))
            place = i;
    return place;
}

/* The time of the sample that the memory is of: one after the end has no memory. */
static void take_moment(struct pfr_scan times, int place, int64_t *at)
{
    if (place < 0 || !pfr_scan_enter(&times, '['))
        return;
    for (int i = 0; i <= place && pfr_scan_element(&times); i++)
        pfr_scan_number(&times, PFR_NS_PER_S, at);
}

static void take_samples(struct pfr_scan *scan, struct pfr_last *last)
{
    const struct { const char *key; int64_t quantum, *value; bool memory; } arrays[] = {
        { "cgroup_mem_current", 1, &last->mem, true },
        { "cgroup_mem_nonreclaimable", 1, &last->nonreclaimable, true },
        { "ps_rss_total", 1, &last->rss_total, true },
        { "cgroup_pdcpu", 1000, &last->pdcpu, false },
        { "ps_pdcpu_total", 1000, &last->pdcpu, false },
    };
    struct pfr_scan times = { 0 };
    struct pfr_span key;
    int place = -1;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        size_t i = 0;
        int found;

        if (pfr_span_is(key, "t"))
            times = *scan;
        while (i < PFR_COUNT(arrays) && !pfr_span_is(key, arrays[i].key))
            i++;
        if (i == PFR_COUNT(arrays)) {
            pfr_scan_skip(scan);
            continue;
        }
        found = take_newest(scan, arrays[i].quantum, arrays[i].value);
        if (arrays[i].memory && found > place)
            place = found;
    }
    if (times.p)
        take_moment(times, place, &last->at);
}

static void add_state(struct pfr_last *last, struct pfr_span code, int64_t count)
{
    int i = 0;

    while (i < last->state_count && !pfr_span_is(code, last->states[i].code))
        i++;
    if (i == PFR_LAST_STATES || code.length >= sizeof(last->states[0].code))
        return;
    if (i == last->state_count) {
        memcpy(last->states[i].code, code.at, code.length);
        last->states[i].code[code.length] = '\0';
        last->states[i].count = 0;
        last->state_count++;
    }
    last->states[i].count = pfr_plus(last->states[i].count, count);
}

static void take_states(struct pfr_scan *scan, struct pfr_last *last)
{
    struct pfr_span code;
    int64_t count;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &code))
        if (pfr_scan_number(scan, 1, &count))
            add_state(last, code, count);
}

static void take_processes(struct pfr_scan *scan, const struct columns *columns,
                           struct pfr_last *last)
{
    if (!pfr_scan_into(scan, '['))
        return;
    while (pfr_scan_element(scan)) {
        struct pfr_last_process process = { PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, "" };

        if (!pfr_scan_enter(scan, '[')) {
            pfr_scan_skip(scan);
            continue;
        }
        for (int i = 0; pfr_scan_element(scan); i++) {
            if (i == 0)
                pfr_scan_number(scan, 1, &process.pid);
            else if (i == 2)
                pfr_scan_text(scan, process.comm, sizeof(process.comm));
            else if (i == columns->rss)
                pfr_scan_number(scan, 1, &process.rss);
            else if (i == columns->cpu)
                pfr_scan_number(scan, PFR_NS_PER_S, &process.cpu);
            else if (i == columns->stat)
                take_states(scan, last);
            else
                pfr_scan_skip(scan);
        }
        last->has_srun = last->has_srun || strcmp(process.comm, "srun") == 0;
        rank(last->top, &last->top_count, PFR_LAST_PROCESSES, &process);
    }
}

/* The newest window in full. */
static void conclude(struct series *series)
{
    struct pfr_last *last = series->last;
    struct pfr_scan scan;
    struct pfr_span key;

    last->still_since = series->still_since;
    if (series->length == 0)
        return;
    pfr_scan_init(&scan, series->usage, series->length);
    pfr_scan_enter(&scan, '{');
    while (pfr_scan_member(&scan, &key)) {
        if (pfr_span_is(key, "samples"))
            take_samples(&scan, last);
        else if (pfr_span_is(key, "process_count"))
            pfr_scan_number(&scan, 1, &last->processes);
        else if (pfr_span_is(key, "processes"))
            take_processes(&scan, &series->columns, last);
        else
            pfr_scan_skip(&scan);
    }
    last->malformed += scan.bad;
}

int pfr_last_load(struct pfr_last *last, int dirfd, const char *node)
{
    struct series series = { .last = last };
    PFR_AUTO_FREE char *usage = NULL;
    struct pfr_lines lines;
    char name[NAME_MAX + 1];
    const char *line;
    struct stat st;
    size_t length;
    int fd, result = 0;

    memset(last, 0, sizeof(*last));
    forget(&series);
    if ((size_t)snprintf(name, sizeof(name), "%s.jsonl", node) >= sizeof(name))
        return -ENAMETOOLONG;
    fd = pfr_file_open_foreign(dirfd, name, &st);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    pfr_lines_init(&lines, fd);
    while (!series.foreign && (result = pfr_lines_next(&lines, &line, &length)) > 0)
        on_line(&series, line, length);
    usage = series.usage;
    conclude(&series);
    last->stall = PFR_LAST_STALL;
    snprintf(last->node, sizeof(last->node), "%s", node);
    last->torn = lines.torn;
    last->malformed += lines.too_long;
    pfr_lines_release(&lines);
    if (series.foreign)
        return series.foreign;
    return result < 0 ? result : 1;
}
