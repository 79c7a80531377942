/* slurmstepd's own eye on what must not be lost, whatever becomes of the sampler. */
#ifndef PFR_PLUGIN_TOTALS_H
#define PFR_PLUGIN_TOTALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pfr_last {
    int64_t peak, kills, cpu; /* -1 = not known */
};

/*
 * Where they are, from the first task, in task_post_fork: that can be seen only
 * there. Nothing is kept open: hooks may run in children (contain_spank).
 */
void pfr_totals_find(pid_t task);

/*
 * Then gives the sampler what it needs there and may not open itself: it is the
 * user's, who may read the peaks and not begin them anew.
 */
void pfr_totals_hand(int control);

/* In the last task_exit, the last moment when they are there. False: it is not known where. */
bool pfr_totals_read(struct pfr_last *last);

#endif
