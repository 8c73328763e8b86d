/* Tuples to streams by condition: gale_route_bolt. */
#include "script/shaper.h"

#include <gale/state.h>

/* Stream 0 is the default one, which takes what no other has. */
static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gx_shaper *shaper = self;
    gale_value is;
    bool taken = false;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_shaper_take(shaper, tuple, out);
    for (uint32_t i = 0; rc >= 0 && i < shaper->given->count && (shaper->given->all || !taken); i++) {
        rc = gx_shaper_run(shaper, i, out, &is);
        if (rc < 0 || !gx_expression_is_true(&is)) continue;
        taken = true;
        rc = gx_shaper_emit(shaper, i + 1, tuple, out, NULL, 0);
    }
    return rc < 0 || taken ? rc : gx_shaper_emit(shaper, 0, tuple, out, NULL, 0);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "route bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = gx_shaper_prepare,
    .execute = bolt_execute,
    .cleanup = gx_shaper_cleanup,
    .durable = &gale_stateless,
};

static int make(gx_shaper_settings *settings, const void *options, gale_error *error) {
    const gale_route_options *given = options;
    if (!given->route_count || !given->routes) return gale_error_set(error, GALE_INVALID, "route: there are no routes");
    settings->all = given->all;
    gx_shaper_pass(settings);
    int rc = gx_shaper_output(settings, NULL, given->fields, error);
    for (size_t i = 0; i < given->route_count && rc >= 0; i++) {
        const gale_route *route = &given->routes[i];
        if (!route->stream || !*route->stream)
            return gale_error_set(error, GALE_INVALID, "route: route %zu names no stream", i + 1);
        rc = gx_shaper_add(settings, "to", route->stream, route->where, error);
        if (rc >= 0) rc = gx_shaper_output(settings, route->stream, given->fields, error);
    }
    return rc;
}

int gale_route_bolt(const gale_route_options *options, gale_bolt *ret_bolt, gale_error *error) {
    static const gx_shaper_kind kind = GX_SHAPER_KIND("route", gale_route_options, &ops, make);
    return gx_shaper_bolt(&kind, options, ret_bolt, error);
}
