#include "tools/profres/plot/plan.h"

#include "common/base/cleanup.h"

const struct pfr_panel_kind pfr_panel_kinds[PFR_PANEL_COUNT] = {
    [PFR_PANEL_MEMORY] = { "memory", "Memory", "", PFR_AXIS_BYTES },
    [PFR_PANEL_PROCESS_MEMORY] = { "process-memory", "Memory by process",
                                   "resident sets of the largest, stacked; shared pages repeat",
                                   PFR_AXIS_BYTES },
    [PFR_PANEL_CPU] = { "cpu", "CPU", "cores in use", PFR_AXIS_CORES },
    [PFR_PANEL_PROCESS_CPU] = { "process-cpu", "CPU by process", "cores of the busiest, stacked",
                                PFR_AXIS_CORES },
    [PFR_PANEL_IO] = { "io", "Storage", "bytes per second", PFR_AXIS_RATE },
    [PFR_PANEL_GPU] = { "gpu", "GPU", "share of time or of the whole", PFR_AXIS_SHARE },
    [PFR_PANEL_GPU_MEMORY] = { "gpu-memory", "GPU memory", "", PFR_AXIS_BYTES },
    [PFR_PANEL_PRESSURE] = { "pressure", "Pressure", "share of time in which tasks had to wait",
                             PFR_AXIS_SHARE },
    [PFR_PANEL_PROCESSES] = { "processes", "Processes", "", PFR_AXIS_COUNT },
};

#define LINE(KEY, LABEL, PANEL, COLOUR, ...) \
    { .key = KEY, .label = LABEL, .panel = PFR_PANEL_##PANEL, .colour = COLOUR, __VA_ARGS__ }
#define CORES .scale = 0.01 /* from percent of a core */
#define BUSY .draw = PFR_DRAW_GROWTH
#define SHARE .draw = PFR_DRAW_GROWTH, .scale = 100

const struct pfr_plan pfr_plans[] = {
    LINE("cgroup_mem_current", "charged", MEMORY, 0, .chief = true,
         .compared = "Memory charged"),
    LINE("cgroup_mem_nonreclaimable", "needed by the program", MEMORY, 1,
         .compared = "Memory needed by the program"),
    LINE("cgroup_mem_sampled_peak", "charged, most sampled in a window", MEMORY, 6),
    LINE("cgroup_mem_window_peak", "kernel's peak in a window", MEMORY, 4),
    LINE("cgroup_mem_peak", "kernel's peak so far", MEMORY, 3, .draw = PFR_DRAW_KEPT),
    LINE("cgroup_mem_limit", "limit", MEMORY, 7, .draw = PFR_DRAW_LIMIT),
    LINE("cgroup_mem_high_limit", "limit above which it is slowed", MEMORY, 5,
         .draw = PFR_DRAW_LIMIT),
    LINE("ps_rss_total", "resident, summed over processes", MEMORY, 2, .chief = true,
         .behind = "cgroup_mem_current",
         .compared = "Memory resident, summed over processes"),
    LINE("proc_pss_total", "proportional set, summed", MEMORY, 5),
    LINE("cgroup_mem_anon", "anonymous", MEMORY, 4, .spare = true),
    LINE("cgroup_mem_file", "page cache", MEMORY, 5, .spare = true),
    LINE("cgroup_mem_shmem", "shared memory and tmpfs", MEMORY, 6, .spare = true),
    LINE("cgroup_mem_kernel", "kernel memory", MEMORY, 3, .spare = true),
    LINE("cgroup_swap_current", "swap", MEMORY, 4, .spare = true),

    LINE("cgroup_pdcpu", "in use", CPU, 0, .chief = true, CORES,
         .compared = "CPU: cores in use"),
    LINE("ps_pdcpu_total", "by the processes seen", CPU, 2, .chief = true, CORES,
         .behind = "cgroup_pdcpu",
         .compared = "CPU: cores of the processes seen"),
    LINE("cgroup_cpu_system_seconds", "in the kernel", CPU, 1, BUSY),
    LINE("cgroup_cpu_user_seconds", "in user mode", CPU, 4, BUSY, .spare = true),
    LINE("cgroup_cpu_throttled_seconds", "stopped by the CPU limit", CPU, 3, BUSY),
    LINE("cgroup_cpu_limit", "CPU limit", CPU, 5, .draw = PFR_DRAW_LIMIT, CORES),

    LINE("cgroup_io_read_bytes", "read from block devices", IO, 0, .chief = true, BUSY,
         .compared = "Read from block devices"),
    LINE("cgroup_io_write_bytes", "written to block devices", IO, 1, BUSY,
         .compared = "Written to block devices"),
    LINE("proc_io_read_bytes_total", "read from storage by processes seen", IO, 2, .chief = true,
         BUSY, .behind = "cgroup_io_read_bytes",
         .compared = "Read from storage by processes seen"),
    LINE("proc_io_write_bytes_total", "written to storage by processes seen", IO, 3, BUSY,
         .behind = "cgroup_io_write_bytes",
         .compared = "Written to storage by processes seen"),
    LINE("proc_io_rchar_total", "by read calls, cached too", IO, 4, BUSY, .spare = true),
    LINE("proc_io_wchar_total", "by write calls, pipes too", IO, 5, BUSY, .spare = true),

    LINE("cgroup_psi_cpu_some_seconds", "some waited for a core", PRESSURE, 0, SHARE,
         .chief = true),
    LINE("cgroup_psi_memory_some_seconds", "some waited for memory", PRESSURE, 3, SHARE),
    LINE("cgroup_psi_io_some_seconds", "some waited for storage", PRESSURE, 1, SHARE),
    LINE("cgroup_psi_cpu_full_seconds", "all waited for a core", PRESSURE, 4, SHARE,
         .spare = true),
    LINE("cgroup_psi_memory_full_seconds", "all waited for memory", PRESSURE, 6, SHARE,
         .spare = true),
    LINE("cgroup_psi_io_full_seconds", "all waited for storage", PRESSURE, 5, SHARE,
         .spare = true),

    LINE("proc_count", "processes", PROCESSES, 0, .chief = true),
    LINE("cgroup_pids_current", "processes and threads", PROCESSES, 1),
    LINE("proc_threads_total", "threads of the processes seen", PROCESSES, 2,
         .behind = "cgroup_pids_current"),
};

const size_t pfr_plan_count = PFR_COUNT(pfr_plans);

_Static_assert(PFR_COUNT(pfr_plans) < PFR_PLANS_MAX, "more lines than a trace has room for");
