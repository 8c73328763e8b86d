#include "connect/mqtt/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 1883, TLS_PORT = 8883 };

gale_str mqtt_text(const char *text) {
    return (gale_str){ text, text ? strlen(text) : 0 };
}

int mqtt_copy_text(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = text && *text ? strdup(text) : NULL;
    char room[MQTT_FAULT];
    const char *fault = *to ? mqtt_text_fault(mqtt_text(*to), room) : NULL;
    if (fault) return gale_error_set(error, GALE_INVALID, "%s: it %s", parameter, fault);
    return text && *text && !*to ? gale_error_set(error, GALE_NO_MEMORY, "out of memory") : 0;
}

uint32_t mqtt_whole_seconds(const gale_args *args, const char *parameter) {
    double given = gale_args_number(args, parameter);
    uint32_t whole = (uint32_t)given;
    return whole + (given > whole);
}

/* --- The will --------------------------------------------------------------------------------------------------------- */

static int refuse_will(const char *key, const char *words, gale_error *error) {
    return gale_error_set(error, GALE_INVALID, "will: %s %s", key, words);
}

static int read_will_number(const gale_value *value, const char *key, int64_t most, int64_t *ret, gale_error *error) {
    if (value->type != GALE_TYPE_I64 || value->as.i64 < 0 || value->as.i64 > most)
        return gale_error_set(error, GALE_INVALID, "will: %s is a whole number from 0 to %lld", key, (long long)most);
    *ret = value->as.i64;
    return 0;
}

static int read_will_topic(mqtt_settings *made, const gale_value *value, gale_error *error) {
    char room[MQTT_FAULT];
    gale_str topic = { value->as.string, value->size };
    if (value->type != GALE_TYPE_STRING || !mqtt_is_topic(topic) || mqtt_text_fault(topic, room))
        return refuse_will("topic", "is a topic, without wildcards", error);
    made->will_topic = strndup(value->as.string, value->size);
    return made->will_topic ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

static int read_will_payload(mqtt_settings *made, const gale_value *value, gale_error *error) {
    if (value->type != GALE_TYPE_STRING || value->size > MQTT_TEXT_MAX)
        return refuse_will("payload", "is a text of at most 65,535 bytes", error);
    mqtt_bytes_add(&made->will_payload, value->as.string, value->size);
    return made->will_payload.failed ? gale_error_set(error, GALE_NO_MEMORY, "out of memory") : 0;
}

static int read_will_delay(mqtt_settings *made, const gale_value *value, gale_error *error) {
    int64_t delay = 0;
    if (made->identity.version != MQTT_5) return refuse_will("delay", "is of MQTT 5", error);
    int rc = read_will_number(value, "delay", UINT32_MAX, &delay, error);
    if (rc == 0) mqtt_property_add_number(&made->will_properties, MQTT_WILL_DELAY, (uint32_t)delay);
    return rc;
}

static int read_will_word(mqtt_settings *made, gale_str key, const gale_value *value, gale_error *error) {
    int64_t qos = 0;
    int rc;
    if (key.size == 5 && memcmp(key.data, "topic", 5) == 0) return read_will_topic(made, value, error);
    if (key.size == 7 && memcmp(key.data, "payload", 7) == 0) return read_will_payload(made, value, error);
    if (key.size == 5 && memcmp(key.data, "delay", 5) == 0) return read_will_delay(made, value, error);
    if (key.size == 3 && memcmp(key.data, "qos", 3) == 0) {
        rc = read_will_number(value, "qos", 2, &qos, error);
        made->identity.will.qos = (uint8_t)qos;
        return rc;
    }
    if (key.size != 6 || memcmp(key.data, "retain", 6) != 0)
        return gale_error_set(error, GALE_INVALID, "will: it has no '%.*s': topic, payload, qos, retain and delay",
                              (int)key.size, key.data);
    if (value->type != GALE_TYPE_BOOL) return refuse_will("retain", "is true or false", error);
    made->identity.will.retain = value->as.boolean;
    return 0;
}

static int read_will(mqtt_settings *made, const gale_args *args, gale_error *error) {
    gale_value map = gale_args_value(args, "will"), value;
    gale_str key;
    int rc = 0;
    if (map.type != GALE_TYPE_MAP) return 0;
    for (size_t i = 0; rc == 0 && gale_map_at(&map, i, &key, &value); i++)
        rc = read_will_word(made, key, &value, error);
    if (rc < 0) return rc;
    if (!made->will_topic) return refuse_will("topic", "must be there", error);
    made->identity.has_will = true;
    made->identity.will.topic = mqtt_text(made->will_topic);
    made->identity.will.payload = (gale_str){ made->will_payload.data, made->will_payload.size };
    made->identity.will.properties = (gale_str){ made->will_properties.data, made->will_properties.size };
    return 0;
}

/* --- All -------------------------------------------------------------------------------------------------------------- */

static int read_who(mqtt_settings *made, const gale_args *args, gale_error *error) {
    int rc = mqtt_copy_text(&made->client, args, "clientId", error);
    if (rc == 0) rc = mqtt_copy_text(&made->user, args, "user", error);
    if (rc == 0) rc = mqtt_copy_text(&made->password_from, args, "passwordFrom", error);
    if (rc < 0) return rc;
    if (made->client && strlen(made->client) > MQTT_CLIENT_MAX - 32)
        return gale_error_set(error, GALE_INVALID, "clientId: it has at most %d bytes", MQTT_CLIENT_MAX - 32);
    if (made->password_from && !made->user)
        return gale_error_set(error, GALE_INVALID, "passwordFrom: it is given without its user");
    made->identity.user = mqtt_text(made->user);
    return 0;
}

int mqtt_settings_make(mqtt_settings *settings, const gale_args *args, gale_error *error) {
    *settings = (mqtt_settings){ .client = NULL };
    mqtt_identity *identity = &settings->identity;
    identity->version = strcmp(gale_args_text(args, "version"), "5") == 0 ? MQTT_5 : MQTT_3_1_1;
    identity->expiry = mqtt_whole_seconds(args, "session");
    identity->keep_alive = (uint16_t)mqtt_whole_seconds(args, "keepAlive");
    identity->receive_max = 1;
    identity->packet_max = (uint32_t)gale_args_whole(args, "maxMessage");
    identity->out_most = 1;
    int rc = wire_settings_make(&settings->wire, args, "mqtt", PORT, TLS_PORT, error);
    if (rc == 0) rc = read_who(settings, args, error);
    return rc < 0 ? rc : read_will(settings, args, error);
}

void mqtt_settings_free(mqtt_settings *settings) {
    wire_settings_free(&settings->wire);
    free(settings->client);
    free(settings->user);
    free(settings->password_from);
    free(settings->will_topic);
    mqtt_bytes_free(&settings->will_payload);
    mqtt_bytes_free(&settings->will_properties);
}

void mqtt_settings_client(const mqtt_settings *settings, const gale_context *context, const char *role,
                          char client[MQTT_CLIENT_MAX]) {
    char number[16] = "";
    if (context->task_count > 1) snprintf(number, sizeof number, "-%u", context->task_index);
    if (settings->client)
        snprintf(client, MQTT_CLIENT_MAX, "%s%s%s", settings->client, number, role);
    else
        snprintf(client, MQTT_CLIENT_MAX, "gale-%.100s-%.100s%s%s", context->topology, context->component, number,
                 role);
}
