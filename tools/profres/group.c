#include "tools/profres/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "tools/profres/cell.h"

#define BINS 8
#define BAR 40
#define WIDTH 79
/* So many names at most: the rest can be had from 'profres ls'. */
#define NAMED 6
/* Fewer say nothing of what is usual. */
#define USUAL 8

int pfr_group_add(struct pfr_group *group, const struct pfr_facts *facts,
                  enum pfr_verdict_id verdict)
{
    struct pfr_group_run *run;
    int64_t mean = pfr_facts_cores_mean(facts);

    if (group->count == 0)
        pfr_needs_init(&group->needs);
    if (group->count == group->room) {
        size_t room = group->room ? 2 * group->room : 64;

        run = realloc(group->runs, room * sizeof(*run));
        if (!run)
            return -ENOMEM;
        group->runs = run;
        group->room = room;
    }
    run = &group->runs[group->count++];
    *run = (struct pfr_group_run){ .verdict = verdict,
                                   .source = pfr_facts_memory_source(facts),
                                   .memory = PFR_ABSENT,
                                   .cores = pfr_known(mean) ? 100 * mean : PFR_ABSENT,
                                   .elapsed = facts->elapsed,
                                   .mem_given = facts->mem_given,
                                   .cpus = facts->cpus };
    if (run->source != PFR_METRIC_NONE)
        run->memory = pfr_facts_value(facts, run->source);
    snprintf(run->name, sizeof(run->name), "%.60s%s%.30s", facts->job,
             facts->extent == PFR_EXTENT_JOB ? "" : ".",
             facts->extent == PFR_EXTENT_JOB ? "" : facts->step);
    pfr_needs_add(&group->needs, facts, verdict);
    return 0;
}

void pfr_group_release(struct pfr_group *group)
{
    free(group->runs);
    *group = (struct pfr_group){ 0 };
}

/* ---- one number of all runs ---------------------------------------------- */

struct number {
    const char *name;
    enum pfr_cell_kind kind;
    size_t offset;
};

static const struct number numbers[] = {
    { "memory", PFR_CELL_BYTES, offsetof(struct pfr_group_run, memory) },
    { "cores", PFR_CELL_CORES, offsetof(struct pfr_group_run, cores) },
    { "elapsed", PFR_CELL_ELAPSED, offsetof(struct pfr_group_run, elapsed) },
};

/* The known values in order, and whose they are. */
struct spread {
    const struct number *number;
    const struct pfr_group_run **runs;
    size_t count;
};

static int64_t value_of(const struct pfr_group_run *run, const struct number *number)
{
    return *(const int64_t *)(const void *)((const char *)run + number->offset);
}

static const struct number *ordering; /* qsort() has no place for it */

static int by_value(const void *a, const void *b)
{
    int64_t x = value_of(*(struct pfr_group_run *const *)a, ordering);
    int64_t y = value_of(*(struct pfr_group_run *const *)b, ordering);

    return (x > y) - (x < y);
}

/* Most runs have it: memory from another source is another number and left out. */
static enum pfr_metric_id usual_source(const struct pfr_group *group)
{
    size_t count[PFR_METRIC_COUNT] = { 0 };
    enum pfr_metric_id best = PFR_METRIC_NONE;

    for (size_t i = 0; i < group->count; i++)
        count[group->runs[i].source]++;
    PFR_EACH_METRIC(id)
        if (count[id] && (best == PFR_METRIC_NONE || count[id] > count[best]))
            best = id;
    return best;
}

static void spread_make(struct spread *spread, const struct pfr_group *group,
                        const struct number *number, enum pfr_metric_id source)
{
    bool memory = number->kind == PFR_CELL_BYTES;

    *spread = (struct spread){ .number = number,
                               .runs = calloc(group->count + 1, sizeof(*spread->runs)) };
    for (size_t i = 0; spread->runs && i < group->count; i++)
        if (pfr_known(value_of(&group->runs[i], number)) &&
            (!memory || group->runs[i].source == source))
            spread->runs[spread->count++] = &group->runs[i];
    ordering = number;
    if (spread->count)
        qsort(spread->runs, spread->count, sizeof(*spread->runs), by_value);
}

static int64_t at(const struct spread *spread, size_t i)
{
    return value_of(spread->runs[i], spread->number);
}

/* Of an even number of runs the middle between the two. */
static int64_t median(const struct spread *spread)
{
    int64_t low = at(spread, (spread->count - 1) / 2), high = at(spread, spread->count / 2);

    return (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low) / 2);
}

/* The smallest that so many percent of the runs do not exceed. */
static int64_t percentile(const struct spread *spread, size_t percent)
{
    return at(spread, (spread->count * percent + 99) / 100 - 1);
}

static const char *text_of(const struct spread *spread, int64_t value,
                           char text[static PFR_CELL_SIZE])
{
    pfr_cell_format(spread->number->kind, value, 0, false, text);
    return text;
}

static void print_spread(FILE *out, const struct spread *spread, size_t runs)
{
    const int64_t values[] = { at(spread, 0), median(spread), percentile(spread, 95),
                               at(spread, spread->count - 1) };
    char text[PFR_CELL_SIZE];

    fprintf(out, "  %-9s", spread->number->name);
    for (size_t i = 0; i < PFR_COUNT(values); i++)
        fprintf(out, " %10s", text_of(spread, values[i], text));
    if (spread->count < runs)
        fprintf(out, "   of %zu runs", spread->count);
    fputc('\n', out);
}

/* ---- how they are spread ------------------------------------------------- */

static void print_bar(FILE *out, size_t count, size_t most)
{
    size_t length = (count * BAR + most - 1) / most; /* one run is seen, too */

    for (size_t i = 0; i < length; i++)
        fputc('#', out);
    fprintf(out, "%s%zu\n", length ? " " : "", count);
}

static void print_histogram(FILE *out, const struct spread *spread)
{
    uint64_t least = (uint64_t)at(spread, 0); /* a difference of any two fits without a sign */
    uint64_t width = ((uint64_t)at(spread, spread->count - 1) - least) / BINS + 1;
    size_t bins[BINS] = { 0 }, most = 0;
    char from[PFR_CELL_SIZE], to[PFR_CELL_SIZE];

    if (spread->count < 2 || at(spread, spread->count - 1) == at(spread, 0))
        return;
    for (size_t i = 0; i < spread->count; i++) {
        size_t bin = (size_t)(((uint64_t)at(spread, i) - least) / width);

        if (++bins[bin] > most)
            most = bins[bin];
    }
    fprintf(out, "\n  %s: runs by size\n", spread->number->name);
    for (uint64_t i = 0; i < BINS; i++) {
        fprintf(out, "  %10s - %-10s ", text_of(spread, (int64_t)(least + i * width), from),
                text_of(spread, (int64_t)(least + (i + 1) * width), to));
        print_bar(out, bins[i], most);
    }
}

/* ---- who stands out ------------------------------------------------------ */

/* Far outside of where the middle half lies, and not by a trifle. */
static bool stands_out(const struct spread *spread, int64_t value)
{
    __int128 low = percentile(spread, 25), high = percentile(spread, 75), fence = 3 * (high - low);
    __int128 middle = median(spread), gap = value > middle ? value - middle : middle - value;

    return (value > high + fence || value < low - fence) && gap > middle / 5;
}

static void print_outlier(FILE *out, const struct spread *spread, size_t i)
{
    char value[PFR_CELL_SIZE], usual[PFR_CELL_SIZE];

    fprintf(out, "  %-12s %s %s, median %s\n", spread->runs[i]->name, spread->number->name,
            text_of(spread, at(spread, i), value), text_of(spread, median(spread), usual));
}

/* The largest first, then the smallest. */
static void print_outliers(FILE *out, const struct spread *spread, bool *any)
{
    size_t shown = 0, more = 0;

    if (spread->count < USUAL)
        return;
    for (size_t k = 0; k < 2 * spread->count; k++) {
        size_t i = k < spread->count ? spread->count - 1 - k : k - spread->count;
        bool large = k < spread->count;

        if (large != (at(spread, i) > median(spread)) || !stands_out(spread, at(spread, i)))
            continue;
        if (!*any)
            fputs("\noutliers\n", out);
        *any = true;
        if (shown++ < NAMED)
            print_outlier(out, spread, i);
        else
            more++;
    }
    if (more)
        fprintf(out, "  and %zu more by %s\n", more, spread->number->name);
}

/* ---- the whole ----------------------------------------------------------- */

static void print_verdict(FILE *out, const struct pfr_group *group, enum pfr_verdict_id id)
{
    size_t count = 0;

    for (size_t i = 0; i < group->count; i++)
        count += group->runs[i].verdict == id;
    if (!count)
        return;
    fprintf(out, "  %-13s %6zu", pfr_verdict_name(id), count);
    for (size_t i = 0, shown = 0; i < group->count && id != PFR_VERDICT_OK; i++) {
        if (group->runs[i].verdict != id)
            continue;
        if (shown++ == NAMED) {
            fputs(" ...", out);
            break;
        }
        fprintf(out, "%s %s", shown > 1 ? "," : "  ", group->runs[i].name);
    }
    fputc('\n', out);
}

/* " of 4G" when all had the same; "" otherwise. */
static void print_given(FILE *out, const struct pfr_group *group)
{
    int64_t memory = group->runs[0].mem_given, cpus = group->runs[0].cpus;
    char text[PFR_CELL_SIZE];

    for (size_t i = 1; i < group->count; i++) {
        memory = group->runs[i].mem_given == memory ? memory : PFR_ABSENT;
        cpus = group->runs[i].cpus == cpus ? cpus : PFR_ABSENT;
    }
    if (!pfr_known(memory) && !pfr_known(cpus))
        return;
    fputs("  each was given", out);
    pfr_cell_format(PFR_CELL_BYTES, memory, 0, false, text);
    if (pfr_known(memory))
        fprintf(out, " %s a node", text);
    if (pfr_known(cpus))
        fprintf(out, "%s %lld CPU%s", pfr_known(memory) ? " and" : "", (long long)cpus,
                cpus == 1 ? "" : "s");
    fputc('\n', out);
}

/* Broken between words, what follows under its beginning. */
static void print_wrapped(FILE *out, const char *name, const char *text)
{
    size_t room = WIDTH - 12;

    do {
        size_t length = strlen(text);

        if (length > room) {
            for (length = room; length > 0 && text[length] != ' ';)
                length--;
            length = length ? length : room;
        }
        fprintf(out, "  %-9s %.*s\n", name, (int)length, text);
        text += length;
        text += strspn(text, " ");
        name = "";
    } while (*text);
}

static void print_advice_line(FILE *out, const char *name, const struct pfr_advice_line *line)
{
    const char *const texts[] = { line->paste, line->basis, line->why };

    for (size_t i = 0; i < PFR_COUNT(texts) && line->kind != PFR_ADVICE_NONE; i++)
        if (*texts[i]) {
            print_wrapped(out, name, texts[i]);
            name = "";
        }
}

static void print_advice(FILE *out, const struct pfr_group *group)
{
    struct pfr_advice advice;

    pfr_advice_give(&advice, &group->needs);
    fprintf(out, "\nadvice from %zu run%s\n", group->count, group->count == 1 ? "" : "s");
    print_advice_line(out, "memory", &advice.mem);
    print_advice_line(out, "cores", &advice.cpus);
    print_advice_line(out, "time", &advice.time);
}

void pfr_group_print(FILE *out, const struct pfr_group *group)
{
    enum pfr_metric_id source = usual_source(group);
    struct spread spreads[PFR_COUNT(numbers)];
    size_t others = 0;
    bool any = false;

    if (!group->count)
        return;
    fprintf(out, "%zu run%s, %s to %s\n", group->count, group->count == 1 ? "" : "s",
            group->runs[0].name, group->runs[group->count - 1].name);
    for (int id = 0; id < PFR_VERDICT_COUNT; id++)
        print_verdict(out, group, (enum pfr_verdict_id)id);
    fprintf(out, "\n  %-9s %10s %10s %10s %10s\n", "", "min", "median", "p95", "max");
    for (size_t i = 0; i < PFR_COUNT(numbers); i++) {
        spread_make(&spreads[i], group, &numbers[i], source);
        if (spreads[i].count)
            print_spread(out, &spreads[i], group->count);
    }
    print_given(out, group);
    if (source != PFR_METRIC_NONE)
        fprintf(out, "  memory is %s, on one node\n", pfr_metrics[source].key);
    for (size_t i = 0; i < group->count; i++)
        others += group->runs[i].source != source && group->runs[i].source != PFR_METRIC_NONE;
    if (others)
        fprintf(out, "  and left out of %zu run%s, where it was measured another way\n", others,
                others == 1 ? "" : "s");
    for (size_t i = 0; i < 2; i++) /* of memory and cores */
        print_histogram(out, &spreads[i]);
    for (size_t i = 0; i < PFR_COUNT(numbers); i++) {
        print_outliers(out, &spreads[i], &any);
        free(spreads[i].runs);
    }
    print_advice(out, group);
}
