#include "bench/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "tools/sampler/loop.h"

static int64_t told_time(clockid_t clock, void *arg)
{
    const struct pfr_rig *rig = arg;

    return rig->base[clock] + rig->passed;
}

static void set_clock(struct pfr_rig *rig)
{
    static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME };

    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
        rig->base[clocks[i]] = pfr_clock_ns(clocks[i]);
    rig->passed = 0;
    rig->session.env.now = told_time;
    rig->session.env.arg = rig;
}

/* As the sampler does. */
static void raise_fd_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void pfr_rig_start(struct pfr_rig *rig, pid_t pid, const char *dir, int64_t interval)
{
    struct pfr_options options = { .root = "", .job = "bench", .step = "0", .node = "node",
                                   .dir = dir, .interval = interval,
                                   .window = 10 * PFR_NS_PER_S, .top = 16, .tree = pid };
    char error[512];

    raise_fd_limit();
    if (pfr_session_init(&rig->session, &options, error, sizeof(error)) == 0) {
        set_clock(rig);
        if (pfr_session_start_task(&rig->session, pid, 0, error, sizeof(error)) == 0) {
            pfr_session_go(&rig->session);
            pfr_session_publish(&rig->session);
            return;
        }
    }
    fprintf(stderr, "cannot start a session on process %d: %s\n", (int)pid, error);
    exit(EXIT_FAILURE);
}

void pfr_rig_tick(struct pfr_rig *rig)
{
    struct pfr_session *session = &rig->session;
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC);

    rig->passed +=
        pfr_loop_deadline(session->info.start, session->options.interval, now) - now;
    pfr_session_tick(session);
}

void pfr_rig_release(struct pfr_rig *rig)
{
    json_object_put(pfr_session_finish(&rig->session));
    pfr_session_release(&rig->session);
}

int64_t pfr_rig_cpu(void)
{
    return pfr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}
