#include "tools/profres/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/base/safe.h"
#include "tools/profres/ask.h"
#include "tools/profres/names.h"

/* A job's directory, the step's, and one more for what somebody gathered. */
#define DEPTH 4

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && strcmp(name + n - k, end) == 0;
}

/*
 * The node a file is of: how long its name is in it, 0 when it is none of ours.
 * A name that could not be shown as it is was not given by us.
 */
static size_t node_length(const char *name)
{
    static const char *const ends[] = { ".lost.json", ".json", ".jsonl" };

    for (size_t i = 0; name[0] != '.' && i < PFR_COUNT(ends); i++)
        if (ends_with(name, ends[i]))
            return pfr_safe_is_plain(name) ? strlen(name) - strlen(ends[i]) : 0;
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* As sacct lists them: what has no number first. */
static int step_compare(const char *a, const char *b)
{
    int64_t m, n;
    bool x = pfr_parse_int(a, &m), y = pfr_parse_int(b, &n);

    return x != y ? (x ? 1 : -1) : pfr_name_compare(a, b);
}

static int found_compare(const void *left, const void *right)
{
    const struct pfr_found *a = left, *b = right;
    int order = pfr_name_compare(a->job, b->job);

    if (order == 0)
        order = (a->restart > b->restart) - (a->restart < b->restart);
    if (order == 0)
        order = step_compare(a->step, b->step);
    return order ? order : strcmp(a->dir, b->dir);
}

/* "slurm-4711_3.r1.profres" is job 4711_3, restarted once. */
static char *job_of(const char *directory, int *restart)
{
    const char *name = strncmp(directory, "slurm-", 6) == 0 ? directory + 6 : directory;
    char *job = strdup(name), *mark;
    int64_t count;

    *restart = 0;
    if (!job)
        return NULL;
    if (ends_with(job, ".profres"))
        job[strlen(job) - strlen(".profres")] = '\0';
    mark = strrchr(job, '.');
    if (mark && mark[1] == 'r' && pfr_parse_int(mark + 2, &count) && count <= INT_MAX) {
        *mark = '\0';
        *restart = (int)count;
    }
    return job;
}

/* ---- directories --------------------------------------------------------- */

/* Where the walk is: the path as typed, and what it is really called. */
struct walk {
    struct pfr_finds *finds;
    const char *step; /* only this one; NULL: all */
    int depth;        /* at which it began */
    char path[PATH_MAX], name[PATH_MAX];
};

/* `nodes` becomes the find's, which has all of them, or only the `node`. */
static int add(struct walk *walk, const char *node, char **nodes)
{
    struct pfr_finds *finds = walk->finds;
    struct pfr_found *found;
    char *step = strrchr(walk->name, '/');

    if (finds->count == finds->room) {
        size_t room = finds->room ? 2 * finds->room : 16;

        found = realloc(finds->found, room * sizeof(*found));
        if (!found) {
            free(nodes);
            return -ENOMEM;
        }
        finds->found = found;
        finds->room = room;
    }
    found = &finds->found[finds->count];
    *found = (struct pfr_found){ .dir = strdup(walk->path),
                                 .step = strdup(step + 1),
                                 .node = node ? strndup(node, node_length(node)) : NULL,
                                 .nodes = nodes };
    *step = '\0';
    found->job = job_of(base_name(walk->name), &found->restart);
    *step = '/';
    finds->count++;
    return found->dir && found->step && found->job ? 1 : -ENOMEM;
}

static int walk_into(struct walk *walk, int depth, int dirfd, const char *from);

/* One name further, and back. */
static int walk_to(struct walk *walk, int dirfd, const char *entry, int depth)
{
    size_t path = strlen(walk->path), name = strlen(walk->name), length = strlen(entry) + 1;
    bool bare = strcmp(walk->path, ".") == 0;
    int r;

    if (path + 1 + length > sizeof(walk->path) || name + 1 + length > sizeof(walk->name))
        return 0;
    walk->path[path] = walk->name[name] = '/';
    memcpy(bare ? walk->path : walk->path + path + 1, entry, length);
    memcpy(walk->name + name + 1, entry, length);
    r = walk_into(walk, depth, dirfd, entry);
    walk->path[path] = walk->name[name] = '\0';
    if (bare)
        walk->path[0] = '.';
    return r;
}

/* Only what was named or is a profile: others may keep their directories to themselves. */
static void say_denied(const struct walk *walk, int depth, int error)
{
    if (walk->finds->denied && error != ENOENT && error != ENOTDIR && error != ELOOP &&
        (depth == walk->depth || strstr(walk->name, ".profres")))
        walk->finds->denied(walk->path, error, walk->finds->denied_arg);
}

/* As Slurm names them: what has such a name, and files like ours, is a step's directory. */
static bool is_step_name(const char *name)
{
    int64_t number;

    return pfr_parse_int(name, &number) || strcmp(name, "batch") == 0 ||
           strcmp(name, "interactive") == 0 || strcmp(name, "extern") == 0;
}

/* No link: it may lead back here, or to where the one who reads may go and its owner not. */
static bool may_be_directory(const struct dirent64 *entry)
{
    return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* As readdir(), but without the four calls and the 32 kB that opendir() takes for each. */
struct listing {
    long used, at;
    char buffer[8192] __attribute__((aligned(8)));
};

static const struct dirent64 *next_entry(struct listing *listing, int fd)
{
    const struct dirent64 *entry;

    if (listing->at >= listing->used) {
        listing->at = 0;
        listing->used = syscall(SYS_getdents64, fd, listing->buffer, sizeof(listing->buffer));
        if (listing->used <= 0)
            return NULL;
    }
    entry = (const struct dirent64 *)(const void *)(listing->buffer + listing->at);
    listing->at += entry->d_reclen;
    return entry;
}

/*
 * Looks into the directories of a directory that is not a step's. Any other
 * that has files like ours is taken for one only when it was named and has
 * nothing below: people keep JSON files of their own beside their jobs. It is
 * opened as `from` in `dirfd`, not by its path, which takes a step for each name.
 */
static int walk_into(struct walk *walk, int depth, int dirfd, const char *from)
{
    int follow = depth == walk->depth ? 0 : O_NOFOLLOW; /* what was named may be one */
    PFR_AUTO_FD dir = openat(dirfd, from, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
    const char *base = base_name(walk->name);
    bool step = is_step_name(base), is_it;
    struct listing listing;
    struct pfr_names names = { 0 };
    const struct dirent64 *entry;
    int count = 0, r = 0;

    listing.used = listing.at = 0; /* and not all of it */
    if (dir < 0)
        say_denied(walk, depth, errno);
    while (dir >= 0 && r >= 0 && (entry = next_entry(&listing, dir))) {
        size_t length = entry->d_type == DT_DIR ? 0 : node_length(entry->d_name);

        if (length)
            pfr_names_add(&names, entry->d_name, length);
        else if (depth > 0 && !(step && names.count) && may_be_directory(entry))
            r = walk_to(walk, dir, entry->d_name, depth - 1);
        count += r > 0 ? r : 0;
    }
    is_it = r >= 0 && names.count && (step || (count == 0 && depth == walk->depth)) &&
            (!walk->step || strcmp(base, walk->step) == 0);
    if (is_it)
        return add(walk, NULL, pfr_names_pack(&names));
    pfr_names_release(&names);
    return r < 0 ? r : count;
}

/* `path` as it was typed, without what a shell's completion left behind it. */
static int find_path(struct pfr_finds *finds, const char *path, const char *step, int depth)
{
    struct walk walk = { .finds = finds, .step = step, .depth = depth };
    struct stat status;
    const char *node = NULL;
    size_t length = strlen(path);

    if (length >= sizeof(walk.path) || stat(path, &status) < 0)
        return 0;
    while (length > 1 && path[length - 1] == '/')
        length--;
    snprintf(walk.path, sizeof(walk.path), "%.*s", (int)length, path);
    if (!S_ISDIR(status.st_mode)) {
        char *slash = strrchr(walk.path, '/');

        node = base_name(path);
        if (!node_length(node))
            return 0;
        if (slash)
            *slash = '\0';
        else
            snprintf(walk.path, sizeof(walk.path), ".");
    }
    if (!realpath(walk.path, walk.name))
        return 0;
    return node ? add(&walk, node, NULL) : walk_into(&walk, depth, AT_FDCWD, walk.path);
}

/* ---- jobs ---------------------------------------------------------------- */

/* 4711_[1-9].batch: the job, which of an array, which step. */
struct wanted {
    char job[64];
    char members[1024]; /* "", "3", "1-9,12", "*" */
    char step[64];      /* "" is all */
};

static bool copy_until(char *to, size_t size, const char **from, const char *stops)
{
    size_t length = strcspn(*from, stops);

    if (length == 0 || length >= size)
        return false;
    snprintf(to, size, "%.*s", (int)length, *from);
    *from += length;
    return true;
}

static bool parse_members(struct wanted *wanted, const char **text)
{
    if (**text == '[') {
        (*text)++;
        return copy_until(wanted->members, sizeof(wanted->members), text, "]") &&
               *(*text)++ == ']' && strspn(wanted->members, "0123456789-,*") ==
                                        strlen(wanted->members);
    }
    return copy_until(wanted->members, sizeof(wanted->members), text, ".+") &&
           strspn(wanted->members, "0123456789*") == strlen(wanted->members);
}

static bool parse_job(const char *text, struct wanted *wanted)
{
    int64_t id, offset;

    memset(wanted, 0, sizeof(*wanted));
    if (strncmp(text, "run-", 4) == 0)
        return copy_until(wanted->job, sizeof(wanted->job), &text, ".") &&
               (*text == '\0' ||
                (text++, copy_until(wanted->step, sizeof(wanted->step), &text, "/")));
    if (!pfr_parse_digits(&text, &id))
        return false;
    if (*text == '_' && (text++, !parse_members(wanted, &text)))
        return false;
    /* the parts of a heterogeneous job have ids in a row */
    if (*text == '+' && (text++, !pfr_parse_digits(&text, &offset) ||
                                     __builtin_add_overflow(id, offset, &id)))
        return false;
    if (*text == '.' && (text++, !copy_until(wanted->step, sizeof(wanted->step), &text, "/")))
        return false;
    snprintf(wanted->job, sizeof(wanted->job), "%lld", (long long)id);
    return *text == '\0';
}

static bool in_list(const char *list, int64_t number)
{
    while (*list) {
        int64_t from, to;

        if (*list == '*')
            return true;
        if (!pfr_parse_digits(&list, &from))
            return false;
        to = from;
        if (*list == '-' && (list++, !pfr_parse_digits(&list, &to)))
            return false;
        if (number >= from && number <= to)
            return true;
        list += *list == ',';
    }
    return false;
}

/* Is this the directory of the job, or of one of the wanted members of the array? */
static bool is_job(const struct wanted *wanted, const char *directory)
{
    int restart;
    PFR_AUTO_FREE char *job = job_of(directory, &restart);
    size_t length = strlen(wanted->job);
    int64_t member;

    if (!job || strncmp(job, wanted->job, length) != 0)
        return false;
    if (job[length] == '\0')
        return wanted->members[0] == '\0';
    return job[length] == '_' && pfr_parse_int(job + length + 1, &member) &&
           (wanted->members[0] == '\0' || in_list(wanted->members, member));
}

static int find_in(struct pfr_finds *finds, const char *place, const struct wanted *wanted)
{
    PFR_AUTO_DIR *dir = opendir(*place ? place : ".");
    struct dirent *entry;
    int count = 0, r;

    while (dir && (entry = readdir(dir))) {
        char path[PATH_MAX];

        if (!is_job(wanted, entry->d_name))
            continue;
        if (snprintf(path, sizeof(path), "%s%s%s", place, *place ? "/" : "", entry->d_name) >=
            (int)sizeof(path))
            continue;
        r = find_path(finds, path, *wanted->step ? wanted->step : NULL, 1);
        if (r < 0)
            return r;
        count += r;
    }
    return count;
}

static int find_in_path(struct pfr_finds *finds, const struct wanted *wanted)
{
    const char *list = getenv("PROFRES_PATH");
    PFR_AUTO_FREE char *copy = list ? strdup(list) : NULL;
    char *rest = NULL;
    int r = 0;

    for (char *place = copy ? strtok_r(copy, ":", &rest) : NULL; place && r == 0;
         place = strtok_r(NULL, ":", &rest))
        r = find_in(finds, place, wanted);
    return r;
}

static bool place_of(struct pfr_finds *finds, const char *job, struct pfr_job_place *place)
{
    if (finds->told && strcmp(finds->told->job, job) == 0) {
        *place = finds->told->place;
        return true;
    }
    if (finds->mute || !pfr_ask_job_place(job, place))
        return false;
    if (finds->told) {
        snprintf(finds->told->job, sizeof(finds->told->job), "%s", job);
        finds->told->place = *place;
    }
    return true;
}

static int find_job(struct pfr_finds *finds, const char *text)
{
    struct wanted wanted;
    struct pfr_job_place told;
    int r;

    if (!parse_job(text, &wanted))
        return -EINVAL;
    r = find_in(finds, "", &wanted);
    if (r == 0)
        r = find_in_path(finds, &wanted);
    if (r == 0 && place_of(finds, wanted.job, &told)) {
        /* a member of an array has a number of its own beside array_index */
        if (*told.array_job && strcmp(told.array_job, wanted.job) != 0) {
            snprintf(wanted.job, sizeof(wanted.job), "%s", told.array_job);
            snprintf(wanted.members, sizeof(wanted.members), "%s", told.array_index);
        }
        r = find_in(finds, told.work_dir, &wanted);
    }
    return r;
}

static void release_found(struct pfr_found *found)
{
    free(found->dir);
    free(found->job);
    free(found->step);
    free(found->node);
    free(found->nodes);
}

/* Of several runs of one job only the last, as sacct does without -D. */
static void keep_last_runs(struct pfr_finds *finds, size_t from)
{
    struct pfr_found *found = finds->found;
    size_t kept = from;

    for (size_t i = from, end; i < finds->count; i = end) {
        for (end = i + 1; end < finds->count && strcmp(found[end].job, found[i].job) == 0; end++)
            ;
        for (int last = found[end - 1].restart; i < end; i++) { /* they are in order */
            if (found[i].restart == last)
                found[kept++] = found[i];
            else
                release_found(&found[i]);
        }
    }
    finds->count = kept;
}

static int find_one(struct pfr_finds *finds, const char *text)
{
    size_t before = finds->count;
    struct wanted wanted;
    bool job = parse_job(text, &wanted);
    int r;

    r = job ? find_job(finds, text) : 0;
    if (r == 0)
        r = find_path(finds, text, NULL, DEPTH);
    if (r == 0 && !job && access(text, F_OK) < 0 && !strchr(text, '/'))
        return -EINVAL;
    if (r <= 0)
        return r;
    qsort(finds->found + before, finds->count - before, sizeof(*finds->found), found_compare);
    if (job && !finds->restarts)
        keep_last_runs(finds, before);
    return (int)(finds->count - before);
}

/* Where the next of a list begins; a comma in brackets belongs to the members. */
static const char *list_end(const char *text)
{
    bool inside = false;

    for (; *text && (inside || *text != ','); text++)
        inside = *text == '[' || (inside && *text != ']');
    return text;
}

int pfr_find(struct pfr_finds *finds, const char *what)
{
    int count = 0, r = 0;

    if (access(what, F_OK) == 0 && !strchr("0123456789", what[0]))
        return find_one(finds, what); /* a path may have a comma in it */
    for (const char *end; *what && r >= 0; what = end + (*end == ',')) {
        char one[PATH_MAX];

        end = list_end(what);
        if (end - what >= (ptrdiff_t)sizeof(one))
            return -EINVAL;
        snprintf(one, sizeof(one), "%.*s", (int)(end - what), what);
        r = find_one(finds, one);
        count += r > 0 ? r : 0;
    }
    return r < 0 ? r : count;
}

void pfr_find_explain(const char *what, int result)
{
    struct wanted wanted;
    const char *places = getenv("PROFRES_PATH");

    if (result == -EINVAL) {
        pfr_error("'%s' is neither a job (4711, 4711.0, 4711_[1-9]) nor a path", what);
    } else if (result < 0) {
        pfr_error("%s: %s", what, strerror(-result));
    } else if (parse_job(what, &wanted)) {
        pfr_error("no profile of job %s here%s%s, nor in the job's directory as Slurm knows it",
                  what, places ? ", in " : "", places ? places : "");
        pfr_error("was it run with --profile-res? Name the directory that holds"
                  " slurm-%s.profres, or set PROFRES_PATH", wanted.job);
    } else {
        pfr_error("there is no profile in '%s', or it may not be read", what);
    }
}

void pfr_finds_release(struct pfr_finds *finds)
{
    for (size_t i = 0; i < finds->count; i++)
        release_found(&finds->found[i]);
    free(finds->found);
    *finds = (struct pfr_finds){ 0 };
}

char **pfr_found_nodes(const struct pfr_found *found)
{
    PFR_AUTO_DIR *dir = opendir(found->dir);
    struct pfr_names names = { 0 };
    struct dirent *entry;

    if (found->node)
        pfr_names_add(&names, found->node, strlen(found->node));
    while (!found->node && dir && (entry = readdir(dir)))
        if (node_length(entry->d_name))
            pfr_names_add(&names, entry->d_name, node_length(entry->d_name));
    return pfr_names_pack(&names);
}
