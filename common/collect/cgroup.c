#include "common/collect/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/collect/shape.h"

/* v1 says "no limit" with the largest page-aligned number (and v2 with "max"). */
#define UNLIMITED (INT64_MAX - 65536)

/* What was read last. One for all cgroups: there may be one per task. */
static char text_buffer[16384];

static bool is_limit(const struct pfr_cgplace *place)
{
    return place->shape == PFR_CG_SMALLEST || place->shape == PFR_CG_QUOTA;
}

static int parse_place(const struct pfr_cgroup *cgroup, const struct pfr_cgplace *place,
                       const char *text, int64_t *value)
{
    const char *cursor = text;
    int64_t v = 0;
    int r = 0;

    switch (place->shape) {
    case PFR_CG_SINGLE:
    case PFR_CG_SMALLEST:
    case PFR_CG_SPAN:
        r = pfr_shape_single(text, &v);
        break;
    case PFR_CG_SUBTREE:
        r = place->field ? pfr_shape_flat(text, &cursor, place->field, PFR_PLAIN, &v)
                         : pfr_shape_single(text, &v);
        break;
    case PFR_CG_FLAT:
        r = pfr_shape_flat(text, &cursor, place->field, PFR_PLAIN, &v);
        break;
    case PFR_CG_NESTED:
        r = pfr_shape_nested(text, place->line, place->field, &v);
        if (r == 0 && !place->line)
            r = 1; /* io.stat has a line per device that was used: none is zero */
        break;
    case PFR_CG_QUOTA:
        return pfr_shape_quota(text, place->scale, value);
    case PFR_CG_DEVICE:
        r = pfr_shape_device(text, place->field, &v);
        if (r == 0)
            r = 1;
        break;
    }
    if (r > 0)
        *value = place->scale ? pfr_muldiv(v, place->scale, 1)
                              : pfr_muldiv(v, PFR_NS_PER_S, cgroup->env->clock_ticks);
    return r;
}

/* ---- opening ---- */

static int open_in(const struct pfr_cgtarget *target, const struct pfr_cgplace *place)
{
    char path[2 * PFR_CGPATH_SIZE];

    snprintf(path, sizeof(path), "%s/%s", target->dirs[place->controller].dir, place->file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The index of the open file of this place, opened if need be; -errno. */
static int file_of(struct pfr_cgroup *cgroup, const struct pfr_cgtarget *target,
                   const struct pfr_cgplace *place)
{
    int fd;

    for (int i = 0; i < cgroup->file_count; i++) {
        const struct pfr_cgplace *first = cgroup->files[i].first;

        if (first->controller == place->controller && strcmp(first->file, place->file) == 0)
            return i;
    }
    if (cgroup->file_count == PFR_CGFILES_MAX)
        return -EMFILE;
    fd = open_in(target, place);
    if (fd < 0)
        return -errno;
    cgroup->files[cgroup->file_count] = (struct pfr_cgfile){ .first = place, .fd = fd };
    return cgroup->file_count++;
}

/* The limit of every directory above the step counts too. */
static void open_ancestors(struct pfr_cgroup *cgroup, const struct pfr_cgtarget *target,
                           const struct pfr_cgplace *place)
{
    const struct pfr_cgdir *dir = &target->dirs[place->controller];
    size_t top = strlen(dir->mount);
    char path[PFR_CGPATH_SIZE], file[2 * PFR_CGPATH_SIZE];

    snprintf(path, sizeof(path), "%s", dir->dir);
    while (strlen(path) > top && cgroup->ancestor_count < PFR_CGANCESTORS_MAX) {
        char *slash = strrchr(path, '/');
        int fd;

        if (!slash)
            return;
        *slash = '\0';
        snprintf(file, sizeof(file), "%s/%s", path, place->file);
        fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            cgroup->ancestors[cgroup->ancestor_count++] =
                (struct pfr_cgfile){ .first = place, .fd = fd };
    }
}

static int open_subtree(struct pfr_cgroup *cgroup, const struct pfr_cgtarget *target,
                        const struct pfr_cgplace *place)
{
    PFR_AUTO_FD probe = open_in(target, place);
    int r;

    if (probe < 0)
        return -errno;
    if (cgroup->subtree_count == PFR_SUBTREE_FILES)
        return -EMFILE;
    if (!cgroup->subtree.count &&
        (r = pfr_subtree_open(&cgroup->subtree, target->dirs[place->controller].dir)) < 0)
        return r;
    if (pfr_fd_pread_text(probe, text_buffer, sizeof(text_buffer)) <= 0)
        return -ENODATA;
    cgroup->subtree_place[cgroup->subtree_count] = place;
    return cgroup->subtree_count++;
}

/* A cgroup without the controller has no such file, and yet those above may limit it. */
static int try_limit(struct pfr_cgroup *cgroup, const struct pfr_cgtarget *target,
                     const struct pfr_cgplace *place, int file)
{
    int before = cgroup->ancestor_count;

    if (file < 0 && file != -ENOENT)
        return file;
    open_ancestors(cgroup, target, place);
    return file >= 0 || cgroup->ancestor_count > before ? 1 : file;
}

int pfr_cgplace_open_peak(const struct pfr_cgtarget *target, const struct pfr_cgplace *place)
{
    const struct pfr_cgdir *dir = &target->dirs[place->controller];
    char path[2 * PFR_CGPATH_SIZE];

    if (place->shape != PFR_CG_SPAN || !dir->scoped)
        return -1;
    snprintf(path, sizeof(path), "%s/%s", dir->dir, place->file);
    return pfr_peak_open(path);
}

/* What we were handed, for we may not be allowed to open it. */
static int take_handed(const struct pfr_cgtarget *target, const char *name)
{
    for (int i = 0; target->handed && i < target->handed->count; i++)
        if (strcmp(target->handed->files[i].name, name) == 0)
            return pfr_take_fd(&target->handed->files[i].fd);
    return -1;
}

static int try_peak(struct pfr_cgroup *cgroup, const struct pfr_cgtarget *target,
                    const struct pfr_cgplace *place)
{
    struct pfr_cgpeak *peak = &cgroup->peaks[cgroup->peak_count];
    int fd, r;

    if (cgroup->peak_count == PFR_CGPEAKS_MAX)
        return -ENOSPC;
    fd = take_handed(target, place->file);
    if (fd < 0)
        fd = pfr_cgplace_open_peak(target, place);
    r = fd < 0 ? fd : pfr_peak_begin(&peak->peak, fd);
    if (r < 0)
        return r;
    peak->place = place;
    cgroup->peak_count++;
    return 1;
}

/* Opens one place and reads it once: 1 it gives a number, -errno it cannot. */
static int try_place(struct pfr_cgroup *cgroup, const struct pfr_cgtarget *target,
                     const struct pfr_cgplace *place, int *file)
{
    int64_t value;
    int r;

    if (place->shape == PFR_CG_SUBTREE) {
        *file = open_subtree(cgroup, target, place);
        if (*file < 0)
            return *file;
        return parse_place(cgroup, place, text_buffer, &value) > 0 ? 1 : -ENODATA;
    }
    *file = file_of(cgroup, target, place);
    if (is_limit(place))
        return try_limit(cgroup, target, place, *file);
    if (*file < 0)
        return *file;
    r = (int)pfr_fd_pread_text(cgroup->files[*file].fd, text_buffer, sizeof(text_buffer));
    if (r < 0 && r != -ENODATA)
        return r;
    r = parse_place(cgroup, place, text_buffer, &value);
    return r > 0 ? 1 : -ENODATA;
}

static void deny(struct pfr_availability *have, const struct pfr_cgplace *place, int error)
{
    const char *name = pfr_controller_name(place->controller);

    if (place->shape == PFR_CG_SPAN && error == -EOPNOTSUPP)
        pfr_availability_deny(have, place->id, "%s cannot be reset: that needs Linux 6.12",
                              place->file);
    else if (place->shape == PFR_CG_SPAN && error == -EACCES)
        pfr_availability_deny(have, place->id, "%s can only be reset by its owner", place->file);
    else if (error == -ENOENT && strstr(place->file, ".pressure"))
        pfr_availability_deny(have, place->id,
                              "no %s: this kernel has no CONFIG_PSI, or was started with psi=0",
                              place->file);
    else if (error == -ENOENT)
        pfr_availability_deny(have, place->id,
                              "no %s (%s): older kernel, or the controller is not enabled",
                              place->file, name);
    else if (error == -ENODATA && place->field)
        pfr_availability_deny(have, place->id, "%s has no '%s' (%s)", place->file, place->field,
                              name);
    else if (error == -EOPNOTSUPP)
        pfr_availability_deny(have, place->id, "%s is switched off in this kernel", place->file);
    else
        pfr_availability_deny(have, place->id, "%s cannot be read: %s", place->file,
                              strerror(-error));
}

static void open_place(struct pfr_cgroup *cgroup, const struct pfr_cgtarget *target,
                       const struct pfr_cgplace *place, struct pfr_availability *have)
{
    const struct pfr_cgdir *dir = &target->dirs[place->controller];
    int file = -1, r;

    if (pfr_metric_set_has(&have->available, place->id))
        return; /* an earlier place serves */
    if (!dir->scoped) {
        /* The reason of a hierarchy that exists beats that of one that does not. */
        if (dir->path[0] || strcmp(have->reason[place->id], "not probed") == 0)
            pfr_availability_deny(have, place->id, "%s controller: %s",
                                  pfr_controller_name(place->controller), dir->reason);
        return;
    }
    if (place->shape == PFR_CG_SPAN)
        r = try_peak(cgroup, target, place);
    else
        r = try_place(cgroup, target, place, &file);
    if (r < 0) {
        deny(have, place, r);
        return;
    }
    pfr_availability_grant(have, place->id);
    if (place->shape != PFR_CG_SPAN)
        cgroup->values[cgroup->value_count++] = (struct pfr_cgvalue){ place, file };
}

void pfr_cgroup_open(struct pfr_cgroup *cgroup, const struct pfr_env *env,
                     const struct pfr_cgtarget *target, const struct pfr_metric_set *wanted,
                     struct pfr_availability *have)
{
    memset(cgroup, 0, sizeof(*cgroup));
    cgroup->env = env;
    for (int i = 0; i < pfr_cgplace_count; i++)
        if (pfr_metric_set_has(wanted, pfr_cgplaces[i].id))
            open_place(cgroup, target, &pfr_cgplaces[i], have);
}

void pfr_cgroup_release(struct pfr_cgroup *cgroup)
{
    for (int i = 0; i < cgroup->file_count; i++)
        close(cgroup->files[i].fd);
    for (int i = 0; i < cgroup->ancestor_count; i++)
        close(cgroup->ancestors[i].fd);
    for (int i = 0; i < cgroup->peak_count; i++)
        pfr_peak_release(&cgroup->peaks[i].peak);
    pfr_subtree_release(&cgroup->subtree);
    cgroup->file_count = cgroup->value_count = cgroup->ancestor_count = cgroup->peak_count = 0;
}

/* ---- reading ---- */

static void take(struct pfr_sample *sample, const struct pfr_cgplace *place, int64_t value)
{
    if (place->id == PFR_CGROUP_MEM_LIMIT && value >= UNLIMITED)
        return; /* no limit is not a large limit */
    pfr_sample_set(sample, place->id, value);
}

static int read_file(struct pfr_cgroup *cgroup, int file, struct pfr_sample *sample)
{
    ssize_t n = pfr_fd_pread_text(cgroup->files[file].fd, text_buffer, sizeof(text_buffer));

    if (n <= 0 && n != -ENODATA) /* an empty io.stat is a reading */
        return (int)n;
    for (int i = 0; i < cgroup->value_count; i++) {
        const struct pfr_cgplace *place = cgroup->values[i].place;
        int64_t value;

        if (cgroup->values[i].file == file && place->shape != PFR_CG_SUBTREE &&
            !is_limit(place) && parse_place(cgroup, place, text_buffer, &value) > 0)
            take(sample, place, value);
    }
    return 1;
}

int pfr_cgroup_read(struct pfr_cgroup *cgroup, enum pfr_metric_id id, int64_t *value)
{
    for (int i = 0; i < cgroup->value_count; i++) {
        const struct pfr_cgvalue *from = &cgroup->values[i];

        if (from->place->id == id && from->place->shape != PFR_CG_SUBTREE &&
            !is_limit(from->place))
            return pfr_fd_pread_text(cgroup->files[from->file].fd, text_buffer,
                                     sizeof(text_buffer)) > 0 &&
                   parse_place(cgroup, from->place, text_buffer, value) > 0;
    }
    return 0;
}

static void read_smallest(struct pfr_cgroup *cgroup, const struct pfr_cgvalue *from,
                          struct pfr_sample *sample)
{
    int64_t smallest = INT64_MAX, value;
    int own = from->file < 0 ? -1 : cgroup->files[from->file].fd;

    for (int i = -1; i < cgroup->ancestor_count; i++) {
        int fd = i < 0 ? own : cgroup->ancestors[i].fd;

        if (fd < 0 || (i >= 0 && cgroup->ancestors[i].first != from->place))
            continue;
        if (pfr_fd_pread_text(fd, text_buffer, sizeof(text_buffer)) > 0 &&
            parse_place(cgroup, from->place, text_buffer, &value) > 0 && value < smallest)
            smallest = value;
    }
    if (smallest != INT64_MAX)
        take(sample, from->place, smallest);
}

/* A directory that goes keeps what it had counted (subtree.retired). */
static void read_subtree(struct pfr_cgroup *cgroup, int slot, struct pfr_sample *sample)
{
    const struct pfr_cgplace *place = cgroup->subtree_place[slot];
    struct pfr_subtree *tree = &cgroup->subtree;
    int64_t sum = 0;

    for (uint32_t i = 0; i < tree->count; i++) {
        struct pfr_subdir *dir = &tree->dirs[i];

        if (dir->file[slot] < 0)
            dir->file[slot] = openat(dir->fd, place->file, O_RDONLY | O_CLOEXEC);
        if (dir->file[slot] < 0 ||
            pfr_fd_pread_text(dir->file[slot], text_buffer, sizeof(text_buffer)) <= 0)
            tree->stale = true;
        else
            parse_place(cgroup, place, text_buffer, &dir->value[slot]);
        sum += dir->value[slot];
    }
    take(sample, place, sum + tree->retired[slot]);
}

void pfr_cgroup_take_peaks(struct pfr_cgroup *cgroup, struct pfr_sample *sample)
{
    for (int i = 0; i < cgroup->peak_count; i++) {
        enum pfr_metric_id id = cgroup->peaks[i].place->id;
        int64_t value;

        /* two spans may end with one sample */
        if (pfr_peak_take(&cgroup->peaks[i].peak, &value) > 0 &&
            (!pfr_sample_has(sample, id) || value > pfr_sample_get(sample, id)))
            pfr_sample_set(sample, id, value);
    }
}

int pfr_cgroup_collect(struct pfr_cgroup *cgroup, struct pfr_sample *sample)
{
    bool alive = !cgroup->file_count && !cgroup->subtree_count && !cgroup->peak_count;

    sample->stamp[PFR_FROM_CGROUP] = pfr_env_now(cgroup->env, CLOCK_MONOTONIC);
    for (int i = 0; i < cgroup->file_count; i++)
        alive |= read_file(cgroup, i, sample) > 0;
    for (int i = 0; i < cgroup->peak_count; i++) /* taken when a span ends */
        alive |= pfr_peak_read(&cgroup->peaks[i].peak) > 0;
    for (int i = 0; i < cgroup->value_count; i++)
        if (is_limit(cgroup->values[i].place))
            read_smallest(cgroup, &cgroup->values[i], sample);
    if (!cgroup->subtree_count || (cgroup->file_count && !alive) ||
        pfr_subtree_refresh(&cgroup->subtree) < 0)
        return alive;
    for (int i = 0; i < cgroup->subtree_count; i++)
        read_subtree(cgroup, i, sample);
    return 1;
}
