#include "tools/profres/sacct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/parse.h"
#include "common/base/safe.h"
#include "tools/profres/ask.h"

/* So many jobs in one question: a command line of a few kilobytes. */
#define CHUNK 500
/* A clock may be a little off; another job's time is not. */
#define CLOCK_NS (300 * PFR_NS_PER_S)

enum value { TEXT, NUMBER, SPAN, BYTES, TIME };

/* The name is last: it may hold the delimiter. */
static const struct {
    const char *name;
    enum value value;
    size_t offset, size;
} fields[] = {
#define FIELD(NAME, VALUE, MEMBER)                                                               \
    { NAME, VALUE, offsetof(struct pfr_sacct_row, MEMBER),                                       \
      sizeof(((struct pfr_sacct_row *)0)->MEMBER) }
    FIELD("JobIDRaw", TEXT, id),          FIELD("User", TEXT, user),
    FIELD("Cluster", TEXT, cluster),      FIELD("State", TEXT, state),
    FIELD("ExitCode", TEXT, exit_code),   FIELD("ReqMem", TEXT, req_mem),
    FIELD("Partition", TEXT, partition),  FIELD("Account", TEXT, account),
    FIELD("Timelimit", SPAN, time_limit), FIELD("Elapsed", SPAN, elapsed),
    FIELD("TotalCPU", SPAN, total_cpu),   FIELD("Start", TIME, start),
    FIELD("End", TIME, end),              FIELD("MaxRSS", BYTES, max_rss),
    FIELD("NTasks", NUMBER, tasks),       FIELD("NNodes", NUMBER, nodes),
    FIELD("AllocCPUS", NUMBER, cpus),     FIELD("NodeList", TEXT, node_list),
    FIELD("JobName", TEXT, name),
#undef FIELD
};

/* "1-02:03:04", "02:03:04", "03:04.567"; anything else, such as UNLIMITED, is absent. */
static int64_t parse_span(const char *text)
{
    int64_t days = 0, part, sum = 0, nano = 0, unit = PFR_NS_PER_S;

    if (strchr(text, '-') && (!pfr_parse_digits(&text, &days) || *text++ != '-'))
        return PFR_ABSENT;
    for (;;) {
        if (!pfr_parse_digits(&text, &part) || part > 1000000000 || sum > 1000000000)
            return PFR_ABSENT;
        sum = 60 * sum + part;
        if (*text != ':')
            break;
        text++;
    }
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            nano += (unit /= 10) * (*text - '0');
    return *text || days > 100000 ? PFR_ABSENT : (days * 86400 + sum) * PFR_NS_PER_S + nano;
}

/* "1234K", "1.5G", "0" */
static int64_t parse_bytes(const char *text)
{
    static const char units[] = "KMGTP";
    const char *unit;
    int64_t whole, nano = 0, place = PFR_NS_PER_S, size = 1;

    if (!pfr_parse_digits(&text, &whole))
        return PFR_ABSENT;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            nano += (place /= 10) * (*text - '0');
    unit = *text ? strchr(units, *text) : NULL;
    for (const char *p = units; unit && p <= unit; p++)
        size *= 1024;
    if (*text && (!unit || text[1]))
        return PFR_ABSENT;
    if (__builtin_mul_overflow(whole, size, &whole))
        return PFR_ABSENT;
    return whole + pfr_muldiv(nano, size, PFR_NS_PER_S);
}

static int64_t parse_number(const char *text)
{
    int64_t number;

    return pfr_parse_int(text, &number) ? number : PFR_ABSENT;
}

/* Seconds since 1970, which SLURM_TIME_FORMAT asks for; a job that runs has no end. */
static int64_t parse_time(const char *text)
{
    int64_t seconds = parse_number(text);

    return seconds > 0 && seconds < INT64_MAX / PFR_NS_PER_S ? seconds * PFR_NS_PER_S : PFR_ABSENT;
}

static void set_field(struct pfr_sacct_row *row, size_t i, const char *text)
{
    static int64_t (*const parse[])(const char *text) = {
        [NUMBER] = parse_number, [SPAN] = parse_span, [BYTES] = parse_bytes, [TIME] = parse_time,
    };
    char *at = (char *)row + fields[i].offset;

    if (fields[i].value == TEXT)
        snprintf(at, fields[i].size, "%s", text);
    else
        *(int64_t *)(void *)at = parse[fields[i].value](text);
}

/* A line with too few fields is none of sacct's: a job's name can hold a newline. */
static bool parse_row(struct pfr_sacct_row *row, char *line)
{
    for (size_t i = 0; i < PFR_COUNT(fields); i++) {
        bool last = i + 1 == PFR_COUNT(fields);
        char *end = last ? NULL : strchr(line, '|');

        if (!last && !end)
            return false;
        if (end)
            *end = '\0';
        set_field(row, i, line);
        line = last ? line : end + 1;
    }
    return row->id[0] >= '0' && row->id[0] <= '9';
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct pfr_sacct_row *)a)->id, ((const struct pfr_sacct_row *)b)->id);
}

/*
 * Two lines of one id: a number that was used twice, or a job whose name was
 * made to look like a line. Neither can be told from the other, so both go.
 */
static size_t drop_doubtful(struct pfr_sacct_row *rows, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && by_id(&rows[i], &rows[next]) == 0;)
            next++;
        if (next == i + 1)
            rows[kept++] = rows[i];
    }
    return kept;
}

static bool make_room(struct pfr_sacct *sacct)
{
    size_t room = sacct->room ? 2 * sacct->room : 64;
    struct pfr_sacct_row *rows;

    if (sacct->count < sacct->room)
        return true;
    rows = realloc(sacct->rows, room * sizeof(*rows));
    if (!rows)
        return false;
    sacct->rows = rows;
    sacct->room = room;
    return true;
}

void pfr_sacct_parse(struct pfr_sacct *sacct, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!make_room(sacct))
            break;
        if (parse_row(&sacct->rows[sacct->count], line))
            sacct->count++;
    }
    if (sacct->count)
        qsort(sacct->rows, sacct->count, sizeof(*sacct->rows), by_id);
    sacct->count = drop_doubtful(sacct->rows, sacct->count);
}

/* "JobAcctGatherFrequency  = task=30,energy=0": what stands behind the sign. */
static const char *setting(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    if (!at)
        return "";
    at += strlen(name);
    return at + strspn(at, " =\t");
}

void pfr_sacct_parse_config(struct pfr_sacct_gather *gather, const char *text)
{
    const char *frequency = setting(text, "JobAcctGatherFrequency");
    const char *plugin = setting(text, "JobAcctGatherType");
    const char *version = setting(text, "SLURM_VERSION");
    int64_t number, major, minor;

    snprintf(gather->plugin, sizeof(gather->plugin), "%.*s", (int)strcspn(plugin, " \n"), plugin);
    if (strncmp(frequency, "task=", 5) == 0)
        frequency += 5;
    gather->frequency = pfr_parse_digits(&frequency, &number) && number > 0 && number < 1000000
                            ? number * PFR_NS_PER_S
                            : PFR_ABSENT;
    if (pfr_parse_digits(&version, &major) && *version++ == '.' &&
        pfr_parse_digits(&version, &minor) && major < 100 && minor < 100)
        gather->version = (int)(100 * major + minor);
}

static bool ask(struct pfr_sacct *sacct, const char *list)
{
    char format[512] = "";
    const char *argv[] = { "sacct", "-anP", "--noconvert", "-j", list, "-o", format, NULL };
    PFR_AUTO_FREE char *text = NULL;

    for (size_t i = 0; i < PFR_COUNT(fields); i++)
        snprintf(format + strlen(format), sizeof(format) - strlen(format), "%s%s", i ? "," : "",
                 fields[i].name);
    text = pfr_ask(argv, PFR_ASK_MS);
    if (!text)
        return false;
    pfr_sacct_parse(sacct, text);
    return true;
}

/*
 * Without a database: slurmctld knows a job for some minutes after its end. The
 * format gives its fields the places that they have with sacct.
 */
static void ask_controller(struct pfr_sacct *sacct, int64_t job)
{
    char id[24];
    const char *argv[] = { "squeue", "-h", "-t", "all", "-j", id, "-o",
                           "%A|%u||%T|||%P|%a|%l|||%S|%e||||||", NULL };
    PFR_AUTO_FREE char *text = NULL;

    snprintf(id, sizeof(id), "%lld", (long long)job);
    text = pfr_ask(argv, PFR_ASK_MS);
    if (text)
        pfr_sacct_parse(sacct, text);
}

/* The numbers from here on as a list, not more than suit a command line. */
static size_t list_jobs(const int64_t *jobs, size_t count, char *list, size_t size)
{
    size_t used = 0, named = 0, i;

    list[0] = '\0';
    for (i = 0; i < count && named < CHUNK && used + 24 < size; i++)
        if (jobs[i] != PFR_ABSENT && (i == 0 || jobs[i] != jobs[i - 1])) {
            used += (size_t)snprintf(list + used, size - used, "%s%lld", named ? "," : "",
                                     (long long)jobs[i]);
            named++;
        }
    return i;
}

void pfr_sacct_load(struct pfr_sacct *sacct, const int64_t *jobs, size_t count)
{
    static const char *const config[] = { "scontrol", "show", "config", NULL };
    PFR_AUTO_FREE char *text = NULL;
    char list[16384];

    *sacct = (struct pfr_sacct){ .gather.frequency = PFR_ABSENT };
    setenv("SLURM_TIME_FORMAT", "%s", 1); /* no guessing of the time zone */
    for (size_t i = 0; i < count;) {
        i += list_jobs(jobs + i, count - i, list, sizeof(list));
        if (!list[0])
            continue;
        sacct->answered = ask(sacct, list);
        if (!sacct->answered)
            break; /* and will not the next time */
    }
    if (!sacct->count && count == 1 && pfr_known(jobs[0])) {
        ask_controller(sacct, jobs[0]);
        return;
    }
    if (!sacct->count)
        return;
    text = pfr_ask(config, PFR_ASK_MS);
    if (text)
        pfr_sacct_parse_config(&sacct->gather, text);
}

/* A profile may have come here from another cluster, where the number is another job's. */
static bool is_same_job(const struct pfr_sacct_row *row, const struct pfr_facts *facts)
{
    if (facts->cluster[0] && row->cluster[0] && strcmp(facts->cluster, row->cluster) != 0)
        return false;
    if (!pfr_known(facts->start))
        return true;
    return (!pfr_known(row->start) || facts->start >= row->start - CLOCK_NS) &&
           (!pfr_known(row->end) || facts->start <= row->end + CLOCK_NS);
}

const struct pfr_sacct_row *pfr_sacct_find(const struct pfr_sacct *sacct,
                                           const struct pfr_facts *facts)
{
    struct pfr_sacct_row key, *row;
    bool job = facts->extent == PFR_EXTENT_JOB;

    if (!sacct || !sacct->count || !pfr_known(facts->job_id))
        return NULL;
    snprintf(key.id, sizeof(key.id), "%lld%s%s", (long long)facts->job_id, job ? "" : ".",
             job ? "" : facts->step);
    row = bsearch(&key, sacct->rows, sacct->count, sizeof(key), by_id);
    return row && is_same_job(row, facts) ? row : NULL;
}

void pfr_sacct_complete(const struct pfr_sacct *sacct, struct pfr_facts *facts)
{
    const struct pfr_sacct_row *row = pfr_sacct_find(sacct, facts);
    struct pfr_facts whole = *facts;

    if (row)
        pfr_safe_text(row->state, facts->scheduler_state, sizeof(facts->scheduler_state));
    whole.extent = PFR_EXTENT_JOB; /* only the job has a limit, and mostly the name of its owner */
    row = pfr_sacct_find(sacct, &whole);
    if (!row)
        return;
    if (!pfr_known(facts->time_limit))
        facts->time_limit = row->time_limit;
    if (!pfr_known(facts->job_start))
        facts->job_start = row->start;
    if (!pfr_known(facts->job_end))
        facts->job_end = pfr_plus(facts->job_start, facts->time_limit);
    if (!facts->user[0])
        pfr_safe_text(row->user, facts->user, sizeof(facts->user));
    if (!facts->cluster[0])
        pfr_safe_text(row->cluster, facts->cluster, sizeof(facts->cluster));
    if (!facts->name[0])
        pfr_safe_text(row->name, facts->name, sizeof(facts->name));
}

void pfr_sacct_release(struct pfr_sacct *sacct)
{
    free(sacct->rows);
    *sacct = (struct pfr_sacct){ .gather.frequency = PFR_ABSENT };
}
