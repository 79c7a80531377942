/*
 * Totals per command name, so that a step of a hundred thousand short
 * processes stays legible. Bounded: names past the limit share the first
 * entry, "(other)".
 */
#ifndef PFR_METRIC_COMMAND_H
#define PFR_METRIC_COMMAND_H

#include "common/metric/instance.h"
#include "common/metric/process.h"

#define PFR_COMMANDS_MAX 256

struct pfr_command_sum {
    uint32_t processes; /* distinct processes seen under this name */
    int64_t cpu;        /* growth of ps_cpu_seconds */
    int64_t children;   /* growth of ps_children_cpu_seconds */
    int64_t rss;        /* largest simultaneous sum */
    int64_t largest;    /* resident set of a single process */
    int64_t read, write;
};

struct pfr_command {
    char name[PFR_COMM_SIZE];
    struct pfr_command_sum window, run;
    int64_t rss_now; /* sum over the sample being folded */
    uint32_t slot;   /* among the instances, once it is there */
    bool listed;
};

struct pfr_commands {
    struct pfr_command *list;
    uint32_t count;
    uint16_t index[2 * PFR_COMMANDS_MAX]; /* hash to list entry + 1 */
};

int pfr_commands_init(struct pfr_commands *commands);
void pfr_commands_release(struct pfr_commands *commands);

/* The entry for a name, made when it is new. */
uint32_t pfr_commands_find(struct pfr_commands *commands, const char *name);

/* After the processes of one sample: the simultaneous sums are taken over. */
void pfr_commands_end_sample(struct pfr_commands *commands);

/* After all samples of a window, which began and ended then: into the instances. */
void pfr_commands_report(struct pfr_commands *commands, struct pfr_instances *instances,
                         int64_t from, int64_t to);

/* A new window begins. */
void pfr_commands_end_window(struct pfr_commands *commands);

#endif
