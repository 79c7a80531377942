#include "plugin/totals.h"

#include <stdio.h>

#include "common/base/cleanup.h"
#include "common/base/control.h"
#include "common/collect/cgroup.h"

static struct pfr_env env;
static struct pfr_cgtarget target;
static bool found;

void pfr_totals_find(pid_t task)
{
    pfr_env_init(&env, "");
    found = pfr_cgtarget_resolve(&env, task, 1, PFR_LEVEL_STEP, &target) == 0;
}

void pfr_totals_hand(int control)
{
    for (int i = 0; i < pfr_cgplace_count && found; i++) {
        PFR_AUTO_FD fd = pfr_cgplace_open_peak(&target, &pfr_cgplaces[i]);
        char text[64];

        snprintf(text, sizeof(text), "file %s", pfr_cgplaces[i].file);
        if (fd >= 0)
            pfr_control_send_fd(control, fd, text);
    }
}

static int64_t total_of(const struct pfr_sample *sample, enum pfr_metric_id id)
{
    return pfr_sample_has(sample, id) ? pfr_sample_get(sample, id) : -1;
}

bool pfr_totals_read(struct pfr_last *last)
{
    static struct pfr_cgroup cgroup;
    static struct pfr_availability have;
    struct pfr_metric_set wanted = { { 0 } };
    struct pfr_sample sample = { 0 };

    if (!found)
        return false;
    pfr_metric_set_add(&wanted, PFR_CGROUP_MEM_PEAK);
    pfr_metric_set_add(&wanted, PFR_CGROUP_OOM_KILLS);
    pfr_metric_set_add(&wanted, PFR_CGROUP_CPU_SECONDS);
    pfr_availability_init(&have);
    pfr_cgroup_open(&cgroup, &env, &target, &wanted, &have);
    pfr_cgroup_collect(&cgroup, &sample);
    pfr_cgroup_release(&cgroup);
    last->peak = total_of(&sample, PFR_CGROUP_MEM_PEAK);
    last->kills = total_of(&sample, PFR_CGROUP_OOM_KILLS);
    last->cpu = total_of(&sample, PFR_CGROUP_CPU_SECONDS);
    return true;
}
