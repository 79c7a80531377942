#include "tools/profres/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/parse.h"

extern char **environ;

/* Standard output into the pipe, everything else to nowhere. */
static int start(const char *const argv[], int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int r = posix_spawn_file_actions_init(&actions);

    if (r)
        return -r;
    if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) ||
        posix_spawn_file_actions_adddup2(&actions, out, 1))
        r = ENOMEM;
    else
        r = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* Until the end of the file or of the time; NULL when there was no end. */
static char *read_all(int fd, int wait_ms)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + (int64_t)wait_ms * 1000000;
    size_t used = 0, size = 4096;
    char *text = malloc(size);

    while (text) {
        struct pollfd pollfd = { .fd = fd, .events = POLLIN };
        int64_t left = (end - pfr_clock_ns(CLOCK_MONOTONIC)) / 1000000;
        ssize_t n;

        if (left <= 0 || poll(&pollfd, 1, (int)left) <= 0)
            break;
        if (size - used < 2048) {
            char *more = realloc(text, size *= 2);

            if (!more)
                break;
            text = more;
        }
        n = read(fd, text + used, size - used - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        used += (size_t)n;
        text[used] = '\0';
        if (n == 0)
            return text;
    }
    free(text);
    return NULL;
}

char *pfr_ask(const char *const argv[], int wait_ms)
{
    int ends[2], status = 0;
    PFR_AUTO_FD in = -1;
    char *text;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    in = ends[0];
    if (start(argv, ends[1], &pid) < 0) {
        close(ends[1]);
        return NULL;
    }
    close(ends[1]);
    text = read_all(in, wait_ms);
    if (!text)
        kill(pid, SIGKILL); /* ours, and not waited for yet: the pid is still its own */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (text && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        free(text);
        return NULL;
    }
    return text;
}

/* The value of " NAME=" up to the next blank or line; WorkDir's goes to the line's end. */
static bool value_of(const char *text, const char *name, const char *stops, char *to, size_t size)
{
    const char *at = strstr(text, name);
    size_t length = at ? strcspn(at + strlen(name), stops) : 0;

    if (length == 0 || length >= size)
        return false;
    snprintf(to, size, "%.*s", (int)length, at + strlen(name));
    return true;
}

static bool ask_scontrol(const char *job, struct pfr_job_place *place)
{
    const char *argv[] = { "scontrol", "show", "job", job, NULL };
    PFR_AUTO_FREE char *text = pfr_ask(argv, PFR_ASK_MS);

    if (!text || !value_of(text, "WorkDir=", "\n", place->work_dir, sizeof(place->work_dir)))
        return false;
    value_of(text, "ArrayJobId=", " \n", place->array_job, sizeof(place->array_job));
    value_of(text, "ArrayTaskId=", " \n", place->array_index, sizeof(place->array_index));
    return true;
}

/* "4711_3|/home/u/runs" */
static bool ask_sacct(const char *job, struct pfr_job_place *place)
{
    const char *argv[] = { "sacct", "-nPX", "-j", job, "-o", "JobID,WorkDir", NULL };
    PFR_AUTO_FREE char *text = pfr_ask(argv, PFR_ASK_MS);
    char id[64];

    if (!text || !value_of(text, "|", "\n", place->work_dir, sizeof(place->work_dir)))
        return false;
    if (value_of(text, "", "|\n", id, sizeof(id)) && strchr(id, '_')) {
        snprintf(place->array_job, sizeof(place->array_job), "%.*s", (int)strcspn(id, "_"), id);
        snprintf(place->array_index, sizeof(place->array_index), "%s", strchr(id, '_') + 1);
    }
    return true;
}

bool pfr_ask_job_place(const char *job, struct pfr_job_place *place)
{
    memset(place, 0, sizeof(*place));
    return ask_scontrol(job, place) || (memset(place, 0, sizeof(*place)), ask_sacct(job, place));
}

/* [DAYS-][[HOURS:]MINUTES:]SECONDS to nanoseconds; -1 for UNLIMITED, INVALID and the like. */
static int64_t time_of(const char *text)
{
    int64_t days = 0, seconds = 0, part;

    if (strchr(text, '-') && (!pfr_parse_digits(&text, &days) || *text++ != '-'))
        return -1;
    for (int i = 0; i < 3; i++) {
        if (!pfr_parse_digits(&text, &part) || part > 1000000 || days > 100000)
            return -1;
        seconds = 60 * seconds + part;
        if (*text != ':')
            break;
        text++;
    }
    return *text ? -1 : (86400 * days + seconds) * PFR_NS_PER_S;
}

bool pfr_ask_job_now(const char *job, struct pfr_job_now *now)
{
    char id[64], limit[32], left[32];
    const char *argv[] = { "squeue", "-h", "-j", id, "-o", "%T|%l|%L|%r", NULL };
    PFR_AUTO_FREE char *text = NULL;

    snprintf(id, sizeof(id), "%.*s", (int)strcspn(job, "."), job);
    *now = (struct pfr_job_now){ .limit = -1, .left = -1 };
    text = pfr_ask(argv, PFR_ASK_MS);
    if (!text || sscanf(text, "%31[^|\n]|%31[^|\n]|%31[^|\n]|%63[^\n]", now->state, limit, left,
                        now->reason) < 3)
        return false;
    now->limit = time_of(limit);
    now->left = time_of(left);
    return true;
}
