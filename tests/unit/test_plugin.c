/*
 * The built plugin under a host that pretends to be slurmstepd, srun and sbatch:
 * the order of the hooks, what of the user's wishes arrives, and that nothing
 * which goes wrong with the sampler is felt by the step.
 */
#include "tests/unit/host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/record/reader.h"
#include "tests/unit/fixture.h"

/* No hook may be felt; the bound is generous for a machine under load. */
#define BOUND_MS 2000

static char dir[256], record[300], script[300], out[300];
static char sampler_word[600], *words[8];
static int word_count;

static void put(const char *path, const char *text, mode_t mode)
{
    PFR_AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(pfr_fd_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
}

/* A word of plugstack.conf. */
static void site(const char *word)
{
    assert_in_range(word_count, 0, 7);
    words[word_count++] = (char *)word;
}

static void use_sampler(const char *path)
{
    snprintf(sampler_word, sizeof(sampler_word), "sampler=%s", path);
    site(sampler_word);
}

/* The environment of the sampler is empty, so a script tells it what to do. */
static void use_fake(const char *mode)
{
    char text[2048];

    snprintf(text, sizeof(text), "#!/bin/sh\nexec '%s/tests/unit/fake_sampler' %s '%s' \"$@\"\n",
             getenv("top_builddir"), mode, record);
    put(script, text, 0755);
    use_sampler(script);
}

static int set_up(void **state)
{
    static int cases;

    (void)state;
    memset(&host, 0, sizeof(host));
    host.job = host.array_job = 4711;
    host.array_task = 0xfffffffe;
    host.nodes = host.tasks = 1;
    host.job_mem = 2000;
    host.step_mem = 1000;
    word_count = 0;
    snprintf(dir, sizeof(dir), "%.200s/case%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             cases++);
    snprintf(record, sizeof(record), "%s/record", dir);
    snprintf(script, sizeof(script), "%s/sampler", dir);
    snprintf(out, sizeof(out), "%s/out", dir);
    assert_int_equal(mkdir(dir, 0755), 0);
    assert_int_equal(mkdir(out, 0755), 0);
    unsetenv("SLURM_PROFILE_RES");
    unsetenv("SBATCH_PROFILE_RES");
    unsetenv("SALLOC_PROFILE_RES");
    unsetenv("SLURM_PROFILE_RES_BASE");
    host_setenv("SLURM_SUBMIT_DIR", out);
    return 0;
}

/* What the sampler wrote; "" when it never ran. */
static const char *recorded(void)
{
    static char text[65536];

    return pfr_file_read_text(AT_FDCWD, record, text, sizeof(text)) > 0 ? text : "";
}

/* It is another process: what it does may take a moment. */
static void await_line(const char *line)
{
    for (int i = 0; i < 1000; i++) {
        const char *at = strstr(recorded(), line);

        if (at && (at == recorded() || at[-1] == '\n'))
            return;
        poll(NULL, 0, 10);
    }
    fail_msg("no line '%s' in:\n%s\nlog:\n%s", line, recorded(), host.log);
}

static void assert_no_line(const char *line)
{
    if (strstr(recorded(), line))
        fail_msg("'%s' in:\n%s", line, recorded());
}

static int tear_down(void **state)
{
    const char *pid = strstr(recorded(), "\npid ");

    (void)state;
    for (int i = 0; i < HOST_TASKS; i++)
        if (host.pids[i] > 0 && waitpid(host.pids[i], NULL, WNOHANG) == 0) {
            kill(host.pids[i], SIGKILL);
            waitpid(host.pids[i], NULL, 0);
        }
    if (pid && !strstr(recorded(), "closed"))
        kill((pid_t)atoi(pid + 5), SIGKILL);
    host_unload();
    return 0;
}

/* ---- the walk of slurmstepd ---- */

/* In slurmstepd nothing is ever fatal. */
static void hook(const char *name)
{
    assert_int_equal(host_hook(name, word_count, words), 0);
}

static void begin(const char *option)
{
    host_load(S_CTX_REMOTE);
    hook("init");
    if (option)
        assert_int_equal(host_option(option), 0);
    hook("init_post_opt");
}

/* Of the tasks: they wait before their exec until all are known, as Slurm's do. */
static int released[2], ready[2];

static pid_t fork_task(void)
{
    pid_t child = fork();
    char byte;

    if (child == 0) {
        close(released[1]);
        if (read(released[0], &byte, 1) == 0 &&
            host_hook("task_init", word_count, words) == 0)
            close(ready[1]);
        for (;;)
            pause();
    }
    assert_true(child > 0);
    return child;
}

static void fork_tasks(void)
{
    char cwd[4096], byte;

    assert_int_equal(pipe2(released, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    assert_int_equal(chdir(out), 0);
    hook("user_init");
    assert_int_equal(chdir(cwd), 0);
    for (host.task = 0; host.task < (int)host.tasks; host.task++) {
        host.pids[host.task] = fork_task();
        hook("task_post_fork");
    }
    host.task = -1;
    close(released[0]);
    close(released[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* all are past task_init */
    close(ready[0]);
}

static void end_tasks(void)
{
    for (host.task = (int)host.tasks - 1; host.task >= 0; host.task--) {
        kill(host.pids[host.task], SIGTERM);
        waitpid(host.pids[host.task], &host.status[host.task], 0);
        hook("task_exit");
    }
}

static void walk(const char *option)
{
    begin(option);
    fork_tasks();
    end_tasks();
    hook("exit");
    assert_in_range(host.slowest_ms, 0, BOUND_MS);
}

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
               "arg --no-cmd\narg --\narg ./program\narg an argument\n");
    snprintf(line, sizeof(line), "arg --tree=%d\n", (int)getpid());
    await_line(line);
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof(line), "msg start %d %d\n", (int)host.pids[i], i);
        await_line(line);
        snprintf(line, sizeof(line), "msg exit %d %d 0 ", (int)host.pids[i], SIGTERM);
        await_line(line);
    }
    snprintf(line, sizeof(line), "msg dir %s/slurm-4711.profres\n", out);
    await_line(line);
    snprintf(line, sizeof(line), "msg start %d 2\nmsg go\nmsg exit ", (int)host.pids[2]);
    await_line(line);
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
    host_setenv("SLURM_UMASK", "0027");
    walk("");
    await_line("closed\n");
    await_line("arg --fact=job_id=4711\narg --fact=nodes=2\narg --fact=node_rank=1\n"
               "arg --fact=tasks=2\narg --fact=tasks_of_step=4\narg --fact=cpus_per_task=2\n"
               "arg --fact=job_cpus=4\narg --fact=job_mem_bytes=2097152000\n"
               "arg --fact=step_mem_bytes=1048576000\narg --fact=array_job_id=4700\n"
               "arg --fact=array_task_id=7\narg --fact=restart_count=3\n");
    await_line("msg umask 0027\n");
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

/* ---- the last lines of a batch job ---- */

static void batch_step_says_the_brief(void **state)
{
    (void)state;
    use_fake("record");
    host.step = 0xfffffffb;
    walk("");
    await_line("arg --brief\n");
    assert_string_equal(host.log, "the first line\nthe second line\n");
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
    assert_int_equal(kill((pid_t)atoi(pid + 5), SIGKILL), 0);
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
        snprintf(line, sizeof(line), "msg start %d %d\n", (int)host.pids[i], i);
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

static void real_sampler(bool contain, const char *option)
{
    char path[512], node[256];
    PFR_AUTO_JSON *summary = NULL;
    PFR_AUTO_FD files = -1;

    snprintf(path, sizeof(path), "%s/profres-sampler", getenv("top_builddir"));
    use_sampler(path);
    host.contain = contain;
    host.tasks = 2;
    walk(option);
    assert_int_equal(gethostname(node, sizeof(node)), 0);
    node[strcspn(node, ".")] = '\0';
    strcat(node, ".json");
    snprintf(path, sizeof(path), "%s/slurm-4711.profres/0", out);
    for (int i = 0; i < 500; i++) {
        json_object_put(summary);
        close(files);
        files = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        summary = files < 0 ? NULL : pfr_summary_load(files, node);
        if (summary && strcmp(json_object_get_string(fixture_json(summary, "state")),
                              "COMPLETE") == 0)
            break;
        poll(NULL, 0, 10);
    }
    if (!summary)
        fail_msg("no %s in %s; log:\n%s", node, path, host.log);
    assert_json_text(summary, "state", "COMPLETE");
    assert_json_int(summary, "tasks.0.pid", host.pids[0]);
    assert_json_int(summary, "tasks.1.rank", 1);
    assert_json_int(summary, "tasks.1.signal", SIGTERM);
    assert_json_int(summary, "info.allocation.step_mem_bytes", 1000 * MIB);
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

static char profres_word[512];

/* In the place of profres: says how it was called. */
static void use_profres(const char *body)
{
    char path[400], text[1024];

    snprintf(path, sizeof(path), "%s/profres", dir);
    snprintf(text, sizeof(text), "#!/bin/sh\nfor i; do echo \"arg $i\" >>'%s'; done\n%s\n", record,
             body);
    put(path, text, 0755);
    snprintf(profres_word, sizeof(profres_word), "profres=%s", path);
    site(profres_word);
}

static void walk_srun(const char *option)
{
    host_load(S_CTX_LOCAL);
    hook("init");
    if (option)
        assert_int_equal(host_option(option), 0);
    hook("init_post_opt");
    hook("local_user_init");
    hook("exit");
    assert_in_range(host.slowest_ms, 0, 2 * BOUND_MS);
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
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(sampler_hears_of_everything),
        CASE(sampler_starts_clean),
        CASE(no_child_is_left),
        CASE(allocation_is_told),
        CASE(option_without_argument),
        CASE(not_asked_for),
        CASE(extern_step_is_left_alone),
        CASE(only_the_first_node),
        CASE(off_is_off),
        CASE(slurmd_registers_nothing),
        CASE(site_words),
        CASE(environment_is_over_the_site),
        CASE(option_is_over_the_environment),
        CASE(option_turns_on_what_the_environment_turns_off),
        CASE(environment_turns_off_the_default),
        CASE(site_bounds_the_interval),
        CASE(wrong_words_are_not_fatal_in_a_step),
        CASE(inner_steps_follow_the_batch_step),
        CASE(base_of_another_job),
        CASE(own_directory_is_below_the_jobs),
        CASE(batch_step_is_where_it_runs),
        CASE(no_directory_is_no_disaster),
        CASE(batch_step_says_the_brief),
        CASE(quiet_batch_step),
        CASE(sampler_is_missing),
        CASE(sampler_cannot_be_executed),
        CASE(sampler_exits_at_once),
        CASE(sampler_never_answers),
        CASE(sampler_never_reads),
        CASE(sampler_is_stopped),
        CASE(sampler_is_killed),
        CASE(sampler_refuses),
        CASE(sampler_talks_without_end),
        CASE(step_fails_to_launch),
        CASE(contained_hooks_are_heard),
        CASE(contained_hooks_give_up),
        CASE(real_sampler_writes_its_files),
        CASE(real_sampler_under_contain_spank),
        CASE(wrong_words_fail_before_submission),
        CASE(srun_shows_the_brief),
        CASE(srun_waits_for_measured_nodes_only),
        CASE(srun_is_silent),
        CASE(srun_is_not_held),
        CASE(srun_without_profres),
        CASE(allocators_pass_their_variable_on),
        CASE(sbatch_leaves_the_salloc_variable),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
