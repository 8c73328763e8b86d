/* Levels of a topic as fields: "sensors/{site}/{kind}/+".
 *
 * What:    a level in braces is a field, '+' is any level, '#' at the end any levels, and all else stands for itself. A topic that is another one has no fields.
 * Threads: frozen once made. Owner: mqtt_levels_free. */
#ifndef GALE_CONNECT_MQTT_LEVELS_H
#define GALE_CONNECT_MQTT_LEVELS_H

#include <gale/error.h>
#include <gale/value.h>

enum { MQTT_LEVELS_MAX = 16 };

typedef struct mqtt_levels {
    char *pattern;                   /* NULL: none */
    gale_str names[MQTT_LEVELS_MAX]; /* of its fields */
    size_t count;
} mqtt_levels;

/* GALE_INVALID with a sentence that begins with "levels:"; GALE_NO_MEMORY. */
int mqtt_levels_make(mqtt_levels *levels, const char *pattern, gale_error *error);
void mqtt_levels_free(mqtt_levels *levels);

/* The fields of this topic, each a text; each null where it is another one. */
void mqtt_levels_read(const mqtt_levels *levels, gale_str topic, gale_value *values);

#endif
