/* What is served from a running process: its doors, who answers at them, and the thread that remembers.
 *
 * What:    two doors can be open: a socket for the owner's other commands, and an address (--listen). Each has a thread, and one more takes a
 *          sample a second, runs what waits for executors, and ends what takes too long.
 * Threads: begun and ended by one thread, between the runtime's making and its freeing. No executor is ever delayed.
 * Owner:   the caller; the runtime, the topology and the texts of the options outlive the server.
 * Errors:  those of serve/door and serve/http, in a sentence.
 */
#ifndef GX_SERVE_SERVER_H
#define GX_SERVE_SERVER_H

#include "serve/served.h"

typedef struct gx_server_options {
    bool control;                  /* open the owner's socket; when that cannot be, it is logged and nothing else */
    const char *listen;            /* an address as --listen has it, or NULL */
    const char *token_file;        /* or NULL: a token is made */
    const char *certificate, *key; /* files, or NULL */
    const char *file;              /* the topology's, or NULL */
    gx_deeds deeds;
} gx_server_options;

typedef struct gx_server gx_server;

/* Nothing is served, and `*ret_server` is NULL, when nothing is asked for. */
GALE_MUST_USE int gx_server_start(const gx_server_options *options, gale_runtime *runtime,
                                  const gale_topology *topology, const gale_logger *logger, gx_server **ret_server,
                                  gale_error *error);

/* The runtime is to go, and another one will come: who asks meanwhile is told so, and to ask again. Doors stay open. Waits for who looks at it. NULL
 * is allowed. */
void gx_server_pause(gx_server *server);

/* That is the other one. History begins anew with it. GALE_NO_MEMORY: nothing is served still. NULL is allowed. */
GALE_MUST_USE int gx_server_resume(gx_server *server, gale_runtime *runtime, const gale_topology *topology,
                                   gale_error *error);

/* What hurts most by now, a sentence; "" when nothing does, or nothing is served. NULL is allowed. */
void gx_server_hurt(gx_server *server, char *to, size_t room);

/* The run has ended with this exit code: reports it to the clients that wait for it, and waits at most `farewell`
 * nanoseconds until what is on its way to observers is read. NULL is allowed. */
void gx_server_ended(gx_server *server, int exit_code, int64_t farewell);

/* Answers what is being answered, and closes all. Observers have `farewell` nanoseconds for what is on its way to
 * them, all together: however slow or expensive they are, the end comes then. False: an expression of a tap does not
 * come back, so that threads of the server are left behind, with all that they use, options among it: the process
 * is to end. NULL is allowed. */
#define GX_SERVER_FAREWELL (2 * GALE_SECOND)
#define GX_SERVER_LAST_WORDS (200 * GALE_MILLISECOND) /* the same where the end is to be at once */
bool gx_server_stop(gx_server *server, int64_t farewell);

/* Do these go together? GALE_INVALID. Looks at no file. */
GALE_MUST_USE int gx_server_check(const gx_server_options *options, gale_error *error);

/* "http://127.0.0.1:8080/?token=...", or "" without --listen. */
const char *gx_server_url(const gx_server *server);

#endif
