/* One node of one step as it is drawn: a series read in bounded room, and its summary. */
#ifndef PFR_PLOT_TRACE_H
#define PFR_PLOT_TRACE_H

#include <stdint.h>

#include "common/judge/facts.h"
#include "common/record/curve.h"
#include "tools/profres/plot/plan.h"

/* A process, or the process of a task: only windows in which it stands out. */
struct pfr_member {
    int64_t pid, start_ticks; /* of a task: 0 ticks, any process with that pid is it */
    int rank;                 /* -1: not a task */
    char name[64];
    struct pfr_curve memory, cpu;
    double most_memory, most_cpu;
    int64_t seen; /* in this window, the newest */
};

enum pfr_tone { PFR_TONE_PLAIN, PFR_TONE_BAD };

struct pfr_moment {
    double from, to; /* equal: a moment, else a phase */
    enum pfr_tone tone;
    bool routine; /* a task that ended well */
    bool open;    /* a phase whose end is not known */
    int colour;   /* of a phase: the same for all of its name */
    char text[120];
};

/* A key that no plan knows of, but its first letters do. */
struct pfr_extra {
    char key[64];
    enum pfr_panel_id panel;
    int64_t seen;
    struct pfr_curve curve;
};

#define PFR_MEMBERS_MAX 48
#define PFR_MOMENTS_MAX 400
#define PFR_EXTRAS_MAX 16

struct pfr_trace {
    char job[128], step[64], node[128], command[256];
    struct pfr_facts facts;      /* of the summary; all absent when there is none */
    bool has_summary;
    double end;                  /* the last time that anything is known of */
    bool complete, torn, future; /* future: of a schema that we must not read */
    uint64_t lines, malformed;
    int64_t windows, merged; /* how many, and how many without their samples */
    struct pfr_curve curves[PFR_PLANS_MAX];
    int64_t curve_seen[PFR_PLANS_MAX];
    struct pfr_extra extras[PFR_EXTRAS_MAX];
    size_t extra_count;
    struct pfr_member *members; /* the processes that stood out most; PFR_MEMBERS_MAX of room */
    size_t member_count;
    struct pfr_member *tasks; /* by rank */
    size_t task_count;
    struct pfr_moment *moments;
    size_t moment_count;
    size_t buckets; /* of a curve */
};

/*
 * Reads DIR/NODE.json and NODE.jsonl, with so many buckets to a curve. > 0, 0
 * when there is neither, -EPROTO when they are of a future that we cannot read
 * (what is known of them is filled in), -errno.
 */
int pfr_trace_load(struct pfr_trace *trace, const char *dir, const char *node, size_t buckets);
void pfr_trace_release(struct pfr_trace *trace);

/* Only what a comparison needs is kept, for there may be thousands. */
void pfr_trace_slim(struct pfr_trace *trace);

/* Its memory peak, and its CPU seconds, as the summary says them; 0: not known. */
double pfr_trace_size(const struct pfr_trace *trace);
double pfr_trace_cpu(const struct pfr_trace *trace);

/* The curve of a key, NULL when it was not measured. */
const struct pfr_curve *pfr_trace_curve(const struct pfr_trace *trace, const char *key);

#endif
