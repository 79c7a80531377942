/* srun's side: when the step is over, the few lines about it, from the files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "plugin/plugin.h"

/* How long srun may be held, at most, by a file system that does not answer. */
#define WAIT_MS 2000

static struct {
    bool known, mute;
    uint32_t job, step, nodes;
} launched;

static const char *user_name(const struct pfr_choice *choice)
{
    struct passwd *user = strstr(choice->spec.dir, "%u") ? getpwuid(getuid()) : NULL;

    return user ? user->pw_name : NULL;
}

/*
 * A closed descriptor may have become one of srun's own since. Those close on exec; the
 * one that srun was given does not.
 */
static bool has_stderr(void)
{
    int flags = fcntl(STDERR_FILENO, F_GETFD);

    return flags >= 0 && !(flags & FD_CLOEXEC);
}

/* Of Slurm's log.h; a version without it prints the summary in any case. */
#define LOG_LEVEL_INFO 3
extern int slurm_get_log_level(void) __attribute__((weak));

/* srun -Q */
static bool is_quiet(void)
{
    return slurm_get_log_level && slurm_get_log_level() < LOG_LEVEL_INFO;
}

void pfr_client_begin(const struct pfr_choice *choice)
{
    const char *name = user_name(choice);
    char value[300];

    launched.mute = !has_stderr();
    if (name && (size_t)snprintf(value, sizeof(value), "%u:%s", (unsigned)getuid(), name) <
                    sizeof(value))
        setenv(PFR_USER_VARIABLE, value, 1);
}

void pfr_client_launched(spank_t sp)
{
    launched.known = spank_get_item(sp, S_JOB_ID, &launched.job) == ESPANK_SUCCESS &&
                     spank_get_item(sp, S_JOB_STEPID, &launched.step) == ESPANK_SUCCESS;
    if (spank_get_item(sp, S_JOB_NNODES, &launched.nodes) != ESPANK_SUCCESS)
        launched.nodes = 1;
}

static const char *base_of(const struct pfr_job *job, const char *variable)
{
    char prefix[16];
    size_t length = (size_t)snprintf(prefix, sizeof(prefix), "%u:", job->job);

    return variable && strncmp(variable, prefix, length) == 0 ? variable + length : NULL;
}

int pfr_choose_place(const struct pfr_choice *choice, const struct pfr_job *job,
                     const char *variable, const char *submit_dir, const char *cwd, char *path,
                     size_t size)
{
    const char *base = base_of(job, variable);

    if (!base)
        base = submit_dir && *submit_dir ? submit_dir : cwd;
    return pfr_place(job, base, choice->spec.dir, path, size);
}

static uint32_t number_or(const char *text, uint32_t otherwise)
{
    int64_t number;

    return text && pfr_parse_int(text, &number) && number <= UINT32_MAX ? (uint32_t)number
                                                                        : otherwise;
}

static int find_place(const struct pfr_choice *choice, char *path, size_t size)
{
    struct pfr_job job = {
        .job = number_or(getenv("SLURM_JOB_ID"), launched.job), /* of all parts of the job */
        .step = launched.step,
        .array_job = number_or(getenv("SLURM_ARRAY_JOB_ID"), 0),
        .array_task = number_or(getenv("SLURM_ARRAY_TASK_ID"), PFR_NO_ARRAY),
        .restarts = number_or(getenv("SLURM_RESTART_COUNT"), 0),
        .user = user_name(choice),
        .name = getenv("SLURM_JOB_NAME"),
    };
    char cwd[PATH_MAX] = "";

    if (!getcwd(cwd, sizeof(cwd)))
        cwd[0] = '\0';
    return pfr_choose_place(choice, &job, getenv(PFR_BASE_VARIABLE), getenv("SLURM_SUBMIT_DIR"),
                            cwd, path, size);
}

/* Bounded: a child that hangs on a dead file system is left behind. */
static void wait_for(pid_t child)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + WAIT_MS * INT64_C(1000000);

    while (waitpid(child, NULL, WNOHANG) == 0) {
        if (pfr_clock_ns(CLOCK_MONOTONIC) > end) {
            kill(child, SIGKILL);
            return;
        }
        poll(NULL, 0, 5);
    }
}

void pfr_client_end(const struct pfr_choice *choice)
{
    char place[PATH_MAX], path[PATH_MAX + 32], step[32], nodes[16], wait[16];
    uint32_t count = launched.nodes;
    char *args[] = { (char *)"profres", (char *)"brief",   (char *)"--quiet", (char *)"--wait",
                     wait,              (char *)"--nodes", nodes,             path,
                     choice->spec.chart ? (char *)"--chart" : NULL, NULL };
    pid_t child;

    if (!launched.known || launched.mute || !has_stderr() || is_quiet() || choice->spec.quiet ||
        find_place(choice, place, sizeof(place)) < 0 || access(choice->profres, X_OK) < 0)
        return;
    if (choice->spec.nodes && choice->spec.nodes < count)
        count = (uint32_t)choice->spec.nodes;
    pfr_step_name(launched.step, step, sizeof(step));
    snprintf(path, sizeof(path), "%s/%s", place, step);
    snprintf(nodes, sizeof(nodes), "%u", count);
    snprintf(wait, sizeof(wait), "%d", pfr_patience_files(choice->patience_ms));
    child = fork();
    if (child == 0) {
        /* lint: cloexec: the summary goes to stderr */
        if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
            execv(choice->profres, args);
        _exit(127);
    }
    if (child > 0)
        wait_for(child);
}
