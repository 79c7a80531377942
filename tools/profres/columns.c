#include "tools/profres/columns.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"

static const struct pfr_facts *facts_of(const void *row)
{
    return ((const struct pfr_line *)row)->facts;
}

static bool give(struct pfr_cell *cell, int64_t number)
{
    cell->number = number;
    return pfr_known(number);
}

static bool give_text(struct pfr_cell *cell, const char *text)
{
    cell->text = text;
    return text && *text;
}

/* ---- who ----------------------------------------------------------------- */

/* One text at a time: it is printed before the next is made. */
static char scratch[512];

static bool get_job_id(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_facts *facts = facts_of(row);
    bool job = facts->extent == PFR_EXTENT_JOB;
    char *end;

    if (which && !pfr_known(facts->job_id))
        return false;
    if (which)
        end = scratch + snprintf(scratch, sizeof(scratch), "%lld", (long long)facts->job_id);
    else
        end = stpcpy(scratch, facts->job);
    if (!job)
        stpcpy(stpcpy(end, "."), facts->step);
    return give_text(cell, scratch);
}

static bool get_text(const void *row, int which, struct pfr_cell *cell)
{
    return give_text(cell, (const char *)facts_of(row) + which);
}

const char *pfr_owner(const struct pfr_facts *facts)
{
    static struct {
        int64_t uid;
        char name[64];
    } last = { .uid = PFR_ABSENT };
    struct passwd *user;

    if (facts->user[0])
        return facts->user;
    if (!pfr_known(facts->uid))
        return "";
    if (last.uid != facts->uid) {
        user = getpwuid((uid_t)facts->uid);
        last.uid = facts->uid;
        if (user)
            snprintf(last.name, sizeof(last.name), "%s", user->pw_name);
        else
            snprintf(last.name, sizeof(last.name), "%lld", (long long)facts->uid);
    }
    return last.name;
}

static bool get_user(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return give_text(cell, pfr_owner(facts_of(row)));
}

static bool get_dir(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return give_text(cell, ((const struct pfr_line *)row)->dir);
}

/* ---- what is in the facts ------------------------------------------------ */

static bool get_number(const void *row, int which, struct pfr_cell *cell)
{
    return give(cell, *(const int64_t *)(const void *)((const char *)facts_of(row) + which));
}

static bool get_end(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_facts *facts = facts_of(row);

    (void)which;
    if (facts->progress < PFR_PROGRESS_DRAINING || !pfr_known(facts->start) ||
        !pfr_known(facts->elapsed))
        return false;
    return give(cell, facts->start + facts->elapsed);
}

static bool get_progress(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return give_text(cell, pfr_progress_name(facts_of(row)->progress));
}

static bool get_verdict(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return give_text(cell, pfr_verdict_name(((const struct pfr_line *)row)->verdict));
}

/* "0:9" as sacct has it: exit status and signal. */
static bool get_exit(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_facts *facts = facts_of(row);

    (void)which;
    if (!pfr_known(facts->exit) && !pfr_known(facts->signal))
        return false;
    snprintf(scratch, sizeof(scratch), "%lld:%lld",
             (long long)(pfr_known(facts->exit) ? facts->exit : 0),
             (long long)(pfr_known(facts->signal) ? facts->signal : 0));
    return give_text(cell, scratch);
}

/* ---- what follows from them ---------------------------------------------- */

static int64_t memory_of(const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts);

    return source == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_value(facts, source);
}

static bool get_memory(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return give(cell, memory_of(facts_of(row)));
}

static bool get_memory_source(const void *row, int which, struct pfr_cell *cell)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts_of(row));

    (void)which;
    return source != PFR_METRIC_NONE && give_text(cell, pfr_metrics[source].key);
}

static bool get_memory_use(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_facts *facts = facts_of(row);
    int64_t memory = memory_of(facts);

    (void)which;
    return pfr_known(memory) && pfr_known(facts->mem_given) && facts->mem_given > 0 &&
           give(cell, pfr_muldiv(memory, 100000, facts->mem_given));
}

static bool get_cpu(const void *row, int which, struct pfr_cell *cell)
{
    enum pfr_metric_id source = pfr_facts_cpu_source(facts_of(row));

    (void)which;
    return source != PFR_METRIC_NONE && give(cell, pfr_facts_value(facts_of(row), source));
}

static bool get_cores_mean(const void *row, int which, struct pfr_cell *cell)
{
    int64_t mean = pfr_facts_cores_mean(facts_of(row));

    (void)which;
    return pfr_known(mean) && give(cell, 100 * mean);
}

static bool get_cores(const void *row, int which, struct pfr_cell *cell)
{
    enum pfr_metric_id source = pfr_facts_rate_source(facts_of(row));
    const struct pfr_stats *stats;

    if (source == PFR_METRIC_NONE)
        return false;
    stats = pfr_facts_stats(facts_of(row), source);
    return give(cell, *(const int64_t *)(const void *)((const char *)stats + which));
}

static bool get_cpu_use(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_facts *facts = facts_of(row);
    int64_t mean = pfr_facts_cores_mean(facts);

    (void)which;
    return pfr_known(mean) && pfr_known(facts->cpus) && facts->cpus > 0 &&
           give(cell, 100 * mean / facts->cpus);
}

/* ---- sacct's ------------------------------------------------------------- */

static const struct pfr_sacct_row *step_row(const void *row)
{
    return ((const struct pfr_line *)row)->sacct;
}

static bool get_sacct_text(const void *row, int which, struct pfr_cell *cell)
{
    return step_row(row) && give_text(cell, (const char *)step_row(row) + which);
}

static bool get_sacct_number(const void *row, int which, struct pfr_cell *cell)
{
    return step_row(row) &&
           give(cell, *(const int64_t *)(const void *)((const char *)step_row(row) + which));
}

/* What only the line of the job has. */
static bool get_sacct_job(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_sacct_row *job = ((const struct pfr_line *)row)->sacct_job;

    return job && give_text(cell, (const char *)job + which);
}

static bool get_time_limit(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_sacct_row *job = ((const struct pfr_line *)row)->sacct_job;

    (void)which;
    return give(cell, facts_of(row)->time_limit) || (job && give(cell, job->time_limit));
}

/* ---- the table ----------------------------------------------------------- */

#define F(MEMBER) (int)offsetof(struct pfr_facts, MEMBER)
#define S(MEMBER) (int)offsetof(struct pfr_sacct_row, MEMBER)
#define T(MEMBER) (int)offsetof(struct pfr_stats, MEMBER)

static const struct pfr_column own[] = {
    { "JobID", "job and step, as sacct names them", PFR_CELL_TEXT, -14, get_job_id, 0 },
    { "JobIDRaw", "the same with the number of the job itself, in an array, too", PFR_CELL_TEXT,
      -14, get_job_id, 1 },
    { "JobName", "name of the job, when known", PFR_CELL_TEXT, 10, get_text, F(name) },
    { "User", "who ran it, else who owns the files", PFR_CELL_TEXT, 9, get_user, 0 },
    { "Cluster", "name of the cluster, when known", PFR_CELL_TEXT, 10, get_text, F(cluster) },
    { "Command", "what was run, when known", PFR_CELL_TEXT, -20, get_text, F(command) },
    { "Node", "the node, of several the one with the largest memory", PFR_CELL_TEXT, -12, get_text,
      F(node) },
    { "NNodes", "nodes that have a profile", PFR_CELL_COUNT, 6, get_number, F(nodes) },
    { "NNodesGiven", "nodes of the step", PFR_CELL_COUNT, 11, get_number, F(nodes_given) },
    { "NTasks", "tasks that were seen", PFR_CELL_COUNT, 6, get_number, F(tasks) },
    { "AllocCPUS", "CPUs that were given, on all nodes", PFR_CELL_COUNT, 9, get_number, F(cpus) },
    { "AllocMem", "memory that was given on one node", PFR_CELL_BYTES, 8, get_number,
      F(mem_given) },
    { "Start", "when it began", PFR_CELL_STAMP, 19, get_number, F(start) },
    { "End", "when it ended", PFR_CELL_STAMP, 19, get_end, 0 },
    { "Elapsed", "from the start of the first task to the end of the last, or until now",
      PFR_CELL_ELAPSED, 10, get_number, F(elapsed) },
    { "ExitCode", "exit status and signal of the task that did worst", PFR_CELL_TEXT, 8, get_exit,
      0 },
    { "Progress", "LIVE, DRAINING, COMPLETE or LOST: how far the profile is", PFR_CELL_TEXT, 9,
      get_progress, 0 },
    { "Verdict", "how it went, in a word; 'profres report' tells why", PFR_CELL_TEXT, -13,
      get_verdict, 0 },
    { "MemPeak", "most memory on one node, by the best source there was", PFR_CELL_BYTES, 8,
      get_memory, 0 },
    { "MemSource", "the measurement that MemPeak is", PFR_CELL_TEXT, -23, get_memory_source, 0 },
    { "MemUse", "MemPeak in percent of AllocMem", PFR_CELL_PERCENT, 6, get_memory_use, 0 },
    { "CPUSeconds", "CPU time, by the best source there was", PFR_CELL_SECONDS, 10, get_cpu, 0 },
    { "Cores", "cores used on average", PFR_CELL_CORES, 6, get_cores_mean, 0 },
    { "CoresP95", "cores used, not exceeded for 95 % of the time", PFR_CELL_CORES, 8, get_cores,
      T(p95) },
    { "CoresMax", "most cores used at once", PFR_CELL_CORES, 8, get_cores, T(max) },
    { "CPUUse", "Cores in percent of AllocCPUS", PFR_CELL_PERCENT, 6, get_cpu_use, 0 },
    { "Samples", "samples taken", PFR_CELL_COUNT, 7, get_number, F(samples) },
    { "Interval", "time between samples", PFR_CELL_SECONDS, 8, get_number, F(interval) },
    { "Written", "when the summary was written last", PFR_CELL_STAMP, 19, get_number, F(written) },
    { "Dir", "where the files are", PFR_CELL_TEXT, -30, get_dir, 0 },
    { "Timelimit", "time limit of the job", PFR_CELL_ELAPSED, 10, get_time_limit, 0 },
    { "State", "sacct's: state of the step", PFR_CELL_TEXT, 13, get_sacct_text, S(state) },
    { "ReqMem", "sacct's: memory that was asked for", PFR_CELL_TEXT, 10, get_sacct_job,
      S(req_mem) },
    { "MaxRSS", "sacct's: largest sampled resident set of one task", PFR_CELL_BYTES, 10,
      get_sacct_number, S(max_rss) },
    { "TotalCPU", "sacct's: CPU time", PFR_CELL_SECONDS, 10, get_sacct_number, S(total_cpu) },
    { "SacctElapsed", "sacct's Elapsed, with launching and cleaning up", PFR_CELL_ELAPSED, 12,
      get_sacct_number, S(elapsed) },
    { "SacctExitCode", "sacct's ExitCode", PFR_CELL_TEXT, 13, get_sacct_text, S(exit_code) },
    { "Partition", "sacct's: partition of the job", PFR_CELL_TEXT, 10, get_sacct_job,
      S(partition) },
    { "Account", "sacct's: account of the job", PFR_CELL_TEXT, 10, get_sacct_job, S(account) },
    { "NodeList", "sacct's: nodes of the step", PFR_CELL_TEXT, 15, get_sacct_text, S(node_list) },
};

static const struct {
    const char *name;
    int which;
} stats[] = {
    { "total", T(total) }, { "max", T(max) }, { "min", T(min) },   { "mean", T(mean) },
    { "stddev", T(stddev) }, { "p50", T(p50) }, { "p95", T(p95) }, { "p99", T(p99) },
    { "last", T(last) },
};

static bool get_metric(const void *row, int which, struct pfr_cell *cell)
{
    return give(cell, pfr_facts_value(facts_of(row), (enum pfr_metric_id)which));
}

static bool get_stat(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_stats *of =
        pfr_facts_stats(facts_of(row), (enum pfr_metric_id)(which / (int)sizeof(*of)));

    return give(cell, *(const int64_t *)(const void *)((const char *)of +
                                                       which % (int)sizeof(*of)));
}

static struct pfr_column metric_column(const struct pfr_metric *metric, const char *name)
{
    return (struct pfr_column){ .name = name,
                                .help = metric->help,
                                .kind = pfr_cell_of_unit(metric->unit),
                                .width = strlen(name) > 10 ? (int)strlen(name) : 10,
                                .get = get_metric,
                                .which = (int)(metric - pfr_metrics) };
}

const struct pfr_columns *pfr_line_columns(void)
{
    static struct pfr_column all[PFR_COUNT(own) + PFR_STEP_COUNT * (1 + PFR_COUNT(stats))];
    static char names[PFR_STEP_COUNT][PFR_COUNT(stats)][48];
    static struct pfr_columns columns;

    if (columns.count)
        return &columns;
    memcpy(all, own, sizeof(own));
    columns = (struct pfr_columns){ .list = all, .count = PFR_COUNT(own) };
    PFR_EACH_STEP_METRIC(id)
        all[columns.count++] = metric_column(&pfr_metrics[id], pfr_metrics[id].key);
    columns.listed = columns.count;
    PFR_EACH_STEP_METRIC(id)
        for (size_t i = 0; i < PFR_COUNT(stats); i++) {
            char *name = names[pfr_step_index(id)][i];
            struct pfr_column *column = &all[columns.count++];

            snprintf(name, sizeof(names[0][0]), "%s.%s", pfr_metrics[id].key, stats[i].name);
            *column = metric_column(&pfr_metrics[id], name);
            column->get = get_stat;
            column->which = id * (int)sizeof(struct pfr_stats) + stats[i].which;
        }
    return &columns;
}

bool pfr_column_is_sacct(const struct pfr_column *column)
{
    return column->get == get_sacct_text || column->get == get_sacct_number ||
           column->get == get_sacct_job || column->get == get_time_limit;
}

void pfr_column_measures(const struct pfr_column *column, struct pfr_wanted *wanted)
{
    enum pfr_metric_id id;

    if (column->get == get_metric)
        pfr_metric_set_add(&wanted->numbers, (enum pfr_metric_id)column->which);
    if (column->get != get_stat)
        return;
    id = (enum pfr_metric_id)(column->which / (int)sizeof(struct pfr_stats));
    pfr_metric_set_add(&wanted->numbers, id);
    pfr_metric_set_add(&wanted->stats, id);
}

/* Calls `see` for every column that a format names. */
static void see_format(const char *format,
                       void (*see)(const struct pfr_column *column, void *arg), void *arg)
{
    const struct pfr_columns *columns = pfr_line_columns();
    PFR_AUTO_FREE char *copy = strdup(format);
    char *rest = NULL;

    for (char *item = copy ? strtok_r(copy, ", ", &rest) : NULL; item;
         item = strtok_r(NULL, ", ", &rest)) {
        const struct pfr_column *column;

        item[strcspn(item, "%")] = '\0';
        column = pfr_column_find(columns, item);
        if (column)
            see(column, arg);
        for (size_t i = 0; i < columns->count && strcasecmp(item, "ALL") == 0; i++)
            see(&columns->list[i], arg);
    }
}

static void see_measures(const struct pfr_column *column, void *arg)
{
    pfr_column_measures(column, arg);
}

void pfr_format_measures(const char *format, struct pfr_wanted *wanted)
{
    see_format(format, see_measures, wanted);
}

static void see_sacct(const struct pfr_column *column, void *arg)
{
    bool *any = arg;

    *any = *any || pfr_column_is_sacct(column);
}

bool pfr_format_needs_sacct(const char *format)
{
    bool any = false;

    see_format(format, see_sacct, &any);
    return any;
}
