#include "common/metric/select.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cleanup.h"

#define KEY_MAX 64

/* Levenshtein distance of two short strings. */
static int edit_distance(const char *a, const char *b)
{
    size_t la = strnlen(a, KEY_MAX), lb = strnlen(b, KEY_MAX);
    int row[KEY_MAX + 1];

    for (size_t j = 0; j <= lb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int diagonal = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

/* How unlike a key is what was typed; a key that contains it is near. */
static int key_distance(const char *typed, const char *key)
{
    int distance = edit_distance(typed, key);

    if (*typed && strstr(key, typed))
        distance = distance < 3 ? distance : 3;
    return distance;
}

static void append_nearest(const char *typed, char *text, size_t size)
{
    bool used[PFR_METRIC_COUNT] = { false };

    for (int n = 0; n < 3; n++) {
        int best = -1, best_distance = INT_MAX;

        for (int id = 0; id < PFR_METRIC_COUNT; id++) {
            int distance = key_distance(typed, pfr_metrics[id].key);

            if (!used[id] && distance < best_distance) {
                best = id;
                best_distance = distance;
            }
        }
        used[best] = true;
        snprintf(text + strlen(text), size - strlen(text), "%s%s", n ? ", " : "",
                 pfr_metrics[best].key);
    }
}

static void add_with_bases(struct pfr_metric_set *set, enum pfr_metric_id id)
{
    if (id == PFR_METRIC_NONE)
        return;
    pfr_metric_set_add(set, id);
    for (int i = 0; i < 3; i++)
        add_with_bases(set, pfr_metrics[id].of[i]);
}

static void want(struct pfr_selection *selection, enum pfr_metric_id id)
{
    pfr_metric_set_add(&selection->wanted, id);
    add_with_bases(&selection->collect, id);
}

static int parse_one(struct pfr_selection *selection, const char *key, char *error, size_t size)
{
    enum pfr_metric_id exact = pfr_metric_find(key);
    int found = 0;

    if (exact != PFR_METRIC_NONE) {
        want(selection, exact);
        pfr_metric_set_add(&selection->named, exact);
        return 0;
    }
    for (int id = 0; id < PFR_METRIC_COUNT && strpbrk(key, "*?["); id++)
        if (!pfr_metrics[id].costly && fnmatch(key, pfr_metrics[id].key, 0) == 0) {
            want(selection, (enum pfr_metric_id)id);
            found++;
        }
    if (found)
        return 0;
    snprintf(error, size, "no measurement is called '%.*s'; nearest: ", KEY_MAX, key);
    append_nearest(key, error, size);
    snprintf(error + strlen(error), size - strlen(error), ". 'profres metrics' lists them all");
    return -EINVAL;
}

int pfr_selection_parse(struct pfr_selection *selection, const char *spec, char *error,
                        size_t size)
{
    struct pfr_selection parsed = { 0 };
    bool any = false;

    for (const char *p = spec ? spec : ""; *p;) {
        size_t length = strcspn(p, ",+ ");
        char key[KEY_MAX + 1];

        if (length > 0) {
            snprintf(key, sizeof(key), "%.*s", (int)length, p);
            if (parse_one(&parsed, key, error, size) < 0)
                return -EINVAL;
            any = true;
        }
        p += length + (p[length] != '\0');
    }
    for (int id = 0; id < PFR_METRIC_COUNT && !any; id++)
        if (!pfr_metrics[id].costly)
            want(&parsed, (enum pfr_metric_id)id);
    *selection = parsed;
    return 0;
}

void pfr_availability_init(struct pfr_availability *have)
{
    memset(have, 0, sizeof(*have));
    for (int id = 0; id < PFR_METRIC_COUNT; id++)
        snprintf(have->reason[id], PFR_REASON_SIZE, "not probed");
}

void pfr_availability_grant(struct pfr_availability *have, enum pfr_metric_id id)
{
    pfr_metric_set_add(&have->available, id);
    have->reason[id][0] = '\0';
}

void pfr_availability_deny(struct pfr_availability *have, enum pfr_metric_id id,
                           const char *format, ...)
{
    va_list ap;

    pfr_metric_set_remove(&have->available, id);
    va_start(ap, format);
    vsnprintf(have->reason[id], PFR_REASON_SIZE, format, ap);
    va_end(ap);
}

static enum pfr_metric_id missing_base(const struct pfr_availability *have, enum pfr_metric_id id)
{
    for (int i = 0; i < 3; i++) {
        enum pfr_metric_id base = pfr_metrics[id].of[i];

        if (base != PFR_METRIC_NONE && !pfr_metric_set_has(&have->available, base))
            return base;
    }
    return PFR_METRIC_NONE;
}

void pfr_availability_derive(struct pfr_availability *have)
{
    /* Twice, for rows computed from computed rows. */
    for (int i = 0; i < 2 * PFR_METRIC_COUNT; i++) {
        enum pfr_metric_id id = (enum pfr_metric_id)(i % PFR_METRIC_COUNT);
        enum pfr_metric_id missing = missing_base(have, id);

        if (pfr_metrics[id].derive == PFR_READ)
            continue;
        if (missing == PFR_METRIC_NONE)
            pfr_availability_grant(have, id);
        else
            pfr_availability_deny(have, id, "needs %s", pfr_metrics[missing].key);
    }
}

int pfr_selection_restrict(struct pfr_selection *selection, const struct pfr_availability *have,
                           char *error, size_t size)
{
    for (int i = 0; i < PFR_METRIC_COUNT; i++) {
        enum pfr_metric_id id = (enum pfr_metric_id)i;

        if (pfr_metric_set_has(&have->available, id))
            continue;
        if (pfr_metric_set_has(&selection->named, id)) {
            snprintf(error, size, "%s cannot be measured here: %s", pfr_metrics[id].key,
                     have->reason[id]);
            return -ENODEV;
        }
        pfr_metric_set_remove(&selection->wanted, id);
        pfr_metric_set_remove(&selection->collect, id);
    }
    return 0;
}
