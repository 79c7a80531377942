/* The sampler's own CPU time, and its cage. */
#include "tests/unit/fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/sampler/budget.h"
#include "tools/sampler/confine.h"

#define S PFR_NS_PER_S

/* Work of `cost` whenever it may be, at most every `interval`: CPU time used in `time`. */
static int64_t used_in(int64_t cores, int64_t time, int64_t interval, int64_t cost)
{
    struct pfr_budget budget;
    int64_t used = 0, now = 0;

    pfr_budget_init(&budget, cores, 0, 0);
    while (now < time) {
        int64_t next;

        used += cost;
        now += cost;
        next = pfr_budget_next(&budget, now, used);
        assert_true(next >= now);
        now = next > now + interval ? next : now + interval;
    }
    return used;
}

/* A percent of the cores and a second, whatever a tick costs and how often it is asked for. */
static void used_is_bounded(void **state)
{
    static const int64_t costs[] = { 100000, 4 * MS, 40 * MS, 900 * MS };

    (void)state;
    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
        for (int64_t cores = 1; cores <= 128; cores *= 8) {
            int64_t used = used_in(cores, 1000 * S, 10 * MS, costs[i]);

            assert_true(used <= 1000 * S * cores / 100 + S + costs[i]);
        }
    /* and what is asked for within it is not touched: 400 us every second on one core */
    assert_true(used_in(1, 1000 * S, S, 400000) >= 999 * 400000);
}

static void sleep_earns_a_second_at_most(void **state)
{
    struct pfr_budget budget;

    (void)state;
    pfr_budget_init(&budget, 4, 0, 0);
    assert_int_equal(pfr_budget_next(&budget, INT64_MAX / 2, 0), INT64_MAX / 2);
    assert_int_equal(budget.credit, S);
    /* three seconds at once: two are owed, and at 4 % paid in fifty */
    assert_int_equal(pfr_budget_next(&budget, INT64_MAX / 2, 3 * S), INT64_MAX / 2 + 50 * S);
    /* a clock that goes back takes nothing and gives nothing */
    assert_int_equal(pfr_budget_next(&budget, 7, 3 * S), 7 + 50 * S);
}

/* ---- the cage ---- */

/* In a process of its own; the exit status or the signal of what `inside` does there. */
static int confined(int (*inside)(void))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct pfr_env env;

        pfr_env_init(&env, "");
        pfr_confine_early(&env);
        pfr_confine();
        _exit(inside());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int is_the_first_to_go(void)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "re");
    int score = 0;

    return file && fscanf(file, "%d", &score) == 1 && score == 1000 ? 0 : 1;
}

static int has_nothing_to_gain(void)
{
    for (unsigned long i = 0; i < 40 && geteuid() == 0; i++)
        if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) > 0)
            return 1;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_GET_DUMPABLE) == 0 ? 0 : 2;
}

static int limit_is(int resource, rlim_t most)
{
    struct rlimit limit;

    return getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_max <= most ? 0 : 1;
}

static int has_limits(void)
{
    return limit_is(RLIMIT_CORE, 0) + limit_is(RLIMIT_NPROC, 0) +
           limit_is(RLIMIT_FSIZE, 64 << 20) + limit_is(RLIMIT_NOFILE, PFR_CONFINE_FDS) +
           (getpriority(PRIO_PROCESS, 0) < 5);
}

#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses itself */
static int takes_a_gigabyte(void)
{
    void *memory = malloc(1 << 30);

    if (!memory)
        return 0;
    memset(memory, 1, 1 << 30);
    return 1;
}
#endif

/* Whatever it hangs in, and though SIGALRM was ignored when it was started. */
static int hangs(void)
{
    pfr_confine_deadline(1);
    while (pause() < 0)
        ;
    return 1;
}

static void the_cage_is_closed(void **state)
{
    (void)state;
    assert_int_equal(confined(is_the_first_to_go), 0);
    assert_int_equal(confined(has_nothing_to_gain), 0);
    assert_int_equal(confined(has_limits), 0);
#ifndef __SANITIZE_ADDRESS__
    assert_int_equal(confined(takes_a_gigabyte), 0);
#endif
    signal(SIGALRM, SIG_IGN);
    assert_int_equal(confined(hangs), 128 + SIGALRM);
    signal(SIGALRM, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_is_bounded),
        cmocka_unit_test(sleep_earns_a_second_at_most),
        cmocka_unit_test(the_cage_is_closed),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
