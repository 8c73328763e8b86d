/* What a spout emits of a message: the fields that `emit` names, in its order.
 *
 *      value, key    text, or bytes where it is not UTF-8; null where there is none (a value that is null is a tombstone)
 *      topic         text
 *      partition, offset
 *      timestamp     milliseconds since 1970, of the producer or the broker, as the topic says; null where there is none
 *      headers       a map of names and what value has; of two of one name the last
 */
#ifndef GALE_CONNECT_KAFKA_ROW_H
#define GALE_CONNECT_KAFKA_ROW_H

#include <gale/connect.h>
#include <gale/value.h>
#include <librdkafka/rdkafka.h>

enum { KAFKA_ROW_MAX = 10, KAFKA_HEADERS_MAX = 256 };

typedef struct kafka_row {
    int32_t fields[KAFKA_ROW_MAX];
    size_t count;                /* what it emits */
    size_t kept;                 /* with what stays: a dead letter has it */
    char names[GALE_NAMES_TEXT]; /* "value, key" */
} kafka_row;

/* Of names with commas between them. GALE_INVALID with a sentence. */
int kafka_row_parse(const char *text, kafka_row *row, gale_error *error);

/* From now on a row has all that a dead letter needs. */
void kafka_row_keep(kafka_row *row);

/* What a letter needs of a row's values; NULL: it is not there. `headers` is a list of names and values in turn. */
void kafka_row_letter(const kafka_row *row, const gale_value *values, size_t count, const gale_value **ret_key,
                      const gale_value **ret_value, const gale_value **ret_headers);

/* Room for the values of one message; borrowed from the message, and from here. */
typedef struct kafka_values {
    gale_value list[KAFKA_ROW_MAX];
    gale_value headers[2 * KAFKA_HEADERS_MAX];
    gale_value all_headers[2 * KAFKA_HEADERS_MAX];
} kafka_values;

/* GALE_TOO_LARGE: it has more headers than KAFKA_HEADERS_MAX. */
int kafka_row_values(const kafka_row *row, const rd_kafka_message_t *message, kafka_values *values);

#endif
