#include "plugin/totals.h"

#include "common/collect/cgroup.h"

static struct pfr_env env;
static struct pfr_cgtarget target;
static bool found;

void pfr_totals_find(pid_t task)
{
    pfr_env_init(&env, "");
    found = pfr_cgtarget_resolve(&env, task, 1, PFR_LEVEL_STEP, &target) == 0;
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
