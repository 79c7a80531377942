/*
 * A step of many nodes that runs: each has a session of its own, as a sampler
 * has, all of them look at the same processes once a second and write their
 * files in real time. With -r instead: what it takes only to read what is new
 * in such files once a second. One JSON object on stdout.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/rig.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/parse.h"

#define NODES_MAX 256

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static void raise_fd_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static struct pfr_session *start(pid_t pid, const char *dir, const char *node)
{
    struct pfr_session *session = calloc(1, sizeof(*session));
    struct pfr_options options = { .root = "", .job = "bench", .step = "0", .node = node,
                                   .dir = dir, .interval = PFR_NS_PER_S,
                                   .window = 10 * PFR_NS_PER_S, .top = 16, .tree = pid };
    char error[512] = "no memory";

    if (!session || pfr_session_init(session, &options, error, sizeof(error)) < 0 ||
        pfr_session_start_task(session, pid, 0, error, sizeof(error)) < 0)
        fail(error);
    pfr_session_go(session);
    pfr_session_publish(session);
    return session;
}

/* Until its standard input is closed. */
static void run(pid_t pid, const char *dir, int nodes)
{
    static char names[NODES_MAX][8];
    struct pfr_session *sessions[NODES_MAX];
    int64_t next = pfr_clock_ns(CLOCK_MONOTONIC);

    for (int i = 0; i < nodes; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        sessions[i] = start(pid, dir, names[i]);
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct pollfd end = { .fd = 0, .events = POLLIN };
        int64_t left = (next += PFR_NS_PER_S) - pfr_clock_ns(CLOCK_MONOTONIC);

        if (poll(&end, 1, left > 0 ? (int)(left / 1000000) : 0) > 0)
            break;
        for (int i = 0; i < nodes; i++)
            pfr_session_tick(sessions[i]);
    }
    for (int i = 0; i < nodes; i++) {
        json_object_put(pfr_session_finish(sessions[i]));
        pfr_session_release(sessions[i]);
        free(sessions[i]);
    }
}

/* What is new in one file: all of it when it is another one, else what is behind `seen`. */
static void read_new(const char *path, struct stat *seen)
{
    static char buffer[1 << 20];
    PFR_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat now;
    off_t from;

    if (fd < 0 || fstat(fd, &now) < 0)
        fail(path);
    from = now.st_ino == seen->st_ino ? seen->st_size : 0;
    while (from < now.st_size) {
        ssize_t n = pread(fd, buffer, sizeof(buffer), from);

        if (n <= 0)
            fail(path);
        from += n;
    }
    *seen = now;
}

static void look(const char *dir, int nodes, int64_t times)
{
    static struct stat seen[NODES_MAX][2];

    for (int64_t n = 0; n < times; n++) {
        for (int i = 0; i < nodes; i++)
            for (int k = 0; k < 2; k++) {
                char path[4096];

                snprintf(path, sizeof(path), "%s/0/n%d.%s", dir, i, k ? "jsonl" : "json");
                read_new(path, &seen[i][k]);
            }
        if (n + 1 < times)
            poll(NULL, 0, 1000);
    }
    printf("{\"cpu_ms\":%.3f}\n", (double)pfr_rig_cpu() / 1e6);
}

int main(int argc, char **argv)
{
    int64_t nodes = 64, pid = 0, times = 0;
    const char *dir = NULL;
    int option;

    while ((option = getopt(argc, argv, "d:n:p:r:")) >= 0) {
        if (option == 'd')
            dir = optarg;
        else if (!pfr_parse_int(optarg ? optarg : "", option == 'n'   ? &nodes
                                                      : option == 'p' ? &pid
                                                                      : &times))
            fail("usage: live -d DIR [-n NODES] {-p PID | -r TIMES}");
    }
    if (!dir || nodes < 1 || nodes > NODES_MAX || !(pid || times))
        fail("usage: live -d DIR [-n NODES] {-p PID | -r TIMES}");
    raise_fd_limit();
    if (times)
        look(dir, (int)nodes, times);
    else
        run((pid_t)pid, dir, (int)nodes);
    return EXIT_SUCCESS;
}
