/* Bytes to packets. */
#include "connect/mqtt/filter.h"
#include "connect/mqtt/packet.h"

#include <string.h>

static int refuse(mqtt_type type, const char *words, gale_error *error) {
    return gale_error_set(error, GALE_DAMAGED, "%s: %s", mqtt_type_name(type), words);
}

/* --- The head --------------------------------------------------------------------------------------------------------- */

static int check_flags(mqtt_version version, mqtt_type type, uint8_t flags, gale_error *error) {
    bool is_two = type == MQTT_PUBREL || type == MQTT_SUBSCRIBE || type == MQTT_UNSUBSCRIBE;
    if (type == MQTT_WILL || (type == MQTT_AUTH && version == MQTT_3_1_1))
        return gale_error_set(error, GALE_DAMAGED, "there is no packet of type %d", (int)type);
    if (type != MQTT_PUBLISH) return flags == (is_two ? 2 : 0) ? 0 : refuse(type, "its flags are others", error);
    if ((flags >> 1 & 3) == 3) return refuse(type, "its QoS is 3", error);
    return flags & 8 && !(flags & 6) ? refuse(type, "of QoS 0 it says that it comes again", error) : 0;
}

/* Behind the head, of which the first byte was taken. */
static int64_t read_length(mqtt_version version, mqtt_type type, mqtt_cursor *cursor, gale_error *error) {
    uint32_t length;
    int there = mqtt_take_number(cursor, &length);
    if (there == -2 && version == MQTT_3_1_1) { /* where nobody forbids it */
        length = 0;
        for (unsigned i = 0, byte = 0x80; byte & 0x80; i++) {
            byte = mqtt_take_one(cursor);
            length |= (byte & 0x7f) << (7 * i);
        }
        return length;
    }
    if (there == -2) return refuse(type, "its length could be shorter", error);
    if (there == -1) return refuse(type, "its length has more than four bytes", error);
    return there ? (int64_t)length : -1;
}

int64_t mqtt_packet_size(mqtt_version version, gale_str bytes, size_t most, gale_error *error) {
    mqtt_cursor cursor = mqtt_cursor_of(bytes);
    if (!bytes.size) return 0;
    uint8_t first = mqtt_take_one(&cursor);
    mqtt_type type = first >> 4;
    int rc = check_flags(version, type, first & 15, error);
    if (rc < 0) return rc;
    int64_t length = read_length(version, type, &cursor, error);
    if (length == -1) return 0;
    if (length < 0) return length;
    int64_t size = (int64_t)(bytes.size - mqtt_left(&cursor)) + length;
    if ((uint64_t)size > most)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: it has %lld bytes, and no more than %zu are taken",
                              mqtt_type_name(type), (long long)size, most);
    return size;
}

/* --- Pieces ----------------------------------------------------------------------------------------------------------- */

static int take_text(mqtt_cursor *cursor, mqtt_type type, const char *what, gale_str *ret_text, gale_error *error) {
    gale_str text = mqtt_take_text(cursor);
    if (cursor->failed) return gale_error_set(error, GALE_DAMAGED, "%s: it ends in its %s", mqtt_type_name(type), what);
    if (!mqtt_is_text(text))
        return gale_error_set(error, GALE_DAMAGED, "%s: its %s is not UTF-8, or has a NUL", mqtt_type_name(type), what);
    *ret_text = text;
    return 0;
}

static int take_id(mqtt_cursor *cursor, mqtt_type type, uint16_t *ret_id, gale_error *error) {
    uint16_t id = mqtt_take_two(cursor);
    if (cursor->failed) return refuse(type, "it ends in its packet id", error);
    if (!id) return refuse(type, "its packet id is 0", error);
    *ret_id = id;
    return 0;
}

/* Of version 5. `of` is what they belong to. */
static int take_properties(mqtt_cursor *cursor, mqtt_type type, mqtt_type of, gale_str *ret_properties,
                           gale_error *error) {
    uint32_t size;
    if (mqtt_take_number(cursor, &size) <= 0 || size > mqtt_left(cursor))
        return refuse(type, "it ends in its properties", error);
    gale_str properties = mqtt_take(cursor, size);
    int rc = mqtt_properties_check(properties, of, error);
    if (rc == 0) *ret_properties = properties;
    return rc;
}

static int take_own_properties(mqtt_version version, mqtt_cursor *cursor, mqtt_packet *packet, gale_error *error) {
    return version == MQTT_5 ? take_properties(cursor, packet->type, packet->type, &packet->properties, error) : 0;
}

static int take_end(const mqtt_cursor *cursor, mqtt_type type, gale_error *error) {
    return mqtt_left(cursor) ? refuse(type, "something stands behind its end", error) : 0;
}

static int check_topic(mqtt_type type, gale_str topic, gale_error *error) {
    return mqtt_is_topic(topic) ? 0 : refuse(type, "its topic is empty, or has a wildcard", error);
}

/* --- CONNECT ---------------------------------------------------------------------------------------------------------- */

static int take_will(mqtt_cursor *cursor, mqtt_connect *connect, gale_error *error) {
    mqtt_message *will = &connect->will;
    int rc = 0;
    if (!connect->has_will) return 0;
    if (connect->version == MQTT_5) rc = take_properties(cursor, MQTT_CONNECT, MQTT_WILL, &will->properties, error);
    if (rc == 0) rc = take_text(cursor, MQTT_CONNECT, "will's topic", &will->topic, error);
    if (rc == 0) rc = check_topic(MQTT_CONNECT, will->topic, error);
    if (rc < 0) return rc;
    will->payload = mqtt_take_text(cursor);
    return cursor->failed ? refuse(MQTT_CONNECT, "it ends in its will", error) : 0;
}

static int take_login(mqtt_cursor *cursor, mqtt_connect *connect, gale_error *error) {
    int rc = connect->has_user ? take_text(cursor, MQTT_CONNECT, "user name", &connect->user, error) : 0;
    if (rc < 0 || !connect->has_password) return rc;
    connect->password = mqtt_take_text(cursor);
    return cursor->failed ? refuse(MQTT_CONNECT, "it ends in its password", error) : 0;
}

static int take_connect_flags(uint8_t flags, mqtt_connect *connect, gale_error *error) {
    connect->clean = flags & 2;
    connect->has_will = flags & 4;
    connect->will.qos = flags >> 3 & 3;
    connect->will.retain = flags & 0x20;
    connect->has_password = flags & 0x40;
    connect->has_user = flags & 0x80;
    if (flags & 1) return refuse(MQTT_CONNECT, "its reserved flag is set", error);
    if (connect->will.qos == 3) return refuse(MQTT_CONNECT, "its will's QoS is 3", error);
    if (!connect->has_will && (connect->will.qos || connect->will.retain))
        return refuse(MQTT_CONNECT, "it has flags of a will, and none", error);
    if (connect->version == MQTT_3_1_1 && connect->has_password && !connect->has_user)
        return refuse(MQTT_CONNECT, "it has a password without a user name", error);
    return 0;
}

static int read_connect(mqtt_cursor *cursor, mqtt_packet *packet, gale_error *error) {
    mqtt_connect *connect = &packet->connect;
    gale_str name = mqtt_take_text(cursor);
    uint8_t version = mqtt_take_one(cursor), flags = mqtt_take_one(cursor);
    connect->keep_alive = mqtt_take_two(cursor);
    if (cursor->failed) return refuse(MQTT_CONNECT, "it ends in its head", error);
    if (name.size != 4 || memcmp(name.data, "MQTT", 4) != 0)
        return refuse(MQTT_CONNECT, "its protocol is not MQTT", error);
    if (version != MQTT_3_1_1 && version != MQTT_5)
        return gale_error_set(error, GALE_DAMAGED, "CONNECT: its version is %d: neither 4 (3.1.1) nor 5", version);
    connect->version = version;
    int rc = take_connect_flags(flags, connect, error);
    if (rc == 0) rc = take_own_properties(version, cursor, packet, error);
    if (rc == 0) rc = take_text(cursor, MQTT_CONNECT, "client id", &connect->client, error);
    if (rc == 0 && version == MQTT_3_1_1 && !connect->client.size && !connect->clean)
        rc = refuse(MQTT_CONNECT, "it has no client id, and wants a session that stays", error);
    if (rc == 0) rc = take_will(cursor, connect, error);
    return rc < 0 ? rc : take_login(cursor, connect, error);
}

/* --- The others ------------------------------------------------------------------------------------------------------- */

static int check_reason(mqtt_version version, mqtt_type type, uint8_t reason, gale_error *error) {
    if (mqtt_reason_fits(version, type, reason)) return 0;
    return gale_error_set(error, GALE_DAMAGED, "%s: 0x%02x is no reason of it", mqtt_type_name(type), reason);
}

static int read_connack(mqtt_version version, mqtt_cursor *cursor, mqtt_packet *packet, gale_error *error) {
    uint8_t flags = mqtt_take_one(cursor);
    packet->reason = mqtt_take_one(cursor);
    packet->session_present = flags & 1;
    if (cursor->failed) return refuse(MQTT_CONNACK, "it ends in its head", error);
    if (flags & 0xfe) return refuse(MQTT_CONNACK, "its reserved flags are set", error);
    if (packet->reason && packet->session_present) return refuse(MQTT_CONNACK, "it refuses, and has a session", error);
    int rc = check_reason(version, MQTT_CONNACK, packet->reason, error);
    return rc < 0 ? rc : take_own_properties(version, cursor, packet, error);
}

/* In version 5 the topic may be empty, where an alias stands for it. */
static int read_publish(mqtt_version version, uint8_t flags, mqtt_cursor *cursor, mqtt_packet *packet,
                        gale_error *error) {
    mqtt_message *message = &packet->message;
    packet->dup = flags & 8;
    message->qos = flags >> 1 & 3;
    message->retain = flags & 1;
    int rc = take_text(cursor, MQTT_PUBLISH, "topic", &message->topic, error);
    if (rc == 0 && message->qos) rc = take_id(cursor, MQTT_PUBLISH, &packet->id, error);
    if (rc == 0) rc = take_own_properties(version, cursor, packet, error);
    if (rc < 0) return rc;
    bool has_alias = mqtt_property_number(packet->properties, MQTT_TOPIC_ALIAS, 0);
    if (message->topic.size || !has_alias) rc = check_topic(MQTT_PUBLISH, message->topic, error);
    message->payload = mqtt_take(cursor, mqtt_left(cursor));
    return rc;
}

/* PUBACK, PUBREC, PUBREL, PUBCOMP. In version 5 the reason may be left out, where it is 0, and so may the properties. */
static int read_answer(mqtt_version version, mqtt_cursor *cursor, mqtt_packet *packet, gale_error *error) {
    int rc = take_id(cursor, packet->type, &packet->id, error);
    if (rc < 0 || version == MQTT_3_1_1 || !mqtt_left(cursor)) return rc;
    packet->reason = mqtt_take_one(cursor);
    rc = check_reason(version, packet->type, packet->reason, error);
    return rc < 0 || !mqtt_left(cursor) ? rc : take_own_properties(version, cursor, packet, error);
}

/* DISCONNECT, AUTH: the same without an id. */
static int read_end(mqtt_version version, mqtt_cursor *cursor, mqtt_packet *packet, gale_error *error) {
    if (version == MQTT_3_1_1 || !mqtt_left(cursor)) return 0;
    packet->reason = mqtt_take_one(cursor);
    int rc = check_reason(version, packet->type, packet->reason, error);
    return rc < 0 || !mqtt_left(cursor) ? rc : take_own_properties(version, cursor, packet, error);
}

/* --- Lists ------------------------------------------------------------------------------------------------------------ */

bool mqtt_subscription_next(mqtt_type type, mqtt_cursor *cursor, mqtt_subscription *ret_subscription) {
    *ret_subscription = (mqtt_subscription){ .filter = mqtt_take_text(cursor) };
    if (type == MQTT_SUBSCRIBE && !cursor->failed) {
        uint8_t options = mqtt_take_one(cursor);
        ret_subscription->qos = options & 3;
        ret_subscription->no_local = options & 4;
        ret_subscription->retain_as_published = options & 8;
        ret_subscription->retain_handling = options >> 4 & 3;
    }
    return !cursor->failed;
}

static int check_options(mqtt_version version, const mqtt_subscription *one, uint8_t options, gale_error *error) {
    if (one->qos == 3) return refuse(MQTT_SUBSCRIBE, "a QoS of it is 3", error);
    if (options & (version == MQTT_5 ? 0xc0 : 0xfc))
        return refuse(MQTT_SUBSCRIBE, "reserved options of it are set", error);
    if (one->retain_handling == 3) return refuse(MQTT_SUBSCRIBE, "its retain handling is 3", error);
    if (one->no_local && mqtt_filter_is_shared(one->filter))
        return refuse(MQTT_SUBSCRIBE, "what is shared has no 'no local'", error);
    return 0;
}

static int check_filters(mqtt_version version, mqtt_packet *packet, gale_error *error) {
    mqtt_cursor cursor = mqtt_cursor_of(packet->list);
    mqtt_subscription one;
    int rc = 0;
    if (!packet->list.size) return refuse(packet->type, "it has no filter", error);
    while (rc == 0 && mqtt_left(&cursor)) {
        if (!mqtt_subscription_next(packet->type, &cursor, &one))
            return refuse(packet->type, "it ends in a filter", error);
        const char *wrong = mqtt_filter_wrong(one.filter);
        if (wrong)
            return gale_error_set(error, GALE_DAMAGED, "%s: a filter of it: %s", mqtt_type_name(packet->type), wrong);
        if (packet->type == MQTT_SUBSCRIBE) rc = check_options(version, &one, cursor.at[-1], error);
    }
    return rc;
}

static int check_reasons(mqtt_version version, mqtt_packet *packet, gale_error *error) {
    int rc = packet->list.size ? 0 : refuse(packet->type, "it has no reason", error);
    for (size_t i = 0; rc == 0 && i < packet->list.size; i++)
        rc = check_reason(version, packet->type, (uint8_t)packet->list.data[i], error);
    return rc;
}

/* SUBSCRIBE, UNSUBSCRIBE, SUBACK, UNSUBACK. In 3.1.1 an UNSUBACK has no list. */
static int read_list(mqtt_version version, mqtt_cursor *cursor, mqtt_packet *packet, gale_error *error) {
    int rc = take_id(cursor, packet->type, &packet->id, error);
    if (rc == 0) rc = take_own_properties(version, cursor, packet, error);
    if (rc < 0 || (packet->type == MQTT_UNSUBACK && version == MQTT_3_1_1)) return rc;
    packet->list = mqtt_take(cursor, mqtt_left(cursor));
    bool has_filters = packet->type == MQTT_SUBSCRIBE || packet->type == MQTT_UNSUBSCRIBE;
    return has_filters ? check_filters(version, packet, error) : check_reasons(version, packet, error);
}

/* --- All -------------------------------------------------------------------------------------------------------------- */

static int read_tail(mqtt_version version, uint8_t flags, mqtt_cursor *cursor, mqtt_packet *packet, gale_error *error) {
    switch (packet->type) {
    case MQTT_CONNECT: return read_connect(cursor, packet, error);
    case MQTT_CONNACK: return read_connack(version, cursor, packet, error);
    case MQTT_PUBLISH: return read_publish(version, flags, cursor, packet, error);
    case MQTT_PUBACK:
    case MQTT_PUBREC:
    case MQTT_PUBREL:
    case MQTT_PUBCOMP: return read_answer(version, cursor, packet, error);
    case MQTT_SUBSCRIBE:
    case MQTT_SUBACK:
    case MQTT_UNSUBSCRIBE:
    case MQTT_UNSUBACK: return read_list(version, cursor, packet, error);
    case MQTT_DISCONNECT:
    case MQTT_AUTH: return read_end(version, cursor, packet, error);
    default: return 0;
    }
}

int mqtt_packet_read(mqtt_version version, gale_str bytes, mqtt_packet *ret_packet, gale_error *error) {
    mqtt_cursor cursor = mqtt_cursor_of(bytes);
    int64_t size = mqtt_packet_size(version, bytes, SIZE_MAX, error);
    if (size < 0) return (int)size;
    if (!size || (uint64_t)size != bytes.size)
        return gale_error_set(error, GALE_DAMAGED, "%s: it is not there as a whole",
                              mqtt_type_name(bytes.size ? (uint8_t)bytes.data[0] >> 4 : MQTT_TYPE_COUNT));
    uint8_t first = mqtt_take_one(&cursor);
    while (mqtt_take_one(&cursor) & 0x80) continue;
    mqtt_packet packet = { .type = first >> 4 };
    int rc = read_tail(version, first & 15, &cursor, &packet, error);
    if (rc == 0) rc = take_end(&cursor, packet.type, error);
    if (rc == 0) *ret_packet = packet;
    return rc;
}

bool mqtt_packet_head(gale_str bytes, mqtt_packet *ret_publish) {
    mqtt_cursor cursor = mqtt_cursor_of(bytes);
    uint8_t first = mqtt_take_one(&cursor);
    while (mqtt_take_one(&cursor) & 0x80) continue;
    mqtt_packet publish = { .type = first >> 4, .message = { .qos = first >> 1 & 3 } };
    publish.message.topic = mqtt_take_text(&cursor);
    if (publish.message.qos) publish.id = mqtt_take_two(&cursor);
    *ret_publish = publish;
    return !cursor.failed;
}
