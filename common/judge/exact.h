/*
 * Percentiles from the single samples of a series: exact, where those of the
 * summary come from a histogram. The file is read a few times and nothing of it
 * is kept, so that memory does not grow with it.
 */
#ifndef PFR_JUDGE_EXACT_H
#define PFR_JUDGE_EXACT_H

#include "common/judge/facts.h"

/*
 * Puts p50, p95 and p99 of what has samples into the facts of a node. 1; 0 when
 * there is no series, or it has given up samples of more than a hundredth of the
 * time, and nothing was changed; -errno.
 */
int pfr_exact_load(struct pfr_facts *facts, int dirfd);

#endif
