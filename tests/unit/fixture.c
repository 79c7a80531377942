#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/record/reader.h"

/* ---- files ---- */

static void make_parents(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        *p = '/';
    }
}

static void put_file(const char *path, const void *data, size_t size)
{
    char copy[PATH_MAX];
    int fd;

    snprintf(copy, sizeof(copy), "%s", path);
    make_parents(copy);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644); /* the same inode */
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(pfr_fd_write_all(fd, data, size), 0);
    close(fd);
}

void fixture_path(const struct fixture *fixture, const char *path, char *text, size_t size)
{
    assert_true((size_t)snprintf(text, size, "%s/%s", fixture->root, path) < size);
}

void fixture_write_bytes(struct fixture *fixture, const char *path, const void *data, size_t size)
{
    char full[PATH_MAX];

    fixture_path(fixture, path, full, sizeof(full));
    put_file(full, data, size);
}

void fixture_write(struct fixture *fixture, const char *path, const char *format, ...)
{
    char text[16384];
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    assert_in_range(n, 0, sizeof(text) - 1);
    fixture_write_bytes(fixture, path, text, (size_t)n);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void fixture_remove(struct fixture *fixture, const char *path)
{
    char full[PATH_MAX];

    fixture_path(fixture, path, full, sizeof(full));
    assert_int_equal(nftw(full, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* nftw() has no argument for its caller. */
static struct {
    size_t skip;
    const char *to;
} copying;

static int copy_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    char to[PATH_MAX];
    PFR_AUTO_FREE char *data = malloc((size_t)st->st_size + 1);
    PFR_AUTO_FD fd = -1;
    ssize_t n;

    (void)ftw;
    snprintf(to, sizeof(to), "%s%s", copying.to, path + copying.skip);
    if (type == FTW_D)
        return mkdir(to, 0755) < 0 && errno != EEXIST;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !data || (n = read(fd, data, (size_t)st->st_size)) != st->st_size)
        return -1;
    put_file(to, data, (size_t)n);
    return 0;
}

void fixture_overlay(struct fixture *fixture, const char *part)
{
    char from[PATH_MAX];

    snprintf(from, sizeof(from), "%s/%s/%s", FIXTURES, fixture->tree, part);
    copying.skip = strlen(from);
    copying.to = fixture->root;
    if (nftw(from, copy_entry, 16, FTW_PHYS) != 0)
        fail_msg("cannot copy %s: %s", from, strerror(errno));
}

/* ---- clock and log ---- */

static int64_t fixture_now(clockid_t clock, void *arg)
{
    const struct fixture *fixture = arg;

    switch (clock) {
    case CLOCK_MONOTONIC:
        return fixture->monotonic;
    case CLOCK_BOOTTIME:
        return fixture->boottime;
    default:
        return fixture->realtime;
    }
}

void fixture_set_clock(struct fixture *fixture, struct pfr_env *env)
{
    env->now = fixture_now;
    env->arg = fixture;
    env->clock_ticks = 100;
}

void fixture_advance(struct fixture *fixture, int64_t ns)
{
    fixture->monotonic += ns;
    fixture->boottime += ns;
    fixture->realtime += ns;
}

static void keep_log(enum pfr_log_level level, const char *text, void *arg)
{
    struct fixture *fixture = arg;
    char *to = level == PFR_LOG_INFO ? fixture->info : fixture->log;
    size_t size = level == PFR_LOG_INFO ? sizeof(fixture->info) : sizeof(fixture->log);
    size_t used = strlen(to);

    snprintf(to + used, size - used, "%s\n", text);
}

/* ---- life ---- */

/* A cgroup directory's link count tells its children; not every file system does that. */
static bool counts_children(const char *dir)
{
    char child[300];
    struct stat before, after;
    bool counts;

    snprintf(child, sizeof(child), "%s/child", dir);
    if (stat(dir, &before) < 0 || mkdir(child, 0755) < 0)
        return false;
    counts = stat(dir, &after) == 0 && after.st_nlink == before.st_nlink + 1;
    rmdir(child);
    return counts;
}

static void make_base(char *base, size_t size)
{
    const char *const places[] = { getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp" };

    for (size_t i = 0; i < PFR_COUNT(places); i++) {
        if (!places[i])
            continue;
        snprintf(base, size, "%.100s/profres-test-XXXXXX", places[i]);
        if (!mkdtemp(base))
            continue;
        if (counts_children(base)) {
            chmod(base, 0755); /* some cases go on as an ordinary user */
            return;
        }
        rmdir(base);
    }
    fail_msg("no directory for temporary files in which links count children");
}

static void place_profiler(struct fixture *fixture)
{
    char full[PATH_MAX], text[4096], path[64];
    ssize_t n;

    fixture_path(fixture, "proc/self/cgroup", full, sizeof(full));
    n = pfr_file_read_text(AT_FDCWD, full, text, sizeof(text));
    snprintf(path, sizeof(path), "proc/%d/cgroup", (int)getpid());
    if (n > 0)
        fixture_write_bytes(fixture, path, text, (size_t)n);
}

void fixture_open(struct fixture *fixture, const char *tree)
{
    memset(fixture, 0, sizeof(*fixture));
    make_base(fixture->base, sizeof(fixture->base));
    snprintf(fixture->tree, sizeof(fixture->tree), "%s", tree);
    snprintf(fixture->root, sizeof(fixture->root), "%s/root", fixture->base);
    snprintf(fixture->out, sizeof(fixture->out), "%s/out", fixture->base);
    assert_int_equal(mkdir(fixture->root, 0755) | mkdir(fixture->out, 0755), 0);
    fixture_overlay(fixture, "base");
    place_profiler(fixture);
    fixture->monotonic = 90000 * PFR_NS_PER_S;
    fixture->boottime = 100000 * PFR_NS_PER_S;
    fixture->realtime = 1794794858 * PFR_NS_PER_S + 120 * MS;
    pfr_env_init(&fixture->env, fixture->root);
    fixture_set_clock(fixture, &fixture->env);
    pfr_log_set(keep_log, fixture);
}

void fixture_close(struct fixture *fixture)
{
    pfr_log_set(NULL, NULL);
    if (fixture->base[0])
        nftw(fixture->base, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    fixture->base[0] = '\0';
}

/* ---- processes ---- */

static int64_t or_else(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

static void write_stat(struct fixture *fixture, int pid, const struct fake_process *p)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    fixture_write(fixture, path,
                  "%d (%s) %c %lld %lld %lld 0 %lld 4194304 %lld 31 %lld 0 %lld %lld 7 3 20 %lld "
                  "%lld 0 %lld %lld %lld 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0\n",
                  pid, p->comm ? p->comm : "work", p->state ? p->state : 'S',
                  (long long)or_else(p->ppid, 4990), (long long)or_else(p->pgrp, pid),
                  (long long)or_else(p->session, 4990), (long long)or_else(p->tpgid, -1),
                  (long long)p->minflt, (long long)p->majflt, (long long)p->utime,
                  (long long)p->stime, (long long)p->nice, (long long)or_else(p->threads, 1),
                  (long long)or_else(p->start, 9999000), (long long)p->vsz * 1024,
                  (long long)p->rss / 4);
}

static void write_status(struct fixture *fixture, int pid, const struct fake_process *p)
{
    char path[64], memory[512] = "";

    if (!p->no_memory)
        snprintf(memory, sizeof(memory),
                 "VmPeak:\t%8lld kB\nVmSize:\t%8lld kB\nVmLck:\t%8lld kB\nVmHWM:\t%8lld kB\n"
                 "VmRSS:\t%8lld kB\nVmSwap:\t%8lld kB\n",
                 (long long)p->vsz, (long long)p->vsz, (long long)p->locked, (long long)p->rss,
                 (long long)p->rss, (long long)p->swap);
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    fixture_write(fixture, path,
                  "Name:\twork\nState:\t%c\nPid:\t%d\n%sThreads:\t%lld\n"
                  "voluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t2\n",
                  p->state ? p->state : 'S', pid, memory, (long long)or_else(p->threads, 1));
}

void fixture_process(struct fixture *fixture, int pid, const struct fake_process *p)
{
    char path[64];

    write_stat(fixture, pid, p);
    write_status(fixture, pid, p);
    snprintf(path, sizeof(path), "proc/%d/io", pid);
    fixture_write(fixture, path,
                  "rchar: 5000\nwchar: 700\nsyscr: 3\nsyscw: 2\nread_bytes: %lld\n"
                  "write_bytes: %lld\ncancelled_write_bytes: 0\n",
                  (long long)p->read_bytes, (long long)p->write_bytes);
    if (!p->pss)
        return;
    snprintf(path, sizeof(path), "proc/%d/smaps_rollup", pid);
    fixture_write(fixture, path, "5000-7000 ---p 00000000 00:00 0 [rollup]\nRss: %lld kB\n"
                  "Pss:     %lld kB\nPss_Anon: 0 kB\n", (long long)p->rss, (long long)p->pss);
}

/* ---- JSON ---- */

struct json_object *fixture_json(struct json_object *object, const char *path)
{
    while (object && *path) {
        size_t length = strcspn(path, ".");
        char key[64];
        int64_t index;

        snprintf(key, sizeof(key), "%.*s", (int)length, path);
        if (!json_object_is_type(object, json_type_array))
            object = pfr_json_get(object, key);
        else
            object = pfr_parse_int(key, &index)
                         ? json_object_array_get_idx(object, (size_t)index)
                         : NULL;
        path += length + (path[length] == '.');
    }
    return object;
}

struct json_object *fixture_lines(const char *dir, const char *name)
{
    struct json_object *lines = json_object_new_array(), *line;
    struct pfr_reader reader;
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pfr_reader_open(&reader, fd), 0);
    while (pfr_reader_next(&reader, &line) > 0)
        json_object_array_add(lines, line);
    assert_int_equal(reader.malformed, 0);
    assert_false(reader.torn);
    pfr_reader_release(&reader);
    return lines;
}

struct json_object *fixture_line(struct json_object *lines, const char *type, const char *event)
{
    for (size_t i = 0; i < json_object_array_length(lines); i++) {
        struct json_object *line = json_object_array_get_idx(lines, i);
        struct json_object *name = pfr_json_get(line, "event");

        if (strcmp(pfr_line_type(line), type) == 0 &&
            (!event || (name && strcmp(json_object_get_string(name), event) == 0)))
            return line;
    }
    return NULL;
}

size_t fixture_count(struct json_object *lines, const char *type)
{
    size_t count = 0;

    for (size_t i = 0; i < json_object_array_length(lines); i++)
        count += strcmp(pfr_line_type(json_object_array_get_idx(lines, i)), type) == 0;
    return count;
}
