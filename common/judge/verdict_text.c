/* The words of a verdict: its headline, its evidence, and what to do. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/safe.h"
#include "common/judge/text.h"
#include "common/judge/verdict.h"

struct voices {
    struct pfr_verdict *verdict;
    const struct pfr_facts *facts;
    const struct pfr_last *last;
    int64_t now;
};

__attribute__((format(printf, 2, 3)))
static void say(struct pfr_said *said, const char *format, ...)
{
    char text[PFR_SAY_SIZE];
    va_list args;

    if (said->count == PFR_SAY_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pfr_safe_message(text, said->line[said->count], PFR_SAY_SIZE);
    if (said->line[said->count][0]) /* an absent part leaves no empty line (R61) */
        said->count++;
}

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* The newest sample comes first: it is the freshest that there is (R58, R59). */
static void show_newest(struct voices *v)
{
    const struct pfr_last *last = v->last;
    char line[PFR_SAY_SIZE] = "", text[PFR_TEXT_SIZE];
    const char *separator = ": ";

    if (!last || !pfr_known(last->at))
        return;
    append(line, sizeof(line), "newest sample, at %s", pfr_time_text(last->at, text));
    if (pfr_known(last->mem)) {
        append(line, sizeof(line), "%s%s charged", separator, pfr_size_text(last->mem, text));
        separator = ", ";
    }
    if (pfr_known(last->nonreclaimable)) {
        append(line, sizeof(line), "%s%s needed by the program", separator,
               pfr_size_text(last->nonreclaimable, text));
        separator = ", ";
    }
    if (!pfr_known(last->mem) && pfr_known(last->rss_total)) {
        append(line, sizeof(line), "%s%s resident, summed", separator,
               pfr_size_text(last->rss_total, text));
        separator = ", ";
    }
    if (pfr_known(last->pdcpu)) {
        append(line, sizeof(line), "%s%s cores", separator,
               pfr_cores_text(last->pdcpu / 100, text));
        separator = ", ";
    }
    if (pfr_known(last->processes)) {
        append(line, sizeof(line), "%s%lld process%s in its window", separator,
               (long long)last->processes, last->processes == 1 ? "" : "es");
        separator = ", ";
    }
    if (separator[0] == ',')
        say(&v->verdict->evidence, "%s", line);
}

static void show_victims(struct voices *v)
{
    const struct pfr_last *last = v->last;
    int64_t kills = pfr_facts_value(v->facts, PFR_CGROUP_OOM_KILLS);
    char line[PFR_SAY_SIZE] = "", text[PFR_TEXT_SIZE];

    if (!pfr_known(kills) || kills <= 0)
        return;
    append(line, sizeof(line), "the kernel killed %lld process%s for want of memory",
           (long long)kills, kills == 1 ? "" : "es");
    for (int i = 0; last && i < last->victim_count; i++)
        append(line, sizeof(line), "%s%s (pid %lld, %s)", i ? ", " : "; gone since: ",
               last->victims[i].comm, (long long)last->victims[i].pid,
               pfr_size_text(last->victims[i].rss, text));
    say(&v->verdict->evidence, "%s", line);
}

static void show_memory(struct voices *v)
{
    enum pfr_metric_id source = pfr_facts_memory_source(v->facts);
    int64_t bound = pfr_facts_memory_bound(v->facts), value;
    char used[PFR_TEXT_SIZE], of[PFR_TEXT_SIZE];

    if (source == PFR_METRIC_NONE)
        return;
    value = pfr_facts_value(v->facts, source);
    if (pfr_known(bound) && bound > 0)
        say(&v->verdict->evidence, "memory: %s at most, %.0f %% of the %s %s", /* never clamped */
            pfr_size_text(value, used), 100 * (double)value / (double)bound,
            pfr_size_text(bound, of),
            pfr_facts_bound_is_limit(v->facts) ? "that are its limit" : "allocated");
    else
        say(&v->verdict->evidence, "memory: %s at most; no limit is known",
            pfr_size_text(value, used));
}

static void show_end(struct voices *v)
{
    const struct pfr_facts *facts = v->facts;
    char rank[48] = "it";

    if (pfr_known(facts->tasks) && facts->tasks > 1 && pfr_known(facts->rank))
        snprintf(rank, sizeof(rank), "task %lld%s", (long long)facts->rank,
                 facts->tasks_failed > 1 ? ", the first to fail," : "");
    if (pfr_known(facts->signal))
        say(&v->verdict->evidence, "%s was killed by signal %lld (%s)", rank,
            (long long)facts->signal, strsignal((int)facts->signal));
    else if (pfr_known(facts->exit))
        say(&v->verdict->evidence, "%s ended with exit code %lld", rank, (long long)facts->exit);
    if (facts->tasks_failed > 1)
        say(&v->verdict->evidence, "%lld of %lld tasks failed", (long long)facts->tasks_failed,
            (long long)facts->tasks);
}

static void show_time(struct voices *v)
{
    char elapsed[PFR_TEXT_SIZE], limit[PFR_TEXT_SIZE];

    if (pfr_known(v->facts->elapsed) && pfr_known(v->facts->time_limit))
        say(&v->verdict->evidence, "it ran %s; the job's time limit is %s",
            pfr_time_text(v->facts->elapsed, elapsed), pfr_time_text(v->facts->time_limit, limit));
}

static void show_still(struct voices *v)
{
    const struct pfr_last *last = v->last;
    char line[PFR_SAY_SIZE] = "", text[PFR_TEXT_SIZE], since[PFR_TEXT_SIZE];

    if (pfr_verdict_still(last) <= 0)
        return;
    say(&v->verdict->evidence, "no CPU and no I/O was used for the last %s, since %s into the "
        "run%s%s", pfr_time_text(pfr_verdict_still(last), text),
        pfr_time_text(last->still_since, since),
        v->facts->nodes < 2 ? "" : last->everywhere ? ", on any node" : ", on ",
        v->facts->nodes < 2 || last->everywhere ? "" : last->node);
    for (int i = 0; i < last->state_count; i++)
        append(line, sizeof(line), "%s%s %lld", i ? ", " : "states seen in the last window: ",
               last->states[i].code, (long long)last->states[i].count);
    say(&v->verdict->evidence, "%s", line);
    line[0] = '\0';
    for (int i = 0; i < last->top_count; i++)
        append(line, sizeof(line), "%s%s (pid %lld, %s)", i ? ", " : "largest processes: ",
               last->top[i].comm, (long long)last->top[i].pid,
               pfr_size_text(last->top[i].rss, text));
    say(&v->verdict->evidence, "%s", line);
}

static void show_profile(struct voices *v)
{
    const struct pfr_facts *facts = v->facts;
    char age[PFR_TEXT_SIZE];

    if (facts->progress != PFR_PROGRESS_COMPLETE)
        say(&v->verdict->evidence, "the profile's state is %s, written %s ago",
            pfr_progress_name(facts->progress), pfr_time_text(pfr_facts_age(facts, v->now), age));
    if (facts->extent != PFR_EXTENT_NODE && pfr_known(facts->nodes_given) &&
        facts->nodes < facts->nodes_given)
        say(&v->verdict->evidence, "profiles of %lld of %lld nodes are there",
            (long long)facts->nodes, (long long)facts->nodes_given);
    if (facts->progress == PFR_PROGRESS_COMPLETE && facts->tasks_ended < facts->tasks)
        say(&v->verdict->evidence, "%lld of %lld tasks had not ended when it was finished",
            (long long)(facts->tasks - facts->tasks_ended), (long long)facts->tasks);
}

/* What they did after that is in no number (R68); while it goes on it is no wonder. */
static void show_pending(struct voices *v)
{
    int64_t pending = v->facts->pending;

    if (v->verdict->id != PFR_VERDICT_RUNNING && v->verdict->id != PFR_VERDICT_STALLED &&
        pfr_known(pending) && pending > 0)
        say(&v->verdict->evidence, "%lld process%s left behind: still there at the last sample",
            (long long)pending, pending == 1 ? " was" : "es were");
}

static void show_use(struct voices *v)
{
    char cores[PFR_TEXT_SIZE];
    int64_t mean = pfr_facts_cores_mean(v->facts);

    if (pfr_known(mean) && pfr_known(v->facts->cpus))
        say(&v->verdict->evidence, "cores: %s of %lld on average",
            pfr_cores_text(mean, cores), (long long)v->facts->cpus);
}

static void tell_oom(struct voices *v)
{
    say(&v->verdict->user, "Ask for more memory (--mem), or let it use less: fewer workers, "
                           "smaller batches, streaming instead of loading.");
    say(&v->verdict->user, "How much it would have needed cannot be told: it was stopped there.");
    say(&v->verdict->admin, "OOM kill inside the step's own limit; the node was not short of "
                            "memory. Nothing to do on the node.");
}

static void tell_oom_node(struct voices *v)
{
    say(&v->verdict->user, "The step did not reach its own limit: the whole job did, steps "
                           "together, or the node had no memory left. If it happens again, tell "
                           "your administrator the node and the time.");
    say(&v->verdict->admin, "OOM kill below the step's limit: look for 'oom-kill' in the kernel "
                            "log of %s, at what else ran there, and at ConstrainRAMSpace and "
                            "MemSpecLimit.", v->facts->node);
}

static void tell_time(struct voices *v)
{
    say(&v->verdict->user, "Ask for more time (--time), or save and restart from checkpoints.");
    say(&v->verdict->user, "How long it would have taken cannot be told: it was stopped there.");
    say(&v->verdict->admin, "Ended by the time limit, as asked for. Nothing to do.");
}

static void tell_hung(struct voices *v)
{
    say(&v->verdict->user, "More time would not help: find out what it waited for. A lock, a peer "
                           "that has gone, a file system, or input.");
    say(&v->verdict->admin, "Ended by the time limit after doing nothing. Many in state D on %s: "
                            "look at its file systems.", v->last ? v->last->node : v->facts->node);
}

static void tell_signal(struct voices *v)
{
    switch (v->facts->signal) {
    case 9:
        say(&v->verdict->user, "SIGKILL comes from outside: scancel, a time limit, or somebody's "
                               "kill. The kernel counted no OOM kill in this step%s.",
            pfr_known(pfr_facts_value(v->facts, PFR_CGROUP_OOM_KILLS))
                ? "" : ", but that was not measured");
        say(&v->verdict->admin, "No OOM kill is counted in the step's cgroup; slurmctld's and "
                                "slurmd's log say who cancelled it.");
        return;
    case 15:
        say(&v->verdict->user, "SIGTERM asks a program to end: scancel, a time limit or "
                               "preemption.");
        say(&v->verdict->admin, "slurmctld's log says who cancelled or preempted it.");
        return;
    case 4: case 6: case 7: case 8: case 11:
        say(&v->verdict->user, "The program crashed; that is in the program or its libraries, not "
                               "in what was allocated. A core file or a debugger tells where.");
        say(&v->verdict->admin, "A crash of the program. SIGBUS and SIGILL may also tell of bad "
                                "memory or of a binary for another processor: compare nodes.");
        return;
    default:
        say(&v->verdict->user, "The program did not expect this signal; see signal(7).");
        say(&v->verdict->admin, "Ended by a signal. Nothing to do on the node.");
    }
}

static void tell_exit(struct voices *v)
{
    int64_t code = v->facts->exit;

    if (code == 126 || code == 127)
        say(&v->verdict->user, "%lld is what a shell returns when a command %s.", (long long)code,
            code == 127 ? "was not found: a missing module, or a wrong PATH"
                        : "could not be executed");
    else if (code > 128 && code <= 128 + 64)
        say(&v->verdict->user, "%lld is what a shell returns when its command was killed by "
                               "signal %lld (%s).", (long long)code, (long long)code - 128,
            strsignal((int)code - 128));
    else
        say(&v->verdict->user, "The program said so itself: its output tells why.");
    say(&v->verdict->admin, "The program's own exit code. Nothing to do on the node.");
}

static void tell_worker(struct voices *v)
{
    say(&v->verdict->user, "It returned success, but the kernel has killed a part of it: check "
                           "that its results are whole, and ask for more memory.");
    say(&v->verdict->admin, "Slurm shows this one as completed; there was an OOM kill in it.");
}

static void tell_stalled(struct voices *v)
{
    say(&v->verdict->user, "It waits for something: a lock, a peer that has gone, a file system, "
                           "or input. 'D' in the states is storage, 'S' anything else.");
    say(&v->verdict->admin, "Many in state D on %s: look at its file systems. Otherwise ask the "
                            "user; the allocation does nothing.", v->facts->node);
}

static void tell_idle(struct voices *v)
{
    say(&v->verdict->user, "Less would do; jobs that ask for less start sooner. See the advice.");
    say(&v->verdict->admin, "Allocated and hardly used; no fault of the node.");
}

static void tell_incomplete(struct voices *v)
{
    say(&v->verdict->user, "The numbers are what was seen until then; the end is missing.");
    say(&v->verdict->admin, v->facts->progress == PFR_PROGRESS_LOST
            ? "The sampler on %s died; the last numbers are slurmstepd's own. Its log says why."
            : "The sampler on %s was cut off, with the step or the node; or files are missing.",
        v->facts->node);
}

/* One row per verdict: headline, what is shown besides the newest sample, what is told. */
static const struct {
    const char *headline;
    void (*show[4])(struct voices *v);
    void (*tell)(struct voices *v);
} rows[PFR_VERDICT_COUNT] = {
    [PFR_VERDICT_OK] = { "no problem found", { NULL }, NULL },
    [PFR_VERDICT_RUNNING] = { "running", { show_profile }, NULL },
    [PFR_VERDICT_IDLE] = { "much of what was allocated was not used",
                           { show_use, show_memory }, tell_idle },
    [PFR_VERDICT_INCOMPLETE] = { "the profile is not complete", { show_profile },
                                 tell_incomplete },
    [PFR_VERDICT_STALLED] = { "it runs, but nothing moves", { show_still, show_profile },
                              tell_stalled },
    [PFR_VERDICT_WORKER_KILLED] = { "it succeeded, but the kernel killed a process of it",
                                    { show_victims, show_memory, show_end }, tell_worker },
    [PFR_VERDICT_EXIT] = { "it ended with an error", { show_end, show_still }, tell_exit },
    [PFR_VERDICT_SIGNAL] = { "it was killed by a signal", { show_end, show_memory, show_time },
                             tell_signal },
    [PFR_VERDICT_TIME_LIMIT] = { "it ran into the time limit", { show_time, show_end, show_still },
                                 tell_time },
    [PFR_VERDICT_HUNG] = { "it did nothing until the time limit ended it",
                           { show_still, show_time, show_end }, tell_hung },
    [PFR_VERDICT_OOM_NODE] = { "killed for want of memory, but not at its own limit",
                               { show_victims, show_memory, show_end }, tell_oom_node },
    [PFR_VERDICT_OOM] = { "out of memory: the limit was too low for it",
                          { show_victims, show_memory, show_end }, tell_oom },
};

void pfr_verdict_judge(struct pfr_verdict *verdict, const struct pfr_facts *facts,
                       const struct pfr_last *last, int64_t now)
{
    struct voices v = { verdict, facts, last, now };

    verdict->id = pfr_verdict_of(facts, last, now);
    verdict->evidence.count = verdict->user.count = verdict->admin.count = 0;
    snprintf(verdict->headline, sizeof(verdict->headline), "%s", rows[verdict->id].headline);
    if (verdict->id != PFR_VERDICT_OK && verdict->id != PFR_VERDICT_IDLE)
        show_newest(&v);
    for (int i = 0; i < 4 && rows[verdict->id].show[i]; i++)
        rows[verdict->id].show[i](&v);
    show_pending(&v);
    if (rows[verdict->id].tell)
        rows[verdict->id].tell(&v);
}
