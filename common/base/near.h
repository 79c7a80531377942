/* What a person may have meant by a name that is not there. */
#ifndef PFR_BASE_NEAR_H
#define PFR_BASE_NEAR_H

#include <stddef.h>

/* The name at this place of a list. */
typedef const char *(*pfr_name_at)(const void *list, size_t i);

/* Appends up to three of the names, the likest first: "a, b, c"; upper and lower case are one. */
void pfr_near_append(const char *typed, const void *list, size_t count, pfr_name_at name_at,
                     char *text, size_t size);

#endif
