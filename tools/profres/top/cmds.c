#include "tools/profres/top/cmds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/judge/facts.h"
#include "common/record/scan.h"

void pfr_top_cmds_clear(struct pfr_top_cmds *cmds)
{
    if (cmds->series)
        memset(cmds->series, 0, PFR_TOP_CMDS * sizeof(*cmds->series));
}

void pfr_top_cmds_release(struct pfr_top_cmds *cmds)
{
    free(cmds->series);
    free(cmds->summary);
    *cmds = (struct pfr_top_cmds){ 0 };
}

/* A list of that many is small enough to be gone through. */
static struct pfr_top_cmd *find(struct pfr_top_cmd *list, int64_t pid, int64_t start_ticks,
                                const char *comm)
{
    for (size_t i = 0; list && i < PFR_TOP_CMDS; i++)
        if (list[i].used && list[i].pid == pid && list[i].start_ticks == start_ticks &&
            strcmp(list[i].comm, comm) == 0)
            return &list[i];
    return NULL;
}

static struct pfr_top_cmd *oldest(struct pfr_top_cmd *list)
{
    struct pfr_top_cmd *oldest = list;

    for (size_t i = 1; i < PFR_TOP_CMDS; i++)
        if (list[i].used < oldest->used)
            oldest = &list[i];
    return oldest;
}

static void add(struct pfr_top_cmds *cmds, struct pfr_top_cmd **list, int64_t pid,
                int64_t start_ticks, const char *comm, const char *text)
{
    struct pfr_top_cmd *cmd;

    if (!*list)
        *list = calloc(PFR_TOP_CMDS, sizeof(**list));
    if (!*list)
        return;
    cmd = find(*list, pid, start_ticks, comm);
    if (!cmd)
        cmd = oldest(*list);
    cmd->pid = pid;
    cmd->start_ticks = start_ticks;
    snprintf(cmd->comm, sizeof(cmd->comm), "%s", comm);
    snprintf(cmd->text, sizeof(cmd->text), "%s", text);
    cmd->used = ++cmds->clock;
}

void pfr_top_cmds_add(struct pfr_top_cmds *cmds, int64_t pid, int64_t start_ticks,
                      const char *text)
{
    add(cmds, &cmds->series, pid, start_ticks, "", text);
}

static void parse_process(struct pfr_top_cmds *cmds, struct pfr_scan *scan, int64_t since)
{
    char comm[PFR_TOP_NAME] = "", text[PFR_TOP_CMD] = "";
    int64_t pid = PFR_ABSENT, last = PFR_ABSENT;
    struct pfr_span key;

    while (pfr_scan_member(scan, &key)) {
        if (pfr_span_is(key, "pid"))
            pfr_scan_number(scan, 1, &pid);
        else if (pfr_span_is(key, "last_seconds"))
            pfr_scan_number(scan, PFR_NS_PER_S, &last);
        else if (pfr_span_is(key, "comm"))
            pfr_scan_text(scan, comm, sizeof(comm));
        else if (pfr_span_is(key, "ps_cmd"))
            pfr_scan_text(scan, text, sizeof(text));
        else
            pfr_scan_skip(scan);
    }
    if (pfr_known(pid) && text[0] && last >= since)
        add(cmds, &cmds->summary, pid, PFR_ABSENT, comm, text);
}

static void parse_top(struct pfr_top_cmds *cmds, struct pfr_scan *scan, int64_t since)
{
    if (!pfr_scan_into(scan, '['))
        return;
    while (pfr_scan_element(scan)) {
        if (pfr_scan_enter(scan, '{'))
            parse_process(cmds, scan, since);
        else
            pfr_scan_skip(scan);
    }
}

/* Into summary.processes.top. */
void pfr_top_cmds_parse(struct pfr_top_cmds *cmds, const char *summary, size_t length,
                        int64_t since)
{
    struct pfr_scan scan;
    struct pfr_span key;

    if (cmds->summary)
        memset(cmds->summary, 0, PFR_TOP_CMDS * sizeof(*cmds->summary));
    pfr_scan_init(&scan, summary, length);
    if (!pfr_scan_enter(&scan, '{'))
        return;
    while (pfr_scan_member(&scan, &key)) {
        if (!pfr_span_is(key, "processes") || !pfr_scan_enter(&scan, '{')) {
            pfr_scan_skip(&scan);
            continue;
        }
        while (pfr_scan_member(&scan, &key)) {
            if (pfr_span_is(key, "top"))
                parse_top(cmds, &scan, since);
            else
                pfr_scan_skip(&scan);
        }
    }
}

const char *pfr_top_cmds_get(const struct pfr_top_cmds *cmds, int64_t pid, int64_t start_ticks,
                             const char *comm)
{
    const struct pfr_top_cmd *cmd = find(cmds->series, pid, start_ticks, "");

    if (!cmd)
        cmd = find(cmds->summary, pid, PFR_ABSENT, comm);
    return cmd ? cmd->text : NULL;
}

void pfr_top_cmds_need(struct pfr_top_cmds *cmds, int64_t pid, int64_t start_ticks)
{
    struct pfr_top_cmd *cmd = find(cmds->series, pid, start_ticks, "");

    if (cmd)
        cmd->used = ++cmds->clock;
}
