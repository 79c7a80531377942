#include "common/metric/row.h"

#include "common/base/parse.h"

/*
 * CPU time comes in 10 ms ticks, and so does the birth of a process: a rate
 * over less than this says nothing.
 */
#define SHORTEST_SPAN (50 * INT64_C(1000000))

void pfr_state_text(int code, char text[static PFR_STATE_SIZE])
{
    static const struct { int flag; char letter; } modifiers[] = {
        { PFR_STATE_HIGH, '<' },    { PFR_STATE_NICE, 'N' },    { PFR_STATE_LOCKED, 'L' },
        { PFR_STATE_LEADER, 's' },  { PFR_STATE_THREADS, 'l' }, { PFR_STATE_FOREGROUND, '+' },
    };
    int n = 0;

    text[n++] = (char)(code & 0xff);
    for (int i = 0; i < 6; i++)
        if (code & modifiers[i].flag)
            text[n++] = modifiers[i].letter;
    text[n] = '\0';
}

void pfr_tally_add(struct pfr_tally *tally, int code, uint32_t count)
{
    for (int i = 0; i < PFR_TALLY_CODES; i++) {
        if (tally->count[i] && tally->code[i] != code)
            continue;
        tally->code[i] = code;
        tally->count[i] += count;
        return;
    }
    tally->other += count;
}

int64_t pfr_rate(int64_t growth_ns, int64_t span_ns)
{
    return pfr_muldiv(growth_ns, 100 * pfr_unit_quantum(PFR_PERCENT), span_ns);
}

void pfr_row_add(struct pfr_row *row, enum pfr_metric_id id, int64_t value)
{
    int64_t *slot = &row->value[id];
    bool first = !(row->present >> id & 1);

    row->present |= 1u << id;
    switch (pfr_metrics[id].reduce) {
    case PFR_DELTA:
        *slot = first ? value : *slot + value;
        break;
    case PFR_MAX:
        *slot = first || value > *slot ? value : *slot;
        break;
    case PFR_MIN:
        *slot = first || value < *slot ? value : *slot;
        break;
    case PFR_TALLY:
        pfr_tally_add(&row->states, (int)value, 1);
        break;
    case PFR_MEAN: /* rates only: pfr_row_finish */
    case PFR_LAST:
        *slot = value;
        break;
    }
}

void pfr_row_finish(struct pfr_row *row)
{
    PFR_EACH_PID_METRIC(id) {
        enum pfr_metric_id base = pfr_metrics[id].of[0];

        if (pfr_metrics[id].derive != PFR_RATE || !(row->present >> base & 1) ||
            row->to - row->from < SHORTEST_SPAN)
            continue;
        row->value[id] = pfr_rate(row->value[base], row->to - row->from);
        row->present |= 1u << id;
    }
}
