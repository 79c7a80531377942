/* The few numbers above the panels; what was not measured is not there. */
#include <stdio.h>
#include <string.h>

#include "common/judge/text.h"
#include "common/judge/verdict.h"
#include "tools/profres/plot/figure.h"

static void add_end(struct pfr_view *view, const struct pfr_trace *trace, int64_t now)
{
    const struct pfr_facts *facts = &trace->facts;
    enum pfr_verdict_id verdict = pfr_verdict_of(facts, NULL, now);
    char text[PFR_TEXT_SIZE], note[96] = "";

    if (!trace->complete)
        snprintf(note, sizeof(note), "when this was written");
    else if (pfr_known(facts->signal))
        snprintf(note, sizeof(note), "rank %lld killed by signal %lld", (long long)facts->rank,
                 (long long)facts->signal);
    else if (pfr_known(facts->exit) && facts->tasks > 1)
        snprintf(note, sizeof(note), facts->exit ? "%lld tasks, rank %lld: exit %lld"
                                                 : "%lld tasks, all exit 0",
                 (long long)facts->tasks, (long long)facts->rank, (long long)facts->exit);
    else if (pfr_known(facts->exit))
        snprintf(note, sizeof(note), "exit %lld", (long long)facts->exit);
    pfr_view_headline(view, pfr_verdict_is_failure(verdict) ? PFR_TONE_BAD : PFR_TONE_PLAIN,
                      "verdict", pfr_verdict_name(verdict), note);
    if (pfr_known(facts->elapsed))
        pfr_view_headline(view, PFR_TONE_PLAIN, "elapsed", pfr_time_text(facts->elapsed, text), "");
}

static void add_memory(struct pfr_view *view, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts);
    int64_t bound = pfr_facts_memory_bound(facts);
    int64_t fixed = pfr_facts_stats(facts, PFR_CGROUP_MEM_NONRECLAIMABLE)->max;
    char text[PFR_TEXT_SIZE], note[96] = "", of[PFR_TEXT_SIZE];

    if (source == PFR_METRIC_NONE)
        return;
    snprintf(note, sizeof(note), "%s",
             source == PFR_CGROUP_MEM_PEAK           ? "peak, file cache included"
             : source == PFR_CGROUP_MEM_SAMPLED_PEAK ? "largest sample, file cache included"
                                                     : "a sum over processes; shared pages repeat");
    if (pfr_known(bound) && bound > 0)
        snprintf(note + strlen(note), sizeof(note) - strlen(note), "; %.0f %% of %s",
                 100 * (double)pfr_facts_value(facts, source) / (double)bound,
                 pfr_size_text(bound, of));
    pfr_view_headline(view, PFR_TONE_PLAIN, "memory",
                      pfr_size_text(pfr_facts_value(facts, source), text), note);
    if (pfr_known(fixed))
        pfr_view_headline(view, PFR_TONE_PLAIN, "needed by the program", pfr_size_text(fixed, text),
                          "at most when sampled");
}

static void add_cpu(struct pfr_view *view, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_cpu_source(facts), rate = pfr_facts_rate_source(facts);
    int64_t most = rate == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_stats(facts, rate)->max;
    double seconds;
    char text[64], note[96] = "";

    if (source == PFR_METRIC_NONE || !pfr_known(facts->elapsed) || facts->elapsed <= 0)
        return;
    seconds = (double)pfr_facts_value(facts, source) / 1e9;
    if (pfr_known(most))
        snprintf(note, sizeof(note), "%.2f at most, ", (double)most / 1e5);
    if (pfr_known(facts->cpus))
        snprintf(note + strlen(note), sizeof(note) - strlen(note), "of %lld allocated, ",
                 (long long)facts->cpus);
    snprintf(note + strlen(note), sizeof(note) - strlen(note), "%.2f CPU seconds", seconds);
    snprintf(text, sizeof(text), "%.2f", seconds / ((double)facts->elapsed / 1e9));
    pfr_view_headline(view, PFR_TONE_PLAIN, "cores, mean", text, note);
}

static void add_io(struct pfr_view *view, const struct pfr_facts *facts)
{
    enum pfr_storage source = pfr_storage_source(facts);
    bool seen = source != PFR_STORAGE_CHARGED;
    char read[PFR_TEXT_SIZE], written[PFR_TEXT_SIZE], text[2 * PFR_TEXT_SIZE];

    if (source == PFR_STORAGE_NONE)
        return;
    snprintf(text, sizeof(text), "%s / %s",
             pfr_size_text(pfr_facts_value(facts, seen ? PFR_PROC_IO_READ_BYTES_TOTAL
                                                       : PFR_CGROUP_IO_READ_BYTES), read),
             pfr_size_text(pfr_facts_value(facts, seen ? PFR_PROC_IO_WRITE_BYTES_TOTAL
                                                       : PFR_CGROUP_IO_WRITE_BYTES), written));
    pfr_view_headline(view, PFR_TONE_PLAIN, "read / written", text,
                      seen ? "storage, by the processes seen" : "storage, by the kernel");
}

void pfr_view_headlines(struct pfr_view *view, const struct pfr_trace *trace, int64_t now)
{
    const struct pfr_facts *facts = &trace->facts;
    int64_t kills = pfr_facts_stats(facts, PFR_CGROUP_OOM_KILLS)->total;
    char text[64], note[96] = "";

    if (!trace->has_summary)
        return;
    add_end(view, trace, now);
    add_memory(view, facts);
    add_cpu(view, facts);
    add_io(view, facts);
    if (pfr_known(facts->processes_seen)) {
        snprintf(text, sizeof(text), "%lld", (long long)facts->processes_seen);
        if (pfr_known(facts->processes_at_once))
            snprintf(note, sizeof(note), "seen, %lld at once", (long long)facts->processes_at_once);
        pfr_view_headline(view, PFR_TONE_PLAIN, "processes", text, note);
    }
    if (pfr_known(kills) && kills > 0) {
        snprintf(text, sizeof(text), "%lld", (long long)kills);
        pfr_view_headline(view, PFR_TONE_BAD, "OOM kills", text, "processes killed by the kernel");
    }
}
