/* The collector that the engine gives to components: emit, anchor, ack, fail, hold.
 *
 * What:    the calls of gale/component.h, for the task that they belong to: handles are looked up, emits go to
 *          engine/emit, answers to engine/acks.
 * Threads: the task's. */
#ifndef GX_ENGINE_COLLECTOR_H
#define GX_ENGINE_COLLECTOR_H

#include "engine/emit.h"

const gale_collector_ops *gx_collector_ops(void);

/* What gale_emit_anchored and gale_emit_tracked are. */
int gx_collector_emit_anchored(gx_task *task, const gx_emission *emission, const gale_handle *anchors,
                               size_t anchor_count);
int gx_collector_emit_tree(gx_task *task, const gx_emission *emission);

/* Answers the tuple in execution when its call has returned: `rc` is what it returned. The cursor stays the task's, for
 * the next of its run. */
void gx_collector_settle_current(gx_executor *ex, int rc);

#endif
