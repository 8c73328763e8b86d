#include "serve/server.h"

#include "base/os/file.h"
#include "base/os/thread.h"
#include "base/os/time.h"
#include "base/utf8.h"
#include "serve/debug.h"
#include "serve/desk.h"
#include "serve/door.h"
#include "serve/enders.h"
#include "serve/history.h"
#include "serve/hurts.h"
#include "serve/tappers.h"

#include <stdio.h>
#include <stdlib.h>

enum { PEM_MAX = 1 << 20, URL_SIZE = GX_ADDRESS_TEXT + GX_DOOR_TOKEN + 32 };

/* A door with its desk. */
typedef struct entrance {
    gx_door door;
    gx_desk desk;
    gx_http *http;
} entrance;

struct gx_server {
    gx_served served;
    gx_errands errands;
    bool has_errands;
    gx_thread keeper;
    entrance control, listen;
    char token[GX_DOOR_TOKEN], cookie[32], url[URL_SIZE];
};

/* --- The keeper ----------------------------------------------------------------------------------------------------- */

/* Without memory the second is left out. */
static void look(gx_served *served) {
    uint64_t complete[GX_HISTOGRAM_BUCKETS];
    gx_snapshot *taken = gx_snapshot_take(&served->parts, served->runtime);
    if (!taken) return;
    gx_snapshot_complete(served->runtime, complete);
    gx_history_add(served->history, taken, complete);
}

static void keep(gx_server *server) {
    gx_served *served = &server->served;
    int64_t now = gx_os_monotonic();
    pthread_rwlock_rdlock(&served->guard);
    if (served->runtime) look(served);
    pthread_rwlock_unlock(&served->guard);
    gx_enders_look(served->enders, now);
    if (server->control.http) gx_http_sweep(server->control.http, now);
    if (server->listen.http) gx_http_sweep(server->listen.http, now);
}

static void *keep_all(void *user) {
    gx_server *server = user;
    int64_t due = gx_os_monotonic();
    for (bool goes_on = true; goes_on;) {
        int64_t now = gx_os_monotonic();
        if (now >= due) {
            keep(server);
            due += GALE_SECOND;
            if (due < now) due = now + GALE_SECOND;
        }
        goes_on = gx_errands_run(&server->errands, due > now ? due - now : 0);
    }
    return NULL;
}

static void look_for_hurt(const gx_served *served, char *to, size_t room) {
    static const int64_t while_ago = 10 * GALE_SECOND;
    gx_hurts hurts;
    gx_history_lock(served->history);
    int64_t now = gx_os_monotonic();
    const gx_snapshot *last = gx_history_before(served->history, now, 0);
    const gx_snapshot *before = gx_history_before(served->history, now, while_ago);
    if (last) gx_hurts_find(&served->parts, before == last ? NULL : before, last, &hurts);
    if (last && hurts.count) gx_utf8_copy(to, room, hurts.list[0].text);
    gx_history_unlock(served->history);
}

void gx_server_hurt(gx_server *server, char *to, size_t room) {
    *to = 0;
    if (!server) return;
    pthread_rwlock_rdlock(&server->served.guard);
    if (server->served.history) look_for_hurt(&server->served, to, room);
    pthread_rwlock_unlock(&server->served.guard);
}

/* --- Doors ---------------------------------------------------------------------------------------------------------- */

static int read_pem(const char *path, char **ret_text, gale_error *error) {
    size_t size;
    *ret_text = NULL;
    return path ? gx_file_read_all(path, PEM_MAX, ret_text, &size, error) : 0;
}

static void show_door(gx_served *served, gx_served_door door, gx_http *http) {
    pthread_rwlock_wrlock(&served->guard);
    served->doors[door] = http;
    pthread_rwlock_unlock(&served->guard);
}

/* `options`: of --listen; NULL: the owner's. */
static int open_http(gx_server *server, entrance *e, const gx_server_options *options, gale_error *error) {
    char *certificate = NULL, *key = NULL;
    int rc = options ? read_pem(options->certificate, &certificate, error) : 0;
    if (rc >= 0 && options) rc = read_pem(options->key, &key, error);
    gx_http_options http = { .fd = e->door.fd,
                             .local = e->door.loopback,
                             .certificate = certificate,
                             .key = key,
                             .logger = &server->served.logger,
                             .admits = gx_desk_admits,
                             .serve = gx_desk_serve,
                             .user = &e->desk };
    e->desk.served = &server->served;
    e->desk.errands = &server->errands;
    e->desk.secure = certificate != NULL;
    if (rc >= 0) rc = gx_http_open(&http, &e->http, error);
    if (rc >= 0) show_door(&server->served, options ? GX_SERVED_LISTEN : GX_SERVED_CONTROL, e->http);
    free(certificate);
    free(key);
    return rc;
}

/* A run without it is a run all the same: nobody asked for it. What can be mended by who started it is said aloud. */
static void open_control(gx_server *server) {
    gale_error error = GALE_ERROR_INIT;
    entrance *e = &server->control;
    int rc = gx_door_open_control(gale_topology_name(server->served.topology), &e->door, &error);
    if (rc >= 0) rc = open_http(server, e, NULL, &error);
    if (rc >= 0) return;
    gx_door_close(&e->door);
    int32_t level = rc == GALE_INVALID ? GALE_LOG_WARN : GALE_LOG_DEBUG;
    gale_log(&server->served.logger, level, NULL, "other commands (gale top) cannot reach this run: %s", error.text);
}

static int refuse_bare(const gx_server_options *options, const gx_door *door, gale_error *error) {
    if (door->loopback || (options->token_file && options->certificate)) return 0;
    return gale_error_set(
        error, GALE_INVALID,
        "--listen %s: others than this machine could ask; that needs --listen-token-file, --listen-cert and "
        "--listen-key",
        options->listen);
}

static int open_listen(gx_server *server, const gx_server_options *options, gale_error *error) {
    entrance *e = &server->listen;
    int rc = gx_door_open(options->listen, &e->door, error);
    if (rc >= 0) rc = refuse_bare(options, &e->door, error);
    if (rc >= 0)
        rc = options->token_file ? gx_door_read_token(options->token_file, server->token, error)
                                 : gx_door_make_token(server->token, error);
    if (rc < 0) return rc;
    const char *port = strrchr(e->door.text, ':');
    server->served.port = port ? (uint32_t)strtoul(port + 1, NULL, 10) : 0;
    snprintf(server->cookie, sizeof server->cookie, "gale_token_%u", server->served.port);
    e->desk.rules = (gx_access){ gx_str(server->token), e->door.loopback, server->cookie };
    rc = open_http(server, e, options, error);
    if (rc < 0) return rc;
    snprintf(server->url, sizeof server->url, "http%s://%s/%s%s", options->certificate ? "s" : "", e->door.text,
             options->token_file ? "" : "?token=", options->token_file ? "" : server->token);
    return 0;
}

/* --- All of it ------------------------------------------------------------------------------------------------------ */

int gx_server_check(const gx_server_options *options, gale_error *error) {
    const char *alone = options->token_file    ? "--listen-token-file"
                        : options->certificate ? "--listen-cert"
                                               : "--listen-key";
    if (!options->listen && (options->token_file || options->certificate || options->key))
        return gale_error_set(error, GALE_INVALID, "%s is of no use without --listen ADDRESS", alone);
    if (!options->certificate != !options->key)
        return gale_error_set(error, GALE_INVALID, "--listen-cert and --listen-key go together");
    return 0;
}

void gx_server_pause(gx_server *server) {
    if (!server) return;
    gx_served *served = &server->served;
    pthread_rwlock_wrlock(&served->guard);
    if (served->runtime && served->tappers) gx_tappers_end_all(served->tappers);
    gx_debug_free(served->debug);
    served->debug = NULL;
    served->runtime = NULL;
    served->topology = NULL;
    gx_history_free(served->history);
    served->history = NULL;
    gx_parts_free(&served->parts);
    served->parts = (gx_parts){ .count = 0 };
    pthread_rwlock_unlock(&served->guard);
}

int gx_server_resume(gx_server *server, gale_runtime *runtime, const gale_topology *topology, gale_error *error) {
    if (!server) return 0;
    gx_served *served = &server->served;
    pthread_rwlock_wrlock(&served->guard);
    int rc = gx_parts_new(topology, runtime, &served->parts);
    if (rc == 0) served->history = gx_history_new(&served->parts);
    if (rc == 0) served->debug = gx_debug_new(runtime, &served->parts, &served->logger);
    if (rc == 0 && (!served->history || !served->debug)) rc = GALE_NO_MEMORY;
    if (rc == 0) {
        served->topology = topology;
        served->runtime = runtime;
        if (gx_load_relaxed(&served->inactive)) gale_runtime_deactivate(runtime);
    }
    pthread_rwlock_unlock(&served->guard);
    return rc < 0 ? gale_error_set(error, rc, "out of memory") : 0;
}

static gx_server *make(const gx_server_options *options, gale_runtime *runtime, const gale_topology *topology,
                       const gale_logger *logger) {
    gx_server *server = calloc(1, sizeof *server);
    if (!server) return NULL;
    server->control.door.fd = server->listen.door.fd = -1;
    server->served = (gx_served){
        .file = options->file, .started = gx_os_wall(), .started_time = gx_os_monotonic(), .deeds = options->deeds
    };
    if (logger) server->served.logger = *logger;
    pthread_rwlock_init(&server->served.guard, NULL);
    server->served.tappers = gx_tappers_new(&server->served);
    server->served.enders = gx_enders_new();
    server->has_errands = server->served.tappers && server->served.enders &&
                          gx_server_resume(server, runtime, topology, NULL) == 0 && gx_errands_init(&server->errands);
    if (server->has_errands) return server;
    (void)gx_server_stop(server, 0);
    return NULL;
}

int gx_server_start(const gx_server_options *options, gale_runtime *runtime, const gale_topology *topology,
                    const gale_logger *logger, gx_server **ret_server, gale_error *error) {
    *ret_server = NULL;
    int rc = gx_server_check(options, error);
    if (rc < 0 || (!options->control && !options->listen)) return rc;
    gx_server *server = make(options, runtime, topology, logger);
    if (!server) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (options->listen) rc = open_listen(server, options, error);
    if (rc >= 0 && options->control) open_control(server);
    if (rc >= 0 && !gx_thread_start(&server->keeper, "gale-serve", keep_all, server))
        rc = gale_error_set(error, GALE_IO, "out of threads");
    if (rc < 0) return (void)gx_server_stop(server, 0), rc;
    *ret_server = server;
    return 0;
}

const char *gx_server_url(const gx_server *server) {
    return server->url;
}

void gx_server_ended(gx_server *server, int exit_code, int64_t farewell) {
    if (!server) return;
    int64_t until = gx_os_monotonic() + farewell;
    gx_enders_end(server->served.enders, exit_code);
    if (server->listen.http) gx_http_wait(server->listen.http, until);
    if (server->control.http) gx_http_wait(server->control.http, until);
}

static void free_doors(gx_server *server, int64_t until) {
    gx_enders_free(server->served.enders);
    gx_http_close(server->listen.http, until);
    gx_http_close(server->control.http, until);
}

/* No errand is taken any more, and those that wait are run: no request is held when the doors close. */
bool gx_server_stop(gx_server *server, int64_t farewell) {
    if (!server) return true;
    int64_t until = gx_os_monotonic() + farewell;
    if (server->has_errands) gx_errands_close(&server->errands);
    if (server->keeper.started)
        gx_thread_join(&server->keeper, -1);
    else if (server->has_errands)
        gx_errands_run(&server->errands, 0);
    gx_server_pause(server);
    bool whole = gx_tappers_free(server->served.tappers, until);
    if (whole) free_doors(server, until);
    gx_door_close(&server->listen.door);
    gx_door_close(&server->control.door);
    if (!whole) return false; /* its answers are suspended, in which a door cannot be closed */
    pthread_rwlock_destroy(&server->served.guard);
    if (server->has_errands) gx_errands_fini(&server->errands);
    free(server);
    return true;
}
