#include "serve/gale_tap.h"

#include "base/nearest.h"
#include "base/visible.h"
#include "serve/tappers.h"

enum { HINT = 200, NAME = 200 };

/* --- Names ----------------------------------------------------------------------------------------------------------- */

static bool find_part(const gx_call *call, gx_http_reply *reply, const gx_part **ret_part) {
    gale_str name = gx_target_query(call->target, "component");
    const gx_parts *parts = &call->served->parts;
    gx_nearest nearest = gx_nearest_to(name);
    char hint[HINT];
    if (!name.size) return gx_call_refuse(reply, 400, "component= is missing: whose tuples?"), false;
    *ret_part = gx_parts_find(parts, name);
    if (*ret_part && (*ret_part)->stream_count) return true;
    if (*ret_part && (*ret_part)->built)
        return gx_call_refuse(reply, 404, "component '%.*s' emits nothing: it has no outputs", GX_STR(name)), false;
    for (uint32_t i = 0; i < parts->count; i++)
        if (parts->parts[i].stream_count) gx_nearest_offer(&nearest, gx_str(parts->parts[i].name));
    gx_call_refuse(reply, 404, "there is no component '%.*s'%s", (int)(name.size < NAME ? name.size : NAME), name.data,
                   gx_nearest_hint(&nearest, hint, sizeof hint));
    return false;
}

/* None is asked for: NULL. */
static bool find_stream(const gx_call *call, gx_http_reply *reply, const gx_part *part, const char **ret_stream) {
    gale_str name = gx_target_query(call->target, "stream");
    gx_nearest nearest = gx_nearest_to(name);
    char hint[HINT];
    *ret_stream = NULL;
    if (!name.size) return true;
    for (uint32_t i = 0; i < part->stream_count; i++) {
        gx_nearest_offer(&nearest, gx_str(gx_part_stream(part, i)));
        if (gx_str_is(name, gx_part_stream(part, i))) return *ret_stream = gx_part_stream(part, i), true;
    }
    gx_call_refuse(reply, 404, "component '%s' has no stream '%.*s'%s", part->name,
                   (int)(name.size < NAME ? name.size : NAME), name.data, gx_nearest_hint(&nearest, hint, sizeof hint));
    return false;
}

/* --- The tap --------------------------------------------------------------------------------------------------------- */

static unsigned status_of(int rc) {
    return rc == GALE_SYNTAX || rc == GALE_TOO_LARGE ? 400 : rc == GALE_UNSUPPORTED ? 501 : 503;
}

void gx_gale_tap(const gx_call *call, gx_http_reply *reply) {
    gx_tapper_options options = { .where = gx_target_query(call->target, "where") };
    gale_error error = GALE_ERROR_INIT;
    char why[GALE_ERROR_TEXT];
    uint64_t rate;
    if (!find_part(call, reply, &options.part) || !find_stream(call, reply, options.part, &options.stream) ||
        !gx_call_number(call, reply, "rate", GX_TAPPERS_RATE, 1, GX_TAPPERS_RATE_MAX, &rate))
        return;
    options.rate = (uint32_t)rate;
    int rc = gx_tappers_begin(call->served->tappers, &options, &reply->flow, &error);
    reply->type = "application/x-ndjson";
    if (rc < 0) gx_call_refuse(reply, status_of(rc), "%s", gx_visible_copy(why, sizeof why, error.text));
}
