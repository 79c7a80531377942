#include "tools/sampler/session.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/collect/shape.h"
#include "common/record/file.h"
#include "common/record/summary.h"
#include "tools/sampler/expose.h"
#include "tools/sampler/lost.h"
#include "tools/sampler/mark.h"
#include "tools/sampler/oom.h"
#include "tools/sampler/task.h"

int pfr_session_init(struct pfr_session *session, const struct pfr_options *options, char *error,
                     size_t size)
{
    memset(session, 0, sizeof(*session));
    session->options = *options;
    session->collectors = pfr_collectors;
    session->oom.fd = session->oom.control_fd = session->marks.fd = session->exposed.dirfd = -1;
    session->dirfd = session->series.fd = session->procs.proc_fd = session->track.proc_fd = -1;
    if (pfr_selection_parse(&session->selection, options->metrics, error, size) < 0)
        return -EINVAL;
    pfr_env_init(&session->env, options->root);
    pfr_process_table_init(&session->processes);
    if (options->no_cmd)
        pfr_metric_set_remove(&session->selection.wanted, PFR_PS_CMD);
    if (options->no_cmd)
        pfr_metric_set_remove(&session->selection.collect, PFR_PS_CMD);
    session->tasks = calloc(PFR_TASKS_MAX, sizeof(*session->tasks));
    session->meters = calloc(PFR_TASKS_MAX, sizeof(*session->meters));
    if (!session->tasks || !session->meters || pfr_run_init(&session->run, options->top) < 0) {
        snprintf(error, size, "out of memory");
        return -ENOMEM;
    }
    session->run.from_zero = options->slurm; /* the step's cgroups are as new as the step */
    pfr_window_init(&session->window, &session->selection, &session->processes, options->top);
    pfr_instances_init(&session->instances, &session->selection.collect);
    session->window.instances = &session->instances;
    pfr_chart_init(&session->chart);
    pfr_budget_init(&session->budget, 1, pfr_env_now(&session->env, CLOCK_MONOTONIC), 0);
    return 0;
}

void pfr_session_release(struct pfr_session *session)
{
    pfr_marks_close(session);
    pfr_expose_remove(session);
    pfr_phases_release(&session->phases);
    pfr_series_release(&session->series);
    pfr_chart_release(&session->chart);
    pfr_oom_release(&session->oom);
    pfr_collectors_release(session);
    pfr_track_release(&session->track);
    pfr_window_release(&session->window);
    pfr_run_release(&session->run);
    pfr_process_table_release(&session->processes);
    pfr_instances_release(&session->instances);
    pfr_task_release_meters(session);
    free(session->tasks);
    free(session->lost.tasks);
    for (int i = 0; i < session->handed.count; i++)
        if (session->handed.files[i].fd >= 0)
            close(session->handed.files[i].fd);
    if (session->dirfd >= 0)
        close(session->dirfd);
}

/* ---- the summary ---- */

/* Not ru_maxrss, which outlives an exec: it may be that of who started us. */
static int64_t own_peak(const struct pfr_session *session)
{
    char path[PATH_MAX + 16], text[8192];
    const char *cursor = text;
    int64_t peak = 0;

    snprintf(path, sizeof(path), "%s/self/status", session->env.proc);
    pfr_file_read_text(AT_FDCWD, path, text, sizeof(text));
    pfr_shape_flat(text, &cursor, "VmHWM:", PFR_KB, &peak);
    return peak;
}

static void measure_self(struct pfr_session *session)
{
    struct pfr_cost *cost = &session->cost;
    const struct pfr_procs_trouble *trouble = &session->procs.trouble;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    cost->cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * PFR_NS_PER_S +
                (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
    cost->max_rss = own_peak(session);
    cost->reads = pfr_fd_reads();
    cost->series_bytes = session->series.seal.bytes;
    cost->series_span = session->series.span;
    cost->dropped_marks = session->marks.dropped;
    cost->hidden = trouble->hidden;
    cost->no_memory = trouble->no_memory;
    cost->denied = cost->malformed = 0;
    for (int i = 0; i < PFR_PROCFILES; i++) {
        cost->denied += trouble->denied[i];
        cost->malformed += trouble->malformed[i];
    }
    for (int i = 0; i < PFR_COLLECTOR_COUNT; i++)
        cost->collectors[i] = (struct pfr_collector_cost){ session->collectors[i]->name,
                                                           session->collecting[i].time,
                                                           session->collecting[i].failures };
}

bool pfr_session_wants(const struct pfr_session *session, enum pfr_collector_id from)
{
    PFR_EACH_METRIC(id)
        if (pfr_metrics[id].from == from &&
            pfr_metric_set_has(&session->selection.collect, id))
            return true;
    return false;
}

static struct pfr_snapshot take_snapshot(struct pfr_session *session)
{
    struct pfr_snapshot snapshot = {
        .info = &session->info,
        .run = &session->run,
        .state = session->state,
        .pending = session->pending,
        .processes_seen = session->processes.total - session->procs.trouble.hidden,
        .wall = pfr_env_now(&session->env, CLOCK_REALTIME),
        .now = pfr_env_now(&session->env, CLOCK_MONOTONIC),
        .tasks = session->tasks,
        .task_count = session->task_count,
        .totals = session->totals,
        .phases = &session->phases,
        .instances = &session->instances,
    };

    measure_self(session);
    snapshot.cost = session->cost;
    snapshot.cost.write_errors += session->series.errors;
    return snapshot;
}

/* Makes the summary and puts it in its file; the file may fail (R73). */
static struct json_object *write_summary(struct pfr_session *session)
{
    struct pfr_snapshot snapshot = take_snapshot(session);
    struct json_object *object = pfr_summary_json(&snapshot);
    PFR_AUTO_FREE char *text = NULL;
    int r;

    if (session->state == PFR_COMPLETE)
        pfr_expose_remove(session);
    else
        pfr_expose_write(session, object);
    if (!object || session->dirfd < 0)
        return object;
    r = asprintf(&text, "%s\n",
                 json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
                                                            JSON_C_TO_STRING_SPACED |
                                                            JSON_C_TO_STRING_NOSLASHESCAPE));
    if (r < 0)
        return object;
    r = pfr_file_replace(session->dirfd, session->summary_name, text, (size_t)r);
    if (r < 0) {
        session->cost.write_errors++;
        if (!session->summary_told)
            pfr_warning("cannot write %s: %s; the last one written stays", session->summary_name,
                        strerror(-r));
        session->summary_told = true;
    }
    return object;
}

/* ---- windows ---- */

static void offer_living(struct pfr_session *session)
{
    pfr_run_forget_living(&session->run);
    for (uint32_t i = 0; i < session->processes.high; i++)
        if (session->processes.slots[i].used && i < session->window.sum_capacity &&
            session->window.sums[i].known)
            pfr_run_offer(&session->run, &session->processes.slots[i],
                          &session->window.sums[i].run);
}

/* The newest sample is the last of a window or a phase: it has the peaks since the one before. */
static void end_span(struct pfr_session *session)
{
    struct pfr_readings *readings = &session->window.readings;

    if (readings->count)
        pfr_cgroup_take_peaks(&session->cgroup, &readings->samples[readings->count - 1]);
}

static void close_window(struct pfr_session *session)
{
    struct pfr_usage usage;
    int r;

    end_span(session);
    pfr_oom_end_window(session);
    r = pfr_window_close(&session->window, &session->run, &usage);

    if (r < 0)
        session->cost.lost_windows++;
    if (r > 0)
        pfr_series_usage(&session->series, &usage);
    pfr_marks_settle(session);
    if (r > 0 && session->options.chart)
        pfr_chart_add(&session->chart, &usage, session->info.start);
    pfr_window_reopen(&session->window, &session->run);
    offer_living(session);
}

/* The tasks' own cgroups, once a window: who watches the step wants to compare them. */
static void read_meters(struct pfr_session *session)
{
    for (uint32_t i = 0; i < session->task_count; i++)
        if (!session->tasks[i].ended)
            pfr_task_read_meter(session, i);
}

/* Windows end at fixed times; one that was missed is not made up for. */
static void end_window_if_due(struct pfr_session *session)
{
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC);

    if (now < session->window_end)
        return;
    close_window(session);
    read_meters(session);
    pfr_session_publish(session);
    while (session->window_end <= now)
        session->window_end += session->options.window;
}

/* ---- sampling ---- */

static void take_sample(struct pfr_session *session)
{
    struct pfr_readings *readings = &session->window.readings;
    struct pfr_sample *sample;

    if (pfr_readings_are_full(readings, session->processes.live))
        close_window(session);
    sample = pfr_readings_begin(readings);
    if (!sample) {
        session->procs.trouble.no_memory++;
        return;
    }
    sample->wall = pfr_env_now(&session->env, CLOCK_REALTIME);
    pfr_collectors_read(session, sample);
    pfr_oom_check(session, sample);
    session->cost.ticks++;
}

int64_t pfr_session_sample(struct pfr_session *session)
{
    const struct pfr_readings *readings = &session->window.readings;
    uint64_t before = session->cost.ticks;

    take_sample(session);
    end_span(session);
    return session->cost.ticks > before ? pfr_sample_stamp(&readings->samples[readings->count - 1])
                                        : 0;
}

void pfr_session_tick(struct pfr_session *session)
{
    if (!session->started || session->finished)
        return;
    take_sample(session);
    end_window_if_due(session);
    if (!session->files_open)
        pfr_session_publish(session); /* into a directory that was but presumed */
    if (session->state == PFR_DRAINING && !session->drain_written) {
        session->drain_written = true; /* tasks are over, something still runs (R69) */
        pfr_session_publish(session);
    }
}

/* ---- start ---- */

static int open_collectors(struct pfr_session *session, pid_t pid, char *error, size_t size)
{
    int r = pfr_cgtarget_resolve(&session->env, pid, getpid(),
                                 session->options.slurm ? PFR_LEVEL_STEP : PFR_LEVEL_OWN,
                                 &session->target);

    if (r < 0) {
        snprintf(error, size, "cannot find the cgroups of process %d: %s", (int)pid, strerror(-r));
        return r;
    }
    session->target.handed = &session->handed;
    pfr_availability_init(&session->have);
    pfr_collectors_open(session, pid);
    r = pfr_track_open(&session->track, &session->env, &session->target, session->options.tree);
    if (r < 0) {
        snprintf(error, size, "cannot read %s: %s", session->env.proc, strerror(-r));
        return r;
    }
    pfr_oom_open(&session->oom, &session->target);
    pfr_availability_derive(&session->have);
    return 0;
}

/* What was not selected was not looked for: its reason says so. */
static void mark_unselected(struct pfr_session *session)
{
    PFR_EACH_METRIC(id) {
        if (!pfr_metric_set_has(&session->selection.wanted, id) &&
            (pfr_metric_set_has(&session->have.available, id) ||
             strcmp(session->have.reason[id], "not probed") == 0))
            pfr_availability_deny(&session->have, id,
                                  pfr_metrics[id].costly ? "not selected: slows the application"
                                                         : "not selected");
    }
}

static void describe(struct pfr_session *session)
{
    struct pfr_info *info = &session->info;
    struct utsname names;

    uname(&names);
    snprintf(session->kernel, sizeof(session->kernel), "%s %s %s", names.sysname, names.release,
             names.machine);
    *info = (struct pfr_info){
        .job = session->options.job,
        .step = session->options.step,
        .node = session->options.node,
        .command = session->options.no_cmd ? NULL : session->options.command,
        .fact_count = session->options.fact_count,
        .kernel = session->kernel,
        .cgroup_mode = pfr_cgtarget_mode(&session->target),
        .process_source = pfr_track_source(&session->track, &session->target),
        .cpus = sysconf(_SC_NPROCESSORS_ONLN),
        .mem_total = session->env.mem_total,
        .interval = session->options.interval,
        .window = session->options.window,
        .top = session->options.top,
        .wall_start = pfr_env_now(&session->env, CLOCK_REALTIME),
        .start = pfr_env_now(&session->env, CLOCK_MONOTONIC),
        .selection = &session->selection,
        .have = &session->have,
    };
    memcpy(info->facts, session->options.facts, sizeof(info->facts));
    for (int i = 0; i < PFR_CONTROLLER_COUNT; i++) {
        const struct pfr_cgdir *dir = &session->target.dirs[i];

        if (dir->path[0])
            info->cgroups[info->cgroup_count++] =
                (struct pfr_info_cgroup){ pfr_controller_name((enum pfr_controller)i), dir->path,
                                          dir->reason, dir->scoped };
    }
}

/* No directory, no files: the run is measured all the same. */
static void open_files(struct pfr_session *session)
{
    char name[256];
    int r = 0;

    session->series.fd = -1;
    if (session->options.dir)
        r = session->dirfd = pfr_dir_make_in(session->options.dir, session->options.step);
    if (r < 0)
        pfr_warning("cannot make %s/%s: %s; measuring without files", session->options.dir,
                    session->options.step, strerror(-r));
    snprintf(session->summary_name, sizeof(session->summary_name), "%.200s.json",
             session->options.node);
    snprintf(name, sizeof(name), "%.200s.jsonl", session->options.node);
    r = pfr_series_open(&session->series, &session->info, session->dirfd, name);
    if (r < 0 && session->dirfd >= 0 && !session->series.told)
        pfr_warning("cannot write %s: %s; going on without the series", name, strerror(-r));
    pfr_marks_open(session);
}

/* Those that its first task may run on. */
static int64_t cores_of(pid_t pid, int64_t otherwise)
{
    cpu_set_t cores;

    return sched_getaffinity(pid, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : otherwise;
}

static int begin(struct pfr_session *session, pid_t pid, char *error, size_t size)
{
    int r = open_collectors(session, pid, error, size);

    if (r < 0)
        return r;
    if (session->options.lenient)
        memset(&session->selection.named, 0, sizeof(session->selection.named));
    r = pfr_selection_restrict(&session->selection, &session->have, error, size);
    if (r < 0)
        return r;
    mark_unselected(session);
    describe(session);
    session->series.fd = -1;
    session->series.span = session->options.window;
    session->window_end = session->info.start + session->options.window;
    pfr_budget_init(&session->budget,
                    cores_of(pid, session->info.cpus) *
                        (session->options.budget ? session->options.budget : 1),
                    session->info.start, pfr_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    session->started = true;
    return 0;
}

int pfr_session_start_task(struct pfr_session *session, pid_t pid, int rank, char *error,
                           size_t size)
{
    int64_t now;
    int r;

    if (session->finished) {
        snprintf(error, size, "the run is over");
        return -ESHUTDOWN;
    }
    if (session->task_count == PFR_TASKS_MAX) {
        snprintf(error, size, "more than %d tasks on one node", PFR_TASKS_MAX);
        return -E2BIG;
    }
    if (!session->started && (r = begin(session, pid, error, size)) < 0)
        return r;
    now = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    session->tasks[session->task_count++] =
        (struct pfr_task){ .pid = pid, .rank = rank, .started = now,
                           .mem_peak = -1, .cpu = -1, .oom_kills = -1 };
    session->state = PFR_LIVE; /* again, when all tasks known until now had ended */
    if (session->task_count > 1) /* the first one's is open */
        pfr_task_open_meter(session, session->task_count - 1, pid);
    if (session->files_open)
        pfr_task_started(session, &session->tasks[session->task_count - 1]);
    return 0;
}

void pfr_session_go(struct pfr_session *session)
{
    if (!session->started || session->finished)
        return;
    take_sample(session);
    for (; session->tasks_met < session->task_count; session->tasks_met++)
        pfr_task_meet(session, session->tasks[session->tasks_met].pid);
}

/*
 * The files are opened after the first sample, for the user's file system may
 * take its time and the tasks wait for the sample.
 */
void pfr_session_publish(struct pfr_session *session)
{
    if (!session->files_open) {
        session->files_open = true;
        open_files(session);
        for (uint32_t i = 0; i < session->task_count; i++)
            pfr_task_started(session, &session->tasks[i]);
    }
    json_object_put(write_summary(session));
}

/* ---- end ---- */

void pfr_session_end_task(struct pfr_session *session, pid_t pid, const struct pfr_task_end *end)
{
    struct pfr_task *task = NULL;

    if (session->finished)
        return; /* nothing after COMPLETE (R71) */
    for (uint32_t i = 0; i < session->task_count && !task; i++)
        if (session->tasks[i].pid == pid && !session->tasks[i].ended)
            task = &session->tasks[i];
    if (!task)
        return;
    task->wait_status = end->wait_status;
    task->ended = end->ended ? end->ended : pfr_env_now(&session->env, CLOCK_MONOTONIC);
    if (end->started)
        task->started = end->started;
    session->tasks_ended++;
    if (end->cpu < 0 || session->rusage_cpu < 0)
        session->rusage_cpu = -1; /* a sum with one missing is no sum */
    else
        session->rusage_cpu += end->cpu;
    if (end->max_rss > session->rusage_max_rss)
        session->rusage_max_rss = end->max_rss;
    pfr_session_sample(session);
    pfr_task_read_meter(session, (uint32_t)(task - session->tasks));
    pfr_task_ended(session, task);
    if (task->instance)
        pfr_instance_end(&session->instances, PFR_SCOPE_TASK, task->instance - 1, task->ended);
    if (session->options.slurm)
        pfr_phases_cut(&session->phases, task->rank, task->ended);
    if (session->tasks_ended == session->task_count)
        session->state = PFR_DRAINING;
}

struct json_object *pfr_session_conclude(struct pfr_session *session)
{
    struct pfr_snapshot snapshot;

    if (!session->started || session->finished)
        return NULL;
    /* The last task's end has just been read; without one, read now. */
    if (session->state == PFR_LIVE)
        take_sample(session);
    read_meters(session);
    if (!session->files_open)
        pfr_session_publish(session);
    pfr_phases_cut(&session->phases, PFR_ANY_RANK, pfr_env_now(&session->env, CLOCK_MONOTONIC));
    pfr_marks_close(session);
    pfr_oom_flush(session);
    close_window(session);
    pfr_lost_join(session);
    session->finished = true;
    session->state = PFR_COMPLETE;
    snapshot = take_snapshot(session);
    return pfr_summary_json(&snapshot);
}

struct json_object *pfr_session_finish(struct pfr_session *session)
{
    struct pfr_snapshot snapshot;

    json_object_put(pfr_session_conclude(session));
    if (!session->finished || session->stored)
        return NULL;
    session->stored = true;
    snapshot = take_snapshot(session);
    pfr_series_final(&session->series, &snapshot);
    return write_summary(session);
}
