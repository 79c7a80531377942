#include "tools/sampler/track.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/collect/shape.h"

/* Which hierarchy lists the processes; v2 first, for it can be kept open. */
static const enum pfr_controller preference[] = { PFR_UNIFIED, PFR_FREEZER, PFR_MEMORY,
                                                  PFR_PIDS,    PFR_CPUACCT, PFR_CPU, PFR_BLKIO };

static const struct pfr_cgdir *listing_dir(const struct pfr_cgtarget *target,
                                           enum pfr_controller *controller)
{
    for (size_t i = 0; i < sizeof(preference) / sizeof(preference[0]); i++) {
        *controller = preference[i];
        if (target->dirs[*controller].scoped)
            return &target->dirs[*controller];
    }
    return NULL;
}

int pfr_track_open(struct pfr_track *track, const struct pfr_env *env,
                   const struct pfr_cgtarget *target, pid_t root)
{
    enum pfr_controller controller;
    const struct pfr_cgdir *dir = listing_dir(target, &controller);

    memset(track, 0, sizeof(*track));
    track->env = env;
    track->root = root;
    track->proc_fd = -1;
    if (dir && pfr_subtree_open(&track->subtree, dir->dir) == 0) {
        track->by_cgroup = true;
        track->reopen = controller != PFR_UNIFIED;
        return 0;
    }
    track->proc_fd = open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return track->proc_fd < 0 ? -errno : 0;
}

void pfr_track_release(struct pfr_track *track)
{
    pfr_subtree_release(&track->subtree);
    if (track->proc_fd >= 0)
        close(track->proc_fd);
    free(track->pids);
    free(track->kin);
    track->pids = NULL;
    track->kin = NULL;
    track->proc_fd = -1;
}

const char *pfr_track_source(const struct pfr_track *track, const struct pfr_cgtarget *target)
{
    enum pfr_controller controller;

    if (!track->by_cgroup || !listing_dir(target, &controller))
        return "process tree";
    return controller == PFR_UNIFIED ? "cgroup v2" : "cgroup v1";
}

static int add_pid(struct pfr_track *track, pid_t pid)
{
    if (track->count == track->capacity) {
        uint32_t capacity = track->capacity ? 2 * track->capacity : 256;
        pid_t *pids = realloc(track->pids, capacity * sizeof(*pids));

        if (!pids)
            return -ENOMEM;
        track->pids = pids;
        track->capacity = capacity;
    }
    track->pids[track->count++] = pid;
    return 0;
}

/* ---- by cgroup ---- */

/* One pid a line. A number cut off at the end of the buffer is read again. */
static int take_pids(struct pfr_track *track, size_t length, size_t *used)
{
    const char *p = track->text;

    *used = 0;
    track->text[length] = '\0';
    while (*p) {
        int64_t pid;

        if (!pfr_parse_digits(&p, &pid) || *p != '\n')
            return 0;
        p++;
        *used = (size_t)(p - track->text);
        if (pid > 0 && add_pid(track, (pid_t)pid) < 0) /* 0: of another pid namespace */
            return -ENOMEM;
    }
    return 0;
}

static int read_procs(struct pfr_track *track, int fd)
{
    off_t offset = 0;

    for (;;) {
        ssize_t n = pread(fd, track->text, sizeof(track->text) - 1, offset);
        size_t used;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
        if (take_pids(track, (size_t)n, &used) < 0)
            return -ENOMEM;
        if (used == 0)
            return 0;
        offset += (off_t)used;
    }
}

/*
 * On v1 cgroup.procs must be opened for every reading: an open one keeps the
 * list of pids it made, for as long as it is read at least once a second.
 */
static int list_dir(struct pfr_track *track, struct pfr_subdir *dir)
{
    int r;

    if (track->reopen || dir->file[0] < 0) {
        if (dir->file[0] >= 0)
            close(dir->file[0]);
        dir->file[0] = openat(dir->fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    }
    if (dir->file[0] < 0)
        return -errno;
    r = read_procs(track, dir->file[0]);
    if (track->reopen) {
        close(dir->file[0]);
        dir->file[0] = -1;
    }
    return r;
}

static int list_cgroup(struct pfr_track *track)
{
    int r = pfr_subtree_refresh(&track->subtree);

    if (r < 0)
        return r;
    for (uint32_t i = 0; i < track->subtree.count; i++) {
        r = list_dir(track, &track->subtree.dirs[i]);
        if (r == -ENOMEM)
            return r;
        if (r < 0)
            track->subtree.stale = true; /* it went while we looked */
    }
    return track->count > 0;
}

/* ---- by descent ---- */

static int add_kin(struct pfr_track *track, pid_t pid)
{
    struct pfr_stat_line line;
    char path[32];

    snprintf(path, sizeof(path), "%d/stat", (int)pid);
    if (pfr_file_read_text(track->proc_fd, path, track->text, sizeof(track->text)) <= 0 ||
        pfr_shape_stat(track->text, &line) <= 0)
        return 0;
    if (track->kin_count == track->kin_capacity) {
        uint32_t capacity = track->kin_capacity ? 2 * track->kin_capacity : 512;
        struct pfr_kin *kin = realloc(track->kin, capacity * sizeof(*kin));

        if (!kin)
            return -ENOMEM;
        track->kin = kin;
        track->kin_capacity = capacity;
    }
    track->kin[track->kin_count++] =
        (struct pfr_kin){ .pid = pid, .parent = (pid_t)line.field[PFR_STAT_PPID], .member = -1 };
    return 0;
}

struct dirent64_head {
    uint64_t ino;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* Lists the directory by hand: readdir() would allocate at every tick. */
static int list_all(struct pfr_track *track)
{
    char entries[32768];

    track->kin_count = 0;
    if (lseek(track->proc_fd, 0, SEEK_SET) < 0)
        return -errno;
    for (;;) {
        long n = syscall(SYS_getdents64, track->proc_fd, entries, sizeof(entries));

        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
        for (long at = 0; at < n;) {
            const struct dirent64_head *entry = (const void *)(entries + at);
            int64_t pid;

            if (pfr_parse_int(entry->name, &pid) && add_kin(track, (pid_t)pid) < 0)
                return -ENOMEM;
            at += entry->length;
        }
    }
}

static int compare_kin(const void *a, const void *b)
{
    pid_t pa = ((const struct pfr_kin *)a)->pid, pb = ((const struct pfr_kin *)b)->pid;

    return pa < pb ? -1 : pa > pb;
}

static struct pfr_kin *find_kin(struct pfr_track *track, pid_t pid)
{
    struct pfr_kin key = { .pid = pid };

    return bsearch(&key, track->kin, track->kin_count, sizeof(key), compare_kin);
}

/* Up the line of parents until one is known; a pid that moved in between ends it. */
static bool is_member(struct pfr_track *track, struct pfr_kin *kin, int depth)
{
    struct pfr_kin *parent;

    if (kin->member >= 0)
        return kin->member;
    if (kin->pid == track->root || kin->pid == getpid() || depth > 4096) {
        kin->member = 0;
        return false;
    }
    if (kin->parent == track->root) {
        kin->member = 1;
        return true;
    }
    parent = find_kin(track, kin->parent);
    kin->member = parent && is_member(track, parent, depth + 1);
    return kin->member;
}

static int list_tree(struct pfr_track *track)
{
    int r = list_all(track);

    if (r < 0)
        return r;
    qsort(track->kin, track->kin_count, sizeof(*track->kin), compare_kin);
    for (uint32_t i = 0; i < track->kin_count; i++)
        if (is_member(track, &track->kin[i], 0) && add_pid(track, track->kin[i].pid) < 0)
            return -ENOMEM;
    return track->count > 0;
}

int pfr_track_list(struct pfr_track *track)
{
    track->count = 0;
    return track->by_cgroup ? list_cgroup(track) : list_tree(track);
}
