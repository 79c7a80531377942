#include "common/record/openmetrics.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/safe.h"

/* ---- names ---- */

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);

    return length >= size && strcmp(text + length - size, end) == 0;
}

/* Cuts the end off; false when it has another. */
static bool cut(char *text, const char *end)
{
    if (!ends_in(text, end))
        return false;
    text[strlen(text) - strlen(end)] = '\0';
    return true;
}

static void append(char name[static PFR_OPENMETRICS_NAME], const char *end)
{
    size_t length = strlen(name);

    snprintf(name + length, PFR_OPENMETRICS_NAME - length, "%s", end);
}

static void append_once(char name[static PFR_OPENMETRICS_NAME], const char *end)
{
    if (!ends_in(name, end))
        append(name, end);
}

void pfr_openmetrics_name(const struct pfr_metric *metric, char name[static PFR_OPENMETRICS_NAME])
{
    bool counter = metric->kind == PFR_COUNTER;

    snprintf(name, PFR_OPENMETRICS_NAME, "profres_%s", metric->key);
    /* _total and _count at the end mean something else there than in our keys */
    if (cut(name, "_total") && !counter)
        append(name, "_all");
    if (cut(name, "_count"))
        append(name, "_number");
    if (metric->unit == PFR_BYTES)
        append_once(name, "_bytes");
    else if (metric->unit == PFR_SECONDS)
        append_once(name, "_seconds");
    else if (metric->unit == PFR_PERCENT)
        append(name, "_ratio");
    if (counter)
        append(name, "_total");
}

/* ---- text ---- */

static void put_escaped(FILE *out, const char *text, bool quotes)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\\' || (quotes && *text == '"'))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void put_label(FILE *out, const char *name, struct json_object *value, bool first)
{
    const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value)
                                                                    : "";
    char safe[512];

    fprintf(out, "%s%s=\"", first ? "" : ",", name);
    put_escaped(out, pfr_safe_message(text, safe, sizeof(safe)), true);
    fputc('"', out);
}

/* Not "job": Prometheus has a label of this name itself. */
static void put_labels(FILE *out, struct json_object *summary)
{
    struct json_object *info = pfr_json_get(summary, "info");

    put_label(out, "jobid", pfr_json_get(info, "job"), true);
    put_label(out, "step", pfr_json_get(info, "step"), false);
    put_label(out, "node", pfr_json_get(info, "node"), false);
}

/* value/10^digits, exactly. */
static void put_decimal(FILE *out, int64_t value, int digits)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value, scale = 1;

    for (int i = 0; i < digits; i++)
        scale *= 10;
    fprintf(out, "%s%llu", value < 0 ? "-" : "", (unsigned long long)(size / scale));
    while (size % scale && size % 10 == 0) {
        size /= 10;
        scale /= 10;
        digits--;
    }
    if (size % scale)
        fprintf(out, ".%0*llu", digits, (unsigned long long)(size % scale));
}

/* A nanosecond is more than the files tell. */
static void put_value(FILE *out, enum pfr_unit unit, int64_t value)
{
    if (unit == PFR_SECONDS)
        put_decimal(out, value / 1000 + (value % 1000 >= 500) - (value % 1000 <= -500), 6);
    else
        put_decimal(out, value, unit == PFR_PERCENT ? 5 : 0);
}

struct family {
    const char *name, *type, *help;
    enum pfr_unit unit;
    bool said;
};

static void put_number(FILE *out, struct family *family, struct json_object *summary,
                       int64_t number)
{
    if (!family->said) {
        fprintf(out, "# HELP %s ", family->name);
        put_escaped(out, family->help, false);
        fprintf(out, "\n# TYPE %s %s\n", family->name, family->type);
        family->said = true;
    }
    fprintf(out, "%s{", family->name);
    put_labels(out, summary);
    fputs("} ", out);
    put_value(out, family->unit, number);
    fputc('\n', out);
}

static void put_sample(FILE *out, struct family *family, struct json_object *summary,
                       struct json_object *value)
{
    int64_t number;

    if (pfr_json_get_value(value, family->unit, &number))
        put_number(out, family, summary, number);
}

/* ---- families ---- */

/* A counter's total, the largest so far of what is a peak, else what it is now. */
static const char *field_of(const struct pfr_metric *metric)
{
    if (metric->kind == PFR_COUNTER)
        return "total";
    return metric->reduce == PFR_MAX && (metric->lasting || metric->derive == PFR_SAME) ? "max"
                                                                                       : "last";
}

static void put_measurement(FILE *out, enum pfr_metric_id id,
                            struct json_object *const *summaries, size_t count)
{
    const struct pfr_metric *metric = &pfr_metrics[id];
    const char *field = field_of(metric);
    char name[PFR_OPENMETRICS_NAME], help[512];
    struct family family = { name, metric->kind == PFR_COUNTER ? "counter" : "gauge", help,
                             metric->unit, false };

    pfr_openmetrics_name(metric, name);
    snprintf(help, sizeof(help), "%s%s%s: %s", metric->key,
             strcmp(field, "last") == 0 ? " at the newest sample" : "",
             metric->unit == PFR_PERCENT ? ", here divided by 100" : "", metric->help);
    for (size_t i = 0; i < count; i++) {
        struct json_object *all = pfr_json_get(summaries[i], "measurements");

        put_sample(out, &family, summaries[i],
                   pfr_json_get(pfr_json_get(all, metric->key), field));
    }
}

/* Which run this is, and how far it is: a number that says nothing, with all in its labels. */
static void put_info(FILE *out, struct json_object *const *summaries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0)
            fputs("# HELP profres_step_info the step, and the state of its profile\n"
                  "# TYPE profres_step_info gauge\n",
                  out);
        fputs("profres_step_info{", out);
        put_labels(out, summaries[i]);
        put_label(out, "state", pfr_json_get(summaries[i], "state"), false);
        fputs("} 1\n", out);
    }
}

/* When the numbers are from: a profiler that was killed leaves them behind. */
static void put_time(FILE *out, struct json_object *const *summaries, size_t count)
{
    struct family family = { "profres_sample_time_seconds", "gauge",
                             "when the numbers were taken, in seconds since 1970", PFR_SECONDS,
                             false };

    for (size_t i = 0; i < count; i++) {
        struct json_object *ts = pfr_json_get(summaries[i], "ts");
        int64_t ns;

        if (json_object_is_type(ts, json_type_string) &&
            pfr_clock_parse(json_object_get_string(ts), &ns))
            put_number(out, &family, summaries[i], ns);
    }
}

void pfr_openmetrics_write(FILE *out, struct json_object *const *summaries, size_t count)
{
    struct family elapsed = { "profres_elapsed_seconds", "gauge",
                              "from the start of the first task to the end of the last, or to now",
                              PFR_SECONDS, false };
    struct family own = { "profres_sampler_cpu_seconds_total", "counter",
                          "CPU time of the profiler itself", PFR_SECONDS, false };

    put_info(out, summaries, count);
    put_time(out, summaries, count);
    for (size_t i = 0; i < count; i++)
        put_sample(out, &elapsed, summaries[i], pfr_json_get(summaries[i], "elapsed_seconds"));
    PFR_EACH_STEP_METRIC(id)
        put_measurement(out, id, summaries, count);
    for (size_t i = 0; i < count; i++)
        put_sample(out, &own, summaries[i],
                   pfr_json_get(pfr_json_get(summaries[i], "sampler"), "cpu_seconds"));
}
