/* What is read back of a series is what we wrote, or it is refused; and its bound. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/record/file.h"
#include "common/record/seal.h"
#include "common/record/series.h"

struct bench {
    char dir[64];
    int dirfd, fd;
    struct pfr_seal seal;
};

static void add(struct bench *bench, const char *line)
{
    assert_int_equal(write(bench->fd, line, strlen(line)), strlen(line));
    pfr_seal_add(&bench->seal, line, strlen(line));
}

static int open_bench(void **state)
{
    static struct bench bench;

    snprintf(bench.dir, sizeof(bench.dir), "/tmp/pfr-seal-XXXXXX");
    assert_non_null(mkdtemp(bench.dir));
    bench.dirfd = open(bench.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bench.fd = pfr_file_append(bench.dirfd, "s");
    assert_true(bench.fd >= 0);
    assert_int_equal(write(bench.fd, "an earlier run\n", 15), 15);
    assert_int_equal(pfr_seal_begin(&bench.seal, bench.fd), 0);
    add(&bench, "first\n");
    add(&bench, "second\n");
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    unlinkat(bench->dirfd, "s", 0);
    unlinkat(bench->dirfd, "t", 0);
    close(bench->dirfd);
    close(bench->fd);
    return rmdir(bench->dir);
}

static int64_t read_back(struct bench *bench, char **text)
{
    *text = NULL;
    return pfr_seal_read(&bench->seal, bench->fd, bench->dirfd, "s", text);
}

static void assert_refused(struct bench *bench)
{
    char *text;

    assert_int_equal(read_back(bench, &text), -ESTALE);
    assert_null(text);
}

static void our_own_comes_back(void **state)
{
    char *text;

    assert_int_equal(read_back(*state, &text), 13);
    assert_memory_equal(text, "first\nsecond\n", 13);
    free(text);
}

static void what_is_appended_is_noticed(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(write(bench->fd, "x\n", 2), 2);
    assert_refused(bench);
}

/* 1500 MB of nothing: refused before a byte of it is read or a page is taken. */
static void giants_are_not_read(void **state)
{
    struct bench *bench = *state;
    struct rusage before, after;

    assert_int_equal(ftruncate(bench->fd, INT64_C(1500) << 20), 0);
    getrusage(RUSAGE_SELF, &before);
    assert_refused(bench);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 1024);
}

static void what_is_changed_in_place_is_noticed(void **state)
{
    struct bench *bench = *state;
    int fd = openat(bench->dirfd, "s", O_WRONLY | O_CLOEXEC);

    assert_int_equal(pwrite(fd, "F", 1, 15), 1); /* first, and the size is the same */
    assert_refused(bench);
    assert_int_equal(pwrite(fd, "f", 1, 15), 1);
    assert_int_equal(pwrite(fd, "second\nfirst\n", 13, 15), 13);
    assert_refused(bench);
    close(fd);
}

/* Its part is not read, and may be what it likes. */
static void what_is_of_an_earlier_run_is_not_ours(void **state)
{
    struct bench *bench = *state;
    int fd = openat(bench->dirfd, "s", O_WRONLY | O_CLOEXEC);
    char *text;

    assert_int_equal(pwrite(fd, "AN", 2, 0), 2);
    close(fd);
    assert_int_equal(read_back(bench, &text), 13);
    free(text);
}

static void another_file_or_name_is_noticed(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(linkat(bench->dirfd, "s", bench->dirfd, "t", 0), 0);
    assert_refused(bench);
    assert_int_equal(unlinkat(bench->dirfd, "s", 0), 0);
    assert_int_equal(renameat(bench->dirfd, "t", bench->dirfd, "s"), 0);
    assert_int_equal(renameat(bench->dirfd, "s", bench->dirfd, "t"), 0);
    close(pfr_file_append(bench->dirfd, "s"));
    assert_refused(bench);
}

/* ---- a series of windows with processes that all have long command lines ---- */

#define WINDOW (PFR_NS_PER_S / 10)
#define PROCESSES 40

static struct {
    struct pfr_series series;
    struct pfr_selection selection;
    struct pfr_info info;
    struct pfr_process_table table;
    struct pfr_process slots[PROCESSES];
    struct pfr_process_sum sums[PROCESSES];
    struct pfr_readings readings;
    uint32_t top[PROCESSES];
    char command[4000];
    int64_t windows;
} run;

static int warnings;

static void count_warnings(enum pfr_log_level level, const char *text, void *arg)
{
    (void)arg;
    warnings += level != PFR_LOG_INFO && strstr(text, "changed by somebody else");
}

static void start_series(struct bench *bench)
{
    char error[256];

    memset(&run, 0, sizeof(run));
    warnings = 0;
    pfr_log_set(count_warnings, NULL);
    assert_int_equal(pfr_selection_parse(&run.selection, NULL, error, sizeof(error)), 0);
    run.info = (struct pfr_info){ .job = "1", .step = "0", .node = "n", .kernel = "k",
                                  .cgroup_mode = "v2", .process_source = "p", .interval = WINDOW,
                                  .window = WINDOW, .top = PROCESSES / 2,
                                  .selection = &run.selection };
    run.table.slots = run.slots;
    run.table.capacity = PROCESSES;
    memset(run.command, 'c', sizeof(run.command) - 1);
    assert_int_equal(pfr_series_open(&run.series, &run.info, bench->dirfd, "s"), 0);
}

/* Each of them is new in each window. */
static void add_windows(int count)
{
    for (int64_t i = run.windows; i < run.windows + count; i++) {
        struct pfr_usage usage = { .from = i * WINDOW, .to = (i + 1) * WINDOW, .num_samples = 1,
                                   .readings = &run.readings, .processes = &run.table,
                                   .sums = run.sums, .top = run.top, .top_count = PROCESSES,
                                   .process_count = PROCESSES };

        for (uint32_t k = 0; k < PROCESSES; k++) {
            run.top[k] = k;
            run.slots[k].pid = (pid_t)(1000 + k);
            run.slots[k].start_ticks = i * PROCESSES + k;
            run.slots[k].cmd = run.command;
        }
        pfr_series_usage(&run.series, &usage);
        assert_true(run.series.seal.bytes - run.series.seal.base < PFR_SERIES_PER_HOUR * 5 / 4);
    }
    run.windows += count;
}

/* B3 of the review: command lines had no bound, and the span overflowed. */
static void long_commands_stay_bounded(void **state)
{
    struct bench *bench = *state;
    struct stat st;

    start_series(bench);
    add_windows(400);
    assert_int_equal(fstatat(bench->dirfd, "s", &st, 0), 0);
    assert_int_equal(st.st_size, run.series.seal.bytes);
    assert_true(run.series.span > WINDOW && run.series.span < 3 * 400 * WINDOW);
    assert_int_equal(run.series.errors, 0);
    pfr_series_release(&run.series);
}

static void changed_series_is_refused_once(void **state)
{
    struct bench *bench = *state;

    start_series(bench);
    add_windows(2);
    assert_int_equal(write(bench->fd, "x\n", 2), 2);
    add_windows(400);
    assert_int_equal(warnings, 1);
    assert_int_equal(run.series.fd, -1);
    pfr_series_release(&run.series);
}

/* However often ours is merged, it stays where and what it was. */
static void earlier_run_is_kept_unread(void **state)
{
    struct bench *bench = *state;
    char text[29] = "";
    int fd;

    start_series(bench);
    add_windows(400);
    assert_true(run.series.span > WINDOW);
    fd = openat(bench->dirfd, "s", O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    assert_string_equal(text, "an earlier run\nfirst\nsecond\n");
    pfr_series_release(&run.series);
}

static void too_much_of_an_earlier_run_is_refused(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(ftruncate(bench->fd, PFR_SERIES_EARLIER + 1), 0);
    run.info.selection = &run.selection;
    assert_int_equal(pfr_series_open(&run.series, &run.info, bench->dirfd, "s"), -EFBIG);
    assert_int_equal(run.series.fd, -1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(our_own_comes_back),
        CASE(what_is_appended_is_noticed),
        CASE(giants_are_not_read),
        CASE(what_is_changed_in_place_is_noticed),
        CASE(what_is_of_an_earlier_run_is_not_ours),
        CASE(another_file_or_name_is_noticed),
        CASE(long_commands_stay_bounded),
        CASE(changed_series_is_refused_once),
        CASE(earlier_run_is_kept_unread),
        CASE(too_much_of_an_earlier_run_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
