#include "serve/routes.h"

#include "serve/gale_about.h"
#include "serve/gale_deeds.h"
#include "serve/gale_now.h"
#include "serve/health_page.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/page.h"
#include "serve/shapes.h"

#define GALE "/api/gale/v1/"

static const gx_route_parameter seconds[] = { { "seconds", "how far back, 1 to 600", true }, { 0 } };
static const gx_route_parameter max[] = { { "max", "how many at the most, 1 to 1000", true }, { 0 } };

static const gx_route_parameter version[] = { { "v", "any word: with one the browser may keep it", false }, { 0 } };

static void serve_openapi(const gx_call *call, gx_http_reply *reply) {
    gx_json json = gx_call_json(reply);
    (void)call;
    gx_openapi_write(&json, gx_routes, gx_route_count);
}

const gx_route gx_routes[] = {
    { GX_ROUTE_OPEN, "/", gx_page_index, "The page.", .type = "text/html" },
    { GX_ROUTE_ASKS, "/page.js", gx_page_script, "What the page does.", .type = "text/javascript",
      .parameters = version },
    { GX_ROUTE_ASKS, "/page.css", gx_page_style, "What it looks like.", .type = "text/css", .parameters = version },
    { GX_ROUTE_OPEN, "/healthz", gx_health_healthz, "200 when nothing is wrong, else 503, and what is.",
      .answer = GX_SHAPE_HEALTH },
    { GX_ROUTE_OPEN, "/readyz", gx_health_readyz, "200 when all is open and well, and takes work; else 503, and why.",
      .answer = GX_SHAPE_HEALTH },
    { GX_ROUTE_OPEN, "/livez", gx_health_livez, "200 while it moves; 503 when to start it anew may help.",
      .answer = GX_SHAPE_HEALTH },
    { GX_ROUTE_ASKS, "/metrics", gx_metrics_serve, "All figures for Prometheus, or as OpenMetrics (Accept).",
      .type = "text/plain" },
    { GX_ROUTE_ASKS, "/openapi.json", serve_openapi, "This description.", .answer = "{*:?}" },
    { GX_ROUTE_ASKS, GALE "topology", gx_gale_topology, "Components, edges, configuration, drawing.",
      .answer = GX_SHAPE_TOPOLOGY },
    { GX_ROUTE_ASKS, GALE "now", gx_gale_now, "All figures, what hurts, and health.", .answer = GX_SHAPE_NOW },
    { GX_ROUTE_ASKS, GALE "history", gx_gale_history, "A sample a second of the last ten minutes.",
      .answer = GX_SHAPE_HISTORY, .parameters = seconds },
    { GX_ROUTE_WAITS, GALE "open-trees", gx_gale_open_trees, "The oldest open trees, and where they are.",
      .answer = GX_SHAPE_OPEN_TREES, .parameters = max },
    { GX_ROUTE_ASKS, GALE "checkpoints", gx_gale_checkpoints, "Figures of checkpoints; null without.",
      .answer = GX_SHAPE_CHECKPOINT },
    { GX_ROUTE_CHANGES, GALE "checkpoint", gx_gale_checkpoint, "Asks for a checkpoint now.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "activate", gx_gale_activate, "Spouts go on.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "deactivate", gx_gale_deactivate, "Spouts pause.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "drain", gx_gale_drain, "The run ends in order.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "kill", gx_gale_kill, "The run ends at once.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_ASKS, GALE "log-level", gx_gale_log_level, "The level of the log.", .answer = "{level:s?}" },
    { GX_ROUTE_CHANGES, GALE "log-level", gx_gale_set_log_level, "Sets the level of the log.", .answer = GX_SHAPE_DONE,
      .body = "{level:s}" },
};

const size_t gx_route_count = sizeof gx_routes / sizeof *gx_routes;

/* Does the target's path fit? Each segment of the pattern is compared with one of the target's. */
static bool fits(const char *path, const gx_target *target, gale_str names[3]) {
    gale_str rest = gx_str(path + 1), piece;
    uint32_t segment = 0, name = 0;
    if (!rest.size) return target->segment_count == 0;
    for (; gx_str_next(&rest, '/', &piece); segment++) {
        if (segment == target->segment_count) return false;
        if (*piece.data == ':')
            names[name++] = target->segments[segment];
        else if (!gx_str_equal(piece, target->segments[segment]))
            return false;
    }
    return segment == target->segment_count;
}

const gx_route *gx_routes_find(const gx_target *target, bool changes, gale_str names[3], const char **ret_allow) {
    *ret_allow = NULL;
    for (size_t i = 0; i < gx_route_count; i++) {
        const gx_route *route = &gx_routes[i];
        if (!fits(route->path, target, names)) continue;
        if ((route->kind == GX_ROUTE_CHANGES) == changes) return route;
        *ret_allow = changes ? "GET, HEAD" : "POST";
    }
    return NULL;
}
