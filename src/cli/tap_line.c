#include "cli/tap_line.h"

#include "base/json.h"
#include "base/str.h"
#include "base/visible.h"
#include "front/json_value.h"
#include "tuple/json.h"

#include <gale/json.h>

static bool is_plain(gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c <= 0x20 || c == '"' || c == '=' || c == '\\' || c == 0x7f) return false;
    }
    return text.size > 0;
}

/* What a string says; a name or a text of ours. */
static void add_text(gx_buf *out, gale_str json, const char *otherwise) {
    gx_buf text = GX_BUF_INIT(NULL);
    int64_t size = json.size && gx_buf_reserve(&text, json.size) ? gale_json_text(json, text.data, json.size + 1) : -1;
    gx_visible_add(out, size < 0 ? gx_str(otherwise) : (gale_str){ text.data, (size_t)size }, "");
    gx_buf_fini(&text);
}

/* Numbers have their shortest text, as everywhere. */
static void add_json(gx_buf *out, gale_str json) {
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

static void add_value(gx_buf *out, gale_str json) {
    bool is_text = gale_json_kind_of(json) == GALE_JSON_STRING;
    if (is_text && is_plain((gale_str){ json.data + 1, json.size - 2 }))
        add_text(out, json, "");
    else
        add_json(out, json);
}

static gale_str member(gale_str tuple, const char *name) {
    gale_str found;
    return gale_json_get(tuple, name, &found) ? found : (gale_str){ "", 0 };
}

static void add_tuple(gx_buf *out, gale_str tuple, gale_str values) {
    int64_t task = 0, dropped = 0;
    (void)gale_json_whole(member(tuple, "task"), &task);
    (void)gale_json_whole(member(tuple, "dropped"), &dropped);
    add_text(out, member(tuple, "component"), "?");
    gx_buf_format(out, "[%lld] ", (long long)task);
    add_text(out, member(tuple, "stream"), "?");
    gx_buf_add_byte(out, ' ');
    for (gale_json_item item = GALE_JSON_FIRST(values); gale_json_next(&item);) {
        gx_buf_add_byte(out, ' ');
        add_text(out, item.name, "?");
        gx_buf_add_byte(out, '=');
        add_value(out, item.value);
    }
    if (dropped > 0) gx_buf_format(out, "  (%lld dropped before)", (long long)dropped);
    gx_buf_add_byte(out, '\n');
}

int gx_tap_line_add(gale_str line, gx_buf *out, gale_error *error) {
    char wrong[GALE_ERROR_TEXT];
    gale_str tuple;
    if (!line.size) return 0;
    if (gale_json_check(line, &tuple, NULL) < 0) tuple = (gale_str){ "", 0 };
    gale_str values = member(tuple, "values"), said = member(tuple, "error");
    if (gale_json_kind_of(said) == GALE_JSON_STRING && gale_json_text(said, wrong, sizeof wrong) >= 0)
        return gale_error_set(error, GALE_COMPONENT, "%s", wrong);
    if (gale_json_kind_of(values) != GALE_JSON_OBJECT)
        return gale_error_set(error, GALE_INVALID, "what is answered is no line of a tap");
    add_tuple(out, tuple, values);
    return 1;
}
