/* Descriptors and times that components watch (gale/watch.h), on the hand-moved clock and on threads; and a runtime in a
 * loop that is another's. */
#include "base/os/poll.h"
#include "harness/counting_allocator.h"
#include "runtime/rig.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <gale/watch.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- A bolt that watches, and what it was told --- */

enum { WATCHES = 1200 };

typedef struct watcher {
    int (*prepare)(struct watcher *w);
    int (*on)(struct watcher *w, gale_watch watch, int32_t events);
    gale_collector *out;
    int fds[2];
    gale_watch watch;
    gale_watch many[WATCHES];
    int (*pairs)[2];
    size_t count;
    uint64_t told;
    int32_t events; /* of the last call */
    int32_t all;    /* of all */
    uint64_t flushes;
    gale_handle held;
    int returns;
    int refused; /* by gale_watch_new in cleanup */
    int freed;   /* what gale_watch_free says there */
    int congest; /* and gale_congest */
    atomic_int seen;
} watcher;

static watcher w;
static rig_spout spout;

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    watcher *of = user;
    of->told++;
    of->events = events;
    of->all |= events;
    of->out = out;
    int rc = of->on ? of->on(of, watch, events) : of->returns;
    atomic_fetch_add(&of->seen, 1); /* who waits for it writes again: that must not be read with what was before */
    return rc;
}

static int watch_with(gale_watch_options options, gale_watch *ret) {
    options.call = told;
    options.user = &w;
    return gale_watch_new(w.out, &options, ret);
}

static int watch(int fd, int32_t events, int64_t at) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = fd;
    options.events = events;
    options.at = at;
    return watch_with(options, &w.watch);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    watcher *of = user;
    (void)context;
    of->out = out;
    *ret_self = of;
    return of->prepare ? of->prepare(of) : 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    watcher *of = self;
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &of->held);
}

static int bolt_flush(void *self, gale_collector *out) {
    (void)out;
    ((watcher *)self)->flushes++;
    return 0;
}

static void bolt_cleanup(void *self) {
    watcher *of = self;
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.call = told;
    gale_watch other;
    of->refused = gale_watch_new(of->out, &options, &other);
    of->freed = gale_watch_free(of->out, of->watch);
    of->congest = gale_congest(of->out, true);
}

static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops,
                                        .name = "watcher",
                                        .kind = GALE_BOLT_MANUAL,
                                        .prepare = bolt_prepare,
                                        .execute = bolt_execute,
                                        .flush = bolt_flush,
                                        .cleanup = bolt_cleanup };

static void build(rig *r, int (*prepare)(watcher *)) {
    static const gale_output outputs[] = { { NULL, "word" } };
    memset(&w, 0, sizeof w);
    memset(&spout, 0, sizeof spout);
    w.prepare = prepare;
    assert_int_equal(pipe2(w.fds, O_NONBLOCK), 0);
    rig_init(r);
    gale_bolt bolt = { .size = sizeof bolt, .ops = &bolt_ops, .user = &w, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "watcher", bolt, 1);
    gale_topology_subscribe(r->topology, "watcher", "spout", NULL, gale_shuffle());
}

static void begin(rig *r, int (*prepare)(watcher *)) {
    build(r, prepare);
    rig_make(r, 1);
    rig_settle(r);
}

static void end(rig *r) {
    rig_fini(r);
    for (int i = 0; i < 2; i++)
        if (w.fds[i] >= 0) close(w.fds[i]);
}

static void step(rig *r) {
    (void)gale_runtime_step(r->runtime);
}

static void say(const char *text) {
    assert_int_equal(write(w.fds[1], text, strlen(text)), (ssize_t)strlen(text));
}

static int drain(watcher *of, gale_watch name, int32_t events) {
    char bytes[64];
    (void)name, (void)events;
    while (read(of->fds[0], bytes, sizeof bytes) > 0) {
    }
    return 0;
}

static const gx_watches *watches_of(const rig *r) {
    return &r->runtime->shared.executors[0]->watches;
}

/* --- Times --- */

static int soon(watcher *of) {
    (void)of;
    return watch(-1, 0, 5 * GALE_MILLISECOND);
}

static void a_time_comes_once_and_not_before(void **state) {
    (void)state;
    rig r;
    begin(&r, soon);
    rig_advance(&r, 4 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(w.told, 0);
    rig_advance(&r, 10 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(w.told, 1);
    assert_int_equal(w.events, GALE_WATCH_TIME);
    assert_int_equal(gale_watch_set(w.out, w.watch, 0, 1), 0); /* it has passed */
    rig_settle(&r);
    assert_int_equal(w.told, 2);
    end(&r);
}

static void the_next_step_is_due_when_a_time_is(void **state) {
    (void)state;
    rig r;
    spout.to_emit = 0;
    begin(&r, soon);
    assert_in_range(gale_runtime_next_due(r.runtime), 0, 5 * GALE_MILLISECOND);
    assert_int_equal(gale_watch_set(w.out, w.watch, 0, 0), 0);
    rig_advance(&r, GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_int_equal(w.told, 0);
    end(&r);
}

/* --- Descriptors --- */

static int reads(watcher *of) {
    of->on = drain;
    return watch(of->fds[0], GALE_WATCH_READ, 0);
}

static void what_can_be_read_is_told_and_when_it_was_read_no_more(void **state) {
    (void)state;
    rig r;
    begin(&r, reads);
    assert_int_equal(w.told, 0);
    for (uint64_t i = 1; i <= 3; i++) {
        say("news");
        rig_settle(&r);
        assert_int_equal(w.told, i);
        assert_int_equal(w.events, GALE_WATCH_READ);
    }
    end(&r);
}

static int does_not_read(watcher *of) {
    return watch(of->fds[0], GALE_WATCH_READ, 0);
}

static void what_stays_readable_is_told_once_a_step(void **state) {
    (void)state;
    rig r;
    begin(&r, does_not_read);
    say("news");
    for (uint64_t i = 0; i < 10; i++) step(&r);
    assert_in_range(w.told, 9, 10);
    assert_int_equal(gale_watch_set(w.out, w.watch, 0, 0), 0); /* a pause */
    uint64_t before = w.told;
    rig_settle(&r);
    assert_int_equal(w.told, before);
    assert_int_equal(gale_watch_set(w.out, w.watch, GALE_WATCH_READ, 0), 0);
    step(&r);
    assert_int_equal(w.told, before + 1);
    end(&r);
}

static int both(watcher *of) {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, of->fds), 0);
    of->on = drain;
    return watch(of->fds[0], GALE_WATCH_READ | GALE_WATCH_WRITE, 0);
}

static void both_events_come_in_one_call_and_a_hangup_with_them(void **state) {
    (void)state;
    rig r;
    build(&r, both);
    close(w.fds[0]);
    close(w.fds[1]);
    rig_make(&r, 1);
    step(&r);
    step(&r);
    assert_int_equal(w.all, GALE_WATCH_WRITE);
    assert_int_equal(gale_watch_set(w.out, w.watch, GALE_WATCH_READ, 0), 0);
    rig_settle(&r);
    say("news");
    rig_settle(&r);
    assert_int_equal(w.events, GALE_WATCH_READ);
    close(w.fds[1]);
    w.fds[1] = -1;
    step(&r);
    assert_int_equal(w.events, GALE_WATCH_READ | GALE_WATCH_HANGUP);
    end(&r);
}

static int in_time(watcher *of) {
    of->on = drain;
    return watch(of->fds[0], GALE_WATCH_READ, 5 * GALE_MILLISECOND);
}

static void a_descriptor_may_have_a_time(void **state) {
    (void)state;
    rig r;
    begin(&r, in_time);
    rig_advance(&r, 5 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(w.all, GALE_WATCH_TIME);
    say("late");
    rig_settle(&r);
    assert_int_equal(w.told, 2);
    assert_int_equal(w.events, GALE_WATCH_READ);
    end(&r);
}

/* --- Their life --- */

static int frees_itself(watcher *of, gale_watch name, int32_t events) {
    (void)events;
    assert_int_equal(name, of->watch);
    assert_int_equal(gale_watch_free(of->out, name), 0);
    assert_int_equal(gale_watch_free(of->out, name), GALE_NOT_FOUND);
    for (size_t i = 0; i < 100; i++) { /* places move, and are used again */
        gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
        assert_int_equal(watch_with(options, &of->many[i]), 0);
        assert_int_not_equal(of->many[i], name);
    }
    return 0;
}

static void it_may_be_freed_and_others_be_made_in_its_own_function(void **state) {
    (void)state;
    rig r;
    begin(&r, does_not_read);
    w.on = frees_itself;
    say("news");
    rig_settle(&r);
    assert_int_equal(w.told, 1);
    assert_int_equal(watches_of(&r)->count, 100);
    assert_int_equal(gale_watch_set(w.out, w.watch, 0, 1), GALE_NOT_FOUND);
    end(&r);
}

static void all_go_with_their_task_and_none_is_made_at_the_end(void **state) {
    (void)state;
    rig r;
    begin(&r, reads);
    gale_runtime_stop(r.runtime);
    rig_settle(&r);
    assert_int_equal(w.refused, GALE_STOPPED);
    assert_int_equal(w.freed, GALE_STOPPED);
    assert_int_equal(w.congest, GALE_STOPPED);
    assert_int_equal(watches_of(&r)->count, 0);
    assert_int_equal(gale_watch_set(w.out, w.watch, 0, 1), GALE_STOPPED);
    end(&r);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    rig r;
    begin(&r, reads);
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    gale_watch other = 0;
    assert_int_equal(gale_watch_new(w.out, NULL, &other), GALE_INVALID);
    assert_int_equal(gale_watch_new(w.out, &options, &other), GALE_INVALID); /* no function */
    options.call = told;
    assert_int_equal(gale_watch_new(w.out, &options, NULL), GALE_INVALID);
    options.events = GALE_WATCH_READ; /* of what? */
    assert_int_equal(watch_with(options, &other), GALE_INVALID);
    options.fd = w.fds[1];
    options.events = GALE_WATCH_TIME;
    assert_int_equal(watch_with(options, &other), GALE_INVALID);
    options.fd = -7;
    options.events = 0;
    assert_int_equal(watch_with(options, &other), GALE_INVALID);
    options.size = 0;
    assert_int_equal(watch_with(options, &other), GALE_INVALID);
    assert_int_equal(gale_watch_set(w.out, w.watch, GALE_WATCH_TIME, 0), GALE_INVALID);
    assert_int_equal(gale_watch_set(w.out, 0, 0, 0), GALE_NOT_FOUND);
    assert_int_equal(gale_watch_free(w.out, UINT64_MAX), GALE_NOT_FOUND);
    assert_int_equal(other, 0);
    assert_int_equal(watches_of(&r)->count, 1);
    assert_true(rig_task(&r, "watcher", 0).misused >= 10);
    end(&r);
}

static void a_descriptor_has_one_watch_and_a_file_none(void **state) {
    (void)state;
    rig r;
    begin(&r, reads);
    gale_watch first = w.watch;
    assert_int_equal(watch(w.fds[0], GALE_WATCH_READ, 0), GALE_EXISTS);
    FILE *file = tmpfile();
    assert_int_equal(watch(fileno(file), GALE_WATCH_READ, 0), GALE_UNSUPPORTED);
    int closed = fileno(file);
    fclose(file);
    assert_int_equal(watch(closed, GALE_WATCH_READ, 0), GALE_IO);
    assert_int_equal(gale_watch_free(w.out, first), 0);
    assert_int_equal(watch(w.fds[0], GALE_WATCH_READ, 0), 0);
    assert_int_equal(watches_of(&r)->count, 1);
    end(&r);
}

static void one_that_was_closed_does_not_touch_who_has_its_number_now(void **state) {
    (void)state;
    rig r;
    begin(&r, reads);
    gale_watch lost = w.watch;
    int number = w.fds[0];
    close(w.fds[0]);
    close(w.fds[1]);
    assert_int_equal(pipe2(w.fds, O_NONBLOCK), 0);
    assert_int_equal(w.fds[0], number);
    assert_int_equal(watch(number, GALE_WATCH_READ, 0), 0);
    assert_int_equal(gale_watch_set(w.out, lost, GALE_WATCH_READ, 0), GALE_NOT_FOUND);
    assert_int_equal(gale_watch_set(w.out, lost, 0, 1), 0); /* its time it has */
    rig_advance(&r, 2, 2);
    assert_int_equal(w.events, GALE_WATCH_TIME);
    assert_int_equal(gale_watch_free(w.out, lost), 0);
    say("news");
    rig_settle(&r);
    assert_int_equal(w.events, GALE_WATCH_READ);
    end(&r);
}

static void one_that_was_closed_says_so_when_it_is_set(void **state) {
    (void)state;
    rig r;
    begin(&r, reads);
    close(w.fds[0]);
    w.fds[0] = -1;
    assert_int_equal(gale_watch_set(w.out, w.watch, GALE_WATCH_READ, 0), GALE_NOT_FOUND);
    assert_int_equal(watches_of(&r)->armed, 0);
    end(&r);
}

/* --- With the tuples --- */

static int answers(watcher *of, gale_watch name, int32_t events) {
    gale_value word = gale_text("done");
    drain(of, name, events);
    gale_emit_anchored(of->out, 0, &word, 1, &of->held, 1);
    return gale_ack(of->out, of->held);
}

static void a_held_tuple_is_answered_when_its_descriptor_has_told(void **state) {
    (void)state;
    rig r;
    build(&r, reads);
    spout.to_emit = 1;
    rig_make(&r, 1);
    rig_settle(&r);
    w.on = answers;
    uint64_t flushes = w.flushes;
    assert_int_equal(spout.acks, 0);
    say("answer");
    rig_settle(&r);
    assert_int_equal(spout.acks, 1);
    assert_true(w.flushes > flushes); /* it may have gathered something */
    end(&r);
}

static void an_error_is_counted_and_the_watch_goes_on(void **state) {
    (void)state;
    rig r;
    begin(&r, reads);
    w.on = NULL;
    w.returns = GALE_COMPONENT;
    say("news");
    for (int i = 0; i < 4; i++) step(&r);
    assert_in_range(w.told, 2, 4);
    assert_int_equal(rig_task(&r, "watcher", 0).errors, w.told);
    end(&r);
}

static int many_pipes(watcher *of) {
    of->on = NULL;
    of->pairs = calloc(WATCHES, sizeof *of->pairs);
    for (; of->count < WATCHES; of->count++) {
        gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
        if (pipe2(of->pairs[of->count], O_NONBLOCK) < 0) break;
        options.fd = of->pairs[of->count][0];
        options.events = GALE_WATCH_READ;
        assert_int_equal(watch_with(options, &of->many[of->count]), 0);
    }
    return 0;
}

static int reads_its_own(watcher *of, gale_watch name, int32_t events) {
    char byte;
    size_t i = 0;
    (void)events;
    while (of->many[i] != name) i++;
    assert_int_equal(read(of->pairs[i][0], &byte, 1), 1);
    return 0;
}

static void of_a_thousand_each_is_told_and_others_have_their_turn(void **state) {
    (void)state;
    rig r;
    build(&r, many_pipes);
    spout.to_emit = 0;
    rig_make(&r, 1);
    rig_settle(&r);
    assert_true(w.count >= 400); /* as many as a user may open */
    w.on = reads_its_own;
    for (size_t i = 0; i < w.count; i++) assert_int_equal(write(w.pairs[i][1], "!", 1), 1);
    step(&r);
    assert_in_range(w.told, 1, 256);
    rig_settle(&r);
    assert_int_equal(w.told, w.count);
    end(&r);
    for (size_t i = 0; i < w.count; i++) close(w.pairs[i][0]), close(w.pairs[i][1]);
    free(w.pairs);
}

/* --- A spout that may not emit --- */

typedef struct source {
    gale_collector *out;
    int fds[2];
    gale_watch reads, always;
    uint64_t told, told_always, asked, emitted;
    uint64_t waiting; /* read, and not emitted */
} source;

static int source_told(void *user, gale_collector *out, gale_watch name, int32_t events) {
    source *s = user;
    char byte;
    (void)out, (void)name, (void)events;
    s->told++;
    while (read(s->fds[0], &byte, 1) == 1) s->waiting++;
    return 0;
}

static int source_told_always(void *user, gale_collector *out, gale_watch name, int32_t events) {
    (void)out, (void)name, (void)events;
    ((source *)user)->told_always++;
    return 0;
}

static int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    source *s = user;
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.user = s;
    options.call = source_told;
    options.fd = s->fds[0];
    options.events = GALE_WATCH_READ;
    s->out = out;
    *ret_self = s;
    int rc = gale_watch_new(out, &options, &s->reads);
    options.fd = -1;
    options.events = 0;
    options.always = true;
    options.call = source_told_always;
    options.at = gale_context_now(context) + GALE_MILLISECOND;
    return rc == 0 ? gale_watch_new(out, &options, &s->always) : rc;
}

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    source *s = self;
    (void)wait;
    s->asked++;
    if (!s->waiting) return GALE_NEXT_WATCHED;
    gale_value number = gale_i64((int64_t)s->emitted);
    s->waiting--;
    return gale_emit_tracked(out, 0, &number, 1, s->emitted++) < 0 ? GALE_COMPONENT : GALE_NEXT_EMITTED;
}

static const gale_spout_ops source_ops = {
    .size = sizeof source_ops, .name = "source", .open = source_open, .next = source_next
};

static void a_spout_that_is_held_is_told_when_it_may_emit_again_or_always(void **state) {
    static const gale_output outputs[] = { { NULL, "number" } };
    (void)state;
    source s = { .emitted = 0 };
    rig r;
    memset(&w, 0, sizeof w);
    w.fds[0] = w.fds[1] = -1;
    assert_int_equal(pipe2(s.fds, O_NONBLOCK), 0);
    rig_init(&r);
    gale_spout made = { .size = sizeof made, .ops = &source_ops, .user = &s, .outputs = outputs, .output_count = 1 };
    gale_bolt bolt = { .size = sizeof bolt, .ops = &bolt_ops, .user = &w };
    gale_topology_add_spout(r.topology, "source", made, 1);
    gale_topology_set(r.topology, "source", "topology.max.spout.pending", gale_i64(1));
    gale_topology_add_bolt(r.topology, "watcher", bolt, 1);
    gale_topology_subscribe(r.topology, "watcher", "source", NULL, gale_shuffle());
    rig_make(&r, 1);
    rig_settle(&r);
    uint64_t asked = s.asked;
    rig_advance(&r, 100 * GALE_MICROSECOND, GALE_MICROSECOND);
    assert_int_equal(s.asked, asked); /* nothing was told */
    assert_int_equal(write(s.fds[1], "a", 1), 1);
    rig_settle(&r);
    assert_int_equal(s.emitted, 1);
    assert_int_equal(gale_congest(s.out, true), GALE_STATE); /* nobody feeds a spout */
    assert_int_equal(write(s.fds[1], "b", 1), 1);
    rig_settle(&r);
    rig_advance(&r, 2 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(s.told, 1);
    assert_int_equal(s.told_always, 1);
    assert_int_equal(gale_ack(w.out, w.held), 0);
    rig_settle(&r);
    assert_int_equal(s.told, 2);
    assert_int_equal(s.emitted, 2);
    rig_fini(&r);
    close(s.fds[0]);
    close(s.fds[1]);
}

/* --- What the system and memory refuse --- */

static int no_set(void) {
    errno = EMFILE;
    return -1;
}

static void a_system_without_a_set_says_so_and_times_come_all_the_same(void **state) {
    (void)state;
    gx_poll_calls calls = gx_poll_system;
    calls.open = no_set;
    gx_poll_use(&calls);
    rig r;
    begin(&r, soon);
    assert_int_equal(watch(w.fds[0], GALE_WATCH_READ, 0), GALE_IO);
    assert_int_equal(watches_of(&r)->count, 1);
    rig_advance(&r, 6 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(w.told, 1);
    end(&r);
    gx_poll_use(NULL);
}

static void where_memory_is_out_none_is_made(void **state) {
    (void)state;
    for (size_t n = 1;; n++) {
        counting_allocator counting = { .blocks = 0 };
        gale_allocator allocator = counting_handle(&counting);
        gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
        options.allocator = &allocator;
        options.executors = 1;
        rig r;
        build(&r, NULL);
        rig_make_with(&r, options);
        rig_settle(&r);
        counting.fail_at = counting.calls + n;
        int rc = watch(w.fds[0], GALE_WATCH_READ, 5);
        bool failed = counting.calls >= counting.fail_at;
        counting.fail_at = 0;
        assert_int_equal(rc, failed ? GALE_NO_MEMORY : GALE_OK);
        assert_int_equal(watches_of(&r)->count, failed ? 0 : 1);
        assert_int_equal(watch(w.fds[0], GALE_WATCH_READ, 5), failed ? GALE_OK : GALE_EXISTS);
        end(&r);
        assert_int_equal(counting.blocks, 0);
        if (!failed) break;
    }
}

/* --- On threads --- */

static void start(rig *r) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.spins = 50;
    rig_make_with(r, options);
    assert_int_equal(gale_runtime_start(r->runtime, NULL), GALE_OK);
}

/* On a clock that stands still: nothing else wakes it. */
static void a_parked_executor_is_woken_by_what_it_watches(void **state) {
    (void)state;
    rig r;
    build(&r, reads);
    start(&r);
    for (int i = 1; i <= 20; i++) {
        say("news");
        while (atomic_load(&w.seen) < i) sched_yield();
    }
    gale_runtime_stop(r.runtime);
    assert_int_equal(gale_runtime_wait(r.runtime, -1, NULL), 0);
    end(&r);
}

/* More than a set of poll once had. */
typedef struct listener {
    int fds[2];
} listener;

static int listener_next(void *self, gale_collector *out, gale_wait *wait) {
    listener *l = self;
    char byte;
    (void)out;
    if (read(l->fds[0], &byte, 1) == 1) return GALE_NEXT_DONE;
    wait->fd = l->fds[0];
    return GALE_NEXT_READABLE;
}

static void each_of_a_hundred_spouts_is_woken_by_its_descriptor(void **state) {
    enum { SPOUTS = 100 };
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "listener", .next = listener_next };
    static const gale_output outputs[] = { { NULL, "byte" } };
    static listener listeners[SPOUTS];
    (void)state;
    rig r;
    rig_init(&r);
    for (int i = 0; i < SPOUTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        assert_int_equal(pipe2(listeners[i].fds, O_NONBLOCK), 0);
        gale_spout made = {
            .size = sizeof made, .ops = &ops, .user = &listeners[i], .outputs = outputs, .output_count = 1
        };
        gale_topology_add_spout(r.topology, name, made, 1);
    }
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.spins = 50;
    options.until_drained = true;
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    for (int i = SPOUTS; i-- > 0;) assert_int_equal(write(listeners[i].fds[1], "!", 1), 1);
    assert_int_equal(gale_runtime_wait(r.runtime, -1, NULL), 0);
    rig_fini(&r);
    for (int i = 0; i < SPOUTS; i++) close(listeners[i].fds[0]), close(listeners[i].fds[1]);
}

/* One that is done until it hears of more. */
typedef struct hearer {
    int fds[2];
    int asked;
} hearer;

static int hearer_told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    hearer *h = user;
    char byte;
    (void)out, (void)watch, (void)events;
    return read(h->fds[0], &byte, 1) == 1 ? 0 : GALE_IO;
}

static int hearer_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    hearer *h = user;
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    gale_watch watch;
    (void)context;
    options.fd = h->fds[0];
    options.events = GALE_WATCH_READ;
    options.call = hearer_told;
    options.user = h;
    *ret_self = h;
    return gale_watch_new(out, &options, &watch);
}

static int hearer_next(void *self, gale_collector *out, gale_wait *wait) {
    hearer *h = self;
    (void)out, (void)wait;
    h->asked++;
    return GALE_NEXT_DONE;
}

static void a_spout_that_is_done_is_asked_again_when_its_watch_is_told(void **state) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "hearer", .open = hearer_open, .next = hearer_next
    };
    static const gale_output outputs[] = { { NULL, "byte" } };
    (void)state;
    hearer h = { .asked = 0 };
    rig r;
    rig_init(&r);
    assert_int_equal(pipe2(h.fds, O_NONBLOCK), 0);
    gale_spout made = { .size = sizeof made, .ops = &ops, .user = &h, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r.topology, "s", made, 1);
    rig_make(&r, 1);
    for (int wanted = 1; wanted <= 3; wanted++) {
        for (int i = 0; i < 50; i++) step(&r);
        assert_int_equal(h.asked, wanted); /* and not more often */
        assert_int_equal(write(h.fds[1], "!", 1), 1);
    }
    rig_fini(&r);
    close(h.fds[0]), close(h.fds[1]);
}

/* --- In a loop that is another's --- */

/* Until what is waited for is there; how often something woke it. */
static int loop_until(rig *r, const atomic_int *there, int wanted) {
    int wakes = 0;
    for (;; wakes++) {
        int64_t pause = gale_runtime_step_for(r->runtime, GALE_MILLISECOND);
        if (pause < 0 || atomic_load(there) >= wanted) break;
        struct pollfd one = { .fd = gale_runtime_fd(r->runtime), .events = POLLIN };
        if (pause) poll(&one, 1, pause == INT64_MAX ? -1 : (int)(pause / GALE_MILLISECOND) + 1);
    }
    return wakes;
}

static void a_foreign_loop_is_woken_by_what_components_watch(void **state) {
    (void)state;
    rig r;
    build(&r, reads);
    rig_make(&r, 2);
    int fd = gale_runtime_fd(r.runtime);
    assert_true(fd >= 0);
    assert_int_equal(gale_runtime_fd(r.runtime), fd);
    struct pollfd one = { .fd = fd, .events = POLLIN };
    for (int i = 1; i <= 5; i++) {
        while (gale_runtime_step_for(r.runtime, GALE_MILLISECOND) == 0) {
        }
        assert_int_equal(poll(&one, 1, 0), 0); /* at rest it is quiet */
        say("news");
        assert_true(loop_until(&r, &w.seen, i) < 20);
    }
    end(&r);
}

static void *stop_it(void *user) {
    gale_runtime_stop(((rig *)user)->runtime);
    return NULL;
}

static void a_foreign_loop_is_woken_by_another_thread(void **state) {
    (void)state;
    static const atomic_int never;
    pthread_t thread;
    rig r;
    build(&r, reads);
    rig_make(&r, 2);
    while (gale_runtime_step_for(r.runtime, GALE_MILLISECOND) == 0) {
    }
    assert_true(gale_runtime_fd(r.runtime) >= 0);
    assert_int_equal(pthread_create(&thread, NULL, stop_it, &r), 0);
    loop_until(&r, &never, 1);
    pthread_join(thread, NULL);
    assert_int_equal(gale_runtime_step_for(r.runtime, 0), GALE_STOPPED);
    end(&r);
}

static void a_foreign_loop_waits_until_the_next_time(void **state) {
    (void)state;
    rig r;
    begin(&r, soon);
    int64_t pause;
    while ((pause = gale_runtime_step_for(r.runtime, -1)) == 0) {
    }
    assert_in_range(pause, 1, 5 * GALE_MILLISECOND);
    gale_manual_clock_advance(r.clock, 5 * GALE_MILLISECOND);
    (void)gale_runtime_step_for(r.runtime, -1);
    assert_int_equal(w.told, 1);
    end(&r);
}

static void a_runtime_with_threads_is_in_no_loop(void **state) {
    (void)state;
    rig r;
    build(&r, NULL);
    start(&r);
    assert_int_equal(gale_runtime_fd(r.runtime), GALE_STATE);
    assert_int_equal(gale_runtime_step_for(r.runtime, 0), GALE_STATE);
    assert_int_equal(gale_runtime_fd(NULL), GALE_INVALID);
    gale_runtime_stop(r.runtime);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_comes_once_and_not_before),
        cmocka_unit_test(the_next_step_is_due_when_a_time_is),
        cmocka_unit_test(what_can_be_read_is_told_and_when_it_was_read_no_more),
        cmocka_unit_test(what_stays_readable_is_told_once_a_step),
        cmocka_unit_test(both_events_come_in_one_call_and_a_hangup_with_them),
        cmocka_unit_test(a_descriptor_may_have_a_time),
        cmocka_unit_test(it_may_be_freed_and_others_be_made_in_its_own_function),
        cmocka_unit_test(all_go_with_their_task_and_none_is_made_at_the_end),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_descriptor_has_one_watch_and_a_file_none),
        cmocka_unit_test(one_that_was_closed_does_not_touch_who_has_its_number_now),
        cmocka_unit_test(one_that_was_closed_says_so_when_it_is_set),
        cmocka_unit_test(a_held_tuple_is_answered_when_its_descriptor_has_told),
        cmocka_unit_test(an_error_is_counted_and_the_watch_goes_on),
        cmocka_unit_test(of_a_thousand_each_is_told_and_others_have_their_turn),
        cmocka_unit_test(a_spout_that_is_held_is_told_when_it_may_emit_again_or_always),
        cmocka_unit_test(a_system_without_a_set_says_so_and_times_come_all_the_same),
        cmocka_unit_test(where_memory_is_out_none_is_made),
        cmocka_unit_test(a_parked_executor_is_woken_by_what_it_watches),
        cmocka_unit_test(each_of_a_hundred_spouts_is_woken_by_its_descriptor),
        cmocka_unit_test(a_spout_that_is_done_is_asked_again_when_its_watch_is_told),
        cmocka_unit_test(a_foreign_loop_is_woken_by_what_components_watch),
        cmocka_unit_test(a_foreign_loop_is_woken_by_another_thread),
        cmocka_unit_test(a_foreign_loop_waits_until_the_next_time),
        cmocka_unit_test(a_runtime_with_threads_is_in_no_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
