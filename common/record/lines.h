/*
 * The lines of a file, one after another, in a buffer that does not grow with
 * the file: for the scanner.
 */
#ifndef PFR_RECORD_LINES_H
#define PFR_RECORD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfr_lines {
    int fd;
    char *buffer;
    size_t size, begin, end; /* what is in the buffer and not yet given out */
    bool at_end;
    int64_t count;    /* lines given out */
    int64_t too_long; /* lines beyond PFR_LINE_MAX, passed over */
    bool torn;        /* the file ended without a newline: that part is not given out */
};

/* Takes the fd. */
void pfr_lines_init(struct pfr_lines *lines, int fd);
void pfr_lines_release(struct pfr_lines *lines);

/*
 * 1 and the next line without its newline, which stays until the next call; 0
 * at the end; -errno.
 */
int pfr_lines_next(struct pfr_lines *lines, const char **line, size_t *length);

#endif
