/* A connection of cnats that its thread drives: it reads, it writes, it sees when the server is silent; no thread of cnats takes part.
 *
 * What:    cnats calls that an event loop, and asks for reading and writing by callbacks. What comes is in one subscription, until nats_pump_next takes it.
 *          cnats' own pings would end a connection on a thread of its own in the midst of a read; here they are the pump's.
 * Threads: one, which is none of cnats'. Owner: nats_pump_close ends it.
 * Limits:  while something waits to be written nothing is published (nats_pump_is_clogged): OpenSSL wants the very same bytes again. */
#ifndef GALE_CONNECT_NATS_PUMP_H
#define GALE_CONNECT_NATS_PUMP_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct nats_pump {
    natsConnection *nc; /* NULL: there is none */
    natsSubscription *sub;
    int fd;
    bool reads, writes; /* what cnats waits for */
    int64_t asked;      /* ms; when the server was pinged, or heard of, last */
    int pings;          /* since it was heard of */
} nats_pump;

/* With all that is sent to `subject` in its subscription. */
natsStatus nats_pump_open(nats_pump *pump, natsOptions *options, const char *subject);
void nats_pump_close(nats_pump *pump);

/* Reads and writes what can be; waits for it, and for `wake` to be readable, for so many milliseconds, or until the server is to be pinged. False: the server does not
 * answer any more. */
bool nats_pump_turn(nats_pump *pump, int wake, int wait_ms);

/* Writes what is published as far as the socket takes it. */
void nats_pump_write(nats_pump *pump);
bool nats_pump_is_clogged(const nats_pump *pump);

/* How many messages have come, and the next of them; NATS_NO_RESPONDERS: nobody has taken something that was sent. */
int nats_pump_count(const nats_pump *pump);
natsStatus nats_pump_next(nats_pump *pump, natsMsg **ret_msg);

/* Until the server has read all that was published, and has hung up therefore; so many milliseconds at the most. */
void nats_pump_finish(nats_pump *pump, int wait_ms);

#endif
