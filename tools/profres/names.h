/* Names of jobs and nodes, in the order in which people count. */
#ifndef PFR_PROFRES_NAMES_H
#define PFR_PROFRES_NAMES_H

#include <stddef.h>

/* "4711_9" before "4711_10": digits by their number. */
int pfr_name_compare(const char *a, const char *b);

/* To be gathered; zero it first. */
struct pfr_names {
    char **list;
    size_t count, room;
};

/* So much of the name; without memory it is left out. */
void pfr_names_add(struct pfr_names *names, const char *name, size_t length);

/* Sorted, each once, NULL-terminated, in one block to free(); the names are released. */
char **pfr_names_pack(struct pfr_names *names);
void pfr_names_release(struct pfr_names *names);

#endif
