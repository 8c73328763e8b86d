#include "serve/gale_change.h"

#include "serve/member.h"

#include <gale/json.h>
#include <stdlib.h>

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

/* The words of a member; there may be none. `*texts`: where they go, and then where the next ones do. */
static bool take(gale_str body, const char *name, char **texts, gx_wish_words *ret_words) {
    gale_str list;
    ret_words->count = 0;
    if (!gale_json_get(body, name, &list)) return true;
    if (gale_json_kind_of(list) != GALE_JSON_LIST) return false;
    for (gale_json_item item = GALE_JSON_FIRST(list); gale_json_next(&item);) {
        bool is_text = gale_json_kind_of(item.value) == GALE_JSON_STRING && ret_words->count < GX_WISH_WORDS_MAX;
        int64_t size = is_text ? gale_json_text(item.value, *texts, item.value.size) : -1;
        if (size < 0 || strlen(*texts) != (size_t)size) return false;
        ret_words->items[ret_words->count++] = *texts;
        *texts += size + 1;
    }
    return true;
}

static bool take_all(gale_str body, char *texts, gx_wish *ret_wish) {
    gale_str forget;
    bool has_forget = gale_json_get(body, "forget", &forget);
    ret_wish->forget = has_forget && *forget.data == 't';
    return gale_json_kind_of(body) == GALE_JSON_OBJECT &&
           (!has_forget || gale_json_kind_of(forget) == GALE_JSON_BOOL) &&
           take(body, "config", &texts, &ret_wish->settings) && take(body, "set", &texts, &ret_wish->sets) &&
           take(body, "adopt", &texts, &ret_wish->adopt);
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
    gale_str body;
    if (!gx_call_body(reply, call->body.size ? call->body : gx_str("{}"), &body)) return;
    char *texts = malloc(body.size); /* no text is longer than what stands for it */
    if (!texts)
        gx_call_refuse(reply, 503, "out of memory");
    else if (!take_all(body, texts, &wish))
        gx_call_refuse(
            reply, 400,
            "the body must be a JSON object; \"set\", \"config\" and \"adopt\" in it are lists of at most %d "
            "texts, \"forget\" is true or false",
            GX_WISH_WORDS_MAX);
    else if (gx_call_only(reply, body, (const char *const[]){ "set", "config", "adopt", "forget", NULL }))
        ask(call, reply, &wish);
    free(texts);
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
