/*
 * The cgroup of 'profres run' on the live host, with libcgroup and without it: a process
 * goes in, the kernel says so, and nothing is left at the end.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/profres/cage.h"

static struct pfr_cage cage;
static struct pfr_env env;
static pid_t child;

static int begin(void **state)
{
    (void)state;
    pfr_env_init(&env, "");
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    return child < 0;
}

static int end(void **state)
{
    (void)state;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    pfr_cage_remove(&cage);
    return 0;
}

/* In how many hierarchies the kernel has the child in profres-<our pid>[/inner]. */
static int places_of_child(void)
{
    char path[64], line[2048], name[64];
    FILE *file;
    int places = 0;

    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)child);
    snprintf(name, sizeof(name), "/profres-%d", (int)getpid());
    file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        places += strstr(line, name) != NULL;
    fclose(file);
    return places;
}

/* The command may make cgroups below its own, and leave processes in them. */
static void make_inner(void)
{
    const struct pfr_cgdir *own = &cage.own.dirs[PFR_MEMORY];
    char path[PFR_CGPATH_SIZE + 64];
    FILE *procs;

    if (!cage.v1[PFR_MEMORY])
        return;
    snprintf(path, sizeof(path), "%s/profres-%d/inner", own->dir, (int)getpid());
    assert_int_equal(mkdir(path, 0755), 0);
    strcat(path, "/cgroup.procs");
    procs = fopen(path, "we");
    assert_non_null(procs);
    fprintf(procs, "%d", (int)child);
    assert_int_equal(fclose(procs), 0);
}

static void check(bool by_hand)
{
    int made = pfr_cage_make(&cage, &env, by_hand);

    if (made == 0) {
        print_message("# skipped: no cgroup may be made here\n");
        return;
    }
    print_message("# %d hierarchies, %s\n", made, cage.by_hand ? "by hand" : "libcgroup");
    assert_true(cage.by_hand || !by_hand);
    assert_int_equal(places_of_child(), 0);
    assert_int_equal(pfr_cage_enter(&cage, child), 0);
    assert_int_equal(places_of_child(), made);
    make_inner();
    assert_int_equal(pfr_cage_remove(&cage), 0);
    assert_int_equal(places_of_child(), 0);
    assert_int_equal(pfr_cage_remove(&cage), 0);
}

static void with_the_library_if_there_is_one(void **state)
{
    (void)state;
    check(false);
}

static void by_hand(void **state)
{
    (void)state;
    check(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(with_the_library_if_there_is_one, begin, end),
        cmocka_unit_test_setup_teardown(by_hand, begin, end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
