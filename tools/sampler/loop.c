#include "tools/sampler/loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/control.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/judge/brief.h"
#include "common/record/json.h"
#include "tools/sampler/confine.h"
#include "tools/sampler/lost.h"
#include "tools/sampler/mark.h"
#include "tools/sampler/oom.h"
#include "tools/sampler/task.h"

/* The beginning of a run is where short steps live. */
#define EAGER_TIME (2 * PFR_NS_PER_S)
#define EAGER_INTERVAL (PFR_NS_PER_S / 10)

/* How soon to look again after the kernel has run out of memory. */
#define OOM_AGAIN (PFR_NS_PER_S / 20)

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
    long long when = 0;
    int pid, rank;

    if (sscanf(text, "start %d %d %lld", &pid, &rank, &when) < 2)
        pfr_warning("message not understood: %.60s", text);
    else if (when && pfr_lost_is(&session->env, (pid_t)pid, when))
        pfr_lost_start(session, (pid_t)pid, rank, when);
    else if (pfr_session_start_task(session, (pid_t)pid, rank, error, sizeof(error)) < 0)
        pfr_control_send(control, "refuse %s", error);
    else if (when)
        pfr_task_began(session, when);
}

static void on_go(struct pfr_session *session, int control)
{
    if (!session->started)
        return; /* it was refused */
    pfr_session_go(session);
    pfr_control_send(control, "ready");
    if (!session->dir_presumed)
        pfr_session_publish(session); /* the tasks need not wait for the disk */
}

/* Of the step's cgroup, opened by the host, which may do more than we. */
static void on_file(struct pfr_session *session, const char *name, int fd)
{
    struct pfr_handed *handed = &session->handed;

    if (fd < 0)
        return;
    if (session->started || handed->count == PFR_COUNT(handed->files)) {
        close(fd);
        return;
    }
    snprintf(handed->files[handed->count].name, sizeof(handed->files[0].name), "%.31s", name);
    handed->files[handed->count++].fd = fd;
}

/*
 * Where the files go. A presumed directory is used from the next tick on, if
 * until then no other is named.
 */
static void on_dir(struct pfr_session *session, const char *dir, bool presumed)
{
    static char kept[PATH_MAX + 16];

    if (session->files_open)
        return;
    snprintf(kept, sizeof(kept), "%s", dir);
    session->options.dir = kept;
    session->dir_presumed = presumed;
    if (session->started && !presumed)
        pfr_session_publish(session);
}

/* One that was not known when we were started; room for a few. */
static void on_fact(struct pfr_session *session, const char *fact)
{
    static char kept[4][64];
    static int used;

    if (used < 4 && session->options.fact_count < PFR_FACTS_MAX) {
        snprintf(kept[used], sizeof(kept[used]), "%.63s", fact);
        session->options.facts[session->options.fact_count++] = kept[used++];
        memcpy(session->info.facts, session->options.facts, sizeof(session->info.facts));
        session->info.fact_count = session->options.fact_count;
    }
}

/* A word of the step's command line. */
static void on_command(struct pfr_session *session, const char *word)
{
    static char text[PFR_COMMAND_SIZE], *words[PFR_COMMAND_WORDS + 1];
    static size_t used, count;
    size_t size = strlen(word) + 1;

    if (session->started || count == PFR_COMMAND_WORDS || size > sizeof(text) - used)
        return;
    words[count++] = memcpy(text + used, word, size);
    used += size;
    session->options.command = words;
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
    pfr_lost_end(session, (pid_t)pid, &end);
    pfr_control_send(control, "done %d", pid);
}

/* What the host read itself when the last task ended: kept beside our own. */
static void on_totals(struct pfr_session *session, const char *text)
{
    long long peak, kills, cpu;

    if (sscanf(text, "totals %lld %lld %lld", &peak, &kills, &cpu) == 3)
        session->totals = (struct pfr_totals){ true, peak, kills, cpu };
}

/* The few lines for a person, for a host that cannot read JSON. */
static void say_brief(const struct pfr_session *session, int control, struct json_object *summary)
{
    PFR_AUTO_FREE char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *line_of = pfr_json_line(summary);
    struct pfr_facts facts;
    char files[PATH_MAX + 600], *save = NULL;

    if (!out)
        return;
    snprintf(files, sizeof(files), "%s/%s", session->options.dir ? session->options.dir : "",
             session->options.step);
    if (pfr_facts_parse(&facts, line_of, strlen(line_of)) == 0)
        pfr_brief_print(out, &facts, session->dirfd >= 0 ? files : NULL,
                        pfr_clock_ns(CLOCK_REALTIME));
    pfr_chart_print(out, &session->chart, false);
    fclose(out);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        pfr_control_send(control, "say %s", line);
}

static void set_deadline(const struct pfr_session *session, unsigned seconds)
{
    if (session->options.watched)
        pfr_confine_deadline(seconds);
}

static void finish(struct pfr_session *session, int control)
{
    struct json_object *summary;

    set_deadline(session, PFR_DEADLINE_END);

    if (session->options.brief && !session->finished && !session->lost.written) {
        summary = pfr_session_conclude(session);
        if (summary)
            say_brief(session, control, summary);
        pfr_control_send(control, "bye"); /* nobody waits for the disk */
        json_object_put(summary);
    }
    summary = pfr_session_finish(session);
    if (summary && !session->options.brief) {
        pfr_control_send_long(control, "final", pfr_json_line(summary), FINAL_MS);
        pfr_control_send(control, "bye");
    }
    json_object_put(summary);
    pfr_lost_write(session);
}

static void on_message(struct pfr_session *session, int control, const char *text, int *passed)
{
    unsigned mask;

    if (strncmp(text, "file ", 5) == 0)
        on_file(session, text + 5, pfr_take_fd(passed));
    else if (strncmp(text, "start ", 6) == 0)
        on_start(session, control, text);
    else if (strcmp(text, "go") == 0)
        on_go(session, control);
    else if (strncmp(text, "exit ", 5) == 0)
        on_exit_notice(session, control, text);
    else if (strncmp(text, "totals ", 7) == 0)
        on_totals(session, text);
    else if (strcmp(text, "end") == 0)
        finish(session, control);
    else if (sscanf(text, "umask %o", &mask) == 1)
        umask(mask);
    else if (strncmp(text, "dir ", 4) == 0)
        on_dir(session, text + 4, false);
    else if (strncmp(text, "presume ", 8) == 0)
        on_dir(session, text + 8, true);
    else if (strncmp(text, "command ", 8) == 0)
        on_command(session, text + 8);
    else if (strncmp(text, "fact ", 5) == 0)
        on_fact(session, text + 5);
}

/* Reads what is there. False when the other side has closed. */
static bool answer(struct pfr_session *session, int control)
{
    char text[PATH_MAX + 16];
    ssize_t n;

    for (;;) {
        PFR_AUTO_FD passed = -1;

        n = pfr_control_receive_fd(control, text, sizeof(text), -1, &passed);
        if (n <= 0)
            return n == -ETIMEDOUT;
        on_message(session, control, text, &passed);
    }
}

/* ---- time ---- */

/* When what could wait may be done. */
static int64_t budget_next(struct pfr_session *session, int64_t now)
{
    return pfr_budget_next(&session->budget, now, pfr_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

/* Waits for a message, the deadline (0: none), a mark or the OOM killer: true. */
static bool wait_until(struct pfr_session *session, int control, int64_t deadline)
{
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC), paid = budget_next(session, now);
    bool thrifty = paid > now; /* then only what has to be is heard */
    int64_t until = thrifty && (!deadline || paid < deadline) ? paid : deadline, ns = until - now;
    struct pollfd fds[3] = { { .fd = control, .events = POLLIN },
                             pfr_oom_poll(&session->oom, now),
                             { .fd = thrifty ? -1 : session->marks.fd, .events = POLLIN } };
    struct timespec left = { 0 };
    sigset_t unblocked;

    if (thrifty)
        fds[1].fd = -1;

    if (ns > 0) {
        left.tv_sec = ns / PFR_NS_PER_S;
        left.tv_nsec = ns % PFR_NS_PER_S;
    }
    sigemptyset(&unblocked);
    set_deadline(session, 0);
    ppoll(fds, PFR_COUNT(fds), until ? &left : NULL, &unblocked);
    set_deadline(session, PFR_DEADLINE_BUSY);
    if (fds[2].revents)
        pfr_marks_receive(session);
    return fds[1].revents != 0;
}

/*
 * The kernel is out of memory for the step: what it looks like now, before the
 * victim is dead, and again soon, when it is.
 */
static int64_t on_oom(struct pfr_session *session, int64_t deadline)
{
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC), soon = now + OOM_AGAIN;

    pfr_oom_rearm(&session->oom, now);
    if (!session->started || session->finished)
        return deadline;
    pfr_session_tick(session);
    return !deadline || soon < deadline ? soon : deadline;
}

/*
 * Deadlines that passed while we were busy or not run are not made up for, and
 * those before the CPU time that was used is paid for are left out.
 */
static int64_t next_deadline(struct pfr_session *session, int64_t deadline)
{
    int64_t start = session->info.start, interval = session->options.interval;
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC), paid = budget_next(session, now);
    int64_t next = pfr_loop_deadline(start, interval, now);

    for (int64_t d = pfr_loop_deadline(start, interval, deadline); d < next;
         d = pfr_loop_deadline(start, interval, d))
        session->cost.late_ticks++;
    for (; next < paid; next = pfr_loop_deadline(start, interval, next))
        session->cost.saved_ticks++;
    return next;
}

void pfr_loop_run(struct pfr_session *session, int control, const volatile sig_atomic_t *stop)
{
    int64_t deadline = 0;

    while (!*stop) {
        if (wait_until(session, control, deadline))
            deadline = on_oom(session, deadline);
        if (!answer(session, control))
            break;
        if (!session->started || session->finished) {
            deadline = 0; /* only messages count */
            continue;
        }
        if (!deadline)
            deadline = pfr_loop_deadline(session->info.start, session->options.interval,
                                         pfr_env_now(&session->env, CLOCK_MONOTONIC));
        if (pfr_env_now(&session->env, CLOCK_MONOTONIC) < deadline)
            continue;
        pfr_session_tick(session);
        pfr_marks_receive(session); /* some at every tick, also without credit */
        deadline = next_deadline(session, deadline);
    }
    finish(session, control);
}
