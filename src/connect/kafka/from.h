/* Where reading begins: `from` of gale.spout.Kafka.
 *
 *      earliest, latest              librdkafka's own (auto.offset.reset)
 *      a time, an age                the first message of that time or behind it; the end, where there is none
 *      {topic: {partition: offset}}  there; a partition that is not named begins at its earliest
 *
 * What:    it counts where the group was told nothing yet, or always. What librdkafka does not do by itself is asked of the brokers: what the group was
 *          told, and then which offset a time is.
 * Threads: any, once it was read. Owner: who reads it frees it. */
#ifndef GALE_CONNECT_KAFKA_FROM_H
#define GALE_CONNECT_KAFKA_FROM_H

#include "connect/kafka/moment.h"

#include <gale/error.h>
#include <gale/value.h>
#include <librdkafka/rdkafka.h>

typedef enum kafka_from_kind { KAFKA_EARLIEST, KAFKA_LATEST, KAFKA_TIME, KAFKA_OFFSETS } kafka_from_kind;

typedef struct kafka_from {
    kafka_from_kind kind;
    kafka_moment moment;
    rd_kafka_topic_partition_list_t *offsets;
    bool always;
} kafka_from;

/* GALE_INVALID with a sentence that begins with `from`. */
int kafka_from_read(kafka_from *from, gale_value value, bool always, gale_error *error);
void kafka_from_free(kafka_from *from);

/* librdkafka's word for a partition of which nothing is known, and where an offset is not there any more. */
const char *kafka_from_reset(const kafka_from *from);

/* Is there something that librdkafka does not do by itself? */
bool kafka_from_asks(const kafka_from *from);

/* Writes into the list where each of its partitions begins: an offset, or that librdkafka goes by what the group was told. `now`: of an age, in
 * milliseconds. Asks brokers, for up to `wait_ms` each of two times; GALE_AGAIN with a sentence: not now. */
int kafka_from_place(const kafka_from *from, rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list, int64_t now,
                     int wait_ms, gale_error *error);

#endif
