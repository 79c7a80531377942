/*
 * A step as slurmstepd walks it, or a call of srun, with the built plugin and a
 * sampler of the test's choice; and what that sampler has heard.
 */
#ifndef PFR_TESTS_WALK_H
#define PFR_TESTS_WALK_H

#include "tests/unit/fixture.h"
#include "tests/unit/host.h"

/* No hook may be felt; the bound is generous for a machine under load. */
#define BOUND_MS 2000

/* Each case has a directory of its own; in it a record, a script and a place for jobs. */
extern char case_dir[256], record[300], script[300], out[300];
extern char *words[8]; /* of plugstack.conf */
extern int word_count;

int set_up(void **state);
int tear_down(void **state);
#define WALK_CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

void put(const char *path, const char *text, mode_t mode);

/* Words of plugstack.conf: any, a sampler, one that does as it is told, a profres. */
void site(const char *word);
void use_sampler(const char *path);
void use_fake(const char *mode);
void use_profres(const char *body);

/* What the sampler wrote; "" when it never ran. */
const char *recorded(void);
void await_line(const char *line);
void assert_no_line(const char *line);

/* In slurmstepd nothing is ever fatal. */
void hook(const char *name);
void begin(const char *option);
void fork_tasks(void);
void end_tasks(void);
void walk(const char *option); /* all of these */
void walk_srun(const char *option);

#endif
