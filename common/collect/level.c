#include "common/collect/level.h"

#include <stdio.h>
#include <string.h>

/* Where the component that begins with `prefix` begins ('/' included); NULL. */
static const char *component(const char *path, const char *prefix)
{
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
        if (strncmp(p + 1, prefix, strlen(prefix)) == 0)
            return p;
    return NULL;
}

static bool copy(const char *path, size_t length, const char *more, char *to, size_t size)
{
    return (size_t)snprintf(to, size, "%.*s%s", (int)length, path, more) < size;
}

bool pfr_level_step(const char *path, bool v2, char *step, size_t size)
{
    const char *p = component(path, "step_");
    size_t length;

    if (!p)
        return false;
    length = (size_t)(p - path) + 1 + strcspn(p + 1, "/");
    if (v2 && strncmp(path + length, "/user", 5) == 0 &&
        (path[length + 5] == '/' || !path[length + 5]))
        length += 5;
    return copy(path, length, "", step, size);
}

bool pfr_level_outside(const char *path, bool v2, char *outside, size_t size)
{
    const char *p = component(path, v2 ? "step_" : "uid_");

    if (!p || p == path)
        return false;
    if (!v2)
        return copy(path, (size_t)(p - path), "", outside, size);
    while (p > path && p[-1] != '/') /* over the job's directory, whatever its name */
        p--;
    return copy(path, (size_t)(p - path), "system", outside, size);
}
