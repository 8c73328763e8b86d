/* What of a broker's topology is declared: queues, exchanges and bindings. Without a word it is only checked that they are there.
 * Threads: frozen once read; carried out by the thread that has the connection. Owner: who reads it frees it. */
#ifndef GALE_CONNECT_RABBITMQ_DECLARE_H
#define GALE_CONNECT_RABBITMQ_DECLARE_H

#include "connect/rabbitmq/words.h"

enum { RMQ_BINDINGS_MAX = 64, RMQ_ARGUMENTS_MAX = 16 };

typedef struct rmq_argument {
    char *name;
    char *text; /* or else: */
    int64_t number;
    bool is_flag;
} rmq_argument;

typedef struct rmq_declare {
    char *queue; /* a spout's; NULL: a sink has none */
    char *exchange, *type;
    char *dead_exchange, *dead_queue;
    char *bindings[RMQ_BINDINGS_MAX];
    size_t binding_count;
    rmq_argument arguments[RMQ_ARGUMENTS_MAX];
    size_t argument_count;
    bool given, durable, quorum;
} rmq_declare;

/* Of the parameter `declare` of a spout that reads `queue`, or of a sink that publishes to `exchange`: one of both is NULL. GALE_INVALID with a
 * sentence; GALE_NO_MEMORY. What was made is freed by rmq_declare_free, also then. */
int rmq_declare_read(rmq_declare *declare, const gale_args *args, const char *queue, const char *exchange,
                     gale_error *error);
void rmq_declare_free(rmq_declare *declare);

/* Declares it, or looks whether it is there. False: it is not so, in words. */
bool rmq_declare_carry_out(const rmq_declare *declare, amqp_connection_state_t state, char why[RMQ_WORDS]);

#endif
