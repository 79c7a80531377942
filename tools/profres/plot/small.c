#include "tools/profres/plot/small.h"

#include <stdlib.h>

#include "common/base/cleanup.h"
#include "common/judge/chart.h"
#include "tools/profres/plot/trace.h"

/* Finer than the columns of the chart. */
#define BUCKETS 128

static const struct pfr_curve *first_of(const struct pfr_trace *trace, const char *best,
                                        const char *other)
{
    static const struct pfr_curve none;
    const struct pfr_curve *curve = pfr_trace_curve(trace, best);

    curve = curve ? curve : pfr_trace_curve(trace, other);
    return curve ? curve : &none;
}

void pfr_chart_of_files(FILE *out, const char *dir, const char *node)
{
    PFR_AUTO_FREE struct pfr_trace *trace = malloc(sizeof(*trace));
    struct pfr_chart chart; /* borrows the curves */

    if (!trace)
        return;
    if (pfr_trace_load(trace, dir, node, BUCKETS) > 0) {
        chart.memory = *first_of(trace, "cgroup_mem_current", "ps_rss_total");
        chart.cores = *first_of(trace, "cgroup_pdcpu", "ps_pdcpu_total");
        chart.charged = pfr_trace_curve(trace, "cgroup_mem_current") != NULL;
        chart.end = trace->end;
        pfr_chart_print(out, &chart, pfr_chart_needs_ascii());
    }
    pfr_trace_release(trace);
}
