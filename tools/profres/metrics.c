/* profres metrics: the table, and what of it this host can measure for 'profres run'. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/collect/cgroup.h"
#include "common/collect/procs.h"
#include "common/record/json.h"
#include "tools/profres/cage.h"
#include "tools/profres/profres.h"

static void print_help(FILE *out)
{
    fputs("usage: profres metrics [-v] [--json] [KEYS]\n\n"
          "Lists the measurements and whether 'profres run' could take each of them here, and\n"
          "if not, why. KEYS chooses some, as in 'cgroup_*,ps_rss'.\n\n"
          "  -v, --verbose   with a line on what each one means\n"
          "      --json      as JSON\n"
          "  -h, --help      this text\n",
          out);
}

/* Asks of a process in a cgroup as profres run would make it. */
static void probe(const struct pfr_env *env, pid_t pid, struct pfr_availability *have)
{
    static struct pfr_cgroup cgroup;
    static struct pfr_procs procs;
    static struct pfr_cgtarget target;
    struct pfr_process_table table;
    struct pfr_metric_set all;
    const char *no_tasks = "only Slurm gives each task a cgroup";

    memset(&all, 0xff, sizeof(all));
    pfr_availability_init(have);
    pfr_process_table_init(&table);
    if (pfr_cgtarget_resolve(env, pid, getpid(), PFR_LEVEL_OWN, &target) == 0) {
        pfr_cgroup_open(&cgroup, env, &target, &all, have);
        pfr_cgroup_release(&cgroup);
    }
    if (pfr_procs_open(&procs, env, &table, &all, 0, have) == 0)
        pfr_procs_release(&procs);
    pfr_availability_deny(have, PFR_CGROUP_TASKS_MEM_SAMPLED_PEAK, "%s", no_tasks);
    pfr_availability_deny(have, PFR_CGROUP_TASKS_CPU_SECONDS, "%s", no_tasks);
    pfr_availability_grant(have, PFR_RUSAGE_CPU_SECONDS);
    pfr_availability_grant(have, PFR_RUSAGE_MAX_RSS);
    pfr_availability_derive(have);
}

static void probe_here(struct pfr_availability *have)
{
    static struct pfr_cage cage;
    struct pfr_env env;
    pid_t child;

    pfr_env_init(&env, "");
    pfr_cage_make(&cage, &env, false);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    if (child > 0) {
        pfr_cage_enter(&cage, child);
        probe(&env, child, have);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    } else {
        pfr_availability_init(have);
    }
    pfr_cage_remove(&cage);
}

static void print_text(const struct pfr_selection *selection, const struct pfr_availability *have,
                       bool verbose)
{
    printf("%-32s %-8s %-11s %-6s %-5s %s\n", "KEY", "UNIT", "KIND", "REDUCE", "SCOPE", "HERE");
    PFR_EACH_METRIC(id) {
        const struct pfr_metric *metric = &pfr_metrics[id];

        if (!pfr_metric_set_has(&selection->wanted, id))
            continue;
        printf("%-32s %-8s %-11s %-6s %-5s %s\n", metric->key, pfr_unit_name(metric->unit),
               pfr_kind_name(metric->kind), pfr_reduce_name(metric->reduce),
               pfr_scope_name(metric->scope),
               have->reason[id][0] ? have->reason[id] : metric->costly ? "when named" : "yes");
        if (verbose)
            printf("    %s\n", metric->help);
    }
}

static void print_json(const struct pfr_selection *selection, const struct pfr_availability *have)
{
    PFR_AUTO_JSON *array = json_object_new_array();

    PFR_EACH_METRIC(id) {
        const struct pfr_metric *metric = &pfr_metrics[id];
        struct json_object *row;

        if (!pfr_metric_set_has(&selection->wanted, id))
            continue;
        row = json_object_new_object();
        pfr_json_add(row, "key", json_object_new_string(metric->key));
        pfr_json_add(row, "unit", json_object_new_string(pfr_unit_name(metric->unit)));
        pfr_json_add(row, "kind", json_object_new_string(pfr_kind_name(metric->kind)));
        pfr_json_add(row, "reduce", json_object_new_string(pfr_reduce_name(metric->reduce)));
        pfr_json_add(row, "scope", json_object_new_string(pfr_scope_name(metric->scope)));
        pfr_json_add(row, "help", json_object_new_string(metric->help));
        pfr_json_add(row, "costly", json_object_new_boolean(metric->costly));
        pfr_json_add(row, "available", json_object_new_boolean(!have->reason[id][0]));
        if (have->reason[id][0])
            pfr_json_add(row, "reason", pfr_json_text(have->reason[id]));
        json_object_array_add(array, row);
    }
    puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                   JSON_C_TO_STRING_NOSLASHESCAPE));
}

int pfr_command_metrics(int argc, char **argv)
{
    static const struct option options[] = { { "json", no_argument, NULL, 'j' },
                                             { "verbose", no_argument, NULL, 'v' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    static struct pfr_availability have;
    struct pfr_selection selection;
    bool json = false, verbose = false;
    char error[512];
    int option;

    while ((option = getopt_long(argc, argv, "vh", options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS;
        }
        if (option == '?')
            return PFR_EXIT_USAGE;
        json = json || option == 'j';
        verbose = verbose || option == 'v';
    }
    if (argc - optind > 1) {
        pfr_error("one list of keys, as in 'cgroup_*,ps_rss'; quote it");
        return PFR_EXIT_USAGE;
    }
    if (pfr_selection_parse(&selection, argv[optind], error, sizeof(error)) < 0) {
        pfr_error("%s", error);
        return PFR_EXIT_USAGE;
    }
    if (optind == argc) /* the costly ones too: this is the list of all */
        memset(&selection.wanted, 0xff, sizeof(selection.wanted));
    probe_here(&have);
    if (json)
        print_json(&selection, &have);
    else
        print_text(&selection, &have, verbose);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : PFR_EXIT_FAILURE;
}
