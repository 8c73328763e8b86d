#include "serve/storm_deeds.h"

#include "base/number.h"
#include "serve/debug.h"
#include "serve/gale_deeds.h"
#include "serve/member.h"
#include "serve/storm_view.h"

#include <ctype.h>
#include <gale/json.h>
#include <stdio.h>

/* What all answer that did it; closes the view. */
static void succeed(gx_http_reply *reply, gx_storm_view *view, const char *operation) {
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_text(&json, "topologyOperation", operation);
    gx_member_text(&json, "topologyId", view->id);
    gx_member_text(&json, "status", "success");
    gx_json_close(&json, '}');
    gx_storm_close(view);
}

void gx_storm_activate(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, true, reply, &view)) return;
    gx_deed_activate(call->served, true);
    succeed(reply, &view, "activate");
}

void gx_storm_deactivate(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, true, reply, &view)) return;
    gx_deed_activate(call->served, false);
    succeed(reply, &view, "deactivate");
}

void gx_storm_rebalance(const gx_call *call, gx_http_reply *reply) {
    (void)call;
    gx_storm_refuse(reply, 409, "Conflict",
                    "a running topology keeps its tasks and executors: gale restart --set COMPONENT.parallelism=N "
                    "begins it anew with others");
}

void gx_storm_profiling(const gx_call *call, gx_http_reply *reply) {
    (void)call;
    gx_storm_refuse(reply, 409, "Conflict",
                    "there is no JVM to profile here: perf record -p PID shows where time goes");
}

void gx_storm_kill(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    uint64_t wait;
    if (!gx_str_number(call->names[1], 10, 86400, &wait)) {
        gx_storm_refuse(reply, 400, "Bad Request", "the wait must be a number of seconds");
        return;
    }
    if (!gx_storm_open(call, true, reply, &view)) return;
    gx_deed_end(call->served, !wait);
    succeed(reply, &view, "kill");
}

/* --- Debug ------------------------------------------------------------------------------------------------------------ */

/* "enable" and a percentage, "disable" and anything. */
static bool read_debug(gale_str word, gale_str percent, gx_http_reply *reply, double *ret_percent) {
    bool on = gx_str_is(word, "enable");
    *ret_percent = 0;
    if ((on && gx_number_read(percent, ret_percent) && *ret_percent > 0 && *ret_percent <= 100) ||
        gx_str_is(word, "disable"))
        return true;
    gx_storm_refuse(reply, 400, "Bad Request", "debug/enable/PERCENT, above 0 and at most 100, or debug/disable/0");
    return false;
}

static void debug(const gx_call *call, gx_http_reply *reply, const gx_part *part, double percent) {
    gx_storm_view view;
    if (!gx_storm_open(call, true, reply, &view)) return;
    if (gx_debug_set(call->served->debug, part, percent) >= 0) {
        succeed(reply, &view, percent > 0 ? "debug/enable" : "debug/disable");
        return;
    }
    gx_storm_close(&view);
    gx_storm_refuse(reply, 503, "Service Unavailable", "the tuples cannot be logged: out of memory, or of threads");
}

void gx_storm_debug(const gx_call *call, gx_http_reply *reply) {
    double percent;
    if (read_debug(call->names[1], call->names[2], reply, &percent)) debug(call, reply, NULL, percent);
}

void gx_storm_component_debug(const gx_call *call, gx_http_reply *reply) {
    const gx_part *part = gx_parts_find(&call->served->parts, call->names[1]);
    double percent;
    if (!part || !part->built)
        gx_storm_refuse(reply, 404, "Not Found", "the topology has no component of this name");
    else if (read_debug(call->names[2], call->names[3], reply, &percent))
        debug(call, reply, part, percent);
}

/* --- Log levels ------------------------------------------------------------------------------------------------------- */

static void write_logconfig(const gx_served *served, gx_http_reply *reply) {
    const gx_deeds *deeds = &served->deeds;
    const char *level = deeds->log_level ? deeds->log_level(deeds->log) : "info";
    char upper[16] = "";
    for (size_t i = 0; level[i] && i + 1 < sizeof upper; i++) upper[i] = (char)toupper((unsigned char)level[i]);
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_open(&json, "namedLoggerLevels", '{');
    gx_member_open(&json, "ROOT", '{');
    gx_member_text(&json, "target_level", upper);
    gx_member_text(&json, "reset_level", upper);
    gx_member_count(&json, "timeout", 0);
    gx_member_null(&json, "timeout_epoch");
    gx_json_close(&json, '}');
    gx_json_close(&json, '}');
    gx_json_close(&json, '}');
}

void gx_storm_logconfig(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, true, reply, &view)) return;
    gx_storm_close(&view);
    write_logconfig(call->served, reply);
}

/* The level of the first logger that is named: gale has one. */
static bool read_level(gale_str body, char level[16]) {
    char text[16];
    gale_str json, loggers, value;
    if (gale_json_check(body, &json, NULL) < 0 || !gale_json_get(json, "namedLoggerLevels", &loggers)) return false;
    gale_json_item first = GALE_JSON_FIRST(loggers);
    bool is_text = gale_json_next(&first) && gale_json_get(first.value, "target_level", &value) &&
                   gale_json_kind_of(value) == GALE_JSON_STRING;
    int64_t size = is_text ? gale_json_text(value, text, sizeof text) : -1;
    if (size < 0 || size >= 16) return false;
    for (int64_t i = 0; i <= size; i++) level[i] = (char)tolower((unsigned char)text[i]);
    return true;
}

void gx_storm_set_logconfig(const gx_call *call, gx_http_reply *reply) {
    const gx_deeds *deeds = &call->served->deeds;
    gx_storm_view view;
    char level[16];
    if (!gx_storm_open(call, true, reply, &view)) return;
    gx_storm_close(&view);
    if (!read_level(call->body, level))
        gx_storm_refuse(reply, 400, "Bad Request",
                        "the body must be {\"namedLoggerLevels\": {NAME: {\"target_level\": LEVEL}}}");
    else if (!deeds->set_log_level)
        gx_storm_refuse(reply, 409, "Conflict", "this run's log has one level");
    else if (!deeds->set_log_level(deeds->log, gx_str(level)))
        gx_storm_refuse(reply, 400, "Bad Request", "target_level must be TRACE, DEBUG, INFO, WARN, ERROR or OFF");
    else
        write_logconfig(call->served, reply);
}
