/* Emitting: from values to rows in the open batches of their targets.
 *
 * What:    an emit measures the values, computes the routes, makes sure of room in all destinations, and then encodes
 *          once and copies or shares. It runs no component and blocks on nothing. What most tuples take is this with
 *          much left out: engine/short.h. A body that is encoded already (a remote's, a replay's) is neither measured nor
 *          encoded again: its bytes are copied once, or its block is shared; values are made of it where a grouping or a
 *          watcher reads them.
 *          Anchors: each destination draws one fresh edge id an anchor tuple; the id goes into that anchor's ack value
 *          once, and under each of its roots into the new row; two anchors with a root in common XOR their ids
 *          under it (Storm's BoltOutputCollectorImpl).
 * Threads: the executor's own. */
#ifndef GX_ENGINE_EMIT_H
#define GX_ENGINE_EMIT_H

#include "engine/hooks.h"
#include "engine/taps.h"
#include "engine/turn.h"

/* What a component emits: to the tasks that groupings choose, or to `direct`, if it is not 0. Its values are `values`, or those
 * of `body`. */
typedef struct gx_emission {
    uint32_t direct;
    uint32_t stream;
    const gale_value *values;
    size_t count;
    const uint64_t *message_id; /* a spout's tracked tuple; else NULL */
    uint32_t chosen;            /* targets that the groupings chose already, in the scratch; 0: none yet */
    const gale_body *body;      /* the same, encoded; NULL: not yet */
    size_t body_size;
    gx_block *block; /* that the body begins; NULL: it lies elsewhere */
} gx_emission;

/* A body as an emission. */
GX_INLINE gx_emission gx_emission_of(uint32_t stream, const gale_body *body, size_t body_size) {
    return (gx_emission){ .stream = stream, .count = gale_body_count(body), .body = body, .body_size = body_size };
}

/* Where a new tuple's roots come from: nowhere, a tree that a spout begins, or anchors. */
typedef struct gx_origin {
    const gx_anchor *anchors;
    size_t anchor_count;
    uint64_t begun;      /* the root of a spout's new tree, or 0 */
    uint64_t begun_xor;  /* its edges */
    uint64_t root_count; /* of the new tuple */
    int64_t deadline;    /* of the new tuple; 0: none */
    size_t member_count; /* several anchors: see unite */
    uint32_t overflowed; /* a spout's new tree: a task whose queue was at the limit, or 0 */
    bool letter;         /* a dead letter of the engine's own, to the stream behind the component's */
} gx_origin;

/* The values of a body, in the scratch, until the next body; as many as some stream has at the most. */
const gale_value *gx_emit_values_of(gx_executor *ex, const gale_body *body, size_t count);

/* Returns how many tasks it goes to, or GALE_NOT_FOUND, GALE_FIELDS, GALE_STATE, GALE_INVALID, GALE_TOO_LARGE,
 * GALE_NO_MEMORY: then nothing was emitted. */
int gx_emit(gx_task *task, const gx_emission *emission, gx_origin *from);

/* The same for a spout's tracked tuple, which opens a tree. Also GALE_AGAIN: then, and when there is no memory for the
 * tree, `begun` stays 0. */
int gx_emit_tree(gx_task *task, const gx_emission *emission, gx_origin *from);

/* Does somebody want to see what the task emits? Then it is to be shown, once it has gone to so many tasks. */
GX_INLINE bool gx_emit_is_watched(const gx_task *task) {
    return task->hook_count || task->tapped;
}

GX_INLINE void gx_emit_show(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                            const uint64_t *message_id, uint32_t targets) {
    if (task->hook_count) gx_hooks_call_emit(task, stream, values, count, targets);
    if (task->tapped) gx_taps_show(task, stream, values, count, message_id);
}

/* The deadline of a tree that begins now; 0: none. */
GX_INLINE int64_t gx_emit_deadline(const gx_executor *ex) {
    int64_t span = ex->deadline;
    if (!span) return 0;
    return GX_LIKELY(span < INT64_MAX - ex->now) ? ex->now + span : INT64_MAX;
}

/* Keeps the tuple that the tree with this root begins with. As gx_retention_keep. */
int gx_emit_retain(gx_task *task, uint32_t stream, const gale_value *values, size_t count, uint64_t root);

/* The same for the next root and one value that is brief (tuple/flat.h). False: no memory. */
bool gx_emit_retain_brief(gx_task *task, uint32_t stream, const gale_value *value);

/* The last part of it: the emit has drawn its edges. */
void gx_emit_begun(gx_task *task, const gx_origin *from);

#endif
