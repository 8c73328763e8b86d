/* The head of a checkpoint: its number and times, and the plan that it is of, as far as what it has depends on it.
 *
 *     record 0:  format, number, topology, ns of the runtime's clock, ns of the wall clock, complete, executors
 *     one more for each component, in the plan's order:
 *                name, spout, tasks, by key, version of its records, its streams: ((stream, field, ...), ...),
 *                its inputs: ((source, stream, grouping, field, ...), ...), the name that its keyed state has in the store
 *
 *          Whether that fits the plan of now, and what becomes of what does not, is runtime/adopt.h's.
 * Threads: any. Owner: what is read is in the head's own memory. */
#ifndef GX_RUNTIME_IMAGE_H
#define GX_RUNTIME_IMAGE_H

#include "ds/changes.h"
#include "engine/rest_back.h"
#include "topology/plan.h"

enum { GX_IMAGE_FORMAT = 1 };

typedef struct gx_image {
    uint64_t number;
    int64_t time; /* of the runtime's clock */
    int64_t wall;
    bool complete; /* it is of the end of a run */
} gx_image;

/* Puts it, and the plan, under the head's key. `kept`: by component, the name of its keyed state, or NULL for its own. */
void gx_image_write(const gx_image *image, const gx_plan *plan, const char *const *kept, gx_changes *changes);

/* A component that a checkpoint has: beside what gx_rest_component says. */
typedef struct gx_image_component {
    uint32_t version;
    bool spout, by_key;
    gale_value streams, inputs; /* lists of lists of texts, in the head's memory */
    const char *kept;           /* the name of its keyed state */
} gx_image_component;

/* A head that was read. */
typedef struct gx_image_head {
    gx_heap *heap;
    gx_buf bytes; /* as they were read */
    gx_buf texts; /* names, each with its end */
    gx_image image;
    uint32_t count, room;
    gx_rest_component *components; /* what they are now is not known yet */
    gx_image_component *about;
} gx_image_head;

/* GALE_DAMAGED, GALE_UNSUPPORTED (another format), GALE_STATE (another topology's), GALE_NO_MEMORY. `head` is to be ended in
 * any case. */
int gx_image_read(gx_image_head *head, gx_heap *heap, gale_str value, const gx_plan *plan, gale_error *error);
void gx_image_end(gx_image_head *head);

/* What a component of the plan says of going on, or NULL. */
const gale_durable_ops *gx_image_durable(const gx_plan_component *component);

#endif
