/* libcurl in a task: its sockets and its timer are watches, so that many requests are on their way and nobody waits for one.
 *
 *      http_client_start --> libcurl's sockets --watch--> curl_multi_socket_action --> done, when a request has its end
 *
 * Threads: the task's; libcurl looks up names in threads of its own. Owner: http_client_close ends it; requests that are on their way are
 * taken from it before. */
#ifndef GALE_CONNECT_HTTP_CLIENT_H
#define GALE_CONNECT_HTTP_CLIENT_H

#include <curl/curl.h>
#include <gale/watch.h>

typedef struct http_socket http_socket;

/* It is libcurl's no more. May start others. */
typedef void http_done_fn(void *user, CURL *easy, CURLcode code);

typedef struct http_client {
    const gale_context *context;
    gale_collector *out;
    CURLM *multi;
    gale_watch timer;
    int64_t at;   /* of the timer; 0: never */
    bool by_hand; /* http_client_wait has begun: watches may be gone */
    http_socket *sockets;
    http_done_fn *done;
    void *user;
} http_client;

/* GALE_NO_MEMORY, and what gale_watch_new says, with a sentence; http_client_close is to be called then, too. */
int http_client_open(http_client *client, const gale_context *context, gale_collector *out, http_done_fn *done,
                     void *user, gale_error *error);

/* From then on it is libcurl's, until `done` or http_client_stop. GALE_NO_MEMORY. */
int http_client_start(http_client *client, CURL *easy);
void http_client_stop(http_client *client, CURL *easy);

/* Where no watch is told, as in `finish`: waits for the sockets, no longer than that, and goes on with what has happened. */
void http_client_wait(http_client *client, int32_t milliseconds);

void http_client_close(http_client *client);

#endif
