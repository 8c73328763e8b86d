#include "connect/mqtt/reason.h"

#include <stdio.h>

const char *mqtt_type_name(mqtt_type type) {
    static const char *const names[MQTT_TYPE_COUNT] = { "will",      "CONNECT",  "CONNACK",     "PUBLISH",
                                                        "PUBACK",    "PUBREC",   "PUBREL",      "PUBCOMP",
                                                        "SUBSCRIBE", "SUBACK",   "UNSUBSCRIBE", "UNSUBACK",
                                                        "PINGREQ",   "PINGRESP", "DISCONNECT",  "AUTH" };
    return (unsigned)type < MQTT_TYPE_COUNT ? names[type] : "packet";
}

/* Which packets have a reason, as bits. */
enum {
    CON = 1 << MQTT_CONNACK,
    ACK = 1 << MQTT_PUBACK | 1 << MQTT_PUBREC,
    REL = 1 << MQTT_PUBREL | 1 << MQTT_PUBCOMP,
    SUB = 1 << MQTT_SUBACK,
    UNS = 1 << MQTT_UNSUBACK,
    DIS = 1 << MQTT_DISCONNECT,
    AUT = 1 << MQTT_AUTH
};

typedef struct reason {
    uint8_t number;
    uint16_t packets;
    const char *words;
} reason;

static const reason reasons[] = {
    { 0x00, CON | ACK | REL | SUB | UNS | DIS | AUT, "success" },
    { 0x01, SUB, "granted QoS 1" },
    { 0x02, SUB, "granted QoS 2" },
    { 0x04, DIS, "disconnect with the will" },
    { 0x10, ACK, "nobody has subscribed" },
    { 0x11, UNS, "there was no such subscription" },
    { 0x18, AUT, "authentication goes on" },
    { 0x19, AUT, "authenticate anew" },
    { 0x80, CON | ACK | SUB | UNS | DIS, "unspecified error" },
    { 0x81, CON | DIS, "malformed packet" },
    { 0x82, CON | DIS, "protocol error" },
    { 0x83, CON | ACK | SUB | UNS | DIS, "error of the implementation" },
    { 0x84, CON, "the version of the protocol is not spoken" },
    { 0x85, CON, "the client id is not valid" },
    { 0x86, CON, "bad user name or password" },
    { 0x87, CON | ACK | SUB | UNS | DIS, "not authorized" },
    { 0x88, CON, "the server is not available" },
    { 0x89, CON | DIS, "the server is busy" },
    { 0x8a, CON, "banned" },
    { 0x8b, DIS, "the server shuts down" },
    { 0x8c, CON, "bad authentication method" },
    { 0x8d, DIS, "keep alive timeout" },
    { 0x8e, DIS, "the session was taken over: another client has the same client id" },
    { 0x8f, SUB | UNS | DIS, "the topic filter is not valid" },
    { 0x90, CON | ACK | DIS, "the topic name is not valid" },
    { 0x91, ACK | SUB | UNS, "the packet id is in use" },
    { 0x92, REL, "the packet id is not known" },
    { 0x93, DIS, "the receive maximum was exceeded" },
    { 0x94, DIS, "the topic alias is not valid" },
    { 0x95, CON | DIS, "the packet is too large" },
    { 0x96, DIS, "messages come too fast" },
    { 0x97, CON | ACK | SUB | DIS, "a quota was exceeded" },
    { 0x98, DIS, "ended by an administrator" },
    { 0x99, CON | ACK | DIS, "the payload is not of its format" },
    { 0x9a, CON | DIS, "retained messages are not supported" },
    { 0x9b, CON | DIS, "the QoS is not supported" },
    { 0x9c, CON | DIS, "another server is to be used" },
    { 0x9d, CON | DIS, "the server has moved" },
    { 0x9e, SUB | DIS, "shared subscriptions are not supported" },
    { 0x9f, CON | DIS, "connections come too fast" },
    { 0xa0, DIS, "the maximum time of a connection is over" },
    { 0xa1, SUB | DIS, "subscription ids are not supported" },
    { 0xa2, SUB | DIS, "wildcards are not supported" },
};

/* Of CONNACK in 3.1.1, from 0 on. */
static const char *const refusals[] = { "success",
                                        "the version of the protocol is not spoken",
                                        "the client id is not valid",
                                        "the server is not available",
                                        "bad user name or password",
                                        "not authorized" };

enum { REFUSALS = sizeof refusals / sizeof *refusals };

static const reason *find(uint8_t number) {
    for (unsigned i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].number == number) return &reasons[i];
    return NULL;
}

bool mqtt_reason_fits(mqtt_version version, mqtt_type type, uint8_t number) {
    if (version == MQTT_3_1_1 && type == MQTT_CONNACK) return number < REFUSALS;
    if (version == MQTT_3_1_1) return type == MQTT_SUBACK ? number <= 2 || number == 0x80 : number == 0;
    const reason *row = find(number);
    return row && row->packets & 1u << type;
}

bool mqtt_reason_blames_packet(uint8_t number) {
    switch (number) {
    case 0x89: /* busy */
    case 0x8b: /* shuts down */
    case 0x8d: /* keep alive */
    case 0x8e: /* taken over */
    case 0x96: /* too fast */
    case 0x98: /* an administrator */
    case 0x9c: /* another server */
    case 0x9d: /* moved */
    case 0x9f: /* too fast */
    case 0xa0: /* the maximum time */ return false;
    default: return true;
    }
}

const char *mqtt_reason_words(mqtt_version version, mqtt_type type, uint8_t number, char *room, unsigned size) {
    if (version == MQTT_3_1_1 && type == MQTT_CONNACK && number < REFUSALS) return refusals[number];
    if (version == MQTT_3_1_1 && type == MQTT_SUBACK && number == 0x80) return "refused";
    const reason *row = find(number);
    if (row) return row->words;
    snprintf(room, size, "reason 0x%02x", number);
    return room;
}
