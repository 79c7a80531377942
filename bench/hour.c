/*
 * The size of a series after so much simulated time: the processes are real,
 * the clock is not. One JSON object on stdout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/rig.h"
#include "common/base/parse.h"

static struct pfr_rig rig;

int main(int argc, char **argv)
{
    int64_t seconds = 3600, interval = PFR_NS_PER_S, largest = 0, begun = pfr_rig_cpu();
    const char *dir = NULL;
    pid_t pid = 0;
    int option;

    while ((option = getopt(argc, argv, "p:d:s:i:")) >= 0) {
        if (option == 'p')
            pid = (pid_t)atoi(optarg);
        else if (option == 'd')
            dir = optarg;
        else if (option == 's')
            seconds = atoll(optarg);
        else if (option == 'i' && !pfr_parse_duration(optarg, &interval))
            dir = NULL;
    }
    if (pid < 1 || !dir || seconds < 1 || optind < argc) {
        fputs("usage: hour -p PID -d DIR [-s SECONDS] [-i INTERVAL]\n", stderr);
        return 2;
    }
    pfr_rig_start(&rig, pid, dir, interval);
    while (rig.passed < seconds * PFR_NS_PER_S) {
        pfr_rig_tick(&rig);
        if (rig.session.series.seal.bytes > largest)
            largest = rig.session.series.seal.bytes;
    }
    printf("{\"processes\": %u, \"seconds\": %lld, \"interval\": %g, \"bytes\": %lld, "
           "\"largest\": %lld, \"window\": %g, \"windows\": %lu, \"cpu\": %.2f}\n",
           rig.session.processes.live, (long long)seconds, (double)interval / PFR_NS_PER_S,
           (long long)rig.session.series.seal.bytes, (long long)largest,
           (double)rig.session.series.span / PFR_NS_PER_S,
           (unsigned long)rig.session.run.num_windows,
           (double)(pfr_rig_cpu() - begun) / PFR_NS_PER_S);
    pfr_rig_release(&rig);
    return EXIT_SUCCESS;
}
