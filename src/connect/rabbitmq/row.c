#include "connect/rabbitmq/row.h"

enum {
    BODY,
    KEY,
    EXCHANGE,
    HEADERS,
    TIME,
    ID,
    REDELIVERED,
    ATTEMPT,
    TYPE,
    CONTENT_TYPE,
    CONTENT_ENCODING,
    CORRELATION_ID,
    REPLY_TO,
    PRIORITY
};
static const char *const names[] = {
    "body", "key",         "exchange",        "headers",       "time",    "id",       "redelivered", "attempt",
    "type", "contentType", "contentEncoding", "correlationId", "replyTo", "priority", NULL
};

int rmq_row_parse(const char *text, rmq_row *row, gale_error *error) {
    int rc = gale_names_read("emit", text, "a message", names, &row->emit, error);
    row->headers = false;
    for (uint32_t i = 0; rc == 0 && i < row->emit.count; i++) row->headers |= row->emit.places[i] == HEADERS;
    return rc;
}

int64_t rmq_row_attempt(const rmq_delivery *delivery) {
    return delivery->count >= 0 && delivery->count < INT64_MAX ? delivery->count + 1 : delivery->redelivered ? 2 : 1;
}

static gale_value text_of(gale_str text) {
    return gale_text_or_bytes(text.data, text.size);
}

static gale_value number_of(int64_t number, int64_t each) {
    return number < 0 ? gale_null() : gale_i64(number * each);
}

static gale_value value_of(const rmq_delivery *d, int32_t field) {
    switch (field) {
    case BODY: return text_of(d->body);
    case KEY: return text_of(d->key);
    case EXCHANGE: return text_of(d->exchange);
    case HEADERS: return d->headers;
    case TIME: return number_of(d->time, 1000);
    case ID: return text_of(d->id);
    case REDELIVERED: return gale_bool(d->redelivered);
    case ATTEMPT: return gale_i64(rmq_row_attempt(d));
    case TYPE: return text_of(d->type);
    case CONTENT_TYPE: return text_of(d->content_type);
    case CONTENT_ENCODING: return text_of(d->content_encoding);
    case CORRELATION_ID: return text_of(d->correlation_id);
    case REPLY_TO: return text_of(d->reply_to);
    default: return number_of(d->priority, 1);
    }
}

void rmq_row_values(const rmq_row *row, const rmq_delivery *delivery, gale_value values[GALE_NAMES_MAX]) {
    for (uint32_t i = 0; i < row->emit.count; i++) values[i] = value_of(delivery, row->emit.places[i]);
}
