#include "common/judge/advice.h"

#include <stdio.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "common/judge/text.h"

#define MIB (INT64_C(1) << 20)

#define MARGIN 20       /* percent on top of what was measured */
#define FLOOR_MARGIN 30 /* on top of what was only seen at samples */
#define SHORTEST_NS (10 * PFR_NS_PER_S)
#define FEWEST_SAMPLES 10

void pfr_needs_init(struct pfr_needs *needs)
{
    *needs = (struct pfr_needs){ .memory = { { .source = PFR_CGROUP_MEM_PEAK },
                                             { .source = PFR_CGROUP_MEM_SAMPLED_PEAK },
                                             { .source = PFR_PS_RSS_TOTAL } },
                                 .cpus_per_task = PFR_ABSENT };
}

/* True when this run is the largest so far. */
static bool tell(struct pfr_need *need, int64_t value)
{
    need->runs++;
    if (need->runs > 1 && value <= need->most)
        return false;
    need->most = value;
    return true;
}

static void cut(struct pfr_need *need, int64_t value)
{
    need->cut++;
    if (need->cut == 1 || value > need->cut_at)
        need->cut_at = value;
}

static int64_t per(int64_t value, int64_t count)
{
    return pfr_known(value) && pfr_known(count) && count > 0 ? value / count : PFR_ABSENT;
}

/*
 * The charged peak is the ceiling. Where it was held down by the limit and much
 * of it was page cache, it says nothing: a program that reads files fills any
 * limit with them. Then the floor is what there is to go by.
 */
static bool use_floor(const struct pfr_memory_need *need, int64_t bound)
{
    return pfr_known(need->floor) && pfr_known(bound) && need->source != PFR_PS_RSS_TOTAL &&
           need->most >= bound - bound / 20 && need->floor < need->most / 5 * 4;
}

static void add_memory(struct pfr_needs *needs, const struct pfr_facts *facts,
                       enum pfr_metric_id source)
{
    struct pfr_memory_need *most = needs->memory, need = { .source = source };

    while (most->source != source) /* it is one of these */
        most++;
    need.runs = most->runs + 1;
    need.most = pfr_facts_value(facts, source);
    need.floor = pfr_facts_stats(facts, PFR_CGROUP_MEM_NONRECLAIMABLE)->max;
    need.by_floor = use_floor(&need, pfr_facts_memory_bound(facts));
    need.want = need.by_floor
                    ? pfr_plus(need.floor, pfr_muldiv(need.floor, FLOOR_MARGIN, 100))
                    : pfr_plus(need.most, pfr_muldiv(need.most, MARGIN, 100));
    need.steps = facts->mem_steps;
    need.cpus_on_node = per(facts->cpus, facts->nodes);
    if (most->runs == 0 || need.want > most->want)
        *most = need;
    else
        most->runs++;
}

/* What most runs had; of as many, the best (R32). */
static const struct pfr_memory_need *usual(const struct pfr_needs *needs)
{
    const struct pfr_memory_need *need = needs->memory;

    for (size_t i = 1; i < PFR_COUNT(needs->memory); i++)
        if (needs->memory[i].runs > need->runs)
            need = &needs->memory[i];
    return need;
}

/* How long the job took, as --time counts it. */
static int64_t duration(const struct pfr_facts *facts)
{
    int64_t end = pfr_plus(facts->start, facts->elapsed);

    return pfr_known(facts->job_start) && pfr_known(end) && end > facts->job_start
               ? end - facts->job_start : facts->elapsed;
}

static void add_good(struct pfr_needs *needs, const struct pfr_facts *facts)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts);
    bool few = !pfr_known(facts->samples) || facts->samples < FEWEST_SAMPLES;

    if (!pfr_known(facts->elapsed) || facts->elapsed < SHORTEST_NS) {
        needs->too_short++;
        return;
    }
    needs->too_few += few;
    /* the kernel's own peak needs no samples */
    if (source != PFR_METRIC_NONE && (!few || source == PFR_CGROUP_MEM_PEAK))
        add_memory(needs, facts, source);
    if (!few && pfr_known(facts->cores_per_task) &&
        tell(&needs->cores, facts->cores_per_task)) {
        needs->cpus_per_task = facts->cpus_per_task;
        needs->one_script = facts->one_script;
    }
    tell(&needs->time, duration(facts));
}

void pfr_needs_add(struct pfr_needs *needs, const struct pfr_facts *facts,
                   enum pfr_verdict_id verdict)
{
    enum pfr_metric_id source = pfr_facts_memory_source(facts);
    int64_t memory = source == PFR_METRIC_NONE ? 0 : pfr_facts_value(facts, source);
    int64_t bound = pfr_facts_memory_bound(facts);

    needs->runs++;
    switch (verdict) {
    case PFR_VERDICT_OK:
    case PFR_VERDICT_IDLE:
        add_good(needs, facts);
        return;
    case PFR_VERDICT_OOM:
    case PFR_VERDICT_WORKER_KILLED:
        cut(&needs->mem, pfr_known(bound) && bound > memory ? bound : memory);
        needs->failed++;
        return;
    case PFR_VERDICT_TIME_LIMIT:
        cut(&needs->time, pfr_known(facts->time_limit) ? facts->time_limit : duration(facts));
        needs->failed++;
        return;
    case PFR_VERDICT_RUNNING:
    case PFR_VERDICT_STALLED:
    case PFR_VERDICT_INCOMPLETE:
        needs->unfinished++;
        return;
    default:
        needs->failed++;
    }
}

static const char *runs_text(int64_t runs, char text[static PFR_TEXT_SIZE])
{
    if (runs == 1)
        return "of 1 run";
    snprintf(text, PFR_TEXT_SIZE, "largest of %lld runs", (long long)runs);
    return text;
}

/* No run tells: which is the reason? */
static void refuse(struct pfr_advice_line *line, const struct pfr_needs *needs)
{
    line->kind = needs->runs ? PFR_ADVICE_CANNOT : PFR_ADVICE_NONE;
    if (needs->failed && needs->failed >= needs->too_short + needs->too_few)
        snprintf(line->why, sizeof(line->why),
                 "cannot tell: %s, and what it would have needed is not known",
                 needs->runs == 1 ? "it failed" : "every run that is over failed");
    else if (needs->unfinished)
        snprintf(line->why, sizeof(line->why), "cannot tell: it has not ended, or its end was "
                                               "not seen");
    else if (needs->too_short)
        snprintf(line->why, sizeof(line->why), "cannot tell: less than 10 s is too short");
    else if (needs->too_few)
        snprintf(line->why, sizeof(line->why), "cannot tell: fewer than %d samples are too few",
                 FEWEST_SAMPLES);
    else
        line->kind = PFR_ADVICE_NONE;
}

/* Up to the next 100 MiB, above 10 GiB to the next GiB. */
static int64_t round_memory(int64_t bytes)
{
    int64_t step = bytes > 10240 * MIB ? 1024 * MIB : 100 * MIB;

    if (bytes > INT64_MAX - step)
        return bytes;
    return (bytes + step - 1) / step * step;
}

static void paste_memory(char *text, size_t size, const char *option, int64_t bytes)
{
    if (bytes % (1024 * MIB) == 0)
        snprintf(text, size, "#SBATCH --%s=%lldG", option, (long long)(bytes / (1024 * MIB)));
    else
        snprintf(text, size, "#SBATCH --%s=%lldM", option, (long long)((bytes + MIB - 1) / MIB));
}

static void explain_memory(struct pfr_advice_line *line, const struct pfr_memory_need *need)
{
    char cache[PFR_TEXT_SIZE], least[PFR_TEXT_SIZE];
    int64_t dropable = pfr_known(need->floor) ? need->most - need->floor : 0;

    if (need->steps > 1)
        snprintf(line->why, sizeof(line->why), "the peaks of %lld steps that overlapped were added "
                 "up: at most this was used at one time", (long long)need->steps);
    else if (need->source == PFR_PS_RSS_TOTAL)
        snprintf(line->why, sizeof(line->why), "without a cgroup the resident sets are summed: "
                 "shared pages count repeatedly, page cache not at all");
    else if (need->by_floor)
        snprintf(line->why, sizeof(line->why), "page cache filled the limit; the kernel drops it "
                 "when memory is wanted, so the part that the program needed was used");
    else if (dropable > 100 * MIB && dropable > need->most / 4)
        snprintf(line->why, sizeof(line->why), "the charged peak was used; up to %s of it was page "
                 "cache, which the kernel can drop: %s is the least, at the cost of speed",
                 pfr_size_text(dropable, cache), pfr_size_text(need->floor, least));
    else
        snprintf(line->why, sizeof(line->why), "the charged peak was used: what a limit is held "
                 "against");
}

/* With the CPUs that are advised, where these are fewer: both may be pasted together. */
static void advise_per_cpu(struct pfr_advice *advice, const struct pfr_needs *needs, int64_t given)
{
    struct pfr_advice_line *line = &advice->mem_per_cpu;
    int64_t cpus = given;

    if (advice->cpus.kind == PFR_ADVICE_TELL && advice->cpus.value < needs->cpus_per_task &&
        needs->cpus_per_task <= given)
        cpus = given / needs->cpus_per_task * advice->cpus.value;
    line->kind = PFR_ADVICE_TELL;
    line->value = (advice->mem.value / cpus + MIB - 1) / MIB * MIB;
    paste_memory(line->paste, sizeof(line->paste), "mem-per-cpu", line->value);
    snprintf(line->basis, sizeof(line->basis), "instead of --mem, with %lld CPU%s a node%s",
             (long long)cpus, cpus == 1 ? "" : "s", cpus < given ? ", as advised" : "");
}

static void advise_memory(struct pfr_advice *advice, const struct pfr_needs *needs)
{
    struct pfr_advice_line *line = &advice->mem;
    const struct pfr_memory_need *need = usual(needs);
    char size[PFR_TEXT_SIZE], runs[PFR_TEXT_SIZE];

    if (need->runs)
        line->value = round_memory(need->want);
    if (needs->mem.cut && (!need->runs || line->value <= needs->mem.cut_at)) {
        line->kind = PFR_ADVICE_MORE;
        line->value = needs->mem.cut_at;
        snprintf(line->basis, sizeof(line->basis), "more than %s",
                 pfr_size_text(needs->mem.cut_at, size));
        snprintf(line->why, sizeof(line->why), "%s ran out of memory there; how much more cannot "
                 "be told", needs->runs == 1 ? "it" : "a run");
        return;
    }
    if (!need->runs) {
        refuse(line, needs);
        return;
    }
    line->kind = PFR_ADVICE_TELL;
    paste_memory(line->paste, sizeof(line->paste), "mem", line->value);
    snprintf(line->basis, sizeof(line->basis), "%s %s (%s) + %d %%",
             pfr_size_text(need->by_floor ? need->floor : need->most, size),
             need->by_floor ? "needed by the program"
             : need->source == PFR_PS_RSS_TOTAL ? "resident, summed"
             : need->source == PFR_CGROUP_MEM_PEAK ? "peak, file cache included"
                                                   : "largest sample, file cache included",
             runs_text(need->runs, runs), need->by_floor ? FLOOR_MARGIN : MARGIN);
    explain_memory(line, need);
    if (need->cpus_on_node > 0)
        advise_per_cpu(advice, needs, need->cpus_on_node);
}

static void advise_cores(struct pfr_advice_line *line, const struct pfr_needs *needs)
{
    bool all = needs->cpus_per_task > 0 && needs->cores.most >= needs->cpus_per_task * 950;
    char cores[PFR_TEXT_SIZE], runs[PFR_TEXT_SIZE];

    if (!needs->cores.runs) {
        refuse(line, needs);
        return;
    }
    line->kind = PFR_ADVICE_TELL;
    line->value = (needs->cores.most - 100 + 999) / 1000; /* 4.05 is 4 */
    if (line->value < 1)
        line->value = 1;
    snprintf(line->paste, sizeof(line->paste), "#SBATCH --cpus-per-task=%lld",
             (long long)line->value);
    snprintf(line->basis, sizeof(line->basis), "%s cores a task in 95 %% of the time (%s)",
             pfr_cores_text(needs->cores.most, cores), runs_text(needs->cores.runs, runs));
    snprintf(line->why, sizeof(line->why), "%s%s%s",
             needs->one_script && line->value > 1
                 ? "a script is taken as one task: with --ntasks=N, a task needs its part of this"
                 : "",
             needs->one_script && line->value > 1 && all ? "; " : "",
             all ? "it used all that it had; whether more would make it faster cannot be told from "
                   "this" : "");
}

/* Up to the next 5 minutes, above an hour 15 minutes, above 6 hours an hour. */
static int64_t round_time(int64_t ns)
{
    int64_t minutes = ns / (60 * PFR_NS_PER_S) + (ns % (60 * PFR_NS_PER_S) > 0);
    int64_t step = minutes > 360 ? 60 : minutes > 60 ? 15 : 5;

    if (minutes > INT64_MAX / (60 * PFR_NS_PER_S) - step) /* of a file that makes no sense */
        return INT64_MAX;
    return (minutes + step - 1) / step * step * 60 * PFR_NS_PER_S;
}

static void advise_time(struct pfr_advice_line *line, const struct pfr_needs *needs)
{
    char text[PFR_TEXT_SIZE], runs[PFR_TEXT_SIZE];
    int64_t minutes;

    if (needs->time.runs)
        line->value = round_time(pfr_plus(needs->time.most,
                                          pfr_muldiv(needs->time.most, MARGIN, 100)));
    if (needs->time.cut && (!needs->time.runs || line->value <= needs->time.cut_at)) {
        line->kind = PFR_ADVICE_MORE;
        line->value = needs->time.cut_at;
        snprintf(line->basis, sizeof(line->basis), "more than %s",
                 pfr_time_text(needs->time.cut_at, text));
        snprintf(line->why, sizeof(line->why), "%s was ended there; how much longer it takes "
                 "cannot be told", needs->runs == 1 ? "it" : "a run");
        return;
    }
    if (!needs->time.runs) {
        refuse(line, needs);
        return;
    }
    minutes = line->value / (60 * PFR_NS_PER_S);
    line->kind = PFR_ADVICE_TELL;
    if (minutes >= 24 * 60)
        snprintf(line->paste, sizeof(line->paste), "#SBATCH --time=%lld-%02d:%02d:00",
                 (long long)(minutes / 1440), (int)(minutes / 60 % 24), (int)(minutes % 60));
    else
        snprintf(line->paste, sizeof(line->paste), "#SBATCH --time=%02d:%02d:00",
                 (int)(minutes / 60), (int)(minutes % 60));
    snprintf(line->basis, sizeof(line->basis), "%s (%s) + %d %%",
             pfr_time_text(needs->time.most, text), runs_text(needs->time.runs, runs), MARGIN);
}

void pfr_advice_give(struct pfr_advice *advice, const struct pfr_needs *needs)
{
    memset(advice, 0, sizeof(*advice));
    advice->runs = needs->runs;
    advise_cores(&advice->cpus, needs);
    advise_memory(advice, needs);
    advise_time(&advice->time, needs);
}
