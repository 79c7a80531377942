/*
 * Command lines of the processes of a node. The series says each of them once,
 * when it was new, which may be long ago; of those that stand out in the whole
 * run the summary says it every time.
 */
#ifndef PFR_TOP_CMDS_H
#define PFR_TOP_CMDS_H

#include <stddef.h>
#include <stdint.h>

#define PFR_TOP_CMD 240
#define PFR_TOP_NAME 64
#define PFR_TOP_CMDS 128

struct pfr_top_cmd {
    int64_t pid, start_ticks;
    char comm[PFR_TOP_NAME]; /* the summary tells that and not the ticks */
    char text[PFR_TOP_CMD];
    int64_t used; /* when it was last needed; 0: the place is free */
};

struct pfr_top_cmds {
    struct pfr_top_cmd *series;  /* those needed last; NULL before there is one */
    struct pfr_top_cmd *summary; /* those of the newest summary */
    int64_t clock;
};

/* What the series said. */
void pfr_top_cmds_clear(struct pfr_top_cmds *cmds);
void pfr_top_cmds_release(struct pfr_top_cmds *cmds);

void pfr_top_cmds_add(struct pfr_top_cmds *cmds, int64_t pid, int64_t start_ticks,
                      const char *text);

/*
 * Those in the summary's list of processes that were there at `since` (since the
 * run began) or later, in the place of those of the summary before: a process
 * id may be used again.
 */
void pfr_top_cmds_parse(struct pfr_top_cmds *cmds, const char *summary, size_t length,
                        int64_t since);

/* Of a process of the newest window; NULL when it is not known. */
const char *pfr_top_cmds_get(const struct pfr_top_cmds *cmds, int64_t pid, int64_t start_ticks,
                             const char *comm);

/* It has a row in the newest window: others are forgotten before. */
void pfr_top_cmds_need(struct pfr_top_cmds *cmds, int64_t pid, int64_t start_ticks);

#endif
