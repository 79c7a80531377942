#include "tests/unit/top_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"

static char base[64];

void top_files_begin(void)
{
    snprintf(base, sizeof(base), "%s/profres-top.XXXXXX", "/tmp");
    assert_non_null(mkdtemp(base));
    assert_int_equal(chdir(base), 0);
}

void top_files_end(void)
{
    char command[128];

    assert_int_equal(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -rf '%s'", base);
    assert_int_equal(system(command), 0);
}

static void write_to(const char *path, const char *mode, const char *text)
{
    FILE *file;

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        char part[256];

        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        mkdir(part, 0777);
    }
    file = fopen(path, mode); /* lint: cloexec: nothing is executed here */
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

void top_files_replace(const char *path, const char *text)
{
    char temporary[300];

    snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    write_to(temporary, "we", text);
    assert_int_equal(rename(temporary, path), 0);
}

void top_files_append(const char *path, const char *text)
{
    write_to(path, "ae", text);
}

static void add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static const struct top_summary *complete(const struct top_summary *given)
{
    static struct top_summary all;

    all = *given;
    all.state = given->state ? given->state : "LIVE";
    all.schema = given->schema ? given->schema : "profres-summary/2.0";
    all.node = given->node ? given->node : "n1";
    all.command = given->command ? given->command : "./app";
    all.at = given->at ? given->at : 10;
    all.memory = given->memory ? given->memory : 1 << 20;
    all.limit = given->limit ? given->limit : 4 << 20;
    all.cpus = given->cpus ? given->cpus : 4;
    all.nodes = given->nodes ? given->nodes : 1;
    all.task_cpu = given->task_cpu > 0 ? given->task_cpu : 1;
    all.more = given->more ? given->more : "";
    return &all;
}

void top_files_summary(const char *dir, const struct top_summary *given)
{
    const struct top_summary *summary = complete(given);
    char text[4096] = "", path[300], ts[PFR_STAMP_SIZE], start[PFR_STAMP_SIZE];

    pfr_clock_format(TOP_START + summary->at * TOP_S, ts);
    pfr_clock_format(TOP_START + summary->start * TOP_S, start);
    add(text, sizeof(text),
        "{\"schema\":\"%s\",\"state\":\"%s\",\"n_pending\":1,\"ts\":\"%s\","
        "\"elapsed_seconds\":%lld,\"info\":{\"job\":\"4711\",\"step\":\"0\",\"node\":\"%s\","
        "\"start\":\"%s\",\"command\":[\"%s\"],\"window_seconds\":10,\"interval_seconds\":1,"
        "\"node_cpus\":8,\"node_mem_total\":1073741824,\"allocation\":{\"job_id\":4711,",
        summary->schema, summary->state, ts, (long long)(summary->at - summary->start),
        summary->node, start, summary->command);
    if (summary->limit >= 0)
        add(text, sizeof(text), "\"step_mem_bytes\":%lld,", (long long)summary->limit);
    if (summary->cpus >= 0)
        add(text, sizeof(text), "\"job_cpus\":%lld,", (long long)summary->cpus);
    add(text, sizeof(text), "\"nodes\":%lld}},\"measurements\":{", (long long)summary->nodes);
    if (summary->memory >= 0)
        add(text, sizeof(text),
            "\"cgroup_mem_current\":{\"last\":%lld,\"mean\":1,\"max\":%lld},"
            "\"cgroup_mem_peak\":{\"max\":%lld},",
            (long long)summary->memory, (long long)summary->memory,
            (long long)(summary->memory + 4096));
    add(text, sizeof(text),
        "\"proc_count\":{\"last\":2,\"max\":3}},\"tasks\":[{\"pid\":77,\"rank\":0,"
        "\"start_seconds\":0,\"cgroup_cpu_seconds\":%g,\"cgroup_mem_peak\":1048576}]%s}\n",
        summary->task_cpu, summary->more);
    snprintf(path, sizeof(path), "%s/%s.json", dir, summary->node);
    top_files_replace(path, text);
}

void top_files_header(const char *dir, const char *node, int64_t start, const char *schema)
{
    char text[2048] = "", path[300], ts[PFR_STAMP_SIZE];

    pfr_clock_format(TOP_START + start * TOP_S, ts);
    add(text, sizeof(text),
        "{\"type\":\"header\",\"ts\":\"%s\",\"schema\":\"%s\",\"info\":{\"start\":\"%s\"},"
        "\"metrics\":{\"cgroup_mem_current\":{},\"cgroup_pdcpu\":{},\"ps_rss_total\":{}},"
        "\"process_columns\":[\"pid\",\"start_ticks\",\"comm\",\"ps_rss\",\"ps_pdcpu\","
        "\"ps_stat\"]}\n",
        ts, schema, ts);
    snprintf(path, sizeof(path), "%s/%s.jsonl", dir, node);
    top_files_append(path, text);
}

void top_files_window(const char *dir, const char *node, int64_t start, int64_t to, double pdcpu,
                      int64_t memory, const char *comm)
{
    char text[2048] = "", path[300], ts[PFR_STAMP_SIZE];

    pfr_clock_format(TOP_START + (start + to) * TOP_S, ts);
    add(text, sizeof(text),
        "{\"type\":\"usage\",\"ts\":\"%s\",\"from\":%lld,\"to\":%lld,\"num_samples\":2,"
        "\"measurements\":{\"cgroup_mem_current\":%lld,\"cgroup_pdcpu\":%g,\"ps_pdcpu_total\":1,"
        "\"cgroup_io_read_bytes\":20480,\"cgroup_io_write_bytes\":0,"
        "\"proc_io_read_bytes_total\":10,\"proc_io_write_bytes_total\":40960,"
        "\"cgroup_psi_cpu_some_seconds\":2.5},"
        "\"samples\":{\"t\":[%lld,%lld],\"cgroup_mem_current\":[%lld,%lld],"
        "\"cgroup_pdcpu\":[null,%g]},\"process_count\":1,"
        "\"processes\":[[77,5,\"%s\",%lld,%g,{\"S\":1,\"R\":9}]]}\n",
        ts, (long long)(to - 10), (long long)to, (long long)memory, pdcpu, (long long)(to - 10),
        (long long)(to - 5), (long long)memory, (long long)memory, pdcpu, comm,
        (long long)memory, pdcpu);
    snprintf(path, sizeof(path), "%s/%s.jsonl", dir, node);
    top_files_append(path, text);
}
