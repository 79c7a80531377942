#include "tools/profres/plot/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/base/safe.h"

/* With this many views a page is still small, and a list still read. */
#define VIEWS_MAX 16

/* One node of one step. */
struct part {
    const struct pfr_found *found;
    char *node;
    struct pfr_trace *trace;
    char name[300]; /* among others */
    double size;
    bool own_view;
};

struct parts {
    struct part *part;
    size_t count;
    bool many_jobs;
};

static void release_parts(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->part[i].trace)
            pfr_trace_release(parts->part[i].trace);
        free(parts->part[i].trace);
        free(parts->part[i].node);
    }
    free(parts->part);
}

static bool same_job(const struct pfr_found *a, const struct pfr_found *b)
{
    return strcmp(a->job, b->job) == 0 && a->restart == b->restart;
}

/* ---- which there are ---- */

static bool add_part(struct parts *parts, const struct pfr_found *found, const char *node)
{
    struct part *part = realloc(parts->part, (parts->count + 1) * sizeof(*part));

    if (!part)
        return false;
    parts->part = part;
    part += parts->count;
    *part = (struct part){ .found = found, .node = strdup(node) };
    parts->count += part->node != NULL;
    return part->node != NULL;
}

static int list_parts(struct parts *parts, const struct pfr_finds *finds, const char *only)
{
    for (size_t i = 0; i < finds->count; i++) {
        PFR_AUTO_FREE char **nodes = pfr_found_nodes(&finds->found[i]);

        for (size_t k = 0; nodes && nodes[k]; k++)
            if ((!only || strcmp(only, nodes[k]) == 0) &&
                !add_part(parts, &finds->found[i], nodes[k]))
                return -ENOMEM;
        parts->many_jobs = parts->many_jobs || !same_job(&finds->found[0], &finds->found[i]);
    }
    if (parts->count > 0)
        return 0;
    if (only)
        pfr_error("none of these steps has a profile of the node '%s'", only);
    else
        fputs("profres: there is no profile in these directories\n", stderr);
    return -ENOENT;
}

/* ---- which of them are looked at closely ---- */

static int compare_size(const void *a, const void *b)
{
    const struct part *x = *(const struct part *const *)a, *y = *(const struct part *const *)b;

    return (x->size < y->size) - (x->size > y->size);
}

/* The largest: they are what limits are about. */
static void choose_views(struct parts *parts)
{
    PFR_AUTO_FREE struct part **order = calloc(parts->count, sizeof(*order));

    for (size_t i = 0; order && i < parts->count; i++)
        order[i] = &parts->part[i];
    if (order)
        qsort(order, parts->count, sizeof(*order), compare_size);
    for (size_t i = 0; order && i < parts->count && i < VIEWS_MAX; i++)
        order[i]->own_view = true;
}

/* Before the series are read, the summaries say how large each was. */
static void weigh(struct parts *parts)
{
    if (parts->count <= VIEWS_MAX)
        return;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        PFR_AUTO_FD dir = open(part->found->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct pfr_facts facts;
        enum pfr_metric_id source;

        if (dir < 0 || pfr_facts_load(&facts, dir, part->node) <= 0)
            continue;
        source = pfr_facts_memory_source(&facts);
        part->size = source == PFR_METRIC_NONE ? 0 : (double)pfr_facts_value(&facts, source);
    }
}

static size_t buckets_for(const struct parts *parts, const struct part *part)
{
    size_t fair = 65536 / parts->count;

    if (part->own_view)
        return parts->count <= 4 ? 512 : 256;
    return fair > 256 ? 256 : fair < 48 ? 48 : fair; /* thousands have to fit into memory */
}

/* ---- reading ---- */

static void name_part(const struct parts *parts, struct part *part)
{
    const struct pfr_trace *trace = part->trace;

    if (!parts->many_jobs)
        snprintf(part->name, sizeof(part->name), "%s", trace->node);
    else if (part->found->restart > 0)
        snprintf(part->name, sizeof(part->name), "%s (restart %d) %s", trace->job,
                 part->found->restart, trace->node);
    else
        snprintf(part->name, sizeof(part->name), "%s %s", trace->job, trace->node);
}

static void complain(const struct part *part, int error)
{
    const char *dir = part->found->dir, *node = part->node;

    if (error == -EPROTO)
        pfr_error("%s/%s is of an older or later version; profres 0.1 draws schema 1,"
                  " a newer profres a later one", dir, node);
    else
        pfr_error("cannot read %s/%s: %s", dir, node,
                  error ? strerror(-error) : "there is nothing");
}

static void read_part(const struct parts *parts, struct part *part)
{
    int r;

    part->trace = calloc(1, sizeof(*part->trace));
    if (!part->trace)
        return;
    r = pfr_trace_load(part->trace, part->found->dir, part->node, buckets_for(parts, part));
    if (r <= 0) {
        complain(part, r);
        pfr_trace_release(part->trace);
        free(part->trace);
        part->trace = NULL;
        return;
    }
    if (!part->trace->job[0])
        pfr_safe_text(part->found->job, part->trace->job, sizeof(part->trace->job));
    if (!part->trace->step[0])
        pfr_safe_text(part->found->step, part->trace->step, sizeof(part->trace->step));
    if (!part->own_view)
        pfr_trace_slim(part->trace);
    name_part(parts, part);
}

/* ---- views ---- */

/* Is it laid over the first one? Nodes of a step are; the same steps of several jobs are. */
static bool belongs(const struct parts *parts, const struct part *first, const struct part *part)
{
    return part->trace && strcmp(first->found->step, part->found->step) == 0 &&
           (parts->many_jobs || same_job(first->found, part->found));
}

static int add_overlay(struct pfr_figure *figure, const struct parts *parts,
                       const struct part *first)
{
    PFR_AUTO_FREE const struct pfr_trace **traces = calloc(parts->count, sizeof(*traces));
    PFR_AUTO_FREE const char **names = calloc(parts->count, sizeof(*names));
    char group[256];
    size_t count = 0;

    if (!traces || !names)
        return -ENOMEM;
    for (size_t i = 0; i < parts->count; i++)
        if (belongs(parts, first, &parts->part[i])) {
            traces[count] = parts->part[i].trace;
            names[count++] = parts->part[i].name;
        }
    if (count < 2)
        return 0;
    if (parts->many_jobs)
        snprintf(group, sizeof(group), "step %.60s of several jobs", first->trace->step);
    else
        snprintf(group, sizeof(group), "%.120s.%.60s", first->trace->job, first->trace->step);
    return pfr_figure_add_overlay(figure, group, parts->many_jobs ? "runs" : "nodes", traces,
                                  names, count) ? 0 : -ENOMEM;
}

static bool is_first_of_its_own(const struct parts *parts, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (parts->part[i].trace && belongs(parts, &parts->part[i], &parts->part[at]))
            return false;
    return parts->part[at].trace != NULL;
}

static int add_views(struct pfr_figure *figure, const struct parts *parts)
{
    int r = 0;

    /* all of each together first: those take copies, single views take the curves themselves */
    for (size_t i = 0; i < parts->count && r == 0; i++) {
        if (!is_first_of_its_own(parts, i))
            continue;
        r = add_overlay(figure, parts, &parts->part[i]);
        for (size_t k = i; k < parts->count && r == 0 && !parts->many_jobs; k++)
            if (belongs(parts, &parts->part[i], &parts->part[k]) && parts->part[k].own_view &&
                !pfr_figure_add_trace(figure, parts->part[k].trace))
                r = -ENOMEM;
    }
    for (size_t i = 0; i < parts->count && r == 0 && parts->many_jobs; i++)
        if (parts->part[i].trace && parts->part[i].own_view &&
            !pfr_figure_add_trace(figure, parts->part[i].trace))
            r = -ENOMEM;
    return r;
}

/* The step that did the work is what was meant, most likely: a batch script only waits. */
static void choose_first(struct pfr_figure *figure, bool many_jobs)
{
    for (size_t i = 1; i < figure->count && !many_jobs; i++)
        if (figure->views[i].weight > figure->views[figure->first].weight &&
            strcmp(figure->views[i].group, figure->views[figure->first].group) != 0)
            figure->first = i;
}

int pfr_gather(struct pfr_figure *figure, const struct pfr_finds *finds, const char *node)
{
    struct parts parts = { 0 };
    int r = list_parts(&parts, finds, node);

    if (r == 0) {
        weigh(&parts);
        choose_views(&parts);
        for (size_t i = 0; i < parts.count; i++)
            read_part(&parts, &parts.part[i]);
        r = add_views(figure, &parts);
    }
    if (r == 0 && figure->count == 0)
        r = -ENOENT; /* each was complained of */
    choose_first(figure, parts.many_jobs);
    if (r == 0 && parts.count > VIEWS_MAX)
        pfr_view_note(&figure->views[figure->first], PFR_TONE_PLAIN,
                      "%d of %zu have a view of their own, those with most memory; --node "
                      "chooses another", VIEWS_MAX, parts.count);
    if (r == 0)
        snprintf(figure->title, sizeof(figure->title), "profres: %.160s",
                 figure->views[figure->first].group);
    release_parts(&parts);
    return r;
}
