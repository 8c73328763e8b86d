/* A consumer of a stream: messages to its spout, answers to the server.
 *
 *      asked for --delivered--> open, queued --taken by the spout--> open --ack, nak, term--> forgotten
 *                                  '--is taken already: dropped, and acked again where it is done
 *
 * What:    no more than `in_flight` messages are open or asked for; the server is told of each that takes long (+WPI), so that it does not deliver it
 *          again. What it delivers again all the same, as behind a cut, is known by its sequence.
 *
 *          In a durable run it knows which sequences it has `taken`, too, and that is in the checkpoints: what is taken and not open is done, however often
 *          it comes. A sequence that was given back (nak), or was sent and never arrived, is not taken, so that it counts when it comes. The sequences between two
 *          messages that are of other subjects, or were deleted, count as taken where they cannot come: between two first deliveries with no
 *          delivery missing in between, and below what the server has as acked.
 * Threads: the task's. Owner: nats_consumer_close ends it. */
#ifndef GALE_CONNECT_NATS_CONSUMER_H
#define GALE_CONNECT_NATS_CONSUMER_H

#include "connect/nats/link.h"
#include "connect/nats/open.h"
#include "connect/nats/place.h"
#include "connect/nats/pulls.h"
#include "connect/nats/ranges.h"
#include "connect/nats/setup.h"

#include <gale/metric.h>
#include <gale/state.h>

typedef struct nats_queued {
    natsMsg *msg;
    nats_place place;
} nats_queued;

typedef struct nats_consumer {
    nats_link link;
    const nats_reading *reading;
    bool durable;
    nats_open open;
    nats_ranges taken;   /* of a durable run */
    int64_t stream_made; /* when; 0: not known yet */
    nats_queued *queue;  /* from `at` on: not given to the spout yet */
    size_t at, count, capacity;
    int64_t queued_bytes;
    nats_pulls pulls;
    int64_t flight;       /* so many may be open */
    int64_t ack_wait;     /* ns */
    int64_t paused_until; /* nothing is asked for */
    int64_t last_number;  /* of a delivery; 0: the next is not next to it */
    int64_t top;          /* the last first delivery since; 0: there was none */
    uint64_t ending;      /* rows that end with a checkpoint */
    bool wished, looking, at_end, over;
    gale_watch tick;
    gale_metric *pending;
} nats_consumer;

/* `reading` lives longer. What was made is closed by nats_consumer_close, also after an error. */
int nats_consumer_open(nats_consumer *consumer, const nats_reading *reading, const gale_context *context,
                       gale_collector *out, gale_error *error);
void nats_consumer_close(nats_consumer *consumer);

/* The next message; NULL: there is none now. It is the next until nats_consumer_pass, which says that the spout has it: its sequence is taken. */
const nats_queued *nats_consumer_peek(const nats_consumer *consumer);
void nats_consumer_pass(nats_consumer *consumer);

/* Asks for more, if there is room; and what was answered goes out. */
void nats_consumer_ask(nats_consumer *consumer);

/* How often it was delivered; 0: it is not open. */
int64_t nats_consumer_delivered(const nats_consumer *consumer, int64_t sequence);

/* Answers: it is done; it comes again, after so many nanoseconds; it never comes again, in a durable run when a checkpoint that has this lasts. */
void nats_consumer_ack(nats_consumer *consumer, int64_t sequence);
void nats_consumer_nak(nats_consumer *consumer, int64_t sequence, int64_t delay);
void nats_consumer_term(nats_consumer *consumer, int64_t sequence);

/* In `save`, `restore` and `committed`. What gale_save says; GALE_DAMAGED with a report. nats_consumer_again: a row of the intake is open. */
int nats_consumer_save(nats_consumer *consumer, gale_saver *to);
int nats_consumer_restore(nats_consumer *consumer, gale_saved *from);
void nats_consumer_again(nats_consumer *consumer, int64_t sequence);
void nats_consumer_committed(nats_consumer *consumer, uint64_t checkpoint);

#endif
