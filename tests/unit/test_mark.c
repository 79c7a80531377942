/*
 * Marks from inside a step: the socket, what is taken from it, and what a
 * session makes of it on the fixture trees, whose numbers are known.
 */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/mark.h"
#include "common/record/reader.h"
#include "tools/sampler/mark.h"

struct bench {
    struct fixture fixture;
    struct pfr_options options;
    struct pfr_session *session;
    struct json_object *summary, *lines;
    char step[512], socket[600];
};

static int open_bench(void **state)
{
    static struct bench bench;
    char error[512];

    memset(&bench, 0, sizeof(bench));
    bench.session = calloc(1, sizeof(*bench.session));
    fixture_open(&bench.fixture, "v2-slurm");
    snprintf(bench.step, sizeof(bench.step), "%s/0", bench.fixture.out);
    snprintf(bench.socket, sizeof(bench.socket), "%s/.n1.mark", bench.step);
    bench.options = (struct pfr_options){
        .root = bench.fixture.root, .job = "42", .step = "0", .node = "n1",
        .dir = bench.fixture.out, .interval = PFR_NS_PER_S, .window = 10 * PFR_NS_PER_S,
        .top = 4, .tree = 4990, .slurm = true,
    };
    if (!bench.session ||
        pfr_session_init(bench.session, &bench.options, error, sizeof(error)) < 0)
        return -1;
    fixture_set_clock(&bench.fixture, &bench.session->env);
    if (pfr_session_start_task(bench.session, 5001, 0, error, sizeof(error)) < 0)
        return -1;
    pfr_session_go(bench.session);
    pfr_session_publish(bench.session);
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    if (chdir("/") < 0) /* sending goes to where the socket is */
        return -1;
    pfr_session_release(bench->session);
    free(bench->session);
    json_object_put(bench->summary);
    json_object_put(bench->lines);
    fixture_close(&bench->fixture);
    return 0;
}

static void tick(struct bench *bench, const char *part)
{
    if (part)
        fixture_overlay(&bench->fixture, part);
    fixture_advance(&bench->fixture, PFR_NS_PER_S);
    pfr_session_tick(bench->session);
}

/* Sends, and lets the session take it; nobody waits for the answer. */
static void say_bytes(struct bench *bench, const char *text, size_t length)
{
    assert_int_equal(pfr_mark_send(bench->socket, text, length, 1), 0);
    pfr_marks_receive(bench->session);
}

#define say(bench, text) say_bytes(bench, text, sizeof(text))

static void finish(struct bench *bench)
{
    bench->summary = pfr_session_finish(bench->session);
    assert_non_null(bench->summary);
    bench->lines = fixture_lines(bench->step, "n1.jsonl");
}

/* ---- the socket ---- */

static void socket_is_the_users_alone(void **state)
{
    struct bench *bench = *state;
    struct stat st;

    assert_int_equal(lstat(bench->socket, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0600);
    finish(bench);
    assert_int_equal(lstat(bench->socket, &st), -1);
    assert_int_equal(errno, ENOENT);
}

static void left_socket_is_replaced(void **state)
{
    struct bench *bench = *state;
    PFR_AUTO_FD dir = open(bench->step, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PFR_AUTO_FD later = pfr_mark_bind(dir, ".n1.mark");
    struct stat st;

    assert_true(later >= 0);
    finish(bench); /* its own is gone already; the later one's is not its to remove */
    assert_int_equal(lstat(bench->socket, &st), 0);
    unlink(bench->socket);
}

static void no_socket_no_profiler(void **state)
{
    struct bench *bench = *state;
    char path[700];

    snprintf(path, sizeof(path), "%s/.other.mark", bench->step);
    assert_int_equal(pfr_mark_send(path, "end\0-", 6, 1), -ENOENT);
    snprintf(path, sizeof(path), "%s/n1.jsonl", bench->step);
    assert_int_equal(pfr_mark_send(path, "end\0-", 6, 1), -ECONNREFUSED);
    assert_int_equal(pfr_mark_send("/nowhere/at/all/.n1.mark", "end\0-", 6, 1), -ENOENT);
}

/* A directory deeper than an address is long. */
static void long_path(void **state)
{
    struct bench *bench = *state;
    char dir[900], path[950], text[PFR_MARK_SIZE + 1];
    struct pfr_mark_sender sender;
    PFR_AUTO_FD dirfd = -1, fd = -1;

    snprintf(dir, sizeof(dir), "%s/%0180d", bench->step, 0);
    assert_int_equal(mkdir(dir, 0755), 0);
    dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fd = pfr_mark_bind(dirfd, ".n.mark");
    assert_true(fd >= 0);
    snprintf(path, sizeof(path), "%s/.n.mark", dir);
    assert_int_equal(pfr_mark_send(path, "hello", 6, 1), 0);
    assert_int_equal(pfr_mark_receive(fd, text, &sender), 6);
    assert_string_equal(text, "hello");
    assert_int_equal(sender.uid, geteuid());
    assert_int_equal(pfr_mark_receive(fd, text, &sender), -EAGAIN);
    unlink(path);
    rmdir(dir);
}

/* Sends from a process of its own, which waits for the answer: 1 when it came. */
static int ask(struct bench *bench, const char *text, size_t length, uid_t uid)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + 5 * PFR_NS_PER_S;
    pid_t child = fork();
    int status;

    if (child == 0) {
        if (uid && (setgid(uid) < 0 || setuid(uid) < 0))
            _exit(9);
        _exit(pfr_mark_send(bench->socket, text, length, 300) & 7);
    }
    while (waitpid(child, &status, WNOHANG) == 0 && pfr_clock_ns(CLOCK_MONOTONIC) < end)
        pfr_marks_receive(bench->session);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void recorded_is_answered(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(ask(bench, "phase\0-\0a", 10, 0), 1);
    assert_int_equal(ask(bench, "nonsense\0-", 11, 0), 0);
    assert_int_equal(bench->session->marks.dropped, 1);
}

static void others_are_not_heard(void **state)
{
    struct bench *bench = *state;

    if (geteuid() != 0)
        SKIP_BECAUSE("only root can be somebody else");
    assert_int_equal(chmod(bench->fixture.base, 0755), 0);
    assert_int_equal(ask(bench, "phase\0-\0a", 10, 65534), -EACCES & 7);
    assert_int_equal(chmod(bench->socket, 0666), 0); /* and if it were open to all */
    assert_int_equal(ask(bench, "phase\0-\0a", 10, 65534), 0);
    assert_int_equal(bench->session->marks.dropped, 1);
    assert_int_equal(bench->session->phases.active_count, 0);
}

/* A descriptor that comes along is not taken, and the mark is. */
static void passed_descriptor_is_dropped(void **state)
{
    struct bench *bench = *state;
    union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } extra = { 0 };
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = ".n1.mark" };
    struct iovec part = { .iov_base = (char[]){ "phase\0-\0a" }, .iov_len = 10 };
    struct msghdr message = { .msg_name = &address, .msg_namelen = sizeof(address),
                              .msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra,
                              .msg_controllen = sizeof(extra) };
    PFR_AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    PFR_AUTO_FD lowest = -1;
    int passed[2], before;

    assert_int_equal(chdir(bench->step), 0);
    assert_int_equal(pipe2(passed, O_CLOEXEC), 0);
    CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
    CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
    CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &passed[0], sizeof(int));
    assert_int_equal(sendmsg(fd, &message, 0), 10);
    before = fcntl(0, F_DUPFD_CLOEXEC, 0);
    close(before);
    pfr_marks_receive(bench->session);
    lowest = fcntl(0, F_DUPFD_CLOEXEC, 0);
    assert_int_equal(lowest, before);
    assert_int_equal(bench->session->phases.active_count, 1);
    close(passed[0]);
    close(passed[1]);
}

/* ---- phases ---- */

/* What the phases used is what the run used: no more, no less. */
static void phase_has_its_own_growth(void **state)
{
    struct bench *bench = *state;
    double run, first, second;

    say(bench, "phase\0" "0\0" "load data");
    tick(bench, "tick1");
    say(bench, "phase\0" "0\0" "compute");
    tick(bench, "tick2");
    say(bench, "end\0" "0");
    tick(bench, NULL);
    finish(bench);
    assert_json_text(bench->summary, "phases.0.name", "load data");
    assert_json_int(bench->summary, "phases.0.rank", 0);
    assert_json_number(bench->summary, "phases.0.from", "0");
    assert_json_number(bench->summary, "phases.0.to", "1");
    assert_json_number(bench->summary, "phases.1.from", "1");
    assert_json_number(bench->summary, "phases.1.seconds", "1");
    assert_json_absent(bench->summary, "phases.2");
    assert_json_absent(bench->summary, "phases.1.unended");
    assert_json_absent(bench->summary, "phases_dropped");
#define CPU "measurements.cgroup_cpu_seconds"
    first = json_object_get_double(fixture_json(bench->summary, "phases.0." CPU));
    second = json_object_get_double(fixture_json(bench->summary, "phases.1." CPU));
    run = json_object_get_double(
        fixture_json(fixture_line(bench->lines, "usage", NULL), CPU));
    assert_true(first > 0 && second > 0);
    assert_true(run - first - second < 1e-6 && first + second - run < 1e-6);
    assert_true(first != second);
}

static void phase_has_the_largest_of_its_samples(void **state)
{
    struct bench *bench = *state;
    struct json_object *usage;
    int64_t of_run, of_first, of_second;

    say(bench, "phase\0-\0a");
    tick(bench, NULL);
    say(bench, "phase\0-\0b");
    tick(bench, "tick1");
    tick(bench, "tick2");
    finish(bench);
    usage = fixture_line(bench->lines, "usage", NULL);
#define PEAK "measurements.cgroup_mem_sampled_peak"
    of_run = json_object_get_int64(fixture_json(usage, PEAK));
    of_first = json_object_get_int64(fixture_json(bench->summary, "phases.0." PEAK));
    of_second = json_object_get_int64(fixture_json(bench->summary, "phases.1." PEAK));
    assert_true(of_first > 0 && of_first < of_second);
    assert_int_equal(of_second, of_run);
    /* the kernel's peak rose in the second alone: there it is the phase's own */
    assert_json_absent(bench->summary, "phases.0.measurements.cgroup_mem_peak");
    assert_non_null(fixture_json(bench->summary, "phases.1.measurements.cgroup_mem_peak"));
    assert_json_absent(bench->summary, "phases.0.rank");
}

static void count_peak(int fd, const char *text)
{
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* Counted anew where a phase begins: what was before it is not its own. */
static void phase_has_a_peak_of_its_own(void **state)
{
    struct bench *bench = *state;
    struct pfr_cgroup *cgroup = &bench->session->cgroup;
    int fd = memfd_create("memory.peak", MFD_CLOEXEC);

    /* as if the plugin had handed it over */
    cgroup->peaks[0].place = &pfr_cgplaces[0];
    while (cgroup->peaks[0].place->id != PFR_CGROUP_MEM_WINDOW_PEAK)
        cgroup->peaks[0].place++;
    assert_int_equal(pfr_peak_begin(&cgroup->peaks[0].peak, fcntl(fd, F_DUPFD_CLOEXEC, 0)), 1);
    cgroup->peak_count = 1;
    pfr_metric_set_add(&bench->session->selection.wanted, PFR_CGROUP_MEM_WINDOW_PEAK);
    count_peak(fd, "90000\n");
    say(bench, "phase\0" "0\0" "small");
    count_peak(fd, "20000\n");
    for (int i = 0; i < 15; i++) /* over the end of a window */
        tick(bench, NULL);
    count_peak(fd, "10000\n");
    say(bench, "phase\0" "0\0" "large");
    count_peak(fd, "60000\n");
    tick(bench, NULL);
    say(bench, "end\0" "0");
    count_peak(fd, "70000\n");
    tick(bench, NULL);
    finish(bench);
#define OWN ".measurements.cgroup_mem_window_peak"
    assert_json_int(bench->summary, "phases.0" OWN, 20000);
    assert_json_int(bench->summary, "phases.1" OWN, 60000);
    assert_json_int(bench->summary, "measurements.cgroup_mem_window_peak.max", 90000);
    close(fd);
}

static void phase_over_several_windows(void **state)
{
    struct bench *bench = *state;
    double sum = 0;

    tick(bench, NULL);
    say(bench, "phase\0-\0long");
    tick(bench, "tick1");
    for (int i = 0; i < 12; i++)
        tick(bench, NULL);
    tick(bench, "tick2");
    for (int i = 0; i < 12; i++)
        tick(bench, NULL);
    say(bench, "end\0-");
    finish(bench);
    assert_true(fixture_count(bench->lines, "usage") >= 3);
    for (size_t i = 0; i < json_object_array_length(bench->lines); i++) {
        struct json_object *line = json_object_array_get_idx(bench->lines, i);

        if (strcmp(json_object_get_string(fixture_json(line, "type")), "usage") == 0)
            sum += json_object_get_double(fixture_json(line, CPU));
    }
    assert_true(sum > 0);
    assert_true(json_object_get_double(fixture_json(bench->summary, "phases.0." CPU)) == sum);
    assert_json_number(bench->summary, "phases.0.seconds", "26");
}

static void what_is_open_ends_with_its_task(void **state)
{
    struct bench *bench = *state;
    struct pfr_task_end end = { .cpu = -1 };

    say(bench, "phase\0" "0\0mine");
    say(bench, "phase\0" "7\0others");
    tick(bench, "tick1");
    pfr_session_end_task(bench->session, 5001, &end);
    assert_int_equal(bench->session->phases.active[0].to != 0, true);
    assert_int_equal(bench->session->phases.active[1].to, 0);
    tick(bench, NULL);
    finish(bench);
    assert_json_text(bench->summary, "phases.0.name", "mine");
    assert_json_number(bench->summary, "phases.0.to", "1");
    assert_json_number(bench->summary, "phases.1.to", "2");
    assert_true(json_object_get_boolean(fixture_json(bench->summary, "phases.0.unended")));
    assert_true(json_object_get_boolean(fixture_json(bench->summary, "phases.1.unended")));
}

/* Each task has its own: one does not end another's. */
static void tasks_mark_side_by_side(void **state)
{
    struct bench *bench = *state;

    say(bench, "phase\0" "0\0a");
    tick(bench, NULL);
    say(bench, "phase\0" "1\0b");
    tick(bench, NULL);
    say(bench, "end\0" "0");
    tick(bench, NULL);
    say(bench, "end\0" "1");
    say(bench, "end\0" "1"); /* nothing is open: no harm */
    finish(bench);
    assert_json_number(bench->summary, "phases.0.to", "2");
    assert_json_number(bench->summary, "phases.1.from", "1");
    assert_json_number(bench->summary, "phases.1.to", "3");
    assert_json_absent(bench->summary, "phases.2");
}

static void open_phase_is_in_a_live_summary(void **state)
{
    struct bench *bench = *state;
    PFR_AUTO_FD dir = open(bench->step, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    say(bench, "phase\0-\0now");
    tick(bench, NULL);
    pfr_session_publish(bench->session);
    PFR_AUTO_JSON *live = pfr_summary_load(dir, "n1.json");
    assert_json_text(live, "phases.0.name", "now");
    assert_json_number(live, "phases.0.from", "0");
    assert_json_absent(live, "phases.0.to");
    assert_json_absent(live, "phases.0.measurements");
}

/* ---- lines of the series ---- */

static void lines_of_a_phase(void **state)
{
    struct bench *bench = *state;
    struct json_object *line;

    tick(bench, NULL);
    say(bench, "phase\0" "3\0a");
    tick(bench, "tick1");
    say(bench, "end\0" "3");
    tick(bench, NULL);
    finish(bench);
    line = fixture_line(bench->lines, "event", "phase_start");
    assert_json_number(line, "t", "1");
    assert_json_text(line, "name", "a");
    assert_json_int(line, "rank", 3);
    line = fixture_line(bench->lines, "event", "phase");
    assert_json_number(line, "t", "2");
    assert_json_number(line, "from", "1");
    assert_json_number(line, "to", "2");
    assert_json_number(line, "seconds", "1");
    assert_non_null(fixture_json(line, CPU));
}

static void lines_of_an_event(void **state)
{
    struct bench *bench = *state;
    struct json_object *line;
    uint64_t ticks = bench->session->cost.ticks;

    say(bench, "event\0-\0" "epoch=12\0loss=0.25\0id=007\0big=12345678901234567890\0"
               "text=a b\0empty=\0eq=a=b\0noise\0=x\0nan=nan\0exp=-1e-3");
    assert_int_equal(bench->session->cost.ticks, ticks);
    finish(bench);
    line = fixture_line(bench->lines, "event", "mark");
    assert_json_int(line, "data.epoch", 12);
    assert_json_number(line, "data.loss", "0.25");
    assert_json_text(line, "data.id", "007");
    assert_json_number(line, "data.big", "12345678901234567890");
    assert_json_text(line, "data.text", "a b");
    assert_json_text(line, "data.empty", "");
    assert_json_text(line, "data.eq", "a=b");
    assert_json_text(line, "data.nan", "nan");
    assert_json_number(line, "data.exp", "-1e-3");
    assert_json_absent(line, "data.noise");
    assert_json_absent(line, "rank");
    assert_int_equal(json_object_object_length(fixture_json(line, "data")), 9);
}

/* ---- what a hostile or a careless task may send ---- */

static void hostile_names(void **state)
{
    struct bench *bench = *state;
    char text[1100] = "phase\0-\0";

    say(bench, "phase\0-\0\x1b[31mred\n\x7f");
    say(bench, "phase\0-\0" "caf\xc3\xa9 \xff\xfe");
    memset(text + 8, 'x', 126);
    memcpy(text + 8 + 126, "\xc3\xa9\xc3\xa9", 4); /* cut in the middle of a character */
    say_bytes(bench, text, 8 + 130 + 1);
    finish(bench);
    assert_json_text(bench->summary, "phases.0.name", "?[31mred??");
    assert_json_text(bench->summary, "phases.1.name", "caf\xc3\xa9 ??");
    assert_int_equal(strlen(json_object_get_string(fixture_json(bench->summary,
                                                                "phases.2.name"))), 126);
}

static void malformed_messages(void **state)
{
    struct bench *bench = *state;
    static char huge[PFR_MARK_SIZE + 10];

    say_bytes(bench, "", 0);
    say_bytes(bench, "phase", 5);
    say_bytes(bench, "phase\0-", 7);
    say_bytes(bench, "phase\0-\0", 8);
    say_bytes(bench, "phase\0x\0a", 10);
    say_bytes(bench, "phase\0-1\0a", 11);
    say_bytes(bench, "phase\0" "99999999999\0a", 20);
    say_bytes(bench, "\0\0\0", 3);
    say_bytes(bench, "event", 6);
    memset(huge, 'a', sizeof(huge));
    memcpy(huge, "phase\0-\0", 8);
    say_bytes(bench, huge, sizeof(huge));
    assert_int_equal(bench->session->phases.active_count, 0);
    assert_int_equal(bench->session->marks.dropped, 10);
    finish(bench);
    assert_json_absent(bench->summary, "phases");
    assert_json_int(bench->summary, "sampler.dropped_marks", 10);
}

/* A loop that does nothing but mark: what it costs and what it writes has an end. */
static void flood_of_phases(void **state)
{
    struct bench *bench = *state;
    uint64_t ticks = bench->session->cost.ticks;

    for (int i = 0; i < 1000; i++)
        say(bench, "phase\0-\0x");
    assert_int_equal(bench->session->cost.ticks - ticks, 64);
    fixture_advance(&bench->fixture, PFR_NS_PER_S);
    for (int i = 0; i < 1000; i++)
        say(bench, "phase\0-\0x");
    assert_int_equal(bench->session->cost.ticks - ticks, 64 + 10);
    for (int i = 0; i < 600; i++) {
        fixture_advance(&bench->fixture, PFR_NS_PER_S / 10);
        say(bench, "phase\0-\0x");
        if (i % 10 == 0)
            pfr_session_tick(bench->session);
    }
    finish(bench);
    assert_int_equal(json_object_array_length(fixture_json(bench->summary, "phases")), 256);
    assert_json_int(bench->summary, "phases_dropped", 64 + 10 + 600 - 256);
    assert_true(bench->session->marks.bytes <= PFR_SERIES_PER_HOUR / 4 + 1000);
}

static void flood_of_events(void **state)
{
    struct bench *bench = *state;
    char text[2048] = "event\0-\0";

    memset(text + 8, 'x', 2000);
    memcpy(text + 8, "k=", 2);
    for (int i = 0; i < 1000; i++)
        say_bytes(bench, text, 2009);
    finish(bench);
    assert_true(bench->session->marks.bytes <= PFR_SERIES_PER_HOUR / 4 + 2200);
    assert_true(bench->session->series.seal.bytes < PFR_SERIES_PER_HOUR / 2);
    assert_in_range(bench->session->marks.dropped, 800, 1000); /* each once */
}

/* More marks than the loop takes at one go are taken at the next. */
static void messages_wait_their_turn(void **state)
{
    struct bench *bench = *state;
    int sent = 0;

    for (; sent < 8; sent++)
        if (pfr_mark_send(bench->socket, "event\0-\0k=v", 12, 1) < 0)
            break;
    assert_int_equal(sent, 8);
    pfr_marks_receive(bench->session);
    finish(bench);
    assert_int_equal(fixture_count(bench->lines, "event"), 1 + 8);
}

/* Nobody takes them: the one who sends is not held for long. */
static void full_queue_does_not_hold(void **state)
{
    struct bench *bench = *state;
    int64_t from = pfr_clock_ns(CLOCK_MONOTONIC);
    int r = 0;

    for (int i = 0; i < 100000 && r == 0; i++)
        r = pfr_mark_send(bench->socket, "event\0-\0k=v", 12, 1);
    assert_int_equal(r, -EAGAIN);
    assert_true(pfr_clock_ns(CLOCK_MONOTONIC) - from < 60 * PFR_NS_PER_S);
}

static void nothing_after_the_end(void **state)
{
    struct bench *bench = *state;

    finish(bench);
    assert_int_equal(pfr_mark_send(bench->socket, "event\0-\0k=v", 12, 1), -ENOENT);
    assert_int_equal(bench->session->marks.fd, -1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(socket_is_the_users_alone),
        CASE(left_socket_is_replaced),
        CASE(no_socket_no_profiler),
        CASE(long_path),
        CASE(recorded_is_answered),
        CASE(others_are_not_heard),
        CASE(passed_descriptor_is_dropped),
        CASE(phase_has_its_own_growth),
        CASE(phase_has_the_largest_of_its_samples),
        CASE(phase_has_a_peak_of_its_own),
        CASE(phase_over_several_windows),
        CASE(what_is_open_ends_with_its_task),
        CASE(tasks_mark_side_by_side),
        CASE(open_phase_is_in_a_live_summary),
        CASE(lines_of_a_phase),
        CASE(lines_of_an_event),
        CASE(hostile_names),
        CASE(malformed_messages),
        CASE(flood_of_phases),
        CASE(flood_of_events),
        CASE(messages_wait_their_turn),
        CASE(full_queue_does_not_hold),
        CASE(nothing_after_the_end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
