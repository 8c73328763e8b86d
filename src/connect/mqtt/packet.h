/* Packets of MQTT 3.1.1 and 5: bytes to what they say, and back.
 *
 * What:    pure functions, for all packets in both directions. What breaks a rule of the standard is refused, with a sentence: a length or a flag that cannot be, a
 *          text that is not UTF-8, a reason or a property that such a packet has not, something behind the end.
 *
 *              head:  type, flags | number of bytes that follow, in one to four
 *              tail:  as the type has it; of version 5 with properties
 *
 * Threads: any. Owner: a packet borrows the bytes that it was read from, or what it was made of. Limits: MQTT_NUMBER_MAX bytes, and
 *          less where the caller says so, before anything is kept. */
#ifndef GALE_CONNECT_MQTT_PACKET_H
#define GALE_CONNECT_MQTT_PACKET_H

#include "connect/mqtt/property.h"

/* What a client leaves to be said when it is lost. */
typedef struct mqtt_message {
    gale_str topic, payload;
    gale_str properties;
    uint8_t qos;
    bool retain;
} mqtt_message;

typedef struct mqtt_connect {
    mqtt_version version;
    bool clean; /* 3.1.1: clean session; 5: clean start */
    bool has_will, has_user, has_password;
    uint16_t keep_alive; /* seconds; 0: none */
    gale_str client, user, password;
    mqtt_message will;
} mqtt_connect;

/* All that a packet has; what its type has not is zero. */
typedef struct mqtt_packet {
    mqtt_type type;
    uint16_t id;          /* PUBLISH above QoS 0, its answers, SUBSCRIBE, UNSUBSCRIBE and theirs */
    uint8_t reason;       /* CONNACK, the answers of PUBLISH, DISCONNECT, AUTH */
    bool session_present; /* CONNACK */
    bool dup;             /* PUBLISH */
    mqtt_message message; /* PUBLISH, without the properties */
    gale_str properties;  /* of version 5; checked */
    gale_str list;        /* SUBSCRIBE, UNSUBSCRIBE: filters; SUBACK, UNSUBACK: a reason each; checked */
    mqtt_connect connect; /* CONNECT */
} mqtt_packet;

/* A filter of SUBSCRIBE's, with its options; of UNSUBSCRIBE's, without. */
typedef struct mqtt_subscription {
    gale_str filter;
    uint8_t qos,
        retain_handling; /* 0: retained messages come; 1: unless there was such a subscription; 2: they do not */
    bool no_local, retain_as_published;
} mqtt_subscription;

/* How many bytes the packet has that begins here, head and all; 0: that cannot be said of so few. GALE_DAMAGED, and GALE_TOO_LARGE where they are more than
 * `most`, with a sentence. */
int64_t mqtt_packet_size(mqtt_version version, gale_str bytes, size_t most, gale_error *error);

/* Topic, QoS and id of a PUBLISH whose beginning is there. False: more of it is needed. */
bool mqtt_packet_head(gale_str bytes, mqtt_packet *ret_publish);

/* `bytes` is one packet as a whole. Of CONNECT the packet itself has the version. GALE_DAMAGED with a sentence. */
int mqtt_packet_read(mqtt_version version, gale_str bytes, mqtt_packet *ret_packet, gale_error *error);

/* Adds its bytes to `to`, which says what memory was out for. GALE_TOO_LARGE: it has more than MQTT_NUMBER_MAX, nothing is added. What it is made of must be what the
 * standard allows: mqtt_packet_read would take it. */
int mqtt_packet_write(mqtt_version version, const mqtt_packet *packet, mqtt_bytes *to);

/* The next of a list of filters; of one that was checked. */
bool mqtt_subscription_next(mqtt_type type, mqtt_cursor *cursor, mqtt_subscription *ret_subscription);
void mqtt_subscription_add(mqtt_type type, const mqtt_subscription *subscription, mqtt_bytes *to);

#endif
