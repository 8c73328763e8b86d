/* Whether a saved position is one of the topic that has its name now. librdkafka 2.0 knows no ids of topics: a position is saved with the last message
 * that was taken, its offset and a hash of it, and the message at that offset is compared when the run goes on.
 *
 *      the same                                               KAFKA_IS_SAME
 *      another one                                            KAFKA_IS_OTHER: the topic was deleted and made again, or cut and written again
 *      none (compacted, kept no longer), or no answer in time KAFKA_IS_UNKNOWN
 *
 * Threads: the task's, before its partitions are assigned. */
#ifndef GALE_CONNECT_KAFKA_IDENTITY_H
#define GALE_CONNECT_KAFKA_IDENTITY_H

#include "connect/kafka/parts.h"

/* `message` is the last that was taken of the partition. */
void kafka_identity_note(kafka_part *part, const rd_kafka_message_t *message);

/* Sets `identity` of all partitions that have a saved position, by reading their messages from the queue of a consumer that has no partitions yet, nor
 * afterwards. Waits for at most `wait_ms`. */
void kafka_identity_compare(kafka_parts *parts, rd_kafka_t *rk, rd_kafka_queue_t *queue, int wait_ms);

#endif
