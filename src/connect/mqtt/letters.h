/* The dead letters of a spout: a message that is given up goes to a topic, at QoS 1, and is answered when the broker has it there.
 *
 * What:    a letter has the payload and, in MQTT 5, the properties of its message, and properties that say why and whence: gale.reason, gale.words, gale.component,
 *          gale.topic. They have a connection of their own: so an answer to one never waits behind messages that there is no room for.
 *          In a durable run those that are not there yet are in the checkpoints, so that one may come twice.
 * Threads: the task's. Owner: mqtt_letters_close. Limits: MQTT_LETTERS_MAX, of which MQTT_LETTERS_OUT are out at once; the spout takes no more messages then. */
#ifndef GALE_CONNECT_MQTT_LETTERS_H
#define GALE_CONNECT_MQTT_LETTERS_H

#include "connect/mqtt/link.h"

enum { MQTT_LETTERS_MAX = 1000, MQTT_LETTERS_OUT = 20 };

/* One is there, or is left out for good. */
typedef void mqtt_written_fn(void *user, int64_t place);

typedef struct mqtt_letters {
    mqtt_link link;    /* first */
    const char *topic; /* NULL: there are none */
    mqtt_written_fn *written;
    void *user;
} mqtt_letters;

/* `topic` NULL: none are written. In `health` they are the second. Closed by mqtt_letters_close, also after an error. */
int mqtt_letters_open(mqtt_letters *letters, const mqtt_settings *given, const char *topic, wire_health *health,
                      const gale_context *context, gale_collector *out, mqtt_written_fn *written, void *user,
                      gale_error *error);
void mqtt_letters_close(mqtt_letters *letters);

/* GALE_NO_MEMORY: there is no letter. */
int mqtt_letters_add(mqtt_letters *letters, const mqtt_message *message, int64_t place, const gale_failure *failure);

bool mqtt_letters_want(const mqtt_letters *letters);

/* In `save` and `restore`; `each` is told of each place. What gale_save says; GALE_DAMAGED; GALE_STATE: there are some, and no topic. */
int mqtt_letters_save(const mqtt_letters *letters, gale_saver *to);
int mqtt_letters_restore(mqtt_letters *letters, gale_saved *from, mqtt_written_fn *each, void *user);

#endif
