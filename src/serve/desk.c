#include "serve/desk.h"

#include <stdio.h>

/* --- Errands --------------------------------------------------------------------------------------------------------- */

bool gx_errands_init(gx_errands *errands) {
    errands->count = 0;
    errands->closed = false;
    return gx_monitor_init(&errands->monitor);
}

void gx_errands_fini(gx_errands *errands) {
    gx_monitor_fini(&errands->monitor);
}

/* Held before anybody else can know of it. */
static bool put(gx_errands *errands, const gx_errand *errand) {
    gx_monitor_lock(&errands->monitor);
    bool fits = !errands->closed && errands->count < GX_DESK_ERRANDS;
    if (fits) {
        gx_http_hold(errand->request);
        errands->list[errands->count++] = *errand;
        gx_monitor_notify(&errands->monitor);
    }
    gx_monitor_unlock(&errands->monitor);
    return fits;
}

/* The oldest. */
static gx_errand take(gx_errands *errands) {
    gx_errand first = errands->list[0];
    errands->count--;
    for (uint32_t i = 0; i < errands->count; i++) errands->list[i] = errands->list[i + 1];
    return first;
}

/* What is looked at stays until it is answered. */
static void serve(const gx_route *route, const gx_call *call, gx_http_reply *reply) {
    gx_served *served = call->served;
    if (route->always) {
        route->serve(call, reply);
        return;
    }
    pthread_rwlock_rdlock(&served->guard);
    if (served->runtime)
        route->serve(call, reply);
    else
        gx_call_refuse(reply, 503, "the topology is being changed: ask again");
    pthread_rwlock_unlock(&served->guard);
}

static void run(const gx_errand *errand) {
    gx_http_reply reply = { .status = 200, .body = GX_BUF_INIT(NULL) };
    serve(errand->route, &errand->call, &reply);
    gx_http_answer(errand->request, &reply);
}

bool gx_errands_run(gx_errands *errands, int64_t nanoseconds) {
    gx_monitor_lock(&errands->monitor);
    if (!errands->count && !errands->closed) gx_monitor_wait(&errands->monitor, nanoseconds);
    while (errands->count) {
        gx_errand errand = take(errands);
        gx_monitor_unlock(&errands->monitor);
        run(&errand);
        gx_monitor_lock(&errands->monitor);
    }
    bool goes_on = !errands->closed;
    gx_monitor_unlock(&errands->monitor);
    return goes_on;
}

void gx_errands_close(gx_errands *errands) {
    gx_monitor_lock(&errands->monitor);
    errands->closed = true;
    gx_monitor_notify(&errands->monitor);
    gx_monitor_unlock(&errands->monitor);
}

/* --- Requests -------------------------------------------------------------------------------------------------------- */

static gx_access_request asked_of(const gx_http_request *request, bool changes) {
    return (gx_access_request){ .changes = changes,
                                .host = gx_http_header(request, "Host"),
                                .origin = gx_http_header(request, "Origin"),
                                .fetch_site = gx_http_header(request, "Sec-Fetch-Site"),
                                .cookie = gx_http_header(request, "Cookie"),
                                .authorization = gx_http_header(request, "Authorization"),
                                .content_type = gx_http_header(request, "Content-Type"),
                                .guard = gx_http_header(request, "X-Gale"),
                                .query_token = gx_target_query(gx_http_target(request), "token") };
}

/* Who came with the address that was printed gets a cookie, and the address without its token: it is not to stand in the
 * browser's history. */
static void let_in(const gx_desk *desk, gx_http_reply *reply) {
    snprintf(reply->cookie, sizeof reply->cookie, "%s=%.*s; Path=/; HttpOnly; SameSite=Strict%s", desk->rules.cookie,
             GX_STR(desk->rules.token), desk->secure ? "; Secure" : "");
    reply->status = 303;
    reply->location = "/";
}

static void refuse_method(gx_http_reply *reply, const char *allow) {
    reply->allow = allow;
    gx_call_refuse(reply, 405, "this is asked with %s", allow);
}

static bool answer(const gx_desk *desk, gx_http_request *request, const gx_route *route, const gx_call *call,
                   gx_http_reply *reply) {
    gx_errand errand = { request, route, *call };
    if (route->kind != GX_ROUTE_WAITS) return serve(route, call, reply), true;
    if (put(desk->errands, &errand)) return false;
    gx_call_refuse(reply, 503, "too many ask for this at a time: ask again later");
    return true;
}

bool gx_desk_admits(void *user, const gx_http_request *request) {
    const gx_desk *desk = user;
    gx_access_request asked = asked_of(request, strcmp(gx_http_method(request), "POST") == 0);
    return gx_access_judge(&desk->rules, &asked).status == 0;
}

bool gx_desk_serve(void *user, gx_http_request *request, gx_http_reply *reply) {
    const gx_desk *desk = user;
    const char *method = gx_http_method(request), *allow;
    bool changes = strcmp(method, "POST") == 0;
    gx_call call = { .served = desk->served, .target = gx_http_target(request), .body = gx_http_body(request) };
    const gx_route *route = gx_routes_find(call.target, changes, call.names, &allow);
    gx_access_request asked = asked_of(request, changes);
    gx_access_verdict verdict = gx_access_judge(&desk->rules, &asked);
    call.known = verdict.status != 401;
    call.accept = gx_http_header(request, "Accept");
    if (verdict.status && !(verdict.status == 401 && route && route->kind == GX_ROUTE_OPEN))
        gx_call_refuse(reply, verdict.status, "%s", verdict.why);
    else if (!changes && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        refuse_method(reply, "GET, HEAD, POST");
    else if (!route && allow)
        refuse_method(reply, allow);
    else if (!route)
        gx_call_refuse(reply, 404, "there is nothing here; /openapi.json says what there is");
    else if (verdict.by == GX_ACCESS_BY_QUERY && !changes && !call.target->segment_count)
        let_in(desk, reply);
    else
        return answer(desk, request, route, &call, reply);
    return true;
}
