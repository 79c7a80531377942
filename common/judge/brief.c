#include "common/judge/brief.h"

#include <limits.h>
#include <string.h>

#include "common/base/safe.h"
#include "common/judge/text.h"
#include "common/judge/verdict.h"

static bool is_complete(const struct pfr_facts *facts)
{
    return facts->progress == PFR_PROGRESS_COMPLETE;
}

/* Its sampler was lost, but slurmstepd has seen the end of all its tasks. */
static bool is_over(const struct pfr_facts *facts)
{
    return facts->progress == PFR_PROGRESS_LOST && facts->tasks > 0 &&
           facts->tasks_ended == facts->tasks;
}

static void print_end(FILE *out, const struct pfr_facts *facts)
{
    bool failed = pfr_known(facts->signal) || (pfr_known(facts->exit) && facts->exit != 0);
    char text[PFR_TEXT_SIZE];

    if (!pfr_known(facts->elapsed))
        return;
    fprintf(out, "  elapsed     %s", pfr_time_text(facts->elapsed, text));
    if (!is_complete(facts) && !is_over(facts)) {
        fputs(" when this was written\n", out);
        return;
    }
    if (facts->tasks > 1 && failed)
        fprintf(out, ", rank %lld:", (long long)facts->rank);
    else
        fputs(pfr_known(facts->exit) || pfr_known(facts->signal) ? "," : "", out);
    if (pfr_known(facts->exit))
        fprintf(out, " exit %lld", (long long)facts->exit);
    if (pfr_known(facts->signal))
        fprintf(out, " killed by signal %lld (%s)", (long long)facts->signal,
                strsignal((int)facts->signal));
    fputc('\n', out);
}

/* The source is told with the number: they do not mean the same (R31, R32). */
static void print_memory(FILE *out, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts);
    int64_t value = source == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_value(facts, source);
    int64_t fixed = pfr_facts_stats(facts, PFR_CGROUP_MEM_NONRECLAIMABLE)->max;
    int64_t bound = pfr_facts_memory_bound(facts);
    bool limit = pfr_facts_bound_is_limit(facts);
    char text[PFR_TEXT_SIZE], of[PFR_TEXT_SIZE];

    fprintf(out, "  memory      %s",
            source == PFR_METRIC_NONE ? "not measured" : pfr_size_text(value, text));
    if (source == PFR_CGROUP_MEM_PEAK)
        fputs(" peak, file cache included", out);
    else if (source == PFR_CGROUP_MEM_SAMPLED_PEAK)
        fputs(" largest sample, file cache included", out);
    else if (source == PFR_PS_RSS_TOTAL)
        fputs(" summed over processes (sampled; shared pages repeat; no cgroup)", out);
    if (source != PFR_METRIC_NONE && pfr_known(facts->mem_given) && bound > 0)
        fprintf(out, limit ? " (%.0f %% of its limit, %s)" : " (%.0f %% of %s allocated)",
                100 * (double)value / (double)bound, pfr_size_text(bound, of)); /* never clamped */
    if (pfr_known(fixed))
        fprintf(out, ", %s of it needed by the program (sampled)", pfr_size_text(fixed, text));
    if (!pfr_known(facts->mem_given) && limit)
        fprintf(out, ", limit %s", pfr_size_text(bound, text));
    fputc('\n', out);
}

static void print_cpu(FILE *out, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_cpu_source(facts), rate = pfr_facts_rate_source(facts);
    const struct pfr_stats *stats = rate == PFR_METRIC_NONE ? NULL : pfr_facts_stats(facts, rate);
    int64_t mean = pfr_facts_cores_mean(facts);
    char text[PFR_TEXT_SIZE];

    if (source == PFR_METRIC_NONE)
        return;
    fprintf(out, "  CPU         %.2f s", (double)pfr_facts_value(facts, source) / 1e9);
    if (is_complete(facts) && pfr_known(mean))
        fprintf(out, ": %s cores mean", pfr_cores_text(mean, text));
    if (stats && pfr_known(stats->p95))
        fprintf(out, ", %s p95", pfr_cores_text(stats->p95 / 100, text));
    if (stats && pfr_known(stats->max))
        fprintf(out, ", %s max", pfr_cores_text(stats->max / 100, text));
    if (pfr_known(facts->cpus))
        fprintf(out, ", of %lld allocated", (long long)facts->cpus);
    else if (pfr_known(facts->node_cpus))
        fprintf(out, ", of %lld on the node%s", (long long)facts->node_cpus,
                facts->nodes > 1 ? "s" : "");
    fputc('\n', out);
}

static void print_io(FILE *out, const struct pfr_facts *facts)
{
    char text[PFR_STORAGE_SIZE];

    const char *storage = pfr_storage_text(facts, text);

    if (strcmp(storage, "-") != 0)
        fprintf(out, "  storage     %s\n", storage);
}

static void print_processes(FILE *out, const struct pfr_facts *facts)
{
    char text[PFR_STORAGE_SIZE];

    if (!pfr_known(facts->processes_seen) || facts->processes_seen <= 0)
        return;
    fprintf(out, "  processes   %lld seen", (long long)facts->processes_seen);
    if (pfr_known(facts->processes_at_once))
        fprintf(out, ", %lld at once", (long long)facts->processes_at_once);
    if (pfr_short_lived_text(facts, text)[0])
        fprintf(out, "; %s", text);
    fputc('\n', out);
}

/* Loud where it matters: an OOM kill, a profile that is not whole (R68). */
static void print_verdict(FILE *out, const struct pfr_facts *facts, int64_t now)
{
    int64_t kills = pfr_facts_value(facts, PFR_CGROUP_OOM_KILLS);
    struct pfr_verdict verdict;
    char text[PFR_TEXT_SIZE];

    pfr_verdict_judge(&verdict, facts, NULL, now);
    if (verdict.id == PFR_VERDICT_OOM || verdict.id == PFR_VERDICT_OOM_NODE ||
        verdict.id == PFR_VERDICT_WORKER_KILLED)
        fprintf(out, "  OOM         %lld process%s killed: %s\n", (long long)kills,
                kills == 1 ? "" : "es", verdict.headline);
    else if (verdict.id == PFR_VERDICT_TIME_LIMIT)
        fprintf(out, "  TIME LIMIT  %s\n", verdict.headline);
    if (!is_complete(facts))
        fprintf(out, "  INCOMPLETE  the profiler has not finished (state %s, %s old); this is what "
                "it had\n", pfr_progress_name(facts->progress),
                pfr_time_text(pfr_facts_age(facts, now), text));
    else if (pfr_known(facts->pending) && facts->pending > 0)
        fprintf(out, "  left behind %lld process%s still running\n", (long long)facts->pending,
                facts->pending == 1 ? " of the command is" : "es of the command are");
}

void pfr_brief_print(FILE *out, const struct pfr_facts *facts, const char *files, int64_t now)
{
    char safe[PATH_MAX];

    fprintf(out, "profres: %s", facts->job);
    if (pfr_known(facts->job_id))
        fprintf(out, ".%s", facts->step);
    if (facts->nodes > 1)
        fprintf(out, " on %lld nodes, memory of %s", (long long)facts->nodes, facts->node);
    fputc('\n', out);
    print_end(out, facts);
    print_memory(out, facts);
    print_cpu(out, facts);
    print_io(out, facts);
    print_processes(out, facts);
    print_verdict(out, facts, now);
    if (pfr_known(facts->samples))
        fprintf(out, "  samples     %lld; the profiler used %.3f s of CPU\n",
                (long long)facts->samples,
                pfr_known(facts->sampler_cpu) ? (double)facts->sampler_cpu / 1e9 : 0.0);
    if (files)
        fprintf(out, "  files       %s\n", pfr_safe_text(files, safe, sizeof(safe)));
}
