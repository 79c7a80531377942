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

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && strcmp(name + n - k, end) == 0;
}

static bool is_summary(const char *name)
{
    return name[0] != '.' && ends_with(name, ".json") && !ends_with(name, ".lost.json");
}

/* How the tasks ended, of those of which the summary does not know it. */
static void add_ends(struct json_object *tasks, struct json_object *ended)
{
    static const char *const members[] = { "end_seconds", "exit", "signal" };

    for (size_t i = 0; tasks && ended && i < json_object_array_length(tasks); i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        for (size_t k = 0; k < json_object_array_length(ended); k++) {
            struct json_object *other = json_object_array_get_idx(ended, k), *value;

            if (pfr_json_get(task, "end_seconds") ||
                !json_object_equal(pfr_json_get(task, "rank"), pfr_json_get(other, "rank")))
                continue;
            for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)
                if ((value = pfr_json_get(other, members[m])))
                    pfr_json_add(task, members[m], json_object_get(value));
        }
    }
}

/*
 * NODE.lost.json: what slurmstepd read itself when the sampler was gone. These
 * are later and of the kernel: they take the place of what was sampled. 1 when
 * nothing more will come of that node.
 */
static int add_lost(int dir, const char *name, struct json_object *all)
{
    PFR_AUTO_JSON *lost = pfr_summary_load(dir, name);
    struct json_object *node = pfr_json_get(pfr_json_get(lost, "info"), "node"), *elapsed;

    for (size_t i = 0; lost && i < json_object_array_length(all); i++) {
        struct json_object *summary = json_object_array_get_idx(all, i);

        if (!json_object_equal(node, pfr_json_get(pfr_json_get(summary, "info"), "node")))
            continue;
        json_object_object_foreach(pfr_json_get(lost, "measurements"), key, value)
            pfr_json_add(pfr_json_get(summary, "measurements"), key, json_object_get(value));
        add_ends(pfr_json_get(summary, "tasks"), pfr_json_get(lost, "tasks"));
        if ((elapsed = pfr_json_get(lost, "elapsed_seconds")))
            pfr_json_add(summary, "elapsed_seconds", json_object_get(elapsed));
        return !pfr_summary_is_complete(summary);
    }
    if (lost)
        json_object_array_add(all, json_object_get(lost));
    return lost != NULL;
}

/* An array of the summaries in the directory; *complete counts those that are final. */
static struct json_object *load(const char *path, int *complete)
{
    PFR_AUTO_DIR *dir = opendir(path);
    struct json_object *all = json_object_new_array(), *summary;
    struct dirent *entry;

    *complete = 0;
    while (dir && (entry = readdir(dir))) {
        if (!is_summary(entry->d_name) || !(summary = pfr_summary_load(dirfd(dir), entry->d_name)))
            continue;
        *complete += pfr_summary_is_complete(summary);
        json_object_array_add(all, summary);
    }
    if (dir)
        rewinddir(dir);
    while (dir && (entry = readdir(dir)))
        if (ends_with(entry->d_name, ".lost.json"))
            *complete += add_lost(dirfd(dir), entry->d_name, all);
    return all;
}

/* A step whose directory is not there by now could not make one. */
#define NOTHING_MS 25

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
        poll(NULL, 0, 5);
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
