#include "tools/profres/load.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/record/schema.h"

struct loader {
    struct pfr_facts *nodes; /* of the step, or of all steps of the job */
    size_t count, room;
    int unusable;
    const struct pfr_wanted *wanted;
    struct pfr_facts merged;
};

/* " of NAME", when it is somebody else's. */
static void name_owner(const char *path, char *text, size_t size)
{
    struct stat status;
    struct passwd *owner;

    text[0] = '\0';
    if (stat(path, &status) < 0 || status.st_uid == geteuid())
        return;
    owner = getpwuid(status.st_uid);
    if (owner)
        snprintf(text, size, " (it is %s's)", owner->pw_name);
    else
        snprintf(text, size, " (it is user %ld's)", (long)status.st_uid);
}

void pfr_load_denied(const char *path, int error, void *arg)
{
    char owner[96];

    name_owner(path, owner, sizeof(owner));
    pfr_error("%s: %s%s; passed over", path, strerror(error), owner);
    ++*(int *)arg;
}

static void complain(struct loader *loader, const struct pfr_found *found, const char *node,
                     int error)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s.json", found->dir, node);
    if (error == 0)
        pfr_error("%s is not there, only the series: the run has just begun, or it"
                  " was deleted; passed over", path);
    else if (error == EBADMSG)
        pfr_error("%s is cut off or damaged; passed over", path);
    else if (error == EINVAL)
        pfr_error("%s is no file, or too large to be a summary; passed over", path);
    else if (error == EPROTO)
        pfr_error("%s is of a schema that this version (%s, which reads %s) does not know;"
                  " passed over. Profres 0.1 reads schema 1, a newer profres a later one", path,
                  PACKAGE_VERSION, PFR_SCHEMA_SUMMARY);
    else
        pfr_load_denied(path, error, &(int){ 0 });
    loader->unusable++;
}

static bool make_room(struct loader *loader)
{
    size_t room = loader->room ? 2 * loader->room : 4;
    struct pfr_facts *nodes;

    if (loader->count < loader->room)
        return true;
    nodes = realloc(loader->nodes, room * sizeof(*nodes));
    if (!nodes)
        return false;
    loader->nodes = nodes;
    loader->room = room;
    return true;
}

static int add_nodes(struct loader *loader, const struct pfr_found *found)
{
    PFR_AUTO_FREE char **listed = found->nodes ? NULL : pfr_found_nodes(found);
    char path[PATH_MAX];

    for (char **name = found->nodes ? found->nodes : listed; name && *name; name++) {
        int r;

        if (!make_room(loader))
            return -ENOMEM;
        if (strlen(found->dir) + strlen(*name) + 2 > sizeof(path))
            continue;
        stpcpy(stpcpy(stpcpy(path, found->dir), "/"), *name);
        r = pfr_facts_load_some(&loader->nodes[loader->count], AT_FDCWD, path, loader->wanted);
        if (r > 0)
            loader->count++;
        else
            complain(loader, found, *name, -r);
    }
    return 0;
}

/* Those of the first one's cluster to the front, the order being kept; how many. */
static size_t gather_cluster(struct pfr_facts *nodes, size_t count)
{
    size_t same = 1;

    for (size_t i = 1; i < count; i++) {
        struct pfr_facts one;

        if (strcmp(nodes[i].cluster, nodes[0].cluster) != 0)
            continue;
        if (i > same) {
            one = nodes[i];
            memmove(&nodes[same + 1], &nodes[same], (i - same) * sizeof(one));
            nodes[same] = one;
        }
        same++;
    }
    return same;
}

static int give(struct loader *loader, bool jobs, const struct pfr_found *found,
                int (*take)(const struct pfr_load *load, void *arg), void *arg)
{
    int r = 0;

    for (size_t from = 0, count; r >= 0 && from < loader->count; from += count) {
        const struct pfr_facts *nodes = loader->nodes + from;

        bool merged;

        count = gather_cluster(loader->nodes + from, loader->count - from);
        merged = jobs || count > 1 || nodes->nodes_given > 1; /* else it is the same */
        if (jobs)
            pfr_facts_merge_job(&loader->merged, nodes, count);
        else if (merged)
            pfr_facts_merge(&loader->merged, nodes, count);
        else
            loader->nodes[from].extent = PFR_EXTENT_STEP;
        r = take(&(struct pfr_load){ found, merged ? &loader->merged : nodes, nodes, count }, arg);
    }
    loader->count = 0;
    return r;
}

/* How long the path of the job is in that of its step. */
static size_t job_length(const char *dir)
{
    const char *slash = strrchr(dir, '/');

    return slash ? (size_t)(slash - dir) : 0;
}

static bool is_same_job(const struct pfr_found *a, const struct pfr_found *b)
{
    size_t length = job_length(a->dir);

    return strcmp(a->job, b->job) == 0 && a->restart == b->restart &&
           length == job_length(b->dir) && strncmp(a->dir, b->dir, length) == 0;
}

/* The steps of the job of `first` that are behind it; in the order, two jobs of a name may mix. */
static int add_rest(struct loader *loader, const struct pfr_finds *finds, size_t first, bool *done)
{
    int r = 0;

    for (size_t i = first + 1; r >= 0 && i < finds->count; i++) {
        if (strcmp(finds->found[i].job, finds->found[first].job) != 0)
            break;
        if (done[i] || !is_same_job(&finds->found[first], &finds->found[i]))
            continue;
        r = add_nodes(loader, &finds->found[i]);
        done[i] = true;
    }
    return r;
}

int pfr_load_all(const struct pfr_finds *finds, bool jobs, const struct pfr_wanted *wanted,
                 int (*take)(const struct pfr_load *load, void *arg), void *arg)
{
    PFR_AUTO_FREE bool *done = calloc(finds->count + 1, sizeof(*done));
    struct loader *loader = calloc(1, sizeof(*loader));
    int r = done && loader ? 0 : -ENOMEM, unusable;

    if (loader)
        loader->wanted = wanted;
    for (size_t i = 0; r >= 0 && i < finds->count; i++) {
        if (done[i])
            continue;
        r = add_nodes(loader, &finds->found[i]);
        if (r >= 0 && jobs)
            r = add_rest(loader, finds, i, done);
        if (r >= 0)
            r = give(loader, jobs, &finds->found[i], take, arg);
    }
    unusable = loader ? loader->unusable : 0;
    if (loader)
        free(loader->nodes);
    free(loader);
    return r < 0 ? r : unusable;
}
