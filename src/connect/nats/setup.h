/* What a spout reads, and how its consumer is looked for or made.
 * Threads: nats_setup_consumer the wire's; a reading is frozen once made. Owner: the definition of the spout. */
#ifndef GALE_CONNECT_NATS_SETUP_H
#define GALE_CONNECT_NATS_SETUP_H

#include "connect/nats/wire.h"

typedef struct nats_reading {
    nats_settings nats; /* first */
    char *stream, *consumer, *filter;
    bool create; /* it is made where it is missing */
    jsDeliverPolicy from;
    uint64_t from_sequence;
    int64_t ack_wait; /* ns */
    int64_t in_flight, batch;
    int64_t memory;
    bool until_end;
} nats_reading;

/* A nats_setup_fn; `user` is the reading. */
int nats_setup_consumer(const void *user, natsConnection *nc, nats_about *about, gale_error *error);

/* When a stream was made; GALE_AGAIN with words: it is not there, or cannot be asked for. */
int nats_setup_stream(jsCtx *js, const char *stream, int64_t *ret_made, gale_error *error);

/* JetStream's words of a status. GALE_AGAIN. */
int nats_setup_say(gale_error *error, const char *what, const char *name, natsStatus status);

#endif
