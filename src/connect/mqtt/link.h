/* A session of MQTT's on a wire: connected, kept, connected again.
 *
 *      wire up --CONNECT--> session asked ... up: well --lost, late, malformed, refused--> off, for a pause that grows
 *
 * What:    bytes of the wire become packets, which the session hears as long as `wants` says that there is room for what they bring; else they stay where they are, and
 *          beyond 256 KiB the wire is not read any more: then the broker waits.
 * Health:  the wire's; it is well when the session is up.
 * Threads: the task's. Owner: mqtt_link_close. */
#ifndef GALE_CONNECT_MQTT_LINK_H
#define GALE_CONNECT_MQTT_LINK_H

#include "connect/mqtt/settings.h"
#include "wire/wire.h"

typedef struct mqtt_link_ops {
    mqtt_session_ops session;
    bool (*wants)(void *user); /* is there room for a message? NULL: always */
    /* A session that was up is lost; `counts` as of gale_dispatch_lost. May be NULL. */
    void (*lost)(void *user, bool counts, const char *why);
} mqtt_link_ops;

/* Which of a task's connections it is, where it has several. */
typedef struct mqtt_role {
    const char *client; /* behind the client id */
    const char *words;  /* behind `where`, in what its health is told by */
    wire_health *health;
    unsigned who; /* in `health` */
} mqtt_role;

typedef struct mqtt_link {
    wire wire;
    mqtt_session session;
    mqtt_identity identity;
    char client[MQTT_CLIENT_MAX];
    const mqtt_settings *given;
    const gale_context *context;
    gale_collector *out;
    const mqtt_link_ops *ops;
    void *user;
    gale_error error; /* of the call that hears a packet: too large to be made for each */
    mqtt_bytes heard; /* what came, from `at` on */
    size_t at;
    int64_t skip; /* bytes that are to come and are passed over */
    bool stalled; /* there is something to hear, and no room for it */
    bool well;
    gale_watch ping, wake; /* the second has `next` called again */
} mqtt_link;

/* `identity` is copied, but for what it names; `role` NULL: the task has no other. Closed by mqtt_link_close, also after an error. */
int mqtt_link_open(mqtt_link *link, const mqtt_settings *given, const mqtt_identity *identity, const mqtt_role *role,
                   const gale_context *context, gale_collector *out, const mqtt_link_ops *ops, void *user,
                   gale_error *error);
void mqtt_link_close(mqtt_link *link);

/* Hears what is there, as long as there is room. */
void mqtt_link_hear(mqtt_link *link);

/* Says what there is to say; and if there is something to hear, and room now, `next` is called. */
void mqtt_link_go(mqtt_link *link);

/* For `finish`: waits for news at most so many milliseconds. */
void mqtt_link_drive(mqtt_link *link, int milliseconds);

#endif
