#include "common/base/control.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"

/* A message takes less than 1 KiB in the kernel: of 4096 tasks, start and end. */
#define ROOM (8 << 20)

int pfr_control_pair(int fds[2])
{
    int room = ROOM;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return -errno;
    if (setsockopt(fds[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) < 0)
        setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)); /* as far as one may */
    return 0;
}

int pfr_control_send(int fd, const char *format, ...)
{
    PFR_AUTO_FREE char *text = NULL;
    va_list ap;
    int length;

    va_start(ap, format);
    length = vasprintf(&text, format, ap);
    va_end(ap);
    if (length < 0) {
        text = NULL;
        return -ENOMEM;
    }
    return send(fd, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int pfr_control_send_fd(int fd, int passed, const char *text)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { .room = { 0 } };
    struct iovec part = { .iov_base = (char *)text, .iov_len = strlen(text) };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                              .msg_controllen = sizeof(control) };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &passed, sizeof(passed));
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* What a message may have; the receiver's buffer is a little larger. */
#define WORD 4000

void pfr_control_send_command(int fd, char *const *words)
{
    size_t used = 0;

    for (int i = 0; words[i]; i++) {
        size_t length = strnlen(words[i], WORD);

        used += length + 1;
        if (i == PFR_COMMAND_WORDS - 1 || used > PFR_COMMAND_SIZE - sizeof("...")) {
            pfr_control_send(fd, "command ...");
            return;
        }
        pfr_control_send(fd, "command %.*s", (int)length, words[i]);
    }
}

/* Well below what a socket takes in one piece. */
#define PART 32768

int pfr_control_send_long(int fd, const char *tag, const char *text, int timeout_ms)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + (int64_t)timeout_ms * 1000000;
    size_t left = strlen(text);

    for (;;) {
        bool last = left <= PART;
        int r = pfr_control_send(fd, "%s %.*s", last ? tag : "more", last ? (int)left : PART, text);
        struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
        int64_t wait = (end - pfr_clock_ns(CLOCK_MONOTONIC)) / 1000000;

        if (r == 0 && last)
            return 0;
        if (r == 0) {
            text += PART;
            left -= PART;
        } else if (r != -EAGAIN || wait <= 0) {
            return r;
        } else {
            poll(&poll_fd, 1, (int)wait);
        }
    }
}

/* What is passed to one who does not ask for it, the kernel closes. */
static ssize_t receive_now(int fd, char *text, size_t size, int *passed)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = { .iov_base = text, .iov_len = size };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
                              .msg_control = passed ? &control : NULL,
                              .msg_controllen = passed ? sizeof(control) : 0 };
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

    if (passed && header && header->cmsg_level == SOL_SOCKET &&
        header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(passed, CMSG_DATA(header), sizeof(*passed));
    return n;
}

ssize_t pfr_control_receive(int fd, char *text, size_t size, int timeout_ms)
{
    return pfr_control_receive_fd(fd, text, size, timeout_ms, NULL);
}

ssize_t pfr_control_receive_fd(int fd, char *text, size_t size, int timeout_ms, int *passed)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + (int64_t)timeout_ms * 1000000;

    if (passed)
        *passed = -1;
    for (;;) {
        ssize_t n = receive_now(fd, text, size - 1, passed);
        int64_t left = end - pfr_clock_ns(CLOCK_MONOTONIC);
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

        if (n >= 0) {
            text[n] = '\0';
            return n;
        }
        /*
         * Closed with messages of ours unread. That is said once, before what
         * the other side had sent: read on to its end.
         */
        if (errno == ECONNRESET)
            continue;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        if (left <= 0)
            return -ETIMEDOUT;
        poll(&poll_fd, 1, (int)(left / 1000000) + 1);
    }
}
