#include "draw/placing.h"

#include <limits.h>

enum { WAYS = 4, NONE = -1 };

typedef struct placing {
    gx_layering *l;
    bool *crossed;     /* by the lower end's line, or the upper end's: gives way to a straight one */
    uint32_t *root;    /* of a stop's block */
    uint32_t *next;    /* in the block, round */
    uint32_t *waiting; /* of a root: stops of the block whose left neighbour is not placed */
    uint32_t *queue;
    int32_t *x[WAYS];
    bool by_upper, from_left; /* which way */
} placing;

/* --- Lines that give way ------------------------------------------------------------------------------------------- */

/* A line between two stops is known by the one of them that is no node: it has just one up and one down. */
static bool *crossed_at(const placing *p, uint32_t above, uint32_t below) {
    return p->l->stops[below].kind == GX_STOP_NODE ? &p->crossed[2 * (size_t)above]
                                                   : &p->crossed[2 * (size_t)below + 1];
}

static bool is_inner(const placing *p, uint32_t above, uint32_t below) {
    return p->l->stops[above].kind != GX_STOP_NODE && p->l->stops[below].kind != GX_STOP_NODE;
}

/* Lines to the stop that end outside of the places from `first` to `last` cross an inner one. */
static void mark(const placing *p, uint32_t below, uint32_t first, uint32_t last) {
    const gx_stop *stop = &p->l->stops[below];
    for (uint32_t i = 0; i < stop->up_count; i++) {
        uint32_t order = p->l->stops[stop->up[i]].order;
        if ((order < first || order > last) && !is_inner(p, stop->up[i], below))
            *crossed_at(p, stop->up[i], below) = true;
    }
}

/* An edge's own line between two of its stops is to be straight: what crosses it, and ends at a component, is not. */
static void mark_crossed(const placing *p, const gx_layer *above, const gx_layer *below) {
    uint32_t first = 0, marked = 0;
    for (uint32_t i = 0; i < below->count; i++) {
        const gx_stop *stop = &p->l->stops[below->stops[i]];
        bool inner = stop->up_count == 1 && is_inner(p, stop->up[0], below->stops[i]);
        if (!inner && i + 1 < below->count) continue;
        uint32_t last = inner ? p->l->stops[stop->up[0]].order : above->count - 1;
        while (marked <= i) mark(p, below->stops[marked++], first, last);
        first = last;
    }
}

/* --- One of the four ways ------------------------------------------------------------------------------------------ */

static uint32_t stop_at(const placing *p, const gx_layer *layer, uint32_t i) {
    return layer->stops[p->from_left ? i : layer->count - 1 - i];
}

static int64_t order_of(const placing *p, uint32_t s) {
    const gx_stop *stop = &p->l->stops[s];
    return p->from_left ? stop->order : p->l->layers[stop->layer].count - 1 - stop->order;
}

/* Joins a stop with the first of its median neighbours that is free and right of the last that was joined. */
static void align(const placing *p, uint32_t s, int64_t *joined) {
    const gx_stop *stop = &p->l->stops[s];
    const uint32_t *neighbours = p->by_upper ? stop->up : stop->down;
    uint32_t count = p->by_upper ? stop->up_count : stop->down_count;
    for (uint32_t m = (count - 1) / 2; count && m <= count / 2 && p->next[s] == s; m++) {
        uint32_t other = neighbours[p->from_left ? m : count - 1 - m];
        bool crossed = p->by_upper ? *crossed_at(p, other, s) : *crossed_at(p, s, other);
        if (crossed || order_of(p, other) <= *joined) continue;
        p->next[other] = s;
        p->root[s] = p->root[other];
        p->next[s] = p->root[s];
        *joined = order_of(p, other);
    }
}

static void align_all(const placing *p) {
    for (uint32_t s = 0; s < p->l->stop_count; s++) p->root[s] = p->next[s] = s;
    for (uint32_t i = 1; i < p->l->layer_count; i++) {
        const gx_layer *layer = &p->l->layers[p->by_upper ? i : p->l->layer_count - 1 - i];
        int64_t joined = NONE;
        for (uint32_t k = 0; k < layer->count; k++) align(p, stop_at(p, layer, k), &joined);
    }
}

/* The stop right of one, or UINT32_MAX. */
static uint32_t right_of(const placing *p, uint32_t s) {
    const gx_layer *layer = &p->l->layers[p->l->stops[s].layer];
    int64_t order = order_of(p, s) + 1;
    return order < layer->count ? stop_at(p, layer, (uint32_t)order) : UINT32_MAX;
}

static int32_t apart(const placing *p, uint32_t left, uint32_t right) {
    gx_extent a = p->l->stops[left].extent, b = p->l->stops[right].extent;
    return p->l->gap + (p->from_left ? a.after + b.before : a.before + b.after);
}

/* As far to the left as blocks go. Returns how many, in an order in which each comes behind those on its left. */
static uint32_t push_left(const placing *p, int32_t *x) {
    uint32_t found = 0, taken = 0;
    for (uint32_t s = 0; s < p->l->stop_count; s++) p->waiting[s] = 0, x[s] = 0;
    for (uint32_t s = 0; s < p->l->stop_count; s++) p->waiting[p->root[s]] += order_of(p, s) > 0;
    for (uint32_t s = 0; s < p->l->stop_count; s++)
        if (p->root[s] == s && !p->waiting[s]) p->queue[found++] = s;
    while (taken < found) {
        uint32_t block = p->queue[taken++], s = block;
        do {
            uint32_t right = right_of(p, s);
            if (right != UINT32_MAX) {
                int32_t least = x[block] + apart(p, s, right);
                uint32_t other = p->root[right];
                if (x[other] < least) x[other] = least;
                if (--p->waiting[other] == 0) p->queue[found++] = other;
            }
            s = p->next[s];
        } while (s != block);
    }
    return found;
}

/* Back to the right, as far as what is there allows; a block that has nothing there stays. */
static void pull_right(const placing *p, int32_t *x, uint32_t blocks) {
    for (uint32_t i = blocks; i-- > 0;) {
        uint32_t block = p->queue[i], s = block;
        int32_t most = INT32_MAX;
        do {
            uint32_t right = right_of(p, s);
            int32_t here = right == UINT32_MAX ? INT32_MAX : x[p->root[right]] - apart(p, s, right);
            if (here < most) most = here;
            s = p->next[s];
        } while (s != block);
        if (most != INT32_MAX && most > x[block]) x[block] = most;
    }
}

static void place_one_way(const placing *p, int32_t *x) {
    align_all(p);
    pull_right(p, x, push_left(p, x));
    for (uint32_t s = 0; s < p->l->stop_count; s++)
        if (p->root[s] != s) x[s] = x[p->root[s]];
    if (p->from_left) return;
    for (uint32_t s = 0; s < p->l->stop_count; s++) x[s] = -x[s];
}

/* --- All four ------------------------------------------------------------------------------------------------------ */

static void bounds(const placing *p, const int32_t *x, int32_t *ret_first, int32_t *ret_last) {
    *ret_first = INT32_MAX, *ret_last = INT32_MIN;
    for (uint32_t s = 0; s < p->l->stop_count; s++) {
        gx_extent extent = p->l->stops[s].extent;
        if (x[s] - extent.before < *ret_first) *ret_first = x[s] - extent.before;
        if (x[s] + extent.after > *ret_last) *ret_last = x[s] + extent.after;
    }
}

/* Those from the left begin where the narrowest does, those from the right end where it ends. */
static void line_up(const placing *p) {
    int32_t first[WAYS], last[WAYS];
    int narrowest = 0;
    for (int w = 0; w < WAYS; w++) {
        bounds(p, p->x[w], &first[w], &last[w]);
        if (last[w] - first[w] < last[narrowest] - first[narrowest]) narrowest = w;
    }
    for (int w = 0; w < WAYS; w++) {
        int32_t shift = w % 2 == 0 ? first[narrowest] - first[w] : last[narrowest] - last[w];
        for (uint32_t s = 0; s < p->l->stop_count; s++) p->x[w][s] += shift;
    }
}

/* Of four numbers; what is between two whole ones goes down for all alike. */
static int32_t middle(const placing *p, uint32_t s) {
    int64_t sum = 0, least = INT64_MAX, most = INT64_MIN;
    for (int w = 0; w < WAYS; w++) {
        int64_t x = p->x[w][s];
        sum += x;
        if (x < least) least = x;
        if (x > most) most = x;
    }
    sum -= least + most;
    return (int32_t)((sum - (sum & 1)) / 2);
}

static void balance(const placing *p) {
    int32_t first, last, *x = p->x[0];
    for (uint32_t s = 0; s < p->l->stop_count; s++) x[s] = middle(p, s);
    bounds(p, x, &first, &last);
    for (uint32_t s = 0; s < p->l->stop_count; s++) p->l->stops[s].at = x[s] - first;
    p->l->width = last - first;
}

static bool take(placing *p) {
    gx_pieces *memory = &p->l->memory;
    uint32_t count = p->l->stop_count;
    p->crossed = gx_pieces_take(memory, 2 * (size_t)count, sizeof *p->crossed);
    p->root = gx_pieces_take(memory, count, sizeof *p->root);
    p->next = gx_pieces_take(memory, count, sizeof *p->next);
    p->waiting = gx_pieces_take(memory, count, sizeof *p->waiting);
    p->queue = gx_pieces_take(memory, count, sizeof *p->queue);
    for (int w = 0; w < WAYS; w++)
        if (!(p->x[w] = gx_pieces_take(memory, count, sizeof *p->x[w]))) return false;
    return p->crossed && p->root && p->next && p->waiting && p->queue;
}

bool gx_placing_do(gx_layering *layering) {
    placing p = { .l = layering };
    if (!layering->layer_count) return true;
    if (!take(&p)) return false;
    for (uint32_t i = 0; i + 1 < layering->layer_count; i++)
        mark_crossed(&p, &layering->layers[i], &layering->layers[i + 1]);
    for (int w = 0; w < WAYS; w++) {
        p.by_upper = w < 2;
        p.from_left = w % 2 == 0;
        place_one_way(&p, p.x[w]);
    }
    line_up(&p);
    balance(&p);
    return true;
}
