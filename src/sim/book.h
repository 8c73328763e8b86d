/* What virtual threads have commanded by remotes (gale/remote.h), and what became of it.
 *
 * What:    a command that was taken is carried out once, after those that its task was given before; a tracked tuple
 *          that cannot be emitted is told to its spout, once; nothing is carried out that was not commanded. What is
 *          left at the end was stopped, not lost.
 * Threads: one. Owner: memory is the simulator's. Limits: 2^32 - 1 commands a run. */
#ifndef GX_SIM_BOOK_H
#define GX_SIM_BOOK_H

#include "engine/inbox.h"
#include "sim/oracle.h"

/* A tracked tuple has no tree before its command is carried out: until then its message id is its number and this. */
#define GX_BOOK_ID (UINT64_C(1) << 63)

typedef enum gx_book_state {
    GX_BOOK_WAITING,
    GX_BOOK_DONE,
    GX_BOOK_REFUSED, /* carried out, in vain: its spout is to hear of a tracked tuple */
    GX_BOOK_TOLD,
} gx_book_state;

typedef struct gx_book_entry {
    uint64_t id; /* the handle that is answered; the component's message id */
    uint16_t task;
    uint8_t kind;  /* gx_command_kind */
    uint8_t state; /* gx_book_state */
} gx_book_entry;

/* A task's commands, in order. */
typedef struct gx_book_queue {
    uint32_t *numbers;
    size_t capacity;
    uint32_t head, count;
} gx_book_queue;

typedef struct gx_book {
    gx_heap *heap;
    gx_oracle *oracle;
    gx_book_entry *entries;
    size_t capacity;
    uint32_t count;
    uint32_t waiting;
    gx_book_queue *queues; /* [0 .. tasks] */
    size_t queue_capacity;
} gx_book;

/* Begins a run. GALE_NO_MEMORY. */
int gx_book_begin(gx_book *book, gx_heap *heap, gx_oracle *oracle, uint32_t tasks);
void gx_book_fini(gx_book *book);

/* The next command, number `book->count`, was taken. */
void gx_book_taken(gx_book *book, uint16_t task, gx_command_kind kind, uint64_t id);

/* The task carries out a command of this kind and number (of an answer: with this handle in `id`, whatever its number).
 * Returns its number, or UINT32_MAX when it cannot be. */
uint32_t gx_book_carried_out(gx_book *book, uint16_t task, gx_command_kind kind, uint64_t id);

/* It was in vain. */
void gx_book_refused(gx_book *book, uint32_t number);

/* A spout task hears that its command with message id `id` failed. Returns the component's message id. */
uint64_t gx_book_told(gx_book *book, uint16_t task, uint64_t id, const gale_failure *failure);

/* Does a command wait for the task? */
bool gx_book_waits(const gx_book *book, uint32_t task);

/* The run is over; `drained`: to the end. */
void gx_book_end(gx_book *book, bool drained);

#endif
