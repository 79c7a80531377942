/* The cgroup collector on v1, v2 and both: what stands where, and what absence means. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/collect/cgroup.h"

struct bench {
    struct fixture fixture;
    struct pfr_cgtarget target;
    struct pfr_metric_set wanted;
    struct pfr_availability have;
    struct pfr_cgroup cgroup;
    struct pfr_sample sample;
    int alive;
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    pfr_cgroup_release(&bench->cgroup);
    fixture_close(&bench->fixture);
    return 0;
}

/* All cgroup measurements, or the one named. */
static void start(struct bench *bench, enum pfr_metric_id only)
{
    memset(&bench->wanted, 0, sizeof(bench->wanted));
    for (int id = PFR_CGROUP_MEM_PEAK; id < PFR_RUSAGE_CPU_SECONDS; id++)
        if (only == PFR_METRIC_NONE || only == (enum pfr_metric_id)id)
            pfr_metric_set_add(&bench->wanted, (enum pfr_metric_id)id);
    assert_int_equal(
        pfr_cgtarget_resolve(&bench->fixture.env, 5001, getpid(),
                             PFR_LEVEL_OWN, &bench->target), 0);
    pfr_availability_init(&bench->have);
    pfr_cgroup_open(&bench->cgroup, &bench->fixture.env, &bench->target, &bench->wanted,
                    &bench->have);
    pfr_availability_derive(&bench->have);
}

static void collect(struct bench *bench)
{
    memset(&bench->sample, 0, sizeof(bench->sample));
    bench->alive = pfr_cgroup_collect(&bench->cgroup, &bench->sample);
}

static void start_on(struct bench *bench, const char *tree)
{
    fixture_open(&bench->fixture, tree);
    start(bench, PFR_METRIC_NONE);
    collect(bench);
    assert_int_equal(bench->alive, 1);
}

static void assert_value(struct bench *bench, enum pfr_metric_id id, int64_t value)
{
    if (!pfr_sample_has(&bench->sample, id))
        fail_msg("%s is absent: %s", pfr_metrics[id].key, bench->have.reason[id]);
    if (pfr_sample_get(&bench->sample, id) != value)
        fail_msg("%s is %lld, not %lld", pfr_metrics[id].key,
                 (long long)pfr_sample_get(&bench->sample, id), (long long)value);
}

/* Not in the sample, and the reason says why. */
static void assert_denied(struct bench *bench, enum pfr_metric_id id, const char *reason)
{
    assert_false(pfr_sample_has(&bench->sample, id));
    assert_false(pfr_metric_set_has(&bench->have.available, id));
    if (!strstr(bench->have.reason[id], reason))
        fail_msg("%s: '%s' does not say '%s'", pfr_metrics[id].key, bench->have.reason[id],
                 reason);
}

static void assert_absent(struct bench *bench, enum pfr_metric_id id)
{
    if (pfr_sample_has(&bench->sample, id))
        fail_msg("%s is %lld, not absent", pfr_metrics[id].key,
                 (long long)pfr_sample_get(&bench->sample, id));
}

#define SECONDS(s) ((int64_t)((s) * 1e9))
#define V2_TASK "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/task_0"
#define V2_JOB "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42"
#define V1_STEP "sys/fs/cgroup/memory/slurm_n1/uid_1000/job_42/step_0"

/* ---- what stands where ---- */

static void v2_values(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v2-slurm");
    assert_value(bench, PFR_CGROUP_MEM_PEAK, 200 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_CURRENT, 180 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_ANON, 110 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_FILE, 60 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_KERNEL, 6 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_SHMEM, 10 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_FAILCNT, 0);
    assert_value(bench, PFR_CGROUP_SWAP_CURRENT, 0);
    assert_value(bench, PFR_CGROUP_SWAP_PEAK, 0);
    assert_value(bench, PFR_CGROUP_OOM_EVENTS, 0);
    assert_value(bench, PFR_CGROUP_OOM_KILLS, 0);
    assert_value(bench, PFR_CGROUP_CPU_SECONDS, SECONDS(6.2));
    assert_value(bench, PFR_CGROUP_CPU_USER_SECONDS, SECONDS(6.0));
    assert_value(bench, PFR_CGROUP_CPU_SYSTEM_SECONDS, SECONDS(0.2));
    assert_value(bench, PFR_CGROUP_CPU_PERIODS, 40);
    assert_value(bench, PFR_CGROUP_CPU_THROTTLED_PERIODS, 3);
    assert_value(bench, PFR_CGROUP_CPU_THROTTLED_SECONDS, 25 * MS);
    assert_value(bench, PFR_CGROUP_IO_READ_BYTES, 4096 + 1000);
    assert_value(bench, PFR_CGROUP_IO_WRITE_BYTES, 512 + 24);
    assert_value(bench, PFR_CGROUP_PIDS_CURRENT, 5);
    assert_value(bench, PFR_CGROUP_PIDS_PEAK, 6);
}

/* Each number of the fixture is its own: none can be another's. */
static void v2_events_and_limits(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    fixture_write(&bench->fixture, V2_TASK "/memory.events",
                  "low 0\nhigh 33\nmax 34\noom 35\noom_kill 36\noom_group_kill 0\n");
    start(bench, PFR_METRIC_NONE);
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_HIGH_EVENTS, 33);
    assert_value(bench, PFR_CGROUP_MEM_FAILCNT, 34);
    assert_value(bench, PFR_CGROUP_OOM_EVENTS, 35);
    assert_value(bench, PFR_CGROUP_OOM_KILLS, 36);
    assert_value(bench, PFR_CGROUP_MEM_HIGH_EVENTS_LOCAL, 13);
    assert_value(bench, PFR_CGROUP_MEM_FAILCNT_LOCAL, 14);
    assert_value(bench, PFR_CGROUP_OOM_EVENTS_LOCAL, 15);
    assert_value(bench, PFR_CGROUP_OOM_KILLS_LOCAL, 16);
    assert_value(bench, PFR_CGROUP_SWAP_FAILCNT, 21);
    assert_value(bench, PFR_CGROUP_SWAP_FAILS, 22);
    assert_value(bench, PFR_CGROUP_PIDS_FAILCNT, 23);
    assert_value(bench, PFR_CGROUP_MEM_INACTIVE_FILE, 7 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_FAULTS_MAJOR, 5);
    assert_value(bench, PFR_CGROUP_MEM_REFAULTS_FILE, 11);
    assert_value(bench, PFR_CGROUP_IO_READ_OPS, 12 + 1);
    assert_value(bench, PFR_CGROUP_IO_WRITE_OPS, 9 + 1);
    assert_value(bench, PFR_CGROUP_MEM_HIGH_LIMIT, 600 * MIB); /* the job's */
    assert_value(bench, PFR_CGROUP_SWAP_LIMIT, 1024 * MIB);
    assert_value(bench, PFR_CGROUP_CPU_LIMIT, 150000);
}

static void v2_pressure(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v2-slurm");
    assert_value(bench, PFR_CGROUP_PSI_CPU_SOME_SECONDS, 62000 * INT64_C(1000));
    assert_value(bench, PFR_CGROUP_PSI_CPU_FULL_SECONDS, 6200 * INT64_C(1000));
    assert_value(bench, PFR_CGROUP_PSI_MEMORY_SOME_SECONDS, 124000 * INT64_C(1000));
    assert_value(bench, PFR_CGROUP_PSI_MEMORY_FULL_SECONDS, 12400 * INT64_C(1000));
    assert_value(bench, PFR_CGROUP_PSI_IO_SOME_SECONDS, 186000 * INT64_C(1000));
    assert_value(bench, PFR_CGROUP_PSI_IO_FULL_SECONDS, 18600 * INT64_C(1000));
}

/* cpu.pressure has had a "full" line since 5.13 only. */
static void v2_pressure_without_full(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    fixture_write(&bench->fixture, V2_TASK "/cpu.pressure", "some avg10=0.00 total=77\n");
    start(bench, PFR_METRIC_NONE);
    collect(bench);
    assert_value(bench, PFR_CGROUP_PSI_CPU_SOME_SECONDS, 77000);
    assert_denied(bench, PFR_CGROUP_PSI_CPU_FULL_SECONDS, "cpu.pressure has no 'total'");
}

static void v1_values(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v1-slurm");
    assert_value(bench, PFR_CGROUP_MEM_PEAK, 200 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_CURRENT, 180 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_ANON, 110 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_FILE, 60 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_SHMEM, 10 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_KERNEL, 4 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 512 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_FAILCNT, 0);
    assert_value(bench, PFR_CGROUP_OOM_KILLS, 0);
    assert_value(bench, PFR_CGROUP_SWAP_CURRENT, 0);
    assert_value(bench, PFR_CGROUP_CPU_SECONDS, SECONDS(6.2));
    assert_value(bench, PFR_CGROUP_CPU_USER_SECONDS, SECONDS(6.0)); /* 600 ticks */
    assert_value(bench, PFR_CGROUP_CPU_SYSTEM_SECONDS, SECONDS(0.2));
    assert_value(bench, PFR_CGROUP_CPU_THROTTLED_SECONDS, 0);
    assert_value(bench, PFR_CGROUP_MEM_INACTIVE_FILE, 7 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_FAULTS_MAJOR, 5);
    assert_value(bench, PFR_CGROUP_MEM_REFAULTS_FILE, 11);
    assert_denied(bench, PFR_CGROUP_OOM_EVENTS, "no such cgroup hierarchy");
    assert_denied(bench, PFR_CGROUP_MEM_HIGH_LIMIT, "no such cgroup hierarchy");
    assert_denied(bench, PFR_CGROUP_MEM_HIGH_EVENTS, "no such cgroup hierarchy");
    assert_denied(bench, PFR_CGROUP_SWAP_FAILS, "no such cgroup hierarchy");
    assert_denied(bench, PFR_CGROUP_CPU_LIMIT, "no such cgroup hierarchy");
    assert_denied(bench, PFR_CGROUP_PSI_CPU_SOME_SECONDS, "no such cgroup hierarchy");
    assert_denied(bench, PFR_CGROUP_IO_READ_BYTES, "blkio controller: not scoped");
    assert_denied(bench, PFR_CGROUP_PIDS_CURRENT, "pids controller: not scoped");
}

/* CPU of the root cgroup is the node's, however tempting (R40). */
static void v1_unscoped_cpu_is_absent(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v1-linuxgather");
    assert_denied(bench, PFR_CGROUP_CPU_SECONDS, "cpuacct controller: not scoped: in the root");
    assert_denied(bench, PFR_CGROUP_CPU_USER_SECONDS, "not scoped");
    assert_denied(bench, PFR_CGROUP_PDCPU, "needs cgroup_cpu_seconds");
    assert_denied(bench, PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS, "needs cgroup_cpu_seconds");
    assert_value(bench, PFR_CGROUP_MEM_PEAK, 200 * MIB);
}

static void v1_rhel8_values(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v1-rhel8");
    assert_value(bench, PFR_CGROUP_MEM_PEAK, 200 * MIB);
    assert_value(bench, PFR_CGROUP_SWAP_CURRENT, 2 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_FAILCNT, 3);
    assert_value(bench, PFR_CGROUP_IO_READ_BYTES, 1048576 + 512); /* over devices, no totals */
    assert_value(bench, PFR_CGROUP_IO_WRITE_BYTES, 4096);
    assert_value(bench, PFR_CGROUP_IO_READ_OPS, 17 + 2);
    assert_value(bench, PFR_CGROUP_IO_WRITE_OPS, 3);
    assert_value(bench, PFR_CGROUP_PIDS_FAILCNT, 4);
    assert_value(bench, PFR_CGROUP_CPU_THROTTLED_SECONDS, 25 * MS); /* nanoseconds on v1 */
    assert_value(bench, PFR_CGROUP_PIDS_CURRENT, 6);
    assert_denied(bench, PFR_CGROUP_PIDS_PEAK, "no pids.peak (pids)");
    assert_denied(bench, PFR_CGROUP_SWAP_PEAK, "no such cgroup hierarchy");
}

/* Before 5.19 there is no memory.peak: the sampled one has a name of its own (R24). */
static void v2_rhel8_has_a_sampled_peak(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v2-rhel8");
    assert_denied(bench, PFR_CGROUP_MEM_PEAK, "no memory.peak (unified)");
    assert_value(bench, PFR_CGROUP_MEM_CURRENT, 180 * MIB);
    assert_true(pfr_metric_set_has(&bench->have.available, PFR_CGROUP_MEM_SAMPLED_PEAK));
    assert_denied(bench, PFR_CGROUP_PIDS_PEAK, "no pids.peak");
    assert_denied(bench, PFR_CGROUP_PSI_MEMORY_SOME_SECONDS, "no memory.pressure");
    assert_denied(bench, PFR_CGROUP_PSI_MEMORY_SOME_SECONDS, "CONFIG_PSI");
    assert_denied(bench, PFR_CGROUP_OOM_KILLS_LOCAL, "no memory.events.local (unified)");
    assert_denied(bench, PFR_CGROUP_MEM_HIGH_LIMIT, "no memory.high (unified)");
    assert_denied(bench, PFR_CGROUP_SWAP_LIMIT, "no memory.swap.max (unified)");
    assert_denied(bench, PFR_CGROUP_CPU_LIMIT, "no cpu.max (unified)");
    assert_denied(bench, PFR_CGROUP_MEM_REFAULTS_FILE, "memory.stat has no 'workingset_refault");
    assert_denied(bench, PFR_CGROUP_MEM_KERNEL, "memory.stat has no 'kernel'");
    assert_denied(bench, PFR_CGROUP_MEM_NONRECLAIMABLE, "needs cgroup_mem_kernel");
}

/* CPU and pressure of the unified tree, memory of v1, each in its place. */
static void hybrid_takes_each_from_where_it_is(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "hybrid");
    assert_value(bench, PFR_CGROUP_CPU_SECONDS, SECONDS(6.2));
    assert_value(bench, PFR_CGROUP_PSI_CPU_SOME_SECONDS, 62000 * INT64_C(1000));
    assert_value(bench, PFR_CGROUP_MEM_PEAK, 200 * MIB);
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 512 * MIB);
    assert_value(bench, PFR_CGROUP_OOM_KILLS, 0);
    /* nr_periods is not in the unified cpu.stat without the cpu controller */
    assert_value(bench, PFR_CGROUP_CPU_PERIODS, 0);
}

/* Only what is asked for is opened. */
static void selection_decides_what_is_opened(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    start(bench, PFR_CGROUP_MEM_PEAK);
    assert_int_equal(bench->cgroup.file_count, 1);
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_PEAK, 200 * MIB);
    assert_absent(bench, PFR_CGROUP_MEM_CURRENT);
    assert_string_equal(bench->have.reason[PFR_CGROUP_MEM_CURRENT], "not probed");
}

/* Stamped by this collector, just before it reads (R9). */
static void sample_is_stamped(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v2-slurm");
    fixture_advance(&bench->fixture, 3 * MS);
    collect(bench);
    assert_int_equal(bench->sample.stamp[PFR_FROM_CGROUP], bench->fixture.monotonic);
    assert_int_equal(bench->sample.stamp[PFR_FROM_PROCS], 0);
}

/* ---- numbers at the edge ---- */

static void odd_numbers_are_absent_not_wrong(void **state)
{
    static const char *const odd[] = { "18446744073709551615\n", "9223372036854775808\n", "x\n",
                                       "-4096\n", "max\n", "" };
    struct bench *bench = *state;

    start_on(bench, "v2-slurm");
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        fixture_write(&bench->fixture, V2_TASK "/memory.current", "%s", odd[i]);
        collect(bench);
        assert_absent(bench, PFR_CGROUP_MEM_CURRENT);
        assert_value(bench, PFR_CGROUP_MEM_PEAK, 200 * MIB); /* the others are as they were */
    }
    fixture_write(&bench->fixture, V2_TASK "/memory.current", "9223372036854775807\n");
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_CURRENT, INT64_MAX);
}

/* Microseconds past 2^63 nanoseconds: held at the end, not wrapped to the negative. */
static void scaled_values_saturate(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v2-slurm");
    fixture_write(&bench->fixture, V2_TASK "/cpu.stat",
                  "usage_usec 9223372036854775807\nuser_usec 1\nsystem_usec 1\n");
    collect(bench);
    assert_value(bench, PFR_CGROUP_CPU_SECONDS, INT64_MAX);
}

static void empty_io_stat_is_zero(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    fixture_write(&bench->fixture, V2_TASK "/io.stat", "%s", "");
    start(bench, PFR_METRIC_NONE);
    collect(bench);
    assert_value(bench, PFR_CGROUP_IO_READ_BYTES, 0);
    assert_value(bench, PFR_CGROUP_IO_WRITE_BYTES, 0);
    fixture_write(&bench->fixture, V2_TASK "/io.stat", "8:0 rbytes=5 wbytes=6 rios=1\n");
    collect(bench);
    assert_value(bench, PFR_CGROUP_IO_READ_BYTES, 5);
}

static void missing_io_stat_is_absence(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    fixture_remove(&bench->fixture, V2_TASK "/io.stat");
    start(bench, PFR_METRIC_NONE);
    collect(bench);
    assert_denied(bench, PFR_CGROUP_IO_READ_BYTES, "no io.stat (unified)");
    assert_denied(bench, PFR_CGROUP_IO_WRITE_BYTES, "no io.stat (unified)");
}

static void unreadable_file_says_so(void **state)
{
    struct bench *bench = *state;
    char path[512];

    fixture_open(&bench->fixture, "v2-slurm");
    fixture_path(&bench->fixture, V2_TASK "/memory.peak", path, sizeof(path));
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(seteuid(geteuid() == 0 ? 65534 : geteuid()), 0);
    start(bench, PFR_METRIC_NONE);
    collect(bench);
    assert_int_equal(seteuid(getuid()), 0);
    assert_denied(bench, PFR_CGROUP_MEM_PEAK, "memory.peak cannot be read: Permission denied");
    assert_value(bench, PFR_CGROUP_MEM_CURRENT, 180 * MIB);
}

/* ---- limits ---- */

static void v2_limit_is_the_smallest_above(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v2-slurm");
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 512 * MIB); /* of user, the job has 768 */
    fixture_write(&bench->fixture, V2_JOB "/memory.max", "%lld\n", (long long)(256 * MIB));
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 256 * MIB);
    fixture_write(&bench->fixture, V2_TASK "/memory.max", "%lld\n", (long long)(64 * MIB));
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 64 * MIB);
    fixture_write(&bench->fixture, V2_TASK "/memory.max", "0\n");
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 0);
}

/* Where its own directory lacks the controller, those above limit it all the same. */
static void limits_above_count_without_the_controller(void **state)
{
    struct bench *bench = *state;

    fixture_open(&bench->fixture, "v2-slurm");
    fixture_remove(&bench->fixture, V2_TASK "/memory.max");
    fixture_remove(&bench->fixture, V2_TASK "/cpu.max");
    start(bench, PFR_METRIC_NONE);
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 512 * MIB);
    assert_value(bench, PFR_CGROUP_CPU_LIMIT, 150000);
    fixture_write(&bench->fixture, V2_JOB "/step_0/user/cpu.max", "20000 10000\n");
    collect(bench);
    assert_value(bench, PFR_CGROUP_CPU_LIMIT, 150000);
    fixture_write(&bench->fixture, V2_JOB "/step_0/user/cpu.max", "2500 10000\n");
    collect(bench);
    assert_value(bench, PFR_CGROUP_CPU_LIMIT, 25000);
}

static void no_limit_is_absent(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "v2-slurm");
    fixture_write(&bench->fixture, V2_JOB "/memory.max", "max\n");
    fixture_write(&bench->fixture, V2_JOB "/step_0/user/memory.max", "max\n");
    collect(bench);
    assert_absent(bench, PFR_CGROUP_MEM_LIMIT);
    assert_true(pfr_metric_set_has(&bench->have.available, PFR_CGROUP_MEM_LIMIT));
}

/* The limit of a container's own mount point counts; above it nothing can be seen. */
static void limit_of_the_mount_itself_counts(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "mount-root");
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 256 * MIB);
}

static void limit_of_a_distant_ancestor_counts(void **state)
{
    struct bench *bench = *state;

    start_on(bench, "systemd-scope");
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, 4096 * MIB);
}

/* v1 says "none" with the largest page-aligned number, which depends on the page size. */
static void v1_no_limit_is_absent(void **state)
{
    static const char *const none[] = { "9223372036854771712", "9223372036854710272",
                                        "9223372036854775807" };
    struct bench *bench = *state;

    start_on(bench, "v1-slurm");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        fixture_write(&bench->fixture, V1_STEP "/task_0/memory.stat",
                      "hierarchical_memory_limit %s\n", none[i]);
        collect(bench);
        assert_absent(bench, PFR_CGROUP_MEM_LIMIT);
    }
    fixture_write(&bench->fixture, V1_STEP "/task_0/memory.stat",
                  "hierarchical_memory_limit 9223372036854640000\n");
    collect(bench);
    assert_value(bench, PFR_CGROUP_MEM_LIMIT, INT64_C(9223372036854640000));
}

/* ---- v1 counts in each directory for itself ---- */

static void put_counts(struct bench *bench, const char *dir, int kills, int fails)
{
    char path[256];

    snprintf(path, sizeof(path), "%s%s/memory.oom_control", V1_STEP, dir);
    fixture_write(&bench->fixture, path, "oom_kill_disable 0\nunder_oom 0\noom_kill %d\n", kills);
    snprintf(path, sizeof(path), "%s%s/memory.failcnt", V1_STEP, dir);
    fixture_write(&bench->fixture, path, "%d\n", fails);
}

static void assert_counts(struct bench *bench, int kills, int fails)
{
    collect(bench);
    assert_value(bench, PFR_CGROUP_OOM_KILLS, kills);
    assert_value(bench, PFR_CGROUP_MEM_FAILCNT, fails);
}

/* The process at step level, two tasks below it. */
static void start_at_step(struct bench *bench, enum pfr_metric_id only)
{
    fixture_open(&bench->fixture, "v1-slurm");
    fixture_write(&bench->fixture, "proc/5001/cgroup",
                  "3:memory:/slurm_n1/uid_1000/job_42/step_0\n");
    put_counts(bench, "", 1, 10);
    put_counts(bench, "/task_0", 2, 20);
    put_counts(bench, "/task_1", 4, 40);
    start(bench, only);
}

static void v1_kills_are_summed_over_the_subtree(void **state)
{
    struct bench *bench = *state;

    start_at_step(bench, PFR_METRIC_NONE);
    assert_counts(bench, 7, 70);
    put_counts(bench, "/task_1", 5, 41);
    assert_counts(bench, 8, 71);
    assert_value(bench, PFR_CGROUP_OOM_KILLS_LOCAL, 1);
    assert_value(bench, PFR_CGROUP_MEM_FAILCNT_LOCAL, 10);
}

static void v1_new_directories_are_met(void **state)
{
    struct bench *bench = *state;

    start_at_step(bench, PFR_METRIC_NONE);
    assert_counts(bench, 7, 70);
    put_counts(bench, "/task_2", 8, 80);
    put_counts(bench, "/task_0/nested/deep", 16, 160);
    assert_counts(bench, 7 + 8 + 16, 70 + 80 + 160);
}

/* A task's directory goes when the task does: what it counted stays. */
static void v1_removed_directories_keep_their_counts(void **state)
{
    struct bench *bench = *state;

    start_at_step(bench, PFR_METRIC_NONE);
    put_counts(bench, "/task_1/nested", 100, 1000);
    assert_counts(bench, 107, 1070);
    fixture_remove(&bench->fixture, V1_STEP "/task_1");
    assert_counts(bench, 107, 1070);
    assert_counts(bench, 107, 1070); /* once, not at every tick */
    assert_int_equal(bench->cgroup.subtree.count, 2);
}

/* The same name again is another directory, which counts from zero. */
static void v1_remade_directory_counts_anew(void **state)
{
    struct bench *bench = *state;

    start_at_step(bench, PFR_METRIC_NONE);
    assert_counts(bench, 7, 70);
    fixture_remove(&bench->fixture, V1_STEP "/task_1");
    put_counts(bench, "/task_1", 3, 30);
    /* its parent has as many links as before: this is only seen when one of them changes */
    put_counts(bench, "/task_9", 0, 0);
    assert_counts(bench, 7 + 3, 70 + 30);
}

static void v1_step_that_has_gone_is_told(void **state)
{
    struct bench *bench = *state;

    start_at_step(bench, PFR_CGROUP_OOM_KILLS);
    collect(bench);
    assert_int_equal(bench->alive, 1);
    assert_value(bench, PFR_CGROUP_OOM_KILLS, 7);
    fixture_remove(&bench->fixture, V1_STEP);
    collect(bench);
    assert_int_equal(bench->alive, 0);
    assert_absent(bench, PFR_CGROUP_OOM_KILLS);
}

static void release_closes_everything(void **state)
{
    struct bench *bench = *state;
    int before = dup(0), after;

    start_at_step(bench, PFR_METRIC_NONE);
    collect(bench);
    pfr_cgroup_release(&bench->cgroup);
    close(before);
    after = dup(0);
    assert_int_equal(after, before); /* the lowest free number is the same */
    close(after);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(v2_values),
        CASE(v2_events_and_limits),
        CASE(v2_pressure),
        CASE(v2_pressure_without_full),
        CASE(v1_values),
        CASE(v1_unscoped_cpu_is_absent),
        CASE(v1_rhel8_values),
        CASE(v2_rhel8_has_a_sampled_peak),
        CASE(hybrid_takes_each_from_where_it_is),
        CASE(selection_decides_what_is_opened),
        CASE(sample_is_stamped),
        CASE(odd_numbers_are_absent_not_wrong),
        CASE(scaled_values_saturate),
        CASE(empty_io_stat_is_zero),
        CASE(missing_io_stat_is_absence),
        CASE(unreadable_file_says_so),
        CASE(v2_limit_is_the_smallest_above),
        CASE(limits_above_count_without_the_controller),
        CASE(no_limit_is_absent),
        CASE(limit_of_the_mount_itself_counts),
        CASE(limit_of_a_distant_ancestor_counts),
        CASE(v1_no_limit_is_absent),
        CASE(v1_kills_are_summed_over_the_subtree),
        CASE(v1_new_directories_are_met),
        CASE(v1_removed_directories_keep_their_counts),
        CASE(v1_remade_directory_counts_anew),
        CASE(v1_step_that_has_gone_is_told),
        CASE(release_closes_everything),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
