/*
 * CPU time of one tick of a session against the bare pread of the very same
 * files, in alternating rounds of one process. One JSON object on stdout, all
 * times in microseconds per tick.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/rig.h"
#include "common/base/parse.h"

#define ROUNDS_MAX 200

/* Every cost has its list of rounds: the machine is noisy, so medians and minima. */
enum cost { TICK, WINDOW, BARE, LIST, CGROUP, RATIO, COSTS };

static const char *const cost_names[COSTS] = {
    [TICK] = "tick", [WINDOW] = "window", [BARE] = "bare",
    [LIST] = "list", [CGROUP] = "cgroup", [RATIO] = "ratio",
};

static double costs[COSTS][ROUNDS_MAX];
static struct pfr_rig rig;

/* ---- the bare reader ---- */

static int *bare_fds;
static uint32_t bare_count;

/*
 * The session's own open files: the very same ones, and a second set would
 * pass the limit of open files at 4096 processes.
 */
static void gather_bare(void)
{
    const struct pfr_procs *procs = &rig.session.procs;

    bare_fds = calloc(procs->fds_open, sizeof(*bare_fds));
    for (uint32_t slot = 0; slot < procs->fds_capacity && bare_fds; slot++)
        for (int file = 0; file < PFR_PROCFILES; file++)
            if (procs->fds[slot][file] > 0)
                bare_fds[bare_count++] = procs->fds[slot][file];
    if (bare_count < 3 * rig.session.processes.live) {
        fputs("not all files are kept open: raise the limit (ulimit -n)\n", stderr);
        exit(EXIT_FAILURE);
    }
}

static void read_bare(void)
{
    static char text[8192];

    for (uint32_t i = 0; i < bare_count; i++)
        if (pread(bare_fds[i], text, sizeof(text) - 1, 0) <= 0) {
            perror("pread");
            exit(EXIT_FAILURE);
        }
}

/* ---- rounds ---- */

static double per_tick(int64_t ns, int ticks)
{
    return ticks ? (double)ns / ticks / 1000 : 0;
}

/*
 * Ours and bare in turn, tick by tick, so that what disturbs one disturbs the
 * other. What ticks that close a window take beyond a plain one is counted
 * apart, spread over all.
 */
static void run_round(int round, int ticks, bool only_ours)
{
    int64_t plain = 0, closing = 0, bare = 0;
    int closed = 0;

    for (int i = 0; i < ticks; i++) {
        uint64_t windows = rig.session.run.num_windows;
        int64_t before = pfr_rig_cpu(), between;

        pfr_rig_tick(&rig);
        between = pfr_rig_cpu();
        if (rig.session.run.num_windows == windows) {
            plain += between - before;
        } else {
            closing += between - before;
            closed++;
        }
        if (!only_ours)
            read_bare();
        bare += pfr_rig_cpu() - between;
    }
    costs[TICK][round] = per_tick(plain, ticks - closed);
    costs[WINDOW][round] = per_tick(closing, ticks) - costs[TICK][round] * closed / ticks;
    costs[BARE][round] = per_tick(bare, ticks);
    costs[RATIO][round] = costs[TICK][round] / costs[BARE][round];
}

/* What does not grow with the processes, or hardly. */
static void run_parts(int round, int ticks)
{
    struct pfr_sample sample;
    int64_t before = pfr_rig_cpu(), between;

    for (int i = 0; i < ticks; i++)
        pfr_track_list(&rig.session.track);
    between = pfr_rig_cpu();
    costs[LIST][round] = per_tick(between - before, ticks);
    memset(&sample, 0, sizeof(sample));
    for (int i = 0; i < ticks; i++)
        pfr_cgroup_collect(&rig.session.cgroup, &sample);
    costs[CGROUP][round] = per_tick(pfr_rig_cpu() - between, ticks);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void print_result(int rounds)
{
    printf("{\"processes\": %u, \"files\": %u, \"from\": \"%s\", \"windows\": %lu",
           rig.session.processes.live, bare_count, rig.session.info.process_source,
           (unsigned long)rig.session.run.num_windows);
    for (int i = 0; i < COSTS; i++) {
        qsort(costs[i], (size_t)rounds, sizeof(costs[i][0]), compare_doubles);
        printf(", \"%s\": {\"median\": %.3f, \"min\": %.3f}", cost_names[i], costs[i][rounds / 2],
               costs[i][0]);
    }
    puts("}");
}

int main(int argc, char **argv)
{
    int option, ticks = 30, rounds = 7;
    const char *dir = NULL;
    bool only_ours = false; /* for a profiler */
    pid_t pid = 0;

    while ((option = getopt(argc, argv, "p:d:n:r:o")) >= 0) {
        if (option == 'p')
            pid = (pid_t)atoi(optarg);
        else if (option == 'd')
            dir = optarg;
        else if (option == 'n')
            ticks = atoi(optarg);
        else if (option == 'r')
            rounds = atoi(optarg);
        else if (option == 'o')
            only_ours = true;
    }
    if (pid < 1 || !dir || ticks < 1 || rounds < 1 || rounds > ROUNDS_MAX) {
        fputs("usage: tick -p PID -d DIR [-n TICKS] [-r ROUNDS] [-o]\n", stderr);
        return 2;
    }
    pfr_rig_start(&rig, pid, dir, PFR_NS_PER_S);
    for (int i = 0; i < 40; i++) /* past the eager beginning; buffers have grown */
        pfr_rig_tick(&rig);
    gather_bare();
    read_bare();
    for (int round = 0; round < rounds; round++) {
        run_round(round, ticks, only_ours);
        if (!only_ours)
            run_parts(round, ticks);
    }
    print_result(rounds);
    pfr_rig_release(&rig);
    free(bare_fds);
    return EXIT_SUCCESS;
}
