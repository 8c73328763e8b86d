/* Bytes, read as packets of MQTT one after the other, of the version that the first byte says, as the connector mqtt does. What is read is written as what is read again, as the
 * same; and what was written once is written so ever after. */
#include "fuzz.h"

#include "connect/mqtt/packet.h"

#include <stdlib.h>
#include <string.h>

static void same_text(gale_str a, gale_str b) {
    expect(a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0));
}

static void same_message(const mqtt_message *a, const mqtt_message *b) {
    expect(a->qos == b->qos && a->retain == b->retain);
    same_text(a->topic, b->topic);
    same_text(a->payload, b->payload);
    same_text(a->properties, b->properties);
}

static void same_connect(const mqtt_connect *a, const mqtt_connect *b) {
    expect(a->version == b->version && a->clean == b->clean && a->keep_alive == b->keep_alive);
    expect(a->has_will == b->has_will && a->has_user == b->has_user && a->has_password == b->has_password);
    same_text(a->client, b->client);
    same_text(a->user, b->user);
    same_text(a->password, b->password);
    same_message(&a->will, &b->will);
}

static void same(const mqtt_packet *a, const mqtt_packet *b) {
    expect(a->type == b->type && a->id == b->id && a->reason == b->reason && a->dup == b->dup);
    expect(a->session_present == b->session_present);
    same_message(&a->message, &b->message);
    same_text(a->properties, b->properties);
    same_text(a->list, b->list);
    same_connect(&a->connect, &b->connect);
}

static void walk(const mqtt_packet *packet) {
    mqtt_cursor cursor = mqtt_cursor_of(packet->properties);
    mqtt_property property;
    mqtt_subscription one;
    while (mqtt_property_next(&cursor, &property)) expect(property.text.size <= MQTT_TEXT_MAX);
    expect(!mqtt_left(&cursor) && !cursor.failed);
    if (packet->type != MQTT_SUBSCRIBE && packet->type != MQTT_UNSUBSCRIBE) return;
    cursor = mqtt_cursor_of(packet->list);
    while (mqtt_left(&cursor)) expect(mqtt_subscription_next(packet->type, &cursor, &one));
}

static void read_again(mqtt_version version, const mqtt_packet *packet) {
    gale_error error = GALE_ERROR_INIT;
    mqtt_bytes once = { .data = NULL }, twice = { .data = NULL };
    mqtt_packet again;
    expect(mqtt_packet_write(version, packet, &once) == 0);
    if (!once.failed) {
        expect(mqtt_packet_read(version, (gale_str){ once.data, once.size }, &again, &error) == 0);
        same(packet, &again);
        expect(mqtt_packet_write(version, &again, &twice) == 0);
        if (!twice.failed) same_text((gale_str){ once.data, once.size }, (gale_str){ twice.data, twice.size });
    }
    mqtt_bytes_free(&once);
    mqtt_bytes_free(&twice);
}

/* In memory of its own. How many bytes it has; 0: no packet, or not as a whole. */
static size_t read_one(mqtt_version version, const uint8_t *data, size_t size) {
    gale_error error = GALE_ERROR_INIT;
    mqtt_packet packet;
    int64_t whole = mqtt_packet_size(version, (gale_str){ (const char *)data, size }, 1 << 20, &error);
    char room[MQTT_FAULT];
    mqtt_packet head;
    (void)mqtt_text_fault((gale_str){ (const char *)data, size }, room);
    if (size && mqtt_packet_head((gale_str){ (const char *)data, size }, &head))
        expect(head.message.topic.size <= MQTT_TEXT_MAX);
    expect(whole >= 0 || error.length);
    if (whole <= 0 || (uint64_t)whole > size) return 0;
    char *bytes = malloc((size_t)whole);
    if (!bytes) return 0;
    memcpy(bytes, data, (size_t)whole);
    int rc = mqtt_packet_read(version, (gale_str){ bytes, (size_t)whole }, &packet, &error);
    expect(rc == 0 || (rc == GALE_DAMAGED && error.length));
    if (rc == 0) {
        walk(&packet);
        read_again(version, &packet);
    }
    free(bytes);
    return (size_t)whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    mqtt_version version = *data & 1 ? MQTT_5 : MQTT_3_1_1;
    for (size_t at = 1, more = 1; more && at < size; at += more) more = read_one(version, data + at, size - at);
    return 0;
}
