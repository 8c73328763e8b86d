#include "serve/storm_cluster.h"

#include "base/os/cpu.h"
#include "serve/member.h"
#include "serve/redact.h"
#include "serve/storm_words.h"
#include "topology/config.h"
#include "tuple/json.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

static const double mebibyte = 1024 * 1024;

/* The version of Storm whose REST this is. */
static const char storm_version[] = "2.8.3";

/* --- What there is of everything ----------------------------------------------------------------------------------------- */

static void user_member(gx_json *json, const char *key) {
    struct passwd entry, *found = NULL;
    char room[2048];
    getpwuid_r(geteuid(), &entry, room, sizeof room, &found);
    gx_member_text(json, key, found ? found->pw_name : "");
}

static double total_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size / mebibyte : 0;
}

static double total_cpu(void) {
    return 100.0 * gx_os_cpu_count();
}

static double used_memory(const gx_storm_view *view) {
    return (double)view->now->run.memory_reserved / mebibyte;
}

/* An executor's thread may take a core. */
static double used_cpu(const gx_storm_view *view) {
    return 100.0 * gale_runtime_executor_count(view->served->runtime);
}

static double left(double total, double used) {
    return total > used ? total - used : 0;
}

static double percent(double used, double total) {
    return total > 0 ? 100 * used / total : 0;
}

static uint64_t task_count(const gx_storm_view *view) {
    return view->served->parts.task_count;
}

static void uptime_members(gx_json *json, const gx_storm_view *view) {
    char text[GX_STORM_WORD];
    gx_member_text(json, "uptime", gx_storm_uptime(view->uptime, text));
    gx_member_count(json, "uptimeSeconds", (uint64_t)view->uptime);
}

/* --- The cluster ------------------------------------------------------------------------------------------------------------ */

static void resource_members(gx_json *json, const gx_storm_view *view) {
    gx_member_number(json, "totalMem", total_memory());
    gx_member_number(json, "totalCpu", total_cpu());
    gx_member_number(json, "availMem", left(total_memory(), used_memory(view)));
    gx_member_number(json, "availCpu", left(total_cpu(), used_cpu(view)));
}

void gx_storm_cluster_summary(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, false, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    user_member(&json, "user");
    gx_member_text(&json, "stormVersion", storm_version);
    gx_member_count(&json, "supervisors", 1);
    gx_member_count(&json, "topologies", 1);
    gx_member_count(&json, "slotsTotal", 1);
    gx_member_count(&json, "slotsUsed", 1);
    gx_member_count(&json, "slotsFree", 0);
    gx_member_count(&json, "executorsTotal", task_count(&view));
    gx_member_count(&json, "tasksTotal", task_count(&view));
    resource_members(&json, &view);
    gx_member_number(&json, "fragmentedMem", 0);
    gx_member_number(&json, "fragmentedCpu", 0);
    gx_storm_decimal(&json, "memAssignedPercentUtil", percent(used_memory(&view), total_memory()));
    gx_storm_decimal(&json, "cpuAssignedPercentUtil", percent(used_cpu(&view), total_cpu()));
    gx_member_bool(&json, "schedulerDisplayResource", false);
    gx_json_close(&json, '}');
    gx_storm_close(&view);
}

void gx_storm_configuration(gx_json *json, const gx_served *served) {
    const gale_config *config = gale_topology_config(served->topology);
    gale_str key;
    gale_value value;
    size_t count;
    const gx_key *keys = gx_config_keys(&count);
    gx_json_open(json, '{');
    for (size_t i = 0; gale_config_at(config, i, &key, &value); i++) gx_redact_member(json, config, key, &value);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].class_ == GX_KEY_REFUSED || gale_config_get(config, keys[i].name, &value)) continue;
        value = gx_config_scalar(gx_str(keys[i].default_text));
        gx_json_key(json, gx_str(keys[i].name));
        gx_redact_value(json, gx_str(keys[i].name), &value);
    }
    gx_json_close(json, '}');
}

void gx_storm_cluster_configuration(const gx_call *call, gx_http_reply *reply) {
    gx_json json = gx_call_json(reply);
    gx_storm_configuration(&json, call->served);
}

void gx_storm_nimbus_summary(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    char text[GX_STORM_WORD];
    if (!gx_storm_open(call, false, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_open(&json, "nimbuses", '[');
    gx_json_open(&json, '{');
    gx_member_text(&json, "host", view.host);
    gx_member_count(&json, "port", call->served->port);
    gx_member_text(&json, "status", "Leader");
    gx_member_text(&json, "version", storm_version);
    gx_member_text(&json, "nimbusUpTime", gx_storm_uptime(view.uptime, text));
    snprintf(text, sizeof text, "%lld", (long long)view.uptime);
    gx_member_text(&json, "nimbusUpTimeSeconds", text);
    gx_member_text(&json, "nimbusLogLink", "");
    gx_json_close(&json, '}');
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    gx_storm_close(&view);
}

/* --- The supervisor --------------------------------------------------------------------------------------------------------- */

static void supervisor_json(gx_json *json, const gx_storm_view *view) {
    gx_json_open(json, '{');
    gx_member_text(json, "id", view->host);
    gx_member_text(json, "host", view->host);
    uptime_members(json, view);
    gx_member_count(json, "slotsTotal", 1);
    gx_member_count(json, "slotsUsed", 1);
    gx_member_count(json, "slotsFree", 0);
    resource_members(json, view);
    gx_member_number(json, "usedMem", used_memory(view));
    gx_member_number(json, "usedCpu", used_cpu(view));
    gx_member_text(json, "logLink", "");
    gx_member_text(json, "version", storm_version);
    gx_member_bool(json, "blacklisted", false);
    gx_json_close(json, '}');
}

static void logviewer_members(gx_json *json) {
    gx_member_bool(json, "schedulerDisplayResource", false);
    gx_member_count(json, "logviewerPort", 0);
    gx_member_text(json, "logviewerScheme", "http");
}

void gx_storm_supervisor_summary(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, false, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_open(&json, "supervisors", '[');
    supervisor_json(&json, &view);
    gx_json_close(&json, ']');
    logviewer_members(&json);
    gx_json_close(&json, '}');
    gx_storm_close(&view);
}

void gx_storm_worker_json(gx_json *json, const gx_storm_view *view) {
    const gx_parts *parts = &view->served->parts;
    gx_json_open(json, '{');
    gx_member_text(json, "supervisorId", view->host);
    gx_member_text(json, "host", view->host);
    gx_member_count(json, "port", view->served->port);
    gx_member_text(json, "topologyId", view->id);
    gx_member_text(json, "topologyName", gale_topology_name(view->served->topology));
    gx_member_count(json, "executorsTotal", task_count(view));
    gx_member_number(json, "assignedMemOnHeap", used_memory(view));
    gx_member_number(json, "assignedMemOffHeap", 0);
    gx_member_number(json, "assignedCpu", used_cpu(view));
    gx_member_open(json, "componentNumTasks", '{');
    for (uint32_t i = 0; i < parts->count; i++)
        if (gx_storm_shows(view, parts->parts[i].name))
            gx_member_count(json, parts->parts[i].name, parts->parts[i].task_count);
    gx_json_close(json, '}');
    uptime_members(json, view);
    gx_member_text(json, "workerLogLink", "");
    user_member(json, "owner");
    gx_json_close(json, '}');
}

/* Whatever id or host is asked for: there is one. */
void gx_storm_supervisor(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, false, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_open(&json, "supervisors", '[');
    supervisor_json(&json, &view);
    gx_json_close(&json, ']');
    gx_member_open(&json, "workers", '[');
    gx_storm_worker_json(&json, &view);
    gx_json_close(&json, ']');
    logviewer_members(&json);
    gx_json_close(&json, '}');
    gx_storm_close(&view);
}

/* --- Owners, history ---------------------------------------------------------------------------------------------------------- */

void gx_storm_owner_resources(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    static const char *const none[] = { "memoryGuarantee", "cpuGuarantee", "memoryGuaranteeRemaining",
                                        "cpuGuaranteeRemaining" };
    if (!gx_storm_open(call, false, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_open(&json, "owners", '[');
    gx_json_open(&json, '{');
    user_member(&json, "owner");
    gx_member_count(&json, "totalTopologies", 1);
    gx_member_count(&json, "totalExecutors", task_count(&view));
    gx_member_count(&json, "totalWorkers", 1);
    gx_member_count(&json, "totalTasks", task_count(&view));
    gx_member_number(&json, "totalMemoryUsage", used_memory(&view));
    gx_member_number(&json, "totalCpuUsage", used_cpu(&view));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) gx_member_text(&json, none[i], "N/A");
    gx_member_text(&json, "isolatedNodes", "N/A");
    gx_member_number(&json, "totalReqOnHeapMem", 0);
    gx_member_number(&json, "totalReqOffHeapMem", 0);
    gx_member_number(&json, "totalReqMem", 0);
    gx_member_number(&json, "totalReqCpu", 0);
    gx_member_number(&json, "totalAssignedOnHeapMem", used_memory(&view));
    gx_member_number(&json, "totalAssignedOffHeapMem", 0);
    gx_json_close(&json, '}');
    gx_json_close(&json, ']');
    gx_member_bool(&json, "schedulerDisplayResource", false);
    gx_json_close(&json, '}');
    gx_storm_close(&view);
}

void gx_storm_history_summary(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, false, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_open(&json, "topo-history", '[');
    gx_json_string(&json, gx_str(view.id));
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    gx_storm_close(&view);
}

/* --- Topologies --------------------------------------------------------------------------------------------------------------- */

static void memory_members(gx_json *json, const gx_storm_view *view) {
    gx_member_number(json, "requestedMemOnHeap", 0);
    gx_member_number(json, "requestedMemOffHeap", 0);
    gx_member_number(json, "requestedTotalMem", 0);
    gx_member_number(json, "requestedCpu", 0);
    gx_member_number(json, "assignedMemOnHeap", used_memory(view));
    gx_member_number(json, "assignedMemOffHeap", 0);
    gx_member_number(json, "assignedTotalMem", used_memory(view));
    gx_member_number(json, "assignedCpu", used_cpu(view));
}

void gx_storm_summary_members(gx_json *json, const gx_storm_view *view) {
    gx_member_text(json, "id", view->id);
    gx_storm_encoded(json, "encodedId", view->id);
    user_member(json, "owner");
    gx_member_text(json, "name", gale_topology_name(view->served->topology));
    gx_member_text(json, "status", gx_storm_status(view));
    uptime_members(json, view);
    gx_member_count(json, "tasksTotal", task_count(view));
    gx_member_count(json, "workersTotal", 1);
    gx_member_count(json, "executorsTotal", task_count(view));
    gx_member_count(json, "replicationCount", 1);
    gx_member_null(json, "schedulerInfo");
    memory_members(json, view);
    gx_member_null(json, "topologyVersion");
    gx_member_text(json, "stormVersion", storm_version);
}

void gx_storm_topology_summary(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    if (!gx_storm_open(call, false, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_open(&json, "topologies", '[');
    gx_json_open(&json, '{');
    gx_storm_summary_members(&json, &view);
    gx_json_close(&json, '}');
    gx_json_close(&json, ']');
    gx_member_bool(&json, "schedulerDisplayResource", false);
    gx_json_close(&json, '}');
    gx_storm_close(&view);
}
