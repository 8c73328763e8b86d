/* Messages that came, by their packet ids, and what the broker is told of them, and when.
 *
 *      QoS 1:  free --PUBLISH--> open --its tree is done--> answered --its turn: PUBACK--> free
 *      QoS 2:  free --PUBLISH--> open --its tree is done--> answered --its turn: PUBREC--> received --PUBREL--> released --PUBCOMP--> free
 *
 * What:    answers go in the order of the messages, as the standard wants it, those of QoS 1 and those of QoS 2 for themselves: a message that takes long
 *          holds those behind it up. A connection that is lost changes nothing: what comes again under an id that is not free is the same message, and
 *          is not emitted again. A broker that has no session any more (mqtt_inbound_forget) has forgotten all ids: what is open is nobody's.
 * Durable: a message is answered when a checkpoint lasts that has it as done. One that is released gets its PUBCOMP when a checkpoint lasts that has its
 *          id no more: only then may the broker give the id to another message. So what a checkpoint has of an id of QoS 2 is true of the message that
 *          comes again under it, whenever the process dies. Of QoS 1 that can be said of open messages alone: of one that was done the broker may have
 *          the PUBACK, and its id may be another's.
 * Threads: the task's. Owner: mqtt_inbound_free. Limits: 65,535 ids, in 1.6 MiB that are taken as they are used. */
#ifndef GALE_CONNECT_MQTT_INBOUND_H
#define GALE_CONNECT_MQTT_INBOUND_H

#include "connect/mqtt/packet.h"

#include <gale/state.h>

enum { MQTT_IDS = 65536 };

typedef enum mqtt_in_state {
    MQTT_FREE,
    MQTT_OPEN,
    MQTT_ANSWERED,
    MQTT_RECEIVED,
    MQTT_RELEASED,
    MQTT_IN_STATE_COUNT
} mqtt_in_state;

typedef struct mqtt_in {
    int64_t number; /* of the message, which no other one has had */
    uint8_t state, qos;
    bool here; /* it came on this connection, and is in its queue */
} mqtt_in;

/* Ids in order. Each is in it once at the most. */
typedef struct mqtt_ids {
    uint16_t list[MQTT_IDS];
    size_t first, count;
} mqtt_ids;

typedef struct mqtt_inbound {
    mqtt_in *ids;       /* by packet id */
    mqtt_ids *turns;    /* of QoS 1 and QoS 2: those that came on this connection and are not answered */
    mqtt_ids *complete; /* that get their PUBCOMP now */
    mqtt_ids *released; /* that wait for a checkpoint */
    size_t cut;         /* so many of them, the first, are not in `checkpoint` any more */
    uint64_t checkpoint;
    int64_t number; /* of the last message */
    size_t open;    /* messages whose trees are not done, or in a durable run not known to be */
    size_t here;    /* messages that came on this connection, and that the broker still counts */
    bool durable;
} mqtt_inbound;

/* GALE_NO_MEMORY. */
int mqtt_inbound_init(mqtt_inbound *in, bool durable);
void mqtt_inbound_free(mqtt_inbound *in);

/* A PUBLISH above QoS 0. 1: it is a new one, which is called `*ret_place` from now on; 0: it is known, and not to be emitted; GALE_DAMAGED with a sentence: its id
 * is another message's. */
int mqtt_inbound_take(mqtt_inbound *in, const mqtt_packet *publish, int64_t *ret_place, gale_error *error);

/* What was taken just now as a new one was not kept: it is as if it had not come, and comes again on the next connection. */
void mqtt_inbound_drop(mqtt_inbound *in, int64_t place);

/* It has its answer. One that is nobody's is nothing. */
void mqtt_inbound_answer(mqtt_inbound *in, int64_t place);

/* A PUBREL. GALE_DAMAGED with a sentence: its message has no PUBREC yet. */
int mqtt_inbound_release(mqtt_inbound *in, const mqtt_packet *pubrel, gale_error *error);

/* What the broker is to be told next. False: nothing. */
bool mqtt_inbound_next(mqtt_inbound *in, mqtt_packet *ret_packet);

/* The connection is lost, or another one begins; the session is lost. */
void mqtt_inbound_lost(mqtt_inbound *in);
void mqtt_inbound_forget(mqtt_inbound *in);

/* In a durable run: does somebody wait for a checkpoint, so that a PUBCOMP goes out? */
bool mqtt_inbound_waits(const mqtt_inbound *in);

/* Its part of a checkpoint; what is restored of it is taken as done until it is said to be open (mqtt_inbound_reopen), and concluded then. What gale_save says;
 * GALE_DAMAGED. */
int mqtt_inbound_save(mqtt_inbound *in, gale_saver *to);
int mqtt_inbound_restore(mqtt_inbound *in, gale_saved *from);
void mqtt_inbound_reopen(mqtt_inbound *in, int64_t place);
void mqtt_inbound_conclude(mqtt_inbound *in);
void mqtt_inbound_committed(mqtt_inbound *in, uint64_t checkpoint);

#endif
