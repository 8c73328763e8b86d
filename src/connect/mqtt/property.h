/* Properties of MQTT 5: numbers, texts and bytes by a number, each of which only some packets may have, and most of them once.
 *
 * What:    they stay as they came: bytes, which mqtt_properties_check has looked through once. From then on each is found in them without a mistake.
 * Threads: any. Owner: what is read borrows the bytes; what is written is added to bytes of the caller's. */
#ifndef GALE_CONNECT_MQTT_PROPERTY_H
#define GALE_CONNECT_MQTT_PROPERTY_H

#include "connect/mqtt/bytes.h"
#include "connect/mqtt/reason.h"

#include <gale/error.h>

typedef enum mqtt_property_id {
    MQTT_PAYLOAD_FORMAT = 0x01,
    MQTT_MESSAGE_EXPIRY = 0x02,
    MQTT_CONTENT_TYPE = 0x03,
    MQTT_RESPONSE_TOPIC = 0x08,
    MQTT_CORRELATION = 0x09,
    MQTT_SUBSCRIPTION_ID = 0x0b,
    MQTT_SESSION_EXPIRY = 0x11,
    MQTT_ASSIGNED_CLIENT_ID = 0x12,
    MQTT_SERVER_KEEP_ALIVE = 0x13,
    MQTT_AUTHENTICATION_METHOD = 0x15,
    MQTT_AUTHENTICATION_DATA = 0x16,
    MQTT_REQUEST_PROBLEM = 0x17,
    MQTT_WILL_DELAY = 0x18,
    MQTT_REQUEST_RESPONSE = 0x19,
    MQTT_RESPONSE_INFORMATION = 0x1a,
    MQTT_SERVER_REFERENCE = 0x1c,
    MQTT_REASON_STRING = 0x1f,
    MQTT_RECEIVE_MAXIMUM = 0x21,
    MQTT_TOPIC_ALIAS_MAXIMUM = 0x22,
    MQTT_TOPIC_ALIAS = 0x23,
    MQTT_MAXIMUM_QOS = 0x24,
    MQTT_RETAIN_AVAILABLE = 0x25,
    MQTT_USER_PROPERTY = 0x26,
    MQTT_MAXIMUM_PACKET = 0x27,
    MQTT_WILDCARD_AVAILABLE = 0x28,
    MQTT_SUBSCRIPTION_ID_AVAILABLE = 0x29,
    MQTT_SHARED_AVAILABLE = 0x2a
} mqtt_property_id;

typedef struct mqtt_property {
    mqtt_property_id id;
    uint32_t number;
    gale_str text;  /* or bytes; of a user's property its name */
    gale_str value; /* of a user's property */
} mqtt_property;

/* Are these the properties of such a packet? GALE_DAMAGED with a sentence. */
int mqtt_properties_check(gale_str properties, mqtt_type type, gale_error *error);

/* The next one; false: there are no more. A cursor begins with mqtt_cursor_of. */
bool mqtt_property_next(mqtt_cursor *cursor, mqtt_property *ret_property);

/* The first of this number. */
bool mqtt_property_find(gale_str properties, mqtt_property_id id, mqtt_property *ret_property);
uint32_t mqtt_property_number(gale_str properties, mqtt_property_id id, uint32_t fallback);

void mqtt_property_add_number(mqtt_bytes *to, mqtt_property_id id, uint32_t number);
void mqtt_property_add_text(mqtt_bytes *to, mqtt_property_id id, gale_str text);
void mqtt_property_add_pair(mqtt_bytes *to, gale_str name, gale_str value);

/* A text of MQTT's: UTF-8 without a NUL, of at most MQTT_TEXT_MAX bytes. */
bool mqtt_is_text(gale_str text);

/* A text that is sent. NULL; or the fault for which brokers end the connection (MQTT 5, 1.5.4): no UTF-8, too long, a control character or a noncharacter.
 * The words follow the name of the text, and may be written to `room`. */
enum { MQTT_FAULT = 64 };
const char *mqtt_text_fault(gale_str text, char room[MQTT_FAULT]);

/* A topic of a message: a text that is not empty and has no '+' and no '#'. */
bool mqtt_is_topic(gale_str topic);

#endif
