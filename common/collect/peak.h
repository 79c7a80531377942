/*
 * The peak of a span of time, as the kernel keeps it: what is written to an
 * open memory.peak makes that descriptor count anew (Linux 6.12). The peak that
 * others read is never touched, and on v1, where there is but one, nothing is
 * ever written.
 *
 * Two descriptors of one cgroup are not independent: a reset of one loses what
 * the other had seen (seen on 6.12). So there is one, and the spans are here:
 * whatever is read counts for all of them, and each is taken by itself.
 */
#ifndef PFR_COLLECT_PEAK_H
#define PFR_COLLECT_PEAK_H

#include <stdbool.h>
#include <stdint.h>

enum pfr_span {
    PFR_SPAN_WINDOW,
    PFR_SPAN_PHASE, /* between two marks */
    PFR_SPAN_COUNT
};

struct pfr_peak {
    int fd;
    int64_t most[PFR_SPAN_COUNT]; /* read since the span began; -1 = nothing yet */
};

/*
 * A descriptor that may be reset. Safe as root: nothing but a file of a cgroup
 * v2 is given. -EOPNOTSUPP: this kernel cannot; -EACCES: only the owner may.
 */
int pfr_peak_open(const char *path);

/* Takes over fd, and begins all spans: 1, or -errno and fd is closed. */
int pfr_peak_begin(struct pfr_peak *peak, int fd);
void pfr_peak_release(struct pfr_peak *peak);

/* The peak up to now counts for every span. 1, or -errno when it cannot be read. */
int pfr_peak_read(struct pfr_peak *peak);

/* The peak of one span, which begins anew: 1; 0 when it was never read. */
int pfr_peak_take(struct pfr_peak *peak, enum pfr_span span, int64_t *value);

#endif
