/* What the thread of a sink's task does: publishes as it is ordered, and passes on what the broker confirms, refuses and gives back.
 * Threads: the worker's. Owner: the sink, which makes it before the worker and frees it behind. */
#ifndef GALE_CONNECT_RABBITMQ_WRITER_H
#define GALE_CONNECT_RABBITMQ_WRITER_H

#include "connect/rabbitmq/declare.h"
#include "connect/rabbitmq/delivery.h"
#include "connect/rabbitmq/worker.h"

typedef struct rmq_writer {
    const rmq_declare *declare;
    rmq_assembly assembly; /* of what comes back: without its body */
} rmq_writer;

extern const rmq_worker_ops rmq_writer_ops; /* of an rmq_writer */

#endif
