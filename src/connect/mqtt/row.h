/* What a spout emits of a message: the fields that `emit` names, in its order, and then those of `levels`.
 *
 *      payload        text, or bytes where it is not UTF-8
 *      topic          text
 *      qos            0, 1 or 2: as it came
 *      retain         true: the broker had kept it
 *      time           milliseconds since 1970, when it had come
 *      filter         the filter that brought it; null where the broker does not say
 *      properties     a map of the user's properties; of two of one name the last
 *      contentType, responseTopic, correlation, expiry    of MQTT 5; null where there is none
 */
#ifndef GALE_CONNECT_MQTT_ROW_H
#define GALE_CONNECT_MQTT_ROW_H

#include "connect/mqtt/levels.h"
#include "connect/mqtt/packet.h"

#include <gale/connect.h>

enum { MQTT_PAIRS_MAX = 256, MQTT_ROW_MAX = GALE_NAMES_MAX + MQTT_LEVELS_MAX + 3, MQTT_ROW_TEXT = 2048 };

typedef struct mqtt_row {
    gale_names emit;
    mqtt_levels levels;
    const mqtt_subscription *filters;
    size_t filter_count;
    bool keeps;               /* what a dead letter needs stands behind what goes out; else the topic alone */
    char text[MQTT_ROW_TEXT]; /* "payload, site" */
} mqtt_row;

/* Of `emit` and `levels`. GALE_INVALID with a sentence; GALE_NO_MEMORY. Freed by mqtt_row_free, also then. */
int mqtt_row_make(mqtt_row *row, const char *emit, const char *levels, gale_error *error);
void mqtt_row_free(mqtt_row *row);

/* How many values go out. */
size_t mqtt_row_count(const mqtt_row *row);

/* Room for the values of one message; borrowed from the message, and from here. */
typedef struct mqtt_values {
    gale_value list[MQTT_ROW_MAX];
    gale_value pairs[2 * MQTT_PAIRS_MAX];
    size_t count;
} mqtt_values;

/* GALE_TOO_LARGE: it has more properties than MQTT_PAIRS_MAX. */
int mqtt_row_values(const mqtt_row *row, const mqtt_packet *publish, mqtt_values *values);

/* Of values that were kept; empty where it is not there. */
gale_str mqtt_row_topic(const mqtt_row *row, const gale_value *values, size_t count);

/* What a dead letter is made of, of a row that keeps it: topic, payload, properties. False: the values are none of such a row. */
bool mqtt_row_letter(const mqtt_row *row, const gale_value *values, size_t count, mqtt_message *ret_message);

#endif
