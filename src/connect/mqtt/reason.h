/* Packets of MQTT by their names, and reasons by their numbers: which a packet may have, and what they say.
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_MQTT_REASON_H
#define GALE_CONNECT_MQTT_REASON_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mqtt_version { MQTT_3_1_1 = 4, MQTT_5 = 5 } mqtt_version;

typedef enum mqtt_type {
    MQTT_WILL, /* is none: the properties of a will are as of one */
    MQTT_CONNECT,
    MQTT_CONNACK,
    MQTT_PUBLISH,
    MQTT_PUBACK,
    MQTT_PUBREC,
    MQTT_PUBREL,
    MQTT_PUBCOMP,
    MQTT_SUBSCRIBE,
    MQTT_SUBACK,
    MQTT_UNSUBSCRIBE,
    MQTT_UNSUBACK,
    MQTT_PINGREQ,
    MQTT_PINGRESP,
    MQTT_DISCONNECT,
    MQTT_AUTH,
    MQTT_TYPE_COUNT
} mqtt_type;

/* Those that are meant by their names somewhere. */
enum {
    MQTT_SUCCESS = 0x00,
    MQTT_FAILED = 0x80, /* from here on */
    MQTT_MALFORMED = 0x81,
    MQTT_PROTOCOL_ERROR = 0x82,
    MQTT_NOT_FOUND = 0x92,
    MQTT_TOO_LARGE = 0x95
};

/* "PUBLISH". */
const char *mqtt_type_name(mqtt_type type);

/* May a packet of this type have the reason? */
bool mqtt_reason_fits(mqtt_version version, mqtt_type type, uint8_t reason);

/* Of DISCONNECT: may a packet of the client be why? Else the server goes, moves, or has another client. */
bool mqtt_reason_blames_packet(uint8_t reason);

/* "not authorized"; "reason 0x42" is written where it is none. */
const char *mqtt_reason_words(mqtt_version version, mqtt_type type, uint8_t reason, char *room, unsigned size);

#endif
