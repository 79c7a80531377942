/*
 * On the live kernel: what a tick costs when nothing changes, and what only a
 * kernel can show. Calls of the program that allocate, open or fork are
 * counted where they are made (-Wl,--wrap, see unit.inc). Needs a cgroup
 * hierarchy in which directories can be made; says so where there is none.
 */
#include "tests/unit/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "tools/sampler/session.h"

/* ---- counting ---- */

static struct {
    bool on;
    int allocations, opens, procs_opens, forks;
    char last[256];
} calls;

static void count_open(const char *path)
{
    if (!calls.on)
        return;
    calls.opens++;
    calls.procs_opens += strcmp(path, "cgroup.procs") == 0;
    snprintf(calls.last, sizeof(calls.last), "%s", path);
}

#define WRAP(type, name, parameters, arguments, count)  \
    type __real_##name parameters;                      \
    type __wrap_##name parameters;                      \
    type __wrap_##name parameters                       \
    {                                                   \
        count;                                          \
        return __real_##name arguments;                 \
    }

#define ALLOCATION calls.allocations += calls.on
#define FORK calls.forks += calls.on

WRAP(void *, malloc, (size_t size), (size), ALLOCATION)
WRAP(void *, calloc, (size_t n, size_t size), (n, size), ALLOCATION)
WRAP(void *, realloc, (void *old, size_t size), (old, size), ALLOCATION)
WRAP(char *, strdup, (const char *text), (text), ALLOCATION)
WRAP(int, vasprintf, (char **to, const char *format, va_list ap), (to, format, ap), ALLOCATION)
WRAP(struct json_object *, json_object_new_object, (void), (), ALLOCATION)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), count_open(path))
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode), count_open(path))
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), ALLOCATION)
WRAP(DIR *, opendir, (const char *path), (path), count_open(path))
WRAP(DIR *, fdopendir, (int fd), (fd), ALLOCATION)
WRAP(int, dup, (int fd), (fd), count_open("dup"))
WRAP(pid_t, fork, (void), (), FORK)
WRAP(pid_t, vfork, (void), (), FORK)

/* A mode that was not given is not looked at. */
#define WRAP_OPEN(name, parameters, arguments)          \
    int __real_##name parameters;                       \
    int __wrap_##name parameters;                       \
    int __wrap_##name parameters                        \
    {                                                   \
        count_open(path);                               \
        return __real_##name arguments;                 \
    }

WRAP_OPEN(open, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP_OPEN(openat, (int fd, const char *path, int flags, mode_t mode), (fd, path, flags, mode))
WRAP_OPEN(openat64, (int fd, const char *path, int flags, mode_t mode), (fd, path, flags, mode))

static void start_counting(void)
{
    memset(&calls, 0, sizeof(calls));
    calls.on = true;
}

/* ---- a cgroup and children of our own ---- */

#define CHILDREN 8

struct bench {
    char cgroup[600]; /* a directory made for the test; "" = none */
    pid_t children[CHILDREN];
    int child_count;
    struct pfr_session *session;
    int64_t now; /* the fake clock, monotonic */
};

/* The mount point of cgroup2, or of a v1 hierarchy with this controller. */
static bool find_mount(const char *type, const char *controller, char *mount, size_t size)
{
    PFR_AUTO_FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[4096], point[512], options[512], kind[32];

    while (file && fgets(line, sizeof(line), file)) {
        const char *tail = strstr(line, " - ");

        if (!tail || sscanf(line, "%*s %*s %*s %*s %511s", point) != 1 ||
            sscanf(tail, " - %31s %*s %511s", kind, options) != 2 || strcmp(kind, type) != 0)
            continue;
        if (controller && !strstr(options, controller))
            continue;
        snprintf(mount, size, "%s", point);
        return true;
    }
    return false;
}

static bool write_file(const char *dir, const char *name, const char *text)
{
    char path[1024];
    int fd;
    bool good;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    good = pfr_fd_write_all(fd, text, strlen(text)) == 0;
    close(fd);
    return good;
}

static bool make_cgroup(struct bench *bench, const char *type, const char *controller)
{
    char mount[512];

    if (!find_mount(type, controller, mount, sizeof(mount)))
        return false;
    snprintf(bench->cgroup, sizeof(bench->cgroup), "%s/profres-test-%d", mount, (int)getpid());
    if (mkdir(bench->cgroup, 0755) == 0)
        return true;
    bench->cgroup[0] = '\0';
    return false;
}

/* A child that sits in `dir` and does nothing. */
static pid_t add_child(struct bench *bench, const char *dir)
{
    char text[32];
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    snprintf(text, sizeof(text), "%d\n", (int)pid);
    assert_true(write_file(dir, "cgroup.procs", text));
    bench->children[bench->child_count++] = pid;
    return pid;
}

static void end_child(struct bench *bench, int index)
{
    if (bench->children[index] <= 0)
        return;
    kill(bench->children[index], SIGKILL);
    waitpid(bench->children[index], NULL, 0);
    bench->children[index] = 0;
}

/* A cgroup is busy for a moment after its last process was reaped. */
static bool remove_cgroup(const char *path)
{
    int r = -1;

    for (int tries = 0; tries < 500 && (r = rmdir(path)) < 0 && errno == EBUSY; tries++)
        poll(NULL, 0, 10);
    return r == 0;
}

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    bench.now = 1000 * PFR_NS_PER_S;
    pfr_log_set(NULL, NULL);
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;
    char below[640];

    calls.on = false;
    if (bench->session) {
        pfr_session_release(bench->session);
        free(bench->session);
    }
    for (int i = 0; i < bench->child_count; i++)
        end_child(bench, i);
    if (!bench->cgroup[0])
        return 0;
    snprintf(below, sizeof(below), "%s/below", bench->cgroup);
    remove_cgroup(below);
    return access(bench->cgroup, F_OK) == 0 && !remove_cgroup(bench->cgroup);
}

/* A clock that is moved by hand, so that windows end when the test says so. */
static int64_t bench_now(clockid_t clock, void *arg)
{
    const struct bench *bench = arg;

    return clock == CLOCK_MONOTONIC ? bench->now : pfr_clock_ns(clock);
}

static void start_session(struct bench *bench, const char *metrics)
{
    struct pfr_options options = { .root = "", .job = "test", .step = "0", .node = "here",
                                   .metrics = metrics, .interval = PFR_NS_PER_S,
                                   .window = 10 * PFR_NS_PER_S, .top = 16, .tree = getpid() };
    char error[512];

    bench->session = calloc(1, sizeof(*bench->session));
    assert_non_null(bench->session);
    assert_int_equal(pfr_session_init(bench->session, &options, error, sizeof(error)), 0);
    bench->session->env.now = bench_now;
    bench->session->env.arg = bench;
    if (pfr_session_start_task(bench->session, bench->children[0], 0, error, sizeof(error)) < 0)
        fail_msg("%s", error);
    pfr_session_go(bench->session);
    pfr_session_publish(bench->session);
}

static void tick(struct bench *bench, int times)
{
    for (int i = 0; i < times; i++) {
        bench->now += PFR_NS_PER_S;
        pfr_session_tick(bench->session);
    }
}

/* Two windows to grow every buffer, then into the middle of a third. */
static void warm_up(struct bench *bench)
{
    tick(bench, 22);
    start_counting();
    tick(bench, 5);
    calls.on = false;
}

/* ---- cases ---- */

static void steady_tick_on_v2_opens_nothing(void **state)
{
    struct bench *bench = *state;
    char below[640];

    if (!make_cgroup(bench, "cgroup2", NULL))
        SKIP_BECAUSE("no cgroup v2 hierarchy in which a directory can be made");
    snprintf(below, sizeof(below), "%s/below", bench->cgroup);
    assert_int_equal(mkdir(below, 0755), 0);
    for (int i = 0; i < 3; i++)
        add_child(bench, i < 2 ? bench->cgroup : below);
    start_session(bench, NULL);
    assert_string_equal(pfr_track_source(&bench->session->track, &bench->session->target),
                        "cgroup v2");
    warm_up(bench);
    if (calls.opens)
        print_message("# opened: %s\n", calls.last);
    assert_int_equal(calls.opens, 0);
    assert_int_equal(calls.allocations, 0);
    assert_int_equal(calls.forks, 0);
    assert_int_equal(bench->session->processes.live, 3);
}

/* The wraps do count: a tick that meets a new process must open its files. */
static void counting_counts(void **state)
{
    struct bench *bench = *state;

    if (!make_cgroup(bench, "cgroup2", NULL))
        SKIP_BECAUSE("no cgroup v2 hierarchy in which a directory can be made");
    add_child(bench, bench->cgroup);
    start_session(bench, NULL);
    tick(bench, 22);
    add_child(bench, bench->cgroup);
    start_counting();
    tick(bench, 1);
    calls.on = false;
    assert_int_equal(calls.opens, 4);       /* stat, status, io, cmdline */
    assert_int_equal(calls.allocations, 1); /* its command line */
    start_counting();
    tick(bench, 10); /* a window ends */
    calls.on = false;
    assert_true(calls.allocations > 0);
}

/* v1: cgroup.procs is opened once for each directory, and nothing else is. */
static void steady_tick_on_v1_opens_the_lists(void **state)
{
    struct bench *bench = *state;
    char below[640];

    if (!make_cgroup(bench, "cgroup", "freezer"))
        SKIP_BECAUSE("no cgroup v1 freezer in which a directory can be made");
    snprintf(below, sizeof(below), "%s/below", bench->cgroup);
    assert_int_equal(mkdir(below, 0755), 0);
    for (int i = 0; i < 3; i++)
        add_child(bench, i < 2 ? bench->cgroup : below);
    start_session(bench, NULL);
    assert_string_equal(pfr_track_source(&bench->session->track, &bench->session->target),
                        "cgroup v1");
    warm_up(bench);
    assert_int_equal(calls.procs_opens, 5 * 2);
    assert_int_equal(calls.opens, 5 * 2);
    assert_int_equal(calls.allocations, 0);
    assert_int_equal(calls.forks, 0);
}

/* By descent: one stat of every process on the node is opened, nothing is allocated. */
static void steady_tick_by_descent_allocates_nothing(void **state)
{
    struct bench *bench = *state;
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    bench->children[bench->child_count++] = pid;
    start_session(bench, "ps_*,proc_*");
    if (bench->session->track.by_cgroup)
        SKIP_BECAUSE("children are in a cgroup of their own here");
    bench->session->track.root = getpid();
    warm_up(bench);
    assert_int_equal(calls.forks, 0);
    assert_true(calls.opens > 0);
    /* processes come and go elsewhere on the node, which may let the array grow */
    assert_in_range(calls.allocations, 0, 1);
}

/*
 * The kernel keeps the list of an open v1 cgroup.procs while it is read at
 * least once a second: read through one fd, a process that joins later would
 * never be seen.
 */
static void v1_sees_those_who_join_later(void **state)
{
    struct bench *bench = *state;
    struct pfr_cgtarget target;
    static struct pfr_track track;
    struct pfr_env env;
    int64_t end;
    bool seen = false;

    if (!make_cgroup(bench, "cgroup", "freezer"))
        SKIP_BECAUSE("no cgroup v1 freezer in which a directory can be made");
    pfr_env_init(&env, "");
    add_child(bench, bench->cgroup);
    assert_int_equal(pfr_cgtarget_resolve(&env, bench->children[0], getpid(),
                                          PFR_LEVEL_OWN, &target), 0);
    assert_int_equal(pfr_track_open(&track, &env, &target, getpid()), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(pfr_track_list(&track), 1);
        assert_int_equal(track.count, 1);
        poll(NULL, 0, 200);
    }
    add_child(bench, bench->cgroup);
    end = pfr_clock_ns(CLOCK_MONOTONIC) + 5 * PFR_NS_PER_S;
    while (!seen && pfr_clock_ns(CLOCK_MONOTONIC) < end) {
        pfr_track_list(&track);
        seen = track.count == 2;
        poll(NULL, 0, 200);
    }
    pfr_track_release(&track);
    assert_true(seen);
}

/* And one who leaves is not listed any more, on v2 through the fd that is kept. */
static void v2_list_follows_through_one_fd(void **state)
{
    struct bench *bench = *state;
    struct pfr_cgtarget target;
    static struct pfr_track track;
    struct pfr_env env;

    if (!make_cgroup(bench, "cgroup2", NULL))
        SKIP_BECAUSE("no cgroup v2 hierarchy in which a directory can be made");
    pfr_env_init(&env, "");
    add_child(bench, bench->cgroup);
    assert_int_equal(pfr_cgtarget_resolve(&env, bench->children[0], getpid(),
                                          PFR_LEVEL_OWN, &target), 0);
    assert_int_equal(pfr_track_open(&track, &env, &target, getpid()), 0);
    assert_int_equal(pfr_track_list(&track), 1);
    add_child(bench, bench->cgroup);
    assert_int_equal(pfr_track_list(&track), 1);
    assert_int_equal(track.count, 2);
    end_child(bench, 0);
    assert_int_equal(pfr_track_list(&track), 1);
    assert_int_equal(track.count, 1);
    assert_int_equal(track.pids[0], bench->children[1]);
    end_child(bench, 1);
    assert_int_equal(pfr_track_list(&track), 0);
    pfr_track_release(&track);
}

/* A removed cgroup's files say ENODEV: the counters end, the run does not. */
static void removed_cgroup_is_noticed(void **state)
{
    struct bench *bench = *state;
    struct pfr_track *track;
    int r = 0;

    if (!make_cgroup(bench, "cgroup2", NULL))
        SKIP_BECAUSE("no cgroup v2 hierarchy in which a directory can be made");
    add_child(bench, bench->cgroup);
    start_session(bench, NULL);
    tick(bench, 3);
    assert_false(bench->session->cgroup_gone);
    end_child(bench, 0);
    assert_true(remove_cgroup(bench->cgroup));
    tick(bench, 2);
    assert_true(bench->session->cgroup_gone);
    track = &bench->session->track;
    for (int i = 0; i < 3 && r == 0; i++)
        r = pfr_track_list(track);
    assert_int_equal(r, -ENODEV);
    assert_int_equal(track->count, 0);
}

/* An open /proc file belongs to its process: when that ends, the slot is retired. */
static void ended_process_is_retired(void **state)
{
    struct bench *bench = *state;

    if (!make_cgroup(bench, "cgroup2", NULL))
        SKIP_BECAUSE("no cgroup v2 hierarchy in which a directory can be made");
    add_child(bench, bench->cgroup);
    add_child(bench, bench->cgroup);
    start_session(bench, NULL);
    tick(bench, 2);
    assert_int_equal(bench->session->processes.live, 2);
    assert_int_equal(bench->session->procs.fds_open, 6);
    end_child(bench, 1);
    tick(bench, 1);
    assert_int_equal(bench->session->processes.live, 1);
    assert_int_equal(bench->session->procs.fds_open, 3);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(steady_tick_on_v2_opens_nothing),
        CASE(counting_counts),
        CASE(steady_tick_on_v1_opens_the_lists),
        CASE(steady_tick_by_descent_allocates_nothing),
        CASE(v1_sees_those_who_join_later),
        CASE(v2_list_follows_through_one_fd),
        CASE(removed_cgroup_is_noticed),
        CASE(ended_process_is_retired),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
