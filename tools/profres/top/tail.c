#include "tools/profres/top/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/record/reader.h"

#define CHUNK (64 << 10)

/* Keeps the part of a line; one that is too long is passed over. */
static void keep(struct pfr_tail *tail, const char *part, size_t length)
{
    if (tail->skip)
        return;
    if (tail->used + length + 1 > tail->room) {
        size_t room = tail->used + length + CHUNK;
        char *line = room > PFR_LINE_MAX ? NULL : realloc(tail->line, room);

        if (!line) {
            tail->skip = true;
            return;
        }
        tail->line = line;
        tail->room = room;
    }
    memcpy(tail->line + tail->used, part, length);
    tail->used += length;
}

/* The line has ended. True when it was the first and the middle may be passed over. */
static bool end_line(struct pfr_tail *tail, pfr_tail_take take, void *arg)
{
    bool jump = false;

    if (!tail->skip) {
        tail->line[tail->used] = '\0';
        jump = take(arg, tail->line, tail->used) && tail->first;
    }
    tail->first = false;
    tail->skip = false;
    tail->used = 0;
    return jump;
}

/* Into the middle of a line, so that only what follows it is read. */
static void jump_to(struct pfr_tail *tail, int64_t offset)
{
    tail->offset = offset;
    tail->skip = true;
}

/* The lines in a chunk that was read at tail->offset. 1 when there was one. */
static int take_chunk(struct pfr_tail *tail, const char *chunk, size_t length, int64_t size,
                      pfr_tail_take take, void *arg)
{
    const char *p = chunk, *end = chunk + length, *newline;
    int lines = 0;

    while (p < end && (newline = memchr(p, '\n', (size_t)(end - p)))) {
        keep(tail, p, (size_t)(newline - p));
        lines = 1;
        p = newline + 1;
        if (end_line(tail, take, arg) &&
            size - (tail->offset + (p - chunk)) > PFR_TAIL_SPAN) {
            jump_to(tail, size - PFR_TAIL_SPAN);
            return lines;
        }
    }
    keep(tail, p, (size_t)(end - p));
    tail->offset += (int64_t)length;
    return lines;
}

static void start_over(struct pfr_tail *tail, const struct stat *status, pfr_tail_take take,
                       void *arg)
{
    tail->known = true;
    tail->device = status->st_dev;
    tail->inode = status->st_ino;
    tail->offset = 0;
    tail->used = 0;
    tail->first = true;
    tail->skip = false;
    take(arg, NULL, 0);
}

int pfr_tail_read(struct pfr_tail *tail, int dirfd, const char *name, pfr_tail_take take, void *arg)
{
    /*
     * Opened for each look: on NFS that is what asks the server how long the
     * file is by now, and whether the name is still that of the same file.
     */
    struct stat status;
    PFR_AUTO_FD fd = pfr_file_open_foreign(dirfd, name, &status);
    PFR_AUTO_FREE char *chunk = NULL;
    int lines = 0;

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    if (!tail->known || tail->device != status.st_dev || tail->inode != status.st_ino ||
        status.st_size < tail->offset)
        start_over(tail, &status, take, arg);
    if (tail->offset >= status.st_size)
        return 0;
    chunk = malloc(CHUNK);
    while (chunk && tail->offset < status.st_size) {
        ssize_t n = pread(fd, chunk, CHUNK, tail->offset);

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        if (n > 0)
            lines |= take_chunk(tail, chunk, (size_t)n, status.st_size, take, arg);
    }
    return lines;
}

void pfr_tail_release(struct pfr_tail *tail)
{
    free(tail->line);
    memset(tail, 0, sizeof(*tail));
}
