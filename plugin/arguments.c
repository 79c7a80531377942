#include "plugin/arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "plugin/launch.h"

void pfr_arguments_add(struct pfr_arguments *arguments, const char *format, ...)
{
    size_t left = sizeof(arguments->text) - arguments->used;
    va_list ap;
    int length;

    va_start(ap, format);
    length = vsnprintf(arguments->text + arguments->used, left, format, ap);
    va_end(ap);
    if (length < 0 || (size_t)length >= left || arguments->count >= PFR_ARGUMENTS_MAX - 1)
        return;
    arguments->list[arguments->count++] = arguments->text + arguments->used;
    arguments->list[arguments->count] = NULL;
    arguments->used += (size_t)length + 1;
}

/* The kernel takes no longer argument than 128 KiB: some 12,000 groups at least (H8). */
static void add_groups(struct pfr_arguments *arguments, spank_t sp)
{
    static char list[PFR_ARGUMENTS_GROUPS];
    size_t used = 0;
    gid_t *groups = NULL;
    int count = 0, i;

    list[0] = '\0';
    if (spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS)
        count = 0;
    for (i = 0; i < count && used < sizeof(list) - 16; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u", i ? "," : "",
                                 (unsigned)groups[i]);
    if (i < count)
        pfr_warning("the user is in %d groups, of which the sampler gets %d: it may not be able "
                    "to write where the job can",
                    count, i);
    pfr_arguments_add(arguments, "--groups=%s", list);
}

/* False when Slurm does not say whose the step is: it is not root's then. */
static bool add_identity(struct pfr_arguments *arguments, spank_t sp)
{
    gid_t gid = 0;
    uid_t uid = 0;

    if (spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_GID, &gid) != ESPANK_SUCCESS)
        return false;
    if (getuid() == 0) {
        pfr_arguments_add(arguments, "--uid=%u", (unsigned)uid);
        pfr_arguments_add(arguments, "--gid=%u", (unsigned)gid);
        add_groups(arguments, sp);
    }
    return true;
}

/*
 * What only the job's environment tells: whose it is, and until when it may
 * run. Older versions of Slurm do not tell the times.
 */
static void add_words(struct pfr_arguments *arguments, spank_t sp)
{
    static const struct { const char *variable, *name; } words[] = {
        { "SLURM_JOB_NAME", "job_name" },
        { "SLURM_JOB_USER", "user" },
        { "SLURM_CLUSTER_NAME", "cluster" },
        { "SLURM_JOB_START_TIME", "job_start_time" },
        { "SLURM_JOB_END_TIME", "job_end_time" },
    };
    char text[128];

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (spank_getenv(sp, words[i].variable, text, sizeof(text)) == ESPANK_SUCCESS && *text)
            pfr_arguments_add(arguments, "--fact=%s=%s", words[i].name, text);
}

/* Of what was given, so that usage can be held against it; no RPC. */
static void add_facts(struct pfr_arguments *arguments, spank_t sp, const struct pfr_job *job)
{
    static const struct { spank_item_t item; const char *name; } counts[] = {
        { S_JOB_NNODES, "nodes" },
        { S_JOB_NODEID, "node_rank" },
        { S_JOB_LOCAL_TASK_COUNT, "tasks" },
        { S_JOB_TOTAL_TASK_COUNT, "tasks_of_step" },
        { S_STEP_CPUS_PER_TASK, "cpus_per_task" },
    };
    uint64_t mb;
    uint16_t cpus;
    uint32_t value;

    pfr_arguments_add(arguments, "--fact=job_id=%u", job->job);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (spank_get_item(sp, counts[i].item, &value) == ESPANK_SUCCESS)
            pfr_arguments_add(arguments, "--fact=%s=%u", counts[i].name, value);
    if (spank_get_item(sp, S_JOB_NCPUS, &cpus) == ESPANK_SUCCESS && cpus)
        pfr_arguments_add(arguments, "--fact=job_cpus=%u", cpus);
    if (spank_get_item(sp, S_JOB_ALLOC_MEM, &mb) == ESPANK_SUCCESS && mb)
        pfr_arguments_add(arguments, "--fact=job_mem_bytes=%llu", (unsigned long long)mb << 20);
    if (spank_get_item(sp, S_STEP_ALLOC_MEM, &mb) == ESPANK_SUCCESS && mb)
        pfr_arguments_add(arguments, "--fact=step_mem_bytes=%llu", (unsigned long long)mb << 20);
    if (job->array_task != PFR_NO_ARRAY) {
        pfr_arguments_add(arguments, "--fact=array_job_id=%u", job->array_job);
        pfr_arguments_add(arguments, "--fact=array_task_id=%u", job->array_task);
    }
    if (job->step != PFR_STEP_BATCH) /* of which it is not known yet */
        pfr_arguments_add(arguments, "--fact=restart_count=%lld", (long long)job->restarts);
    add_words(arguments, sp);
}

bool pfr_arguments_who(struct pfr_arguments *arguments, spank_t sp, const struct pfr_job *job,
                       const char *node)
{
    char step[32];

    pfr_step_name(job->step, step, sizeof(step));
    pfr_arguments_add(arguments, "profres-sampler");
    pfr_arguments_add(arguments, "--control=%s", PFR_LAUNCH_CONTROL);
    pfr_arguments_add(arguments, "--slurm");
    pfr_arguments_add(arguments, "--lenient");
    pfr_arguments_add(arguments, "--job=%u", job->job);
    pfr_arguments_add(arguments, "--step=%s", step);
    pfr_arguments_add(arguments, "--node=%s", node);
    add_facts(arguments, sp, job);
    return add_identity(arguments, sp);
}

void pfr_arguments_choice(struct pfr_arguments *arguments, const struct pfr_job *job,
                          const struct pfr_choice *choice)
{
    const struct pfr_spec *spec = &choice->spec;
    char metrics[2 * PFR_SPEC_SIZE];

    if (choice->budget != 1)
        pfr_arguments_add(arguments, "--budget=%d", choice->budget);
    pfr_arguments_add(arguments, "--interval=%lldms", (long long)(spec->interval / 1000000));
    pfr_arguments_add(arguments, "--window=%lldms", (long long)(spec->window / 1000000));
    pfr_arguments_add(arguments, "--top=%lld", (long long)spec->top);
    if (pfr_spec_metrics(spec, metrics, sizeof(metrics)) && metrics[0])
        pfr_arguments_add(arguments, "--metrics=%s", metrics);
    if (spec->nodes) /* the others have none on purpose */
        pfr_arguments_add(arguments, "--fact=nodes_profiled=%lld", (long long)spec->nodes);
    if (spec->openmetrics[0])
        pfr_arguments_add(arguments, "--openmetrics=%s", spec->openmetrics);
    if (spec->no_cmd)
        pfr_arguments_add(arguments, "--no-cmd");
    if (job->step == PFR_STEP_BATCH && !spec->quiet)
        pfr_arguments_add(arguments, spec->chart ? "--chart" : "--brief");
}
