#include "tools/profres/top/model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"

/* How often steps and nodes that are new are looked for, and Slurm is asked for a job. */
#define SCAN (2 * PFR_NS_PER_S)
#define LIST (5 * PFR_NS_PER_S)
#define ASK (15 * PFR_NS_PER_S)

/* A node may show up after another one has ended already (R75). */
#define LATE (2 * PFR_NS_PER_S)

void pfr_top_init(struct pfr_top *top, const char *what)
{
    *top = (struct pfr_top){ .what = what, .scanned = PFR_ABSENT, .asked = PFR_ABSENT,
                             .listed = PFR_ABSENT, .ended_at = PFR_ABSENT,
                             .job_at = PFR_ABSENT };
}

static void forget_nodes(struct pfr_top *top)
{
    for (size_t i = 0; i < top->node_count; i++)
        pfr_top_node_free(top->nodes[i]);
    free(top->nodes);
    top->nodes = NULL;
    top->node_count = 0;
    top->listed = top->ended_at = PFR_ABSENT;
}

void pfr_top_release(struct pfr_top *top)
{
    forget_nodes(top);
    pfr_finds_release(&top->finds);
    free(top->steps);
    top->steps = NULL;
}

static bool is_due(int64_t last, int64_t every, int64_t now)
{
    return last == PFR_ABSENT || now - last >= every;
}

const struct pfr_found *pfr_top_step(const struct pfr_top *top)
{
    return top->current < top->finds.count ? &top->finds.found[top->current] : NULL;
}

/* ---- the steps ---- */

static bool all_ended(const struct pfr_top *top)
{
    for (size_t i = 0; i < top->node_count; i++)
        if (!pfr_top_node_has_ended(top->nodes[i]))
            return false;
    return top->node_count > 0;
}

/* By the files of one of its nodes: the first one that goes on, if any does. */
static struct pfr_top_step rank_step(const struct pfr_found *found, struct pfr_top_now now)
{
    PFR_AUTO_FD dir = open(found->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PFR_AUTO_FREE char **names = pfr_found_nodes(found);
    struct pfr_top_step step = { PFR_TOP_ENDED, PFR_ABSENT, false };

    for (char **name = names; dir >= 0 && name && *name; name++) {
        struct pfr_top_node *node = pfr_top_node_new(*name);
        enum pfr_top_rank rank = PFR_TOP_ENDED;

        if (!node)
            break;
        pfr_top_node_peek(node, dir, now.monotonic);
        if (!pfr_top_node_has_ended(node))
            rank = pfr_top_node_is_stale(node, now.wall, now.monotonic) ? PFR_TOP_STALE
                                                                        : PFR_TOP_RUNNING;
        step.rank = rank > step.rank ? rank : step.rank;
        step.start = pfr_known(step.start) ? step.start : node->facts.start;
        step.refused = step.refused || node->state == PFR_TOP_NEWER;
        pfr_top_node_free(node);
        if (rank == PFR_TOP_RUNNING)
            break;
    }
    return step;
}

static bool same_step(const struct pfr_found *a, const struct pfr_found *b)
{
    return strcmp(a->dir, b->dir) == 0;
}

/* What is known of it from before: one that has ended has ended for good. */
static struct pfr_top_step known_step(const struct pfr_top *top, const struct pfr_finds *old,
                                      const struct pfr_top_step *old_steps, size_t i,
                                      struct pfr_top_now now)
{
    for (size_t k = 0; k < old->count; k++)
        if (same_step(&old->found[k], &top->finds.found[i]) && old_steps[k].rank == PFR_TOP_ENDED)
            return old_steps[k];
    return rank_step(&top->finds.found[i], now);
}

/* The newest of those of which there is most to see. */
static size_t best_step(const struct pfr_top *top)
{
    size_t best = 0;

    for (size_t i = 1; i < top->finds.count; i++)
        if (top->steps[i].rank > top->steps[best].rank ||
            (top->steps[i].rank == top->steps[best].rank &&
             top->steps[i].start >= top->steps[best].start))
            best = i;
    return best;
}

static void choose(struct pfr_top *top, size_t step)
{
    const struct pfr_found *from = pfr_top_step(top), *to = &top->finds.found[step];

    if (from && strcmp(from->job, to->job) != 0) {
        top->job_settled = false;
        top->job_at = PFR_ABSENT;
    }
    if (step != top->current)
        forget_nodes(top);
    top->current = step;
}

/* The step shown has its place in the new list; false when there was none. */
static bool keep_shown(struct pfr_top *top, const struct pfr_finds *old)
{
    for (size_t i = 0; top->current < old->count && i < top->finds.count; i++)
        if (same_step(&old->found[top->current], &top->finds.found[i])) {
            top->current = i;
            return true;
        }
    forget_nodes(top);
    return false;
}

/* Again for what was named; the step shown stays, unless a newer one is there to follow. */
static int scan(struct pfr_top *top, struct pfr_top_now now)
{
    struct pfr_finds old = top->finds;
    PFR_AUTO_FREE struct pfr_top_step *old_steps = top->steps;
    size_t best;
    int r;

    top->finds = (struct pfr_finds){ .told = &top->told,
                                     .mute = top->mute || !is_due(top->asked, ASK, now.monotonic) };
    if (!top->finds.mute && old.count == 0)
        top->asked = now.monotonic;
    top->finds.mute = top->finds.mute || old.count > 0;
    r = pfr_find(&top->finds, top->what);
    if (r <= 0 && old.count > 0) { /* gone, or out of reach for a while */
        pfr_finds_release(&top->finds);
        top->finds = old;
        top->steps = old_steps;
        old_steps = NULL;
        return 1;
    }
    top->steps = top->finds.count ? calloc(top->finds.count, sizeof(*top->steps)) : NULL;
    if (r > 0 && !top->steps)
        r = -ENOMEM;
    for (size_t i = 0; r > 0 && i < top->finds.count; i++)
        top->steps[i] = known_step(top, &old, old_steps, i, now);
    if (r > 0) {
        best = best_step(top);
        if (!keep_shown(top, &old))
            top->current = best;
        else if (!top->chosen && top->steps[best].rank == PFR_TOP_RUNNING)
            choose(top, best);
    }
    pfr_finds_release(&old);
    return r;
}

void pfr_top_switch(struct pfr_top *top, int by)
{
    size_t count = top->finds.count;

    if (count < 2)
        return;
    top->chosen = true;
    choose(top, (top->current + count + (size_t)(by < 0 ? -1 : 1)) % count);
}

/* ---- the nodes of one ---- */

static struct pfr_top_node *node_named(const struct pfr_top *top, const char *name)
{
    for (size_t i = 0; i < top->node_count; i++)
        if (strcmp(top->nodes[i]->name, name) == 0)
            return top->nodes[i];
    return NULL;
}

/* Those of the directory, in their order; the ones known stay as they are. */
static void list_nodes(struct pfr_top *top, const struct pfr_found *found)
{
    PFR_AUTO_FREE char **names = pfr_found_nodes(found);
    struct pfr_top_node **nodes;
    size_t count = 0, i = 0;

    while (names && names[count])
        count++;
    if (count < top->node_count || count == 0)
        return; /* nothing that was there is forgotten */
    nodes = calloc(count, sizeof(*nodes));
    for (; nodes && i < count; i++) {
        nodes[i] = node_named(top, names[i]);
        if (!nodes[i])
            nodes[i] = pfr_top_node_new(names[i]);
        if (!nodes[i])
            break;
    }
    if (i < count) {
        free(nodes);
        return;
    }
    free(top->nodes);
    top->nodes = nodes;
    top->node_count = count;
}

static bool some_are_missing(const struct pfr_top *top)
{
    return top->node_count == 0 ||
           (int64_t)top->node_count < top->nodes[0]->facts.nodes_given;
}

static void look_at_nodes(struct pfr_top *top, struct pfr_top_now now)
{
    const struct pfr_found *found = pfr_top_step(top);
    PFR_AUTO_FD dir = open(found->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return;
    if (some_are_missing(top) || is_due(top->listed, LIST, now.monotonic)) {
        list_nodes(top, found);
        top->listed = now.monotonic;
    }
    for (size_t i = 0; i < top->node_count; i++)
        pfr_top_node_read(top->nodes[i], dir, now.monotonic);
    if (!all_ended(top))
        top->ended_at = PFR_ABSENT;
    else if (top->ended_at == PFR_ABSENT)
        top->ended_at = now.monotonic;
}

/* Once for its time limit; while the job has not begun, now and then how it stands. */
static void ask_slurm(struct pfr_top *top, struct pfr_top_now now)
{
    const struct pfr_top_node *node = top->node_count ? top->nodes[0] : NULL;
    char id[32] = "";

    if (top->mute || top->job_settled || (node && node->state == PFR_TOP_NOTHING))
        return;
    if (!node && (top->what[0] < '0' || top->what[0] > '9' ||
                  !is_due(top->job_at, ASK, now.monotonic)))
        return;
    if (node) {
        top->job_settled = true;
        if (!pfr_known(node->facts.job_id) || pfr_known(node->facts.job_end) ||
            pfr_top_node_has_ended(node))
            return;
        snprintf(id, sizeof(id), "%lld", (long long)node->facts.job_id);
    }
    pfr_ask_job_now(node ? id : top->what, &top->job);
    top->job_at = now.monotonic;
}

int pfr_top_look(struct pfr_top *top, struct pfr_top_now now)
{
    bool over = top->ended_at != PFR_ABSENT;
    int r = top->finds.count > 0;

    if (over || is_due(top->scanned, SCAN, now.monotonic)) {
        r = scan(top, now);
        top->scanned = now.monotonic;
    }
    if (r > 0)
        look_at_nodes(top, now);
    if (r >= 0 && top->looked) /* something is on the screen by now: it may take a while */
        ask_slurm(top, now);
    top->looked = true;
    return r < 0 ? r : r > 0;
}

bool pfr_top_has_ended(const struct pfr_top *top, struct pfr_top_now now)
{
    if (!all_ended(top) || top->ended_at == PFR_ABSENT)
        return false;
    for (size_t i = 0; i < top->finds.count; i++)
        if (i != top->current && top->steps[i].rank == PFR_TOP_RUNNING)
            return false;
    return !some_are_missing(top) || now.monotonic - top->ended_at >= LATE;
}
