/* Messages on their way out, as frames: gathered, and written by one call where librabbitmq needs three for each.
 *
 *      add, add, add --write--> the socket
 *
 * What:    without TLS, where there is no layer between the frames and the socket; what does not fit is librabbitmq's to publish, behind a write. librabbitmq may
 *          send nothing itself between an `add` and the `write` behind it.
 * Threads: the worker's. Owner: rmq_frames_free. Limits: RMQ_FRAMES_SIZE bytes. */
#ifndef GALE_CONNECT_RABBITMQ_FRAMES_H
#define GALE_CONNECT_RABBITMQ_FRAMES_H

#include <amqp.h>
#include <amqp_framing.h>
#include <stdbool.h>

enum { RMQ_FRAMES_SIZE = 64 << 10 };

typedef struct rmq_frames {
    char *data; /* NULL: none were added yet */
    size_t used;
    size_t largest; /* frame that the broker takes, in bytes */
} rmq_frames;

/* False: there is no room, or it can be no frames; all is as it was. */
bool rmq_frames_add(rmq_frames *frames, amqp_channel_t channel, amqp_basic_publish_t *method,
                    amqp_basic_properties_t *properties, amqp_bytes_t body);

/* Waits for the socket. A broker that sends nothing (no heartbeat: every `silence_ms` there is one; 0: it is not asked for) while it takes nothing is lost. librabbitmq's
 * status. */
int rmq_frames_write(rmq_frames *frames, int socket, int silence_ms);

/* None were added. */
void rmq_frames_drop(rmq_frames *frames);
void rmq_frames_free(rmq_frames *frames);

#endif
