#include "common/record/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/record/reader.h"

#define FIRST_SIZE (256u << 10)

void pfr_lines_init(struct pfr_lines *lines, int fd)
{
    *lines = (struct pfr_lines){ .fd = fd };
}

void pfr_lines_release(struct pfr_lines *lines)
{
    if (lines->fd >= 0)
        close(lines->fd);
    free(lines->buffer);
    *lines = (struct pfr_lines){ .fd = -1 };
}

/* Room behind what is there: by moving it to the front, else by a larger buffer. */
static int make_room(struct pfr_lines *lines)
{
    size_t size = lines->size ? lines->size * 2 : FIRST_SIZE;
    char *larger;

    if (lines->begin > 0) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
        return 0;
    }
    larger = realloc(lines->buffer, size);
    if (!larger)
        return -ENOMEM;
    lines->buffer = larger;
    lines->size = size;
    return 0;
}

static int fill(struct pfr_lines *lines)
{
    ssize_t n;
    int result = lines->end == lines->size ? make_room(lines) : 0;

    if (result < 0)
        return result;
    do
        n = read(lines->fd, lines->buffer + lines->end, lines->size - lines->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    lines->at_end = n == 0;
    lines->end += (size_t)n;
    return 0;
}

/* 1 with the newline that ends the line at begin, 0 when the file has ended, -errno */
static int find_end(struct pfr_lines *lines, const char **newline, bool *overlong)
{
    size_t seen = 0;

    *overlong = false;
    for (;;) {
        size_t have = lines->end - lines->begin;
        int result;

        *newline = have > seen ? memchr(lines->buffer + lines->begin + seen, '\n', have - seen)
                               : NULL;
        if (*newline)
            return 1;
        if (lines->at_end)
            return 0;
        seen = have;
        if (have > PFR_LINE_MAX) { /* of such a line only the end is waited for */
            *overlong = true;
            lines->begin = lines->end = 0;
            seen = 0;
        }
        result = fill(lines);
        if (result < 0)
            return result;
    }
}

int pfr_lines_next(struct pfr_lines *lines, const char **line, size_t *length)
{
    for (;;) {
        const char *newline;
        bool overlong;
        int result = find_end(lines, &newline, &overlong);

        if (result <= 0) {
            lines->torn = result == 0 && (lines->end > lines->begin || overlong);
            return result;
        }
        *line = lines->buffer + lines->begin;
        *length = (size_t)(newline - *line);
        lines->begin += *length + 1;
        if (!overlong && *length <= PFR_LINE_MAX) {
            lines->count++;
            return 1;
        }
        lines->too_long++;
    }
}
