#include "tools/profres/ink.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/safe.h"

#define WIDEST 80
#define NARROWEST 40
#define INDENT 13
#define BAR 10
#define WORD 512

void pfr_ink_init(struct pfr_ink *ink, FILE *out)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    bool terminal = isatty(fileno(out));
    struct winsize size;

    *ink = (struct pfr_ink){ .out = out, .width = WIDEST };
    if (!terminal)
        return;
    ink->bars = true;
    ink->colour = !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST &&
        size.ws_col < WIDEST)
        ink->width = size.ws_col;
}

void pfr_ink_begin(const struct pfr_ink *ink, enum pfr_tint tint)
{
    static const char *const codes[] = { "", "\033[32m", "\033[33m", "\033[1;31m", "\033[2m" };

    if (ink->colour)
        fputs(codes[tint], ink->out);
}

void pfr_ink_end(const struct pfr_ink *ink, enum pfr_tint tint)
{
    if (ink->colour && tint != PFR_TINT_NONE)
        fputs("\033[0m", ink->out);
}

/* A word, made safe to show. Returns its columns: every character is taken for one. */
static int make_word(const char *text, size_t length, char *word, size_t size)
{
    char raw[WORD];
    int count = 0;

    snprintf(raw, sizeof(raw), "%.*s", (int)length, text);
    pfr_safe_message(raw, word, size);
    for (; *word; word++)
        count += ((unsigned char)*word & 0xc0) != 0x80;
    return count;
}

void pfr_ink_say(const struct pfr_ink *ink, enum pfr_tint tint, const char *label,
                 const char *text)
{
    int at = INDENT;
    bool first = true;

    if (!*text)
        return;
    fprintf(ink->out, "  %-*s", INDENT - 2, label);
    pfr_ink_begin(ink, tint);
    while (*text) {
        char word[WORD];
        size_t length = strcspn(text, " ");
        int wide = make_word(text, length, word, sizeof(word));

        if (!first && at + 1 + wide > ink->width) {
            fprintf(ink->out, "\n%*s", INDENT, "");
            at = INDENT;
            first = true;
        }
        if (!first) {
            fputc(' ', ink->out);
            at++;
        }
        fputs(word, ink->out);
        at += wide;
        first = false;
        text += length;
        while (*text == ' ')
            text++;
    }
    pfr_ink_end(ink, tint);
    fputc('\n', ink->out);
}

const char *pfr_ink_bar(const struct pfr_ink *ink, double share, char text[static PFR_BAR_SIZE])
{
    int full = share >= 1 ? BAR : share > 0 ? (int)(share * BAR + 0.5) : 0;

    text[0] = '\0';
    if (!ink->bars)
        return text;
    strcpy(text, " [");
    memset(text + 2, '#', (size_t)full);
    memset(text + 2 + full, '.', (size_t)(BAR - full));
    strcpy(text + 2 + BAR, "]");
    return text;
}
