/*
 * A sampler that does as it is told, for the tests of the plugin: writes its
 * arguments, then what it hears, to RECORD and answers according to MODE.
 *
 *   fake_sampler MODE RECORD --control=FD ...
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/control.h"

static bool brief;

static void answer(const char *mode, int control, const char *text)
{
    int pid;

    if (strcmp(mode, "mute") == 0)
        return;
    if (strcmp(mode, "refuse") == 0 && strncmp(text, "start", 5) == 0)
        pfr_control_send(control, "refuse nothing can be measured here");
    for (int i = 0; i < 3 && strcmp(mode, "warn") == 0 && strcmp(text, "go") == 0; i++)
        pfr_control_send(control, "warn trouble %d", i);
    if (strcmp(text, "go") == 0)
        pfr_control_send(control, "ready");
    if (sscanf(text, "exit %d", &pid) == 1)
        pfr_control_send(control, "done %d", pid);
    if (strcmp(text, "end") == 0 && strcmp(mode, "tardy") == 0)
        usleep(200000);
    if (strcmp(text, "end") == 0 && brief) {
        pfr_control_send(control, "say the first line");
        pfr_control_send(control, "say the second line");
        pfr_control_send(control, "bye");
    }
}

/* What is open beyond what it should have: each may keep srun waiting. */
static void record_surroundings(FILE *record)
{
    char cwd[4096];
    extern char **environ;

    for (int fd = 4; fd < 256; fd++)
        if (fd != fileno(record) && fcntl(fd, F_GETFD) >= 0)
            fprintf(record, "open %d\n", fd);
    for (char **variable = environ; *variable; variable++)
        if (strncmp(*variable, "SECRET", 6) == 0)
            fprintf(record, "env %s\n", *variable);
    fprintf(record, "cwd %s\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
    fprintf(record, "session %s\n", getsid(0) == getpid() ? "own" : "other");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "exit";
    FILE *record = argc > 2 ? fopen(argv[2], "ae") : NULL;
    unsigned left;
    char text[8192];
    ssize_t n;

    if (!record)
        return EXIT_FAILURE;
    left = alarm(60); /* whatever happens, it does not stay */
    setvbuf(record, NULL, _IOLBF, 0);
    for (int i = 3; i < argc; i++) {
        fprintf(record, "arg %s\n", argv[i]);
        brief = brief || strcmp(argv[i], "--brief") == 0;
    }
    record_surroundings(record);
    fprintf(record, "alarm %s\n", left > 0 && left <= 10 ? "set" : "not set");
    fprintf(record, "pid %d\n", (int)getpid());
    if (strcmp(mode, "exit") == 0)
        return EXIT_SUCCESS;
    if (strcmp(mode, "deaf") == 0)
        return pause();
    if (strcmp(mode, "stopped") == 0)
        raise(SIGSTOP);
    while (strcmp(mode, "flood") == 0) /* until nobody is there */
        if (pfr_control_send(3, "warn something is wrong") == -EPIPE)
            return EXIT_FAILURE;
    while ((n = pfr_control_receive(3, text, sizeof(text), 60000)) > 0) {
        fprintf(record, "msg %s\n", text);
        answer(mode, 3, text);
        if (strcmp(text, "end") == 0)
            fprintf(record, "answered end\n");
    }
    fprintf(record, n == 0 ? "closed\n" : "nobody said anything\n");
    return EXIT_SUCCESS;
}
