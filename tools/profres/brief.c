/*
 * profres brief: the few lines about one step, from the summaries of its nodes.
 * srun runs it when a step is over; people may, too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/record/brief.h"
#include "common/record/reader.h"
#include "tools/profres/profres.h"

static void print_help(FILE *out)
{
    fputs("usage: profres brief [--wait MS] [--nodes N] DIR\n\n"
          "Says in a few lines how a step went. DIR is the step's directory, as in\n"
          "slurm-4711.profres/0; the nodes of a step are put together.\n\n"
          "      --wait=MS   wait so long for profiles that are not complete (default 0)\n"
          "      --nodes=N   ... and for so many of them (default: those that are there)\n"
          "  -q, --quiet     say nothing when there is no profile\n"
          "  -h, --help      this text\n",
          out);
}

static bool is_summary(const char *name)
{
    size_t n = strlen(name);

    return name[0] != '.' && n > 5 && strcmp(name + n - 5, ".json") == 0;
}

static bool is_complete(struct json_object *summary)
{
    const char *state = json_object_get_string(pfr_json_get(summary, "state"));

    return state && strcmp(state, "COMPLETE") == 0;
}

/* An array of the summaries in the directory; *complete counts those that are. */
static struct json_object *load(const char *path, int *complete)
{
    PFR_AUTO_DIR *dir = opendir(path);
    struct json_object *all = json_object_new_array(), *summary;
    struct dirent *entry;

    *complete = 0;
    while (dir && (entry = readdir(dir))) {
        if (!is_summary(entry->d_name) || !(summary = pfr_summary_load(dirfd(dir), entry->d_name)))
            continue;
        *complete += is_complete(summary);
        json_object_array_add(all, summary);
    }
    return all;
}

/* A step whose directory is not there by now could not make one. */
#define NOTHING_MS 100

/* Until so many are complete, or all that are there; R75. */
static struct json_object *await(const char *path, int64_t nodes, int64_t wait_ms)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + wait_ms * 1000000;
    int64_t soon = pfr_clock_ns(CLOCK_MONOTONIC) + NOTHING_MS * 1000000;

    for (;;) {
        int complete;
        struct json_object *all = load(path, &complete);
        int there = (int)json_object_array_length(all);

        if (pfr_clock_ns(CLOCK_MONOTONIC) >= end ||
            (there == 0 && pfr_clock_ns(CLOCK_MONOTONIC) >= soon) ||
            (complete > 0 && complete >= (nodes ? nodes : there)))
            return all;
        json_object_put(all);
        poll(NULL, 0, 10);
    }
}

int pfr_command_brief(int argc, char **argv)
{
    static const struct option options[] = { { "wait", required_argument, NULL, 'w' },
                                             { "nodes", required_argument, NULL, 'n' },
                                             { "quiet", no_argument, NULL, 'q' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    PFR_AUTO_JSON *all = NULL, *merged = NULL;
    int64_t wait_ms = 0, nodes = 0;
    bool quiet = false;
    int option;

    while ((option = getopt_long(argc, argv, "hq", options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS;
        }
        if (option == 'q') {
            quiet = true;
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
    all = await(argv[optind], nodes, wait_ms);
    if (json_object_array_length(all) == 0) {
        if (!quiet)
            fprintf(stderr, "profres: no profile in %s\n", argv[optind]);
        return PFR_EXIT_FAILURE;
    }
    merged = pfr_brief_merge(all);
    pfr_brief_print(stdout, merged, argv[optind]);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : PFR_EXIT_FAILURE;
}
