/* profres top: how a step is doing, from the files that its samplers write. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/judge/brief.h"
#include "common/judge/verdict.h"
#include "tools/profres/ink.h"
#include "tools/profres/profres.h"
#include "tools/profres/top/draw.h"
#include "tools/profres/top/screen.h"

#define DELAY_LEAST (PFR_NS_PER_S / 10)
#define DELAY_MOST (3600 * PFR_NS_PER_S)

/* Who asks a script to wait is asked for how long. */
#define WAIT_BATCH (60 * PFR_NS_PER_S)

struct session {
    struct pfr_top top;
    struct pfr_view view;
    bool pane_given, batch, screen, unicode;
    int64_t frames, frames_left; /* -1: no end */
    int64_t wait, began;         /* wait: -1 for ever */
    int result;                  /* of the last look */
};

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

static void print_help(FILE *out)
{
    fputs("usage: profres top [option...] JOB|PATH\n\n"
          "Shows a running step live: memory against its limit, cores against the allocation,\n"
          "nodes, tasks, processes. It reads the files that the samplers write, wherever they\n"
          "can be reached, and goes to no node. It ends by itself when the step does.\n\n"
          "JOB is as in sacct (4711, 4711.0, 4711_3), PATH a directory of a job or a step. Of\n"
          "several steps the newest that runs is shown. A job that has not begun is waited for.\n\n"
          "  -d, --delay=SEC    redraw so often (default 2; the files change once a window)\n"
          "  -p, --pane=PANE    begin with nodes, tasks or processes\n"
          "  -s, --sort=KEY     by cpu, memory, io or name (default cpu)\n"
          "  -w, --wait=SEC     wait so long for a profile (default: for ever; with -b 60)\n"
          "  -b, --batch        print frames one after the other, as where there is no terminal\n"
          "  -n, --frames=N     end after so many frames\n"
          "  -h, --help         this text\n\n"
          "Keys: q quits, h explains the others.\n",
          out);
}

/* ---- options ---- */

static int complain(const char *option, const char *text, const char *hint)
{
    pfr_error("%s '%s': %s", option, text, hint);
    return PFR_EXIT_USAGE;
}

/* The number of the name that begins so; -1. */
static int name_number(const char *text, const char *(*name)(int), int count)
{
    for (int i = 0; *text && i < count; i++)
        if (strncmp(text, name(i), strlen(text)) == 0)
            return i;
    return -1;
}

static const char *pane_name(int i)
{
    return pfr_pane_name((enum pfr_top_pane)i);
}

static const char *sort_name(int i)
{
    return pfr_sort_name((enum pfr_top_sort)i);
}

static bool set_delay(struct pfr_view *view, const char *text)
{
    return pfr_parse_duration(text, &view->delay) && view->delay >= DELAY_LEAST &&
           view->delay <= DELAY_MOST;
}

static bool set_wait(struct session *session, const char *text)
{
    if (strcmp(text, "0") == 0) {
        session->wait = 0;
        return true;
    }
    return pfr_parse_duration(text, &session->wait);
}

/* One option; 0, or the status to end with. */
static int take_option(struct session *session, int option)
{
    struct pfr_view *view = &session->view;
    int number;

    switch (option) {
    case 'd':
        return set_delay(view, optarg) ? 0 : complain("delay", optarg, "seconds, 0.1 at least");
    case 'p':
        number = name_number(optarg, pane_name, PFR_PANE_COUNT);
        view->pane = (enum pfr_top_pane)number;
        session->pane_given = true;
        return number >= 0 ? 0 : complain("pane", optarg, "nodes, tasks or processes");
    case 's':
        number = name_number(optarg, sort_name, PFR_SORT_COUNT);
        view->sort = (enum pfr_top_sort)number;
        return number >= 0 ? 0 : complain("sort", optarg, "cpu, memory, io or name");
    case 'w':
        return set_wait(session, optarg) ? 0 : complain("wait", optarg, "seconds, as in 30 or 5m");
    case 'n':
        return pfr_parse_int(optarg, &session->frames_left) && session->frames_left > 0
                   ? 0
                   : complain("frames", optarg, "a number, 1 at least");
    case 'b':
        session->batch = true;
        return 0;
    default:
        return PFR_EXIT_USAGE;
    }
}

/* -1 to go on, or the exit status. */
static int parse_options(struct session *session, int argc, char **argv)
{
    static const struct option options[] = { { "delay", required_argument, NULL, 'd' },
                                             { "pane", required_argument, NULL, 'p' },
                                             { "sort", required_argument, NULL, 's' },
                                             { "wait", required_argument, NULL, 'w' },
                                             { "batch", no_argument, NULL, 'b' },
                                             { "frames", required_argument, NULL, 'n' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    int option, r;

    while ((option = getopt_long(argc, argv, "d:p:s:w:bn:h", options, NULL)) >= 0) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS;
        }
        if ((r = take_option(session, option)) != 0)
            return r;
    }
    if (argc - optind != 1) {
        fputs(optind == argc ? "profres: which job? As in 'profres top 4711', or a directory\n"
                             : "profres: one job or path, please\n",
              stderr);
        return PFR_EXIT_USAGE;
    }
    pfr_top_init(&session->top, argv[optind]);
    return -1;
}

/* ---- looking ---- */

static struct pfr_top_now now(void)
{
    return (struct pfr_top_now){ .wall = pfr_clock_ns(CLOCK_REALTIME),
                                 .monotonic = pfr_clock_ns(CLOCK_MONOTONIC) };
}

/* One node has nothing to compare: its processes tell more. */
static void choose_pane(struct session *session)
{
    if (session->pane_given || session->top.node_count == 0)
        return;
    session->pane_given = true;
    session->view.pane = session->top.node_count > 1 ? PFR_PANE_NODES : PFR_PANE_PROCESSES;
}

static bool has_waited_enough(const struct session *session, struct pfr_top_now at)
{
    return session->wait >= 0 && at.monotonic - session->began >= session->wait;
}

/* ---- the last word ---- */

static void say_lines(const struct pfr_ink *ink, const char *label, const struct pfr_said *said)
{
    for (int i = 0; i < said->count; i++)
        pfr_ink_say(ink, PFR_TINT_NONE, i ? "" : label, said->line[i]);
}

static void say_judgement(const struct pfr_verdict *verdict)
{
    char line[PFR_SAY_SIZE + 32];
    struct pfr_ink ink;

    pfr_ink_init(&ink, stdout);
    snprintf(line, sizeof(line), "%s: %s", pfr_verdict_name(verdict->id), verdict->headline);
    pfr_ink_say(&ink, pfr_verdict_is_failure(verdict->id) ? PFR_TINT_BAD : PFR_TINT_NONE,
                "verdict", line);
    say_lines(&ink, "", &verdict->evidence);
    say_lines(&ink, "you can", &verdict->user);
}

/* What became of it, in the words of the report: the files are as they will stay. */
static int say_verdict(const struct pfr_top *top)
{
    const struct pfr_found *found = pfr_top_step(top);
    PFR_AUTO_FREE struct pfr_facts *nodes = calloc(top->node_count, sizeof(*nodes));
    PFR_AUTO_FD dir = open(found->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t wall = pfr_clock_ns(CLOCK_REALTIME);
    struct pfr_facts merged;
    struct pfr_last last;
    struct pfr_verdict verdict;
    size_t count = 0;

    for (size_t i = 0; nodes && i < top->node_count; i++)
        if (top->nodes[i]->state == PFR_TOP_KNOWN)
            nodes[count++] = top->nodes[i]->facts;
    if (count == 0) {
        pfr_error("%s was written by a later version of profres; please use that", found->dir);
        return PFR_EXIT_FAILURE;
    }
    pfr_facts_merge(&merged, nodes, count);
    pfr_brief_print(stdout, &merged, found->dir, wall);
    pfr_verdict_judge(&verdict, &merged,
                      pfr_last_load(&last, dir, merged.node) > 0 ? &last : NULL, wall);
    putchar('\n');
    say_judgement(&verdict);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : PFR_EXIT_FAILURE;
}

/* ---- frames one after the other ---- */

static int columns_of_output(void)
{
    const char *told = getenv("COLUMNS");
    struct winsize size;
    int64_t columns;

    if (told && pfr_parse_int(told, &columns) && columns >= 20 && columns <= 1000)
        return (int)columns;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

static int print_frame(struct session *session, struct pfr_top_now at)
{
    struct pfr_canvas canvas;
    int rows = session->result > 0 ? pfr_draw_rows(&session->top, &session->view) : 4;

    if (pfr_canvas_init(&canvas, rows, columns_of_output(), session->unicode) < 0)
        return -ENOMEM;
    if (session->result > 0)
        pfr_draw(&canvas, &session->top, &session->view, at);
    else
        pfr_draw_waiting(&canvas, &session->top, &session->view, at.monotonic - session->began);
    if (session->frames++ > 0)
        putchar('\n');
    pfr_canvas_write(&canvas, stdout);
    pfr_canvas_release(&canvas);
    return fflush(stdout) == 0 ? 0 : -errno;
}

/* ---- on a terminal ---- */

static void show_frame(struct session *session, struct pfr_top_now at)
{
    struct pfr_canvas canvas;
    int rows, columns;

    pfr_screen_size(&rows, &columns);
    if (pfr_canvas_init(&canvas, rows, columns, session->unicode) < 0)
        return;
    if (session->result > 0)
        pfr_draw(&canvas, &session->top, &session->view, at);
    else
        pfr_draw_waiting(&canvas, &session->top, &session->view, at.monotonic - session->began);
    pfr_screen_show(&canvas);
    pfr_canvas_release(&canvas);
    session->frames++;
}

static void set_pane(struct pfr_view *view, enum pfr_top_pane pane)
{
    view->pane = pane;
    view->scroll = 0;
}

static void scroll(struct pfr_view *view, int key)
{
    size_t page = view->page > 1 ? view->page - 1 : 1;
    size_t back = key == PFR_KEY_UP ? 1 : page;

    if (key == PFR_KEY_HOME)
        view->scroll = 0;
    else if (key == PFR_KEY_END)
        view->scroll = SIZE_MAX / 2; /* drawing takes it back to the last page */
    else if (key == PFR_KEY_DOWN || key == PFR_KEY_PAGE_DOWN)
        view->scroll += key == PFR_KEY_DOWN ? 1 : page;
    else
        view->scroll -= view->scroll < back ? view->scroll : back;
}

static void change_delay(struct pfr_view *view, bool longer)
{
    int64_t delay = longer ? 2 * view->delay : view->delay / 2;

    if (delay >= DELAY_LEAST && delay <= DELAY_MOST)
        view->delay = delay;
}

/* What a key asks for. False: to leave. */
static bool obey(struct session *session, int key)
{
    static const char sorts[] = "cmia", panes[] = "ntp";
    struct pfr_view *view = &session->view;

    if (key == 'q' || key == 'Q' || key == PFR_KEY_GONE)
        return false;
    if (key >= PFR_KEY_UP && key <= PFR_KEY_END)
        scroll(view, key);
    else if (key == 'h' || key == '?')
        view->help = !view->help;
    else if (key == '\t')
        set_pane(view, (enum pfr_top_pane)((view->pane + 1) % PFR_PANE_COUNT));
    else if (key == 'r')
        view->reverse = !view->reverse;
    else if (key == '[' || key == ']')
        pfr_top_switch(&session->top, key == '[' ? -1 : 1);
    else if (key == 'f')
        session->top.chosen = false;
    else if (key == '+' || key == '-')
        change_delay(view, key == '+');
    else if (key > 0 && key < 128 && strchr(sorts, key))
        view->sort = (enum pfr_top_sort)(strchr(sorts, key) - sorts);
    else if (key > 0 && key < 128 && strchr(panes, key))
        set_pane(view, (enum pfr_top_pane)(strchr(panes, key) - panes));
    return true;
}

/* Keys until it is time for the next look. False: to leave. */
static bool rest(struct session *session, int64_t until)
{
    for (;;) {
        int64_t left = until - pfr_clock_ns(CLOCK_MONOTONIC);
        int key;

        if (signalled)
            return false;
        if (left <= 0)
            return true;
        key = pfr_screen_key((int)(left / 1000000) + 1);
        if (key == PFR_KEY_NONE)
            continue;
        if (!obey(session, key))
            return false;
        if (key == ' ' || key == '[' || key == ']' || key == 'f')
            return true; /* it wants another look at the files */
        show_frame(session, now());
        until = until < pfr_clock_ns(CLOCK_MONOTONIC) + session->view.delay
                    ? until : pfr_clock_ns(CLOCK_MONOTONIC) + session->view.delay;
    }
}

static bool pause_until(int64_t until)
{
    for (;;) {
        int64_t left = until - pfr_clock_ns(CLOCK_MONOTONIC);

        if (signalled)
            return false;
        if (left <= 0)
            return true;
        poll(NULL, 0, (int)(left / 1000000) + 1);
    }
}

/* ---- the loop ---- */

enum end { GOES_ON, LEFT, WAITED, FAILED, COUNTED, OVER };

/* One look and one frame. */
static enum end turn(struct session *session)
{
    struct pfr_top_now at = now();

    session->result = pfr_top_look(&session->top, at);
    if (session->result < 0)
        return FAILED;
    at = now();
    choose_pane(session);
    if (session->result > 0 && pfr_top_has_ended(&session->top, at))
        return OVER;
    if (session->result == 0 && has_waited_enough(session, at))
        return WAITED;
    if (session->screen)
        show_frame(session, at);
    else if (print_frame(session, at) < 0)
        return FAILED;
    if (session->frames_left > 0 && session->result > 0 && --session->frames_left == 0)
        return COUNTED;
    return GOES_ON;
}

static enum end watch(struct session *session)
{
    enum end end;

    while ((end = turn(session)) == GOES_ON) {
        int64_t until = pfr_clock_ns(CLOCK_MONOTONIC) + session->view.delay;

        if (!(session->screen ? rest(session, until) : pause_until(until)))
            return LEFT;
    }
    return end;
}

static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* In the words of the one who asked; the screen is the person's again. */
static int conclude(struct session *session, enum end end)
{
    switch (end) {
    case OVER:
        return say_verdict(&session->top);
    case WAITED:
        pfr_find_explain(session->top.what, 0);
        return PFR_EXIT_FAILURE;
    case FAILED:
        if (session->result >= 0) {
            pfr_error("cannot write: %s", strerror(errno));
            return PFR_EXIT_FAILURE;
        }
        pfr_find_explain(session->top.what, session->result);
        return session->result == -EINVAL ? PFR_EXIT_USAGE : PFR_EXIT_FAILURE;
    default:
        return EXIT_SUCCESS;
    }
}

int pfr_command_top(int argc, char **argv)
{
    static struct session session = { .frames_left = -1, .wait = -1,
                                      .view = { .delay = 2 * PFR_NS_PER_S } };
    enum end end;
    int r = parse_options(&session, argc, argv);

    if (r >= 0)
        return r;
    setlocale(LC_CTYPE, "");
    session.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    session.began = pfr_clock_ns(CLOCK_MONOTONIC);
    catch_signals();
    session.screen = !session.batch && pfr_screen_open();
    session.view.keys = session.screen;
    if (!session.screen && session.wait < 0)
        session.wait = WAIT_BATCH;
    end = watch(&session);
    pfr_screen_close();
    r = conclude(&session, end);
    pfr_top_release(&session.top);
    if (end == LEFT && signalled && signalled != SIGINT) {
        signal(signalled, SIG_DFL);
        raise(signalled);
    }
    return r;
}
