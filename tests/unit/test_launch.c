/*
 * The sampler is born outside the step: the process between moves first, and
 * where it cannot, nothing runs (a plain file stands for cgroup.procs).
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/control.h"
#include "plugin/launch.h"

static char dir[64];
static struct pfr_outside outside;
static int fds[2];

static int open_bench(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/profres-launch-XXXXXX");
    assert_non_null(mkdtemp(dir));
    outside.count = 2;
    for (int i = 0; i < 2; i++) {
        snprintf(outside.path[i], sizeof(outside.path[i]), "%s/procs%d", dir, i);
        close(open(outside.path[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    return pfr_control_pair(fds);
}

static int close_bench(void **state)
{
    (void)state;
    close(fds[0]);
    for (int i = 0; i < 2; i++)
        unlink(outside.path[i]);
    return rmdir(dir);
}

/* What the launched shell says on descriptor 3, until it closes. */
static void launch(const char *script, char *said, size_t size)
{
    char *argv[] = { (char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL };
    pid_t pid = pfr_launch("/bin/sh", argv, fds[1], &outside);

    close(fds[1]);
    assert_true(pid > 0);
    assert_true(pfr_control_receive(fds[0], said, size, 10000) >= 0);
}

static void moves_before_it_is_born(void **state)
{
    char said[256];

    (void)state;
    launch("echo here >&3", said, sizeof(said));
    assert_string_equal(said, "here\n");
    for (int i = 0; i < 2; i++) {
        struct stat st;

        assert_int_equal(stat(outside.path[i], &st), 0);
        assert_int_equal(st.st_size, 1); /* "0": the writer itself */
    }
}

static void does_not_run_inside(void **state)
{
    char *argv[] = { (char *)"sh", (char *)"-c", (char *)"echo here >&3", NULL };
    char said[64];

    (void)state;
    snprintf(outside.path[1], sizeof(outside.path[1]), "%s/none/procs", dir);
    assert_int_equal(pfr_launch("/bin/sh", argv, fds[1], &outside), -EBUSY);
    close(fds[1]);
    assert_int_equal(pfr_control_receive(fds[0], said, sizeof(said), 10000), 0);
    snprintf(outside.path[1], sizeof(outside.path[1]), "%s/procs1", dir);
}

/* Nothing of slurmstepd's is inherited: descriptors, signals, directory, environment. */
static void starts_clean(void **state)
{
    char said[512];
    sigset_t blocked, old;
    int leak = open("/dev/null", O_RDONLY); /* lint: cloexec: to be inherited, if it could be */

    (void)state;
    sigfillset(&blocked);
    sigprocmask(SIG_BLOCK, &blocked, &old);
    launch("{ ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status; pwd; env | "
           "grep -cv -e PWD -e SHLVL -e ^_=; } | tr '\\n' ' ' >&3", said, sizeof(said));
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(leak);
    /* 0 1 2 3 and the one that ls reads */
    assert_non_null(strstr(said, "5 SigBlk:\t0000000000000000 / 0"));
}

/* It is not our child: slurmstepd would take it for a task. */
static void is_not_our_child(void **state)
{
    char said[64];

    (void)state;
    launch("echo $PPID >&3", said, sizeof(said));
    assert_int_not_equal(atoi(said), getpid());
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(moves_before_it_is_born),
        CASE(does_not_run_inside),
        CASE(starts_clean),
        CASE(is_not_our_child),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
