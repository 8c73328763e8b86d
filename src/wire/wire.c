/* For SOCK_CLOEXEC and SOCK_NONBLOCK. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "wire/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WRITES_AT = 64 << 10, MOST = 1 << 20 };

static int64_t now(const wire *w) {
    struct timespec time;
    if (w->options.context) return gale_context_now(w->options.context);
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * GALE_SECOND + time.tv_nsec;
}

static double timeout_of(const wire *w) {
    return (double)w->options.given->timeout / (double)GALE_SECOND;
}

/* --- Words ------------------------------------------------------------------------------------------------------------ */

static void tell_health(const wire *w, const char *words) {
    if (w->options.health)
        wire_health_say(w->options.health, w->options.out, w->options.who, words);
    else
        gale_health(w->options.out, words);
}

void wire_unwell(wire *w, const char *why) {
    char text[GALE_FAILURE_TEXT];
    const char *what = w->options.what ? w->options.what : "";
    if (!w->options.out) return;
    snprintf(text, sizeof text, "%s%s: %s", w->options.given->where, what, why);
    w->unwell = true;
    tell_health(w, text);
}

void wire_well(wire *w) {
    w->backoff = (gale_backoff){ 0 };
    if (!w->unwell) return;
    w->unwell = false;
    tell_health(w, NULL);
}

/* --- Watches ---------------------------------------------------------------------------------------------------------- */

static void set_timer(wire *w) {
    if (w->timer) (void)gale_watch_set(w->options.out, w->timer, 0, w->again ? 1 : w->at);
}

static void set_at(wire *w, int64_t at) {
    w->at = at;
    set_timer(w);
}

static int hear_watch(void *user, gale_collector *out, gale_watch watch, int32_t events);

static void unwatch(wire *w) {
    if (w->watch) (void)gale_watch_free(w->options.out, w->watch);
    w->watch = 0;
    w->events = 0;
}

/* In `finish` there are no watches: what is wanted is known then, and wire_drive waits for it. */
static bool watch_events(wire *w, int fd, int32_t events) {
    bool same = w->watch && events == w->events;
    w->events = events;
    if (!w->options.out || same) return true;
    if (w->watch) {
        (void)gale_watch_set(w->options.out, w->watch, events, 0);
        return true;
    }
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = fd;
    options.events = events;
    options.always = w->options.always;
    options.call = hear_watch;
    options.user = w;
    int rc = gale_watch_new(w->options.out, &options, &w->watch);
    return rc >= 0 || rc == GALE_STOPPED;
}

static void watch_or_fail(wire *w, int fd, int32_t events) {
    if (!watch_events(w, fd, events)) wire_fail(w, "its socket cannot be watched");
}

/* --- Off -------------------------------------------------------------------------------------------------------------- */

static void close_socket(wire *w, bool orderly) {
    unwatch(w);
    wire_tls_end(w->tls, orderly);
    w->tls = NULL;
    if (w->fd >= 0) close(w->fd);
    w->fd = -1;
}

static void disconnect(wire *w, bool orderly) {
    close_socket(w, orderly);
    wire_finding_leave(w->finding);
    w->finding = NULL;
    wire_unsent_clear(&w->unsent);
    w->expects = w->paused = w->was_full = w->again = false;
    w->state = WIRE_OFF;
}

void wire_fail(wire *w, const char *why) {
    char text[WIRE_WHY_MAX];
    bool was_up = w->state == WIRE_UP, mends = w->options.out != NULL;
    if (w->state == WIRE_OFF) return;
    snprintf(text, sizeof text, "%s", why);
    memcpy(w->why, text, sizeof w->why);
    disconnect(w, false);
    wire_unwell(w, text);
    set_at(w, mends ? now(w) + gale_backoff_next(&w->backoff, w->options.context) : 0);
    if (was_up && w->options.ops->lost) w->options.ops->lost(w->options.user);
}

/* --- Bytes ------------------------------------------------------------------------------------------------------------ */

static bool would_wait(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* A socket's error that is no end by the server is the network's. */
static void note_away(wire *w, int64_t result) {
    w->ended = result >= 0 || errno == ECONNRESET || errno == EPIPE;
}

/* As wire_tls_read, in all. */
static int64_t receive(wire *w, void *to, size_t size) {
    int64_t got = w->tls ? wire_tls_read(w->tls, to, size, &w->read_wants, w->why) : recv(w->fd, to, size, 0);
    if (w->tls || got > 0) return got;
    if (got < 0 && would_wait()) return GALE_AGAIN;
    note_away(w, got);
    snprintf(w->why, sizeof w->why, "%s%s", got < 0 ? "the connection is lost: " : "the server closed the connection",
             got < 0 ? strerror(errno) : "");
    return GALE_IO;
}

static int64_t transmit(wire *w, gale_str bytes) {
    if (w->tls) return wire_tls_write(w->tls, bytes.data, bytes.size, &w->write_wants, w->why);
    int64_t took = send(w->fd, bytes.data, bytes.size, MSG_NOSIGNAL);
    if (took >= 0) return took;
    if (would_wait()) return GALE_AGAIN;
    note_away(w, took);
    snprintf(w->why, sizeof w->why, "the connection is lost: %s", strerror(errno));
    return GALE_IO;
}

static void send_some(wire *w) {
    for (gale_str rest = wire_unsent_rest(&w->unsent); rest.size; rest = wire_unsent_rest(&w->unsent)) {
        int64_t took = transmit(w, rest);
        if (took == GALE_AGAIN) return;
        if (took < 0) {
            wire_fail(w, w->why);
            return;
        }
        w->write_wants = GALE_WATCH_WRITE;
        wire_unsent_took(&w->unsent, (size_t)took);
    }
}

static bool has_room_again(const wire *w) {
    return w->was_full && wire_unsent_size(w) <= w->unsent.most / 2;
}

/* What the socket does not tell of: bytes that TLS has, and room that came by a flush. */
static void wait_on(wire *w) {
    bool again = has_room_again(w) || (w->tls && !w->paused && wire_tls_has_more(w->tls));
    int32_t reads = w->paused ? 0 : w->read_wants, writes = wire_unsent_size(w) ? w->write_wants : 0;
    if (again != w->again) {
        w->again = again;
        set_timer(w);
    }
    watch_or_fail(w, w->fd, reads | writes);
}

void wire_flush(wire *w) {
    if (w->state == WIRE_UP) send_some(w);
    if (w->state == WIRE_UP) wait_on(w);
}

static void tell_room(wire *w) {
    if (!has_room_again(w)) return;
    w->was_full = false;
    if (w->options.ops->room) w->options.ops->room(w->options.user);
}

/* A callback may end it; it is up again at another time at the earliest. */
static void go_on(wire *w) {
    send_some(w);
    if (w->state == WIRE_UP && !w->paused) w->options.ops->heard(w->options.user);
    if (w->state == WIRE_UP) tell_room(w);
    wire_flush(w);
}

int64_t wire_read(wire *w, void *to, size_t size) {
    if (w->state != WIRE_UP) return GALE_STATE;
    int64_t got = receive(w, to, size);
    if (got == GALE_AGAIN) return 0;
    if (got < 0) {
        wire_fail(w, w->why);
        return GALE_STATE;
    }
    w->read_wants = GALE_WATCH_READ;
    if (w->expects) wire_expect(w, true);
    return got;
}

int wire_write(wire *w, const void *bytes, size_t size) {
    if (w->state != WIRE_UP) return GALE_STATE;
    int rc = wire_unsent_add(&w->unsent, bytes, size);
    if (rc == GALE_AGAIN) {
        send_some(w);
        if (w->state == WIRE_UP) rc = wire_unsent_add(&w->unsent, bytes, size);
    }
    if (rc == GALE_AGAIN) w->was_full = true;
    if (rc == GALE_AGAIN || (rc == 0 && wire_unsent_size(w) >= WRITES_AT)) wire_flush(w);
    return w->state == WIRE_UP ? rc : GALE_STATE;
}

size_t wire_unsent_size(const wire *w) {
    return wire_unsent_rest(&w->unsent).size;
}

void wire_expect(wire *w, bool something) {
    w->expects = something;
    set_at(w, something && !w->paused ? now(w) + w->options.given->timeout : 0);
}

void wire_pause(wire *w, bool paused) {
    if (w->state != WIRE_UP || w->paused == paused) return;
    w->paused = paused;
    wire_expect(w, w->expects);
    wait_on(w);
}

/* --- On --------------------------------------------------------------------------------------------------------------- */

static void come_up(wire *w) {
    w->state = WIRE_UP;
    w->ended = true;
    w->read_wants = GALE_WATCH_READ;
    w->write_wants = GALE_WATCH_WRITE;
    set_at(w, 0);
    if (w->options.ops->up) w->options.ops->up(w->options.user);
    wire_flush(w);
}

static void shake(wire *w) {
    int32_t wants = GALE_WATCH_READ;
    int rc = wire_tls_shake(w->tls, &wants, w->why);
    if (rc == 0)
        come_up(w);
    else if (rc == GALE_AGAIN)
        watch_or_fail(w, w->fd, wants);
    else
        wire_fail(w, w->why);
}

/* What the other machine does not answer is gone within two minutes. */
static void tune(int fd) {
    int on = 1, idle = 60, between = 10, count = 6;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

static void be_made(wire *w) {
    if (!w->options.given->path) tune(w->fd);
    if (!w->options.given->tls) {
        come_up(w);
        return;
    }
    w->state = WIRE_SHAKING;
    set_at(w, w->until);
    w->tls = wire_tls_begin(w->options.given, w->fd, w->why);
    if (w->tls)
        shake(w);
    else
        wire_fail(w, w->why);
}

/* 0: it is connected; GALE_AGAIN: it will be, or not; GALE_IO: the next one, for `why`. */
static int try_address(wire *w, const wire_address *address) {
    w->fd = socket(address->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (w->fd >= 0 && connect(w->fd, (const struct sockaddr *)&address->bytes, address->size) == 0) return 0;
    if (w->fd >= 0 && (errno == EINPROGRESS || errno == EINTR)) return GALE_AGAIN;
    snprintf(w->why, sizeof w->why, "cannot connect: %s", strerror(errno));
    close_socket(w, false);
    return GALE_IO;
}

static void try_next(wire *w) {
    int rc = GALE_IO;
    while (rc == GALE_IO && w->next_address < w->addresses.count)
        rc = try_address(w, &w->addresses.list[w->next_address++]);
    if (rc == 0) {
        be_made(w);
    } else if (rc == GALE_AGAIN) {
        int64_t left = w->until - now(w);
        set_at(w, now(w) + left / (int64_t)(w->addresses.count - w->next_address + 1));
        watch_or_fail(w, w->fd, GALE_WATCH_WRITE);
    } else
        wire_fail(w, w->why);
}

static void begin_connecting(wire *w) {
    w->state = WIRE_CONNECTING;
    w->next_address = 0;
    try_next(w);
}

static void dial(wire *w) {
    w->until = now(w) + w->options.given->timeout;
    w->state = WIRE_FINDING;
    set_at(w, w->until);
    int rc = wire_find(w->options.given, &w->addresses, &w->finding, w->why);
    if (rc == 0)
        begin_connecting(w);
    else if (rc == GALE_AGAIN)
        watch_or_fail(w, wire_finding_fd(w->finding), GALE_WATCH_READ);
    else
        wire_fail(w, w->why);
}

/* --- News ------------------------------------------------------------------------------------------------------------- */

static void take_found(wire *w) {
    int rc = wire_finding_take(w->finding, &w->addresses, w->why);
    if (rc == GALE_AGAIN) return;
    unwatch(w);
    wire_finding_leave(w->finding);
    w->finding = NULL;
    if (rc == 0)
        begin_connecting(w);
    else
        wire_fail(w, w->why);
}

static void take_connected(wire *w) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0) error = errno;
    if (!error) {
        be_made(w);
        return;
    }
    snprintf(w->why, sizeof w->why, "cannot connect: %s", strerror(error));
    close_socket(w, false);
    try_next(w);
}

static void hear(wire *w) {
    switch (w->state) {
    case WIRE_FINDING: take_found(w); return;
    case WIRE_CONNECTING: take_connected(w); return;
    case WIRE_SHAKING: shake(w); return;
    case WIRE_UP: go_on(w); return;
    case WIRE_OFF: return;
    }
}

static int hear_watch(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    hear(user);
    return 0;
}

static bool has_news(const wire *w) {
    struct pollfd socket = { .fd = w->fd, .events = POLLIN };
    return w->fd >= 0 && w->state != WIRE_CONNECTING && poll(&socket, 1, 0) > 0;
}

static void be_late(wire *w) {
    static const char *const what[] = { [WIRE_FINDING] = "its host is not found",
                                        [WIRE_CONNECTING] = "cannot connect: there is no answer",
                                        [WIRE_SHAKING] = "TLS: there is no answer",
                                        [WIRE_UP] = "it is silent" };
    snprintf(w->why, sizeof w->why, "%s for %g s (timeout)", what[w->state], timeout_of(w));
    w->ended = false;
    if (w->state == WIRE_CONNECTING) {
        close_socket(w, false);
        try_next(w);
    } else
        wire_fail(w, w->why);
}

static void tell_time(wire *w) {
    if (w->again) {
        w->again = false;
        set_timer(w);
        hear(w);
    }
    if (!w->at || now(w) < w->at) return;
    if (w->state == WIRE_OFF)
        dial(w);
    else if (has_news(w))
        hear(w); /* the task could not run */
    else
        be_late(w);
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    tell_time(user);
    return 0;
}

static int patience(const wire *w, int milliseconds) {
    int64_t left = w->at ? (w->at - now(w)) / GALE_MILLISECOND + 1 : milliseconds;
    if (w->again || left < 0) left = 0;
    return left < milliseconds ? (int)left : milliseconds;
}

void wire_drive(wire *w, int milliseconds) {
    struct pollfd one = { .fd = w->finding ? wire_finding_fd(w->finding) : w->fd };
    if (w->events & GALE_WATCH_READ) one.events |= POLLIN;
    if (w->events & GALE_WATCH_WRITE) one.events |= POLLOUT;
    if (poll(&one, 1, patience(w, milliseconds)) > 0) hear(w);
    tell_time(w);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

void wire_again(wire *w) {
    if (w->state == WIRE_OFF) set_at(w, now(w));
}

static int open_timer(wire *w, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    w->at = now(w);
    options.at = w->at > 0 ? w->at : 1;
    options.always = w->options.always;
    options.call = hear_timer;
    options.user = w;
    int rc = gale_watch_new(w->options.out, &options, &w->timer);
    if (rc >= 0) return 0;
    return gale_error_set(error, rc, "%s: it cannot be watched: %s", w->options.given->where, gale_error_text(rc));
}

int wire_open(wire *w, const wire_options *options, gale_error *error) {
    *w = (wire){ .options = *options, .fd = -1, .unsent = { .most = options->most ? options->most : MOST } };
    return options->out ? open_timer(w, error) : 0;
}

void wire_close(wire *w) {
    if (!w->options.given) return;
    disconnect(w, true);
    if (w->timer) (void)gale_watch_free(w->options.out, w->timer);
    wire_unsent_free(&w->unsent);
    *w = (wire){ .fd = -1 };
}
