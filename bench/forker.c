/*
 * Processes to be looked at: N children, idle or a little busy, for some
 * seconds or until standard input ends. Says "ready" when all of them stand.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HERD_MAX 16384
#define CHUNK (1 << 20)
#define RESIDENT (16 << 20)

static pid_t children[HERD_MAX];
static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
    (void)signal;
    stop = 1;
}

/*
 * A tenth of a millisecond of work, many bytes of I/O and a moving resident
 * set, fifty times a second: the rows of a series then have digits in them,
 * also where an hour is simulated in seconds.
 */
static void be_busy(char *shared, int number)
{
    int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
    struct timespec pause = { .tv_nsec = 20000000 };
    size_t resident = RESIDENT / 2 + (size_t)number % 64 * 65536;

    for (unsigned round = 0;; round++) {
        size_t step = (size_t)(round % 16) * 65536;

        memset(shared + resident, 0, step);
        if (read(zero, shared, 4096) < 0 || write(null, shared, CHUNK) < 0)
            _exit(EXIT_FAILURE);
        if (round % 16 == 15)
            madvise(shared + resident, step, MADV_DONTNEED);
        nanosleep(&pause, NULL);
    }
}

static void child(char *shared, int number, int ready, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    if (shared)
        memset(shared, 1, RESIDENT / 2 + (size_t)number % 64 * 65536);
    if (write(ready, "", 1) < 0)
        _exit(EXIT_FAILURE);
    close(ready);
    if (shared)
        be_busy(shared, number);
    for (;;)
        pause();
}

static void reap(int count)
{
    for (int i = 0; i < count; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i < count; i++)
        waitpid(children[i], NULL, 0);
}

/* How many there are when all that could be made stand. */
static int raise_herd(int count, char *shared)
{
    pid_t self = getpid();
    int ready[2], made = 0, standing = 0;
    char bytes[4096];
    ssize_t n;

    if (pipe2(ready, O_CLOEXEC) < 0)
        return 0;
    for (; made < count && !stop; made++) {
        pid_t pid = fork();

        if (pid == 0)
            child(shared, made, ready[1], self);
        if (pid < 0)
            break;
        children[made] = pid;
    }
    close(ready[1]);
    while (standing < made && (n = read(ready[0], bytes, sizeof(bytes))) != 0 && !stop)
        standing += n > 0 ? (int)n : 0;
    close(ready[0]);
    return made;
}

static void wait_for_end(double seconds)
{
    struct timespec left = { .tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };
    char byte;

    if (seconds > 0)
        while (!stop && nanosleep(&left, &left) < 0 && errno == EINTR)
            ;
    else
        while (!stop && read(STDIN_FILENO, &byte, 1) > 0)
            ;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = on_signal };
    double seconds = 0;
    char *shared = NULL;
    int option, count, made;

    while ((option = getopt(argc, argv, "bt:")) >= 0) {
        if (option == 'b')
            shared = mmap(NULL, 2 * RESIDENT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                          -1, 0);
        else if (option == 't')
            seconds = strtod(optarg, NULL);
    }
    count = optind < argc ? atoi(argv[optind]) : 0;
    if (count < 1 || count > HERD_MAX || shared == MAP_FAILED) {
        fputs("usage: forker [-b] [-t SECONDS] N\n", stderr);
        return 2;
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    made = raise_herd(count, shared);
    if (made == count) {
        puts("ready");
        fflush(stdout);
        wait_for_end(seconds);
    }
    reap(made);
    return made == count ? EXIT_SUCCESS : EXIT_FAILURE;
}
