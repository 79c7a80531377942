/*
 * How much each process has grown since the sample before: which processes
 * are new, which have gone, and what the kernel adds to the counters of a
 * parent when that waits for a child. Part of the window.
 */
#ifndef PFR_METRIC_GROWTH_H
#define PFR_METRIC_GROWTH_H

#include "common/metric/window.h"

/*
 * Marks the processes that are missing in this sample as gone. What was seen
 * of them becomes a debt of the nearest ancestor that is still there: their
 * counters will be in the ancestor's as soon as everybody in between has been
 * waited for.
 */
void pfr_growth_remove_departed(struct pfr_window *window, const struct pfr_sample *sample);

/*
 * The growth of each counter of one reading, less what is known of the
 * children it waited for. The process is met if it is seen for the first time.
 */
void pfr_growth_take(struct pfr_window *window, struct pfr_run *run,
                     const struct pfr_pid_reading *reading, int64_t stamp,
                     int64_t growth[static PFR_PID_END]);

#endif
