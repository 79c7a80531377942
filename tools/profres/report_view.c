/* The report of one job for people. */
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "common/judge/text.h"
#include "tools/profres/cell.h"
#include "tools/profres/detail.h"
#include "tools/profres/report.h"

#define LINE 512

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, LINE - used, format, args);
    va_end(args);
}

static const char *moment(int64_t time, char text[static PFR_CELL_SIZE])
{
    pfr_cell_format(PFR_CELL_STAMP, time, 0, false, text);
    return text;
}

static void view_head(const struct pfr_report *report, const struct pfr_report_job *job)
{
    const struct pfr_facts *facts = &job->facts;
    char line[LINE] = "", text[PFR_CELL_SIZE], span[PFR_TEXT_SIZE];

    append(line, "%s", facts->job);
    if (job->step_count == 1 && pfr_known(facts->job_id))
        append(line, ".%s", job->steps[0].facts.step);
    if (facts->restart > 0)
        append(line, " (run %lld of a requeued job)", (long long)facts->restart + 1);
    if (facts->name[0])
        append(line, " \"%s\"", facts->name);
    if (pfr_owner(facts)[0])
        append(line, ", %s", pfr_owner(facts));
    if (facts->cluster[0])
        append(line, ", on %s", facts->cluster);
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "job", line);
    if (job->step_count == 1 && strcmp(job->steps[0].facts.step, "batch") != 0)
        pfr_ink_say(&report->ink, PFR_TINT_NONE, "command", facts->command);
    line[0] = '\0';
    append(line, "%lld%s%.0lld node%s", (long long)facts->nodes,
           facts->nodes_given > facts->nodes ? " of " : "",
           facts->nodes_given > facts->nodes ? (long long)facts->nodes_given : 0LL,
           facts->nodes == 1 && !(facts->nodes_given > 1) ? "" : "s");
    append(line, facts->nodes == 1 ? " (%s)" : ", %s the largest", facts->node);
    append(line, ", %zu step%s", job->step_count, job->step_count == 1 ? "" : "s");
    if (pfr_known(facts->tasks))
        append(line, ", %lld task%s", (long long)facts->tasks, facts->tasks == 1 ? "" : "s");
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "on", line);
    line[0] = '\0';
    if (pfr_known(facts->start))
        append(line, "since %s", moment(facts->start, text));
    if (facts->progress != PFR_PROGRESS_COMPLETE)
        append(line, "%sstate %s, written %s ago", line[0] ? ", " : "",
               pfr_progress_name(facts->progress),
               pfr_time_text(pfr_facts_age(facts, report->now), span));
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "when", line);
}

static enum pfr_tint tint_of(enum pfr_verdict_id id)
{
    if (pfr_verdict_is_failure(id))
        return PFR_TINT_BAD;
    return id == PFR_VERDICT_OK || id == PFR_VERDICT_RUNNING ? PFR_TINT_GOOD : PFR_TINT_CARE;
}

static void view_said(const struct pfr_report *report, const char *label,
                      const struct pfr_said *said)
{
    for (int i = 0; i < said->count; i++)
        pfr_ink_say(&report->ink, PFR_TINT_NONE, i ? "" : label, said->line[i]);
}

static void view_verdict(const struct pfr_report *report, const struct pfr_report_job *job)
{
    char line[LINE] = "";

    append(line, "%s: %s", pfr_verdict_name(job->verdict.id), job->verdict.headline);
    if (job->step_count > 1 && job->verdict.id == job->steps[job->telling].verdict.id &&
        job->verdict.id != PFR_VERDICT_OK)
        append(line, " (step %s)", job->steps[job->telling].facts.step);
    pfr_ink_say(&report->ink, tint_of(job->verdict.id), "verdict", line);
    view_said(report, "", &job->verdict.evidence);
    view_said(report, "you can", &job->verdict.user);
    if (report->admin)
        view_said(report, "admin", &job->verdict.admin);
}

static void view_elapsed(const struct pfr_report *report, const struct pfr_facts *facts)
{
    char line[LINE] = "", text[PFR_TEXT_SIZE], bar[PFR_BAR_SIZE];

    if (!pfr_known(facts->elapsed))
        return;
    append(line, "%s", pfr_time_text(facts->elapsed, text));
    if (pfr_known(facts->signal))
        append(line, ", killed by signal %lld (%s)", (long long)facts->signal,
               strsignal((int)facts->signal));
    else if (pfr_known(facts->exit))
        append(line, ", exit code %lld", (long long)facts->exit);
    if (pfr_known(facts->time_limit) && facts->time_limit > 0) {
        double share = (double)facts->elapsed / (double)facts->time_limit;

        append(line, "; %.0f %% of its time limit, %s", 100 * share,
               pfr_time_text(facts->time_limit, text));
        append(line, "%s", pfr_ink_bar(&report->ink, share, bar));
    }
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "elapsed", line);
}

static const char *memory_words(enum pfr_metric_id source)
{
    return source == PFR_CGROUP_MEM_PEAK          ? "peak, file cache included"
           : source == PFR_CGROUP_MEM_SAMPLED_PEAK ? "largest sample, file cache included"
                                                   : "resident, summed over processes";
}

static void view_memory(const struct pfr_report *report, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts);
    int64_t value = source == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_value(facts, source);
    int64_t floor = pfr_facts_stats(facts, PFR_CGROUP_MEM_NONRECLAIMABLE)->max;
    int64_t bound = pfr_facts_memory_bound(facts);
    char line[LINE] = "", text[PFR_TEXT_SIZE], bar[PFR_BAR_SIZE];

    append(line, "%s", pfr_size_text(value, text));
    if (source != PFR_METRIC_NONE)
        append(line, " %s", memory_words(source));
    if (facts->mem_steps > 1)
        append(line, " (at most: peaks of %lld steps that overlapped, added up)",
               (long long)facts->mem_steps);
    if (facts->nodes > 1)
        append(line, " on %s", facts->node);
    if (pfr_known(value) && pfr_known(bound) && bound > 0) {
        double share = (double)value / (double)bound;

        append(line, "; %.0f %% of %s%s", 100 * share,
               pfr_facts_bound_is_limit(facts) ? "its limit, " : "", pfr_size_text(bound, text));
        append(line, "%s", pfr_facts_bound_is_limit(facts) ? "" : " allocated on a node");
        append(line, "%s", pfr_ink_bar(&report->ink, share, bar));
    }
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "memory", line);
    line[0] = '\0';
    if (pfr_known(floor) && source != PFR_PS_RSS_TOTAL) {
        append(line, "%s of it needed by the program (sampled)", pfr_size_text(floor, text));
        pfr_ink_say(&report->ink, PFR_TINT_NONE, "", line);
    }
}

static void view_cores(const struct pfr_report *report, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_cpu_source(facts), rate = pfr_facts_rate_source(facts);
    const struct pfr_stats *stats = rate == PFR_METRIC_NONE ? NULL : pfr_facts_stats(facts, rate);
    int64_t mean = pfr_facts_cores_mean(facts);
    char line[LINE] = "", text[PFR_TEXT_SIZE], bar[PFR_BAR_SIZE];

    append(line, "%s mean", pfr_cores_text(mean, text));
    if (stats && pfr_known(stats->p95))
        append(line, ", %s p95", pfr_cores_text(stats->p95 / 100, text));
    if (stats && pfr_known(stats->max))
        append(line, ", %s max", pfr_cores_text(stats->max / 100, text));
    if (pfr_known(facts->cpus) && facts->cpus > 0) {
        append(line, ", of %lld allocated", (long long)facts->cpus);
        if (pfr_known(mean))
            append(line, " (%.0f %%)%s", (double)mean / 10 / (double)facts->cpus,
                   pfr_ink_bar(&report->ink, (double)mean / 1000 / (double)facts->cpus, bar));
    } else if (pfr_known(facts->node_cpus)) {
        append(line, ", of %lld on the node%s", (long long)facts->node_cpus,
               facts->nodes > 1 ? "s" : "");
    }
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "cores", line);
    line[0] = '\0';
    if (source == PFR_METRIC_NONE)
        append(line, "-");
    else
        append(line, "%.2f s%s", (double)pfr_facts_value(facts, source) / 1e9,
               source == PFR_CGROUP_CPU_SECONDS ? ""
               : source == PFR_RUSAGE_CPU_SECONDS ? " of the tasks that ended"
                                                  : " of the processes seen");
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "CPU time", line);
}

static void view_io(const struct pfr_report *report, const struct pfr_facts *facts)
{
    char text[PFR_STORAGE_SIZE];

    pfr_ink_say(&report->ink, PFR_TINT_NONE, "storage", pfr_storage_text(facts, text));
}

/* Whatever was measured of GPUs; none of it is there without one. */
static void view_gpu(const struct pfr_report *report, const struct pfr_facts *facts)
{
    char line[LINE] = "", text[PFR_TEXT_SIZE];

    PFR_EACH_STEP_METRIC(id) {
        int64_t value = pfr_facts_value(facts, id);

        if (strncmp(pfr_metrics[id].key, "gpu_", 4) != 0 || !pfr_known(value))
            continue;
        append(line, "%s%s ", line[0] ? ", " : "", pfr_metrics[id].key);
        if (pfr_metrics[id].unit == PFR_BYTES)
            append(line, "%s", pfr_size_text(value, text));
        else if (pfr_metrics[id].unit == PFR_SECONDS)
            append(line, "%s", pfr_time_text(value, text));
        else
            append(line, "%.10g%s", (double)value / (double)pfr_unit_quantum(pfr_metrics[id].unit),
                   pfr_metrics[id].unit == PFR_PERCENT ? " %" : "");
    }
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "GPU", line);
}

/* Where a wait took the largest part of the time; NULL when nowhere a part worth telling. */
static const struct pfr_facts *longest_wait(const struct pfr_report_job *job,
                                            enum pfr_metric_id id)
{
    const struct pfr_facts *most = NULL;
    double share = 0.05;

    for (size_t i = 0; i < job->node_count; i++) {
        const struct pfr_facts *node = &job->nodes[i];
        int64_t value = pfr_facts_value(node, id);

        if (value > PFR_NS_PER_S && node->elapsed > 0 &&
            (double)value / (double)node->elapsed > share) {
            share = (double)value / (double)node->elapsed;
            most = node;
        }
    }
    return most;
}

/* What held it up, when it was something: waits of several nodes are no sum. */
static void view_waits(const struct pfr_report *report, const struct pfr_report_job *job)
{
    static const struct { enum pfr_metric_id id; const char *words; } waits[] = {
        { PFR_CGROUP_CPU_THROTTLED_SECONDS, "stopped by its CPU limit" },
        { PFR_CGROUP_PSI_CPU_SOME_SECONDS, "tasks were ready but waited for a CPU" },
        { PFR_CGROUP_PSI_MEMORY_SOME_SECONDS, "tasks waited for memory" },
        { PFR_CGROUP_PSI_IO_SOME_SECONDS, "tasks waited for storage" },
    };
    char line[LINE] = "", text[PFR_TEXT_SIZE], of[PFR_TEXT_SIZE];

    for (size_t i = 0; i < PFR_COUNT(waits); i++) {
        const struct pfr_facts *node = longest_wait(job, waits[i].id);

        if (!node)
            continue;
        append(line, "%s%s during %s of %s", line[0] ? ", " : "", waits[i].words,
               pfr_time_text(pfr_facts_value(node, waits[i].id), text),
               pfr_time_text(node->elapsed, of));
        if (job->node_count > 1)
            append(line, " (step %s, %s)", node->step, node->node);
    }
    pfr_ink_say(&report->ink, PFR_TINT_CARE, "waits", line);
}

static void view_counts(const struct pfr_report *report, const struct pfr_facts *facts)
{
    int64_t kills = pfr_facts_value(facts, PFR_CGROUP_OOM_KILLS);
    char line[LINE] = "", text[PFR_TEXT_SIZE], short_lived[PFR_STORAGE_SIZE];

    if (pfr_known(facts->processes_seen))
        append(line, "%lld seen", (long long)facts->processes_seen);
    if (pfr_known(facts->processes_at_once))
        append(line, ", %lld at once", (long long)facts->processes_at_once);
    if (line[0] && pfr_short_lived_text(facts, short_lived)[0])
        append(line, "; %s", short_lived);
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "processes", line);
    line[0] = '\0';
    if (pfr_known(kills))
        append(line, "%lld", (long long)kills);
    else
        append(line, "-");
    pfr_ink_say(&report->ink, kills > 0 ? PFR_TINT_BAD : PFR_TINT_NONE, "OOM kills", line);
    line[0] = '\0';
    if (pfr_known(facts->samples)) {
        append(line, "%lld", (long long)facts->samples);
        if (pfr_known(facts->interval))
            append(line, ", %s apart", pfr_time_text(facts->interval, text));
        if (facts->late_ticks > 0)
            append(line, ", %lld left out because the node was busy", (long long)facts->late_ticks);
        if (facts->write_errors > 0)
            append(line, ", %lld writes failed", (long long)facts->write_errors);
    } else {
        append(line, "-");
    }
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "samples", line);
}

/* Tasks that differ: the one with most against the one with least. */
static void view_tasks(const struct pfr_report *report, const struct pfr_report_step *step)
{
    const struct pfr_spread *mem = &step->facts.task_mem, *cpu = &step->facts.task_cpu;
    char line[LINE] = "", label[32], low[PFR_TEXT_SIZE], high[PFR_TEXT_SIZE];

    if (pfr_known(mem->max) && mem->max > mem->min / 2 * 3 && mem->max - mem->min > 16 << 20)
        append(line, "memory from %s (task %lld) to %s (task %lld)",
               pfr_size_text(mem->min, low), (long long)mem->min_rank,
               pfr_size_text(mem->max, high), (long long)mem->max_rank);
    if (pfr_known(cpu->max) && cpu->max > cpu->min / 2 * 3 && cpu->max - cpu->min > PFR_NS_PER_S)
        append(line, "%sCPU time from %s (task %lld) to %s (task %lld)", line[0] ? ", " : "",
               pfr_time_text(cpu->min, low), (long long)cpu->min_rank,
               pfr_time_text(cpu->max, high), (long long)cpu->max_rank);
    snprintf(label, sizeof(label), "tasks%s%.5s", step->facts.step[0] ? " " : "",
             step->facts.step);
    pfr_ink_say(&report->ink, PFR_TINT_CARE, label, line);
}

/* Worth a line each: nodes that differ by half, or of which one is not as the others. */
static bool nodes_differ(const struct pfr_report_step *step)
{
    int64_t least = INT64_MAX, most = 0, least_cpu = INT64_MAX, most_cpu = 0;

    if (step->node_count < 2)
        return false;
    for (size_t i = 0; i < step->node_count; i++) {
        const struct pfr_facts *node = &step->nodes[i];
        int64_t mem = pfr_facts_value(node, PFR_CGROUP_MEM_PEAK);
        int64_t cpu = pfr_facts_value(node, PFR_CGROUP_CPU_SECONDS);

        if (node->progress != step->nodes[0].progress || node->tasks_failed > 0)
            return true;
        if (!pfr_known(mem) || !pfr_known(cpu))
            continue;
        least = mem < least ? mem : least;
        most = mem > most ? mem : most;
        least_cpu = cpu < least_cpu ? cpu : least_cpu;
        most_cpu = cpu > most_cpu ? cpu : most_cpu;
    }
    return least < most / 3 * 2 || least_cpu < most_cpu / 3 * 2;
}

static void view_table(const struct pfr_report *report, const char *format,
                       const struct pfr_report_job *job, bool nodes)
{
    static const struct pfr_table_style plain;
    struct pfr_table table = { 0 };

    fputc('\n', report->ink.out);
    if (pfr_table_open(&table, &plain, pfr_line_columns(), format, report->ink.out) < 0)
        return;
    for (size_t i = 0; i < job->step_count; i++) {
        const struct pfr_report_step *step = &job->steps[i];
        struct pfr_line line = { .facts = &step->facts, .verdict = step->verdict.id };

        if (!nodes)
            pfr_table_row(&table, &line);
        for (size_t k = 0; nodes && nodes_differ(step) && k < step->node_count; k++) {
            line.facts = &step->nodes[k];
            line.verdict = pfr_verdict_of(line.facts, NULL, report->now);
            pfr_table_row(&table, &line);
        }
    }
    pfr_table_close(&table);
}

/* Steps are worth a table when there are several, nodes and tasks when they differ. */
static void view_parts(const struct pfr_report *report, const struct pfr_report_job *job)
{
    bool nodes = false;

    for (size_t i = 0; i < job->step_count; i++) {
        view_tasks(report, &job->steps[i]);
        nodes = nodes || nodes_differ(&job->steps[i]);
    }
    if (job->step_count > 1)
        view_table(report, "JobID%-16,Elapsed,ExitCode,MemPeak,MemUse,Cores,CoresP95,Verdict%-13",
                   job, false);
    if (nodes)
        view_table(report, "JobID%-16,Node%-16,NTasks,MemPeak,MemUse,CPUSeconds,Cores,Progress",
                   job, true);
}

/* So many are shown; --by=phase has them all. */
#define PHASES_SHOWN 12

struct phases {
    const struct pfr_report *report;
    const struct pfr_report_job *job;
    int count;
};

/* " (step 0, n1, task 3)": as much of it as tells phases apart. */
static void append_whose(char *line, const struct pfr_detail *phase,
                         const struct pfr_report_job *job)
{
    const char *separator = " (";

    if (job->step_count > 1) {
        append(line, "%sstep %s", separator, phase->facts->step);
        separator = ", ";
    }
    if (job->node_count > job->step_count) {
        append(line, "%s%s", separator, phase->facts->node);
        separator = ", ";
    }
    if (phase->facts->tasks > 1 && pfr_known(phase->rank)) {
        append(line, "%stask %lld", separator, (long long)phase->rank);
        separator = ", ";
    }
    append(line, "%s", separator[0] == ',' ? ")" : "");
}

static void view_phase(const struct pfr_detail *phase, void *arg)
{
    struct phases *phases = arg;
    int64_t peak = pfr_detail_phase_peak(phase);
    int64_t sampled = phase->value[PFR_CGROUP_MEM_SAMPLED_PEAK];
    int64_t cpu = phase->value[PFR_CGROUP_CPU_SECONDS], span = phase->to - phase->from;
    char line[LINE] = "", text[PFR_TEXT_SIZE];

    if (!pfr_known(phase->from) || phases->count++ >= PHASES_SHOWN)
        return;
    append(line, "%s", phase->name);
    append_whose(line, phase, phases->job);
    append(line, ": ");
    if (!pfr_known(phase->to) || span < 0)
        append(line, "goes on");
    else
        append(line, "%s", pfr_time_text(span, text));
    append(line, " from %s on", pfr_time_text(phase->from, text));
    if (pfr_known(peak))
        append(line, ", %s at peak", pfr_size_text(peak, text));
    else if (pfr_known(sampled))
        append(line, ", %s at most when sampled", pfr_size_text(sampled, text));
    if (pfr_known(cpu) && pfr_known(phase->to) && span > 0)
        append(line, ", %s cores", pfr_cores_text(pfr_muldiv(cpu, 1000, span), text));
    pfr_ink_say(&phases->report->ink, PFR_TINT_NONE, phases->count == 1 ? "phases" : "", line);
}

static void view_phases(const struct pfr_report *report, const struct pfr_report_job *job)
{
    struct phases phases = { report, job, 0 };
    int64_t malformed = 0;

    for (size_t i = 0; i < job->node_count; i++)
        for (size_t k = 0; k < job->step_count; k++)
            if (strcmp(job->steps[k].facts.step, job->nodes[i].step) == 0)
                pfr_detail_each(PFR_DETAIL_PHASE, job->steps[k].found, &job->nodes[i], view_phase,
                                &phases, &malformed);
    if (phases.count > PHASES_SHOWN) {
        char line[LINE] = "";

        append(line, "and %d more: see --by=phase", phases.count - PHASES_SHOWN);
        pfr_ink_say(&report->ink, PFR_TINT_NONE, "", line);
    }
}

static void view_sacct(const struct pfr_report *report, const struct pfr_report_job *job)
{
    for (size_t i = 0; i < job->step_count; i++) {
        struct pfr_said said = { 0 };
        char label[24];

        pfr_sacct_explain(&said, &report->sacct, &job->steps[i].facts);
        snprintf(label, sizeof(label), "sacct %.5s", job->steps[i].facts.step);
        view_said(report, label, &said);
    }
}

/*
 * At the edge, so that whole lines can be pasted; explanations are comments, and
 * of the two ways to ask for memory, which sbatch refuses together, one is live.
 */
static void view_paste(const struct pfr_report *report, const struct pfr_advice_line *line,
                       bool live)
{
    pfr_ink_begin(&report->ink, PFR_TINT_GOOD);
    fprintf(report->ink.out, "%s%s\n", live ? "" : "# or: ", line->paste);
    pfr_ink_end(&report->ink, PFR_TINT_GOOD);
    fprintf(report->ink.out, "# %s\n", line->basis);
    if (line->why[0])
        fprintf(report->ink.out, "# %s\n", line->why);
}

/* What is known is only that it was too little. */
static void view_more(const struct pfr_report *report, const struct pfr_advice_line *line,
                      const char *option)
{
    char text[LINE] = "";

    append(text, "--%s: %s; %s", option, line->basis, line->why);
    pfr_ink_say(&report->ink, PFR_TINT_NONE, "advice", text);
}

/* What can be told, ready to be pasted; then what cannot, with each reason once. */
static void view_advice(const struct pfr_report *report, const struct pfr_advice *advice)
{
    const struct { const char *option; const struct pfr_advice_line *line; } lines[] = {
        { "mem", &advice->mem },
        { "mem-per-cpu", &advice->mem_per_cpu },
        { "cpus-per-task", &advice->cpus },
        { "time", &advice->time },
    };
    bool said[PFR_COUNT(lines)] = { false };

    fputc('\n', report->ink.out);
    for (size_t i = 0; i < PFR_COUNT(lines); i++)
        if (lines[i].line->kind == PFR_ADVICE_TELL)
            view_paste(report, lines[i].line, lines[i].line != &advice->mem_per_cpu);
    for (size_t i = 0; i < PFR_COUNT(lines); i++)
        if (lines[i].line->kind == PFR_ADVICE_MORE)
            view_more(report, lines[i].line, lines[i].option);
    for (size_t i = 0; i < PFR_COUNT(lines); i++) {
        char text[LINE] = "";

        if (lines[i].line->kind != PFR_ADVICE_CANNOT || said[i])
            continue;
        for (size_t k = i; k < PFR_COUNT(lines); k++)
            if (lines[k].line->kind == PFR_ADVICE_CANNOT &&
                strcmp(lines[k].line->why, lines[i].line->why) == 0) {
                append(text, "%s--%s", text[0] ? ", " : "", lines[k].option);
                said[k] = true;
            }
        append(text, ": %s", lines[i].line->why);
        pfr_ink_say(&report->ink, PFR_TINT_NONE, "advice", text);
    }
}

void pfr_report_view(const struct pfr_report *report, const struct pfr_report_job *job)
{
    /* a job of one step is that step: it has more numbers than the sum of several */
    const struct pfr_facts *facts = &job->facts;

    view_head(report, job);
    view_verdict(report, job);
    view_elapsed(report, facts);
    view_memory(report, facts);
    view_cores(report, facts);
    view_io(report, facts);
    view_gpu(report, facts);
    view_waits(report, job);
    view_counts(report, facts);
    view_phases(report, job);
    view_sacct(report, job);
    if (report->why)
        pfr_report_why(report, job, NULL);
    view_parts(report, job);
    view_advice(report, &job->advice);
}
