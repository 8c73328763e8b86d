/* The functions of gale_serve.h: a server for a runtime that an application runs by itself. */
#include "base/options.h"
#include "base/version.h"
#include "serve/server.h"

#include <gale_serve.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 5 };

struct gale_server {
    gx_server *server; /* NULL: nothing is served */
    gale_runtime *runtime;
    gale_logger logger;
    char *texts[TEXTS];
};

static void end_run(void *ending, bool now) {
    gale_server *server = ending;
    if (now)
        gale_runtime_stop(server->runtime);
    else
        gale_runtime_drain(server->runtime);
}

static void free_server(gale_server *server) {
    for (int i = 0; i < TEXTS; i++) free(server->texts[i]);
    free(server);
}

/* The texts become the server's own. */
static bool copy_texts(gale_server *server, gale_server_options *options) {
    const char **const given[TEXTS] = { &options->listen, &options->token_file, &options->certificate, &options->key,
                                        &options->file };
    for (int i = 0; i < TEXTS; i++) {
        if (*given[i] && !(server->texts[i] = strdup(*given[i]))) return false;
        *given[i] = server->texts[i];
    }
    return true;
}

static int start(gale_server *server, const gale_server_options *given, const gale_topology *topology,
                 gale_error *error) {
    gx_server_options options = { .control = !given->hidden,
                                  .listen = given->listen,
                                  .token_file = given->token_file,
                                  .certificate = given->certificate,
                                  .key = given->key,
                                  .file = given->file,
                                  .deeds = { .ending = server, .end = end_run } };
    return gx_server_start(&options, server->runtime, topology, &server->logger, &server->server, error);
}

int gale_server_start(const gale_server_options *options, gale_runtime *runtime, const gale_topology *topology,
                      const gale_logger *logger, gale_server **ret_server, gale_error *error) {
    gale_server_options given;
    if (!runtime || !topology || !ret_server)
        return gale_error_set(error, GALE_INVALID, "server: a runtime, a topology and a place for the server");
    int rc = gx_options_take(&given, sizeof given, options, "server: options", error);
    if (rc >= 0) rc = gx_version_check("libgale-serve", error);
    if (rc < 0) return rc;
    gale_server *made = calloc(1, sizeof *made);
    if (!made || !copy_texts(made, &given)) {
        if (made) free_server(made);
        return gale_error_set(error, GALE_NO_MEMORY, "server: out of memory");
    }
    made->runtime = runtime;
    if (logger) made->logger = *logger;
    rc = start(made, &given, topology, error);
    if (rc < 0)
        free_server(made);
    else
        *ret_server = made;
    return rc < 0 ? rc : GALE_OK;
}

const char *gale_server_url(const gale_server *server) {
    return server && server->server ? gx_server_url(server->server) : "";
}

bool gale_server_stop(gale_server *server, int exit_code) {
    if (!server) return true;
    gx_server_ended(server->server, exit_code, GX_SERVER_FAREWELL);
    bool whole = gx_server_stop(server->server, GX_SERVER_FAREWELL);
    if (whole) free_server(server);
    return whole;
}
