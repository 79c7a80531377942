/* Families of instances: windows, the run, and how they are written. */
#include "tests/unit/fixture.h"

#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/metric/command.h"
#include "common/record/instances.h"

#define S PFR_NS_PER_S

static struct {
    struct pfr_selection selection;
    struct pfr_info info;
    struct pfr_instances instances;
} b;

static int open_bench(void **state)
{
    char error[256];

    (void)state;
    memset(&b, 0, sizeof(b));
    if (pfr_selection_parse(&b.selection, NULL, error, sizeof(error)) < 0)
        return 1;
    b.info.selection = &b.selection;
    b.info.top = 2;
    b.info.start = 1 * S;
    pfr_instances_init(&b.instances, &b.selection.collect);
    return 0;
}

static int close_bench(void **state)
{
    (void)state;
    pfr_instances_release(&b.instances);
    return 0;
}

static uint32_t add_task(const char *rank)
{
    return pfr_instance_add(&b.instances, PFR_SCOPE_TASK, rank, rank, 1 * S, true);
}

static void set(uint32_t slot, enum pfr_metric_id id, int64_t value, int64_t stamp)
{
    pfr_instance_set(&b.instances, slot, id, value, stamp);
}

static int64_t window_value(enum pfr_scope family, uint32_t slot, enum pfr_metric_id id)
{
    int64_t value = -1;

    pfr_instance_window(&b.instances.of[family].list[slot], id, &value);
    return value;
}

/* Metrics of a family are contiguous, and it has a name that no other has. */
static void families_are_whole(void **state)
{
    (void)state;
    for (int f = 0; f < PFR_SCOPE_COUNT; f++) {
        assert_int_equal(pfr_family_find(pfr_families[f].name), f);
        assert_non_null(pfr_families[f].title);
        assert_non_null(pfr_families[f].identity);
        PFR_EACH_METRIC(id)
            assert_int_equal(pfr_metrics[id].scope == (enum pfr_scope)f,
                             id >= pfr_families[f].first && id <= pfr_families[f].last);
    }
    assert_int_equal(pfr_family_find("tusk"), PFR_SCOPE_COUNT);
}

static void an_id_has_one_slot(void **state)
{
    (void)state;
    assert_int_equal(add_task("0"), 0);
    assert_int_equal(add_task("1"), 1);
    assert_int_equal(add_task("0"), 0);
    for (int i = 2; i < PFR_INSTANCES_MAX + 2; i++) {
        char rank[16];

        snprintf(rank, sizeof(rank), "%d", i);
        assert_int_equal(add_task(rank),
                         i < PFR_INSTANCES_MAX ? (uint32_t)i : PFR_SLOT_NONE);
    }
    assert_int_equal(b.instances.of[PFR_SCOPE_TASK].dropped, 2);
}

/* By the table: the growth of a counter, the largest of a level, a rate of the growth. */
static void windows_reduce_by_the_table(void **state)
{
    struct pfr_instance_run run;
    uint32_t task = add_task("0");

    (void)state;
    set(task, PFR_TASK_CPU_SECONDS, 1 * S, 2 * S); /* it is fresh: all of it counts */
    set(task, PFR_TASK_MEM_CURRENT, 700, 2 * S);
    set(task, PFR_TASK_CPU_SECONDS, 3 * S, 3 * S);
    set(task, PFR_TASK_MEM_CURRENT, 500, 3 * S);
    assert_int_equal(window_value(PFR_SCOPE_TASK, task, PFR_TASK_CPU_SECONDS), 3 * S);
    assert_int_equal(window_value(PFR_SCOPE_TASK, task, PFR_TASK_MEM_CURRENT), 700);
    assert_int_equal(window_value(PFR_SCOPE_TASK, task, PFR_TASK_PDCPU), 150000);
    pfr_instances_reopen(&b.instances);
    assert_int_equal(window_value(PFR_SCOPE_TASK, task, PFR_TASK_MEM_CURRENT), -1);
    set(task, PFR_TASK_CPU_SECONDS, 2 * S, 5 * S); /* a counter that falls has not grown */
    set(task, PFR_TASK_MEM_CURRENT, 600, 5 * S);
    assert_int_equal(window_value(PFR_SCOPE_TASK, task, PFR_TASK_CPU_SECONDS), 0);
    assert_int_equal(window_value(PFR_SCOPE_TASK, task, PFR_TASK_MEM_CURRENT), 600);
    assert_true(pfr_instance_so_far(b.instances.of[PFR_SCOPE_TASK].list, PFR_TASK_MEM_CURRENT,
                                    &run));
    assert_int_equal(run.max, 700);
    assert_int_equal(run.max_at, 2 * S);
    assert_int_equal(run.min, 500);
    assert_int_equal(run.mean, (500 + 2 * 600) / 3);
    assert_true(pfr_instance_so_far(b.instances.of[PFR_SCOPE_TASK].list, PFR_TASK_CPU_SECONDS,
                                    &run));
    assert_int_equal(run.total, 3 * S);
    assert_false(pfr_instance_so_far(b.instances.of[PFR_SCOPE_TASK].list, PFR_TASK_OOM_KILLS,
                                     &run));
}

static void what_is_not_wanted_is_not_kept(void **state)
{
    uint32_t task = add_task("0");

    (void)state;
    pfr_metric_set_remove(&b.selection.collect, PFR_TASK_MEM_CURRENT);
    set(task, PFR_TASK_MEM_CURRENT, 700, 2 * S);
    assert_int_equal(window_value(PFR_SCOPE_TASK, task, PFR_TASK_MEM_CURRENT), -1);
}

static struct pfr_command *command(struct pfr_commands *commands, const char *name, int64_t cpu,
                                   int64_t rss)
{
    struct pfr_command *found = &commands->list[pfr_commands_find(commands, name)];

    found->window.processes = 1;
    found->run.processes = 1;
    found->window.cpu = cpu;
    found->run.cpu += cpu;
    found->window.rss = found->window.largest = rss;
    return found;
}

/* One that does nothing for a while has no row, and no rate over that time later. */
static void commands_become_instances(void **state)
{
    struct pfr_commands commands;

    (void)state;
    assert_int_equal(pfr_commands_init(&commands), 0);
    command(&commands, "cc1", 2 * S, 100);
    pfr_commands_report(&commands, &b.instances, 1 * S, 11 * S);
    assert_int_equal(window_value(PFR_SCOPE_COMMAND, 0, PFR_COMMAND_CPU_SECONDS), 2 * S);
    assert_int_equal(window_value(PFR_SCOPE_COMMAND, 0, PFR_COMMAND_PDCPU), 20000);
    pfr_commands_end_window(&commands);
    pfr_instances_reopen(&b.instances);
    pfr_commands_report(&commands, &b.instances, 11 * S, 21 * S);
    assert_null(pfr_rows_json(&b.info, &b.instances));
    command(&commands, "cc1", 5 * S, 70);
    pfr_commands_report(&commands, &b.instances, 21 * S, 31 * S);
    assert_int_equal(window_value(PFR_SCOPE_COMMAND, 0, PFR_COMMAND_PDCPU), 50000);
    assert_int_equal(window_value(PFR_SCOPE_COMMAND, 0, PFR_COMMAND_RSS_LARGEST), 70);
    pfr_commands_release(&commands);
}

/* Those with most CPU time, then with most memory; tasks are all there. */
static void rows_are_the_largest(void **state)
{
    struct pfr_commands commands;
    PFR_AUTO_JSON *rows = NULL;
    char name[16];

    (void)state;
    assert_int_equal(pfr_commands_init(&commands), 0);
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        command(&commands, name, i == 7 ? S : 0, 100 * (i + 1));
        set(add_task(name), PFR_TASK_MEM_CURRENT, 10, 2 * S);
    }
    pfr_commands_report(&commands, &b.instances, 1 * S, 11 * S);
    rows = pfr_rows_json(&b.info, &b.instances);
    assert_int_equal(json_object_array_length(fixture_json(rows, "task")), 8);
    assert_int_equal(json_object_array_length(fixture_json(rows, "command")), 4);
    assert_json_int(rows, "command.0.0", 7);
    assert_json_int(rows, "command.1.0", 6);
    pfr_commands_release(&commands);
}

static void the_run_is_written_by_family(void **state)
{
    uint32_t task = add_task("3");
    PFR_AUTO_JSON *run = NULL;

    (void)state;
    set(task, PFR_TASK_MEM_CURRENT, 10, 2 * S);
    set(task, PFR_TASK_MEM_PEAK, 30, 2 * S);
    set(task, PFR_TASK_CPU_SECONDS, S / 2, 2 * S);
    pfr_instance_end(&b.instances, PFR_SCOPE_TASK, task, 4 * S);
    run = pfr_instances_json(&b.info, &b.instances);
    assert_json_text(run, "task.0.id", "3");
    assert_json_number(run, "task.0.from", "0");
    assert_json_number(run, "task.0.to", "3");
    assert_json_int(run, "task.0.measurements.task_mem_current.max", 10);
    assert_json_int(run, "task.0.measurements.task_mem_peak.max", 30);
    assert_json_absent(run, "task.0.measurements.task_mem_peak.min"); /* the kernel keeps it */
    assert_json_number(run, "task.0.measurements.task_cpu_seconds.total", "0.5");
    assert_json_number(run, "task.0.measurements.task_pdcpu.mean", "50");
    assert_json_absent(run, "task.0.measurements.task_oom_kills");
    assert_json_absent(run, "command");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        CASE(families_are_whole),
        CASE(an_id_has_one_slot),
        CASE(windows_reduce_by_the_table),
        CASE(what_is_not_wanted_is_not_kept),
        CASE(commands_become_instances),
        CASE(rows_are_the_largest),
        CASE(the_run_is_written_by_family),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
