#include "serve/served.h"

#include "base/nearest.h"
#include "base/visible.h"
#include "serve/member.h"
#include "tuple/json_view.h"

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

bool gx_call_body(gx_http_reply *reply, gale_str text, gale_str *ret_json) {
    gx_json_problem why;
    if (gx_json_check(text, ret_json, &why)) return true;
    gx_call_refuse(reply, 400, "the body is no JSON: line %zu, column %zu: %s", why.line, why.column, why.what);
    return false;
}

static size_t place_of(const char *const *names, gale_str name) {
    size_t place = 0;
    while (names[place] && !gale_json_is(name, names[place])) place++;
    return place;
}

static bool refuse_member(gx_http_reply *reply, gale_str member, const char *const *names) {
    enum { NAME = 100 };
    char name[NAME], shown[NAME], hint[NAME];
    (void)gale_json_text(member, name, sizeof name);
    gx_nearest nearest = gx_nearest_to(gx_str(name));
    for (; *names; names++) gx_nearest_offer(&nearest, gx_str(*names));
    gx_call_refuse(reply, 400, "the body has a member '%s', which is not known here%s",
                   gx_visible_copy(shown, sizeof shown, name), gx_nearest_hint(&nearest, hint, sizeof hint));
    return false;
}

bool gx_call_only(gx_http_reply *reply, gale_str body, const char *const *names) {
    uint64_t seen = 0;
    for (gale_json_item item = GALE_JSON_FIRST(body); gale_json_next(&item);) {
        size_t place = place_of(names, item.name);
        if (!names[place]) return refuse_member(reply, item.name, names);
        if (seen >> place & 1) {
            gx_call_refuse(reply, 400, "the body has the member '%s' twice", names[place]);
            return false;
        }
        seen |= UINT64_C(1) << place;
    }
    return true;
}

bool gx_call_text(const gx_call *call, gx_http_reply *reply, const char *name, char *to, size_t room) {
    gale_str body, value;
    if (!gx_call_body(reply, call->body, &body)) return false;
    bool is_text = gale_json_get(body, name, &value) && gale_json_kind_of(value) == GALE_JSON_STRING;
    int64_t size = is_text ? gale_json_text(value, to, room) : -1;
    if (size >= 0 && strlen(to) == (size_t)size) return gx_call_only(reply, body, (const char *const[]){ name, NULL });
    gx_call_refuse(reply, 400, "the body must be a JSON object with the text \"%s\"", name);
    return false;
}
