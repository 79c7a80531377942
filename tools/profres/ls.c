/* profres ls: the runs there are, one line each. */
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "tools/profres/columns.h"
#include "tools/profres/group.h"
#include "tools/profres/load.h"
#include "tools/profres/names.h"
#include "tools/profres/profres.h"
#include "tools/profres/state.h"
#include "tools/profres/when.h"
#include "tools/profres/where.h"

#define FORMAT "JobID%-12,JobName%9,Elapsed,MemPeak,MemUse,Cores,AllocCPUS,Verdict"

struct row {
    struct pfr_facts facts;
    struct pfr_line line;
    enum pfr_verdict_id verdict; /* before sacct was asked */
    size_t place;                /* as they came */
    char dir[];
};

struct ls {
    struct pfr_table_style style;
    struct pfr_table table;
    struct pfr_where where;
    struct pfr_finds finds;
    struct pfr_sacct sacct;
    struct pfr_group group;
    const struct pfr_column *sort;
    const char *users, *names, *states;
    const char **what; /* was named */
    size_t what_count;
    int64_t since, until, now;
    bool reverse, jobs, grouped, ask_sacct;
    int unusable;
    struct row **rows; /* when they cannot be printed as they come */
    size_t count, room;
};

static void print_help(FILE *out)
{
    fputs(
        "usage: profres ls [option...] [JOB|PATH...]\n\n"
        "Lists the runs that were profiled, by default all below the working directory.\n\n"
        "  -u, --user=LIST      of these users\n"
        "  -S, --since=TIME     that went on after this time\n"
        "  -E, --until=TIME     that had begun before it, as 2026-11-16 or now-2days\n"
        "  -s, --state=LIST     by verdict (oom, signal, ok) or sacct's states (F, TO)\n"
        "      --name=LIST      by name of the job; patterns as for files\n"
        "  -w, --where=EXPR     as 'cgroup_mem_peak > 4G && Elapsed >= 1h'\n"
        "  -X, --allocations    one line for each job instead of each step\n"
        "  -D, --duplicates     also the earlier runs of jobs that were requeued\n"
        "  -g, --group          jobs as one: how they are spread, outliers, advice\n"
        "      --sort=FIELD     in this order; -r, --reverse the other way round\n"
        "  -o, --format=LIST    FIELD[%[-]WIDTH],... ; -e, --helpformat lists the fields\n"
        "  -P, --parsable2      one row a line with '|' between; -p also at the end\n"
        "      --delimiter=TEXT another sign than '|'\n"
        "  -n, --noheader       without the names of the fields\n"
        "      --units=K|M|G    all memory in this unit\n"
        "      --json           as JSON\n"
        "  -h, --help           this text\n",
        out);
}

/* One of a list with commas? Patterns as in file names, any case. */
static bool in_list(const char *list, const char *word)
{
    char one[256];

    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        snprintf(one, sizeof(one), "%.*s", (int)length, list);
        if (length && fnmatch(one, word, FNM_CASEFOLD) == 0)
            return true;
    }
    return false;
}

static bool is_of_user(const struct ls *ls, const struct pfr_facts *facts)
{
    char number[24];

    snprintf(number, sizeof(number), "%lld", (long long)facts->uid);
    return in_list(ls->users, pfr_owner(facts)) ||
           (pfr_known(facts->uid) && in_list(ls->users, number));
}

/* As sacct: what was going on at any moment between the two. */
static bool is_in_time(const struct ls *ls, const struct pfr_facts *facts)
{
    int64_t end = pfr_known(facts->start) && pfr_known(facts->elapsed)
                      ? facts->start + facts->elapsed
                      : facts->written;

    if (facts->progress != PFR_PROGRESS_COMPLETE && !pfr_facts_is_dead(facts, ls->now) &&
        end < ls->now)
        end = ls->now; /* it goes on, whenever that was written */
    if (pfr_known(ls->since) && (!pfr_known(end) || end < ls->since))
        return false;
    return !pfr_known(ls->until) || (pfr_known(facts->start) && facts->start <= ls->until);
}

static bool is_wanted(const struct ls *ls, const struct pfr_line *line)
{
    const struct pfr_facts *facts = line->facts;
    const char *name = facts->name[0] || !line->sacct_job ? facts->name : line->sacct_job->name;

    return (!ls->users || is_of_user(ls, facts)) && is_in_time(ls, facts) &&
           (!ls->names || in_list(ls->names, name)) &&
           (!ls->states || pfr_state_match(ls->states, line)) &&
           pfr_where_match(&ls->where, line);
}

static int keep(struct ls *ls, const struct pfr_load *load, enum pfr_verdict_id verdict)
{
    size_t length = strlen(load->found->dir) + 1;
    struct row *row = malloc(sizeof(*row) + length);

    if (row && ls->count == ls->room) {
        size_t room = ls->room ? 2 * ls->room : 256;
        struct row **rows = realloc(ls->rows, room * sizeof(struct row *));

        if (!rows) {
            free(row);
            return -ENOMEM;
        }
        ls->rows = rows;
        ls->room = room;
    }
    if (!row)
        return -ENOMEM;
    row->facts = *load->facts;
    row->verdict = verdict;
    row->place = ls->count;
    memcpy(row->dir, load->found->dir, length);
    ls->rows[ls->count++] = row;
    return 0;
}

static int show(struct ls *ls, const struct pfr_line *line)
{
    if (ls->grouped)
        return pfr_group_add(&ls->group, line->facts, line->verdict);
    pfr_table_row(&ls->table, line);
    return 0;
}

static int take(const struct pfr_load *load, void *arg)
{
    struct ls *ls = arg;
    struct pfr_line line = { .facts = load->facts, .dir = load->found->dir };

    line.verdict = pfr_verdict_of_parts(load->facts, load->nodes, load->node_count, ls->now);
    if (ls->ask_sacct) /* it is asked once for all, so nothing can be decided yet */
        return keep(ls, load, line.verdict);
    if (!is_wanted(ls, &line))
        return 0;
    if (ls->sort)
        return keep(ls, load, line.verdict);
    return show(ls, &line);
}

/* ---- in order, and with sacct -------------------------------------------- */

static const struct ls *sorting; /* qsort() has no place for it */

static int compare(const void *left, const void *right)
{
    const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;
    const struct pfr_column *column = sorting->sort;
    struct pfr_cell x = { 0 }, y = { 0 };
    char text[512] = "";
    bool has = column->get(&a->line, column->which, &x), had;
    int order;

    if (column->kind == PFR_CELL_TEXT && has)
        snprintf(text, sizeof(text), "%s", x.text);
    had = column->get(&b->line, column->which, &y);
    if (has != had)
        return has ? -1 : 1; /* without a value last, either way round */
    if (!has)
        order = 0;
    else if (column->kind == PFR_CELL_TEXT)
        order = pfr_name_compare(text, y.text);
    else
        order = (x.number > y.number) - (x.number < y.number);
    if (sorting->reverse)
        order = -order;
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void join_sacct(struct ls *ls)
{
    PFR_AUTO_FREE int64_t *jobs = calloc(ls->count + 1, sizeof(*jobs));

    for (size_t i = 0; jobs && i < ls->count; i++)
        jobs[i] = ls->rows[i]->facts.job_id;
    if (jobs)
        pfr_sacct_load(&ls->sacct, jobs, ls->count);
    for (size_t i = 0; i < ls->count; i++)
        pfr_sacct_complete(&ls->sacct, &ls->rows[i]->facts);
}

static void fill_line(const struct ls *ls, struct row *row)
{
    enum pfr_extent extent = row->facts.extent;

    row->line = (struct pfr_line){ .facts = &row->facts, .dir = row->dir };
    row->line.sacct = pfr_sacct_find(&ls->sacct, &row->facts);
    row->facts.extent = PFR_EXTENT_JOB;
    row->line.sacct_job = pfr_sacct_find(&ls->sacct, &row->facts);
    row->facts.extent = extent;
    row->line.verdict = pfr_verdict_of(&row->facts, NULL, ls->now);
    if (row->line.verdict < row->verdict)
        row->line.verdict = row->verdict;
}

static void print_kept(struct ls *ls)
{
    if (ls->ask_sacct)
        join_sacct(ls);
    for (size_t i = 0; i < ls->count; i++)
        fill_line(ls, ls->rows[i]);
    sorting = ls;
    if (ls->sort && ls->count)
        qsort(ls->rows, ls->count, sizeof(struct row *), compare);
    for (size_t i = 0; i < ls->count; i++) {
        if (is_wanted(ls, &ls->rows[i]->line))
            show(ls, &ls->rows[i]->line);
        free(ls->rows[i]);
    }
    free(ls->rows);
    pfr_sacct_release(&ls->sacct);
}

/* ---- the command --------------------------------------------------------- */

static int take_time(const struct ls *ls, const char *text, int64_t *time)
{
    if (pfr_when_parse(text, ls->now, time))
        return 0;
    pfr_error("'%s' is no time; write it " PFR_WHEN_HELP, text);
    return -EINVAL;
}

static int take_where(struct ls *ls, const char *text)
{
    int r = pfr_where_parse(&ls->where, pfr_line_columns(), text, ls->now);

    for (int i = 0; r == 0 && i < ls->where.count; i++)
        ls->ask_sacct = ls->ask_sacct || pfr_column_is_sacct(ls->where.terms[i].column);
    return r;
}

static int take_sort(struct ls *ls, const char *name)
{
    ls->sort = pfr_column_find(pfr_line_columns(), name);
    if (!ls->sort) {
        pfr_column_miss(pfr_line_columns(), "field", name);
        return -EINVAL;
    }
    ls->ask_sacct = ls->ask_sacct || pfr_column_is_sacct(ls->sort);
    return 0;
}

enum { OPT_NAME = 256, OPT_SORT };

static int take_option(struct ls *ls, int option, const char *argument)
{
    switch (option) {
    case 'u':
        ls->users = argument;
        return 0;
    case 'S':
        return take_time(ls, argument, &ls->since);
    case 'E':
        return take_time(ls, argument, &ls->until);
    case 's':
        ls->states = argument;
        return pfr_state_check(argument, &ls->ask_sacct);
    case OPT_NAME:
        ls->names = argument;
        return 0;
    case 'w':
        return take_where(ls, argument);
    case OPT_SORT:
        return take_sort(ls, argument);
    case 'r':
        ls->reverse = true;
        return 0;
    case 'X':
        ls->jobs = true;
        return 0;
    case 'g': /* of jobs: advice from a step alone would be less than its job needs */
        ls->grouped = ls->jobs = true;
        return 0;
    case 'D':
        ls->finds.restarts = true;
        return 0;
    default:
        return pfr_table_option(&ls->style, option, argument) > 0 ? 0 : -EINVAL;
    }
}

/* 1 goes on, 0 is done, -EINVAL is wrong. */
static int take_options(struct ls *ls, int argc, char **argv)
{
    static const struct option options[] = { { "user", required_argument, NULL, 'u' },
                                             { "since", required_argument, NULL, 'S' },
                                             { "starttime", required_argument, NULL, 'S' },
                                             { "until", required_argument, NULL, 'E' },
                                             { "endtime", required_argument, NULL, 'E' },
                                             { "state", required_argument, NULL, 's' },
                                             { "name", required_argument, NULL, OPT_NAME },
                                             { "where", required_argument, NULL, 'w' },
                                             { "sort", required_argument, NULL, OPT_SORT },
                                             { "reverse", no_argument, NULL, 'r' },
                                             { "allocations", no_argument, NULL, 'X' },
                                             { "duplicates", no_argument, NULL, 'D' },
                                             { "group", no_argument, NULL, 'g' },
                                             { "jobs", required_argument, NULL, 'j' },
                                             { "help", no_argument, NULL, 'h' },
                                             PFR_TABLE_OPTIONS,
                                             { 0 } };
    int option;

    while ((option = getopt_long(argc, argv, "u:S:E:s:w:rXDgj:h" PFR_TABLE_LETTERS, options,
                                 NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return 0;
        }
        if (option == 'j') {
            ls->what[ls->what_count++] = optarg;
        } else if (take_option(ls, option, optarg) < 0) {
            fputs("profres: see 'profres ls --help'\n", stderr);
            return -EINVAL;
        }
    }
    for (int i = optind; i < argc; i++)
        ls->what[ls->what_count++] = argv[i];
    if (ls->style.help_format) {
        pfr_columns_help(stdout, pfr_line_columns());
        return 0;
    }
    return 1;
}

/* False when something that was named is not there, which was said. */
static bool find_all(struct ls *ls)
{
    bool all = true;

    ls->finds.denied = pfr_load_denied;
    ls->finds.denied_arg = &ls->unusable;
    if (!ls->what_count)
        ls->what[ls->what_count++] = ".";
    for (size_t i = 0; i < ls->what_count; i++) {
        int before = ls->unusable, r = pfr_find(&ls->finds, ls->what[i]);

        if (r <= 0 && ls->unusable == before)
            pfr_find_explain(ls->what[i], r);
        all = all && r > 0;
    }
    return all;
}

/* Nothing else is looked at, so nothing else is read. */
static struct pfr_wanted measures_of(const struct ls *ls)
{
    struct pfr_wanted wanted = { .numbers = pfr_facts_judged() };

    if (ls->style.format)
        pfr_format_measures(ls->style.format, &wanted);
    if (ls->sort)
        pfr_column_measures(ls->sort, &wanted);
    for (int i = 0; i < ls->where.count; i++)
        pfr_column_measures(ls->where.terms[i].column, &wanted);
    return wanted;
}

static int list(struct ls *ls)
{
    struct pfr_wanted wanted;
    bool all = find_all(ls);
    int r;

    r = ls->grouped
            ? 0 : pfr_table_open(&ls->table, &ls->style, pfr_line_columns(), FORMAT, stdout);
    if (r < 0)
        return r == -EINVAL ? PFR_EXIT_USAGE : PFR_EXIT_FAILURE;
    wanted = measures_of(ls);
    r = pfr_load_all(&ls->finds, ls->jobs, &wanted, take, ls);
    if (r < 0)
        pfr_error("%s", strerror(-r));
    print_kept(ls);
    if (ls->grouped)
        pfr_group_print(stdout, &ls->group);
    pfr_group_release(&ls->group);
    pfr_table_close(&ls->table);
    return fflush(stdout) == 0 && all && r == 0 && ls->unusable == 0 ? EXIT_SUCCESS
                                                                     : PFR_EXIT_FAILURE;
}

int pfr_command_ls(int argc, char **argv)
{
    PFR_AUTO_FREE const char **what = calloc((size_t)argc + 1, sizeof(*what));
    struct ls ls = { .since = PFR_ABSENT, .until = PFR_ABSENT, .what = what };
    int r;

    ls.now = pfr_clock_ns(CLOCK_REALTIME);
    if (!what)
        return PFR_EXIT_FAILURE;
    r = take_options(&ls, argc, argv);
    if (r <= 0)
        return r ? PFR_EXIT_USAGE : EXIT_SUCCESS;
    if (ls.style.format && pfr_format_needs_sacct(ls.style.format))
        ls.ask_sacct = true;
    r = list(&ls);
    pfr_finds_release(&ls.finds);
    return r;
}
