#include "tools/sampler/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/control.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/record/json.h"

/* The beginning of a run is where short steps live. */
#define EAGER_TIME (2 * PFR_NS_PER_S)
#define EAGER_INTERVAL (PFR_NS_PER_S / 10)

/* How long the other side may take to read the summary. */
#define FINAL_MS 2000

int64_t pfr_loop_deadline(int64_t start, int64_t interval, int64_t now)
{
    int64_t eager = interval < EAGER_INTERVAL ? interval : EAGER_INTERVAL;

    if (now < start)
        return start;
    if (now - start < EAGER_TIME)
        return start + ((now - start) / eager + 1) * eager;
    start += EAGER_TIME;
    return start + ((now - start) / interval + 1) * interval;
}

/* ---- messages ---- */

static void on_start(struct pfr_session *session, int control, const char *text)
{
    char error[512];
    int pid, rank;

    if (sscanf(text, "start %d %d", &pid, &rank) != 2) {
        pfr_warning("message not understood: %.60s", text);
        return;
    }
    if (pfr_session_start_task(session, (pid_t)pid, rank, error, sizeof(error)) < 0)
        pfr_control_send(control, "refuse %s", error);
}

static void on_go(struct pfr_session *session, int control)
{
    if (!session->started)
        return; /* it was refused */
    pfr_session_go(session);
    pfr_control_send(control, "ready");
    pfr_session_publish(session); /* the tasks need not wait for the disk */
}

static void on_exit_notice(struct pfr_session *session, int control, const char *text)
{
    struct pfr_task_end end;
    long long started, ended, cpu, max_rss;
    int pid;

    if (sscanf(text, "exit %d %d %lld %lld %lld %lld", &pid, &end.wait_status, &started, &ended,
               &cpu, &max_rss) != 6) {
        pfr_warning("message not understood: %.60s", text);
        return;
    }
    end.started = started;
    end.ended = ended;
    end.cpu = cpu;
    end.max_rss = max_rss;
    pfr_session_end_task(session, (pid_t)pid, &end);
    pfr_control_send(control, "done %d", pid);
}

/* Reads what is there. False when the other side has closed. */
static bool answer(struct pfr_session *session, int control)
{
    char text[1024];
    ssize_t n;

    while ((n = pfr_control_receive(control, text, sizeof(text), -1)) > 0) {
        if (strncmp(text, "start ", 6) == 0)
            on_start(session, control, text);
        else if (strcmp(text, "go") == 0)
            on_go(session, control);
        else if (strncmp(text, "exit ", 5) == 0)
            on_exit_notice(session, control, text);
    }
    return n == -ETIMEDOUT;
}

/* ---- time ---- */

/* Waits for a message or for the deadline (0: only a message). */
static void wait_until(const struct pfr_session *session, int control, int64_t deadline)
{
    struct pollfd poll_fd = { .fd = control, .events = POLLIN };
    struct timespec left = { 0 };
    sigset_t unblocked;
    int64_t ns = deadline - pfr_env_now(&session->env, CLOCK_MONOTONIC);

    if (ns > 0) {
        left.tv_sec = ns / PFR_NS_PER_S;
        left.tv_nsec = ns % PFR_NS_PER_S;
    }
    sigemptyset(&unblocked);
    ppoll(&poll_fd, 1, deadline ? &left : NULL, &unblocked);
}

/* Deadlines that passed while we were busy or not run are not made up for. */
static int64_t next_deadline(struct pfr_session *session, int64_t deadline)
{
    int64_t start = session->info.start, interval = session->options.interval;
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    int64_t next = pfr_loop_deadline(start, interval, now);

    for (int64_t d = pfr_loop_deadline(start, interval, deadline); d < next;
         d = pfr_loop_deadline(start, interval, d))
        session->cost.late_ticks++;
    return next;
}

void pfr_loop_run(struct pfr_session *session, int control, const volatile sig_atomic_t *stop)
{
    int64_t deadline = 0;
    struct json_object *summary;

    while (!*stop) {
        wait_until(session, control, deadline);
        if (!answer(session, control))
            break;
        if (!session->started)
            continue;
        if (!deadline)
            deadline = pfr_loop_deadline(session->info.start, session->options.interval,
                                         pfr_env_now(&session->env, CLOCK_MONOTONIC));
        if (pfr_env_now(&session->env, CLOCK_MONOTONIC) < deadline)
            continue;
        pfr_session_tick(session);
        deadline = next_deadline(session, deadline);
    }
    summary = pfr_session_finish(session);
    if (summary)
        pfr_control_send_long(control, "final", pfr_json_line(summary), FINAL_MS);
    json_object_put(summary);
}
