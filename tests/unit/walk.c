#include "tests/unit/walk.h"

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

char case_dir[256], record[300], script[300], out[300];
static char sampler_word[600];
char *words[8];
int word_count;

void put(const char *path, const char *text, mode_t mode)
{
    PFR_AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(pfr_fd_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
}

/* A word of plugstack.conf. */
void site(const char *word)
{
    assert_in_range(word_count, 0, 7);
    words[word_count++] = (char *)word;
}

void use_sampler(const char *path)
{
    snprintf(sampler_word, sizeof(sampler_word), "sampler=%s", path);
    site(sampler_word);
}

/* The environment of the sampler is empty, so a script tells it what to do. */
void use_fake(const char *mode)
{
    char text[2048];

    snprintf(text, sizeof(text), "#!/bin/sh\nexec '%s/tests/unit/fake_sampler' %s '%s' \"$@\"\n",
             getenv("top_builddir"), mode, record);
    put(script, text, 0755);
    use_sampler(script);
}

int set_up(void **state)
{
    static int cases;

    (void)state;
    memset(&host, 0, sizeof(host));
    host.job = host.array_job = 4711;
    host.array_task = 0xfffffffe;
    host.nodes = host.tasks = host.groups = host.listed = 1;
    host.log_level = 3;
    host.job_mem = 2000;
    host.step_mem = 1000;
    word_count = 0;
    snprintf(case_dir, sizeof(case_dir), "%.200s/case%d",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", cases++);
    snprintf(record, sizeof(record), "%s/record", case_dir);
    snprintf(script, sizeof(script), "%s/sampler", case_dir);
    snprintf(out, sizeof(out), "%s/out", case_dir);
    assert_int_equal(mkdir(case_dir, 0755), 0);
    assert_int_equal(mkdir(out, 0755), 0);
    unsetenv("SLURM_PROFILE_RES");
    unsetenv("SBATCH_PROFILE_RES");
    unsetenv("SALLOC_PROFILE_RES");
    unsetenv("SLURM_PROFILE_RES_BASE");
    unsetenv("SLURM_PROFILE_RES_USER");
    host_setenv("SLURM_SUBMIT_DIR", out);
    return 0;
}

/* What the sampler wrote; "" when it never ran. */
const char *recorded(void)
{
    static char text[262144];

    return pfr_file_read_text(AT_FDCWD, record, text, sizeof(text)) > 0 ? text : "";
}

/* It is another process: what it does may take a moment. */
void await_line(const char *line)
{
    for (int i = 0; i < 1000; i++) {
        const char *at = strstr(recorded(), line);

        if (at && (at == recorded() || at[-1] == '\n'))
            return;
        poll(NULL, 0, 10);
    }
    fail_msg("no line '%s' in:\n%s\nlog:\n%s", line, recorded(), host.log);
}

void assert_no_line(const char *line)
{
    if (strstr(recorded(), line))
        fail_msg("'%s' in:\n%s", line, recorded());
}

int tear_down(void **state)
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
void hook(const char *name)
{
    assert_int_equal(host_hook(name, word_count, words), 0);
}

void begin(const char *option)
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

void fork_tasks(void)
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

void end_tasks(void)
{
    for (host.task = (int)host.tasks - 1; host.task >= 0; host.task--) {
        kill(host.pids[host.task], SIGTERM);
        waitpid(host.pids[host.task], &host.status[host.task], 0);
        hook("task_exit");
    }
}

void walk(const char *option)
{
    begin(option);
    fork_tasks();
    end_tasks();
    hook("exit");
    assert_in_range(host.slowest_ms, 0, BOUND_MS);
}

/* ---- the walk of srun ---- */

static char profres_word[512];

/* In the place of profres: says how it was called. */
void use_profres(const char *body)
{
    char path[400], text[1024];

    snprintf(path, sizeof(path), "%s/profres", case_dir);
    snprintf(text, sizeof(text), "#!/bin/sh\nfor i; do echo \"arg $i\" >>'%s'; done\n%s\n", record,
             body);
    put(path, text, 0755);
    snprintf(profres_word, sizeof(profres_word), "profres=%s", path);
    site(profres_word);
}

void walk_srun(const char *option)
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
