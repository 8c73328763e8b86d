/* A tuple's message: what its fields are in RabbitMQ. It is an order to publish.
 * Threads: who has it. Owner: a message is a note, and what it has lies in that; exchange and texts of settings are borrowed. */
#ifndef GALE_CONNECT_RABBITMQ_MESSAGE_H
#define GALE_CONNECT_RABBITMQ_MESSAGE_H

#include "connect/rabbitmq/address.h"
#include "connect/rabbitmq/note.h"
#include "connect/rabbitmq/session.h"

#include <amqp.h>
#include <gale/tuple.h>

enum { RMQ_HEADERS_MAX = 32, RMQ_HEADERS_SIZE = 64 << 10 };

/* What a file says of messages; a field that is NULL is not given. */
typedef struct rmq_fields {
    char *exchange; /* "": the one without a name */
    char *key;      /* a template */
    char *body, *id, *time;
    char *headers[RMQ_HEADERS_MAX];
    size_t header_count;
    char *content_type, *type; /* texts */
    uint64_t largest;          /* bytes of a body */
    bool persistent, mandatory;
} rmq_fields;

/* A message's own name where no field is: the life of a task, and a number in it. */
typedef struct rmq_name {
    uint64_t life, number;
} rmq_name;

typedef struct rmq_message {
    rmq_note note; /* first */
    const rmq_fields *fields;
    gale_str key, id, body;
    int64_t time;                /* seconds since 1970; -1: none */
    amqp_table_entry_t *headers; /* NULL: none */
    int header_count;
    size_t size; /* what it takes of its way, about */
} rmq_message;

/* GALE_INVALID with a sentence in `why`: there is no such message; GALE_NO_MEMORY. */
int rmq_message_form(const rmq_fields *fields, const gale_tuple *tuple, rmq_name name, rmq_message **ret_message,
                     char *why, size_t size);

/* The id that it has. False: it has none. */
bool rmq_message_id(const rmq_fields *fields, const gale_tuple *tuple, rmq_name name, char id[RMQ_NAME]);

/* On the worker's thread. False: the session is over. */
bool rmq_message_publish(const rmq_message *message, rmq_session *session);

#endif
