/*
 * Runs all seeds through their targets, without a fuzzer: replay SEEDS. Each target
 * is a point of TAP. A target that aborts ends the program, which is a failure.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/cleanup.h"

static void replay_file(const struct pfr_fuzz *target, const char *path)
{
    PFR_AUTO_FILE *file = fopen(path, "re");
    PFR_AUTO_FREE uint8_t *data = malloc(1 << 20);
    size_t size = file && data ? fread(data, 1, 1 << 20, file) : 0;

    printf("# %s\n", path);
    fflush(stdout); /* the one that aborts is the last that was named */
    pfr_fuzz_one(target, data, size);
}

static int replay(const struct pfr_fuzz *target, const char *seeds)
{
    char path[PATH_MAX];
    PFR_AUTO_DIR *dir = NULL;
    struct dirent *entry;
    int count = 0;

    snprintf(path, sizeof(path), "%s/%s", seeds, target->name);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s/%s", seeds, target->name, entry->d_name);
        replay_file(target, path);
        count++;
    }
    return count;
}

int main(int argc, char **argv)
{
    const char *seeds = argc > 1 ? argv[1] : FUZZ_SEEDS;
    int failures = 0, number = 0;

    for (const struct pfr_fuzz *target = pfr_fuzz_targets; target->name; target++) {
        int count = replay(target, seeds);

        printf("%s %d - %s: %d seeds\n", count > 0 ? "ok" : "not ok", ++number, target->name,
               count);
        failures += count == 0;
    }
    printf("1..%d\n", number);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
