/*
 * What a command costs: CPU and wall seconds, and its largest resident set, as
 * JSON. Its output goes nowhere. A large program that starts another one passes
 * its own size on to it in these accounts; this one is small.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    int64_t begun = pfr_clock_ns(CLOCK_MONOTONIC);
    struct rusage usage;
    pid_t pid = argc > 1 ? vfork() : -1;
    int status, null;

    if (pid == 0) {
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, 1);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0) {
        fprintf(stderr, "%s: failed\n", argc > 1 ? argv[1] : "usage: cost COMMAND [ARGUMENT...]");
        return EXIT_FAILURE;
    }
    printf("{\"cpu\": %.6f, \"wall\": %.6f, \"rss\": %ld}\n",
           seconds(usage.ru_utime) + seconds(usage.ru_stime),
           (double)(pfr_clock_ns(CLOCK_MONOTONIC) - begun) / (double)PFR_NS_PER_S,
           usage.ru_maxrss * 1024);
    return EXIT_SUCCESS;
}
