/*
 * What happened, in a word, with the evidence and what to do: for the user and
 * for the administrator (R58-R61). One function decides it.
 */
#ifndef PFR_JUDGE_VERDICT_H
#define PFR_JUDGE_VERDICT_H

#include "common/judge/facts.h"
#include "common/judge/last.h"

/* From the best to the worst; the verdict of a job is the worst of its steps'. */
enum pfr_verdict_id {
    PFR_VERDICT_OK,
    PFR_VERDICT_RUNNING,
    PFR_VERDICT_IDLE,          /* cores or memory were hardly used */
    PFR_VERDICT_INCOMPLETE,    /* the profile is not whole */
    PFR_VERDICT_STALLED,       /* nothing moved for a long time */
    PFR_VERDICT_WORKER_KILLED, /* it "succeeded", but the kernel killed a process of it */
    PFR_VERDICT_EXIT,
    PFR_VERDICT_SIGNAL,
    PFR_VERDICT_TIME_LIMIT,
    PFR_VERDICT_HUNG,     /* at the time limit, and nothing had moved for most of the time */
    PFR_VERDICT_OOM_NODE, /* killed for memory, but not at the step's own limit */
    PFR_VERDICT_OOM,
    PFR_VERDICT_COUNT
};

#define PFR_SAY_MAX 10
#define PFR_SAY_SIZE 240

struct pfr_said {
    int count;
    char line[PFR_SAY_MAX][PFR_SAY_SIZE];
};

struct pfr_verdict {
    enum pfr_verdict_id id;
    char headline[PFR_SAY_SIZE];
    struct pfr_said evidence; /* the newest sample first */
    struct pfr_said user;     /* what you can do */
    struct pfr_said admin;    /* what an administrator wants to know */
};

/* "ok", "oom", "time-limit", ...: for tables and filters. */
const char *pfr_verdict_name(enum pfr_verdict_id id);

/* Did it fail? Not OK, RUNNING, IDLE, INCOMPLETE or STALLED. */
bool pfr_verdict_is_failure(enum pfr_verdict_id id);

/* `last` may be NULL: then nothing is said of a stall. `now` of the wall clock. */
void pfr_verdict_judge(struct pfr_verdict *verdict, const struct pfr_facts *facts,
                       const struct pfr_last *last, int64_t now);

/* For how long nothing had moved at the newest sample; 0. */
int64_t pfr_verdict_still(const struct pfr_last *last);

/* The word only, for thousands of runs. */
enum pfr_verdict_id pfr_verdict_of(const struct pfr_facts *facts, const struct pfr_last *last,
                                   int64_t now);

/*
 * The same of a job with its nodes, those of a step together: the worst of the
 * steps' and of the whole's, for what a script returned is no word on its steps.
 * Of anything else `facts` is all that counts.
 */
enum pfr_verdict_id pfr_verdict_of_parts(const struct pfr_facts *facts,
                                         const struct pfr_facts *nodes, size_t count, int64_t now);

#endif
