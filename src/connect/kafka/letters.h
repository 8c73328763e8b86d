/* The dead letters of a spout: what was given up goes to a topic, and is answered when the brokers have it there.
 *
 *      given up --> waits --sent--> out --confirmed--> written: the spout is told
 *                     ^---refused, for now---'
 *
 * What:    a letter has the key, the value and the headers of its message, and headers that say why and whence:
 *
 *              gale.reason      failed, rejected, timeout...        gale.topic, gale.partition, gale.offset   of the message
 *              gale.words       what was said                       gale.component   who said it
 *
 *          In a durable run those that are not written are in the checkpoints, so that one may be written twice.
 * Threads: the task's. Owner: kafka_letters_close ends it. Limits: KAFKA_LETTERS_MAX, or KAFKA_LETTERS_BYTES: the spout reads no more then. */
#ifndef GALE_CONNECT_KAFKA_LETTERS_H
#define GALE_CONNECT_KAFKA_LETTERS_H

#include "connect/kafka/client.h"
#include "connect/kafka/message.h"

#include <gale/connect.h>

#define KAFKA_LETTERS_END (3 * GALE_SECOND) /* how long closing waits for them */

enum { KAFKA_LETTERS_MAX = 10000, KAFKA_LETTERS_BYTES = 64 << 20 };

typedef struct kafka_letter kafka_letter;

/* One is written, or is left out for good. */
typedef void kafka_written_fn(void *user, uint32_t source, int64_t place);

typedef struct kafka_letters {
    kafka_client client; /* first */
    const char *topic;   /* NULL: there are none, and all else is of no use */
    kafka_letter *first, *last;
    size_t count, bytes;
    gale_watch again; /* when those that wait are sent */
    kafka_written_fn *written;
    void *user;
} kafka_letters;

/* Where a message that is given up was: its topic and partition, and what the spout calls it. */
typedef struct kafka_origin {
    const char *topic;
    int32_t partition;
    uint32_t source;
    int64_t place; /* its offset, too */
} kafka_origin;

/* `topic` NULL: none are written. It lives longer. What was made is closed by kafka_letters_close, also after an error. */
int kafka_letters_open(kafka_letters *letters, const kafka_settings *given, const char *topic,
                       const gale_context *context, gale_collector *out, gale_error *error);
void kafka_letters_close(kafka_letters *letters);

/* Until all are written, for a while. */
void kafka_letters_finish(kafka_letters *letters);

/* Of a message that is given up. `headers`: a list of names and values in turn; NULL: of these three, there is none. GALE_NO_MEMORY: there is no letter. */
int kafka_letters_add(kafka_letters *letters, const kafka_origin *origin, const gale_value *key,
                      const gale_value *value, const gale_value *headers, const gale_failure *failure);

/* Of one that is no row. */
int kafka_letters_add_message(kafka_letters *letters, uint32_t source, const rd_kafka_message_t *message,
                              const gale_failure *failure);

/* Is there room for more? */
bool kafka_letters_want(const kafka_letters *letters);

/* In `save` and `restore`: those that are not written, one a record. What gale_save says; GALE_DAMAGED. */
int kafka_letters_save(const kafka_letters *letters, gale_saver *to);
int kafka_letters_restore(kafka_letters *letters, size_t count, gale_saved *from);

/* Begins all letters of a source whose place is before `place`, and that were not begun since they were restored. */
void kafka_letters_begin(kafka_letters *letters, gale_positions *positions, uint32_t source, int64_t place);

#endif
