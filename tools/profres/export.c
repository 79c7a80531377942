/* profres export: a profile in the form that something else reads. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/record/reader.h"
#include "common/record/schema.h"
#include "tools/profres/export/feed.h"
#include "tools/profres/profres.h"

/* How often to look for more. */
#define FOLLOW_MS 500

static const struct pfr_format *const formats[] = {
    &pfr_format_csv,         &pfr_format_jsonl, &pfr_format_influx,
    &pfr_format_openmetrics, &pfr_format_duct,  &pfr_format_prmon,
};

struct run {
    const struct pfr_format *format;
    struct pfr_export export;
    const char *output, *keys;
    bool follow;
    struct pfr_told *told; /* what Slurm said of each argument */
    struct pfr_feed **feeds;
    size_t count, room;
};

static void print_help(FILE *out)
{
    fputs("usage: profres export -f FORMAT [option...] JOB|PATH...\n\n"
          "Writes profiles in the form that another program reads, all nodes and steps of\n"
          "what is named, to standard output.\n\n"
          "  -f, --format=FORMAT  one of:\n",
          out);
    for (size_t i = 0; i < PFR_COUNT(formats); i++)
        fprintf(out, "    %-12s %s\n", formats[i]->name, formats[i]->help);
    fputs("  -m, --metrics=KEYS   which measurements, as in 'cgroup_*,ps_rss_total' (csv,\n"
          "                       influx)\n"
          "  -o, --output=PATH    a file to write to; of duct and prmon the directory in\n"
          "                       which they put theirs\n"
          "  -F, --follow         go on while the job runs (csv, jsonl, influx)\n"
          "  -h, --help           this text\n\n"
          "Exit status 1: something could not be read or written. See profres-export(1).\n",
          out);
}

static int usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int usage(const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    pfr_error("%s; see 'profres export --help'", text);
    return PFR_EXIT_USAGE;
}

/* ---- what is to be written ---- */

static int add_feed(struct run *run, const struct pfr_found *found, const char *node)
{
    for (size_t i = 0; i < run->count; i++)
        if (pfr_feed_is_of(run->feeds[i], found, node))
            return 0;
    if (run->count == run->room) {
        size_t room = run->room ? 2 * run->room : 16;
        struct pfr_feed **feeds = realloc(run->feeds, room * sizeof(*feeds));

        if (!feeds)
            return -ENOMEM;
        run->feeds = feeds;
        run->room = room;
    }
    run->feeds[run->count] = pfr_feed_new(found, node);
    if (!run->feeds[run->count])
        return -ENOENT;
    run->count++;
    return 1;
}

static void add_nodes(struct run *run, const struct pfr_found *found)
{
    PFR_AUTO_FREE char **nodes = NULL;

    if (found->node) {
        add_feed(run, found, found->node);
        return;
    }
    nodes = pfr_found_nodes(found);
    for (char **node = nodes; node && *node; node++)
        add_feed(run, found, *node);
}

/* Finds what the words name; the number of those that name nothing. */
static int find_all(struct run *run, char **words, bool again)
{
    int missing = 0;

    for (int i = 0; words[i]; i++) {
        struct pfr_finds finds = { .told = &run->told[i] };
        int r = pfr_find(&finds, words[i]);

        if (r <= 0 && !again) {
            pfr_find_explain(words[i], r);
            missing++;
        }
        for (size_t k = 0; k < finds.count; k++)
            add_nodes(run, &finds.found[k]);
        pfr_finds_release(&finds);
    }
    return missing;
}

/* ---- writing ---- */

static bool read_feed(struct run *run, struct pfr_feed *feed)
{
    int r = pfr_feed_read(feed, &run->export, run->format);

    if (r >= 0)
        return true;
    pfr_error("cannot read %s/%s: %s", feed->found.dir, feed->name, strerror(-r));
    return false;
}

/* False when something of it was lost. */
static bool end_feed(struct run *run, struct pfr_feed *feed)
{
    if (feed->malformed)
        pfr_error("%s/%s: %llu lines could not be read and were passed over", feed->found.dir,
                  feed->name, (unsigned long long)feed->malformed);
    if (run->format->end) {
        feed->source.summary = pfr_feed_summary(feed);
        run->format->end(&run->export, &feed->source);
    }
    return !feed->refused;
}

static bool write_lines(struct run *run)
{
    bool good = true;

    for (size_t i = 0; i < run->count; i++) {
        struct pfr_feed *feed = run->feeds[i];

        good = read_feed(run, feed) && good;
        if (!feed->opened)
            pfr_error("there is no series %s/%s", feed->found.dir, feed->name);
        good = end_feed(run, feed) && feed->opened && good;
    }
    return good;
}

/* One more look at each; false when all are over, what was written last included. */
static bool follow_once(struct run *run, bool *good)
{
    bool live = false;

    for (size_t i = 0; i < run->count; i++) {
        struct pfr_feed *feed = run->feeds[i];
        bool over = pfr_feed_is_over(feed); /* before it is read: nothing comes after */

        *good = read_feed(run, feed) && *good;
        live = live || !over;
    }
    return live;
}

static bool follow(struct run *run, char **words)
{
    bool good = true;

    while (follow_once(run, &good) && good && fflush(run->export.out) == 0) {
        poll(NULL, 0, FOLLOW_MS);
        find_all(run, words, true); /* nodes and steps that have come since */
    }
    for (size_t i = 0; i < run->count; i++)
        good = end_feed(run, run->feeds[i]) && good;
    return good;
}

/* One that this version can read; else it is said why not. */
static struct json_object *load_summary(const struct pfr_feed *feed)
{
    struct json_object *summary = pfr_feed_summary(feed);
    struct json_object *schema = pfr_json_get(summary, "schema");
    const char *why = summary ? "it is of a version that this one cannot read" : strerror(errno);

    if (json_object_is_type(schema, json_type_string) &&
        pfr_schema_check(json_object_get_string(schema), PFR_SCHEMA_SUMMARY) >= 0)
        return summary;
    json_object_put(summary);
    pfr_error("cannot use %s/%s.json: %s", feed->found.dir, feed->found.node, why);
    return NULL;
}

static bool write_summaries(struct run *run)
{
    PFR_AUTO_FREE struct json_object **summaries = calloc(run->count + 1, sizeof(*summaries));
    size_t count = 0;

    if (!summaries)
        return false;
    for (size_t i = 0; i < run->count; i++) {
        summaries[count] = load_summary(run->feeds[i]);
        count += summaries[count] != NULL;
    }
    run->format->all(&run->export, summaries, count);
    for (size_t i = 0; i < count; i++)
        json_object_put(summaries[i]);
    return count == run->count;
}

/* ---- the command ---- */

static int take_format(struct run *run, const char *name)
{
    for (size_t i = 0; i < PFR_COUNT(formats); i++)
        if (strcmp(name, formats[i]->name) == 0) {
            run->format = formats[i];
            return 0;
        }
    return usage("there is no format '%s'", name);
}

/* 0: go on; else the exit status + 1. */
static int parse_options(struct run *run, int argc, char **argv)
{
    static const struct option options[] = { { "format", required_argument, NULL, 'f' },
                                             { "metrics", required_argument, NULL, 'm' },
                                             { "output", required_argument, NULL, 'o' },
                                             { "follow", no_argument, NULL, 'F' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    int option, r = 0;

    while (r == 0 && (option = getopt_long(argc, argv, "f:m:o:Fh", options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS + 1;
        }
        if (option == 'f')
            r = take_format(run, optarg);
        else if (option == 'm')
            run->keys = optarg;
        else if (option == 'o')
            run->output = optarg;
        else if (option == 'F')
            run->follow = true;
        else
            r = usage("that cannot be used");
    }
    if (r == 0 && !run->format)
        r = usage("a format is needed: -f csv");
    if (r == 0 && run->follow && !run->format->streams)
        r = usage("--follow cannot be used with %s, which is not a stream", run->format->name);
    if (r == 0 && optind == argc)
        r = usage("name a job or the directory of one");
    return r ? r + 1 : 0;
}

/* All measurements of the step, or those that were named. */
static int choose_columns(struct run *run)
{
    struct pfr_selection selection;
    char error[512];

    if (!run->keys) {
        memset(&run->export.columns, 0xff, sizeof(run->export.columns));
        return 0;
    }
    if (pfr_selection_parse(&selection, run->keys, error, sizeof(error)) < 0)
        return usage("%s", error);
    run->export.columns = selection.wanted;
    return 0;
}

static int open_output(struct run *run)
{
    run->export.dir = ".";
    run->export.out = stdout;
    if (!run->output)
        return 0;
    if (run->format->makes_files) {
        run->export.dir = run->output;
        return 0;
    }
    run->export.out = fopen(run->output, "we");
    if (run->export.out)
        return 0;
    pfr_error("cannot write %s: %s", run->output, strerror(errno));
    return PFR_EXIT_FAILURE;
}

static bool write_all(struct run *run, char **words)
{
    bool good;

    if (run->format->begin)
        run->format->begin(&run->export);
    if (run->format->summaries)
        good = write_summaries(run);
    else if (run->follow)
        good = follow(run, words);
    else
        good = write_lines(run);
    if (fflush(run->export.out) == 0 && !ferror(run->export.out))
        return good && !run->export.failed;
    pfr_error("cannot write %s: %s", run->output ? run->output : "the output", strerror(errno));
    return false;
}

int pfr_command_export(int argc, char **argv)
{
    struct run run = { 0 };
    int r = parse_options(&run, argc, argv), missing;
    bool good = false;

    if (r)
        return r - 1;
    if ((r = choose_columns(&run)))
        return r;
    run.told = calloc((size_t)(argc - optind), sizeof(*run.told));
    if (!run.told)
        return PFR_EXIT_FAILURE;
    missing = find_all(&run, argv + optind, false);
    if (run.count && (r = open_output(&run)) == 0)
        good = write_all(&run, argv + optind);
    for (size_t i = 0; i < run.count; i++)
        pfr_feed_free(run.feeds[i]);
    free(run.feeds);
    free(run.told);
    if (run.export.out && run.export.out != stdout && fclose(run.export.out) != 0)
        good = false;
    return good && !missing ? EXIT_SUCCESS : PFR_EXIT_FAILURE;
}
