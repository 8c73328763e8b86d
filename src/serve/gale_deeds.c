#include "serve/gale_deeds.h"

#include "serve/enders.h"
#include "serve/member.h"

void gx_deed_activate(gx_served *served, bool active) {
    gx_store_relaxed(&served->inactive, !active);
    (active ? gale_runtime_activate : gale_runtime_deactivate)(served->runtime);
}

void gx_deed_end(const gx_served *served, bool now) {
    served->deeds.end(served->deeds.ending, now);
}

void gx_gale_activate(const gx_call *call, gx_http_reply *reply) {
    gx_deed_activate(call->served, true);
    gx_call_done(reply, "activate");
}

void gx_gale_deactivate(const gx_call *call, gx_http_reply *reply) {
    gx_deed_activate(call->served, false);
    gx_call_done(reply, "deactivate");
}

void gx_gale_drain(const gx_call *call, gx_http_reply *reply) {
    gx_deed_end(call->served, false);
    gx_call_done(reply, "drain");
}

void gx_gale_kill(const gx_call *call, gx_http_reply *reply) {
    gx_deed_end(call->served, true);
    gx_call_done(reply, "kill");
}

void gx_gale_end(const gx_call *call, gx_http_reply *reply) {
    gale_error error = GALE_ERROR_INIT;
    reply->type = "application/x-ndjson";
    if (gx_enders_begin(call->served->enders, &reply->flow, &error) < 0) gx_call_refuse(reply, 503, "%s", error.text);
}

/* It is asked for, and not waited for: /checkpoints tells when it lasts. */
void gx_gale_checkpoint(const gx_call *call, gx_http_reply *reply) {
    gale_checkpoint_stats stats = { .size = sizeof stats };
    if (!gale_runtime_checkpoint_stats(call->served->runtime, &stats)) {
        gx_call_refuse(reply, 409, "the run is not durable, and makes no checkpoints: gale run --state DIR");
        return;
    }
    int rc = gale_runtime_checkpoint(call->served->runtime, 0, NULL);
    if (rc < 0 && rc != GALE_TIMED_OUT) {
        gx_call_refuse(reply, 409, "no checkpoint is made: %s", gale_error_text(rc));
        return;
    }
    reply->status = 202;
    gx_call_done(reply, "checkpoint");
}

void gx_gale_log_level(const gx_call *call, gx_http_reply *reply) {
    const gx_deeds *deeds = &call->served->deeds;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_text(&json, "level", deeds->log_level ? deeds->log_level(deeds->log) : NULL);
    gx_json_close(&json, '}');
}

void gx_gale_set_log_level(const gx_call *call, gx_http_reply *reply) {
    const gx_deeds *deeds = &call->served->deeds;
    char level[32];
    if (!gx_call_text(call, reply, "level", level, sizeof level)) return;
    if (!deeds->set_log_level)
        gx_call_refuse(reply, 409, "this run's log has one level");
    else if (!deeds->set_log_level(deeds->log, gx_str(level)))
        gx_call_refuse(reply, 400, "level must be trace, debug, info, warn, error or off");
    else
        gx_call_done(reply, "log-level");
}
