#include "tools/sampler/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"

/*
 * Before its exec a task has the name of whoever started it. What it is about
 * to be stands for it until it is seen again, which a short one never is.
 */
void pfr_task_meet(struct pfr_session *session, pid_t pid)
{
    uint32_t slot = pfr_process_find(&session->processes, pid);
    char *const *command = session->options.command;
    struct pfr_process *process;
    const char *base;
    char text[1024] = "";

    if (slot == PFR_SLOT_NONE)
        return;
    process = &session->processes.slots[slot];
    process->task = true;
    if (!command)
        return;
    base = strrchr(command[0], '/');
    snprintf(process->comm, sizeof(process->comm), "%s", base ? base + 1 : command[0]);
    process->provisional = true;
    if (!process->cmd)
        return;
    for (size_t n = 0; *command && n < sizeof(text); n = strlen(text), command++)
        snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "", *command);
    free(process->cmd);
    process->cmd = strdup(text);
}

void pfr_task_began(struct pfr_session *session, int64_t when)
{
    struct pfr_info *info = &session->info;
    struct pfr_task *task = &session->tasks[session->task_count - 1];

    if (when < task->started)
        task->started = when;
    if (session->lost.count)
        when = session->lost.tasks[0].started; /* others came before */
    if (session->task_count == 1 && when < info->start) {
        info->wall_start -= info->start - when;
        info->start = when;
    }
}

void pfr_task_started(struct pfr_session *session, const struct pfr_task *task)
{
    struct json_object *event = json_object_new_object();

    pfr_json_add(event, "pid", json_object_new_int64(task->pid));
    pfr_json_add(event, "rank", json_object_new_int(task->rank));
    pfr_series_event(&session->series, "task_start",
                     session->info.wall_start + task->started - session->info.start,
                     task->started, event);
}

/* What is read of a task's own cgroup, and its sum over the tasks, if that is wanted. */
static const struct { enum pfr_metric_id of, task, sum; } metered[] = {
    { PFR_CGROUP_MEM_CURRENT, PFR_TASK_MEM_CURRENT, PFR_CGROUP_TASKS_MEM_SAMPLED_PEAK },
    { PFR_CGROUP_CPU_SECONDS, PFR_TASK_CPU_SECONDS, PFR_CGROUP_TASKS_CPU_SECONDS },
    { PFR_CGROUP_MEM_PEAK, PFR_TASK_MEM_PEAK, PFR_METRIC_NONE },
    { PFR_CGROUP_OOM_KILLS, PFR_TASK_OOM_KILLS, PFR_METRIC_NONE },
};

static void judge(struct pfr_availability *have, const struct pfr_availability *task,
                  enum pfr_metric_id id, enum pfr_metric_id of)
{
    if (id == PFR_METRIC_NONE)
        return;
    if (!task)
        pfr_availability_deny(have, id, "only Slurm gives each task a cgroup");
    else if (pfr_metric_set_has(&task->available, of))
        pfr_availability_grant(have, id);
    else
        pfr_availability_deny(have, id, "of the tasks: %.100s", task->reason[of]);
}

static void judge_all(struct pfr_availability *have, const struct pfr_availability *task)
{
    for (size_t k = 0; k < PFR_COUNT(metered); k++) {
        judge(have, task, metered[k].task, metered[k].of);
        judge(have, task, metered[k].sum, metered[k].of);
    }
}

static bool same_cgroup(const struct pfr_cgroup *a, const struct pfr_cgroup *b)
{
    struct stat sa, sb;

    return a && b && a->file_count && b->file_count && fstat(a->files[0].fd, &sa) == 0 &&
           fstat(b->files[0].fd, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* The task's own cgroup below the step's, for what tells ranks apart. */
void pfr_task_open_meter(struct pfr_session *session, uint32_t i, pid_t pid)
{
    static struct pfr_availability have;
    static struct pfr_cgtarget own;
    struct pfr_metric_set wanted = { { 0 } };

    if (!session->options.slurm ||
        pfr_cgtarget_resolve(&session->env, pid, getpid(), PFR_LEVEL_OWN, &own) < 0) {
        if (i == 0)
            judge_all(&session->have, NULL);
        return;
    }
    pfr_cgtarget_narrow(&own, &session->target);
    for (size_t k = 0; k < PFR_COUNT(metered); k++)
        pfr_metric_set_add(&wanted, metered[k].of);
    pfr_availability_init(&have);
    session->meters[i] = calloc(1, sizeof(*session->meters[i]));
    if (session->meters[i])
        pfr_cgroup_open(session->meters[i], &session->env, &own, &wanted, &have);
    if (i == 0)
        judge_all(&session->have, &have);
    else if (same_cgroup(session->meters[i], session->meters[i - 1]))
        session->meters_shared = true;
}

/* Its place among the instances, made when it is first read. */
static void set_instance(struct pfr_session *session, struct pfr_task *task,
                         enum pfr_metric_id id, int64_t value)
{
    char rank[16], label[32];

    if (!task->instance) {
        snprintf(rank, sizeof(rank), "%d", task->rank);
        snprintf(label, sizeof(label), "task %d", task->rank);
        task->instance = pfr_instance_add(&session->instances, PFR_SCOPE_TASK, rank, label,
                                          task->started, true) + 1;
    }
    if (task->instance)
        pfr_instance_set(&session->instances, task->instance - 1, id, value,
                         pfr_env_now(&session->env, CLOCK_MONOTONIC));
}

/*
 * A task that has ended may have lost its cgroup: it has no memory there any
 * more, and its CPU time is what it was. Of one that lives and cannot be read
 * nothing is known, and so not of the sum.
 */
static bool read_one(struct pfr_session *session, uint32_t i, size_t k, int64_t *value)
{
    struct pfr_task *task = &session->tasks[i];
    bool read = session->meters[i] &&
                pfr_cgroup_read(session->meters[i], metered[k].of, value) > 0;

    if (read)
        set_instance(session, task, metered[k].task, *value);
    if (metered[k].of == PFR_CGROUP_CPU_SECONDS) {
        if (read)
            task->cpu = *value;
        *value = task->cpu;
        return task->cpu >= 0;
    }
    if (!read)
        *value = 0;
    return read || task->ended;
}

static bool is_read(const struct pfr_session *session, size_t k)
{
    return metered[k].sum != PFR_METRIC_NONE &&
           (pfr_metric_set_has(&session->selection.collect, metered[k].sum) ||
            pfr_metric_set_has(&session->selection.collect, metered[k].task));
}

static int collect(void *state, struct pfr_tick *tick)
{
    struct pfr_session *session = state;

    tick->sample->stamp[PFR_FROM_TASKS] = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    for (size_t k = 0; k < PFR_COUNT(metered); k++) {
        bool all = pfr_metric_set_has(&session->selection.wanted, metered[k].sum) &&
                   !session->meters_shared;
        int64_t sum = 0, value;

        for (uint32_t i = 0; i < session->task_count && is_read(session, k); i++) {
            all = read_one(session, i, k, &value) && all;
            sum += all ? value : 0;
        }
        if (all)
            pfr_sample_set(tick->sample, metered[k].sum, sum);
    }
    return 1;
}

static int open_first(void **state, const struct pfr_place *place)
{
    *state = place->session;
    pfr_task_open_meter(place->session, 0, place->pid);
    return 0;
}

const struct pfr_collector pfr_task_collector = { "tasks", open_first, collect, NULL };

void pfr_task_release_meters(struct pfr_session *session)
{
    for (uint32_t i = 0; i < PFR_TASKS_MAX && session->meters; i++) {
        if (session->meters[i])
            pfr_cgroup_release(session->meters[i]);
        free(session->meters[i]);
    }
    free(session->meters);
}

void pfr_task_read_meter(struct pfr_session *session, uint32_t i)
{
    struct pfr_task *task = &session->tasks[i];
    struct pfr_sample sample = { 0 };

    if (!session->meters[i])
        return;
    pfr_cgroup_collect(session->meters[i], &sample);
    for (size_t k = 0; k < PFR_COUNT(metered); k++)
        if (pfr_sample_has(&sample, metered[k].of))
            set_instance(session, task, metered[k].task, pfr_sample_get(&sample, metered[k].of));
    if (pfr_sample_has(&sample, PFR_CGROUP_MEM_PEAK))
        task->mem_peak = pfr_sample_get(&sample, PFR_CGROUP_MEM_PEAK);
    if (pfr_sample_has(&sample, PFR_CGROUP_CPU_SECONDS))
        task->cpu = pfr_sample_get(&sample, PFR_CGROUP_CPU_SECONDS);
    if (pfr_sample_has(&sample, PFR_CGROUP_OOM_KILLS))
        task->oom_kills = pfr_sample_get(&sample, PFR_CGROUP_OOM_KILLS);
}

void pfr_task_ended(struct pfr_session *session, const struct pfr_task *task)
{
    struct json_object *event = json_object_new_object();

    pfr_json_add(event, "pid", json_object_new_int64(task->pid));
    pfr_json_add(event, "rank", json_object_new_int(task->rank));
    if (WIFSIGNALED(task->wait_status))
        pfr_json_add(event, "signal", json_object_new_int(WTERMSIG(task->wait_status)));
    else
        pfr_json_add(event, "exit", json_object_new_int(WEXITSTATUS(task->wait_status)));
    pfr_series_event(&session->series, "task_exit", pfr_env_now(&session->env, CLOCK_REALTIME),
                     task->ended, event);
}
