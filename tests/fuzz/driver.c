/* For libFuzzer: one program, whose target is in $PFR_FUZZ. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct pfr_fuzz *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("PFR_FUZZ");

    (void)argc, (void)argv;
    for (target = pfr_fuzz_targets; target->name; target++)
        if (name && strcmp(name, target->name) == 0)
            return 0;
    fputs("PFR_FUZZ is the name of a target\n", stderr);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pfr_fuzz_one(target, data, size);
    return 0;
}
