#include "serve/gale_set.h"

#include "base/visible.h"

#include <gale/json.h>

static const struct {
    const char *name, *key;
} settings[] = {
    { "pending", "topology.max.spout.pending" },
    { "rate", "gale.rate" },
    { "drop", "drop" },
};

enum { SETTINGS = sizeof settings / sizeof *settings };

enum { TEXT = 256 };

/* What is no number and no text is null, which the runtime refuses in its words. */
static gale_value value_of(gale_str from, char text[TEXT]) {
    int64_t whole;
    double number;
    if (gale_json_whole(from, &whole)) return gale_i64(whole);
    if (gale_json_number(from, &number)) return gale_f64(number);
    if (gale_json_kind_of(from) != GALE_JSON_STRING || gale_json_text(from, text, TEXT) < 0) return gale_null();
    return gale_text(text);
}

/* The one thing that the body sets beside the component's name; SETTINGS: it is not this. */
static size_t setting_of(gale_str body, char component[TEXT], gale_str *ret_value) {
    size_t found = SETTINGS, count = 0;
    gale_str name;
    for (gale_json_item item = GALE_JSON_FIRST(body); gale_json_next(&item);) count++;
    bool is_text = count == 2 && gale_json_get(body, "component", &name) && gale_json_kind_of(name) == GALE_JSON_STRING;
    if (!is_text || gale_json_text(name, component, TEXT) < 0) return SETTINGS;
    for (size_t i = 0; i < SETTINGS; i++)
        if (gale_json_get(body, settings[i].name, ret_value)) found = i;
    return found;
}

static unsigned status_of(int code) {
    return code == GALE_NOT_FOUND ? 404 : code == GALE_STATE ? 409 : 400;
}

static void set(const gx_call *call, gx_http_reply *reply, const char *component, size_t setting, gale_str given) {
    char text[TEXT];
    gale_value value = value_of(given, text);
    gale_error error = GALE_ERROR_INIT;
    char words[GALE_ERROR_TEXT * 2];
    int rc = gale_runtime_set(call->served->runtime, component, settings[setting].key, &value, &error);
    if (rc < 0)
        gx_call_refuse(reply, status_of(rc), "%s", gx_visible_copy(words, sizeof words, error.text));
    else
        gx_call_done(reply, "set");
}

void gx_gale_set(const gx_call *call, gx_http_reply *reply) {
    char component[TEXT];
    gale_str body, value;
    if (!gx_call_body(reply, call->body, &body)) return;
    size_t setting = setting_of(body, component, &value);
    if (setting == SETTINGS)
        gx_call_refuse(reply, 400,
                       "the body must be a JSON object with the text \"component\" and one of \"pending\", \"rate\" "
                       "and \"drop\"");
    else
        set(call, reply, component, setting, value);
}
