/* gale_serve.h: what others see of a run while it runs: the page, REST and metrics at an address, and the socket by which the
 * owner's `gale ps`, `gale top`, `gale tap` and `gale drain` find it. In libgale-serve, which needs libgale, and libmicrohttpd
 * where a run serves.
 *
 * What:    the same that `gale run` serves (docs/reference/serving.md).
 * Threads: a server is started and stopped by one thread. It has threads of its own: three, and one more for an address. No
 *          executor is ever delayed.
 */
#ifndef GALE_SERVE_H
#define GALE_SERVE_H

#include <gale/log.h>
#include <gale/runtime.h>
#include <gale/topology.h>

GALE_BEGIN

typedef struct gale_server gale_server;

typedef struct gale_server_options {
    size_t size;
    bool hidden;                   /* there is no socket: `gale ps` does not see the run */
    const char *listen;            /* an address as `gale run --listen` takes it: "127.0.0.1:8080", ""; NULL: none */
    const char *token_file;        /* whose first line is the token of the address; NULL: one is made */
    const char *certificate, *key; /* files in PEM; NULL: no TLS */
    const char *file;              /* the topology's, which is shown; NULL: none */
} gale_server_options;

#define GALE_SERVER_OPTIONS_INIT                                                                                       \
    { sizeof(gale_server_options), false, NULL, NULL, NULL, NULL, NULL }

/* Serves a runtime that was made and not freed. Runtime and topology outlive the server; texts and the logger, which may be
 * NULL, are copied. A socket that cannot be made is logged; an address that cannot be used is an error. Who asks for the end
 * of the run drains it, or stops it. GALE_INVALID: an option; GALE_IO: the address, a file; GALE_UNSUPPORTED: libmicrohttpd
 * is missing, or libgale is of another version; GALE_NO_MEMORY. */
GALE_API int gale_server_start(const gale_server_options *options, gale_runtime *runtime, const gale_topology *topology,
                               const gale_logger *logger, gale_server **ret_server, gale_error *error);

/* "http://127.0.0.1:8080/?token=...", or "" without an address. Belongs to the server. */
GALE_API const char *gale_server_url(const gale_server *server);

/* Reports the exit code to those who wait for the end (`gale drain --wait`), gives observers at most 2 s for what is on its
 * way to them, closes and frees. False: an expression of a tap does not come back; then threads of the server are left
 * behind, which still use runtime and topology: the process is to end. NULL is allowed. */
GALE_API bool gale_server_stop(gale_server *server, int exit_code);

GALE_END

#endif
