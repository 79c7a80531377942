/* The columns of tasks, processes and windows. */
#include <string.h>

#include "common/base/cleanup.h"
#include "tools/profres/detail.h"

static const struct pfr_detail *of(const void *row)
{
    return row;
}

static bool give(struct pfr_cell *cell, int64_t number)
{
    cell->number = number;
    return pfr_known(number);
}

static bool give_text(struct pfr_cell *cell, const char *text)
{
    cell->text = text;
    return *text != '\0';
}

static char scratch[256]; /* one text at a time: it is printed before the next is made */

static bool get_job_id(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    snprintf(scratch, sizeof(scratch), "%s.%s", of(row)->facts->job, of(row)->facts->step);
    return give_text(cell, scratch);
}

static bool get_node(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return give_text(cell, of(row)->facts->node);
}

static bool get_number(const void *row, int which, struct pfr_cell *cell)
{
    return give(cell, *(const int64_t *)(const void *)((const char *)row + which));
}

static bool get_text(const void *row, int which, struct pfr_cell *cell)
{
    return give_text(cell, (const char *)row + which);
}

static bool get_elapsed(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return pfr_known(of(row)->from) && pfr_known(of(row)->to) &&
           give(cell, of(row)->to - of(row)->from);
}

static bool get_start(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    return give(cell, pfr_plus(of(row)->facts->start, of(row)->from));
}

static bool get_exit(const void *row, int which, struct pfr_cell *cell)
{
    (void)which;
    if (!pfr_known(of(row)->exit) && !pfr_known(of(row)->signal))
        return false;
    snprintf(scratch, sizeof(scratch), "%lld:%lld",
             (long long)(pfr_known(of(row)->exit) ? of(row)->exit : 0),
             (long long)(pfr_known(of(row)->signal) ? of(row)->signal : 0));
    return give_text(cell, scratch);
}

static bool get_metric(const void *row, int which, struct pfr_cell *cell)
{
    return give(cell, of(row)->value[which]);
}

#define D(MEMBER) (int)offsetof(struct pfr_detail, MEMBER)

static const struct pfr_column shared[] = {
    { "JobID", "job and step, as sacct names them", PFR_CELL_TEXT, -14, get_job_id, 0 },
    { "Node", "the node", PFR_CELL_TEXT, -12, get_node, 0 },
    { "Start", "when it began", PFR_CELL_STAMP, 19, get_start, 0 },
    { "From", "the same, since the run began", PFR_CELL_SECONDS, 10, get_number, D(from) },
    { "To", "when it ended or was seen last, since the run began", PFR_CELL_SECONDS, 10, get_number,
      D(to) },
    { "Elapsed", "the time between", PFR_CELL_ELAPSED, 10, get_elapsed, 0 },
};

static const struct pfr_column of_task[] = {
    { "Rank", "the task's rank in the step", PFR_CELL_COUNT, 5, get_number, D(rank) },
    { "PID", "process id", PFR_CELL_COUNT, 8, get_number, D(pid) },
    { "ExitCode", "exit status and signal", PFR_CELL_TEXT, 8, get_exit, 0 },
};

static const struct pfr_column of_process[] = {
    { "PID", "process id", PFR_CELL_COUNT, 8, get_number, D(pid) },
    { "Comm", "name of the command, at most 15 bytes", PFR_CELL_TEXT, -15, get_text, D(comm) },
    { "Command", "command line", PFR_CELL_TEXT, -40, get_text, D(command) },
    { "States", "how often each state was seen, as ps -o stat", PFR_CELL_TEXT, -12, get_text,
      D(states) },
};

int64_t pfr_detail_phase_peak(const struct pfr_detail *phase)
{
    int64_t exact = phase->value[PFR_CGROUP_MEM_WINDOW_PEAK];

    return pfr_known(exact) ? exact : phase->value[PFR_CGROUP_MEM_PEAK];
}

static bool get_phase_peak(const void *row, int which, struct pfr_cell *cell)
{
    const struct pfr_detail *phase = row;
    int64_t peak = pfr_detail_phase_peak(phase);

    (void)which;
    cell->number = pfr_known(peak) ? peak : phase->value[PFR_CGROUP_MEM_SAMPLED_PEAK];
    return pfr_known(cell->number);
}

static const struct pfr_column of_phase[] = {
    { "MemPeak", "most memory: the kernel's peak of the phase where it keeps one, else sampled",
      PFR_CELL_BYTES, 8, get_phase_peak, 0 },
    { "Phase", "its name", PFR_CELL_TEXT, -16, get_text, D(name) },
    { "Rank", "of the task that marked it, in a step of Slurm", PFR_CELL_COUNT, 4, get_number,
      D(rank) },
};

static const struct pfr_column of_time[] = {
    { "Samples", "samples in this window", PFR_CELL_COUNT, 7, get_number, D(samples) },
};

static const struct pfr_column of_instance[] = {
    { "ID", "what identifies it in the run", PFR_CELL_TEXT, -16, get_text, D(id) },
    { "Label", "its name for people", PFR_CELL_TEXT, -16, get_text, D(name) },
};

/* Of one kind of detail. */
struct kind {
    const struct pfr_column *own;
    size_t count;
    int first, end; /* measurements that it may have */
    const char *format;
};

static const struct kind kinds[] = {
    [PFR_DETAIL_TASK] = { of_task, PFR_COUNT(of_task), PFR_STEP_FIRST, PFR_STEP_END,
                          "JobID%-12,Node%-8,Rank%4,Elapsed%8,ExitCode,cgroup_mem_peak%15,"
                          "cgroup_cpu_seconds%18" },
    [PFR_DETAIL_PROCESS] = { of_process, PFR_COUNT(of_process), PFR_PID_FIRST, PFR_PID_END,
                             "JobID%-12,PID,Comm,ps_rss%8,ps_cpu_seconds%14,ps_pdcpu%8,States%-9" },
    [PFR_DETAIL_PHASE] = { of_phase, PFR_COUNT(of_phase), PFR_STEP_FIRST, PFR_STEP_END,
                           "JobID%-10,Phase%-12,From%8,Elapsed%8,MemPeak%9,"
                           "cgroup_cpu_seconds%14" },
    [PFR_DETAIL_TIME] = { of_time, PFR_COUNT(of_time), PFR_STEP_FIRST, PFR_STEP_END,
                          "JobID%-10,From%8,To%8,Samples,cgroup_mem_current%18,cgroup_pdcpu%12,"
                          "proc_count" },
};

static struct kind kind_of(enum pfr_detail_kind kind)
{
    const struct pfr_family *family;

    if (kind < PFR_DETAIL_FAMILY)
        return kinds[kind];
    family = &pfr_families[kind - PFR_DETAIL_FAMILY];
    return (struct kind){ of_instance, PFR_COUNT(of_instance), family->first, family->last + 1,
                          NULL };
}

const struct pfr_columns *pfr_detail_columns(enum pfr_detail_kind which)
{
    struct kind kind = kind_of(which);
    static struct pfr_column all[PFR_COUNT(shared) + PFR_COUNT(of_process) + PFR_METRIC_COUNT];
    static struct pfr_columns columns;

    memcpy(all, shared, sizeof(shared));
    memcpy(all + PFR_COUNT(shared), kind.own, kind.count * sizeof(all[0]));
    columns = (struct pfr_columns){ .list = all, .count = PFR_COUNT(shared) + kind.count };
    for (int id = kind.first; id < kind.end; id++) {
        const struct pfr_metric *metric = &pfr_metrics[id];
        int length = (int)strlen(metric->key);

        if (metric->kind != PFR_LABEL && metric->kind != PFR_CATEGORICAL)
            all[columns.count++] = (struct pfr_column){
                metric->key, metric->help, pfr_cell_of_unit(metric->unit),
                length > 10 ? length : 10, get_metric, id };
    }
    columns.listed = columns.count;
    return &columns;
}

/* All that a family has; people choose with -o. */
static const char *family_format(enum pfr_scope family)
{
    static char format[1024];
    size_t used = (size_t)snprintf(format, sizeof(format), "JobID%%-12,Node%%-8,ID%%-16");

    PFR_EACH_METRIC_OF(family, id)
        if (used < sizeof(format))
            used += (size_t)snprintf(format + used, sizeof(format) - used, ",%s",
                                     pfr_metrics[id].key);
    return format;
}

const char *pfr_detail_format(enum pfr_detail_kind kind)
{
    if (kind >= PFR_DETAIL_FAMILY)
        return family_format((enum pfr_scope)(kind - PFR_DETAIL_FAMILY));
    return kinds[kind].format;
}
