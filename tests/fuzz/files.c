/* Files of others: a summary, a series, and what each command makes of them. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/judge/advice.h"
#include "common/judge/brief.h"
#include "common/judge/facts.h"
#include "common/judge/verdict.h"
#include "common/record/compact.h"
#include "common/record/openmetrics.h"
#include "common/record/reader.h"
#include "tools/profres/profres.h"

#define NOW (INT64_C(1794794400) * 1000000000)

static FILE *nowhere(void)
{
    static FILE *out;

    if (!out && !(out = fopen("/dev/null", "we")))
        abort();
    return out;
}

void pfr_fuzz_facts(const char *text, size_t length)
{
    static struct pfr_facts nodes[3], merged;
    static struct pfr_verdict verdict;
    struct json_object *summary = pfr_object_parse(text, length);
    struct pfr_advice advice;
    struct pfr_needs needs;

    if (summary)
        pfr_openmetrics_write(nowhere(), &summary, 1);
    json_object_put(summary);
    if (pfr_facts_parse(&nodes[0], text, length) < 0)
        return;
    nodes[1] = nodes[2] = nodes[0];
    nodes[1].node[0] = 'x';
    pfr_facts_merge(&merged, nodes, 2);
    pfr_facts_merge_job(&merged, nodes, 3);
    pfr_verdict_judge(&verdict, &merged, NULL, NOW);
    pfr_needs_init(&needs);
    pfr_needs_add(&needs, &merged, verdict.id);
    pfr_advice_give(&advice, &needs);
    pfr_brief_print(nowhere(), &nodes[0], "files", NOW);
    pfr_brief_print(nowhere(), &merged, NULL, NOW);
}

/* Which command, a summary, a NUL, a series. */
static const struct { int (*run)(int, char **); const char *words[6]; } commands[] = {
    { pfr_command_report, { "report", "--no-sacct", "--exact" } },
    { pfr_command_report, { "report", "--no-sacct", "--json", "--why" } },
    { pfr_command_report, { "report", "--no-sacct", "--by=process" } },
    { pfr_command_report, { "report", "--no-sacct", "--by=time" } },
    { pfr_command_report, { "report", "--no-sacct", "--by=phase" } },
    { pfr_command_ls, { "ls", "-P", "-o", "ALL" } },
    { pfr_command_ls, { "ls", "--group" } },
    { pfr_command_brief, { "brief", "--chart" } },
    { pfr_command_plot, { "plot", "-f", "html", "-o", "-" } },
    { pfr_command_plot, { "plot", "-f", "svg", "-o", "-" } },
    { pfr_command_plot, { "plot", "-f", "txt", "-o", "-" } },
    { pfr_command_export, { "export", "-f", "csv" } },
    { pfr_command_export, { "export", "-f", "influx" } },
    { pfr_command_export, { "export", "-f", "jsonl" } },
    { pfr_command_export, { "export", "-f", "prmon", "-o", "DIR" } },
    { pfr_command_export, { "export", "-f", "openmetrics" } },
};

static void run(size_t which, char *dir)
{
    char *argv[8] = { NULL };
    int kept = fcntl(1, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int argc = 0;

    while (argc < 6 && commands[which].words[argc]) {
        argv[argc] = (char *)commands[which].words[argc];
        argc++;
    }
    if (strcmp(argv[argc - 1], "DIR") == 0)
        argv[argc - 1] = (char *)pfr_fuzz_dir();
    argv[argc++] = dir;
    fflush(stdout);
    dup2(null, 1); /* lint: cloexec: standard output, for the length of a command */
    optind = 0;
    commands[which].run(argc, argv);
    fflush(stdout);
    dup2(kept, 1); /* lint: cloexec: and back */
    close(kept);
    close(null);
}

void pfr_fuzz_job(const char *text, size_t length)
{
    size_t first;
    char dir[PATH_MAX + 32];

    if (length < 2)
        return;
    first = strlen(text + 1);
    pfr_fuzz_put("slurm-1.profres/0/n1.json", text + 1, first);
    pfr_fuzz_put("slurm-1.profres/0/n1.jsonl", text + 1 + first + (first + 1 < length),
                 length - 1 - first - (first + 1 < length));
    snprintf(dir, sizeof(dir), "%s/slurm-1.profres/0", pfr_fuzz_dir());
    run((unsigned char)text[0] % PFR_COUNT(commands), dir);
}

void pfr_fuzz_compact(const char *text, size_t length)
{
    struct pfr_compaction how = { .span = 60, .most_processes = 8, .command_room = 1 << 16 };
    struct pfr_seal seal = { 0 };
    PFR_AUTO_FD fd = memfd_create("compacted", MFD_CLOEXEC);

    if (fd < 0)
        abort();
    pfr_series_compact(&how, text, length, fd, &seal);
}
