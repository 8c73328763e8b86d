#include "system/ask_servers/asker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void asker_must(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "ask_servers: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* --- The bolt --- */

typedef struct asker {
    int fd;
    gale_watch watch;
    gale_handle held[IN_FLIGHT]; /* a ring: the servers answer in the order in which they are asked */
    uint32_t first, count;
    uint32_t unsent[IN_FLIGHT]; /* as much of it as the socket would not take */
    uint32_t unsent_count;
    struct bolt *of;
} asker;

typedef struct bolt {
    gale_collector *out;
    asker *askers;
    uint64_t in_flight, most;
    int64_t last[KEYS]; /* the number that was answered last, by key */
} bolt;

static const asker_wire *wire;
asker_result asker_said;

static void send_on(asker *a) {
    enum { AT_ONCE = 500 };
    uint32_t sent = 0;
    while (sent < a->unsent_count) {
        uint32_t count = a->unsent_count - sent < AT_ONCE ? a->unsent_count - sent : AT_ONCE;
        ssize_t took = wire->send(a->fd, a->unsent + sent, count * sizeof *a->unsent);
        if (took < 0) break;
        sent += (uint32_t)took / (uint32_t)sizeof *a->unsent;
    }
    a->unsent_count -= sent;
    memmove(a->unsent, a->unsent + sent, a->unsent_count * sizeof *a->unsent);
}

static void take_answer(asker *a, uint32_t number) {
    bolt *b = a->of;
    gale_handle handle = a->held[a->first];
    const gale_tuple *question = gale_held(b->out, handle);
    asker_must(question && gale_tuple_value(question, 0).as.i64 == number, "an answer to another question");
    if (b->last[number % KEYS] >= (int64_t)number) asker_said.in_order = false;
    b->last[number % KEYS] = number;
    a->first = (a->first + 1) % IN_FLIGHT;
    a->count--;
    b->in_flight--;
    asker_must(gale_ack(b->out, handle) == 0, "an answer that is not taken");
}

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    asker *a = user;
    uint32_t numbers[512];
    ssize_t got;
    (void)events;
    while ((got = wire->receive(a->fd, numbers, sizeof numbers)) > 0)
        for (size_t i = 0; i < (size_t)got / sizeof *numbers; i++) take_answer(a, numbers[i]);
    send_on(a);
    return gale_watch_set(out, watch, GALE_WATCH_READ | (a->unsent_count ? GALE_WATCH_WRITE : 0), 0);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user;
    bolt *b = calloc(1, sizeof *b);
    asker_must(b && (b->askers = calloc(SERVERS, sizeof *b->askers)), "memory");
    b->out = out;
    for (int i = 0; i < KEYS; i++) b->last[i] = -1;
    for (int i = 0; i < SERVERS; i++) {
        asker *a = &b->askers[i];
        gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
        a->fd = options.fd = wire->descriptor(context, i);
        a->of = b;
        options.events = GALE_WATCH_READ;
        options.call = told;
        options.user = a;
        asker_must(gale_watch_new(out, &options, &a->watch) == 0, "a watch");
    }
    *ret_self = b;
    return 0;
}

/* A key has one server. */
static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    bolt *b = self;
    uint32_t number = (uint32_t)gale_tuple_value(tuple, 0).as.i64;
    asker *a = &b->askers[number % KEYS % SERVERS];
    int rc = gale_tuple_hold(out, gale_tuple_handle(tuple), &a->held[(a->first + a->count) % IN_FLIGHT]);
    if (rc < 0) return rc;
    a->count++;
    if (++b->in_flight > b->most) b->most = b->in_flight;
    a->unsent[a->unsent_count++] = number;
    return 0;
}

/* What was gathered is sent in one go. */
static int bolt_flush(void *self, gale_collector *out) {
    bolt *b = self;
    int rc = 0;
    for (int i = 0; rc == 0 && i < SERVERS; i++) {
        asker *a = &b->askers[i];
        if (!a->unsent_count) continue;
        send_on(a);
        if (a->unsent_count) rc = gale_watch_set(out, a->watch, GALE_WATCH_READ | GALE_WATCH_WRITE, 0);
    }
    return rc;
}

static void bolt_cleanup(void *self) {
    bolt *b = self;
    asker_said.most = b->most;
    free(b->askers);
    free(b);
}

/* --- The spout --- */

static int64_t emitted;

static int open_questions(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context, (void)out;
    emitted = 0;
    *ret_self = user;
    return 0;
}

static int next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)wait;
    gale_value number = gale_i64(emitted);
    if (emitted == wire->questions) return GALE_NEXT_DONE;
    int rc = gale_emit_tracked(out, 0, &number, 1, (uint64_t)emitted);
    if (rc < 0) return rc;
    emitted++;
    return GALE_NEXT_EMITTED;
}

static void ack(void *self, uint64_t id) {
    (void)self, (void)id;
    asker_said.acked++;
}

static void fail(void *self, uint64_t id, const gale_failure *failure) {
    (void)self, (void)id, (void)failure;
    asker_said.failed++;
}

gale_topology *asker_topology(const asker_wire *by) {
    static const gale_spout_ops spout_ops = {
        .size = sizeof spout_ops, .name = "questions", .open = open_questions, .next = next, .ack = ack, .fail = fail
    };
    static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops,
                                            .name = "asker",
                                            .kind = GALE_BOLT_MANUAL,
                                            .prepare = bolt_prepare,
                                            .execute = bolt_execute,
                                            .flush = bolt_flush,
                                            .cleanup = bolt_cleanup };
    static const gale_output number = { NULL, "number" };
    wire = by;
    gale_topology *topology = gale_topology_new("questions");
    gale_spout spout = { .size = sizeof spout, .ops = &spout_ops, .outputs = &number, .output_count = 1 };
    gale_bolt asker_bolt = { .size = sizeof asker_bolt, .ops = &bolt_ops };
    gale_topology_add_spout(topology, "questions", spout, 1);
    gale_topology_add_bolt(topology, "asker", asker_bolt, 1);
    gale_topology_subscribe(topology, "asker", "questions", NULL, gale_shuffle());
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(IN_FLIGHT));
    gale_topology_set(topology, NULL, "topology.message.timeout.secs", gale_i64(3600));
    return topology;
}
