/* Packets to bytes. */
#include "connect/mqtt/packet.h"

static void put_properties(mqtt_version version, gale_str properties, mqtt_bytes *to) {
    if (version != MQTT_5) return;
    mqtt_bytes_number(to, (uint32_t)properties.size);
    mqtt_bytes_add(to, properties.data, properties.size);
}

static size_t properties_size(mqtt_version version, gale_str properties) {
    return version == MQTT_5 ? mqtt_number_size((uint32_t)properties.size) + properties.size : 0;
}

/* --- CONNECT ---------------------------------------------------------------------------------------------------------- */

static size_t connect_size(const mqtt_packet *packet) {
    const mqtt_connect *c = &packet->connect;
    size_t size = 10 + properties_size(c->version, packet->properties) + 2 + c->client.size;
    if (c->has_will)
        size += properties_size(c->version, c->will.properties) + 4 + c->will.topic.size + c->will.payload.size;
    if (c->has_user) size += 2 + c->user.size;
    if (c->has_password) size += 2 + c->password.size;
    return size;
}

static void put_connect(const mqtt_packet *packet, mqtt_bytes *to) {
    const mqtt_connect *c = &packet->connect;
    unsigned flags = (c->clean ? 2u : 0) | (c->has_will ? 4u : 0) | (unsigned)c->will.qos << 3;
    flags |= (c->will.retain ? 0x20u : 0) | (c->has_password ? 0x40u : 0) | (c->has_user ? 0x80u : 0);
    mqtt_bytes_text(to, (gale_str){ "MQTT", 4 });
    mqtt_bytes_one(to, (uint8_t)c->version);
    mqtt_bytes_one(to, (uint8_t)flags);
    mqtt_bytes_two(to, c->keep_alive);
    put_properties(c->version, packet->properties, to);
    mqtt_bytes_text(to, c->client);
    if (c->has_will) {
        put_properties(c->version, c->will.properties, to);
        mqtt_bytes_text(to, c->will.topic);
        mqtt_bytes_text(to, c->will.payload);
    }
    if (c->has_user) mqtt_bytes_text(to, c->user);
    if (c->has_password) mqtt_bytes_text(to, c->password);
}

/* --- The others ------------------------------------------------------------------------------------------------------- */

static uint8_t flags_of(const mqtt_packet *packet) {
    switch (packet->type) {
    case MQTT_PUBLISH: return (uint8_t)((packet->dup ? 8 : 0) | packet->message.qos << 1 | packet->message.retain);
    case MQTT_PUBREL:
    case MQTT_SUBSCRIBE:
    case MQTT_UNSUBSCRIBE: return 2;
    default: return 0;
    }
}

/* The reason and the properties of an answer are left out where they say nothing. */
static size_t answer_size(mqtt_version version, const mqtt_packet *packet) {
    if (version == MQTT_3_1_1 || (!packet->reason && !packet->properties.size)) return 0;
    return packet->properties.size ? 1 + properties_size(version, packet->properties) : 1;
}

static void put_answer(mqtt_version version, const mqtt_packet *packet, mqtt_bytes *to) {
    size_t size = answer_size(version, packet);
    if (size) mqtt_bytes_one(to, packet->reason);
    if (size > 1) put_properties(version, packet->properties, to);
}

static bool has_list(mqtt_version version, mqtt_type type) {
    return type == MQTT_SUBSCRIBE || type == MQTT_UNSUBSCRIBE || type == MQTT_SUBACK ||
           (type == MQTT_UNSUBACK && version == MQTT_5);
}

static size_t tail_size(mqtt_version version, const mqtt_packet *packet) {
    const mqtt_message *m = &packet->message;
    size_t own = properties_size(version, packet->properties);
    switch (packet->type) {
    case MQTT_CONNECT: return connect_size(packet);
    case MQTT_CONNACK: return 2 + own;
    case MQTT_PUBLISH: return 2 + m->topic.size + (m->qos ? 2 : 0) + own + m->payload.size;
    case MQTT_SUBSCRIBE:
    case MQTT_UNSUBSCRIBE:
    case MQTT_SUBACK:
    case MQTT_UNSUBACK: return 2 + own + (has_list(version, packet->type) ? packet->list.size : 0);
    case MQTT_PUBACK:
    case MQTT_PUBREC:
    case MQTT_PUBREL:
    case MQTT_PUBCOMP: return 2 + answer_size(version, packet);
    case MQTT_DISCONNECT:
    case MQTT_AUTH: return answer_size(version, packet);
    default: return 0;
    }
}

static void put_tail(mqtt_version version, const mqtt_packet *packet, mqtt_bytes *to) {
    bool is_list = packet->type >= MQTT_SUBSCRIBE && packet->type <= MQTT_UNSUBACK;
    bool is_answer = packet->type >= MQTT_PUBACK && packet->type <= MQTT_PUBCOMP;
    if (packet->type == MQTT_CONNECT) {
        put_connect(packet, to);
        return;
    }
    if (packet->type == MQTT_CONNACK) {
        mqtt_bytes_one(to, packet->session_present);
        mqtt_bytes_one(to, packet->reason);
    }
    if (packet->type == MQTT_PUBLISH) mqtt_bytes_text(to, packet->message.topic);
    if (is_list || is_answer || packet->message.qos) mqtt_bytes_two(to, packet->id);
    if (is_list || packet->type == MQTT_CONNACK || packet->type == MQTT_PUBLISH)
        put_properties(version, packet->properties, to);
    else
        put_answer(version, packet, to);
    if (has_list(version, packet->type)) mqtt_bytes_add(to, packet->list.data, packet->list.size);
    mqtt_bytes_add(to, packet->message.payload.data, packet->message.payload.size);
}

int mqtt_packet_write(mqtt_version version, const mqtt_packet *packet, mqtt_bytes *to) {
    size_t size = tail_size(version, packet);
    if (size > MQTT_NUMBER_MAX) return GALE_TOO_LARGE;
    mqtt_bytes_one(to, (uint8_t)(packet->type << 4 | flags_of(packet)));
    mqtt_bytes_number(to, (uint32_t)size);
    put_tail(version, packet, to);
    return 0;
}

void mqtt_subscription_add(mqtt_type type, const mqtt_subscription *s, mqtt_bytes *to) {
    mqtt_bytes_text(to, s->filter);
    if (type != MQTT_SUBSCRIBE) return;
    mqtt_bytes_one(
        to, (uint8_t)(s->qos | (s->no_local ? 4 : 0) | (s->retain_as_published ? 8 : 0) | s->retain_handling << 4));
}
