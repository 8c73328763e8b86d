/* One question to a running topology, at its owner's socket: a request by HTTP/1.0, and the answer until its end; or, where the answer may have no
 * end, line by line.
 *
 * Threads: one at a time; it waits. Owner: what an answer holds is the caller's.
 * Errors:  each names the socket. GALE_NOT_FOUND: nobody listens there; GALE_TIMED_OUT; GALE_INVALID: what comes is no answer by HTTP, or is
 *          cut off; GALE_TOO_LARGE; GALE_IO; GALE_STOPPED: a signal has asked for an end.
 * Limits:  GX_CLIENT_PATIENCE without a byte, GX_CLIENT_MOST bytes; of an answer line by line that is a line, and patience is for its begin alone.
 */
#ifndef GX_CLI_CLIENT_H
#define GX_CLI_CLIENT_H

#include "base/buf.h"

#include <gale/clock.h>
#include <gale/error.h>

#define GX_CLIENT_PATIENCE (10 * GALE_SECOND)
enum { GX_CLIENT_MOST = 64 << 20 };

typedef struct gx_client_reply {
    unsigned status;
    gx_buf bytes;
    gale_str body; /* of `bytes` */
} gx_client_reply;

/* `body`: JSON, or NULL. To be given back whatever it returns. */
int gx_client_ask(const char *path, const char *method, const char *target, const char *body,
                  gx_client_reply *ret_reply, gale_error *error);
/* A line, without its end; false: no more are wanted. */
typedef bool gx_client_line(void *user, gale_str line);

/* GET `target`, and each line of its answer as it comes. GALE_STOPPED: a signal has come, or whoever is asked went
 * before it answered. When `ret_reply` has a status of 400 or more it has all of the answer, and there were no
 * lines. To be given back whatever it returns. */
int gx_client_follow(const char *path, const char *target, gx_client_line *take, void *user, gx_client_reply *ret_reply,
                     gale_error *error);
void gx_client_reply_fini(gx_client_reply *reply);

#endif
