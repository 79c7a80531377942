#include "common/metric/select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/near.h"

#define KEY_MAX 64
#define SEPARATORS ",+ "

static const char *key_at(const void *list, size_t i)
{
    return ((const struct pfr_metric *)list)[i].key;
}

static void add_with_bases(struct pfr_metric_set *set, enum pfr_metric_id id)
{
    if (id == PFR_METRIC_NONE)
        return;
    pfr_metric_set_add(set, id);
    for (int i = 0; i < 3; i++)
        add_with_bases(set, pfr_metrics[id].of[i]);
}

/* Whether a word with a pattern means this measurement: to be had it has to cost nothing. */
static bool matches(const char *word, bool leave, const struct pfr_metric *metric)
{
    return (leave || !metric->costly) && fnmatch(word, metric->key, 0) == 0;
}

static void choose(struct pfr_selection *selection, enum pfr_metric_id id, bool leave)
{
    if (!leave) {
        pfr_metric_set_add(&selection->wanted, id);
        return;
    }
    pfr_metric_set_remove(&selection->wanted, id);
    pfr_metric_set_remove(&selection->named, id);
}

static int parse_one(struct pfr_selection *selection, const char *word, char *error, size_t size)
{
    bool leave = word[0] == '-';
    const char *key = word + leave;
    enum pfr_metric_id exact = pfr_metric_find(key);
    int found = 0;

    if (exact != PFR_METRIC_NONE) {
        choose(selection, exact, leave);
        if (!leave)
            pfr_metric_set_add(&selection->named, exact);
        return 0;
    }
    PFR_EACH_METRIC(id)
        if (strpbrk(key, "*?[") && matches(key, leave, &pfr_metrics[id])) {
            choose(selection, id, leave);
            found++;
        }
    if (found)
        return 0;
    snprintf(error, size, "no measurement is called '%.*s'; nearest: ", KEY_MAX, key);
    pfr_near_append(key, pfr_metrics + PFR_PID_FIRST, PFR_METRIC_COUNT - PFR_PID_FIRST, key_at,
                    error, size);
    snprintf(error + strlen(error), size - strlen(error), ". 'profres metrics' lists them all");
    return -EINVAL;
}

/* What costs nothing: what nothing is said of, and what the first word takes from. */
static void choose_default(struct pfr_selection *selection)
{
    PFR_EACH_METRIC(id)
        if (!pfr_metrics[id].costly)
            choose(selection, id, false);
}

int pfr_selection_parse(struct pfr_selection *selection, const char *spec, char *error,
                        size_t size)
{
    struct pfr_selection parsed = { 0 };
    const char *p = spec ? spec : "";

    p += strspn(p, SEPARATORS);
    if (*p == '\0' || *p == '-')
        choose_default(&parsed);
    while (*p) {
        size_t length = strcspn(p, SEPARATORS);
        char word[KEY_MAX + 2];

        snprintf(word, sizeof(word), "%.*s", (int)length, p);
        if (parse_one(&parsed, word, error, size) < 0)
            return -EINVAL;
        p += length;
        p += strspn(p, SEPARATORS);
    }
    PFR_EACH_METRIC(id)
        if (pfr_metric_set_has(&parsed.wanted, id))
            add_with_bases(&parsed.collect, id);
    *selection = parsed;
    return 0;
}

void pfr_availability_init(struct pfr_availability *have)
{
    memset(have, 0, sizeof(*have));
    PFR_EACH_METRIC(id)
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
    for (int round = 0; round < 2; round++)
        PFR_EACH_METRIC(id) {
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
    PFR_EACH_METRIC(id) {
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
