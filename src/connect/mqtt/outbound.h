/* Messages that go out, in order, until the broker has confirmed them.
 *
 *      QoS 0:  waiting --written--> gone
 *      QoS 1:  waiting --written--> sent --PUBACK--> gone
 *      QoS 2:  waiting --written--> sent --PUBREC--> released: PUBREL --PUBCOMP--> gone
 *              a PUBACK or a PUBREC that refuses: gone
 *
 *      a new connection:  the broker has the session: what was sent is sent again, as such, and what was released is released again, in their order
 *                         it has none:                all wait again, in their order, and get other ids
 *
 * What:    no more than `window` of them are out at once: what the broker takes (its receive maximum), and the caller's own bound.
 * Threads: the task's. Owner: mqtt_outbound_free; messages are copied. */
#ifndef GALE_CONNECT_MQTT_OUTBOUND_H
#define GALE_CONNECT_MQTT_OUTBOUND_H

#include "connect/mqtt/packet.h"

enum { MQTT_OUT_MAX = 60000 };

typedef enum mqtt_out_state { MQTT_WAITING, MQTT_SENT, MQTT_RELEASING } mqtt_out_state;

typedef struct mqtt_out {
    struct mqtt_out *older, *newer;
    uint64_t tag; /* the caller's name of it */
    mqtt_packet packet;
    mqtt_out_state state;
    bool counts; /* for the window of this connection */
    char bytes[];
} mqtt_out;

typedef struct mqtt_outbound {
    mqtt_out *oldest, *newest;
    mqtt_out *next;   /* to be written on this connection; NULL: none */
    mqtt_out **by_id; /* of those that are sent; `most` and one of them, from 1 on */
    uint16_t *ids;    /* that are free, `free` of them */
    size_t free, most, window;
    size_t out;   /* that count */
    size_t count; /* that there are */
} mqtt_outbound;

/* GALE_NO_MEMORY. `most` is MQTT_OUT_MAX at the most. */
int mqtt_outbound_init(mqtt_outbound *out, size_t most);
void mqtt_outbound_free(mqtt_outbound *out);

/* GALE_NO_MEMORY: it is not taken. */
int mqtt_outbound_add(mqtt_outbound *out, const mqtt_packet *publish, uint64_t tag);

/* A connection begins. */
void mqtt_outbound_begin(mqtt_outbound *out, bool has_session, size_t window);

/* What is to be written next: a PUBLISH or a PUBREL; NULL: nothing now. It lies in `room`, or here, until the next call. */
const mqtt_packet *mqtt_outbound_next(mqtt_outbound *out, mqtt_packet *room, uint64_t *ret_tag);

/* That was written, or (false) will never be. True: it is gone. */
bool mqtt_outbound_wrote(mqtt_outbound *out, bool written);

/* That one is gone, and is not sent any more. */
void mqtt_outbound_forget(mqtt_outbound *out, uint64_t tag);

/* PUBACK, PUBREC, PUBCOMP. 1: `*ret_tag` is gone, confirmed or refused as the reason says; 0: it is not, and `ret_reply` is to be written where it has a type. */
int mqtt_outbound_hear(mqtt_outbound *out, const mqtt_packet *answer, uint64_t *ret_tag, mqtt_packet *ret_reply);

#endif
