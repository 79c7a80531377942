#include "common/collect/cgpath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/collect/level.h"

#include <fcntl.h>

static const char *const controller_names[] = {
    [PFR_UNIFIED] = "unified", [PFR_MEMORY] = "memory", [PFR_CPU] = "cpu",
    [PFR_CPUACCT] = "cpuacct", [PFR_BLKIO] = "blkio",   [PFR_PIDS] = "pids",
    [PFR_FREEZER] = "freezer", [PFR_CPUSET] = "cpuset", [PFR_DEVICES] = "devices",
};

const char *pfr_controller_name(enum pfr_controller controller)
{
    return controller_names[controller];
}

const char *pfr_cgtarget_mode(const struct pfr_cgtarget *target)
{
    bool v1 = false, v2 = target->dirs[PFR_UNIFIED].scoped;

    for (int i = PFR_UNIFIED + 1; i < PFR_CONTROLLER_COUNT; i++)
        v1 = v1 || target->dirs[i].scoped;
    if (v1)
        return v2 ? "hybrid" : "v1";
    return v2 ? "v2" : "none";
}

/* True when `name` is one of the comma-separated words of list. */
static bool list_has(const char *list, size_t length, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = list; p < list + length;) {
        size_t word = strcspn(p, ",");

        if (word > (size_t)(list + length - p))
            word = (size_t)(list + length - p);
        if (word == n && strncmp(p, name, n) == 0)
            return true;
        p += word + 1;
    }
    return false;
}

/* One that does not fit must not become that of an ancestor: it is below no mount. */
static void set_path(struct pfr_cgdir *dir, const char *path, size_t length)
{
    if (length >= PFR_CGPATH_SIZE)
        snprintf(dir->path, PFR_CGPATH_SIZE, "(too long)");
    else
        snprintf(dir->path, PFR_CGPATH_SIZE, "%.*s", (int)length, path);
}

/* "4:cpu,cpuacct:/path" or "0::/path" into the paths it speaks of. */
static void take_cgroup_line(const char *line, size_t length, struct pfr_cgtarget *target)
{
    const char *list = memchr(line, ':', length), *path;
    size_t left;

    if (!list)
        return;
    list++;
    left = length - (size_t)(list - line);
    path = memchr(list, ':', left);
    if (!path)
        return;
    for (int i = 0; i < PFR_CONTROLLER_COUNT; i++) {
        bool match = i == PFR_UNIFIED ? path == list && line[0] == '0'
                                      : list_has(list, (size_t)(path - list), controller_names[i]);

        if (match)
            set_path(&target->dirs[i], path + 1, length - (size_t)(path + 1 - line));
    }
}

static int read_paths(const struct pfr_env *env, pid_t pid, struct pfr_cgtarget *target)
{
    char file[PATH_MAX + 32], text[16384];
    ssize_t n;

    snprintf(file, sizeof(file), "%s/%d/cgroup", env->proc, (int)pid);
    n = pfr_file_read_text(AT_FDCWD, file, text, sizeof(text));
    if (n <= 0)
        return n < 0 ? (int)n : -ESRCH;
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, "\n");

        take_cgroup_line(p, length, target);
        p += length + (p[length] == '\n');
    }
    return 0;
}

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *p = text; *p; p++) {
        if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] && p[3]) {
            *to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
            p += 3;
        } else {
            *to++ = *p;
        }
    }
    *to = '\0';
}

/* `path` below `root`: what follows it, or NULL when it is not below. */
static const char *below(const char *path, const char *root)
{
    size_t n = strlen(root);

    if (n > 0 && root[n - 1] == '/')
        n--;
    if (strncmp(path, root, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    return path + n;
}

static void place_dir(const struct pfr_env *env, struct pfr_cgdir *dir, const char *root,
                      const char *mount)
{
    const char *rest = dir->path[0] ? below(dir->path, root) : NULL;
    char place[PFR_CGPATH_SIZE];

    if (!rest || dir->dir[0] || strncmp(dir->path, "/..", 3) == 0)
        return;
    if ((size_t)snprintf(place, sizeof(place), "%s%s%s", env->root, mount,
                         strcmp(rest, "/") == 0 ? "" : rest) >= sizeof(place))
        return;
    memcpy(dir->dir, place, sizeof(place));
    snprintf(dir->mount, PFR_CGPATH_SIZE, "%s%s", env->root, mount);
}

/* One line of mountinfo: id parent dev root mount opts [...] - type source superopts */
static void take_mount_line(const struct pfr_env *env, char *line, struct pfr_cgtarget *target)
{
    char *fields[6], *save = NULL, *tail = strstr(line, " - ");
    char *type, *options;

    if (!tail)
        return;
    *tail = '\0';
    type = strtok_r(tail + 3, " ", &save);
    strtok_r(NULL, " ", &save);
    options = strtok_r(NULL, " \n", &save);
    save = NULL;
    for (int i = 0; i < 6; i++)
        if (!(fields[i] = strtok_r(i ? NULL : line, " ", &save)))
            return;
    if (!type || strncmp(type, "cgroup", 6) != 0)
        return;
    unescape(fields[3]);
    unescape(fields[4]);
    if (strcmp(type, "cgroup2") == 0)
        place_dir(env, &target->dirs[PFR_UNIFIED], fields[3], fields[4]);
    for (int i = PFR_UNIFIED + 1; i < PFR_CONTROLLER_COUNT; i++)
        if (strcmp(type, "cgroup") == 0 && options &&
            list_has(options, strlen(options), controller_names[i]))
            place_dir(env, &target->dirs[i], fields[3], fields[4]);
}

static int read_mounts(const struct pfr_env *env, struct pfr_cgtarget *target)
{
    char file[PATH_MAX + 32];
    PFR_AUTO_FREE char *line = NULL;
    PFR_AUTO_FILE *mounts = NULL;
    size_t size = 0;

    snprintf(file, sizeof(file), "%s/self/mountinfo", env->proc);
    mounts = fopen(file, "re");
    if (!mounts)
        return -errno;
    while (getline(&line, &size, mounts) > 0)
        take_mount_line(env, line, target);
    return 0;
}

static void judge_scope(struct pfr_cgdir *dir, const struct pfr_cgdir *outsider)
{
    if (!dir->path[0])
        snprintf(dir->reason, sizeof(dir->reason), "this kernel has no such cgroup hierarchy");
    else if (!dir->dir[0] && !dir->reason[0])
        snprintf(dir->reason, sizeof(dir->reason), "its cgroup is not below a mounted hierarchy");
    else if (dir->reason[0])
        return;
    else if (strcmp(dir->path, "/") == 0)
        snprintf(dir->reason, sizeof(dir->reason), "not scoped: in the root cgroup, with all else");
    else if (below(outsider->path, dir->path))
        snprintf(dir->reason, sizeof(dir->reason),
                 "not scoped: in one cgroup with its surroundings");
    else
        dir->scoped = true;
}

/* The directory is the mount and the path below it: both are cut alike. */
static void climb_to_step(struct pfr_cgdir *dir, bool v2)
{
    char step[PFR_CGPATH_SIZE];
    size_t cut;

    if (!dir->dir[0])
        return;
    if (!pfr_level_step(dir->path, v2, step, sizeof(step))) {
        dir->dir[0] = '\0';
        snprintf(dir->reason, sizeof(dir->reason), "not scoped: the step has no cgroup there");
        return;
    }
    cut = strlen(dir->path) - strlen(step);
    if (cut > strlen(dir->dir) - strlen(dir->mount))
        return; /* the step is above what is mounted */
    dir->dir[strlen(dir->dir) - cut] = '\0';
    memcpy(dir->path, step, sizeof(step));
}

void pfr_cgtarget_narrow(struct pfr_cgtarget *target, const struct pfr_cgtarget *wider)
{
    for (int i = 0; i < PFR_CONTROLLER_COUNT; i++)
        if (target->dirs[i].scoped && strcmp(target->dirs[i].path, wider->dirs[i].path) == 0) {
            target->dirs[i].scoped = false;
            snprintf(target->dirs[i].reason, sizeof(target->dirs[i].reason),
                     "no cgroup of its own");
        }
}

int pfr_cgtarget_resolve(const struct pfr_env *env, pid_t pid, pid_t outsider,
                         enum pfr_level level, struct pfr_cgtarget *target)
{
    PFR_AUTO_FREE struct pfr_cgtarget *other = calloc(1, sizeof(*other));
    int r;

    if (!other)
        return -ENOMEM;
    memset(target, 0, sizeof(*target));
    if ((r = read_paths(env, pid, target)) < 0 || (r = read_paths(env, outsider, other)) < 0 ||
        (r = read_mounts(env, target)) < 0)
        return r;
    for (int i = 0; i < PFR_CONTROLLER_COUNT && level == PFR_LEVEL_STEP; i++)
        climb_to_step(&target->dirs[i], i == PFR_UNIFIED);
    for (int i = 0; i < PFR_CONTROLLER_COUNT; i++)
        judge_scope(&target->dirs[i], &other->dirs[i]);
    return 0;
}

int pfr_cgdir_outside(const struct pfr_cgdir *dir, bool v2, char *path, size_t size)
{
    char outside[PFR_CGPATH_SIZE];
    size_t cut;

    if (!dir->dir[0] || !pfr_level_outside(dir->path, v2, outside, sizeof(outside)))
        return 0;
    /* the directory is the mount and what of the path is below its root */
    cut = strlen(dir->path) - (strlen(dir->dir) - strlen(dir->mount));
    if (strlen(outside) < cut ||
        (size_t)snprintf(path, size, "%s%s/cgroup.procs", dir->mount, outside + cut) >= size)
        return -EXDEV;
    return 1;
}
