/* A client's session: what it says to a broker, and hears, whatever carries it.
 *
 *      away --mqtt_session_open: CONNECT--> asked --CONNACK--> subscribing: SUBSCRIBE --all SUBACK--> up
 *       ^                                     |                    |    '- nothing to subscribe to ----^
 *       '------- lost, or refused in words ---'--------------------'-----------------------------------'
 *
 * What:    packets that were read go in (mqtt_session_hear), bytes come out (`unsent`), and the caller is told of messages and confirmations. It knows no socket and no clock.
 * Keep alive: mqtt_session_ping, every so often (mqtt_session_ping_after), asks whether the broker is there; PINGRESP is an answer that the caller expects (mqtt_session_expects).
 * Threads: the task's. Owner: mqtt_session_free; `given` lives longer.
 * Errors:  what the broker may not say, or refuses, is a negative code with a sentence: the connection is to end. mqtt_session_end says goodbye before. */
#ifndef GALE_CONNECT_MQTT_SESSION_H
#define GALE_CONNECT_MQTT_SESSION_H

#include "connect/mqtt/inbound.h"
#include "connect/mqtt/outbound.h"

enum { MQTT_FILTERS_MAX = 1000, MQTT_SUBSCRIBE_ID = 65535 };

/* Who connects, and what for. Frozen. */
typedef struct mqtt_identity {
    mqtt_version version;
    gale_str client; /* its id */
    gale_str user;   /* NULL: none */
    uint32_t expiry; /* seconds that the broker keeps the session without a connection; 0: not at all */
    uint16_t keep_alive;
    uint16_t receive_max; /* messages that the broker may have out */
    uint32_t packet_max;  /* bytes */
    bool has_will, anew;  /* the first connection finds no session of an earlier process */
    mqtt_message will;
    const mqtt_subscription *filters; /* each has the subscription id of its place, from 1 on */
    size_t filter_count;
    size_t out_most; /* messages that are out at once */
} mqtt_identity;

typedef enum mqtt_session_state { MQTT_AWAY, MQTT_ASKED, MQTT_SUBSCRIBING, MQTT_UP } mqtt_session_state;

typedef struct mqtt_session_ops {
    /* A message is there. `place` is what mqtt_session_answer takes; 0: nobody waits. An error ends the connection, and the message comes again, above QoS 0. */
    int (*message)(void *user, const mqtt_packet *publish, int64_t place);
    /* A message of the caller's was confirmed; `why` NULL, or refused for this. */
    void (*confirmed)(void *user, uint64_t tag, const char *why);
    void (*noted)(void *user, const char *words); /* nothing is wrong, and somebody ought to know */
    bool (*may_send)(void *user);                 /* the next message? NULL: always */
    void (*sent)(void *user, uint64_t tag);       /* it is written, and has no answer yet; may be NULL */
} mqtt_session_ops;

typedef struct mqtt_session {
    const mqtt_identity *given;
    const mqtt_session_ops *ops;
    void *user;
    mqtt_session_state state;
    mqtt_inbound in;
    mqtt_outbound out;
    mqtt_bytes unsent;
    bool was_up;   /* in this process, or in the one that left the checkpoint */
    bool pinged;   /* and there is no PINGRESP */
    bool goes;     /* the broker ends the connection for a reason that is no message's: it shuts down, for one */
    size_t suback; /* that are to come */
    uint16_t keep_alive;
    uint8_t qos_max;                      /* what the broker takes */
    bool retain_available, ids_available; /* subscription ids */
    uint32_t packet_max;
} mqtt_session;

/* GALE_NO_MEMORY. */
int mqtt_session_init(mqtt_session *session, const mqtt_identity *given, bool durable, const mqtt_session_ops *ops,
                      void *user);
void mqtt_session_free(mqtt_session *session);

/* A connection is there. `password` is not kept; NULL: none. */
void mqtt_session_open(mqtt_session *session, const char *password);

/* It is gone. */
void mqtt_session_lost(mqtt_session *session);

/* The broker said this. */
int mqtt_session_hear(mqtt_session *session, const mqtt_packet *packet, gale_error *error);

/* A message of so many bytes is too large to be taken: it is answered, so that it does not come again, and noted. */
void mqtt_session_leave_out(mqtt_session *session, const mqtt_packet *publish, int64_t size);

/* A message that came is done. */
void mqtt_session_answer(mqtt_session *session, int64_t place);

/* Writes to `unsent` what there is to say, as long as that has less than `most` bytes. */
void mqtt_session_write(mqtt_session *session, size_t most);

/* Does it wait for something that the broker owes? */
bool mqtt_session_expects(const mqtt_session *session);

/* So many nanoseconds after the last one; 0: never. */
int64_t mqtt_session_ping_after(const mqtt_session *session);
void mqtt_session_ping(mqtt_session *session);

/* Says goodbye: `reason` is 0, or why, which only MQTT 5 can say. */
void mqtt_session_end(mqtt_session *session, uint8_t reason);

#endif
