/*
 * slurmstepd's end of the line to the sampler (common/base/control.h). All waits
 * draw from one patience, and after one that was in vain there is no other until
 * the sampler has been heard of.
 */
#ifndef PFR_PLUGIN_TALK_H
#define PFR_PLUGIN_TALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pfr_talk {
    int control;   /* -1: no sampler */
    pid_t owner;   /* whose descriptor that is */
    pid_t sampler; /* while control is not hung up */
    bool lost;     /* it has ended or refused: nothing is said to it any more */
    bool slow;     /* it did not answer in time: it is not waited for */
    int64_t patience; /* ns that it may still be waited for */
    char step[48]; /* "4711.0", for messages */
};

/* Whether there is somebody to talk to. */
bool pfr_talk_goes_on(const struct pfr_talk *talk);

/* Never waits. What cannot be said is not said. */
void pfr_talk_tell(struct pfr_talk *talk, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Until it says `wanted`, however much else it says, or until no more than
 * keep_ms of the patience are left. NULL: what there is, without a wait.
 */
void pfr_talk_hear(struct pfr_talk *talk, const char *wanted, int keep_ms);

/* One that was stopped goes on, and ends when we close. */
void pfr_talk_wake(struct pfr_talk *talk);

void pfr_talk_end(struct pfr_talk *talk);

/*
 * A line for the user alone: slurmstepd's standard error is that of the job. What goes
 * through Slurm's log is in slurmd's log, too.
 */
void pfr_talk_to_user(const char *prefix, const char *text);

#endif
