#include "serve/routes.h"

#include "serve/gale_about.h"
#include "serve/gale_deeds.h"
#include "serve/gale_now.h"
#include "serve/health_page.h"
#include "serve/page.h"

const gx_route gx_routes[] = {
    { GX_ROUTE_OPEN, "/", gx_page_index, "The page." },
    { GX_ROUTE_OPEN, "/healthz", gx_health_healthz, "200 when nothing is wrong, else 503, and what is." },
    { GX_ROUTE_OPEN, "/readyz", gx_health_readyz, "200 when all is open and well, and takes work; else 503, and why." },
    { GX_ROUTE_OPEN, "/livez", gx_health_livez, "200 while it moves; 503 when to start it anew may help." },
    { GX_ROUTE_ASKS, "/api/gale/v1/topology", gx_gale_topology, "Components, edges, configuration, drawing." },
    { GX_ROUTE_ASKS, "/api/gale/v1/now", gx_gale_now, "All figures, what hurts, and health." },
    { GX_ROUTE_ASKS, "/api/gale/v1/history", gx_gale_history, "A sample a second of the last ten minutes." },
    { GX_ROUTE_WAITS, "/api/gale/v1/open-trees", gx_gale_open_trees, "The oldest open trees, and where they are." },
    { GX_ROUTE_ASKS, "/api/gale/v1/checkpoints", gx_gale_checkpoints, "Figures of checkpoints; null without." },
    { GX_ROUTE_CHANGES, "/api/gale/v1/checkpoint", gx_gale_checkpoint, "Asks for a checkpoint now." },
    { GX_ROUTE_CHANGES, "/api/gale/v1/activate", gx_gale_activate, "Spouts go on." },
    { GX_ROUTE_CHANGES, "/api/gale/v1/deactivate", gx_gale_deactivate, "Spouts pause." },
    { GX_ROUTE_CHANGES, "/api/gale/v1/drain", gx_gale_drain, "The run ends in order." },
    { GX_ROUTE_CHANGES, "/api/gale/v1/kill", gx_gale_kill, "The run ends at once." },
    { GX_ROUTE_ASKS, "/api/gale/v1/log-level", gx_gale_log_level, "The level of the log." },
    { GX_ROUTE_CHANGES, "/api/gale/v1/log-level", gx_gale_set_log_level, "Sets it: {\"level\": \"debug\"}." },
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
