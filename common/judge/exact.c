#include "common/judge/exact.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/record/lines.h"
#include "common/record/scan.h"

#define BINS 4096
#define SHARES 3
#define SAMPLES_MAX 65536 /* of one window; a line is not longer */

static const int shares[SHARES] = { 50, 95, 99 };

static const enum pfr_metric_id keys[] = {
    PFR_CGROUP_MEM_CURRENT, PFR_CGROUP_MEM_NONRECLAIMABLE, PFR_CGROUP_PDCPU,
    PFR_PS_RSS_TOTAL, PFR_PS_PDCPU_TOTAL,
};

/* Where a percentile is, ever more narrowly: in [low, high], with so much time below. */
struct aim {
    int64_t low, high, width;
    int64_t below, bins[BINS];
};

struct metric {
    int64_t before; /* the time of the reading before */
    int64_t min, max, total;
    struct aim aims[SHARES];
};

struct exact {
    struct metric metrics[PFR_COUNT(keys)];
    int64_t times[SAMPLES_MAX];
    int count;
    bool first; /* the pass that finds the extremes */
    int64_t without, end; /* time of windows that have no samples; of the last window */
};

static void add(struct exact *exact, struct metric *metric, int64_t value, int64_t weight)
{
    if (exact->first) {
        metric->min = metric->total == 0 || value < metric->min ? value : metric->min;
        metric->max = metric->total == 0 || value > metric->max ? value : metric->max;
        metric->total = pfr_plus(metric->total, weight);
        return;
    }
    for (int i = 0; i < SHARES; i++) {
        struct aim *aim = &metric->aims[i];

        if (value < aim->low)
            aim->below += weight;
        else if (value <= aim->high)
            aim->bins[(value - aim->low) / aim->width] += weight;
    }
}

/* A reading stands for the time since the one before; a rate also for what it was taken over. */
static void take_values(struct pfr_scan *scan, struct exact *exact, size_t which)
{
    struct metric *metric = &exact->metrics[which];
    bool rate = pfr_metrics[keys[which]].derive == PFR_RATE;
    int64_t value;

    if (!pfr_scan_into(scan, '['))
        return;
    for (int i = 0; pfr_scan_element(scan); i++) {
        bool known = pfr_scan_number(scan, pfr_unit_quantum(pfr_metrics[keys[which]].unit),
                                     &value);

        if (i >= exact->count)
            continue;
        if (known && pfr_known(metric->before) && exact->times[i] > metric->before)
            add(exact, metric, value, exact->times[i] - metric->before);
        if (known || (rate && !pfr_known(metric->before)))
            metric->before = exact->times[i];
    }
}

static void take_times(struct pfr_scan *scan, struct exact *exact)
{
    exact->count = 0;
    if (!pfr_scan_into(scan, '['))
        return;
    while (pfr_scan_element(scan))
        if (exact->count < SAMPLES_MAX &&
            pfr_scan_number(scan, PFR_NS_PER_S, &exact->times[exact->count]))
            exact->count++;
}

static void take_samples(struct pfr_scan *scan, struct exact *exact)
{
    struct pfr_span key;

    if (!pfr_scan_into(scan, '{'))
        return;
    while (pfr_scan_member(scan, &key)) {
        size_t i = 0;

        if (pfr_span_is(key, "t")) { /* stands before the others */
            take_times(scan, exact);
            continue;
        }
        while (i < PFR_COUNT(keys) && !pfr_span_is(key, pfr_metrics[keys[i]].key))
            i++;
        if (i < PFR_COUNT(keys))
            take_values(scan, exact, i);
        else
            pfr_scan_skip(scan);
    }
}

static void take_window(struct pfr_scan *scan, struct exact *exact)
{
    int64_t from = 0, to = 0;
    struct pfr_span key;

    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "from")) {
            pfr_scan_number(scan, PFR_NS_PER_S, &from);
        } else if (pfr_span_is(key, "to")) {
            pfr_scan_number(scan, PFR_NS_PER_S, &to);
        } else if (pfr_span_is(key, "samples")) {
            take_samples(scan, exact);
            exact->end = to > exact->end ? to : exact->end;
            return;
        } else {
            pfr_scan_skip(scan);
        }
    }
    if (to > from)
        exact->without = pfr_plus(exact->without, pfr_plus(to, -from));
    exact->end = to > exact->end ? to : exact->end;
}

/* All of the file once. */
static int pass(struct exact *exact, int fd)
{
    struct pfr_lines lines;
    struct pfr_span key, type;
    const char *line;
    size_t length;
    int result;

    for (size_t i = 0; i < PFR_COUNT(keys); i++)
        exact->metrics[i].before = PFR_ABSENT;
    exact->without = exact->end = 0;
    pfr_lines_init(&lines, fd);
    while ((result = pfr_lines_next(&lines, &line, &length)) > 0) {
        struct pfr_scan scan;

        pfr_scan_init(&scan, line, length);
        if (!pfr_scan_enter(&scan, '{') || !pfr_scan_member(&scan, &key) ||
            !pfr_span_is(key, "type") || !pfr_scan_span(&scan, &type))
            continue;
        if (pfr_span_is(type, "usage"))
            take_window(&scan, exact);
        else if (pfr_span_is(type, "header") && exact->end > 0)
            result = -EPROTO; /* two runs in one file: the summary is of the second */
        if (result < 0)
            break;
    }
    pfr_lines_release(&lines);
    return result;
}

static void aim_anew(struct aim *aim, int64_t low, int64_t high)
{
    memset(aim, 0, sizeof(*aim));
    aim->low = low;
    aim->high = high;
    aim->width = (high - low) / BINS + 1;
}

/* To the bin in which the share of the time is reached; false when it is one value. */
static bool narrow(struct aim *aim, int64_t total, int share)
{
    int64_t wanted = pfr_muldiv(total, share, 100), sum = aim->below;
    int64_t bin = 0, low, high;

    if (aim->low == aim->high)
        return false;
    while (bin < BINS - 1 && sum + aim->bins[bin] < wanted)
        sum += aim->bins[bin++];
    low = aim->low + bin * aim->width;
    high = low + aim->width - 1 < aim->high ? low + aim->width - 1 : aim->high;
    aim_anew(aim, low < aim->high ? low : aim->high, high);
    return aim->low < aim->high;
}

static bool narrow_all(struct exact *exact)
{
    bool more = false;

    for (size_t i = 0; i < PFR_COUNT(keys); i++)
        for (int k = 0; k < SHARES && exact->metrics[i].total > 0; k++)
            more |= narrow(&exact->metrics[i].aims[k], exact->metrics[i].total, shares[k]);
    return more;
}

static void conclude(const struct exact *exact, struct pfr_facts *facts)
{
    for (size_t i = 0; i < PFR_COUNT(keys); i++) {
        struct pfr_stats *stats = &facts->stats[pfr_step_index(keys[i])];

        if (exact->metrics[i].total <= 0 || !pfr_known(stats->p95))
            continue;
        stats->p50 = exact->metrics[i].aims[0].low;
        stats->p95 = exact->metrics[i].aims[1].low;
        stats->p99 = exact->metrics[i].aims[2].low;
    }
}

int pfr_exact_load(struct pfr_facts *facts, int dirfd)
{
    PFR_AUTO_FREE struct exact *exact = calloc(1, sizeof(*exact));
    char name[PATH_MAX];
    bool more = true;

    if (!exact || (size_t)snprintf(name, sizeof(name), "%s.jsonl", facts->node) >= sizeof(name))
        return -ENOMEM;
    exact->first = true;
    while (more) {
        struct stat st;
        int fd = pfr_file_open_foreign(dirfd, name, &st), result;

        if (fd < 0)
            return fd == -ENOENT ? 0 : fd;
        result = pass(exact, fd);
        if (result < 0)
            return result == -EPROTO ? 0 : result;
        if (!exact->first) {
            more = narrow_all(exact);
            continue;
        }
        if (exact->without > exact->end / 100)
            return 0;
        exact->first = false;
        more = false;
        for (size_t i = 0; i < PFR_COUNT(keys); i++)
            for (int k = 0; k < SHARES; k++) {
                aim_anew(&exact->metrics[i].aims[k], exact->metrics[i].min, exact->metrics[i].max);
                more |= exact->metrics[i].min < exact->metrics[i].max;
            }
    }
    conclude(exact, facts);
    return 1;
}
