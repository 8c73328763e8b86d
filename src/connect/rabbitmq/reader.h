/* What the thread of a spout's task does: consumes the queue, and answers deliveries as it is ordered.
 * Threads: the worker's. Owner: the spout, which makes it before the worker and frees it behind. */
#ifndef GALE_CONNECT_RABBITMQ_READER_H
#define GALE_CONNECT_RABBITMQ_READER_H

#include "connect/rabbitmq/declare.h"
#include "connect/rabbitmq/delivery.h"
#include "connect/rabbitmq/worker.h"

typedef struct rmq_reader {
    const rmq_declare *declare;
    uint16_t prefetch;
    rmq_assembly assembly; /* `most` and `headers` are set before */
} rmq_reader;

extern const rmq_worker_ops rmq_reader_ops; /* of an rmq_reader */

#endif
