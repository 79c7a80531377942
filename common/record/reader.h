/*
 * Reading what was written, by us or by another version: a torn last line
 * loses only itself, an unknown key or type is no error, a malformed line is
 * counted and passed over (R85, R86).
 */
#ifndef PFR_RECORD_READER_H
#define PFR_RECORD_READER_H

#include <stdio.h>

#include "common/record/json.h"

/* A longer line is malformed. */
#define PFR_LINE_MAX (16u << 20)

struct pfr_reader {
    FILE *file;
    char *line;
    size_t size;
    uint64_t malformed; /* lines that were no JSON object */
    bool torn;          /* the file ends without a newline */
};

/* Takes the fd. 0 or -errno. */
int pfr_reader_open(struct pfr_reader *reader, int fd);

/* Reads a text, which must outlive it. 0 or -errno. */
int pfr_reader_open_text(struct pfr_reader *reader, const char *text, size_t length);
void pfr_reader_release(struct pfr_reader *reader);

/* 1 and a new object (json_object_put it), 0 at the end, -errno. */
int pfr_reader_next(struct pfr_reader *reader, struct json_object **object);

/* A JSON object that fills the text (json_object_put it), or NULL. */
struct json_object *pfr_object_parse(const char *text, size_t length);

/* The "type" of a line, "" when it has none. */
const char *pfr_line_type(struct json_object *object);

/* A summary file. NULL with errno when it cannot be read or is no JSON object. */
struct json_object *pfr_summary_load(int dirfd, const char *name);

/*
 * What `schema` ("profres-series/2.0") is to this program: 1 known or older in
 * its second part, 0 newer in it (readable, with keys we do not know), -EPROTO
 * another in its first part, or not ours.
 */
int pfr_schema_check(const char *schema, const char *ours);

#endif
