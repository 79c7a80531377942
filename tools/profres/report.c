/* profres report: how jobs went, and what to ask for next time. */
#include "common/base/log.h"
#include "tools/profres/report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "tools/profres/detail.h"
#include "tools/profres/group.h"
#include "tools/profres/load.h"
#include "tools/profres/profres.h"

/* More jobs than this are seen as one group. */
#define EACH_MAX 3

#define SCHEMA "profres-report/1.0"
#define FORMAT_JOB "JobID,JobName,Elapsed,MemPeak,MemUse,Cores,AllocCPUS,Verdict"
#define FORMAT_STEP "JobID,Elapsed,ExitCode,MemPeak,MemUse,Cores,CoresP95,Verdict"
#define FORMAT_NODE "JobID,Node,NTasks,MemPeak,MemUse,CPUSeconds,Cores,Progress"

enum by { BY_VIEW, BY_JOB, BY_STEP, BY_NODE, BY_TASK, BY_PROCESS, BY_PHASE, BY_TIME,
          BY_FAMILY /* + pfr_scope */ };

struct command {
    struct pfr_report report;
    struct pfr_table_style style;
    struct pfr_table table;
    struct pfr_finds finds;
    struct pfr_group group;
    struct json_object *jobs; /* --json */
    const char **what;
    size_t what_count;
    enum by by;
    bool each, no_sacct;
    bool asked; /* sacct, for all jobs whose directories tell the number */
    int unusable;
    int64_t shown, malformed;
};

static void print_help(FILE *out)
{
    fputs("usage: profres report [option...] JOB|PATH...\n\n"
          "How a job went: what it used of what it had, why it failed, what to ask for.\n"
          "JOB is as with sacct: 4711, 4711.batch, 4711_[1-9], or a list with commas.\n\n"
          "  -j, --jobs=LIST      these jobs\n"
          "      --by=WHAT        a table by job, step, node, task, process, command,\n"
          "                       phase or time\n"
          "      --each           more than three jobs one by one, not as a group\n"
          "  -a, --admin          also what an administrator wants to know\n"
          "      --exact          percentiles from the samples, not from a histogram\n"
          "      --why            why what is not there was not measured\n"
          "      --stalled=TIME   without CPU and I/O for so long it is stalled (10m)\n"
          "  -D, --duplicates     also the earlier runs of jobs that were requeued\n"
          "      --no-sacct       do not ask sacct for what it has\n"
          "  -o, --format=LIST    FIELD[%[-]WIDTH],... ; -e, --helpformat lists the fields\n"
          "  -P, --parsable2      one row a line with '|' between; -p also at the end\n"
          "      --delimiter=TEXT another sign than '|'\n"
          "  -n, --noheader       without the names of the fields\n"
          "      --units=K|M|G    all memory in this unit\n"
          "      --json           as JSON; see profres-report(1)\n"
          "  -h, --help           this text\n",
          out);
}

static int take_by(struct command *command, const char *word)
{
    static const char *const words[] = { "",     "job",     "step",  "node",
                                         "task", "process", "phase", "time" };
    char families[256] = "";

    for (size_t i = BY_JOB; i < PFR_COUNT(words); i++)
        if (strcmp(word, words[i]) == 0) {
            command->by = (enum by)i;
            return 0;
        }
    PFR_EACH_FAMILY(family)
        if (strcmp(word, pfr_families[family].name) == 0) {
            command->by = (enum by)(BY_FAMILY + (int)family);
            return 0;
        }
    PFR_EACH_FAMILY(family)
        snprintf(families + strlen(families), sizeof(families) - strlen(families), "%s %s",
                 family + 1 < PFR_SCOPE_COUNT ? "," : " or", pfr_families[family].name);
    pfr_error("there is no --by=%s; it is job, step, node, process, phase, time%s", word, families);
    return -EINVAL;
}

static int take_stalled(struct command *command, const char *word)
{
    if (pfr_parse_duration(word, &command->report.stall) && command->report.stall > 0)
        return 0;
    pfr_error("--stalled=%s: it is a time as 90s, 10m or 1h", word);
    return -EINVAL;
}

enum { OPT_BY = 256, OPT_EACH, OPT_WHY, OPT_NO_SACCT, OPT_EXACT, OPT_STALLED };

static int take_option(struct command *command, int option, const char *argument)
{
    switch (option) {
    case OPT_BY:
        return take_by(command, argument);
    case OPT_EACH:
        command->each = true;
        return 0;
    case OPT_WHY:
        command->report.why = true;
        return 0;
    case OPT_EXACT:
        command->report.exact = true;
        return 0;
    case OPT_STALLED:
        return take_stalled(command, argument);
    case OPT_NO_SACCT:
        command->no_sacct = true;
        return 0;
    case 'a':
        command->report.admin = true;
        return 0;
    case 'D':
        command->finds.restarts = true;
        return 0;
    case 'j':
        command->what[command->what_count++] = argument;
        return 0;
    default:
        return pfr_table_option(&command->style, option, argument) > 0 ? 0 : -EINVAL;
    }
}

static const struct pfr_columns *columns_of(enum by by)
{
    return by >= BY_TASK ? pfr_detail_columns((enum pfr_detail_kind)(by - BY_TASK))
                         : pfr_line_columns();
}

/* 1 goes on, 0 is done, -EINVAL is wrong. */
static int take_options(struct command *command, int argc, char **argv)
{
    static const struct option options[] = { { "jobs", required_argument, NULL, 'j' },
                                             { "by", required_argument, NULL, OPT_BY },
                                             { "each", no_argument, NULL, OPT_EACH },
                                             { "admin", no_argument, NULL, 'a' },
                                             { "why", no_argument, NULL, OPT_WHY },
                                             { "duplicates", no_argument, NULL, 'D' },
                                             { "no-sacct", no_argument, NULL, OPT_NO_SACCT },
                                             { "exact", no_argument, NULL, OPT_EXACT },
                                             { "stalled", required_argument, NULL, OPT_STALLED },
                                             { "help", no_argument, NULL, 'h' },
                                             PFR_TABLE_OPTIONS,
                                             { 0 } };
    int option;

    while ((option = getopt_long(argc, argv, "j:aDh" PFR_TABLE_LETTERS, options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return 0;
        }
        if (take_option(command, option, optarg) < 0) {
            fputs("profres: see 'profres report --help'\n", stderr);
            return -EINVAL;
        }
    }
    for (int i = optind; i < argc; i++)
        command->what[command->what_count++] = argv[i];
    if (command->style.help_format) {
        pfr_columns_help(stdout, columns_of(command->by));
        return 0;
    }
    /* what only a table has means a table */
    if (command->by == BY_VIEW &&
        (command->style.format || (command->style.form != PFR_TABLE_PLAIN &&
                                   command->style.form != PFR_TABLE_JSON)))
        command->by = BY_STEP;
    if (command->what_count)
        return 1;
    fputs("profres: which job? Name it as with sacct, or name its directory.\n\n", stderr);
    print_help(stderr);
    return -EINVAL;
}

/* ---- one after another ---------------------------------------------------- */

static void show_detail(const struct pfr_detail *row, void *arg)
{
    struct command *command = arg;

    pfr_table_row(&command->table, row);
}

static void show_details(struct command *command, const struct pfr_report_job *job)
{
    for (size_t i = 0; i < job->step_count; i++)
        for (size_t k = 0; k < job->steps[i].node_count; k++) {
            const struct pfr_facts *node = &job->steps[i].nodes[k];
            int64_t r = pfr_detail_each((enum pfr_detail_kind)(command->by - BY_TASK),
                                        job->steps[i].found, node, show_detail, command,
                                        &command->malformed);

            if (r < 0) {
                pfr_error("%s of step %s: %s", node->node, node->step,
                          r == -EPROTO ? "the schema of its series is not known to this version;"
                                         " profres 0.1 reads schema 1, a newer one a later"
                                       : strerror((int)-r));
                command->unusable++;
            }
        }
}

static void show_line(struct command *command, const struct pfr_facts *facts,
                      enum pfr_verdict_id verdict, const struct pfr_found *found)
{
    struct pfr_facts whole = *facts;
    struct pfr_line line = { .facts = facts, .verdict = verdict,
                             .dir = found ? found->dir : NULL };

    line.sacct = pfr_sacct_find(&command->report.sacct, facts);
    whole.extent = PFR_EXTENT_JOB;
    line.sacct_job = pfr_sacct_find(&command->report.sacct, &whole);
    pfr_table_row(&command->table, &line);
}

static void show_rows(struct command *command, const struct pfr_report_job *job)
{
    if (command->by == BY_JOB) {
        show_line(command, &job->facts, job->verdict.id, job->steps[0].found);
        return;
    }
    for (size_t i = 0; i < job->step_count; i++) {
        const struct pfr_report_step *step = &job->steps[i];

        if (command->by == BY_STEP)
            show_line(command, &step->facts, step->verdict.id, step->found);
        for (size_t k = 0; command->by == BY_NODE && k < step->node_count; k++)
            show_line(command, &step->nodes[k],
                      pfr_verdict_of(&step->nodes[k], NULL, command->report.now), step->found);
    }
}

static void ask_sacct(struct command *command, const int64_t *jobs, size_t count)
{
    command->report.sacct = (struct pfr_sacct){ 0 };
    if (command->no_sacct)
        return;
    pfr_sacct_load(&command->report.sacct, jobs, count);
    command->no_sacct = !command->report.sacct.answered; /* nor will it the next time */
}

/* 4711 of "4711", "4711_3" and "4711+1": sacct tells of all its members. PFR_ABSENT of others. */
static int64_t number_of(const struct pfr_found *found)
{
    const char *text = found->job;
    int64_t number;

    return pfr_parse_digits(&text, &number) && (!*text || *text == '_' || *text == '+') ? number
                                                                                      : PFR_ABSENT;
}

/* Many jobs at once, as far as their directories tell their numbers. */
static void ask_sacct_of_all(struct command *command)
{
    PFR_AUTO_FREE int64_t *jobs = calloc(command->finds.count + 1, sizeof(*jobs));

    for (size_t i = 0; jobs && i < command->finds.count; i++)
        jobs[i] = number_of(&command->finds.found[i]);
    if (jobs)
        ask_sacct(command, jobs, command->finds.count);
    command->asked = jobs != NULL;
}

static int take_job(const struct pfr_load *load, void *arg)
{
    struct command *command = arg;
    struct pfr_sacct all = command->report.sacct;
    bool asked = command->asked && pfr_known(number_of(load->found));
    struct pfr_report_job *job;

    if (!asked)
        ask_sacct(command, &load->nodes[0].job_id, 1);
    job = pfr_report_job_new(&command->report, &command->finds, load->found, load->nodes,
                             load->node_count);
    if (!job)
        return -ENOMEM;
    if (command->by >= BY_TASK)
        show_details(command, job);
    else if (command->by != BY_VIEW)
        show_rows(command, job);
    else if (command->jobs)
        json_object_array_add(command->jobs, pfr_report_json(&command->report, job));
    else {
        if (command->shown)
            puts("");
        pfr_report_view(&command->report, job);
    }
    command->shown++;
    pfr_report_job_free(job);
    if (!asked) {
        pfr_sacct_release(&command->report.sacct);
        command->report.sacct = all;
    }
    return 0;
}

/* ---- as a group ------------------------------------------------------------ */

static int take_member(const struct pfr_load *load, void *arg)
{
    struct command *command = arg;

    command->shown++;
    return pfr_group_add(&command->group, load->facts,
                         pfr_verdict_of_parts(load->facts, load->nodes, load->node_count,
                                              command->report.now));
}

static size_t count_jobs(const struct pfr_finds *finds)
{
    size_t count = 0;

    for (size_t i = 0; i < finds->count; i++)
        count += i == 0 || strcmp(finds->found[i].job, finds->found[i - 1].job) != 0 ||
                 finds->found[i].restart != finds->found[i - 1].restart;
    return count;
}

/* False when something that was named is not there, which was said. */
static bool find_all(struct command *command)
{
    bool all = true;

    command->finds.denied = pfr_load_denied;
    command->finds.denied_arg = &command->unusable;
    for (size_t i = 0; i < command->what_count; i++) {
        int before = command->unusable, r = pfr_find(&command->finds, command->what[i]);

        if (r <= 0 && command->unusable == before)
            pfr_find_explain(command->what[i], r);
        all = all && r > 0;
    }
    return all;
}

static const char *format_of(enum by by)
{
    return by == BY_JOB ? FORMAT_JOB : by == BY_STEP ? FORMAT_STEP : by == BY_NODE ? FORMAT_NODE
                        : pfr_detail_format((enum pfr_detail_kind)(by - BY_TASK));
}

static void print_json(struct json_object *jobs)
{
    PFR_AUTO_JSON *object = json_object_new_object();

    pfr_json_add(object, "schema", json_object_new_string(SCHEMA));
    pfr_json_add(object, "jobs", jobs);
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
                                                    JSON_C_TO_STRING_SPACED |
                                                    JSON_C_TO_STRING_NOSLASHESCAPE));
}

static int show(struct command *command)
{
    bool all = find_all(command), json = command->style.form == PFR_TABLE_JSON;
    bool many = count_jobs(&command->finds) > EACH_MAX;
    bool group = command->by == BY_VIEW && !json && !command->each && many;
    struct pfr_wanted judged = { .numbers = pfr_facts_judged() };
    int r;

    command->report.no_last = command->by >= BY_TASK;
    if (command->by != BY_VIEW) {
        r = pfr_table_open(&command->table, &command->style, columns_of(command->by),
                           format_of(command->by), stdout);
        if (r < 0)
            return r == -EINVAL ? PFR_EXIT_USAGE : PFR_EXIT_FAILURE;
    } else if (json) {
        command->jobs = json_object_new_array();
    }
    if (many && !group)
        ask_sacct_of_all(command);
    r = pfr_load_all(&command->finds, true, group ? &judged : NULL, group ? take_member : take_job,
                     command);
    if (r < 0)
        pfr_error("%s", strerror(-r));
    if (group && command->shown)
        pfr_group_print(stdout, &command->group);
    if (command->jobs)
        print_json(command->jobs);
    pfr_table_close(&command->table);
    if (command->malformed)
        pfr_error("%lld damaged or unfinished lines were passed over",
                  (long long)command->malformed);
    if (command->report.inexact)
        pfr_error("--exact: of %d node%s the samples are not all there; percentiles "
                  "are from the histogram", command->report.inexact,
                  command->report.inexact == 1 ? "" : "s");
    return fflush(stdout) == 0 && all && r == 0 && command->unusable == 0 ? EXIT_SUCCESS
                                                                          : PFR_EXIT_FAILURE;
}

int pfr_command_report(int argc, char **argv)
{
    PFR_AUTO_FREE const char **what = calloc((size_t)argc + 1, sizeof(*what));
    struct command command = { .what = what };
    int r;

    if (!what)
        return PFR_EXIT_FAILURE;
    command.report.now = pfr_clock_ns(CLOCK_REALTIME);
    pfr_ink_init(&command.report.ink, stdout);
    r = take_options(&command, argc, argv);
    if (r <= 0)
        return r ? PFR_EXIT_USAGE : EXIT_SUCCESS;
    r = show(&command);
    pfr_group_release(&command.group);
    pfr_sacct_release(&command.report.sacct);
    pfr_finds_release(&command.finds);
    return r;
}
