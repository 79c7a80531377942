/* Why sacct's numbers of a step are not ours: a person who sees two asks which is true. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "tools/profres/cell.h"
#include "tools/profres/sacct.h"

#define MIB (1 << 20)

__attribute__((format(printf, 2, 3))) static void say(struct pfr_said *said, const char *format,
                                                      ...)
{
    va_list ap;

    if (said->count == PFR_SAY_MAX)
        return;
    va_start(ap, format);
    vsnprintf(said->line[said->count++], PFR_SAY_SIZE, format, ap);
    va_end(ap);
}

static const char *size_of(int64_t bytes, char text[static PFR_CELL_SIZE])
{
    pfr_cell_format(PFR_CELL_BYTES, bytes, 0, false, text);
    return text;
}

/* By more than a twentieth of the larger, and by more than what does not matter. */
static bool differ(int64_t a, int64_t b, int64_t least)
{
    int64_t larger = a > b ? a : b, gap = a > b ? a - b : b - a;

    return gap > least && gap > larger / 20;
}

/* What a sample of MaxRSS is has changed with Slurm's versions. */
static bool gathers_by_cgroup(const struct pfr_sacct_gather *gather)
{
    return strstr(gather->plugin, "cgroup") != NULL;
}

static bool gathers_cache(const struct pfr_sacct_gather *gather)
{
    return gathers_by_cgroup(gather) && gather->version >= 2311;
}

static bool gathers_peak(const struct pfr_sacct_gather *gather)
{
    return gathers_by_cgroup(gather) && gather->version >= 2411;
}

static void say_sampled(struct pfr_said *said, const struct pfr_sacct_gather *gather,
                        const struct pfr_facts *facts)
{
    char every[PFR_CELL_SIZE], lasted[PFR_CELL_SIZE];

    if (!pfr_known(gather->frequency)) {
        say(said, "MaxRSS is the largest of samples, 30 s apart unless the cluster says otherwise;"
                  " what came and went between them is not in it");
        return;
    }
    pfr_cell_format(PFR_CELL_SECONDS, gather->frequency, 0, true, every);
    pfr_cell_format(PFR_CELL_SECONDS, facts->elapsed, 0, false, lasted);
    if (pfr_known(facts->elapsed) && facts->elapsed < gather->frequency)
        say(said, "MaxRSS is the largest of samples, %s s apart, and the step lasted %s s:"
                  " the most it used was hardly at one of them", every, lasted);
    else
        say(said, "MaxRSS is the largest of samples, %s s apart (JobAcctGatherFrequency);"
                  " what came and went between them is not in it", every);
}

/* What of the charged peak could have been dropped; 0 when that is not known. */
static int64_t cache_of(const struct pfr_facts *facts)
{
    int64_t file = pfr_facts_stats(facts, PFR_CGROUP_MEM_FILE)->max;
    int64_t shared = pfr_facts_stats(facts, PFR_CGROUP_MEM_SHMEM)->max;

    if (!pfr_known(file))
        return 0;
    return pfr_known(shared) && shared < file ? file - shared : file;
}

static void say_why_less(struct pfr_said *said, const struct pfr_sacct *sacct,
                         const struct pfr_sacct_row *row, const struct pfr_facts *facts,
                         enum pfr_metric_id source)
{
    int64_t cache = source == PFR_CGROUP_MEM_PEAK || source == PFR_CGROUP_MEM_SAMPLED_PEAK
                        ? cache_of(facts)
                        : 0;
    char text[PFR_CELL_SIZE];

    if (!gathers_peak(&sacct->gather))
        say_sampled(said, &sacct->gather, facts);
    if (pfr_known(row->tasks) && row->tasks > 1)
        say(said, "MaxRSS is of the largest of %lld tasks alone; %s is of all tasks of a node"
                  " at the same time", (long long)row->tasks, pfr_metrics[source].key);
    if (cache > pfr_facts_value(facts, source) / 20 && !gathers_cache(&sacct->gather))
        say(said, "up to %s of what was charged was page cache, which is in %s and not in MaxRSS%s",
            size_of(cache, text), pfr_metrics[source].key,
            sacct->gather.plugin[0] ? "" : " (before Slurm 23.11)");
}

static void say_why_more(struct pfr_said *said, const struct pfr_sacct *sacct,
                         const struct pfr_facts *facts, enum pfr_metric_id source)
{
    const struct pfr_sacct_gather *gather = &sacct->gather;
    int before = said->count;

    if (pfr_known(facts->nodes) && pfr_known(facts->nodes_given) &&
        facts->nodes < facts->nodes_given)
        say(said, "only %lld of the step's %lld nodes have a profile",
            (long long)facts->nodes, (long long)facts->nodes_given);
    if (strstr(gather->plugin, "linux"))
        say(said, "MaxRSS adds up the processes of a task, so that what they share is in it"
                  " once for each of them");
    else if (gathers_by_cgroup(gather) && gather->version < 2311)
        say(said, "Slurm before 23.02.6 counts huge pages twice in MaxRSS");
    if (source != PFR_CGROUP_MEM_PEAK)
        say(said, "%s is sampled, too: there was no peak of the kernel's to be had",
            pfr_metrics[source].key);
    if (facts->progress != PFR_PROGRESS_COMPLETE)
        say(said, "the profile is not whole; sacct's number is of the whole step");
    if (said->count == before)
        say(said, "why it is more is not known from here");
}

static void explain_memory(struct pfr_said *said, const struct pfr_sacct *sacct,
                           const struct pfr_sacct_row *row, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts);
    char theirs[PFR_CELL_SIZE], ours[PFR_CELL_SIZE];
    int64_t value;

    if (!pfr_known(row->max_rss) && strstr(sacct->gather.plugin, "none")) {
        say(said, "MaxRSS: sacct has none, as the cluster gathers nothing (%s)",
            sacct->gather.plugin);
        return;
    }
    if (!pfr_known(row->max_rss)) {
        say(said, "MaxRSS: sacct has none%s",
            pfr_known(row->end) ? "; the step may have been too short for it"
                                : " before the step has ended");
        return;
    }
    if (source == PFR_METRIC_NONE) {
        say(said, "MaxRSS %s by sacct; no memory was measured here",
            size_of(row->max_rss, theirs));
        return;
    }
    value = pfr_facts_value(facts, source);
    if (!differ(row->max_rss, value, MIB)) {
        say(said, "MaxRSS %s by sacct, %s %s here: they agree", size_of(row->max_rss, theirs),
            pfr_metrics[source].key, size_of(value, ours));
        return;
    }
    say(said, "MaxRSS %s by sacct, %s %s here:", size_of(row->max_rss, theirs),
        pfr_metrics[source].key, size_of(value, ours));
    if (row->max_rss < value)
        say_why_less(said, sacct, row, facts, source);
    else
        say_why_more(said, sacct, facts, source);
}

static void explain_cpu(struct pfr_said *said, const struct pfr_sacct_row *row,
                        const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_cpu_source(facts);
    int64_t value = source == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_value(facts, source);
    char theirs[PFR_CELL_SIZE], ours[PFR_CELL_SIZE];
    const char *why = "sacct's is of the whole step, with what runs before and after its tasks";

    if (!pfr_known(value) || !pfr_known(row->total_cpu) ||
        !differ(row->total_cpu, value, PFR_NS_PER_S / 2))
        return;
    pfr_cell_format(PFR_CELL_SECONDS, row->total_cpu, 0, false, theirs);
    pfr_cell_format(PFR_CELL_SECONDS, value, 0, false, ours);
    if (row->total_cpu < value)
        why = "sacct counts what was waited for or seen at its samples, the kernel all that ran";
    else if (source != PFR_CGROUP_CPU_SECONDS)
        why = "there was no cgroup to count in; processes that were never seen are not in ours";
    else if (facts->progress != PFR_PROGRESS_COMPLETE)
        why = "the profile is not whole";
    say(said, "TotalCPU %s s by sacct, %s %s s here: %s", theirs, pfr_metrics[source].key, ours,
        why);
}

static void explain_elapsed(struct pfr_said *said, const struct pfr_sacct_row *row,
                            const struct pfr_facts *facts)
{
    char theirs[PFR_CELL_SIZE], ours[PFR_CELL_SIZE];

    if (!pfr_known(row->elapsed) || !pfr_known(facts->elapsed) ||
        !differ(row->elapsed, facts->elapsed, 2 * PFR_NS_PER_S))
        return;
    pfr_cell_format(PFR_CELL_ELAPSED, row->elapsed, 0, false, theirs);
    pfr_cell_format(PFR_CELL_ELAPSED, facts->elapsed, 0, false, ours);
    say(said, "Elapsed %s by sacct, with launching and cleaning up; %s here, %s", theirs, ours,
        facts->progress == PFR_PROGRESS_COMPLETE
            ? "from the start of the first task to the end of the last"
            : "up to when the profile was last written");
}

void pfr_sacct_explain(struct pfr_said *said, const struct pfr_sacct *sacct,
                       const struct pfr_facts *facts)
{
    const struct pfr_sacct_row *row = pfr_sacct_find(sacct, facts);

    said->count = 0;
    if (!row || facts->extent == PFR_EXTENT_JOB)
        return; /* MaxRSS and TotalCPU of a job are none of its own */
    explain_memory(said, sacct, row, facts);
    explain_cpu(said, row, facts);
    explain_elapsed(said, row, facts);
}
