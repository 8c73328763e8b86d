#include "cli/tap_line.h"

#include "base/json.h"
#include "base/str.h"
#include "base/visible.h"
#include "front/json_value.h"
#include "tuple/json.h"

#include <string.h>

static bool is_plain(gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c <= 0x20 || c == '"' || c == '=' || c == '\\' || c == 0x7f) return false;
    }
    return text.size > 0;
}

static void add_text(gx_buf *out, const char *text) {
    gx_visible_add(out, gx_str(text ? text : "?"), "");
}

/* Numbers have their shortest text, as everywhere. */
static void add_json(gx_buf *out, json_t *json) {
    gx_buf text = GX_BUF_INIT(NULL);
    gale_value_owned *owned = NULL;
    if (gx_json_to_value(json, &owned) >= 0) {
        gx_json writer = gx_json_to(&text);
        gale_value value = gale_value_owned_view(owned);
        gx_json_value(&writer, &value);
        gx_visible_add(out, (gale_str){ text.data, text.size }, "");
    }
    gale_value_owned_free(owned);
    gx_buf_fini(&text);
}

static void add_value(gx_buf *out, json_t *json) {
    gale_str text = { json_string_value(json), json_string_length(json) };
    if (text.data && is_plain(text))
        gx_visible_add(out, text, "");
    else
        add_json(out, json);
}

static void add_tuple(gx_buf *out, json_t *tuple, json_t *values) {
    const char *field;
    json_t *value;
    add_text(out, json_string_value(json_object_get(tuple, "component")));
    gx_buf_format(out, "[%lld] ", (long long)json_integer_value(json_object_get(tuple, "task")));
    add_text(out, json_string_value(json_object_get(tuple, "stream")));
    gx_buf_add_byte(out, ' ');
    json_object_foreach(values, field, value) {
        gx_buf_add_byte(out, ' ');
        add_text(out, field);
        gx_buf_add_byte(out, '=');
        add_value(out, value);
    }
    json_int_t dropped = json_integer_value(json_object_get(tuple, "dropped"));
    if (dropped > 0) gx_buf_format(out, "  (%lld dropped before)", (long long)dropped);
    gx_buf_add_byte(out, '\n');
}

int gx_tap_line_add(gale_str line, gx_buf *out, gale_error *error) {
    if (!line.size) return 0;
    json_t *tuple = json_loadb(line.data, line.size, JSON_ALLOW_NUL, NULL);
    json_t *values = json_object_get(tuple, "values");
    const char *wrong = json_string_value(json_object_get(tuple, "error"));
    int rc = 1;
    if (wrong)
        rc = gale_error_set(error, GALE_COMPONENT, "%s", wrong);
    else if (!json_is_object(values))
        rc = gale_error_set(error, GALE_INVALID, "what is answered is no line of a tap");
    else
        add_tuple(out, tuple, values);
    json_decref(tuple);
    return rc;
}
