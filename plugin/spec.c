#include "plugin/spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/metric/select.h"

#define LEAST_INTERVAL (PFR_NS_PER_S / 100)
#define LEAST_WINDOW (PFR_NS_PER_S / 10)
#define MOST_TIME (86400 * PFR_NS_PER_S)

void pfr_spec_default(struct pfr_spec *spec)
{
    *spec = (struct pfr_spec){ .mask = PFR_PRIVATE_MASK, .interval = PFR_NS_PER_S,
                               .window = 10 * PFR_NS_PER_S, .top = 16 };
}

static bool take_time(const char *value, int64_t least, int64_t *ns)
{
    return pfr_parse_duration(value, ns) && *ns >= least && *ns <= MOST_TIME;
}

static bool take_interval(struct pfr_spec *spec, const char *value)
{
    return take_time(value, LEAST_INTERVAL, &spec->interval);
}

static bool take_window(struct pfr_spec *spec, const char *value)
{
    return take_time(value, LEAST_WINDOW, &spec->window);
}

static bool take_top(struct pfr_spec *spec, const char *value)
{
    return pfr_parse_int(value, &spec->top) && spec->top <= 1024;
}

static bool take_nodes(struct pfr_spec *spec, const char *value)
{
    spec->nodes = strcmp(value, "first") == 0;
    return spec->nodes || strcmp(value, "all") == 0 ||
           (pfr_parse_int(value, &spec->nodes) && spec->nodes > 0);
}

static bool take_dir(struct pfr_spec *spec, const char *value)
{
    return *value &&
           (size_t)snprintf(spec->dir, sizeof(spec->dir), "%s", value) < sizeof(spec->dir);
}

static bool take_metrics(struct pfr_spec *spec, const char *value)
{
    return *value && (size_t)snprintf(spec->metrics, sizeof(spec->metrics), "%s", value) <
                         sizeof(spec->metrics);
}

static bool take_openmetrics(struct pfr_spec *spec, const char *value)
{
    if (strcmp(value, "off") == 0)
        value = ""; /* against a default of the site */
    else if (*value != '/')
        return false;
    return (size_t)snprintf(spec->openmetrics, sizeof(spec->openmetrics), "%s", value) <
           sizeof(spec->openmetrics);
}

static bool take_mode(struct pfr_spec *spec, const char *value)
{
    return pfr_parse_mode(value, &spec->mask);
}

static bool take_cmd(struct pfr_spec *spec, const char *value)
{
    spec->no_cmd = strcmp(value, "off") == 0;
    return spec->no_cmd || strcmp(value, "on") == 0;
}

static bool take_pss(struct pfr_spec *spec, const char *value)
{
    (void)value;
    return spec->pss = true;
}

static bool take_off(struct pfr_spec *spec, const char *value)
{
    (void)value;
    return spec->off = true;
}

static bool take_on(struct pfr_spec *spec, const char *value)
{
    (void)value;
    spec->off = false;
    return true;
}

static bool take_quiet(struct pfr_spec *spec, const char *value)
{
    (void)value;
    return spec->quiet = true;
}

static bool take_chart(struct pfr_spec *spec, const char *value)
{
    (void)value;
    spec->quiet = false;
    return spec->chart = true;
}

static bool take_summary(struct pfr_spec *spec, const char *value)
{
    (void)value;
    spec->quiet = spec->chart = false;
    return true;
}

static const struct word {
    const char *name;
    bool has_value;
    bool (*take)(struct pfr_spec *spec, const char *value);
    const char *example;
} words[] = {
    { "interval", true, take_interval, "interval=0.5, interval=500ms, from 10 ms to 24 h" },
    { "window", true, take_window, "window=30s, from 100 ms to 24 h" },
    { "metrics", true, take_metrics, "metrics=cgroup_*+ps_rss" },
    { "dir", true, take_dir, "dir=/scratch/%u/%j" },
    { "openmetrics", true, take_openmetrics, "openmetrics=/absolute/path, openmetrics=off" },
    { "top", true, take_top, "top=16, at most 1024" },
    { "nodes", true, take_nodes, "nodes=all, nodes=first, nodes=4" },
    { "cmd", true, take_cmd, "cmd=off" },
    { "mode", true, take_mode, "mode=0600, mode=0640, mode=0644, mode=0660" },
    { "pss", false, take_pss, "pss" },
    { "quiet", false, take_quiet, "quiet" },
    { "summary", false, take_summary, "summary" },
    { "chart", false, take_chart, "chart" },
    { "off", false, take_off, "off" },
    { "on", false, take_on, "on" },
};

#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

static int unknown_word(const char *text, size_t length, char *error, size_t size)
{
    snprintf(error, size, "'%.*s' is not a word of it; there are", (int)length, text);
    for (size_t i = 0; i < WORD_COUNT; i++)
        snprintf(error + strlen(error), size - strlen(error), "%s %s%s", i ? "," : "",
                 words[i].name, words[i].has_value ? "=" : "");
    return -EINVAL;
}

static int take_word(struct pfr_spec *spec, const char *text, size_t length, char *error,
                     size_t size)
{
    char word[PFR_SPEC_SIZE], *value;

    if (length >= sizeof(word))
        return unknown_word(text, 40, error, size);
    snprintf(word, sizeof(word), "%.*s", (int)length, text);
    value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strcmp(word, words[i].name) != 0)
            continue;
        if (words[i].has_value == (value != NULL) && words[i].take(spec, value))
            return 0;
        snprintf(error, size, "'%.*s' cannot be used; write %s", (int)length, text,
                 words[i].example);
        return -EINVAL;
    }
    return unknown_word(text, length, error, size);
}

int pfr_spec_parse(struct pfr_spec *spec, const char *text, char *error, size_t size)
{
    struct pfr_spec parsed = *spec;
    struct pfr_selection selection;
    char metrics[2 * PFR_SPEC_SIZE];

    if (strlen(text) >= PFR_SPEC_SIZE) {
        snprintf(error, size, "SPEC is longer than %d bytes; shorten metrics= or dir=",
                 PFR_SPEC_SIZE - 1);
        return -EINVAL;
    }
    parsed.off = false; /* asked for, unless it says otherwise */
    while (*text) {
        size_t length = strcspn(text, ",");

        if (length > 0 && take_word(&parsed, text, length, error, size) < 0)
            return -EINVAL;
        text += length + (text[length] == ',');
    }
    if (!pfr_spec_metrics(&parsed, metrics, sizeof(metrics)) ||
        pfr_selection_parse(&selection, metrics, error, size) < 0)
        return -EINVAL;
    *spec = parsed;
    return 0;
}

bool pfr_spec_metrics(const struct pfr_spec *spec, char *text, size_t size)
{
    const char *base = spec->metrics[0] || !spec->pss ? spec->metrics : "*";

    return (size_t)snprintf(text, size, "%s%s", base,
                            spec->pss ? "+proc_pss+proc_pss_total" : "") < size;
}
