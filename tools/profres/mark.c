/*
 * profres mark: a word from inside a step to its profiler. Where there is none
 * it does nothing, quickly and with success: a script that marks its phases runs
 * everywhere.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mark.h"
#include "tools/profres/profres.h"

/* How often to look for a profiler that is still opening its files. */
#define AGAIN_MS 5

static void print_help(FILE *out)
{
    fputs("usage: profres mark NAME\n"
          "       profres mark --end\n"
          "       profres mark --event KEY=VALUE...\n\n"
          "From inside a step that is profiled: says that a phase begins, or ends, or that\n"
          "something has happened. What the step used in each phase is in the files and in\n"
          "'profres report'. Beginning a phase ends the one that this task has open.\n\n"
          "  -e, --end        end the phase that this task has open\n"
          "  -E, --event      write the pairs KEY=VALUE down with the time\n"
          "  -v, --verbose    say on stderr when nothing was recorded, and why\n"
          "  -h, --help       this text\n\n"
          "Does nothing, with exit status 0, where there is no profiler. Exit status 2: it\n"
          "was called wrongly. See profres-mark(1).\n",
          out);
}

static int usage(const char *what)
{
    pfr_error("%s; see 'profres mark --help'", what);
    return PFR_EXIT_USAGE;
}

/* Words that end in '\0', one behind the other. */
struct message {
    char text[PFR_MARK_SIZE];
    size_t length;
    bool full;
};

static void add_word(struct message *message, const char *word)
{
    size_t size = strlen(word) + 1;

    if (size > sizeof(message->text) - message->length) {
        message->full = true;
        return;
    }
    memcpy(message->text + message->length, word, size);
    message->length += size;
}

/* Who marks: a task of Slurm by its rank. */
static const char *own_rank(void)
{
    const char *rank = getenv("SLURM_PROCID");

    return rank && *rank && strspn(rank, "0123456789") == strlen(rank) ? rank : "-";
}

/*
 * The profiler opens its files while the tasks begin: where its summary is not
 * there yet, the socket may still come.
 */
static bool may_come(const char *path)
{
    const char *name = strrchr(path, '/');
    size_t length = strlen(path), dir = name ? (size_t)(name - path) + 1 : 0;
    char summary[PATH_MAX];

    /* DIR/.NODE.mark to DIR/NODE.json */
    return length > dir + 6 && length < sizeof(summary) - 8 &&
           snprintf(summary, sizeof(summary), "%.*s%.*s.json", (int)dir, path,
                    (int)(length - dir - 6), path + dir + 1) > 0 &&
           access(summary, F_OK) < 0;
}

static int deliver(const char *path, const struct message *message)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + PFR_MARK_WAIT_MS * INT64_C(1000000);
    int left = PFR_MARK_WAIT_MS, r;

    while ((r = pfr_mark_send(path, message->text, message->length, left)) == -ENOENT &&
           left > AGAIN_MS && may_come(path)) {
        poll(NULL, 0, AGAIN_MS);
        left = (int)((end - pfr_clock_ns(CLOCK_MONOTONIC)) / 1000000);
    }
    return r;
}

/* Whatever happens, it is a success: a job does not fail for a mark. */
static int send_message(const struct message *message, bool verbose)
{
    const char *path = getenv(PFR_MARK_VARIABLE);
    int r = path && *path ? deliver(path, message) : -EDESTADDRREQ;

    if (!verbose || r > 0)
        return EXIT_SUCCESS;
    if (r == 0)
        fputs("profres: the profiler did not answer in time; the mark may be lost\n", stderr);
    else if (r == -EDESTADDRREQ)
        fputs("profres: no profiler here: " PFR_MARK_VARIABLE " is not set\n", stderr);
    else
        pfr_error("no profiler at %s: %s", path, strerror(-r));
    return EXIT_SUCCESS;
}

static int send_event(struct message *message, char **pairs, bool verbose)
{
    if (!*pairs)
        return usage("an event needs at least one KEY=VALUE");
    add_word(message, "event");
    add_word(message, own_rank());
    for (; *pairs; pairs++) {
        if (!strchr(*pairs, '=') || **pairs == '=')
            return usage("an event is told as KEY=VALUE");
        add_word(message, *pairs);
    }
    if (message->full)
        return usage("an event may have 4000 characters");
    return send_message(message, verbose);
}

static int send_phase(struct message *message, const char *name, bool verbose)
{
    char cut[1024];

    if (!*name)
        return usage("a phase needs a name");
    snprintf(cut, sizeof(cut), "%s", name); /* the profiler keeps less than that */
    add_word(message, "phase");
    add_word(message, own_rank());
    add_word(message, cut);
    return send_message(message, verbose);
}

int pfr_command_mark(int argc, char **argv)
{
    static const struct option options[] = { { "end", no_argument, NULL, 'e' },
                                             { "event", no_argument, NULL, 'E' },
                                             { "verbose", no_argument, NULL, 'v' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    static struct message message;
    bool end = false, event = false, verbose = false;
    int option;

    while ((option = getopt_long(argc, argv, "eEvh", options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS;
        }
        if (option == '?')
            return usage("that is no option");
        end = end || option == 'e';
        event = event || option == 'E';
        verbose = verbose || option == 'v';
    }
    argv += optind;
    argc -= optind;
    if (end && event)
        return usage("--end and --event are two calls");
    if (event)
        return send_event(&message, argv, verbose);
    if (end && argc == 0) {
        add_word(&message, "end");
        add_word(&message, own_rank());
        return send_message(&message, verbose);
    }
    if (end || argc != 1)
        return usage(end ? "--end takes no name" : "a phase has one name; put it in quotes");
    return send_phase(&message, argv[0], verbose);
}
