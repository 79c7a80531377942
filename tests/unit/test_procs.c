/* The process collector: who is it, what does it use, and what if it is gone. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/collect/procs.h"
#include "common/metric/row.h"

#define LARGE 1000

struct bench {
    struct fixture fixture;
    struct pfr_process_table table;
    struct pfr_metric_set wanted;
    struct pfr_availability have;
    struct pfr_procs procs;
    struct pfr_readings readings;
    struct pfr_sample *sample;
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    fixture_open(&bench.fixture, "v2-slurm");
    pfr_process_table_init(&bench.table);
    pfr_readings_init(&bench.readings);
    bench.procs.proc_fd = -1;
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    pfr_procs_release(&bench->procs);
    pfr_readings_release(&bench->readings);
    pfr_process_table_release(&bench->table);
    fixture_close(&bench->fixture);
    return 0;
}

/* The keys as a user writes them; NULL is the default. */
static void start(struct bench *bench, const char *keys, uint32_t budget)
{
    struct pfr_selection selection;
    char error[256];

    assert_int_equal(pfr_selection_parse(&selection, keys, error, sizeof(error)), 0);
    bench->wanted = selection.collect;
    pfr_availability_init(&bench->have);
    assert_int_equal(pfr_procs_open(&bench->procs, &bench->fixture.env, &bench->table,
                                    &bench->wanted, budget, &bench->have), 0);
}

static uint32_t tick(struct bench *bench, const pid_t *pids, uint32_t count)
{
    bench->sample = pfr_readings_begin(&bench->readings);
    assert_non_null(bench->sample);
    return pfr_procs_collect(&bench->procs, pids, count, &bench->readings);
}

#define TICK(bench, ...) \
    tick(bench, (const pid_t[]){ __VA_ARGS__ }, PFR_COUNT(((const pid_t[]){ __VA_ARGS__ })))

/* The reading of a pid in the last sample, NULL when there is none. */
static const struct pfr_pid_reading *reading_of(const struct bench *bench, pid_t pid)
{
    for (uint32_t i = 0; i < bench->sample->count; i++) {
        const struct pfr_pid_reading *r = &bench->readings.pids[bench->sample->first + i];

        if (bench->table.slots[r->slot].pid == pid)
            return r;
    }
    return NULL;
}

static struct pfr_process *process_of(const struct bench *bench, pid_t pid)
{
    const struct pfr_pid_reading *reading = reading_of(bench, pid);

    assert_non_null(reading);
    return &bench->table.slots[reading->slot];
}

static bool has(const struct bench *bench, pid_t pid, enum pfr_metric_id id)
{
    const struct pfr_pid_reading *reading = reading_of(bench, pid);

    assert_non_null(reading);
    return reading->present >> id & 1;
}

static int64_t get(const struct bench *bench, pid_t pid, enum pfr_metric_id id)
{
    if (!has(bench, pid, id))
        fail_msg("%s of %d is absent", pfr_metrics[id].key, (int)pid);
    return reading_of(bench, pid)->value[id];
}

static int open_fds(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* ---- values ---- */

static void every_value_of_a_process(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    assert_int_equal(TICK(bench, 5001, 5002), 2);
    assert_int_equal(get(bench, 5001, PFR_PS_RSS), 102400 * KIB);
    assert_int_equal(get(bench, 5001, PFR_PS_VSZ), 900000 * KIB);
    /* thousandths of a percent of 16384000 kB */
    assert_int_equal(get(bench, 5001, PFR_PS_PMEM), 625);
    assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), 1200 * MS);
    assert_int_equal(get(bench, 5001, PFR_PS_ETIME), 10 * PFR_NS_PER_S);
    assert_int_equal(get(bench, 5001, PFR_PS_STAT), 'S' | PFR_STATE_THREADS);
    assert_int_equal(get(bench, 5001, PFR_PROC_HWM), 110000 * KIB);
    assert_int_equal(get(bench, 5001, PFR_PROC_SWAP), 0);
    assert_int_equal(get(bench, 5001, PFR_PROC_THREADS), 4);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_RCHAR), 4101000);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_WCHAR), 1700);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_READ_BYTES), 4096000);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_WRITE_BYTES), 1000);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_CANCELLED_BYTES), 0);
    assert_int_equal(get(bench, 5001, PFR_PROC_CTXT_VOLUNTARY), 10);
    assert_int_equal(get(bench, 5001, PFR_PROC_CTXT_INVOLUNTARY), 2);
    assert_int_equal(get(bench, 5001, PFR_PROC_FAULTS_MINOR), 100);
    assert_int_equal(get(bench, 5001, PFR_PROC_FAULTS_MAJOR), 0);
    assert_false(has(bench, 5001, PFR_PROC_PSS)); /* costly: not by default */
    assert_int_equal(get(bench, 5002, PFR_PS_CPU_SECONDS), 5000 * MS);
    assert_int_equal(pfr_sample_get(bench->sample, PFR_PROC_COUNT), 2);
    assert_int_equal(bench->sample->stamp[PFR_FROM_PROCS], bench->fixture.monotonic);
    assert_int_equal(process_of(bench, 5001)->birth,
                     bench->fixture.monotonic - 10 * PFR_NS_PER_S);
}

/* A key is there when it was asked for, and only then (R26). */
static void only_what_is_wanted(void **state)
{
    struct bench *bench = *state;

    start(bench, "ps_rss", LARGE);
    TICK(bench, 5001);
    assert_int_equal(reading_of(bench, 5001)->present, 1u << PFR_PS_RSS);
    assert_false(bench->procs.needed[PFR_PROC_IO]);
    assert_null(process_of(bench, 5001)->cmd);
    assert_false(pfr_sample_has(bench->sample, PFR_PROC_COUNT));
}

/* It is computed from the resident set, which nobody has asked for. */
static void pmem_alone(void **state)
{
    struct bench *bench = *state;

    start(bench, "ps_pmem", LARGE);
    TICK(bench, 5001);
    assert_int_equal(get(bench, 5001, PFR_PS_PMEM), 625);
    assert_false(has(bench, 5001, PFR_PS_RSS));
}

static void pmem_needs_the_nodes_memory(void **state)
{
    struct bench *bench = *state;

    bench->fixture.env.mem_total = 0;
    start(bench, "ps_pmem,ps_rss", LARGE);
    TICK(bench, 5001);
    assert_false(has(bench, 5001, PFR_PS_PMEM));
    assert_string_equal(bench->have.reason[PFR_PS_PMEM], "needs MemTotal and ps_rss");
}

/* The tick rate is the env's, not a constant (R47). */
static void cpu_time_follows_the_tick_rate(void **state)
{
    struct bench *bench = *state;

    bench->fixture.env.clock_ticks = 1000;
    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), 120 * MS);
}

static void giant_counters_do_not_overflow(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .utime = INT64_MAX, .stime = INT64_MAX });
    TICK(bench, 5001);
    assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), INT64_MAX);
}

/* ---- lines that are not as they should be ---- */

static void strange_names(void **state)
{
    static const char *const names[] = { "a b", ") R (", "new\nline", "(sd-pam)", ")))" };
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    for (size_t i = 0; i < PFR_COUNT(names); i++) {
        fixture_process(&bench->fixture, 5001,
                        &(struct fake_process){ .comm = names[i], .utime = 77, .state = 'D' });
        assert_int_equal(TICK(bench, 5001), 1);
        assert_string_equal(process_of(bench, 5001)->comm, names[i]); /* R44 */
        assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), 770 * MS);
        assert_int_equal(get(bench, 5001, PFR_PS_STAT) & 0xff, 'D');
    }
}

/* A stat line too short says nothing of the process, not something wrong (R45). */
static void short_stat_line_is_no_reading(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    fixture_write(&bench->fixture, "proc/5001/stat", "5001 (x) R 1 1 1 0 -1 0 1 2 3 4 5\n");
    assert_int_equal(TICK(bench, 5001, 5002), 1);
    assert_null(reading_of(bench, 5001));
    assert_non_null(reading_of(bench, 5002));
}

static void malformed_memory_is_absent_and_counted(void **state)
{
    static const char *const lines[] = { "VmRSS:\t1234\n", "VmRSS:\tmany kB\n",
                                         "VmRSS:\t12 kB 34\n" };
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    for (size_t i = 0; i < PFR_COUNT(lines); i++) { /* R46, R84 */
        fixture_write(&bench->fixture, "proc/5001/status", "VmSize:\t8 kB\n%sThreads:\t2\n",
                      lines[i]);
        TICK(bench, 5001);
        assert_false(has(bench, 5001, PFR_PS_RSS));
        assert_false(has(bench, 5001, PFR_PS_PMEM));
        assert_int_equal(get(bench, 5001, PFR_PS_VSZ), 8 * KIB);
        assert_int_equal(get(bench, 5001, PFR_PROC_THREADS), 2);
        assert_int_equal(bench->procs.trouble.malformed[PFR_PROC_STATUS], i + 1);
    }
}

/* A zombie has no memory lines: absent, which is not 0. */
static void zombie_has_no_memory(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .state = 'Z', .no_memory = true, .utime = 50 });
    TICK(bench, 5001);
    assert_false(has(bench, 5001, PFR_PS_RSS) || has(bench, 5001, PFR_PS_VSZ) ||
                 has(bench, 5001, PFR_PS_PMEM) || has(bench, 5001, PFR_PROC_HWM) ||
                 has(bench, 5001, PFR_PROC_SWAP));
    assert_int_equal(get(bench, 5001, PFR_PS_STAT) & 0xff, 'Z');
    assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), 500 * MS);
    assert_int_equal(bench->procs.trouble.malformed[PFR_PROC_STATUS], 0);
}

/* ---- states ---- */

static void states_as_ps_prints_them(void **state)
{
    static const struct { struct fake_process process; const char *text; } cases[] = {
        { { .state = 'R' }, "R" },
        { { .state = 'S', .nice = -5 }, "S<" },
        { { .state = 'S', .nice = 19 }, "SN" },
        { { .state = 'S', .locked = 4 }, "SL" },
        { { .state = 'S', .session = 5001 }, "Ss" },
        { { .state = 'S', .threads = 2 }, "Sl" },
        { { .state = 'S', .tpgid = 5001 }, "S+" },
        { { .state = 'D', .nice = 1, .locked = 1, .session = 5001, .threads = 9, .tpgid = 5001 },
          "DNLsl+" },
        { { .state = 'R', .nice = -1, .locked = 1, .session = 5001, .threads = 9, .tpgid = 5001 },
          "R<Lsl+" },
        { { .state = 't' }, "t" },
        { { .state = 'I' }, "I" },
    };
    struct bench *bench = *state;
    char text[PFR_STATE_SIZE];

    start(bench, "ps_stat", LARGE); /* needs status for L, though nothing else is wanted */
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        fixture_process(&bench->fixture, 5001, &cases[i].process);
        TICK(bench, 5001);
        pfr_state_text((int)get(bench, 5001, PFR_PS_STAT), text);
        assert_string_equal(text, cases[i].text);
    }
}

/* ---- command lines ---- */

static void arguments_are_joined(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    assert_string_equal(process_of(bench, 5001)->cmd, "python3 train.py --epochs 3");
}

static void empty_command_line_is_the_name(void **state)
{
    struct bench *bench = *state;

    fixture_write(&bench->fixture, "proc/5001/cmdline", "%s", "");
    fixture_remove(&bench->fixture, "proc/5002/cmdline");
    start(bench, NULL, LARGE);
    TICK(bench, 5001, 5002);
    assert_string_equal(process_of(bench, 5001)->cmd, "[python3]");
    assert_string_equal(process_of(bench, 5002)->cmd, "[worker]");
}

/* exec keeps the pid and the start time: the same process, another command. */
static void exec_changes_name_and_command(void **state)
{
    struct bench *bench = *state;
    uint32_t slot;

    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    slot = reading_of(bench, 5001)->slot;
    fixture_process(&bench->fixture, 5001, &(struct fake_process){ .comm = "simulate" });
    fixture_write_bytes(&bench->fixture, "proc/5001/cmdline", "simulate\0-v\0", 12);
    TICK(bench, 5001);
    assert_string_equal(process_of(bench, 5001)->comm, "simulate");
    assert_string_equal(process_of(bench, 5001)->cmd, "simulate -v");
    assert_int_equal(reading_of(bench, 5001)->slot, slot);
    assert_int_equal(bench->table.total, 1);
}

static void command_line_is_read_once(void **state)
{
    struct bench *bench = *state;
    unsigned long reads;

    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    reads = pfr_fd_reads();
    TICK(bench, 5001);
    assert_int_equal(pfr_fd_reads() - reads, 3); /* stat, status, io */
}

static void long_command_line_is_cut(void **state)
{
    struct bench *bench = *state;
    char args[20000];

    memset(args, 'a', sizeof(args));
    fixture_write_bytes(&bench->fixture, "proc/5001/cmdline", args, sizeof(args));
    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    assert_int_equal(strlen(process_of(bench, 5001)->cmd), 1024);
}

/* Anything may stand in a command line; JSON must stay JSON. */
static void odd_command_lines_are_valid_json(void **state)
{
    static const struct { const char *raw; size_t size; const char *json; } cases[] = {
        { "a\xff\xfe", 3, "\"a??\"" },
        { "\xc3\xa9t\xc3\xa9", 5, "\"\xc3\xa9t\xc3\xa9\"" },
        { "cut\xc3", 4, "\"cut?\"" },
        { "\xc0\xaf", 2, "\"??\"" },             /* an overlong slash */
        { "\xed\xa0\x80", 3, "\"???\"" },         /* a surrogate */
        { "\xf4\x90\x80\x80", 4, "\"????\"" },    /* past the last code point */
        { "\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"" },
        { "q\"b\\s/", 6, "\"q\\\"b\\\\s/\"" },
        { "t\tn\nb\x01", 6, "\"t n b?\"" },
        { "a\0b\0", 4, "\"a b\"" },
        { "e\x1b[31m", 6, "\"e?[31m\"" },
    };
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        PFR_AUTO_JSON *text = NULL, *back = NULL;
        char comm[16];

        snprintf(comm, sizeof(comm), "name%zu", i);
        fixture_process(&bench->fixture, 5001, &(struct fake_process){ .comm = comm });
        fixture_write_bytes(&bench->fixture, "proc/5001/cmdline", cases[i].raw, cases[i].size);
        TICK(bench, 5001);
        text = pfr_json_text(process_of(bench, 5001)->cmd);
        assert_string_equal(pfr_json_line(text), cases[i].json);
        back = json_tokener_parse(pfr_json_line(text));
        assert_string_equal(json_object_get_string(back), json_object_get_string(text));
    }
}

/* ---- coming and going ---- */

/* The same number, another start: another process, and no counter falls. */
static void reused_pid_is_another_process(void **state)
{
    struct bench *bench = *state;
    uint32_t first, second;

    start(bench, NULL, LARGE);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .utime = 900, .start = 9999000, .read_bytes = 70 });
    TICK(bench, 5001);
    first = reading_of(bench, 5001)->slot;
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .utime = 3, .start = 9999900, .read_bytes = 5 });
    TICK(bench, 5001);
    second = reading_of(bench, 5001)->slot;
    assert_int_not_equal(first, second);
    assert_true(bench->table.slots[first].gone);
    assert_int_equal(bench->table.slots[second].start_ticks, 9999900);
    assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), 30 * MS);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_READ_BYTES), 5);
    assert_int_equal(bench->table.total, 2);
    assert_int_equal(bench->table.live, 1);
    assert_string_equal(bench->table.slots[second].cmd, "python3 train.py --epochs 3");
}

/* ---- clock first ---- */

static int64_t cpu_clock;

static int64_t fake_cpu_clock(pid_t pid, void *arg)
{
    (void)arg;
    return pid == 5001 ? cpu_clock : -1;
}

static void one_tick_later(struct bench *bench)
{
    fixture_advance(&bench->fixture, PFR_NS_PER_S / 10);
    TICK(bench, 5001);
}

/* A process whose CPU clock stands still is not read: its last reading is repeated. */
static void still_process_is_not_read(void **state)
{
    struct bench *bench = *state;
    int64_t age;

    bench->fixture.env.cpu_clock = fake_cpu_clock;
    cpu_clock = 123456789;
    start(bench, NULL, LARGE);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .utime = 12, .start = 9999000, .read_bytes = 70 });
    TICK(bench, 5001);
    assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), 123456789); /* not in ticks */
    age = get(bench, 5001, PFR_PS_ETIME);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .utime = 13, .start = 9999000, .read_bytes = 80 });
    one_tick_later(bench);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_READ_BYTES), 70);
    assert_int_equal(get(bench, 5001, PFR_PS_ETIME), age + PFR_NS_PER_S / 10);
    cpu_clock++;
    one_tick_later(bench);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_READ_BYTES), 80);
    assert_int_equal(get(bench, 5001, PFR_PS_CPU_SECONDS), 123456790);
}

/* What others do to it shows within ten ticks. */
static void still_process_is_read_now_and_then(void **state)
{
    struct bench *bench = *state;
    int ticks = 0;

    bench->fixture.env.cpu_clock = fake_cpu_clock;
    start(bench, NULL, LARGE);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .start = 9999000, .read_bytes = 70 });
    TICK(bench, 5001);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .start = 9999000, .read_bytes = 80 });
    while (get(bench, 5001, PFR_PROC_IO_READ_BYTES) == 70 && ticks++ < 10)
        one_tick_later(bench);
    assert_in_range(ticks, 1, 10);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .start = 9999000, .read_bytes = 90 });
    fixture_advance(&bench->fixture, 10 * PFR_NS_PER_S); /* and ticks may be far apart */
    TICK(bench, 5001);
    assert_int_equal(get(bench, 5001, PFR_PROC_IO_READ_BYTES), 90);
}

/* One that has gone has no clock: it is read, and found gone. */
static void gone_process_is_not_repeated(void **state)
{
    struct bench *bench = *state;

    bench->fixture.env.cpu_clock = fake_cpu_clock;
    cpu_clock = 5;
    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    cpu_clock = -1;
    fixture_write(&bench->fixture, "proc/5001/stat", "%s", "");
    one_tick_later(bench);
    assert_int_equal(bench->sample->count, 0);
    assert_int_equal(bench->table.live, 0);
}

/* Listed, and gone before it could be read: never met, so not one of those seen. */
static void vanished_before_it_was_read(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    assert_int_equal(TICK(bench, 5001, 6000), 1);
    assert_int_equal(bench->procs.trouble.hidden, 1);
    assert_null(reading_of(bench, 6000));
    /* one that stays listed and hidden is one, however long that lasts */
    for (int i = 0; i < 200; i++)
        TICK(bench, 5001, 6000);
    assert_int_equal(bench->procs.trouble.hidden, 1);
    assert_int_equal(bench->table.total, 2);
    assert_in_range(bench->table.high, 1, 2);
    TICK(bench, 5001);
    assert_int_equal(bench->table.live, 1);
}

/* hidepid lifted, or a process that was not ours yet: it is read from then on. */
static void hidden_process_may_appear(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    TICK(bench, 6000);
    assert_true(bench->sample->empty);
    fixture_process(&bench->fixture, 6000, &(struct fake_process){ .utime = 5 });
    TICK(bench, 6000);
    assert_int_equal(get(bench, 6000, PFR_PS_CPU_SECONDS), 50 * MS);
}

/* It was known and its files are empty now (ESRCH on a live system): it ended. */
static void vanished_after_it_was_known(void **state)
{
    struct bench *bench = *state;

    start(bench, NULL, LARGE);
    TICK(bench, 5001, 5002);
    fixture_write(&bench->fixture, "proc/5002/stat", "%s", "");
    assert_int_equal(TICK(bench, 5001, 5002), 1);
    assert_int_equal(bench->table.live, 1);
    assert_int_equal(bench->procs.trouble.hidden, 0);
}

static void gone_processes_close_their_files(void **state)
{
    struct bench *bench = *state;
    int before;

    start(bench, NULL, LARGE);
    before = open_fds();
    TICK(bench, 5001, 5002);
    assert_int_equal(open_fds(), before + 6);
    assert_int_equal(bench->procs.fds_open, 6);
    TICK(bench, 5001);
    assert_int_equal(open_fds(), before + 3);
    assert_int_equal(bench->procs.fds_open, 3);
    assert_int_equal(bench->table.live, 1);
    bench->sample = pfr_readings_begin(&bench->readings);
    assert_int_equal(pfr_procs_collect(&bench->procs, NULL, 0, &bench->readings), 0);
    assert_true(bench->sample->empty); /* R18 */
    assert_false(pfr_sample_has(bench->sample, PFR_PROC_COUNT));
    assert_int_equal(open_fds(), before);
}

/* It moved between two cgroups while they were listed. */
static void listed_twice_is_read_once(void **state)
{
    struct bench *bench = *state;
    unsigned long reads;

    start(bench, NULL, LARGE);
    assert_int_equal(TICK(bench, 5001, 5002, 5001), 2);
    reads = pfr_fd_reads();
    assert_int_equal(TICK(bench, 5001, 5001, 5001, 5002), 2);
    assert_int_equal(pfr_fd_reads() - reads, 6);
    assert_int_equal(pfr_sample_get(bench->sample, PFR_PROC_COUNT), 2);
    assert_int_equal(bench->table.total, 2);
}

/* ---- the fd budget ---- */

/* Three ticks with a process that leaves and one that comes; what was read, as text. */
static void play(struct bench *bench, uint32_t budget, char *text, size_t size)
{
    static const pid_t lists[3][3] = { { 5001, 5002, 5003 }, { 5001, 5002, 5004 },
                                       { 5001, 5004, 5003 } };
    size_t n = 0;

    fixture_overlay(&bench->fixture, "base");
    fixture_process(&bench->fixture, 5003, &(struct fake_process){ .utime = 3, .rss = 30 });
    fixture_process(&bench->fixture, 5004, &(struct fake_process){ .utime = 4, .rss = 40 });
    start(bench, "ps_*,proc_*,proc_pss", budget);
    for (int i = 0; i < 3; i++) {
        if (i)
            fixture_overlay(&bench->fixture, i == 1 ? "tick1" : "tick2");
        tick(bench, lists[i], 3);
        assert_true(bench->procs.fds_open <= budget);
        for (uint32_t k = 0; k < bench->sample->count; k++) {
            const struct pfr_pid_reading *r = &bench->readings.pids[bench->sample->first + k];

            n += (size_t)snprintf(text + n, size - n, "%d %d:",
                                  i, (int)bench->table.slots[r->slot].pid);
            PFR_EACH_PID_METRIC(id)
                if (r->present >> id & 1)
                    n += (size_t)snprintf(text + n, size - n, " %d=%lld", id,
                                          (long long)r->value[id]);
            n += (size_t)snprintf(text + n, size - n, "\n");
        }
    }
    assert_true(n < size);
    pfr_procs_release(&bench->procs);
    pfr_process_table_release(&bench->table);
    pfr_readings_release(&bench->readings);
}

static void fd_budget_changes_no_number(void **state)
{
    static const uint32_t budgets[] = { 0, 1, 2, 3, 4, 5, 7 };
    struct bench *bench = *state;
    char expected[8192], text[8192];
    int before = open_fds();

    play(bench, LARGE, expected, sizeof(expected));
    assert_non_null(strstr(expected, "2 5003:"));
    for (size_t i = 0; i < PFR_COUNT(budgets); i++) {
        play(bench, budgets[i], text, sizeof(text));
        assert_string_equal(text, expected);
        assert_int_equal(open_fds(), before);
    }
}

/* With room for all, a second tick reads what the first has opened. */
static void files_stay_open(void **state)
{
    struct bench *bench = *state;
    int before;

    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    before = open_fds();
    /* were they opened again, this other file would be read */
    fixture_remove(&bench->fixture, "proc/5001");
    fixture_process(&bench->fixture, 5001, &(struct fake_process){ .rss = 7 });
    TICK(bench, 5001);
    assert_int_equal(get(bench, 5001, PFR_PS_RSS), 102400 * KIB);
    assert_int_equal(open_fds(), before);
}

/* ---- what cannot be had ---- */

/* No /proc/PID/io (CONFIG_TASK_IO_ACCOUNTING off): said once, then not tried for. */
static void kernel_without_io(void **state)
{
    struct bench *bench = *state;

    fixture_remove(&bench->fixture, "proc/self/io");
    fixture_remove(&bench->fixture, "proc/5001/io");
    start(bench, NULL, LARGE);
    TICK(bench, 5001);
    assert_false(has(bench, 5001, PFR_PROC_IO_READ_BYTES));
    assert_false(pfr_metric_set_has(&bench->have.available, PFR_PROC_IO_READ_BYTES));
    assert_string_equal(bench->have.reason[PFR_PROC_IO_RCHAR], "no /proc/PID/io: not there");
    assert_false(bench->procs.needed[PFR_PROC_IO]);
    assert_int_equal(get(bench, 5001, PFR_PS_RSS), 102400 * KIB);
}

static void kernel_without_a_line(void **state)
{
    struct bench *bench = *state;

    fixture_write(&bench->fixture, "proc/self/status", "VmRSS:\t 3 kB\nThreads:\t1\n");
    start(bench, NULL, LARGE);
    assert_string_equal(bench->have.reason[PFR_PROC_SWAP], "no 'VmSwap:' in /proc/PID/status");
    assert_true(pfr_metric_set_has(&bench->have.available, PFR_PS_RSS));
}

/* io of a process that changed its credentials is refused: counted, not said (R84). */
static void denied_io_is_counted(void **state)
{
    struct bench *bench = *state;
    char path[512];

    fixture_path(&bench->fixture, "proc/5001/io", path, sizeof(path));
    assert_int_equal(chmod(path, 0), 0);
    start(bench, NULL, LARGE);
    assert_int_equal(seteuid(geteuid() == 0 ? 65534 : geteuid()), 0);
    TICK(bench, 5001, 5002);
    TICK(bench, 5001, 5002);
    assert_int_equal(seteuid(getuid()), 0);
    assert_false(has(bench, 5001, PFR_PROC_IO_READ_BYTES));
    assert_int_equal(get(bench, 5002, PFR_PROC_IO_READ_BYTES), 100);
    assert_int_equal(get(bench, 5001, PFR_PS_RSS), 102400 * KIB);
    assert_int_equal(bench->procs.trouble.denied[PFR_PROC_IO], 2);
    assert_int_equal(bench->procs.trouble.malformed[PFR_PROC_IO], 0);
    assert_string_equal(bench->fixture.log, "");
}

static void no_proc_is_an_error(void **state)
{
    struct bench *bench = *state;
    struct pfr_availability have;

    fixture_remove(&bench->fixture, "proc");
    pfr_availability_init(&have);
    assert_int_equal(pfr_procs_open(&bench->procs, &bench->fixture.env, &bench->table,
                                    &bench->wanted, LARGE, &have), -ENOENT); /* R50 */
}

/* ---- PSS ---- */

static void pss_has_a_slow_clock(void **state)
{
    struct bench *bench = *state;
    int read = 0;

    start(bench, "proc_pss_total,ps_rss", LARGE);
    for (int i = 0; i < 31; i++) { /* thirty seconds: at 0, 10, 20 and 30 */
        TICK(bench, 5001);
        assert_true(has(bench, 5001, PFR_PS_RSS));
        if (has(bench, 5001, PFR_PROC_PSS)) {
            assert_int_equal(i % 10, 0);
            assert_int_equal(get(bench, 5001, PFR_PROC_PSS), 76800 * KIB);
            read++;
        }
        fixture_advance(&bench->fixture, PFR_NS_PER_S);
    }
    assert_int_equal(read, 4);
}

/* Reading it stalls a giant for seconds; and a sum without the giant is no sum. */
static void pss_is_not_read_of_giants(void **state)
{
    struct bench *bench = *state;

    start(bench, "proc_pss,ps_rss", LARGE);
    bench->procs.pss_cap = 100000 * KIB;
    TICK(bench, 5001, 5002);
    assert_false(has(bench, 5001, PFR_PROC_PSS)); /* 102400 kB */
    assert_int_equal(get(bench, 5002, PFR_PROC_PSS), 38400 * KIB);
    assert_int_equal(bench->sample->partial, 1u << PFR_PROC_PSS);
}

/* The cap holds although nobody asked for the resident set. */
static void pss_cap_without_rss(void **state)
{
    struct bench *bench = *state;

    start(bench, "proc_pss", LARGE);
    bench->procs.pss_cap = 100000 * KIB;
    TICK(bench, 5001, 5002);
    assert_false(has(bench, 5001, PFR_PROC_PSS));
    assert_false(has(bench, 5001, PFR_PS_RSS));
    assert_true(has(bench, 5002, PFR_PROC_PSS));
    assert_int_equal(bench->sample->partial, 1u << PFR_PROC_PSS);
}

static void pss_that_fails_spoils_the_sum(void **state)
{
    struct bench *bench = *state;
    char path[512];

    start(bench, "proc_pss", LARGE);
    fixture_write(&bench->fixture, "proc/5001/smaps_rollup", "Pss: lots\n");
    TICK(bench, 5001, 5002);
    assert_int_equal(bench->sample->partial, 1u << PFR_PROC_PSS);
    fixture_overlay(&bench->fixture, "base");
    fixture_path(&bench->fixture, "proc/5001/smaps_rollup", path, sizeof(path));
    assert_int_equal(chmod(path, 0), 0);
    fixture_advance(&bench->fixture, 10 * PFR_NS_PER_S);
    assert_int_equal(seteuid(geteuid() == 0 ? 65534 : geteuid()), 0);
    TICK(bench, 5001, 5002);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(bench->procs.trouble.denied[PFR_PROC_ROLLUP], 1);
    assert_int_equal(bench->sample->partial, 1u << PFR_PROC_PSS);
}

/* A zombie has an empty smaps_rollup and no memory: the sum of the others stands. */
static void pss_of_a_zombie_spoils_nothing(void **state)
{
    struct bench *bench = *state;

    start(bench, "proc_pss", LARGE);
    fixture_process(&bench->fixture, 5001,
                    &(struct fake_process){ .state = 'Z', .no_memory = true });
    fixture_write(&bench->fixture, "proc/5001/smaps_rollup", "%s", "");
    TICK(bench, 5001, 5002);
    assert_int_equal(bench->sample->partial, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(every_value_of_a_process),
        CASE(only_what_is_wanted),
        CASE(pmem_alone),
        CASE(pmem_needs_the_nodes_memory),
        CASE(cpu_time_follows_the_tick_rate),
        CASE(giant_counters_do_not_overflow),
        CASE(strange_names),
        CASE(short_stat_line_is_no_reading),
        CASE(malformed_memory_is_absent_and_counted),
        CASE(zombie_has_no_memory),
        CASE(states_as_ps_prints_them),
        CASE(arguments_are_joined),
        CASE(empty_command_line_is_the_name),
        CASE(exec_changes_name_and_command),
        CASE(command_line_is_read_once),
        CASE(long_command_line_is_cut),
        CASE(odd_command_lines_are_valid_json),
        CASE(reused_pid_is_another_process),
        CASE(still_process_is_not_read),
        CASE(still_process_is_read_now_and_then),
        CASE(gone_process_is_not_repeated),
        CASE(vanished_before_it_was_read),
        CASE(hidden_process_may_appear),
        CASE(vanished_after_it_was_known),
        CASE(gone_processes_close_their_files),
        CASE(listed_twice_is_read_once),
        CASE(fd_budget_changes_no_number),
        CASE(files_stay_open),
        CASE(kernel_without_io),
        CASE(kernel_without_a_line),
        CASE(denied_io_is_counted),
        CASE(no_proc_is_an_error),
        CASE(pss_has_a_slow_clock),
        CASE(pss_is_not_read_of_giants),
        CASE(pss_cap_without_rss),
        CASE(pss_that_fails_spoils_the_sum),
        CASE(pss_of_a_zombie_spoils_nothing),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
