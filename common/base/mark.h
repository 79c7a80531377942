/*
 * From inside a step to its sampler: a socket beside the files of the step,
 * mode 0600, named to the tasks in their environment. One datagram says one
 * thing, as words that end in '\0', and is answered by "ok" once it is recorded:
 *
 *   phase RANK NAME        a phase begins; one that RANK has open ends
 *   end RANK               the phase that RANK has open ends
 *   event RANK KEY=VALUE   one or more
 *
 * RANK is the number of the task, "-" when it has none.
 */
#ifndef PFR_BASE_MARK_H
#define PFR_BASE_MARK_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define PFR_MARK_VARIABLE "PROFRES_MARK"

/* The file's name, of the node's, in the directory of the step. */
#define PFR_MARK_FILE ".%.200s.mark"

/* A datagram, and how long a task waits for the answer to it. */
#define PFR_MARK_SIZE 4096
#define PFR_MARK_WAIT_MS 100

/*
 * A socket of that name in the directory, which only this user may write to;
 * one that was left there is replaced. Its fd, or -errno.
 */
int pfr_mark_bind(int dirfd, const char *name);

struct pfr_mark_sender {
    uid_t uid;
    struct sockaddr_un address;
    socklen_t length;
};

/*
 * The next datagram, with a '\0' behind it, and who sent it as the kernel knows
 * it. Its length, 0 when it cannot be used, -EAGAIN when there is none.
 */
ssize_t pfr_mark_receive(int fd, char text[static PFR_MARK_SIZE + 1],
                         struct pfr_mark_sender *sender);
void pfr_mark_answer(int fd, const struct pfr_mark_sender *sender);

/*
 * Sends to the socket at path: 1 it was recorded, 0 that is not known, -errno
 * it was not sent. Waits at most wait_ms. Leaves the process in the directory of
 * the socket, for a path may be longer than an address.
 */
int pfr_mark_send(const char *path, const char *text, size_t length, int wait_ms);

#endif
