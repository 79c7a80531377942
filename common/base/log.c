#include "common/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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

void pfr_log(enum pfr_log_level level, const char *format, ...)
{
    int saved = errno;
    char text[1024];
    va_list ap;

    if (!log_fn)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    log_fn(level, text, log_arg);
    errno = saved;
}
