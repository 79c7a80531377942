#include "tools/profres/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/base/near.h"

#define BIT(NAME) (1u << PFR_VERDICT_##NAME)

/* Which verdicts a state of sacct's is to us when sacct is not asked; 0: only sacct knows. */
static const struct {
    const char *name, *code;
    unsigned verdicts;
} states[] = {
    { "COMPLETED", "CD", BIT(OK) | BIT(IDLE) | BIT(STALLED) | BIT(WORKER_KILLED) },
    { "FAILED", "F", BIT(EXIT) | BIT(SIGNAL) },
    { "OUT_OF_MEMORY", "OOM", BIT(OOM) | BIT(OOM_NODE) },
    { "RUNNING", "R", BIT(RUNNING) },
    { "TIMEOUT", "TO", BIT(TIME_LIMIT) | BIT(HUNG) },
    { "BOOT_FAIL", "BF", 0 },
    { "CANCELLED", "CA", 0 },
    { "DEADLINE", "DL", 0 },
    { "NODE_FAIL", "NF", 0 },
    { "PENDING", "PD", 0 },
    { "PREEMPTED", "PR", 0 },
    { "REQUEUED", "RQ", 0 },
    { "RESIZING", "RS", 0 },
    { "REVOKED", "RV", 0 },
    { "SUSPENDED", "S", 0 },
};

#define PROGRESSES (PFR_PROGRESS_COMPLETE + 1)

/* All words in a row: verdicts, progress, states. */
static const char *word_at(const void *list, size_t i)
{
    (void)list;
    if (i < PFR_VERDICT_COUNT)
        return pfr_verdict_name((enum pfr_verdict_id)i);
    i -= PFR_VERDICT_COUNT;
    return i < PROGRESSES ? pfr_progress_name((enum pfr_progress)i) : states[i - PROGRESSES].name;
}

#define WORDS (PFR_VERDICT_COUNT + PROGRESSES + PFR_COUNT(states))

static int find_state(const char *word)
{
    for (size_t i = 0; i < PFR_COUNT(states); i++)
        if (strcasecmp(word, states[i].name) == 0 || strcasecmp(word, states[i].code) == 0)
            return (int)i;
    return -1;
}

static const char *next_word(const char *list, char word[static 64])
{
    size_t length;

    list += strspn(list, ", ");
    length = strcspn(list, ", ");
    snprintf(word, 64, "%.*s", (int)length, list);
    return length ? list + length : NULL;
}

int pfr_state_check(const char *list, bool *sacct)
{
    char word[64], near[256] = "";

    while ((list = next_word(list, word))) {
        int state = find_state(word);
        bool known = state >= 0;

        for (size_t i = 0; i < PFR_VERDICT_COUNT + PROGRESSES; i++)
            known = known || strcasecmp(word, word_at(NULL, i)) == 0;
        if (!known) {
            pfr_near_append(word, NULL, WORDS, word_at, near, sizeof(near));
            pfr_error("there is no state '%s'; nearest: %s", word, near);
            return -EINVAL;
        }
        if (state >= 0 && !states[state].verdicts)
            *sacct = true;
    }
    return 0;
}

static bool match_word(const char *word, const struct pfr_line *line)
{
    int state = find_state(word);

    if (strcasecmp(word, pfr_verdict_name(line->verdict)) == 0 ||
        strcasecmp(word, pfr_progress_name(line->facts->progress)) == 0)
        return true;
    if (state < 0)
        return false;
    if (line->sacct && line->sacct->state[0]) /* "CANCELLED by 1000" */
        return strncasecmp(line->sacct->state, states[state].name, strlen(states[state].name)) == 0;
    return states[state].verdicts >> line->verdict & 1;
}

bool pfr_state_match(const char *list, const struct pfr_line *line)
{
    char word[64];

    while ((list = next_word(list, word)))
        if (match_word(word, line))
            return true;
    return false;
}
