#include "common/record/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/parse.h"

int pfr_reader_open(struct pfr_reader *reader, int fd)
{
    memset(reader, 0, sizeof(*reader));
    reader->file = fdopen(fd, "r");
    if (!reader->file) {
        int saved = errno;

        close(fd);
        return -saved;
    }
    return 0;
}

int pfr_reader_open_text(struct pfr_reader *reader, const char *text, size_t length)
{
    memset(reader, 0, sizeof(*reader));
    reader->file = fmemopen((void *)(uintptr_t)text, length, "r");
    return reader->file ? 0 : -errno;
}

void pfr_reader_release(struct pfr_reader *reader)
{
    if (reader->file)
        fclose(reader->file);
    free(reader->line);
    memset(reader, 0, sizeof(*reader));
}

static struct json_object *parse(const char *text, size_t length, int flags, size_t *end)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *object;

    if (!tokener)
        return NULL;
    json_tokener_set_flags(tokener, flags);
    object = json_tokener_parse_ex(tokener, text, (int)length);
    if (json_tokener_get_error(tokener) != json_tokener_success ||
        !json_object_is_type(object, json_type_object)) {
        json_object_put(object);
        object = NULL;
    }
#if JSON_C_VERSION_NUM >= (15 << 8)
    *end = json_tokener_get_parse_end(tokener);
#else
    *end = (size_t)tokener->char_offset;
#endif
    json_tokener_free(tokener);
    return object;
}

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

/*
 * Strict is: nothing after the object. json-c 0.18 takes bytes above 127 for control
 * characters then, and refuses every text that is not English; such a line is parsed
 * without, and what follows it is looked at here.
 */
struct json_object *pfr_object_parse(const char *text, size_t length)
{
    size_t end;
    struct json_object *object = parse(text, length, JSON_TOKENER_STRICT, &end);

    if (object || is_ascii(text, length))
        return object;
    object = parse(text, length, 0, &end);
    for (; object && end < length; end++)
        if (!strchr(" \t\r\n", text[end])) {
            json_object_put(object);
            object = NULL;
        }
    return object;
}

static bool make_room(struct pfr_reader *reader, size_t length)
{
    size_t size = reader->size ? 2 * reader->size : 4096;
    char *line;

    if (length < reader->size)
        return true;
    if (length >= PFR_LINE_MAX || !(line = realloc(reader->line, size)))
        return false;
    reader->line = line;
    reader->size = size;
    return true;
}

/*
 * The length of a line with its newline, 0 at the end. Of a line that is too
 * long nothing is kept: it may be as long as the disk, and -EMSGSIZE.
 */
static ssize_t next_line(struct pfr_reader *reader)
{
    bool fits = true;
    size_t n = 0;
    int c;

    while ((c = getc_unlocked(reader->file)) != EOF) {
        fits = fits && make_room(reader, n);
        if (fits)
            reader->line[n++] = (char)c;
        if (c == '\n')
            return fits ? (ssize_t)n : -EMSGSIZE;
    }
    reader->torn = n > 0 || !fits;
    return 0;
}

int pfr_reader_next(struct pfr_reader *reader, struct json_object **object)
{
    ssize_t n;

    while ((n = next_line(reader)) != 0) {
        if (n > 0 && (*object = pfr_object_parse(reader->line, (size_t)n)))
            return 1;
        reader->malformed++;
    }
    return ferror(reader->file) ? -EIO : 0;
}

const char *pfr_line_type(struct json_object *object)
{
    struct json_object *type = pfr_json_get(object, "type");

    return json_object_is_type(type, json_type_string) ? json_object_get_string(type) : "";
}

struct json_object *pfr_summary_load(int dirfd, const char *name)
{
    struct stat st;
    PFR_AUTO_FD fd = pfr_file_open_foreign(dirfd, name, &st);
    PFR_AUTO_FREE char *text = NULL;
    struct json_object *object;
    ssize_t n;

    if (fd < 0 || st.st_size > PFR_LINE_MAX) {
        errno = fd < 0 ? -fd : EINVAL;
        return NULL;
    }
    text = malloc((size_t)st.st_size + 1);
    if (!text || (n = read(fd, text, (size_t)st.st_size)) < 0)
        return NULL;
    object = pfr_object_parse(text, (size_t)n);
    if (!object)
        errno = EBADMSG;
    return object;
}

/* "name/major.minor" */
static bool split_schema(const char *schema, size_t *name, int64_t *major, int64_t *minor)
{
    const char *p = strchr(schema, '/');

    if (!p)
        return false;
    *name = (size_t)(p - schema);
    p++;
    if (!pfr_parse_digits(&p, major) || *p != '.')
        return false;
    p++;
    return pfr_parse_digits(&p, minor) && !*p;
}

int pfr_schema_check(const char *schema, const char *ours)
{
    size_t name, our_name;
    int64_t major, minor, our_major, our_minor;

    if (!split_schema(schema, &name, &major, &minor) ||
        !split_schema(ours, &our_name, &our_major, &our_minor) || name != our_name ||
        strncmp(schema, ours, name) != 0 || major != our_major)
        return -EPROTO;
    return minor <= our_minor;
}
