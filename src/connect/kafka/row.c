#include "connect/kafka/row.h"

#include <gale/connect.h>
#include <stdio.h>
#include <string.h>

enum { VALUE, KEY, TOPIC, PARTITION, OFFSET, TIMESTAMP, HEADERS, ALL_HEADERS };
static const char *const names[] = { "value", "key", "topic", "partition", "offset", "timestamp", "headers", NULL };

int kafka_row_parse(const char *text, kafka_row *row, gale_error *error) {
    gale_names emit;
    int rc = gale_names_read("emit", text, "a message", names, &emit, error);
    *row = (kafka_row){ .count = 0 };
    if (rc < 0) return rc;
    for (; row->count < emit.count; row->count++) row->fields[row->count] = emit.places[row->count];
    row->kept = row->count;
    snprintf(row->names, sizeof row->names, "%s", emit.text);
    return 0;
}

/* Where a field is in a row; -1: it is not. */
static int place_of(const kafka_row *row, int32_t field) {
    for (size_t i = 0; i < row->kept; i++)
        if (row->fields[i] == field) return (int)i;
    return -1;
}

void kafka_row_keep(kafka_row *row) {
    static const int32_t needed[] = { KEY, VALUE, ALL_HEADERS };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (place_of(row, needed[i]) < 0) row->fields[row->kept++] = needed[i];
}

static const gale_value *value_at(const kafka_row *row, int32_t field, const gale_value *values, size_t count) {
    int place = place_of(row, field);
    return place >= 0 && (size_t)place < count ? &values[place] : NULL;
}

void kafka_row_letter(const kafka_row *row, const gale_value *values, size_t count, const gale_value **ret_key,
                      const gale_value **ret_value, const gale_value **ret_headers) {
    *ret_key = value_at(row, KEY, values, count);
    *ret_value = value_at(row, VALUE, values, count);
    *ret_headers = value_at(row, ALL_HEADERS, values, count);
}

/* Replaces what an earlier header of that name had. */
static void put(gale_value *pairs, size_t *count, const char *name, gale_value value) {
    gale_value key = gale_text(name);
    for (size_t i = 0; i < *count; i++) {
        if (!gale_value_equal(&pairs[2 * i], &key)) continue;
        pairs[2 * i + 1] = value;
        return;
    }
    pairs[2 * *count] = key;
    pairs[2 * *count + 1] = value;
    ++*count;
}

static int headers_of(const rd_kafka_message_t *message, kafka_values *values, gale_value *ret_map) {
    rd_kafka_headers_t *headers;
    const char *name;
    const void *data;
    size_t size, count = 0;
    bool some = rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR;
    for (size_t i = 0; some && !rd_kafka_header_get_all(headers, i, &name, &data, &size); i++) {
        if (count == KAFKA_HEADERS_MAX) return GALE_TOO_LARGE;
        if (!gale_utf8_valid(name, strlen(name))) continue;
        put(values->headers, &count, name, gale_text_or_bytes(data, size));
    }
    *ret_map = gale_map(values->headers, count);
    return 0;
}

/* Whatever their names are, and how often. */
static int all_headers_of(const rd_kafka_message_t *message, kafka_values *values, gale_value *ret_list) {
    rd_kafka_headers_t *headers;
    const char *name;
    const void *data;
    size_t size, count = 0;
    bool some = rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR;
    for (; some && !rd_kafka_header_get_all(headers, count, &name, &data, &size); count++) {
        if (count == KAFKA_HEADERS_MAX) return GALE_TOO_LARGE;
        values->all_headers[2 * count] = gale_bytes(name, strlen(name));
        values->all_headers[2 * count + 1] = gale_text_or_bytes(data, size);
    }
    *ret_list = gale_list(values->all_headers, 2 * count);
    return 0;
}

static gale_value time_of(const rd_kafka_message_t *message) {
    rd_kafka_timestamp_type_t type;
    int64_t time = rd_kafka_message_timestamp(message, &type);
    return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? gale_null() : gale_i64(time);
}

int kafka_row_values(const kafka_row *row, const rd_kafka_message_t *message, kafka_values *values) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < row->kept; i++) {
        gale_value *value = &values->list[i];
        switch (row->fields[i]) {
        case VALUE: *value = gale_text_or_bytes(message->payload, message->len); break;
        case KEY: *value = gale_text_or_bytes(message->key, message->key_len); break;
        case TOPIC: *value = gale_text(rd_kafka_topic_name(message->rkt)); break;
        case PARTITION: *value = gale_i64(message->partition); break;
        case OFFSET: *value = gale_i64(message->offset); break;
        case TIMESTAMP: *value = time_of(message); break;
        case ALL_HEADERS: rc = all_headers_of(message, values, value); break;
        default: rc = headers_of(message, values, value);
        }
    }
    return rc;
}
