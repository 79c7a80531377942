#include "common/metric/growth.h"

#include <stdlib.h>
#include <string.h>

/* /proc gives births in ticks of 10 ms, rounded down. */
#define BIRTH_SLACK (10 * INT64_C(1000000))

/* User and system time of children come in such ticks too, each rounded down. */
#define CPU_SLACK (2 * 10 * INT64_C(1000000))

/* A chain of processes that vanish at once is not longer than this. */
#define GENERATIONS_MAX 64

static uint32_t slots_end(const struct pfr_window *window)
{
    uint32_t high = window->processes->high;

    return high < window->sum_capacity ? high : window->sum_capacity;
}

/*
 * First sight. A process born since the sample before has all its counters
 * from inside the run: they count from zero, and its rate is counted from its
 * birth (R12). An older one came from elsewhere: what it did before is not
 * ours, and it has no rate yet.
 */
static void meet_process(struct pfr_window *window, uint32_t slot, int64_t stamp)
{
    const struct pfr_process *process = &window->processes->slots[slot];
    bool newborn = window->procs_at && process->birth >= window->procs_at - BIRTH_SLACK;
    int64_t from = newborn && process->birth < stamp ? process->birth : stamp;

    window->sums[slot] = (struct pfr_process_sum){ .known = true, .newborn = newborn,
                                                   .serial = window->serial };
    window->sums[slot].seen_at = from;
    window->sums[slot].run.from = from;
}

/* ---- debts ---- */

static void drop_debt(struct pfr_window *window, uint32_t i)
{
    window->sums[window->debts[i].debtor].debts--;
    window->debts[i] = window->debts[--window->debt_count];
}

static enum pfr_metric_id debt_metric(int place)
{
    return place == PFR_DEBT_CPU ? PFR_PS_CHILDREN_CPU_SECONDS
                                 : (enum pfr_metric_id)(PFR_INHERITED_FIRST + place);
}

/* What the kernel adds to a parent's counters: CPU time with that of the child's children. */
static struct pfr_debt debt_of(const struct pfr_process_sum *child)
{
    struct pfr_debt debt = { 0 };

    for (int i = 0; i < PFR_INHERITED_COUNT; i++) {
        debt.value[i] = child->counter[debt_metric(i)];
        debt.has |= (child->seeded >> debt_metric(i) & 1) << i;
    }
    if (child->seeded >> PFR_PS_CPU_SECONDS & child->seeded >> PFR_PS_CHILDREN_CPU_SECONDS & 1) {
        debt.value[PFR_DEBT_CPU] = child->counter[PFR_PS_CPU_SECONDS] +
                                   child->counter[PFR_PS_CHILDREN_CPU_SECONDS];
        debt.has |= 1u << PFR_DEBT_CPU;
    }
    return debt;
}

static void add_debt(struct pfr_window *window, uint32_t debtor, uint32_t child)
{
    struct pfr_debt debt = debt_of(&window->sums[child]);

    if (!debt.has)
        return;
    if (!window->debts && !(window->debts = malloc(PFR_DEBTS_MAX * sizeof(*window->debts))))
        return;
    if (window->debt_count == PFR_DEBTS_MAX) /* children that nobody waits for */
        drop_debt(window, 0);
    debt.debtor = debtor;
    window->debts[window->debt_count++] = debt;
    window->sums[debtor].debts++;
}

/* The debts of one who has gone pass to an ancestor, or end where there is none. */
static void hand_over_debts(struct pfr_window *window, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < window->debt_count && window->sums[from].debts; i++) {
        if (window->debts[i].debtor != from)
            continue;
        if (to == PFR_SLOT_NONE) {
            drop_debt(window, i--);
            continue;
        }
        window->debts[i].debtor = to;
        window->sums[from].debts--;
        window->sums[to].debts++;
    }
}

/*
 * A process whose counters grew by at least what a child had when it was last
 * seen has waited for it. What it cannot be asked for proves nothing, and a
 * child of which nothing can be compared is not settled.
 */
static bool has_waited(const struct pfr_debt *debt, uint32_t present, const int64_t *growth)
{
    bool compared = false;

    for (int i = 0; i <= PFR_DEBT_CPU; i++) {
        enum pfr_metric_id id = debt_metric(i);
        int64_t slack = i == PFR_DEBT_CPU ? CPU_SLACK : 0;

        if (!(debt->has >> i & present >> id & 1))
            continue;
        if (growth[id] + slack < debt->value[i])
            return false;
        compared = true;
    }
    return compared;
}

/*
 * What is left of the growth is the process's own, and what the child did
 * after it was last seen; of children never seen, all.
 */
static void settle_debts(struct pfr_window *window, const struct pfr_pid_reading *reading,
                         int64_t *growth)
{
    struct pfr_process_sum *sum = &window->sums[reading->slot];

    for (uint32_t i = 0; i < window->debt_count && sum->debts; i++) {
        const struct pfr_debt *debt = &window->debts[i];

        if (debt->debtor != reading->slot || !has_waited(debt, reading->present, growth))
            continue;
        for (int k = 0; k <= PFR_DEBT_CPU; k++)
            if (debt->has >> k & reading->present >> debt_metric(k) & 1)
                growth[debt_metric(k)] -= debt->value[k];
        drop_debt(window, i--);
    }
}

/* Ticks are rounded down: what was taken off too early is missing in a later growth. */
static void use_prepaid(struct pfr_process_sum *sum, int64_t *growth)
{
    *growth -= sum->prepaid;
    sum->prepaid = *growth < 0 ? -*growth : 0;
    *growth = *growth < 0 ? 0 : *growth;
}

/* ---- departures ---- */

/* Whoever had this pid when the child was born, whether it is still there or not. */
static uint32_t find_parent(const struct pfr_window *window, const struct pfr_process *child)
{
    for (uint32_t i = 0; i < slots_end(window); i++) {
        const struct pfr_process *process = &window->processes->slots[i];

        if (process->pid == child->parent && window->sums[i].known &&
            process->start_ticks <= child->start_ticks)
            return i;
    }
    return PFR_SLOT_NONE;
}

static uint32_t find_surviving_ancestor(const struct pfr_window *window, uint32_t slot)
{
    for (int i = 0; i < GENERATIONS_MAX && slot != PFR_SLOT_NONE; i++) {
        slot = find_parent(window, &window->processes->slots[slot]);
        if (slot != PFR_SLOT_NONE && !window->sums[slot].left)
            return slot;
    }
    return PFR_SLOT_NONE;
}

static void mark_present(struct pfr_window *window, const struct pfr_sample *sample)
{
    window->serial++;
    for (uint32_t i = 0; i < sample->count; i++) {
        struct pfr_process_sum *sum = &window->sums[window->readings.pids[sample->first + i].slot];

        sum->serial = window->serial;
        sum->left = false;
    }
}

/* All are marked before any debt is made: parent and child may have gone together. */
void pfr_growth_remove_departed(struct pfr_window *window, const struct pfr_sample *sample)
{
    mark_present(window, sample);
    for (uint32_t slot = 0; slot < slots_end(window); slot++) {
        struct pfr_process_sum *sum = &window->sums[slot];

        sum->departing = sum->known && !sum->left && sum->serial != window->serial;
        sum->left = sum->left || sum->departing;
    }
    for (uint32_t slot = 0; slot < slots_end(window); slot++) {
        uint32_t ancestor;

        if (!window->sums[slot].departing)
            continue;
        window->sums[slot].departing = false;
        ancestor = find_surviving_ancestor(window, slot);
        hand_over_debts(window, slot, ancestor);
        if (ancestor != PFR_SLOT_NONE)
            add_debt(window, ancestor, slot);
    }
}

/* ---- growth ---- */

/* The growth since the reading before; a counter that falls has not grown. */
static int64_t counter_growth(struct pfr_process_sum *sum, enum pfr_metric_id id, int64_t value,
                              struct pfr_run *run)
{
    int64_t growth;

    if (!(sum->seeded >> id & 1)) {
        sum->seeded |= 1u << id;
        sum->counter[id] = sum->newborn ? 0 : value;
    }
    growth = value - sum->counter[id];
    if (growth < 0) {
        run->counter_falls++;
        return 0;
    }
    sum->counter[id] = value;
    return growth;
}

void pfr_growth_take(struct pfr_window *window, struct pfr_run *run,
                     const struct pfr_pid_reading *reading, int64_t stamp,
                     int64_t growth[static PFR_PID_END])
{
    struct pfr_process_sum *sum = &window->sums[reading->slot];

    if (!sum->known)
        meet_process(window, reading->slot, stamp);
    for (uint32_t left = reading->present; left; left &= left - 1) {
        enum pfr_metric_id id = (enum pfr_metric_id)__builtin_ctz(left);

        if (pfr_metrics[id].kind == PFR_COUNTER)
            growth[id] = counter_growth(sum, id, reading->value[id], run);
    }
    if (sum->debts)
        settle_debts(window, reading, growth);
    if (reading->present >> PFR_PS_CHILDREN_CPU_SECONDS & 1)
        use_prepaid(sum, &growth[PFR_PS_CHILDREN_CPU_SECONDS]);
}
