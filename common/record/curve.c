#include "common/record/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples are stamped in milliseconds. */
#define FINEST 0.001

void pfr_curve_init(struct pfr_curve *curve, size_t most_buckets)
{
    *curve = (struct pfr_curve){ .most = most_buckets < 2 ? 2 : most_buckets, .width = FINEST };
}

void pfr_curve_release(struct pfr_curve *curve)
{
    free(curve->buckets);
    pfr_curve_init(curve, curve->most);
}

static double place(const struct pfr_curve *curve, double t)
{
    return floor(t / curve->width);
}

static void join(struct pfr_bucket *a, const struct pfr_bucket *b)
{
    if (b->low.v < a->low.v)
        a->low = b->low;
    if (b->high.v > a->high.v)
        a->high = b->high;
    a->last = b->last;
}

/* Neighbours that now fall into one bucket become one. */
static void gather(struct pfr_curve *curve)
{
    size_t kept = 0;

    for (size_t i = 1; i < curve->count; i++) {
        struct pfr_bucket *last = &curve->buckets[kept], *next = &curve->buckets[i];

        if (place(curve, next->first.t) <= place(curve, last->first.t))
            join(last, next);
        else
            curve->buckets[++kept] = *next;
    }
    curve->count = curve->count ? kept + 1 : 0;
}

static bool make_room(struct pfr_curve *curve)
{
    while (curve->count >= curve->most) {
        curve->width *= 2;
        gather(curve);
    }
    if (curve->count == curve->room) {
        size_t room = curve->room ? 2 * curve->room : 16;
        struct pfr_bucket *buckets;

        room = room > curve->most ? curve->most : room;
        buckets = realloc(curve->buckets, room * sizeof(*buckets));
        if (!buckets)
            return false;
        curve->buckets = buckets;
        curve->room = room;
    }
    return true;
}

void pfr_curve_add(struct pfr_curve *curve, double t, double v)
{
    struct pfr_point point = { t, v };
    struct pfr_bucket one = { point, point, point, point, curve->gap };
    struct pfr_bucket *last = curve->count ? &curve->buckets[curve->count - 1] : NULL;

    if (!isfinite(t) || !isfinite(v))
        return;
    curve->gap = false;
    if (last && place(curve, t) <= place(curve, last->first.t))
        join(last, &one);
    else if (make_room(curve)) {
        last = curve->count ? &curve->buckets[curve->count - 1] : NULL;
        if (last && place(curve, t) <= place(curve, last->first.t)) /* buckets are wider now */
            join(last, &one);
        else
            curve->buckets[curve->count++] = one;
    }
}

void pfr_curve_add_span(struct pfr_curve *curve, double from, double to, double v)
{
    pfr_curve_add(curve, from, v);
    if (to > from)
        pfr_curve_add(curve, to, v);
}

void pfr_curve_break(struct pfr_curve *curve)
{
    curve->gap = curve->count > 0;
}

void pfr_curve_shrink(struct pfr_curve *curve, size_t most_buckets)
{
    struct pfr_bucket *buckets;

    curve->most = most_buckets < 2 ? 2 : most_buckets;
    while (curve->count > curve->most) {
        curve->width *= 2;
        gather(curve);
    }
    buckets = curve->count ? realloc(curve->buckets, curve->count * sizeof(*buckets)) : NULL;
    if (buckets) {
        curve->buckets = buckets;
        curve->room = curve->count;
    }
}

int pfr_bucket_points(const struct pfr_bucket *bucket, struct pfr_point points[static 4])
{
    const struct pfr_point *low = &bucket->low, *high = &bucket->high;
    const struct pfr_point *order[4] = { &bucket->first, low->t <= high->t ? low : high,
                                         low->t <= high->t ? high : low, &bucket->last };
    int count = 0;

    for (int i = 0; i < 4; i++)
        if (count == 0 || order[i]->t != points[count - 1].t || order[i]->v != points[count - 1].v)
            points[count++] = *order[i];
    return count;
}

const struct pfr_point *pfr_curve_high(const struct pfr_curve *curve)
{
    const struct pfr_point *found = NULL;

    for (size_t i = 0; i < curve->count; i++)
        if (!found || curve->buckets[i].high.v > found->v)
            found = &curve->buckets[i].high;
    return found;
}

const struct pfr_point *pfr_curve_low(const struct pfr_curve *curve)
{
    const struct pfr_point *found = NULL;

    for (size_t i = 0; i < curve->count; i++)
        if (!found || curve->buckets[i].low.v < found->v)
            found = &curve->buckets[i].low;
    return found;
}

/* The first bucket that ends at t or later. */
static size_t search(const struct pfr_curve *curve, double t)
{
    size_t low = 0, high = curve->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (curve->buckets[middle].last.t < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double between(const struct pfr_point *a, const struct pfr_point *b, double t)
{
    return b->t > a->t ? a->v + (b->v - a->v) * (t - a->t) / (b->t - a->t) : b->v;
}

bool pfr_curve_at(const struct pfr_curve *curve, double t, double *v)
{
    size_t i = search(curve, t);
    const struct pfr_bucket *bucket = &curve->buckets[i];
    struct pfr_point points[4];
    int count;

    if (i == curve->count || (i == 0 && t < bucket->first.t))
        return false;
    if (t < bucket->first.t) { /* between two buckets */
        if (bucket->after_gap)
            return false;
        *v = between(&bucket[-1].last, &bucket->first, t);
        return true;
    }
    count = pfr_bucket_points(bucket, points);
    for (int k = 1; k < count; k++)
        if (t <= points[k].t) {
            *v = between(&points[k - 1], &points[k], t);
            return true;
        }
    *v = points[count - 1].v;
    return true;
}

bool pfr_curve_most(const struct pfr_curve *curve, double from, double to, double *v)
{
    double edge;
    bool any = false;

    for (size_t i = search(curve, from); i < curve->count; i++) {
        struct pfr_point points[4];
        int count = pfr_bucket_points(&curve->buckets[i], points);

        if (points[0].t > to)
            break;
        for (int k = 0; k < count; k++)
            if (points[k].t >= from && points[k].t <= to && (!any || points[k].v > *v)) {
                *v = points[k].v;
                any = true;
            }
    }
    /* a line that only passes through has its largest value at an edge */
    if (pfr_curve_at(curve, from, &edge) && (!any || edge > *v)) {
        *v = edge;
        any = true;
    }
    if (pfr_curve_at(curve, to, &edge) && (!any || edge > *v)) {
        *v = edge;
        any = true;
    }
    return any;
}
