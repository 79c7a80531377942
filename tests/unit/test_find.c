/* From what people type to the steps: names, lists, places, and their order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/profres/find.h"

static char base[] = "/tmp/profres-find.XXXXXX";

/* A file of a node, with the directories it needs. */
static void make(const char *path)
{
    char part[256];
    FILE *file;

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        mkdir(part, 0777);
    }
    file = fopen(path, "we");
    assert_non_null(file);
    fputs("{}\n", file);
    fclose(file);
}

/* "4711/0 4711_2/batch": what was found, in its order. */
static const char *found(const char *what, bool restarts)
{
    static char text[1024];
    struct pfr_finds finds = { .restarts = restarts };
    int r = pfr_find(&finds, what);

    text[0] = '\0';
    if (r < 0)
        snprintf(text, sizeof(text), "%s", strerror(-r));
    else
        assert_int_equal(r, finds.count);
    for (size_t i = 0; i < finds.count; i++) {
        const struct pfr_found *one = &finds.found[i];
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "", one->job);
        if (one->restart)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "r%d", one->restart);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "/%s%s%s", one->step,
                 one->node ? "@" : "", one->node ? one->node : "");
        assert_int_equal(access(one->dir, R_OK), 0);
    }
    pfr_finds_release(&finds);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(base) || chdir(base) < 0)
        return -1;
    make("slurm-7.profres/0/n1.json");
    make("slurm-7.profres/10/n1.json");
    make("slurm-7.profres/2/n1.jsonl");
    make("slurm-7.profres/batch/n1.json");
    make("slurm-8.profres/0/n1.lost.json");
    make("slurm-8.r1.profres/0/n1.json");
    make("slurm-8.r2.profres/0/n1.json");
    make("slurm-9_1.profres/0/n1.json");
    make("slurm-9_2.profres/0/n1.json");
    make("slurm-9_10.profres/0/n1.json");
    make("slurm-9_3.profres/0/.hidden.json");
    make("slurm-99.profres/0/n1.json");
    make("run-5.profres/0/laptop.json");
    make("far/slurm-77.profres/0/n1.json");
    make("far/slurm-77.profres/0/n10.json");
    make("far/slurm-77.profres/0/n2.json");
    make("far/slurm-77.profres/0/n2.jsonl");
    make("far/slurm-77.profres/0/n2.lost.json");
    make("other,place/deep/er/0/n1.json");
    make("bin/none");
    unsetenv("PROFRES_PATH");
    return setenv("PATH", "/nowhere", 1);
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    setenv("PATH", "/usr/bin:/bin", 1);
    snprintf(command, sizeof(command), "rm -rf %s", base);
    return chdir("/") < 0 || system(command);
}

static void test_jobs(void **state)
{
    (void)state;
    assert_string_equal(found("7", false), "7/batch 7/0 7/2 7/10");
    assert_string_equal(found("7.batch", false), "7/batch");
    assert_string_equal(found("7.2,9_1", false), "7/2 9_1/0");
    assert_string_equal(found("7.3", false), "");
    assert_string_equal(found("6+1.10", false), "7/10");
    assert_string_equal(found("run-5", false), "run-5/0");
    assert_string_equal(found("run-5.0", false), "run-5/0");
    assert_string_equal(found("1", false), "");
}

/* An array's number means its members; a member's own number is not guessed. */
static void test_arrays(void **state)
{
    (void)state;
    assert_string_equal(found("9", false), "9_1/0 9_2/0 9_10/0");
    assert_string_equal(found("9_10", false), "9_10/0");
    assert_string_equal(found("9_[2-10]", false), "9_2/0 9_10/0");
    assert_string_equal(found("9_[1,10].0,7.0", false), "9_1/0 9_10/0 7/0");
    assert_string_equal(found("9_[*]", false), "9_1/0 9_2/0 9_10/0");
    assert_string_equal(found("9_*", false), "9_1/0 9_2/0 9_10/0");
    assert_string_equal(found("9_[1-", false), strerror(EINVAL));
}

static void test_restarts(void **state)
{
    (void)state;
    assert_string_equal(found("8", false), "8r2/0");
    assert_string_equal(found("8", true), "8/0 8r1/0 8r2/0");
    assert_string_equal(found("slurm-8.r1.profres", false), "8r1/0");
}

static void test_paths(void **state)
{
    (void)state;
    assert_string_equal(found("slurm-7.profres/", false), "7/batch 7/0 7/2 7/10");
    assert_string_equal(found("./slurm-7.profres/2", false), "7/2");
    assert_string_equal(found("slurm-7.profres/2/n1.jsonl", false), "7/2@n1");
    assert_string_equal(found("slurm-8.profres/0/n1.lost.json", false), "8/0@n1");
    assert_string_equal(found("other,place", false), "er/0");
    assert_string_equal(found("bin", false), "");
    assert_string_equal(found("bin/none", false), "");
    assert_string_equal(found("nowhere/at/all", false), "");
    assert_string_equal(found("sevn", false), strerror(EINVAL));
    assert_int_equal(chdir("slurm-7.profres/2"), 0);
    assert_string_equal(found(".", false), "7/2");
    assert_string_equal(found("n1.jsonl", false), "7/2@n1");
    assert_string_equal(found("..", false), "7/batch 7/0 7/2 7/10");
    assert_int_equal(chdir(base), 0);
}

static void test_places(void **state)
{
    (void)state;
    assert_string_equal(found("77", false), "");
    setenv("PROFRES_PATH", "bin:far", 1);
    assert_string_equal(found("77", false), "77/0");
    unsetenv("PROFRES_PATH");
}

/* The words of scontrol and sacct, as 22.05 writes them; the real ones are in the lab. */
static void test_slurm_is_asked(void **state)
{
    FILE *file;

    (void)state;
    mkdir("tools", 0777);
    file = fopen("tools/scontrol", "we");
    fprintf(file, "#!/bin/sh\n[ \"$3\" = 77 ] && echo 'JobId=77 JobName=x\n   WorkDir=%s/far'\n",
            base);
    fclose(file);
    file = fopen("tools/sacct", "we");
    fprintf(file, "#!/bin/sh\n[ \"$3\" = 123 ] && echo '9_10|%s'\n", base);
    fclose(file);
    chmod("tools/scontrol", 0755);
    chmod("tools/sacct", 0755);
    setenv("PATH", "tools", 1);
    assert_string_equal(found("77", false), "77/0");
    assert_string_equal(found("123", false), "9_10/0");
    assert_string_equal(found("124", false), "");
    setenv("PATH", "/nowhere", 1);
}

static void test_nodes(void **state)
{
    struct pfr_finds finds = { 0 };
    char **nodes;

    (void)state;
    assert_int_equal(pfr_find(&finds, "far"), 1);
    nodes = pfr_found_nodes(&finds.found[0]);
    assert_string_equal(nodes[0], "n1");
    assert_string_equal(nodes[1], "n2");
    assert_string_equal(nodes[2], "n10");
    assert_null(nodes[3]);
    free(nodes);
    pfr_finds_release(&finds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),     cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_restarts), cmocka_unit_test(test_paths),
        cmocka_unit_test(test_places),   cmocka_unit_test(test_slurm_is_asked),
        cmocka_unit_test(test_nodes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
