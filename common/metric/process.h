/*
 * Who is being measured: one slot per process of the step. A process is its
 * pid and its start time, so a reused pid is another process. A slot's number
 * stays valid from pfr_process_add until the sweep after the process has gone,
 * and is what readings and sums are kept under.
 */
#ifndef PFR_METRIC_PROCESS_H
#define PFR_METRIC_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PFR_COMM_SIZE 16
#define PFR_SLOT_NONE UINT32_MAX

struct pfr_process {
    pid_t pid, parent;
    int64_t start_ticks; /* since boot, as in /proc/PID/stat */
    int64_t birth;       /* the same on the stamps' clock, 10 ms coarse */
    char comm[PFR_COMM_SIZE];
    char *cmd; /* command line, NULL when it is not recorded */
    uint32_t seen; /* number of the last tick in which it was listed */
    bool task;        /* started under our eyes: all it did is of this run */
    bool provisional; /* comm and cmd are what it is about to be */
    bool used;
    bool gone; /* waits for the sweep */
};

struct pfr_process_table {
    struct pfr_process *slots;
    uint32_t capacity;
    uint32_t high;  /* slots below this may be used */
    uint32_t live;  /* neither gone nor free */
    uint32_t *hash; /* pid to slot + 1; 0 is empty */
    uint32_t hash_size;
    uint64_t total; /* processes ever added */
};

void pfr_process_table_init(struct pfr_process_table *table);
void pfr_process_table_release(struct pfr_process_table *table);

/* The slot of the live process with this pid, or PFR_SLOT_NONE. */
uint32_t pfr_process_find(const struct pfr_process_table *table, pid_t pid);

/* A new process; PFR_SLOT_NONE when memory ran out. The pid must not be live. */
uint32_t pfr_process_add(struct pfr_process_table *table, pid_t pid);

/* It is not there any more: its pid is free, its slot stays until the sweep. */
void pfr_process_retire(struct pfr_process_table *table, uint32_t slot);

/* Frees the slots of those that have gone. */
void pfr_process_sweep(struct pfr_process_table *table);

#endif
