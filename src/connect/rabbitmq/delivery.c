#include "connect/rabbitmq/delivery.h"

#include "connect/rabbitmq/table.h"
#include "connect/rabbitmq/words.h"

#include <amqp_framing.h>
#include <gale/connect.h>
#include <inttypes.h>
#include <string.h>

/* Beside the body: texts and headers, as values. */
enum { BESIDE = 1 << 20 };

void rmq_assembly_drop(rmq_assembly *a) {
    if (a->now) rmq_note_free(&a->now->note);
    a->now = NULL;
}

static gale_str copy(rmq_delivery *d, amqp_bytes_t bytes) {
    gale_str text = { NULL, 0 };
    (void)rmq_arena_copy(&d->note.arena, bytes.bytes, bytes.len, &text);
    return text;
}

bool rmq_assembly_begin(rmq_assembly *a, rmq_kind kind, uint32_t session, amqp_bytes_t exchange, amqp_bytes_t key) {
    rmq_assembly_drop(a);
    a->now = (rmq_delivery *)rmq_note_new(kind, session, sizeof *a->now, BESIDE + a->most);
    if (!a->now) return false;
    a->has_header = false;
    a->now->exchange = copy(a->now, exchange);
    a->now->key = copy(a->now, key);
    a->now->headers = gale_null();
    a->now->time = a->now->count = a->now->priority = -1;
    return !a->now->note.arena.starved;
}

/* --- The header ------------------------------------------------------------------------------------------------------- */

static void refuse(rmq_delivery *d, const char *words) {
    gale_str text;
    if (!d->note.text && rmq_arena_copy(&d->note.arena, words, strlen(words), &text)) d->note.text = text.data;
}

static void take_headers(const rmq_assembly *a, const amqp_table_t *table) {
    rmq_delivery *d = a->now;
    d->count = rmq_table_number(table, "x-delivery-count", -1);
    if (a->headers && rmq_table_read(table, &d->note.arena, &d->headers) < 0) {
        d->headers = gale_null();
        refuse(d, "its headers are too many, or too deep");
    }
}

static void take_texts(rmq_delivery *d, const amqp_basic_properties_t *p) {
    const struct {
        amqp_flags_t flag;
        const amqp_bytes_t *from;
        gale_str *to;
    } rows[] = {
        { AMQP_BASIC_MESSAGE_ID_FLAG, &p->message_id, &d->id },
        { AMQP_BASIC_TYPE_FLAG, &p->type, &d->type },
        { AMQP_BASIC_CONTENT_TYPE_FLAG, &p->content_type, &d->content_type },
        { AMQP_BASIC_CONTENT_ENCODING_FLAG, &p->content_encoding, &d->content_encoding },
        { AMQP_BASIC_CORRELATION_ID_FLAG, &p->correlation_id, &d->correlation_id },
        { AMQP_BASIC_REPLY_TO_FLAG, &p->reply_to, &d->reply_to },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (p->_flags & rows[i].flag) *rows[i].to = copy(d, *rows[i].from);
}

static void take_properties(const rmq_assembly *a, const amqp_basic_properties_t *p) {
    rmq_delivery *d = a->now;
    take_texts(d, p);
    if (p->_flags & AMQP_BASIC_TIMESTAMP_FLAG && p->timestamp <= INT64_MAX / 1000) d->time = (int64_t)p->timestamp;
    if (p->_flags & AMQP_BASIC_PRIORITY_FLAG) d->priority = p->priority;
    if (p->_flags & AMQP_BASIC_HEADERS_FLAG) take_headers(a, &p->headers);
}

static void make_body(rmq_assembly *a) {
    char words[RMQ_WORDS];
    rmq_delivery *d = a->now;
    a->at = NULL;
    if (a->left > a->most) {
        rmq_words(words, "it has %" PRIu64 " bytes, more than maxMessage", a->left);
        refuse(d, words);
        return;
    }
    a->at = rmq_arena_take(&d->note.arena, a->left + 1);
    if (!a->at) return;
    a->at[a->left] = '\0';
    d->body = (gale_str){ a->at, a->left };
}

static int take_header(rmq_assembly *a, const amqp_frame_t *frame) {
    if (a->has_header || frame->payload.properties.class_id != AMQP_BASIC_CLASS) return GALE_DAMAGED;
    a->has_header = true;
    a->left = frame->payload.properties.body_size;
    if (frame->payload.properties.decoded) take_properties(a, frame->payload.properties.decoded);
    make_body(a);
    return a->now->note.arena.starved ? GALE_NO_MEMORY : 0;
}

/* --- The body --------------------------------------------------------------------------------------------------------- */

static int take_body(rmq_assembly *a, const amqp_bytes_t *part) {
    if (!a->has_header || part->len > a->left) return GALE_DAMAGED;
    if (a->at && part->len) {
        memcpy(a->at, part->bytes, part->len);
        a->at += part->len;
    }
    a->left -= part->len;
    return 0;
}

int rmq_assembly_frame(rmq_assembly *a, const amqp_frame_t *frame, rmq_delivery **ret_delivery) {
    int rc = GALE_DAMAGED;
    if (a->now && frame->frame_type == AMQP_FRAME_HEADER) rc = take_header(a, frame);
    if (a->now && frame->frame_type == AMQP_FRAME_BODY) rc = take_body(a, &frame->payload.body_fragment);
    if (rc < 0 || a->left) return rc;
    *ret_delivery = a->now;
    a->now = NULL;
    return 1;
}
