/* A job put together for the report: its steps, their ends, what to say of it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/judge/exact.h"
#include "tools/profres/report.h"

/* As long as this, and beginning alike: the directory of the job. */
static size_t parent_length(const char *dir)
{
    const char *slash = strrchr(dir, '/');

    return slash ? (size_t)(slash - dir) : 0;
}

/* The directory of a step, among those that were found: a name in a file is no path. */
static const struct pfr_found *find_step(const struct pfr_finds *finds,
                                         const struct pfr_found *first, const char *step)
{
    size_t length = parent_length(first->dir);

    for (size_t i = 0; i < finds->count; i++) {
        const struct pfr_found *found = &finds->found[i];

        if (strcmp(found->step, step) == 0 && strcmp(found->job, first->job) == 0 &&
            parent_length(found->dir) == length && strncmp(found->dir, first->dir, length) == 0)
            return found;
    }
    return strcmp(first->step, step) == 0 ? first : NULL;
}

/* Whose end tells most: where a task failed first, else where it goes on, else the largest. */
static const char *telling_node(const struct pfr_report_step *step)
{
    for (size_t i = 0; i < step->node_count; i++)
        if (pfr_known(step->facts.failed_at) &&
            step->nodes[i].failed_at == step->facts.failed_at)
            return step->nodes[i].node;
    for (size_t i = 0; i < step->node_count; i++)
        if (step->nodes[i].progress == step->facts.progress &&
            step->nodes[i].progress != PFR_PROGRESS_COMPLETE)
            return step->nodes[i].node;
    return step->facts.node;
}

/* The end of the telling node is not that of the step while another node moves. */
static void look_elsewhere(struct pfr_report_step *step, int dir)
{
    struct pfr_last other;

    if (pfr_verdict_still(&step->last) < step->last.stall)
        return;
    for (size_t i = 0; i < step->node_count && pfr_known(step->last.still_since); i++) {
        if (step->nodes[i].progress == PFR_PROGRESS_COMPLETE ||
            strcmp(step->nodes[i].node, step->last.node) == 0 ||
            pfr_last_load(&other, dir, step->nodes[i].node) <= 0)
            continue;
        if (!pfr_known(other.still_since) || other.still_since > step->last.still_since)
            step->last.still_since = other.still_since;
    }
    step->last.everywhere = pfr_known(step->last.still_since);
}

static void load_last(struct pfr_report *report, struct pfr_report_step *step)
{
    PFR_AUTO_FD dir = -1;

    if (!step->found || report->no_last)
        return;
    dir = open(step->found->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    step->has_last = dir >= 0 && pfr_last_load(&step->last, dir, telling_node(step)) > 0;
    if (!step->has_last)
        return;
    if (report->stall > 0)
        step->last.stall = report->stall;
    if (step->facts.progress != PFR_PROGRESS_COMPLETE)
        look_elsewhere(step, dir);
}

static bool works(const struct pfr_facts *step, int64_t now)
{
    return step->progress == PFR_PROGRESS_LIVE && !pfr_facts_is_dead(step, now) &&
           !pfr_facts_is_script(step);
}

/* A script that waits for the steps it started does what it should, profiled or not. */
static void excuse_scripts(struct pfr_report *report, struct pfr_report_job *job)
{
    bool working = false;

    for (size_t i = 0; i < job->step_count; i++)
        working = working || works(&job->steps[i].facts, report->now);
    for (size_t i = 0; i < job->step_count; i++)
        if (pfr_facts_is_script(&job->steps[i].facts) &&
            (working || job->steps[i].last.has_srun))
            job->steps[i].last.still_since = PFR_ABSENT;
}

static void judge_steps(struct pfr_report *report, struct pfr_report_job *job)
{
    for (size_t i = 0; i < job->step_count; i++) {
        struct pfr_report_step *step = &job->steps[i];

        pfr_facts_merge(&step->facts, step->nodes, step->node_count);
        pfr_sacct_complete(&report->sacct, &step->facts);
        load_last(report, step);
    }
    excuse_scripts(report, job);
    for (size_t i = 0; i < job->step_count; i++) {
        struct pfr_report_step *step = &job->steps[i];

        pfr_verdict_judge(&step->verdict, &step->facts, step->has_last ? &step->last : NULL,
                          report->now);
    }
}

/* --exact: before anything is put together. */
static void refine(struct pfr_report *report, struct pfr_facts *node,
                   const struct pfr_found *found)
{
    PFR_AUTO_FD dir = found ? open(found->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (dir < 0 || pfr_exact_load(node, dir) <= 0)
        report->inexact++;
}

/* The nodes of a step are together already, as they were found. */
static int split_steps(struct pfr_report_job *job, const struct pfr_finds *finds,
                       const struct pfr_found *found)
{
    job->steps = calloc(job->node_count, sizeof(*job->steps));
    if (!job->steps)
        return -1;
    for (size_t i = 0; i < job->node_count; i++) {
        struct pfr_report_step *step = job->steps + job->step_count;

        if (i > 0 && strcmp(job->nodes[i].step, job->nodes[i - 1].step) == 0) {
            step[-1].node_count++;
            continue;
        }
        step->nodes = &job->nodes[i];
        step->node_count = 1;
        step->found = find_step(finds, found, job->nodes[i].step);
        job->step_count++;
    }
    return 0;
}

/* A script fails because its step did; then the step is the one to look at. */
static bool tells_more(const struct pfr_report_step *a, const struct pfr_report_step *b)
{
    if (a->verdict.id != b->verdict.id)
        return a->verdict.id > b->verdict.id;
    return pfr_facts_is_script(&b->facts);
}

/* The worst of the steps' is the job's, unless the whole shows more than its parts. */
static void judge_job(struct pfr_report *report, struct pfr_report_job *job)
{
    struct pfr_needs needs;

    pfr_facts_merge_job(&job->facts, job->nodes, job->node_count);
    pfr_sacct_complete(&report->sacct, &job->facts);
    for (size_t i = 0; i < job->step_count; i++)
        if (tells_more(&job->steps[i], &job->steps[job->telling]))
            job->telling = i;
    pfr_verdict_judge(&job->verdict, &job->facts,
                      job->steps[job->telling].has_last ? &job->steps[job->telling].last : NULL,
                      report->now);
    if (job->steps[job->telling].verdict.id >= job->verdict.id &&
        job->steps[job->telling].verdict.id != PFR_VERDICT_OK)
        job->verdict = job->steps[job->telling].verdict;
    pfr_needs_init(&needs);
    pfr_needs_add(&needs, &job->facts, job->verdict.id);
    pfr_advice_give(&job->advice, &needs);
}

struct pfr_report_job *pfr_report_job_new(struct pfr_report *report, const struct pfr_finds *finds,
                                          const struct pfr_found *found,
                                          const struct pfr_facts *nodes, size_t count)
{
    struct pfr_report_job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->nodes = calloc(count, sizeof(*nodes));
    if (job->nodes) {
        memcpy(job->nodes, nodes, count * sizeof(*nodes));
        job->node_count = count;
    }
    if (!job->nodes || split_steps(job, finds, found) < 0) {
        pfr_report_job_free(job);
        return NULL;
    }
    for (size_t i = 0; report->exact && i < count; i++)
        refine(report, &job->nodes[i], find_step(finds, found, job->nodes[i].step));
    judge_steps(report, job);
    judge_job(report, job);
    return job;
}

void pfr_report_job_free(struct pfr_report_job *job)
{
    if (!job)
        return;
    free(job->nodes);
    free(job->steps);
    free(job);
}
