#include "common/base/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"

static int make_address(const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    return (size_t)snprintf(address->sun_path, sizeof(address->sun_path), "%s", name) <
                   sizeof(address->sun_path)
               ? 0
               : -ENAMETOOLONG;
}

/* In the current directory. The mask, not chmod: there is no moment in which others may. */
static int bind_here(int fd, const char *name)
{
    struct sockaddr_un address;
    mode_t mask;
    int r = make_address(name, &address);

    if (r < 0)
        return r;
    unlink(name); /* left by one that was killed */
    mask = umask(0177);
    r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
    umask(mask);
    return r;
}

int pfr_mark_bind(int dirfd, const char *name)
{
    PFR_AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    PFR_AUTO_FD back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int yes = 1, r;

    if (fd < 0 || back < 0 || fchdir(dirfd) < 0)
        return -errno;
    r = bind_here(fd, name);
    if (fchdir(back) < 0 && chdir("/") < 0)
        r = -errno;
    if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0)
        r = -errno;
    return r < 0 ? r : pfr_take_fd(&fd);
}

/* What the kernel says of the sender; false when it says nothing. */
static bool take_credentials(struct msghdr *message, struct pfr_mark_sender *sender)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        struct ucred who;

        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
            continue;
        memcpy(&who, CMSG_DATA(part), sizeof(who));
        sender->uid = who.uid;
        return true;
    }
    return false;
}

ssize_t pfr_mark_receive(int fd, char text[static PFR_MARK_SIZE + 1],
                         struct pfr_mark_sender *sender)
{
    /* room for the credentials alone: a descriptor that is sent along is not taken */
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } extra;
    struct iovec part = { .iov_base = text, .iov_len = PFR_MARK_SIZE };
    struct msghdr message = { .msg_name = &sender->address,
                              .msg_namelen = sizeof(sender->address),
                              .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &extra,
                              .msg_controllen = sizeof(extra) };
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    sender->length = message.msg_namelen;
    text[n] = '\0';
    return (message.msg_flags & MSG_TRUNC) || !take_credentials(&message, sender) ? 0 : n;
}

void pfr_mark_answer(int fd, const struct pfr_mark_sender *sender)
{
    if (sender->length > sizeof(sa_family_t))
        sendto(fd, "ok", 2, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&sender->address,
               sender->length);
}

/* Into the directory of path; what is left is a name in it. */
static int enter(const char *path, struct sockaddr_un *address)
{
    const char *name = strrchr(path, '/');
    char dir[PATH_MAX];

    if (!name)
        return make_address(path, address);
    if ((size_t)snprintf(dir, sizeof(dir), "%.*s", (int)(name - path + 1), path) >= sizeof(dir))
        return -ENAMETOOLONG;
    return chdir(dir) < 0 ? -errno : make_address(name + 1, address);
}

int pfr_mark_send(const char *path, const char *text, size_t length, int wait_ms)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + wait_ms * INT64_C(1000000);
    struct timeval longest = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };
    PFR_AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un own = { .sun_family = AF_UNIX }, address;
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    int64_t left;
    int r;

    if (fd < 0)
        return -errno;
    if ((r = enter(path, &address)) < 0)
        return r;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest));
    /* an address that the kernel makes up, for the answer; without one it is not waited for */
    if (bind(fd, (struct sockaddr *)&own, sizeof(own.sun_family)) < 0)
        wait_ms = 0;
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        send(fd, text, length, MSG_NOSIGNAL) < 0)
        return -errno;
    left = (end - pfr_clock_ns(CLOCK_MONOTONIC)) / 1000000;
    return wait_ms > 0 && left > 0 && poll(&poll_fd, 1, (int)left) > 0 &&
           poll_fd.revents & POLLIN;
}
