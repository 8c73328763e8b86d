#include "connect/net/datagrams.h"

#include "base/encoding.h"
#include "base/log.h"
#include "connect/net/tally.h"
#include "kit/calendar.h"

#include <errno.h>
#include <inttypes.h>

enum {
    LAST_LOOK = 1 << 16, /* datagrams that nobody read, which are counted at the end */
    TROUBLED = 100,      /* ms until a socket that cannot be read is tried again */
    PARTS = 64 << 10,    /* bytes of a datagram in parts that there is room for at least: no datagram of UDP has more */
};

static int64_t now_of(const gx_net_datagrams *d) {
    return gale_context_now(d->context);
}

/* --- What was lost ------------------------------------------------------------------------------------------------ */

/* How many more since the last time. The system's number begins anew after 2^32. */
static uint32_t look(gx_net_datagrams *d) {
    uint32_t drops;
    if (!d->counts || !gx_socket_drops(d->fd, &drops)) return 0;
    uint32_t more = drops - d->drops;
    d->drops = drops;
    d->lost += more;
    return more;
}

static void look_if_due(gx_net_datagrams *d) {
    int64_t now = now_of(d);
    if (now < d->look_at) return;
    d->look_at = now + GALE_SECOND;
    uint32_t more = look(d);
    if (more)
        gale_log(d->context->logger, GALE_LOG_WARN, d->context->component,
                 "%s: the system has thrown away %" PRIu32 " datagram%s, %" PRIu64
                 " in all, for want of room in the socket's buffer (%" PRId64 " bytes, receiveBuffer)",
                 d->name, more, gx_plural(more), d->lost, d->buffer_got);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_net_datagrams *d = user;
    if (events & GALE_WATCH_TIME) look_if_due(d);
    return gale_watch_set(out, watch, events & GALE_WATCH_READ ? 0 : GALE_WATCH_READ, 0);
}

/* Nothing is there: whoever lost something hears of it all the same. */
static void await(gx_net_datagrams *d, bool troubled) {
    int64_t at = d->taken ? d->look_at : 0;
    if (d->look_at <= now_of(d)) look_if_due(d), at = 0;
    if (troubled) at = now_of(d) + TROUBLED * GALE_MILLISECOND;
    (void)gale_watch_set(d->out, d->watch, troubled ? 0 : GALE_WATCH_READ, at);
}

/* The text of an address is made once for datagrams of one sender that come one after the other. */
static const char *peer_of(gx_net_datagrams *d, const gx_address *peer) {
    if (peer->size != d->peer_of.size || memcmp(peer->bytes, d->peer_of.bytes, peer->size) != 0) {
        d->peer_of = *peer;
        gx_address_text(peer, d->peer);
    }
    return d->peer;
}

/* Begins the next one that was taken: 1 where it is a record, or has some. */
static bool begin(gx_net_datagrams *d) {
    const gx_datagram *one = &d->list[d->next++];
    *(d->given->whole ? &d->cut : &d->larger) += one->cut;
    if (one->cut && d->given->whole && d->given->rule.drops) return false;
    (void)peer_of(d, &one->peer);
    d->piece = (gale_str){ one->data, one->size };
    d->frames.begun = false;
    d->frames.foreign = NULL;
    d->in_piece = true;
    d->is_cut = one->cut;
    return true;
}

/* What is packed has no lines. */
static void pass_foreign(gx_net_datagrams *d) {
    if (d->foreign++ == 0)
        gale_log(d->context->logger, GALE_LOG_WARN, d->context->component,
                 "%s: a datagram of %s is %s, and is dropped: %s", d->given->address, d->peer, d->frames.foreign,
                 gx_encoding_advice(d->frames.foreign));
    d->in_piece = false;
    gx_frames_fini(&d->frames);
}

/* Of a datagram in parts, the last need not have its end. */
static int part_of(gx_net_datagrams *d, gale_str *ret_bytes) {
    gx_frame frame;
    int rc = 1;
    if (d->given->whole) {
        *ret_bytes = d->piece;
        d->in_piece = false;
        return 1;
    }
    rc = gx_frames_next(&d->frames, &d->piece, &frame);
    if (rc == GALE_UNSUPPORTED) return pass_foreign(d), 0;
    if (rc == 0) {
        d->in_piece = false;
        rc = gx_frames_end(&d->frames, d->is_cut ? GX_FRAMES_BROKEN : GX_FRAMES_WHOLE, &frame);
        if (d->frames.foreign) return pass_foreign(d), 0;
    }
    if (rc > 0) *ret_bytes = frame.bytes;
    return rc;
}

int gx_net_datagrams_rest(gx_net_datagrams *d, gx_net_record *ret_record) {
    while (d->in_piece || d->next < d->count) {
        gale_str bytes;
        if (!d->in_piece && !begin(d)) continue;
        int rc = part_of(d, &bytes);
        if (rc > 0) *ret_record = (gx_net_record){ bytes, d->peer, d->received };
        if (rc != 0) return rc;
    }
    return 0;
}

int gx_net_datagrams_next(gx_net_datagrams *d, gx_net_record *ret_record) {
    for (;;) {
        int rc = gx_net_datagrams_rest(d, ret_record);
        if (rc != 0) return rc;
        int got = gx_socket_take(d->fd, d->list, GX_DATAGRAMS, d->room);
        if (got <= 0) return await(d, got != GALE_AGAIN), 0;
        d->next = 0;
        d->count = (uint32_t)got;
        d->taken += d->count;
        int64_t now = now_of(d);
        d->received = gx_calendar_is_machines(d->context, now) ? now + gx_calendar_phase(now) : now;
        if (now >= d->look_at) look_if_due(d);
    }
}

/* --- Its life ----------------------------------------------------------------------------------------------------- */

static int bind_it(gx_net_datagrams *d, gale_error *error) {
    const gale_context *context = d->context;
    gx_addresses found = { .count = 1 };
    bool path = gx_net_is_path(d->given->options.transport);
    bool lone = path || strcmp(strrchr(d->given->address, ':'), ":0") == 0;
    if (context->task_count > 1 && lone)
        return gale_error_set(error, GALE_INVALID, "%s: %s has one task, not %u", d->given->address,
                              path ? "a UNIX socket" : "a port of the system's choice, :0,", context->task_count);
    int rc = path ? gx_address_path(d->given->address, &found.list[0], error)
                  : gx_address_find(d->given->address, true, GX_SOCKET_DATAGRAM, &found, error);
    if (rc < 0) return rc;
    return gx_socket_listen_first(&found, GX_SOCKET_DATAGRAM, context->task_count > 1, &d->fd, &d->bound, error);
}

static void tell_bound(gx_net_datagrams *d) {
    const gale_context *context = d->context;
    int64_t wanted = (int64_t)d->given->options.receive_buffer;
    gx_address bound;
    if (gx_socket_name(d->fd, &bound) && gx_address_text(&bound, d->at)) d->name = d->at;
    d->buffer_got = gx_socket_receive_buffer(d->fd, wanted);
    d->counts = gx_socket_drops(d->fd, &d->drops);
    gale_log(context->logger, GALE_LOG_INFO, context->component, "listens at %s, with a buffer of %" PRId64 " bytes",
             d->name, d->buffer_got);
    if (d->buffer_got < wanted)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "receiveBuffer is %" PRId64 " bytes, and the system gave %" PRId64 " (net.core.rmem_max)", wanted,
                 d->buffer_got);
    if (!d->counts)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "this system does not say how many datagrams it throws away (SO_MEMINFO)");
}

static int begin_watching(gx_net_datagrams *d, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = d->fd;
    options.events = GALE_WATCH_READ;
    options.call = told;
    options.user = d;
    int rc = gale_watch_new(d->out, &options, &d->watch);
    return rc < 0 ? gale_error_set(error, rc, "%s: its socket cannot be watched", d->given->address) : 0;
}

int gx_net_datagrams_open(gx_net_datagrams *d, const gx_net_settings *given, const gale_context *context,
                          gale_collector *out, gx_heap *heap, gale_error *error) {
    *d = (gx_net_datagrams){
        .given = given, .context = context, .out = out, .heap = heap, .name = given->address, .fd = -1
    };
    size_t longest = given->options.longest;
    d->room = given->whole || longest > PARTS ? longest : PARTS;
    gx_frames_init(&d->frames, heap, &given->rule);
    int rc = bind_it(d, error);
    if (rc < 0) return rc;
    d->buffer = gx_alloc_array(heap, GX_TAG_OTHER, GX_DATAGRAMS, d->room);
    if (!d->buffer) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", given->address);
    for (uint32_t i = 0; i < GX_DATAGRAMS; i++) d->list[i].data = d->buffer + i * d->room;
    tell_bound(d);
    return begin_watching(d, error);
}

/* What nobody will read; its senders may go on. */
static uint64_t count_unread(gx_net_datagrams *d) {
    uint64_t unread = d->count - d->next;
    int got;
    while (unread < LAST_LOOK && (got = gx_socket_take(d->fd, d->list, GX_DATAGRAMS, 0)) > 0) unread += (uint64_t)got;
    return unread;
}

static void tell_all(gx_net_datagrams *d) {
    const gale_context *context = d->context;
    uint64_t taken = d->taken - (d->count - d->next), unread = count_unread(d);
    char text[400];
    (void)look(d);
    const gx_net_tally happened[] = {
        { d->lost, "datagram", "thrown away by the system" },
        { unread, "datagram", "not read at the end" },
        { d->cut + d->frames.too_long, "record", "longer than `longest`" },
        { d->foreign, "datagram", "packed, or text of another encoding, and dropped" },
        { d->larger, "datagram", "larger than 64 KiB (and `longest`), and read as far as the last record within" },
    };
    size_t some = gx_net_tally_text(happened, sizeof happened / sizeof *happened, text, sizeof text);
    gale_log(context->logger, some ? GALE_LOG_WARN : GALE_LOG_INFO, context->component,
             "%s: %" PRIu64 " datagram%s %s received%s%s", d->name, taken, gx_plural(taken),
             taken == 1 ? "was" : "were", some ? ", " : "", text);
}

void gx_net_datagrams_close(gx_net_datagrams *d) {
    if (d->buffer) tell_all(d);
    gx_frames_fini(&d->frames);
    gx_free(d->heap, GX_TAG_OTHER, d->buffer, d->buffer ? GX_DATAGRAMS * d->room : 0);
    if (d->fd >= 0) gx_socket_end(d->fd, &d->bound);
}
