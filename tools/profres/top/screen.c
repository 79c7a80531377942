#include "tools/profres/top/screen.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_NCURSES
#include <curses.h>

static SCREEN *screen;
static attr_t attributes[PFR_STYLES];

/* What can be told apart without colours is told apart without them, too. */
static void choose_styles(void)
{
    const char *no_color = getenv("NO_COLOR");
    bool colors = has_colors() && !(no_color && *no_color);

    attributes[PFR_BOLD] = A_BOLD;
    attributes[PFR_DIM] = A_DIM;
    attributes[PFR_TITLE] = A_REVERSE;
    attributes[PFR_WARN] = A_BOLD;
    attributes[PFR_ALARM] = A_REVERSE | A_BOLD;
    if (!colors)
        return;
    start_color();
    use_default_colors();
    init_pair(1, COLOR_GREEN, -1);
    init_pair(2, COLOR_YELLOW, -1);
    init_pair(3, COLOR_RED, -1);
    attributes[PFR_GOOD] = COLOR_PAIR(1);
    attributes[PFR_WARN] |= COLOR_PAIR(2);
    attributes[PFR_ALARM] |= COLOR_PAIR(3);
}

bool pfr_screen_open(void)
{
    const char *terminal = getenv("TERM");

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !terminal || !*terminal ||
        strcmp(terminal, "dumb") == 0)
        return false;
    screen = newterm(NULL, stdout, stdin); /* initscr() would end the program */
    if (!screen)
        return false;
    if (!tigetstr("cup") || tigetstr("cup") == (char *)-1) {
        endwin();
        delscreen(screen);
        screen = NULL;
        return false;
    }
    choose_styles();
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    return true;
}

void pfr_screen_close(void)
{
    if (!screen)
        return;
    erase();
    refresh();
    endwin();
    delscreen(screen);
    screen = NULL;
}

void pfr_screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

void pfr_screen_show(const struct pfr_canvas *canvas)
{
    erase();
    for (int row = 0; row < canvas->rows; row++) {
        move(row, 0);
        for (int i = 0; i < canvas->columns; i++) {
            const struct pfr_spot *spot = pfr_canvas_at(canvas, row, i);

            attrset(attributes[spot->style]);
            addstr(spot->text); /* the last place of all cannot be written; that is no loss */
        }
    }
    attrset(A_NORMAL);
    refresh();
}

static int translate(int key)
{
    switch (key) {
    case ERR:
        return PFR_KEY_NONE;
    case KEY_UP:
        return PFR_KEY_UP;
    case KEY_DOWN:
        return PFR_KEY_DOWN;
    case KEY_PPAGE:
        return PFR_KEY_PAGE_UP;
    case KEY_NPAGE:
        return PFR_KEY_PAGE_DOWN;
    case KEY_HOME:
        return PFR_KEY_HOME;
    case KEY_END:
        return PFR_KEY_END;
    case KEY_RESIZE:
        return PFR_KEY_RESIZE;
    default:
        return key < 256 ? key : PFR_KEY_NONE;
    }
}

int pfr_screen_key(int wait_ms)
{
    static int in_vain; /* times that there was something to read, and it was nothing */
    struct pollfd pollfd = { .fd = STDIN_FILENO, .events = POLLIN };
    int key = translate(getch()); /* what came together with the one before */

    if (key == PFR_KEY_NONE && poll(&pollfd, 1, wait_ms) > 0) {
        key = getch();
        in_vain = key == ERR ? in_vain + 1 : 0;
        key = translate(key);
    }
    if ((pollfd.revents & (POLLHUP | POLLERR | POLLNVAL)) || in_vain > 10)
        return PFR_KEY_GONE;
    return key;
}

#else /* built without it: frames are printed */

bool pfr_screen_open(void)
{
    return false;
}

void pfr_screen_close(void)
{
}

void pfr_screen_size(int *rows, int *columns)
{
    *rows = 24;
    *columns = 80;
}

void pfr_screen_show(const struct pfr_canvas *canvas)
{
    pfr_canvas_write(canvas, stdout);
}

int pfr_screen_key(int wait_ms)
{
    poll(NULL, 0, wait_ms);
    return PFR_KEY_NONE;
}
#endif
