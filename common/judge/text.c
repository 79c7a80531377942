#include "common/judge/text.h"

#include <stdio.h>
#include <string.h>

#include "common/judge/facts.h"

const char *pfr_size_text(int64_t bytes, char text[static PFR_TEXT_SIZE])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = (double)bytes;
    int unit = 0;

    if (!pfr_known(bytes))
        return "-";
    while (value >= 1024 && unit < 6) {
        value /= 1024;
        unit++;
    }
    snprintf(text, PFR_TEXT_SIZE, unit == 0 ? "%.0f %s" : value < 10 ? "%.2f %s" : "%.1f %s",
             value, units[unit]);
    return text;
}

const char *pfr_time_text(int64_t ns, char text[static PFR_TEXT_SIZE])
{
    double seconds = (double)ns / 1e9;
    int64_t whole = ns / 1000000000;

    if (!pfr_known(ns))
        return "-";
    if (whole < 60)
        snprintf(text, PFR_TEXT_SIZE, "%.2f s", seconds);
    else if (whole < 3600)
        snprintf(text, PFR_TEXT_SIZE, "%d:%02d min", (int)(whole / 60), (int)(whole % 60));
    else
        snprintf(text, PFR_TEXT_SIZE, "%lld:%02d:%02d h", (long long)(whole / 3600),
                 (int)(whole / 60 % 60), (int)(whole % 60));
    return text;
}

const char *pfr_cores_text(int64_t thousandths, char text[static PFR_TEXT_SIZE])
{
    if (!pfr_known(thousandths))
        return "-";
    snprintf(text, PFR_TEXT_SIZE, "%.2f", (double)thousandths / 1000);
    return text;
}

/* More than the blocks in which devices are read and written. */
static bool is_clearly_more(int64_t seen, int64_t charged)
{
    return seen > charged + charged / 10 + (INT64_C(1) << 20);
}

enum pfr_storage pfr_storage_source(const struct pfr_facts *facts)
{
    int64_t read = pfr_facts_value(facts, PFR_CGROUP_IO_READ_BYTES);
    int64_t written = pfr_facts_value(facts, PFR_CGROUP_IO_WRITE_BYTES);
    int64_t seen_read = pfr_facts_value(facts, PFR_PROC_IO_READ_BYTES_TOTAL);
    int64_t seen_written = pfr_facts_value(facts, PFR_PROC_IO_WRITE_BYTES_TOTAL);
    bool seen = pfr_known(seen_read) && pfr_known(seen_written);

    if (!pfr_known(read) || !pfr_known(written))
        return seen ? PFR_STORAGE_SEEN : PFR_STORAGE_NONE;
    return seen && (is_clearly_more(seen_read, read) || is_clearly_more(seen_written, written))
               ? PFR_STORAGE_BOTH : PFR_STORAGE_CHARGED;
}

/*
 * What went through read and write calls, where it is clearly more than what
 * reached a device: a network file system, a RAM disk, the page cache, a pipe.
 */
static void add_calls(const struct pfr_facts *facts, char text[static PFR_STORAGE_SIZE])
{
    int64_t read = pfr_facts_value(facts, PFR_PROC_IO_RCHAR_TOTAL);
    int64_t written = pfr_facts_value(facts, PFR_PROC_IO_WCHAR_TOTAL);
    int64_t device[2] = { 0, 0 };
    char a[PFR_TEXT_SIZE], b[PFR_TEXT_SIZE];
    size_t used = strlen(text);

    for (int i = 0; i < 2; i++) {
        int64_t charged = pfr_facts_value(facts, i ? PFR_CGROUP_IO_WRITE_BYTES
                                                   : PFR_CGROUP_IO_READ_BYTES);
        int64_t seen = pfr_facts_value(facts, i ? PFR_PROC_IO_WRITE_BYTES_TOTAL
                                                : PFR_PROC_IO_READ_BYTES_TOTAL);

        device[i] = charged > seen ? charged : seen > 0 ? seen : 0;
    }
    if ((pfr_known(read) && is_clearly_more(read, device[0])) ||
        (pfr_known(written) && is_clearly_more(written, device[1])))
        snprintf(text + used, PFR_STORAGE_SIZE - used, "%sread calls %s, write calls %s",
                 used ? "; " : "", pfr_size_text(read, a), pfr_size_text(written, b));
}

const char *pfr_storage_text(const struct pfr_facts *facts, char text[static PFR_STORAGE_SIZE])
{
    char seen[2 * PFR_TEXT_SIZE], charged[2 * PFR_TEXT_SIZE], a[PFR_TEXT_SIZE], b[PFR_TEXT_SIZE];
    enum pfr_storage source = pfr_storage_source(facts);

    snprintf(seen, sizeof(seen), "%s read, %s written",
             pfr_size_text(pfr_facts_value(facts, PFR_PROC_IO_READ_BYTES_TOTAL), a),
             pfr_size_text(pfr_facts_value(facts, PFR_PROC_IO_WRITE_BYTES_TOTAL), b));
    snprintf(charged, sizeof(charged), "%s read, %s written",
             pfr_size_text(pfr_facts_value(facts, PFR_CGROUP_IO_READ_BYTES), a),
             pfr_size_text(pfr_facts_value(facts, PFR_CGROUP_IO_WRITE_BYTES), b));
    text[0] = '\0';
    if (source == PFR_STORAGE_BOTH)
        snprintf(text, PFR_STORAGE_SIZE, "%s by processes seen; %s on block devices", seen,
                 charged);
    else if (source != PFR_STORAGE_NONE)
        snprintf(text, PFR_STORAGE_SIZE, "%s%s", source == PFR_STORAGE_SEEN ? seen : charged,
                 source == PFR_STORAGE_SEEN ? " (by processes seen)" : "");
    add_calls(facts, text);
    return text[0] ? text : "-";
}

const char *pfr_short_lived_text(const struct pfr_facts *facts, char text[static PFR_STORAGE_SIZE])
{
    int64_t total = pfr_facts_value(facts, PFR_CGROUP_CPU_SECONDS);
    int64_t rest = pfr_facts_value(facts, PFR_CGROUP_CPU_UNATTRIBUTED_SECONDS);
    int64_t children = pfr_facts_value(facts, PFR_PS_CHILDREN_CPU_SECONDS_TOTAL);
    char time[PFR_TEXT_SIZE];
    int n;

    text[0] = '\0';
    if (!pfr_known(rest) || !pfr_known(total))
        return text;
    rest += pfr_known(children) ? children : 0; /* which were not sampled either */
    if (rest <= total / 20 || rest <= 50000000)
        return text;
    n = snprintf(text, PFR_STORAGE_SIZE, "%s of CPU in processes too short to be sampled",
                 pfr_time_text(rest, time));
    if (pfr_known(children) && children > 0 && facts->short_lived_of[0])
        snprintf(text + n, PFR_STORAGE_SIZE - (size_t)n, ", of which %s are children of %s",
                 pfr_time_text(children, time), facts->short_lived_of);
    return text;
}
