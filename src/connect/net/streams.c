#include "connect/net/streams.h"

#include "base/encoding.h"
#include "base/log.h"
#include "connect/net/tally.h"
#include "kit/calendar.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    TURNS = 64,        /* that may give no record before others may have theirs */
    ACCEPTS = 64,      /* in a row */
    STARVED = 200,     /* ms until accepting is tried again, where the system has no more descriptors */
    SILENCE = 10,      /* seconds between two reports of the same kind of trouble */
    FIRST_PAUSE = 100, /* ms */
    LAST_PAUSE = 30000,
};

struct gx_connection {
    gx_connection *next;            /* in the list */
    gx_connection *before, *behind; /* of all */
    gx_net_streams *of;
    gale_watch watch;
    gx_frames frames;
    int64_t last; /* when something came */
    int fd;
    bool dials;
    bool listed;
    bool has_more; /* a whole piece came */
    bool at_end, told_end;
    bool in_order; /* the end: the other side has closed */
    char peer[];
};

static int64_t now_of(const gx_net_streams *s) {
    return gale_context_now(s->context);
}

static int64_t wall_of(const gx_net_streams *s) {
    int64_t now = now_of(s);
    return gx_calendar_is_machines(s->context, now) ? now + gx_calendar_phase(now) : now;
}

static int watch_new(gx_net_streams *s, int fd, int32_t events, gale_watch_fn *call, void *user, gale_watch *ret) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = fd;
    options.events = events;
    options.call = call;
    options.user = user;
    return gale_watch_new(s->out, &options, ret);
}

/* What is no loss of a record that was emitted: a run whose clients are rude, or whose server is down for a while, has not failed. */
GALE_PRINTF(2, 3) static void say(const gx_net_streams *s, const char *format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    gale_log(s->context->logger, GALE_LOG_WARN, s->context->component, "%s: %s", s->name, text);
}

/* May be said: nothing of the kind was for a while. */
static bool may_tell(gx_net_streams *s) {
    int64_t now = now_of(s);
    if (s->told_at && now - s->told_at < SILENCE * GALE_SECOND) return false;
    s->told_at = now;
    return true;
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

static void list(gx_net_streams *s, gx_connection *c) {
    if (c->listed) return;
    c->listed = true;
    c->next = NULL;
    *(s->listed.last ? &s->listed.last->next : &s->listed.first) = c;
    s->listed.last = c;
}

static gx_connection *take_listed(gx_net_streams *s) {
    gx_connection *c = s->listed.first;
    if (!c) return NULL;
    s->listed.first = c->next;
    if (!c->next) s->listed.last = NULL;
    c->listed = false;
    return c;
}

/* In neither list any more, and its descriptor is closed. */
static void give_back(gx_connection *c) {
    gx_net_streams *s = c->of;
    gx_frame none;
    s->held -= gx_frames_held(&c->frames);
    (void)gx_frames_end(&c->frames, GX_FRAMES_BROKEN, &none);
    s->too_long += c->frames.too_long;
    s->cut_off += c->frames.cut_off;
    gx_frames_fini(&c->frames);
    *(c->before ? &c->before->behind : &s->all) = c->behind;
    if (c->behind) c->behind->before = c->before;
    gx_socket_close(c->fd);
    gx_free(s->heap, GX_TAG_OTHER, c, sizeof *c + GX_ADDRESS_TEXT);
    s->count--;
}

static gx_connection *make(gx_net_streams *s, int fd, const gx_address *peer) {
    gx_connection *c = gx_alloc(s->heap, GX_TAG_OTHER, sizeof *c + GX_ADDRESS_TEXT);
    if (!c) return NULL;
    c->of = s;
    c->fd = fd;
    c->last = now_of(s);
    gx_frames_init(&c->frames, s->heap, &s->given->rule);
    gx_address_text(peer, c->peer);
    c->behind = s->all;
    if (s->all) s->all->before = c;
    s->all = c;
    s->count++;
    return c;
}

static int64_t idle_at(const gx_connection *c) {
    return c->of->given->idle ? c->last + c->of->given->idle : 0;
}

/* It is told again when something has come. */
static void await(gx_connection *c) {
    if (gale_watch_set(c->of->out, c->watch, GALE_WATCH_READ, idle_at(c)) >= 0) return;
    c->at_end = true;
    list(c->of, c);
}

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_connection *c = user;
    gx_net_streams *s = c->of;
    if (!(events & (GALE_WATCH_READ | GALE_WATCH_HANGUP))) {
        if (now_of(s) < idle_at(c)) return gale_watch_set(out, watch, GALE_WATCH_READ, idle_at(c));
        s->idle++;
        c->at_end = true;
    }
    list(s, c);
    return gale_watch_set(out, watch, 0, 0);
}

/* --- Listening ---------------------------------------------------------------------------------------------------- */

static bool is_enough(const gx_net_streams *s) {
    return s->given->options.connections && s->begun >= s->given->options.connections;
}

static void stop_listening(gx_net_streams *s) {
    if (s->fd < 0) return;
    (void)gale_watch_free(s->out, s->watch);
    gx_socket_end(s->fd, &s->bound);
    s->fd = -1;
}

/* The system has no more: it is asked again soon. */
static int starve(gx_net_streams *s, const char *why) {
    if (may_tell(s))
        say(s, "%" PRIu64 " connections are open, and no more can be taken: %s; others wait", s->count, why);
    return gale_watch_set(s->out, s->watch, 0, now_of(s) + STARVED * GALE_MILLISECOND);
}

static int welcome(gx_net_streams *s, int fd, const gx_address *peer) {
    gx_connection *c = make(s, fd, peer);
    if (!c) {
        gx_socket_close(fd);
        return starve(s, "memory is out");
    }
    if (watch_new(s, fd, GALE_WATCH_READ, told, c, &c->watch) < 0) {
        give_back(c);
        return starve(s, "the system watches no more descriptors");
    }
    if (s->given->idle) (void)gale_watch_set(s->out, c->watch, GALE_WATCH_READ, idle_at(c));
    s->begun++;
    return 1;
}

/* 1: there may be more to accept. What is wrong with one that has gone by now is nobody's. */
static int accept_one(gx_net_streams *s) {
    gx_address peer;
    int fd;
    int rc = gx_socket_accept(s->fd, &fd, &peer);
    if (rc == 0) return welcome(s, fd, &peer);
    if (rc == GALE_AGAIN) return 0;
    return gx_socket_is_full(errno) ? starve(s, strerror(errno)) : 1;
}

static int on_listener(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_net_streams *s = user;
    int rc = events & GALE_WATCH_TIME ? gale_watch_set(out, watch, GALE_WATCH_READ, 0) : 0;
    for (int i = 0, more = 1; more > 0 && i < ACCEPTS; i++) {
        if (is_enough(s)) return stop_listening(s), 0;
        if (s->count >= s->given->options.max_connections) {
            if (may_tell(s))
                say(s, "%" PRIu64 " connections are open (maxConnections): others wait until one ends", s->count);
            return gale_watch_set(out, watch, 0, 0);
        }
        more = accept_one(s);
        if (more < 0) rc = more;
    }
    return rc;
}

/* Of several tasks each has a socket of its own, and the system divides. */
static int open_listener(gx_net_streams *s, gale_error *error) {
    bool path = gx_net_is_path(s->given->options.transport);
    bool shared = s->context->task_count > 1;
    gx_address bound;
    int rc = path ? gx_address_path(s->given->address, &s->addresses.list[0], error)
                  : gx_address_find(s->given->address, true, GX_SOCKET_STREAM, &s->addresses, error);
    if (rc == 0) rc = gx_socket_listen_first(&s->addresses, GX_SOCKET_STREAM, shared, &s->fd, &s->bound, error);
    if (rc < 0) return rc;
    if (gx_socket_name(s->fd, &bound) && gx_address_text(&bound, s->at)) s->name = s->at;
    gale_log(s->context->logger, GALE_LOG_INFO, s->context->component, "listens at %s", s->name);
    rc = watch_new(s, s->fd, GALE_WATCH_READ, on_listener, s, &s->watch);
    return rc < 0 ? gale_error_set(error, rc, "%s: its socket cannot be watched", s->given->address) : rc;
}

/* --- Dialing ------------------------------------------------------------------------------------------------------ */

static void dial(gx_net_streams *s);

/* A part of it at random, so that many who were refused together do not come again together. */
static void dial_later(gx_net_streams *s) {
    const int64_t most = LAST_PAUSE * GALE_MILLISECOND;
    int64_t part = (int64_t)(gale_context_random(s->context) % (uint64_t)(s->pause / 2 + 1));
    (void)gale_watch_set(s->out, s->watch, 0, now_of(s) + s->pause - part);
    s->pause = s->pause < most / 2 ? s->pause * 2 : most;
}

/* The next address is tried at once; behind the last, the first one after a pause. */
static void dial_failed(gx_net_streams *s, int why) {
    bool last = s->next_address == 0;
    if (!last) {
        (void)gale_watch_set(s->out, s->watch, 0, now_of(s));
        return;
    }
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: cannot connect: %s", s->given->address, strerror(why));
    gale_health(s->out, text);
    dial_later(s);
}

static void connected(gx_connection *c) {
    gx_net_streams *s = c->of;
    gale_log(s->context->logger, GALE_LOG_INFO, s->context->component, "connected to %s", c->peer);
    gale_health(s->out, NULL);
    s->begun++;
    c->dials = false;
    c->last = now_of(s);
    await(c);
}

static int on_dialed(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_connection *c = user;
    gx_net_streams *s = c->of;
    if (!c->dials) return told(user, out, watch, events);
    int why = gx_socket_error(c->fd);
    if (why == 0) return connected(c), 0;
    (void)gale_watch_free(out, watch);
    give_back(c);
    dial_failed(s, why);
    return 0;
}

static void take_dialed(gx_net_streams *s, int fd, const gx_address *address, bool is_connected) {
    gx_connection *c = make(s, fd, address);
    if (!c) gx_socket_close(fd);
    if (c && watch_new(s, fd, GALE_WATCH_WRITE, on_dialed, c, &c->watch) < 0) give_back(c), c = NULL;
    if (!c) dial_failed(s, ENOMEM);
    if (c) c->dials = true;
    if (c && is_connected) connected(c);
}

/* `gale.required`: the run does not begin without its server. */
static int dial_required(gx_net_streams *s, gale_error *error) {
    uint32_t index;
    int fd;
    if (gx_socket_connect_first(&s->addresses, GX_NET_REQUIRED_WAIT, &index, &fd) < 0)
        return gale_error_set(error, GALE_IO, "%s: cannot connect: %s (gale.required)", s->name, strerror(errno));
    take_dialed(s, fd, &s->addresses.list[index], true);
    return 0;
}

static void dial(gx_net_streams *s) {
    const gx_address *address = &s->addresses.list[s->next_address];
    int fd;
    s->next_address = (s->next_address + 1) % s->addresses.count;
    int rc = gx_socket_connect(address, GX_SOCKET_STREAM, &fd);
    if (rc != 0 && rc != GALE_AGAIN) {
        dial_failed(s, errno);
        return;
    }
    take_dialed(s, fd, address, rc == 0);
}

static int on_time_to_dial(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    dial(user);
    return 0;
}

/* A name that cannot be found now may be found later. */
static int find_server(gx_net_streams *s, gale_error *error) {
    if (gx_net_is_path(s->given->options.transport))
        return gx_address_path(s->given->address, &s->addresses.list[0], error);
    int rc = gx_address_find(s->given->address, false, GX_SOCKET_STREAM, &s->addresses, error);
    return rc == GALE_IO ? GALE_AGAIN : rc;
}

static int open_dialer(gx_net_streams *s, gale_error *error) {
    s->addresses.count = 1;
    s->pause = FIRST_PAUSE * GALE_MILLISECOND;
    int rc = find_server(s, error);
    if (rc < 0) return rc;
    rc = watch_new(s, -1, 0, on_time_to_dial, s, &s->watch);
    if (rc < 0) return gale_error_set(error, rc, "%s: nothing can be watched", s->given->address);
    if (gale_config_bool(s->context->config, "gale.required", false)) return dial_required(s, error);
    dial(s);
    return 0;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* What has its connections from a port has room for another one; who dials does so again. */
static void end(gx_connection *c) {
    gx_net_streams *s = c->of;
    (void)gale_watch_free(s->out, c->watch);
    give_back(c);
    if (s->given->options.connect && !is_enough(s)) {
        gale_log(s->context->logger, GALE_LOG_INFO, s->context->component, "%s: the connection has ended",
                 s->given->address);
        dial_later(s);
    }
    if (s->fd >= 0) (void)gale_watch_set(s->out, s->watch, GALE_WATCH_READ, 0);
}

static void read_piece(gx_net_streams *s, gx_connection *c) {
    s->current = c;
    s->piece = (gale_str){ s->buffer, 0 };
    if (c->at_end) return;
    int64_t got = gx_socket_read(c->fd, s->buffer, GX_NET_PIECE);
    c->has_more = got == GX_NET_PIECE;
    if (got == GALE_AGAIN) return;
    c->at_end = got <= 0;
    c->in_order = got == 0;
    s->reset += got < 0;
    if (got <= 0) return;
    s->piece.size = (size_t)got;
    s->received = wall_of(s);
    c->last = now_of(s);
    s->pause = FIRST_PAUSE * GALE_MILLISECOND; /* whoever answers is there */
}

/* The framing is lost, or there is no room for half of its record: nothing more can come of it. */
static void break_off(gx_net_streams *s, gx_connection *c, const char *why) {
    if (may_tell(s)) say(s, "the connection of %s was closed: %s", c->peer, why);
    s->current = NULL;
    end(c);
}

/* True: the last line, which nothing but an end in order says that it is all of. */
static bool take_last(gx_net_streams *s, gx_connection *c, gx_frame *ret_frame) {
    c->told_end = true;
    if (!s->received) s->received = wall_of(s);
    s->held -= gx_frames_held(&c->frames);
    bool some = gx_frames_end(&c->frames, c->in_order ? GX_FRAMES_CLOSED : GX_FRAMES_BROKEN, ret_frame);
    s->held += gx_frames_held(&c->frames);
    if (c->frames.foreign && may_tell(s))
        say(s, "what came from %s is %s: %s", c->peer, c->frames.foreign, gx_encoding_advice(c->frames.foreign));
    if (c->frames.cut_off && may_tell(s))
        say(s, "the connection of %s was %s within a record, which is dropped", c->peer,
            c->in_order ? "closed by the other side" : "reset, or closed here,");
    return some;
}

static void pass_on(gx_net_streams *s, gx_connection *c) {
    s->current = NULL;
    if (c->at_end)
        end(c);
    else if (c->has_more)
        list(s, c);
    else
        await(c);
}

static int hand_out(gx_net_streams *s, const gx_frame *frame, gx_net_record *ret_record) {
    *ret_record = (gx_net_record){ frame->bytes, s->current->peer, s->received };
    return 1;
}

int gx_net_streams_rest(gx_net_streams *s, gx_net_record *ret_record) {
    gx_connection *c = s->current;
    gx_frame frame;
    if (!c) return 0;
    s->held -= gx_frames_held(&c->frames);
    int rc = c->told_end ? 0 : gx_frames_next(&c->frames, &s->piece, &frame);
    s->held += gx_frames_held(&c->frames);
    if (rc > 0) return hand_out(s, &frame, ret_record);
    if (rc == GALE_NO_MEMORY) return rc;
    if (rc < 0) {
        char why[100];
        s->broken++;
        snprintf(why, sizeof why, "what came is %s: %s", c->frames.foreign ? c->frames.foreign : "",
                 c->frames.foreign ? gx_encoding_advice(c->frames.foreign) : "");
        return break_off(s, c, c->frames.foreign ? why : "what came is not framed as LEN SP record"), 0;
    }
    if (c->at_end && !c->told_end && take_last(s, c, &frame)) return hand_out(s, &frame, ret_record);
    if (!c->at_end && s->held > s->given->options.memory) {
        s->over++;
        return break_off(s, c, "half records of all connections take more than `memory` bytes"), 0;
    }
    pass_on(s, c);
    return 0;
}

int gx_net_streams_next(gx_net_streams *s, gx_net_record *ret_record) {
    for (int turn = 0; turn < TURNS; turn++) {
        int rc = gx_net_streams_rest(s, ret_record);
        if (rc != 0) return rc;
        gx_connection *c = take_listed(s);
        if (!c) return 0;
        read_piece(s, c);
    }
    return GALE_AGAIN;
}

bool gx_net_streams_ended(const gx_net_streams *s) {
    return is_enough(s) && s->count == 0;
}

/* --- Its life ----------------------------------------------------------------------------------------------------- */

static int check_tasks(const gx_net_settings *given, const gale_context *context, gale_error *error) {
    const char *lone = given->options.connect                     ? "who connects"
                       : gx_net_is_path(given->options.transport) ? "a UNIX socket"
                                                                  : NULL;
    if (context->task_count < 2) return 0;
    const char *port = strrchr(given->address, ':');
    if (given->options.connections)
        return gale_error_set(error, GALE_INVALID,
                              "%s: connections is for one task, not %u: what the system had for a task that has had "
                              "its own would be lost",
                              given->address, context->task_count);
    if (!lone && port && strcmp(port, ":0") == 0) lone = "a port of the system's choice, :0,";
    return lone ? gale_error_set(error, GALE_INVALID, "%s: %s has one task, not %u", given->address, lone,
                                 context->task_count)
                : 0;
}

int gx_net_streams_open(gx_net_streams *s, const gx_net_settings *given, const gale_context *context,
                        gale_collector *out, gx_heap *heap, gale_error *error) {
    *s = (gx_net_streams){
        .given = given, .context = context, .out = out, .heap = heap, .name = given->address, .fd = -1
    };
    s->addresses.count = 1;
    int rc = check_tasks(given, context, error);
    if (rc < 0) return rc;
    s->buffer = gx_alloc(heap, GX_TAG_OTHER, GX_NET_PIECE);
    if (!s->buffer) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", given->address);
    return given->options.connect ? open_dialer(s, error) : open_listener(s, error);
}

/* Records that were read and that nobody will emit. */
static uint64_t count_rest(gx_net_streams *s) {
    gx_net_record record;
    uint64_t count = 0;
    while (gx_net_streams_rest(s, &record) > 0) count++;
    return count;
}

static void tell_all(gx_net_streams *s) {
    char text[400];
    uint64_t rest = count_rest(s);
    while (s->all) give_back(s->all);
    const gx_net_tally happened[] = {
        { rest, "record", "read and not emitted at the end" },
        { s->too_long, "record", "longer than `longest`" },
        { s->cut_off, "record", "cut off by the end of its connection, or of the run" },
        { s->reset, "connection", "reset" },
        { s->idle, "connection", "closed here for its silence" },
        { s->broken, "connection", "closed here for its framing" },
        { s->over, "connection", "closed here for want of memory" },
    };
    if (gx_net_tally_text(happened, sizeof happened / sizeof *happened, text, sizeof text))
        say(s, "of %" PRIu64 " connection%s: %s", s->begun, gx_plural(s->begun), text);
}

void gx_net_streams_close(gx_net_streams *s) {
    if (s->buffer) tell_all(s);
    stop_listening(s);
    gx_free(s->heap, GX_TAG_OTHER, s->buffer, s->buffer ? GX_NET_PIECE : 0);
}
