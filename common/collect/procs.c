#include "common/collect/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"
#include "common/collect/shape.h"
#include "common/metric/row.h"

/* PSS walks page tables under the process's lock: seldom, and not on giants. */
#define PSS_INTERVAL (10 * PFR_NS_PER_S)
#define PSS_CAP (INT64_C(8) << 30)

#define CMD_MAX 1024

static const char *const file_names[PFR_PROCFILES] = {
    [PFR_PROC_STAT] = "stat",
    [PFR_PROC_STATUS] = "status",
    [PFR_PROC_IO] = "io",
    [PFR_PROC_ROLLUP] = "smaps_rollup",
};

/* Where each measurement stands; in the order of the lines in the file. */
static const struct place {
    enum pfr_metric_id id;
    enum pfr_procfile file;
    const char *key; /* of a line "key: number" */
    enum pfr_suffix suffix;
} places[] = {
    { PFR_PS_VSZ, PFR_PROC_STATUS, "VmSize:", PFR_KB },
    { PFR_PROC_HWM, PFR_PROC_STATUS, "VmHWM:", PFR_KB },
    { PFR_PS_RSS, PFR_PROC_STATUS, "VmRSS:", PFR_KB },
    { PFR_PROC_SWAP, PFR_PROC_STATUS, "VmSwap:", PFR_KB },
    { PFR_PROC_THREADS, PFR_PROC_STATUS, "Threads:", PFR_PLAIN },
    { PFR_PROC_CTXT_VOLUNTARY, PFR_PROC_STATUS, "voluntary_ctxt_switches:", PFR_PLAIN },
    { PFR_PROC_CTXT_INVOLUNTARY, PFR_PROC_STATUS, "nonvoluntary_ctxt_switches:", PFR_PLAIN },
    { PFR_PROC_IO_RCHAR, PFR_PROC_IO, "rchar:", PFR_PLAIN },
    { PFR_PROC_IO_WCHAR, PFR_PROC_IO, "wchar:", PFR_PLAIN },
    { PFR_PROC_IO_READ_BYTES, PFR_PROC_IO, "read_bytes:", PFR_PLAIN },
    { PFR_PROC_IO_WRITE_BYTES, PFR_PROC_IO, "write_bytes:", PFR_PLAIN },
    { PFR_PROC_IO_CANCELLED_BYTES, PFR_PROC_IO, "cancelled_write_bytes:", PFR_PLAIN },
    { PFR_PROC_PSS, PFR_PROC_ROLLUP, "Pss:", PFR_KB },
};

/* Columns of /proc/PID/stat; CPU time is two of them. */
static const struct column {
    enum pfr_metric_id id;
    enum pfr_stat_field a, b;
} columns[] = {
    { PFR_PS_CPU_SECONDS, PFR_STAT_UTIME, PFR_STAT_STIME },
    { PFR_PS_CHILDREN_CPU_SECONDS, PFR_STAT_CUTIME, PFR_STAT_CSTIME },
    { PFR_PROC_FAULTS_MINOR, PFR_STAT_MINFLT, 0 },
    { PFR_PROC_FAULTS_MAJOR, PFR_STAT_MAJFLT, 0 },
};

/* ---- opening ---- */

/* Whether this kernel has the file and the line, asked of ourselves. */
static void probe_places(struct pfr_procs *procs, struct pfr_availability *have)
{
    ssize_t n = 0;

    for (size_t i = 0; i < PFR_COUNT(places); i++) {
        char path[64];
        const char *cursor = procs->text;
        int64_t value;

        snprintf(path, sizeof(path), "self/%s", file_names[places[i].file]);
        if (i == 0 || places[i].file != places[i - 1].file)
            n = pfr_file_read_text(procs->proc_fd, path, procs->text, sizeof(procs->text));
        if (n == -EACCES || n == -EPERM)
            pfr_availability_grant(have, places[i].id); /* ours is closed to us, not theirs */
        else if (n <= 0)
            pfr_availability_deny(have, places[i].id, "no /proc/PID/%s: %s",
                                  file_names[places[i].file], n ? strerror((int)-n) : "not there");
        else if (pfr_shape_flat(procs->text, &cursor, places[i].key, places[i].suffix, &value) <= 0)
            pfr_availability_deny(have, places[i].id, "no '%s' in /proc/PID/%s",
                                  places[i].key, file_names[places[i].file]);
        else
            pfr_availability_grant(have, places[i].id);
    }
}

static void probe(struct pfr_procs *procs, struct pfr_availability *have)
{
    probe_places(procs, have);
    for (size_t i = 0; i < PFR_COUNT(columns); i++)
        pfr_availability_grant(have, columns[i].id);
    pfr_availability_grant(have, PFR_PS_ETIME);
    pfr_availability_grant(have, PFR_PS_STAT);
    pfr_availability_grant(have, PFR_PROC_COUNT);
    pfr_availability_grant(have, PFR_PS_CMD);
    if (procs->env->mem_total && pfr_metric_set_has(&have->available, PFR_PS_RSS))
        pfr_availability_grant(have, PFR_PS_PMEM);
    else
        pfr_availability_deny(have, PFR_PS_PMEM, "needs MemTotal and ps_rss");
}

/*
 * stat always (who is it, does it live); the others when a wanted row is in
 * them and this kernel has it.
 */
static void choose_files(struct pfr_procs *procs, const struct pfr_availability *have)
{
    procs->needed[PFR_PROC_STAT] = true;
    for (size_t i = 0; i < PFR_COUNT(places); i++)
        if (pfr_metric_set_has(procs->wanted, places[i].id) &&
            pfr_metric_set_has(&have->available, places[i].id))
            procs->needed[places[i].file] = true;
    procs->needs_rss = pfr_metric_set_has(procs->wanted, PFR_PS_PMEM) ||
                       procs->needed[PFR_PROC_ROLLUP];
    if (procs->needs_rss || pfr_metric_set_has(procs->wanted, PFR_PS_STAT))
        procs->needed[PFR_PROC_STATUS] = true;
    procs->record_cmd = pfr_metric_set_has(procs->wanted, PFR_PS_CMD);
}

int pfr_procs_open(struct pfr_procs *procs, const struct pfr_env *env,
                   struct pfr_process_table *table, const struct pfr_metric_set *wanted,
                   uint32_t fds_budget, struct pfr_availability *have)
{
    memset(procs, 0, sizeof(*procs));
    procs->env = env;
    procs->table = table;
    procs->wanted = wanted;
    procs->fds_budget = fds_budget;
    procs->pss_interval = PSS_INTERVAL;
    procs->pss_cap = PSS_CAP;
    procs->proc_fd = open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (procs->proc_fd < 0)
        return -errno;
    probe(procs, have);
    choose_files(procs, have);
    return 0;
}

static void close_files(struct pfr_procs *procs, uint32_t slot)
{
    if (slot >= procs->fds_capacity)
        return;
    for (int i = 0; i < PFR_PROCFILES; i++) {
        if (procs->fds[slot][i] <= 0)
            continue;
        close(procs->fds[slot][i]);
        procs->fds[slot][i] = 0;
        procs->fds_open--;
    }
}

void pfr_procs_release(struct pfr_procs *procs)
{
    for (uint32_t i = 0; i < procs->fds_capacity; i++)
        close_files(procs, i);
    free(procs->fds);
    pfr_still_release(&procs->still);
    if (procs->proc_fd >= 0)
        close(procs->proc_fd);
    procs->fds = NULL;
    procs->fds_capacity = 0;
    procs->proc_fd = -1;
}

/* ---- reading one file of one process ---- */

static bool make_fd_room(struct pfr_procs *procs)
{
    uint32_t capacity = procs->table->capacity;
    int(*fds)[PFR_PROCFILES];

    if (capacity <= procs->fds_capacity)
        return true;
    fds = realloc(procs->fds, capacity * sizeof(*fds));
    if (!fds)
        return false;
    memset(fds + procs->fds_capacity, 0, (capacity - procs->fds_capacity) * sizeof(*fds));
    procs->fds = fds;
    procs->fds_capacity = capacity;
    return true;
}

static ssize_t read_named(struct pfr_procs *procs, pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
    return pfr_file_read_text(procs->proc_fd, path, procs->text, sizeof(procs->text));
}

/* PSS is read too seldom to deserve an open file. */
static bool may_keep(const struct pfr_procs *procs, enum pfr_procfile file)
{
    return file != PFR_PROC_ROLLUP && procs->fds_open < procs->fds_budget;
}

static ssize_t read_file(struct pfr_procs *procs, uint32_t slot, enum pfr_procfile file)
{
    pid_t pid = procs->table->slots[slot].pid;
    char path[64];
    int fd;

    if (procs->fds[slot][file] > 0)
        return pfr_fd_pread_text(procs->fds[slot][file], procs->text, sizeof(procs->text));
    if (!may_keep(procs, file))
        return read_named(procs, pid, file_names[file]);
    snprintf(path, sizeof(path), "%d/%s", (int)pid, file_names[file]);
    fd = openat(procs->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pfr_errno_is_gone(errno) ? 0 : -errno;
    procs->fds[slot][file] = fd;
    procs->fds_open++;
    return pfr_fd_pread_text(fd, procs->text, sizeof(procs->text));
}

/* > 0 there is text; 0 there is none. Trouble is counted, not said, per reading (R84). */
static int get_text(struct pfr_procs *procs, uint32_t slot, enum pfr_procfile file)
{
    ssize_t n = read_file(procs, slot, file);

    if (n == -EACCES || n == -EPERM)
        procs->trouble.denied[file]++;
    else if (n < 0 && n != -ENODATA)
        procs->trouble.malformed[file]++;
    return n > 0;
}

static void set(const struct pfr_procs *procs, struct pfr_pid_reading *reading,
                enum pfr_metric_id id, int64_t value)
{
    if (!pfr_metric_set_has(procs->wanted, id))
        return;
    reading->value[id] = value;
    reading->present |= 1u << id;
}

static void take_lines(struct pfr_procs *procs, struct pfr_pid_reading *reading,
                       enum pfr_procfile file)
{
    const char *cursor = procs->text;

    for (size_t i = 0; i < PFR_COUNT(places); i++) {
        int64_t value;
        int r;

        if (places[i].file != file || !pfr_metric_set_has(procs->wanted, places[i].id))
            continue;
        r = pfr_shape_flat(procs->text, &cursor, places[i].key, places[i].suffix, &value);
        if (r > 0)
            set(procs, reading, places[i].id, value);
        else if (r < 0)
            procs->trouble.malformed[file]++;
    }
}

/* ---- one process ---- */

static int state_code(const struct pfr_stat_line *line, pid_t pid, bool locked)
{
    int64_t nice = line->field[PFR_STAT_NICE];
    int code = (unsigned char)line->state;

    if (nice)
        code |= nice < 0 ? PFR_STATE_HIGH : PFR_STATE_NICE;
    if (locked)
        code |= PFR_STATE_LOCKED;
    if (line->field[PFR_STAT_SESSION] == pid)
        code |= PFR_STATE_LEADER;
    if (line->field[PFR_STAT_THREADS] > 1)
        code |= PFR_STATE_THREADS;
    if (line->field[PFR_STAT_TPGID] == line->field[PFR_STAT_PGRP])
        code |= PFR_STATE_FOREGROUND;
    return code;
}

static void take_stat(const struct pfr_procs *procs, struct pfr_pid_reading *reading,
                      const struct pfr_stat_line *line, int64_t age)
{
    for (size_t i = 0; i < PFR_COUNT(columns); i++) {
        int64_t value = line->field[columns[i].a];

        if (columns[i].b) { /* CPU time: two columns, in ticks */
            if (__builtin_add_overflow(value, line->field[columns[i].b], &value))
                value = INT64_MAX;
            value = pfr_muldiv(value, PFR_NS_PER_S, procs->env->clock_ticks);
        }
        set(procs, reading, columns[i].id, value);
    }
    set(procs, reading, PFR_PS_ETIME, age);
}

/* A line of /proc/PID/status in bytes; -1 when it has none, as of a zombie. */
static int64_t status_bytes(const char *status, const char *key)
{
    const char *cursor = status;
    int64_t bytes;

    return pfr_shape_flat(status, &cursor, key, PFR_KB, &bytes) > 0 ? bytes : -1;
}

/* As ps -o args prints it: one line, joined by spaces, [comm] when there is nothing. */
static void read_cmd(struct pfr_procs *procs, struct pfr_process *process)
{
    ssize_t n = read_named(procs, process->pid, "cmdline");
    size_t length = n > 0 ? (size_t)n : n == -ENOBUFS ? sizeof(procs->text) - 1 : 0;

    if (length > CMD_MAX)
        length = CMD_MAX;
    while (length > 0 && procs->text[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)procs->text[i];

        if (c < ' ' || c == 127) /* it may end up on a terminal */
            procs->text[i] = c == '\0' || (c >= '\t' && c <= '\r') ? ' ' : '?';
    }
    procs->text[length] = '\0';
    free(process->cmd);
    if (length == 0)
        snprintf(procs->text, sizeof(procs->text), "[%s]", process->comm);
    process->cmd = strdup(procs->text);
}

/* A new name means that it has called exec (or renamed itself): its command is new too. */
static void update_identity(struct pfr_procs *procs, struct pfr_process *process,
                            const struct pfr_stat_line *line)
{
    if (strcmp(process->comm, line->comm) == 0 && (process->cmd || !procs->record_cmd) &&
        !process->provisional)
        return;
    process->provisional = false;
    memcpy(process->comm, line->comm, sizeof(process->comm));
    if (procs->record_cmd)
        read_cmd(procs, process);
}

/* The slot of a listed pid, given what its stat file says; a reused pid gets a new one. */
static uint32_t identify(struct pfr_procs *procs, uint32_t slot, const struct pfr_stat_line *line)
{
    struct pfr_process *process = &procs->table->slots[slot];
    pid_t pid = process->pid;

    if (process->start_ticks == line->field[PFR_STAT_START])
        return slot;
    if (process->start_ticks) {
        close_files(procs, slot);
        pfr_process_retire(procs->table, slot);
        slot = pfr_process_add(procs->table, pid);
        if (slot == PFR_SLOT_NONE || !make_fd_room(procs))
            return PFR_SLOT_NONE;
    }
    procs->table->slots[slot].start_ticks = line->field[PFR_STAT_START];
    return slot;
}

struct tick_clock {
    int64_t stamp;    /* monotonic */
    int64_t boottime; /* what start times count on */
    bool pss;         /* this tick reads it */
};

/* The resident set, whether or not it was asked for; -1 when there is none. */
static int64_t read_details(struct pfr_procs *procs, uint32_t slot,
                            struct pfr_pid_reading *reading, const struct pfr_stat_line *line)
{
    bool locked = false;
    int64_t rss = -1;

    if (procs->needed[PFR_PROC_STATUS] && get_text(procs, slot, PFR_PROC_STATUS)) {
        take_lines(procs, reading, PFR_PROC_STATUS);
        locked = status_bytes(procs->text, "VmLck:") > 0;
        if (procs->needs_rss)
            rss = status_bytes(procs->text, "VmRSS:");
    }
    set(procs, reading, PFR_PS_STAT, state_code(line, procs->table->slots[slot].pid, locked));
    if (rss >= 0 && procs->env->mem_total)
        set(procs, reading, PFR_PS_PMEM,
            pfr_muldiv(rss, 100 * pfr_unit_quantum(PFR_PERCENT), procs->env->mem_total));
    if (procs->needed[PFR_PROC_IO] && get_text(procs, slot, PFR_PROC_IO))
        take_lines(procs, reading, PFR_PROC_IO);
    return rss;
}

static uint64_t rollup_trouble(const struct pfr_procs *procs)
{
    return procs->trouble.denied[PFR_PROC_ROLLUP] + procs->trouble.malformed[PFR_PROC_ROLLUP];
}

/* Not of one that is too large; and with one missing there is no sum either. */
static void read_pss(struct pfr_procs *procs, uint32_t slot, struct pfr_pid_reading *reading,
                     struct pfr_sample *sample, int64_t rss)
{
    uint64_t before = rollup_trouble(procs);

    if (rss > procs->pss_cap)
        sample->partial |= 1u << PFR_PROC_PSS;
    else if (get_text(procs, slot, PFR_PROC_ROLLUP))
        take_lines(procs, reading, PFR_PROC_ROLLUP);
    if (rollup_trouble(procs) != before)
        sample->partial |= 1u << PFR_PROC_PSS;
}

/*
 * Listed, but not to be read. One that was read before has ended: it is not
 * marked as seen and retired below. One that never was is hidden from us: it
 * keeps its slot while it is listed, so that it is counted once.
 */
static void note_unreadable(struct pfr_procs *procs, uint32_t slot, bool is_new)
{
    struct pfr_process *process = &procs->table->slots[slot];

    procs->trouble.hidden += is_new;
    if (!process->start_ticks)
        process->seen = procs->tick;
}

static int64_t age_of(const struct pfr_procs *procs, int64_t start_ticks,
                      const struct tick_clock *now)
{
    return now->boottime - pfr_muldiv(start_ticks, PFR_NS_PER_S, procs->env->clock_ticks);
}

/* True if the process has not run since it was read: then that is its reading again. */
static bool repeat_reading(struct pfr_procs *procs, uint32_t slot, int64_t clock,
                           struct pfr_readings *readings, const struct tick_clock *now)
{
    struct pfr_process *process = &procs->table->slots[slot];
    const struct pfr_pid_reading *last =
        now->pss || process->provisional
            ? NULL
            : pfr_still_find(&procs->still, process, slot, clock, now->stamp, procs->tick);
    struct pfr_pid_reading *reading;

    if (!last || !(reading = pfr_readings_add_pid(readings, slot)))
        return false;
    *reading = *last;
    process->seen = procs->tick;
    set(procs, reading, PFR_PS_ETIME, age_of(procs, process->start_ticks, now));
    return true;
}

static bool read_process(struct pfr_procs *procs, pid_t pid, struct pfr_readings *readings,
                         const struct tick_clock *now)
{
    uint32_t slot = pfr_process_find(procs->table, pid);
    bool is_new = slot == PFR_SLOT_NONE;
    struct pfr_pid_reading *reading;
    struct pfr_stat_line line;
    int64_t age, rss, clock;

    if (!is_new && procs->table->slots[slot].seen == procs->tick)
        return true; /* listed twice: it moved between two cgroups while they were read */
    if (is_new && (slot = pfr_process_add(procs->table, pid)) == PFR_SLOT_NONE)
        return false;
    if (!make_fd_room(procs))
        return false;
    clock = pfr_still_clock(procs->env, pid);
    if (repeat_reading(procs, slot, clock, readings, now))
        return true;
    if (!get_text(procs, slot, PFR_PROC_STAT) || pfr_shape_stat(procs->text, &line) <= 0) {
        note_unreadable(procs, slot, is_new);
        return true;
    }
    slot = identify(procs, slot, &line);
    if (slot == PFR_SLOT_NONE || !(reading = pfr_readings_add_pid(readings, slot)))
        return false;
    age = age_of(procs, line.field[PFR_STAT_START], now);
    procs->table->slots[slot].birth = now->stamp - age;
    procs->table->slots[slot].seen = procs->tick;
    procs->table->slots[slot].parent = (pid_t)line.field[PFR_STAT_PPID];
    take_stat(procs, reading, &line, age);
    if (clock >= 0) /* in nanoseconds, where stat has ticks */
        set(procs, reading, PFR_PS_CPU_SECONDS, clock);
    update_identity(procs, &procs->table->slots[slot], &line);
    rss = read_details(procs, slot, reading, &line);
    if (now->pss)
        read_pss(procs, slot, reading, &readings->samples[readings->count - 1], rss);
    else
        pfr_still_keep(&procs->still, procs->table, slot, clock, now->stamp, reading);
    return true;
}

static void retire_unseen(struct pfr_procs *procs)
{
    for (uint32_t i = 0; i < procs->table->high; i++) {
        struct pfr_process *process = &procs->table->slots[i];

        if (!process->used || process->gone || process->seen == procs->tick)
            continue;
        close_files(procs, i);
        pfr_process_retire(procs->table, i);
    }
}

uint32_t pfr_procs_collect(struct pfr_procs *procs, const pid_t *pids, uint32_t count,
                           struct pfr_readings *readings)
{
    struct pfr_sample *sample = &readings->samples[readings->count - 1];
    struct tick_clock now = { .stamp = pfr_env_now(procs->env, CLOCK_MONOTONIC),
                              .boottime = pfr_env_now(procs->env, CLOCK_BOOTTIME) };

    procs->tick++;
    sample->stamp[PFR_FROM_PROCS] = now.stamp;
    now.pss = procs->needed[PFR_PROC_ROLLUP] && now.stamp >= procs->pss_next;
    if (now.pss)
        procs->pss_next = now.stamp + procs->pss_interval;
    for (uint32_t i = 0; i < count; i++)
        if (!read_process(procs, pids[i], readings, &now))
            procs->trouble.no_memory++;
    retire_unseen(procs);
    sample->empty = sample->count == 0;
    if (sample->count && pfr_metric_set_has(procs->wanted, PFR_PROC_COUNT))
        pfr_sample_set(sample, PFR_PROC_COUNT, sample->count);
    return sample->count;
}
