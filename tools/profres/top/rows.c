/* What the panes list, in the order that was asked for. */
#include <stdlib.h>
#include <string.h>

#include "tools/profres/names.h"
#include "tools/profres/top/model.h"

/* The processes of a node that has ended are no more. */
static size_t count_of(const struct pfr_top_node *node, enum pfr_top_pane pane)
{
    if (pane == PFR_PANE_PROCESSES)
        return pfr_top_node_has_ended(node) ? 0 : node->row_count;
    return pane == PFR_PANE_TASKS ? node->tasks.count : 1;
}

static int64_t io_of(int64_t read, int64_t write)
{
    return read == PFR_ABSENT ? write : write == PFR_ABSENT ? read : read + write;
}

static int64_t value_of(const struct pfr_top_row *row, enum pfr_top_sort sort)
{
    if (row->process)
        return sort == PFR_SORT_CPU ? row->process->pdcpu
               : sort == PFR_SORT_MEMORY ? row->process->rss
                                         : io_of(row->process->read, row->process->write);
    if (row->task)
        return sort == PFR_SORT_CPU ? row->task->cpu
               : sort == PFR_SORT_MEMORY ? row->task->mem_peak
                                         : PFR_ABSENT;
    return sort == PFR_SORT_CPU ? row->node->newest.pdcpu
           : sort == PFR_SORT_MEMORY ? pfr_top_node_memory(row->node)
                                     : io_of(row->node->newest.read, row->node->newest.write);
}

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By name: ranks and process ids by number, on nodes by name. */
static int by_name(const struct pfr_top_row *a, const struct pfr_top_row *b)
{
    int order = a->task ? order_of(a->task->rank, b->task->rank) : 0;

    if (order == 0)
        order = pfr_name_compare(a->node->name, b->node->name);
    if (order == 0 && a->process)
        order = order_of(a->process->pid, b->process->pid);
    return order;
}

struct order {
    enum pfr_top_sort sort;
    int sign;
};

/* The largest first; what is not known comes last either way. */
static int compare(const void *left, const void *right, void *arg)
{
    const struct pfr_top_row *a = left, *b = right;
    const struct order *order = arg;
    int64_t x, y;

    if (order->sort == PFR_SORT_NAME)
        return order->sign * by_name(a, b);
    x = value_of(a, order->sort);
    y = value_of(b, order->sort);
    if (x == y)
        return by_name(a, b);
    if (x == PFR_ABSENT || y == PFR_ABSENT)
        return x == PFR_ABSENT ? 1 : -1;
    return order->sign * order_of(y, x);
}

struct pfr_top_row *pfr_top_rows(const struct pfr_top *top, enum pfr_top_pane pane,
                                 enum pfr_top_sort sort, bool reverse, size_t *count)
{
    struct order order = { sort, reverse ? -1 : 1 };
    struct pfr_top_row *rows;
    size_t total = 0, n = 0;

    *count = 0;
    for (size_t i = 0; i < top->node_count; i++)
        total += count_of(top->nodes[i], pane);
    rows = total ? calloc(total, sizeof(*rows)) : NULL;
    if (!rows)
        return NULL;
    for (size_t i = 0; i < top->node_count; i++) {
        const struct pfr_top_node *node = top->nodes[i];

        for (size_t k = 0; k < count_of(node, pane); k++)
            rows[n++] = (struct pfr_top_row){
                .node = node,
                .task = pane == PFR_PANE_TASKS ? &node->tasks.list[k] : NULL,
                .process = pane == PFR_PANE_PROCESSES ? &node->rows[k] : NULL,
            };
    }
    qsort_r(rows, n, sizeof(*rows), compare, &order);
    *count = n;
    return rows;
}
