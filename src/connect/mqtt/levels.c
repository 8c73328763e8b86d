#include "connect/mqtt/levels.h"

#include "connect/mqtt/filter.h"

#include <stdlib.h>
#include <string.h>

static bool is_field(gale_str level) {
    return level.size && level.data[0] == '{';
}

static bool is_letter(gale_str level, char letter) {
    return level.size == 1 && level.data[0] == letter;
}

static bool is_name(gale_str name) {
    for (size_t i = 0; i < name.size; i++)
        if (strchr("{}+#, ", name.data[i])) return false;
    return name.size > 0;
}

static int add_field(mqtt_levels *levels, gale_str level, gale_error *error) {
    gale_str name = { level.data + 1, level.size - 1 };
    if (!name.size || name.data[name.size - 1] != '}')
        return gale_error_set(error, GALE_INVALID, "levels: a field is a whole level in braces: {name}");
    name.size--;
    if (!is_name(name))
        return gale_error_set(error, GALE_INVALID, "levels: '%.*s' is no name", (int)name.size, name.data);
    for (size_t i = 0; i < levels->count; i++)
        if (levels->names[i].size == name.size && memcmp(levels->names[i].data, name.data, name.size) == 0)
            return gale_error_set(error, GALE_INVALID, "levels: {%.*s} stands there twice", (int)name.size, name.data);
    if (levels->count == MQTT_LEVELS_MAX)
        return gale_error_set(error, GALE_INVALID, "levels: there are at most %d fields", MQTT_LEVELS_MAX);
    levels->names[levels->count++] = name;
    return 0;
}

static int add_level(mqtt_levels *levels, gale_str level, bool is_last, gale_error *error) {
    if (is_field(level)) return add_field(levels, level, error);
    if (is_letter(level, '+') || (is_letter(level, '#') && is_last)) return 0;
    for (size_t i = 0; i < level.size; i++)
        if (strchr("{}+#", level.data[i]))
            return gale_error_set(error, GALE_INVALID,
                                  "levels: '%.*s': braces, '+' and '#' take a whole level, and '#' is the last",
                                  (int)level.size, level.data);
    return 0;
}

int mqtt_levels_make(mqtt_levels *levels, const char *pattern, gale_error *error) {
    gale_str level;
    size_t at = 0;
    int rc = 0;
    *levels = (mqtt_levels){ .pattern = pattern && *pattern ? strdup(pattern) : NULL };
    if (!pattern || !*pattern) return 0;
    if (!levels->pattern) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    gale_str all = { levels->pattern, strlen(levels->pattern) };
    while (rc == 0 && mqtt_level_next(all, &at, &level)) rc = add_level(levels, level, at > all.size, error);
    if (rc == 0 && !levels->count) return gale_error_set(error, GALE_INVALID, "levels: it has no field: {name}");
    return rc;
}

void mqtt_levels_free(mqtt_levels *levels) {
    free(levels->pattern);
    levels->pattern = NULL;
}

static bool fits(gale_str level, gale_str wanted) {
    return is_letter(wanted, '+') || (level.size == wanted.size && memcmp(level.data, wanted.data, level.size) == 0);
}

static bool match(gale_str pattern, gale_str topic, gale_value *values) {
    gale_str wanted, level;
    size_t at = 0, in = 0, count = 0;
    while (mqtt_level_next(pattern, &at, &wanted)) {
        if (is_letter(wanted, '#')) return true;
        if (!mqtt_level_next(topic, &in, &level)) return false;
        if (is_field(wanted))
            values[count++] = gale_string(level.data, level.size);
        else if (!fits(level, wanted))
            return false;
    }
    return in > topic.size;
}

void mqtt_levels_read(const mqtt_levels *levels, gale_str topic, gale_value *values) {
    if (!levels->pattern || match((gale_str){ levels->pattern, strlen(levels->pattern) }, topic, values)) return;
    for (size_t i = 0; i < levels->count; i++) values[i] = gale_null();
}
