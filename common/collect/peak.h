/*
 * The peak of a span of time, as the kernel keeps it: what is written to an
 * open memory.peak makes that descriptor count anew (Linux 6.12). The peak that
 * others read is never touched, and on v1, where there is but one, nothing is
 * ever written.
 *
 * Two descriptors of one cgroup are not independent: a reset of one loses what
 * the other had seen (seen on 6.12). So there is one for all who need the peak
 * of a span, and it is reset no more often than spans begin or end.
 */
#ifndef PFR_COLLECT_PEAK_H
#define PFR_COLLECT_PEAK_H

#include <stdint.h>

struct pfr_peak {
    int fd;
    int64_t most; /* read since the span began; -1 = nothing yet */
};

/*
 * A descriptor that may be reset. Safe as root: nothing but a file of a cgroup
 * v2 is given. -EOPNOTSUPP: this kernel cannot; -EACCES: only the owner may.
 */
int pfr_peak_open(const char *path);

/* Takes over fd, and begins a span: 1, or -errno and fd is closed. */
int pfr_peak_begin(struct pfr_peak *peak, int fd);
void pfr_peak_release(struct pfr_peak *peak);

/* Notes the peak up to now. 1, or -errno when it cannot be read. */
int pfr_peak_read(struct pfr_peak *peak);

/* Ends the span and begins the next: 1 and its peak, 0 when it was never read. */
int pfr_peak_take(struct pfr_peak *peak, int64_t *value);

#endif
