/*
 * Where each cgroup measurement stands. The v2 place comes first: on a hybrid
 * host the unified tree has cpu.stat and pressure and nothing else, so memory
 * falls through to v1 by itself. Microseconds have scale 1000, nanoseconds 1.
 */
#include "common/collect/cgroup.h"

#include "common/base/cleanup.h"

#define USEC 1000
#define NSEC 1
#define TICKS 0
#define CORE 100000 /* thousandths of a percent */

const struct pfr_cgplace pfr_cgplaces[] = {
    /* memory */
    { PFR_CGROUP_MEM_PEAK, PFR_UNIFIED, "memory.peak", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_PEAK, PFR_MEMORY, "memory.max_usage_in_bytes", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_WINDOW_PEAK, PFR_UNIFIED, "memory.peak", PFR_CG_SPAN, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_CURRENT, PFR_UNIFIED, "memory.current", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_CURRENT, PFR_MEMORY, "memory.usage_in_bytes", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_ANON, PFR_UNIFIED, "memory.stat", PFR_CG_FLAT, NULL, "anon", 1 },
    { PFR_CGROUP_MEM_FILE, PFR_UNIFIED, "memory.stat", PFR_CG_FLAT, NULL, "file", 1 },
    { PFR_CGROUP_MEM_KERNEL, PFR_UNIFIED, "memory.stat", PFR_CG_FLAT, NULL, "kernel", 1 },
    { PFR_CGROUP_MEM_SHMEM, PFR_UNIFIED, "memory.stat", PFR_CG_FLAT, NULL, "shmem", 1 },
    { PFR_CGROUP_MEM_FILE, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "total_cache", 1 },
    { PFR_CGROUP_MEM_ANON, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "total_rss", 1 },
    { PFR_CGROUP_MEM_SHMEM, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "total_shmem", 1 },
    { PFR_CGROUP_MEM_KERNEL, PFR_MEMORY, "memory.kmem.usage_in_bytes", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_INACTIVE_FILE, PFR_UNIFIED, "memory.stat", PFR_CG_FLAT, NULL, "inactive_file", 1 },
    { PFR_CGROUP_MEM_REFAULTS_FILE, PFR_UNIFIED, "memory.stat", PFR_CG_FLAT, NULL, "workingset_refault_file", 1 },
    { PFR_CGROUP_MEM_FAULTS_MAJOR, PFR_UNIFIED, "memory.stat", PFR_CG_FLAT, NULL, "pgmajfault", 1 },
    { PFR_CGROUP_MEM_REFAULTS_FILE, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "total_workingset_refault_file", 1 },
    { PFR_CGROUP_MEM_FAULTS_MAJOR, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "total_pgmajfault", 1 },
    { PFR_CGROUP_MEM_INACTIVE_FILE, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "total_inactive_file", 1 },
    { PFR_CGROUP_MEM_LIMIT, PFR_UNIFIED, "memory.max", PFR_CG_SMALLEST, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_LIMIT, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "hierarchical_memory_limit", 1 },
    { PFR_CGROUP_MEM_HIGH_LIMIT, PFR_UNIFIED, "memory.high", PFR_CG_SMALLEST, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_FAILCNT, PFR_UNIFIED, "memory.events", PFR_CG_FLAT, NULL, "max", 1 },
    { PFR_CGROUP_MEM_FAILCNT, PFR_MEMORY, "memory.failcnt", PFR_CG_SUBTREE, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_FAILCNT_LOCAL, PFR_UNIFIED, "memory.events.local", PFR_CG_FLAT, NULL, "max", 1 },
    { PFR_CGROUP_MEM_FAILCNT_LOCAL, PFR_MEMORY, "memory.failcnt", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_MEM_HIGH_EVENTS, PFR_UNIFIED, "memory.events", PFR_CG_FLAT, NULL, "high", 1 },
    { PFR_CGROUP_MEM_HIGH_EVENTS_LOCAL, PFR_UNIFIED, "memory.events.local", PFR_CG_FLAT, NULL, "high", 1 },
    { PFR_CGROUP_SWAP_CURRENT, PFR_UNIFIED, "memory.swap.current", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_SWAP_CURRENT, PFR_MEMORY, "memory.stat", PFR_CG_FLAT, NULL, "total_swap", 1 },
    { PFR_CGROUP_SWAP_PEAK, PFR_UNIFIED, "memory.swap.peak", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_SWAP_WINDOW_PEAK, PFR_UNIFIED, "memory.swap.peak", PFR_CG_SPAN, NULL, NULL, 1 },
    { PFR_CGROUP_SWAP_LIMIT, PFR_UNIFIED, "memory.swap.max", PFR_CG_SMALLEST, NULL, NULL, 1 },
    { PFR_CGROUP_SWAP_FAILCNT, PFR_UNIFIED, "memory.swap.events", PFR_CG_FLAT, NULL, "max", 1 },
    { PFR_CGROUP_SWAP_FAILS, PFR_UNIFIED, "memory.swap.events", PFR_CG_FLAT, NULL, "fail", 1 },
    { PFR_CGROUP_OOM_EVENTS, PFR_UNIFIED, "memory.events", PFR_CG_FLAT, NULL, "oom", 1 },
    { PFR_CGROUP_OOM_KILLS, PFR_UNIFIED, "memory.events", PFR_CG_FLAT, NULL, "oom_kill", 1 },
    /* v1 counts a kill in the victim's own cgroup only */
    { PFR_CGROUP_OOM_KILLS, PFR_MEMORY, "memory.oom_control", PFR_CG_SUBTREE, NULL, "oom_kill", 1 },
    { PFR_CGROUP_OOM_EVENTS_LOCAL, PFR_UNIFIED, "memory.events.local", PFR_CG_FLAT, NULL, "oom", 1 },
    { PFR_CGROUP_OOM_KILLS_LOCAL, PFR_UNIFIED, "memory.events.local", PFR_CG_FLAT, NULL, "oom_kill", 1 },
    { PFR_CGROUP_OOM_KILLS_LOCAL, PFR_MEMORY, "memory.oom_control", PFR_CG_FLAT, NULL, "oom_kill", 1 },
    /* CPU */
    { PFR_CGROUP_CPU_SECONDS, PFR_UNIFIED, "cpu.stat", PFR_CG_FLAT, NULL, "usage_usec", USEC },
    { PFR_CGROUP_CPU_SECONDS, PFR_CPUACCT, "cpuacct.usage", PFR_CG_SINGLE, NULL, NULL, NSEC },
    { PFR_CGROUP_CPU_USER_SECONDS, PFR_UNIFIED, "cpu.stat", PFR_CG_FLAT, NULL, "user_usec", USEC },
    { PFR_CGROUP_CPU_USER_SECONDS, PFR_CPUACCT, "cpuacct.stat", PFR_CG_FLAT, NULL, "user", TICKS },
    { PFR_CGROUP_CPU_SYSTEM_SECONDS, PFR_UNIFIED, "cpu.stat", PFR_CG_FLAT, NULL, "system_usec", USEC },
    { PFR_CGROUP_CPU_SYSTEM_SECONDS, PFR_CPUACCT, "cpuacct.stat", PFR_CG_FLAT, NULL, "system", TICKS },
    { PFR_CGROUP_CPU_LIMIT, PFR_UNIFIED, "cpu.max", PFR_CG_QUOTA, NULL, NULL, CORE },
    { PFR_CGROUP_CPU_PERIODS, PFR_UNIFIED, "cpu.stat", PFR_CG_FLAT, NULL, "nr_periods", 1 },
    { PFR_CGROUP_CPU_PERIODS, PFR_CPU, "cpu.stat", PFR_CG_FLAT, NULL, "nr_periods", 1 },
    { PFR_CGROUP_CPU_THROTTLED_PERIODS, PFR_UNIFIED, "cpu.stat", PFR_CG_FLAT, NULL, "nr_throttled", 1 },
    { PFR_CGROUP_CPU_THROTTLED_PERIODS, PFR_CPU, "cpu.stat", PFR_CG_FLAT, NULL, "nr_throttled", 1 },
    { PFR_CGROUP_CPU_THROTTLED_SECONDS, PFR_UNIFIED, "cpu.stat", PFR_CG_FLAT, NULL, "throttled_usec", USEC },
    { PFR_CGROUP_CPU_THROTTLED_SECONDS, PFR_CPU, "cpu.stat", PFR_CG_FLAT, NULL, "throttled_time", NSEC },
    /* I/O; a step that has done none has an empty file, which is zero */
    { PFR_CGROUP_IO_READ_BYTES, PFR_UNIFIED, "io.stat", PFR_CG_NESTED, NULL, "rbytes", 1 },
    { PFR_CGROUP_IO_READ_BYTES, PFR_BLKIO, "blkio.throttle.io_service_bytes_recursive", PFR_CG_DEVICE, NULL, "Read", 1 },
    { PFR_CGROUP_IO_WRITE_BYTES, PFR_UNIFIED, "io.stat", PFR_CG_NESTED, NULL, "wbytes", 1 },
    { PFR_CGROUP_IO_WRITE_BYTES, PFR_BLKIO, "blkio.throttle.io_service_bytes_recursive", PFR_CG_DEVICE, NULL, "Write", 1 },
    { PFR_CGROUP_IO_READ_OPS, PFR_UNIFIED, "io.stat", PFR_CG_NESTED, NULL, "rios", 1 },
    { PFR_CGROUP_IO_READ_OPS, PFR_BLKIO, "blkio.throttle.io_serviced_recursive", PFR_CG_DEVICE, NULL, "Read", 1 },
    { PFR_CGROUP_IO_WRITE_OPS, PFR_UNIFIED, "io.stat", PFR_CG_NESTED, NULL, "wios", 1 },
    { PFR_CGROUP_IO_WRITE_OPS, PFR_BLKIO, "blkio.throttle.io_serviced_recursive", PFR_CG_DEVICE, NULL, "Write", 1 },
    /* processes */
    { PFR_CGROUP_PIDS_CURRENT, PFR_UNIFIED, "pids.current", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_PIDS_CURRENT, PFR_PIDS, "pids.current", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_PIDS_PEAK, PFR_UNIFIED, "pids.peak", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_PIDS_PEAK, PFR_PIDS, "pids.peak", PFR_CG_SINGLE, NULL, NULL, 1 },
    { PFR_CGROUP_PIDS_FAILCNT, PFR_UNIFIED, "pids.events", PFR_CG_FLAT, NULL, "max", 1 },
    { PFR_CGROUP_PIDS_FAILCNT, PFR_PIDS, "pids.events", PFR_CG_FLAT, NULL, "max", 1 },
    /* pressure */
    { PFR_CGROUP_PSI_CPU_SOME_SECONDS, PFR_UNIFIED, "cpu.pressure", PFR_CG_NESTED, "some", "total", USEC },
    { PFR_CGROUP_PSI_CPU_FULL_SECONDS, PFR_UNIFIED, "cpu.pressure", PFR_CG_NESTED, "full", "total", USEC },
    { PFR_CGROUP_PSI_MEMORY_SOME_SECONDS, PFR_UNIFIED, "memory.pressure", PFR_CG_NESTED, "some", "total", USEC },
    { PFR_CGROUP_PSI_MEMORY_FULL_SECONDS, PFR_UNIFIED, "memory.pressure", PFR_CG_NESTED, "full", "total", USEC },
    { PFR_CGROUP_PSI_IO_SOME_SECONDS, PFR_UNIFIED, "io.pressure", PFR_CG_NESTED, "some", "total", USEC },
    { PFR_CGROUP_PSI_IO_FULL_SECONDS, PFR_UNIFIED, "io.pressure", PFR_CG_NESTED, "full", "total", USEC },
};

const int pfr_cgplace_count = PFR_COUNT(pfr_cgplaces);
