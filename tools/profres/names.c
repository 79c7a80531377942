#include "tools/profres/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parse.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int pfr_name_compare(const char *a, const char *b)
{
    while (*a && *b) {
        const char *x = a, *y = b;
        int64_t m, n;

        if (is_digit(*a) && is_digit(*b) && pfr_parse_digits(&x, &m) && pfr_parse_digits(&y, &n)) {
            if (m != n)
                return m < n ? -1 : 1;
            a = x;
            b = y;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != '\0') - (*b != '\0');
}

static int by_name(const void *a, const void *b)
{
    return pfr_name_compare(*(char *const *)a, *(char *const *)b);
}

void pfr_names_add(struct pfr_names *names, const char *name, size_t length)
{
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 8;
        char **list = realloc(names->list, room * sizeof(*list));

        if (!list)
            return;
        names->list = list;
        names->room = room;
    }
    names->list[names->count] = strndup(name, length);
    names->count += names->list[names->count] != NULL;
}

/* A node has up to three files, and so its name up to three times. */
static size_t drop_repeated(char **names, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept && strcmp(names[kept - 1], names[i]) == 0)
            free(names[i]);
        else
            names[kept++] = names[i];
    }
    return kept;
}

/* One block: the pointers, then what they point to. */
static char **pack(char **names, size_t count)
{
    size_t bytes = (count + 1) * sizeof(*names);
    char **block, *text;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    block = malloc(bytes);
    if (!block)
        return NULL;
    text = (char *)(block + count + 1);
    for (size_t i = 0; i < count; i++) {
        block[i] = text;
        text = stpcpy(text, names[i]) + 1;
    }
    block[count] = NULL;
    return block;
}

void pfr_names_release(struct pfr_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

/* Sorted, each once, in one block; the names are released. */
char **pfr_names_pack(struct pfr_names *names)
{
    char **block;

    if (names->count > 1)
        qsort(names->list, names->count, sizeof(*names->list), by_name);
    names->count = drop_repeated(names->list, names->count);
    block = pack(names->list, names->count);
    pfr_names_release(names);
    return block;
}
