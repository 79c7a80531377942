/* Strict UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef PFR_BASE_UTF8_H
#define PFR_BASE_UTF8_H

#include <stdint.h>

/* The length of the character at text, which ends in a NUL, and what it is; 0 when it is none. */
int pfr_utf8_decode(const char *text, uint32_t *code);

#endif
