#include "common/base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "common/base/safe.h"

#define TEXT_SIZE (PATH_MAX + 512) /* a path, and what is the matter with it */

static void log_to_stderr(enum pfr_log_level level, const char *text, void *arg)
{
    (void)arg;
    if (level != PFR_LOG_INFO)
        fprintf(stderr, "profres: %s\n", text);
}

static pfr_log_fn log_fn = log_to_stderr;
static void *log_arg;

void pfr_log_set(pfr_log_fn fn, void *arg)
{
    log_fn = fn;
    log_arg = arg;
}

void pfr_logv(enum pfr_log_level level, const char *format, va_list ap)
{
    int saved = errno;
    char text[TEXT_SIZE], safe[TEXT_SIZE];

    if (!log_fn)
        return;
    vsnprintf(text, sizeof(text), format, ap);
    log_fn(level, pfr_safe_message(text, safe, sizeof(safe)), log_arg);
    errno = saved;
}

void pfr_log(enum pfr_log_level level, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    pfr_logv(level, format, ap);
    va_end(ap);
}
