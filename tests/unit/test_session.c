/*
 * A whole run on the fixture trees: start, ticks, end, and what stands in the
 * summary and the series. The clock is the fixture's, so every number is known.
 */
#include "tests/unit/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/control.h"
#include "common/base/fd.h"
#include "common/record/file.h"
#include "common/record/reader.h"
#include "tools/sampler/loop.h"
#include "tools/sampler/lost.h"
#include "tools/sampler/session.h"

struct bench {
    struct fixture fixture;
    struct pfr_options options;
    struct pfr_session *session;
    bool initialised;
    struct json_object *summary, *lines;
    char error[512];
    char step[512]; /* where the files are */
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    bench.session = calloc(1, sizeof(*bench.session));
    *state = &bench;
    return !bench.session;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    if (bench->initialised)
        pfr_session_release(bench->session);
    free(bench->session);
    json_object_put(bench->summary);
    json_object_put(bench->lines);
    fixture_close(&bench->fixture);
    alarm(0);
    return 0;
}

static void prepare(struct bench *bench, const char *tree, const char *metrics)
{
    fixture_open(&bench->fixture, tree);
    snprintf(bench->step, sizeof(bench->step), "%s/0", bench->fixture.out);
    bench->options = (struct pfr_options){
        .root = bench->fixture.root, .job = "42", .step = "0", .node = "n1",
        .dir = bench->fixture.out, .metrics = metrics, .interval = PFR_NS_PER_S,
        .window = 10 * PFR_NS_PER_S, .top = 4, .tree = 4990,
    };
}

static int init(struct bench *bench)
{
    int r = pfr_session_init(bench->session, &bench->options, bench->error,
                             sizeof(bench->error));

    bench->initialised = r == 0;
    fixture_set_clock(&bench->fixture, &bench->session->env);
    return r;
}

static int begin(struct bench *bench, pid_t pid, int rank)
{
    int r = pfr_session_start_task(bench->session, pid, rank, bench->error,
                                   sizeof(bench->error));

    if (r == 0) {
        pfr_session_go(bench->session);
        pfr_session_publish(bench->session);
    }
    return r;
}

static void start(struct bench *bench, const char *tree, const char *metrics)
{
    prepare(bench, tree, metrics);
    if (init(bench) < 0 || begin(bench, 5001, 0) < 0)
        fail_msg("%s", bench->error);
}

static void tick_after(struct bench *bench, int64_t ns)
{
    fixture_advance(&bench->fixture, ns);
    pfr_session_tick(bench->session);
}

static void tick(struct bench *bench, const char *part)
{
    if (part)
        fixture_overlay(&bench->fixture, part);
    tick_after(bench, PFR_NS_PER_S);
}

static void end_task(struct bench *bench, pid_t pid, int wait_status)
{
    struct pfr_task_end end = { .wait_status = wait_status, .cpu = -1 };

    fixture_advance(&bench->fixture, PFR_NS_PER_S);
    pfr_session_end_task(bench->session, pid, &end);
}

static void finish(struct bench *bench)
{
    bench->summary = pfr_session_finish(bench->session);
    assert_non_null(bench->summary);
}

static void read_series(struct bench *bench)
{
    json_object_put(bench->lines);
    bench->lines = fixture_lines(bench->step, "n1.jsonl");
}

/* base, tick1, tick2, then the task ends and nothing is left. */
static void play(struct bench *bench, const char *tree, const char *metrics)
{
    start(bench, tree, metrics);
    tick(bench, "tick1");
    tick(bench, "tick2");
    fixture_overlay(&bench->fixture, "tick3");
    end_task(bench, 5001, 3 << 8);
    finish(bench);
    read_series(bench);
}

static struct json_object *load_summary(struct bench *bench)
{
    int fd = open(bench->step, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct json_object *object = pfr_summary_load(fd, "n1.json");

    close(fd);
    return object;
}

#define M "measurements."

/* ---- the numbers of a run ---- */

/* What does not depend on how the kernel lays out its cgroups. */
static void assert_the_run(struct bench *bench)
{
    struct json_object *s = bench->summary;

    assert_json_text(s, "state", "COMPLETE");
    assert_json_int(s, "n_pending", 0);
    assert_json_int(s, "num_samples", 3); /* the empty last one does not count (R18) */
    assert_json_absent(s, "counter_falls");
    assert_json_number(s, "elapsed_seconds", "3");
    /* 0.5 + 4 of the one that left + 0.5, not the fall of the sum (R8) */
    assert_json_number(s, M "ps_cpu_seconds_total.total", "5");
    /* at the same time (R14); the sum of both maxima would be 225280 kB */
    assert_json_int(s, M "ps_rss_total.max", 204800 * KIB);
    assert_json_int(s, M "ps_rss_total.last", 81920 * KIB);
    assert_json_int(s, M "ps_rss_total.min", 81920 * KIB);
    assert_json_int(s, M "proc_count.max", 2);
    assert_json_int(s, M "proc_io_read_bytes_total.total", 4096000 + 1000);
    assert_json_int(s, M "proc_io_write_bytes_total.total", 4096 + 2048);
    assert_json_int(s, M "proc_faults_minor_total.total", 70 + 800);
    assert_json_int(s, M "cgroup_mem_peak.max", 264 * MIB); /* of the empty sample: final */
    assert_json_int(s, M "cgroup_mem_current.min", 130 * MIB); /* a level is not */
    assert_json_int(s, M "cgroup_mem_sampled_peak.max", 240 * MIB);
    assert_json_int(s, M "cgroup_mem_limit.last", 512 * MIB);
    assert_json_number(s, M "cgroup_cpu_seconds.total", "5.3");
    assert_json_number(s, M "cgroup_cpu_unattributed_seconds.total", "0.3");
    assert_json_int(s, M "cgroup_oom_kills.total", 0); /* measured, and none */
    assert_json_int(s, "processes.seen", 2);
    assert_json_int(s, "tasks.0.exit", 3);
    assert_json_int(s, "info.node_mem_total", 16384000 * KIB);
}

static void v2_run(void **state)
{
    struct bench *bench = *state;

    play(bench, "v2-slurm", NULL);
    assert_the_run(bench);
    assert_json_text(bench->summary, "info.cgroup_mode", "v2");
    assert_json_text(bench->summary, "info.processes_from", "cgroup v2");
    assert_json_int(bench->summary, M "cgroup_mem_nonreclaimable.max", 177 * MIB);
    assert_json_int(bench->summary, M "cgroup_io_read_bytes.total", 1048576);
    assert_json_int(bench->summary, M "cgroup_io_write_bytes.total", 4096);
    assert_json_number(bench->summary, M "cgroup_psi_cpu_some_seconds.total", "0.053");
    assert_json_int(bench->summary, M "cgroup_pids_peak.max", 7);
    assert_json_int(bench->summary, M "cgroup_swap_peak.max", 1 * MIB);
}

/* The production target: v1 gives the same run (R38). */
static void v1_run(void **state)
{
    struct bench *bench = *state;

    play(bench, "v1-slurm", NULL);
    assert_the_run(bench);
    assert_json_text(bench->summary, "info.cgroup_mode", "v1");
    assert_json_text(bench->summary, "info.processes_from", "cgroup v1");
    assert_json_int(bench->summary, M "cgroup_mem_nonreclaimable.max", 175 * MIB);
    assert_json_absent(bench->summary, M "cgroup_io_read_bytes");
    assert_json_text(bench->summary, "info.cgroups.blkio.path", "/system.slice/slurmd.service");
}

/* CPU of the root cgroup is not the step's: absent, with the reason (R26, R40). */
static void unscoped_cpu_is_absent_with_a_reason(void **state)
{
    struct bench *bench = *state;

    start(bench, "v1-linuxgather", NULL);
    tick(bench, NULL);
    finish(bench);
    assert_json_absent(bench->summary, M "cgroup_cpu_seconds");
    assert_json_absent(bench->summary, M "cgroup_pdcpu");
    assert_json_absent(bench->summary, M "cgroup_cpu_unattributed_seconds");
    assert_non_null(strstr(json_object_get_string(
        fixture_json(bench->summary, "info.unavailable.cgroup_cpu_seconds")), "not scoped"));
    assert_json_number(bench->summary, M "ps_cpu_seconds_total.total", "0");
}

/* RHEL 8: the peak that was sampled has its own name, the kernel's is absent (R24). */
static void rhel8_has_the_sampled_peak(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-rhel8", NULL);
    tick(bench, "tick1");
    tick(bench, "tick2");
    finish(bench);
    assert_json_absent(bench->summary, M "cgroup_mem_peak");
    assert_json_text(bench->summary, "info.unavailable.cgroup_mem_peak",
                     "no memory.peak (unified): older kernel, or the controller is not enabled");
    assert_json_int(bench->summary, M "cgroup_mem_sampled_peak.max", 240 * MIB);
    assert_json_absent(bench->summary, M "cgroup_psi_cpu_some_seconds");
}

/* No cgroup of its own: the process tree, and no cgroup number at all. */
static void process_tree_run(void **state)
{
    struct bench *bench = *state;

    start(bench, "cgroup-namespace", NULL);
    fixture_process(&bench->fixture, 5001, &(struct fake_process){ .utime = 300, .rss = 5 });
    tick(bench, NULL);
    finish(bench);
    assert_json_text(bench->summary, "info.processes_from", "process tree");
    assert_json_text(bench->summary, "info.cgroup_mode", "none");
    assert_json_number(bench->summary, M "ps_cpu_seconds_total.total", "1.8");
    json_object_object_foreach(fixture_json(bench->summary, "measurements"), key, value)
    {
        (void)value;
        assert_true(strncmp(key, "cgroup_", 7) != 0);
    }
}

/* A pid that is used again is another process: its counters start over, nothing falls. */
static void reused_pid_adds_up(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    tick(bench, "tick1"); /* 0.5 and 4 */
    fixture_process(&bench->fixture, 5002, /* born 0.5 s before the next tick */
                    &(struct fake_process){ .utime = 30, .start = 10000150, .rss = 100 });
    tick(bench, NULL);
    finish(bench);
    assert_json_number(bench->summary, M "ps_cpu_seconds_total.total", "4.8");
    assert_json_absent(bench->summary, "counter_falls");
    assert_json_int(bench->summary, "processes.seen", 3);
}

/* A counter that falls adds nothing, is counted, and never makes a negative number. */
static void falling_counters(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    tick(bench, "tick1");
    fixture_overlay(&bench->fixture, "base"); /* all of them fall back */
    tick(bench, NULL);
    finish(bench);
    assert_json_number(bench->summary, M "ps_cpu_seconds_total.total", "4.5");
    assert_json_number(bench->summary, M "cgroup_cpu_seconds.total", "4.7");
    assert_true(json_object_get_int64(fixture_json(bench->summary, "counter_falls")) > 0);
}

/* What wait4() said of the tasks, and only when it said it of all. */
static void rusage_of_the_tasks(void **state)
{
    struct bench *bench = *state;
    struct pfr_task_end end = { .wait_status = 9, .cpu = 1500 * MS, .max_rss = 70 * MIB };

    start(bench, "v2-slurm", NULL);
    assert_int_equal(begin(bench, 5002, 1), 0);
    fixture_advance(&bench->fixture, PFR_NS_PER_S);
    pfr_session_end_task(bench->session, 5001, &end);
    end.max_rss = 50 * MIB;
    end.wait_status = 0;
    pfr_session_end_task(bench->session, 5002, &end);
    finish(bench);
    assert_json_number(bench->summary, M "rusage_cpu_seconds.max", "3");
    assert_json_int(bench->summary, M "rusage_max_rss.max", 70 * MIB);
    assert_json_int(bench->summary, "tasks.0.signal", 9);
    assert_json_absent(bench->summary, "tasks.0.exit");
    assert_json_int(bench->summary, "tasks.1.exit", 0);
    assert_json_int(bench->summary, "tasks.1.rank", 1);
}

/* ---- selection ---- */

/* Reporting does not hinge on processes (R19). */
static void cgroup_alone_is_reported(void **state)
{
    struct bench *bench = *state;

    play(bench, "v2-slurm", "cgroup_mem_*,cgroup_cpu_seconds");
    assert_json_int(bench->summary, "num_samples", 3);
    assert_json_int(bench->summary, M "cgroup_mem_peak.max", 264 * MIB);
    assert_json_int(bench->summary, M "cgroup_mem_current.min", 130 * MIB);
    assert_json_number(bench->summary, M "cgroup_cpu_seconds.total", "5.3");
    assert_json_absent(bench->summary, M "ps_rss_total");
    assert_json_int(fixture_line(bench->lines, "usage", NULL), M "cgroup_mem_peak", 264 * MIB);
    assert_json_absent(fixture_line(bench->lines, "usage", NULL), "processes");
    assert_null(fixture_line(bench->lines, "process", NULL));
}

static void unknown_key_is_refused_at_once(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", "ps_rss,ps_rsss");
    assert_int_equal(init(bench), -EINVAL); /* R35 */
    assert_non_null(strstr(bench->error, "'ps_rsss'"));
    assert_non_null(strstr(bench->error, "ps_rss"));
}

static int count_entries(const char *path)
{
    PFR_AUTO_DIR *dir = opendir(path);
    int count = -2; /* . and .. */

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    return count;
}

static void unavailable_key_is_refused_before_anything_is_written(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-rhel8", "cgroup_mem_peak");
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), -ENODEV); /* R35 */
    assert_non_null(
        strstr(bench->error, "cgroup_mem_peak cannot be measured here: no memory.peak"));
    assert_int_equal(count_entries(bench->fixture.out), 0);
    assert_null(pfr_session_finish(bench->session));
}

static void lenient_leaves_out_what_cannot_be_had(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-rhel8", "cgroup_mem_peak,ps_rss_total");
    bench->options.lenient = true;
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), 0);
    tick(bench, NULL);
    finish(bench);
    assert_json_absent(bench->summary, M "cgroup_mem_peak");
    assert_json_int(bench->summary, M "ps_rss_total.max", 153600 * KIB);
    assert_non_null(fixture_json(bench->summary, "info.unavailable.cgroup_mem_peak"));
}

static void process_that_is_not_there_is_refused(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", NULL);
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 77, 0), -ESRCH);
    assert_non_null(strstr(bench->error, "process 77"));
}

/* A key is there if and only if it was measured, in both files (R26, R27). */
static void present_if_and_only_if_measured(void **state)
{
    struct bench *bench = *state;
    struct json_object *header, *usage;

    play(bench, "v1-slurm", NULL);
    header = fixture_line(bench->lines, "header", NULL);
    usage = fixture_line(bench->lines, "usage", NULL);
    PFR_EACH_METRIC(id) {
        char row[128], reason[128], value[128];
        bool wanted = pfr_metric_set_has(&bench->session->selection.wanted,
                                         id);

        snprintf(row, sizeof(row), "metrics.%s", pfr_metrics[id].key);
        snprintf(reason, sizeof(reason), "info.unavailable.%s", pfr_metrics[id].key);
        snprintf(value, sizeof(value), "measurements.%s", pfr_metrics[id].key);
        if (wanted != !!fixture_json(header, row) ||
            wanted == !!fixture_json(header, reason) ||
            wanted == !!fixture_json(bench->summary, reason) ||
            (!wanted && fixture_json(bench->summary, value)) ||
            (!wanted && fixture_json(usage, value)))
            fail_msg("%s", pfr_metrics[id].key);
    }
    json_object_object_foreach(fixture_json(bench->summary, "measurements"), key, object)
        if (!object || json_object_object_length(object) == 0)
            fail_msg("%s is there and empty", key);
    /* no null stands for absence, but in rows with columns */
    assert_null(strstr(json_object_to_json_string_ext(bench->summary, 0), "null"));
    assert_null(strstr(json_object_to_json_string_ext(fixture_json(usage, "measurements"), 0),
                       "null"));
}

/* With a process above the size cap there is no sum of PSS, and no wrong one. */
static void pss_without_a_giant_has_no_total(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", "proc_pss,proc_pss_total");
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), 0);
    bench->session->procs.pss_cap = 60000 * KIB;
    fixture_process(&bench->fixture, 5002, &(struct fake_process){ .rss = 50000, .pss = 49000,
                                                                   .start = 9999500 });
    tick_after(bench, 10 * PFR_NS_PER_S);
    finish(bench);
    /* the first sample was whole: 3/4 of 153600 kB; what the second has is no sum */
    assert_json_int(bench->summary, M "proc_pss_total.min", 115200 * KIB);
    assert_json_int(bench->summary, M "proc_pss_total.max", 115200 * KIB);
    read_series(bench);
    assert_json_text(bench->lines, "2.type", "usage");
    assert_json_int(bench->lines, "2.measurements.proc_pss_total", 115200 * KIB);
}

/* ---- the series ---- */

static void series_explains_itself(void **state)
{
    struct bench *bench = *state;
    struct json_object *header, *usage;

    play(bench, "v2-slurm", NULL);
    header = fixture_line(bench->lines, "header", NULL);
    assert_ptr_equal(header, json_object_array_get_idx(bench->lines, 0));
    assert_json_text(header, "schema", PFR_SCHEMA_SERIES);
    assert_json_text(header, "ts", "2026-11-16T02:07:38.120Z");
    assert_json_text(header, "info.job", "42");
    assert_json_text(header, "metrics.ps_rss_total.unit", "bytes");
    assert_json_text(header, "metrics.ps_rss_total.reduce", "max");
    assert_json_text(header, "metrics.cgroup_cpu_seconds.kind", "counter");
    assert_json_text(header, "process_columns.0", "pid");
    assert_json_text(header, "process_columns.1", "start_ticks");
    usage = fixture_line(bench->lines, "usage", NULL);
    assert_json_int(usage, "num_samples", 3);
    assert_json_int(usage, M "ps_rss_total", 204800 * KIB);
    assert_json_number(usage, M "ps_cpu_seconds_total", "5");
    assert_json_number(usage, "from", "0");
    assert_json_number(usage, "to", "3");
    assert_json_int(usage, "process_count", 2);
    assert_int_equal(json_object_array_length(fixture_json(usage, "processes.0")),
                     json_object_array_length(fixture_json(header, "process_columns")));
    assert_json_int(fixture_line(bench->lines, "event", "task_start"), "pid", 5001);
    assert_json_int(fixture_line(bench->lines, "event", "task_exit"), "exit", 3);
    assert_json_text(fixture_line(bench->lines, "final", NULL), "state", "COMPLETE");
    assert_json_text(fixture_line(bench->lines, "instance", NULL), "family", "command");
    assert_json_text(bench->lines, "8.type", "final"); /* the last line */
    assert_int_equal(json_object_array_length(bench->lines), 9);
}

/* Once per process, before its first row (R105). */
static void commands_are_announced_once(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    for (int i = 0; i < 25; i++)
        tick(bench, NULL);
    fixture_process(&bench->fixture, 5002,
                    &(struct fake_process){ .comm = "solver", .start = 9999500 });
    fixture_write_bytes(&bench->fixture, "proc/5002/cmdline", "solver\0\xff\x01\0", 10);
    for (int i = 0; i < 10; i++)
        tick(bench, NULL);
    finish(bench);
    read_series(bench);
    assert_int_equal(fixture_count(bench->lines, "usage"), 4);
    assert_int_equal(fixture_count(bench->lines, "process"), 3); /* and after exec again */
    assert_json_text(bench->lines, "2.ps_cmd", "python3 train.py --epochs 3");
    assert_json_text(bench->lines, "3.ps_cmd", "worker --id=1");
    assert_json_text(bench->lines, "8.ps_cmd", "solver ??");
}

/* Windows end at fixed times and follow each other without a gap (R104). */
static void windows_are_contiguous(void **state)
{
    struct bench *bench = *state;
    double to = 0;

    start(bench, "v2-slurm", NULL);
    for (int i = 0; i < 35; i++)
        tick_after(bench, PFR_NS_PER_S + 3 * MS);
    tick_after(bench, 25 * PFR_NS_PER_S); /* the machine slept: not made up for */
    tick_after(bench, PFR_NS_PER_S);
    finish(bench);
    read_series(bench);
    for (size_t i = 0; i < json_object_array_length(bench->lines); i++) {
        struct json_object *line = json_object_array_get_idx(bench->lines, i);

        if (strcmp(pfr_line_type(line), "usage") != 0)
            continue;
        assert_true(json_object_get_double(fixture_json(line, "from")) == to);
        to = json_object_get_double(fixture_json(line, "to"));
    }
    assert_int_equal(fixture_count(bench->lines, "usage"), 5);
    assert_json_int(bench->summary, "num_windows", 5);
}

/* Counted anew by each window; the last one though the cgroup has gone by then. */
static void windows_have_peaks_of_their_own(void **state)
{
    static const char *const peaks[] = { "60000\n", "20000\n", "40000\n" };
    struct bench *bench = *state;
    int fd = memfd_create("memory.peak", MFD_CLOEXEC);
    struct pfr_handed *handed = &bench->session->handed;

    prepare(bench, "v2-slurm", NULL);
    assert_int_equal(init(bench), 0);
    snprintf(handed->files[0].name, sizeof(handed->files[0].name), "memory.peak");
    handed->files[0].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    handed->count = 1;
    assert_int_equal(begin(bench, 5001, 0), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, peaks[i], 6, 0), 6);
        for (int t = 0; t < 10 && (i < 2 || t < 4); t++)
            tick(bench, NULL);
    }
    end_task(bench, 5001, 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    finish(bench);
    read_series(bench);
    for (int i = 0, n = 0; n < 3; i++) {
        struct json_object *line = json_object_array_get_idx(bench->lines, (size_t)i);

        if (strcmp(pfr_line_type(line), "usage") == 0)
            assert_json_int(line, M "cgroup_mem_window_peak", atoi(peaks[n++]));
    }
    assert_json_int(bench->summary, M "cgroup_mem_window_peak.max", 60000);
    assert_json_int(bench->summary, M "cgroup_mem_peak.max", 200 * MIB);
    close(fd);
}

/* The same step again in the same place: what was there stays. */
static void second_run_appends(void **state)
{
    struct bench *bench = *state;

    play(bench, "v2-slurm", NULL);
    pfr_session_release(bench->session);
    json_object_put(bench->summary);
    fixture_overlay(&bench->fixture, "base");
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), 0);
    finish(bench);
    read_series(bench);
    assert_int_equal(fixture_count(bench->lines, "header"), 2);
    assert_int_equal(fixture_count(bench->lines, "final"), 2);
}

/* ---- state ---- */

static void assert_state_on_disk(struct bench *bench, const char *expected)
{
    struct json_object *object = load_summary(bench);

    assert_non_null(object);
    assert_json_text(object, "state", expected);
    assert_json_text(object, "schema", PFR_SCHEMA_SUMMARY);
    json_object_put(object);
}

/* LIVE, DRAINING, COMPLETE, in this order (R67, R69, R71). */
static void states_follow_each_other(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    assert_state_on_disk(bench, "LIVE"); /* at once, not after the first window */
    tick_after(bench, 10 * PFR_NS_PER_S);
    assert_state_on_disk(bench, "LIVE");
    end_task(bench, 5001, 0);
    tick_after(bench, 10 * PFR_NS_PER_S);
    assert_state_on_disk(bench, "DRAINING");
    finish(bench);
    assert_state_on_disk(bench, "COMPLETE");
}

static void state_waits_for_every_task(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    assert_int_equal(begin(bench, 5002, 1), 0);
    end_task(bench, 5001, 0);
    assert_int_equal(bench->session->state, PFR_LIVE);
    end_task(bench, 5001, 0); /* said twice */
    end_task(bench, 4444, 0); /* never started */
    assert_int_equal(bench->session->state, PFR_LIVE);
    end_task(bench, 5002, 0);
    assert_int_equal(bench->session->state, PFR_DRAINING);
}

/* The first task may be over before the second is announced. */
static void late_task_brings_it_back_to_life(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    end_task(bench, 5001, 0);
    assert_int_equal(bench->session->state, PFR_DRAINING);
    assert_int_equal(begin(bench, 5002, 1), 0);
    assert_int_equal(bench->session->state, PFR_LIVE);
    fixture_overlay(&bench->fixture, "tick1");
    fixture_advance(&bench->fixture, PFR_NS_PER_S);
    finish(bench); /* so the end is read: it was not yet */
    assert_json_number(bench->summary, M "cgroup_cpu_seconds.total", "4.7");
}

static int64_t size_of(const char *dir, const char *name, struct timespec *changed)
{
    char path[600];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(stat(path, &st), 0);
    *changed = st.st_mtim;
    return st.st_size + (int64_t)st.st_ino; /* a replaced file is another inode */
}

/* A late tick, start or exit writes nothing after COMPLETE (R71). */
static void nothing_after_complete(void **state)
{
    struct bench *bench = *state;
    struct timespec changed[2], now[2];
    int64_t sizes[2];

    start(bench, "v2-slurm", NULL);
    assert_int_equal(begin(bench, 5002, 1), 0);
    finish(bench);
    sizes[0] = size_of(bench->step, "n1.json", &changed[0]);
    sizes[1] = size_of(bench->step, "n1.jsonl", &changed[1]);
    tick_after(bench, 100 * PFR_NS_PER_S);
    end_task(bench, 5001, 0);
    end_task(bench, 5002, 0);
    tick_after(bench, 100 * PFR_NS_PER_S);
    assert_true(begin(bench, 5002, 2) < 0);
    assert_null(pfr_session_finish(bench->session));
    assert_int_equal(size_of(bench->step, "n1.json", &now[0]), sizes[0]);
    assert_int_equal(size_of(bench->step, "n1.jsonl", &now[1]), sizes[1]);
    assert_memory_equal(changed, now, sizeof(now));
    assert_state_on_disk(bench, "COMPLETE");
}

/* Those who are still there at the end are counted (R68). */
static void pending_processes(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    tick(bench, "tick1");
    end_task(bench, 5001, 0); /* 5001 and 5002 are still listed */
    finish(bench);
    assert_json_text(bench->summary, "state", "COMPLETE");
    assert_json_int(bench->summary, "n_pending", 2);
    read_series(bench);
    assert_json_int(fixture_line(bench->lines, "final", NULL), "n_pending", 2);
}

/* Liveness is the tracker's, whatever is selected (R20). */
static void pending_without_process_measurements(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", "cgroup_mem_peak");
    tick(bench, "tick2");
    end_task(bench, 5001, 0);
    finish(bench);
    assert_json_int(bench->summary, "n_pending", 1);
}

/* Ended by the closing of the lifeline, without a word: the last state is read. */
static void end_without_notice_reads_once_more(void **state)
{
    struct bench *bench = *state;

    start(bench, "v2-slurm", NULL);
    fixture_overlay(&bench->fixture, "tick1");
    fixture_advance(&bench->fixture, PFR_NS_PER_S);
    finish(bench);
    assert_json_int(bench->summary, "num_samples", 2);
    assert_json_number(bench->summary, M "ps_cpu_seconds_total.total", "4.5");
    assert_json_absent(bench->summary, "tasks.0.exit");
    assert_json_int(bench->summary, "n_pending", 2);
}

/* ---- trouble with files ---- */

static int count_text(const char *text, const char *part)
{
    int count = 0;

    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

static void run_to_the_end(struct bench *bench)
{
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), 0);
    tick(bench, "tick1");
    tick(bench, "tick2");
    fixture_overlay(&bench->fixture, "tick3");
    end_task(bench, 5001, 3 << 8);
    finish(bench);
}

/* Neither path of delivery suppresses the other (R73). */
static void unwritable_directory_still_gives_a_summary(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", NULL);
    fixture_write(&bench->fixture, "in-the-way", "a file\n");
    snprintf(bench->fixture.out, sizeof(bench->fixture.out), "%s/in-the-way",
             bench->fixture.root);
    run_to_the_end(bench);
    assert_the_run(bench);
    assert_int_equal(count_text(bench->fixture.log, "\n"), 1);
    assert_non_null(strstr(bench->fixture.log, "measuring without files"));
}

static void forbidden_directory_still_gives_a_summary(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", NULL);
    assert_int_equal(chmod(bench->fixture.out, 0555), 0);
    assert_int_equal(init(bench), 0);
    assert_int_equal(seteuid(geteuid() == 0 ? 65534 : geteuid()), 0);
    int r = begin(bench, 5001, 0);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(r, 0);
    finish(bench);
    assert_json_text(bench->summary, "state", "COMPLETE");
    assert_non_null(strstr(bench->fixture.log, "Permission denied"));
}

static void no_directory_is_no_trouble(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", NULL);
    bench->options.dir = NULL;
    run_to_the_end(bench);
    assert_the_run(bench);
    assert_string_equal(bench->fixture.log, "");
    assert_json_absent(bench->summary, "sampler.write_errors");
}

static void assert_no_torn_lines(struct bench *bench)
{
    read_series(bench); /* asserts: whole lines only */
    assert_json_text(bench->lines, "0.type", "header");
}

/* A file size limit: whole lines or none, said once, counted, and a summary. */
static void file_size_limit(void **state)
{
    struct bench *bench = *state;
    struct rlimit limit, small;
    struct timespec changed;

    signal(SIGXFSZ, SIG_IGN);
    start(bench, "v2-slurm", NULL);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = (rlim_t)bench->session->series.seal.bytes + 700;
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 60; i++)
        tick(bench, NULL);
    end_task(bench, 5001, 0);
    bench->summary = pfr_session_finish(bench->session);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_non_null(bench->summary);
    assert_json_text(bench->summary, "state", "COMPLETE");
    assert_true(json_object_get_int64(fixture_json(bench->summary, "sampler.write_errors")) > 1);
    assert_int_equal(count_text(bench->fixture.log, "cannot write n1.jsonl"), 1);
    assert_no_torn_lines(bench);
    (void)size_of(bench->step, "n1.json", &changed); /* the first one, or a later one */
}

/* A full disk in a mount namespace of our own: nobody else's. */
static void full_disk(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", NULL);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", bench->fixture.out, "tmpfs", 0, "size=64k") < 0)
        SKIP_BECAUSE("no mount namespace: %s", strerror(errno));
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), 0);
    for (int i = 0; i < 1000; i++)
        tick(bench, NULL);
    end_task(bench, 5001, 0);
    finish(bench);
    assert_json_text(bench->summary, "state", "COMPLETE");
    assert_true(json_object_get_int64(fixture_json(bench->summary, "sampler.write_errors")) > 0);
    assert_int_equal(count_text(bench->fixture.log, "cannot write n1.jsonl"), 1);
    assert_true(count_text(bench->fixture.log, "\n") <= 2);
    assert_no_torn_lines(bench);
    /* what is on disk of the summary is an older one, whole */
    json_object_put(bench->summary);
    bench->summary = load_summary(bench);
    assert_non_null(bench->summary);
    pfr_session_release(bench->session);
    bench->initialised = false;
    assert_int_equal(umount2(bench->fixture.out, MNT_DETACH), 0);
}

/* A link in the place of the series: refused, and the summary is there all the same. */
static void planted_link_is_refused(void **state)
{
    struct bench *bench = *state;
    char victim[300], link[600];
    char text[64];

    prepare(bench, "v2-slurm", NULL);
    fixture_write(&bench->fixture, "victim", "precious\n");
    snprintf(victim, sizeof(victim), "%s/victim", bench->fixture.root);
    assert_int_equal(mkdir(bench->step, 0755), 0);
    snprintf(link, sizeof(link), "%s/n1.jsonl", bench->step);
    assert_int_equal(symlink(victim, link), 0);
    snprintf(link, sizeof(link), "%s/n1.json", bench->step);
    assert_int_equal(symlink(victim, link), 0);
    run_to_the_end(bench);
    assert_the_run(bench);
    assert_true(pfr_file_read_text(AT_FDCWD, victim, text, sizeof(text)) > 0);
    assert_string_equal(text, "precious\n");
    assert_state_on_disk(bench, "COMPLETE");
    assert_int_equal(count_text(bench->fixture.log, "\n"), 1);
    assert_non_null(strstr(bench->fixture.log, "going on without the series"));
}

static void planted_directory_link_is_refused(void **state)
{
    struct bench *bench = *state;
    char target[300];

    prepare(bench, "v2-slurm", NULL);
    snprintf(target, sizeof(target), "%s/elsewhere", bench->fixture.root);
    assert_int_equal(mkdir(target, 0755), 0);
    assert_int_equal(symlink(target, bench->step), 0);
    run_to_the_end(bench);
    assert_the_run(bench);
    assert_int_equal(count_entries(target), 0);
    assert_non_null(strstr(bench->fixture.log, "measuring without files"));
}

static void fifo_in_the_files_place_does_not_hang(void **state)
{
    struct bench *bench = *state;
    char path[600];

    alarm(30);
    prepare(bench, "v2-slurm", NULL);
    assert_int_equal(mkdir(bench->step, 0755), 0);
    snprintf(path, sizeof(path), "%s/n1.jsonl", bench->step);
    assert_int_equal(mkfifo(path, 0666), 0);
    snprintf(path, sizeof(path), "%s/n1.json", bench->step);
    assert_int_equal(mkfifo(path, 0666), 0);
    run_to_the_end(bench);
    assert_the_run(bench);
    assert_state_on_disk(bench, "COMPLETE");
}

/* ---- a long run ---- */

static double total_in_series(struct bench *bench, const char *key)
{
    double sum = 0;

    for (size_t i = 0; i < json_object_array_length(bench->lines); i++) {
        struct json_object *line = json_object_array_get_idx(bench->lines, i);

        if (strcmp(pfr_line_type(line), "usage") == 0)
            sum += json_object_get_double(fixture_json(line, key));
    }
    return sum;
}

static void assert_rows_have_commands(struct bench *bench)
{
    static bool known[8192];

    for (size_t i = 0; i < json_object_array_length(bench->lines); i++) {
        struct json_object *line = json_object_array_get_idx(bench->lines, i);
        struct json_object *rows = fixture_json(line, "processes");

        if (strcmp(pfr_line_type(line), "process") == 0)
            known[json_object_get_int(fixture_json(line, "pid"))] = true;
        for (size_t k = 0; rows && k < json_object_array_length(rows); k++)
            assert_true(known[json_object_get_int(fixture_json(
                            json_object_array_get_idx(rows, k), "0"))]);
    }
}

/* Twelve processes that come and go, for an hour and a half of windows. */
static void long_run_stays_bounded(void **state)
{
    static const int64_t limit = 60000;
    struct bench *bench = *state;
    struct timespec changed;

    prepare(bench, "v2-slurm", NULL);
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), 0);
    bench->session->series.limit = limit;
    for (int i = 1; i <= 540; i++) {
        char pids[256] = "";

        for (int k = 0; k < 12; k++) {
            int pid = 6000 + (i / 20 + k) % 60;

            snprintf(pids + strlen(pids), 16, "%d\n", pid);
            fixture_process(&bench->fixture, pid,
                            &(struct fake_process){ .utime = i * (k + 1), .rss = 1000 + k,
                                                    .start = 9990000 });
        }
        fixture_write(&bench->fixture, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/"
                      "step_0/user/task_0/cgroup.procs", "%s", pids);
        fixture_write(&bench->fixture, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/"
                      "step_0/user/task_0/cpu.stat", "usage_usec %d\n", 6200000 + i * 1000000);
        tick_after(bench, 10 * PFR_NS_PER_S);
        (void)size_of(bench->step, "n1.jsonl", &changed);
        assert_true(bench->session->series.seal.bytes <= limit);
    }
    finish(bench);
    read_series(bench);
    assert_true(bench->session->series.span > 10 * PFR_NS_PER_S);
    assert_true(fixture_count(bench->lines, "usage") < 270);
    assert_int_equal(fixture_count(bench->lines, "header"), 1);
    assert_int_equal(fixture_count(bench->lines, "final"), 1);
    assert_true(total_in_series(bench, M "cgroup_cpu_seconds") == 540);
    assert_json_number(bench->summary, M "cgroup_cpu_seconds.total", "540");
    assert_true(total_in_series(bench, "num_samples") ==
                json_object_get_double(fixture_json(bench->summary, "num_samples")));
    assert_int_equal((int64_t)(1000 * total_in_series(bench, M "ps_cpu_seconds_total") + 0.5),
                     (int64_t)(1000 * json_object_get_double(fixture_json(
                                          bench->summary, M "ps_cpu_seconds_total.total")) + 0.5));
    assert_rows_have_commands(bench);
    assert_string_equal(bench->fixture.log, "");
}

/* The same without command lines: there is nothing to say again after compaction. */
static void long_run_without_processes(void **state)
{
    struct bench *bench = *state;

    prepare(bench, "v2-slurm", "cgroup_mem_current");
    assert_int_equal(init(bench), 0);
    assert_int_equal(begin(bench, 5001, 0), 0);
    bench->session->series.limit = 20000;
    for (int i = 1; i <= 300; i++)
        tick_after(bench, 10 * PFR_NS_PER_S);
    assert_true(bench->session->series.seal.bytes <= 20000);
    assert_true(bench->session->series.span > 10 * PFR_NS_PER_S);
    finish(bench);
    read_series(bench);
    assert_true(total_in_series(bench, "num_samples") == 302); /* with the first and the last */
}

/* ---- the loop ---- */

/* 0.1 s apart for two seconds, then the interval, on absolute times (R104). */
static void deadlines(void **state)
{
    const int64_t start_at = 1000 * PFR_NS_PER_S + 7, second = PFR_NS_PER_S;
    int64_t at = start_at;
    int n = 0;

    (void)state;
    assert_int_equal(pfr_loop_deadline(start_at, second, start_at - 5), start_at);
    for (; at < start_at + 10 * second; n++) {
        /* the work of a tick takes a while: the deadlines do not move */
        int64_t next = pfr_loop_deadline(start_at, second, at + 37 * MS);

        assert_int_equal(next - at, at < start_at + 2 * second ? second / 10 : second);
        assert_int_equal(next, pfr_loop_deadline(start_at, second, at));
        at = next;
    }
    assert_int_equal(n, 20 + 8);
    assert_int_equal(at, start_at + 10 * second);
}

/* Late by several intervals: the next one on the grid, the missed are not made up for. */
static void late_deadlines_stay_on_the_grid(void **state)
{
    const int64_t second = PFR_NS_PER_S;

    (void)state;
    assert_int_equal(pfr_loop_deadline(0, 5 * second, 2 * second), 7 * second);
    assert_int_equal(pfr_loop_deadline(0, 5 * second, 7 * second - 1), 7 * second);
    assert_int_equal(pfr_loop_deadline(0, 5 * second, 7 * second), 12 * second);
    assert_int_equal(pfr_loop_deadline(0, 5 * second, 93 * second), 97 * second);
    assert_int_equal(pfr_loop_deadline(0, 5 * second, 250 * MS), 300 * MS);
    /* an interval below 0.1 s is kept from the beginning */
    assert_int_equal(pfr_loop_deadline(0, 20 * MS, 50 * MS), 60 * MS);
    assert_int_equal(pfr_loop_deadline(0, 20 * MS, 3 * second + MS), 3 * second + 20 * MS);
}

static const volatile sig_atomic_t never_stop = 0;

static void assert_hears(int fd, const char *beginning)
{
    static char text[1 << 20];

    assert_true(pfr_control_receive(fd, text, sizeof(text), 0) > 0);
    if (strncmp(text, beginning, strlen(beginning)) != 0)
        fail_msg("'%.60s' is not '%s'", text, beginning);
}

/* start, exit, closing: answered in this order, and the summary at the end. */
static void loop_answers(void **state)
{
    struct bench *bench = *state;
    char text[64];
    int fds[2];

    alarm(30);
    prepare(bench, "v2-slurm", NULL);
    assert_int_equal(init(bench), 0);
    assert_int_equal(pfr_control_pair(fds), 0);
    pfr_control_send_fd(fds[0], 0, "file memory.peak");
    pfr_control_send(fds[0], "file memory.swap.peak"); /* and no descriptor */
    pfr_control_send(fds[0], "start nonsense");
    pfr_control_send(fds[0], "start 5001 0");
    pfr_control_send(fds[0], "start 5002 1");
    pfr_control_send(fds[0], "go");
    pfr_control_send(fds[0], "hello");
    pfr_control_send(fds[0], "exit 5001");
    pfr_control_send(fds[0], "exit 5001 256 0 0 1000000000 4096");
    shutdown(fds[0], SHUT_WR);
    pfr_loop_run(bench->session, fds[1], &never_stop);
    close(fds[1]);
    assert_hears(fds[0], "ready");
    assert_hears(fds[0], "done 5001");
    assert_hears(fds[0], "final {\"schema\":\"" PFR_SCHEMA_SUMMARY "\",\"state\":\"COMPLETE\"");
    assert_hears(fds[0], "bye");
    assert_int_equal(pfr_control_receive(fds[0], text, sizeof(text), 0), 0);
    assert_int_equal(count_text(bench->fixture.log, "not understood"), 2);
    assert_int_equal(bench->session->handed.count, 1);
    assert_string_equal(bench->session->handed.files[0].name, "memory.peak");
    assert_int_equal(bench->session->task_count, 2);
    assert_int_equal(bench->session->tasks[0].wait_status, 256);
    close(fds[0]);
}

static void loop_refuses(void **state)
{
    struct bench *bench = *state;
    char text[64];
    int fds[2];

    alarm(30);
    prepare(bench, "v2-rhel8", "cgroup_mem_peak");
    assert_int_equal(init(bench), 0);
    assert_int_equal(pfr_control_pair(fds), 0);
    pfr_control_send(fds[0], "start 5001 0");
    shutdown(fds[0], SHUT_WR);
    pfr_loop_run(bench->session, fds[1], &never_stop);
    close(fds[1]);
    assert_hears(fds[0], "refuse cgroup_mem_peak cannot be measured here");
    assert_int_equal(pfr_control_receive(fds[0], text, sizeof(text), 0), 0);
    close(fds[0]);
}

/* Messages may be read long after they were sent: is it still the same process? */
static void number_of_another_process(void **state)
{
    int64_t before = pfr_clock_ns(CLOCK_MONOTONIC) - PFR_NS_PER_S, after;
    pid_t child = fork();
    struct pfr_env env;

    (void)state;
    while (child == 0)
        pause();
    assert_true(child > 0);
    after = pfr_clock_ns(CLOCK_MONOTONIC);
    pfr_env_init(&env, "");
    assert_false(pfr_lost_is(&env, child, after));
    assert_true(pfr_lost_is(&env, child, before)); /* this one was not there then */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(pfr_lost_is(&env, child, after));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(v2_run),
        CASE(v1_run),
        CASE(unscoped_cpu_is_absent_with_a_reason),
        CASE(rhel8_has_the_sampled_peak),
        CASE(process_tree_run),
        CASE(reused_pid_adds_up),
        CASE(falling_counters),
        CASE(rusage_of_the_tasks),
        CASE(cgroup_alone_is_reported),
        CASE(unknown_key_is_refused_at_once),
        CASE(unavailable_key_is_refused_before_anything_is_written),
        CASE(lenient_leaves_out_what_cannot_be_had),
        CASE(process_that_is_not_there_is_refused),
        CASE(present_if_and_only_if_measured),
        CASE(pss_without_a_giant_has_no_total),
        CASE(series_explains_itself),
        CASE(commands_are_announced_once),
        CASE(windows_are_contiguous),
        CASE(windows_have_peaks_of_their_own),
        CASE(second_run_appends),
        CASE(states_follow_each_other),
        CASE(state_waits_for_every_task),
        CASE(late_task_brings_it_back_to_life),
        CASE(nothing_after_complete),
        CASE(pending_processes),
        CASE(pending_without_process_measurements),
        CASE(end_without_notice_reads_once_more),
        CASE(unwritable_directory_still_gives_a_summary),
        CASE(forbidden_directory_still_gives_a_summary),
        CASE(no_directory_is_no_trouble),
        CASE(file_size_limit),
        CASE(planted_link_is_refused),
        CASE(planted_directory_link_is_refused),
        CASE(fifo_in_the_files_place_does_not_hang),
        CASE(long_run_stays_bounded),
        CASE(long_run_without_processes),
        CASE(deadlines),
        CASE(late_deadlines_stay_on_the_grid),
        CASE(loop_answers),
        CASE(loop_refuses),
        cmocka_unit_test(number_of_another_process),
        CASE(full_disk), /* last: it leaves the mount namespace */
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
