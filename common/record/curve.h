/*
 * A line over time in bounded room: however long a run was, at most so many
 * buckets, each with its first, lowest, highest and last point. What is drawn
 * from these looks like all points drawn, and no extreme is lost.
 */
#ifndef PFR_RECORD_CURVE_H
#define PFR_RECORD_CURVE_H

#include <stdbool.h>
#include <stddef.h>

struct pfr_point {
    double t, v;
};

struct pfr_bucket {
    struct pfr_point first, low, high, last;
    bool after_gap; /* nothing was measured between the bucket before and this one */
};

struct pfr_curve {
    struct pfr_bucket *buckets;
    size_t count, room, most;
    double width; /* of a bucket, in seconds */
    bool gap;     /* the next point does not go on from the last one */
};

/* Nothing is allocated before the first point. */
void pfr_curve_init(struct pfr_curve *curve, size_t most_buckets);
void pfr_curve_release(struct pfr_curve *curve);

/* Times do not fall; one that does counts as the time of its neighbour's bucket. */
void pfr_curve_add(struct pfr_curve *curve, double t, double v);

/* A value that held from one time to another. */
void pfr_curve_add_span(struct pfr_curve *curve, double from, double to, double v);

/* What follows is not joined to what was: there the measurement was absent. */
void pfr_curve_break(struct pfr_curve *curve);

/* To fewer buckets, and no more room than they need. */
void pfr_curve_shrink(struct pfr_curve *curve, size_t most_buckets);

/*
 * The points of a bucket in the order of time, each once: 1 to 4. They are as
 * they were added.
 */
int pfr_bucket_points(const struct pfr_bucket *bucket, struct pfr_point points[static 4]);

/* The highest and the lowest point, NULL when there is none. */
const struct pfr_point *pfr_curve_high(const struct pfr_curve *curve);
const struct pfr_point *pfr_curve_low(const struct pfr_curve *curve);

/* The largest value in [from, to], as it would be drawn; false when there is none. */
bool pfr_curve_most(const struct pfr_curve *curve, double from, double to, double *v);

/* The value at a time, on the line between its neighbours; false outside and in gaps. */
bool pfr_curve_at(const struct pfr_curve *curve, double t, double *v);

#endif
