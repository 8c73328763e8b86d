/* Tuples to a port by UDP. A tuple is held until the system has taken its datagram, which it does at once unless its buffer is full. */
#include "connect/net/udp_sink.h"

#include "base/os/socket.h"
#include "base/os/time.h"
#include "connect/net/held.h"

#include <errno.h>
#include <gale/watch.h>
#include <poll.h>
#include <stdio.h>

enum { REFUSALS = 4, TROUBLED = 100 /* ms until a network that is not there is tried again */ };

typedef struct sink {
    gx_instance instance;
    const gx_net_sink_settings *given;
    gale_collector *out;
    gx_net_held held;
    int fd;
    gale_watch watch;
    int64_t refused_at;
} sink;

/* --- Sending ------------------------------------------------------------------------------------------------------ */

/* The records of the next datagram: those that fit, and one at least. */
static gale_str next_datagram(const sink *s, uint64_t *ret_end) {
    const gx_outgoing *records = &s->held.records;
    uint64_t end = gx_outgoing_at(records, 0)->end, most = s->given->options.datagram;
    for (size_t i = 1; most && i < records->count && gx_outgoing_at(records, i)->end - records->begin <= most; i++)
        end = gx_outgoing_at(records, i)->end;
    *ret_end = end;
    return (gale_str){ gx_outgoing_unwritten(records).data, (size_t)(end - records->begin) };
}

static void fail_large(sink *s, size_t size) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_TOO_LARGE, "net sink: a datagram of %zu bytes is too large for the system", size);
    gx_net_held_fail_first(&s->held, GALE_REASON_REJECTED, error.text);
}

static void tell(sink *s, int why) {
    char text[120];
    snprintf(text, sizeof text, "datagrams do not arrive: %s", strerror(why));
    gx_net_held_tell(&s->held, text);
    s->refused_at = gale_context_now(s->instance.context);
}

static void have_sent(sink *s, uint64_t end) {
    s->held.records.written = end;
    (void)gx_net_held_take(&s->held, end);
    if (s->held.down && gale_context_now(s->instance.context) - s->refused_at > GALE_SECOND)
        gx_net_held_tell(&s->held, NULL);
}

/* 0, or what keeps it from sending: GALE_AGAIN, GALE_IO. That a datagram was refused is told to the next one, which was not sent. */
static int send_some(sink *s) {
    int refusals = 0;
    while (s->held.records.count) {
        uint64_t end;
        gale_str datagram = next_datagram(s, &end);
        int64_t sent = gx_socket_write(s->fd, datagram.data, datagram.size);
        int why = sent < 0 ? errno : 0;
        if (sent == GALE_AGAIN) return GALE_AGAIN;
        if (sent >= 0) {
            refusals = 0;
            have_sent(s, end);
        } else if (why == EMSGSIZE) {
            fail_large(s, datagram.size);
        } else {
            tell(s, why);
            if (why != ECONNREFUSED || ++refusals == REFUSALS) return GALE_IO;
        }
    }
    return 0;
}

static void pump(sink *s) {
    int rc = send_some(s);
    int64_t at = rc == GALE_IO ? gale_context_now(s->instance.context) + TROUBLED * GALE_MILLISECOND : 0;
    (void)gale_watch_set(s->out, s->watch, rc == GALE_AGAIN ? GALE_WATCH_WRITE : 0, at);
}

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    pump(user);
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

static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    gale_error error = GALE_ERROR_INIT;
    int64_t until = gx_os_monotonic() + s->given->finish_wait;
    while (send_some(s) < 0 && gx_os_monotonic() < until) {
        struct pollfd one = { .fd = s->fd, .events = POLLOUT };
        (void)poll(&one, 1, 20);
    }
    if (!s->held.records.count) return 0;
    gale_error_set(&error, GALE_IO, "%s: %zu records could not be sent", s->given->address, s->held.records.count);
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
    gx_addresses found;
    int rc = gx_address_find(s->given->address, false, GX_SOCKET_DATAGRAM, &found, error);
    if (rc < 0) return rc == GALE_IO ? GALE_AGAIN : rc; /* it may be found later */
    if (gx_socket_connect(&found.list[0], GX_SOCKET_DATAGRAM, &s->fd) != 0) {
        int why = errno;
        s->fd = -1;
        return gale_error_set(error, GALE_IO, "cannot send to %s: %s", s->given->address, strerror(why));
    }
    options.fd = s->fd;
    options.always = true;
    options.call = told;
    options.user = s;
    rc = gale_watch_new(s->out, &options, &s->watch);
    return rc < 0 ? gale_error_set(error, rc, "net sink: it waits by watches, which there are none of here") : 0;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    sink *s = gx_define_instance(context, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    gale_error error = GALE_ERROR_INIT;
    s->given = user;
    s->out = out;
    s->fd = -1;
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
    int rc = gx_net_held_restore(&s->held, from);
    if (rc == 0 && s->held.records.count) rc = gale_watch_set(out, s->watch, 0, gale_context_now(s->instance.context));
    return rc;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

const gale_bolt_ops gx_net_udp_sink = {
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
