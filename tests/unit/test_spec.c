/* The words of --profile-res (R34, R35) and where the files of a job go. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugin/place.h"
#include "plugin/spec.h"

struct bench {
    struct pfr_spec spec;
    char error[1024];
    struct pfr_job job;
    char path[4096];
};

static int open_bench(void **state)
{
    static struct bench bench;

    memset(&bench, 0, sizeof(bench));
    pfr_spec_default(&bench.spec);
    bench.job = (struct pfr_job){ .job = 4711,
                                  .step = 0,
                                  .array_job = 4711,
                                  .array_task = PFR_NO_ARRAY,
                                  .user = "ann",
                                  .name = "fit" };
    *state = &bench;
    return 0;
}

static void parse(struct bench *bench, const char *text)
{
    if (pfr_spec_parse(&bench->spec, text, bench->error, sizeof(bench->error)) < 0)
        fail_msg("'%s' is refused: %s", text, bench->error);
}

/* Refused with these words in the message, and nothing has changed. */
static void assert_refused(struct bench *bench, const char *text, const char *wrong,
                           const char *meant)
{
    struct pfr_spec before = bench->spec;

    bench->error[0] = '\0';
    assert_int_equal(pfr_spec_parse(&bench->spec, text, bench->error, sizeof(bench->error)),
                     -EINVAL);
    if (!strstr(bench->error, wrong) || !strstr(bench->error, meant))
        fail_msg("'%s' gives '%s', which does not say '%s' and '%s'", text, bench->error, wrong,
                 meant);
    assert_memory_equal(&before, &bench->spec, sizeof(before));
}

/* ---- words ---- */

static void defaults(void **state)
{
    struct bench *bench = *state;

    parse(bench, "");
    assert_int_equal(bench->spec.interval, 1000 * MS);
    assert_int_equal(bench->spec.window, 10000 * MS);
    assert_int_equal(bench->spec.top, 16);
    assert_int_equal(bench->spec.nodes, 0);
    assert_false(bench->spec.off);
    assert_false(bench->spec.quiet);
    assert_false(bench->spec.no_cmd);
    assert_string_equal(bench->spec.metrics, "");
    assert_string_equal(bench->spec.dir, "");
}

static void every_word(void **state)
{
    struct bench *bench = *state;

    parse(bench, "interval=250ms,window=1m,metrics=ps_rss+cgroup_mem_*,dir=/s/%u/%j,top=3,nodes=2,"
                 "openmetrics=/m/x.prom,cmd=off,quiet,off");
    assert_int_equal(bench->spec.interval, 250 * MS);
    assert_int_equal(bench->spec.window, 60000 * MS);
    assert_string_equal(bench->spec.metrics, "ps_rss+cgroup_mem_*");
    assert_string_equal(bench->spec.dir, "/s/%u/%j");
    assert_string_equal(bench->spec.openmetrics, "/m/x.prom");
    assert_int_equal(bench->spec.top, 3);
    assert_int_equal(bench->spec.nodes, 2);
    assert_true(bench->spec.no_cmd);
    assert_true(bench->spec.quiet);
    assert_true(bench->spec.off);
}

static void every_word_has_its_opposite(void **state)
{
    struct bench *bench = *state;

    parse(bench, "cmd=off,quiet,off,nodes=first,openmetrics=/m");
    parse(bench, "cmd=on,chart,on,nodes=all,openmetrics=off");
    assert_string_equal(bench->spec.openmetrics, "");
    assert_false(bench->spec.no_cmd);
    assert_false(bench->spec.quiet);
    assert_true(bench->spec.chart);
    parse(bench, "summary");
    assert_false(bench->spec.chart);
    assert_false(bench->spec.quiet);
    assert_false(bench->spec.off);
    assert_int_equal(bench->spec.nodes, 0);
}

/* Two commas are a slip of the finger, not a reason to refuse a job. */
static void empty_words_are_passed_over(void **state)
{
    struct bench *bench = *state;

    parse(bench, ",,top=2,,quiet,");
    assert_int_equal(bench->spec.top, 2);
    assert_true(bench->spec.quiet);
}

static void times_at_their_limits(void **state)
{
    struct bench *bench = *state;

    parse(bench, "interval=10ms,window=100ms");
    assert_int_equal(bench->spec.interval, 10 * MS);
    assert_int_equal(bench->spec.window, 100 * MS);
    parse(bench, "interval=24h,window=24h");
    assert_int_equal(bench->spec.interval, 86400000 * MS);
    assert_refused(bench, "interval=9ms", "'interval=9ms' cannot be used", "from 10 ms to 24 h");
    assert_refused(bench, "interval=25h", "'interval=25h' cannot be used", "from 10 ms to 24 h");
    assert_refused(bench, "window=99ms", "'window=99ms' cannot be used", "from 100 ms to 24 h");
    assert_refused(bench, "interval=-1", "'interval=-1'", "interval=500ms");
    assert_refused(bench, "interval=1x", "'interval=1x'", "interval=500ms");
}

static void wrong_values(void **state)
{
    struct bench *bench = *state;

    assert_refused(bench, "top=1025", "'top=1025' cannot be used", "at most 1024");
    assert_refused(bench, "top=some", "'top=some'", "top=16");
    assert_refused(bench, "nodes=0", "'nodes=0' cannot be used", "nodes=first");
    assert_refused(bench, "nodes=last", "'nodes=last'", "nodes=4");
    assert_refused(bench, "cmd=no", "'cmd=no' cannot be used", "cmd=off");
    assert_refused(bench, "dir=", "'dir=' cannot be used", "dir=/scratch/%u/%j");
    assert_refused(bench, "metrics=", "'metrics=' cannot be used", "metrics=cgroup_*+ps_rss");
}

/* A value too many or too few is told by what it should look like. */
static void values_where_they_belong(void **state)
{
    struct bench *bench = *state;

    assert_refused(bench, "interval", "'interval' cannot be used", "interval=0.5");
    assert_refused(bench, "openmetrics=metrics.prom", "cannot be used", "openmetrics=/absolute");
    assert_refused(bench, "openmetrics", "cannot be used", "openmetrics=/absolute");
    assert_refused(bench, "quiet=yes", "'quiet=yes' cannot be used", "write quiet");
    assert_refused(bench, "off=", "'off=' cannot be used", "write off");
}

static void wrong_words_list_the_right_ones(void **state)
{
    struct bench *bench = *state;

    assert_refused(bench, "intervall=1", "'intervall=1' is not a word", "interval=, window=,");
    assert_refused(bench, "5", "'5' is not a word", "quiet, summary, chart, off, on");
    assert_refused(bench, "quiet,Top=3", "'Top=3' is not a word", "top=");
    assert_refused(bench, "Interval=1", "'Interval=1'", "nodes=, cmd=, mode=");
}

/* What comes later wins, and what is not said stays as the site has it. */
static void later_texts_go_over_earlier(void **state)
{
    struct bench *bench = *state;

    parse(bench, "interval=5s,dir=/site,top=4");
    parse(bench, "interval=2s,quiet");
    parse(bench, "interval=1s,interval=3s");
    assert_int_equal(bench->spec.interval, 3000 * MS);
    assert_string_equal(bench->spec.dir, "/site");
    assert_int_equal(bench->spec.top, 4);
    assert_true(bench->spec.quiet);
}

/* --profile-res of a step inside a job that said off is a yes. */
static void off_then_on(void **state)
{
    struct bench *bench = *state;

    parse(bench, "off");
    assert_true(bench->spec.off);
    parse(bench, "");
    assert_false(bench->spec.off);
    parse(bench, "off");
    parse(bench, "interval=2");
    assert_false(bench->spec.off);
    parse(bench, "interval=2,off");
    assert_true(bench->spec.off);
    parse(bench, "off,on");
    assert_false(bench->spec.off);
}

/* ---- measurements ---- */

static void metrics_are_checked(void **state)
{
    struct bench *bench = *state;

    parse(bench, "metrics=*");
    parse(bench, "metrics=cgroup_*+ps_rss+proc_pss");
    assert_refused(bench, "metrics=ps_rsss", "no measurement is called 'ps_rsss'", "ps_rss");
    assert_refused(bench, "metrics=ps_rss+gpu_*", "'gpu_*'", "'profres metrics' lists them all");
    assert_string_equal(bench->spec.metrics, "cgroup_*+ps_rss+proc_pss");
}

static void metrics_of(const struct bench *bench, char *text)
{
    assert_true(pfr_spec_metrics(&bench->spec, text, PFR_SPEC_SIZE));
}

/* The costly one has a word of its own, wherever it stands and however often. */
static void pss_is_beside_the_others(void **state)
{
    struct bench *bench = *state;
    char text[PFR_SPEC_SIZE];

    metrics_of(bench, text);
    assert_string_equal(text, "");
    parse(bench, "pss");
    metrics_of(bench, text);
    assert_string_equal(text, "*+proc_pss+proc_pss_total");
    parse(bench, "pss,metrics=ps_rss");
    metrics_of(bench, text);
    assert_string_equal(text, "ps_rss+proc_pss+proc_pss_total");
    for (int i = 0; i < 200; i++)
        parse(bench, "pss,pss");
    metrics_of(bench, text);
    assert_string_equal(text, "ps_rss+proc_pss+proc_pss_total");
}

static void nodes_by_number_and_word(void **state)
{
    struct bench *bench = *state;

    parse(bench, "nodes=first");
    assert_int_equal(bench->spec.nodes, 1);
    parse(bench, "nodes=128");
    assert_int_equal(bench->spec.nodes, 128);
    parse(bench, "nodes=all");
    assert_int_equal(bench->spec.nodes, 0);
}

static void too_long(void **state)
{
    struct bench *bench = *state;
    char text[3000] = "dir=/";

    memset(text + 5, 'd', PFR_SPEC_SIZE - 10);
    parse(bench, text); /* as long as it may be */
    memset(text + 5, 'd', 2000);
    assert_refused(bench, text, "longer than 1023 bytes", "dir=");
    text[0] = '\0';
    while (strlen(text) < PFR_SPEC_SIZE - 8)
        strcat(text, "quiet,");
    parse(bench, text);
    strcat(text, "quiet,quiet"); /* the environment would be cut, and so it is refused */
    assert_refused(bench, text, "longer than 1023 bytes", "shorten");
}

/* ---- places ---- */

static void assert_place(struct bench *bench, const char *base, const char *pattern,
                         const char *expected)
{
    bench->path[0] = '\0';
    assert_int_equal(pfr_place(&bench->job, base, pattern, bench->path, sizeof(bench->path)), 0);
    assert_string_equal(bench->path, expected);
}

static void assert_no_place(struct bench *bench, const char *base, const char *pattern, int error)
{
    assert_int_equal(pfr_place(&bench->job, base, pattern, bench->path, sizeof(bench->path)),
                     error);
}

static void steps_have_names(void **state)
{
    char name[32];

    (void)state;
    pfr_step_name(0, name, sizeof(name));
    assert_string_equal(name, "0");
    pfr_step_name(4294, name, sizeof(name));
    assert_string_equal(name, "4294");
    pfr_step_name(0xfffffffbu, name, sizeof(name));
    assert_string_equal(name, "batch");
    pfr_step_name(0xfffffffau, name, sizeof(name));
    assert_string_equal(name, "interactive");
    pfr_step_name(0xfffffffcu, name, sizeof(name));
    assert_string_equal(name, "extern");
}

static void beside_the_output(void **state)
{
    struct bench *bench = *state;

    assert_place(bench, "/home/ann", NULL, "/home/ann/slurm-4711.profres");
    assert_place(bench, "/home/ann", "", "/home/ann/slurm-4711.profres");
    assert_no_place(bench, "here", NULL, -EINVAL);
    assert_no_place(bench, NULL, NULL, -EINVAL);
    assert_no_place(bench, "", NULL, -EINVAL);
}

/* A second run must not write over the first one's files. */
static void requeued(void **state)
{
    struct bench *bench = *state;

    bench->job.restarts = 2;
    assert_place(bench, "/h", NULL, "/h/slurm-4711.r2.profres");
    bench->job.array_job = 4700;
    bench->job.array_task = 11;
    assert_place(bench, "/h", NULL, "/h/slurm-4700_11.r2.profres");
}

static void arrays(void **state)
{
    struct bench *bench = *state;

    bench->job.array_job = 4700;
    bench->job.array_task = 0;
    assert_place(bench, "/h", NULL, "/h/slurm-4700_0.profres");
    assert_place(bench, "/h", "%A/%a/%j", "/h/4700/0/4711");
    bench->job.array_task = PFR_NO_ARRAY;
    assert_place(bench, "/h", "%A/%a/%j", "/h/4711/0/4711");
}

static void patterns(void **state)
{
    struct bench *bench = *state;

    assert_place(bench, "/h", "/s/%u/%x-%j", "/s/ann/fit-4711");
    assert_place(bench, "/h", "prof/%j", "/h/prof/4711");
    assert_place(bench, "/h", "100%%", "/h/100%");
    assert_place(bench, "/h", "%%j%", "/h/%j%");
    assert_place(bench, "/h", "%z", "/h/%z"); /* as Slurm does with what it does not know */
    assert_no_place(bench, "h", "prof", -EINVAL);
    assert_place(bench, NULL, "/abs", "/abs");
    bench->job.user = bench->job.name = NULL;
    assert_place(bench, "/h", "%u.%x", "/h/user.job");
}

/* A job's name is its owner's to choose, but not a way to another directory. */
static void names_are_one_component(void **state)
{
    struct bench *bench = *state;

    bench->job.name = "a/b";
    assert_no_place(bench, "/h", "/s/%x", -EINVAL);
    bench->job.name = "..";
    assert_no_place(bench, "/h", "/s/%x", -EINVAL);
    bench->job.name = ".";
    assert_no_place(bench, "/h", "/s/%x", -EINVAL);
    bench->job.name = "a..b";
    assert_place(bench, "/h", "/s/%x", "/s/a..b");
    bench->job.user = "../root";
    assert_no_place(bench, "/h", "%u", -EINVAL);
    assert_place(bench, "/h", "%j", "/h/4711"); /* not asked for: no trouble */
}

static void places_too_long(void **state)
{
    struct bench *bench = *state;
    char name[600];

    memset(name, 'n', sizeof(name));
    name[599] = '\0';
    bench->job.name = name;
    assert_no_place(bench, "/h", "%x", -ENAMETOOLONG);
    assert_int_equal(pfr_place(&bench->job, "/home/ann", NULL, bench->path, 27), -ENAMETOOLONG);
    assert_int_equal(pfr_place(&bench->job, "/home/ann", NULL, bench->path, 29), 0);
    assert_int_equal(pfr_place(&bench->job, NULL, "/abs", bench->path, 4), -ENAMETOOLONG);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, open_bench)
    const struct CMUnitTest tests[] = {
        CASE(defaults),
        CASE(every_word),
        CASE(every_word_has_its_opposite),
        CASE(empty_words_are_passed_over),
        CASE(times_at_their_limits),
        CASE(wrong_values),
        CASE(values_where_they_belong),
        CASE(wrong_words_list_the_right_ones),
        CASE(later_texts_go_over_earlier),
        CASE(off_then_on),
        CASE(metrics_are_checked),
        CASE(pss_is_beside_the_others),
        CASE(nodes_by_number_and_word),
        CASE(too_long),
        CASE(steps_have_names),
        CASE(beside_the_output),
        CASE(requeued),
        CASE(arrays),
        CASE(patterns),
        CASE(names_are_one_component),
        CASE(places_too_long),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
