/* Tuples to a server by TCP. Records gather while there are tuples to execute, and are written in each flush and when the socket has room again. A tuple
 * is held until the other machine has taken its record: how much it has not is asked of the socket, by a timer that runs only
 * while something is outstanding. */
#include "connect/net/tcp_sink.h"

#include "base/os/socket.h"
#include "base/os/time.h"
#include "connect/net/held.h"
#include "connect/net/settings.h"

#include <errno.h>
#include <gale/watch.h>
#include <poll.h>
#include <stdio.h>

enum { AT_ONCE = 1 << 20, FIRST_PAUSE = 100 /* ms */, LAST_PAUSE = 30000 };
#define SOON GALE_MILLISECOND
#define SELDOM (100 * GALE_MILLISECOND)

typedef enum phase { DIALS, OPEN, WAITS } phase;

typedef struct sink {
    gx_instance instance;
    const gx_net_sink_settings *given;
    gale_collector *out;
    gx_net_held held;
    gx_addresses addresses;
    uint32_t next_address;
    phase phase;
    int fd;           /* -1: none */
    gale_watch watch; /* of that */
    gale_watch timer; /* of the next look, of the next try */
    uint64_t taken;   /* bytes of all records, on this connection at last */
    int64_t look;     /* between two looks, ns */
    int64_t pause;    /* before the next try, ns */
} sink;

static int64_t now(const sink *s) {
    return gale_context_now(s->instance.context);
}

static void set_timer(sink *s, int64_t at) {
    (void)gale_watch_set(s->out, s->timer, 0, at);
}

/* --- The connection ----------------------------------------------------------------------------------------------- */

static void shut(sink *s) {
    if (s->watch) (void)gale_watch_free(s->out, s->watch);
    gx_socket_close(s->fd);
    s->watch = 0;
    s->fd = -1;
}

/* A part of it at random, so that many who lost a server do not come again together. */
static void dial_later(sink *s) {
    const int64_t most = LAST_PAUSE * GALE_MILLISECOND;
    int64_t part = (int64_t)(gale_context_random(s->instance.context) % (uint64_t)(s->pause / 2 + 1));
    bool again = s->next_address != 0; /* there is another address, which is tried at once */
    s->phase = WAITS;
    set_timer(s, again ? now(s) : now(s) + s->pause - part);
    if (!again) s->pause = s->pause < most / 2 ? s->pause * 2 : most;
}

/* What was not taken is written again to the next one. A machine that vanishes, or a network, blames no record. */
static void lose(sink *s, const char *what, int why) {
    char text[200];
    bool ended = s->phase == OPEN && (!why || why == ECONNRESET || why == EPIPE);
    snprintf(text, sizeof text, "%s%s%s", what, why ? ": " : "", why ? strerror(why) : "");
    gx_net_held_tell(&s->held, text);
    shut(s);
    gx_net_held_lose(&s->held, ended ? s->taken : 0, text);
    dial_later(s);
}

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events);
static void pump(sink *s);

static void connected(sink *s) {
    s->phase = OPEN;
    s->look = SOON;
    s->next_address = 0;
    gx_net_held_tell(&s->held, NULL);
    pump(s);
}

/* `fd` is made: it is watched, and may be connected already. */
static void use(sink *s, bool is_connected) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    s->phase = DIALS;
    options.fd = s->fd;
    options.events = GALE_WATCH_WRITE;
    options.always = true;
    options.call = told;
    options.user = s;
    if (gale_watch_new(s->out, &options, &s->watch) < 0)
        lose(s, "its socket cannot be watched", 0);
    else if (is_connected)
        connected(s);
}

static void dial(sink *s) {
    const gx_address *address = &s->addresses.list[s->next_address];
    s->next_address = (s->next_address + 1) % s->addresses.count;
    int rc = gx_socket_connect(address, GX_SOCKET_STREAM, &s->fd);
    if (rc != 0 && rc != GALE_AGAIN) {
        int why = errno;
        s->fd = -1;
        lose(s, "cannot connect", why);
        return;
    }
    use(s, rc == 0);
}

/* `gale.required`: the run does not begin without its server. */
static int dial_required(sink *s, gale_error *error) {
    uint32_t index;
    if (gx_socket_connect_first(&s->addresses, GX_NET_REQUIRED_WAIT, &index, &s->fd) < 0)
        return gale_error_set(error, GALE_IO, "%s: cannot connect: %s (gale.required)", s->given->address,
                              strerror(errno));
    use(s, true);
    return 0;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* 0; an errno when the connection is lost. */
static int write_some(sink *s) {
    gx_outgoing *records = &s->held.records;
    size_t before = 0;
    for (gale_str rest = gx_outgoing_unwritten(records); rest.size && before < AT_ONCE;
         rest = gx_outgoing_unwritten(records)) {
        int64_t took = gx_socket_write(s->fd, rest.data, rest.size < AT_ONCE ? rest.size : AT_ONCE);
        if (took < 0) return took == GALE_AGAIN ? 0 : errno;
        records->written += (uint64_t)took;
        before += (size_t)took;
    }
    return 0;
}

/* Acks what was taken. How many bytes were not; where the system does not say, all that was written counts as taken. */
static uint64_t answer(sink *s) {
    int64_t unsent = gx_socket_unsent(s->fd);
    uint64_t outstanding = unsent > 0 ? (uint64_t)unsent : 0;
    s->taken = s->held.records.written - outstanding;
    if (gx_net_held_take(&s->held, s->taken)) {
        s->look = SOON;
        s->pause = FIRST_PAUSE * GALE_MILLISECOND;
    }
    return outstanding;
}

/* What a server says is passed over. False: it has gone, for the reason in `*ret_why` (0: it has closed its side). */
static bool is_there(const sink *s, int *ret_why) {
    char bytes[4096];
    for (int i = 0; i < 16; i++) {
        int64_t got = gx_socket_read(s->fd, bytes, sizeof bytes);
        if (got == GALE_AGAIN) return true;
        *ret_why = got == 0 ? 0 : errno;
        if (got <= 0) return false;
    }
    return true;
}

/* While nothing moves it looks less and less often. */
static void wait_on(sink *s, uint64_t outstanding) {
    bool more = gx_outgoing_unwritten(&s->held.records).size > 0;
    (void)gale_watch_set(s->out, s->watch, more ? GALE_WATCH_READ | GALE_WATCH_WRITE : GALE_WATCH_READ, 0);
    set_timer(s, outstanding ? now(s) + s->look : 0);
    if (outstanding && s->look < SELDOM) s->look *= 2;
}

static void pump(sink *s) {
    if (s->phase != OPEN) return;
    int why = write_some(s);
    uint64_t outstanding = answer(s);
    if (why)
        lose(s, "the connection is lost", why);
    else
        wait_on(s, outstanding);
}

/* --- What it is told ---------------------------------------------------------------------------------------------- */

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    sink *s = user;
    int why = s->phase == DIALS ? gx_socket_error(s->fd) : 0;
    (void)out, (void)watch;
    if (s->phase == DIALS && why)
        lose(s, "cannot connect", why);
    else if (s->phase == DIALS)
        connected(s);
    else if ((events & (GALE_WATCH_READ | GALE_WATCH_HANGUP)) && !is_there(s, &why)) {
        (void)answer(s);
        lose(s, why ? "the connection is lost" : "the connection was closed by the other side", why);
    } else
        pump(s);
    return 0;
}

static int told_of_time(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    sink *s = user;
    (void)out, (void)watch, (void)events;
    if (s->phase == WAITS)
        dial(s);
    else
        pump(s);
    return 0;
}

/* --- Tuples ------------------------------------------------------------------------------------------------------- */

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    (void)out;
    return gx_net_held_add(&s->held, tuple);
}

static int bolt_flush(void *self, gale_collector *out) {
    (void)out;
    pump(self);
    return 0;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static void send_on(sink *s) {
    bool writes = s->phase == DIALS || gx_outgoing_unwritten(&s->held.records).size;
    struct pollfd one = { .fd = s->fd, .events = writes ? POLLOUT : 0 };
    if (s->phase == WAITS) dial(s);
    (void)poll(&one, s->phase != WAITS, s->phase == OPEN ? 1 : 20);
    if (s->phase == OPEN || one.revents) (void)told(s, s->out, s->watch, GALE_WATCH_READ);
}

/* As long as something is taken within the patience. What comes at the end alone (the tuples of a finish before it) is not much. */
static bool send_rest(sink *s) {
    int64_t until = gx_os_monotonic() + s->given->finish_wait;
    while (s->held.records.count && gx_os_monotonic() < until) {
        size_t before = s->held.records.count;
        send_on(s);
        if (s->held.records.count < before) until = gx_os_monotonic() + s->given->finish_wait;
    }
    return s->held.records.count == 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    gale_error error = GALE_ERROR_INIT;
    if (send_rest(s)) return 0;
    gale_error_set(&error, GALE_IO, "%s: %zu record%s not taken within %g seconds", s->given->address,
                   s->held.records.count, s->held.records.count == 1 ? " was" : "s were",
                   (double)s->given->finish_wait / (double)GALE_SECOND);
    while (s->held.records.count) gx_net_held_fail_first(&s->held, GALE_REASON_FAILED, error.text);
    gale_stop(out, error.code, error.text);
    return error.code;
}

static void free_sink(sink *s) {
    gx_socket_close(s->fd);
    gx_net_held_fini(&s->held);
    gx_define_instance_free(s);
}

static void bolt_cleanup(void *self) {
    free_sink(self);
}

/* --- The beginning ------------------------------------------------------------------------------------------------ */

static int begin(sink *s, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    int rc = gx_address_find(s->given->address, false, GX_SOCKET_STREAM, &s->addresses, error);
    if (rc < 0) return rc == GALE_IO ? GALE_AGAIN : rc; /* it may be found later */
    options.always = true;
    options.call = told_of_time;
    options.user = s;
    rc = gale_watch_new(s->out, &options, &s->timer);
    if (rc < 0) return gale_error_set(error, rc, "net sink: it waits by watches, which there are none of here");
    if (gale_config_bool(s->instance.context->config, "gale.required", false)) return dial_required(s, error);
    dial(s);
    return 0;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    sink *s = gx_define_instance(context, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    gale_error error = GALE_ERROR_INIT;
    s->given = user;
    s->out = out;
    s->fd = -1;
    s->pause = FIRST_PAUSE * GALE_MILLISECOND;
    gx_net_held_init(&s->held, user, &s->instance.heap, context, out);
    int rc = begin(s, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        free_sink(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

/* --- What lasts --------------------------------------------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    const sink *s = self;
    return gx_net_held_save(&s->held, to);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    sink *s = self;
    (void)out;
    return gx_net_held_restore(&s->held, from);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

const gale_bolt_ops gx_net_tcp_sink = {
    .size = sizeof(gale_bolt_ops),
    .name = "net sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .flush = bolt_flush,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};
