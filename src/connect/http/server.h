/* The door: libmicrohttpd without a thread of its own, on a watch of the task.
 *
 *      connection --head--> check --body--> take --+--> answered at once
 *                                                  '--> held --http_server_answer--> answered
 *
 * What:    a request that is held is looked at in the next turns of the executor, as most answers are there then; if it is not, its connection is suspended:
 *          libmicrohttpd knows of it again when it is answered, also when its client has gone meanwhile. One at a time is read of a connection.
 * Hostile: a head has at most HEAD_MAX bytes (head/head.h), a body `body_max`, all bodies that are being read `memory`
 *          with what `busy` says. A connection has `timeout` for a request, from its beginning or the answer before it
 *          on, however many bytes come meanwhile. Where all connections are taken, a new one takes the place of the
 *          oldest that has not asked for anything. What is too large is read and thrown away where it is short: a client
 *          that is cut off while it writes may not see the answer.
 * Threads: the task's. Owner: http_server_free ends it; a request is the server's, good until it was answered. */
#ifndef GALE_CONNECT_HTTP_SERVER_H
#define GALE_CONNECT_HTTP_SERVER_H

#include "connect/http/parse.h"

#include <gale/component.h>
#include <gale/watch.h>

enum {
    HTTP_CONNECTION_MEMORY = 32 << 10, /* a head of HEAD_MAX, HEAD_LINES_MAX lines, and 128 arguments */
    HTTP_DRAINED = 64 << 10,           /* so long a body is read to its end before it is refused */
    HTTP_IDLE_CONNECTIONS = 512,
    HTTP_SPARE_CONNECTIONS = 32 /* that are accepted before those have gone whose place they take */
};

typedef struct http_server http_server;
typedef struct http_request http_request;

/* What a client is told: a status, and how many tuples were made, or a sentence. */
typedef struct http_reply {
    unsigned status;
    uint32_t tuples;
    char text[GALE_FAILURE_TEXT + 1];
} http_reply;

/* `status` with a sentence. */
void http_reply_set(http_reply *reply, unsigned status, const char *text);

typedef struct http_server_options {
    const http_address *address;
    const char *certificate, *key; /* PEM; NULL: no TLS */
    size_t body_max;
    uint64_t memory;
    int64_t timeout;
    uint32_t held_max; /* so many are held at the most: http_server_is_full */

    /* The head is there. False: it is refused with `reply`. */
    bool (*check)(void *user, http_request *request, http_reply *reply);
    /* All of it is there. False: it is answered with `reply`; true: it is held. */
    bool (*take)(void *user, http_request *request, http_reply *reply);
    uint64_t (*busy)(void *user); /* bytes of `memory` that what was taken needs */
    /* About once a second, while there are connections or it says true: there will be something to do. */
    bool (*tick)(void *user);
    void *user;
} http_server_options;

/* Listens. GALE_INVALID, GALE_IO with a sentence. */
int http_server_new(const http_server_options *options, const gale_context *context, gale_collector *out,
                    http_server **ret_server, gale_error *error);

/* Sends what was answered, as far as it goes at once, and ends. None may be held any more. */
void http_server_free(http_server *server);

/* Of a request that is held. It is not to be touched from then on. */
void http_server_answer(http_request *request, const http_reply *reply);

bool http_server_is_full(const http_server *server);

/* Bytes of bodies that are being read. */
uint64_t http_server_reading(const http_server *server);

/* --- Requests --------------------------------------------------------------------------------------------------------- */

typedef void http_header_fn(void *user, const char *name, const char *value);

const char *http_request_method(const http_request *request);
gale_str http_request_target(const http_request *request);
gale_str http_request_body(const http_request *request);
const char *http_request_header(const http_request *request, const char *name); /* NULL: there is none */
void http_request_headers(const http_request *request, http_header_fn *each, void *user);
void http_request_remote(const http_request *request, char *to, size_t room);

/* For a list of those that wait for one answer. */
http_request *http_request_next(const http_request *request);
void http_request_put_before(http_request *request, http_request *next);

#endif
