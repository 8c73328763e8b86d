/* Routing keys with fields in them: "orders.{country}". A field is a text or a whole number.
 * Threads: any; nothing is kept. */
#ifndef GALE_CONNECT_RABBITMQ_TEMPLATE_H
#define GALE_CONNECT_RABBITMQ_TEMPLATE_H

#include "connect/rabbitmq/address.h"

#include <gale/tuple.h>

/* GALE_INVALID with a sentence that begins with `routingKey`. */
int rmq_template_check(const char *text, gale_error *error);

/* Why bytes are no short string of AMQP 0-9-1 (4.2.5.3), as words that follow the name of their field; NULL: they are one. */
const char *rmq_short_fault(const void *bytes, size_t size);

/* GALE_INVALID with a sentence in `why`: of this tuple no key can be made, of up to 255 bytes. */
int rmq_template_write(const char *text, const gale_tuple *tuple, char key[RMQ_NAME], size_t *ret_size, char *why,
                       size_t size);

#endif
