/* The log seam: common/ speaks through one callback that each program sets. */
#ifndef PFR_BASE_LOG_H
#define PFR_BASE_LOG_H

#include <stdarg.h>

enum pfr_log_level { PFR_LOG_ERROR, PFR_LOG_WARNING, PFR_LOG_INFO };

typedef void (*pfr_log_fn)(enum pfr_log_level level, const char *text, void *arg);

/* NULL silences. The default writes "profres: text" to stderr. */
void pfr_log_set(pfr_log_fn fn, void *arg);

/*
 * One line, without a newline. What is in it is made safe to show
 * (pfr_safe_message), whoever wrote it: a message is one line. Keeps errno.
 */
void pfr_log(enum pfr_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void pfr_logv(enum pfr_log_level level, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));

#define pfr_error(...) pfr_log(PFR_LOG_ERROR, __VA_ARGS__)
#define pfr_warning(...) pfr_log(PFR_LOG_WARNING, __VA_ARGS__)
#define pfr_info(...) pfr_log(PFR_LOG_INFO, __VA_ARGS__)

#endif
