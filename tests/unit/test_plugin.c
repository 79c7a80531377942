/*
 * The built plugin under a host that pretends to be slurmstepd, srun and sbatch:
 * the order of the hooks, and what of the user's wishes arrives.
 */
#include "tests/unit/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void sampler_hears_of_everything(void **state)
{
    char line[400];

    (void)state;
    use_fake("record");
    host.tasks = 3;
    setenv("SECRET", "of slurmstepd", 1);
    walk("interval=250ms,window=20s,metrics=ps_rss,top=5,cmd=off");
    await_line("closed\n");
    await_line("arg --control=3\narg --slurm\narg --lenient\narg --job=4711\narg --step=0\n");
    await_line("arg --interval=250ms\narg --window=20000ms\narg --top=5\narg --metrics=ps_rss\n"
               "arg --no-cmd\n");
    assert_no_line("arg ./program");
    assert_no_line("msg command"); /* cmd=off: it is not even told */
    snprintf(line, sizeof(line), "arg --tree=%d\n", (int)getpid());
    await_line(line);
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof(line), "msg start %d %d ", (int)host.pids[i], i);
        await_line(line);
        snprintf(line, sizeof(line), "msg exit %d %d 0 ", (int)host.pids[i], SIGTERM);
        await_line(line);
    }
    snprintf(line, sizeof(line), "msg dir %s/slurm-4711.profres\n", out);
    await_line(line);
    await_line("msg go\nmsg exit ");
    await_line("msg end\n");
    assert_string_equal(host.log, "");
}

/* Beside the step: nothing of slurmstepd's may be held or known there. */
static void sampler_starts_clean(void **state)
{
    int pipe_fds[2];

    (void)state;
    use_fake("record");
    assert_int_equal(pipe(pipe_fds), 0); /* lint: cloexec: slurmstepd has such */
    setenv("SECRET", "of slurmstepd", 1);
    walk("");
    await_line("closed\n");
    assert_no_line("open ");
    assert_no_line("env ");
    await_line("cwd /\n");
    await_line("session own\n");
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

/* slurmstepd would take an unknown child for a task. */
static void no_child_is_left(void **state)
{
    (void)state;
    use_fake("record");
    walk("");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    await_line("closed\n");
}

static void allocation_is_told(void **state)
{
    (void)state;
    use_fake("record");
    host.array_job = 4700;
    host.array_task = 7;
    host.nodes = 2;
    host.node = 1;
    host.tasks = 2;
    host_setenv("SLURM_RESTART_COUNT", "3");
    host_setenv("SLURM_UMASK", "0022"); /* who may read them is said by mode= alone */
    walk("mode=0640");
    await_line("closed\n");
    await_line("arg --fact=job_id=4711\narg --fact=nodes=2\narg --fact=node_rank=1\n"
               "arg --fact=tasks=2\narg --fact=tasks_of_step=4\narg --fact=cpus_per_task=2\n"
               "arg --fact=job_cpus=4\narg --fact=job_mem_bytes=2097152000\n"
               "arg --fact=step_mem_bytes=1048576000\narg --fact=array_job_id=4700\n"
               "arg --fact=array_task_id=7\narg --fact=restart_count=3\n");
    await_line("msg umask 27\n");
    assert_non_null(strstr(recorded(), "/out/slurm-4700_7.r3.profres\n"));
}

/* 22.05 calls the callback twice, and writes "nothing" in three ways. */
static void option_without_argument(void **state)
{
    static const char *const nothing[] = { NULL, "", "(null)" };

    for (int i = 0; i < 9; i++) {
        if (i)
            set_up(state);
        use_fake("record");
        host_load(S_CTX_REMOTE);
        hook("init");
        assert_int_equal(host_option(nothing[i / 3]), 0);
        assert_int_equal(host_option(nothing[i % 3]), 0);
        hook("init_post_opt");
        hook("exit");
        await_line("closed\n");
        await_line("arg --interval=1000ms\n");
        assert_string_equal(host.log, "");
        if (i < 8)
            tear_down(state);
    }
}

/* ---- what is left alone ---- */

static void not_asked_for(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("PROFRES_MARK", "/of/the/step/around/it");
    walk(NULL);
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
    assert_null(host_getenv("SLURM_PROFILE_RES_BASE"));
    assert_null(host_getenv("PROFRES_MARK"));
    assert_string_equal(host.log, "");
}

/* It has no task, and lives as long as the job. */
static void extern_step_is_left_alone(void **state)
{
    (void)state;
    use_fake("record");
    site("default=on");
    host.step = 0xfffffffc;
    begin(NULL);
    hook("task_post_fork");
    hook("exit");
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
}

static void only_the_first_node(void **state)
{
    (void)state;
    use_fake("record");
    host.nodes = 4;
    host.node = 1;
    walk("nodes=first");
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
    host_unload();
    host.node = 0;
    walk("nodes=first");
    await_line("closed\n");
}

static void off_is_off(void **state)
{
    (void)state;
    use_fake("record");
    site("default=on");
    walk("off");
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
}

/* slurmd loads the plugin, too, and keeps it. */
static void slurmd_registers_nothing(void **state)
{
    (void)state;
    use_fake("record");
    site("default=on");
    host_load(S_CTX_SLURMD);
    hook("init");
    hook("init_post_opt");
    hook("exit");
    assert_null(host.option);
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
}

/* ---- whose word counts ---- */

static void site_words(void **state)
{
    (void)state;
    use_fake("record");
    site("default=on");
    site("interval=4s");
    site("top=2");
    site("nonsense=1");
    site("min_interval=soon");
    walk(NULL);
    await_line("arg --interval=4000ms\n");
    await_line("arg --top=2\n");
    assert_non_null(strstr(host.log, "plugstack.conf: 'nonsense=1' is not a word"));
    assert_non_null(strstr(host.log, "'min_interval=soon'"));
}

/* A word that says when holds, whatever else is said after it. */
static void site_turns_itself_off(void **state)
{
    static const char *const last[] = { "off", "default=off", "on", "default=on" };

    for (int i = 0; i < 4; i++) {
        if (i)
            set_up(state);
        use_fake("record");
        site(i < 2 ? "default=on" : "off");
        site(last[i]);
        site("interval=4s");
        walk(NULL);
        if (i < 2)
            poll(NULL, 0, 100);
        else
            await_line("arg --interval=4000ms\n");
        assert_true(i >= 2 || !*recorded());
        if (i < 3)
            tear_down(state);
    }
}

static void environment_is_over_the_site(void **state)
{
    (void)state;
    use_fake("record");
    site("interval=4s");
    site("top=2");
    host_setenv("SLURM_PROFILE_RES", "interval=3s");
    walk(NULL);
    await_line("arg --interval=3000ms\n");
    await_line("arg --top=2\n");
}

static void option_is_over_the_environment(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_PROFILE_RES", "interval=3s,top=9");
    walk("interval=2s");
    await_line("arg --interval=2000ms\n");
    await_line("arg --top=16\n"); /* one or the other, not a mixture */
}

static void option_turns_on_what_the_environment_turns_off(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_PROFILE_RES", "off");
    walk("");
    await_line("closed\n");
}

static void environment_turns_off_the_default(void **state)
{
    (void)state;
    use_fake("record");
    site("default=on");
    host_setenv("SLURM_PROFILE_RES", "off");
    walk(NULL);
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
}

static void site_bounds_the_interval(void **state)
{
    (void)state;
    use_fake("record");
    site("min_interval=5s");
    walk("interval=10ms");
    await_line("arg --interval=5000ms\n");
}

static void interval_is_bounded_without_the_site(void **state)
{
    (void)state;
    use_fake("record");
    walk("interval=10ms");
    await_line("arg --interval=100ms\n");
}

/* What a process was called with is for everybody on the node to read. */
static void command_is_told_over_the_socket(void **state)
{
    (void)state;
    use_fake("record");
    walk("");
    await_line("msg command ./program\nmsg command an argument\n");
    assert_no_line("arg ./program");
    assert_no_line("arg an argument");
}

/* Not to be told who the user is does not make it root. */
static void unknown_user_is_refused(void **state)
{
    (void)state;
    use_fake("record");
    host.nobody = true;
    walk("");
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
    assert_non_null(strstr(host.log, "does not say whose step"));
}

/* Root executes what root alone can write. */
static void loose_sampler_is_refused(void **state)
{
    if (getuid() != 0)
        skip();
    for (int way = 0; way < 3; way++) {
        if (way)
            set_up(state);
        use_fake("record");
        if (way == 0)
            assert_int_equal(chmod(script, 0775), 0);
        else if (way == 1)
            assert_int_equal(chown(script, 65534, 65534), 0);
        else
            assert_int_equal(chmod(case_dir, 0777), 0);
        walk("");
        poll(NULL, 0, 100);
        assert_string_equal(recorded(), "");
        assert_non_null(strstr(host.log, "is not run as root"));
        if (way < 2)
            tear_down(state);
    }
}

/* A part of what was said is not what was said. */
static void long_environment_is_refused_whole(void **state)
{
    static char text[1100] = "interval=3s,metrics=";

    (void)state;
    use_fake("record");
    while (strlen(text) < sizeof(text) - 10)
        strcat(text, "+ps_rss");
    host_setenv("SLURM_PROFILE_RES", text);
    walk(NULL);
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
    assert_non_null(strstr(host.log, "longer than 1023 bytes"));
}

/* A step that was let through by an older srun is not the place to complain loudly. */
static void wrong_words_are_not_fatal_in_a_step(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_PROFILE_RES", "interval=never");
    walk("intervall=1");
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
    assert_non_null(strstr(host.log, "'intervall=1' is not a word"));
    assert_non_null(strstr(host.log, "SLURM_PROFILE_RES: 'interval=never' cannot be used"));
}

/* A line of slurmd's log is ours or it is not: nobody else writes one through us. */
static void words_forge_no_line_of_the_log(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_PROFILE_RES", "interval=never\nerror: forged");
    walk("nonsense\nerror: forged\x1b[31m");
    assert_null(strstr(host.log, "\nerror: forged"));
    assert_null(strchr(host.log, '\x1b'));
    assert_non_null(strstr(host.log, "never\\nerror: forged"));
    assert_non_null(strstr(host.log, "forged\\x1b[31m"));
}

/* ---- places ---- */

/* The job's own directory may be another than that of a step inside. */
static void inner_steps_follow_the_batch_step(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_PROFILE_RES_BASE", "4711:/where/the/job/is");
    setenv("SLURMD_NODENAME", "n7", 1);
    walk("");
    unsetenv("SLURMD_NODENAME");
    await_line("msg dir /where/the/job/is/slurm-4711.profres\n");
    assert_string_equal(host_getenv("PROFRES_MARK"),
                        "/where/the/job/is/slurm-4711.profres/0/.n7.mark");
}

/* sbatch inside a job that is measured: the inner job has its own place. */
static void base_of_another_job(void **state)
{
    char line[400];

    (void)state;
    use_fake("record");
    host_setenv("SLURM_PROFILE_RES_BASE", "47:/where/another/job/is");
    walk("");
    snprintf(line, sizeof(line), "msg dir %s/slurm-4711.profres\n", out);
    await_line(line);
}

static void own_directory_is_below_the_jobs(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_PROFILE_RES_BASE", "4711:/where/the/job/is");
    host_setenv("SLURM_JOB_NAME", "fit");
    walk("dir=prof/%x");
    await_line("msg dir /where/the/job/is/prof/fit\n");
    host_unload();
    walk("dir=/else/%x");
    await_line("msg dir /else/fit\n");
}

/* srun knows the name; what a variable says of another user does not count. */
static void name_of_the_user(void **state)
{
    char value[64], line[400];

    (void)state;
    use_fake("record");
    snprintf(value, sizeof(value), "%u:ann", (unsigned)getuid());
    host_setenv("SLURM_PROFILE_RES_USER", value);
    walk("dir=/s/%u");
    await_line("msg dir /s/ann\n");
    host_unload();
    snprintf(value, sizeof(value), "%u:bob", (unsigned)getuid() + 1);
    host_setenv("SLURM_PROFILE_RES_USER", value);
    walk("dir=/t/%u");
    snprintf(line, sizeof(line), "msg dir /t/%s\n", getpwuid(getuid())->pw_name);
    await_line(line);
}

/* Only where it is needed is it asked for. */
static void srun_hands_the_name_on(void **state)
{
    char value[400];

    (void)state;
    walk_srun("dir=/s/%j");
    assert_null(getenv("SLURM_PROFILE_RES_USER"));
    host_unload();
    walk_srun("dir=/s/%u");
    snprintf(value, sizeof(value), "%u:%s", (unsigned)getuid(), getpwuid(getuid())->pw_name);
    assert_string_equal(getenv("SLURM_PROFILE_RES_USER"), value);
}

/*
 * A batch job's output is where it runs (sbatch -D), not where it was submitted;
 * and how often it was requeued is known in its task only.
 */
static void batch_step_is_where_it_runs(void **state)
{
    char line[1000];

    (void)state;
    use_fake("record");
    host.step = 0xfffffffb;
    host_setenv("SLURM_SUBMIT_DIR", "/submitted/here");
    host_setenv("SLURM_RESTART_COUNT", "2");
    walk("");
    await_line("arg --step=batch\n");
    assert_no_line("arg --fact=restart_count");
    await_line("msg fact restart_count=2\n");
    snprintf(line, sizeof(line), "msg dir %s/slurm-4711.r2.profres\n", out);
    await_line(line);
    snprintf(line, sizeof(line), "4711:%s", out);
    assert_string_equal(host_getenv("SLURM_PROFILE_RES_BASE"), line);
}

static void no_directory_is_no_disaster(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_JOB_NAME", "../up");
    walk("dir=/s/%x");
    await_line("msg end\n");
    assert_no_line("msg dir");
    assert_non_null(strstr(host.log, "'dir=/s/%x'"));
}

static void directories_forge_no_line_of_the_log(void **state)
{
    (void)state;
    use_fake("record");
    host_setenv("SLURM_JOB_NAME", "../up");
    walk("dir=/s/\nerror: forged/%x");
    await_line("msg end\n");
    assert_null(strstr(host.log, "\nerror: forged"));
    assert_non_null(strstr(host.log, "'dir=/s/\\nerror: forged/%x'"));
}

/* ---- the last lines of a batch job ---- */

static void batch_step_says_the_brief(void **state)
{
    (void)state;
    use_fake("record");
    host.step = 0xfffffffb;
    walk("");
    await_line("arg --brief\n");
    assert_string_equal(host.user_log, "the first line\nthe second line\n");
    assert_string_equal(host.log, "");
}

/* Nobody waits longer, but what has come by the last hook is said. */
static void brief_comes_late(void **state)
{
    (void)state;
    use_fake("tardy");
    host.step = 0xfffffffb;
    begin("");
    fork_tasks();
    await_line("msg go\n");
    host_stop_clock(false);
    end_tasks();
    host_start_clock();
    assert_string_equal(host.user_log, "");
    await_line("answered end\n");
    hook("exit");
    assert_string_equal(host.user_log, "the first line\nthe second line\n");
    assert_string_equal(host.log, "");
}

static void quiet_batch_step(void **state)
{
    (void)state;
    use_fake("record");
    host.step = 0xfffffffb;
    walk("quiet");
    await_line("closed\n");
    assert_no_line("arg --brief");
    assert_string_equal(host.log, "");
}

/* slurmd's log has one line of a step; the job's has them all. */
static void one_line_in_the_log(void **state)
{
    (void)state;
    use_fake("warn");
    walk("");
    assert_string_equal(host.log, "profile-res: trouble 0\n");
    assert_string_equal(host.user_log, "profile-res: trouble 1\nprofile-res: trouble 2\n");
}

/* ---- what a site may have ---- */

static int times(const char *text, const char *what)
{
    int count = 0;

    for (; (text = strstr(text, what)); text++)
        count++;
    return count;
}

static void listed_twice(void **state)
{
    (void)state;
    for (int contain = 0; contain < 2; contain++) {
        if (contain)
            set_up(state);
        host.listed = 2;
        host.contain = contain;
        host.tasks = 3;
        use_fake("record");
        walk("");
        await_line("closed\n");
        assert_int_equal(times(recorded(), "arg --slurm\n"), 1);
        assert_int_equal(times(recorded(), "msg start "), 3);
        assert_int_equal(times(recorded(), "msg exit "), 3);
        if (!contain)
            tear_down(state);
    }
}

static void another_copy_was_first(void **state)
{
    (void)state;
    host.option_taken = true;
    use_fake("record");
    site("default=on");
    walk(NULL);
    poll(NULL, 0, 100);
    assert_string_equal(recorded(), "");
}

static void many_groups(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    host.groups = 800;
    use_fake("record");
    walk("");
    await_line("closed\n");
    assert_non_null(strstr(recorded(), ",4000000799\n"));
    assert_int_equal(times(recorded(), ",4000000"), 799);
    assert_string_equal(host.log, "");
}

static void more_groups_than_can_be_told(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    host.groups = 16000;
    use_fake("record");
    walk("");
    await_line("closed\n");
    assert_non_null(strstr(host.log, "the user is in 16000 groups, of which the sampler gets "));
}

/* Whoever has not asked is measured, and not told. */
static void quiet_by_default(void **state)
{
    (void)state;
    use_profres("exit 0");
    site("default=quiet");
    walk_srun(NULL);
    assert_string_equal(recorded(), "");
    tear_down(state);
    set_up(state);
    use_profres("exit 0");
    site("default=quiet");
    walk_srun("");
    await_line("arg brief\n");
    tear_down(state);
    set_up(state);
    use_fake("record");
    site("default=quiet");
    host.step = 0xfffffffb;
    walk(NULL);
    await_line("closed\n");
    assert_no_line("arg --brief");
}

/* ---- srun and sbatch ---- */

/* Calls it in a child: a wrong SPEC ends the program. Exit status; 200 = it goes on. */
static int in_child(spank_context_t context, const char *option, const char *log)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        host_load(context);
        hook("init");
        if (option && host_option(option) < 0)
            _exit(1);
        if (host_hook("init_post_opt", word_count, words) < 0)
            _exit(1);
        _exit(200);
    }
    (void)log;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void wrong_words_fail_before_submission(void **state)
{
    (void)state;
    assert_int_equal(in_child(S_CTX_LOCAL, "interval=2", NULL), 200);
    assert_int_equal(in_child(S_CTX_LOCAL, "intervall=2", NULL), 1);
    assert_int_equal(in_child(S_CTX_ALLOCATOR, "metrics=nonsense", NULL), 1);
    setenv("SLURM_PROFILE_RES", "top=many", 1);
    assert_int_equal(in_child(S_CTX_LOCAL, NULL, NULL), 1);
    assert_int_equal(in_child(S_CTX_LOCAL, "", NULL), 200); /* not looked at */
    assert_int_equal(in_child(S_CTX_ALLOCATOR, NULL, NULL), 200); /* not theirs */
    setenv("SBATCH_PROFILE_RES", "top=many", 1);
    assert_int_equal(in_child(S_CTX_ALLOCATOR, NULL, NULL), 1);
}

static void srun_shows_the_brief(void **state)
{
    (void)state;
    use_profres("exit 0");
    host.nodes = 3;
    host.step = 5;
    setenv("SLURM_SUBMIT_DIR", out, 1);
    walk_srun("");
    await_line("arg brief\narg --quiet\narg --wait\n");
    await_line("arg --nodes\narg 3\n");
    assert_non_null(strstr(recorded(), "/out/slurm-4711.profres/5\n"));
}

static void srun_waits_for_measured_nodes_only(void **state)
{
    (void)state;
    use_profres("exit 0");
    host.nodes = 3;
    walk_srun("nodes=2");
    await_line("arg --nodes\narg 2\n");
}

static void srun_is_silent(void **state)
{
    static const char *const options[] = { NULL, "off", "quiet" };

    for (int i = 0; i < 3; i++) {
        if (i)
            set_up(state);
        use_profres("exit 0");
        walk_srun(options[i]);
        assert_string_equal(recorded(), "");
        if (i < 2)
            tear_down(state);
    }
}

/* srun -Q */
static void srun_is_told_to_be_quiet(void **state)
{
    (void)state;
    use_profres("exit 0");
    host.log_level = 2;
    walk_srun("");
    assert_string_equal(recorded(), "");
}

/* srun 2>&-, and what was closed may be used by srun for itself since. */
static void srun_without_stderr(void **state)
{
    int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);

    (void)state;
    use_profres("exit 0");
    close(STDERR_FILENO);
    walk_srun("");
    assert_string_equal(recorded(), "");
    assert_int_equal(dup3(saved, STDERR_FILENO, O_CLOEXEC), STDERR_FILENO);
    host_unload();
    walk_srun("");
    assert_string_equal(recorded(), "");
    /* lint: cloexec: as it was */
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    close(saved);
}

/* A file system that does not answer: srun ends all the same. */
static void srun_is_not_held(void **state)
{
    (void)state;
    use_profres("exec sleep 30");
    walk_srun("");
    assert_in_range(host.slowest_ms, 1000, 2 * BOUND_MS);
}

static void srun_without_profres(void **state)
{
    (void)state;
    site("profres=/no/such/profres");
    walk_srun("");
    assert_string_equal(host.log, "");
}

static void walk_allocator(const char *option)
{
    host_load(S_CTX_ALLOCATOR);
    hook("init");
    if (option)
        assert_int_equal(host_option(option), 0);
    hook("init_post_opt");
    hook("exit");
}

/* What sbatch was told holds for every srun inside, whose variable is another. */
static void allocators_pass_their_variable_on(void **state)
{
    char *name = program_invocation_short_name;

    (void)state;
    setenv("SBATCH_PROFILE_RES", "top=2", 1);
    setenv("SALLOC_PROFILE_RES", "top=3", 1);
    walk_allocator(NULL);
    assert_string_equal(getenv("SLURM_PROFILE_RES"), "top=2");
    tear_down(state);
    program_invocation_short_name = (char *)"salloc";
    walk_allocator(NULL);
    program_invocation_short_name = name;
    assert_string_equal(getenv("SLURM_PROFILE_RES"), "top=3");
    tear_down(state);
    unsetenv("SLURM_PROFILE_RES");
    walk_allocator("top=4"); /* Slurm itself passes the option on */
    assert_null(getenv("SLURM_PROFILE_RES"));
}

static void sbatch_leaves_the_salloc_variable(void **state)
{
    (void)state;
    setenv("SALLOC_PROFILE_RES", "top=3", 1);
    walk_allocator(NULL);
    assert_null(getenv("SLURM_PROFILE_RES"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WALK_CASE(sampler_hears_of_everything),
        WALK_CASE(sampler_starts_clean),
        WALK_CASE(no_child_is_left),
        WALK_CASE(allocation_is_told),
        WALK_CASE(option_without_argument),
        WALK_CASE(not_asked_for),
        WALK_CASE(extern_step_is_left_alone),
        WALK_CASE(only_the_first_node),
        WALK_CASE(off_is_off),
        WALK_CASE(slurmd_registers_nothing),
        WALK_CASE(site_words),
        WALK_CASE(site_turns_itself_off),
        WALK_CASE(environment_is_over_the_site),
        WALK_CASE(option_is_over_the_environment),
        WALK_CASE(option_turns_on_what_the_environment_turns_off),
        WALK_CASE(environment_turns_off_the_default),
        WALK_CASE(site_bounds_the_interval),
        WALK_CASE(interval_is_bounded_without_the_site),
        WALK_CASE(command_is_told_over_the_socket),
        WALK_CASE(unknown_user_is_refused),
        WALK_CASE(loose_sampler_is_refused),
        WALK_CASE(long_environment_is_refused_whole),
        WALK_CASE(wrong_words_are_not_fatal_in_a_step),
        WALK_CASE(words_forge_no_line_of_the_log),
        WALK_CASE(inner_steps_follow_the_batch_step),
        WALK_CASE(base_of_another_job),
        WALK_CASE(own_directory_is_below_the_jobs),
        WALK_CASE(name_of_the_user),
        WALK_CASE(srun_hands_the_name_on),
        WALK_CASE(batch_step_is_where_it_runs),
        WALK_CASE(no_directory_is_no_disaster),
        WALK_CASE(directories_forge_no_line_of_the_log),
        WALK_CASE(batch_step_says_the_brief),
        WALK_CASE(brief_comes_late),
        WALK_CASE(quiet_batch_step),
        WALK_CASE(one_line_in_the_log),
        WALK_CASE(listed_twice),
        WALK_CASE(another_copy_was_first),
        WALK_CASE(many_groups),
        WALK_CASE(more_groups_than_can_be_told),
        WALK_CASE(quiet_by_default),
        WALK_CASE(srun_is_told_to_be_quiet),
        WALK_CASE(srun_without_stderr),
        WALK_CASE(wrong_words_fail_before_submission),
        WALK_CASE(srun_shows_the_brief),
        WALK_CASE(srun_waits_for_measured_nodes_only),
        WALK_CASE(srun_is_silent),
        WALK_CASE(srun_is_not_held),
        WALK_CASE(srun_without_profres),
        WALK_CASE(allocators_pass_their_variable_on),
        WALK_CASE(sbatch_leaves_the_salloc_variable),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
