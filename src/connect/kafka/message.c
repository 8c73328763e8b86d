#include "connect/kafka/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Of a tuple ----------------------------------------------------------------------------------------------------- */

static bool form_field(const gale_value *value, kafka_bytes *to) {
    gale_str text;
    if (!gale_value_text(value, to->number, &text)) return false;
    bool is_null = value->type == GALE_TYPE_NULL;
    to->data = is_null ? NULL : text.data;
    to->size = is_null ? 0 : text.size;
    return true;
}

static int refuse(char *why, size_t size, const char *name, const char *what) {
    snprintf(why, size, "field %s %s", name, what);
    return GALE_INVALID;
}

static int form_named(const gale_tuple *tuple, const char *name, kafka_bytes *to, char *why, size_t size) {
    gale_value value;
    *to = (kafka_bytes){ .data = NULL };
    if (!name) return 0;
    if (!gale_tuple_get(tuple, name, &value)) return refuse(why, size, name, "is not there");
    return form_field(&value, to)
               ? 0
               : refuse(why, size, name, "is a list or a map: a text is made of it before, as by gale.bolt.Format");
}

/* The field that is the value: the one that is named, or the first that is not the key. */
static const char *value_name(const kafka_fields *fields, const gale_tuple *tuple) {
    if (fields->value) return fields->value;
    const char *first = gale_tuple_field(tuple, 0);
    bool is_key = first && fields->key && strcmp(first, fields->key) == 0;
    return is_key ? gale_tuple_field(tuple, 1) : first;
}

static int form_time(const gale_tuple *tuple, const char *name, int64_t *ret_time, char *why, size_t size) {
    gale_value value;
    *ret_time = 0;
    if (!name) return 0;
    if (!gale_tuple_get(tuple, name, &value)) return refuse(why, size, name, "is not there");
    if (value.type == GALE_TYPE_NULL) return 0;
    if (value.type != GALE_TYPE_I64 || value.as.i64 < 0)
        return refuse(why, size, name, "is no time: milliseconds since 1970");
    *ret_time = value.as.i64;
    return 0;
}

int kafka_message_form(const kafka_fields *fields, const gale_tuple *tuple, kafka_message *m, char *why, size_t size) {
    const char *name = value_name(fields, tuple);
    if (!name) return refuse(why, size, "value", "is not there");
    int rc = form_named(tuple, fields->key, &m->key, why, size);
    if (rc == 0) rc = form_named(tuple, name, &m->value, why, size);
    if (rc == 0) rc = form_time(tuple, fields->timestamp, &m->time, why, size);
    for (size_t i = 0; rc == 0 && i < fields->header_count; i++)
        rc = form_named(tuple, fields->headers[i], &m->headers[i], why, size);
    return rc;
}

size_t kafka_message_size(const kafka_fields *fields, const kafka_message *m) {
    size_t size = m->key.size + m->value.size + 64;
    for (size_t i = 0; i < fields->header_count; i++) size += m->headers[i].size + 16;
    return size;
}

/* --- As a row ------------------------------------------------------------------------------------------------------- */

static gale_value value_of(const kafka_bytes *bytes) {
    return bytes->data ? gale_bytes(bytes->data, bytes->size) : gale_null();
}

size_t kafka_message_values(const kafka_fields *fields, const kafka_message *m,
                            gale_value values[KAFKA_MESSAGE_VALUES]) {
    values[0] = value_of(&m->key);
    values[1] = value_of(&m->value);
    values[2] = gale_i64(m->time);
    for (size_t i = 0; i < fields->header_count; i++) values[3 + i] = value_of(&m->headers[i]);
    return 3 + fields->header_count;
}

static bool bytes_from(const gale_value *value, kafka_bytes *to) {
    return (value->type == GALE_TYPE_NULL || value->type == GALE_TYPE_BYTES) && form_field(value, to);
}

bool kafka_message_from(const kafka_fields *fields, const gale_value *values, size_t count, kafka_message *m) {
    bool is = count == 3 + fields->header_count && values[2].type == GALE_TYPE_I64 && bytes_from(&values[0], &m->key) &&
              bytes_from(&values[1], &m->value);
    if (is) m->time = values[2].as.i64;
    for (size_t i = 0; is && i < fields->header_count; i++) is = bytes_from(&values[3 + i], &m->headers[i]);
    return is;
}

/* --- Out ------------------------------------------------------------------------------------------------------------ */

/* librdkafka's from then on, when it is sent. NULL: there are none. */
static rd_kafka_headers_t *headers_of(const kafka_fields *fields, const kafka_message *m) {
    rd_kafka_headers_t *headers = fields->header_count ? rd_kafka_headers_new(fields->header_count) : NULL;
    for (size_t i = 0; i < fields->header_count; i++)
        if (m->headers[i].data)
            (void)rd_kafka_header_add(headers, fields->headers[i], -1, m->headers[i].data, (ssize_t)m->headers[i].size);
    return headers;
}

bool kafka_message_is_refused(rd_kafka_resp_err_t err) {
    return err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || err == RD_KAFKA_RESP_ERR_INVALID_MSG ||
           err == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || err == RD_KAFKA_RESP_ERR_INVALID_RECORD ||
           err == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP;
}

rd_kafka_resp_err_t kafka_message_produce(const kafka_fields *fields, const kafka_message *m, rd_kafka_t *rk,
                                          const char *topic, int32_t partition, void *opaque) {
    rd_kafka_headers_t *headers = headers_of(fields, m);
    rd_kafka_vu_t parts[] = {
        { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic },
        { .vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition },
        { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
        { .vtype = RD_KAFKA_VTYPE_KEY, .u.mem = { (void *)m->key.data, m->key.size } },
        { .vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = { (void *)m->value.data, m->value.size } },
        { .vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = m->time },
        { .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = opaque },
        { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
    };
    rd_kafka_error_t *error = rd_kafka_produceva(rk, parts, sizeof parts / sizeof *parts - (headers ? 0 : 1));
    rd_kafka_resp_err_t err = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (error) rd_kafka_error_destroy(error);
    if (err && headers) rd_kafka_headers_destroy(headers);
    return err;
}
