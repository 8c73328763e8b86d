#include "serve/served.h"

#include "base/nearest.h"
#include "base/visible.h"
#include "serve/member.h"

#include <jansson.h>
#include <stdio.h>

int64_t gx_served_checkpoint_interval(const gx_served *served) {
    return GALE_MILLISECOND *
           gale_config_i64(gale_topology_config(served->topology), "topology.state.checkpoint.interval.ms", 1000);
}

gx_json gx_call_json(gx_http_reply *reply) {
    reply->type = "application/json";
    return gx_json_to(&reply->body);
}

void gx_call_done(gx_http_reply *reply, const char *what) {
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_text(&json, "done", what);
    gx_json_close(&json, '}');
}

void gx_call_refuse(gx_http_reply *reply, unsigned status, const char *format, ...) {
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    gx_buf_reset(&reply->body);
    reply->status = status;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_text(&json, "error", text);
    gx_json_close(&json, '}');
    gx_buf_add_byte(&reply->body, '\n');
}

bool gx_call_number(const gx_call *call, gx_http_reply *reply, const char *name, uint64_t otherwise, uint64_t least,
                    uint64_t most, uint64_t *ret_number) {
    gale_str text = gx_target_query(call->target, name);
    *ret_number = otherwise;
    if (!text.data || (gx_str_number(text, 10, most, ret_number) && *ret_number >= least)) return true;
    gx_call_refuse(reply, 400, "%s must be a whole number from %llu to %llu", name, (unsigned long long)least,
                   (unsigned long long)most);
    return false;
}

json_t *gx_call_body(gx_http_reply *reply, gale_str text) {
    json_error_t error;
    char why[JSON_ERROR_TEXT_LENGTH * 4];
    json_t *body = json_loadb(text.data ? text.data : "", text.size, JSON_REJECT_DUPLICATES, &error);
    if (!body)
        gx_call_refuse(reply, 400, "the body is no JSON: line %d, column %d: %s", error.line, error.column,
                       gx_visible_copy(why, sizeof why, error.text));
    return body;
}

static bool is_one_of(const char *const *names, const char *name) {
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

bool gx_call_only(gx_http_reply *reply, json_t *body, const char *const *names) {
    enum { NAME = 100 };
    const char *name;
    json_t *value;
    char shown[NAME], hint[NAME];
    json_object_foreach(body, name, value) {
        if (is_one_of(names, name)) continue;
        gx_nearest nearest = gx_nearest_to(gx_str(name));
        for (; *names; names++) gx_nearest_offer(&nearest, gx_str(*names));
        gx_call_refuse(reply, 400, "the body has a member '%s', which is not known here%s",
                       gx_visible_copy(shown, sizeof shown, name), gx_nearest_hint(&nearest, hint, sizeof hint));
        return false;
    }
    return true;
}

bool gx_call_text(const gx_call *call, gx_http_reply *reply, const char *name, char *to, size_t room) {
    json_t *body = gx_call_body(reply, call->body);
    const char *text = json_string_value(json_object_get(body, name));
    bool found = text && strlen(text) < room;
    if (found) memcpy(to, text, strlen(text) + 1);
    if (body && !found) gx_call_refuse(reply, 400, "the body must be a JSON object with the text \"%s\"", name);
    if (found) found = gx_call_only(reply, body, (const char *const[]){ name, NULL });
    json_decref(body);
    return found;
}
