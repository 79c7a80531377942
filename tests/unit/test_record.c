/* Records: numbers as text, files that are whole or not there, readers, compaction. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/record/compact.h"
#include "common/record/file.h"
#include "common/record/reader.h"
#include "common/record/schema.h"
#include "common/record/summary.h"

struct bench {
    struct fixture fixture;
    const char *dir; /* an empty directory */
    int dirfd;
};

static int open_bench(void **state)
{
    static struct bench bench;

    fixture_open(&bench.fixture, "systemd-scope");
    bench.dir = bench.fixture.out;
    bench.dirfd = open(bench.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = &bench;
    return bench.dirfd < 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    close(bench->dirfd);
    fixture_close(&bench->fixture);
    return 0;
}

static void put(const struct bench *bench, const char *name, const char *text)
{
    int fd = openat(bench->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(pfr_fd_write_all(fd, text, strlen(text)), 0);
    close(fd);
}

static void assert_holds(const struct bench *bench, const char *name, const char *text)
{
    char buf[4096];

    assert_int_equal(pfr_file_read_text(bench->dirfd, name, buf, sizeof(buf)), strlen(text));
    assert_string_equal(buf, text);
}

static bool exists(const struct bench *bench, const char *name)
{
    return faccessat(bench->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whatever would wait for another process is ended by this. */
static void no_hanging(void)
{
    alarm(30);
}

/* ---- numbers ---- */

static void assert_text(struct json_object *object, const char *text)
{
    assert_string_equal(pfr_json_line(object), text);
    json_object_put(object);
}

/* Integers stay integers (R103), decimals have no tail. */
static void values_by_unit(void **state)
{
    (void)state;
    assert_text(pfr_json_value(PFR_BYTES, 0), "0");
    assert_text(pfr_json_value(PFR_BYTES, INT64_MAX), "9223372036854775807");
    assert_text(pfr_json_value(PFR_ITEMS, 12889), "12889");
    assert_text(pfr_json_value(PFR_SECONDS, 0), "0");
    assert_text(pfr_json_value(PFR_SECONDS, 5 * PFR_NS_PER_S), "5");
    assert_text(pfr_json_value(PFR_SECONDS, 1500 * MS), "1.5");
    assert_text(pfr_json_value(PFR_SECONDS, 1234567890), "1.234568");
    assert_text(pfr_json_value(PFR_SECONDS, -500 * MS), "-0.5");
    assert_text(pfr_json_value(PFR_SECONDS, -3), "0");
    assert_text(pfr_json_value(PFR_SECONDS, 100 * PFR_NS_PER_S), "100");
    assert_text(pfr_json_value(PFR_PERCENT, 12345), "12.345");
    assert_text(pfr_json_value(PFR_PERCENT, 100000), "100");
    assert_text(pfr_json_value(PFR_SECONDS, INT64_MAX), "9223372036.854776");
    assert_text(pfr_json_value(PFR_SECONDS, INT64_MIN), "-9223372036.854776");
}

static void giant_percentages_do_not_overflow(void **state)
{
    static const int64_t giants[] = { INT64_MAX, INT64_MIN, INT64_MAX / 1000000 + 1,
                                      INT64_MIN / 1000000 - 1 };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(giants); i++) {
        PFR_AUTO_JSON *value = pfr_json_value(PFR_PERCENT, giants[i]);

        assert_true(json_object_get_double(value) * (double)giants[i] > 0);
    }
}

static void values_come_back(void **state)
{
    static const struct { enum pfr_unit unit; int64_t value; } cases[] = {
        { PFR_BYTES, 4096 }, { PFR_BYTES, INT64_MAX }, { PFR_SECONDS, 1500 * MS },
        { PFR_SECONDS, 2 * PFR_NS_PER_S }, { PFR_SECONDS, -1 * MS }, { PFR_PERCENT, 12345 },
        { PFR_PERCENT, 100000 }, { PFR_ITEMS, 0 },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        PFR_AUTO_JSON *written = pfr_json_value(cases[i].unit, cases[i].value);
        PFR_AUTO_JSON *read = json_tokener_parse(pfr_json_line(written));
        int64_t value = -7;

        assert_true(pfr_json_get_value(read, cases[i].unit, &value));
        assert_int_equal(value, cases[i].value);
    }
    PFR_AUTO_JSON *text = json_object_new_string("5");
    int64_t value = -7;

    assert_false(pfr_json_get_value(text, PFR_BYTES, &value));
    assert_false(pfr_json_get_value(NULL, PFR_BYTES, &value));
    assert_int_equal(value, -7);
}

static void locale_changes_no_number(void **state)
{
    static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR",
                                           "ru_RU.UTF-8", "pl_PL.UTF-8" };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(locales); i++) {
        if (!setlocale(LC_ALL, locales[i]))
            continue;
        assert_text(pfr_json_value(PFR_SECONDS, 1500 * MS), "1.5");
        assert_text(pfr_json_real(PFR_PERCENT, 12345.0), "12.345");
        setlocale(LC_ALL, "C");
        return;
    }
    SKIP_BECAUSE("no locale with a decimal comma is installed");
}

/* ---- files ---- */

static void replaced_whole(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(pfr_file_replace(bench->dirfd, "n.json", "one", 3), 0);
    assert_holds(bench, "n.json", "one");
    assert_int_equal(pfr_file_replace(bench->dirfd, "n.json", "two!", 4), 0);
    assert_holds(bench, "n.json", "two!");
    assert_false(exists(bench, ".n.json.tmp"));
}

/* The old file is there until the new one is whole (R72). */
static void failed_replacement_leaves_the_old(void **state)
{
    struct bench *bench = *state;
    struct rlimit limit, small;
    char large[8192];
    int r;

    memset(large, 'x', sizeof(large));
    put(bench, "n.json", "old");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    r = pfr_file_replace(bench->dirfd, "n.json", large, sizeof(large));
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(r, -EFBIG);
    assert_holds(bench, "n.json", "old");
    assert_false(exists(bench, ".n.json.tmp"));
}

/* One that was killed leaves its temporary file: the next takes its place. */
static void leftovers_are_cleared(void **state)
{
    struct bench *bench = *state;

    put(bench, ".n.json.tmp", "half of someth");
    assert_int_equal(pfr_file_replace(bench->dirfd, "n.json", "new", 3), 0);
    assert_holds(bench, "n.json", "new");
    assert_false(exists(bench, ".n.json.tmp"));
}

/* Planted links lead nowhere: what they point to stays as it is. */
static void links_are_not_followed(void **state)
{
    struct bench *bench = *state;
    char path[512];

    put(bench, "victim", "precious");
    snprintf(path, sizeof(path), "%s/victim", bench->dir);
    assert_int_equal(symlinkat(path, bench->dirfd, "n.json"), 0);
    assert_int_equal(symlinkat(path, bench->dirfd, ".n.json.tmp"), 0);
    assert_int_equal(symlinkat(path, bench->dirfd, "n.jsonl"), 0);
    assert_int_equal(pfr_file_replace(bench->dirfd, "n.json", "new", 3), 0);
    assert_holds(bench, "victim", "precious");
    assert_holds(bench, "n.json", "new");
    assert_int_equal(pfr_file_append(bench->dirfd, "n.jsonl"), -ELOOP);
    assert_holds(bench, "victim", "precious");
    /* and one that points to nothing makes nothing */
    assert_int_equal(symlinkat("made", bench->dirfd, "dangling"), 0);
    assert_int_equal(pfr_file_append(bench->dirfd, "dangling"), -ELOOP);
    assert_false(exists(bench, "made"));
}

/* A second name of another file, or another's file, is not written to. */
static void only_our_own_is_appended_to(void **state)
{
    struct bench *bench = *state;

    put(bench, "victim", "precious");
    assert_int_equal(linkat(bench->dirfd, "victim", bench->dirfd, "n.jsonl", 0), 0);
    assert_int_equal(pfr_file_append(bench->dirfd, "n.jsonl"), -EPERM);
    if (geteuid() != 0)
        return;
    put(bench, "others", "precious");
    assert_int_equal(fchownat(bench->dirfd, "others", 65534, 65534, 0), 0);
    assert_int_equal(pfr_file_append(bench->dirfd, "others"), -EPERM);
}

static void fifos_do_not_hold_us(void **state)
{
    struct bench *bench = *state;
    struct json_object *object;

    no_hanging();
    assert_int_equal(mkfifoat(bench->dirfd, "n.jsonl", 0666), 0);
    assert_int_equal(mkfifoat(bench->dirfd, ".n.json.tmp", 0666), 0);
    assert_int_equal(mkfifoat(bench->dirfd, "n.json", 0666), 0);
    assert_int_equal(pfr_file_append(bench->dirfd, "n.jsonl"), -EINVAL);
    object = pfr_summary_load(bench->dirfd, "n.json");
    assert_null(object);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(pfr_file_replace(bench->dirfd, "n.json", "new", 3), 0);
    assert_holds(bench, "n.json", "new");
    alarm(0);
}

static void appending(void **state)
{
    struct bench *bench = *state;
    int fd = pfr_file_append(bench->dirfd, "n.jsonl");

    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(pfr_fd_write_all(fd, "a\n", 2), 0);
    close(fd);
    fd = pfr_file_append(bench->dirfd, "n.jsonl");
    assert_int_equal(pfr_fd_write_all(fd, "b\n", 2), 0);
    close(fd);
    assert_holds(bench, "n.jsonl", "a\nb\n");
    assert_int_equal(pfr_file_append(bench->dirfd, "."), -EISDIR);
}

static void directories_are_made(void **state)
{
    struct bench *bench = *state;
    char path[600];
    int fd;

    snprintf(path, sizeof(path), "%s/a/b/c", bench->dir);
    for (int i = 0; i < 2; i++) { /* the second time they are there */
        fd = pfr_dir_make(path);
        assert_true(fd >= 0);
        close(fd);
    }
    snprintf(path, sizeof(path), "%s/a/b/c/", bench->dir);
    fd = pfr_dir_make(path);
    assert_true(fd >= 0);
    close(fd);
}

static void directories_that_are_not_are_refused(void **state)
{
    struct bench *bench = *state;
    char path[600], long_path[5000];

    put(bench, "file", "x");
    snprintf(path, sizeof(path), "%s/file", bench->dir);
    assert_int_equal(pfr_dir_make(path), -ENOTDIR);
    snprintf(path, sizeof(path), "%s/file/0", bench->dir);
    assert_int_equal(pfr_dir_make(path), -ENOTDIR);
    assert_int_equal(mkdirat(bench->dirfd, "target", 0755), 0);
    assert_int_equal(symlinkat("target", bench->dirfd, "link"), 0);
    snprintf(path, sizeof(path), "%s/link", bench->dir);
    assert_true(pfr_dir_make(path) < 0);
    memset(long_path, 'x', sizeof(long_path));
    long_path[sizeof(long_path) - 1] = '\0';
    assert_int_equal(pfr_dir_make(long_path), -ENAMETOOLONG);
}

static void long_names_are_refused(void **state)
{
    struct bench *bench = *state;
    char name[300];

    memset(name, 'x', sizeof(name));
    name[253] = '\0';
    assert_int_equal(pfr_file_replace(bench->dirfd, name, "x", 1), -ENAMETOOLONG);
}

/* ---- the reader ---- */

struct outcome {
    int objects;
    uint64_t malformed;
    bool torn;
};

static struct outcome read_all(const struct bench *bench, const void *data, size_t size)
{
    struct outcome outcome = { 0 };
    struct json_object *object;
    struct pfr_reader reader;
    int fd = openat(bench->dirfd, "r.jsonl", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_int_equal(pfr_fd_write_all(fd, data, size), 0);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(pfr_reader_open(&reader, fd), 0);
    while (pfr_reader_next(&reader, &object) > 0) {
        outcome.objects++;
        json_object_put(object);
    }
    outcome.malformed = reader.malformed;
    outcome.torn = reader.torn;
    pfr_reader_release(&reader);
    return outcome;
}

#define READ(bench, text) read_all(bench, text, sizeof(text) - 1)

static void torn_line_loses_only_itself(void **state)
{
    struct outcome outcome = READ(*state, "{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"");

    assert_int_equal(outcome.objects, 2);
    assert_true(outcome.torn);
    assert_int_equal(outcome.malformed, 0);
    /* whole but for its newline: it may still be growing */
    outcome = READ(*state, "{\"type\":\"a\"}\n{\"type\":\"b\"}");
    assert_int_equal(outcome.objects, 1);
    assert_true(outcome.torn);
    outcome = READ(*state, "");
    assert_int_equal(outcome.objects, 0);
    assert_false(outcome.torn);
}

/* Counted and passed over, wherever it stands (R85, R86). */
/* A line of any length costs no more memory than the longest that we read. */
static void giant_lines_are_not_kept(void **state)
{
    struct bench *bench = *state;
    struct pfr_reader reader;
    struct json_object *object;
    int fd;

    put(bench, "s.jsonl", "{\"type\":\"a\"}\n");
    fd = openat(bench->dirfd, "s.jsonl", O_RDWR | O_APPEND | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, 5 * (off_t)PFR_LINE_MAX), 0);
    assert_int_equal(write(fd, "\n{\"type\":\"b\"}\n", 14), 14);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(pfr_reader_open(&reader, fd), 0);
    assert_int_equal(pfr_reader_next(&reader, &object), 1);
    json_object_put(object);
    assert_int_equal(pfr_reader_next(&reader, &object), 1);
    assert_string_equal(pfr_line_type(object), "b");
    json_object_put(object);
    assert_int_equal(reader.malformed, 1);
    assert_true(reader.size <= PFR_LINE_MAX);
    pfr_reader_release(&reader);
}

static void malformed_lines_are_counted(void **state)
{
    static const char *const lines[] = {
        "{\"a\":", "[1,2]", "7", "null", "\"text\"", "", "{}{}", "{\"a\":1} trailing",
        "{\"a\":1}}", "{a:1}", "{\"a\":1,}x", "\xff\xfe", "{\"a\":\"\n",
    };

    for (size_t i = 0; i < PFR_COUNT(lines); i++) {
        char text[128];
        struct outcome outcome;

        snprintf(text, sizeof(text), "{\"x\":1}\n%s\n{\"y\":2}\n", lines[i]);
        outcome = read_all(*state, text, strlen(text));
        if (outcome.objects != 2 || outcome.malformed < 1 || outcome.torn)
            fail_msg("'%s': %d objects, %d malformed", lines[i], outcome.objects,
                     (int)outcome.malformed);
    }
    struct outcome outcome = READ(*state, "{\"x\":1}\n{\"y\":\0 2}\n{\"z\":3}\n");

    assert_int_equal(outcome.objects, 2);
    assert_int_equal(outcome.malformed, 1);
}

static void deep_nesting_is_malformed_not_fatal(void **state)
{
    char text[4096];

    snprintf(text, sizeof(text), "{\"a\":%0*d}\n", 1, 0);
    memset(text + 5, '[', 4000);
    text[4005] = '\n';
    struct outcome outcome = read_all(*state, text, 4006);

    assert_int_equal(outcome.objects, 0);
    assert_int_equal(outcome.malformed, 1);
}

static void unknown_types_and_keys_pass(void **state)
{
    PFR_AUTO_JSON *line = json_tokener_parse("{\"type\":\"hologram\",\"new\":{\"er\":1}}");
    PFR_AUTO_JSON *none = json_tokener_parse("{\"type\":5}");
    struct outcome outcome = READ(*state, "{\"type\":\"hologram\",\"new\":{\"er\":1}}\n");

    assert_int_equal(outcome.objects, 1);
    assert_string_equal(pfr_line_type(line), "hologram");
    assert_string_equal(pfr_line_type(none), "");
    assert_string_equal(pfr_line_type(NULL), "");
}

static void summaries_load(void **state)
{
    static const char *const bad[] = { "", "[]", "{\"a\":", "{} {}", "{\"a\":1}x", "null" };
    struct bench *bench = *state;
    struct json_object *object;

    put(bench, "s.json", "{\n  \"state\": \"LIVE\"\n}\n");
    object = pfr_summary_load(bench->dirfd, "s.json");
    assert_json_text(object, "state", "LIVE");
    json_object_put(object);
    for (size_t i = 0; i < PFR_COUNT(bad); i++) {
        put(bench, "s.json", bad[i]);
        errno = 0;
        if (pfr_summary_load(bench->dirfd, "s.json") || errno != EBADMSG)
            fail_msg("'%s': %s", bad[i], strerror(errno));
    }
    assert_null(pfr_summary_load(bench->dirfd, "missing.json"));
    assert_int_equal(errno, ENOENT);
    assert_null(pfr_summary_load(bench->dirfd, "."));
}

static void schemas(void **state)
{
    static const struct { const char *schema; int result; } cases[] = {
        { "profres-series/2.3", 1 },   { "profres-series/2.0", 1 },
        { "profres-series/1.9", -EPROTO }, { "profres-series/0.1", -EPROTO },
        { "profres-series/2.4", 0 },   { "profres-series/2.30", 0 },
        { "profres-series/3.0", -EPROTO }, { "profres-series/10.0", -EPROTO },
        { "profres-summary/2.3", -EPROTO }, { "profres-serie/2.3", -EPROTO },
        { "profres-seriess/2.3", -EPROTO }, { "profres-series", -EPROTO },
        { "profres-series/", -EPROTO },  { "profres-series/2", -EPROTO },
        { "profres-series/2.", -EPROTO }, { "profres-series/2.3.1", -EPROTO },
        { "profres-series/x.y", -EPROTO }, { "profres-series/-1.0", -EPROTO }, { "", -EPROTO },
        { "/2.3", -EPROTO },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++)
        if (pfr_schema_check(cases[i].schema, "profres-series/2.3") != cases[i].result)
            fail_msg("'%s'", cases[i].schema);
    assert_int_equal(pfr_schema_check(PFR_SCHEMA_SERIES, PFR_SCHEMA_SERIES), 1);
    assert_int_equal(pfr_schema_check(PFR_SCHEMA_SUMMARY, PFR_SCHEMA_SUMMARY), 1);
}

/* ---- compaction ---- */

#define HEADER                                                                                  \
    "{\"type\":\"header\",\"ts\":\"T\",\"process_columns\":[\"pid\",\"start_ticks\",\"comm\"," \
    "\"ps_rss\",\"ps_cpu_seconds\",\"ps_pdcpu\",\"ps_etime\",\"ps_stat\"],"                     \
    "\"families\":{\"command\":{\"columns\":[\"slot\",\"command_processes\","                     \
    "\"command_cpu_seconds\",\"command_rss_total\",\"command_read_bytes\"]}}}\n"

static struct json_object *parse(const char *text)
{
    struct json_object *object = json_tokener_parse(text);

    assert_non_null(object);
    return object;
}

/* Two windows become one: nothing is lost that can be kept. */
static void merging_loses_no_peak_counter_or_tally(void **state)
{
    PFR_AUTO_JSON *header = parse(HEADER);
    PFR_AUTO_JSON *a = parse("{\"type\":\"usage\",\"ts\":\"T1\",\"from\":0,\"to\":10,"
        "\"num_samples\":10,\"process_count\":2,\"samples\":{\"t\":[1]},\"measurements\":{"
        "\"ps_rss_total\":700,\"ps_cpu_seconds_total\":1.5,\"cgroup_mem_current\":100,"
        "\"cgroup_mem_limit\":50,\"cgroup_pdcpu\":30,\"only_then\":1,\"cgroup_oom_kills\":1},"
        "\"processes\":[[1,10,\"a\",500,1.25,12.5,3,{\"S\":9,\"R\":1}],"
        "[2,20,\"b\",9,0,null,3,{\"S\":10}]],"
        "\"rows\":{\"command\":[[0,1,1.25,500,4],[1,1,0.25,9,0]]}}");
    PFR_AUTO_JSON *b = parse("{\"type\":\"usage\",\"ts\":\"T2\",\"from\":10,\"to\":40,"
        "\"num_samples\":30,\"process_count\":3,\"samples\":{\"t\":[2]},\"measurements\":{"
        "\"ps_rss_total\":600,\"ps_cpu_seconds_total\":2,\"cgroup_mem_current\":200,"
        "\"cgroup_mem_limit\":40,\"cgroup_pdcpu\":10,\"cgroup_io_read_bytes\":7},"
        "\"processes\":[[1,10,\"a\",400,0.5,1.5,9,{\"R\":4,\"D\":2}],"
        "[2,99,\"b\",8,1,1,1,{\"S\":1}]],"
        "\"rows\":{\"command\":[[0,0,0.5,400,6],[2,1,1.5,5,0]],\"other\":[[1]]}}");

    (void)state;
    pfr_usage_merge(a, b, header, 8);
    assert_json_text(a, "ts", "T2");
    assert_json_number(a, "from", "0");
    assert_json_number(a, "to", "40");
    assert_json_int(a, "num_samples", 40);
    assert_json_int(a, "process_count", 3);
    assert_json_int(a, "merged", 2);
    assert_json_absent(a, "samples");
    assert_json_int(a, "measurements.ps_rss_total", 700);            /* max */
    assert_json_number(a, "measurements.ps_cpu_seconds_total", "3.5"); /* delta */
    assert_json_number(a, "measurements.cgroup_mem_current", "175"); /* mean by time */
    assert_json_int(a, "measurements.cgroup_mem_limit", 40);         /* last */
    assert_json_number(a, "measurements.cgroup_pdcpu", "15");
    assert_json_int(a, "measurements.only_then", 1); /* unknown here, kept */
    assert_json_int(a, "measurements.cgroup_oom_kills", 1);
    assert_json_int(a, "measurements.cgroup_io_read_bytes", 7);
    assert_int_equal(json_object_array_length(fixture_json(a, "processes")), 3);
    assert_json_int(a, "processes.0.3", 500);
    assert_json_number(a, "processes.0.4", "1.75");
    assert_json_number(a, "processes.0.6", "9");
    assert_json_int(a, "processes.0.7.S", 9);
    assert_json_int(a, "processes.0.7.R", 5);
    assert_json_int(a, "processes.0.7.D", 2);
    assert_json_int(a, "processes.1.1", 20); /* the same pid, but another process */
    assert_json_int(a, "processes.2.1", 99);
    assert_int_equal(json_object_array_length(fixture_json(a, "rows.command")), 3);
    assert_json_number(a, "rows.command.0.2", "1.75");
    assert_json_int(a, "rows.command.0.1", 1);
    assert_json_int(a, "rows.command.0.3", 500);
    assert_json_int(a, "rows.command.0.4", 10);
}

/* What stands out by CPU or by memory is kept when the rows get too many. */
static void merging_keeps_the_largest(void **state)
{
    PFR_AUTO_JSON *header = parse(HEADER);
    PFR_AUTO_JSON *a = parse("{\"from\":0,\"to\":1,\"measurements\":{},\"processes\":["
        "[1,1,\"cpu\",1,9,0,0,{}],[2,1,\"small\",2,0.1,0,0,{}]]}");
    PFR_AUTO_JSON *b = parse("{\"from\":1,\"to\":2,\"measurements\":{},\"processes\":["
        "[3,1,\"mem\",900,0,0,0,{}],[4,1,\"tiny\",1,0,0,0,{}]]}");

    (void)state;
    pfr_usage_merge(a, b, header, 2);
    assert_int_equal(json_object_array_length(fixture_json(a, "processes")), 2);
    assert_json_text(a, "processes.0.2", "cpu");
    assert_json_text(a, "processes.1.2", "mem");
}

static void add_usage(char *text, size_t size, int window, int pid)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n,
             "{\"type\":\"usage\",\"ts\":\"T%d\",\"from\":%d,\"to\":%d,\"num_samples\":10,"
             "\"measurements\":{\"ps_rss_total\":%d,\"ps_cpu_seconds_total\":%d.5},"
             "\"process_count\":1,\"processes\":[[%d,7,\"w\",%d,0.5,1,1,{\"S\":1}]],"
             "\"commands\":[]}\n",
             window, window * 10, window * 10 + 10, 100 + window % 5, window, pid, window);
}

static void add_process(char *text, size_t size, int pid)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n,
             "{\"type\":\"process\",\"ts\":\"T\",\"pid\":%d,\"start_ticks\":7,"
             "\"ps_cmd\":\"w %d\"}\n",
             pid, pid);
}

static double sum_of(struct json_object *lines, const char *path, bool max)
{
    double sum = 0;

    for (size_t i = 0; i < json_object_array_length(lines); i++) {
        struct json_object *line = json_object_array_get_idx(lines, i);
        double value = json_object_get_double(fixture_json(line, path));

        if (strcmp(pfr_line_type(line), "usage") != 0)
            continue;
        sum = !max ? sum + value : value > sum ? value : sum;
    }
    return sum;
}

/* The file's text, merged, in its place; as it was when that fails. */
static int compact(struct bench *bench, const char *name, double span, uint32_t most)
{
    struct pfr_compaction how = { .span = span, .most_processes = most, .command_room = 1 << 20 };
    struct pfr_new_file file;
    struct pfr_seal seal;
    char text[8192];
    ssize_t n = pfr_file_read_text(bench->dirfd, name, text, sizeof(text));
    int r;

    assert_true(n > 0);
    assert_int_equal(pfr_new_file_open(&file, bench->dirfd, name), 0);
    assert_int_equal(pfr_seal_begin(&seal, file.fd), 0);
    r = pfr_series_compact(&how, text, (size_t)n, file.fd, &seal);
    if (r == 0)
        return pfr_new_file_commit(&file);
    pfr_new_file_abandon(&file);
    return r;
}

static void compaction_halves_the_windows(void **state)
{
    struct bench *bench = *state;
    char text[8192] = HEADER;
    struct json_object *before, *after;

    add_process(text, sizeof(text), 41);
    for (int i = 0; i < 5; i++)
        add_usage(text, sizeof(text), i, 41);
    strcat(text, "{\"type\":\"event\",\"ts\":\"T\",\"t\":50,\"event\":\"mark\"}\n");
    for (int i = 5; i < 9; i++)
        add_usage(text, sizeof(text), i, 41);
    put(bench, "s.jsonl", text);
    before = fixture_lines(bench->dir, "s.jsonl");
    assert_int_equal(compact(bench, "s.jsonl", 20, 8), 0);
    after = fixture_lines(bench->dir, "s.jsonl");
    assert_int_equal(fixture_count(before, "usage"), 9);
    assert_int_equal(fixture_count(after, "usage"), 5); /* the ninth had no neighbour */
    assert_int_equal(fixture_count(after, "header"), 1);
    assert_int_equal(fixture_count(after, "event"), 1);
    assert_int_equal(fixture_count(after, "process"), 1);
    assert_string_equal(pfr_line_type(json_object_array_get_idx(after, 0)), "header");
    for (int i = 0; i < 2; i++) {
        const char *path = i ? "measurements.ps_cpu_seconds_total" : "num_samples";

        assert_true(sum_of(before, path, false) == sum_of(after, path, false));
    }
    assert_true(sum_of(after, "measurements.ps_rss_total", true) == 104);
    assert_true(sum_of(before, "processes.0.4", false) == sum_of(after, "processes.0.4", false));
    assert_false(exists(bench, ".s.jsonl.tmp"));
    json_object_put(before);
    json_object_put(after);
}

/* However many they are, and whoever wrote them: the time is not the square of them. */
static void many_rows_merge_in_time(void **state)
{
    enum { ROWS = 100000 };
    PFR_AUTO_JSON *header = parse(HEADER), *a = parse("{\"from\":0,\"to\":1}");
    PFR_AUTO_JSON *b = parse("{\"from\":1,\"to\":2}");

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct json_object *rows = json_object_new_array();

        for (int i = 0; i < ROWS; i++) {
            char row[64];

            snprintf(row, sizeof(row), "[%d,7,\"w\",%d]", i + k * ROWS / 2, i);
            json_object_array_add(rows, parse(row));
        }
        pfr_json_add(k ? b : a, "processes", rows);
    }
    alarm(60); /* row by row it takes many minutes */
    pfr_usage_merge(a, b, header, 3 * ROWS);
    alarm(0);
    assert_int_equal(json_object_array_length(fixture_json(a, "processes")), ROWS + ROWS / 2);
}

/* Command lines beyond their room are left out, windows are not. */
static void commands_have_a_room(void **state)
{
    struct pfr_compaction how = { .span = 20, .most_processes = 8, .command_room = 100 };
    struct bench *bench = *state;
    char text[8192] = HEADER;
    struct json_object *lines;
    struct pfr_seal seal;
    PFR_AUTO_FD fd = pfr_file_append(bench->dirfd, "s.jsonl");

    for (int pid = 1; pid <= 6; pid++) {
        add_process(text, sizeof(text), pid);
        add_usage(text, sizeof(text), 3 * pid, pid);
    }
    assert_int_equal(pfr_seal_begin(&seal, fd), 0);
    assert_int_equal(pfr_series_compact(&how, text, strlen(text), fd, &seal), 0);
    lines = fixture_lines(bench->dir, "s.jsonl");
    assert_true(fixture_count(lines, "process") > 0 && fixture_count(lines, "process") < 4);
    assert_int_equal(fixture_count(lines, "usage"), 6);
    json_object_put(lines);
}

/* That is what keeps the file of a step with many short processes small. */
static void unmentioned_commands_are_dropped(void **state)
{
    struct bench *bench = *state;
    char text[8192] = HEADER;
    struct json_object *lines;

    for (int pid = 1; pid <= 6; pid++)
        add_process(text, sizeof(text), pid);
    add_usage(text, sizeof(text), 0, 2);
    add_usage(text, sizeof(text), 1, 2);
    add_usage(text, sizeof(text), 2, 5);
    put(bench, "s.jsonl", text);
    assert_int_equal(compact(bench, "s.jsonl", 20, 8), 0);
    lines = fixture_lines(bench->dir, "s.jsonl");
    assert_int_equal(fixture_count(lines, "process"), 2);
    /* each before the first window that speaks of it */
    assert_json_int(lines, "1.pid", 2);
    assert_json_text(lines, "2.type", "usage");
    assert_json_int(lines, "3.pid", 5);
    assert_json_text(lines, "4.type", "usage");
    json_object_put(lines);
}

/* A file may hold two runs (the same step again): their windows are not one. */
static void runs_are_not_merged_with_each_other(void **state)
{
    struct bench *bench = *state;
    char text[8192] = HEADER;
    struct json_object *lines;

    add_usage(text, sizeof(text), 0, 1);
    add_usage(text, sizeof(text), 1, 1);
    add_usage(text, sizeof(text), 2, 1);
    strcat(text, "{\"type\":\"final\",\"ts\":\"T\",\"state\":\"COMPLETE\"}\n");
    /* the second run measured something else */
    strcat(text, "{\"type\":\"header\",\"ts\":\"U\",\"process_columns\":[\"pid\",\"start_ticks\","
                 "\"comm\",\"ps_cpu_seconds\"],\"command_columns\":[]}\n");
    for (int i = 0; i < 2; i++)
        strcat(text, "{\"type\":\"usage\",\"ts\":\"U\",\"from\":0,\"to\":1,\"num_samples\":1,"
                     "\"measurements\":{\"ps_cpu_seconds_total\":0.5},\"processes\":"
                     "[[1,7,\"w\",0.25]]}\n");
    put(bench, "s.jsonl", text);
    assert_int_equal(compact(bench, "s.jsonl", 20, 8), 0);
    lines = fixture_lines(bench->dir, "s.jsonl");
    assert_int_equal(fixture_count(lines, "usage"), 3);
    assert_json_text(lines, "1.type", "usage");
    assert_json_text(lines, "2.type", "usage"); /* the odd one, before its final */
    assert_json_number(lines, "2.measurements.ps_cpu_seconds_total", "2.5");
    assert_json_text(lines, "3.type", "final");
    assert_json_text(lines, "4.type", "header");
    assert_json_number(lines, "5.measurements.ps_cpu_seconds_total", "1");
    assert_json_number(lines, "5.processes.0.3", "0.5"); /* by its own columns */
    json_object_put(lines);
}

/* A torn or malformed line does not stop it, and stays out of the new file. */
static void compaction_reads_on(void **state)
{
    struct bench *bench = *state;
    char text[8192] = HEADER;
    struct json_object *lines;

    add_usage(text, sizeof(text), 0, 1);
    strcat(text, "garbage\n{\"type\":\"usage\"}\n");
    add_usage(text, sizeof(text), 1, 1);
    strcat(text, "{\"type\":\"from the future\",\"x\":[1,2]}\n{\"type\":\"usa");
    put(bench, "s.jsonl", text);
    assert_int_equal(compact(bench, "s.jsonl", 20, 8), 0);
    lines = fixture_lines(bench->dir, "s.jsonl"); /* asserts: none malformed, none torn */
    assert_int_equal(fixture_count(lines, "from the future"), 1);
    assert_true(sum_of(lines, "measurements.ps_cpu_seconds_total", false) == 2.0);
    json_object_put(lines);
}

/* Whatever stands in the file, the sampler that compacts it must live. */
static void strange_shapes_do_no_harm(void **state)
{
    static const char *const odd[] = {
        "{\"type\":\"usage\"}",
        "{\"type\":\"usage\",\"measurements\":[],\"processes\":{},\"rows\":7}",
        "{\"type\":\"usage\",\"measurements\":{\"ps_rss_total\":\"x\",\"ps_stat\":5},"
        "\"processes\":[1,null,\"x\",[],[41],[41,7,\"w\"],[41,7,\"w\",{},[],1,1,5]],"
        "\"rows\":{\"command\":[[],[\"a\"],{}],\"task\":7}}",
        "{\"type\":\"usage\",\"from\":\"a\",\"to\":[],\"num_samples\":{},\"merged\":\"x\"}",
        "{\"type\":\"header\",\"process_columns\":[null,1,{}],\"command_columns\":{}}",
        "{\"type\":\"process\",\"pid\":\"x\"}",
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < PFR_COUNT(odd); i++) {
        for (size_t k = 0; k < PFR_COUNT(odd); k++) {
            char text[8192] = HEADER;

            add_process(text, sizeof(text), 41);
            add_usage(text, sizeof(text), 0, 41);
            snprintf(text + strlen(text), 2048, "%s\n%s\n", odd[i], odd[k]);
            add_usage(text, sizeof(text), 1, 41);
            put(bench, "s.jsonl", text);
            assert_int_equal(compact(bench, "s.jsonl", 20, 2), 0);
            json_object_put(fixture_lines(bench->dir, "s.jsonl"));
        }
    }
}

static void failed_compaction_leaves_the_old(void **state)
{
    struct bench *bench = *state;
    char text[8192] = HEADER, after[8192];
    struct rlimit limit, small;
    int r;

    for (int i = 0; i < 8; i++)
        add_usage(text, sizeof(text), i, 1);
    put(bench, "s.jsonl", text);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 600;
    setrlimit(RLIMIT_FSIZE, &small);
    r = compact(bench, "s.jsonl", 20, 8);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_true(r < 0);
    assert_int_equal(pfr_file_read_text(bench->dirfd, "s.jsonl", after, sizeof(after)),
                     strlen(text));
    assert_string_equal(after, text);
    assert_false(exists(bench, ".s.jsonl.tmp"));
}

/* A name that happens to be digits is a name. */
static void names_are_not_numbers(void **state)
{
    struct pfr_info info = { .job = "12", .step = "0", .node = "n1",
                             .facts = { "job_name=007", "user=1000", "cluster=1", "job_id=12" },
                             .fact_count = 4 };
    PFR_AUTO_JSON *object = pfr_info_json(&info);
    struct json_object *given = pfr_json_get(object, "allocation");

    (void)state;
    assert_string_equal(pfr_json_line(pfr_json_get(given, "job_name")), "\"007\"");
    assert_string_equal(pfr_json_line(pfr_json_get(given, "user")), "\"1000\"");
    assert_string_equal(pfr_json_line(pfr_json_get(given, "cluster")), "\"1\"");
    assert_string_equal(pfr_json_line(pfr_json_get(given, "job_id")), "12");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_not_numbers),
        cmocka_unit_test(values_by_unit),
        cmocka_unit_test(giant_percentages_do_not_overflow),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(locale_changes_no_number),
        CASE(replaced_whole),
        CASE(failed_replacement_leaves_the_old),
        CASE(leftovers_are_cleared),
        CASE(links_are_not_followed),
        CASE(only_our_own_is_appended_to),
        CASE(fifos_do_not_hold_us),
        CASE(appending),
        CASE(directories_are_made),
        CASE(directories_that_are_not_are_refused),
        CASE(long_names_are_refused),
        CASE(torn_line_loses_only_itself),
        CASE(giant_lines_are_not_kept),
        CASE(malformed_lines_are_counted),
        CASE(deep_nesting_is_malformed_not_fatal),
        CASE(unknown_types_and_keys_pass),
        CASE(summaries_load),
        cmocka_unit_test(schemas),
        cmocka_unit_test(merging_loses_no_peak_counter_or_tally),
        cmocka_unit_test(merging_keeps_the_largest),
        CASE(compaction_halves_the_windows),
        cmocka_unit_test(many_rows_merge_in_time),
        CASE(commands_have_a_room),
        CASE(unmentioned_commands_are_dropped),
        CASE(runs_are_not_merged_with_each_other),
        CASE(compaction_reads_on),
        CASE(strange_shapes_do_no_harm),
        CASE(failed_compaction_leaves_the_old),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
