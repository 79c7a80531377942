#include "common/record/brief.h"

#include <string.h>

void pfr_size_text(double bytes, char text[static PFR_SIZE_TEXT])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    int unit = 0;

    while (bytes >= 1024 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, PFR_SIZE_TEXT, unit == 0 ? "%.0f %s" : bytes < 10 ? "%.2f %s" : "%.1f %s",
             bytes, units[unit]);
}

/* The number at measurements.KEY.FIELD; false when it was not measured. */
static bool measured(struct json_object *summary, const char *key, const char *field,
                     double *value)
{
    struct json_object *number =
        pfr_json_get(pfr_json_get(pfr_json_get(summary, "measurements"), key), field);

    if (!number)
        return false;
    *value = json_object_get_double(number);
    return true;
}

static double number_at(struct json_object *object, const char *key)
{
    return json_object_get_double(pfr_json_get(object, key));
}

/* 3723.4 as 1:02:03, 62.5 as 1:02, 12.34 as 12.34 s */
static void duration_text(double seconds, char text[static 32])
{
    long whole = (long)seconds;

    if (seconds < 60)
        snprintf(text, 32, "%.2f s", seconds);
    else if (whole < 3600)
        snprintf(text, 32, "%ld:%02ld min", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%ld:%02ld:%02ld h", whole / 3600, whole / 60 % 60, whole % 60);
}

bool pfr_summary_is_complete(struct json_object *summary)
{
    const char *state = json_object_get_string(pfr_json_get(summary, "state"));

    return state && strcmp(state, "COMPLETE") == 0;
}

/* The first task that did not end well, else any. */
static struct json_object *telling_task(struct json_object *summary)
{
    struct json_object *tasks = pfr_json_get(summary, "tasks");
    size_t count = tasks ? json_object_array_length(tasks) : 0;

    for (size_t i = 0; i < count; i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        if (pfr_json_get(task, "signal") || number_at(task, "exit") > 0)
            return task;
    }
    return count ? json_object_array_get_idx(tasks, 0) : NULL;
}

static void print_end(FILE *out, struct json_object *summary)
{
    struct json_object *tasks = pfr_json_get(summary, "tasks");
    struct json_object *task = telling_task(summary);
    bool ended = pfr_json_get(task, "exit") || pfr_json_get(task, "signal");
    char text[32];

    if (!pfr_json_get(summary, "elapsed_seconds"))
        return;
    duration_text(number_at(summary, "elapsed_seconds"), text);
    fprintf(out, "  elapsed     %s", text);
    if (!pfr_summary_is_complete(summary) && !ended) {
        fputs(" when this was written\n", out);
        return;
    }
    if (tasks && json_object_array_length(tasks) > 1 &&
        (pfr_json_get(task, "signal") || number_at(task, "exit") > 0))
        fprintf(out, ", rank %d:", (int)number_at(task, "rank"));
    else
        fputs(ended ? "," : "", out);
    if (pfr_json_get(task, "exit"))
        fprintf(out, " exit %d", (int)number_at(task, "exit"));
    if (pfr_json_get(task, "signal"))
        fprintf(out, " killed by signal %d (%s)", (int)number_at(task, "signal"),
                strsignal((int)number_at(task, "signal")));
    fputc('\n', out);
}

/* " (12 % of 2.0 GiB allocated)", when Slurm gave any; never clamped. */
static void print_share(FILE *out, struct json_object *summary, double bytes)
{
    struct json_object *given =
        pfr_json_get(pfr_json_get(pfr_json_get(summary, "info"), "allocation"), "step_mem_bytes");
    double allocated = json_object_get_double(given);
    char text[PFR_SIZE_TEXT];

    if (allocated <= 0)
        return;
    pfr_size_text(allocated, text);
    fprintf(out, " (%.0f %% of %s allocated)", 100 * bytes / allocated, text);
}

/*
 * The order of preference (R31): the kernel's peak, then what cannot be
 * dropped; the sum over processes only when there is no cgroup, and said so.
 */
static void print_memory(FILE *out, struct json_object *summary)
{
    char text[PFR_SIZE_TEXT];
    double value;
    const char *separator = "";
    bool charged = true;

    fputs("  memory      ", out);
    if (measured(summary, "cgroup_mem_peak", "max", &value)) {
        pfr_size_text(value, text);
        fprintf(out, "%s charged at peak", text);
        print_share(out, summary, value);
    } else if (measured(summary, "cgroup_mem_sampled_peak", "max", &value)) {
        pfr_size_text(value, text);
        fprintf(out, "%s charged at most when sampled", text);
    } else {
        charged = false;
    }
    if (charged)
        separator = ", ";
    if (measured(summary, "cgroup_mem_nonreclaimable", "max", &value)) {
        pfr_size_text(value, text);
        fprintf(out, "%s%s of it not reclaimable (sampled)", separator, text);
        separator = ", ";
    }
    if (!charged && measured(summary, "ps_rss_total", "max", &value)) {
        pfr_size_text(value, text);
        fprintf(out, "%s summed over processes (sampled; shared pages repeat; no cgroup)", text);
        separator = ", ";
    }
    if (!pfr_json_get(pfr_json_get(summary, "info"), "allocation") &&
        measured(summary, "cgroup_mem_limit", "last", &value)) {
        pfr_size_text(value, text);
        fprintf(out, "%slimit %s", separator, text);
        separator = ", ";
    }
    fputs(*separator ? "\n" : "not measured\n", out);
}

static void print_cpu(FILE *out, struct json_object *summary)
{
    double value, seconds = 0;
    bool cgroup = measured(summary, "cgroup_cpu_seconds", "total", &seconds);
    const char *rate = cgroup ? "cgroup_pdcpu" : "ps_pdcpu_total";

    if (!cgroup && !measured(summary, "rusage_cpu_seconds", "max", &seconds) &&
        !measured(summary, "ps_cpu_seconds_total", "total", &seconds))
        return;
    fprintf(out, "  CPU         %.2f s", seconds);
    if (pfr_summary_is_complete(summary) && number_at(summary, "elapsed_seconds") > 0)
        fprintf(out, ": %.2f cores mean", seconds / number_at(summary, "elapsed_seconds"));
    if (measured(summary, rate, "p95", &value))
        fprintf(out, ", %.2f p95", value / 100);
    if (measured(summary, rate, "max", &value))
        fprintf(out, ", %.2f max", value / 100);
    value = number_at(pfr_json_get(pfr_json_get(summary, "info"), "allocation"), "job_cpus");
    if (value > 0)
        fprintf(out, ", of %.0f allocated", value);
    else if ((value = number_at(pfr_json_get(summary, "info"), "node_cpus")) > 0)
        fprintf(out, ", of %.0f on the node", value);
    fputc('\n', out);
}

/* Storage by the kernel's block accounting, else by the processes seen. */
static void print_io(FILE *out, struct json_object *summary)
{
    char read_text[PFR_SIZE_TEXT], write_text[PFR_SIZE_TEXT];
    double read = 0, written = 0;
    bool cgroup = measured(summary, "cgroup_io_read_bytes", "total", &read) &&
                  measured(summary, "cgroup_io_write_bytes", "total", &written);

    if (!cgroup && !(measured(summary, "proc_io_read_bytes_total", "total", &read) &&
                     measured(summary, "proc_io_write_bytes_total", "total", &written)))
        return;
    pfr_size_text(read, read_text);
    pfr_size_text(written, write_text);
    fprintf(out, "  storage     %s read, %s written%s\n", read_text, write_text,
            cgroup ? "" : " (by processes seen)");
}

static void print_processes(FILE *out, struct json_object *summary)
{
    double most, rest, total, seen = number_at(pfr_json_get(summary, "processes"), "seen");

    if (seen <= 0)
        return;
    fprintf(out, "  processes   %.0f seen", seen);
    if (measured(summary, "proc_count", "max", &most))
        fprintf(out, ", %.0f at once", most);
    if (measured(summary, "cgroup_cpu_unattributed_seconds", "total", &rest) &&
        measured(summary, "cgroup_cpu_seconds", "total", &total) && rest > 0.05 * total &&
        rest > 0.05)
        fprintf(out, "; %.2f s of CPU between their samples", rest);
    fputc('\n', out);
}

/* Loud where it matters: an OOM kill, a profile that is not whole (R68). */
static void print_trouble(FILE *out, struct json_object *summary)
{
    const char *state = json_object_get_string(pfr_json_get(summary, "state"));
    double value;

    if (measured(summary, "cgroup_oom_kills", "total", &value) && value > 0)
        fprintf(out, "  OOM         %.0f process%s killed: the memory limit was too low\n", value,
                value == 1 ? "" : "es");
    if (!pfr_summary_is_complete(summary))
        fprintf(out,
                "  INCOMPLETE  the profiler has not finished (state %s); this is what it had\n",
                state ? state : "unknown");
    else if (number_at(summary, "n_pending") > 0)
        fprintf(out, "  pending     %.0f process%s still running\n",
                number_at(summary, "n_pending"),
                number_at(summary, "n_pending") == 1 ? " of the command is"
                                                     : "es of the command are");
}

void pfr_brief_print(FILE *out, struct json_object *summary, const char *files)
{
    struct json_object *info = pfr_json_get(summary, "info");
    struct json_object *sampler = pfr_json_get(summary, "sampler");

    fprintf(out, "profres: %s", json_object_get_string(pfr_json_get(info, "job")));
    if (pfr_json_get(info, "allocation"))
        fprintf(out, ".%s", json_object_get_string(pfr_json_get(info, "step")));
    if (pfr_json_get(summary, "merged_nodes"))
        fprintf(out, " on %.0f nodes, memory of %s", number_at(summary, "merged_nodes"),
                json_object_get_string(pfr_json_get(info, "node")));
    fputc('\n', out);
    print_end(out, summary);
    print_memory(out, summary);
    print_cpu(out, summary);
    print_io(out, summary);
    print_processes(out, summary);
    print_trouble(out, summary);
    if (pfr_json_get(summary, "num_samples"))
        fprintf(out, "  samples     %.0f; the profiler used %.3f s of CPU\n",
            number_at(summary, "num_samples"), number_at(sampler, "cpu_seconds"));
    if (files)
        fprintf(out, "  files       %s\n", files);
}
