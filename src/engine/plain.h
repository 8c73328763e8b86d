/* The plain path of a new tuple, which most take: scalars and short text, to one task, with one root or none. Several
 * targets have a plain path of their own (engine/spread.h). What is in its way (many roots, hooks, deadlines, a queue
 * that is full or needs more memory, a ring's end) is said no to, and engine/emit.h takes over.
 *
 * What:    the body is written where it will lie, behind room for head and root, before anything is counted or drawn:
 *          one pass over the values. Then nothing can fail: the caller draws the edge, and gx_plain_send makes it a
 *          record. For one value and a target that is known, no function is called and no register saved.
 * Threads: the executor's own. */
#ifndef GX_ENGINE_PLAIN_H
#define GX_ENGINE_PLAIN_H

#include "engine/executor.h"
#include "tuple/flat.h"

/* A tuple that is being written. */
typedef struct gx_plain {
    gx_stream_routes *routes;
    gx_task *target;
    gale_head *head; /* where it may be written; NULL: something is to be prepared, or said, first */
    size_t body_size;
} gx_plain;

/* The routes of a tuple that may be plain, or NULL. A queue has room for GX_PLAIN_MAX bytes, or is not asked. */
GX_INLINE gx_stream_routes *gx_plain_routes(const gx_task *task, uint32_t stream, size_t count) {
    if (GX_UNLIKELY(stream >= task->stream_count)) return NULL;
    gx_stream_routes *routes = &task->streams[stream];
    bool plain = count == routes->plain_count && !task->executor->watched;
    return GX_LIKELY(plain) ? routes : NULL;
}

GX_INLINE void *gx_plain_reserve(gx_executor *ex, const gx_task *target) {
    if (GX_LIKELY(target->executor == ex)) {
        bool free = gx_fifo_has_room(&ex->local, GX_PLAIN_MAX) && target->queued <= ex->queue_plain;
        return GX_LIKELY(free) ? ex->local.back : NULL;
    }
    gx_outlet *outlet = &ex->outlets[target->executor->index];
    return GX_LIKELY(outlet->outbox.count == 0) ? gx_ring_reserve(&outlet->ring, GX_PLAIN_MAX) : NULL;
}

/* For routes that have one target, ever. False: gx_plain_choose is to do it. */
GX_INLINE bool gx_plain_reserve_sole(gx_executor *ex, gx_plain *p) {
    p->target = p->routes->sole;
    p->head = gx_plain_reserve(ex, p->target);
    return GX_LIKELY(p->head != NULL);
}

/* May the grouping look at its fields? What is no value must be refused first, and lists are not plain. */
GX_INLINE bool gx_plain_keys(const gx_plan_edge *edge, const gale_value *values) {
    for (uint32_t i = 0; i < edge->field_count; i++)
        if (!gx_flat_is_valid(&values[edge->fields[i]])) return false;
    return true;
}

/* The target, and a new chunk for the queue whose last one is nearly full. No target: the tuple is not plain. */
GX_INLINE gx_plain gx_plain_choose(gx_executor *ex, gx_stream_routes *routes, const gale_value *values) {
    gx_task *target = routes->sole;
    if (GX_UNLIKELY(!gx_plain_keys(routes->routes[0].edge, values))) return (gx_plain){ .routes = routes };
    if (!target) target = ex->shared->tasks[gx_route_one(&routes->routes[0], values)];
    if (routes->routes[0].edge->task_count == 1) routes->sole = target;
    if (target->executor == ex && !gx_fifo_has_room(&ex->local, GX_PLAIN_MAX)) gx_fifo_extend(&ex->local, &ex->chunks);
    return (gx_plain){ .routes = routes, .target = target, .head = gx_plain_reserve(ex, target) };
}

/* Writes the body, behind room for so many roots, 0 or 1. False: it is not plain, and nothing was done. */
GX_INLINE bool gx_plain_write(gx_plain *p, const gale_value *values, size_t count, size_t roots) {
    size_t before = sizeof(gale_head) + roots * sizeof(gx_root);
    p->body_size = gx_flat_write(values, count, (uint8_t *)p->head + before, GX_PLAIN_MAX - before);
    return GX_LIKELY(p->body_size != 0);
}

/* With the root and edge of its tree, or none. */
GX_INLINE void gx_plain_send(gx_executor *ex, gx_plain p, uint32_t roots, uint64_t root, uint64_t edge) {
    gx_task *target = p.target;
    gale_head *head = p.head;
    uint32_t length = (uint32_t)(sizeof *head + p.body_size);
    *head = p.routes->head;
    head->target = target->id;
    head->body_size = (uint32_t)p.body_size;
    if (GX_LIKELY(roots)) {
        *(gx_root *)(head + 1) = (gx_root){ root, edge };
        head->roots = 1;
        length += (uint32_t)sizeof(gx_root);
    }
    head->length = length;
    ex->scratch.targets[0] = target->id;
    gx_count(&p.routes->counters.plain, 1);
    if (GX_LIKELY(target->executor == ex)) {
        gx_fifo_commit(&ex->local, length);
        target->queued += length; /* if that is above the mark, the next tuple is not plain, and tells */
    } else {
        gx_outlet *outlet = &ex->outlets[target->executor->index];
        gx_ring_commit(&outlet->ring, length);
        outlet->sent++;
    }
}

#endif
