#include "common/metric/table.h"

#include <string.h>

/* Rows name themselves, the collector that reads them, and how nodes are merged. */
#define ROW(KEY, KIND, UNIT, REDUCE, SCOPE, FROM, MERGE, HELP) \
    .key = KEY, .help = HELP, .kind = PFR_##KIND, .unit = PFR_##UNIT, .reduce = PFR_##REDUCE, \
    .scope = PFR_SCOPE_##SCOPE, .from = PFR_FROM_##FROM, .merge = PFR_MERGE_##MERGE

#define PID_GAUGE(KEY, UNIT, HELP) { ROW(KEY, GAUGE, UNIT, MAX, PID, PROCS, NONE, HELP) }
#define PID_COUNTER(KEY, UNIT, HELP) { ROW(KEY, COUNTER, UNIT, DELTA, PID, PROCS, NONE, HELP) }
#define STEP_COUNTER(KEY, UNIT, HELP) { ROW(KEY, COUNTER, UNIT, DELTA, STEP, CGROUP, SUM, HELP) }
#define STEP_GAUGE(KEY, UNIT, REDUCE, MERGE, HELP) \
    { ROW(KEY, GAUGE, UNIT, REDUCE, STEP, CGROUP, MERGE, HELP) }
#define STEP_LIMIT(KEY, UNIT, MERGE, HELP) \
    { ROW(KEY, GAUGE, UNIT, LAST, STEP, CGROUP, MERGE, HELP), .lasting = true }
#define SUM_GAUGE(KEY, UNIT, MERGE, BASE, HELP) \
    { ROW(KEY, GAUGE, UNIT, MAX, STEP, PROCS, MERGE, HELP), .derive = PFR_SUM, .of = { BASE } }
#define SUM_COUNTER(KEY, UNIT, BASE, HELP) \
    { ROW(KEY, COUNTER, UNIT, DELTA, STEP, PROCS, SUM, HELP), .derive = PFR_SUM, .of = { BASE } }

#define COMMAND_COUNTER(KEY, UNIT, BASE, HELP) \
    { ROW(KEY, COUNTER, UNIT, DELTA, COMMAND, PROCS, NONE, HELP), .derive = PFR_SUM, \
      .of = { BASE } }

const struct pfr_family pfr_families[PFR_SCOPE_COUNT] = {
    [PFR_SCOPE_PID] = { "process", "Processes", "process id and start time",
                        PFR_PID_FIRST, PFR_PID_END - 1, { PFR_PS_CPU_SECONDS, PFR_PS_RSS } },
    [PFR_SCOPE_STEP] = { "step", "Step", "the step", PFR_STEP_FIRST, PFR_STEP_END - 1, { 0 } },
    [PFR_SCOPE_TASK] = { "task", "Tasks", "rank of the task",
                         PFR_TASK_MEM_CURRENT, PFR_TASK_OOM_KILLS, { 0 } },
    [PFR_SCOPE_COMMAND] = { "command", "Commands", "name of the executable, at most 15 bytes",
                            PFR_COMMAND_PROCESSES, PFR_COMMAND_WRITE_BYTES,
                            { PFR_COMMAND_CPU_SECONDS, PFR_COMMAND_RSS_TOTAL } },
};

const struct pfr_metric pfr_metrics[PFR_METRIC_COUNT] = {
    [PFR_PS_RSS] = PID_GAUGE("ps_rss", BYTES,
        "resident set of the process, as ps -o rss; shared pages counted in each process"),
    [PFR_PS_VSZ] = PID_GAUGE("ps_vsz", BYTES,
        "virtual size of the process, as ps -o vsz; says nothing of memory needed"),
    [PFR_PS_PMEM] = PID_GAUGE("ps_pmem", PERCENT,
        "resident set as a share of the node's memory, as ps -o pmem"),
    [PFR_PS_CPU_SECONDS] = PID_COUNTER("ps_cpu_seconds", SECONDS,
        "CPU time of the process itself, without children, as ps -o cputime"),
    /* not without the other: what was sampled of a child is taken off */
    [PFR_PS_CHILDREN_CPU_SECONDS] = {
        ROW("ps_children_cpu_seconds", COUNTER, SECONDS, DELTA, PID, PROCS, NONE,
            "CPU time of children it waited for, less what was sampled of them: "
            "processes too short to be sampled, and the end of others"),
        .of = { PFR_PS_CPU_SECONDS } },
    [PFR_PS_PDCPU] = {
        ROW("ps_pdcpu", GAUGE, PERCENT, MEAN, PID, PROCS, NONE,
            "CPU use between readings, 100 = one core; not the lifetime average of ps -o pcpu"),
        .derive = PFR_RATE, .of = { PFR_PS_CPU_SECONDS } },
    [PFR_PS_ETIME] = {
        ROW("ps_etime", GAUGE, SECONDS, LAST, PID, PROCS, NONE,
            "age of the process, as ps -o etime") },
    [PFR_PS_STAT] = {
        ROW("ps_stat", CATEGORICAL, ITEMS, TALLY, PID, PROCS, NONE,
            "how often each state was seen, as ps -o stat (R, S, D, Z, ... with modifiers)") },
    [PFR_PS_CMD] = {
        ROW("ps_cmd", LABEL, TEXT, LAST, PID, PROCS, NONE,
            "command line of the process, as ps -o args") },
    [PFR_PROC_HWM] = PID_GAUGE("proc_hwm", BYTES,
        "the kernel's own high-water mark of the resident set (VmHWM)"),
    [PFR_PROC_SWAP] = PID_GAUGE("proc_swap", BYTES,
        "anonymous memory of the process in swap (VmSwap)"),
    [PFR_PROC_PSS] = {
        ROW("proc_pss", GAUGE, BYTES, MAX, PID, PROCS, NONE,
            "proportional set: shared pages divided among their users; "
            "reading it stalls the process"),
        .costly = true },
    [PFR_PROC_THREADS] = PID_GAUGE("proc_threads", ITEMS, "threads of the process"),
    [PFR_PROC_IO_RCHAR] = PID_COUNTER("proc_io_rchar", BYTES,
        "bytes that read calls delivered, cached or not; with unseen children it waited for"),
    [PFR_PROC_IO_WCHAR] = PID_COUNTER("proc_io_wchar", BYTES,
        "bytes handed to write calls, pipes and terminals too"),
    [PFR_PROC_IO_READ_BYTES] = PID_COUNTER("proc_io_read_bytes", BYTES,
        "bytes fetched from storage on behalf of the process"),
    [PFR_PROC_IO_WRITE_BYTES] = PID_COUNTER("proc_io_write_bytes", BYTES,
        "bytes the process caused to be sent to storage"),
    [PFR_PROC_IO_CANCELLED_BYTES] = PID_COUNTER("proc_io_cancelled_bytes", BYTES,
        "bytes counted as written whose pages were dropped before they reached storage"),
    [PFR_PROC_CTXT_VOLUNTARY] = PID_COUNTER("proc_ctxt_voluntary", ITEMS,
        "context switches of the main thread because it waited"),
    [PFR_PROC_CTXT_INVOLUNTARY] = PID_COUNTER("proc_ctxt_involuntary", ITEMS,
        "context switches of the main thread because others wanted the core"),
    [PFR_PROC_FAULTS_MINOR] = PID_COUNTER("proc_faults_minor", ITEMS,
        "page faults served without storage"),
    [PFR_PROC_FAULTS_MAJOR] = PID_COUNTER("proc_faults_major", ITEMS,
        "page faults that waited for storage"),

    [PFR_PS_RSS_TOTAL] = {
        ROW("ps_rss_total", GAUGE, BYTES, MAX, STEP, PROCS, NODE,
            "largest simultaneous sum of ps_rss; counts shared pages repeatedly, "
            "not physical memory"),
        .derive = PFR_SUM, .detail = true, .yields = PFR_CGROUP_MEM_CURRENT,
        .of = { PFR_PS_RSS } },
    [PFR_PS_VSZ_TOTAL] = SUM_GAUGE("ps_vsz_total", BYTES, NODE, PFR_PS_VSZ,
        "largest simultaneous sum of ps_vsz"),
    [PFR_PS_PMEM_TOTAL] = SUM_GAUGE("ps_pmem_total", PERCENT, NONE, PFR_PS_PMEM,
        "largest simultaneous sum of ps_pmem, a sum of percentages"),
    [PFR_PS_CPU_SECONDS_TOTAL] = SUM_COUNTER("ps_cpu_seconds_total", SECONDS, PFR_PS_CPU_SECONDS,
        "CPU time attributed to the processes seen: sum of each one's own growth"),
    [PFR_PS_CHILDREN_CPU_SECONDS_TOTAL] = SUM_COUNTER("ps_children_cpu_seconds_total", SECONDS,
        PFR_PS_CHILDREN_CPU_SECONDS, "sum of each process's growth of ps_children_cpu_seconds"),
    [PFR_PS_PDCPU_TOTAL] = {
        ROW("ps_pdcpu_total", GAUGE, PERCENT, MEAN, STEP, PROCS, NONE,
            "CPU use of the processes seen, 100 = one core"),
        .derive = PFR_RATE, .detail = true, .yields = PFR_CGROUP_PDCPU,
        .of = { PFR_PS_CPU_SECONDS_TOTAL } },
    [PFR_PROC_COUNT] = {
        ROW("proc_count", GAUGE, ITEMS, MAX, STEP, PROCS, NONE, "processes alive at a sample") },
    [PFR_PROC_SWAP_TOTAL] = SUM_GAUGE("proc_swap_total", BYTES, NODE, PFR_PROC_SWAP,
        "largest simultaneous sum of proc_swap"),
    [PFR_PROC_PSS_TOTAL] = {
        ROW("proc_pss_total", GAUGE, BYTES, MAX, STEP, PROCS, NODE,
            "largest simultaneous sum of proc_pss"),
        .costly = true, .derive = PFR_SUM, .of = { PFR_PROC_PSS } },
    [PFR_PROC_THREADS_TOTAL] = SUM_GAUGE("proc_threads_total", ITEMS, NONE, PFR_PROC_THREADS,
        "largest simultaneous sum of proc_threads"),
    [PFR_PROC_IO_RCHAR_TOTAL] = SUM_COUNTER("proc_io_rchar_total", BYTES, PFR_PROC_IO_RCHAR,
        "sum of each process's growth of proc_io_rchar"),
    [PFR_PROC_IO_WCHAR_TOTAL] = SUM_COUNTER("proc_io_wchar_total", BYTES, PFR_PROC_IO_WCHAR,
        "sum of each process's growth of proc_io_wchar"),
    [PFR_PROC_IO_READ_BYTES_TOTAL] = SUM_COUNTER("proc_io_read_bytes_total", BYTES,
        PFR_PROC_IO_READ_BYTES, "sum of each process's growth of proc_io_read_bytes"),
    [PFR_PROC_IO_WRITE_BYTES_TOTAL] = SUM_COUNTER("proc_io_write_bytes_total", BYTES,
        PFR_PROC_IO_WRITE_BYTES, "sum of each process's growth of proc_io_write_bytes"),
    [PFR_PROC_IO_CANCELLED_BYTES_TOTAL] = SUM_COUNTER("proc_io_cancelled_bytes_total", BYTES,
        PFR_PROC_IO_CANCELLED_BYTES, "sum of each process's growth of proc_io_cancelled_bytes"),
    [PFR_PROC_CTXT_VOLUNTARY_TOTAL] = SUM_COUNTER("proc_ctxt_voluntary_total", ITEMS,
        PFR_PROC_CTXT_VOLUNTARY, "sum of each process's growth of proc_ctxt_voluntary"),
    [PFR_PROC_CTXT_INVOLUNTARY_TOTAL] = SUM_COUNTER("proc_ctxt_involuntary_total", ITEMS,
        PFR_PROC_CTXT_INVOLUNTARY, "sum of each process's growth of proc_ctxt_involuntary"),
    [PFR_PROC_FAULTS_MINOR_TOTAL] = SUM_COUNTER("proc_faults_minor_total", ITEMS,
        PFR_PROC_FAULTS_MINOR, "sum of each process's growth of proc_faults_minor"),
    [PFR_PROC_FAULTS_MAJOR_TOTAL] = SUM_COUNTER("proc_faults_major_total", ITEMS,
        PFR_PROC_FAULTS_MAJOR, "sum of each process's growth of proc_faults_major"),

    [PFR_CGROUP_MEM_PEAK] = {
        ROW("cgroup_mem_peak", GAUGE, BYTES, MAX, STEP, CGROUP, NODE,
            "most memory ever charged, kept by the kernel; with page cache that could be "
            "dropped, and in a Slurm step on v1 with slurmstepd"),
        .lasting = true },
    [PFR_CGROUP_MEM_WINDOW_PEAK] = {
        ROW("cgroup_mem_window_peak", GAUGE, BYTES, MAX, STEP, CGROUP, NODE,
            "most memory charged within the window, kept by the kernel; needs Linux 6.12 and v2"),
        .lasting = true, .past = true },
    [PFR_CGROUP_MEM_CURRENT] = {
        ROW("cgroup_mem_current", GAUGE, BYTES, MEAN, STEP, CGROUP, NODE,
            "memory charged at a sample, page cache included"),
        .detail = true },
    [PFR_CGROUP_MEM_SAMPLED_PEAK] = {
        ROW("cgroup_mem_sampled_peak", GAUGE, BYTES, MAX, STEP, CGROUP, NODE,
            "largest cgroup_mem_current seen at a sample; misses what came and went between"),
        .derive = PFR_SAME, .of = { PFR_CGROUP_MEM_CURRENT } },
    [PFR_CGROUP_MEM_ANON] = STEP_GAUGE("cgroup_mem_anon", BYTES, MAX, NODE,
        "anonymous memory: heap, stack, private pages"),
    [PFR_CGROUP_MEM_FILE] = STEP_GAUGE("cgroup_mem_file", BYTES, MAX, NODE,
        "page cache, including cgroup_mem_shmem"),
    [PFR_CGROUP_MEM_INACTIVE_FILE] = STEP_GAUGE("cgroup_mem_inactive_file", BYTES, MAX, NODE,
        "page cache not used lately, which goes first when memory gets short"),
    [PFR_CGROUP_MEM_SHMEM] = STEP_GAUGE("cgroup_mem_shmem", BYTES, MAX, NODE,
        "shared memory and tmpfs files such as /dev/shm; cannot be dropped"),
    [PFR_CGROUP_MEM_KERNEL] = STEP_GAUGE("cgroup_mem_kernel", BYTES, MAX, NODE,
        "kernel memory charged: page tables, stacks, slab"),
    [PFR_CGROUP_MEM_NONRECLAIMABLE] = {
        ROW("cgroup_mem_nonreclaimable", GAUGE, BYTES, MAX, STEP, CGROUP, NODE,
            "anon + shmem + kernel of one sample: what the step could not do without"),
        .derive = PFR_ADD, .detail = true,
        .of = { PFR_CGROUP_MEM_ANON, PFR_CGROUP_MEM_SHMEM, PFR_CGROUP_MEM_KERNEL } },
    [PFR_CGROUP_MEM_LIMIT] = STEP_LIMIT("cgroup_mem_limit", BYTES, NODE,
        "smallest memory limit from this cgroup up to the root; absent when there is none"),
    [PFR_CGROUP_MEM_HIGH_LIMIT] = STEP_LIMIT("cgroup_mem_high_limit", BYTES, NODE,
        "smallest memory.high from this cgroup up to the root: above it the step is slowed"),
    [PFR_CGROUP_MEM_FAILCNT] = STEP_COUNTER("cgroup_mem_failcnt", ITEMS,
        "times an allocation met the memory limit and the kernel had to reclaim"),
    [PFR_CGROUP_MEM_FAILCNT_LOCAL] = STEP_COUNTER("cgroup_mem_failcnt_local", ITEMS,
        "the part of cgroup_mem_failcnt that met this cgroup's own limit, not one below"),
    [PFR_CGROUP_MEM_HIGH_EVENTS] = STEP_COUNTER("cgroup_mem_high_events", ITEMS,
        "times the step was slowed and made to reclaim because it was above memory.high"),
    [PFR_CGROUP_MEM_HIGH_EVENTS_LOCAL] = STEP_COUNTER("cgroup_mem_high_events_local", ITEMS,
        "the part of cgroup_mem_high_events of this cgroup's own memory.high"),
    [PFR_CGROUP_MEM_FAULTS_MAJOR] = STEP_COUNTER("cgroup_mem_faults_major", ITEMS,
        "page faults that waited for storage, of everything that ever ran in the step"),
    [PFR_CGROUP_MEM_REFAULTS_FILE] = STEP_COUNTER("cgroup_mem_refaults_file", ITEMS,
        "pages of files that were dropped and soon needed again: too little memory for them"),
    [PFR_CGROUP_SWAP_CURRENT] = STEP_GAUGE("cgroup_swap_current", BYTES, MAX, NODE,
        "swap used at a sample"),
    [PFR_CGROUP_SWAP_PEAK] = {
        ROW("cgroup_swap_peak", GAUGE, BYTES, MAX, STEP, CGROUP, NODE,
            "most swap ever used, kept by the kernel"),
        .lasting = true },
    [PFR_CGROUP_SWAP_WINDOW_PEAK] = {
        ROW("cgroup_swap_window_peak", GAUGE, BYTES, MAX, STEP, CGROUP, NODE,
            "most swap used within the window, kept by the kernel; needs Linux 6.12 and v2"),
        .lasting = true, .past = true },
    [PFR_CGROUP_SWAP_LIMIT] = STEP_LIMIT("cgroup_swap_limit", BYTES, NODE,
        "smallest swap limit from this cgroup up to the root; absent when there is none"),
    [PFR_CGROUP_SWAP_FAILCNT] = STEP_COUNTER("cgroup_swap_failcnt", ITEMS,
        "times memory could not be swapped out because of a swap limit"),
    [PFR_CGROUP_SWAP_FAILS] = STEP_COUNTER("cgroup_swap_fails", ITEMS,
        "times memory could not be swapped out, because of a limit or for want of swap"),
    [PFR_CGROUP_OOM_EVENTS] = STEP_COUNTER("cgroup_oom_events", ITEMS,
        "times the limit was met and nothing could be reclaimed"),
    [PFR_CGROUP_OOM_EVENTS_LOCAL] = STEP_COUNTER("cgroup_oom_events_local", ITEMS,
        "the part of cgroup_oom_events of this cgroup's own limit"),
    [PFR_CGROUP_OOM_KILLS] = {
        ROW("cgroup_oom_kills", COUNTER, ITEMS, DELTA, STEP, CGROUP, KNOWN,
            "processes killed by the out-of-memory killer") },
    [PFR_CGROUP_OOM_KILLS_LOCAL] = STEP_COUNTER("cgroup_oom_kills_local", ITEMS,
        "the part of cgroup_oom_kills that was in this very cgroup, not in one below"),
    [PFR_CGROUP_CPU_SECONDS] = STEP_COUNTER("cgroup_cpu_seconds", SECONDS,
        "CPU time of everything that ever ran in the step, however short"),
    [PFR_CGROUP_CPU_USER_SECONDS] = STEP_COUNTER("cgroup_cpu_user_seconds", SECONDS,
        "the part of cgroup_cpu_seconds in user mode"),
    [PFR_CGROUP_CPU_SYSTEM_SECONDS] = STEP_COUNTER("cgroup_cpu_system_seconds", SECONDS,
        "the part of cgroup_cpu_seconds in the kernel"),
    [PFR_CGROUP_PDCPU] = {
        ROW("cgroup_pdcpu", GAUGE, PERCENT, MEAN, STEP, CGROUP, NONE,
            "CPU use of the step, 100 = one core"),
        .derive = PFR_RATE, .detail = true,
        .of = { PFR_CGROUP_CPU_SECONDS } },
    [PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS] = {
        ROW("cgroup_cpu_unattributed_seconds", COUNTER, SECONDS, DELTA, STEP, CGROUP, SUM,
            "cgroup_cpu_seconds less ps_cpu_seconds_total and ps_children_cpu_seconds_total: "
            "processes that were neither sampled nor waited for by one that was"),
        .derive = PFR_REST,
        .of = { PFR_CGROUP_CPU_SECONDS, PFR_PS_CPU_SECONDS_TOTAL,
                PFR_PS_CHILDREN_CPU_SECONDS_TOTAL } },
    [PFR_CGROUP_CPU_LIMIT] = STEP_LIMIT("cgroup_cpu_limit", PERCENT, NONE,
        "smallest CPU bandwidth limit from this cgroup up to the root, 100 = one core"),
    [PFR_CGROUP_CPU_PERIODS] = STEP_COUNTER("cgroup_cpu_periods", ITEMS,
        "periods of the CPU bandwidth limit that passed"),
    [PFR_CGROUP_CPU_THROTTLED_PERIODS] = STEP_COUNTER("cgroup_cpu_throttled_periods", ITEMS,
        "periods in which the step was stopped by its CPU bandwidth limit"),
    [PFR_CGROUP_CPU_THROTTLED_SECONDS] = STEP_COUNTER("cgroup_cpu_throttled_seconds", SECONDS,
        "time spent stopped by the CPU bandwidth limit, summed over cores"),
    [PFR_CGROUP_IO_READ_BYTES] = STEP_COUNTER("cgroup_io_read_bytes", BYTES,
        "bytes read from block devices"),
    [PFR_CGROUP_IO_WRITE_BYTES] = STEP_COUNTER("cgroup_io_write_bytes", BYTES,
        "bytes written to block devices"),
    [PFR_CGROUP_IO_READ_OPS] = STEP_COUNTER("cgroup_io_read_ops", ITEMS,
        "reads from block devices"),
    [PFR_CGROUP_IO_WRITE_OPS] = STEP_COUNTER("cgroup_io_write_ops", ITEMS,
        "writes to block devices"),
    [PFR_CGROUP_PIDS_CURRENT] = STEP_GAUGE("cgroup_pids_current", ITEMS, MAX, NONE,
        "processes and threads at a sample"),
    [PFR_CGROUP_PIDS_PEAK] = {
        ROW("cgroup_pids_peak", GAUGE, ITEMS, MAX, STEP, CGROUP, NONE,
            "most processes and threads at once, kept by the kernel"),
        .lasting = true },
    [PFR_CGROUP_PIDS_FAILCNT] = STEP_COUNTER("cgroup_pids_failcnt", ITEMS,
        "times a fork was refused because of a limit on processes and threads"),
    [PFR_CGROUP_PSI_CPU_SOME_SECONDS] = STEP_COUNTER("cgroup_psi_cpu_some_seconds", SECONDS,
        "time in which some task waited for a core"),
    [PFR_CGROUP_PSI_CPU_FULL_SECONDS] = STEP_COUNTER("cgroup_psi_cpu_full_seconds", SECONDS,
        "time in which every task that wanted a core waited for one"),
    [PFR_CGROUP_PSI_MEMORY_SOME_SECONDS] = STEP_COUNTER("cgroup_psi_memory_some_seconds", SECONDS,
        "time in which some task waited for memory"),
    [PFR_CGROUP_PSI_MEMORY_FULL_SECONDS] = STEP_COUNTER("cgroup_psi_memory_full_seconds", SECONDS,
        "time in which all tasks waited for memory"),
    [PFR_CGROUP_PSI_IO_SOME_SECONDS] = STEP_COUNTER("cgroup_psi_io_some_seconds", SECONDS,
        "time in which some task waited for storage"),
    [PFR_CGROUP_PSI_IO_FULL_SECONDS] = STEP_COUNTER("cgroup_psi_io_full_seconds", SECONDS,
        "time in which all tasks waited for storage"),
    [PFR_CGROUP_TASKS_MEM_SAMPLED_PEAK] = {
        ROW("cgroup_tasks_mem_sampled_peak", GAUGE, BYTES, MAX, STEP, TASKS, NODE,
            "largest simultaneous sum of the memory charged to the tasks' own cgroups") },
    [PFR_CGROUP_TASKS_CPU_SECONDS] = {
        ROW("cgroup_tasks_cpu_seconds", COUNTER, SECONDS, DELTA, STEP, TASKS, SUM,
            "CPU time of the tasks' own cgroups, added up") },

    /* Not a counter: it is there once, when a task has been waited for. */
    [PFR_RUSAGE_CPU_SECONDS] = {
        ROW("rusage_cpu_seconds", GAUGE, SECONDS, MAX, STEP, WAIT, SUM,
            "CPU time of the tasks that ended and of the children they waited for, as time(1)"),
        .lasting = true },
    [PFR_RUSAGE_MAX_RSS] = {
        ROW("rusage_max_rss", GAUGE, BYTES, MAX, STEP, WAIT, NODE,
            "largest resident set of any single process that was waited for, as time(1)"),
        .lasting = true },

    [PFR_TASK_MEM_CURRENT] = {
        ROW("task_mem_current", GAUGE, BYTES, MAX, TASK, TASKS, NONE,
            "largest memory charged to the task's own cgroup at a sample") },
    [PFR_TASK_MEM_PEAK] = {
        ROW("task_mem_peak", GAUGE, BYTES, MAX, TASK, TASKS, NONE,
            "most memory ever charged to the task's own cgroup, kept by the kernel"),
        .lasting = true },
    [PFR_TASK_CPU_SECONDS] = {
        ROW("task_cpu_seconds", COUNTER, SECONDS, DELTA, TASK, TASKS, NONE,
            "CPU time of everything that ever ran in the task's own cgroup") },
    [PFR_TASK_PDCPU] = {
        ROW("task_pdcpu", GAUGE, PERCENT, MEAN, TASK, TASKS, NONE,
            "CPU use of the task, 100 = one core"),
        .derive = PFR_RATE, .of = { PFR_TASK_CPU_SECONDS } },
    [PFR_TASK_OOM_KILLS] = {
        ROW("task_oom_kills", COUNTER, ITEMS, DELTA, TASK, TASKS, NONE,
            "processes in the task's own cgroup killed by the out-of-memory killer") },

    [PFR_COMMAND_PROCESSES] = {
        ROW("command_processes", COUNTER, ITEMS, DELTA, COMMAND, PROCS, NONE,
            "processes seen that ran under this name") },
    [PFR_COMMAND_CPU_SECONDS] = COMMAND_COUNTER("command_cpu_seconds", SECONDS, PFR_PS_CPU_SECONDS,
        "CPU time of the processes of this name: sum of each one's own growth"),
    [PFR_COMMAND_CHILDREN_CPU_SECONDS] = COMMAND_COUNTER("command_children_cpu_seconds", SECONDS,
        PFR_PS_CHILDREN_CPU_SECONDS, "CPU time of their children that was not sampled"),
    [PFR_COMMAND_PDCPU] = {
        ROW("command_pdcpu", GAUGE, PERCENT, MEAN, COMMAND, PROCS, NONE,
            "CPU use of the processes of this name, 100 = one core"),
        .derive = PFR_RATE, .of = { PFR_COMMAND_CPU_SECONDS } },
    [PFR_COMMAND_RSS_TOTAL] = {
        ROW("command_rss_total", GAUGE, BYTES, MAX, COMMAND, PROCS, NONE,
            "largest simultaneous sum of ps_rss over the processes of this name"),
        .derive = PFR_SUM, .of = { PFR_PS_RSS } },
    [PFR_COMMAND_RSS_LARGEST] = {
        ROW("command_rss_largest", GAUGE, BYTES, MAX, COMMAND, PROCS, NONE,
            "largest ps_rss of a single process of this name"),
        .derive = PFR_SUM, .of = { PFR_PS_RSS } },
    [PFR_COMMAND_READ_BYTES] = COMMAND_COUNTER("command_read_bytes", BYTES, PFR_PROC_IO_READ_BYTES,
        "bytes fetched from storage for the processes of this name"),
    [PFR_COMMAND_WRITE_BYTES] = COMMAND_COUNTER("command_write_bytes", BYTES,
        PFR_PROC_IO_WRITE_BYTES, "bytes that the processes of this name sent to storage"),
};

_Static_assert(PFR_PID_END <= 32, "the presence mask of a process reading has 32 bits");

enum pfr_metric_id pfr_metric_find(const char *key)
{
    PFR_EACH_METRIC(id)
        if (strcmp(pfr_metrics[id].key, key) == 0)
            return id;
    return PFR_METRIC_NONE;
}

enum pfr_metric_id pfr_metric_find_from(enum pfr_metric_id next, const char *key, size_t length)
{
    static unsigned char lengths[PFR_METRIC_COUNT]; /* filled in as they are met */

    for (int i = 1, id = (int)next; i < PFR_METRIC_COUNT; i++, id++) {
        id = id > PFR_METRIC_NONE && id < PFR_METRIC_COUNT ? id : PFR_PID_FIRST;
        if (!lengths[id])
            lengths[id] = (unsigned char)strlen(pfr_metrics[id].key);
        if (lengths[id] == length && memcmp(pfr_metrics[id].key, key, length) == 0)
            return (enum pfr_metric_id)id;
    }
    return PFR_METRIC_NONE;
}

bool pfr_reduce_is_legal(enum pfr_kind kind, enum pfr_reduce reduce)
{
    switch (kind) {
    case PFR_GAUGE:
        return reduce == PFR_MAX || reduce == PFR_MIN || reduce == PFR_MEAN || reduce == PFR_LAST;
    case PFR_COUNTER:
        return reduce == PFR_DELTA;
    case PFR_LABEL:
        return reduce == PFR_LAST;
    case PFR_CATEGORICAL:
        return reduce == PFR_TALLY || reduce == PFR_LAST;
    }
    return false;
}

bool pfr_metric_uses(enum pfr_metric_id id, enum pfr_metric_id base)
{
    for (int i = 0; i < 3; i++)
        if (pfr_metrics[id].of[i] == base)
            return true;
    return false;
}

const char *pfr_kind_name(enum pfr_kind kind)
{
    static const char *const names[] = {
        [PFR_GAUGE] = "gauge", [PFR_COUNTER] = "counter",
        [PFR_LABEL] = "label", [PFR_CATEGORICAL] = "categorical",
    };

    return names[kind];
}

const char *pfr_unit_name(enum pfr_unit unit)
{
    static const char *const names[PFR_UNIT_COUNT] = {
        [PFR_BYTES] = "bytes", [PFR_SECONDS] = "seconds", [PFR_PERCENT] = "percent",
        [PFR_ITEMS] = "count", [PFR_TEXT] = "text", [PFR_WATTS] = "watts",
        [PFR_JOULES] = "joules", [PFR_DEGREES] = "degrees", [PFR_HERTZ] = "hertz",
        [PFR_BYTES_PER_SECOND] = "bytes/s",
    };

    return names[unit];
}

const char *pfr_reduce_name(enum pfr_reduce reduce)
{
    static const char *const names[] = {
        [PFR_MAX] = "max", [PFR_MIN] = "min", [PFR_MEAN] = "mean",
        [PFR_LAST] = "last", [PFR_DELTA] = "delta", [PFR_TALLY] = "tally",
    };

    return names[reduce];
}

const char *pfr_merge_name(enum pfr_merge merge)
{
    static const char *const names[PFR_MERGE_COUNT] = {
        [PFR_MERGE_NONE] = "none", [PFR_MERGE_SUM] = "sum", [PFR_MERGE_KNOWN] = "known",
        [PFR_MERGE_NODE] = "node",
    };

    return names[merge];
}

const char *pfr_scope_name(enum pfr_scope scope)
{
    return scope == PFR_SCOPE_PID ? "pid" : pfr_families[scope].name;
}

enum pfr_scope pfr_family_find(const char *name)
{
    int scope = 0;

    while (scope < PFR_SCOPE_COUNT && strcmp(pfr_families[scope].name, name) != 0)
        scope++;
    return (enum pfr_scope)scope;
}

int64_t pfr_unit_quantum(enum pfr_unit unit)
{
    switch (unit) {
    case PFR_SECONDS:
        return 1000000000;
    case PFR_PERCENT:
    case PFR_WATTS:
    case PFR_JOULES:
    case PFR_DEGREES:
        return 1000;
    default:
        return 1;
    }
}
