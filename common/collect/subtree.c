#include "common/collect/subtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"

static int add_dir(struct pfr_subtree *tree, int parent, const char *name, int fd)
{
    struct pfr_subdir *dirs = tree->dirs;

    if (tree->count == PFR_SUBTREE_MAX)
        return -E2BIG;
    if (tree->count == tree->capacity) {
        uint32_t capacity = tree->capacity ? 2 * tree->capacity : 8;

        dirs = realloc(dirs, capacity * sizeof(*dirs));
        if (!dirs)
            return -ENOMEM;
        tree->dirs = dirs;
        tree->capacity = capacity;
    }
    dirs[tree->count] = (struct pfr_subdir){ .fd = fd, .parent = parent, .found = true };
    for (int i = 0; i < PFR_SUBTREE_FILES; i++)
        dirs[tree->count].file[i] = -1;
    dirs[tree->count].name = strdup(name);
    if (!dirs[tree->count].name)
        return -ENOMEM;
    tree->count++;
    return 0;
}

static void drop_dir(struct pfr_subtree *tree, struct pfr_subdir *dir)
{
    for (int i = 0; i < PFR_SUBTREE_FILES; i++) {
        tree->retired[i] += dir->value[i];
        if (dir->file[i] >= 0)
            close(dir->file[i]);
    }
    close(dir->fd);
    free(dir->name);
}

int pfr_subtree_open(struct pfr_subtree *tree, const char *path)
{
    PFR_AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r;

    memset(tree, 0, sizeof(*tree));
    if (fd < 0)
        return -errno;
    r = add_dir(tree, -1, "", fd);
    if (r < 0)
        return r;
    fd = -1;
    return pfr_subtree_refresh(tree);
}

void pfr_subtree_release(struct pfr_subtree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        drop_dir(tree, &tree->dirs[i]);
    free(tree->dirs);
    memset(tree, 0, sizeof(*tree));
}

static struct pfr_subdir *find_child(struct pfr_subtree *tree, int parent, const char *name)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->dirs[i].parent == parent && !tree->dirs[i].dead &&
            strcmp(tree->dirs[i].name, name) == 0)
            return &tree->dirs[i];
    return NULL;
}

/* The same name may be another directory by now: one was removed, one was made. */
static bool same_dir(int a, int b)
{
    struct stat sa, sb;

    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_ino == sb.st_ino;
}

static void meet_child(struct pfr_subtree *tree, int parent, const char *name)
{
    PFR_AUTO_FD fd = openat(tree->dirs[parent].fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct pfr_subdir *known = find_child(tree, parent, name);

    if (fd < 0)
        return;
    if (known && same_dir(known->fd, fd))
        known->found = true;
    else if (add_dir(tree, parent, name, fd) == 0)
        fd = -1;
}

/* Lists one directory; what was there before and is not now is dead. */
static int list_dir(struct pfr_subtree *tree, int index)
{
    int copy = openat(tree->dirs[index].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PFR_AUTO_DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    bool exists = false;

    if (!dir) {
        int saved = errno;

        if (copy >= 0)
            close(copy);
        return -saved;
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->dirs[i].parent == index)
            tree->dirs[i].found = false;
    while ((entry = readdir(dir))) {
        exists = true;
        if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0)
            meet_child(tree, index, entry->d_name);
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->dirs[i].parent == index && !tree->dirs[i].found)
            tree->dirs[i].dead = true;
    /* A removed cgroup keeps its links and can be opened; only "." is missing in it. */
    return exists ? 0 : -ENODEV;
}

/* Takes the dead out, and all below them. */
static void sweep(struct pfr_subtree *tree)
{
    uint32_t kept = 0;
    PFR_AUTO_FREE int *moved = malloc(tree->count * sizeof(*moved));

    if (!moved)
        return;
    for (uint32_t i = 0; i < tree->count; i++) { /* parents stand before children */
        struct pfr_subdir *dir = &tree->dirs[i];

        if (dir->dead || (dir->parent >= 0 && moved[dir->parent] < 0)) {
            moved[i] = -1;
            drop_dir(tree, dir);
            continue;
        }
        if (dir->parent >= 0)
            dir->parent = moved[dir->parent];
        moved[i] = (int)kept;
        tree->dirs[kept++] = *dir;
    }
    tree->count = kept;
}

int pfr_subtree_refresh(struct pfr_subtree *tree)
{
    bool changed = false, all = tree->stale;

    tree->stale = false;
    for (uint32_t i = 0; i < tree->count; i++) { /* grows while we walk */
        struct stat st;

        if (fstat(tree->dirs[i].fd, &st) < 0)
            return -errno;
        if (st.st_nlink == 0 && i == 0)
            return -ENODEV;
        if (!all && st.st_nlink == tree->dirs[i].links)
            continue;
        if (list_dir(tree, (int)i) < 0 && i == 0)
            return -ENODEV;
        tree->dirs[i].links = st.st_nlink;
        changed = true;
    }
    if (changed)
        sweep(tree);
    return 0;
}
