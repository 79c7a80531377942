#include "plugin/talk.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/control.h"
#include "common/base/log.h"
#include "common/base/safe.h"

/*
 * With ContainSpank some hooks run in a child that shares our memory but not
 * our descriptors: what it closes stays open here until the last hook.
 */
void pfr_talk_end(struct pfr_talk *talk)
{
    talk->lost = true;
    if (talk->control < 0 || getpid() != talk->owner)
        return;
    close(talk->control);
    talk->control = -1;
}

bool pfr_talk_goes_on(const struct pfr_talk *talk)
{
    return talk->control >= 0 && !talk->lost;
}

void pfr_talk_to_user(const char *prefix, const char *text)
{
    struct iovec parts[] = {
        { (char *)prefix, strlen(prefix) },
        { (char *)text, strlen(text) },
        { (char *)"\n", 1 },
    };

    if (writev(STDERR_FILENO, parts, 3) < 0)
        pfr_info("nobody to tell: %s", text);
}

static void heed(struct pfr_talk *talk, const char *text)
{
    char safe[4096];

    if (strncmp(text, "warn ", 5) == 0) {
        pfr_warning("%s", text + 5);
    } else if (strncmp(text, "refuse ", 7) == 0) {
        pfr_warning("%s; the step is not measured", text + 7);
        pfr_talk_end(talk);
    } else if (strncmp(text, "say ", 4) == 0) {
        pfr_talk_to_user("", pfr_safe_message(text + 4, safe, sizeof(safe)));
    }
}

/* Whatever it had said before it ended may be why. */
static void mourn(struct pfr_talk *talk)
{
    char text[4096];

    while (pfr_talk_goes_on(talk) && pfr_control_receive(talk->control, text, sizeof(text), 0) > 0)
        heed(talk, text);
    if (talk->lost)
        return;
    pfr_talk_end(talk);
    pfr_warning("the sampler of step %s has ended early; the step goes on", talk->step);
}

void pfr_talk_wake(struct pfr_talk *talk)
{
    struct pollfd poll_fd = { .fd = talk->control };

    if (talk->control >= 0 && talk->sampler > 0 && poll(&poll_fd, 1, 0) == 0)
        kill(talk->sampler, SIGCONT);
}

void pfr_talk_tell(struct pfr_talk *talk, const char *format, ...)
{
    char text[PATH_MAX + 64];
    va_list ap;

    if (!pfr_talk_goes_on(talk))
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (pfr_control_send(talk->control, "%s", text) == -EPIPE)
        mourn(talk);
}

/* Of the patience, what may be used now. */
static int64_t left_of(const struct pfr_talk *talk, int64_t begin, int keep_ms)
{
    int64_t used = pfr_clock_ns(CLOCK_MONOTONIC) - begin;
    int64_t left = talk->patience - used - keep_ms * INT64_C(1000000);

    return left > 0 ? left / 1000000 : 0;
}

static void lose_patience(struct pfr_talk *talk)
{
    if (!talk->slow)
        pfr_info("the sampler takes too long; not waiting for it now");
    talk->slow = true;
    pfr_talk_wake(talk);
}

/* One that talks without end is not heard out. */
#define MESSAGES 256

static bool is_it(const char *text, const char *wanted)
{
    return wanted && strcmp(text, wanted) == 0;
}

void pfr_talk_hear(struct pfr_talk *talk, const char *wanted, int keep_ms)
{
    int64_t begin = pfr_clock_ns(CLOCK_MONOTONIC), left = 1;
    char text[4096] = "";

    for (int i = 0; i < MESSAGES && pfr_talk_goes_on(talk) && !is_it(text, wanted); i++) {
        bool wait = wanted && !talk->slow;
        ssize_t n;

        left = left_of(talk, begin, keep_ms);
        n = pfr_control_receive(talk->control, text, sizeof(text), wait ? (int)left : -1);
        if (n > 0) {
            talk->slow = false; /* it was late, and is worth the rest */
            heed(talk, text);
        } else if (n != -ETIMEDOUT) {
            mourn(talk);
        }
        if (n == -ETIMEDOUT || (wanted && left <= 0))
            break;
    }
    if (wanted && !is_it(text, wanted) && pfr_talk_goes_on(talk))
        lose_patience(talk);
    talk->patience -= pfr_clock_ns(CLOCK_MONOTONIC) - begin;
}
