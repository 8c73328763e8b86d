/* A tuple's message: what its fields are in NATS.
 * Threads: any; nothing is kept. Owner: what a message has is borrowed from its tuple, or from the values that it was made of. */
#ifndef GALE_CONNECT_NATS_MESSAGE_H
#define GALE_CONNECT_NATS_MESSAGE_H

#include "connect/nats/subject.h"

#include <gale/component.h>
#include <nats/nats.h>

enum {
    NATS_HEADER_MAX = 4096,
    NATS_SINK_HEADERS_MAX = 32,
    NATS_MESSAGE_VALUES = 3 + NATS_SINK_HEADERS_MAX,
    NATS_ID_MAX = 64 /* of one that gale makes */
};

/* Which fields are what; NULL: not given. */
typedef struct nats_fields {
    char *subject; /* with fields in it */
    char *payload, *id;
    char *stream; /* that it is expected in */
    char *headers[NATS_SINK_HEADERS_MAX];
    size_t header_count;
    bool makes_ids; /* where there is none */
} nats_fields;

/* What a field is in a message: NULL is none. */
typedef struct nats_bytes {
    const char *data;
    size_t size;
    char number[GALE_NUMBER_TEXT];
} nats_bytes;

typedef struct nats_message {
    char subject[NATS_SUBJECT_MAX];
    nats_bytes payload, id;
    nats_bytes headers[NATS_SINK_HEADERS_MAX];
} nats_message;

/* GALE_INVALID with a sentence in `why`. */
int nats_message_form(const nats_fields *fields, const gale_tuple *tuple, nats_message *message, char *why,
                      size_t size);

/* How much it takes of its way, about. */
size_t nats_message_size(const nats_fields *fields, const nats_message *message);

/* As a row that can be kept, and back. How many values; borrowed from the message. False: it is no such row. */
size_t nats_message_values(const nats_fields *fields, const nats_message *message,
                           gale_value values[NATS_MESSAGE_VALUES]);
bool nats_message_from(const nats_fields *fields, const gale_value *values, size_t count, nats_message *message);

/* Has it a header? */
bool nats_message_has_headers(const nats_fields *fields, const nats_message *message);

/* As cnats wants it, whose answer goes to `reply`; `made` is its id, where it has none of its own and is to have one. NULL: memory is out. */
natsMsg *nats_message_new(const nats_fields *fields, const nats_message *message, const char *reply, const char *made);

/* PREFIX, and the number in hexadecimal digits behind it: an inbox's subject, an id. Returns how long it is; `to` has room for it. */
size_t nats_number_write(char *to, const char *prefix, size_t size, uint64_t number);

#endif
