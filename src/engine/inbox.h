/* An executor's inbox: commands from threads of the application (gale/remote.h).
 *
 * What:    two queues of bytes, each a FIFO: what spouts emit, which may have to wait until the spout may run; and what
 *          bolts emit and answer, which waits only for congestion, and that clears by itself. So an answer never waits
 *          behind a spout that waits for answers. Bodies are encoded by the thread that emits. The owner takes a
 *          queue's bytes by swapping buffers, and works through them as it may.
 *
 *              open --drain--> no spout's tuples --all have finished--> nothing more --close--> closed
 *
 * Threads: gx_inbox_put any; the rest the owner's. The mutex is held for a copy or a swap.
 * Owner:   counted references: the executor's and one a remote. The last one frees it; its memory is malloc's, because
 *          a remote may outlive the runtime and its allocator. */
#ifndef GX_ENGINE_INBOX_H
#define GX_ENGINE_INBOX_H

#include "base/buf.h"
#include "base/os/thread.h"
#include "engine/bell.h"
#include "tuple/row.h"

#include <gale/remote.h>

typedef enum gx_inbox_name { GX_INBOX_SPOUTS, GX_INBOX_BOLTS, GX_INBOX_COUNT } gx_inbox_name;

typedef enum gx_command_kind {
    GX_COMMAND_EMIT,
    GX_COMMAND_TRACKED,
    GX_COMMAND_ACK,
    GX_COMMAND_FAIL,
    GX_COMMAND_LETTER, /* a dead letter's tuple, to be emitted once more (engine/replay.h) */
    GX_COMMAND_KINDS
} gx_command_kind;

/* What lies in a queue: this, then the anchors, then the body; or the text of a failure. */
typedef struct gx_command {
    uint32_t length; /* of all, a multiple of 8 */
    uint16_t task;
    uint8_t kind; /* gx_command_kind */
    uint8_t reserved;
    uint32_t stream;
    int32_t reason;
    uint64_t id; /* message id, or the handle that is answered */
    uint32_t anchor_count;
    uint32_t body_size; /* or that of the text, with its NUL; 0: a tuple without values */
} gx_command;

typedef struct gx_inbox_queue {
    gx_buf incoming; /* under the lock */
    gx_buf working;  /* the owner's */
    size_t at;       /* in `working` */
} gx_inbox_queue;

typedef struct gx_inbox {
    gx_atomic32 refs;
    gx_monitor lock;
    gx_bell *bell;       /* of the executor; under the lock; NULL: closed */
    uint32_t closed;     /* bit a queue: it takes nothing more; under the lock */
    gx_atomic32 waiting; /* bit a queue: there is something in `incoming` */
    gx_inbox_queue queues[GX_INBOX_COUNT];
} gx_inbox;

/* NULL when memory is out. One reference, the executor's. */
gx_inbox *gx_inbox_new(gx_bell *bell);
void gx_inbox_ref(gx_inbox *inbox);
void gx_inbox_release(gx_inbox *inbox);

/* What a command carries: anchors (as many as its head says), and values, a body that is encoded already, or text. */
typedef struct gx_command_content {
    const gale_handle *anchors;
    const gale_value *values;
    size_t count;
    const gale_body *body;
    size_t body_size;
    const char *text;
} gx_command_content;

/* Appends a command: its head, whose length and sizes are filled in here, and `what`. `held` counts what the task
 * holds; it is looked at only while the inbox is open. GALE_AGAIN: the queue is full; or spouts' tuples are refused
 * already, and a bolt that holds nothing has nothing to answer or to emit for: else one that emits without end would
 * keep a drain from ending. */
int gx_inbox_put(gx_inbox *inbox, gx_inbox_name queue, gx_command head, const gx_command_content *what,
                 gx_atomic64 *held);

/* The next command of a queue, or NULL; valid until gx_inbox_done. */
const gx_command *gx_inbox_peek(gx_inbox *inbox, gx_inbox_name queue);
void gx_inbox_done(gx_inbox *inbox, gx_inbox_name queue, const gx_command *command);

GX_INLINE const gale_handle *gx_command_anchors(const gx_command *command) {
    return (const gale_handle *)(command + 1);
}

GX_INLINE const void *gx_command_body(const gx_command *command) {
    return gx_command_anchors(command) + command->anchor_count;
}

/* Has something come that can be taken in? Not into a queue whose earlier commands may not be carried out yet: what lets
 * them rings the bell, or is news itself. */
bool gx_inbox_has_news(gx_inbox *inbox);

/* Is there nothing at all? */
bool gx_inbox_is_empty(gx_inbox *inbox);

/* Calls `each` for every command that was accepted and not done, queue by queue, in order. The owner's. */
void gx_inbox_each(gx_inbox *inbox, void (*each)(void *user, gx_inbox_name queue, const gx_command *command),
                   void *user);

/* From now on a queue refuses everything; from now on both do, and the bell is not rung any more. What is inside
 * stays. */
void gx_inbox_close_queue(gx_inbox *inbox, gx_inbox_name queue);
void gx_inbox_close(gx_inbox *inbox);

#endif
