/*
 * Text of others on its way to a terminal, a log or a table. It may hold
 * anything: file names, job names and whatever stands in a file that another
 * user wrote. Nothing of it may act on a terminal, forge a line or turn one around.
 */
#ifndef PFR_BASE_SAFE_H
#define PFR_BASE_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A character that a terminal obeys (C0, C1, DEL), that changes the direction of a
 * line (U+202E and the like), or that nobody sees (zero width, tags).
 */
bool pfr_safe_is_harmful(uint32_t code);

/* True when the whole text is UTF-8 without such a character. */
bool pfr_safe_is_plain(const char *text);

#define PFR_SAFE_UNIT 12

/*
 * The next character of a text as it may be shown: itself, or \n, \x1b, \u202e
 * and the like for a harmful one, an invalid byte, or a backslash. The first
 * character of `delimiter` is escaped, too, where the whole of it stands (NULL:
 * nothing). Moves *text; the columns it takes, 0 at the end.
 */
int pfr_safe_next(const char **text, const char *delimiter, char unit[static PFR_SAFE_UNIT]);

/* The whole text that way, as far as it fits: `to`. */
const char *pfr_safe_text(const char *text, char *to, size_t size);

/*
 * The same for a whole message, in which a backslash stays what it is: so it
 * does no harm to a message that was made safe before.
 */
const char *pfr_safe_message(const char *text, char *to, size_t size);

#endif
