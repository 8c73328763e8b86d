/* Small things of words: what a broker says made fit to be shown, and the nearest of some names.
 * Threads: any; nothing is kept. */
#ifndef GALE_CONNECT_RABBITMQ_WORDS_H
#define GALE_CONNECT_RABBITMQ_WORDS_H

#include <amqp.h>
#include <gale/plugin.h>

enum { RMQ_WORDS = 400 };

/* Writes a sentence; what is no printable ASCII of it is a '?'. */
void rmq_words(char to[RMQ_WORDS], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a broker or librabbitmq says of a call that failed. */
void rmq_words_of(char to[RMQ_WORDS], const amqp_rpc_reply_t *reply);
void rmq_words_status(char to[RMQ_WORDS], int status);

/* What a broker says as it closes a channel or a connection. */
void rmq_words_closed(char to[RMQ_WORDS], unsigned code, amqp_bytes_t text);

/* "; did you mean 'x'?" or nothing, of names that end with a NULL. */
enum { RMQ_HINT = 80 };
const char *rmq_hint(gale_str wanted, const char *const *names, char to[RMQ_HINT]);

/* A copy of a parameter's text; NULL where it is empty or not given. GALE_NO_MEMORY. */
int rmq_copy(char **to, const gale_args *args, const char *parameter, gale_error *error);
int rmq_no_memory(gale_error *error);

amqp_bytes_t rmq_bytes(const void *data, size_t size);

#endif
