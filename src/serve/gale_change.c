#include "serve/gale_change.h"

#include "serve/member.h"

#include <jansson.h>

static const char *state_name(gx_changing_state state) {
    static const char *const names[] = { "none", "asked", "checking", "stopping", "starting", "done", "refused" };
    return names[state];
}

/* NULL: it was not stopped. */
static const char *begun_name(gx_changing_begun begun) {
    static const char *const names[] = { NULL, "checkpoint", "anew" };
    return names[begun];
}

/* --- Asking --------------------------------------------------------------------------------------------------------- */

/* The words of a member, borrowed from the body; there may be none. */
static bool take(json_t *body, const char *name, gx_wish_words *ret_words) {
    json_t *list = json_object_get(body, name), *item;
    size_t i;
    ret_words->count = 0;
    if (!list) return true;
    if (!json_is_array(list) || json_array_size(list) > GX_WISH_WORDS_MAX) return false;
    json_array_foreach(list, i, item) {
        const char *word = json_string_value(item);
        if (!word || strlen(word) != json_string_length(item)) return false;
        ret_words->items[ret_words->count++] = word;
    }
    return true;
}

static bool take_all(json_t *body, gx_wish *ret_wish) {
    const json_t *forget = json_object_get(body, "forget");
    ret_wish->forget = json_is_true(forget);
    return json_is_object(body) && (!forget || json_is_boolean(forget)) && take(body, "config", &ret_wish->settings) &&
           take(body, "set", &ret_wish->sets) && take(body, "adopt", &ret_wish->adopt);
}

static void ask(const gx_call *call, gx_http_reply *reply, const gx_wish *wish) {
    const gx_deeds *deeds = &call->served->deeds;
    gale_error error = GALE_ERROR_INIT;
    gx_changing now = { .number = 0 };
    int rc = deeds->change(deeds->user, wish, &error);
    if (rc < 0) {
        gx_call_refuse(reply, rc == GALE_AGAIN ? 409 : rc == GALE_NO_MEMORY ? 503 : 400, "%s", error.text);
        return;
    }
    deeds->changing(deeds->user, &now);
    reply->status = 202;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_count(&json, "number", now.number);
    gx_json_close(&json, '}');
}

void gx_gale_change(const gx_call *call, gx_http_reply *reply) {
    gx_wish wish = { .sets = { .count = 0 } };
    if (!call->served->deeds.change) {
        gx_call_refuse(reply, 409, "what runs here was not read from a file");
        return;
    }
    json_t *body = gx_call_body(reply, call->body.size ? call->body : gx_str("{}"));
    if (!body) return;
    if (!take_all(body, &wish))
        gx_call_refuse(
            reply, 400,
            "the body must be a JSON object; \"set\", \"config\" and \"adopt\" in it are lists of at most %d "
            "texts, \"forget\" is true or false",
            GX_WISH_WORDS_MAX);
    else if (gx_call_only(reply, body, (const char *const[]){ "set", "config", "adopt", "forget", NULL }))
        ask(call, reply, &wish);
    json_decref(body);
}

/* --- How far it is -------------------------------------------------------------------------------------------------- */

void gx_gale_changing(const gx_call *call, gx_http_reply *reply) {
    const gx_deeds *deeds = &call->served->deeds;
    gx_changing now = { .number = 0 };
    if (deeds->changing) deeds->changing(deeds->user, &now);
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_count(&json, "number", now.number);
    gx_member_text(&json, "state", state_name(now.state));
    gx_member_text(&json, "text", *now.text ? now.text : NULL);
    gx_member_text(&json, "begun", begun_name(now.begun));
    gx_member_seconds(&json, "stood_still", now.stood_still);
    gx_member_text(&json, "laid", *now.laid ? now.laid : NULL);
    gx_member_bool(&json, "active", !gx_load_relaxed(&call->served->inactive));
    gx_json_close(&json, '}');
}
