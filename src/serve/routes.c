#include "serve/routes.h"

#include "serve/gale_about.h"
#include "serve/gale_change.h"
#include "serve/gale_deeds.h"
#include "serve/gale_letters.h"
#include "serve/gale_now.h"
#include "serve/gale_set.h"
#include "serve/gale_tap.h"
#include "serve/health_page.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/page.h"
#include "serve/shapes.h"
#include "serve/storm_cluster.h"
#include "serve/storm_component.h"
#include "serve/storm_deeds.h"
#include "serve/storm_shapes.h"
#include "serve/storm_topology.h"

#define GALE "/api/gale/v1/"
#define STORM "/api/v1/"
#define ONE STORM "topology/:id"

static const gx_route_parameter seconds[] = { { "seconds", "how far back, 1 to 600", true }, { 0 } };
static const gx_route_parameter max[] = { { "max", "how many at the most, 1 to 1000", true }, { 0 } };

static const gx_route_parameter tap[] = {
    { "component", "whose tuples", false },
    { "stream", "of it; all when it is left out", false },
    { "where", "an expression as gale.bolt.Filter has it: what it is true of is shown", false },
    { "rate", "tuples a second at the most, 1 to 10000; 10 when it is left out", true },
    { 0 }
};

static const gx_route_parameter version[] = { { "v", "any word: with one the browser may keep it", false }, { 0 } };
static const gx_route_parameter window[] = { { "window", "600, 10800, 86400 or :all-time", false },
                                             { "sys", "1: what begins with __, too", true },
                                             { 0 } };

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
    { GX_ROUTE_ASKS, GALE "tap", gx_gale_tap, "Tuples as they pass, a line of JSON each, until the run ends.",
      .type = "application/x-ndjson", .answer = GX_SHAPE_TAP, .parameters = tap },
    { GX_ROUTE_WAITS, GALE "open-trees", gx_gale_open_trees, "The oldest open trees, and where they are.",
      .answer = GX_SHAPE_OPEN_TREES, .parameters = max },
    { GX_ROUTE_WAITS, GALE "dead-letters", gx_gale_dead_letters, "The newest dead letters of the run's file.",
      .answer = GX_SHAPE_DEAD_LETTERS, .parameters = max },
    { GX_ROUTE_CHANGES, GALE "dead-letters/replay", gx_gale_replay,
      "Emits dead letters once more: all, or those of these ids.", .answer = "{replayed:i, unknown:[s]}",
      .body = "{ids:[s]}|{all:b}" },
    { GX_ROUTE_ASKS, GALE "checkpoints", gx_gale_checkpoints, "Figures of checkpoints; null without.",
      .answer = GX_SHAPE_CHECKPOINT },
    { GX_ROUTE_CHANGES, GALE "checkpoint", gx_gale_checkpoint, "Asks for a checkpoint now.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "activate", gx_gale_activate, "Spouts go on.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "deactivate", gx_gale_deactivate, "Spouts pause.", .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "drain", gx_gale_drain, "The run ends in order.", .always = true,
      .answer = GX_SHAPE_DONE },
    { GX_ROUTE_ASKS, GALE "end", gx_gale_end,
      "Waits for the end of the run: a line of JSON at once, another one with the exit code then.", .always = true,
      .type = "application/x-ndjson", .answer = "{ended:b, exit_code:i?}" },
    { GX_ROUTE_CHANGES, GALE "kill", gx_gale_kill, "The run ends at once.", .always = true, .answer = GX_SHAPE_DONE },
    { GX_ROUTE_CHANGES, GALE "set", gx_gale_set,
      "Sets a spout's bound of open trees or its rate, or which tuples a bolt's inputs drop, until the run ends or is "
      "changed.",
      .answer = GX_SHAPE_DONE, .body = GX_SHAPE_SET },
    { GX_ROUTE_CHANGES, GALE "reload", gx_gale_change, "Goes on with the topology file as it is by now.",
      .always = true, .answer = GX_SHAPE_CHANGE, .body = GX_SHAPE_WISH },
    { GX_ROUTE_ASKS, GALE "reload", gx_gale_changing, "How far the last reload or restart is.", .always = true,
      .answer = GX_SHAPE_CHANGING },
    { GX_ROUTE_CHANGES, GALE "restart", gx_gale_change, "The same, mostly with other numbers.", .always = true,
      .answer = GX_SHAPE_CHANGE, .body = GX_SHAPE_WISH },
    { GX_ROUTE_ASKS, GALE "log-level", gx_gale_log_level, "The level of the log.", .answer = "{level:s?}" },
    { GX_ROUTE_CHANGES, GALE "log-level", gx_gale_set_log_level, "Sets the level of the log.", .answer = GX_SHAPE_DONE,
      .body = "{level:s}" },
    { GX_ROUTE_ASKS, STORM "cluster/summary", gx_storm_cluster_summary, "Storm: the cluster, which is this machine.",
      .answer = GX_STORM_SHAPE_CLUSTER },
    { GX_ROUTE_ASKS, STORM "cluster/configuration", gx_storm_cluster_configuration, "Storm: all keys and their values.",
      .answer = "{*:?}" },
    { GX_ROUTE_ASKS, STORM "nimbus/summary", gx_storm_nimbus_summary, "Storm: its Nimbus, which is this process.",
      .answer = GX_STORM_SHAPE_NIMBUS },
    { GX_ROUTE_ASKS, STORM "supervisor/summary", gx_storm_supervisor_summary, "Storm: its one supervisor.",
      .answer = "{" GX_STORM_SHAPE_SUPERVISORS "}" },
    { GX_ROUTE_ASKS, STORM "supervisor", gx_storm_supervisor, "Storm: its one supervisor and its worker.",
      .answer = "{" GX_STORM_SHAPE_SUPERVISORS ", " GX_STORM_SHAPE_WORKERS "}" },
    { GX_ROUTE_ASKS, STORM "owner-resources", gx_storm_owner_resources, "Storm: who runs what.",
      .answer = GX_STORM_SHAPE_OWNERS },
    { GX_ROUTE_ASKS, STORM "history/summary", gx_storm_history_summary, "Storm: ids of topologies.",
      .answer = "{topo-history:[s]}" },
    { GX_ROUTE_ASKS, STORM "topology/summary", gx_storm_topology_summary, "Storm: all topologies, which is one.",
      .answer = "{topologies:[{" GX_STORM_SHAPE_SUMMARY "}], schedulerDisplayResource:b}" },
    { GX_ROUTE_ASKS, STORM "topology-workers/:id", gx_storm_topology_workers, "Storm: hosts and ports of its workers.",
      .answer = "{hostPortList:[{host:s, port:i}], logviewerPort:i}" },
    { GX_ROUTE_ASKS, ONE, gx_storm_topology, "Storm: a topology's page.", .answer = GX_STORM_SHAPE_TOPOLOGY,
      .parameters = window },
    { GX_ROUTE_ASKS, ONE "/metrics", gx_storm_topology_metrics, "Storm: figures by stream.",
      .answer = GX_STORM_SHAPE_METRICS, .parameters = window },
    { GX_ROUTE_ASKS, ONE "/lag", gx_storm_topology_lag,
      "Storm: how far behind its spouts are; sources here do not tell.", .answer = "{*:?}" },
    { GX_ROUTE_ASKS, ONE "/visualization-init", gx_storm_visualization_init, "Storm: the streams, to choose from.",
      .answer = "{visualizationTable:[[{stream:s, sani-stream:s, checked:b}]]}", .parameters = window },
    { GX_ROUTE_ASKS, ONE "/visualization", gx_storm_visualization, "Storm: the graph and its figures.",
      .answer = GX_STORM_SHAPE_VISUALIZATION, .parameters = window },
    { GX_ROUTE_ASKS, ONE "/component/:component", gx_storm_component_page,
      "Storm: a component's page; inputStats and boltStats of a bolt, spoutSummary of a spout.", .answer = "{*:?}",
      .parameters = window },
    { GX_ROUTE_ASKS, ONE "/logconfig", gx_storm_logconfig, "Storm: the level of the log.",
      .answer = GX_STORM_SHAPE_LOGCONFIG },
    { GX_ROUTE_CHANGES, ONE "/logconfig", gx_storm_set_logconfig, "Storm: sets the level of the log.",
      .answer = GX_STORM_SHAPE_LOGCONFIG, .body = "{namedLoggerLevels:{*:?}}" },
    { GX_ROUTE_CHANGES, ONE "/activate", gx_storm_activate, "Storm: spouts go on.", .answer = GX_STORM_SHAPE_DONE },
    { GX_ROUTE_CHANGES, ONE "/deactivate", gx_storm_deactivate, "Storm: spouts pause.", .answer = GX_STORM_SHAPE_DONE },
    { GX_ROUTE_CHANGES, ONE "/rebalance/:wait", gx_storm_rebalance, "Storm: refused, with what to do instead.",
      .answer = GX_STORM_SHAPE_DONE },
    { GX_ROUTE_CHANGES, ONE "/kill/:wait", gx_storm_kill, "Storm: finishes what is in flight and ends; with 0 at once.",
      .answer = GX_STORM_SHAPE_DONE },
    { GX_ROUTE_CHANGES, ONE "/debug/:enable/:percent", gx_storm_debug, "Storm: tuples of all components go to the log.",
      .answer = GX_STORM_SHAPE_DONE },
    { GX_ROUTE_CHANGES, ONE "/component/:component/debug/:enable/:percent", gx_storm_component_debug,
      "Storm: tuples of a component go to the log.", .answer = GX_STORM_SHAPE_DONE },
    { GX_ROUTE_CHANGES, ONE "/profiling/:action/:worker", gx_storm_profiling, "Storm: refused: there is no JVM.",
      .answer = GX_STORM_SHAPE_DONE },
    { GX_ROUTE_CHANGES, ONE "/profiling/:action/:worker/:timeout", gx_storm_profiling,
      "Storm: refused: there is no JVM.", .answer = GX_STORM_SHAPE_DONE },
};

const size_t gx_route_count = sizeof gx_routes / sizeof *gx_routes;

/* Does the target's path fit? Each segment of the pattern is compared with one of the target's. */
static bool fits(const char *path, const gx_target *target, gale_str names[GX_CALL_NAMES]) {
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

const gx_route *gx_routes_find(const gx_target *target, bool changes, gale_str names[GX_CALL_NAMES],
                               const char **ret_allow) {
    *ret_allow = NULL;
    for (size_t i = 0; i < gx_route_count; i++) {
        const gx_route *route = &gx_routes[i];
        if (!fits(route->path, target, names)) continue;
        if ((route->kind == GX_ROUTE_CHANGES) == changes) return route;
        *ret_allow = changes ? "GET, HEAD" : "POST";
    }
    return NULL;
}
