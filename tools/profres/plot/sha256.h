/* SHA-256 (FIPS 180-4), for the Content-Security-Policy of the page. */
#ifndef PFR_PLOT_SHA256_H
#define PFR_PLOT_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct pfr_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};

void pfr_sha256_init(struct pfr_sha256 *sha);
void pfr_sha256_add(struct pfr_sha256 *sha, const void *data, size_t length);

#define PFR_SHA256_BASE64 45

/* The digest in base64. */
void pfr_sha256_end(struct pfr_sha256 *sha, char text[static PFR_SHA256_BASE64]);

#endif
