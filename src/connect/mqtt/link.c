#include "connect/mqtt/link.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 64 << 10, HEARD_MAX = 256 << 10, ROOM = 1 << 20 };

/* --- Out -------------------------------------------------------------------------------------------------------------- */

/* False: it is full, or lost. */
static bool write_unsent(mqtt_link *link) {
    mqtt_bytes *unsent = &link->session.unsent;
    int rc = unsent->failed ? GALE_NO_MEMORY : wire_write(&link->wire, unsent->data, unsent->size);
    if (rc == 0) unsent->size = 0;
    if (rc < 0 && rc != GALE_AGAIN && link->wire.state == WIRE_UP) wire_fail(&link->wire, gale_error_text(rc));
    return rc == 0;
}

static void expect(mqtt_link *link) {
    bool expects = mqtt_session_expects(&link->session) && !link->stalled;
    if (link->wire.state == WIRE_UP && expects != link->wire.expects) wire_expect(&link->wire, expects);
}

static void say(mqtt_link *link) {
    mqtt_bytes *unsent = &link->session.unsent;
    while (link->wire.state == WIRE_UP) {
        mqtt_session_write(&link->session, CHUNK);
        if (!unsent->failed && !unsent->size) break;
        if (!write_unsent(link)) break;
    }
    expect(link);
}

static bool has_room(const mqtt_link *link) {
    return !link->ops->wants || link->ops->wants(link->user);
}

void mqtt_link_go(mqtt_link *link) {
    say(link);
    wire_flush(&link->wire);
    if (link->stalled && has_room(link))
        (void)gale_watch_set(link->out, link->wake, 0, gale_context_now(link->context));
}

/* --- In --------------------------------------------------------------------------------------------------------------- */

/* What the broker is told of it, where it can be told. */
static void fail(mqtt_link *link, int rc, const char *why) {
    if (rc == GALE_DAMAGED || rc == GALE_TOO_LARGE) {
        mqtt_session_end(&link->session, rc == GALE_DAMAGED ? MQTT_PROTOCOL_ERROR : MQTT_TOO_LARGE);
        if (write_unsent(link)) wire_flush(&link->wire);
    }
    if (link->wire.state == WIRE_UP) wire_fail(&link->wire, why);
}

/* What is there of bytes that are passed over. 1: all of it was. */
static int pass_over(mqtt_link *link) {
    int64_t there = (int64_t)(link->heard.size - link->at), part = there < link->skip ? there : link->skip;
    link->at += (size_t)part;
    link->skip -= part;
    return !link->skip;
}

/* A message that is too large comes again on each connection, above QoS 0. A broker of 3.1.1 cannot be told what is taken, and mosquitto miscounts by
 * a byte in MQTT 5. */
static bool is_left_out(const mqtt_link *link, int64_t size, gale_str rest) {
    bool comes_again = link->identity.version == MQTT_3_1_1 || (rest.size && rest.data[0] & 6);
    return size == GALE_TOO_LARGE && comes_again && (uint8_t)rest.data[0] >> 4 == MQTT_PUBLISH &&
           link->session.state == MQTT_UP;
}

static int leave_out(mqtt_link *link, gale_str rest) {
    mqtt_packet publish;
    if (!mqtt_packet_head(rest, &publish)) return 0;
    link->skip = mqtt_packet_size(link->identity.version, rest, SIZE_MAX, NULL);
    mqtt_session_leave_out(&link->session, &publish, link->skip);
    return pass_over(link);
}

/* 1: a packet was heard; 0: there is none as a whole, or the connection is lost. */
static int hear_one(mqtt_link *link) {
    if (link->skip) return pass_over(link);
    gale_error *error = &link->error;
    mqtt_packet packet;
    const mqtt_version version = link->identity.version;
    gale_str rest = { link->heard.data + link->at, link->heard.size - link->at };
    int64_t size = rest.size ? mqtt_packet_size(version, rest, link->identity.packet_max, error) : 0;
    if (is_left_out(link, size, rest)) return leave_out(link, rest);
    if (size == 0 || (size > 0 && (uint64_t)size > rest.size)) return 0;
    int rc = size < 0 ? (int)size : mqtt_packet_read(version, (gale_str){ rest.data, (size_t)size }, &packet, error);
    if (rc == 0) rc = mqtt_session_hear(&link->session, &packet, error);
    if (rc < 0) {
        fail(link, rc, error->text);
        return 0;
    }
    if (link->wire.state != WIRE_UP) return 0; /* all is forgotten */
    link->at += (size_t)size;
    return 1;
}

static void forget_heard(mqtt_link *link) {
    mqtt_bytes *heard = &link->heard;
    if (link->at == 0) return;
    if (heard->size > link->at) memmove(heard->data, heard->data + link->at, heard->size - link->at);
    heard->size -= link->at;
    link->at = 0;
}

static void be_up(mqtt_link *link) {
    int64_t after = mqtt_session_ping_after(&link->session);
    if (link->well || link->session.state != MQTT_UP) return;
    link->well = true;
    wire_well(&link->wire);
    (void)gale_watch_set(link->out, link->ping, 0, after ? gale_context_now(link->context) + after : 0);
}

void mqtt_link_hear(mqtt_link *link) {
    if (link->wire.state != WIRE_UP) return;
    while ((link->stalled = !has_room(link)) == false && hear_one(link) > 0) be_up(link);
    if (link->at > HEARD_MAX / 2 || link->at == link->heard.size) forget_heard(link);
    wire_pause(&link->wire, link->stalled && link->heard.size - link->at > HEARD_MAX);
    say(link);
}

/* --- What the wire tells ---------------------------------------------------------------------------------------------- */

static void hear_up(void *user) {
    mqtt_link *link = user;
    gale_error error = GALE_ERROR_INIT;
    const char *from = link->given->password_from;
    char *password = from ? gale_secret_read("passwordFrom", from, &error) : NULL;
    if (from && !password) {
        wire_fail(&link->wire, error.text);
        return;
    }
    mqtt_session_open(&link->session, password);
    gale_secret_free(password);
    say(link);
}

static void hear_heard(void *user) {
    mqtt_link *link = user;
    char *to = mqtt_bytes_more(&link->heard, CHUNK);
    if (!to) {
        wire_fail(&link->wire, "out of memory");
        return;
    }
    int64_t size = wire_read(&link->wire, to, CHUNK);
    if (size < 0) return; /* `lost` has forgotten all */
    link->heard.size -= CHUNK - (size_t)size;
    mqtt_link_hear(link);
}

static void hear_room(void *user) {
    say(user);
}

static void hear_lost(void *user) {
    mqtt_link *link = user;
    bool counts = link->wire.ended && !link->session.goes;
    if (link->well && link->ops->lost) link->ops->lost(link->user, counts, link->wire.why);
    mqtt_session_lost(&link->session);
    mqtt_bytes_free(&link->heard);
    link->at = 0;
    link->skip = 0;
    link->stalled = link->well = false;
    (void)gale_watch_set(link->out, link->ping, 0, 0);
}

static const wire_ops told = { .up = hear_up, .heard = hear_heard, .room = hear_room, .lost = hear_lost };

static int hear_ping(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    mqtt_link *link = user;
    (void)events;
    mqtt_session_ping(&link->session);
    mqtt_link_go(link);
    if (link->well)
        (void)gale_watch_set(out, watch, 0, gale_context_now(link->context) + mqtt_session_ping_after(&link->session));
    return 0;
}

/* `next` is called behind it. */
static int hear_wake(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)user, (void)out, (void)watch, (void)events;
    return 0;
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

static int open_watches(mqtt_link *link) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.user = link;
    options.call = hear_wake;
    int rc = gale_watch_new(link->out, &options, &link->wake);
    options.always = true;
    options.call = hear_ping;
    return rc < 0 ? rc : gale_watch_new(link->out, &options, &link->ping);
}

int mqtt_link_open(mqtt_link *link, const mqtt_settings *given, const mqtt_identity *identity, const mqtt_role *role,
                   const gale_context *context, gale_collector *out, const mqtt_link_ops *ops, void *user,
                   gale_error *error) {
    *link = (mqtt_link){
        .given = given, .identity = *identity, .context = context, .out = out, .ops = ops, .user = user
    };
    link->error = (gale_error)GALE_ERROR_INIT;
    static const mqtt_role alone = { .client = "" };
    if (!role) role = &alone;
    mqtt_settings_client(given, context, role->client, link->client);
    link->identity.client = mqtt_text(link->client);
    int rc = mqtt_session_init(&link->session, &link->identity, context->durable, &ops->session, user);
    if (rc == 0) rc = open_watches(link);
    if (rc < 0) return gale_error_set(error, rc, "%s: %s", given->wire.where, gale_error_text(rc));
    const wire_options options = { .given = &given->wire,
                                   .context = context,
                                   .out = out,
                                   .always = true,
                                   .health = role->health,
                                   .who = role->who,
                                   .what = role->words,
                                   .most = (size_t)ROOM + identity->packet_max,
                                   .ops = &told,
                                   .user = link };
    return wire_open(&link->wire, &options, error);
}

void mqtt_link_close(mqtt_link *link) {
    if (!link->given) return;
    if (link->wire.state == WIRE_UP) {
        mqtt_session_end(&link->session, 0);
        if (write_unsent(link)) wire_flush(&link->wire);
    }
    wire_close(&link->wire);
    if (link->ping) (void)gale_watch_free(link->out, link->ping);
    if (link->wake) (void)gale_watch_free(link->out, link->wake);
    mqtt_session_free(&link->session);
    mqtt_bytes_free(&link->heard);
}

void mqtt_link_drive(mqtt_link *link, int milliseconds) {
    wire_drive(&link->wire, milliseconds);
    mqtt_link_go(link);
}
