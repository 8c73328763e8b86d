#include "cli/heard.h"

#include "base/str.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "front/json_value.h"

#include <gale/json.h>

static int understand(gx_heard *heard, const char *path, gale_error *error) {
    gale_str json;
    if (gale_json_check((gale_str){ heard->reply.body.data, heard->reply.body.size }, &json, NULL) < 0)
        return gale_error_set(error, GALE_INVALID, "'%s' does not answer with JSON", path);
    int rc = gx_json_to_value(json, &heard->owned);
    if (rc < 0) return gale_error_set(error, rc, "the answer of '%s' cannot be read", path);
    heard->all = gale_value_owned_view(heard->owned);
    return 0;
}

static int refused(const gx_heard *heard, const char *path, gale_error *error) {
    gale_str said = gx_heard_text(&heard->all, "error");
    if (!said.size)
        return gale_error_set(error, GALE_INVALID, "'%s' answers with status %u", path, heard->reply.status);
    return gale_error_set(error, GALE_INVALID, "%.*s", GX_STR(said));
}

int gx_heard_ask(const char *path, const char *method, const char *target, const char *body, gx_heard *ret_heard,
                 gale_error *error) {
    *ret_heard = (gx_heard){ .owned = NULL, .all = gale_null() };
    int rc = gx_client_ask(path, method, target, body, &ret_heard->reply, error);
    if (rc < 0) return rc;
    rc = understand(ret_heard, path, error);
    return ret_heard->reply.status < 400 ? rc : refused(ret_heard, path, error);
}

int gx_heard_follow(const char *path, const char *target, gx_client_line *take, void *user, gale_error *error) {
    gx_heard heard = { .owned = NULL, .all = gale_null() };
    int rc = gx_client_follow(path, target, take, user, &heard.reply, error);
    if (rc >= 0 && heard.reply.status >= 400) {
        (void)understand(&heard, path, NULL);
        rc = refused(&heard, path, error);
    }
    gx_heard_fini(&heard);
    return rc;
}

void gx_heard_fini(gx_heard *heard) {
    gale_value_owned_free(heard->owned);
    gx_client_reply_fini(&heard->reply);
    *heard = (gx_heard){ .owned = NULL, .reply = { .bytes = GX_BUF_INIT(NULL) } };
}

int gx_heard_exit(int code) {
    if (code == GALE_TIMED_OUT) return GX_EXIT_IO;
    if (code == GALE_STOPPED && gx_signals_ending()) return GX_EXIT_SIGNAL + gx_signals_ending();
    return code == GALE_STOPPED ? GX_EXIT_FAILED : gx_session_exit(code);
}

gale_value gx_heard_at(const gale_value *from, const char *names) {
    gale_value here = *from;
    gale_str rest = gx_str(names), name;
    while (gx_str_next(&rest, '.', &name)) {
        gale_value inner;
        if (here.type != GALE_TYPE_MAP || !gale_map_get(&here, name, &inner)) return gale_null();
        here = inner;
    }
    return here;
}

double gx_heard_number(const gale_value *from, const char *names, double otherwise) {
    gale_value value = gx_heard_at(from, names);
    if (value.type == GALE_TYPE_I64) return (double)value.as.i64;
    return value.type == GALE_TYPE_F64 ? value.as.f64 : otherwise;
}

uint64_t gx_heard_count(const gale_value *from, const char *names) {
    gale_value value = gx_heard_at(from, names);
    return value.type == GALE_TYPE_I64 && value.as.i64 > 0 ? (uint64_t)value.as.i64 : 0;
}

bool gx_heard_is(const gale_value *from, const char *names) {
    gale_value value = gx_heard_at(from, names);
    return value.type == GALE_TYPE_BOOL && value.as.boolean;
}

gale_str gx_heard_text(const gale_value *from, const char *names) {
    gale_value value = gx_heard_at(from, names);
    return value.type == GALE_TYPE_STRING ? (gale_str){ value.as.string, value.size } : (gale_str){ "", 0 };
}

size_t gx_heard_length(const gale_value *from, const char *names) {
    gale_value value = gx_heard_at(from, names);
    return value.type == GALE_TYPE_LIST ? value.size : 0;
}

gale_value gx_heard_item(const gale_value *from, const char *names, size_t index) {
    gale_value value = gx_heard_at(from, names);
    return value.type == GALE_TYPE_LIST && index < value.size ? gale_list_at(&value, index) : gale_null();
}
