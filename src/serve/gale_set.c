#include "serve/gale_set.h"

#include "base/visible.h"

#include <jansson.h>

static const struct {
    const char *name, *key;
} settings[] = {
    { "pending", "topology.max.spout.pending" },
    { "rate", "gale.rate" },
    { "drop", "drop" },
};

enum { SETTINGS = sizeof settings / sizeof *settings };

/* Views are of the body. What is no number and no text is null, which the runtime refuses in its words. */
static gale_value value_of(const json_t *from) {
    if (json_is_integer(from)) return gale_i64(json_integer_value(from));
    if (json_is_real(from)) return gale_f64(json_real_value(from));
    return json_is_string(from) ? gale_string(json_string_value(from), json_string_length(from)) : gale_null();
}

/* The one thing that the body sets beside the component's name; SETTINGS: it is not this. */
static size_t setting_of(const json_t *body) {
    size_t found = SETTINGS;
    if (json_object_size(body) != 2 || !json_is_string(json_object_get(body, "component"))) return SETTINGS;
    for (size_t i = 0; i < SETTINGS; i++)
        if (json_object_get(body, settings[i].name)) found = i;
    return found;
}

static unsigned status_of(int code) {
    return code == GALE_NOT_FOUND ? 404 : code == GALE_STATE ? 409 : 400;
}

static void set(const gx_call *call, gx_http_reply *reply, const json_t *body, size_t setting) {
    const char *component = json_string_value(json_object_get(body, "component"));
    gale_value value = value_of(json_object_get(body, settings[setting].name));
    gale_error error = GALE_ERROR_INIT;
    char words[GALE_ERROR_TEXT * 2];
    int rc = gale_runtime_set(call->served->runtime, component, settings[setting].key, &value, &error);
    if (rc < 0)
        gx_call_refuse(reply, status_of(rc), "%s", gx_visible_copy(words, sizeof words, error.text));
    else
        gx_call_done(reply, "set");
}

void gx_gale_set(const gx_call *call, gx_http_reply *reply) {
    json_t *body = gx_call_body(reply, call->body);
    size_t setting = setting_of(body);
    if (!body) return;
    if (setting == SETTINGS)
        gx_call_refuse(reply, 400,
                       "the body must be a JSON object with the text \"component\" and one of \"pending\", \"rate\" "
                       "and \"drop\"");
    else
        set(call, reply, body, setting);
    json_decref(body);
}
