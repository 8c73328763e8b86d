/* Messages that nobody needs any more: destroyed many at once, as each that is destroyed alone wakes the thread of cnats that frees it.
 * Threads: whose has it. Owner: nats_spent_free, before the library is released. Limits: so many, and so many bytes, wait. */
#ifndef GALE_CONNECT_NATS_SPENT_H
#define GALE_CONNECT_NATS_SPENT_H

#include <nats/nats.h>
#include <stddef.h>

enum { NATS_SPENT_MAX = 512, NATS_SPENT_BYTES = 1 << 20 };

typedef struct nats_spent {
    natsMsg *list[NATS_SPENT_MAX];
    size_t count, bytes;
} nats_spent;

/* Takes it. */
void nats_spent_add(nats_spent *spent, natsMsg *msg);
void nats_spent_free(nats_spent *spent);

#endif
