#include "connect/http/json.h"

#include <gale/json.h>
#include <string.h>

void http_json_value(http_buffer *to, const gale_value *value) {
    if (!to->failed && !gale_json_append(value, &to->data, &to->size, &to->capacity)) to->failed = true;
}

void http_json_string(http_buffer *to, const char *text, size_t size) {
    gale_value value = gale_string(text, size);
    http_json_value(to, &value);
}

void http_json_tuple(http_buffer *to, const gale_tuple *tuple) {
    const char *before = "{";
    for (size_t i = 0; i < gale_tuple_size(tuple); i++) {
        const char *name = gale_tuple_field(tuple, i);
        gale_value value = gale_tuple_value(tuple, i);
        if (!name) continue;
        http_buffer_text(to, before);
        http_json_string(to, name, strlen(name));
        http_buffer_text(to, ":");
        http_json_value(to, &value);
        before = ",";
    }
    http_buffer_text(to, *before == '{' ? "{}" : "}");
}
