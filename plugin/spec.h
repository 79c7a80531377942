/*
 * The words of --profile-res=SPEC, of the environment and of plugstack.conf:
 * "key=value,key,..." into one structure, checked where the user can still be
 * told (R35).
 */
#ifndef PFR_PLUGIN_SPEC_H
#define PFR_PLUGIN_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFR_SPEC_SIZE 1024

struct pfr_spec {
    bool off;
    bool quiet;
    bool chart; /* a small chart below the lines at the end */
    bool no_cmd;
    bool pss; /* the costly measurement, beside those of metrics */
    unsigned mask; /* of the mode of files and directories */
    int64_t interval, window; /* nanoseconds */
    int64_t top;
    int64_t nodes;               /* on how many of the step's nodes; 0 = all */
    char metrics[PFR_SPEC_SIZE]; /* with '+'; "" = the default */
    char openmetrics[PFR_SPEC_SIZE]; /* absolute; "" = none */
    char dir[PFR_SPEC_SIZE];     /* may have %j %A %a %u %x; "" = beside the job's output */
};

/* What holds when nobody says otherwise. */
void pfr_spec_default(struct pfr_spec *spec);

/*
 * Puts the words of text over what is in spec. 0, or -EINVAL with a sentence
 * in error that says what is wrong and what was meant; spec is then as it was.
 */
int pfr_spec_parse(struct pfr_spec *spec, const char *text, char *error, size_t size);

/* What the sampler is to be told of metrics and pss; "" = the default. False: too long. */
bool pfr_spec_metrics(const struct pfr_spec *spec, char *text, size_t size);

#endif
