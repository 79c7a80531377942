/*
 * profile_res.so: srun, sbatch and salloc learn --profile-res; slurmstepd
 * starts a sampler beside each step that asked for it. This file only sorts
 * calls by context. In slurmstepd nothing is fatal: every hook returns 0.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/spank.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mark.h"
#include "common/base/parse.h"
#include "common/base/safe.h"
#include "plugin/plugin.h"
#include "plugin/talk.h"

#define EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(default)
SPANK_PLUGIN(profile_res, 1)
#pragma GCC visibility pop

static struct pfr_choice choice;

#define MOST_LINES 16

static void log_to_slurm(enum pfr_log_level level, const char *text, void *arg)
{
    static int lines; /* of a step: the first is in slurmd's log, too (F8) */

    (void)arg;
    if (level == PFR_LOG_INFO)
        slurm_verbose("profile-res: %s", text);
    else if (spank_context() != S_CTX_REMOTE || lines++ == 0)
        slurm_spank_log("profile-res: %s", text);
    else if (lines <= MOST_LINES)
        pfr_talk_to_user("profile-res: ", text);
}

/* ---- plugstack.conf ---- */

static bool take_path(char *to, size_t size, const char *value)
{
    return value[0] == '/' && (size_t)snprintf(to, size, "%s", value) < size;
}

static bool take_budget(const char *value)
{
    int64_t percent;

    if (!pfr_parse_int(value, &percent) || percent < 1 || percent > 100)
        return false;
    choice.budget = (int)percent;
    return true;
}

static bool take_patience(const char *value)
{
    int64_t ns;

    if (!pfr_parse_duration(value, &ns) || ns < 1000000 || ns > PFR_PATIENCE_MAX_MS * 1000000LL)
        return false;
    choice.patience_ms = (int)(ns / 1000000);
    return true;
}

/* Words of the site's own; all others are those of SPEC, as defaults. */
static bool take_site_word(const char *word)
{
    if (strcmp(word, "default=on") == 0 || strcmp(word, "on") == 0)
        return choice.wanted = true;
    if (strcmp(word, "default=quiet") == 0)
        return choice.wanted = choice.quiet_unasked = true;
    if (strcmp(word, "default=off") == 0 || strcmp(word, "off") == 0)
        return !(choice.wanted = false);
    if (strncmp(word, "min_interval=", 13) == 0)
        return pfr_parse_duration(word + 13, &choice.least_interval);
    if (strncmp(word, "patience=", 9) == 0)
        return take_patience(word + 9);
    if (strncmp(word, "budget=", 7) == 0)
        return take_budget(word + 7);
    if (strncmp(word, "sampler=", 8) == 0)
        return take_path(choice.sampler, sizeof(choice.sampler), word + 8);
    if (strncmp(word, "profres=", 8) == 0)
        return take_path(choice.profres, sizeof(choice.profres), word + 8);
    return false;
}

static void take_site_words(int ac, char **av)
{
    char error[512];

    pfr_spec_default(&choice.spec);
    choice.wanted = choice.given = choice.asked = choice.quiet_unasked = false;
    choice.least_interval = PFR_LEAST_INTERVAL;
    choice.patience_ms = PFR_PATIENCE_MS;
    choice.budget = 1;
    snprintf(choice.sampler, sizeof(choice.sampler), "%s/profres-sampler", PFR_LIBEXECDIR);
    snprintf(choice.profres, sizeof(choice.profres), "%s/profres", PFR_BINDIR);
    for (int i = 0; i < ac; i++)
        if (!take_site_word(av[i]) && pfr_spec_parse(&choice.spec, av[i], error, sizeof(error)) < 0)
            slurm_error("profile-res: plugstack.conf: %s; going on without it", error);
}

/* ---- the option ---- */

/* Of an optional argument that was not given, Slurm makes NULL, "" or "(null)". */
static const char *given_text(const char *optarg)
{
    return !optarg || strcmp(optarg, "(null)") == 0 ? "" : optarg;
}

/*
 * In a client the user is told and nothing is submitted. What a hook returns
 * does not do: an optional plugin's is not looked at, and srun makes 255 of an
 * option's.
 */
static int refuse(const char *where, const char *error, bool remote)
{
    char safe[1024];

    slurm_error("%s: %s", where, pfr_safe_message(error, safe, sizeof(safe)));
    if (!remote)
        exit(EXIT_FAILURE);
    return 0;
}

static int on_option(int val, const char *optarg, int remote)
{
    char error[1024];

    (void)val;
    if (pfr_spec_parse(&choice.spec, given_text(optarg), error, sizeof(error)) < 0)
        return refuse("--profile-res", error, remote != 0);
    choice.given = choice.asked = choice.wanted = true;
    return 0;
}

/* The command line comes before the environment, that before the site. */
static void take_environment(const char *name, const char *value, bool remote)
{
    char error[1024];

    if (choice.given || !value || !*value)
        return;
    if (pfr_spec_parse(&choice.spec, value, error, sizeof(error)) < 0)
        refuse(name, error, remote);
    else
        choice.asked = choice.wanted = true;
}

static const char *environment_name(spank_context_t context)
{
    if (context != S_CTX_ALLOCATOR)
        return "SLURM_PROFILE_RES";
    /* Slurm does not say which of the two this is */
    return strcmp(program_invocation_short_name, "salloc") == 0 ? "SALLOC_PROFILE_RES"
                                                                : "SBATCH_PROFILE_RES";
}

/* What was said to sbatch or salloc holds for the steps inside, too. */
static void take_local_environment(spank_context_t context)
{
    const char *name = environment_name(context), *value = getenv(name);

    if (context == S_CTX_ALLOCATOR && value && !choice.given)
        setenv("SLURM_PROFILE_RES", value, 1);
    take_environment(name, value, false);
}

static void settle_choice(void)
{
    if (choice.spec.off)
        choice.wanted = false;
    if (choice.quiet_unasked && !choice.asked)
        choice.spec.quiet = true;
    if (choice.spec.interval < choice.least_interval)
        choice.spec.interval = choice.least_interval;
}

/* ---- listed twice ---- */

/*
 * Slurm loads a path only once. The same file under another path is loaded again, with
 * these variables, and its hooks are called so many times in a row; another copy of it
 * has variables of its own, and learns from its option that it is not the first (H6).
 */
static int listed;
static bool not_first;

static bool is_repeated(int *calls)
{
    return not_first || (*calls)++ % listed != 0;
}

/* At the start of a hook: a repetition does nothing. */
#define ONLY_ONCE                  \
    static int calls;              \
    do {                           \
        if (is_repeated(&calls))   \
            return 0;              \
    } while (0)

/* ---- hooks ---- */

static int64_t hooks_ns; /* what the hooks of a step have taken until now */

static void add_time(const int64_t *begin)
{
    hooks_ns += pfr_clock_ns(CLOCK_MONOTONIC) - *begin;
}

/* At the start of a hook: the time until its end is counted. */
#define COUNT_TIME \
    __attribute__((cleanup(add_time), unused)) const int64_t begin = pfr_clock_ns(CLOCK_MONOTONIC)

EXPORT int slurm_spank_init(spank_t sp, int ac, char **av)
{
    static struct spank_option option = {
        .name = (char *)"profile-res",
        .arginfo = (char *)"[SPEC]",
        .usage = (char *)"measure memory, CPU and I/O of each step; SPEC is interval=TIME,"
                         "window=TIME,metrics=KEY+KEY,dir=PATH,top=N,nodes=all|first|N,pss,"
                         "openmetrics=PATH,cmd=off,quiet,off (see profile_res(8))",
        .has_arg = 2,
        .cb = on_option,
    };
    spank_context_t context = spank_context();

    if (listed++ > 0)
        return 0;
    pfr_log_set(log_to_slurm, NULL);
    take_site_words(ac, av);
    if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE)
        not_first = spank_option_register(sp, &option) != ESPANK_SUCCESS;
    return 0;
}

EXPORT int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
    ONLY_ONCE;
    COUNT_TIME;
    spank_context_t context = spank_context();
    char value[PFR_SPEC_SIZE + 1] = ""; /* so that one that is too long is seen to be */

    (void)ac;
    (void)av;
    if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR) {
        take_local_environment(context);
        settle_choice();
        if (choice.wanted)
            pfr_client_begin(&choice);
    } else if (context == S_CTX_REMOTE) {
        spank_getenv(sp, "SLURM_PROFILE_RES", value, sizeof(value));
        take_environment("SLURM_PROFILE_RES", value, true);
        settle_choice();
        pfr_step_begin(sp, &choice);
    }
    return 0;
}

EXPORT int slurm_spank_local_user_init(spank_t sp, int ac, char **av)
{
    ONLY_ONCE;
    (void)ac;
    (void)av;
    if (choice.wanted)
        pfr_client_launched(sp);
    return 0;
}

EXPORT int slurm_spank_user_init(spank_t sp, int ac, char **av)
{
    ONLY_ONCE;
    COUNT_TIME;
    (void)ac;
    (void)av;
    spank_unsetenv(sp, PFR_MARK_VARIABLE); /* of the step around this one */
    if (choice.wanted)
        pfr_step_user(sp, &choice);
    return 0;
}

EXPORT int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
    ONLY_ONCE;
    COUNT_TIME;
    (void)ac;
    (void)av;
    if (choice.wanted)
        pfr_step_child(sp, &choice);
    return 0;
}

EXPORT int slurm_spank_task_post_fork(spank_t sp, int ac, char **av)
{
    ONLY_ONCE;
    COUNT_TIME;
    (void)ac;
    (void)av;
    if (choice.wanted)
        pfr_step_task(sp, &choice);
    return 0;
}

EXPORT int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
    ONLY_ONCE;
    COUNT_TIME;
    (void)ac;
    (void)av;
    if (choice.wanted)
        pfr_step_task_exit(sp, &choice);
    return 0;
}

EXPORT int slurm_spank_exit(spank_t sp, int ac, char **av)
{
    ONLY_ONCE;
    spank_context_t context = spank_context();

    (void)sp;
    (void)ac;
    (void)av;
    if (context == S_CTX_REMOTE) {
        pfr_step_end();
        if (choice.wanted)
            pfr_info("the hooks of this step took %lld us", (long long)hooks_ns / 1000);
    } else if (context == S_CTX_LOCAL && choice.wanted) {
        pfr_client_end(&choice);
    }
    return 0;
}
