#include "tools/profres/cage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LIBCGROUP
#include <libcgroup.h>
#endif

#include "common/base/cleanup.h"
#include "common/base/fd.h"

/* How often its removal is tried, 5 ms apart. */
#define REMOVE_TRIES 400

/*
 * Those that only account. Not cpu and not cpuset: a group of one's own there
 * changes how the command competes for cores.
 */
static const enum pfr_controller accounting[] = { PFR_MEMORY, PFR_CPUACCT, PFR_PIDS, PFR_BLKIO };

/* The directory of the cgroup in a hierarchy of v1. */
static void v1_dir(const struct pfr_cage *cage, enum pfr_controller controller,
                   char dir[static PFR_CGPATH_SIZE + 32])
{
    snprintf(dir, PFR_CGPATH_SIZE + 32, "%s/profres-%d", cage->own.dirs[controller].dir,
             (int)getpid());
}

/* ---- v1, with libcgroup ---- */

#ifdef HAVE_LIBCGROUP
static bool lib_begin(void)
{
    return cgroup_init() == 0;
}

static struct cgroup *lib_group(const struct pfr_cage *cage, enum pfr_controller controller)
{
    const char *own = cage->own.dirs[controller].path;
    char name[PFR_CGPATH_SIZE + 32];
    struct cgroup *group;

    snprintf(name, sizeof(name), "%s/profres-%d", strcmp(own, "/") == 0 ? "" : own, (int)getpid());
    group = cgroup_new_cgroup(name + 1); /* libcgroup's names have no leading slash */
    if (group && !cgroup_add_controller(group, pfr_controller_name(controller)))
        cgroup_free(&group);
    return group;
}

static bool lib_make(const struct pfr_cage *cage, enum pfr_controller controller)
{
    struct cgroup *group = lib_group(cage, controller);
    bool made = group && cgroup_create_cgroup(group, 1) == 0;

    if (group)
        cgroup_free(&group);
    return made;
}

static int lib_enter(const struct pfr_cage *cage, enum pfr_controller controller, pid_t pid)
{
    struct cgroup *group = lib_group(cage, controller);
    bool done = group && cgroup_attach_task_pid(group, pid) == 0;

    if (group)
        cgroup_free(&group);
    return done ? 0 : -EACCES;
}

static void lib_remove(const struct pfr_cage *cage, enum pfr_controller controller)
{
    struct cgroup *group = lib_group(cage, controller);

    if (group) {
        cgroup_delete_cgroup_ext(group, CGFLAG_DELETE_RECURSIVE);
        cgroup_free(&group);
    }
}
#else
static bool lib_begin(void)
{
    return false;
}

static bool lib_make(const struct pfr_cage *cage, enum pfr_controller controller)
{
    return cage && controller && false;
}

static int lib_enter(const struct pfr_cage *cage, enum pfr_controller controller, pid_t pid)
{
    return cage && controller && pid ? -ENOSYS : -EINVAL;
}

static void lib_remove(const struct pfr_cage *cage, enum pfr_controller controller)
{
    (void)cage;
    (void)controller;
}
#endif

/* ---- v1, either way ---- */

static bool make_v1(const struct pfr_cage *cage, enum pfr_controller controller)
{
    char dir[PFR_CGPATH_SIZE + 32];

    if (!cage->by_hand)
        return lib_make(cage, controller);
    v1_dir(cage, controller, dir);
    return mkdir(dir, 0755) == 0;
}

static int make_all_v1(struct pfr_cage *cage)
{
    int made = 0;

    for (size_t i = 0; i < PFR_COUNT(accounting); i++) {
        const struct pfr_cgdir *own = &cage->own.dirs[accounting[i]];

        /* libcgroup prints an error of its own where it may not write */
        if (!own->dir[0] || access(own->dir, W_OK) < 0)
            continue;
        cage->v1[accounting[i]] = make_v1(cage, accounting[i]);
        made += cage->v1[accounting[i]];
    }
    return made;
}

/* ---- v2, always by hand: libcgroup would switch on controllers in every ancestor ---- */

static void read_in(const char *dir, const char *file, char *text, size_t size)
{
    char path[PATH_MAX];

    text[0] = '\0';
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) < sizeof(path))
        pfr_file_read_text(AT_FDCWD, path, text, size);
}

static bool gives_memory(const char *dir)
{
    char text[512];

    read_in(dir, "cgroup.subtree_control", text, sizeof(text));
    return strstr(text, "memory") != NULL;
}

/* A limit on this level would be escaped by going above it. */
static bool has_limit(const char *dir)
{
    static const char *const limits[] = { "memory.max", "memory.high", "memory.swap.max",
                                          "memory.swap.high", "cpu.max", "pids.max",
                                          "io.max", "cpuset.cpus", "cpuset.mems" };
    char text[256];

    for (size_t i = 0; i < PFR_COUNT(limits); i++) {
        read_in(dir, limits[i], text, sizeof(text));
        /* none: "max", and for io and cpuset nothing or an empty line */
        if (text[0] && text[0] != '\n' && strncmp(text, "max", 3) != 0)
            return true;
    }
    return false;
}

/* That of another profres run: who goes above it is no longer measured there. */
static bool is_cage(const char *dir)
{
    const char *slash = strrchr(dir, '/');
    int pid;

    return slash && sscanf(slash, "/profres-%d", &pid) == 1;
}

/* The nearest place upwards where a child would have memory accounting; else here. */
static void choose_parent(const struct pfr_cgdir *own, char *parent, size_t size)
{
    char dir[PFR_CGPATH_SIZE];

    snprintf(dir, sizeof(dir), "%s", own->dir);
    snprintf(parent, size, "%s", own->dir);
    while (access(dir, W_OK) == 0) {
        char *slash = strrchr(dir, '/');

        if (gives_memory(dir)) {
            snprintf(parent, size, "%s", dir);
            return;
        }
        if (has_limit(dir) || is_cage(dir) || !slash || strcmp(dir, own->mount) == 0)
            return;
        *slash = '\0';
    }
}

static int make_v2(struct pfr_cage *cage)
{
    const struct pfr_cgdir *own = &cage->own.dirs[PFR_UNIFIED];
    char parent[PFR_CGPATH_SIZE];

    if (!own->dir[0])
        return 0;
    choose_parent(own, parent, sizeof(parent));
    snprintf(cage->v2, sizeof(cage->v2), "%s/profres-%d", parent, (int)getpid());
    if (mkdir(cage->v2, 0755) == 0)
        return 1;
    cage->v2[0] = '\0';
    return 0;
}

int pfr_cage_make(struct pfr_cage *cage, const struct pfr_env *env, bool by_hand)
{
    memset(cage, 0, sizeof(*cage));
    cage->by_hand = by_hand || !lib_begin();
    if (pfr_cgtarget_resolve(env, getpid(), getpid(), PFR_LEVEL_OWN, &cage->own) < 0)
        return 0;
    return make_all_v1(cage) + make_v2(cage);
}

static int write_pid(const char *dir, pid_t pid)
{
    char path[PATH_MAX], text[16];
    PFR_AUTO_FD fd = -1;

    if ((size_t)snprintf(path, sizeof(path), "%s/cgroup.procs", dir) >= sizeof(path))
        return -ENAMETOOLONG;
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return pfr_fd_write_all(fd, text, (size_t)snprintf(text, sizeof(text), "%d", (int)pid));
}

static int enter_v1(const struct pfr_cage *cage, enum pfr_controller controller, pid_t pid)
{
    char dir[PFR_CGPATH_SIZE + 32];

    if (!cage->by_hand)
        return lib_enter(cage, controller, pid);
    v1_dir(cage, controller, dir);
    return write_pid(dir, pid);
}

int pfr_cage_enter(struct pfr_cage *cage, pid_t pid)
{
    int r = cage->v2[0] ? write_pid(cage->v2, pid) : 0;

    for (int i = 0; i < PFR_CONTROLLER_COUNT && r == 0; i++)
        if (cage->v1[i])
            r = enter_v1(cage, (enum pfr_controller)i, pid);
    return r;
}

/* ---- removal ---- */

static void move_processes(const char *from, const char *to)
{
    char path[PATH_MAX], line[32];
    PFR_AUTO_FILE *procs = NULL;

    if ((size_t)snprintf(path, sizeof(path), "%s/cgroup.procs", from) < sizeof(path))
        procs = fopen(path, "re");
    while (procs && fgets(line, sizeof(line), procs))
        write_pid(to, (pid_t)strtol(line, NULL, 10));
}

/* The command may have made cgroups of its own below. True when it is gone. */
static bool remove_by_hand(const char *path, const char *home)
{
    PFR_AUTO_DIR *dir = opendir(path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        char child[PATH_MAX];

        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            (size_t)snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) < sizeof(child))
            remove_by_hand(child, home);
    }
    move_processes(path, home);
    return rmdir(path) == 0 || errno == ENOENT;
}

static bool remove_v1(const struct pfr_cage *cage, enum pfr_controller controller)
{
    char dir[PFR_CGPATH_SIZE + 32];

    v1_dir(cage, controller, dir);
    if (cage->by_hand)
        return remove_by_hand(dir, cage->own.dirs[controller].dir);
    lib_remove(cage, controller);
    return access(dir, F_OK) < 0;
}

/* True when nothing is left. */
static bool remove_all(struct pfr_cage *cage)
{
    bool left = false;

    for (int i = 0; i < PFR_CONTROLLER_COUNT; i++) {
        cage->v1[i] = cage->v1[i] && !remove_v1(cage, (enum pfr_controller)i);
        left |= cage->v1[i];
    }
    if (cage->v2[0] && remove_by_hand(cage->v2, cage->own.dirs[PFR_UNIFIED].dir))
        cage->v2[0] = '\0';
    return !left && !cage->v2[0];
}

/*
 * Busy: something was forked while we moved what was there, or a process is
 * ending, which is no longer listed, cannot be moved and may take its time to
 * give back its memory.
 */
int pfr_cage_remove(struct pfr_cage *cage)
{
    const struct timespec pause = { .tv_nsec = 5000000 };

    for (int tries = 0; tries < REMOVE_TRIES; tries++) {
        if (remove_all(cage))
            return 0;
        nanosleep(&pause, NULL);
    }
    return -EBUSY;
}
