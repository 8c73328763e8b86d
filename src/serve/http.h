/* A door at which HTTP is spoken, by libmicrohttpd, which nobody else sees.
 *
 * What:    a door is a socket that listens, one thread, and a function that answers. libmicrohttpd is loaded when the first
 *          door opens (docs/decisions/0037-*): who serves nothing does not pay for it.
 * Threads: a door's requests are answered one after another on its thread; the function must not wait. For what takes longer
 *          it holds the request (gx_http_hold) and answers from any other thread (gx_http_answer). The other functions
 *          belong to who opened the door.
 * Owner:   the caller keeps the descriptor, and closes it behind the door. A request lives until it is answered, and no longer.
 *          An answer may have no end (serve/outflow): then any thread writes, and it is sent as it comes. Who writes ends it before the door
 *          closes, which gives its reader some time for the rest.
 * Limits:  GX_HTTP_CONNECTIONS at a time, of which one address has at most GX_HTTP_BY_ADDRESS unless it is this
 *          machine. A new connection takes the place of the oldest one that has not asked for anything; where all have asked, GX_HTTP_SPARE more are
 *          accepted, and then the next ones wait in the system's queue. GX_HTTP_MEMORY a connection for a head;
 *          GX_HTTP_BODY for a body, which is kept only if `admits` says so; GX_HTTP_ANSWERS for all answers that are
 *          not read yet, beyond which it is 503. From the first byte (or the answer before) to the last of the answer
 *          a request has GX_HTTP_PATIENCE; silence ends after GX_HTTP_SILENCE. An answer without an end lasts, unless
 *          nothing of it is read for GX_HTTP_PATIENCE.
 * Errors:  GALE_UNSUPPORTED: libmicrohttpd is not there; GALE_IO; GALE_INVALID (a certificate, a key); GALE_NO_MEMORY.
 */
#ifndef GX_SERVE_HTTP_H
#define GX_SERVE_HTTP_H

#include "base/buf.h"
#include "serve/outflow.h"
#include "serve/target.h"

#include <gale/error.h>
#include <gale/log.h>

enum {
    GX_HTTP_CONNECTIONS = 128,
    GX_HTTP_SPARE = 32,
    GX_HTTP_BY_ADDRESS = 32,
    GX_HTTP_MEMORY = 32 * 1024,
    GX_HTTP_BODY = 64 * 1024,
    GX_HTTP_ANSWERS = 64 * 1024 * 1024,
    GX_HTTP_SILENCE = 15, /* seconds */
    GX_HTTP_PATIENCE = 60
};

typedef struct gx_http gx_http;
typedef struct gx_http_request gx_http_request;

/* An answer is filled in by who answers: a status, the type of the body, the body. */
typedef struct gx_http_reply {
    unsigned status;
    const char *type; /* a literal */
    gx_buf body;
    gx_outflow *flow;     /* in place of the body: an answer without an end; the request's */
    const char *location; /* of a redirection; a literal */
    const char *allow;    /* with 405; a literal */
    char cookie[256];     /* "": none is set */
    bool lasts;           /* may be kept by the browser: it is part of this program */
} gx_http_reply;

/* Is the body of this request kept? It has a head only. */
typedef bool gx_http_admits_fn(void *user, const gx_http_request *request);

/* Answers, or holds the request and returns false. */
typedef bool gx_http_fn(void *user, gx_http_request *request, gx_http_reply *reply);

typedef struct gx_http_options {
    int fd;                        /* listens */
    bool local;                    /* all clients are of this machine: no bound for one address */
    const char *certificate, *key; /* PEM, or NULL: no TLS */
    const gale_logger *logger;
    gx_http_admits_fn *admits;
    gx_http_fn *serve;
    void *user; /* of both */
} gx_http_options;

GALE_MUST_USE int gx_http_open(const gx_http_options *options, gx_http **ret_http, gale_error *error);

/* No request is held any more, and answers without an end have been ended: what is not read of them by `until`
 * (monotonic) is dropped. NULL is allowed. */
void gx_http_close(gx_http *http, int64_t until);

/* Waits until what answers without an end have is read, where they have been ended; at most until `until`
 * (monotonic). */
void gx_http_wait(gx_http *http, int64_t until);

/* Ends connections that take too long. To be called about once a second, by any thread. */
void gx_http_sweep(gx_http *http, int64_t now);

/* What lives at a door now, with the caller's own request. All are 0 when all clients have gone. */
typedef struct gx_http_live {
    uint32_t connections, requests;
    uint32_t streams; /* answers without an end */
    uint64_t unread;  /* bytes of answers that are not sent yet */
} gx_http_live;

gx_http_live gx_http_count(gx_http *http);

/* --- A request --- */

const char *gx_http_method(const gx_http_request *request);
const gx_target *gx_http_target(const gx_http_request *request);
gale_str gx_http_body(const gx_http_request *request);

/* The header's value, or an empty text. */
gale_str gx_http_header(const gx_http_request *request, const char *name);

/* It will be answered by gx_http_answer, once; to be called by the function that serves, before anybody else knows of it. */
void gx_http_hold(gx_http_request *request);
void gx_http_answer(gx_http_request *request, gx_http_reply *reply);

#endif
