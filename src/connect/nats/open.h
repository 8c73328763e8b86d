/* The messages of a consumer that have no answer yet, by their sequences.
 * Threads: the task's. Owner: nats_open_free. Limits: who fills it has them. */
#ifndef GALE_CONNECT_NATS_OPEN_H
#define GALE_CONNECT_NATS_OPEN_H

#include "connect/nats/post.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct nats_open_row {
    int64_t sequence; /* 0: there is none in this place */
    int64_t delivered;
    int64_t told;    /* when the server heard of it last, by the context's clock */
    nats_post *post; /* for its answer; NULL: of a run before, and not delivered since */
    uint64_t ends;   /* it is given up when this checkpoint lasts; 0: it is not, NATS_OPEN_NEXT: with the next one */
} nats_open_row;

#define NATS_OPEN_NEXT UINT64_MAX

typedef struct nats_open {
    nats_open_row *rows;
    size_t capacity, count; /* a power of two; at most half of it is used */
} nats_open;

void nats_open_free(nats_open *open);

/* NULL: there is none. Good until the next is added or removed. */
nats_open_row *nats_open_find(const nats_open *open, int64_t sequence);

/* One that is not there. NULL: memory is out. */
nats_open_row *nats_open_add(nats_open *open, int64_t sequence);

/* Its post is whoever's took it, or freed before. */
void nats_open_remove(nats_open *open, int64_t sequence);

#endif
