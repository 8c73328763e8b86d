/* What JetStream answers to a publication: it has it, takes it never, or not now.
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_NATS_ANSWER_H
#define GALE_CONNECT_NATS_ANSWER_H

#include <stddef.h>

typedef enum nats_answer { NATS_HAS_IT, NATS_NEVER, NATS_NOT_NOW } nats_answer;

/* Of the bytes of an answer; `why` is words of one that is no yes. */
nats_answer nats_answer_read(const char *bytes, size_t size, char *why, size_t why_size);

#endif
