/* Where a broker is: amqp://host:port/vhost, or amqps:// for TLS.
 * Threads: any; nothing is kept. */
#ifndef GALE_CONNECT_RABBITMQ_ADDRESS_H
#define GALE_CONNECT_RABBITMQ_ADDRESS_H

#include <gale/error.h>
#include <stdbool.h>
#include <stdint.h>

enum { RMQ_NAME = 256 }; /* a short text of AMQP, with a NUL */

typedef struct rmq_address {
    char host[RMQ_NAME];
    char vhost[RMQ_NAME]; /* "/" where none is given */
    uint16_t port;
    bool tls;
} rmq_address;

/* GALE_INVALID with a sentence that begins with `url`. */
int rmq_address_read(const char *text, rmq_address *ret_address, gale_error *error);

#endif
