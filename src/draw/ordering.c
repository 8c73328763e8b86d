#include "draw/ordering.h"

#include <stdlib.h>

enum {
    TRANSPOSES = 4,     /* passes over all layers, a sweep */
    PAIR_MAX = 1 << 12, /* of neighbours: two stops that have more in common are not compared */
    FRUITLESS_MAX = 6,  /* sweeps that save nothing */
    FRACTION = 1 << 8   /* of a place, that a median may be between two */
};

typedef struct keyed_stop {
    int64_t key;
    uint32_t order, stop;
} keyed_stop;

typedef struct ordering {
    gx_layering *l;
    keyed_stop *sorted; /* of one layer */
    uint32_t *places;   /* of one layer, or of one stop's neighbours */
    uint32_t *sums;     /* of one layer: a tree of counts */
    uint32_t *best;     /* each stop's order */
    uint32_t *stack;
    bool *seen;
} ordering;

/* --- A first order: depth first, so that a tree has no crossings --------------------------------------------------- */

static void walk_from(const ordering *o, uint32_t start, bool last_first) {
    gx_layering *l = o->l;
    bool *seen = o->seen;
    uint32_t *stack = o->stack;
    uint32_t depth = 0;
    if (seen[start]) return;
    seen[start] = true;
    stack[depth++] = start;
    while (depth) {
        uint32_t s = stack[--depth];
        gx_stop *stop = &l->stops[s];
        gx_layer *layer = &l->layers[stop->layer];
        stop->order = layer->count;
        layer->stops[layer->count++] = s;
        for (uint32_t i = 0; i < stop->down_count; i++) {
            uint32_t below = stop->down[last_first ? i : stop->down_count - 1 - i];
            if (seen[below]) continue;
            seen[below] = true;
            stack[depth++] = below;
        }
    }
}

/* Nodes are the first stops, and everything is below one. */
static void walk(const ordering *o, bool last_first) {
    uint32_t count = o->l->graph->node_count;
    for (uint32_t i = 0; i < o->l->layer_count; i++) o->l->layers[i].count = 0;
    for (uint32_t s = 0; s < o->l->stop_count; s++) o->seen[s] = false;
    for (int first = 1; first >= 0; first--)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t node = last_first ? count - 1 - i : i;
            if (!first || o->l->stops[node].layer == 0) walk_from(o, node, last_first);
        }
}

/* --- Crossings ----------------------------------------------------------------------------------------------------- */

/* Between a layer and the next: of two lines whose upper ends are in order, the lower ones are not (Barth, Juenger and Mutzel
 * 2002). `sums` counts, as a tree over the places, the lower ends that were seen. */
static uint64_t crossings_below(const ordering *o, const gx_layer *layer, const gx_layer *below) {
    const gx_stop *stops = o->l->stops;
    uint64_t crossings = 0;
    uint32_t seen = 0;
    for (uint32_t i = 0; i <= below->count; i++) o->sums[i] = 0;
    for (uint32_t i = 0; i < layer->count; i++) {
        const gx_stop *stop = &stops[layer->stops[i]];
        for (uint32_t k = 0; k < stop->down_count; k++) {
            crossings += seen;
            for (uint32_t at = stops[stop->down[k]].order + 1; at; at &= at - 1) crossings -= o->sums[at];
        }
        for (uint32_t k = 0; k < stop->down_count; k++, seen++)
            for (uint32_t at = stops[stop->down[k]].order + 1; at <= below->count; at += at & -at) o->sums[at]++;
    }
    return crossings;
}

static uint64_t count_crossings(const ordering *o) {
    uint64_t crossings = 0;
    for (uint32_t i = 0; i + 1 < o->l->layer_count; i++)
        crossings += crossings_below(o, &o->l->layers[i], &o->l->layers[i + 1]);
    return crossings;
}

/* --- Medians ------------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b) {
    const keyed_stop *x = a, *y = b;
    if (x->key != y->key) return (x->key > y->key) - (x->key < y->key);
    return (x->order > y->order) - (x->order < y->order);
}

/* In parts of a place; between the two in the middle, nearer to where there are more close together. */
static int64_t median(const ordering *o, const uint32_t *neighbours, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) o->places[i] = o->l->stops[neighbours[i]].order;
    qsort(o->places, count, sizeof *o->places, by_number);
    const uint32_t *places = o->places;
    uint32_t middle = count / 2;
    if (count % 2) return (int64_t)places[middle] * FRACTION;
    int64_t a = places[middle - 1], b = places[middle];
    int64_t left = a - places[0], right = places[count - 1] - b;
    return left + right ? (a * right + b * left) * FRACTION / (left + right) : (a + b) * FRACTION / 2;
}

/* Stops that have no neighbours there keep their places; the others share the rest. `last_first`: among equal ones. */
static void sort_layer(const ordering *o, gx_layer *layer, bool by_upper, bool last_first) {
    uint32_t count = 0, next = 0;
    for (uint32_t i = 0; i < layer->count; i++) {
        const gx_stop *stop = &o->l->stops[layer->stops[i]];
        uint32_t neighbours = by_upper ? stop->up_count : stop->down_count;
        if (!neighbours) continue;
        int64_t key = median(o, by_upper ? stop->up : stop->down, neighbours);
        o->sorted[count++] = (keyed_stop){ key, last_first ? layer->count - i : i, layer->stops[i] };
    }
    qsort(o->sorted, count, sizeof *o->sorted, by_key);
    for (uint32_t i = 0; i < layer->count; i++) {
        const gx_stop *stop = &o->l->stops[layer->stops[i]];
        if (by_upper ? stop->up_count : stop->down_count) layer->stops[i] = o->sorted[next++].stop;
        o->l->stops[layer->stops[i]].order = i;
    }
}

static void sweep(const ordering *o, uint32_t number) {
    bool last_first = number % 4 >= 2;
    if (number % 2 == 0)
        for (uint32_t i = 1; i < o->l->layer_count; i++) sort_layer(o, &o->l->layers[i], true, last_first);
    else
        for (uint32_t i = o->l->layer_count - 1; i-- > 0;) sort_layer(o, &o->l->layers[i], false, last_first);
}

/* --- Changing places ----------------------------------------------------------------------------------------------- */

/* How many crossings less there are between the lines of two stops when they change places, on one side. */
static int64_t saved(const gx_stop *stops, const uint32_t *left, uint32_t lefts, const uint32_t *right,
                     uint32_t rights) {
    int64_t saved = 0;
    for (uint32_t i = 0; i < lefts; i++)
        for (uint32_t k = 0; k < rights; k++) {
            uint32_t a = stops[left[i]].order, b = stops[right[k]].order;
            saved += (a > b) - (a < b);
        }
    return saved;
}

static bool may_change(const ordering *o, uint32_t left, uint32_t right) {
    const gx_stop *a = &o->l->stops[left], *b = &o->l->stops[right];
    if ((uint64_t)a->up_count * b->up_count + (uint64_t)a->down_count * b->down_count > PAIR_MAX) return false;
    return saved(o->l->stops, a->up, a->up_count, b->up, b->up_count) +
               saved(o->l->stops, a->down, a->down_count, b->down, b->down_count) >
           0;
}

static bool change_in(const ordering *o, gx_layer *layer) {
    bool changed = false;
    for (uint32_t i = 0; i + 1 < layer->count; i++) {
        uint32_t left = layer->stops[i], right = layer->stops[i + 1];
        if (!may_change(o, left, right)) continue;
        layer->stops[i] = right;
        layer->stops[i + 1] = left;
        o->l->stops[right].order = i;
        o->l->stops[left].order = i + 1;
        changed = true;
    }
    return changed;
}

static void transpose(const ordering *o) {
    bool changed = true;
    for (int pass = 0; changed && pass < TRANSPOSES; pass++) {
        changed = false;
        for (uint32_t i = 0; i < o->l->layer_count; i++) changed |= change_in(o, &o->l->layers[i]);
    }
}

/* --- All ----------------------------------------------------------------------------------------------------------- */

static bool take(ordering *o) {
    size_t widest = 0;
    gx_pieces *memory = &o->l->memory;
    for (uint32_t i = 0; i < o->l->layer_count; i++)
        if (o->l->layers[i].count > widest) widest = o->l->layers[i].count;
    o->sorted = gx_pieces_take(memory, widest, sizeof *o->sorted);
    o->places = gx_pieces_take(memory, widest,
                               sizeof *o->places); /* no stop has more neighbours than a layer has stops */
    o->sums = gx_pieces_take(memory, widest + 1, sizeof *o->sums);
    o->best = gx_pieces_take(memory, o->l->stop_count, sizeof *o->best);
    o->stack = gx_pieces_take(memory, o->l->stop_count, sizeof *o->stack);
    o->seen = gx_pieces_take(memory, o->l->stop_count, sizeof *o->seen);
    return o->sorted && o->places && o->sums && o->best && o->stack && o->seen;
}

static void keep(const ordering *o) {
    for (uint32_t s = 0; s < o->l->stop_count; s++) o->best[s] = o->l->stops[s].order;
}

static void restore(const ordering *o) {
    for (uint32_t s = 0; s < o->l->stop_count; s++) {
        gx_stop *stop = &o->l->stops[s];
        stop->order = o->best[s];
        o->l->layers[stop->layer].stops[stop->order] = s;
    }
}

/* Keeps the order that is there if it is better than `best`, the crossings of the best one. */
static bool is_better(const ordering *o, uint64_t *best) {
    uint64_t now = count_crossings(o);
    if (now >= *best) return false;
    *best = now;
    keep(o);
    return true;
}

/* From a walk with the first in front or the last, downwards first or upwards. */
static void improve_from(const ordering *o, uint32_t start, uint64_t *best) {
    walk(o, start % 2);
    (void)is_better(o, best);
    for (uint32_t i = 0, fruitless = 0; i < GX_ORDERING_SWEEPS && *best && fruitless < FRUITLESS_MAX;
         i++, fruitless++) {
        sweep(o, i + start / 2);
        transpose(o);
        if (is_better(o, best)) fruitless = 0;
    }
}

static void improve(const ordering *o) {
    uint32_t starts = o->l->stop_count > GX_ORDERING_MANY ? 1 : GX_ORDERING_STARTS;
    uint64_t best = UINT64_MAX;
    for (uint32_t start = 0; start < starts && best; start++) improve_from(o, start, &best);
    restore(o);
    o->l->crossings = best > UINT32_MAX ? UINT32_MAX : (uint32_t)best;
}

static void sort_neighbours(const ordering *o, uint32_t *neighbours, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        o->sorted[i] = (keyed_stop){ o->l->stops[neighbours[i]].order, 0, neighbours[i] };
    qsort(o->sorted, count, sizeof *o->sorted, by_key);
    for (uint32_t i = 0; i < count; i++) neighbours[i] = o->sorted[i].stop;
}

bool gx_ordering_do(gx_layering *layering) {
    ordering o = { .l = layering };
    if (!layering->layer_count) return true;
    if (!take(&o)) return false;
    improve(&o);
    for (uint32_t s = 0; s < layering->stop_count; s++) {
        sort_neighbours(&o, layering->stops[s].up, layering->stops[s].up_count);
        sort_neighbours(&o, layering->stops[s].down, layering->stops[s].down_count);
    }
    return true;
}
