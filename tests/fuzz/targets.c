/* The list of targets, and what they share. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/log.h"

const struct pfr_fuzz pfr_fuzz_targets[] = {
    { "shape", pfr_fuzz_shape },     { "cgroup", pfr_fuzz_cgroup }, { "words", pfr_fuzz_words },
    { "json", pfr_fuzz_json },       { "facts", pfr_fuzz_facts },
    { "compact", pfr_fuzz_compact }, { "job", pfr_fuzz_job },       { NULL, NULL },
};

static char dir[PATH_MAX];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void remove_dir(void)
{
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *pfr_fuzz_dir(void)
{
    const char *base = getenv("TMPDIR");

    if (dir[0])
        return dir;
    snprintf(dir, sizeof(dir), "%s/profres-fuzz.XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        abort();
    atexit(remove_dir);
    return dir;
}

void pfr_fuzz_put(const char *name, const char *text, size_t length)
{
    char path[PATH_MAX + 64];
    PFR_AUTO_FD fd = -1;

    snprintf(path, sizeof(path), "%s/%s", pfr_fuzz_dir(), name);
    for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            abort();
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || pfr_fd_write_all(fd, text, length) < 0)
        abort();
}

void pfr_fuzz_one(const struct pfr_fuzz *target, const uint8_t *data, size_t size)
{
    PFR_AUTO_FREE char *text = malloc(size + 1);

    if (!text)
        return;
    pfr_log_set(NULL, NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    target->run(text, size);
}
