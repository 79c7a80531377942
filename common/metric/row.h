/* What is known of one process over some time: a window, or the run. */
#ifndef PFR_METRIC_ROW_H
#define PFR_METRIC_ROW_H

#include "common/metric/table.h"

#define PFR_TALLY_CODES 8
#define PFR_STATE_SIZE 8

/* A process state as ps prints it: the letter in the low byte, modifiers above. */
enum pfr_state_flag {
    PFR_STATE_HIGH = 1 << 8,       /* < */
    PFR_STATE_NICE = 1 << 9,       /* N */
    PFR_STATE_LOCKED = 1 << 10,    /* L */
    PFR_STATE_LEADER = 1 << 11,    /* s */
    PFR_STATE_THREADS = 1 << 12,   /* l */
    PFR_STATE_FOREGROUND = 1 << 13 /* + */
};

void pfr_state_text(int code, char text[static PFR_STATE_SIZE]);

/* How often each state was seen (R6, R13). */
struct pfr_tally {
    int code[PFR_TALLY_CODES];
    uint32_t count[PFR_TALLY_CODES];
    uint32_t other; /* seen in states that found no place */
};

void pfr_tally_add(struct pfr_tally *tally, int code, uint32_t count);

struct pfr_row {
    uint32_t present;
    int64_t from, to; /* stamps between which its counters grew */
    int64_t value[PFR_PID_END];
    struct pfr_tally states;
};

/* Folds one value in, as the metric's reduce says; counters pass their growth. */
void pfr_row_add(struct pfr_row *row, enum pfr_metric_id id, int64_t value);

/* Fills in the rates, which follow from the growth and the span. */
void pfr_row_finish(struct pfr_row *row);

/* Growth over span as thousandths of a percent; span must be > 0. */
int64_t pfr_rate(int64_t growth_ns, int64_t span_ns);

#endif
