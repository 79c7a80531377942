#include "tools/sampler/oom.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"

#define PAUSE (INT64_C(500) * 1000000)

/*
 * A victim is killed at once, but has to get a core to die, and much memory to
 * give back: it usually takes less than the first, and is given up at the second.
 */
#define DYING (INT64_C(900) * 1000000)
#define UNDYING (INT64_C(20) * 1000000000)

static int open_in(const struct pfr_cgdir *dir, const char *file, int flags)
{
    char path[2 * PFR_CGPATH_SIZE];

    if (!dir->scoped)
        return -1;
    snprintf(path, sizeof(path), "%s/%s", dir->dir, file);
    return open(path, flags | O_CLOEXEC);
}

/* v1: "eventfd oom_control" written to cgroup.event_control, which all may write. */
static int watch_v1(struct pfr_oom *oom, const struct pfr_cgdir *dir)
{
    PFR_AUTO_FD event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    PFR_AUTO_FD files = open_in(dir, "memory.oom_control", O_RDONLY);
    PFR_AUTO_FD control = open_in(dir, "cgroup.event_control", O_WRONLY);
    char text[32];

    snprintf(text, sizeof(text), "%d %d", event, files);
    if (event < 0 || files < 0 || control < 0 ||
        pfr_fd_write_all(control, text, strlen(text)) < 0)
        return -1;
    oom->control_fd = pfr_take_fd(&files); /* the watch lives as long as this */
    return pfr_take_fd(&event);
}

void pfr_oom_open(struct pfr_oom *oom, const struct pfr_cgtarget *target)
{
    *oom = (struct pfr_oom){ .fd = -1, .control_fd = -1, .kills = -1 };
    oom->fd = open_in(&target->dirs[PFR_UNIFIED], "memory.events", O_RDONLY);
    oom->v2 = oom->fd >= 0;
    if (oom->fd < 0)
        oom->fd = watch_v1(oom, &target->dirs[PFR_MEMORY]);
    if (oom->v2)
        pfr_oom_rearm(oom, -PAUSE);
}

void pfr_oom_release(struct pfr_oom *oom)
{
    if (oom->fd >= 0)
        close(oom->fd);
    if (oom->control_fd >= 0)
        close(oom->control_fd);
    oom->fd = oom->control_fd = -1;
}

struct pollfd pfr_oom_poll(const struct pfr_oom *oom, int64_t now)
{
    return (struct pollfd){ .fd = now < oom->again ? -1 : oom->fd,
                            .events = oom->v2 ? POLLPRI : POLLIN };
}

/* v2 reports a change since the last reading; v1 counts in the eventfd. */
void pfr_oom_rearm(struct pfr_oom *oom, int64_t now)
{
    char text[512];

    oom->again = now + PAUSE;
    if (oom->fd >= 0 && (oom->v2 ? pread(oom->fd, text, sizeof(text), 0)
                                 : read(oom->fd, text, sizeof(uint64_t))) < 0 &&
        oom->v2)
        pfr_oom_release(oom); /* the cgroup has gone */
}

/* The most that was read of a process in this window; one that is dying has less and less. */
static int64_t most_rss(const struct pfr_session *session, uint32_t slot)
{
    const struct pfr_readings *readings = &session->window.readings;
    int64_t most = -1;

    for (uint32_t i = 0; i < readings->pid_count; i++)
        if (readings->pids[i].slot == slot && readings->pids[i].present >> PFR_PS_RSS & 1 &&
            readings->pids[i].value[PFR_PS_RSS] > most)
            most = readings->pids[i].value[PFR_PS_RSS];
    return most;
}

/* Was there before the kill was counted, and is not any more. */
static bool has_gone(const struct pfr_session *session, const struct pfr_process *process)
{
    return process->gone && process->seen + 1 >= session->oom.tick && process->start_ticks;
}

static bool any_has_gone(const struct pfr_session *session)
{
    for (uint32_t i = 0; i < session->processes.high; i++)
        if (has_gone(session, &session->processes.slots[i]))
            return true;
    return false;
}

static struct json_object *gone_json(const struct pfr_session *session)
{
    struct json_object *array = json_object_new_array();

    for (uint32_t i = 0; i < session->processes.high; i++) {
        const struct pfr_process *process = &session->processes.slots[i];
        struct json_object *row;
        int64_t rss;

        if (!has_gone(session, process))
            continue;
        row = json_object_new_object();
        rss = most_rss(session, i);
        pfr_json_add(row, "pid", json_object_new_int64(process->pid));
        pfr_json_add(row, "comm", pfr_json_text(process->comm));
        if (rss >= 0)
            pfr_json_add(row, "ps_rss", json_object_new_int64(rss));
        json_object_array_add(array, row);
    }
    return array;
}

void pfr_oom_end_window(struct pfr_session *session)
{
    if (session->oom.fresh && any_has_gone(session))
        pfr_oom_flush(session);
}

void pfr_oom_flush(struct pfr_session *session)
{
    struct json_object *event;

    if (!session->oom.fresh)
        return;
    event = json_object_new_object();
    pfr_json_add(event, "kills", json_object_new_int64(session->oom.fresh));
    pfr_json_add(event, "gone", gone_json(session));
    pfr_series_event(&session->series, "oom", pfr_env_now(&session->env, CLOCK_REALTIME),
                     pfr_env_now(&session->env, CLOCK_MONOTONIC), event);
    session->oom.fresh = 0;
}

void pfr_oom_check(struct pfr_session *session, const struct pfr_sample *sample)
{
    struct pfr_oom *oom = &session->oom;
    int64_t kills, before = oom->kills, now = pfr_sample_stamp(sample);

    if (oom->fresh && now >= oom->until &&
        (any_has_gone(session) || now >= oom->until + UNDYING))
        pfr_oom_flush(session);
    if (!pfr_sample_has(sample, PFR_CGROUP_OOM_KILLS))
        return;
    kills = oom->kills = pfr_sample_get(sample, PFR_CGROUP_OOM_KILLS);
    if (before < 0 || kills <= before)
        return;
    if (!oom->fresh) {
        oom->tick = session->procs.tick;
        oom->until = now + DYING;
    }
    oom->fresh += kills - before;
}
