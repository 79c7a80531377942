#include "tools/profres/top/node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/record/reader.h"
#include "tools/profres/top/series.h"

/* A disk that is slow to sync is not a sampler that has died. */
#define STALE_SLACK (5 * PFR_NS_PER_S)

void pfr_top_node_free(struct pfr_top_node *node)
{
    if (!node)
        return;
    pfr_tail_release(&node->tail);
    pfr_top_cmds_release(&node->cmds);
    free(node->rows);
    free(node->tasks.list);
    free(node->name);
    free(node);
}

/* ---- the summary ---- */

struct pfr_top_node *pfr_top_node_new(const char *name)
{
    struct pfr_top_node *node = calloc(1, sizeof(*node));

    if (!node)
        return NULL;
    node->name = strdup(name);
    if (!node->name) {
        free(node);
        return NULL;
    }
    pfr_facts_init(&node->facts);
    pfr_top_series_take(node, NULL, 0);
    return node;
}

/* A day is as long as anybody's, and can be added up. */
static int64_t window_of(const struct pfr_top_node *node)
{
    return node->facts.window > 0 && node->facts.window <= 86400 * PFR_NS_PER_S
               ? node->facts.window
               : 10 * PFR_NS_PER_S;
}

/* The whole of it into the node; what cannot be read leaves the one before, to grow old. */
static bool take_summary(struct pfr_top_node *node, const char *text, size_t length)
{
    struct pfr_facts facts;
    int64_t before = node->facts.written;
    int r = pfr_facts_parse(&facts, text, length);

    if (r == -EPROTO)
        node->state = PFR_TOP_NEWER;
    if (r < 0)
        return r == -EPROTO;
    node->state = PFR_TOP_KNOWN;
    node->facts = facts;
    snprintf(node->facts.node, sizeof(node->facts.node), "%s", node->name);
    pfr_top_tasks_parse(&node->tasks, text, length,
                        pfr_known(before) && pfr_known(facts.written) ? facts.written - before : 0);
    if (pfr_known(facts.elapsed))
        pfr_top_cmds_parse(&node->cmds, text, length, facts.elapsed - 2 * window_of(node));
    return true;
}

/* Opened rather than asked by stat: see pfr_tail_read(). 1 when it was another one. */
static int read_summary(struct pfr_top_node *node, int dirfd, int64_t monotonic)
{
    char name[NAME_MAX + 8];
    PFR_AUTO_FD fd = -1;
    PFR_AUTO_FREE char *text = NULL;
    struct stat status;
    ssize_t n;

    snprintf(name, sizeof(name), "%s.json", node->name);
    fd = pfr_file_open_foreign(dirfd, name, &status);
    if (fd < 0 || status.st_size > PFR_LINE_MAX)
        return 0;
    if (node->inode == status.st_ino && node->changed.tv_sec == status.st_mtim.tv_sec &&
        node->changed.tv_nsec == status.st_mtim.tv_nsec)
        return 0;
    text = malloc((size_t)status.st_size + 1);
    n = text ? read(fd, text, (size_t)status.st_size) : -1;
    if (n <= 0 || !take_summary(node, text, (size_t)n))
        return 0;
    node->watched = node->inode != 0;
    node->inode = status.st_ino;
    node->changed = status.st_mtim;
    node->seen = monotonic;
    return 1;
}

/* A sampler that was lost left a summary that is LIVE for ever. */
static bool is_lost(const struct pfr_top_node *node, int dirfd)
{
    char name[NAME_MAX + 16];

    snprintf(name, sizeof(name), "%s.lost.json", node->name);
    return !pfr_top_node_has_ended(node) && faccessat(dirfd, name, F_OK, 0) == 0;
}

int pfr_top_node_peek(struct pfr_top_node *node, int dirfd, int64_t monotonic)
{
    int news = read_summary(node, dirfd, monotonic);

    if (is_lost(node, dirfd) && pfr_facts_load(&node->facts, dirfd, node->name) > 0) {
        node->state = PFR_TOP_KNOWN;
        news = 1;
    }
    return news;
}

int pfr_top_node_read(struct pfr_top_node *node, int dirfd, int64_t monotonic)
{
    char name[NAME_MAX + 8];
    int news;

    if (pfr_top_node_has_ended(node))
        return 0;
    news = pfr_top_node_peek(node, dirfd, monotonic);
    if (node->state == PFR_TOP_NEWER)
        return news;
    snprintf(name, sizeof(name), "%s.jsonl", node->name);
    return news | (pfr_tail_read(&node->tail, dirfd, name, pfr_top_series_take, node) > 0);
}

/* ---- what follows from it ---- */

bool pfr_top_node_has_ended(const struct pfr_top_node *node)
{
    return node->state == PFR_TOP_NEWER ||
           (node->state == PFR_TOP_KNOWN && (node->facts.progress == PFR_PROGRESS_COMPLETE ||
                                             node->facts.progress == PFR_PROGRESS_LOST));
}

bool pfr_top_node_is_stale(const struct pfr_top_node *node, int64_t wall, int64_t monotonic)
{
    int64_t patience = 2 * window_of(node) + STALE_SLACK;

    if (pfr_top_node_has_ended(node) || !pfr_known(node->facts.written))
        return false;
    return pfr_facts_age(&node->facts, wall) > patience &&
           (!node->watched || monotonic - node->seen > patience);
}

bool pfr_top_node_memory_is_sum(const struct pfr_top_node *node)
{
    return !pfr_known(pfr_facts_stats(&node->facts, PFR_CGROUP_MEM_CURRENT)->last) &&
           pfr_known(pfr_facts_stats(&node->facts, PFR_PS_RSS_TOTAL)->last);
}

int64_t pfr_top_node_memory(const struct pfr_top_node *node)
{
    return pfr_facts_stats(&node->facts, pfr_top_node_memory_is_sum(node)
                                             ? PFR_PS_RSS_TOTAL
                                             : PFR_CGROUP_MEM_CURRENT)->last;
}

int64_t pfr_top_node_peak(const struct pfr_top_node *node)
{
    enum pfr_metric_id source = pfr_facts_memory_source(&node->facts);

    return source == PFR_METRIC_NONE ? PFR_ABSENT : pfr_facts_value(&node->facts, source);
}

const char *pfr_top_node_cmd(const struct pfr_top_node *node, const struct pfr_top_proc *process)
{
    return pfr_top_cmds_get(&node->cmds, process->pid, process->start_ticks, process->comm);
}

const struct pfr_past *pfr_top_node_past(const struct pfr_top_node *node, int64_t slot)
{
    const struct pfr_past *past = slot < 0 ? NULL : &node->past[slot % PFR_PAST_SLOTS];

    return past && past->slot == slot ? past : NULL;
}
