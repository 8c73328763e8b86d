#include "connect/postgres/link.h"

#include <poll.h>
#include <stdio.h>

/* --- Words ------------------------------------------------------------------------------------------------------------ */

void pg_link_unwell(pg_link *link, const char *why) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %s", link->given->where, why);
    link->unwell = true;
    gale_health(link->out, text);
}

void pg_link_well(pg_link *link) {
    link->backoff = (gale_backoff){ 0 };
    if (!link->unwell) return;
    link->unwell = false;
    gale_health(link->out, NULL);
}

/* --- Watches ---------------------------------------------------------------------------------------------------------- */

static void set_timer(pg_link *link, int64_t at) {
    link->at = at;
    (void)gale_watch_set(link->out, link->timer, 0, at);
}

void pg_link_expect(pg_link *link, bool something) {
    bool is_late_once = something && !link->paused;
    link->expects = something;
    set_timer(link, is_late_once ? gale_context_now(link->context) + link->given->timeout : 0);
}

static int hear_socket(void *user, gale_collector *out, gale_watch watch, int32_t events);

static void watch_events(pg_link *link, int32_t events) {
    if (events != link->events) (void)gale_watch_set(link->out, link->socket, events, 0);
    link->events = events;
}

/* While it connects, libpq may have another socket each time. */
static void unwatch_socket(pg_link *link) {
    if (link->socket) (void)gale_watch_free(link->out, link->socket);
    link->socket = 0;
    link->events = 0;
}

static int watch_socket(pg_link *link, int32_t events) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = PQsocket(link->conn);
    options.events = events;
    options.always = link->always;
    options.call = hear_socket;
    options.user = link;
    link->events = events;
    return gale_watch_new(link->out, &options, &link->socket);
}

/* --- Off and on ------------------------------------------------------------------------------------------------------- */

static void disconnect(pg_link *link) {
    bool was_up = link->state == PG_UP;
    unwatch_socket(link);
    if (link->conn) PQfinish(link->conn);
    link->conn = NULL;
    link->state = PG_OFF;
    if (was_up && link->ops->lost) link->ops->lost(link->user);
}

void pg_link_fail(pg_link *link, const char *why) {
    snprintf(link->why, sizeof link->why, "%s", why);
    pg_link_unwell(link, why);
    set_timer(link, gale_context_now(link->context) + gale_backoff_next(&link->backoff, link->context));
    disconnect(link);
}

static void fail_connection(pg_link *link) {
    char text[PG_SAID_MAX];
    pg_said_connection(link->conn, text);
    link->ended = true;
    pg_link_fail(link, text);
}

static void come_up(pg_link *link) {
    set_timer(link, 0);
    link->state = PG_UP;
    link->expects = link->paused = link->ended = false;
    (void)PQsetnonblocking(link->conn, 1);
    link->ops->up(link->user);
}

static void go_on_connecting(pg_link *link, PostgresPollingStatusType status) {
    int rc = status == PGRES_POLLING_FAILED
                 ? 0
                 : watch_socket(link, status == PGRES_POLLING_WRITING ? GALE_WATCH_WRITE : GALE_WATCH_READ);
    if (status == PGRES_POLLING_FAILED)
        fail_connection(link);
    else if (rc < 0 && rc != GALE_STOPPED)
        pg_link_fail(link, gale_error_text(rc)); /* in `finish` there are no watches */
    else if (status == PGRES_POLLING_OK)
        come_up(link);
}

static void connect(pg_link *link) {
    gale_error error = GALE_ERROR_INIT;
    link->conn = pg_settings_connect(link->given, link->replicates, &error);
    if (!link->conn) {
        pg_link_fail(link, error.text);
        return;
    }
    link->state = PG_CONNECTING;
    pg_link_expect(link, true);
    /* libpq's first word is that it waits to write. */
    go_on_connecting(link, PQstatus(link->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING);
}

/* --- News ------------------------------------------------------------------------------------------------------------- */

void pg_link_flush(pg_link *link) {
    if (link->state != PG_UP) return;
    int left = PQflush(link->conn);
    if (left < 0)
        fail_connection(link);
    else
        watch_events(link, (link->paused ? 0 : GALE_WATCH_READ) | (left ? GALE_WATCH_WRITE : 0));
}

void pg_link_pause(pg_link *link, bool paused) {
    if (link->state != PG_UP || link->paused == paused) return;
    link->paused = paused;
    pg_link_expect(link, link->expects);
    pg_link_flush(link);
}

static void hear(pg_link *link) {
    if (link->state == PG_CONNECTING) {
        unwatch_socket(link);
        go_on_connecting(link, PQconnectPoll(link->conn));
    } else if (link->state == PG_UP) {
        if (!PQconsumeInput(link->conn)) {
            fail_connection(link);
            return;
        }
        if (link->expects) pg_link_expect(link, true);
        link->ops->heard(link->user);
        pg_link_flush(link);
    }
}

static int hear_socket(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    hear(user);
    return 0;
}

static void be_late(pg_link *link) {
    char text[PG_SAID_MAX];
    snprintf(text, sizeof text, "it is silent for %g s (timeout)", (double)link->given->timeout / 1e9);
    pg_link_fail(link, text);
}

static bool has_news(const pg_link *link) {
    struct pollfd socket = { .fd = PQsocket(link->conn), .events = POLLIN };
    return link->state == PG_UP && poll(&socket, 1, 0) > 0;
}

static void tell_time(pg_link *link) {
    if (!link->at || gale_context_now(link->context) < link->at) return;
    if (link->state == PG_OFF)
        connect(link);
    else if (has_news(link))
        hear(link); /* the task could not run */
    else
        be_late(link);
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    tell_time(user);
    return 0;
}

void pg_link_drive(pg_link *link, int milliseconds) {
    struct pollfd socket = { .fd = link->conn ? PQsocket(link->conn) : -1, .events = POLLIN };
    if (link->events & GALE_WATCH_WRITE) socket.events |= POLLOUT;
    if (link->state == PG_CONNECTING && !(link->events & GALE_WATCH_READ)) socket.events = POLLOUT;
    if (poll(&socket, 1, milliseconds) > 0) hear(link);
    tell_time(link);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

int pg_link_open(pg_link *link, const pg_settings *given, bool replicates, bool always, const gale_context *context,
                 gale_collector *out, const pg_link_ops *ops, void *user, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    *link = (pg_link){ .given = given,
                       .context = context,
                       .out = out,
                       .ops = ops,
                       .user = user,
                       .replicates = replicates,
                       .always = always,
                       .at = gale_context_now(context) };
    options.at = link->at ? link->at : 1;
    options.always = always;
    options.call = hear_timer;
    options.user = link;
    int rc = gale_watch_new(out, &options, &link->timer);
    return rc < 0 ? gale_error_set(error, rc, "%s: it cannot be watched: %s", given->where, gale_error_text(rc)) : 0;
}

void pg_link_close(pg_link *link) {
    if (!link->given) return;
    link->state = PG_OFF;
    disconnect(link);
    if (link->timer) (void)gale_watch_free(link->out, link->timer);
}
