/* What is left of an executor's work when a checkpoint is cut: everything that is not a component's own and not in its
 * keyed state. Written as records (topology/saver.h), each of which begins with its kind:
 *
 *     tree     an open tree, with its sum; one that waits to be emitted again; its tuple, where one is kept
 *     row      a tuple in a queue
 *     held     a tuple that a task holds, under its handle
 *     slots    the generations of a task's handles
 *     command  of a remote, accepted and not carried out
 *     acker    what an acker task knows of a tree
 *     task     the random numbers that are next, and when a tick is due
 *     tick     one whose emission in parts had begun (engine/parts.h); it stands before all else that waits for its task
 *
 *          Components are named by their number in the plan that the checkpoint's head describes (runtime/image.h), tasks
 *          by their place in the component: another plan has others. Roots are those of the run that saved; whoever
 *          brings trees back gives them new ones, and everything else is told by a map.
 * Threads: the executor's while it saves; nobody else's runs when it is brought back, before the start. */
#ifndef GX_ENGINE_REST_H
#define GX_ENGINE_REST_H

#include "engine/executor.h"

typedef enum gx_rest_kind {
    GX_REST_TREE = 1,
    GX_REST_ROW,
    GX_REST_HELD,
    GX_REST_SLOTS,
    GX_REST_COMMAND,
    GX_REST_ACKER,
    GX_REST_TASK,
    GX_REST_TICK,
} gx_rest_kind;

/* How many values each kind has, at the least. */
enum {
    GX_REST_TREE_VALUES = 8,
    GX_REST_TREE_KEPT_VALUES = 15,
    GX_REST_ROW_VALUES = 9,
    GX_REST_HELD_VALUES = 12,
    GX_REST_SLOTS_VALUES = 4,
    GX_REST_COMMAND_VALUES = 11,
    GX_REST_ACKER_VALUES = 5,
    GX_REST_TASK_VALUES = 6,
    GX_REST_TICK_VALUES = 3,
};

/* Appends all. When memory is out, or something is too large, that is what it returns. */
int gx_rest_save(gx_executor *ex, gx_buf *records);

#endif
