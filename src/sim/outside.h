/* What sinks of durable runs write to, and what outlives them: parts, which are prepared and then committed, as a database
 * takes them; and files, which are appended to and cut back.
 * Threads: one. Owner: memory is the C library's. A dead process changes nothing: who calls looks. */
#ifndef GX_SIM_OUTSIDE_H
#define GX_SIM_OUTSIDE_H

#include "base/buf.h"

/* One effect: a tuple of `message` with this path. */
typedef struct gx_effect {
    uint64_t message, path;
} gx_effect;

/* Of one task of a sink. A file is a part without a checkpoint. */
typedef struct gx_part {
    uint32_t component, task;
    uint64_t checkpoint;
    bool committed;
    gx_buf effects;
} gx_part;

typedef struct gx_outside {
    gx_heap heap;
    gx_part *parts;
    size_t count, capacity;
} gx_outside;

void gx_outside_init(gx_outside *outside);
void gx_outside_fini(gx_outside *outside);

/* The part, or NULL. */
gx_part *gx_outside_find(const gx_outside *outside, uint32_t component, uint32_t task, uint64_t checkpoint);

/* Prepares it, in place of one of this name that was never committed. GALE_NO_MEMORY; GALE_EXISTS: it is committed. */
int gx_outside_prepare(gx_outside *outside, uint32_t component, uint32_t task, uint64_t checkpoint,
                       const gx_buf *effects);

/* Undoes those of the task that are prepared and not committed. */
void gx_outside_undo(gx_outside *outside, uint32_t component, uint32_t task);

/* The file of the task, made when there is none. NULL: no memory. */
gx_part *gx_outside_file(gx_outside *outside, uint32_t component, uint32_t task);

#endif
