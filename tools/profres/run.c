/*
 * profres run: the same sampler without Slurm. The command keeps its terminal,
 * its standard streams, its signals and its exit status; the sampler is a
 * separate process outside the command's cgroup.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/control.h"
#include "common/base/log.h"
#include "common/base/mark.h"
#include "common/base/parse.h"
#include "common/judge/brief.h"
#include "common/metric/select.h"
#include "common/record/openmetrics.h"
#include "tools/profres/cage.h"
#include "tools/profres/plot/small.h"
#include "tools/profres/profres.h"

/* As env(1), timeout(1) and nice(1) do. */
#define EXIT_OWN_TROUBLE 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

/* How long the command may be kept waiting by the profiler, and we at the end. */
#define READY_MS 5000
#define DONE_MS 2000
#define FINAL_MS 10000
#define GONE_MS 200

struct run {
    const char *metrics, *dir, *interval, *window, *top, *openmetrics;
    unsigned mask;
    bool quiet, chart;
    char **command;
    char name[64], dir_text[PATH_MAX], node[256], mark[2 * PATH_MAX + 512];
    struct pfr_env env;
    struct pfr_cage cage;
    bool caged;
    int control; /* -1: there is no sampler */
    pid_t sampler, child;
    int release_fd; /* closing it lets the command go */
    int failed_fd;  /* errno of a failed exec comes here */
    sigset_t signals, old_signals;
    int64_t started, ended;
    int status;
    struct rusage usage;
    bool over, refused;
    char *parts; /* of the summary, as they come */
    struct pfr_facts facts; /* of the final summary ... */
    bool final;             /* ... when it came */
};

static void print_help(FILE *out)
{
    fputs("usage: profres run [option...] [--] CMD [ARG...]\n\n"
          "Runs CMD, measures it and everything it starts, and says on stderr what it used.\n\n"
          "  -i, --interval=TIME   time between samples (default 1s; 0.1s in the first 2s)\n"
          "  -w, --window=TIME     time that one line of the series covers (default 10s)\n"
          "  -m, --metrics=KEYS    what to measure, 'cgroup_*,ps_rss', or not, '-proc_*'\n"
          "                        (default: all that costs nothing); see 'profres metrics'\n"
          "  -d, --dir=DIR         where the files go (default run-PID.profres)\n"
          "  -t, --top=N           processes per window in the series, by CPU and by memory\n"
          "                        (default 16)\n"
          "  -c, --chart           a small chart of memory and cores below the summary\n"
          "  --openmetrics=PATH    while CMD runs, keep a file for Prometheus fresh: PATH,\n"
          "                        or one in the directory PATH\n"
          "  --mode=MODE           of the files: 0600 (default) is you alone, 0640 your group\n"
          "  -q, --quiet           no summary on stderr\n"
          "  -h, --help            this text\n\n"
          "The exit status is CMD's, 128+N when signal N killed it, 127 or 126 when it\n"
          "cannot be found or run, 125 when profres was called wrongly. See profres-run(1).\n",
          out);
}

static int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int complain(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    pfr_logv(PFR_LOG_ERROR, format, ap);
    va_end(ap);
    return EXIT_OWN_TROUBLE;
}

/* ---- options ---- */

static bool check_duration(const char *what, const char *text, int64_t least)
{
    int64_t ns;

    if (!text || (pfr_parse_duration(text, &ns) && ns >= least && ns <= 86400 * PFR_NS_PER_S))
        return true;
    complain("%s '%s' is not a time from %d ms to 24 h; write 0.5, 500ms, 10s or 5m", what, text,
             (int)(least / 1000000));
    return false;
}

static bool check_options(const struct run *run)
{
    struct pfr_selection selection;
    char error[512];
    int64_t top = 0;

    if (!check_duration("interval", run->interval, 10000000) ||
        !check_duration("window", run->window, 100000000))
        return false;
    if (run->top && (!pfr_parse_int(run->top, &top) || top > 1024)) {
        complain("--top takes a number from 0 to 1024, not '%s'", run->top);
        return false;
    }
    if (pfr_selection_parse(&selection, run->metrics, error, sizeof(error)) < 0) {
        complain("%s", error);
        return false;
    }
    return true;
}

/* -1: go on; else the exit status. */
static int parse_options(struct run *run, int argc, char **argv)
{
    static const struct option options[] = {
        { "interval", required_argument, NULL, 'i' }, { "window", required_argument, NULL, 'w' },
        { "metrics", required_argument, NULL, 'm' },  { "dir", required_argument, NULL, 'd' },
        { "top", required_argument, NULL, 't' },      { "quiet", no_argument, NULL, 'q' },
        { "chart", no_argument, NULL, 'c' },          { "help", no_argument, NULL, 'h' },
        { "openmetrics", required_argument, NULL, 'O' },
        { "mode", required_argument, NULL, 'M' }, { 0 },
    };
    int option;

    run->metrics = getenv("PROFRES_METRICS");
    run->mask = PFR_PRIVATE_MASK;
    while ((option = getopt_long(argc, argv, "+i:w:m:d:t:cqh", options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS;
        }
        if (option == 'c')
            run->chart = true;
        else if (option == 'q')
            run->quiet = true;
        else if (option == '?')
            return complain("see 'profres run --help'");
        else if (option == 'M' && !pfr_parse_mode(optarg, &run->mask))
            return complain("--mode takes 0600, 0640, 0644 or 0660, not '%s'", optarg);
        else if (option == 'M')
            continue;
        else
            *(option == 'i'   ? &run->interval
              : option == 'w' ? &run->window
              : option == 'm' ? &run->metrics
              : option == 'd' ? &run->dir
              : option == 't' ? &run->top : &run->openmetrics) = optarg;
    }
    run->command = argv + optind;
    if (!*run->command)
        return complain("no command to run; 'profres run -- CMD [ARG...]'");
    return check_options(run) ? -1 : EXIT_OWN_TROUBLE;
}

/* Found before anything is started, so that a typing error leaves no files. */
static int find_command(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    int result = EXIT_NOT_FOUND;

    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? 0 : errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    for (path = path ? path : "/bin:/usr/bin"; *path;) {
        size_t length = strcspn(path, ":");

        snprintf(file, sizeof(file), "%.*s/%s", (int)length, length ? path : ".", name);
        if (access(file, X_OK) == 0)
            return 0;
        if (errno == EACCES)
            result = EXIT_NOT_EXECUTABLE;
        path += length + (path[length] == ':');
    }
    return result;
}

/* ---- the sampler ---- */

/* Beside this program while it is not installed, else where it was put. */
static void sampler_path(const struct run *run, char *path, size_t size)
{
    char link[PATH_MAX + 16], self[PATH_MAX - 32];
    ssize_t n;

    snprintf(link, sizeof(link), "%s/self/exe", run->env.proc);
    n = readlink(link, self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    if (strrchr(self, '/')) {
        *strrchr(self, '/') = '\0';
        snprintf(path, size, "%s/profres-sampler", self);
        if (access(path, X_OK) == 0)
            return;
    }
    snprintf(path, size, "%s/profres-sampler", PFR_LIBEXECDIR);
}

static void exec_sampler(const struct run *run, const char *path, int control)
{
    char control_text[16], tree[16], fixed[][24] = { "--control", "--tree", "--job", "--step",
                                                     "--node", "--dir", "--interval", "--window",
                                                     "--top", "--metrics", "--openmetrics" };
    const char *values[] = { control_text, tree, run->name, "0", run->node, run->dir,
                             run->interval, run->window, run->top, run->metrics,
                             run->openmetrics };
    char *args[2 * PFR_COUNT(values) + 2] = { (char[]){ "profres-sampler" } };
    size_t words = 1;
    /* lint: cloexec: it may be 0, 1 or 2 itself, and has to stay then */
    int null = open("/dev/null", O_RDWR);

    snprintf(control_text, sizeof(control_text), "%d", control);
    snprintf(tree, sizeof(tree), "%d", (int)getppid());
    for (size_t i = 0; i < PFR_COUNT(values); i++) {
        if (!values[i])
            continue;
        args[words++] = fixed[i];
        args[words++] = (char *)(uintptr_t)values[i];
    }
    setsid(); /* the terminal's signals are not for it */
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    sigprocmask(SIG_SETMASK, &run->old_signals, NULL);
    fcntl(control, F_SETFD, 0);
    execv(path, args);
    _exit(127);
}

static void start_sampler(struct run *run)
{
    char path[PATH_MAX];
    int fds[2];

    run->control = -1;
    sampler_path(run, path, sizeof(path));
    if (access(path, X_OK) < 0) {
        complain("cannot run %s: %s; the command runs unmeasured", path, strerror(errno));
        return;
    }
    if (pfr_control_pair(fds) < 0)
        return;
    run->sampler = fork();
    if (run->sampler == 0)
        exec_sampler(run, path, fds[1]);
    close(fds[1]);
    run->control = fds[0];
    if (run->sampler < 0) {
        complain("cannot start the sampler: %s; the command runs unmeasured", strerror(errno));
        close(run->control);
        run->control = -1;
    }
}

static void collect(struct run *run, const char *text)
{
    char *parts = NULL;

    if (asprintf(&parts, "%s%s", run->parts ? run->parts : "", text) < 0)
        return;
    free(run->parts);
    run->parts = parts;
}

/* What the sampler says. 1 it is the message waited for, 0 another, -1 it is gone. */
static int hear(struct run *run, const char *wanted, int timeout_ms)
{
    static char text[65536];
    ssize_t n = pfr_control_receive(run->control, text, sizeof(text), timeout_ms);

    if (n == -ETIMEDOUT)
        return 0;
    if (n <= 0) {
        close(run->control);
        run->control = -1;
        return -1;
    }
    if (strncmp(text, "warn ", 5) == 0)
        complain("%s", text + 5);
    if (strncmp(text, "refuse ", 7) == 0) {
        complain("%s", text + 7);
        run->refused = true;
        return 1;
    }
    if (strncmp(text, "more ", 5) == 0)
        collect(run, text + 5);
    if (strncmp(text, "final ", 6) == 0) {
        collect(run, text + 6);
        run->final = run->parts &&
                     pfr_facts_parse(&run->facts, run->parts, strlen(run->parts)) == 0;
    }
    return wanted && strncmp(text, wanted, strlen(wanted)) == 0;
}

static bool await(struct run *run, const char *wanted, int timeout_ms)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + (int64_t)timeout_ms * 1000000;

    while (run->control >= 0) {
        int64_t left = (end - pfr_clock_ns(CLOCK_MONOTONIC)) / 1000000;

        if (left <= 0 || hear(run, wanted, (int)left) > 0)
            return left > 0;
    }
    return false;
}

/* ---- the command ---- */

static void exec_command(const struct run *run, int go, int failed)
{
    char byte;
    int error;

    if (run->control >= 0)
        setenv(PFR_MARK_VARIABLE, run->mark, 1);
    sigprocmask(SIG_SETMASK, &run->old_signals, NULL);
    while (read(go, &byte, 1) < 0 && errno == EINTR)
        ;
    execvp(run->command[0], run->command);
    error = errno;
    if (write(failed, &error, sizeof(error)) < 0)
        _exit(EXIT_NOT_EXECUTABLE);
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* The command, held before its exec. */
static int fork_command(struct run *run)
{
    int go[2], failed[2];

    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
        return -errno;
    run->child = fork();
    if (run->child < 0)
        return -errno;
    if (run->child == 0) {
        close(go[1]);
        exec_command(run, go[0], failed[1]);
    }
    close(go[0]);
    close(failed[1]);
    run->release_fd = go[1];
    run->failed_fd = failed[0];
    return 0;
}

/* Into the cgroup if there is one; else orphans come to us, to stay in the tree. */
static void confine(struct run *run)
{
    if (run->caged && pfr_cage_enter(&run->cage, run->child) < 0) {
        pfr_cage_remove(&run->cage);
        run->caged = false;
    }
    if (!run->caged)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Reads errno of a failed exec; 0 when the command runs. */
static int release_command(struct run *run)
{
    int error = 0;
    ssize_t n;

    run->started = pfr_clock_ns(CLOCK_MONOTONIC);
    close(run->release_fd);
    do
        n = read(run->failed_fd, &error, sizeof(error));
    while (n < 0 && errno == EINTR);
    close(run->failed_fd);
    return n == sizeof(error) ? error : 0;
}

static void reap(struct run *run)
{
    struct rusage usage;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (pid != run->child)
            continue; /* the sampler, or an orphan that came to us */
        run->ended = pfr_clock_ns(CLOCK_MONOTONIC);
        run->status = status;
        run->usage = usage;
        run->over = true;
    }
}

/*
 * A signal from the terminal has reached the command already, as one of its
 * process group; one sent to us by kill(2) is passed on.
 */
static void on_signal(struct run *run, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo == SIGCHLD)
        reap(run);
    else if (info->ssi_code <= 0)
        kill(run->child, (int)info->ssi_signo);
}

static void supervise(struct run *run, int signals)
{
    while (!run->over) {
        struct pollfd fds[2] = { { .fd = signals, .events = POLLIN },
                                 { .fd = run->control, .events = POLLIN } };
        struct signalfd_siginfo info;

        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[0].revents && read(signals, &info, sizeof(info)) == sizeof(info))
            on_signal(run, &info);
        if (fds[1].revents && run->control >= 0 && hear(run, NULL, -1) < 0)
            complain("the sampler has ended; the command runs on, what was measured is kept");
    }
}

/* ---- the end ---- */

static int64_t timeval_ns(struct timeval time)
{
    return time.tv_sec * PFR_NS_PER_S + time.tv_usec * 1000;
}

static void conclude(struct run *run)
{
    int64_t cpu = timeval_ns(run->usage.ru_utime) + timeval_ns(run->usage.ru_stime);

    if (run->control >= 0) {
        pfr_control_send(run->control, "exit %d %d %lld %lld %lld %lld", (int)run->child,
                         run->status, (long long)run->started, (long long)run->ended,
                         (long long)cpu, (long long)run->usage.ru_maxrss * 1024);
        await(run, "done ", DONE_MS);
    }
    if (run->control >= 0) {
        shutdown(run->control, SHUT_WR);
        await(run, "final ", FINAL_MS);
        await(run, NULL, GONE_MS);
    }
    waitpid(run->sampler, NULL, WNOHANG);
}

/* A sampler that ended in order has taken these with it. */
static void clean_up(const struct run *run)
{
    char name[2 * PATH_MAX];
    struct stat st;

    if (run->final)
        return;
    unlink(run->mark);
    if (!run->openmetrics)
        return;
    snprintf(name, sizeof(name), "%s", run->openmetrics);
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        snprintf(name, sizeof(name), "%s/" PFR_OPENMETRICS_FILE, run->openmetrics, run->name, "0",
                 run->node);
    if (lstat(name, &st) == 0 && S_ISREG(st.st_mode))
        unlink(name);
}

/* The live summary, else the one on disk, which may be an older one (R74). */
static void report(struct run *run)
{
    char path[PATH_MAX + 300], files[PATH_MAX + 600];
    PFR_AUTO_FD dir = -1;
    bool on_disk;

    snprintf(path, sizeof(path), "%s/0/%s.json", run->dir, run->node);
    on_disk = access(path, R_OK) == 0;
    if (!run->final && on_disk) {
        *strrchr(path, '/') = '\0';
        dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        run->final = dir >= 0 && pfr_facts_load(&run->facts, dir, run->node) > 0;
    }
    snprintf(files, sizeof(files), "%s/0/%s.json and .jsonl", run->dir, run->node);
    if (run->final && !run->quiet)
        pfr_brief_print(stderr, &run->facts, on_disk ? files : NULL,
                        pfr_clock_ns(CLOCK_REALTIME));
    snprintf(path, sizeof(path), "%s/0", run->dir);
    if (run->final && !run->quiet && run->chart)
        pfr_chart_of_files(stderr, path, run->node);
    free(run->parts);
}

/* The command may go elsewhere: an absolute path. */
static void name_mark(struct run *run)
{
    char here[PATH_MAX] = "";

    if (run->dir[0] != '/' && !getcwd(here, sizeof(here)))
        here[0] = '\0';
    snprintf(run->mark, sizeof(run->mark), "%s%s%s/0/" PFR_MARK_FILE, here, *here ? "/" : "",
             run->dir, run->node);
}

static void prepare(struct run *run)
{
    snprintf(run->name, sizeof(run->name), "run-%d", (int)getpid());
    if (!run->dir) {
        snprintf(run->dir_text, sizeof(run->dir_text), "%s.profres", run->name);
        run->dir = run->dir_text;
    }
    if (gethostname(run->node, sizeof(run->node)) < 0 || !run->node[0])
        snprintf(run->node, sizeof(run->node), "localhost");
    run->node[strcspn(run->node, "./")] = '\0';
    name_mark(run);
    pfr_env_init(&run->env, "");
    run->caged = pfr_cage_make(&run->cage, &run->env, false) > 0;
}

/* Before anything is forked: what is sent to us from now on is passed on later. */
static int catch_signals(struct run *run)
{
    static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD };

    sigemptyset(&run->signals);
    for (size_t i = 0; i < PFR_COUNT(passed_on); i++)
        sigaddset(&run->signals, passed_on[i]);
    sigprocmask(SIG_BLOCK, &run->signals, &run->old_signals);
    return signalfd(-1, &run->signals, SFD_CLOEXEC);
}

static void introduce(struct run *run)
{
    if (run->control < 0)
        return;
    pfr_control_send(run->control, "umask %o", run->mask);
    pfr_control_send_command(run->control, run->command);
    pfr_control_send(run->control, "start %d 0", (int)run->child);
    pfr_control_send(run->control, "go");
    if (!await(run, "ready", READY_MS))
        complain("the sampler does not answer; the command runs unmeasured");
}

/* A key that was named cannot be measured: the command is not started at all. */
static int give_up(struct run *run)
{
    kill(run->child, SIGKILL);
    waitpid(run->child, NULL, 0);
    pfr_cage_remove(&run->cage);
    return EXIT_OWN_TROUBLE;
}

int pfr_command_run(int argc, char **argv)
{
    static struct run run = { .control = -1 };
    int signals, r = parse_options(&run, argc, argv);

    if (r >= 0)
        return r;
    if ((r = find_command(run.command[0])) != 0) {
        complain("%s: %s", run.command[0], r == EXIT_NOT_FOUND ? "command not found"
                                                               : "cannot be executed");
        return r;
    }
    signals = catch_signals(&run);
    prepare(&run);
    start_sampler(&run);
    if ((r = fork_command(&run)) < 0)
        return complain("cannot start the command: %s", strerror(-r));
    confine(&run);
    introduce(&run);
    if (run.refused)
        return give_up(&run);
    if ((r = release_command(&run)) != 0)
        complain("%s: %s", run.command[0], strerror(r));
    supervise(&run, signals);
    conclude(&run);
    clean_up(&run);
    if (pfr_cage_remove(&run.cage) < 0)
        complain("a process of the command is still ending; its cgroup profres-%d is left",
                 (int)getpid());
    report(&run);
    return WIFSIGNALED(run.status) ? 128 + WTERMSIG(run.status) : WEXITSTATUS(run.status);
}
