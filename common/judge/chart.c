#include "common/judge/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/judge/text.h"

/* ---- cells ---- */

static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const letters[] = { " ", ".", ".", ".", ":", ":", ":", "#", "#" };

static const char *cell_text(int eighths, bool ascii)
{
    eighths = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
    return ascii ? letters[eighths] : blocks[eighths];
}

static bool column_value(const struct pfr_chart_frame *frame, const struct pfr_curve *curve,
                         int column, double *value)
{
    double step = frame->end / frame->width;

    return pfr_curve_most(curve, column * step, (column + 1) * step, value);
}

void pfr_chart_row(FILE *out, const struct pfr_chart_frame *frame, const struct pfr_curve *curve,
                   int row)
{
    double per_row = frame->top / frame->height;
    int bound_row = frame->bound > 0 && frame->bound <= frame->top
                        ? frame->height - (int)ceil(frame->bound / per_row)
                        : -1;

    for (int column = 0; column < frame->width; column++) {
        double value = 0, below = per_row * (frame->height - 1 - row);
        bool there = column_value(frame, curve, column, &value);
        int eighths = there ? (int)lround((value - below) / per_row * 8) : 0;

        /* what is not zero is not blank */
        if (there && row == frame->height - 1 && value > 0 && eighths == 0)
            eighths = 1;
        if (eighths <= 0 && row == bound_row)
            fputs(frame->ascii ? "-" : "╌", out);
        else
            fputs(cell_text(eighths, frame->ascii), out);
    }
}

void pfr_chart_spark(FILE *out, const struct pfr_chart_frame *frame, const struct pfr_curve *curve)
{
    for (int column = 0; column < frame->width; column++) {
        double value = 0;
        bool there = column_value(frame, curve, column, &value);

        fputs(cell_text(there ? 1 + (int)lround(7 * value / frame->top) : 0, frame->ascii), out);
    }
}

static void time_text(double seconds, char *text, size_t size)
{
    long whole = lround(seconds);

    if (seconds < 60)
        snprintf(text, size, seconds < 10 && seconds > 0 ? "%.1f s" : "%.0f s", seconds);
    else if (whole < 3600)
        snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
    else
        snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

void pfr_chart_times(FILE *out, int indent, int width, double end)
{
    char half[32], last[32], first[] = "0";
    int middle, used;

    time_text(end / 2, half, sizeof(half));
    time_text(end, last, sizeof(last));
    middle = width / 2 - (int)strlen(half) / 2;
    used = fprintf(out, "%*s%s", indent, "", first) - indent;
    used += fprintf(out, "%*s%s", middle > used ? middle - used : 1, "", half);
    fprintf(out, "%*s\n", width > used ? width - used : (int)strlen(last) + 1, last);
}

bool pfr_chart_needs_ascii(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return !strcasestr(value, "utf-8") && !strcasestr(value, "utf8");
    }
    return true;
}

/* ---- the small chart ---- */

#define COLUMNS 80
#define INDENT 22
#define ROWS 3

void pfr_chart_init(struct pfr_chart *chart)
{
    memset(chart, 0, sizeof(*chart));
    pfr_curve_init(&chart->memory, 2 * (COLUMNS - INDENT));
    pfr_curve_init(&chart->cores, 2 * (COLUMNS - INDENT));
}

void pfr_chart_release(struct pfr_chart *chart)
{
    pfr_curve_release(&chart->memory);
    pfr_curve_release(&chart->cores);
}

static double seconds_of(int64_t ns)
{
    return (double)ns / (double)PFR_NS_PER_S;
}

/* Every sample of the window, so that no peak is missed. */
static bool add_samples(struct pfr_curve *curve, const struct pfr_usage *usage,
                        enum pfr_metric_id id, int64_t start, double scale)
{
    bool any = false;

    for (uint32_t i = 0; i < usage->readings->count; i++) {
        const struct pfr_sample *sample = &usage->readings->samples[i];
        int64_t stamp = sample->stamp[PFR_FROM_CGROUP] ? sample->stamp[PFR_FROM_CGROUP]
                                                       : sample->stamp[PFR_FROM_PROCS];

        if (!pfr_sample_has(sample, id))
            continue;
        any = true;
        pfr_curve_add(curve, seconds_of(stamp - start),
                      (double)pfr_sample_get(sample, id) * scale);
    }
    return any;
}

void pfr_chart_add(struct pfr_chart *chart, const struct pfr_usage *usage, int64_t start)
{
    const double core = 1e-5; /* of thousandths of a percent */

    /* what began as one measurement goes on as that: two are never one line (R32) */
    if (chart->memory.count == 0 || chart->charged)
        chart->charged = add_samples(&chart->memory, usage, PFR_CGROUP_MEM_CURRENT, start, 1) ||
                         chart->charged;
    if (!chart->charged)
        add_samples(&chart->memory, usage, PFR_PS_RSS_TOTAL, start, 1);
    if (!add_samples(&chart->cores, usage, PFR_CGROUP_PDCPU, start, core) && !chart->charged)
        add_samples(&chart->cores, usage, PFR_PS_PDCPU_TOTAL, start, core);
    chart->end = seconds_of(usage->to - start);
}

static void print_curve(FILE *out, const char *name, const char *note, const char *most,
                        const struct pfr_curve *curve, double end, bool ascii)
{
    const struct pfr_point *high = pfr_curve_high(curve);
    struct pfr_chart_frame frame = { .end = end, .top = high->v, .width = COLUMNS - INDENT,
                                     .height = ROWS, .ascii = ascii };

    if (high->v <= 0)
        frame.top = 1;
    for (int row = 0; row < ROWS; row++) {
        fprintf(out, "  %-8.8s %9s %s", row == 0 ? name : row == 1 ? note : "",
                row == 0 ? most : row == ROWS - 1 ? "0" : "", ascii ? "|" : "▕");
        pfr_chart_row(out, &frame, curve, row);
        fputc('\n', out);
    }
}

void pfr_chart_print(FILE *out, const struct pfr_chart *chart, bool ascii)
{
    char most[PFR_TEXT_SIZE];

    if (chart->end <= 0 || (chart->memory.count == 0 && chart->cores.count == 0))
        return;
    if (chart->memory.count) {
        pfr_size_text((int64_t)pfr_curve_high(&chart->memory)->v, most);
        print_curve(out, "memory", chart->charged ? "charged" : "resident", most, &chart->memory,
                    chart->end, ascii);
    }
    if (chart->cores.count) {
        snprintf(most, sizeof(most), "%.2f", pfr_curve_high(&chart->cores)->v);
        print_curve(out, "cores", "", most, &chart->cores, chart->end, ascii);
    }
    pfr_chart_times(out, INDENT, COLUMNS - INDENT, chart->end);
}
