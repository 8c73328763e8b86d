/* What a spout emits of a message: the fields that `emit` names, in its order.
 *
 *      body                            text, or bytes where it is not UTF-8
 *      key, exchange                   how it was routed
 *      headers                         a map; null where there are none
 *      time                            milliseconds since 1970, of the publisher; null where there is none
 *      redelivered                     true or false: somebody had it before
 *      attempt                         from 1 on, where the queue counts (quorum), or else 1, and 2 where it is redelivered
 *      priority                        a number, or null
 *      id, type, contentType, contentEncoding, correlationId, replyTo      text, or null
 */
#ifndef GALE_CONNECT_RABBITMQ_ROW_H
#define GALE_CONNECT_RABBITMQ_ROW_H

#include "connect/rabbitmq/delivery.h"

#include <gale/connect.h>

typedef struct rmq_row {
    gale_names emit;
    bool headers; /* they are asked for */
} rmq_row;

/* GALE_INVALID with a sentence. */
int rmq_row_parse(const char *text, rmq_row *row, gale_error *error);

/* Borrowed from the delivery. */
void rmq_row_values(const rmq_row *row, const rmq_delivery *delivery, gale_value values[GALE_NAMES_MAX]);

/* How often it was given, this time included. */
int64_t rmq_row_attempt(const rmq_delivery *delivery);

#endif
