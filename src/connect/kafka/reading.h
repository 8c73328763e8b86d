/* What a spout reads: which topics, whose share of them, and from where.
 * Threads: frozen once made. Owner: the definition of the spout. */
#ifndef GALE_CONNECT_KAFKA_READING_H
#define GALE_CONNECT_KAFKA_READING_H

#include "connect/kafka/from.h"

/* Which of so many processes this one is, from 0. */
typedef struct kafka_member {
    uint32_t index, count; /* 0 of 0: not given */
} kafka_member;

typedef struct kafka_reading {
    rd_kafka_topic_partition_list_t *topics;
    kafka_member member;
    kafka_from from;
    double commit_every; /* seconds */
} kafka_reading;

#endif
