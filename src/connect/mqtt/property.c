#include "connect/mqtt/property.h"

#include <gale/value.h>
#include <stdio.h>
#include <string.h>

/* --- What there is ---------------------------------------------------------------------------------------------------- */

typedef enum form { NONE, ONE, TWO, FOUR, NUMBER, TEXT, BYTES, PAIR } form;
typedef enum bound { ANY, FLAG, NOT_ZERO, TOPIC } bound;

typedef struct kind {
    const char *name;
    uint8_t form, bound;
    uint32_t packets; /* as bits */
} kind;

#define IN(type) (1u << MQTT_##type)
#define ACKS (IN(PUBACK) | IN(PUBREC) | IN(PUBREL) | IN(PUBCOMP) | IN(SUBACK) | IN(UNSUBACK))
#define LOGIN (IN(CONNECT) | IN(CONNACK) | IN(AUTH))

static const kind kinds[] = {
    [MQTT_PAYLOAD_FORMAT] = { "payload format indicator", ONE, FLAG, IN(PUBLISH) | IN(WILL) },
    [MQTT_MESSAGE_EXPIRY] = { "message expiry interval", FOUR, ANY, IN(PUBLISH) | IN(WILL) },
    [MQTT_CONTENT_TYPE] = { "content type", TEXT, ANY, IN(PUBLISH) | IN(WILL) },
    [MQTT_RESPONSE_TOPIC] = { "response topic", TEXT, TOPIC, IN(PUBLISH) | IN(WILL) },
    [MQTT_CORRELATION] = { "correlation data", BYTES, ANY, IN(PUBLISH) | IN(WILL) },
    [MQTT_SUBSCRIPTION_ID] = { "subscription identifier", NUMBER, NOT_ZERO, IN(PUBLISH) | IN(SUBSCRIBE) },
    [MQTT_SESSION_EXPIRY] = { "session expiry interval", FOUR, ANY, IN(CONNECT) | IN(CONNACK) | IN(DISCONNECT) },
    [MQTT_ASSIGNED_CLIENT_ID] = { "assigned client identifier", TEXT, ANY, IN(CONNACK) },
    [MQTT_SERVER_KEEP_ALIVE] = { "server keep alive", TWO, ANY, IN(CONNACK) },
    [MQTT_AUTHENTICATION_METHOD] = { "authentication method", TEXT, ANY, LOGIN },
    [MQTT_AUTHENTICATION_DATA] = { "authentication data", BYTES, ANY, LOGIN },
    [MQTT_REQUEST_PROBLEM] = { "request problem information", ONE, FLAG, IN(CONNECT) },
    [MQTT_WILL_DELAY] = { "will delay interval", FOUR, ANY, IN(WILL) },
    [MQTT_REQUEST_RESPONSE] = { "request response information", ONE, FLAG, IN(CONNECT) },
    [MQTT_RESPONSE_INFORMATION] = { "response information", TEXT, ANY, IN(CONNACK) },
    [MQTT_SERVER_REFERENCE] = { "server reference", TEXT, ANY, IN(CONNACK) | IN(DISCONNECT) },
    [MQTT_REASON_STRING] = { "reason string", TEXT, ANY, IN(CONNACK) | ACKS | IN(DISCONNECT) | IN(AUTH) },
    [MQTT_RECEIVE_MAXIMUM] = { "receive maximum", TWO, NOT_ZERO, IN(CONNECT) | IN(CONNACK) },
    [MQTT_TOPIC_ALIAS_MAXIMUM] = { "topic alias maximum", TWO, ANY, IN(CONNECT) | IN(CONNACK) },
    [MQTT_TOPIC_ALIAS] = { "topic alias", TWO, NOT_ZERO, IN(PUBLISH) },
    [MQTT_MAXIMUM_QOS] = { "maximum QoS", ONE, FLAG, IN(CONNACK) },
    [MQTT_RETAIN_AVAILABLE] = { "retain available", ONE, FLAG, IN(CONNACK) },
    [MQTT_USER_PROPERTY] = { "user property", PAIR, ANY, UINT32_MAX },
    [MQTT_MAXIMUM_PACKET] = { "maximum packet size", FOUR, NOT_ZERO, IN(CONNECT) | IN(CONNACK) },
    [MQTT_WILDCARD_AVAILABLE] = { "wildcard subscription available", ONE, FLAG, IN(CONNACK) },
    [MQTT_SUBSCRIPTION_ID_AVAILABLE] = { "subscription identifiers available", ONE, FLAG, IN(CONNACK) },
    [MQTT_SHARED_AVAILABLE] = { "shared subscription available", ONE, FLAG, IN(CONNACK) },
};

static const kind *kind_of(uint32_t id) {
    return id < sizeof kinds / sizeof *kinds && kinds[id].form != NONE ? &kinds[id] : NULL;
}

bool mqtt_is_text(gale_str text) {
    if (text.size > MQTT_TEXT_MAX) return false;
    return !text.size || (gale_utf8_valid(text.data, text.size) && !memchr(text.data, '\0', text.size));
}

/* The first character of a text that is UTF-8; `*at` goes behind it. */
static uint32_t take_character(const char **at) {
    const unsigned char *from = (const unsigned char *)*at;
    int more = from[0] < 0x80 ? 0 : from[0] < 0xe0 ? 1 : from[0] < 0xf0 ? 2 : 3;
    uint32_t character = more ? from[0] & (0x3fu >> more) : from[0];
    for (int i = 1; i <= more; i++) character = character << 6 | (from[i] & 0x3fu);
    *at += 1 + more;
    return character;
}

static bool is_control(uint32_t character) {
    return character < 0x20 || (character >= 0x7f && character <= 0x9f);
}

static bool is_noncharacter(uint32_t character) {
    return (character >= 0xfdd0 && character <= 0xfdef) || (character & 0xfffe) == 0xfffe;
}

const char *mqtt_text_fault(gale_str text, char room[MQTT_FAULT]) {
    if (text.size > MQTT_TEXT_MAX) return "has more than 65,535 bytes";
    if (text.size && !gale_utf8_valid(text.data, text.size)) return "is not UTF-8";
    const char *at = text.data, *end = at + text.size;
    while (text.size && at < end) {
        uint32_t character = take_character(&at);
        bool control = is_control(character);
        if (!control && !is_noncharacter(character)) continue;
        snprintf(room, MQTT_FAULT, "has U+%04X, a %s, which MQTT forbids", (unsigned)character,
                 control ? "control character" : "noncharacter");
        return room;
    }
    return NULL;
}

bool mqtt_is_topic(gale_str topic) {
    return topic.size && mqtt_is_text(topic) && !memchr(topic.data, '+', topic.size) &&
           !memchr(topic.data, '#', topic.size);
}

/* --- Read ------------------------------------------------------------------------------------------------------------- */

/* Its value, in its form. False: it is not there as a whole. */
static bool take_value(mqtt_cursor *cursor, form as, mqtt_property *property) {
    switch (as) {
    case ONE: property->number = mqtt_take_one(cursor); break;
    case TWO: property->number = mqtt_take_two(cursor); break;
    case FOUR: property->number = mqtt_take_four(cursor); break;
    case NUMBER: return mqtt_take_number(cursor, &property->number) > 0;
    case PAIR:
        property->text = mqtt_take_text(cursor);
        property->value = mqtt_take_text(cursor);
        break;
    default: property->text = mqtt_take_text(cursor);
    }
    return !cursor->failed;
}

bool mqtt_property_next(mqtt_cursor *cursor, mqtt_property *ret_property) {
    uint32_t id;
    *ret_property = (mqtt_property){ .number = 0 };
    if (mqtt_take_number(cursor, &id) <= 0 || !kind_of(id)) return false;
    ret_property->id = id;
    return take_value(cursor, kind_of(id)->form, ret_property);
}

bool mqtt_property_find(gale_str properties, mqtt_property_id id, mqtt_property *ret_property) {
    mqtt_cursor cursor = mqtt_cursor_of(properties);
    while (mqtt_property_next(&cursor, ret_property))
        if (ret_property->id == id) return true;
    return false;
}

uint32_t mqtt_property_number(gale_str properties, mqtt_property_id id, uint32_t fallback) {
    mqtt_property property;
    return mqtt_property_find(properties, id, &property) ? property.number : fallback;
}

/* --- Checked ---------------------------------------------------------------------------------------------------------- */

static int refuse(gale_error *error, mqtt_type type, const char *name, const char *words) {
    return gale_error_set(error, GALE_DAMAGED, "%s: its property '%s' %s", mqtt_type_name(type), name, words);
}

static int check_value(const mqtt_property *property, const kind *of, mqtt_type type, gale_error *error) {
    if (of->bound == FLAG && property->number > 1) return refuse(error, type, of->name, "is neither 0 nor 1");
    if (of->bound == NOT_ZERO && !property->number) return refuse(error, type, of->name, "is 0");
    if (of->form != BYTES && (!mqtt_is_text(property->text) || !mqtt_is_text(property->value)))
        return refuse(error, type, of->name, "is not UTF-8, or has a NUL");
    if (of->bound == TOPIC && !mqtt_is_topic(property->text))
        return refuse(error, type, of->name, "is no topic: it is empty, or has a wildcard");
    return 0;
}

static int check_next(mqtt_cursor *cursor, mqtt_type type, uint64_t *seen, gale_error *error) {
    const mqtt_cursor before = *cursor;
    mqtt_property property;
    uint32_t id = 0;
    int there = mqtt_take_number(cursor, &id);
    const kind *of = there > 0 ? kind_of(id) : NULL;
    if (!of) return gale_error_set(error, GALE_DAMAGED, "%s: it has no such property", mqtt_type_name(type));
    if (!(of->packets & 1u << type)) return refuse(error, type, of->name, "is none of such a packet's");
    *cursor = before;
    if (!mqtt_property_next(cursor, &property)) return refuse(error, type, of->name, "is not there as a whole");
    bool may_repeat = id == MQTT_USER_PROPERTY || (id == MQTT_SUBSCRIPTION_ID && type == MQTT_PUBLISH);
    if (*seen >> id & 1 && !may_repeat) return refuse(error, type, of->name, "is there twice");
    *seen |= UINT64_C(1) << id;
    return check_value(&property, of, type, error);
}

int mqtt_properties_check(gale_str properties, mqtt_type type, gale_error *error) {
    mqtt_cursor cursor = mqtt_cursor_of(properties);
    uint64_t seen = 0;
    int rc = 0;
    while (rc == 0 && mqtt_left(&cursor)) rc = check_next(&cursor, type, &seen, error);
    bool has_method = seen >> MQTT_AUTHENTICATION_METHOD & 1, has_data = seen >> MQTT_AUTHENTICATION_DATA & 1;
    if (rc == 0 && has_data && !has_method)
        return refuse(error, type, kinds[MQTT_AUTHENTICATION_DATA].name, "is there without a method");
    return rc;
}

/* --- Written ---------------------------------------------------------------------------------------------------------- */

void mqtt_property_add_number(mqtt_bytes *to, mqtt_property_id id, uint32_t number) {
    mqtt_bytes_one(to, (uint8_t)id);
    switch ((form)kinds[id].form) {
    case ONE: mqtt_bytes_one(to, (uint8_t)number); break;
    case TWO: mqtt_bytes_two(to, (uint16_t)number); break;
    case FOUR: mqtt_bytes_four(to, number); break;
    default: mqtt_bytes_number(to, number);
    }
}

void mqtt_property_add_text(mqtt_bytes *to, mqtt_property_id id, gale_str text) {
    mqtt_bytes_one(to, (uint8_t)id);
    mqtt_bytes_text(to, text);
}

void mqtt_property_add_pair(mqtt_bytes *to, gale_str name, gale_str value) {
    mqtt_bytes_one(to, MQTT_USER_PROPERTY);
    mqtt_bytes_text(to, name);
    mqtt_bytes_text(to, value);
}
