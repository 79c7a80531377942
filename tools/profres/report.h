/* What the parts of 'profres report' share. */
#ifndef PFR_PROFRES_REPORT_H
#define PFR_PROFRES_REPORT_H

#include "common/judge/advice.h"
#include "tools/profres/columns.h"
#include "tools/profres/find.h"
#include "tools/profres/ink.h"
#include "tools/profres/sacct.h"

/* A step of the job, put together from its nodes. */
struct pfr_report_step {
    struct pfr_facts facts;
    const struct pfr_facts *nodes; /* one after another in the job's */
    size_t node_count;
    const struct pfr_found *found; /* where its files are; NULL when that is not known */
    struct pfr_last last;          /* of the node that failed, else of the largest */
    bool has_last;
    struct pfr_verdict verdict;
};

struct pfr_report_job {
    struct pfr_facts facts; /* of the job */
    struct pfr_facts *nodes;
    size_t node_count;
    struct pfr_report_step *steps;
    size_t step_count;
    size_t telling; /* the step whose verdict is the job's */
    struct pfr_verdict verdict;
    struct pfr_advice advice;
};

/* What was asked for. */
struct pfr_report {
    struct pfr_ink ink;
    struct pfr_sacct sacct;
    int64_t now;
    int64_t stall; /* --stalled; 0: as long as is usual */
    bool admin, why, exact;
    int inexact; /* nodes whose percentiles stay those of the histogram */
    bool no_last; /* the ends of the series are not looked at: nobody asked for a verdict */
};

/*
 * The nodes of all steps of a job into a report of it; `finds` tells where the
 * files are. NULL without memory; free it with pfr_report_job_free().
 */
struct pfr_report_job *pfr_report_job_new(struct pfr_report *report, const struct pfr_finds *finds,
                                          const struct pfr_found *found,
                                          const struct pfr_facts *nodes, size_t count);
void pfr_report_job_free(struct pfr_report_job *job);

/* The view for people. */
void pfr_report_view(const struct pfr_report *report, const struct pfr_report_job *job);

/* The same for programs: an object to be put into "jobs". */
struct json_object *pfr_report_json(const struct pfr_report *report,
                                    const struct pfr_report_job *job);

/* Why what is absent is absent, by node; into `array` as objects, or else printed. */
void pfr_report_why(const struct pfr_report *report, const struct pfr_report_job *job,
                    struct json_object *array);

#endif
