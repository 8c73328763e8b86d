/* Tables of AMQP, as librabbitmq has read them, to maps of gale's: the headers of a message.
 *
 *      whole numbers, times (seconds)    numbers; above 2^63 - 1 their digits
 *      decimals                          numbers with a point
 *      texts, bytes                      text, or bytes where it is not UTF-8
 *      lists, tables                     lists and maps, RMQ_TABLE_DEPTH deep at the most
 *
 * What:    a name that is not UTF-8 is left out; of two of one name the last counts.
 * Threads: any. Owner: what is made lies in the arena. Limits: RMQ_TABLE_VALUES of all. */
#ifndef GALE_CONNECT_RABBITMQ_TABLE_H
#define GALE_CONNECT_RABBITMQ_TABLE_H

#include "connect/rabbitmq/arena.h"

#include <amqp.h>

enum { RMQ_TABLE_DEPTH = 16, RMQ_TABLE_VALUES = 1024 };

/* GALE_TOO_LARGE: it is larger or deeper, or the arena is; GALE_NO_MEMORY. */
int rmq_table_read(const amqp_table_t *table, rmq_arena *arena, gale_value *ret_map);

/* A whole number of that name; `other` where there is none. */
int64_t rmq_table_number(const amqp_table_t *table, const char *name, int64_t other);

#endif
