/* Lines on their way: what a spout has emitted and must be able to emit again. A message id is the number of a slot (with a tag, if there is one),
 * which holds the line's bytes, its number and how often it was tried. A line that fails is queued, in the order of
 * failing, and goes out before new ones; a line that has been tried often enough, was rejected, or has failed for good
 * as the engine says, is reported once and given up. Slots and their buffers are reused, the latest first, so that the
 * steady state allocates nothing; only a buffer above GX_RETRY_KEEP bytes goes back when its line is answered. Lines
 * that are neither acked nor given up hang in a list in the order of adding, so that the oldest is known at once.
 * Threads: one at a time. Owner: memory comes from a gx_heap. Limits: 2^32 - 2 lines open. */
#ifndef GX_KIT_RETRY_H
#define GX_KIT_RETRY_H

#include "base/alloc.h"
#include "base/str.h"
#include "kit/recall.h"

#include <gale/component.h>
#include <gale/state.h>

enum { GX_RETRY_KEEP = 64 << 10, GX_RETRY_ATTEMPTS = 3 };

typedef enum gx_retry_state {
    GX_RETRY_FREE,
    GX_RETRY_TAKEN, /* not emitted yet */
    GX_RETRY_OPEN,  /* waits for ack or fail */
    GX_RETRY_QUEUED /* waits to be emitted again */
} gx_retry_state;

typedef struct gx_retry_slot {
    char *data;
    size_t capacity;
    uint64_t number;
    int64_t place; /* the adder's own: where the line can be read again */
    uint32_t size;
    uint32_t attempts;
    uint32_t next; /* in the list of free slots, or in the queue */
    uint32_t older, newer;
    uint32_t source; /* the adder's own: what the line is of; not saved */
    uint8_t state;
    bool is_text; /* the bytes are UTF-8 */
    bool dropped; /* gx_retry_drop: it is not to be emitted again */
} gx_retry_slot;

typedef void gx_retry_given_up_fn(void *user, const gx_retry_slot *slot, const gale_failure *failure);
typedef void gx_retry_name_fn(void *user, const gx_retry_slot *slot, char *to, size_t size);
typedef bool gx_retry_give_back_fn(void *user, const gx_retry_slot *slot, const gale_failure *failure);

typedef struct gx_retry {
    gx_heap *heap;
    gale_collector *out;
    gx_retry_slot *slots;
    size_t capacity;
    uint32_t used; /* slots that have ever been taken */
    uint32_t free_first;
    uint32_t queue_first;
    uint32_t queue_last;
    uint32_t oldest, newest; /* of what is not free */
    uint32_t max_attempts;
    uint64_t tag; /* in the high half of its message ids, for who has several: set before the first line */
    uint64_t given_up;
    uint64_t bytes;   /* of the lines that are neither acked nor given up */
    uint64_t lines;   /* that are neither acked nor given up */
    const char *what; /* what a report calls one: "line", unless it is set */
    gx_retry_given_up_fn
        *given_up_call; /* told of each line that is given up, while it is there; NULL, unless it is set */
    gx_retry_give_back_fn *give_back_call; /* asked before: true, it goes without a word and is not counted; the same */
    gx_retry_name_fn *name_call;           /* what a report calls a line; NULL: `what` and its number */
    void *user;
} gx_retry;

/* `out` is the task's collector, for reports; `max_attempts` 0: GX_RETRY_ATTEMPTS. Allocates nothing. */
void gx_retry_init(gx_retry *retry, gx_heap *heap, gale_collector *out, uint32_t max_attempts);
void gx_retry_fini(gx_retry *retry);

/* Copies a line into a slot; `is_text` says that it is UTF-8. GALE_NO_MEMORY: nothing changed. */
int gx_retry_add(gx_retry *retry, gale_str line, bool is_text, uint64_t number, uint32_t *ret_id);

/* The line that was added first of those that are neither acked nor given up; NULL when there is none. Borrowed until
 * the next call. */
GX_INLINE gx_retry_slot *gx_retry_oldest(const gx_retry *retry) {
    return retry->oldest == UINT32_MAX ? NULL : &retry->slots[retry->oldest];
}

/* The one that was added after it, or NULL. */
GX_INLINE gx_retry_slot *gx_retry_newer(const gx_retry *retry, const gx_retry_slot *slot) {
    return slot->newer == UINT32_MAX ? NULL : &retry->slots[slot->newer];
}

/* Queues a slot from gx_retry_add, to be emitted behind those that wait. */
void gx_retry_queue(gx_retry *retry, uint32_t id);

/* Takes the first slot out of the queue; false when it is empty. It must be emitted next. */
bool gx_retry_take(gx_retry *retry, uint32_t *ret_id);

GX_INLINE bool gx_retry_waiting(const gx_retry *retry) {
    return retry->queue_first != UINT32_MAX;
}

/* Emits the line of a slot from gx_retry_add or gx_retry_take on stream 0, as a string or as bytes, and returns what
 * the spout's `next` returns. When the collector cannot take it now (GALE_AGAIN, GALE_NO_MEMORY, GALE_STOPPED), the
 * line is the first in the queue; any other refusal counts as an attempt. */
int gx_retry_emit(gx_retry *retry, gale_collector *out, uint32_t id);

/* The same for several lines at once, at most GX_RETRY_MANY, in this order: GALE_NEXT_EMITTED if the first could be emitted. What comes behind
 * one that was refused was not tried: it is the first in the queue. */
enum { GX_RETRY_MANY = 64 };
int gx_retry_emit_many(gx_retry *retry, gale_collector *out, const uint32_t *ids, uint32_t count);

/* The same for a tuple that has more than the line: these values, whatever they are made of. */
int gx_retry_emit_row(gx_retry *retry, gale_collector *out, uint32_t id, const gale_value *values, size_t count);

/* The line of a slot, borrowed until it is answered. */
GX_INLINE gale_value gx_retry_line(const gx_retry_slot *slot) {
    return slot->is_text ? gale_string(slot->data, slot->size) : gale_bytes(slot->data, slot->size);
}

/* The spout's callbacks; an id that is not open, or has another tag, is ignored. */
void gx_retry_ack(gx_retry *retry, uint64_t id);
void gx_retry_fail(gx_retry *retry, uint64_t id, const gale_failure *failure);

/* The slot of a message id whose answer is waited for; NULL for any other. */
GX_INLINE gx_retry_slot *gx_retry_open_slot(const gx_retry *retry, uint64_t id) {
    id ^= retry->tag;
    return id < retry->used && retry->slots[id].state == GX_RETRY_OPEN ? &retry->slots[id] : NULL;
}

/* The lines of a source are not to be emitted again: those in the queue leave at once, those that are out when they fail, and nothing is said of
 * them. Returns how many are out. */
uint64_t gx_retry_drop(gx_retry *retry, uint32_t source);

/* Saves the lines that are neither acked nor given up, as records behind those that were saved before; between calls of
 * `next`. What gale_save says. */
int gx_retry_save(const gx_retry *retry, gale_saver *to);

/* Takes them back, under the same message ids and in the same orders; a line that waits for its answer waits again. For
 * one that holds nothing yet, and the first to read what gx_retry_save wrote: records behind it stay. GALE_DAMAGED: it is
 * nothing that was saved so; GALE_NO_MEMORY: it holds some of the lines then, and is to be ended. */
int gx_retry_restore(gx_retry *retry, gale_saved *from);

/* The same behind a record that was recalled, with a sentence for what is refused. */
int gx_retry_recall(gx_retry *retry, const gx_recall *recall);

#endif
