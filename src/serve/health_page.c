#include "serve/health_page.h"

#include "serve/gale_now.h"
#include "serve/healthy.h"

static bool look(const gx_call *call, gx_http_reply *reply, gx_healthy *ret_healthy) {
    gx_snapshot *now = gx_snapshot_take(&call->served->parts, call->served->runtime);
    if (!now) return gx_call_refuse(reply, 503, "out of memory"), false;
    gx_healthy_look(&call->served->parts, now, gx_served_checkpoint_interval(call->served),
                    gx_load_relaxed(&call->served->inactive), ret_healthy);
    gx_snapshot_free(now);
    return true;
}

static void tell(const gx_call *call, gx_http_reply *reply, const gx_healthy *healthy, bool good) {
    reply->status = good ? 200 : 503;
    if (!call->known) {
        gx_buf_add_text(&reply->body, good ? "ok\n" : "not ok\n");
        return;
    }
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_gale_health_members(&json, healthy);
    gx_json_close(&json, '}');
    gx_buf_add_byte(&reply->body, '\n');
}

void gx_health_healthz(const gx_call *call, gx_http_reply *reply) {
    gx_healthy healthy;
    if (look(call, reply, &healthy)) tell(call, reply, &healthy, healthy.well);
}

void gx_health_readyz(const gx_call *call, gx_http_reply *reply) {
    gx_healthy healthy;
    if (look(call, reply, &healthy)) tell(call, reply, &healthy, healthy.ready);
}

void gx_health_livez(const gx_call *call, gx_http_reply *reply) {
    gx_healthy healthy;
    if (look(call, reply, &healthy)) tell(call, reply, &healthy, healthy.live);
}
