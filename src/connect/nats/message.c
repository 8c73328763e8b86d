#include "connect/nats/message.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Of a tuple ----------------------------------------------------------------------------------------------------------------- */

static bool form_value(const gale_value *value, nats_bytes *to) {
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

static int form_named(const gale_tuple *tuple, const char *name, nats_bytes *to, char *why, size_t size) {
    gale_value value;
    to->data = NULL;
    to->size = 0;
    if (!name) return 0;
    if (!gale_tuple_get(tuple, name, &value)) return refuse(why, size, name, "is not there");
    if (!form_value(&value, to))
        return refuse(why, size, name, "is a list or a map: a text is made of it before, as by gale.bolt.Format");
    return to->size <= INT_MAX ? 0 : refuse(why, size, name, "is too large");
}

/* A header is a line. */
static int form_header(const gale_tuple *tuple, const char *name, nats_bytes *to, char *why, size_t size) {
    int rc = form_named(tuple, name, to, why, size);
    if (rc < 0 || !to->data) return rc;
    bool is = to->size < NATS_HEADER_MAX && !memchr(to->data, '\r', to->size) && !memchr(to->data, '\n', to->size) &&
              !memchr(to->data, '\0', to->size);
    return is ? 0 : refuse(why, size, name, "can be no header: it has an end of a line, or more than 4,095 bytes");
}

int nats_message_form(const nats_fields *fields, const gale_tuple *tuple, nats_message *m, char *why, size_t size) {
    const char *name = fields->payload ? fields->payload : gale_tuple_field(tuple, 0);
    if (!name) return refuse(why, size, "payload", "is not there");
    int rc = nats_subject_write(fields->subject, tuple, m->subject, why, size);
    if (rc == 0) rc = form_named(tuple, name, &m->payload, why, size);
    if (rc == 0) rc = form_header(tuple, fields->id, &m->id, why, size);
    for (size_t i = 0; rc == 0 && i < fields->header_count; i++)
        rc = form_header(tuple, fields->headers[i], &m->headers[i], why, size);
    return rc;
}

size_t nats_message_size(const nats_fields *fields, const nats_message *m) {
    size_t size = strlen(m->subject) + m->payload.size + m->id.size + 128;
    for (size_t i = 0; i < fields->header_count; i++) size += m->headers[i].size + 16;
    return size;
}

/* --- As a row ------------------------------------------------------------------------------------------------------------------- */

static gale_value value_of(const nats_bytes *bytes) {
    return bytes->data ? gale_bytes(bytes->data, bytes->size) : gale_null();
}

size_t nats_message_values(const nats_fields *fields, const nats_message *m, gale_value values[NATS_MESSAGE_VALUES]) {
    values[0] = gale_bytes(m->subject, strlen(m->subject));
    values[1] = value_of(&m->payload);
    values[2] = value_of(&m->id);
    for (size_t i = 0; i < fields->header_count; i++) values[3 + i] = value_of(&m->headers[i]);
    return 3 + fields->header_count;
}

static bool bytes_from(const gale_value *value, nats_bytes *to) {
    return (value->type == GALE_TYPE_NULL || value->type == GALE_TYPE_BYTES) && form_value(value, to);
}

bool nats_message_from(const nats_fields *fields, const gale_value *values, size_t count, nats_message *m) {
    bool is = count == 3 + fields->header_count && values[0].type == GALE_TYPE_BYTES &&
              nats_subject_valid(values[0].as.bytes, values[0].size) && bytes_from(&values[1], &m->payload) &&
              bytes_from(&values[2], &m->id);
    if (is) snprintf(m->subject, sizeof m->subject, "%.*s", (int)values[0].size, (const char *)values[0].as.bytes);
    for (size_t i = 0; is && i < fields->header_count; i++) is = bytes_from(&values[3 + i], &m->headers[i]);
    return is;
}

/* --- Out ------------------------------------------------------------------------------------------------------------------------ */

/* cnats wants texts with an end. */
static natsStatus set_header(natsMsg *msg, const char *name, const nats_bytes *bytes) {
    char text[NATS_HEADER_MAX];
    if (!bytes->data || bytes->size >= sizeof text) return NATS_OK;
    memcpy(text, bytes->data, bytes->size);
    text[bytes->size] = '\0';
    return natsMsgHeader_Set(msg, name, text);
}

static natsStatus set_headers(const nats_fields *fields, const nats_message *m, const char *made, natsMsg *msg) {
    natsStatus status = NATS_OK;
    if (m->id.data)
        status = set_header(msg, "Nats-Msg-Id", &m->id);
    else if (fields->makes_ids)
        status = natsMsgHeader_Set(msg, "Nats-Msg-Id", made);
    if (status == NATS_OK && fields->stream) status = natsMsgHeader_Set(msg, "Nats-Expected-Stream", fields->stream);
    for (size_t i = 0; status == NATS_OK && i < fields->header_count; i++)
        status = set_header(msg, fields->headers[i], &m->headers[i]);
    return status;
}

bool nats_message_has_headers(const nats_fields *fields, const nats_message *m) {
    bool has = m->id.data || fields->makes_ids || fields->stream;
    for (size_t i = 0; !has && i < fields->header_count; i++) has = m->headers[i].data != NULL;
    return has;
}

natsMsg *nats_message_new(const nats_fields *fields, const nats_message *m, const char *reply, const char *made) {
    natsMsg *msg = NULL;
    if (natsMsg_Create(&msg, m->subject, reply, m->payload.data, (int)m->payload.size) != NATS_OK) return NULL;
    if (set_headers(fields, m, made, msg) == NATS_OK) return msg;
    natsMsg_Destroy(msg);
    return NULL;
}

/* Two a message: by hand, as a format costs more than all else of them. */
size_t nats_number_write(char *to, const char *prefix, size_t size, uint64_t number) {
    static const char digits[] = "0123456789abcdef";
    int shift = 60;
    memcpy(to, prefix, size);
    while (shift && !(number >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) to[size++] = digits[number >> shift & 15];
    to[size] = '\0';
    return size;
}
