/*
 * The built plugin under a host that pretends to be slurmstepd: nothing which goes
 * wrong with the sampler is felt by the step, and what is known of it is kept.
 */
#include "tests/unit/walk.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/record/reader.h"

/* ---- a sampler that fails ---- */

static void sampler_is_missing(void **state)
{
    (void)state;
    use_sampler("/no/such/sampler");
    host.tasks = 3;
    walk("");
    assert_string_equal(host.log, "profile-res: cannot run /no/such/sampler: No such file or "
                                  "directory; the step is not measured\n");
}

static void sampler_cannot_be_executed(void **state)
{
    (void)state;
    put(script, "\177ELF, but not really", 0755);
    use_sampler(script);
    host.tasks = 3;
    walk("");
    assert_non_null(strstr(host.log, "has ended early"));
    assert_null(strstr(strstr(host.log, "has ended early") + 1, "has ended early"));
}

static void sampler_exits_at_once(void **state)
{
    (void)state;
    use_fake("exit");
    host.tasks = 3;
    walk("");
    assert_non_null(strstr(host.log, "the sampler of step 4711.0 has ended early"));
    assert_null(strstr(strstr(host.log, "has ended early") + 1, "has ended early"));
}

static void sampler_never_answers(void **state)
{
    (void)state;
    use_fake("mute");
    host.tasks = 8;
    host.step = 0xfffffffb;
    walk("");
    /* waited for once, not for every task */
    assert_in_range(host.slowest_ms, 0, 500);
    await_line("closed\n");
    assert_non_null(strstr(host.quiet_log, "takes too long"));
}

static void sampler_never_reads(void **state)
{
    (void)state;
    use_fake("deaf");
    host.tasks = 8;
    walk("");
    await_line("pid ");
}

static void sampler_is_stopped(void **state)
{
    const char *pid;

    (void)state;
    use_fake("record");
    host.tasks = 4;
    begin("");
    await_line("pid ");
    pid = strstr(recorded(), "\npid ");
    assert_int_equal(kill((pid_t)atoi(pid + 5), SIGSTOP), 0);
    fork_tasks();
    end_tasks();
    hook("exit");
    assert_in_range(host.slowest_ms, 0, BOUND_MS);
}

/* On a busy machine it may take a while to die of it. Its parent may never look. */
static void kill_for_good(pid_t pid)
{
    char path[64], text[512];

    assert_int_equal(kill(pid, SIGKILL), 0);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 1000; i++) {
        if (pfr_file_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0 || strstr(text, ") Z"))
            return;
        poll(NULL, 0, 10);
    }
    fail_msg("process %d does not die", (int)pid);
}

static void sampler_is_killed(void **state)
{
    const char *pid;

    (void)state;
    use_fake("record");
    host.tasks = 4;
    begin("");
    fork_tasks();
    await_line("msg go\n");
    pid = strstr(recorded(), "\npid ");
    kill_for_good((pid_t)atoi(pid + 5));
    end_tasks();
    hook("exit");
    assert_in_range(host.slowest_ms, 0, BOUND_MS);
    assert_non_null(strstr(host.log, "has ended early"));
}

static void sampler_refuses(void **state)
{
    (void)state;
    use_fake("refuse");
    host.tasks = 2;
    walk("");
    assert_string_equal(host.log, "profile-res: nothing can be measured here; the step is not "
                                  "measured\n");
}

static void sampler_talks_without_end(void **state)
{
    (void)state;
    use_fake("flood");
    host.tasks = 2;
    host.slow_log = true; /* or we might read faster than it can write */
    walk("");
}

/* What srun waits for the files, as it tells profres. */
static int wait_of_srun(void)
{
    const char *wait;

    host_unload();
    use_profres("exit 0");
    walk_srun("");
    wait = strstr(recorded(), "arg --wait\narg ");
    assert_non_null(wait);
    return atoi(wait + strlen("arg --wait\narg "));
}

/* The promise: within 100 ms of the step without us, whatever kind of step it is. */
static void stuck_sampler(const char *mode, uint32_t step, const char *option)
{
    use_fake(mode);
    host.tasks = 8;
    host.step = step;
    begin(option);
    await_line("pid ");
    host_stop_clock(false);
    fork_tasks();
    end_tasks();
    hook("exit");
    host_start_clock();
    assert_in_range(host.waited_ms, 1, 90);
    if (step != 0xfffffffb && !*option)
        assert_in_range(host.waited_ms + wait_of_srun(), 1, 90);
}

static void stuck_sampler_holds_nobody(void **state)
{
    static const char *const modes[] = { "mute", "deaf", "stopped" };
    static const struct { uint32_t step; const char *option; } steps[] = {
        { 0, "" }, { 0, "quiet" }, { 0xfffffffb, "" }, { 0xfffffffb, "quiet" },
    };

    for (int i = 0; i < 12; i++) {
        if (i)
            set_up(state);
        stuck_sampler(modes[i % 3], steps[i / 3].step, steps[i / 3].option);
        if (i < 11)
            tear_down(state);
    }
}

/* Stopped in the middle: what was not used at the start is there for the end, not more. */
static void sampler_that_gets_stuck(void **state)
{
    const char *pid;

    (void)state;
    use_fake("record");
    host.tasks = 8;
    begin("");
    fork_tasks();
    await_line("msg go\n");
    pid = strstr(recorded(), "\npid ");
    assert_int_equal(kill((pid_t)atoi(pid + 5), SIGSTOP), 0);
    host_stop_clock(false);
    end_tasks();
    hook("exit");
    host_start_clock();
    await_line("closed\n");
    assert_in_range(host.waited_ms + wait_of_srun(), 30, 90);
}

/* One that takes all the time it is given each time: for all tasks together no more. */
static void slow_sampler_has_no_more(void **state)
{
    (void)state;
    use_fake("record");
    host.tasks = 8;
    host_stop_clock(true);
    walk("");
    host_start_clock();
    await_line("closed\n");
    assert_string_equal(host.log, "");
    assert_in_range(host.waited_ms, 0, 65);
}

static void what_is_no_sampler_ends(void **state)
{
    (void)state;
    use_fake("record");
    walk("");
    await_line("alarm set\n");
    await_line("closed\n");
}

/* A task that could not be started: slurmstepd skips the rest of the hooks. */
static void step_fails_to_launch(void **state)
{
    (void)state;
    use_fake("record");
    begin("");
    hook("user_init");
    hook("exit");
    await_line("closed\n");
}

/* ---- SlurmdParameters=contain_spank ---- */

static int count_open(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void contained_hooks_are_heard(void **state)
{
    char line[400];
    int before;

    (void)state;
    use_fake("record");
    host.contain = true;
    host.tasks = 3;
    before = count_open();
    walk("");
    await_line("closed\n"); /* by the last hook, which is slurmstepd's own */
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof(line), "msg start %d %d ", (int)host.pids[i], i);
        await_line(line);
        snprintf(line, sizeof(line), "msg exit %d %d 0 ", (int)host.pids[i], SIGTERM);
        await_line(line);
    }
    await_line("msg go\n");
    await_line("msg totals ");
    await_line("msg end\n");
    assert_int_equal(count_open(), before);
    assert_string_equal(host.log, "");
}

/* Given up by a child, it must be closed by slurmstepd, and nothing else there. */
static void contained_hooks_give_up(void **state)
{
    int before;

    (void)state;
    use_fake("refuse");
    host.contain = true;
    host.tasks = 2;
    before = count_open();
    walk("");
    await_line("closed\n");
    assert_int_equal(count_open(), before);
}

/* ---- the real sampler ---- */

/* A file of the only node in the step's directory, once it is in this state. */
static struct json_object *await_summary(const char *suffix, const char *wanted)
{
    struct json_object *summary = NULL;
    char path[512], name[300], node[256];

    assert_int_equal(gethostname(node, sizeof(node)), 0);
    node[strcspn(node, ".")] = '\0';
    snprintf(name, sizeof(name), "%s%s", node, suffix);
    snprintf(path, sizeof(path), "%s/slurm-4711.profres/0", out);
    for (int i = 0; i < 500; i++) {
        PFR_AUTO_FD files = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        summary = files < 0 ? NULL : pfr_summary_load(files, name);
        if (summary &&
            strcmp(json_object_get_string(fixture_json(summary, "state")), wanted) == 0)
            return summary;
        json_object_put(summary);
        poll(NULL, 0, 10);
    }
    fail_msg("no %s of state %s in %s; log:\n%s", name, wanted, path, host.log);
    return NULL;
}

static void use_real_sampler(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/profres-sampler", getenv("top_builddir"));
    use_sampler(path);
}

static void assert_tasks_ended(struct json_object *summary)
{
    assert_json_int(summary, "tasks.0.pid", host.pids[0]);
    assert_json_int(summary, "tasks.0.signal", SIGTERM);
    assert_json_int(summary, "tasks.1.rank", 1);
    assert_json_int(summary, "tasks.1.signal", SIGTERM);
    assert_json_int(summary, "info.allocation.step_mem_bytes", 1000 * MIB);
}

static void real_sampler(bool contain, const char *option)
{
    PFR_AUTO_JSON *summary = NULL;

    use_real_sampler();
    host.contain = contain;
    host.tasks = 2;
    walk(option);
    summary = await_summary(".json", "COMPLETE");
    assert_tasks_ended(summary);
}

static void real_sampler_writes_its_files(void **state)
{
    (void)state;
    real_sampler(false, "");
}

static void real_sampler_under_contain_spank(void **state)
{
    (void)state;
    real_sampler(true, "interval=50ms");
}

/* The real sampler, after a line of sh. */
static void use_wrapped_sampler(const char *line)
{
    char text[2048];

    snprintf(text, sizeof(text), "#!/bin/sh\n%s\nexec '%s/profres-sampler' \"$@\"\n", line,
             getenv("top_builddir"));
    put(script, text, 0755);
    use_sampler(script);
}

/* It comes up when all is over: how the tasks ended is written down all the same. */
static void real_sampler_is_late(void **state)
{
    PFR_AUTO_JSON *summary = NULL;
    char line[400], go[300];

    (void)state;
    snprintf(go, sizeof(go), "%s/go", case_dir);
    snprintf(line, sizeof(line), "until [ -e '%s' ]; do sleep 0.02; done", go);
    use_wrapped_sampler(line);
    host.tasks = 2;
    walk("");
    put(go, "", 0644);
    summary = await_summary(".lost.json", "LOST");
    assert_tasks_ended(summary);
}

/* It was killed: so does another one, which has not seen them either. */
static void real_sampler_is_lost(void **state)
{
    PFR_AUTO_JSON *live = NULL, *summary = NULL;
    char line[400];
    int pid;

    (void)state;
    snprintf(line, sizeof(line), "echo $$ >>'%s'", record);
    use_wrapped_sampler(line);
    host.tasks = 2;
    begin("");
    fork_tasks();
    live = await_summary(".json", "LIVE");
    pid = atoi(recorded());
    assert_true(pid > 1);
    kill_for_good(pid);
    end_tasks();
    hook("exit");
    assert_non_null(strstr(host.log, "has ended early"));
    summary = await_summary(".lost.json", "LOST");
    assert_tasks_ended(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WALK_CASE(sampler_is_missing),
        WALK_CASE(sampler_cannot_be_executed),
        WALK_CASE(sampler_exits_at_once),
        WALK_CASE(sampler_never_answers),
        WALK_CASE(sampler_never_reads),
        WALK_CASE(sampler_is_stopped),
        WALK_CASE(sampler_is_killed),
        WALK_CASE(sampler_refuses),
        WALK_CASE(sampler_talks_without_end),
        WALK_CASE(stuck_sampler_holds_nobody),
        WALK_CASE(sampler_that_gets_stuck),
        WALK_CASE(slow_sampler_has_no_more),
        WALK_CASE(what_is_no_sampler_ends),
        WALK_CASE(step_fails_to_launch),
        WALK_CASE(contained_hooks_are_heard),
        WALK_CASE(contained_hooks_give_up),
        WALK_CASE(real_sampler_writes_its_files),
        WALK_CASE(real_sampler_under_contain_spank),
        WALK_CASE(real_sampler_is_late),
        WALK_CASE(real_sampler_is_lost),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
