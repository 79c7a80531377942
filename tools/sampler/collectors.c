#include "tools/sampler/collectors.h"

#include <string.h>
#include <sys/resource.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "tools/sampler/session.h"
#include "tools/sampler/task.h"

/* Kept files cost the kernel a page each; past this they are opened per tick. */
#define FDS_MOST 16384
#define FDS_OTHER 96

/* ---- processes ---- */

static uint32_t fds_budget(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= FDS_OTHER)
        return 0;
    return limit.rlim_cur - FDS_OTHER > FDS_MOST ? FDS_MOST : (uint32_t)limit.rlim_cur - FDS_OTHER;
}

static int procs_open(void **state, const struct pfr_place *place)
{
    struct pfr_session *session = *state = place->session;

    pfr_availability_grant(place->have, PFR_COMMAND_PROCESSES);
    return pfr_procs_open(&session->procs, place->env, &session->processes,
                          &place->selection->collect, fds_budget(), place->have);
}

static int procs_collect(void *state, struct pfr_tick *tick)
{
    struct pfr_session *session = state;
    int listed = pfr_track_list(&session->track);

    if (pfr_session_wants(session, PFR_FROM_PROCS)) {
        pfr_procs_collect(&session->procs, session->track.pids, session->track.count,
                          tick->readings);
        session->pending = session->processes.live;
    } else {
        tick->sample->empty = listed <= 0 && session->tasks_ended == session->task_count;
        session->pending = session->track.count;
    }
    return 1;
}

static void procs_release(void *state)
{
    pfr_procs_release(&((struct pfr_session *)state)->procs);
}

static const struct pfr_collector procs = { "procs", procs_open, procs_collect, procs_release };

/* ---- the step's cgroup ---- */

static int cgroup_open(void **state, const struct pfr_place *place)
{
    struct pfr_session *session = *state = place->session;

    pfr_cgroup_open(&session->cgroup, place->env, place->target, &place->selection->collect,
                    place->have);
    return 0;
}

static int cgroup_collect(void *state, struct pfr_tick *tick)
{
    struct pfr_session *session = state;

    if (pfr_cgroup_collect(&session->cgroup, tick->sample) || session->cgroup_gone)
        return 1;
    session->cgroup_gone = true;
    pfr_warning("the step's cgroup was removed while it ran; its counters end here");
    pfr_series_event(&session->series, "cgroup_gone", pfr_env_now(&session->env, CLOCK_REALTIME),
                     pfr_env_now(&session->env, CLOCK_MONOTONIC), NULL);
    return 0;
}

static void cgroup_release(void *state)
{
    pfr_cgroup_release(&((struct pfr_session *)state)->cgroup);
}

static const struct pfr_collector cgroup = { "cgroup", cgroup_open, cgroup_collect,
                                             cgroup_release };

/* ---- what wait4() said ---- */

static int wait_open(void **state, const struct pfr_place *place)
{
    *state = place->session;
    pfr_availability_grant(place->have, PFR_RUSAGE_CPU_SECONDS);
    pfr_availability_grant(place->have, PFR_RUSAGE_MAX_RSS);
    return 0;
}

static int wait_collect(void *state, struct pfr_tick *tick)
{
    const struct pfr_session *session = state;

    if (session->tasks_ended == 0)
        return 0;
    tick->sample->stamp[PFR_FROM_WAIT] = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    if (session->rusage_cpu >= 0)
        pfr_sample_set(tick->sample, PFR_RUSAGE_CPU_SECONDS, session->rusage_cpu);
    if (session->rusage_max_rss > 0)
        pfr_sample_set(tick->sample, PFR_RUSAGE_MAX_RSS, session->rusage_max_rss);
    return 1;
}

static const struct pfr_collector wait_status = { "wait", wait_open, wait_collect, NULL };

/* ---- all of them ---- */

/*
 * Processes before the cgroup: CPU used while we read belongs to the cgroup's
 * number and not yet to a process, so the unattributed rest does not go below
 * zero.
 */
const struct pfr_collector *const pfr_collectors[PFR_COLLECTOR_COUNT] = {
    [PFR_FROM_PROCS] = &procs,
    [PFR_FROM_CGROUP] = &cgroup,
    [PFR_FROM_TASKS] = &pfr_task_collector,
    [PFR_FROM_WAIT] = &wait_status,
};

static void deny_all(struct pfr_availability *have, enum pfr_collector_id from, int error)
{
    PFR_EACH_METRIC(id)
        if (pfr_metrics[id].from == from && pfr_metrics[id].derive == PFR_READ)
            pfr_availability_deny(have, id, "cannot be opened: %s", strerror(-error));
}

void pfr_collectors_open(struct pfr_session *session, pid_t pid)
{
    struct pfr_place place = { .env = &session->env, .target = &session->target,
                               .selection = &session->selection, .have = &session->have,
                               .pid = pid, .session = session };

    for (int i = 0; i < PFR_COLLECTOR_COUNT; i++) {
        struct pfr_collecting *collecting = &session->collecting[i];
        int r = session->collectors[i]->open(&collecting->state, &place);

        collecting->open = r >= 0;
        if (r < 0)
            deny_all(&session->have, (enum pfr_collector_id)i, r);
    }
}

void pfr_collectors_release(struct pfr_session *session)
{
    for (int i = 0; i < PFR_COLLECTOR_COUNT; i++) {
        struct pfr_collecting *collecting = &session->collecting[i];

        if (collecting->open && session->collectors[i]->release)
            session->collectors[i]->release(collecting->state);
        collecting->open = false;
    }
}

void pfr_collectors_read(struct pfr_session *session, struct pfr_sample *sample)
{
    struct pfr_tick tick = { &session->window.readings, sample, &session->instances };
    int64_t before = pfr_clock_ns(CLOCK_MONOTONIC);

    for (int i = 0; i < PFR_COLLECTOR_COUNT; i++) {
        struct pfr_collecting *collecting = &session->collecting[i];
        const char *name = session->collectors[i]->name;
        int r = collecting->open ? session->collectors[i]->collect(collecting->state, &tick) : 0;
        int64_t after = pfr_clock_ns(CLOCK_MONOTONIC);

        collecting->time += after - before;
        before = after;
        if (r >= 0)
            continue;
        collecting->failures++;
        if (!collecting->told)
            pfr_warning("cannot read %s: %s; going on without it", name, strerror(-r));
        collecting->told = true;
    }
}
