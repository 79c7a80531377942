/*
 * The growing end of a series. Each look reads only what was appended since the
 * one before, in bounded memory, also of a file that has grown for days or was
 * replaced by a shorter one (profres-series(5), Size).
 */
#ifndef PFR_TOP_TAIL_H
#define PFR_TOP_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a file that is met for the first time, its first line and so much of its end is read. */
#define PFR_TAIL_SPAN (256 << 10)

struct pfr_tail {
    bool known;
    dev_t device;
    ino_t inode;
    int64_t offset;  /* read so far */
    bool first;      /* the next line is the file's first */
    bool skip;       /* up to the next newline: its beginning was not kept */
    char *line;      /* one that has not ended yet */
    size_t used, room;
};

/*
 * A whole line, without its newline and with a NUL instead. NULL: the file is a
 * new one, forget what the old one said. What it returns counts for the first
 * line only: whether what lies between that and the end may be passed over.
 */
typedef bool (*pfr_tail_take)(void *arg, const char *line, size_t length);

/* 1 when there were lines, 0 when there was nothing new or no file, -errno. */
int pfr_tail_read(struct pfr_tail *tail, int dirfd, const char *name, pfr_tail_take take,
                  void *arg);

void pfr_tail_release(struct pfr_tail *tail);

#endif
