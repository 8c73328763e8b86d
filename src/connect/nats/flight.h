/* What a sink has sent and nobody has confirmed, in order.
 * Threads: the task's. Owner: nats_flight_free. Limits: the dispatch's, twice. */
#ifndef GALE_CONNECT_NATS_FLIGHT_H
#define GALE_CONNECT_NATS_FLIGHT_H

#include <gale/connect.h>

typedef struct nats_sent {
    uint64_t id;      /* of the dispatch, which knows whether it was answered */
    uint64_t number;  /* of the message */
    int64_t at;       /* when, last */
    uint64_t answers; /* that there had been */
    bool out;         /* on the connection that there is */
} nats_sent;

typedef struct nats_flight {
    nats_sent *list; /* from `at` on */
    size_t at, count, capacity;
} nats_flight;

void nats_flight_free(nats_flight *flight);

/* GALE_NO_MEMORY. */
int nats_flight_add(nats_flight *flight, const gale_dispatch *dispatch, nats_sent sent);

/* The oldest that has no answer; NULL: there is none. */
nats_sent *nats_flight_oldest(nats_flight *flight, const gale_dispatch *dispatch);

#endif
