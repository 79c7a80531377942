/*
 * slurmstepd's end of the line to the sampler (common/base/control.h). Every
 * wait is bounded, and after the first one that was in vain there is no other.
 */
#ifndef PFR_PLUGIN_TALK_H
#define PFR_PLUGIN_TALK_H

#include <stdbool.h>
#include <sys/types.h>

struct pfr_talk {
    int control;   /* -1: no sampler */
    pid_t owner;   /* whose descriptor that is */
    pid_t sampler; /* while control is not hung up */
    bool lost;     /* it has ended or refused: nothing is said to it any more */
    bool slow;     /* it did not answer in time: it is not waited for again */
    char step[48]; /* "4711.0", for messages */
};

/* Whether there is somebody to talk to. */
bool pfr_talk_goes_on(const struct pfr_talk *talk);

/* Never waits. What cannot be said is not said. */
void pfr_talk_tell(struct pfr_talk *talk, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Until it says `wanted`, at most so long, however much else it says. */
void pfr_talk_hear(struct pfr_talk *talk, const char *wanted, int timeout_ms);

/*
 * The last wait of a batch step, and the only one at its end. One that was late
 * at the start and has answered since is worth it.
 */
void pfr_talk_hear_brief(struct pfr_talk *talk);

/* One that was stopped goes on, and ends when we close. */
void pfr_talk_wake(struct pfr_talk *talk);

void pfr_talk_end(struct pfr_talk *talk);

#endif
