/* FNV-1a: a short hash of a short text. */
#ifndef PFR_BASE_HASH_H
#define PFR_BASE_HASH_H

#include <stdint.h>

static inline uint32_t pfr_hash_text(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

#endif
