/* Strict, locale-free parsing of numbers. */
#ifndef PFR_BASE_PARSE_H
#define PFR_BASE_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#define PFR_NS_PER_S INT64_C(1000000000)

/*
 * Decimal digits only, at *text; on success *text is moved behind them.
 * False (nothing changed) when there is no digit or the value passes 2^63-1.
 */
bool pfr_parse_digits(const char **text, int64_t *value);

/* The whole string is one such number. */
bool pfr_parse_int(const char *text, int64_t *value);

/* "2", "0.25", "500ms", "10s", "5m", "1h" to nanoseconds; > 0 only. */
bool pfr_parse_duration(const char *text, int64_t *ns);

/*
 * The mode of files, in octal: the owner reads and writes, others may. What
 * umask(2) makes of it, where who may read a file may enter its directory.
 */
bool pfr_parse_mode(const char *text, unsigned *mask);

/* Nobody else, unless somebody says so. */
#define PFR_PRIVATE_MASK 077u

/* a*b/c without overflow in between; saturates at either end. */
int64_t pfr_muldiv(int64_t a, int64_t b, int64_t c);

#endif
