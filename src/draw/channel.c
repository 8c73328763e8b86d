#include "draw/channel.h"

#include <stdlib.h>

enum {
    ASIDE = 3, /* where a net leaves a component whose middle another has */
    NO_COLUMN = -1000
};

typedef struct making {
    const gx_layering *l;
    gx_channel *channel;
    uint32_t *owners;  /* of a column: the net that ends there on the other layer, counted from 1 */
    uint32_t *least;   /* of a net: the first row that it may have */
    uint32_t *waiting; /* of a net: how many must have their rows before it does */
    uint32_t *sorted;  /* nets */
    uint32_t *busy;    /* of a row: the last net that could not have it, counted from 1 */
    bool nodes_above;
} making;

/* --- Nets ---------------------------------------------------------------------------------------------------------- */

static bool is_back(const gx_layering *l, uint32_t stop) {
    return l->graph->edges[l->stops[stop].of].back;
}

/* What goes from a component to the stops of edges on the other layer, in one of both directions. */
static bool add_net(making *m, gx_pieces *memory, uint32_t stop, bool back) {
    const gx_stop *from = &m->l->stops[stop];
    const uint32_t *others = m->nodes_above ? from->down : from->up;
    uint32_t count = m->nodes_above ? from->down_count : from->up_count;
    gx_channel_net net = { .stop = stop, .back = back };
    for (uint32_t i = 0; i < count; i++) net.end_count += is_back(m->l, others[i]) == back;
    if (!net.end_count) return true;
    net.ends = gx_pieces_take(memory, net.end_count, sizeof *net.ends);
    if (!net.ends) return false;
    net.end_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_back(m->l, others[i]) == back) net.ends[net.end_count++] = (uint32_t)m->l->stops[others[i]].at;
    m->channel->nets[m->channel->net_count++] = net;
    for (uint32_t i = 0; i < net.end_count; i++) m->owners[net.ends[i]] = m->channel->net_count;
    return true;
}

/* --- Where they leave ---------------------------------------------------------------------------------------------- */

static bool is_free(const making *m, uint32_t net, int64_t column, const gx_stop *stop, int64_t taken) {
    if (column <= stop->at - stop->extent.before || column >= stop->at + stop->extent.after) return false;
    uint32_t owner = m->owners[column];
    return (owner == 0 || owner == net + 1) && (column < taken - 1 || column > taken + 1);
}

/* The end that is nearest to the middle of the box, if it is below or above it, so that the line to it is straight. */
static int64_t straight_port(const making *m, uint32_t number, int64_t taken) {
    const gx_channel_net *net = &m->channel->nets[number];
    const gx_stop *stop = &m->l->stops[net->stop];
    int64_t best = NO_COLUMN;
    for (uint32_t i = 0; i < net->end_count; i++) {
        int64_t end = net->ends[i];
        bool nearer = best == NO_COLUMN || llabs(end - stop->at) < llabs(best - stop->at);
        if (nearer && is_free(m, number, end, stop, taken)) best = end;
    }
    return best;
}

/* Else near the middle, where nothing else ends. */
static uint32_t choose_port(const making *m, uint32_t number, int64_t taken) {
    const gx_stop *stop = &m->l->stops[m->channel->nets[number].stop];
    int64_t middle = stop->at, room = stop->extent.before + stop->extent.after;
    if (stop->kind != GX_STOP_NODE) return (uint32_t)stop->at;
    int64_t straight = straight_port(m, number, taken);
    if (straight != NO_COLUMN) return (uint32_t)straight;
    if (taken >= 0) middle += ASIDE;
    for (int64_t aside = 0; aside <= room; aside++) {
        if (is_free(m, number, middle + aside, stop, taken)) return (uint32_t)(middle + aside);
        if (is_free(m, number, middle - aside, stop, taken)) return (uint32_t)(middle - aside);
    }
    return (uint32_t)stop->at;
}

static void find_ports(const making *m) {
    for (uint32_t i = 0; i < m->channel->net_count; i++) {
        gx_channel_net *net = &m->channel->nets[i];
        bool second = i && net[-1].stop == net->stop;
        net->port = choose_port(m, i, second ? (int64_t)net[-1].port : NO_COLUMN);
        net->first = net->last = net->port;
        for (uint32_t k = 0; k < net->end_count; k++) {
            if (net->ends[k] < net->first) net->first = net->ends[k];
            if (net->ends[k] > net->last) net->last = net->ends[k];
        }
    }
}

/* --- Rows ---------------------------------------------------------------------------------------------------------- */

/* The net that ends in the column in which this one leaves, counted from 1: its row must be farther away. */
static uint32_t farther(const making *m, uint32_t net) {
    uint32_t owner = m->owners[m->channel->nets[net].port];
    return owner == net + 1 ? 0 : owner;
}

static bool is_straight(const gx_channel_net *net) {
    return net->first == net->last;
}

/* The first row that is free from its first column to its last one, with a blank on both sides. */
static void find_row(const making *m, uint32_t number, const uint32_t *placed, uint32_t placed_count) {
    gx_channel_net *net = &m->channel->nets[number];
    for (uint32_t i = 0; i < placed_count; i++) {
        const gx_channel_net *other = &m->channel->nets[placed[i]];
        if (other->last + 1 >= net->first && other->first <= net->last + 1) m->busy[other->row] = number + 1;
    }
    net->row = m->least[number];
    while (m->busy[net->row] == number + 1) net->row++;
    if (net->row > m->channel->rows) m->channel->rows = net->row;
    uint32_t next = farther(m, number);
    if (!next) return;
    if (m->least[next - 1] <= net->row) m->least[next - 1] = net->row + 1;
    if (m->waiting[next - 1]) m->waiting[next - 1]--;
}

/* Puts those that may have a row in the order of their first columns; where each waits for another, the first one may. */
static void find_rows(const making *m, uint32_t *placed) {
    uint32_t count = m->channel->net_count, left = 0, done = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!is_straight(&m->channel->nets[i])) m->sorted[left++] = i;
    while (left) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left; i++) {
            if (m->waiting[m->sorted[i]]) {
                m->sorted[kept++] = m->sorted[i];
                continue;
            }
            find_row(m, m->sorted[i], placed, done);
            placed[done++] = m->sorted[i];
        }
        if (kept == left) m->waiting[m->sorted[0]] = 0;
        left = kept;
    }
}

static bool arrange(making *m, gx_pieces *memory) {
    size_t count = m->channel->net_count;
    uint32_t *placed = gx_pieces_take(memory, count, sizeof *placed);
    m->least = gx_pieces_take(memory, count, sizeof *m->least);
    m->waiting = gx_pieces_take(memory, count, sizeof *m->waiting);
    m->sorted = gx_pieces_take(memory, count, sizeof *m->sorted);
    m->busy = gx_pieces_take(memory, 2 * count + 2,
                             sizeof *m->busy); /* a row of its own for each, behind those it waits for */
    if (!placed || !m->least || !m->waiting || !m->sorted || !m->busy) return false;
    for (uint32_t i = 0; i < count; i++) m->least[i] = 1;
    for (uint32_t i = 0; i < count; i++)
        if (farther(m, i) && !is_straight(&m->channel->nets[i])) m->waiting[farther(m, i) - 1]++;
    find_rows(m, placed);
    return true;
}

bool gx_channel_make(const gx_layering *layering, uint32_t above, gx_pieces *memory, gx_channel *ret_channel) {
    making m = { .l = layering, .channel = ret_channel, .nodes_above = above % 2 == 0 };
    const gx_layer *nodes = &layering->layers[m.nodes_above ? above : above + 1];
    *ret_channel = (gx_channel){ .nets = NULL };
    ret_channel->nets = gx_pieces_take(memory, 2 * (size_t)nodes->count, sizeof *ret_channel->nets);
    m.owners = gx_pieces_take(memory, (size_t)layering->width + 1, sizeof *m.owners);
    if (!ret_channel->nets || !m.owners) return false;
    for (uint32_t i = 0; i < nodes->count; i++)
        if (!add_net(&m, memory, nodes->stops[i], false) || !add_net(&m, memory, nodes->stops[i], true)) return false;
    find_ports(&m);
    return arrange(&m, memory);
}
