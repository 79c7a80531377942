#include "common/base/near.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 64
#define OFFERED 3

/* Levenshtein distance of two short strings. */
static int edit_distance(const char *a, const char *b)
{
    size_t la = strnlen(a, LONGEST), lb = strnlen(b, LONGEST);
    int row[LONGEST + 1];

    for (size_t j = 0; j <= lb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int diagonal = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int best = diagonal + (tolower((unsigned char)a[i - 1]) !=
                                   tolower((unsigned char)b[j - 1]));

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

/* How unlike a name is what was typed; a name that contains it is near. */
static int distance(const char *typed, const char *name)
{
    int edits = edit_distance(typed, name);

    if (*typed && strcasestr(name, typed))
        edits = edits < 3 ? edits : 3;
    return edits;
}

void pfr_near_append(const char *typed, const void *list, size_t count, pfr_name_at name_at,
                     char *text, size_t size)
{
    size_t chosen[OFFERED];

    for (size_t n = 0; n < OFFERED && n < count; n++) {
        int best = INT_MAX;

        for (size_t i = 0; i < count; i++) {
            int edits = distance(typed, name_at(list, i));
            bool used = false;

            for (size_t k = 0; k < n; k++)
                used = used || chosen[k] == i;
            if (!used && edits < best) {
                best = edits;
                chosen[n] = i;
            }
        }
        snprintf(text + strlen(text), size - strlen(text), "%s%s", n ? ", " : "",
                 name_at(list, chosen[n]));
    }
}
