/* The collector that the engine gives to components: emit, anchor, ack, fail, hold.
 *
 * What:    an emit measures the values, computes the routes, makes sure of room in all destinations, and then encodes
 *          once and copies or shares. It runs no component and blocks on nothing.
 *          Anchors: each destination draws one fresh edge id an anchor tuple; the id goes into that anchor's ack value
 *          once, and under each of its roots into the new record; two anchors with a root in common XOR their ids
 *          under it (Storm's BoltOutputCollectorImpl).
 * Threads: the task's. */
#ifndef GX_ENGINE_COLLECTOR_H
#define GX_ENGINE_COLLECTOR_H

#include "engine/executor.h"

const gale_collector_ops *gx_collector_ops(void);

/* A record for `task` that finds its queue at the limit: its trees fail with reason `overflow`, its blocks go back. */
void gx_collector_overflow(gx_executor *ex, gx_task *task, const gale_head *head);

/* Answers the tuple in execution when its call has returned: `rc` is what it returned. */
void gx_collector_settle_current(gx_executor *ex, int rc);

#endif
