/* The summary of one node into facts, in one pass over its text. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/judge/facts.h"
#include "common/record/reader.h"
#include "common/record/scan.h"
#include "common/record/schema.h"

static void take_time(struct pfr_scan *scan, int64_t *time)
{
    char text[PFR_STAMP_SIZE];

    if (pfr_scan_text(scan, text, sizeof(text)))
        pfr_clock_parse(text, time);
}

/* A name may look like a number, and is written as one then. */
static void take_name(struct pfr_scan *scan, char *text, size_t size)
{
    int64_t number;

    if (pfr_scan_peek(scan) == '"')
        pfr_scan_text(scan, text, size);
    else if (pfr_scan_number(scan, 1, &number))
        snprintf(text, size, "%lld", (long long)number);
}

static void take_command(struct pfr_scan *scan, char *text, size_t size)
{
    size_t used = 0;

    if (!pfr_scan_into(scan, '['))
        return;
    while (pfr_scan_element(scan)) {
        if (used && used + 1 < size)
            text[used++] = ' ';
        text[used] = '\0';
        pfr_scan_text(scan, text + used, size - used);
        used += strlen(text + used);
    }
}

#define UNLIMITED_NS (365 * 86400 * PFR_NS_PER_S)

static void take_allocation(struct pfr_scan *scan, struct pfr_facts *facts)
{
    int64_t starts = PFR_ABSENT, ends = PFR_ABSENT, profiled = PFR_ABSENT;
    const struct { const char *key; int64_t *number; } numbers[] = {
        { "job_id", &facts->job_id },
        { "nodes", &facts->nodes_given },
        { "tasks_of_step", &facts->tasks_given },
        { "job_cpus", &facts->cpus },
        { "job_mem_bytes", &facts->job_mem_given },
        { "step_mem_bytes", &facts->mem_given },
        { "array_job_id", &facts->array_job },
        { "array_task_id", &facts->array_task },
        { "restart_count", &facts->restart },
        { "job_start_time", &starts },
        { "job_end_time", &ends },
        { "nodes_profiled", &profiled },
    };
    const struct { const char *key; char *text; size_t size; } texts[] = {
        { "user", facts->user, sizeof(facts->user) },
        { "job_name", facts->name, sizeof(facts->name) },
        { "cluster", facts->cluster, sizeof(facts->cluster) },
    };
    struct pfr_span key;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        size_t i = 0, k = 0;

        while (i < PFR_COUNT(numbers) && !pfr_span_is(key, numbers[i].key))
            i++;
        while (k < PFR_COUNT(texts) && !pfr_span_is(key, texts[k].key))
            k++;
        if (i < PFR_COUNT(numbers))
            pfr_scan_number(scan, 1, numbers[i].number);
        else if (k < PFR_COUNT(texts))
            take_name(scan, texts[k].text, texts[k].size);
        else
            pfr_scan_skip(scan);
    }
    if (pfr_known(profiled) && profiled < facts->nodes_given)
        facts->nodes_given = profiled;
    if (!pfr_known(facts->mem_given))
        facts->mem_given = facts->job_mem_given;
    if (pfr_known(starts) && starts < INT64_MAX / PFR_NS_PER_S)
        facts->job_start = starts * PFR_NS_PER_S;
    if (pfr_known(ends) && ends < INT64_MAX / PFR_NS_PER_S)
        facts->job_end = ends * PFR_NS_PER_S;
    if (pfr_known(facts->job_start) && facts->job_end > facts->job_start)
        facts->time_limit = facts->job_end - facts->job_start;
    if (facts->time_limit >= UNLIMITED_NS) /* so Slurm tells of a job without a limit */
        facts->time_limit = facts->job_end = PFR_ABSENT;
}

static void take_info(struct pfr_scan *scan, struct pfr_facts *facts)
{
    struct pfr_span key;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "job"))
            take_name(scan, facts->job, sizeof(facts->job));
        else if (pfr_span_is(key, "step"))
            take_name(scan, facts->step, sizeof(facts->step));
        else if (pfr_span_is(key, "node"))
            take_name(scan, facts->node, sizeof(facts->node));
        else if (pfr_span_is(key, "allocation"))
            take_allocation(scan, facts);
        else if (pfr_span_is(key, "command"))
            take_command(scan, facts->command, sizeof(facts->command));
        else if (pfr_span_is(key, "start"))
            take_time(scan, &facts->start);
        else if (pfr_span_is(key, "node_cpus"))
            pfr_scan_number(scan, 1, &facts->node_cpus);
        else if (pfr_span_is(key, "node_mem_total"))
            pfr_scan_number(scan, 1, &facts->node_mem);
        else if (pfr_span_is(key, "interval_seconds"))
            pfr_scan_number(scan, PFR_NS_PER_S, &facts->interval);
        else if (pfr_span_is(key, "window_seconds"))
            pfr_scan_number(scan, PFR_NS_PER_S, &facts->window);
        else
            pfr_scan_skip(scan);
    }
}

/* The members of a measurement, in the order in which we write them. */
static const struct { const char *key; size_t length, offset; } members[] = {
#define MEMBER(name, field) { name, sizeof(name) - 1, offsetof(struct pfr_stats, field) }
    MEMBER("max", max), MEMBER("min", min), MEMBER("mean", mean), MEMBER("stddev", stddev),
    MEMBER("p50", p50), MEMBER("p95", p95), MEMBER("p99", p99), MEMBER("last", last),
    MEMBER("max_at_seconds", max_at), MEMBER("total", total),
#undef MEMBER
};

/* All members, or up to the max. */
static void take_stats(struct pfr_scan *scan, enum pfr_metric_id id, struct pfr_stats *stats,
                       bool all)
{
    int64_t quantum = pfr_unit_quantum(pfr_metrics[id].unit);
    struct pfr_span key;
    size_t next = 0;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        size_t tried = 0;

        /* the one behind the last is nearly always it */
        while (tried < PFR_COUNT(members) &&
               !(key.length == members[next].length &&
                 memcmp(key.at, members[next].key, key.length) == 0)) {
            next = (next + 1) % PFR_COUNT(members);
            tried++;
        }
        if (tried == PFR_COUNT(members)) {
            pfr_scan_skip(scan);
            continue;
        }
        pfr_scan_number(scan, members[next].offset == offsetof(struct pfr_stats, max_at)
                                  ? PFR_NS_PER_S : quantum,
                        (int64_t *)(void *)((char *)stats + members[next].offset));
        if (!all && members[next].offset == offsetof(struct pfr_stats, max)) {
            pfr_scan_leave(scan);
            return;
        }
        next = (next + 1) % PFR_COUNT(members);
    }
}

/* The measurement of this key, looked for from the one expected next. */
static enum pfr_metric_id find_from(enum pfr_metric_id next, struct pfr_span key)
{
    enum pfr_metric_id id = pfr_metric_find_from(next, key.at, key.length);

    return pfr_metric_is_step(id) ? id : PFR_METRIC_NONE;
}

/* Those that nobody asked for are passed over, which is many times faster. */
static void take_measurements(struct pfr_scan *scan, struct pfr_facts *facts,
                              const struct pfr_wanted *wanted)
{
    enum pfr_metric_id next = PFR_STEP_FIRST, id;
    struct pfr_span key;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        id = find_from(next, key);
        if (id == PFR_METRIC_NONE || (wanted && !pfr_metric_set_has(&wanted->numbers, id)))
            pfr_scan_skip(scan);
        else
            take_stats(scan, id, &facts->stats[pfr_step_index(id)],
                       !wanted || pfr_metric_set_has(&wanted->stats, id) ||
                           pfr_metrics[id].reduce != PFR_MAX);
        next = id == PFR_METRIC_NONE ? next : id + 1;
    }
}

/* Both are the kernel's counters; the later reading is the larger one. */
static void raise_to(int64_t *to, int64_t value)
{
    if (pfr_known(value) && (!pfr_known(*to) || *to < value))
        *to = value;
}

static void take_totals(struct pfr_scan *scan, struct pfr_facts *facts)
{
    struct pfr_span key;
    int64_t value;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        enum pfr_metric_id id = find_from(PFR_CGROUP_MEM_PEAK, key);
        struct pfr_stats *stats;

        if (id == PFR_METRIC_NONE) {
            pfr_scan_skip(scan);
            continue;
        }
        stats = &facts->stats[pfr_step_index(id)];
        if (pfr_scan_number(scan, pfr_unit_quantum(pfr_metrics[id].unit), &value))
            raise_to(pfr_metrics[id].kind == PFR_COUNTER ? &stats->total : &stats->max, value);
    }
}

struct task {
    int64_t rank, end, exit, signal, mem, cpu;
};

static void spread(struct pfr_spread *spread, int64_t value, int64_t rank)
{
    if (!pfr_known(value))
        return;
    if (!pfr_known(spread->max) || value > spread->max) {
        spread->max = value;
        spread->max_rank = rank;
    }
    if (!pfr_known(spread->min) || value < spread->min) {
        spread->min = value;
        spread->min_rank = rank;
    }
}

static void add_task(struct pfr_facts *facts, const struct task *task)
{
    bool ended = pfr_known(task->exit) || pfr_known(task->signal);
    bool failed = pfr_known(task->signal) || (pfr_known(task->exit) && task->exit != 0);
    int64_t at = pfr_plus(facts->start, task->end);

    facts->tasks++;
    facts->tasks_ended += ended;
    facts->tasks_failed += failed;
    if (ended && (failed ? facts->tasks_failed == 1 || at < facts->failed_at
                         : facts->tasks_ended == 1)) {
        facts->exit = task->exit;
        facts->signal = task->signal;
        facts->rank = task->rank;
        if (failed)
            facts->failed_at = at;
    }
    spread(&facts->task_mem, task->mem, task->rank);
    spread(&facts->task_cpu, task->cpu, task->rank);
}

static void take_task(struct pfr_scan *scan, struct pfr_facts *facts)
{
    struct task task = { PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, PFR_ABSENT, PFR_ABSENT };
    struct pfr_span key;

    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "rank"))
            pfr_scan_number(scan, 1, &task.rank);
        else if (pfr_span_is(key, "end_seconds"))
            pfr_scan_number(scan, PFR_NS_PER_S, &task.end);
        else if (pfr_span_is(key, "exit"))
            pfr_scan_number(scan, 1, &task.exit);
        else if (pfr_span_is(key, "signal"))
            pfr_scan_number(scan, 1, &task.signal);
        else if (pfr_span_is(key, "cgroup_mem_peak"))
            pfr_scan_number(scan, 1, &task.mem);
        else if (pfr_span_is(key, "cgroup_cpu_seconds"))
            pfr_scan_number(scan, PFR_NS_PER_S, &task.cpu);
        else
            pfr_scan_skip(scan);
    }
    add_task(facts, &task);
}

static void take_tasks(struct pfr_scan *scan, struct pfr_facts *facts)
{
    if (!pfr_scan_into(scan, '['))
        return;
    facts->tasks = facts->tasks_ended = facts->tasks_failed = 0;
    while (pfr_scan_element(scan)) {
        if (pfr_scan_enter(scan, '{'))
            take_task(scan, facts);
        else
            pfr_scan_skip(scan);
    }
}

/* Some numbers of a small object. */
struct wanted {
    const char *key;
    int64_t quantum, *number;
    char *text; /* of PFR_SHORT_LIVED_SIZE, in place of a number */
};
static void take_numbers(struct pfr_scan *scan, const struct wanted *wanted, size_t count)
{
    struct pfr_span key;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        size_t i = 0;

        while (i < count && !pfr_span_is(key, wanted[i].key))
            i++;
        if (i < count && wanted[i].text)
            pfr_scan_text(scan, wanted[i].text, PFR_SHORT_LIVED_SIZE);
        else if (i < count)
            pfr_scan_number(scan, wanted[i].quantum, wanted[i].number);
        else
            pfr_scan_skip(scan);
    }
}

static void take_sampler(struct pfr_scan *scan, struct pfr_facts *facts)
{
    const struct wanted wanted[] = {
        { "cpu_seconds", PFR_NS_PER_S, &facts->sampler_cpu, NULL },
        { "late_ticks", 1, &facts->late_ticks, NULL },
        { "write_errors", 1, &facts->write_errors, NULL },
        { "lost_windows", 1, &facts->lost_windows, NULL },
    };

    take_numbers(scan, wanted, PFR_COUNT(wanted));
}

static void take_progress(struct pfr_scan *scan, struct pfr_facts *facts)
{
    char text[16];

    if (!pfr_scan_text(scan, text, sizeof(text)))
        return;
    for (int i = PFR_PROGRESS_LOST; i <= PFR_PROGRESS_COMPLETE; i++)
        if (strcmp(text, pfr_progress_name((enum pfr_progress)i)) == 0)
            facts->progress = (enum pfr_progress)i;
}

static void take_member(struct pfr_scan *scan, struct pfr_span key, struct pfr_facts *facts,
                        const struct pfr_wanted *wanted)
{
    const struct wanted processes[] = {
        { "seen", 1, &facts->processes_seen, NULL },
        { "short_lived_children_of", 0, NULL, facts->short_lived_of } };
    const struct wanted numbers[] = {
        { "n_pending", 1, &facts->pending, NULL },
        { "elapsed_seconds", PFR_NS_PER_S, &facts->elapsed, NULL },
        { "num_samples", 1, &facts->samples, NULL },
        { "num_windows", 1, &facts->windows, NULL },
        { "counter_falls", 1, &facts->counter_falls, NULL },
    };

    for (size_t i = 0; i < PFR_COUNT(numbers); i++)
        if (pfr_span_is(key, numbers[i].key)) {
            pfr_scan_number(scan, numbers[i].quantum, numbers[i].number);
            return;
        }
    if (pfr_span_is(key, "state"))
        take_progress(scan, facts);
    else if (pfr_span_is(key, "ts"))
        take_time(scan, &facts->written);
    else if (pfr_span_is(key, "info"))
        take_info(scan, facts);
    else if (pfr_span_is(key, "measurements"))
        take_measurements(scan, facts, wanted);
    else if (pfr_span_is(key, "totals_at_exit"))
        take_totals(scan, facts);
    else if (pfr_span_is(key, "tasks"))
        take_tasks(scan, facts);
    else if (pfr_span_is(key, "processes"))
        take_numbers(scan, processes, PFR_COUNT(processes));
    else if (pfr_span_is(key, "sampler"))
        take_sampler(scan, facts);
    else
        pfr_scan_skip(scan);
}

/* What follows from the rest. */
static void conclude(struct pfr_facts *facts)
{
    enum pfr_metric_id rate = pfr_facts_rate_source(facts);
    int64_t p95 = rate == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_stats(facts, rate)->p95;

    facts->nodes = 1;
    if (facts->exit == 0 && facts->tasks_ended < facts->tasks) /* the others may do worse */
        facts->exit = facts->rank = PFR_ABSENT;
    if (pfr_known(facts->array_job) && pfr_known(facts->array_task)) /* as sacct names it */
        snprintf(facts->job, sizeof(facts->job), "%lld_%lld", (long long)facts->array_job,
                 (long long)facts->array_task);
    facts->processes_at_once = pfr_facts_stats(facts, PFR_PROC_COUNT)->max;
    if (pfr_known(p95))
        facts->cores_per_task = p95 / 100 / (facts->tasks > 0 ? facts->tasks : 1);
    if (pfr_known(facts->cpus))
        facts->cpus_per_task = facts->cpus / (facts->tasks > 0 ? facts->tasks : 1);
}

/*
 * Who wants only some measurements is not interested in processes and in the
 * sampler, which is all that follows, and half of the file. As we write it, that
 * is: not when a later version did.
 */
static bool is_enough(const struct pfr_facts *facts, struct pfr_span key, const char *schema)
{
    return pfr_span_is(key, "processes") && pfr_known(facts->tasks) &&
           pfr_schema_check(schema, PFR_SCHEMA_SUMMARY) == 1;
}

/* 1 when that was enough, and the rest was not looked at; 0 at its end; -errno */
static int parse(struct pfr_facts *facts, const char *text, size_t length,
                 const struct pfr_wanted *wanted)
{
    struct pfr_scan scan;
    struct pfr_span key;
    char schema[64] = "";
    bool enough = false;
    int known;

    pfr_facts_init(facts);
    pfr_scan_init(&scan, text, length);
    if (!pfr_scan_enter(&scan, '{'))
        return -EBADMSG;
    while (!enough && pfr_scan_member(&scan, &key)) {
        if (wanted && is_enough(facts, key, schema)) {
            enough = true;
        } else if (pfr_span_is(key, "schema")) {
            if (!pfr_scan_text(&scan, schema, sizeof(schema)) ||
                pfr_schema_check(schema, PFR_SCHEMA_SUMMARY) < 0)
                return scan.bad ? -EBADMSG : -EPROTO;
        } else {
            take_member(&scan, key, facts, wanted);
        }
    }
    if (!enough && !pfr_scan_done(&scan))
        return -EBADMSG;
    known = pfr_schema_check(schema, PFR_SCHEMA_SUMMARY);
    facts->newer_schema = known == 0;
    conclude(facts);
    return known < 0 ? known : enough;
}

int pfr_facts_parse(struct pfr_facts *facts, const char *text, size_t length)
{
    return parse(facts, text, length, NULL);
}

/* Instead of looking at the rest of it: was it cut off? */
static bool ends_whole(int fd, size_t size)
{
    char end[64];
    ssize_t n = pread(fd, end, sizeof(end), (off_t)(size > sizeof(end) ? size - sizeof(end) : 0));

    while (n > 0 && (end[n - 1] == '\n' || end[n - 1] == ' '))
        n--;
    return n > 0 && end[n - 1] == '}';
}

/* What is wanted of a summary with few tasks is in these; the rest need not be read then. */
#define HEAD_SIZE ((size_t)12 << 10)

static int parse_file(struct pfr_facts *facts, int fd, size_t size,
                      const struct pfr_wanted *wanted)
{
    PFR_AUTO_FREE char *text = malloc(size + 1);
    size_t part = wanted && size > HEAD_SIZE ? HEAD_SIZE : size;
    ssize_t n;
    int result;

    if (!text)
        return -ENOMEM;
    n = pread(fd, text, part, 0);
    result = n < 0 ? -errno : parse(facts, text, (size_t)n, wanted);
    if (result != 1 && part < size) {
        n = pread(fd, text, size, 0);
        result = n < 0 ? -errno : parse(facts, text, (size_t)n, wanted);
    }
    return result == 1 && !ends_whole(fd, size) ? -EBADMSG : result;
}

/* 1 and the facts, 0 when there is no such file, -errno */
static int load(struct pfr_facts *facts, int dirfd, const char *name,
                const struct pfr_wanted *wanted)
{
    struct stat st;
    PFR_AUTO_FD fd = pfr_file_open_foreign(dirfd, name, &st);
    int result;

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    if (st.st_size > PFR_LINE_MAX)
        return -EINVAL;
    result = parse_file(facts, fd, (size_t)st.st_size, wanted);
    if (result < 0)
        return result;
    facts->uid = (int64_t)st.st_uid;
    return 1;
}

/* How long it took and how it ended, of all its tasks, as slurmstepd saw it. */
static void take_end(struct pfr_facts *facts, const struct pfr_facts *lost)
{
    facts->elapsed = lost->elapsed;
    facts->tasks = lost->tasks;
    facts->tasks_ended = lost->tasks_ended;
    facts->tasks_failed = lost->tasks_failed;
    facts->exit = lost->exit;
    facts->signal = lost->signal;
    facts->rank = lost->rank;
    facts->failed_at = lost->failed_at;
}

/*
 * NODE.lost.json: what slurmstepd read itself when the sampler was gone. That is
 * later and of the kernel: it takes the place of what was sampled.
 */
static int add_lost(struct pfr_facts *facts, int dirfd, const char *name, bool have)
{
    struct pfr_facts lost;
    int result = load(&lost, dirfd, name, NULL);

    if (result <= 0)
        return have ? 1 : result;
    lost.progress = PFR_PROGRESS_LOST;
    if (!pfr_known(lost.tasks) || lost.tasks == 0)
        lost.start = PFR_ABSENT; /* it is when this was written */
    if (!have) {
        *facts = lost;
        return 1;
    }
    for (int i = 0; i < PFR_STEP_COUNT; i++) {
        raise_to(&facts->stats[i].max, lost.stats[i].max);
        raise_to(&facts->stats[i].total, lost.stats[i].total);
    }
    if (pfr_known(lost.tasks) && lost.tasks > 0)
        take_end(facts, &lost);
    facts->progress = PFR_PROGRESS_LOST;
    facts->written = lost.written;
    return 1;
}

int pfr_facts_load(struct pfr_facts *facts, int dirfd, const char *node)
{
    return pfr_facts_load_some(facts, dirfd, node, NULL);
}

int pfr_facts_load_some(struct pfr_facts *facts, int dirfd, const char *node,
                        const struct pfr_wanted *wanted)
{
    char name[PATH_MAX];
    int result;

    if ((size_t)snprintf(name, sizeof(name), "%s.json", node) >= sizeof(name))
        return -ENAMETOOLONG;
    result = load(facts, dirfd, name, wanted);
    if (result >= 0 && !(result > 0 && facts->progress == PFR_PROGRESS_COMPLETE) &&
        (size_t)snprintf(name, sizeof(name), "%s.lost.json", node) < sizeof(name))
        result = add_lost(facts, dirfd, name, result > 0);
    if (result > 0) /* the name of its file, not what is in there: it leads to the series */
        snprintf(facts->node, sizeof(facts->node), "%s", basename(node));
    return result;
}
