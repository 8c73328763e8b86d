/* A tuple's message: what its fields are in Kafka.
 * Threads: any; nothing is kept. Owner: what a message has is borrowed from its tuple, or from the values that it was made of. */
#ifndef GALE_CONNECT_KAFKA_MESSAGE_H
#define GALE_CONNECT_KAFKA_MESSAGE_H

#include <gale/component.h>
#include <librdkafka/rdkafka.h>

enum { KAFKA_SINK_HEADERS_MAX = 32, KAFKA_MESSAGE_VALUES = 3 + KAFKA_SINK_HEADERS_MAX };

/* Which fields are what; NULL: not given. */
typedef struct kafka_fields {
    char *key, *value, *timestamp;
    char *headers[KAFKA_SINK_HEADERS_MAX];
    size_t header_count;
} kafka_fields;

/* What a field is in a message: NULL is none. */
typedef struct kafka_bytes {
    const void *data;
    size_t size;
    char number[GALE_NUMBER_TEXT];
} kafka_bytes;

typedef struct kafka_message {
    kafka_bytes key, value;
    int64_t time; /* 0: now */
    kafka_bytes headers[KAFKA_SINK_HEADERS_MAX];
} kafka_message;

/* GALE_INVALID with a sentence in `why`. */
int kafka_message_form(const kafka_fields *fields, const gale_tuple *tuple, kafka_message *message, char *why,
                       size_t size);

/* How much it takes of its way, about. */
size_t kafka_message_size(const kafka_fields *fields, const kafka_message *message);

/* As a row that can be kept, and back. How many values; borrowed from the message. False: it is no such row. */
size_t kafka_message_values(const kafka_fields *fields, const kafka_message *message,
                            gale_value values[KAFKA_MESSAGE_VALUES]);
bool kafka_message_from(const kafka_fields *fields, const gale_value *values, size_t count, kafka_message *message);

/* What no further attempt would change. */
bool kafka_message_is_refused(rd_kafka_resp_err_t err);

/* librdkafka copies it. `opaque` comes with its confirmation. */
rd_kafka_resp_err_t kafka_message_produce(const kafka_fields *fields, const kafka_message *message, rd_kafka_t *rk,
                                          const char *topic, int32_t partition, void *opaque);

#endif
