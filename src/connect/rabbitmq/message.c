#include "connect/rabbitmq/message.h"

#include "connect/rabbitmq/template.h"
#include "connect/rabbitmq/words.h"

#include <amqp_framing.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COST = 512 };

static int refuse(char *why, size_t size, const char *name, const char *what) {
    snprintf(why, size, "field %s %s", name, what);
    return GALE_INVALID;
}

static const char list_or_map[] = "is a list or a map: a text is made of it before, as by gale.bolt.Format";

/* --- The id ----------------------------------------------------------------------------------------------------------- */

static int form_id(const rmq_fields *fields, const gale_tuple *tuple, rmq_name name, char id[RMQ_NAME], char *why,
                   size_t size) {
    gale_value value;
    gale_str text;
    char number[GALE_NUMBER_TEXT];
    if (!fields->id) {
        snprintf(id, RMQ_NAME, "%016" PRIx64 "-%" PRIu64, name.life, name.number);
        return 0;
    }
    if (!gale_tuple_get(tuple, fields->id, &value)) return refuse(why, size, fields->id, "is not there");
    const char *fault = gale_value_text(&value, number, &text) ? rmq_short_fault(text.data, text.size) : list_or_map;
    if (fault) return refuse(why, size, fields->id, fault);
    snprintf(id, RMQ_NAME, "%.*s", (int)text.size, text.data ? text.data : "");
    return 0;
}

bool rmq_message_id(const rmq_fields *fields, const gale_tuple *tuple, rmq_name name, char id[RMQ_NAME]) {
    char why[8];
    return form_id(fields, tuple, name, id, why, sizeof why) == 0;
}

/* --- A message -------------------------------------------------------------------------------------------------------- */

static int keep(rmq_message *m, const void *data, size_t size, gale_str *to) {
    m->size += size;
    return rmq_arena_copy(&m->note.arena, data, size, to) ? 0 : GALE_NO_MEMORY;
}

static int take_key(rmq_message *m, const gale_tuple *tuple, char *why, size_t size) {
    char key[RMQ_NAME];
    size_t length;
    int rc = rmq_template_write(m->fields->key, tuple, key, &length, why, size);
    return rc < 0 ? rc : keep(m, key, length, &m->key);
}

static int take_id(rmq_message *m, const gale_tuple *tuple, rmq_name name, char *why, size_t size) {
    char id[RMQ_NAME];
    int rc = form_id(m->fields, tuple, name, id, why, size);
    return rc < 0 ? rc : keep(m, id, strlen(id), &m->id);
}

static int take_body(rmq_message *m, const gale_tuple *tuple, char *why, size_t size) {
    const char *name = m->fields->body ? m->fields->body : gale_tuple_field(tuple, 0);
    char number[GALE_NUMBER_TEXT];
    gale_value value;
    gale_str text;
    if (!name || !gale_tuple_get(tuple, name, &value)) return refuse(why, size, name ? name : "body", "is not there");
    if (!gale_value_text(&value, number, &text)) return refuse(why, size, name, list_or_map);
    if (text.size > m->fields->largest) return refuse(why, size, name, "has more bytes than maxMessage");
    return keep(m, text.data, text.size, &m->body);
}

static int take_time(rmq_message *m, const gale_tuple *tuple, char *why, size_t size) {
    const char *name = m->fields->time;
    gale_value value;
    m->time = -1;
    if (!name) return 0;
    if (!gale_tuple_get(tuple, name, &value)) return refuse(why, size, name, "is not there");
    if (value.type == GALE_TYPE_NULL) return 0;
    if (value.type != GALE_TYPE_I64 || value.as.i64 < 0)
        return refuse(why, size, name, "is no time: milliseconds since 1970");
    m->time = value.as.i64 / 1000;
    return 0;
}

static int header_value(rmq_message *m, const gale_value *value, amqp_field_value_t *to) {
    gale_str text;
    switch (value->type) {
    case GALE_TYPE_BOOL:
        to->kind = AMQP_FIELD_KIND_BOOLEAN;
        to->value.boolean = value->as.boolean;
        return 0;
    case GALE_TYPE_I64:
        to->kind = AMQP_FIELD_KIND_I64;
        to->value.i64 = value->as.i64;
        return 0;
    case GALE_TYPE_F64:
        to->kind = AMQP_FIELD_KIND_F64;
        to->value.f64 = value->as.f64;
        return 0;
    default: break;
    }
    if (value->type != GALE_TYPE_STRING && value->type != GALE_TYPE_BYTES) return GALE_INVALID;
    int rc = keep(m, value->as.bytes, value->size, &text);
    to->kind = value->type == GALE_TYPE_STRING ? AMQP_FIELD_KIND_UTF8 : AMQP_FIELD_KIND_BYTES;
    if (rc == 0) to->value.bytes = rmq_bytes(text.data, text.size);
    return rc;
}

/* Null is no header. */
static int take_header(rmq_message *m, const gale_tuple *tuple, const char *name, char *why, size_t size) {
    gale_value value;
    if (!gale_tuple_get(tuple, name, &value)) return refuse(why, size, name, "is not there");
    if (value.type == GALE_TYPE_NULL) return 0;
    amqp_table_entry_t *entry = &m->headers[m->header_count];
    entry->key = amqp_cstring_bytes(name);
    int rc = header_value(m, &value, &entry->value);
    if (rc == GALE_INVALID) return refuse(why, size, name, list_or_map);
    m->header_count += rc == 0;
    return rc;
}

static int take_headers(rmq_message *m, const gale_tuple *tuple, char *why, size_t size) {
    size_t before = m->size, count = m->fields->header_count;
    int rc = 0;
    if (count) m->headers = rmq_arena_take(&m->note.arena, count * sizeof *m->headers);
    if (count && !m->headers) return GALE_NO_MEMORY;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = take_header(m, tuple, m->fields->headers[i], why, size);
        if (rc < 0 || m->size - before <= RMQ_HEADERS_SIZE) continue;
        snprintf(why, size, "headers: with field %s they have more than %d bytes", m->fields->headers[i],
                 RMQ_HEADERS_SIZE);
        rc = GALE_INVALID;
    }
    return rc;
}

int rmq_message_form(const rmq_fields *fields, const gale_tuple *tuple, rmq_name name, rmq_message **ret_message,
                     char *why, size_t size) {
    rmq_message *m = (rmq_message *)rmq_note_new(RMQ_PUBLISH, 0, sizeof *m, SIZE_MAX);
    if (!m) return GALE_NO_MEMORY;
    m->fields = fields;
    m->size = COST;
    int rc = take_key(m, tuple, why, size);
    if (rc == 0) rc = take_id(m, tuple, name, why, size);
    if (rc == 0) rc = take_body(m, tuple, why, size);
    if (rc == 0) rc = take_time(m, tuple, why, size);
    if (rc == 0) rc = take_headers(m, tuple, why, size);
    if (rc == 0)
        *ret_message = m;
    else
        rmq_note_free(&m->note);
    return rc;
}

/* --- Out -------------------------------------------------------------------------------------------------------------- */

static void set_text(amqp_basic_properties_t *properties, amqp_flags_t flag, amqp_bytes_t *to, const char *text) {
    if (!text) return;
    properties->_flags |= flag;
    *to = amqp_cstring_bytes(text);
}

bool rmq_message_publish(const rmq_message *m, rmq_session *session) {
    amqp_basic_properties_t p = { ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG };
    p.delivery_mode = m->fields->persistent ? AMQP_DELIVERY_PERSISTENT : AMQP_DELIVERY_NONPERSISTENT;
    set_text(&p, AMQP_BASIC_MESSAGE_ID_FLAG, &p.message_id, m->id.data);
    set_text(&p, AMQP_BASIC_CONTENT_TYPE_FLAG, &p.content_type, m->fields->content_type);
    set_text(&p, AMQP_BASIC_TYPE_FLAG, &p.type, m->fields->type);
    if (m->time >= 0) {
        p._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
        p.timestamp = (uint64_t)m->time;
    }
    if (m->header_count) {
        p._flags |= AMQP_BASIC_HEADERS_FLAG;
        p.headers = (amqp_table_t){ m->header_count, m->headers };
    }
    amqp_basic_publish_t method = { .exchange = amqp_cstring_bytes(m->fields->exchange),
                                    .routing_key = rmq_bytes(m->key.data, m->key.size),
                                    .mandatory = m->fields->mandatory };
    return rmq_session_publish(session, &method, &p, rmq_bytes(m->body.data, m->body.size));
}
