/*
 * probe_spank: a SPANK plugin that tells what each hook sees.
 *
 *   optional probe_spank.so [log=FILE] [child=stay|move] [at=HOOK] [seconds=N] [keep]
 *
 * Every hook appends lines "hook context key value" to FILE, which the job's
 * user must be able to write. With --probe[=TEXT] and child=, the first
 * task_post_fork (or the hook at=) leaves a process behind for N seconds, twice
 * forked: in slurmstepd's own cgroups, or moved to the directory above uid_* in
 * each hierarchy; with keep, it keeps slurmstepd's descriptors open.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(probe, 1)

#define HOOK(name)                                                                                 \
    int slurm_spank_##name(spank_t sp, int ac, char **av)                                          \
    {                                                                                              \
        look(sp, #name, ac, av);                                                                   \
        return 0;                                                                                  \
    }

static const char *log_path;
static int asked;
static int callbacks;
static int forked;

static const char *argument(int ac, char **av, const char *key)
{
    size_t length = strlen(key);

    for (int i = 0; i < ac; i++) {
        if (!strncmp(av[i], key, length))
            return av[i] + length;
    }
    return NULL;
}

__attribute__((format(printf, 2, 3))) static void say(const char *hook, const char *format, ...)
{
    static const char *contexts[] = {"error",  "local",      "remote",    "allocator",
                                     "slurmd", "job_script", "job_script"};
    char line[4096];
    va_list args;
    int fd;
    int length;

    if (!log_path)
        return;
    length = snprintf(line, sizeof line, "%s %s ", hook, contexts[spank_context() % 7]);
    va_start(args, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, args);
    va_end(args);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    fd = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, line, (size_t)length) < 0)
        slurm_error("probe: cannot write %s", log_path);
    close(fd);
}

/* Lines of a file that begin with a prefix, each under a key. */
static void say_lines(const char *hook, const char *key, const char *path, const char *prefix)
{
    char line[1024];
    FILE *file = fopen(path, "re");

    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, prefix, strlen(prefix)))
            say(hook, "%s %s", key, line);
    }
    fclose(file);
}

static void say_identity(const char *hook)
{
    uid_t uid[3];
    gid_t gid[3];
    char cwd[1024];

    getresuid(&uid[0], &uid[1], &uid[2]);
    getresgid(&gid[0], &gid[1], &gid[2]);
    say(hook, "uid %u/%u/%u", uid[0], uid[1], uid[2]);
    say(hook, "gid %u/%u/%u groups %d", gid[0], gid[1], gid[2], getgroups(0, NULL));
    say(hook, "cwd %s", getcwd(cwd, sizeof cwd) ? cwd : "?");
    say_lines(hook, "status", "/proc/thread-self/status", "Sig");
    say_lines(hook, "status", "/proc/thread-self/status", "Threads");
    say_lines(hook, "status", "/proc/thread-self/status", "Cpus_allowed_list");
    say_lines(hook, "oom_score_adj", "/proc/self/oom_score_adj", "");
}

static void say_job(spank_t sp, const char *hook)
{
    uint32_t job = 0, step = 0, count = 0;
    uint64_t memory = 0;
    char node[256] = "";

    spank_get_item(sp, S_JOB_ID, &job);
    spank_get_item(sp, S_JOB_STEPID, &step);
    spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &count);
    spank_get_item(sp, S_STEP_ALLOC_MEM, &memory);
    gethostname(node, sizeof node);
    say(hook, "job %u step 0x%x tasks %u memory %llu host %s pid %d asked %d callbacks %d", job,
        step, count, (unsigned long long)memory, node, (int)getpid(), asked, callbacks);
}

/* The peak of the first task's step, as long as the step has a directory. */
static void say_peak(const char *hook, const char *cgroup)
{
    static char path[1024];
    char line[512];
    char value[32] = "gone";
    FILE *file = cgroup && !*path ? fopen(cgroup, "re") : NULL;

    while (file && fgets(line, sizeof line, file)) {
        char *memory = strstr(line, ":memory:");
        char *task = strstr(line, "/task_");

        if (!memory || !task)
            continue;
        snprintf(path, sizeof path, "/sys/fs/cgroup/memory%.*s/memory.max_usage_in_bytes",
                 (int)(task - memory) - 8, memory + 8);
    }
    if (file)
        fclose(file);
    file = *path ? fopen(path, "re") : NULL;
    if (file && fgets(value, sizeof value, file))
        value[strcspn(value, "\n")] = '\0';
    if (file)
        fclose(file);
    if (*path)
        say(hook, "step_peak %s", value);
}

static void leave_child(const char *hook, int ac, char **av);

static void look(spank_t sp, const char *hook, int ac, char **av)
{
    char path[64];
    pid_t task = 0;
    int status;

    log_path = argument(ac, av, "log=");
    say_identity(hook);
    say_lines(hook, "own", "/proc/self/cgroup", "");
    if (spank_context() != S_CTX_REMOTE)
        return;
    say_job(sp, hook);
    if (!spank_get_item(sp, S_TASK_PID, &task) && task > 0) {
        snprintf(path, sizeof path, "/proc/%d/cgroup", (int)task);
        say(hook, "task_pid %d", (int)task);
        say_lines(hook, "task", path, "");
        say_peak(hook, path);
    } else {
        say_peak(hook, NULL);
    }
    if (!spank_get_item(sp, S_TASK_EXIT_STATUS, &status))
        say(hook, "task_status %d", status);
    leave_child(hook, ac, av);
}

static int move_to(const char *controllers, const char *directory)
{
    char path[2048];
    char pid[32];
    int length = snprintf(pid, sizeof pid, "%d", (int)getpid());
    int fd;
    int moved;

    snprintf(path, sizeof path, "/sys/fs/cgroup/%s%s/cgroup.procs", controllers, directory);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    moved = write(fd, pid, (size_t)length) == length ? 0 : -1;
    close(fd);
    return moved;
}

/* Out of every hierarchy whose path has a user's level, to the one above it. */
static void move_out(void)
{
    char lines[64][512];
    int count = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");

    while (file && count < 64 && fgets(lines[count], sizeof lines[count], file))
        count++;
    if (file)
        fclose(file);
    for (int i = 0; i < count; i++) {
        char *controllers = strchr(lines[i], ':');
        char *directory = controllers ? strchr(controllers + 1, ':') : NULL;
        char *user = directory ? strstr(directory, "/uid_") : NULL;

        if (!user)
            continue;
        *directory++ = '\0';
        *user = '\0';
        say("child", "move %s %s %s", controllers + 1, directory,
            move_to(controllers + 1, directory) ? "failed" : "done");
    }
}

static void be_child(int move, int keep, unsigned seconds)
{
    sigset_t none;
    int null;

    setsid();
    if (move)
        move_out();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    null = open("/dev/null", O_RDWR);
    for (int fd = 0; !keep && fd < 3; fd++)
        dup2(null, fd);
    if (!keep)
        syscall(SYS_close_range, 3U, ~0U, 0U);
    say_lines("child", "own", "/proc/self/cgroup", "");
    say_lines("child", "status", "/proc/self/status", "Cpus_allowed_list");
    say("child", "started %d", (int)getpid());
    for (unsigned i = 0; i < seconds * 20; i++)
        usleep(50000);
    say("child", "ended %d", (int)getpid());
    _exit(0);
}

static void leave_child(const char *hook, int ac, char **av)
{
    const char *child = argument(ac, av, "child=");
    const char *at = argument(ac, av, "at=");
    const char *seconds = argument(ac, av, "seconds=");
    pid_t middle;

    if (!child || !asked || forked || strcmp(hook, at ? at : "task_post_fork"))
        return;
    forked = 1;
    middle = fork();
    if (middle == 0) {
        if (fork() == 0)
            be_child(!strcmp(child, "move"), argument(ac, av, "keep") != NULL,
                     seconds ? (unsigned)atoi(seconds) : 3);
        _exit(0);
    }
    if (middle > 0)
        waitpid(middle, NULL, 0);
}

static int on_option(int val, const char *optarg, int remote)
{
    (void)val;
    asked = 1;
    callbacks++;
    say("option", "remote %d argument %s", remote, optarg ? optarg : "NULL");
    return 0;
}

int slurm_spank_init(spank_t sp, int ac, char **av)
{
    struct spank_option option = {(char *)"probe", (char *)"TEXT",
                                  (char *)"tell what the hooks of SPANK see", 2, 0, on_option};

    log_path = argument(ac, av, "log=");
    if (spank_context() != S_CTX_SLURMD)
        spank_option_register(sp, &option);
    look(sp, "init", ac, av);
    return 0;
}

int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
    look(sp, "task_exit", ac, av);
    if (asked)
        slurm_spank_log("probe: a task has ended");
    return 0;
}

HOOK(init_post_opt)
HOOK(local_user_init)
HOOK(user_init)
HOOK(task_init_privileged)
HOOK(task_init)
HOOK(task_post_fork)
HOOK(exit)
