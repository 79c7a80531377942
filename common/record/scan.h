/*
 * A pull scanner over JSON text in memory: it makes no objects, allocates
 * nothing and passes over what nobody asked for at the speed of memory. It is
 * for reading many files or long ones; json-c is for the rest.
 *
 * The text may be anything: cut off, with NUL bytes, not UTF-8. What is passed
 * over is only checked for strings that end, as many closing brackets as
 * opening ones, and backslashes in strings only. The first thing that is wrong
 * sets `bad`, after which every call fails; a loop therefore ends, and one look
 * at the end tells.
 */
#ifndef PFR_RECORD_SCAN_H
#define PFR_RECORD_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pfr_scan {
    const char *p, *end;
    bool first; /* at the first thing behind an opening bracket: no comma yet */
    bool bad;
    unsigned beside; /* 63 less the blanks that the last line began with */
};

/* Text between quotes as it stands in the file, escapes and all. */
struct pfr_span {
    const char *at;
    size_t length;
};

static inline void pfr_scan_init(struct pfr_scan *scan, const char *text, size_t length)
{
    *scan = (struct pfr_scan){ .p = text, .end = text + length };
}

/* What stands next: one of { [ " 0 (any number) t f n, or 0 for nothing good. */
char pfr_scan_peek(struct pfr_scan *scan);

/* Into an object or an array; false, and nothing moved, when it is something else. */
bool pfr_scan_enter(struct pfr_scan *scan, char bracket);

/* The same, but something else is passed over: it is not what was looked for. */
bool pfr_scan_into(struct pfr_scan *scan, char bracket);

/*
 * The next member of the object that was entered: its key, and the scanner
 * stands at its value, which has to be taken or skipped. False behind the last.
 */
bool pfr_scan_member(struct pfr_scan *scan, struct pfr_span *key);

/* The next element of an array, in the same way. */
bool pfr_scan_element(struct pfr_scan *scan);

/* Over one value, whatever it is. */
bool pfr_scan_skip(struct pfr_scan *scan);

/* Over the rest of the object or array that was entered. */
bool pfr_scan_leave(struct pfr_scan *scan);

/* A string, undecoded. False, and it is skipped, when it is something else. */
bool pfr_scan_span(struct pfr_scan *scan, struct pfr_span *text);

/*
 * A string for people: decoded, cut at `size` between characters; what is
 * neither printable nor UTF-8 becomes '?', for it may go to a terminal. False,
 * and it is skipped, when it is something else.
 */
bool pfr_scan_text(struct pfr_scan *scan, char *text, size_t size);

/*
 * A number times `quantum`, rounded to the nearest; it saturates. False, and
 * it is skipped, when it is something else.
 */
bool pfr_scan_number(struct pfr_scan *scan, int64_t quantum, int64_t *value);

/* Nothing but blanks is left, and nothing was wrong. */
bool pfr_scan_done(struct pfr_scan *scan);

/* `text` is not empty. The first byte tells most of them apart without a call. */
static inline bool pfr_span_is(struct pfr_span span, const char *text)
{
    return *span.at == *text && span.length == strlen(text) &&
           memcmp(span.at, text, span.length) == 0;
}

#endif
