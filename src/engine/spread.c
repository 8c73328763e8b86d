#include "engine/spread.h"

#include "tuple/flat.h"

/* Room for as many records as there are targets, wherever they go, and nobody at a mark. */
static bool has_room(gx_executor *ex, const gx_spread *s, const gx_task *target) {
    if (GX_LIKELY(target->executor == ex)) return target->queued <= ex->queue_plain;
    gx_outlet *outlet = &ex->outlets[target->executor->index];
    return gx_outlet_is_clear(outlet) && gx_ring_reserve(&outlet->ring, s->length * s->count);
}

static bool make_room(gx_executor *ex, const gx_spread *s) {
    if (s->count > GX_CHUNK_ROOM / 2 / s->length) return false;
    uint32_t all = s->length * s->count;
    if (!gx_fifo_has_room(&ex->local, all) && !gx_fifo_extend(&ex->local, &ex->chunks)) return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (GX_UNLIKELY(!has_room(ex, s, ex->shared->tasks[ex->scratch.targets[i]]))) return false;
    return true;
}

bool gx_spread_prepare(gx_executor *ex, gx_stream_routes *routes, const gale_value *values, size_t count,
                       uint32_t roots, gx_spread *ret_spread) {
    gx_scratch *scratch = &ex->scratch;
    gx_spread s = { .routes = routes, .roots = roots };
    ret_spread->count = 0;
    if (GX_UNLIKELY(count == GX_NEVER_PLAIN || routes->fanout > scratch->target_capacity)) return false;
    s.body_size = gx_flat_write(values, count, scratch->body, sizeof scratch->body);
    if (GX_UNLIKELY(!s.body_size)) return false; /* groupings look at values that are valid */
    s.count = ret_spread->count = (uint32_t)gx_router_targets(routes, values, scratch->targets);
    s.length = (uint32_t)(sizeof(gale_head) + roots * sizeof(gx_root) + s.body_size);
    if (GX_UNLIKELY(!make_room(ex, &s))) return false;
    *ret_spread = s;
    return true;
}

/* There is room. */
GX_INLINE void *claim(gx_executor *ex, gx_task *target, uint32_t length) {
    if (GX_LIKELY(target->executor == ex)) {
        gx_executor_queued(ex, target, length);
        return gx_fifo_push(&ex->local, &ex->chunks, length);
    }
    return gx_outlet_claim(&ex->outlets[target->executor->index], &ex->chunks, length);
}

uint64_t gx_spread_send(gx_executor *ex, const gx_spread *spread, uint64_t root) {
    const gx_spread s = *spread;
    const uint16_t *targets = ex->scratch.targets;
    gale_head head = s.routes->head;
    uint64_t edges = 0;
    head.length = s.length;
    head.roots = (uint8_t)s.roots;
    head.body_size = (uint32_t)s.body_size;
    for (uint32_t i = 0; i < s.count; i++) {
        head.target = targets[i];
        gale_head *at = claim(ex, ex->shared->tasks[targets[i]], s.length);
        gx_root *pair = (gx_root *)(at + 1);
        *at = head;
        if (s.roots) {
            *pair = (gx_root){ root, gx_draw_edge(ex) };
            edges ^= pair->edge;
        }
        gx_flat_copy((uint8_t *)(pair + s.roots), ex->scratch.body, s.body_size);
    }
    gx_count(&s.routes->counters.other, 1);
    gx_count(&s.routes->counters.other_transferred, s.count);
    return edges;
}
