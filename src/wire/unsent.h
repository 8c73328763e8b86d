/* wire/unsent.h: bytes that a connection has not taken yet, in order, no more than so many.
 * Threads: one. Owner: wire_unsent_free. */
#ifndef GALE_WIRE_UNSENT_H
#define GALE_WIRE_UNSENT_H

#include <gale/error.h>

typedef struct wire_unsent {
    char *data;
    size_t from, to, room; /* the bytes from `from` to `to` */
    size_t most;
} wire_unsent;

/* Appends all, or nothing: GALE_TOO_LARGE, it never has so much room; GALE_AGAIN, it has not now; GALE_NO_MEMORY. */
int wire_unsent_add(wire_unsent *unsent, const void *bytes, size_t size);

/* What goes next. */
static inline gale_str wire_unsent_rest(const wire_unsent *unsent) {
    return (gale_str){ unsent->data + unsent->from, unsent->to - unsent->from };
}

/* So many of it went. */
void wire_unsent_took(wire_unsent *unsent, size_t size);

/* Nothing is left; memory stays. */
void wire_unsent_clear(wire_unsent *unsent);
void wire_unsent_free(wire_unsent *unsent);

#endif
