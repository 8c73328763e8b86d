/* gale.bolt.RabbitMQSink, in parts: its definition (sink_settings.c), tuples, messages and their ends (sink.c), checkpoints (sink_saved.c).
 *
 *      tuple --> flight (flight.h) --> published (writer.h) --confirmed--> acked
 *                                              |--returned------> rejected, in words
 *                                              |--refused-------> a pause, and again
 *                                              '--no answer, and the connection is lost--> again, all in order
 */
#ifndef GALE_CONNECT_RABBITMQ_SINK_H
#define GALE_CONNECT_RABBITMQ_SINK_H

#include "connect/rabbitmq/flight.h"
#include "connect/rabbitmq/link.h"
#include "connect/rabbitmq/writer.h"

#include <gale/state.h>

/* A definition's block. */
typedef struct rmq_sink_settings {
    rmq_settings broker; /* first */
    rmq_declare declare;
    rmq_fields fields;
    uint64_t memory, most;
    int64_t finish_wait;
    bool once;
} rmq_sink_settings;

int rmq_sink_settings_make(rmq_sink_settings *made, const gale_args *args, gale_error *error);
void rmq_sink_settings_free(void *made);

typedef struct rmq_sink {
    rmq_link link;
    const rmq_sink_settings *given;
    const gale_context *context;
    gale_collector *out;
    gale_dispatch *dispatch;
    rmq_writer writer; /* its thread's */
    rmq_flight flight;
    rmq_name name; /* of the next message */
    gale_watch again;
    gale_backoff backoff; /* of what is refused */
    int64_t again_at;     /* when that is published again; 0: there is none */
    bool wished;          /* for a checkpoint */
    bool ending;
} rmq_sink;

/* Publishes what may go. */
void rmq_sink_go_on(rmq_sink *sink);

extern const gale_durable_ops rmq_sink_durable;

#endif
