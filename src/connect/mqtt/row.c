#include "connect/mqtt/row.h"

#include <gale/clock.h>
#include <stdio.h>
#include <string.h>

enum { PAYLOAD, TOPIC, QOS, RETAIN, TIME, FILTER, PROPERTIES, CONTENT_TYPE, REPLY, CORRELATION, EXPIRY };
static const char *const names[] = { "payload",    "topic",       "qos",           "retain",      "time",   "filter",
                                     "properties", "contentType", "responseTopic", "correlation", "expiry", NULL };

enum { KEPT = 3 };

/* --- Names ------------------------------------------------------------------------------------------------------------ */

static bool is_emitted(const mqtt_row *row, gale_str name) {
    for (size_t i = 0; i < row->emit.count; i++) {
        const char *other = names[row->emit.places[i]];
        if (strlen(other) == name.size && memcmp(other, name.data, name.size) == 0) return true;
    }
    return false;
}

int mqtt_row_make(mqtt_row *row, const char *emit, const char *levels, gale_error *error) {
    *row = (mqtt_row){ .keeps = false };
    int rc = gale_names_read("emit", emit, "a message", names, &row->emit, error);
    if (rc == 0) rc = mqtt_levels_make(&row->levels, levels, error);
    if (rc < 0) return rc;
    size_t size = (size_t)snprintf(row->text, sizeof row->text, "%s", row->emit.text);
    for (size_t i = 0; i < row->levels.count; i++) {
        gale_str name = row->levels.names[i];
        if (is_emitted(row, name))
            return gale_error_set(error, GALE_INVALID, "levels: {%.*s} is a field of emit already", (int)name.size,
                                  name.data);
        if (name.size + 3 > sizeof row->text - size)
            return gale_error_set(error, GALE_INVALID, "levels: the names of its fields are too long");
        size += (size_t)snprintf(row->text + size, sizeof row->text - size, ", %.*s", (int)name.size, name.data);
    }
    return 0;
}

void mqtt_row_free(mqtt_row *row) {
    mqtt_levels_free(&row->levels);
}

size_t mqtt_row_count(const mqtt_row *row) {
    return row->emit.count + row->levels.count;
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

/* Replaces what an earlier property of that name had. */
static void put(gale_value *pairs, size_t *count, gale_value key, gale_value value) {
    for (size_t i = 0; i < *count; i++) {
        if (!gale_value_equal(&pairs[2 * i], &key)) continue;
        pairs[2 * i + 1] = value;
        return;
    }
    pairs[2 * *count] = key;
    pairs[2 * *count + 1] = value;
    ++*count;
}

static int pairs_of(gale_str properties, mqtt_values *values, gale_value *ret_map) {
    mqtt_cursor cursor = mqtt_cursor_of(properties);
    mqtt_property property;
    size_t count = 0;
    while (mqtt_property_next(&cursor, &property)) {
        if (property.id != MQTT_USER_PROPERTY) continue;
        if (count == MQTT_PAIRS_MAX) return GALE_TOO_LARGE;
        put(values->pairs, &count, gale_string(property.text.data, property.text.size),
            gale_string(property.value.data, property.value.size));
    }
    *ret_map = gale_map(values->pairs, count);
    return 0;
}

static gale_value property_of(const mqtt_packet *publish, mqtt_property_id id) {
    mqtt_property property;
    if (!mqtt_property_find(publish->properties, id, &property)) return gale_null();
    if (id == MQTT_MESSAGE_EXPIRY) return gale_i64(property.number);
    if (id == MQTT_CORRELATION) return gale_text_or_bytes(property.text.data, property.text.size);
    return gale_string(property.text.data, property.text.size);
}

static gale_value filter_of(const mqtt_row *row, const mqtt_packet *publish) {
    uint32_t id = mqtt_property_number(publish->properties, MQTT_SUBSCRIPTION_ID, 0);
    if (id == 0 || id > row->filter_count) return gale_null();
    return gale_string(row->filters[id - 1].filter.data, row->filters[id - 1].filter.size);
}

static gale_value now(void) {
    gale_clock wall = gale_clock_wall();
    return gale_i64(wall.now(wall.user) / GALE_MILLISECOND);
}

static int value_of(const mqtt_row *row, int32_t field, const mqtt_packet *publish, mqtt_values *values,
                    gale_value *ret) {
    const mqtt_message *m = &publish->message;
    switch (field) {
    case PAYLOAD: *ret = gale_text_or_bytes(m->payload.data, m->payload.size); break;
    case TOPIC: *ret = gale_string(m->topic.data, m->topic.size); break;
    case QOS: *ret = gale_i64(m->qos); break;
    case RETAIN: *ret = gale_bool(m->retain); break;
    case TIME: *ret = now(); break;
    case FILTER: *ret = filter_of(row, publish); break;
    case PROPERTIES: return pairs_of(publish->properties, values, ret);
    case CONTENT_TYPE: *ret = property_of(publish, MQTT_CONTENT_TYPE); break;
    case REPLY: *ret = property_of(publish, MQTT_RESPONSE_TOPIC); break;
    case CORRELATION: *ret = property_of(publish, MQTT_CORRELATION); break;
    default: *ret = property_of(publish, MQTT_MESSAGE_EXPIRY);
    }
    return 0;
}

int mqtt_row_values(const mqtt_row *row, const mqtt_packet *publish, mqtt_values *values) {
    const mqtt_message *m = &publish->message;
    int rc = 0;
    size_t count = row->emit.count;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = value_of(row, row->emit.places[i], publish, values, &values->list[i]);
    mqtt_levels_read(&row->levels, m->topic, values->list + count);
    count += row->levels.count;
    if (row->keeps) {
        values->list[count++] = gale_string(m->topic.data, m->topic.size);
        values->list[count++] = gale_bytes(m->payload.data, m->payload.size);
        values->list[count++] = gale_bytes(publish->properties.data, publish->properties.size);
    } else {
        values->list[count++] = gale_string(m->topic.data, m->topic.size);
    }
    values->count = count;
    return rc;
}

gale_str mqtt_row_topic(const mqtt_row *row, const gale_value *values, size_t count) {
    size_t first = mqtt_row_count(row);
    if (count <= first || values[first].type != GALE_TYPE_STRING) return (gale_str){ "", 0 };
    return (gale_str){ values[first].as.string, values[first].size };
}

static gale_str bytes_of(const gale_value *value) {
    return (gale_str){ value->as.bytes, value->size };
}

bool mqtt_row_letter(const mqtt_row *row, const gale_value *values, size_t count, mqtt_message *ret_message) {
    size_t first = mqtt_row_count(row);
    if (!row->keeps || count != first + KEPT) return false;
    *ret_message = (mqtt_message){ .topic = { values[first].as.string, values[first].size },
                                   .payload = bytes_of(&values[first + 1]),
                                   .properties = bytes_of(&values[first + 2]) };
    return true;
}
