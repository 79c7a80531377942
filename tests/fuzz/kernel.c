/* What the kernel writes: lines of /proc and of cgroup files, paths, mounts. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "common/collect/cgpath.h"
#include "common/collect/shape.h"

static const char *const keys[] = {
    "VmRSS", "VmHWM", "VmSwap", "Threads", "rchar", "wchar", "read_bytes", "write_bytes", "Pss",
    "Rss", "anon", "file", "kernel", "total_rss", "usage_usec", "oom_kill", "nr_throttled", "",
};

static void check(int result, int64_t value)
{
    if (result > 0 && value < 0)
        abort(); /* none of these can be below 0 */
}

void pfr_fuzz_shape(const char *text, size_t length)
{
    static const char *const fields[] = { "rbytes", "wbytes", "total", "avg10", "Read", "Write" };
    const char *cursor = text;
    struct pfr_stat_line line;
    int64_t value = 0;

    (void)length;
    check(pfr_shape_single(text, &value), value);
    for (size_t i = 0; keys[i][0]; i++) {
        check(pfr_shape_flat(text, &cursor, keys[i], PFR_PLAIN, &value), value);
        check(pfr_shape_flat(text, &cursor, keys[i], PFR_KB, &value), value);
        if (cursor < text || cursor > text + strlen(text))
            abort();
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        check(pfr_shape_nested(text, NULL, fields[i], &value), value);
        check(pfr_shape_nested(text, "some", fields[i], &value), value);
        check(pfr_shape_device(text, fields[i], &value), value);
    }
    check(pfr_shape_quota(text, 100000, &value), value);
    if (pfr_shape_stat(text, &line) > 0 && (line.count > PFR_STAT_FIELDS ||
                                            !memchr(line.comm, '\0', sizeof(line.comm))))
        abort();
}

/* /proc/PID/cgroup, a NUL, /proc/self/mountinfo */
void pfr_fuzz_cgroup(const char *text, size_t length)
{
    size_t first = strlen(text);
    struct pfr_env env;
    struct pfr_cgtarget target = { 0 };
    char path[PFR_CGPATH_SIZE];

    pfr_fuzz_put("proc/5001/cgroup", text, first);
    pfr_fuzz_put("proc/self/cgroup", "0::/system.slice\n", 17);
    pfr_fuzz_put("proc/self/mountinfo", text + first, length - first);
    pfr_env_init(&env, pfr_fuzz_dir());
    if (pfr_cgtarget_resolve(&env, 5001, 0, PFR_LEVEL_STEP, &target) < 0)
        return;
    (void)pfr_cgtarget_mode(&target);
    for (int i = 0; i < PFR_CONTROLLER_COUNT; i++)
        pfr_cgdir_outside(&target.dirs[i], i == 0, path, sizeof(path));
}
