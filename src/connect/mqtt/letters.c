#include "connect/mqtt/letters.h"

#include <stdio.h>
#include <string.h>

static int refuse_message(void *user, const mqtt_packet *publish, int64_t place) {
    (void)user, (void)publish, (void)place;
    return GALE_STATE; /* nothing is subscribed to */
}

/* What the broker does not take is reported, and left out. */
static void hear_confirmed(void *user, uint64_t tag, const char *why) {
    mqtt_letters *letters = user;
    char text[GALE_FAILURE_TEXT];
    if (why) {
        snprintf(text, sizeof text, "%.80s: a dead letter is left out: %.80s", letters->link.given->wire.where, why);
        gale_report(letters->link.out, text);
    }
    letters->written(letters->user, (int64_t)tag);
}

static void hear_noted(void *user, const char *words) {
    (void)user, (void)words;
}

static const mqtt_link_ops ops = { .session = {
                                       .message = refuse_message, .confirmed = hear_confirmed, .noted = hear_noted } };

int mqtt_letters_open(mqtt_letters *letters, const mqtt_settings *given, const char *topic, wire_health *health,
                      const gale_context *context, gale_collector *out, mqtt_written_fn *written, void *user,
                      gale_error *error) {
    const mqtt_role role = { .client = "-letters", .words = ", dead letters", .health = health, .who = 1 };
    mqtt_identity identity = given->identity;
    letters->topic = topic;
    letters->written = written;
    letters->user = user;
    if (!topic) return 0;
    identity.has_will = false;
    identity.filter_count = 0;
    identity.expiry = 0;
    identity.anew = true;
    identity.out_most = MQTT_LETTERS_OUT;
    return mqtt_link_open(&letters->link, given, &identity, &role, context, out, &ops, letters, error);
}

void mqtt_letters_close(mqtt_letters *letters) {
    mqtt_link_close(&letters->link);
}

bool mqtt_letters_want(const mqtt_letters *letters) {
    return !letters->topic || letters->link.session.out.count < MQTT_LETTERS_MAX;
}

/* --- One -------------------------------------------------------------------------------------------------------------- */

/* Those of its message that may be said again: an alias is of a connection, and a subscription's id is the broker's to say. */
static void copy_properties(gale_str properties, mqtt_bytes *to) {
    mqtt_cursor cursor = mqtt_cursor_of(properties), before = cursor;
    mqtt_property property;
    for (; mqtt_property_next(&cursor, &property); before = cursor)
        if (property.id != MQTT_TOPIC_ALIAS && property.id != MQTT_SUBSCRIPTION_ID &&
            property.id != MQTT_MESSAGE_EXPIRY)
            mqtt_bytes_add(to, before.at, (size_t)(cursor.at - before.at));
}

/* The words of a failure may quote a value: what MQTT forbids of that is a question mark. */
static void add_pair(mqtt_bytes *to, const char *name, const char *value) {
    char words[GALE_FAILURE_TEXT], room[MQTT_FAULT];
    snprintf(words, sizeof words, "%s", value ? value : "");
    for (char *at = words; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
    if (value && !mqtt_text_fault(mqtt_text(words), room))
        mqtt_property_add_pair(to, mqtt_text(name), mqtt_text(words));
}

int mqtt_letters_add(mqtt_letters *letters, const mqtt_message *message, int64_t place, const gale_failure *failure) {
    mqtt_bytes properties = { .data = NULL };
    if (letters->link.identity.version == MQTT_5) {
        copy_properties(message->properties, &properties);
        add_pair(&properties, "gale.reason", gale_reason_name(failure->reason));
        add_pair(&properties, "gale.words", failure->text);
        add_pair(&properties, "gale.component", failure->component);
        mqtt_property_add_pair(&properties, mqtt_text("gale.topic"), message->topic);
    }
    const mqtt_packet publish = {
        .type = MQTT_PUBLISH,
        .message = { .topic = mqtt_text(letters->topic), .payload = message->payload, .qos = 1 },
        .properties = { properties.data, properties.size }
    };
    int rc = properties.failed ? GALE_NO_MEMORY
                               : mqtt_outbound_add(&letters->link.session.out, &publish, (uint64_t)place);
    mqtt_bytes_free(&properties);
    if (rc == 0) mqtt_link_go(&letters->link);
    return rc;
}

/* --- Checkpoints: how many; then of each its place, payload, properties ----------------------------------------------- */

int mqtt_letters_save(const mqtt_letters *letters, gale_saver *to) {
    const mqtt_outbound *out = &letters->link.session.out;
    const gale_value count = gale_i64((int64_t)out->count);
    int rc = gale_save(to, &count, 1);
    for (const mqtt_out *one = out->oldest; rc == 0 && one; one = one->newer) {
        const gale_str payload = one->packet.message.payload, properties = one->packet.properties;
        const gale_value row[] = { gale_i64((int64_t)one->tag), gale_bytes(payload.data, payload.size),
                                   gale_bytes(properties.data, properties.size) };
        rc = gale_save(to, row, 3);
    }
    return rc;
}

static int restore_one(mqtt_letters *letters, gale_saved *from, mqtt_written_fn *each, void *user) {
    const gale_value *row;
    size_t count;
    int rc = gale_saved_next(from, &row, &count);
    if (rc < 0) return rc;
    bool is = rc > 0 && count == 3 && row[0].type == GALE_TYPE_I64 && row[1].type == GALE_TYPE_BYTES &&
              row[2].type == GALE_TYPE_BYTES;
    if (!is) return GALE_DAMAGED;
    gale_str properties = { row[2].as.bytes, row[2].size };
    if (mqtt_properties_check(properties, MQTT_PUBLISH, NULL) < 0) return GALE_DAMAGED;
    const mqtt_packet publish = {
        .type = MQTT_PUBLISH,
        .message = { .topic = mqtt_text(letters->topic), .payload = { row[1].as.bytes, row[1].size }, .qos = 1 },
        .properties = properties
    };
    rc = mqtt_outbound_add(&letters->link.session.out, &publish, (uint64_t)row[0].as.i64);
    if (rc == 0) each(user, row[0].as.i64);
    return rc;
}

int mqtt_letters_restore(mqtt_letters *letters, gale_saved *from, mqtt_written_fn *each, void *user) {
    const gale_value *head;
    size_t count;
    int rc = gale_saved_next(from, &head, &count);
    if (rc < 0) return rc;
    if (rc == 0 || count != 1 || head[0].type != GALE_TYPE_I64 || head[0].as.i64 < 0) return GALE_DAMAGED;
    if (head[0].as.i64 && !letters->topic) return GALE_STATE;
    rc = 0;
    for (int64_t left = head[0].as.i64; rc == 0 && left > 0; left--) rc = restore_one(letters, from, each, user);
    return rc;
}
