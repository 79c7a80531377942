#include "tests/unit/host.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "tests/unit/fixture.h"

struct host host;

/* ---- time ---- */

/*
 * The plugin's calls come here, too: these are before libc's. While the clock is
 * stopped, only a wait moves it on, by all that it may take: it is counted, not
 * spent. An answer that is waited for comes at the last moment.
 */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int64_t ns = host.stopped + host.waited_ms * MS;

    if (!host.stopped || clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, now);
    *now = (struct timespec){ ns / PFR_NS_PER_S, ns % PFR_NS_PER_S };
    return 0;
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    int real_ms = !host.stopped ? timeout_ms : host.answered && timeout_ms > 0 ? 5000 : 0;
    struct timespec time = { real_ms / 1000, real_ms % 1000 * MS };
    int r = (int)syscall(SYS_ppoll, fds, count, real_ms < 0 ? NULL : &time, NULL, 0);

    if (host.stopped && timeout_ms > 0)
        host.waited_ms += r > 0 ? timeout_ms - 1 : timeout_ms;
    return r;
}

void host_stop_clock(bool answered)
{
    host.answered = answered;
    host.waited_ms = 0;
    host.stopped = pfr_clock_ns(CLOCK_MONOTONIC);
}

void host_start_clock(void)
{
    host.stopped = 0;
}

/* ---- what Slurm gives to plugins ---- */

static void append(char *log, size_t size, const char *format, va_list ap)
    __attribute__((format(printf, 3, 0)));

static void append(char *log, size_t size, const char *format, va_list ap)
{
    size_t used = strlen(log);

    if (host.slow_log)
        usleep(2000);
    if (size - used < 600)
        return;
    vsnprintf(log + used, 500, format, ap);
    strcat(log, "\n");
}

#define LOGGER(name, field)                                   \
    void name(const char *format, ...)                        \
    {                                                         \
        va_list ap;                                           \
                                                              \
        va_start(ap, format);                                 \
        append(host.field, sizeof(host.field), format, ap);   \
        va_end(ap);                                           \
    }

LOGGER(slurm_verbose, quiet_log)
LOGGER(slurm_spank_log, log)
LOGGER(slurm_error, log)

/* In the place of libc's, for the plugin: its own lines are few. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t length = 0;

    for (int i = 0; i < count && fd == STDERR_FILENO; i++) {
        strncat(host.user_log, parts[i].iov_base, parts[i].iov_len);
        length += (ssize_t)parts[i].iov_len;
    }
    return length;
}

int slurm_get_log_level(void);
int slurm_get_log_level(void)
{
    return host.log_level;
}

spank_context_t spank_context(void)
{
    return host.context;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *option)
{
    (void)sp;
    if (host.option_taken)
        return ESPANK_BAD_ARG;
    host.option = option;
    return ESPANK_SUCCESS;
}

static bool is_of_task(spank_item_t item)
{
    return item == S_TASK_PID || item == S_TASK_ID || item == S_TASK_GLOBAL_ID ||
           item == S_TASK_EXIT_STATUS;
}

static spank_err_t get_number(spank_item_t item, va_list ap)
{
    uint32_t value;

    switch (item) {
    case S_JOB_ID: value = host.job; break;
    case S_JOB_STEPID: value = host.step; break;
    case S_JOB_ARRAY_ID: value = host.array_job; break;
    case S_JOB_ARRAY_TASK_ID: value = host.array_task; break;
    case S_JOB_NNODES: value = host.nodes; break;
    case S_JOB_NODEID: value = host.node; break;
    case S_JOB_LOCAL_TASK_COUNT: value = host.tasks; break;
    case S_JOB_TOTAL_TASK_COUNT: value = host.tasks * host.nodes; break;
    case S_STEP_CPUS_PER_TASK: value = 2; break;
    case S_TASK_ID: value = (uint32_t)host.task; break;
    case S_TASK_GLOBAL_ID: value = host.node * host.tasks + (uint32_t)host.task; break;
    case S_JOB_UID: value = getuid(); break;
    case S_JOB_GID: value = getgid(); break;
    case S_SLURM_RESTART_COUNT: value = 0; break; /* as in every version */
    default: return ESPANK_BAD_ARG;
    }
    *va_arg(ap, uint32_t *) = value;
    return ESPANK_SUCCESS;
}

static spank_err_t get_other(spank_item_t item, va_list ap)
{
    static char *argv[] = { (char *)"./program", (char *)"an argument", NULL };
    static gid_t groups[16384];

    groups[0] = getgid();
    if (host.nobody && item == S_JOB_UID)
        return ESPANK_ERROR;
    for (int i = 1; i < host.groups; i++)
        groups[i] = 4000000000u + (gid_t)i;
    if (item == S_TASK_PID) {
        *va_arg(ap, pid_t *) = host.pids[host.task];
    } else if (item == S_TASK_EXIT_STATUS) {
        *va_arg(ap, int *) = host.status[host.task];
    } else if (item == S_JOB_NCPUS) {
        *va_arg(ap, uint16_t *) = 4;
    } else if (item == S_JOB_ALLOC_MEM) {
        *va_arg(ap, uint64_t *) = host.job_mem;
    } else if (item == S_STEP_ALLOC_MEM) {
        *va_arg(ap, uint64_t *) = host.step_mem;
    } else if (item == S_JOB_ARGV) {
        *va_arg(ap, int *) = 2;
        *va_arg(ap, char ***) = argv;
    } else if (item == S_JOB_SUPPLEMENTARY_GIDS) {
        *va_arg(ap, gid_t **) = groups;
        *va_arg(ap, int *) = host.groups;
    } else {
        return get_number(item, ap);
    }
    return ESPANK_SUCCESS;
}

/* srun knows little, and only once the step has been made (plugstack.c). */
static bool srun_has(spank_item_t item)
{
    return item == S_JOB_ID || item == S_JOB_STEPID || item == S_JOB_NNODES ||
           item == S_JOB_UID || item == S_JOB_GID || item == S_JOB_ARGV;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
    spank_err_t result;
    va_list ap;

    (void)sp;
    if (is_of_task(item) && host.task < 0)
        return ESPANK_NOT_TASK;
    if (host.context == S_CTX_ALLOCATOR || (host.context == S_CTX_LOCAL && !srun_has(item)))
        return ESPANK_NOT_REMOTE;
    va_start(ap, item);
    result = get_other(item, ap);
    va_end(ap);
    return result;
}

const char *host_getenv(const char *name)
{
    for (int i = 0; i < host.env_count; i++)
        if (strcmp(host.env[i][0], name) == 0)
            return host.env[i][1];
    return NULL;
}

void host_setenv(const char *name, const char *value)
{
    int i = 0;

    while (i < host.env_count && strcmp(host.env[i][0], name) != 0)
        i++;
    if (i == host.env_count)
        host.env_count++;
    snprintf(host.env[i][0], sizeof(host.env[i][0]), "%s", name);
    snprintf(host.env[i][1], sizeof(host.env[i][1]), "%s", value);
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *text, int size)
{
    const char *value = host_getenv(name);

    (void)sp;
    if (host.context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    if (!value)
        return ESPANK_ENV_NOEXIST;
    return snprintf(text, (size_t)size, "%s", value) < size ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value, int overwrite)
{
    (void)sp;
    if (!overwrite && host_getenv(name))
        return ESPANK_ENV_EXISTS;
    host_setenv(name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
    (void)sp;
    for (int i = 0; i < host.env_count; i++)
        if (strcmp(host.env[i][0], name) == 0) {
            memmove(host.env[i], host.env[i + 1],
                    (size_t)(--host.env_count - i) * sizeof(host.env[0]));
            return ESPANK_SUCCESS;
        }
    return ESPANK_ENV_NOEXIST;
}

/* ---- what Slurm does with them ---- */

void host_load(spank_context_t context)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/.libs/profile_res.so", getenv("top_builddir"));
    host.context = context;
    host.task = -1;
    host.plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!host.plugin)
        fail_msg("%s", dlerror());
}

void host_unload(void)
{
    if (host.plugin)
        assert_int_equal(dlclose(host.plugin), 0);
    host.plugin = NULL;
}

typedef int hook_fn(spank_t sp, int ac, char **av);

struct call {
    hook_fn *hook;
    int words, result;
    char **word;
};

static int make_call(void *arg)
{
    struct call *call = arg;

    call->result = call->hook((spank_t)(void *)&host, call->words, call->word);
    return 0;
}

/* As slurmstepd's _run_spank_func() of 24.05 and later. */
static void contained(struct call *call)
{
    size_t size = 1 << 20;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status;

    assert_true(stack != MAP_FAILED);
    child = clone(make_call, stack + size, CLONE_VM | SIGCHLD, call);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    munmap(stack, size);
}

static bool is_contained(const char *name)
{
    return host.contain && (strcmp(name, "user_init") == 0 ||
                            strcmp(name, "task_post_fork") == 0 || strcmp(name, "task_exit") == 0);
}

int host_hook(const char *name, int words, char **word)
{
    char symbol[64];
    struct call call = { .words = words, .word = word };
    int64_t begin = pfr_clock_ns(CLOCK_MONOTONIC), ms;
    void *address;

    snprintf(symbol, sizeof(symbol), "slurm_spank_%s", name);
    address = dlsym(host.plugin, symbol);
    assert_non_null(address);
    memcpy(&call.hook, &address, sizeof(address));
    for (int i = 0; i < host.listed; i++) {
        if (is_contained(name))
            contained(&call);
        else
            make_call(&call);
    }
    ms = (pfr_clock_ns(CLOCK_MONOTONIC) - begin) / MS;
    if (ms > host.slowest_ms)
        host.slowest_ms = ms;
    return call.result;
}

int host_option(const char *argument)
{
    assert_non_null(host.option);
    return host.option->cb(host.option->val, argument, host.context == S_CTX_REMOTE);
}
