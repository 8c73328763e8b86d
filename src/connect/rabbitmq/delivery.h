/* A message that the broker gives, or gives back, put together of its frames: a method, a header, and as many of the body as there are.
 *
 *      begin --header--> its body is missing --body*--> whole
 *
 * Threads: the worker's until it is told, then the task's. Owner: a delivery is a note; what it has lies in that. Limits: `most` bytes of a body; a message that
 * is larger comes without it, with words. */
#ifndef GALE_CONNECT_RABBITMQ_DELIVERY_H
#define GALE_CONNECT_RABBITMQ_DELIVERY_H

#include "connect/rabbitmq/note.h"

#include <amqp.h>

typedef struct rmq_delivery {
    rmq_note note; /* first; `text` says why it can be no tuple, or why it came back; NULL: nothing */
    gale_str exchange, key, body;
    gale_str id, type, content_type, content_encoding, correlation_id, reply_to; /* data NULL: none */
    gale_value headers;                                                          /* null: none, or not wanted */
    int64_t time;                                                                /* seconds since 1970; -1: none */
    int64_t count;                                                               /* x-delivery-count; -1: none */
    int64_t priority;                                                            /* -1: none */
    bool redelivered;
} rmq_delivery;

typedef struct rmq_assembly {
    rmq_delivery *now; /* NULL: none is begun */
    uint64_t left;     /* bytes of its body */
    size_t most;
    char *at; /* where they go; NULL: nowhere */
    bool has_header;
    bool headers; /* they are wanted */
} rmq_assembly;

/* False: memory is out. What was begun before and is not whole is none. */
bool rmq_assembly_begin(rmq_assembly *assembly, rmq_kind kind, uint32_t session, amqp_bytes_t exchange,
                        amqp_bytes_t key);

/* A header or a body: 1, it is whole, and the caller's; 0: there is more to come; GALE_NO_MEMORY; GALE_DAMAGED: it is not its turn. */
int rmq_assembly_frame(rmq_assembly *assembly, const amqp_frame_t *frame, rmq_delivery **ret_delivery);

void rmq_assembly_drop(rmq_assembly *assembly);

#endif
