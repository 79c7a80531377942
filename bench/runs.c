/*
 * Profiles to read: so many summaries, and a series of so many windows, made by
 * our own writers of a session on real processes. Only what differs between
 * runs is made up. The files are not synced: nobody needs them afterwards.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/rig.h"
#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/record/summary.h"

static struct pfr_rig rig;

static void fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static int make_step(const char *dir, const char *job)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/slurm-%s.profres", dir, job);
    if (mkdir(path, 0777) < 0)
        fail(path);
    strncat(path, "/0", sizeof(path) - strlen(path) - 1);
    if (mkdir(path, 0777) < 0 || (fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        fail(path);
    return fd;
}

/* As session.c writes it. */
static void write_summary(int dirfd, const struct pfr_snapshot *snapshot)
{
    PFR_AUTO_FD fd = openat(dirfd, "node.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    PFR_AUTO_JSON *object = pfr_summary_json(snapshot);
    const char *text =
        json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                   JSON_C_TO_STRING_NOSLASHESCAPE);

    if (fd < 0 || pfr_fd_write_all(fd, text, strlen(text)) < 0 ||
        pfr_fd_write_all(fd, "\n", 1) < 0)
        fail("node.json");
}

static struct pfr_snapshot snapshot_of(struct pfr_session *session)
{
    return (struct pfr_snapshot){ .info = &session->info, .run = &session->run,
                                  .state = PFR_COMPLETE,
                                  .processes_seen = session->processes.total,
                                  .wall = pfr_env_now(&session->env, CLOCK_REALTIME),
                                  .now = pfr_env_now(&session->env, CLOCK_MONOTONIC),
                                  .tasks = session->tasks, .task_count = session->task_count,
                                  .cost = session->cost };
}

static void write_summaries(const char *dir, long count)
{
    struct pfr_session *session = &rig.session;
    int64_t peak = INT64_C(1) << 30;
    char job[32], fact[64];

    for (long i = 0; i < count; i++) {
        PFR_AUTO_FD step = -1;
        struct pfr_snapshot snapshot;

        snprintf(job, sizeof(job), "%ld", 100000 + i);
        snprintf(fact, sizeof(fact), "job_id=%ld", 100000 + i);
        session->info.job = job;
        session->info.facts[0] = fact;
        session->info.facts[1] = "job_cpus=16";
        session->info.facts[2] = "step_mem_bytes=34359738368";
        session->info.fact_count = 3;
        peak += 65536; /* the kernel's peak only grows, and so does our record of it */
        pfr_run_gauge(&session->run, PFR_CGROUP_MEM_PEAK, peak, PFR_NS_PER_S, session->info.start);
        snapshot = snapshot_of(session);
        step = make_step(dir, job);
        write_summary(step, &snapshot);
    }
}

static void write_series(const char *dir, long lines)
{
    struct pfr_session *session = &rig.session;
    struct pfr_readings none = { .count = 0 };
    struct pfr_usage usage = { .num_samples = 10, .readings = &none };
    struct pfr_snapshot snapshot = snapshot_of(session);
    struct pfr_series series;
    PFR_AUTO_FD step = make_step(dir, "99");

    session->info.job = "99";
    write_summary(step, &snapshot);
    pfr_series_open(&series, &session->info, step, "node.jsonl");
    series.limit = INT64_MAX; /* as nobody would: windows would be merged long before */
    pfr_metric_set_add(&usage.present, PFR_CGROUP_MEM_CURRENT);
    pfr_metric_set_add(&usage.present, PFR_CGROUP_CPU_SECONDS);
    pfr_metric_set_add(&usage.present, PFR_CGROUP_PDCPU);
    for (long i = 0; i < lines; i++) {
        usage.from = session->info.start + i * 10 * PFR_NS_PER_S;
        usage.to = usage.from + 10 * PFR_NS_PER_S;
        usage.wall = session->info.wall_start + (usage.to - session->info.start);
        usage.step[pfr_step_index(PFR_CGROUP_MEM_CURRENT)] = (i * 7919 % 100003) << 16;
        usage.step[pfr_step_index(PFR_CGROUP_CPU_SECONDS)] = 5 * PFR_NS_PER_S;
        usage.step[pfr_step_index(PFR_CGROUP_PDCPU)] = 50000 + i % 1000;
        pfr_series_usage(&series, &usage);
    }
    pfr_series_final(&series, &snapshot);
    if (series.errors)
        fail("node.jsonl");
    pfr_series_release(&series);
}

int main(int argc, char **argv)
{
    const char *dir = NULL;
    long count = 0, lines = 0;
    pid_t pid = 0;
    int option;

    while ((option = getopt(argc, argv, "p:d:n:l:")) >= 0) {
        if (option == 'p')
            pid = (pid_t)atoi(optarg);
        else if (option == 'd')
            dir = optarg;
        else if (option == 'n')
            count = atol(optarg);
        else if (option == 'l')
            lines = atol(optarg);
    }
    if (pid < 1 || !dir || optind < argc) {
        fputs("usage: runs -p PID -d DIR [-n SUMMARIES] [-l LINES]\n", stderr);
        return 2;
    }
    pfr_rig_start(&rig, pid, dir, PFR_NS_PER_S);
    for (int i = 0; i < 60; i++)
        pfr_rig_tick(&rig);
    write_summaries(dir, count);
    if (lines)
        write_series(dir, lines);
    pfr_rig_release(&rig);
    return EXIT_SUCCESS;
}
