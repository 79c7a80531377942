#include "tools/sampler/mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mark.h"
#include "common/base/parse.h"
#include "common/record/summary.h"

/* Samples at a task's word: so many at once, and then one in so long. */
#define CREDIT_MOST 64
#define CREDIT_TIME (PFR_NS_PER_S / 10)

/* Taken at one go: the lifeline and the clock must not wait for more. */
#define MESSAGES_AT_ONCE 16

/* Pairs of one event. */
#define PAIRS_MOST 32

void pfr_marks_open(struct pfr_session *session)
{
    struct pfr_marks *marks = &session->marks;
    struct stat st;

    marks->credit = CREDIT_MOST;
    marks->credit_at = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    if (session->dirfd < 0)
        return;
    snprintf(marks->name, sizeof(marks->name), PFR_MARK_FILE, session->options.node);
    marks->fd = pfr_mark_bind(session->dirfd, marks->name);
    if (marks->fd >= 0 && fstatat(session->dirfd, marks->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        marks->inode = st.st_ino;
}

void pfr_marks_close(struct pfr_session *session)
{
    struct pfr_marks *marks = &session->marks;
    struct stat st;

    if (marks->fd < 0)
        return;
    close(marks->fd);
    marks->fd = -1;
    if (fstatat(session->dirfd, marks->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISSOCK(st.st_mode) && st.st_ino == marks->inode)
        unlinkat(session->dirfd, marks->name, 0);
}

/* ---- what may be ---- */

/* False when samples at a task's word have been too many. */
static bool spend(struct pfr_session *session)
{
    struct pfr_marks *marks = &session->marks;
    int64_t now = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    int64_t earned = (now - marks->credit_at) / CREDIT_TIME;

    marks->credit_at += earned * CREDIT_TIME;
    marks->credit = marks->credit + earned < CREDIT_MOST ? marks->credit + earned : CREDIT_MOST;
    if (marks->credit <= 0)
        return false;
    marks->credit--;
    return true;
}

/*
 * A line in the series. A quarter of what that may hold: marks are not merged
 * when it is made smaller, and it has to become half. Takes the object.
 */
static bool write_event(struct pfr_session *session, const char *event, int64_t stamp,
                        struct json_object *object)
{
    struct pfr_marks *marks = &session->marks;
    int64_t before = session->series.seal.bytes, now = pfr_env_now(&session->env, CLOCK_MONOTONIC);

    if (marks->bytes > pfr_series_room(&session->series, now) / 4) {
        json_object_put(object);
        return false;
    }
    pfr_series_event(&session->series, event,
                     session->info.wall_start + stamp - session->info.start, stamp, object);
    if (session->series.seal.bytes > before)
        marks->bytes += session->series.seal.bytes - before;
    return true;
}

/* ---- messages ---- */

struct message {
    const char *word, *end; /* the word at hand, and the end of all */
    int rank;
};

/* On to the next word; NULL when there is none. */
static const char *next_word(struct message *message)
{
    message->word += strlen(message->word) + 1;
    return message->word < message->end ? message->word : NULL;
}

/* Names are read by people: no control characters, no end in half a character. */
static void clean_name(const char *text, char name[static PFR_PHASE_NAME])
{
    size_t length = strnlen(text, PFR_PHASE_NAME - 1);

    while (length > 0 && (text[length] & 0xc0) == 0x80)
        length--;
    snprintf(name, length + 1, "%s", text);
    for (char *p = name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
}

static struct json_object *phase_start_json(const struct pfr_phase *phase)
{
    struct json_object *object = json_object_new_object();

    pfr_json_add(object, "name", pfr_json_text(phase->name));
    if (phase->rank >= 0)
        pfr_json_add(object, "rank", json_object_new_int(phase->rank));
    return object;
}

/* A phase begins, or with no name none does; what the task had open ends. */
static bool on_phase(struct pfr_session *session, const struct message *message, const char *text)
{
    char name[PFR_PHASE_NAME];
    const struct pfr_phase *phase;
    int64_t stamp;

    if (!spend(session))
        return false;
    stamp = pfr_session_sample(session);
    if (!stamp)
        stamp = pfr_env_now(&session->env, CLOCK_MONOTONIC);
    pfr_phases_end(&session->phases, message->rank, stamp);
    if (!text)
        return true;
    clean_name(text, name);
    phase = pfr_phases_begin(&session->phases, name, message->rank, stamp);
    return phase && write_event(session, "phase_start", stamp, phase_start_json(phase));
}

static bool on_event(struct pfr_session *session, struct message *message)
{
    struct json_object *object = json_object_new_object(), *data = json_object_new_object();
    const char *word;

    for (int i = 0; i < PAIRS_MOST && (word = next_word(message)); i++) {
        const char *value = strchr(word, '=');
        char key[64], name[PFR_PHASE_NAME];

        if (!value || value == word)
            continue;
        snprintf(key, sizeof(key), "%.*s", (int)(value - word), word);
        clean_name(key, name);
        PFR_AUTO_JSON *valid = pfr_json_text(name);
        pfr_json_add(data, json_object_get_string(valid), pfr_json_typed(value + 1));
    }
    if (message->rank >= 0)
        pfr_json_add(object, "rank", json_object_new_int(message->rank));
    pfr_json_add(object, "data", data);
    return write_event(session, "mark", pfr_env_now(&session->env, CLOCK_MONOTONIC), object);
}

static bool take_rank(struct message *message)
{
    const char *text = next_word(message);
    int64_t rank;

    if (!text)
        return false;
    message->rank = -1;
    if (strcmp(text, "-") == 0)
        return true;
    if (!pfr_parse_int(text, &rank) || rank > INT32_MAX)
        return false;
    message->rank = (int)rank;
    return true;
}

static bool on_mark(struct pfr_session *session, char *text, size_t length)
{
    struct message message = { .word = text, .end = text + length };
    const char *name;

    if (!take_rank(&message))
        return false;
    if (strcmp(text, "event") == 0)
        return on_event(session, &message);
    if (strcmp(text, "end") == 0)
        return on_phase(session, &message, NULL);
    name = strcmp(text, "phase") == 0 ? next_word(&message) : NULL;
    return name && on_phase(session, &message, name);
}

void pfr_marks_receive(struct pfr_session *session)
{
    char text[PFR_MARK_SIZE + 1];

    for (int i = 0; i < MESSAGES_AT_ONCE && session->marks.fd >= 0; i++) {
        struct pfr_mark_sender sender;
        ssize_t n = pfr_mark_receive(session->marks.fd, text, &sender);

        if (n < 0)
            return;
        if (n == 0 || sender.uid != geteuid() || !on_mark(session, text, (size_t)n))
            session->marks.dropped++;
        else
            pfr_mark_answer(session->marks.fd, &sender);
    }
}

/* ---- the end of a window ---- */

void pfr_marks_settle(struct pfr_session *session)
{
    const struct pfr_phase *phase;

    pfr_phases_fold(&session->phases, &session->window.readings, &session->selection.wanted);
    while ((phase = pfr_phases_settle(&session->phases)))
        write_event(session, "phase", phase->to, pfr_phase_json(&session->info, phase));
}
