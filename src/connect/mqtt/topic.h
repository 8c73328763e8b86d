/* Topics with fields in them: "alerts/{site}/{kind}". The value of a field is a level; {+path} may be several, with slashes between them.
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_MQTT_TOPIC_H
#define GALE_CONNECT_MQTT_TOPIC_H

#include "connect/mqtt/bytes.h"

#include <gale/error.h>
#include <gale/tuple.h>

/* Is it one? `*ret_fields` says whether it has some. GALE_INVALID with a sentence. */
int mqtt_topic_check(const char *topic, bool *ret_fields, gale_error *error);

/* Adds the topic of a tuple. GALE_INVALID with a sentence in `why`: of this one there is none. */
int mqtt_topic_write(const char *topic, const gale_tuple *tuple, mqtt_bytes *to, char *why, size_t size);

#endif
