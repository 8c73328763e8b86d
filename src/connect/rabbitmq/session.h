/* A connection with its one channel, by librabbitmq, which blocks: on the thread of a worker alone.
 *
 *      open --> frames, calls of librabbitmq on `state` and channel RMQ_CHANNEL --> close
 *
 * Threads: the worker's. Owner: the worker. */
#ifndef GALE_CONNECT_RABBITMQ_SESSION_H
#define GALE_CONNECT_RABBITMQ_SESSION_H

#include "connect/rabbitmq/frames.h"
#include "connect/rabbitmq/settings.h"

enum { RMQ_CHANNEL = 1, RMQ_FRAME_MAX = 131072 };

typedef struct rmq_session {
    const rmq_settings *given;
    amqp_connection_state_t state; /* NULL: there is none */
    rmq_frames out;                /* published, and not written yet */
    uint32_t frames;               /* so many were read */
    bool tls;
    bool
        away; /* it is over, as the broker is silent, ends, or has what it is to publish to no more: no message is why */
    char why[RMQ_WORDS]; /* it is over, or did not come about */
} rmq_session;

/* `name` is what the broker shows of it. False: `why` says why. */
bool rmq_session_open(rmq_session *session, const rmq_address *address, const char *password, const char *name);

/* A message; what is small is gathered until rmq_session_flush, which is called before anything else is asked of librabbitmq. False: it is over. */
bool rmq_session_publish(rmq_session *session, amqp_basic_publish_t *method, amqp_basic_properties_t *properties,
                         amqp_bytes_t body);
bool rmq_session_flush(rmq_session *session);

/* A word to the broker, and its answer: all that was sent before has arrived then. */
void rmq_session_goodbye(rmq_session *session);
void rmq_session_close(rmq_session *session);

/* The next frame, if there is one: 1, good until the next call; 0: there is none now; -1: it is over. Sends the heartbeats that are due. */
int rmq_session_frame(rmq_session *session, amqp_frame_t *ret_frame);

/* A call of librabbitmq's was no success: it is over. False, always. */
bool rmq_session_fail(rmq_session *session, int status);

/* The broker's answer to the last question: false, it is over. */
bool rmq_session_answered(rmq_session *session);

#endif
