/*
 * slurmstepd's side. The sampler is started before any task is forked, told of
 * tasks as they come and go, and let go at the end (talk.h).
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/control.h"
#include "common/base/log.h"
#include "common/base/mark.h"
#include "common/base/parse.h"
#include "common/collect/cgpath.h"
#include "plugin/arguments.h"
#include "plugin/launch.h"
#include "plugin/notice.h"
#include "plugin/plugin.h"
#include "plugin/talk.h"
#include "plugin/totals.h"

#define TOTALS "totals %lld %lld %lld"

static struct {
    struct pfr_talk talk;
    char trouble[PATH_MAX + 128]; /* to be told when the user can hear it */
    struct pfr_job job;
    uint32_t tasks, started, ended;
    char node[256], cwd[PATH_MAX], dir[PATH_MAX];
    struct pfr_last last;
    bool last_known;
} step = { .talk.control = -1 };

/* ---- what Slurm knows ---- */

static uint32_t item_u32(spank_t sp, spank_item_t item, uint32_t otherwise)
{
    uint32_t value;

    return spank_get_item(sp, item, &value) == ESPANK_SUCCESS ? value : otherwise;
}

static const char *variable(spank_t sp, const char *name, char *text, int size)
{
    return spank_getenv(sp, name, text, size) == ESPANK_SUCCESS ? text : NULL;
}

static int64_t variable_number(spank_t sp, const char *name, int64_t otherwise)
{
    char text[64];
    int64_t value;

    return variable(sp, name, text, sizeof(text)) && pfr_parse_int(text, &value) ? value
                                                                                : otherwise;
}

/*
 * slurmstepd's own environment has the node's name before any hook runs. The
 * job's has it only later, and inside a batch job that of the batch node.
 */
static void learn_node(void)
{
    const char *name = getenv("SLURMD_NODENAME");

    if (name)
        snprintf(step.node, sizeof(step.node), "%s", name);
    else if (gethostname(step.node, sizeof(step.node)) < 0)
        snprintf(step.node, sizeof(step.node), "node");
    step.node[sizeof(step.node) - 1] = '\0';
    step.node[strcspn(step.node, "/")] = '\0';
}

static void learn_job(spank_t sp)
{
    char name[32];

    step.job = (struct pfr_job){
        /* of all parts of a heterogeneous job, each of which has its own, too */
        .job = (uint32_t)variable_number(sp, "SLURM_JOB_ID", item_u32(sp, S_JOB_ID, 0)),
        .step = item_u32(sp, S_JOB_STEPID, 0),
        .array_job = item_u32(sp, S_JOB_ARRAY_ID, 0),
        .array_task = item_u32(sp, S_JOB_ARRAY_TASK_ID, PFR_NO_ARRAY),
        /* S_SLURM_RESTART_COUNT is always 0: the field is never set */
        .restarts = variable_number(sp, "SLURM_RESTART_COUNT", 0),
    };
    step.tasks = item_u32(sp, S_JOB_LOCAL_TASK_COUNT, 1);
    pfr_step_name(step.job.step, name, sizeof(name));
    snprintf(step.talk.step, sizeof(step.talk.step), "%u.%s", step.job.job, name);
    learn_node();
}

/* ---- hooks ---- */

/* Where slurmstepd is now decides what has to be left; that changes between hooks. */
static int find_outside(struct pfr_outside *outside)
{
    static struct pfr_cgtarget own;
    static struct pfr_env env;
    int r;

    pfr_env_init(&env, "");
    outside->count = 0;
    r = pfr_cgtarget_resolve(&env, getpid(), 1, PFR_LEVEL_OWN, &own);
    for (int i = 0; i < PFR_CONTROLLER_COUNT && r >= 0; i++) {
        r = pfr_cgdir_outside(&own.dirs[i], i == PFR_UNIFIED, outside->path[outside->count],
                              sizeof(outside->path[0]));
        outside->count += r > 0;
    }
    return r < 0 ? r : 0;
}

/* The sampler's pid, or -errno. */
static pid_t launch(const struct pfr_choice *choice, struct pfr_arguments *arguments, int control)
{
    static struct pfr_outside outside;
    int r = find_outside(&outside);

    if (r == 0)
        r = pfr_launch(choice->sampler, arguments->list, control, &outside);
    if (r < 0)
        snprintf(step.trouble, sizeof(step.trouble),
                 "the sampler cannot be put outside step %s: %s", step.talk.step, strerror(-r));
    return r;
}

static bool is_of_interest(spank_t sp, const struct pfr_choice *choice)
{
    uint32_t node = item_u32(sp, S_JOB_NODEID, 0);

    return choice->wanted && step.job.step != PFR_STEP_EXTERN &&
           (choice->spec.nodes == 0 || node < choice->spec.nodes);
}

/* Nobody looks for the files of a batch step, nor of a quiet one. */
static int patience_of(const struct pfr_choice *choice)
{
    bool files = step.job.step != PFR_STEP_BATCH && !choice->spec.quiet;

    return choice->patience_ms - (files ? pfr_patience_files(choice->patience_ms) : 0);
}

/*
 * Root executes it: what others may write, or put another in the place of, is
 * not executed. A step of one who is not root runs what it likes.
 */
static bool is_trustworthy(const char *path)
{
    char dir[PATH_MAX];
    struct stat file, place;

    snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path + 1), path);
    if (stat(path, &file) < 0 || stat(dir, &place) < 0 || access(path, X_OK) < 0)
        snprintf(step.trouble, sizeof(step.trouble), "cannot run %s: %s", path, strerror(errno));
    else if (getuid() == 0 && (file.st_uid != 0 || place.st_uid != 0 ||
                               ((file.st_mode | place.st_mode) & (S_IWGRP | S_IWOTH))))
        snprintf(step.trouble, sizeof(step.trouble),
                 "%s is not run as root: it or its directory is not root's, or others may write "
                 "to it; make both root's, with mode 0755", path);
    return !step.trouble[0];
}

/* Over the socket: the command line of a process is for all to see. */
static void tell_command(spank_t sp)
{
    char **words = NULL;
    int count = 0;

    if (spank_get_item(sp, S_JOB_ARGV, &count, &words) == ESPANK_SUCCESS && words)
        pfr_control_send_command(step.talk.control, words);
}

void pfr_step_begin(spank_t sp, struct pfr_choice *choice)
{
    static struct pfr_arguments arguments;
    int fds[2];

    learn_job(sp);
    choice->wanted = is_of_interest(sp, choice);
    if (!choice->wanted)
        return;
    if (!is_trustworthy(choice->sampler))
        return;
    if (!pfr_arguments_who(&arguments, sp, &step.job, step.node)) {
        snprintf(step.trouble, sizeof(step.trouble), "Slurm does not say whose step %s is",
                 step.talk.step);
        return;
    }
    pfr_arguments_add(&arguments, "--tree=%d", (int)getpid());
    pfr_arguments_choice(&arguments, &step.job, choice);
    if (pfr_control_pair(fds) < 0) {
        snprintf(step.trouble, sizeof(step.trouble), "no socket: %s", strerror(errno));
        return;
    }
    step.talk.patience = patience_of(choice) * INT64_C(1000000);
    step.talk.owner = getpid();
    step.talk.sampler = launch(choice, &arguments, fds[1]);
    if (step.talk.sampler > 0) {
        step.talk.control = fds[0];
        if (!choice->spec.no_cmd)
            tell_command(sp);
    } else {
        close(fds[0]);
    }
    close(fds[1]);
}

/*
 * Only %u needs it. Slurm puts it into the environment only of the task, and USER
 * may be whose shell it was before su. Without the variable of srun and sbatch
 * (--export=NONE) it is looked up, as slurmstepd itself has just done.
 */
static const char *user_name(spank_t sp, const struct pfr_choice *choice)
{
    static char buffer[4096], value[300];
    static struct passwd entry;
    struct passwd *found = NULL;
    char prefix[16];
    uid_t uid;

    if (!strstr(choice->spec.dir, "%u") || spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS)
        return NULL;
    snprintf(prefix, sizeof(prefix), "%u:", (unsigned)uid);
    if (variable(sp, PFR_USER_VARIABLE, value, sizeof(value)) &&
        strncmp(value, prefix, strlen(prefix)) == 0 && value[strlen(prefix)])
        return value + strlen(prefix);
    getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found);
    return found ? found->pw_name : NULL;
}

/* Where the sampler will listen for what the tasks of this node say (profres mark). */
static void name_mark(spank_t sp)
{
    char path[2 * PATH_MAX], name[32];

    pfr_step_name(step.job.step, name, sizeof(name));
    snprintf(path, sizeof(path), "%s/%s/" PFR_MARK_FILE, step.dir, name, step.node);
    spank_setenv(sp, PFR_MARK_VARIABLE, path, 1);
}

/* Into step.dir and the variable of the steps inside; false when there is none. */
static bool settle_place(spank_t sp, const struct pfr_choice *choice)
{
    char base[PATH_MAX + 16], submit_dir[PATH_MAX];
    const char *value = variable(sp, PFR_BASE_VARIABLE, base, sizeof(base));
    const char *submit = variable(sp, "SLURM_SUBMIT_DIR", submit_dir, sizeof(submit_dir));

    /* a batch job's output is where the job was told to run, not where it was submitted */
    if (step.job.step == PFR_STEP_BATCH)
        value = submit = NULL;
    if (pfr_choose_place(choice, &step.job, value, submit, step.cwd, step.dir,
                         sizeof(step.dir)) < 0)
        return false;
    if (step.job.step == PFR_STEP_BATCH) {
        snprintf(base, sizeof(base), "%u:%s", step.job.job, step.cwd);
        spank_setenv(sp, PFR_BASE_VARIABLE, base, 1);
    }
    name_mark(sp);
    return true;
}

/* The one hook that runs in the job's own directory. */
void pfr_step_user(spank_t sp, const struct pfr_choice *choice)
{
    static char name[256];

    if (step.trouble[0]) {
        pfr_warning("%s; the step is not measured", step.trouble);
        return;
    }
    if (!getcwd(step.cwd, sizeof(step.cwd)))
        step.cwd[0] = '\0';
    step.job.user = user_name(sp, choice);
    step.job.name = variable(sp, "SLURM_JOB_NAME", name, sizeof(name));
    if (!settle_place(sp, choice)) {
        pfr_warning("'dir=%s' gives no directory for user '%s', job name '%s'; measuring without "
                    "files",
                    choice->spec.dir, step.job.user ? step.job.user : "",
                    step.job.name ? step.job.name : "");
        return;
    }
    pfr_talk_tell(&step.talk, "umask %o", choice->spec.mask);
    /* how often it was requeued is told to the batch script alone: see below */
    pfr_talk_tell(&step.talk, step.job.step == PFR_STEP_BATCH ? "presume %s" : "dir %s", step.dir);
}

/*
 * In the task of a batch job, before its exec: there the count of restarts is
 * in the environment at last. The socket is ours as well as slurmstepd's.
 */
void pfr_step_child(spank_t sp, const struct pfr_choice *choice)
{
    if (step.job.step != PFR_STEP_BATCH || !step.dir[0])
        return;
    step.job.restarts = variable_number(sp, "SLURM_RESTART_COUNT", 0);
    pfr_talk_tell(&step.talk, "fact restart_count=%lld", (long long)step.job.restarts);
    if (settle_place(sp, choice))
        pfr_talk_tell(&step.talk, "dir %s", step.dir);
}

void pfr_step_task(spank_t sp, const struct pfr_choice *choice)
{
    uint32_t rank = item_u32(sp, S_TASK_GLOBAL_ID, step.started);
    pid_t pid;

    if (step.trouble[0] || spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS)
        return;
    if (step.started == 0) {
        pfr_totals_find(pid);
        if (pfr_talk_goes_on(&step.talk))
            pfr_totals_hand(step.talk.control);
    }
    step.started++;
    pfr_notice_start(&step.talk, pid, rank);
    if (step.started == step.tasks) {
        pfr_talk_tell(&step.talk, "go");
        pfr_talk_hear(&step.talk, "ready", pfr_patience_end(choice->patience_ms));
    }
}

/*
 * The sampler is gone: another one comes, too late to measure, and writes down
 * what it is told.
 */
static void record_anew(spank_t sp, const struct pfr_choice *choice)
{
    static struct pfr_arguments arguments;
    int fds[2];

    arguments.count = 0;
    arguments.used = 0;
    if (!pfr_arguments_who(&arguments, sp, &step.job, step.node))
        return;
    pfr_arguments_add(&arguments, "--dir=%s", step.dir);
    if (choice->spec.openmetrics[0])
        pfr_arguments_add(&arguments, "--openmetrics=%s", choice->spec.openmetrics);
    if (!step.dir[0] || pfr_control_pair(fds) < 0)
        return;
    if (launch(choice, &arguments, fds[1]) > 0) {
        pfr_control_send(fds[0], "umask %o", choice->spec.mask);
        pfr_notice_repeat(fds[0]);
        if (step.last_known)
            pfr_control_send(fds[0], TOTALS, (long long)step.last.peak,
                             (long long)step.last.kills, (long long)step.last.cpu);
    }
    close(fds[0]);
    close(fds[1]);
}

void pfr_step_task_exit(spank_t sp, const struct pfr_choice *choice)
{
    bool brief = step.job.step == PFR_STEP_BATCH && !choice->spec.quiet, last;
    char done[32];
    int status = 0;
    pid_t pid = 0;

    if (step.trouble[0] || spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS)
        return;
    spank_get_item(sp, S_TASK_EXIT_STATUS, &status);
    last = ++step.ended == step.started;
    if (last && (step.last_known = pfr_totals_read(&step.last)))
        pfr_talk_tell(&step.talk, TOTALS, (long long)step.last.peak, (long long)step.last.kills,
                      (long long)step.last.cpu);
    pfr_notice_exit(&step.talk, pid, status);
    snprintf(done, sizeof(done), "done %d", (int)pid);
    if (!last || !brief)
        pfr_talk_hear(&step.talk, done, last ? 0 : pfr_patience_end(choice->patience_ms));
    if (!last)
        return;
    pfr_talk_tell(&step.talk, "end");
    if (brief)
        pfr_talk_hear(&step.talk, "bye", 0);
    if (!pfr_talk_goes_on(&step.talk))
        record_anew(sp, choice);
}

void pfr_step_end(void)
{
    pfr_talk_hear(&step.talk, NULL, 0); /* what it had to say of its files */
    pfr_talk_wake(&step.talk);
    pfr_talk_end(&step.talk);
}
