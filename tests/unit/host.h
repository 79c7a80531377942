/*
 * A host that only pretends to be Slurm: it has the functions that the plugin
 * expects of slurmstepd and of srun, loads the built plugin and calls its hooks.
 */
#ifndef PFR_TESTS_HOST_H
#define PFR_TESTS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#define HOST_TASKS 8

struct host {
    spank_context_t context;
    uint32_t job, step, array_job, array_task, nodes, node, tasks;
    uint64_t job_mem, step_mem; /* MB */
    int task;                   /* of the hook that runs; -1 = none */
    pid_t pids[HOST_TASKS];
    int status[HOST_TASKS];
    bool nobody;        /* Slurm does not know whose the step is */
    char env[32][2][1200]; /* the job's */
    int env_count;
    bool slow_log;      /* it takes time to write */
    bool contain;       /* as with SlurmdParameters=contain_spank */
    int64_t slowest_ms; /* of the hooks so far */
    int64_t stopped;    /* when the clock was; 0 = it goes */
    bool answered;      /* waits are not in vain, but only just */
    int64_t waited_ms;  /* while the clock was stopped */
    char log[8192];     /* what the user would see, a line each */
    char quiet_log[4096];
    char user_log[8192]; /* what was written to standard error, and not through Slurm */
    int log_level;       /* of srun: 3 without -Q and -v */
    int groups;          /* how many the user is in */
    int listed;          /* how often in plugstack.conf, each time by another path */
    bool option_taken;   /* another copy of the plugin has it */
    struct spank_option *option;
    void *plugin;
};

extern struct host host;

/* Loads the plugin anew, as every process of Slurm does. */
void host_load(spank_context_t context);
void host_unload(void);

/* From now on time passes by waiting alone, and is counted in host.waited_ms. */
void host_stop_clock(bool answered);
void host_start_clock(void);

void host_setenv(const char *name, const char *value);
const char *host_getenv(const char *name);

/* slurm_spank_<name>; its result. Words are those of plugstack.conf. */
int host_hook(const char *name, int words, char **word);

/* Calls the option's callback as Slurm does. */
int host_option(const char *argument);

#endif
