/* The base room: numbers, durations, files, stamps, the lifeline, the env. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/control.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/base/safe.h"

/* ---- parse ---- */

static void whole_numbers_only(void **state)
{
    static const struct { const char *text; bool good; int64_t value; } cases[] = {
        { "0", true, 0 },
        { "007", true, 7 },
        { "9223372036854775807", true, INT64_MAX },
        { "9223372036854775808", false, 0 },
        { "18446744073709551620", false, 0 }, /* 4, were it to wrap */
        { "", false, 0 }, { "-1", false, 0 }, { "+1", false, 0 }, { " 1", false, 0 },
        { "1 ", false, 0 }, { "1x", false, 0 }, { "0x1", false, 0 }, { "1e3", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        int64_t value = -5;

        if (pfr_parse_int(cases[i].text, &value) != cases[i].good ||
            value != (cases[i].good ? cases[i].value : -5))
            fail_msg("'%s'", cases[i].text);
    }
}

static void digits_leave_the_rest(void **state)
{
    const char *text = "12kB", *start = text;
    int64_t value = 0;

    (void)state;
    assert_true(pfr_parse_digits(&text, &value));
    assert_int_equal(value, 12);
    assert_ptr_equal(text, start + 2);
    assert_false(pfr_parse_digits(&text, &value));
    assert_ptr_equal(text, start + 2);
    assert_int_equal(value, 12);
}

static void durations(void **state)
{
    static const struct { const char *text; int64_t ns; } cases[] = {
        { "2", 2 * PFR_NS_PER_S }, { "10s", 10 * PFR_NS_PER_S }, { "0.25", 250 * MS },
        { "500ms", 500 * MS }, { "0.5ms", MS / 2 }, { "5m", 300 * PFR_NS_PER_S },
        { "1.5h", 5400 * PFR_NS_PER_S }, { "0.000000001", 1 },
        { "1.0000000001", PFR_NS_PER_S }, /* past nine places there is nothing to keep */
        { "0", 0 }, { "0s", 0 }, { "", 0 }, { "s", 0 }, { "-1", 0 }, { "1.", 0 }, { ".5", 0 },
        { "1,5", 0 }, { "1d", 0 }, { "1 s", 0 }, { "1ss", 0 }, { "inf", 0 }, { "nan", 0 },
        { "1e3", 0 }, { "99999999999999999999", 0 }, { "2000000000h", 0 },
        { "2562047h", INT64_C(2562047) * 3600 * PFR_NS_PER_S }, /* 292 years */
        { "2562048h", 0 }, { "5124096h", 0 }, { "1000000000h", 0 },
    };

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        int64_t ns = -5;
        bool good = pfr_parse_duration(cases[i].text, &ns);

        if (good != (cases[i].ns > 0) || ns != (good ? cases[i].ns : -5))
            fail_msg("'%s'", cases[i].text);
    }
}

static void muldiv_saturates(void **state)
{
    (void)state;
    assert_int_equal(pfr_muldiv(7, 3, 2), 10);
    assert_int_equal(pfr_muldiv(INT64_MAX, 1000, 1000), INT64_MAX);
    assert_int_equal(pfr_muldiv(INT64_MAX, PFR_NS_PER_S, 100), INT64_MAX);
    assert_int_equal(pfr_muldiv(-INT64_MAX, PFR_NS_PER_S, 100), INT64_MIN);
}

/* ---- files ---- */

static int temporary(char *path)
{
    int fd;

    snprintf(path, 64, "/tmp/profres-base-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    return fd;
}

static void text_is_read_whole_from_the_start(void **state)
{
    char path[64], buf[64];
    PFR_AUTO_FD fd = temporary(path);

    (void)state;
    assert_int_equal(pfr_fd_write_all(fd, "12\n34\n", 6), 0);
    for (int i = 0; i < 2; i++) { /* the offset of the fd plays no part */
        assert_int_equal(pfr_fd_pread_text(fd, buf, sizeof(buf)), 6);
        assert_string_equal(buf, "12\n34\n");
    }
    unlink(path);
}

static void empty_and_large_files_are_told_apart(void **state)
{
    char path[64], buf[8];
    PFR_AUTO_FD fd = temporary(path);

    (void)state;
    assert_int_equal(pfr_fd_pread_text(fd, buf, sizeof(buf)), -ENODATA);
    assert_string_equal(buf, "");
    assert_int_equal(pfr_fd_write_all(fd, "0123456", 7), 0);
    assert_int_equal(pfr_fd_pread_text(fd, buf, sizeof(buf)), -ENOBUFS);
    assert_string_equal(buf, "0123456");
    assert_int_equal(ftruncate(fd, 6), 0);
    assert_int_equal(pfr_fd_pread_text(fd, buf, sizeof(buf)), 6);
    unlink(path);
}

/* The shortcut for small files must not cut a file of many lines. */
static void long_files_are_read_to_the_end(void **state)
{
    char path[64];
    PFR_AUTO_FREE char *data = malloc(20000), *buf = malloc(20001);
    PFR_AUTO_FD fd = temporary(path);

    (void)state;
    memset(data, 'x', 20000);
    for (int i = 99; i < 20000; i += 100)
        data[i] = '\n';
    assert_int_equal(pfr_fd_write_all(fd, data, 20000), 0);
    assert_int_equal(pfr_fd_pread_text(fd, buf, 20001), -ENOBUFS);
    assert_int_equal(pfr_fd_pread_text(fd, buf, 20001), -ENOBUFS);
    assert_memory_equal(buf, data, 20000);
    assert_int_equal(ftruncate(fd, 19000), 0);
    assert_int_equal(pfr_fd_pread_text(fd, buf, 20001), 19000);
    unlink(path);
}

ssize_t __real_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t offset);
static size_t page; /* what one read gives at most; 0 = all */

ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset)
{
    return __real_pread(fd, buf, page && size > page ? page : size, offset);
}

ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t offset)
{
    return __wrap_pread(fd, buf, size, offset);
}

/* A read of the kernel's text files may end with a line and not with the file. */
static void short_reads_are_continued(void **state)
{
    char path[64], buf[8192];
    PFR_AUTO_FD fd = temporary(path);

    (void)state;
    for (int i = 0; i < 500; i++)
        assert_int_equal(pfr_fd_write_all(fd, "123456789\n", 10), 0);
    page = 4000;
    assert_int_equal(pfr_fd_pread_text(fd, buf, sizeof(buf)), 5000);
    page = 4005; /* in the middle of a line */
    assert_int_equal(pfr_fd_pread_text(fd, buf, sizeof(buf)), 5000);
    page = 0;
    unlink(path);
}

static void absence_is_no_error(void **state)
{
    char buf[8] = "old";

    (void)state;
    assert_int_equal(pfr_file_read_text(AT_FDCWD, "/nonexistent/file", buf, sizeof(buf)), 0);
    assert_string_equal(buf, "");
    assert_int_equal(pfr_file_read_text(AT_FDCWD, "/", buf, sizeof(buf)), -EISDIR);
    assert_true(pfr_errno_is_gone(ENOENT) && pfr_errno_is_gone(ESRCH) &&
                pfr_errno_is_gone(ENODEV));
    assert_false(pfr_errno_is_gone(EACCES) || pfr_errno_is_gone(EMFILE));
}

/* A vanished process under an open fd says ESRCH: gone, not an error. */
static void open_file_of_a_dead_process_is_gone(void **state)
{
    char path[64], buf[4096];
    pid_t pid = fork();
    PFR_AUTO_FD fd = -1;

    (void)state;
    if (pid == 0) {
        pause();
        _exit(0);
    }
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(pfr_fd_pread_text(fd, buf, sizeof(buf)) > 0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(pfr_fd_pread_text(fd, buf, sizeof(buf)), 0);
}

static void write_errors_are_returned(void **state)
{
    PFR_AUTO_FD fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    if (fd < 0)
        SKIP_BECAUSE("no /dev/full");
    assert_int_equal(pfr_fd_write_all(fd, "x", 1), -ENOSPC);
}

/* ---- clock ---- */

static void stamps_are_utc_with_milliseconds(void **state)
{
    char text[PFR_STAMP_SIZE];

    (void)state;
    setenv("TZ", "Asia/Tokyo", 1);
    tzset();
    pfr_clock_format(INT64_C(1794794858120999999), text);
    assert_string_equal(text, "2026-11-16T02:07:38.120Z"); /* R109 */
    pfr_clock_format(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    unsetenv("TZ");
    tzset();
}

/* ---- control ---- */

static void messages_keep_their_borders(void **state)
{
    char text[64];
    int fds[2];

    (void)state;
    assert_int_equal(pfr_control_pair(fds), 0);
    assert_int_equal(fcntl(fds[0], F_GETFD) & fcntl(fds[1], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(pfr_control_send(fds[0], "start %d %d", 42, 0), 0);
    assert_int_equal(pfr_control_send(fds[0], "done"), 0);
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), 1000), 10);
    assert_string_equal(text, "start 42 0");
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), 1000), 4);
    assert_string_equal(text, "done");
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), -1), -ETIMEDOUT);
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), 1), -ETIMEDOUT);
    close(fds[0]);
    close(fds[1]);
}

/* A descriptor comes with its message, once, and only to who asks. */
static void descriptors_come_along(void **state)
{
    char text[64], read_back[8] = "";
    int fds[2], passed = -2, pipe_fds[2];

    (void)state;
    assert_int_equal(pfr_control_pair(fds), 0);
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    assert_int_equal(pfr_control_send_fd(fds[0], pipe_fds[1], "file pipe"), 0);
    assert_int_equal(pfr_control_send(fds[0], "done"), 0);
    assert_int_equal(pfr_control_send_fd(fds[0], pipe_fds[1], "unasked"), 0);
    close(pipe_fds[1]);
    assert_int_equal(pfr_control_receive_fd(fds[1], text, sizeof(text), 1000, &passed), 9);
    assert_string_equal(text, "file pipe");
    assert_int_equal(fcntl(passed, F_GETFD), FD_CLOEXEC);
    assert_int_equal(write(passed, "hello", 5), 5);
    close(passed);
    assert_int_equal(pfr_control_receive_fd(fds[1], text, sizeof(text), 1000, &passed), 4);
    assert_int_equal(passed, -1);
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), 1000), 7);
    /* no copy is left: the pipe ends */
    assert_int_equal(read(pipe_fds[0], read_back, 5), 5);
    assert_int_equal(read(pipe_fds[0], read_back, 5), 0);
    close(pipe_fds[0]);
    close(fds[0]);
    assert_int_equal(pfr_control_send_fd(fds[1], fds[1], "x"), -EPIPE);
    close(fds[1]);
}

static void closing_is_the_end(void **state)
{
    char text[64];
    int fds[2];

    (void)state;
    assert_int_equal(pfr_control_pair(fds), 0);
    pfr_control_send(fds[0], "last");
    pfr_control_send(fds[1], "never read");
    close(fds[0]);
    /* what was sent before the end is still heard */
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), 1000), 4);
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), 1000), 0);
    assert_int_equal(pfr_control_send(fds[1], "x"), -EPIPE); /* and no SIGPIPE */
    close(fds[1]);
}

/* The one who starts tasks must never wait for the sampler, nor the other way. */
static void sending_never_blocks(void **state)
{
    int fds[2], r = 0, sent = -1;

    (void)state;
    assert_int_equal(pfr_control_pair(fds), 0);
    for (; sent < 1000000 && r == 0; sent++)
        r = pfr_control_send(fds[0], "exit %d 65280 0 12345678901234 -1 -1", sent);
    assert_int_equal(r, -EAGAIN);
    if (geteuid() == 0) /* start and end of 4096 tasks, for one that is not there yet */
        assert_in_range(sent, 2 * 4096, 1000000);
    close(fds[0]);
    close(fds[1]);
}

static void long_messages_are_cut_not_overrun(void **state)
{
    char text[8];
    int fds[2];

    (void)state;
    assert_int_equal(pfr_control_pair(fds), 0);
    assert_int_equal(pfr_control_send(fds[0], "0123456789"), 0);
    assert_int_equal(pfr_control_receive(fds[1], text, sizeof(text), 1000), 7);
    assert_string_equal(text, "0123456");
    close(fds[0]);
    close(fds[1]);
}

/* ---- log ---- */

static char heard[256];

static void hear(enum pfr_log_level level, const char *text, void *arg)
{
    (void)arg;
    errno = EIO;
    snprintf(heard, sizeof(heard), "%d %.200s", (int)level, text);
}

static void log_keeps_errno(void **state)
{
    (void)state;
    pfr_log_set(hear, NULL);
    errno = ENOENT;
    pfr_warning("no %s", "luck");
    assert_int_equal(errno, ENOENT);
    assert_string_equal(heard, "1 no luck");
    pfr_log_set(NULL, NULL);
    pfr_error("silent");
    assert_string_equal(heard, "1 no luck");
}

/* ---- text of others ---- */

static void harmful_text_is_escaped(void **state)
{
    static const struct { const char *text, *safe; } cases[] = {
        { "plain, \xc3\xa4\xf0\x9f\x90\xa2", "plain, \xc3\xa4\xf0\x9f\x90\xa2" },
        { "\x1b[31m\x7f\a", "\\x1b[31m\\x7f\\x07" },
        { "a\nb\tc\rd\\", "a\\nb\\tc\\rd\\\\" },
        { "\xc2\x9b" "2J", "\\u009b2J" },                 /* C1: CSI */
        { "\xe2\x80\xae" "exe", "\\u202eexe" },           /* right to left */
        { "\xe2\x81\xa6\xe2\x80\x8b", "\\u2066\\u200b" }, /* isolate, zero width */
        { "\xf3\xa0\x81\x81", "\\ue0041" },               /* a tag */
        { "\xff\xc0\x80\xed\xa0\x80", "\\xff\\xc0\\x80\\xed\\xa0\\x80" },
        { "\xe2\x80", "\\xe2\\x80" },                    /* cut off */
    };
    char safe[64];

    (void)state;
    for (size_t i = 0; i < PFR_COUNT(cases); i++) {
        assert_string_equal(pfr_safe_text(cases[i].text, safe, sizeof(safe)), cases[i].safe);
        assert_int_equal(pfr_safe_is_plain(cases[i].text), i == 0);
        assert_true(pfr_safe_is_plain(safe));
    }
    assert_string_equal(pfr_safe_text("ab\x1b", safe, 6), "ab");
    assert_string_equal(pfr_safe_text("ab\x1b", safe, 7), "ab\\x1b");
}

/* What has been made safe is not changed when it is made safe again. */
static void messages_are_one_line(void **state)
{
    char once[64], twice[64];

    (void)state;
    pfr_safe_message("C:\\x\nerror: forged", once, sizeof(once));
    assert_string_equal(once, "C:\\x\\nerror: forged");
    assert_string_equal(pfr_safe_message(once, twice, sizeof(twice)), once);
    pfr_log_set(hear, NULL);
    pfr_error("cannot read %s", "a\nerror: \x1b[2J");
    assert_string_equal(heard, "0 cannot read a\\nerror: \\x1b[2J");
    pfr_log_set(NULL, NULL);
}

/* ---- env ---- */

long __real_sysconf(int name);
long __wrap_sysconf(int name);
static long tick_rate;

long __wrap_sysconf(int name)
{
    return name == _SC_CLK_TCK && tick_rate ? tick_rate : __real_sysconf(name);
}

/* Ticks of 0 or less would divide by nothing (R49); the guess is said (R48). */
static void tick_rate_is_guarded(void **state)
{
    struct pfr_env env;

    (void)state;
    pfr_log_set(hear, NULL);
    for (tick_rate = -1; tick_rate == -1; tick_rate = 250) {
        heard[0] = '\0';
        pfr_env_init(&env, "/nonexistent");
        assert_int_equal(env.clock_ticks, 100);
        assert_non_null(strstr(heard, "100 per second"));
        assert_int_equal(heard[0], '0' + PFR_LOG_INFO);
    }
    heard[0] = '\0';
    pfr_env_init(&env, "/nonexistent");
    assert_int_equal(env.clock_ticks, 250);
    assert_string_equal(heard, "");
    pfr_log_set(NULL, NULL);
    tick_rate = 0;
}

static void env_reads_the_roots_memory(void **state)
{
    struct fixture fixture;
    struct pfr_env env;

    (void)state;
    fixture_open(&fixture, "v2-slurm");
    pfr_env_init(&env, fixture.root);
    assert_int_equal(env.mem_total, 16384000 * KIB);
    fixture_remove(&fixture, "proc/meminfo");
    pfr_env_init(&env, fixture.root);
    assert_int_equal(env.mem_total, 0);
    fixture_close(&fixture);
}

static void modes(void **state)
{
    static const char *const wrong[] = { "", "0", "0400", "0700", "0666", "0642", "640 ", "rw",
                                         "06400", "0680" };
    unsigned mask = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(pfr_parse_mode(wrong[i], &mask));
    assert_int_equal(mask, 1);
    assert_true(pfr_parse_mode("0600", &mask) && mask == 077);
    assert_true(pfr_parse_mode("640", &mask) && mask == 027);
    assert_true(pfr_parse_mode("0660", &mask) && mask == 007);
    assert_true(pfr_parse_mode("0644", &mask) && mask == 022);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_only),
        cmocka_unit_test(digits_leave_the_rest),
        cmocka_unit_test(durations),
        cmocka_unit_test(muldiv_saturates),
        cmocka_unit_test(text_is_read_whole_from_the_start),
        cmocka_unit_test(empty_and_large_files_are_told_apart),
        cmocka_unit_test(long_files_are_read_to_the_end),
        cmocka_unit_test(short_reads_are_continued),
        cmocka_unit_test(absence_is_no_error),
        cmocka_unit_test(open_file_of_a_dead_process_is_gone),
        cmocka_unit_test(write_errors_are_returned),
        cmocka_unit_test(stamps_are_utc_with_milliseconds),
        cmocka_unit_test(messages_keep_their_borders),
        cmocka_unit_test(descriptors_come_along),
        cmocka_unit_test(closing_is_the_end),
        cmocka_unit_test(sending_never_blocks),
        cmocka_unit_test(long_messages_are_cut_not_overrun),
        cmocka_unit_test(log_keeps_errno),
        cmocka_unit_test(harmful_text_is_escaped),
        cmocka_unit_test(messages_are_one_line),
        cmocka_unit_test(tick_rate_is_guarded),
        cmocka_unit_test(modes),
        cmocka_unit_test(env_reads_the_roots_memory),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
