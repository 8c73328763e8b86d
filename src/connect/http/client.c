#include "connect/http/client.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

struct http_socket {
    http_client *client;
    http_socket *next;
    curl_socket_t fd;
    gale_watch watch;
    int32_t events;
};

/* --- What has happened ------------------------------------------------------------------------------------------------ */

static void hear_ends(http_client *client) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(client->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        curl_multi_remove_handle(client->multi, easy);
        client->done(client->user, easy, code);
    }
}

static void go_on(http_client *client, curl_socket_t fd, int what) {
    int running;
    (void)curl_multi_socket_action(client->multi, fd, what, &running);
    hear_ends(client);
}

/* libcurl may end the socket meanwhile. */
static int hear_socket(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    const http_socket *s = user;
    http_client *client = s->client;
    int what = (events & GALE_WATCH_READ ? CURL_CSELECT_IN : 0) | (events & GALE_WATCH_WRITE ? CURL_CSELECT_OUT : 0) |
               (events & GALE_WATCH_HANGUP ? CURL_CSELECT_ERR : 0);
    (void)out, (void)watch;
    go_on(client, s->fd, what);
    return 0;
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    http_client *client = user;
    (void)out, (void)watch, (void)events;
    client->at = 0;
    go_on(client, CURL_SOCKET_TIMEOUT, 0);
    return 0;
}

/* --- What libcurl wants ----------------------------------------------------------------------------------------------- */

static void forget_socket(http_client *client, http_socket *s) {
    http_socket **at = &client->sockets;
    while (*at && *at != s) at = &(*at)->next;
    if (*at) *at = s->next;
    if (s->watch) (void)gale_watch_free(client->out, s->watch);
    free(s);
}

static http_socket *know_socket(http_client *client, curl_socket_t fd) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    http_socket *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (http_socket){ .client = client, .next = client->sockets, .fd = fd };
    client->sockets = s;
    options.fd = fd;
    options.always = true;
    options.call = hear_socket;
    options.user = s;
    bool watched = gale_watch_new(client->out, &options, &s->watch) == 0 || client->by_hand;
    if (!watched || curl_multi_assign(client->multi, fd, s) != CURLM_OK) {
        forget_socket(client, s);
        return NULL;
    }
    return s;
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket) {
    http_client *client = user;
    http_socket *s = of_socket;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s) forget_socket(client, s);
        (void)curl_multi_assign(client->multi, fd, NULL);
        return 0;
    }
    if (!s) s = know_socket(client, fd);
    if (!s) return -1;
    s->events = (what & CURL_POLL_IN ? GALE_WATCH_READ : 0) | (what & CURL_POLL_OUT ? GALE_WATCH_WRITE : 0);
    return gale_watch_set(client->out, s->watch, s->events, 0) < 0 && !client->by_hand ? -1 : 0;
}

static int want_timer(CURLM *multi, long milliseconds, void *user) {
    http_client *client = user;
    (void)multi;
    client->at = milliseconds < 0 ? 0 : gale_context_now(client->context) + milliseconds * GALE_MILLISECOND;
    return gale_watch_set(client->out, client->timer, 0, client->at) < 0 && !client->by_hand ? -1 : 0;
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

static void init_library(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

int http_client_open(http_client *client, const gale_context *context, gale_collector *out, http_done_fn *done,
                     void *user, gale_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    *client = (http_client){ .context = context, .out = out, .done = done, .user = user };
    (void)pthread_once(&once, init_library);
    client->multi = curl_multi_init();
    if (!client->multi) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    options.always = true;
    options.call = hear_timer;
    options.user = client;
    int rc = gale_watch_new(out, &options, &client->timer);
    if (rc < 0) return gale_error_set(error, rc, "http: it waits by watches: %s", gale_error_text(rc));
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, want_timer);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    return 0;
}

int http_client_start(http_client *client, CURL *easy) {
    return curl_multi_add_handle(client->multi, easy) == CURLM_OK ? 0 : GALE_NO_MEMORY;
}

void http_client_stop(http_client *client, CURL *easy) {
    if (client->multi) curl_multi_remove_handle(client->multi, easy);
}

static int32_t wait_of(const http_client *client, int32_t most) {
    if (!client->at) return most;
    int64_t left = (client->at - gale_context_now(client->context) + GALE_MILLISECOND - 1) / GALE_MILLISECOND;
    return left < 0 ? 0 : left < most ? (int32_t)left : most;
}

enum { SOCKETS = 256 };

static size_t list_sockets(const http_client *client, struct pollfd *list) {
    size_t count = 0;
    for (const http_socket *s = client->sockets; s && count < SOCKETS; s = s->next) {
        short events = (short)((s->events & GALE_WATCH_READ ? POLLIN : 0) |
                               (s->events & GALE_WATCH_WRITE ? POLLOUT : 0));
        list[count++] = (struct pollfd){ .fd = s->fd, .events = events };
    }
    return count;
}

void http_client_wait(http_client *client, int32_t milliseconds) {
    struct pollfd list[SOCKETS];
    client->by_hand = true;
    size_t count = list_sockets(client, list);
    int ready = poll(list, count, wait_of(client, milliseconds));
    for (size_t i = 0; ready > 0 && i < count; i++) {
        int what = (list[i].revents & POLLIN ? CURL_CSELECT_IN : 0) |
                   (list[i].revents & POLLOUT ? CURL_CSELECT_OUT : 0) |
                   (list[i].revents & (POLLERR | POLLHUP) ? CURL_CSELECT_ERR : 0);
        if (what) go_on(client, list[i].fd, what);
    }
    if (client->at && gale_context_now(client->context) >= client->at) {
        client->at = 0;
        go_on(client, CURL_SOCKET_TIMEOUT, 0);
    }
}

void http_client_close(http_client *client) {
    if (client->multi) curl_multi_cleanup(client->multi);
    while (client->sockets) forget_socket(client, client->sockets);
    if (client->timer) (void)gale_watch_free(client->out, client->timer);
    *client = (http_client){ .multi = NULL };
}
