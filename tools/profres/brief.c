/*
 * profres brief: the few lines about one step, from the summaries of its nodes.
 * srun runs it when a step is over; people may, too.
 */
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/judge/brief.h"
#include "tools/profres/find.h"
#include "tools/profres/plot/small.h"
#include "tools/profres/profres.h"

static void print_help(FILE *out)
{
    fputs("usage: profres brief [--chart] [--wait MS] [--nodes N] DIR\n\n"
          "Says in a few lines how a step went. DIR is the step's directory, as in\n"
          "slurm-4711.profres/0; the nodes of a step are put together.\n\n"
          "      --wait=MS   wait so long for profiles that are not complete (default 0)\n"
          "      --nodes=N   ... and for so many of them (default: those that are there)\n"
          "  -c, --chart     a small chart of memory and cores below; of several nodes, that of\n"
          "                  the one whose memory is shown\n"
          "  -q, --quiet     say nothing when there is no profile\n"
          "  -h, --help      this text\n",
          out);
}

/* Those of the step's nodes, and how many of them are as they will stay. */
struct profiles {
    struct pfr_facts *facts;
    size_t count;
    int64_t complete;
};

static void load(const char *path, struct profiles *profiles)
{
    struct pfr_found found = { .dir = (char *)path };
    PFR_AUTO_FREE char **nodes = pfr_found_nodes(&found);
    PFR_AUTO_FD dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = 0;

    free(profiles->facts);
    *profiles = (struct profiles){ 0 };
    while (nodes && nodes[count])
        count++;
    if (dir < 0 || count == 0 || !(profiles->facts = calloc(count, sizeof(*profiles->facts))))
        return;
    for (size_t i = 0; i < count; i++) {
        struct pfr_facts *facts = &profiles->facts[profiles->count];

        if (pfr_facts_load(facts, dir, nodes[i]) <= 0)
            continue;
        profiles->count++;
        profiles->complete += facts->progress == PFR_PROGRESS_COMPLETE ||
                              facts->progress == PFR_PROGRESS_LOST;
    }
}

/* A step whose directory is not there by now could not make one. */
#define NOTHING_MS 25

/* Until so many are complete, or all that are there; R75. */
static void await(const char *path, int64_t nodes, int64_t wait_ms, struct profiles *profiles)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + wait_ms * 1000000;
    int64_t soon = pfr_clock_ns(CLOCK_MONOTONIC) + NOTHING_MS * 1000000;

    for (;;) {
        load(path, profiles);
        if (pfr_clock_ns(CLOCK_MONOTONIC) >= end ||
            (profiles->count == 0 && pfr_clock_ns(CLOCK_MONOTONIC) >= soon) ||
            (profiles->complete > 0 &&
             profiles->complete >= (nodes ? nodes : (int64_t)profiles->count)))
            return;
        poll(NULL, 0, 5);
    }
}

int pfr_command_brief(int argc, char **argv)
{
    static const struct option options[] = { { "wait", required_argument, NULL, 'w' },
                                             { "nodes", required_argument, NULL, 'n' },
                                             { "chart", no_argument, NULL, 'c' },
                                             { "quiet", no_argument, NULL, 'q' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    struct profiles profiles = { 0 };
    struct pfr_facts merged;
    int64_t wait_ms = 0, nodes = 0;
    bool quiet = false, chart = false;
    int option;

    while ((option = getopt_long(argc, argv, "chq", options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS;
        }
        if (option == 'q' || option == 'c') {
            quiet = quiet || option == 'q';
            chart = chart || option == 'c';
            continue;
        }
        if (option == '?' || !pfr_parse_int(optarg, option == 'w' ? &wait_ms : &nodes)) {
            fputs("profres: see 'profres brief --help'\n", stderr);
            return PFR_EXIT_USAGE;
        }
    }
    if (argc - optind != 1) {
        print_help(stderr);
        return PFR_EXIT_USAGE;
    }
    await(argv[optind], nodes, wait_ms, &profiles);
    if (profiles.count == 0) {
        if (!quiet)
            pfr_error("no profile in %s", argv[optind]);
        free(profiles.facts);
        return PFR_EXIT_FAILURE;
    }
    pfr_facts_merge(&merged, profiles.facts, profiles.count);
    free(profiles.facts);
    pfr_brief_print(stdout, &merged, argv[optind], pfr_clock_ns(CLOCK_REALTIME));
    if (chart)
        pfr_chart_of_files(stdout, argv[optind], merged.node);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : PFR_EXIT_FAILURE;
}
