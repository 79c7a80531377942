/* profres plot: a run, or many, as a page, a picture or text. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/judge/chart.h"
#include "common/record/file.h"
#include "tools/profres/find.h"
#include "tools/profres/plot/gather.h"
#include "tools/profres/plot/png.h"
#include "tools/profres/plot/render.h"
#include "tools/profres/profres.h"

/* What a page may hold, so that it stays below 2 MB. */
#define PAGE_POINTS 90000

enum format { FORMAT_NONE, FORMAT_HTML, FORMAT_SVG, FORMAT_PNG, FORMAT_TEXT };

struct plot {
    const char *file, *node;
    enum format format;
    bool ascii;
    struct pfr_finds finds;
};

static void print_help(FILE *out)
{
    fputs("usage: profres plot [option...] JOB|PATH...\n\n"
          "Draws what was measured over time: memory, cores, storage, pressure, processes.\n"
          "A job is named as for sacct (4711, 4711.batch, 4711_[1-9]); several are laid over\n"
          "each other, and more than eight become their median and the band around it.\n\n"
          "  -o, --output=FILE   FILE.html one page that needs nothing else: choose steps and\n"
          "                      nodes, point, zoom; FILE.svg, FILE.png a picture; FILE.txt;\n"
          "                      '-' for standard output. Without it: text\n"
          "  -f, --format=NAME   html, svg, png or txt, whatever the file is called\n"
          "  -n, --node=NAME     of this node only\n"
          "  -D, --duplicates    also the earlier runs of jobs that were requeued\n"
          "      --ascii         text without Unicode blocks\n"
          "  -h, --help          this text\n",
          out);
}

/* ---- options ---- */

static enum format format_named(const char *name)
{
    static const struct {
        const char *name;
        enum format format;
    } formats[] = { { "html", FORMAT_HTML }, { "htm", FORMAT_HTML }, { "svg", FORMAT_SVG },
                    { "png", FORMAT_PNG },   { "txt", FORMAT_TEXT } };

    for (size_t i = 0; i < PFR_COUNT(formats); i++)
        if (strcmp(name, formats[i].name) == 0)
            return formats[i].format;
    return FORMAT_NONE;
}

static int refuse(const char *what, const char *name)
{
    pfr_error("%s '%s' is not one that can be drawn; it is html, svg, png or txt", what, name);
    return PFR_EXIT_USAGE;
}

static int choose_format(struct plot *plot, const char *named)
{
    const char *dot = plot->file ? strrchr(plot->file, '.') : NULL;

    if (named) {
        plot->format = format_named(named);
        return plot->format == FORMAT_NONE ? refuse("the format", named) : -1;
    }
    if (!plot->file || strcmp(plot->file, "-") == 0) {
        plot->format = FORMAT_TEXT;
        return -1;
    }
    plot->format = dot && !strchr(dot, '/') ? format_named(dot + 1) : FORMAT_NONE;
    return plot->format == FORMAT_NONE ? refuse("the end of", plot->file) : -1;
}

/* -1: go on; else the exit status. */
static int parse_options(struct plot *plot, int argc, char **argv)
{
    static const struct option options[] = { { "output", required_argument, NULL, 'o' },
                                             { "format", required_argument, NULL, 'f' },
                                             { "node", required_argument, NULL, 'n' },
                                             { "duplicates", no_argument, NULL, 'D' },
                                             { "ascii", no_argument, NULL, 'a' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    const char *format = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "o:f:n:Dh", options, NULL)) >= 0) {
        switch (option) {
        case 'o':
            plot->file = optarg;
            break;
        case 'f':
            format = optarg;
            break;
        case 'n':
            plot->node = optarg;
            break;
        case 'D':
            plot->finds.restarts = true;
            break;
        case 'a':
            plot->ascii = true;
            break;
        case 'h':
            print_help(stdout);
            return EXIT_SUCCESS;
        default:
            fputs("profres: see 'profres plot --help'\n", stderr);
            return PFR_EXIT_USAGE;
        }
    }
    if (optind == argc) {
        print_help(stderr);
        return PFR_EXIT_USAGE;
    }
    return choose_format(plot, format);
}

static int find_all(struct plot *plot, int count, char **what)
{
    for (int i = 0; i < count; i++) {
        int r = pfr_find(&plot->finds, what[i]);

        if (r <= 0) {
            pfr_find_explain(what[i], r);
            return PFR_EXIT_FAILURE;
        }
    }
    return -1;
}

/* ---- writing ---- */

/* What is in the way of a file is replaced as a whole; a pipe or a device is written to. */
static int write_file(const char *path, const char *data, size_t size)
{
    char dir_text[PATH_MAX], name_text[PATH_MAX];
    PFR_AUTO_FD fd = -1;
    struct stat st;

    if (strcmp(path, "-") == 0)
        return fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0 ? 0 : -errno;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
        return fd < 0 ? -errno : pfr_fd_write_all(fd, data, size);
    }
    if (strlen(path) >= sizeof(dir_text))
        return -ENAMETOOLONG;
    strcpy(dir_text, path);
    strcpy(name_text, path);
    fd = open(dirname(dir_text), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : pfr_file_replace(fd, basename(name_text), data, size);
}

static int columns_of_terminal(void)
{
    const char *text = getenv("COLUMNS");
    struct winsize size;
    int64_t columns;

    if (text && pfr_parse_int(text, &columns) && columns > 0 && columns < 1000)
        return (int)columns;
    return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void render(FILE *out, const struct plot *plot, const struct pfr_figure *figure)
{
    const struct pfr_view *view = &figure->views[figure->first];
    bool to_file = plot->file && strcmp(plot->file, "-") != 0;

    if (plot->format == FORMAT_HTML)
        pfr_render_html(out, figure);
    else if (plot->format == FORMAT_TEXT)
        pfr_render_text(out, figure, view, to_file ? 100 : columns_of_terminal(),
                        plot->ascii || (!to_file && pfr_chart_needs_ascii()));
    else
        pfr_render_svg(out, figure, view);
}

static int write_figure(const struct plot *plot, const struct pfr_figure *figure)
{
    const char *path = plot->file ? plot->file : "-";
    PFR_AUTO_FREE char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    bool failed;
    int r;

    if (!out)
        return PFR_EXIT_FAILURE;
    render(out, plot, figure);
    failed = ferror(out);
    failed = fclose(out) != 0 || failed;
    r = failed ? -ENOMEM : 0;
    if (r == 0 && plot->format == FORMAT_PNG && (r = pfr_png_make(&data, &size)) < 0)
        return PFR_EXIT_FAILURE; /* it has said why */
    if (r == 0)
        r = write_file(path, data, size);
    if (r < 0) {
        pfr_error("cannot write %s: %s", path, strerror(-r));
        return PFR_EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int pfr_command_plot(int argc, char **argv)
{
    struct plot plot = { 0 };
    struct pfr_figure figure = { .now = pfr_clock_ns(CLOCK_REALTIME) };
    int r = parse_options(&plot, argc, argv);

    if (r < 0)
        r = find_all(&plot, argc - optind, argv + optind);
    if (r < 0 && pfr_gather(&figure, &plot.finds, plot.node) < 0)
        r = PFR_EXIT_FAILURE; /* it has said why */
    if (r < 0) {
        pfr_figure_fit(&figure, PAGE_POINTS);
        r = write_figure(&plot, &figure);
    }
    pfr_figure_release(&figure);
    pfr_finds_release(&plot.finds);
    return r;
}
