/* What a class of MQTT's was given in a file: checked, and as a session wants it.
 * Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_MQTT_SETTINGS_H
#define GALE_CONNECT_MQTT_SETTINGS_H

#include "connect/mqtt/session.h"
#include "wire/settings.h"

#include <gale/component.h>

enum { MQTT_CLIENT_MAX = 256 };

/* What all classes have. */
typedef struct mqtt_settings {
    wire_settings wire;
    mqtt_identity identity; /* all but the client's id, and what the class adds */
    char *client, *user, *password_from, *will_topic;
    mqtt_bytes will_payload, will_properties;
} mqtt_settings;

/* GALE_INVALID with a sentence, which begins with the parameter; GALE_NO_MEMORY. What was made is freed by mqtt_settings_free, also then. */
int mqtt_settings_make(mqtt_settings *settings, const gale_args *args, gale_error *error);
void mqtt_settings_free(mqtt_settings *settings);

/* The client id of a task; `role` tells two connections of one task apart. */
void mqtt_settings_client(const mqtt_settings *settings, const gale_context *context, const char *role,
                          char client[MQTT_CLIENT_MAX]);

/* A copy of a parameter's text; NULL where there is none, or an empty one. GALE_NO_MEMORY. */
int mqtt_copy_text(char **to, const gale_args *args, const char *parameter, gale_error *error);

/* What is less than a second is one: 0 means something else. */
uint32_t mqtt_whole_seconds(const gale_args *args, const char *parameter);

gale_str mqtt_text(const char *text);

#endif
