#include "connect/mqtt/session.h"

#include <gale/clock.h>
#include <gale/component.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 300 };

int mqtt_session_init(mqtt_session *session, const mqtt_identity *given, bool durable, const mqtt_session_ops *ops,
                      void *user) {
    *session = (mqtt_session){ .given = given, .ops = ops, .user = user };
    int rc = mqtt_inbound_init(&session->in, durable);
    return rc < 0 ? rc : mqtt_outbound_init(&session->out, given->out_most);
}

void mqtt_session_free(mqtt_session *session) {
    mqtt_inbound_free(&session->in);
    mqtt_outbound_free(&session->out);
    mqtt_bytes_free(&session->unsent);
}

/* --- Said ------------------------------------------------------------------------------------------------------------- */

static void say(mqtt_session *session, const mqtt_packet *packet) {
    (void)mqtt_packet_write(session->given->version, packet, &session->unsent);
}

static bool speaks_5(const mqtt_session *session) {
    return session->given->version == MQTT_5;
}

/* Without a session that stays, or before the first one that does: there is none. In 3.1.1 that is a session that does not stay, either. */
static bool is_clean(const mqtt_session *session) {
    const mqtt_identity *given = session->given;
    return !given->expiry || (given->anew && (given->version == MQTT_3_1_1 || !session->was_up));
}

static void put_login(const mqtt_identity *given, mqtt_bytes *properties) {
    if (given->expiry) mqtt_property_add_number(properties, MQTT_SESSION_EXPIRY, given->expiry);
    mqtt_property_add_number(properties, MQTT_RECEIVE_MAXIMUM, given->receive_max);
    mqtt_property_add_number(properties, MQTT_MAXIMUM_PACKET, given->packet_max);
}

void mqtt_session_open(mqtt_session *session, const char *password) {
    const mqtt_identity *given = session->given;
    mqtt_bytes properties = { .data = NULL };
    if (speaks_5(session)) put_login(given, &properties);
    const mqtt_packet connect = { .type = MQTT_CONNECT,
                                  .properties = { properties.data, properties.size },
                                  .connect = { .version = given->version,
                                               .clean = is_clean(session),
                                               .has_will = given->has_will,
                                               .will = given->will,
                                               .keep_alive = given->keep_alive,
                                               .client = given->client,
                                               .has_user = given->user.data,
                                               .user = given->user,
                                               .has_password = password,
                                               .password = { password, password ? strlen(password) : 0 } } };
    session->unsent.size = 0;
    session->unsent.failed = properties.failed;
    mqtt_inbound_lost(&session->in);
    say(session, &connect);
    mqtt_bytes_free(&properties);
    session->state = MQTT_ASKED;
    session->pinged = session->goes = false;
}

void mqtt_session_lost(mqtt_session *session) {
    session->state = MQTT_AWAY;
    session->unsent.size = 0;
    mqtt_inbound_lost(&session->in);
}

void mqtt_session_end(mqtt_session *session, uint8_t reason) {
    const mqtt_packet goodbye = { .type = MQTT_DISCONNECT, .reason = speaks_5(session) ? reason : 0 };
    bool was_asked = session->state != MQTT_AWAY;
    if (was_asked) say(session, &goodbye);
    session->state = MQTT_AWAY;
}

bool mqtt_session_expects(const mqtt_session *session) {
    bool begins = session->state == MQTT_ASKED || session->state == MQTT_SUBSCRIBING;
    return begins || (session->state == MQTT_UP && (session->pinged || session->out.out));
}

/* A quarter is left for the way. */
int64_t mqtt_session_ping_after(const mqtt_session *session) {
    return session->keep_alive * GALE_SECOND / 4 * 3;
}

void mqtt_session_ping(mqtt_session *session) {
    const mqtt_packet ping = { .type = MQTT_PINGREQ };
    if (session->state != MQTT_UP) return;
    session->pinged = true;
    say(session, &ping);
}

/* --- Subscribing ------------------------------------------------------------------------------------------------------ */

/* Each filter by itself: so it has an id of its own, and what it is refused for is said of it. */
static void subscribe(mqtt_session *session) {
    const mqtt_identity *given = session->given;
    for (size_t i = 0; i < given->filter_count; i++) {
        mqtt_bytes list = { .data = NULL }, properties = { .data = NULL };
        mqtt_subscription_add(MQTT_SUBSCRIBE, &given->filters[i], &list);
        if (session->ids_available) mqtt_property_add_number(&properties, MQTT_SUBSCRIPTION_ID, (uint32_t)i + 1);
        const mqtt_packet packet = { .type = MQTT_SUBSCRIBE,
                                     .id = (uint16_t)(MQTT_SUBSCRIBE_ID - i),
                                     .properties = { properties.data, properties.size },
                                     .list = { list.data, list.size } };
        say(session, &packet);
        if (list.failed || properties.failed) session->unsent.failed = true;
        mqtt_bytes_free(&list);
        mqtt_bytes_free(&properties);
    }
    session->suback = given->filter_count;
    session->state = given->filter_count ? MQTT_SUBSCRIBING : MQTT_UP;
}

static int hear_suback(mqtt_session *session, const mqtt_packet *packet, gale_error *error) {
    const mqtt_identity *given = session->given;
    size_t index = (size_t)MQTT_SUBSCRIBE_ID - packet->id;
    char room[WORDS];
    if (session->state != MQTT_SUBSCRIBING || index >= given->filter_count || packet->list.size != 1)
        return gale_error_set(error, GALE_DAMAGED, "SUBACK: it answers nothing");
    uint8_t reason = (uint8_t)packet->list.data[0];
    gale_str filter = given->filters[index].filter;
    int size = filter.size < 100 ? (int)filter.size : 100;
    if (reason >= MQTT_FAILED)
        return gale_error_set(error, GALE_IO, "the subscription to %.*s was refused: %s", size, filter.data,
                              mqtt_reason_words(given->version, MQTT_SUBACK, reason, room, sizeof room));
    if (reason < given->filters[index].qos) {
        snprintf(room, sizeof room, "%.*s is granted QoS %d alone", size, filter.data, reason);
        session->ops->noted(session->user, room);
    }
    if (--session->suback == 0) session->state = MQTT_UP;
    return 0;
}

/* --- Connected -------------------------------------------------------------------------------------------------------- */

static int refused(const mqtt_session *session, const mqtt_packet *packet, gale_error *error) {
    char room[40];
    mqtt_property said;
    bool more = mqtt_property_find(packet->properties, MQTT_REASON_STRING, &said) && said.text.size < 200;
    return gale_error_set(error, GALE_IO, "%s: %s%s%.*s",
                          packet->type == MQTT_CONNACK ? "the connection was refused"
                                                       : "the broker ends the connection",
                          mqtt_reason_words(session->given->version, packet->type, packet->reason, room, sizeof room),
                          more ? ": " : "", more ? (int)said.text.size : 0, more ? said.text.data : "");
}

static void take_limits(mqtt_session *session, gale_str properties) {
    const mqtt_identity *given = session->given;
    session->keep_alive = (uint16_t)mqtt_property_number(properties, MQTT_SERVER_KEEP_ALIVE, given->keep_alive);
    session->qos_max = (uint8_t)mqtt_property_number(properties, MQTT_MAXIMUM_QOS, 2);
    session->retain_available = mqtt_property_number(properties, MQTT_RETAIN_AVAILABLE, 1);
    session->ids_available = mqtt_property_number(properties, MQTT_SUBSCRIPTION_ID_AVAILABLE, 1);
    session->packet_max = mqtt_property_number(properties, MQTT_MAXIMUM_PACKET, MQTT_NUMBER_MAX);
}

static int hear_connack(mqtt_session *session, const mqtt_packet *packet, gale_error *error) {
    size_t window = mqtt_property_number(packet->properties, MQTT_RECEIVE_MAXIMUM, MQTT_OUT_MAX);
    if (session->state != MQTT_ASKED) return gale_error_set(error, GALE_DAMAGED, "CONNACK: it answers nothing");
    if (packet->reason) return refused(session, packet, error);
    if (packet->session_present && is_clean(session))
        return gale_error_set(error, GALE_DAMAGED, "CONNACK: there is a session, and none was asked for");
    take_limits(session, packet->properties);
    if (!packet->session_present) {
        mqtt_inbound_forget(&session->in);
        if (session->was_up && session->given->expiry && session->given->filter_count)
            session->ops->noted(session->user, "the broker has no session of it any more: what came meanwhile is lost");
    }
    mqtt_outbound_begin(&session->out, packet->session_present, window);
    session->was_up = true;
    subscribe(session);
    return 0;
}

/* --- Messages --------------------------------------------------------------------------------------------------------- */

static int hear_publish(mqtt_session *session, const mqtt_packet *packet, gale_error *error) {
    int64_t place = 0;
    if (!packet->message.topic.size)
        return gale_error_set(error, GALE_DAMAGED, "PUBLISH: it has an alias for its topic, and none was allowed");
    if (packet->message.qos) {
        int rc = mqtt_inbound_take(&session->in, packet, &place, error);
        if (rc <= 0) return rc;
    }
    int rc = session->ops->message(session->user, packet, place);
    if (rc >= 0) return 0;
    if (place) mqtt_inbound_drop(&session->in, place);
    return gale_error_set(error, rc, "a message was not taken: %s", gale_error_text(rc));
}

static int hear_answer(mqtt_session *session, const mqtt_packet *packet) {
    uint64_t tag;
    mqtt_packet reply;
    char room[40];
    bool gone = mqtt_outbound_hear(&session->out, packet, &tag, &reply) > 0;
    bool is_refused = packet->reason >= MQTT_FAILED && packet->type != MQTT_PUBCOMP;
    if (reply.type) say(session, &reply);
    if (gone)
        session->ops->confirmed(
            session->user, tag,
            is_refused ? mqtt_reason_words(session->given->version, packet->type, packet->reason, room, sizeof room)
                       : NULL);
    return 0;
}

int mqtt_session_hear(mqtt_session *session, const mqtt_packet *packet, gale_error *error) {
    bool is_first = session->state == MQTT_ASKED;
    if (is_first && packet->type != MQTT_CONNACK && packet->type != MQTT_DISCONNECT)
        return gale_error_set(error, GALE_DAMAGED, "%s: it comes before CONNACK", mqtt_type_name(packet->type));
    switch (packet->type) {
    case MQTT_CONNACK: return hear_connack(session, packet, error);
    case MQTT_PUBLISH: return hear_publish(session, packet, error);
    case MQTT_PUBACK:
    case MQTT_PUBREC:
    case MQTT_PUBCOMP: return hear_answer(session, packet);
    case MQTT_PUBREL: return mqtt_inbound_release(&session->in, packet, error);
    case MQTT_SUBACK: return hear_suback(session, packet, error);
    case MQTT_PINGRESP: session->pinged = false; return 0;
    case MQTT_DISCONNECT:
        session->goes = !mqtt_reason_blames_packet(packet->reason);
        if (speaks_5(session)) return refused(session, packet, error);
        break;
    default: break;
    }
    return gale_error_set(error, GALE_DAMAGED, "%s: a broker does not say that", mqtt_type_name(packet->type));
}

void mqtt_session_leave_out(mqtt_session *session, const mqtt_packet *publish, int64_t size) {
    const mqtt_packet answer = { .type = publish->message.qos == 2 ? MQTT_PUBREC : MQTT_PUBACK, .id = publish->id };
    gale_str topic = publish->message.topic;
    char words[WORDS];
    if (publish->message.qos) say(session, &answer);
    snprintf(words, sizeof words,
             "a message of %.*s is left out: it has %lld bytes, and no more than %u are taken (maxMessage)",
             topic.size < 100 ? (int)topic.size : 100, topic.data, (long long)size,
             (unsigned)session->given->packet_max);
    session->ops->noted(session->user, words);
}

void mqtt_session_answer(mqtt_session *session, int64_t place) {
    mqtt_inbound_answer(&session->in, place);
}

/* --- Going out -------------------------------------------------------------------------------------------------------- */

/* What this broker would end the connection for; NULL: nothing. */
static const char *wrong_with(const mqtt_session *session, const mqtt_packet *packet, size_t size) {
    if (packet->type != MQTT_PUBLISH) return NULL;
    if (packet->message.qos > session->qos_max)
        return session->qos_max ? "the broker takes QoS 1 at the most" : "the broker takes QoS 0 alone";
    if (packet->message.retain && !session->retain_available) return "the broker keeps no messages (retain)";
    return size > session->packet_max ? "the message is larger than the broker takes" : NULL;
}

static bool write_next(mqtt_session *session) {
    mqtt_packet room;
    uint64_t tag;
    const mqtt_session_ops *ops = session->ops;
    if (ops->may_send && !ops->may_send(session->user)) return false;
    const mqtt_packet *packet = mqtt_outbound_next(&session->out, &room, &tag);
    if (!packet) return false;
    size_t before = session->unsent.size;
    int rc = mqtt_packet_write(session->given->version, packet, &session->unsent);
    if (session->unsent.failed) return false;
    const char *wrong = rc < 0 ? "the message is larger than a packet can be"
                               : wrong_with(session, packet, session->unsent.size - before);
    if (wrong) session->unsent.size = before;
    if (mqtt_outbound_wrote(&session->out, !wrong))
        ops->confirmed(session->user, tag, wrong);
    else if (ops->sent)
        ops->sent(session->user, tag);
    return true;
}

void mqtt_session_write(mqtt_session *session, size_t most) {
    mqtt_packet answer;
    if (session->state != MQTT_UP && session->state != MQTT_SUBSCRIBING) return;
    while (session->unsent.size < most && mqtt_inbound_next(&session->in, &answer)) say(session, &answer);
    while (session->state == MQTT_UP && session->unsent.size < most && write_next(session)) continue;
}
