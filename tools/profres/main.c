#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "tools/profres/profres.h"

static const struct {
    const char *name;
    int (*command)(int argc, char **argv);
    const char *help;
} commands[] = {
    { "run", pfr_command_run, "run a command and measure it" },
    { "report", pfr_command_report, "how a job went, why it failed, what to ask for next time" },
    { "ls", pfr_command_ls, "list the runs that were measured" },
    { "brief", pfr_command_brief, "a few lines about a step that was measured" },
    { "plot", pfr_command_plot, "draw runs over time: a page, a picture, or text" },
    { "top", pfr_command_top, "watch a running step" },
    { "export", pfr_command_export, "write a profile as CSV, for Prometheus, InfluxDB and others" },
    { "mark", pfr_command_mark, "from inside a step: say that a phase begins" },
    { "metrics", pfr_command_metrics, "list what can be measured, and what can be measured here" },
    { "doctor", pfr_command_doctor, "check this host and its Slurm, and say what to do" },
};

static void print_help(FILE *out)
{
    fputs("usage: profres COMMAND [option...]\n\n"
          "What a job step needs of memory, cores and storage, from the kernel's own counters.\n\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < PFR_COUNT(commands); i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
    fputs("\n'profres COMMAND --help' tells more; so do profres(1) and profres-COMMAND(1).\n", out);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    for (size_t i = 0; i < PFR_COUNT(commands); i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].command(argc - 1, argv + 1);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("profres " PACKAGE_VERSION);
        return EXIT_SUCCESS;
    }
    if (*name)
        pfr_error("there is no command '%s'", name);
    print_help(stderr);
    return PFR_EXIT_USAGE;
}
