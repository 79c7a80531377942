/*
 * The directories of a cgroup and of all below it, kept open. A tick looks at
 * the link count of each, which the kernel raises for every child directory,
 * and lists a directory anew only when that has changed.
 */
#ifndef PFR_COLLECT_SUBTREE_H
#define PFR_COLLECT_SUBTREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PFR_SUBTREE_FILES 2
#define PFR_SUBTREE_MAX 4096

struct pfr_subdir {
    int fd;
    int parent; /* index, -1 for the top */
    char *name;
    nlink_t links;
    bool found; /* during a listing of its parent */
    bool dead;
    int file[PFR_SUBTREE_FILES];      /* fds a user keeps here; -1 = none */
    int64_t value[PFR_SUBTREE_FILES]; /* and what it read last */
};

struct pfr_subtree {
    struct pfr_subdir *dirs;
    uint32_t count, capacity;
    int64_t retired[PFR_SUBTREE_FILES]; /* last values of directories that have gone */
    bool stale; /* something had gone: list all anew */
};

/* 0 or -errno. */
int pfr_subtree_open(struct pfr_subtree *tree, const char *path);
void pfr_subtree_release(struct pfr_subtree *tree);

/* Brings the list up to date. 0, or -ENODEV when the top itself has gone. */
int pfr_subtree_refresh(struct pfr_subtree *tree);

#endif
