/*
 * profres-sampler: one per step and node, beside the step and not in it. It is
 * started by profres run or by the plugin, is told of tasks over a socket,
 * and ends when that closes. Not meant to be typed.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/control.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "tools/sampler/confine.h"
#include "tools/sampler/leave.h"
#include "tools/sampler/loop.h"

static volatile sig_atomic_t stop;
static int control = -1;

static void on_signal(int signal)
{
    (void)signal;
    stop = 1;
}

/* Whoever started us decides what its user should read. */
static void log_to_control(enum pfr_log_level level, const char *text, void *arg)
{
    (void)arg;
    if (level != PFR_LOG_INFO)
        pfr_control_send(control, "warn %s", text);
}

static void set_signals(void)
{
    static const int asked[] = { SIGTERM, SIGINT, SIGHUP };
    struct sigaction action = { .sa_handler = on_signal };
    sigset_t blocked; /* but while the loop waits: none is missed in between */

    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        sigaction(asked[i], &action, NULL);
        sigaddset(&blocked, asked[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error, not an end */
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

enum { OPT_CONTROL = 256, OPT_JOB, OPT_STEP, OPT_NODE, OPT_DIR, OPT_METRICS, OPT_INTERVAL,
       OPT_WINDOW, OPT_TOP, OPT_BUDGET, OPT_TREE, OPT_LENIENT, OPT_SLURM, OPT_UID, OPT_GID,
       OPT_GROUPS, OPT_FACT, OPT_NO_CMD, OPT_BRIEF, OPT_CHART, OPT_OPENMETRICS, OPT_HELP,
       OPT_VERSION };

static const struct option long_options[] = {
    { "control", required_argument, NULL, OPT_CONTROL },
    { "job", required_argument, NULL, OPT_JOB },
    { "step", required_argument, NULL, OPT_STEP },
    { "node", required_argument, NULL, OPT_NODE },
    { "dir", required_argument, NULL, OPT_DIR },
    { "metrics", required_argument, NULL, OPT_METRICS },
    { "interval", required_argument, NULL, OPT_INTERVAL },
    { "window", required_argument, NULL, OPT_WINDOW },
    { "top", required_argument, NULL, OPT_TOP },
    { "budget", required_argument, NULL, OPT_BUDGET },
    { "tree", required_argument, NULL, OPT_TREE },
    { "lenient", no_argument, NULL, OPT_LENIENT },
    { "slurm", no_argument, NULL, OPT_SLURM },
    { "uid", required_argument, NULL, OPT_UID },
    { "gid", required_argument, NULL, OPT_GID },
    { "groups", required_argument, NULL, OPT_GROUPS },
    { "fact", required_argument, NULL, OPT_FACT },
    { "no-cmd", no_argument, NULL, OPT_NO_CMD },
    { "brief", no_argument, NULL, OPT_BRIEF },
    { "chart", no_argument, NULL, OPT_CHART },
    { "openmetrics", required_argument, NULL, OPT_OPENMETRICS },
    { "help", no_argument, NULL, OPT_HELP },
    { "version", no_argument, NULL, OPT_VERSION },
    { 0 },
};

static int usage(FILE *out)
{
    fputs("usage: profres-sampler --control FD --tree PID --job NAME [option...]\n"
          "Started by 'profres run' and by the Slurm plugin; see profres-sampler(8).\n",
          out);
    return out == stdout ? EXIT_SUCCESS : 2;
}

/* Whose the step is; only given when we are started as root. */
static struct {
    bool given;
    uid_t uid;
    gid_t gid;
    gid_t groups[65536]; /* NGROUPS_MAX of the kernel */
    size_t count;
} user;

static bool take_groups(const char *text)
{
    for (user.count = 0; *text; text += *text == ',') {
        int64_t group;

        if (user.count == sizeof(user.groups) / sizeof(user.groups[0]) ||
            !pfr_parse_digits(&text, &group) || (*text && *text != ','))
            return false;
        user.groups[user.count++] = (gid_t)group;
    }
    return true;
}

static bool parse_number(const char *text, int64_t most, int64_t *value)
{
    return pfr_parse_int(text, value) && *value <= most;
}

static bool take_slurm_option(int option, struct pfr_options *options)
{
    int64_t number = 0;
    bool good = true;

    switch (option) {
    case OPT_LENIENT:
        options->lenient = true;
        break;
    case OPT_SLURM:
        options->slurm = true;
        break;
    case OPT_NO_CMD:
        options->no_cmd = true;
        break;
    case OPT_CHART:
        options->chart = true; /* fall through */
    case OPT_BRIEF:
        options->brief = true;
        break;
    case OPT_OPENMETRICS:
        options->openmetrics = optarg;
        break;
    case OPT_UID:
        good = user.given = parse_number(optarg, UINT32_MAX, &number);
        user.uid = (uid_t)number;
        break;
    case OPT_GID:
        good = parse_number(optarg, UINT32_MAX, &number);
        user.gid = (gid_t)number;
        break;
    case OPT_GROUPS:
        good = take_groups(optarg);
        break;
    case OPT_FACT:
        good = options->fact_count < PFR_FACTS_MAX;
        if (good)
            options->facts[options->fact_count++] = optarg;
        break;
    default:
        good = false;
    }
    return good;
}

static bool take_option(int option, struct pfr_options *options)
{
    int64_t number = 0;
    bool good = true;

    switch (option) {
    case OPT_CONTROL:
        good = parse_number(optarg, 1 << 20, &number);
        control = (int)number;
        break;
    case OPT_JOB:
        options->job = optarg;
        break;
    case OPT_STEP:
        options->step = optarg;
        break;
    case OPT_NODE:
        options->node = optarg;
        break;
    case OPT_DIR:
        options->dir = optarg;
        break;
    case OPT_METRICS:
        options->metrics = optarg;
        break;
    case OPT_INTERVAL:
        good = pfr_parse_duration(optarg, &options->interval);
        break;
    case OPT_WINDOW:
        good = pfr_parse_duration(optarg, &options->window);
        break;
    case OPT_TOP:
        good = parse_number(optarg, 1024, &number);
        options->top = (uint32_t)number;
        break;
    case OPT_BUDGET:
        good = parse_number(optarg, 100, &number);
        options->budget = (uint32_t)number;
        break;
    case OPT_TREE:
        good = parse_number(optarg, INT32_MAX, &number);
        options->tree = (pid_t)number;
        break;
    default:
        return take_slurm_option(option, options);
    }
    return good;
}

/* Out of the step, the user's, and confined: before anything is read or written. */
static int settle(const struct pfr_options *options)
{
    struct pfr_env env;
    int r = 0;

    pfr_env_init(&env, options->root);
    if (options->slurm)
        r = pfr_leave_step(&env);
    pfr_confine_early(&env);
    if (r == 0 && user.given)
        r = pfr_become_user(user.uid, user.gid, user.groups, user.count);
    pfr_confine();
    return r;
}

int main(int argc, char **argv)
{
    struct pfr_options options = { .root = "", .job = "run", .step = "0", .node = "localhost",
                                   .interval = PFR_NS_PER_S, .window = 10 * PFR_NS_PER_S,
                                   .top = 16, .watched = true };
    static struct pfr_session session;
    char error[512];
    int option;

    umask(PFR_PRIVATE_MASK);
    alarm(0); /* the plugin's, for what is no sampler */
    while ((option = getopt_long(argc, argv, "+", long_options, NULL)) >= 0) {
        if (option == OPT_HELP)
            return usage(stdout);
        if (option == OPT_VERSION)
            return puts("profres-sampler " PACKAGE_VERSION) < 0;
        if (!take_option(option, &options))
            return usage(stderr);
    }
    if (control < 0 || (options.tree == 0 && !options.slurm))
        return usage(stderr);
    fcntl(control, F_SETFD, FD_CLOEXEC);
    set_signals();
    pfr_log_set(log_to_control, NULL);
    if ((option = settle(&options)) < 0) {
        pfr_control_send(control, "refuse the sampler cannot leave the step or become its user: %s",
                         strerror(-option));
        return EXIT_FAILURE;
    }
    if (pfr_session_init(&session, &options, error, sizeof(error)) < 0)
        pfr_control_send(control, "refuse %s", error);
    else
        pfr_loop_run(&session, control, &stop);
    pfr_session_release(&session);
    return EXIT_SUCCESS;
}
