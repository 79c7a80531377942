/*
 * The peaks of spans. A plain file stands for memory.peak: what the kernel
 * would count is written into it, and a reset is seen as what stands there.
 */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/collect/cgroup.h"

static struct pfr_peak peak;
static int file; /* ours, beside the descriptor of the peak */

static void count(const char *text)
{
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* True once for each reset. */
static bool was_reset(void)
{
    char text[16] = "";

    return pread(file, text, sizeof(text) - 1, 0) > 0 && strncmp(text, "reset", 5) == 0;
}

static int open_peak(void **state)
{
    (void)state;
    file = memfd_create("memory.peak", MFD_CLOEXEC);
    count("77\n");
    return pfr_peak_begin(&peak, fcntl(file, F_DUPFD_CLOEXEC, 0)) != 1;
}

static int close_peak(void **state)
{
    (void)state;
    pfr_peak_release(&peak);
    assert_int_equal(peak.fd, -1);
    return close(file);
}

static int64_t take(void)
{
    int64_t value = -1;

    return pfr_peak_take(&peak, &value) > 0 ? value : -1;
}

/* What was before the beginning is not of the span. */
static void begins_with_a_reset(void **state)
{
    (void)state;
    assert_true(was_reset());
    count("5\n");
    assert_int_equal(take(), 5);
}

static void taking_begins_anew(void **state)
{
    (void)state;
    count("60\n");
    assert_int_equal(take(), 60);
    assert_true(was_reset());
    count("20\n");
    assert_int_equal(take(), 20);
}

/* Another may reset it, too: what was read until then stays. */
static void a_reading_is_not_lost_to_strangers(void **state)
{
    (void)state;
    count("60\n");
    assert_int_equal(pfr_peak_read(&peak), 1);
    assert_false(was_reset());
    count("3\n");
    assert_int_equal(pfr_peak_read(&peak), 1);
    assert_int_equal(take(), 60);
}

/* The last reading is taken when the cgroup has gone already. */
static void gone_keeps_the_last_reading(void **state)
{
    (void)state;
    count("60\n");
    assert_int_equal(pfr_peak_read(&peak), 1);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_true(pfr_peak_read(&peak) < 0);
    assert_int_equal(take(), 60);
    assert_int_equal(take(), -1); /* and is taken but once */
}

static void nonsense_is_no_peak(void **state)
{
    (void)state;
    count("max\n");
    assert_true(pfr_peak_read(&peak) < 0);
    assert_int_equal(take(), -1);
}

/* EINVAL is what an older kernel says to the write, and this file to what is no number. */
static void older_kernels_refuse(void **state)
{
    struct pfr_peak other;
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);

    (void)state;
    assert_int_equal(pfr_peak_begin(&other, fd), -EOPNOTSUPP);
    assert_int_equal(other.fd, -1);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* it was closed */
}

/* ---- in the collector ---- */

#define V2_TASK "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/task_0"

struct bench {
    struct fixture fixture;
    struct pfr_cgtarget target;
    struct pfr_handed handed;
    struct pfr_availability have;
    struct pfr_cgroup cgroup;
    struct pfr_sample sample;
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    *state = &bench;
    fixture_open(&bench.fixture, "v2-slurm");
    return open_peak(NULL);
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    pfr_cgroup_release(&bench->cgroup);
    fixture_close(&bench->fixture);
    return close_peak(NULL);
}

static void start(struct bench *bench)
{
    struct pfr_metric_set wanted = { { 0 } };

    pfr_metric_set_add(&wanted, PFR_CGROUP_MEM_PEAK);
    pfr_metric_set_add(&wanted, PFR_CGROUP_MEM_WINDOW_PEAK);
    pfr_metric_set_add(&wanted, PFR_CGROUP_SWAP_WINDOW_PEAK);
    assert_int_equal(pfr_cgtarget_resolve(&bench->fixture.env, 5001, getpid(), PFR_LEVEL_OWN,
                                          &bench->target), 0);
    bench->target.handed = &bench->handed;
    pfr_availability_init(&bench->have);
    pfr_cgroup_open(&bench->cgroup, &bench->fixture.env, &bench->target, &wanted, &bench->have);
}

/* Whatever it is called: only a file of cgroup2 is ever written to. */
static void plain_files_are_not_written(void **state)
{
    struct bench *bench = *state;
    char path[512], text[64] = "";
    int fd;

    start(bench);
    assert_int_equal(bench->cgroup.peak_count, 0);
    assert_string_equal(bench->have.reason[PFR_CGROUP_MEM_WINDOW_PEAK],
                        "memory.peak cannot be reset: that needs Linux 6.12");
    fixture_path(&bench->fixture, V2_TASK "/memory.peak", path, sizeof(path));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "209715200\n");
    close(fd);
}

/* Root can open what no one can write to; another user can tell the two apart, too. */
static void who_may_not_is_told_why(void **state)
{
    struct bench *bench = *state;
    char path[512];

    if (geteuid() != 0)
        SKIP_BECAUSE("not root: the files are one's own");
    fixture_path(&bench->fixture, V2_TASK "/memory.peak", path, sizeof(path));
    assert_int_equal(seteuid(65534), 0);
    start(bench);
    assert_int_equal(seteuid(0), 0);
    assert_string_equal(bench->have.reason[PFR_CGROUP_MEM_WINDOW_PEAK],
                        "memory.peak can only be reset by its owner");
    assert_int_equal(chmod(path, 0444), 0);
    pfr_cgroup_release(&bench->cgroup);
    assert_int_equal(seteuid(65534), 0);
    start(bench);
    assert_int_equal(seteuid(0), 0);
    assert_string_equal(bench->have.reason[PFR_CGROUP_MEM_WINDOW_PEAK],
                        "memory.peak cannot be reset: that needs Linux 6.12");
}

static void no_peak_at_all_is_another_reason(void **state)
{
    struct bench *bench = *state;

    fixture_remove(&bench->fixture, V2_TASK "/memory.peak");
    start(bench);
    assert_non_null(strstr(bench->have.reason[PFR_CGROUP_MEM_WINDOW_PEAK], "no memory.peak"));
}

static void handed_file_serves(void **state)
{
    struct bench *bench = *state;

    bench->handed.count = 1;
    snprintf(bench->handed.files[0].name, sizeof(bench->handed.files[0].name), "memory.peak");
    bench->handed.files[0].fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
    start(bench);
    assert_int_equal(bench->handed.files[0].fd, -1); /* it is the collector's now */
    assert_string_equal(bench->have.reason[PFR_CGROUP_MEM_WINDOW_PEAK], "");
    assert_true(bench->have.reason[PFR_CGROUP_SWAP_WINDOW_PEAK][0] != 0);
    count("4096\n");
    assert_int_equal(pfr_cgroup_collect(&bench->cgroup, &bench->sample), 1);
    /* a tick has the kernel's own peak; that of the window comes when it ends */
    assert_int_equal(pfr_sample_get(&bench->sample, PFR_CGROUP_MEM_PEAK), 200 * MIB);
    assert_false(pfr_sample_has(&bench->sample, PFR_CGROUP_MEM_WINDOW_PEAK));
    assert_false(was_reset());
    pfr_cgroup_take_peaks(&bench->cgroup, &bench->sample);
    assert_int_equal(pfr_sample_get(&bench->sample, PFR_CGROUP_MEM_WINDOW_PEAK), 4096);
    assert_true(was_reset());
    /* a phase and a window that end with the same sample: both have it */
    count("1024\n");
    pfr_cgroup_take_peaks(&bench->cgroup, &bench->sample);
    assert_int_equal(pfr_sample_get(&bench->sample, PFR_CGROUP_MEM_WINDOW_PEAK), 4096);
}

int main(void)
{
#define PEAK(name) cmocka_unit_test_setup_teardown(name, open_peak, close_peak)
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        PEAK(begins_with_a_reset),
        PEAK(taking_begins_anew),
        PEAK(a_reading_is_not_lost_to_strangers),
        PEAK(gone_keeps_the_last_reading),
        PEAK(nonsense_is_no_peak),
        PEAK(older_kernels_refuse),
        CASE(plain_files_are_not_written),
        CASE(who_may_not_is_told_why),
        CASE(no_peak_at_all_is_another_reason),
        CASE(handed_file_serves),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
