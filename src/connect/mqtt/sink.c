/* Tuples to messages: gale.bolt.MqttSink. A tuple is held until the broker has confirmed its message. */
#include "connect/mqtt/link.h"
#include "connect/mqtt/mqtt.h"
#include "connect/mqtt/topic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 64, MESSAGE_COST = 128, DRIVE_MS = 50 };

/* A definition's block. */
typedef struct settings {
    mqtt_settings mqtt; /* first */
    char *topic, *payload, *content_type;
    char *pairs[PAIRS_MAX]; /* fields that are the user's properties */
    size_t pair_count;
    uint8_t qos;
    bool retain;
    uint32_t expiry; /* seconds; 0: none */
    uint64_t memory;
    int64_t finish_wait;
} settings;

typedef struct sink {
    mqtt_link link;
    const settings *given;
    gale_dispatch *dispatch;
    mqtt_bytes topic, properties; /* of one message */
} sink;

/* --- A message -------------------------------------------------------------------------------------------------------- */

static int form_payload(const settings *given, const gale_tuple *tuple, char number[GALE_NUMBER_TEXT],
                        gale_str *ret_payload, char *why, size_t size) {
    gale_value value;
    const char *name = given->payload ? given->payload : "payload";
    bool is_there = given->payload ? gale_tuple_get(tuple, given->payload, &value) : gale_tuple_size(tuple) > 0;
    if (is_there && !given->payload) value = gale_tuple_value(tuple, 0);
    if (is_there && gale_value_text(&value, number, ret_payload)) return 0;
    snprintf(why, size, is_there ? "%s: it is a list or a map: a text is made of it before" : "%s: it is not there",
             name);
    return GALE_INVALID;
}

static const char *pair_fault(const gale_tuple *tuple, const char *name, gale_value *ret_value, gale_str *ret_text,
                              char number[GALE_NUMBER_TEXT], char room[MQTT_FAULT]) {
    if (!gale_tuple_get(tuple, name, ret_value)) return "is not there";
    if (!gale_value_text(ret_value, number, ret_text)) return "is a list or a map: a text is made of it before";
    return mqtt_text_fault(*ret_text, room);
}

static int form_pairs(sink *s, const gale_tuple *tuple, char *why, size_t size) {
    char number[GALE_NUMBER_TEXT], room[MQTT_FAULT];
    for (size_t i = 0; i < s->given->pair_count; i++) {
        const char *name = s->given->pairs[i];
        gale_value value;
        gale_str text;
        const char *fault = pair_fault(tuple, name, &value, &text, number, room);
        if (fault) {
            snprintf(why, size, "properties: field %s %s", name, fault);
            return GALE_INVALID;
        }
        if (value.type != GALE_TYPE_NULL) mqtt_property_add_pair(&s->properties, mqtt_text(name), text);
    }
    return 0;
}

/* It lies in the sink, in the tuple and in `number` until the next one. */
static int form(sink *s, const gale_tuple *tuple, char number[GALE_NUMBER_TEXT], mqtt_packet *ret_publish, char *why,
                size_t size) {
    const settings *given = s->given;
    gale_str payload = { "", 0 };
    s->topic.size = s->properties.size = 0;
    int rc = mqtt_topic_write(given->topic, tuple, &s->topic, why, size);
    if (rc == 0) rc = form_payload(given, tuple, number, &payload, why, size);
    if (rc == 0 && given->expiry) mqtt_property_add_number(&s->properties, MQTT_MESSAGE_EXPIRY, given->expiry);
    if (rc == 0 && given->content_type)
        mqtt_property_add_text(&s->properties, MQTT_CONTENT_TYPE, mqtt_text(given->content_type));
    if (rc == 0) rc = form_pairs(s, tuple, why, size);
    if (rc < 0) return rc;
    *ret_publish = (mqtt_packet){ .type = MQTT_PUBLISH,
                                  .message = { .topic = { s->topic.data, s->topic.size },
                                               .payload = payload,
                                               .qos = given->qos,
                                               .retain = given->retain },
                                  .properties = { s->properties.data, s->properties.size } };
    if (s->topic.size + payload.size + s->properties.size > given->mqtt.identity.packet_max) {
        snprintf(why, size, "the message is larger than maxMessage");
        return GALE_INVALID;
    }
    return 0;
}

static size_t size_of(const mqtt_packet *publish) {
    return publish->message.topic.size + publish->message.payload.size + publish->properties.size + MESSAGE_COST;
}

static bool is_out_of_memory(sink *s) {
    bool is = s->topic.failed || s->properties.failed;
    s->topic.failed = s->properties.failed = false;
    return is;
}

/* --- Confirmations ---------------------------------------------------------------------------------------------------- */

static int refuse_message(void *user, const mqtt_packet *publish, int64_t place) {
    (void)user, (void)publish, (void)place;
    return GALE_STATE; /* nothing is subscribed to */
}

static void hear_confirmed(void *user, uint64_t tag, const char *why) {
    sink *s = user;
    if (why)
        (void)gale_dispatch_fail(s->dispatch, tag, GALE_REASON_REJECTED, why);
    else
        (void)gale_dispatch_ack(s->dispatch, tag);
}

static void hear_noted(void *user, const char *words) {
    (void)user, (void)words;
}

static bool may_send(void *user) {
    return gale_dispatch_may_send(((sink *)user)->dispatch);
}

static void hear_sent(void *user, uint64_t tag) {
    gale_dispatch_sent(((sink *)user)->dispatch, tag);
}

static void hear_lost(void *user, bool counts, const char *why) {
    sink *s = user;
    uint64_t rejected = gale_dispatch_lost(s->dispatch, counts, why);
    if (rejected) mqtt_outbound_forget(&s->link.session.out, rejected);
}

static const mqtt_link_ops link_ops = {
    .session = { .message = refuse_message,
                 .confirmed = hear_confirmed,
                 .noted = hear_noted,
                 .may_send = may_send,
                 .sent = hear_sent },
    .lost = hear_lost,
};

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static void bolt_cleanup(void *self) {
    sink *s = self;
    mqtt_link_close(&s->link);
    gale_dispatch_free(s->dispatch);
    mqtt_bytes_free(&s->topic);
    mqtt_bytes_free(&s->properties);
    free(s);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    options.memory = s->given->memory;
    int rc = gale_dispatch_new(context, out, &options, &s->dispatch, &error);
    if (rc == 0)
        rc = mqtt_link_open(&s->link, &s->given->mqtt, &s->given->mqtt.identity, NULL, context, out, &link_ops, s,
                            &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

static int publish_one(sink *s, const mqtt_packet *publish, uint64_t id) {
    int rc = mqtt_outbound_add(&s->link.session.out, publish, id);
    if (rc < 0) (void)gale_dispatch_fail(s->dispatch, id, GALE_REASON_NO_MEMORY, gale_error_text(rc));
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    mqtt_packet publish;
    char why[GALE_FAILURE_TEXT], number[GALE_NUMBER_TEXT];
    uint64_t id;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    int rc = form(s, tuple, number, &publish, why, sizeof why);
    if (is_out_of_memory(s)) return GALE_NO_MEMORY;
    if (rc < 0) return gale_reject(out, gale_tuple_handle(tuple), why);
    rc = gale_dispatch_hold(s->dispatch, tuple, size_of(&publish), &id);
    return rc < 0 ? rc : publish_one(s, &publish, id);
}

static int bolt_flush(void *self, gale_collector *out) {
    (void)out;
    mqtt_link_go(&((sink *)self)->link);
    return 0;
}

static void drive(void *user) {
    mqtt_link_drive(&((sink *)user)->link, DRIVE_MS);
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    mqtt_link_go(&s->link);
    return gale_dispatch_finish(s->dispatch, s->given->finish_wait, s->given->mqtt.wire.where, "confirmed", drive, s);
}

/* --- Checkpoints: what was not confirmed is sent again ---------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    return gale_dispatch_save(((sink *)self)->dispatch, to);
}

static int send_again(void *user, uint64_t id, const gale_tuple *tuple) {
    sink *s = user;
    mqtt_packet publish;
    char why[GALE_FAILURE_TEXT], number[GALE_NUMBER_TEXT];
    int rc = form(s, tuple, number, &publish, why, sizeof why);
    if (is_out_of_memory(s)) return GALE_NO_MEMORY;
    return rc < 0 ? gale_dispatch_fail(s->dispatch, id, GALE_REASON_REJECTED, why) : publish_one(s, &publish, id);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_dispatch_restore(((sink *)self)->dispatch, from, send_again, self);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "mqtt sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .flush = bolt_flush,
    .durable = &durable,
};

/* --- A definition ----------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    mqtt_settings_free(&made->mqtt);
    free(made->topic);
    free(made->payload);
    free(made->content_type);
    for (size_t i = 0; i < made->pair_count; i++) free(made->pairs[i]);
    free(made);
}

static int read_pairs(settings *made, const gale_args *args, gale_error *error) {
    const char *at = gale_args_text(args, "properties");
    while (at && *(at += strspn(at, ", "))) {
        size_t size = strcspn(at, ", ");
        if (made->pair_count == PAIRS_MAX)
            return gale_error_set(error, GALE_INVALID, "properties: there are at most %d", PAIRS_MAX);
        char *copy = strndup(at, size);
        if (!copy) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        made->pairs[made->pair_count++] = copy;
        at += size;
    }
    return 0;
}

/* What 3.1.1 has not. */
static int check_version(const settings *made, const gale_args *args, gale_error *error) {
    static const char *const of_5[] = { "properties", "expiry", "contentType" };
    for (size_t i = 0; made->mqtt.identity.version != MQTT_5 && i < sizeof of_5 / sizeof *of_5; i++)
        if (gale_args_given(args, of_5[i])) return gale_error_set(error, GALE_INVALID, "%s: it is of MQTT 5", of_5[i]);
    return 0;
}

/* A broker of 3.1.1 cannot say what it takes, and mosquitto ends the connection beyond that: 20 is its default, and that of most. */
static size_t read_bound(mqtt_version version, const gale_args *args) {
    size_t given = (size_t)gale_args_whole(args, "inFlight");
    return given ? given : version == MQTT_5 ? 1000 : 20;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    bool has_fields;
    made->qos = (uint8_t)gale_args_whole(args, "qos");
    made->retain = gale_args_flag(args, "retain");
    made->expiry = mqtt_whole_seconds(args, "expiry");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    int rc = mqtt_settings_make(&made->mqtt, args, error);
    made->mqtt.identity.anew = true; /* an earlier process's ids are not known */
    made->mqtt.identity.out_most = read_bound(made->mqtt.identity.version, args);
    if (rc == 0) rc = check_version(made, args, error);
    if (rc == 0) rc = mqtt_copy_text(&made->topic, args, "topic", error);
    if (rc == 0) rc = mqtt_topic_check(made->topic ? made->topic : "", &has_fields, error);
    if (rc == 0) rc = mqtt_copy_text(&made->payload, args, "payload", error);
    if (rc == 0) rc = mqtt_copy_text(&made->content_type, args, "contentType", error);
    return rc < 0 ? rc : read_pairs(made, args, error);
}

int mqtt_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fill(made, args, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = free_settings };
    return 0;
}
