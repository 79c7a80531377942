#include "plugin/notice.h"

#include "common/base/clock.h"
#include "common/base/control.h"

#define MOST 4096 /* as many as a sampler knows; no node has more */

static struct {
    pid_t pid;
    uint32_t rank;
    int status;
    int64_t started, ended; /* 0 = not yet */
} tasks[MOST];
static uint32_t count;

#define START "start %d %u %lld"
#define EXIT "exit %d %d 0 %lld -1 -1"

void pfr_notice_start(struct pfr_talk *talk, pid_t pid, uint32_t rank)
{
    int64_t now = pfr_clock_ns(CLOCK_MONOTONIC);

    pfr_talk_tell(talk, START, (int)pid, rank, (long long)now);
    if (count == MOST)
        return;
    tasks[count].pid = pid;
    tasks[count].rank = rank;
    tasks[count++].started = now;
}

void pfr_notice_exit(struct pfr_talk *talk, pid_t pid, int status)
{
    int64_t now = pfr_clock_ns(CLOCK_MONOTONIC);

    pfr_talk_tell(talk, EXIT, (int)pid, status, (long long)now);
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].pid == pid && !tasks[i].ended) {
            tasks[i].status = status;
            tasks[i].ended = now;
            return;
        }
}

void pfr_notice_repeat(int control)
{
    for (uint32_t i = 0; i < count; i++)
        pfr_control_send(control, START, (int)tasks[i].pid, tasks[i].rank,
                         (long long)tasks[i].started);
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].ended)
            pfr_control_send(control, EXIT, (int)tasks[i].pid, tasks[i].status,
                             (long long)tasks[i].ended);
}
