/*
 * slurmstepd's side. The sampler is started before any task is forked, told of
 * tasks as they come and go, and let go at the end. Every wait is bounded, and
 * after the first one that was in vain there is no other.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/control.h"
#include "common/base/log.h"
#include "common/base/mark.h"
#include "common/base/parse.h"
#include "common/collect/cgroup.h"
#include "plugin/launch.h"
#include "plugin/plugin.h"

#define READY_MS 80  /* the first sample, before the tasks run */
#define DONE_MS 30   /* the readings at a task's end */
#define BRIEF_MS 250 /* the last lines of a batch job's output */

static struct {
    int control;   /* -1: no sampler */
    pid_t owner;   /* whose descriptor that is */
    pid_t sampler; /* while control is not hung up */
    bool lost;     /* it has ended or refused: nothing is said to it any more */
    bool slow;     /* it did not answer in time: it is not waited for again */
    char trouble[PATH_MAX + 128]; /* to be told when the user can hear it */
    struct pfr_job job;
    uint32_t tasks, started, ended;
    char step[32], node[256], cwd[PATH_MAX], dir[PATH_MAX];
    struct pfr_env env;
    struct pfr_cgtarget target; /* where the totals are that must not be lost */
    bool target_known;
    int64_t peak, kills, cpu; /* what was read there at the end; -1 = nothing */
} step = { .control = -1, .peak = -1, .kills = -1, .cpu = -1 };

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
    pfr_step_name(step.job.step, step.step, sizeof(step.step));
    learn_node();
}

/* ---- the sampler's arguments ---- */

#define ARGS_MAX 256

struct arguments {
    char *list[ARGS_MAX];
    int count;
    char text[32768];
    size_t used;
};

/* Keeps a copy; what does not fit is left out, arguments first. */
static void add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct arguments *arguments, const char *format, ...)
{
    size_t left = sizeof(arguments->text) - arguments->used;
    va_list ap;
    int length;

    va_start(ap, format);
    length = vsnprintf(arguments->text + arguments->used, left, format, ap);
    va_end(ap);
    if (length < 0 || (size_t)length >= left || arguments->count >= ARGS_MAX - 1)
        return;
    arguments->list[arguments->count++] = arguments->text + arguments->used;
    arguments->list[arguments->count] = NULL;
    arguments->used += (size_t)length + 1;
}

static void add_identity(struct arguments *arguments, spank_t sp)
{
    gid_t gid = 0, *groups = NULL;
    uid_t uid = 0;
    int count = 0;
    char list[8192] = "";

    spank_get_item(sp, S_JOB_UID, &uid);
    spank_get_item(sp, S_JOB_GID, &gid);
    if (spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS)
        count = 0;
    for (int i = 0; i < count && strlen(list) < sizeof(list) - 16; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u", i ? "," : "",
                 (unsigned)groups[i]);
    if (getuid() == 0) {
        add(arguments, "--uid=%u", (unsigned)uid);
        add(arguments, "--gid=%u", (unsigned)gid);
        add(arguments, "--groups=%s", list);
    }
}

/* Of what was given, so that usage can be held against it; no RPC. */
static void add_facts(struct arguments *arguments, spank_t sp)
{
    static const struct { spank_item_t item; const char *name; } counts[] = {
        { S_JOB_NNODES, "nodes" },
        { S_JOB_NODEID, "node_rank" },
        { S_JOB_LOCAL_TASK_COUNT, "tasks" },
        { S_JOB_TOTAL_TASK_COUNT, "tasks_of_step" },
        { S_STEP_CPUS_PER_TASK, "cpus_per_task" },
    };
    uint64_t mb;
    uint16_t cpus;
    uint32_t value;

    add(arguments, "--fact=job_id=%u", step.job.job);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (spank_get_item(sp, counts[i].item, &value) == ESPANK_SUCCESS)
            add(arguments, "--fact=%s=%u", counts[i].name, value);
    if (spank_get_item(sp, S_JOB_NCPUS, &cpus) == ESPANK_SUCCESS && cpus)
        add(arguments, "--fact=job_cpus=%u", cpus);
    if (spank_get_item(sp, S_JOB_ALLOC_MEM, &mb) == ESPANK_SUCCESS && mb)
        add(arguments, "--fact=job_mem_bytes=%llu", (unsigned long long)mb << 20);
    if (spank_get_item(sp, S_STEP_ALLOC_MEM, &mb) == ESPANK_SUCCESS && mb)
        add(arguments, "--fact=step_mem_bytes=%llu", (unsigned long long)mb << 20);
    if (step.job.array_task != PFR_NO_ARRAY) {
        add(arguments, "--fact=array_job_id=%u", step.job.array_job);
        add(arguments, "--fact=array_task_id=%u", step.job.array_task);
    }
    if (step.job.step != PFR_STEP_BATCH) /* of which it is not known yet */
        add(arguments, "--fact=restart_count=%lld", (long long)step.job.restarts);
}

/* What every sampler of the step has to know. */
static void add_who(struct arguments *arguments, spank_t sp)
{
    add(arguments, "profres-sampler");
    add(arguments, "--control=%s", PFR_LAUNCH_CONTROL);
    add(arguments, "--slurm");
    add(arguments, "--lenient");
    add(arguments, "--job=%u", step.job.job);
    add(arguments, "--step=%s", step.step);
    add(arguments, "--node=%s", step.node);
    add_identity(arguments, sp);
    add_facts(arguments, sp);
}

static void add_choice(struct arguments *arguments, const struct pfr_choice *choice)
{
    const struct pfr_spec *spec = &choice->spec;
    char metrics[2 * PFR_SPEC_SIZE];

    add(arguments, "--interval=%lldms", (long long)(spec->interval / 1000000));
    add(arguments, "--window=%lldms", (long long)(spec->window / 1000000));
    add(arguments, "--top=%lld", (long long)spec->top);
    if (pfr_spec_metrics(spec, metrics, sizeof(metrics)) && metrics[0])
        add(arguments, "--metrics=%s", metrics);
    if (spec->no_cmd)
        add(arguments, "--no-cmd");
    if (step.job.step == PFR_STEP_BATCH && !spec->quiet)
        add(arguments, "--brief");
}

static void add_command(struct arguments *arguments, spank_t sp)
{
    char **words = NULL;
    int count = 0;

    if (spank_get_item(sp, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS)
        return;
    add(arguments, "--");
    for (int i = 0; i < count && words[i]; i++)
        add(arguments, "%s", words[i]);
}

/* ---- talking to it ---- */

/*
 * With ContainSpank some hooks run in a child that shares our memory but not
 * our descriptors: what it closes stays open here until the last hook.
 */
static void forget_sampler(void)
{
    step.lost = true;
    if (step.control < 0 || getpid() != step.owner)
        return;
    close(step.control);
    step.control = -1;
}

static bool has_sampler(void)
{
    return step.control >= 0 && !step.lost;
}

static void heed(const char *text)
{
    if (strncmp(text, "warn ", 5) == 0) {
        pfr_warning("%s", text + 5);
    } else if (strncmp(text, "refuse ", 7) == 0) {
        pfr_warning("%s; the step is not measured", text + 7);
        forget_sampler();
    } else if (strncmp(text, "say ", 4) == 0) {
        slurm_spank_log("%s", text + 4);
    }
}

/* Whatever it had said before it ended may be why. */
static void mourn_sampler(void)
{
    char text[4096];

    while (has_sampler() && pfr_control_receive(step.control, text, sizeof(text), 0) > 0)
        heed(text);
    if (step.lost)
        return;
    forget_sampler();
    pfr_warning("the sampler of step %u.%s has ended early; the step goes on", step.job.job,
                step.step);
}

/* One that was stopped goes on, and ends when we close. */
static void wake_sampler(void)
{
    struct pollfd poll_fd = { .fd = step.control };

    if (step.control >= 0 && step.sampler > 0 && poll(&poll_fd, 1, 0) == 0)
        kill(step.sampler, SIGCONT);
}

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...)
{
    char text[PATH_MAX + 64];
    va_list ap;

    if (!has_sampler())
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (pfr_control_send(step.control, "%s", text) == -EPIPE)
        mourn_sampler();
}

/* Until it says `wanted`, at most so long, however much else it says. */
static void hear(const char *wanted, int timeout_ms)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + timeout_ms * INT64_C(1000000);
    char text[4096] = "";

    while (has_sampler() && !step.slow) {
        int64_t left = (end - pfr_clock_ns(CLOCK_MONOTONIC)) / 1000000;
        ssize_t n = pfr_control_receive(step.control, text, sizeof(text), left > 0 ? (int)left : 0);

        if (n > 0 && strncmp(text, wanted, strlen(wanted)) == 0)
            return;
        if (n == -ETIMEDOUT || (n > 0 && left <= 0)) {
            step.slow = true;
            pfr_info("the sampler takes too long; not waiting for it any more");
            wake_sampler();
        } else if (n <= 0) {
            mourn_sampler();
        } else {
            heed(text);
        }
    }
}

/*
 * The last wait of a batch step, and the only one at its end. One that was late
 * at the start and has answered since is worth it.
 */
static void hear_brief(void)
{
    char text[4096];

    if (step.slow && has_sampler() &&
        pfr_control_receive(step.control, text, sizeof(text), 0) > 0) {
        step.slow = false;
        heed(text);
    }
    hear("bye", BRIEF_MS);
}

/* ---- hooks ---- */

/* Where slurmstepd is now decides what has to be left; that changes between hooks. */
static int find_outside(struct pfr_outside *outside)
{
    static struct pfr_cgtarget own;
    int r;

    pfr_env_init(&step.env, "");
    outside->count = 0;
    r = pfr_cgtarget_resolve(&step.env, getpid(), 1, PFR_LEVEL_OWN, &own);
    for (int i = 0; i < PFR_CONTROLLER_COUNT && r >= 0; i++) {
        r = pfr_cgdir_outside(&own.dirs[i], i == PFR_UNIFIED, outside->path[outside->count],
                              sizeof(outside->path[0]));
        outside->count += r > 0;
    }
    return r < 0 ? r : 0;
}

/* The sampler's pid, or -errno. */
static pid_t launch(const struct pfr_choice *choice, struct arguments *arguments, int control)
{
    static struct pfr_outside outside;
    int r = find_outside(&outside);

    if (r == 0)
        r = pfr_launch(choice->sampler, arguments->list, control, &outside);
    if (r < 0)
        snprintf(step.trouble, sizeof(step.trouble),
                 "the sampler cannot be put outside step %u.%s: %s", step.job.job, step.step,
                 strerror(-r));
    return r;
}

static bool is_of_interest(spank_t sp, const struct pfr_choice *choice)
{
    uint32_t node = item_u32(sp, S_JOB_NODEID, 0);

    return choice->wanted && step.job.step != PFR_STEP_EXTERN &&
           (choice->spec.nodes == 0 || node < choice->spec.nodes);
}

void pfr_step_begin(spank_t sp, struct pfr_choice *choice)
{
    static struct arguments arguments;
    int fds[2];

    learn_job(sp);
    choice->wanted = is_of_interest(sp, choice);
    if (!choice->wanted)
        return;
    if (access(choice->sampler, X_OK) < 0) {
        snprintf(step.trouble, sizeof(step.trouble), "cannot run %s: %s", choice->sampler,
                 strerror(errno));
        return;
    }
    add_who(&arguments, sp);
    add(&arguments, "--tree=%d", (int)getpid());
    add_choice(&arguments, choice);
    add_command(&arguments, sp);
    if (pfr_control_pair(fds) < 0) {
        snprintf(step.trouble, sizeof(step.trouble), "no socket: %s", strerror(errno));
        return;
    }
    step.owner = getpid();
    step.sampler = launch(choice, &arguments, fds[1]);
    if (step.sampler > 0)
        step.control = fds[0];
    else
        close(fds[0]);
    close(fds[1]);
}

/* Slurm puts it into the environment only of the task; and only %u needs it. */
static const char *user_name(spank_t sp, const struct pfr_choice *choice)
{
    static char buffer[4096];
    static struct passwd entry;
    struct passwd *found = NULL;
    uid_t uid;

    if (!strstr(choice->spec.dir, "%u") || spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS)
        return NULL;
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
    char mask[16];

    if (step.trouble[0]) {
        pfr_warning("%s; the step is not measured", step.trouble);
        return;
    }
    if (!getcwd(step.cwd, sizeof(step.cwd)))
        step.cwd[0] = '\0';
    step.job.user = user_name(sp, choice);
    step.job.name = variable(sp, "SLURM_JOB_NAME", name, sizeof(name));
    if (!settle_place(sp, choice)) {
        pfr_warning("no directory can be made out of 'dir=%s'; measuring without files",
                    choice->spec.dir);
        return;
    }
    if (variable(sp, "SLURM_UMASK", mask, sizeof(mask)))
        tell("umask %s", mask);
    /* how often it was requeued is told to the batch script alone: see below */
    tell(step.job.step == PFR_STEP_BATCH ? "presume %s" : "dir %s", step.dir);
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
    tell("fact restart_count=%lld", (long long)step.job.restarts);
    if (settle_place(sp, choice))
        tell("dir %s", step.dir);
}

/* Where it is can be seen only now; nothing is kept open (see forget_sampler). */
static void find_totals(pid_t pid)
{
    pfr_env_init(&step.env, "");
    step.target_known =
        pfr_cgtarget_resolve(&step.env, pid, 1, PFR_LEVEL_STEP, &step.target) == 0;
}

void pfr_step_task(spank_t sp, const struct pfr_choice *choice)
{
    uint32_t rank = item_u32(sp, S_TASK_GLOBAL_ID, step.started);
    pid_t pid;

    (void)choice;
    if (step.trouble[0] || spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS)
        return;
    if (step.started == 0)
        find_totals(pid);
    step.started++;
    tell("start %d %u", (int)pid, rank);
    if (step.started == step.tasks) {
        tell("go");
        hear("ready", READY_MS);
    }
}

static int64_t total_of(const struct pfr_sample *sample, enum pfr_metric_id id)
{
    return pfr_sample_has(sample, id) ? pfr_sample_get(sample, id) : -1;
}

/* Our own eye on what must not be lost, at the last moment when it is there. */
static void send_totals(void)
{
    static struct pfr_cgroup cgroup;
    static struct pfr_availability have;
    struct pfr_metric_set wanted = { { 0 } };
    struct pfr_sample sample = { 0 };

    if (!step.target_known)
        return;
    pfr_metric_set_add(&wanted, PFR_CGROUP_MEM_PEAK);
    pfr_metric_set_add(&wanted, PFR_CGROUP_OOM_KILLS);
    pfr_metric_set_add(&wanted, PFR_CGROUP_CPU_SECONDS);
    pfr_availability_init(&have);
    pfr_cgroup_open(&cgroup, &step.env, &step.target, &wanted, &have);
    pfr_cgroup_collect(&cgroup, &sample);
    pfr_cgroup_release(&cgroup);
    step.peak = total_of(&sample, PFR_CGROUP_MEM_PEAK);
    step.kills = total_of(&sample, PFR_CGROUP_OOM_KILLS);
    step.cpu = total_of(&sample, PFR_CGROUP_CPU_SECONDS);
    tell("totals %lld %lld %lld", (long long)step.peak, (long long)step.kills,
         (long long)step.cpu);
}

/* The sampler is gone: another one, for a moment, writes down what we have. */
static void write_totals(spank_t sp, const struct pfr_choice *choice)
{
    static struct arguments arguments;
    int fds[2];

    if (!step.dir[0] || (step.peak < 0 && step.kills < 0 && step.cpu < 0) ||
        pfr_control_pair(fds) < 0)
        return;
    arguments.count = 0;
    arguments.used = 0;
    add_who(&arguments, sp);
    add(&arguments, "--dir=%s", step.dir);
    add(&arguments, "--lost=%lld,%lld,%lld", (long long)step.peak, (long long)step.kills,
        (long long)step.cpu);
    launch(choice, &arguments, fds[1]);
    close(fds[0]);
    close(fds[1]);
}

void pfr_step_task_exit(spank_t sp, const struct pfr_choice *choice)
{
    bool brief = step.job.step == PFR_STEP_BATCH && !choice->spec.quiet;
    int status = 0;
    pid_t pid = 0;

    if (step.trouble[0] || spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS)
        return;
    spank_get_item(sp, S_TASK_EXIT_STATUS, &status);
    step.ended++;
    if (step.ended == step.started)
        send_totals();
    tell("exit %d %d 0 %lld -1 -1", (int)pid, status, (long long)pfr_clock_ns(CLOCK_MONOTONIC));
    if (!brief)
        hear("done ", DONE_MS);
    if (step.ended != step.started)
        return;
    tell("end");
    if (brief)
        hear_brief();
    if (!has_sampler())
        write_totals(sp, choice);
}

void pfr_step_end(void)
{
    wake_sampler();
    forget_sampler();
}
