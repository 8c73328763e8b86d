/* What the messages of a durable run are to cause, and what they have caused: kept beside the engine and beside all
 * components, by messages and paths. A message's tuples carry a path, which says by which way they came; so the same
 * effects come of it in whatever order its tuples are executed, and whatever was executed before and forgotten.
 *
 * What:    expected   what one run without a crash does, from the topology alone
 *          done       what this life's components have done, with what they were given back at its start: a crash takes
 *                     back the rest. Never more than expected; all of it when the message is acked
 *          kept       in the end: what components have in their state, and what sinks have committed
 * Threads: one. Owner: memory is the C library's. Limits: 2^32 - 1 messages. */
#ifndef GX_SIM_DEEDS_H
#define GX_SIM_DEEDS_H

#include "base/port.h"
#include "ds/bytes_map.h"

#include <gale/error.h>

typedef enum gx_message_state {
    GX_MESSAGE_NEW,
    GX_MESSAGE_OPEN,
    GX_MESSAGE_QUEUED, /* it failed, and is to be emitted again */
    GX_MESSAGE_ACKED,
    GX_MESSAGE_GIVEN_UP,
} gx_message_state;

typedef struct gx_deed {
    uint32_t expected, done, kept;
} gx_deed;

typedef struct gx_message {
    uint32_t expected, done;
    uint32_t letters, letters_kept;
    uint8_t state; /* gx_message_state, as its spout has it */
} gx_message;

typedef struct gx_deeds {
    gx_heap heap;
    gx_bytes_map *map; /* by component, message and path */
    gx_message *messages;
    size_t capacity;
    uint32_t count;
    bool exact;     /* all take part: exactly once; else at least once */
    bool untracked; /* there are no acks: a message is acked as it is emitted */
    bool letters;   /* who is given up is a letter, which somebody counts */
    char problem[300];
} gx_deeds;

/* GALE_NO_MEMORY. */
int gx_deeds_init(gx_deeds *deeds);
void gx_deeds_fini(gx_deeds *deeds);

/* Notes the first thing that must not be. */
void gx_deeds_violated(gx_deeds *deeds, const char *format, ...) GALE_PRINTF(2, 3);

GX_INLINE bool gx_deeds_hold(const gx_deeds *deeds) {
    return deeds->problem[0] == 0;
}

/* One more message, new. Returns its number; UINT32_MAX: no memory. */
uint32_t gx_deeds_message(gx_deeds *deeds);

void gx_deeds_expect(gx_deeds *deeds, uint32_t component, uint64_t message, uint64_t path, uint32_t times);

/* A new life: nothing is done. */
void gx_deeds_begin(gx_deeds *deeds);

void gx_deeds_did(gx_deeds *deeds, uint32_t component, uint64_t message, uint64_t path, uint32_t times);
void gx_deeds_buried(gx_deeds *deeds, uint64_t message);
void gx_deeds_acked(gx_deeds *deeds, uint64_t message);

/* A state or a sink has it at the end. */
void gx_deeds_kept(gx_deeds *deeds, uint32_t component, uint64_t message, uint64_t path, uint32_t times);
void gx_deeds_letter_kept(gx_deeds *deeds, uint64_t message);

/* The run is over, by itself. */
void gx_deeds_end(gx_deeds *deeds);

#endif
