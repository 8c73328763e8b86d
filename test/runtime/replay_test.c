/* Failed spout tuples that the engine emits again, and what becomes of those that it gives up; on virtual time. */
#include "harness/counting_allocator.h"
#include "runtime/rig.h"
#include "runtime/runtime.h"
#include "runtime/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES_MAX = 16, NUMBERS = 512, TEXT = 64 };

static const uint32_t executor_counts[] = { 1, 2, 8 };

/* A bolt that fails, rejects, forgets or holds the first deliveries of every number, and remembers when they came. */
typedef enum wish { FAIL, REJECT, FORGET, HOLD } wish;

typedef struct wrongs {
    gale_clock clock;
    wish wish;
    uint32_t times; /* of each number */
    uint32_t tries[NUMBERS];
    int64_t at[NUMBERS][TRIES_MAX];
    uint64_t only; /* number + 1; 0: every one */
} wrongs;

static int on_wrongs(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    wrongs *w = bolt->user;
    gale_handle handle = gale_tuple_handle(tuple);
    uint64_t number = (uint64_t)gale_tuple_value(tuple, 0).as.i64 % NUMBERS;
    uint32_t try_ = w->tries[number]++;
    if (try_ < TRIES_MAX) w->at[number][try_] = w->clock.now(w->clock.user);
    if (try_ >= w->times || (w->only && w->only != number + 1)) return gale_ack(out, handle);
    switch (w->wish) {
    case FAIL: return gale_fail(out, handle, GALE_REASON_FAILED, "no, thanks");
    case REJECT: return gale_reject(out, handle, "never");
    case HOLD: return gale_tuple_hold(out, handle, &bolt->held[bolt->held_count++]);
    default: return 0;
    }
}

/* Letters: what they said, and whether they are taken. */
typedef struct mail {
    uint64_t refusals; /* the first so many deliveries fail */
    uint64_t seen;
    int64_t message_id, attempts, number, task;
    char component[TEXT], stream[TEXT], reason[TEXT], text[TEXT], place[TEXT];
    size_t fields;
} mail;

static void copy_text(char *to, const gale_tuple *tuple, const char *field) {
    gale_value value;
    assert_true(gale_tuple_get(tuple, field, &value));
    snprintf(to, TEXT, "%.*s", value.type == GALE_TYPE_STRING ? (int)value.size : 4,
             value.type == GALE_TYPE_STRING ? value.as.string : "null");
}

static int64_t number_of(const gale_tuple *tuple, const char *field) {
    gale_value value;
    assert_true(gale_tuple_get(tuple, field, &value));
    return value.as.i64;
}

static int on_mail(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    mail *m = bolt->user;
    gale_value list;
    m->fields = gale_tuple_size(tuple);
    copy_text(m->component, tuple, "component");
    copy_text(m->stream, tuple, "stream");
    copy_text(m->reason, tuple, "reason");
    copy_text(m->text, tuple, "text");
    copy_text(m->place, tuple, "place");
    m->message_id = number_of(tuple, "message_id");
    m->attempts = number_of(tuple, "attempts");
    m->task = number_of(tuple, "task");
    assert_true(gale_tuple_get(tuple, "tuple", &list));
    m->number = gale_list_at(&list, 0).as.i64;
    gale_handle handle = gale_tuple_handle(tuple);
    return m->seen++ < m->refusals ? gale_fail(out, handle, GALE_REASON_FAILED, "not here") : gale_ack(out, handle);
}

typedef struct world {
    rig r;
    rig_spout *spout;
    rig_bolt *bolt, *letters;
    wrongs *wrongs;
    mail mail;
} world;

/* `from` emits `count` numbers, `work` does its wrongs to them. */
static void begin(world *w, uint64_t count, wish wish_, uint32_t times, int64_t attempts) {
    memset(w, 0, sizeof *w);
    w->spout = calloc(1, sizeof *w->spout);
    w->bolt = calloc(1, sizeof *w->bolt);
    w->letters = calloc(1, sizeof *w->letters);
    w->wrongs = calloc(1, sizeof *w->wrongs);
    rig_init(&w->r);
    w->spout->to_emit = count;
    *w->wrongs = (wrongs){ .clock = gale_manual_clock_handle(w->r.clock), .wish = wish_, .times = times };
    w->bolt->on = on_wrongs;
    w->bolt->user = w->wrongs;
    gale_topology *t = w->r.topology;
    gale_topology_add_spout(t, "from", rig_spout_of(w->spout), 1);
    gale_topology_add_bolt(t, "work", rig_manual(w->bolt), 4);
    gale_topology_subscribe(t, "work", "from", NULL, gale_fields("number"));
    gale_topology_set(t, NULL, "topology.replay.attempts", gale_i64(attempts));
}

static void add_mailbox(world *w, uint64_t refusals) {
    w->mail.refusals = refusals;
    w->letters->on = on_mail;
    w->letters->user = &w->mail;
    gale_topology_add_bolt(w->r.topology, "mailbox", rig_manual(w->letters), 1);
    gale_topology_subscribe(w->r.topology, "mailbox", "from", "__dead_letter", gale_global());
}

static void end(world *w) {
    rig_fini(&w->r);
    free(w->spout);
    free(w->bolt);
    free(w->letters);
    free(w->wrongs);
}

static void drain_for(world *w, int64_t nanoseconds) {
    gale_runtime_drain(w->r.runtime);
    rig_advance(&w->r, nanoseconds, GALE_SECOND / 4);
    assert_int_equal(rig_stats(&w->r)->phase, GALE_PHASE_CLOSED);
}

/* --- Attempts --- */

static void backoffs_double_up_to_the_greatest_and_are_exact(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 10, FAIL, 4, 9);
        gale_topology_set(w.r.topology, NULL, "topology.replay.backoff.max.secs", gale_i64(3));
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        assert_int_equal(rig_stats(&w.r)->open, 10);
        assert_int_equal(rig_stats(&w.r)->failed, 0);
        rig_advance(&w.r, 10 * GALE_SECOND, GALE_SECOND / 10);
        static const int64_t expected[] = { 0, 1, 3, 6, 9 };
        for (int n = 0; n < 10; n++) {
            assert_int_equal(w.wrongs->tries[n], 5);
            for (int i = 0; i < 5; i++) assert_int_equal(w.wrongs->at[n][i], expected[i] * GALE_SECOND);
            assert_int_equal(w.spout->acked[n], 1);
            assert_int_equal(w.spout->answered_at[n], 9 * GALE_SECOND);
        }
        const gale_run_stats *s = rig_stats(&w.r);
        assert_int_equal(w.spout->fails, 0);
        assert_int_equal(s->trees, 10);
        assert_int_equal(s->acked, 10);
        assert_int_equal(s->replayed, 40);
        assert_int_equal(s->given_up, 0);
        assert_int_equal(s->retained_bytes, 0);
        assert_int_equal(s->complete_max, 9 * GALE_SECOND);
        end(&w);
    }
}

static void the_runtime_knows_when_the_next_attempt_is_due(void **state) {
    (void)state;
    world w;
    begin(&w, 1, FAIL, 1, 2);
    gale_topology_set(w.r.topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    gale_topology_set(w.r.topology, NULL, "topology.replay.backoff.initial.secs", gale_f64(2.5));
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    assert_int_equal(gale_runtime_next_due(w.r.runtime), 5 * GALE_SECOND / 2);
    rig_advance(&w.r, 5 * GALE_SECOND / 2 - 1, GALE_SECOND);
    assert_int_equal(w.spout->acks, 0);
    rig_advance(&w.r, 1, 1);
    assert_int_equal(w.spout->acks, 1);
    end(&w);
}

static void the_spout_hears_one_failure_after_the_last_attempt(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 3, FAIL, TRIES_MAX, 3);
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        rig_advance(&w.r, GALE_SECOND * 5 / 2, GALE_SECOND / 2);
        assert_int_equal(w.spout->fails, 0);
        rig_advance(&w.r, 100 * GALE_SECOND, GALE_SECOND / 2);
        for (int n = 0; n < 3; n++) {
            assert_int_equal(w.wrongs->tries[n], 3);
            assert_int_equal(w.spout->failed[n], 1);
            assert_int_equal(w.spout->answered_at[n], 3 * GALE_SECOND);
        }
        assert_int_equal(w.spout->last_failure.reason, GALE_REASON_FAILED);
        assert_int_equal(w.spout->last_failure.attempts, 3);
        assert_true(w.spout->last_failure.final);
        assert_string_equal(w.spout->last_text, "no, thanks");
        assert_string_equal(w.spout->last_component, "work");
        assert_int_equal(rig_stats(&w.r)->failed, 3);
        assert_int_equal(rig_stats(&w.r)->given_up, 3);
        assert_int_equal(rig_stats(&w.r)->dead_letters, 0);
        end(&w);
    }
}

static void without_replay_a_failure_is_told_at_once_and_is_not_final(void **state) {
    (void)state;
    world w;
    begin(&w, 1, FAIL, 1, 1);
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    assert_int_equal(w.spout->fails, 1);
    assert_int_equal(w.spout->last_failure.attempts, 1);
    assert_false(w.spout->last_failure.final);
    assert_int_equal(rig_stats(&w.r)->given_up, 0);
    end(&w);
}

static void one_component_may_have_attempts_of_its_own(void **state) {
    (void)state;
    world w;
    begin(&w, 1, FAIL, TRIES_MAX, 5);
    gale_topology_set(w.r.topology, "from", "topology.replay.attempts", gale_i64(2));
    rig_make(&w.r, 1);
    rig_advance(&w.r, 60 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(w.wrongs->tries[0], 2);
    end(&w);
}

static void what_is_rejected_is_not_emitted_again(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 5, REJECT, 1, 9);
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        assert_int_equal(w.spout->fails, 5);
        assert_int_equal(w.spout->last_failure.reason, GALE_REASON_REJECTED);
        assert_true(w.spout->last_failure.final);
        assert_int_equal(rig_stats(&w.r)->rejected, 5);
        assert_int_equal(rig_stats(&w.r)->replayed, 0);
        end(&w);
    }
}

static void what_times_out_is_emitted_again_and_late_acks_of_it_are_stale(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 1, HOLD, 1, 2);
        w.bolt->held_count = 0;
        gale_topology_set(w.r.topology, NULL, "topology.message.timeout.secs", gale_i64(10));
        gale_topology_set(w.r.topology, NULL, "topology.replay.backoff.initial.secs", gale_i64(5));
        rig_make(&w.r, executor_counts[e]);
        rig_advance(&w.r, 12500 * GALE_MILLISECOND, 100 * GALE_MILLISECOND);
        assert_int_equal(w.spout->fails, 0);
        assert_int_equal(w.bolt->held_count, 1);
        rig_advance(&w.r, 5100 * GALE_MILLISECOND, 100 * GALE_MILLISECOND);
        assert_int_equal(w.spout->acks, 1);
        assert_int_equal(w.wrongs->tries[0], 2);
        assert_int_equal(rig_stats(&w.r)->timed_out, 0);
        assert_int_equal(rig_stats(&w.r)->acked, 1);
        end(&w);
    }
}

static int64_t sum_of_waits(const world *w, int n) {
    return w->wrongs->at[n][1] - w->wrongs->at[n][0];
}

static void a_reading_never_shows_a_failure_that_is_not_the_last_word(void **state) {
    (void)state;
    world w;
    begin(&w, 200, FAIL, 1, 2);
    rig_make(&w.r, 2);
    for (int i = 0; i < 2000; i++) {
        gale_runtime_step(w.r.runtime);
        assert_int_equal(rig_stats(&w.r)->failed, 0);
        if (i % 10 == 0) gale_manual_clock_advance(w.r.clock, GALE_SECOND / 20);
    }
    assert_int_equal(w.spout->acks, 200);
    for (int n = 0; n < 200; n++) assert_in_range(sum_of_waits(&w, n), GALE_SECOND, GALE_SECOND + GALE_SECOND / 5);
    end(&w);
}

static void what_overflows_is_tried_again_and_shows_nowhere(void **state) {
    (void)state;
    for (uint32_t executors = 1; executors <= 2; executors++) {
        world w;
        begin(&w, 100, FAIL, 0, 1000);
        gale_topology_set(w.r.topology, NULL, "topology.replay.backoff.initial.secs", gale_f64(0.01));
        gale_topology_set(w.r.topology, NULL, "topology.replay.backoff.max.secs", gale_f64(0.01));
        gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
        gale_clock clock = gale_manual_clock_handle(w.r.clock);
        options.executors = executors;
        options.queue_limit = 100;
        options.clock = &clock;
        rig_make_with(&w.r, options);
        for (int i = 0; i < 4000 && w.spout->acks < 100; i++) {
            gale_runtime_step(w.r.runtime);
            assert_int_equal(rig_stats(&w.r)->failed, 0);
            if (i % 5 == 0) gale_manual_clock_advance(w.r.clock, GALE_SECOND / 100);
        }
        assert_int_equal(w.spout->acks, 100);
        assert_true(rig_stats(&w.r)->replayed > 0);
        end(&w);
    }
}

static void waiting_trees_count_as_pending(void **state) {
    (void)state;
    world w;
    begin(&w, 4, FAIL, 1, 2);
    gale_topology_set(w.r.topology, NULL, "topology.max.spout.pending", gale_i64(2));
    rig_make(&w.r, 2);
    rig_settle(&w.r);
    assert_int_equal(w.spout->emitted, 2);
    rig_advance(&w.r, GALE_SECOND / 2, GALE_SECOND / 4);
    assert_int_equal(w.spout->emitted, 2);
    rig_advance(&w.r, GALE_SECOND / 2, GALE_SECOND / 4);
    assert_int_equal(w.spout->emitted, 4);
    assert_int_equal(w.spout->acks, 2);
    rig_advance(&w.r, GALE_SECOND, GALE_SECOND / 4);
    assert_int_equal(w.spout->acks, 4);
    assert_int_equal(w.spout->pending_max, 2);
    end(&w);
}

/* A spout that names the task, and a bolt of three that remembers which it is. */
static int direct_next(void *self, gale_collector *out, gale_wait *wait) {
    rig_spout *s = self;
    (void)wait;
    if (s->emitted == 3) return GALE_NEXT_DONE;
    gale_value values[] = { gale_i64((int64_t)s->emitted), gale_i64(0) };
    int rc = gale_emit_direct_tracked(out, (uint32_t)s->keys + (uint32_t)s->emitted, 0, values, 2, s->emitted);
    if (rc < 0) return rc;
    s->emitted++;
    return GALE_NEXT_EMITTED;
}

static int fail_first(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_handle handle = gale_tuple_handle(tuple);
    uint32_t *task_of = bolt->user;
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    uint32_t task = (uint32_t)(handle >> 48);
    if (task_of[number]) {
        assert_int_equal(task_of[number], task);
        bolt->seen++;
        return gale_ack(out, handle);
    }
    task_of[number] = task;
    return gale_fail(out, handle, GALE_REASON_USER + 3, "once more");
}

static void a_direct_tuple_goes_to_the_same_task_again(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        static const gale_spout_ops ops = { .size = sizeof ops, .name = "direct", .next = direct_next };
        static const gale_output outputs[] = { { NULL, "number, key" } };
        uint32_t task_of[3] = { 0 };
        rig_spout *s = calloc(1, sizeof *s);
        rig_bolt *bolt = calloc(1, sizeof *bolt);
        rig r;
        rig_init(&r);
        bolt->on = fail_first;
        bolt->user = task_of;
        gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = s, .outputs = outputs, .output_count = 1 };
        gale_topology_add_spout(r.topology, "from", spout, 1);
        gale_topology_add_bolt(r.topology, "work", rig_manual(bolt), 3);
        gale_topology_subscribe(r.topology, "work", "from", NULL, gale_direct());
        gale_topology_set(r.topology, NULL, "topology.replay.attempts", gale_i64(2));
        rig_make(&r, executor_counts[e]);
        s->keys = rig_task_number(&r, "work", 0);
        rig_settle(&r);
        rig_advance(&r, GALE_SECOND, GALE_SECOND);
        assert_int_equal(bolt->seen, 3);
        for (uint32_t i = 0; i < 3; i++) assert_int_equal(task_of[i], s->keys + i);
        assert_int_equal(rig_stats(&r)->acked, 3);
        rig_fini(&r);
        free(s);
        free(bolt);
    }
}

static void what_waits_is_among_the_open_trees_and_says_so(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        gale_open_tree trees[4] = { { .size = sizeof trees[0] } };
        begin(&w, 2, FAIL, 1, 2);
        gale_topology_set(w.r.topology, NULL, "topology.replay.backoff.initial.secs", gale_i64(5));
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        rig_advance(&w.r, 3 * GALE_SECOND, GALE_SECOND);
        assert_int_equal(gale_runtime_open_trees(w.r.runtime, trees, 4, GALE_SECOND), 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(trees[i].place, GALE_PLACE_WAITING);
            assert_int_equal(trees[i].age, 3 * GALE_SECOND);
            assert_string_equal(trees[i].component, "from");
            assert_non_null(strstr(trees[i].text, "waits to be emitted again for 'from'"));
        }
        end(&w);
    }
}

/* A spout that emits without end from a moment on, until it is told to stop. */
typedef struct filler {
    gale_clock clock;
    int64_t from;
    bool stop;
} filler;

static int filler_next(void *self, gale_collector *out, gale_wait *wait) {
    filler *f = self;
    if (f->stop) return GALE_NEXT_DONE;
    wait->until = f->from;
    if (f->clock.now(f->clock.user) < f->from) return GALE_NEXT_UNTIL;
    gale_value values[] = { gale_i64(NUMBERS - 1), gale_i64(0) };
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static void what_is_due_waits_while_its_spout_is_held(void **state) {
    (void)state;
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "filler", .next = filler_next };
    static const gale_output outputs[] = { { NULL, "number, key" } };
    world w;
    begin(&w, 10, FAIL, 1, 2);
    filler f = { .clock = gale_manual_clock_handle(w.r.clock), .from = GALE_SECOND * 9 / 10 };
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = &f, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(w.r.topology, "filler", spout, 1);
    gale_topology_subscribe(w.r.topology, "work", "filler", NULL, gale_fields("number"));
    gale_topology_set(w.r.topology, "from", "gale.executor", gale_i64(0));
    gale_topology_set(w.r.topology, "filler", "gale.executor", gale_i64(0));
    gale_topology_set(w.r.topology, "work", "gale.executor", gale_i64(1));
    rig_make(&w.r, 2);
    rig_settle(&w.r);
    gx_executor *first = w.r.runtime->shared.executors[0];
    gale_manual_clock_advance(w.r.clock, GALE_SECOND * 19 / 20);
    for (int i = 0; i < 500; i++) gx_step(first); /* nobody reads the ring */
    gale_manual_clock_advance(w.r.clock, GALE_SECOND / 20);
    for (int i = 0; i < 10; i++) gx_step(first);
    assert_int_equal(rig_stats(&w.r)->replayed, 0);
    assert_int_equal(rig_stats(&w.r)->open, 10);
    assert_true(gx_step_due(first) > GALE_SECOND);
    f.stop = true;
    rig_settle(&w.r);
    assert_int_equal(rig_stats(&w.r)->replayed, 10);
    assert_int_equal(w.spout->acks, 10);
    end(&w);
}

/* --- Ends --- */

static void a_stop_answers_what_waits_once_as_stopped(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 20, FAIL, TRIES_MAX, 5);
        add_mailbox(&w, 0);
        rig_make(&w.r, executor_counts[e]);
        rig_advance(&w.r, 2 * GALE_SECOND, GALE_SECOND / 2);
        gale_runtime_stop(w.r.runtime);
        rig_settle(&w.r);
        assert_int_equal(w.spout->fails, 20);
        for (int n = 0; n < 20; n++) assert_int_equal(w.spout->failed[n], 1);
        assert_int_equal(w.spout->last_failure.reason, GALE_REASON_STOPPED);
        assert_false(w.spout->last_failure.final);
        const gale_run_stats *s = rig_stats(&w.r);
        assert_int_equal(s->stopped, 20);
        assert_int_equal(s->dead_letters, 0);
        assert_int_equal(s->retained_bytes, 0);
        end(&w);
    }
}

static void a_drain_waits_for_what_waits(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 20, FAIL, 2, 5);
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        gale_runtime_drain(w.r.runtime);
        rig_advance(&w.r, 2 * GALE_SECOND, GALE_SECOND / 4);
        assert_int_equal(rig_stats(&w.r)->phase, GALE_PHASE_DRAINING);
        rig_advance(&w.r, 2 * GALE_SECOND, GALE_SECOND / 4);
        assert_int_equal(rig_stats(&w.r)->phase, GALE_PHASE_CLOSED);
        assert_int_equal(w.spout->acks, 20);
        end(&w);
    }
}

static void what_waits_is_emitted_also_while_the_topology_is_inactive(void **state) {
    (void)state;
    world w;
    begin(&w, 1, FAIL, 1, 2);
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    gale_runtime_deactivate(w.r.runtime);
    rig_advance(&w.r, GALE_SECOND, GALE_SECOND);
    assert_int_equal(w.spout->acks, 1);
    end(&w);
}

/* --- Dead letters --- */

static void a_dead_letter_says_what_why_where_and_how_often(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 10, FAIL, TRIES_MAX, 3);
        w.wrongs->only = 7 + 1;
        add_mailbox(&w, 0);
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        drain_for(&w, 10 * GALE_SECOND);
        const mail *m = &w.mail;
        assert_int_equal(m->seen, 1);
        assert_int_equal(m->fields, 9);
        assert_string_equal(m->component, "from");
        assert_string_equal(m->stream, "default");
        assert_string_equal(m->reason, "failed");
        assert_string_equal(m->text, "no, thanks");
        assert_string_equal(m->place, "work");
        assert_int_equal(m->message_id, 7);
        assert_int_equal(m->number, 7);
        assert_int_equal(m->attempts, 3);
        assert_int_equal(m->task, w.spout->last_failure.task);
        assert_int_equal(w.spout->acks, 9);
        assert_int_equal(w.spout->fails, 1);
        const gale_run_stats *s = rig_stats(&w.r);
        assert_int_equal(s->trees, 11);
        assert_int_equal(s->acked, 10);
        assert_int_equal(s->failed, 1);
        assert_int_equal(s->dead_letters, 1);
        assert_int_equal(s->dead_letters_lost, 0);
        end(&w);
    }
}

static void a_subscriber_alone_makes_dead_letters_of_first_failures(void **state) {
    (void)state;
    world w;
    begin(&w, 3, REJECT, 1, 1);
    add_mailbox(&w, 0);
    rig_make(&w.r, 2);
    rig_settle(&w.r);
    assert_int_equal(w.mail.seen, 3);
    assert_string_equal(w.mail.reason, "rejected");
    assert_int_equal(w.mail.attempts, 1);
    assert_true(w.spout->last_failure.final);
    end(&w);
}

static void a_dead_letter_that_fails_is_tried_again_and_then_lost_but_never_a_dead_letter(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        for (uint64_t refusals = 0; refusals < 5; refusals++) {
            world w;
            begin(&w, 1, FAIL, TRIES_MAX, 3);
            add_mailbox(&w, refusals);
            rig_make(&w.r, executor_counts[e]);
            rig_advance(&w.r, 30 * GALE_SECOND, GALE_SECOND / 2);
            assert_int_equal(w.spout->fails, 1);
            assert_int_equal(w.spout->acks, 0);
            assert_int_equal(w.mail.seen, refusals < 3 ? refusals + 1 : 3);
            assert_string_equal(w.mail.component, "from");
            const gale_run_stats *s = rig_stats(&w.r);
            assert_int_equal(s->dead_letters, 1);
            assert_int_equal(s->dead_letters_lost, refusals < 3 ? 0 : 1);
            assert_int_equal(s->open, 0);
            assert_int_equal(s->retained_bytes, 0);
            end(&w);
        }
    }
}

/* --- Letters that are delivered again --- */

static int redeliver(world *w, const char *spout, const char *stream, int64_t number, size_t count, gale_error *error) {
    gale_value values[] = { gale_i64(number), gale_i64(0), gale_i64(0) };
    return gale_runtime_redeliver(w->r.runtime, spout, stream, (uint64_t)number, values, count, error);
}

static void what_is_delivered_again_is_answered_and_its_spout_does_not_hear_of_it(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        gale_error error = GALE_ERROR_INIT;
        begin(&w, 10, FAIL, 2, 2);
        w.wrongs->only = 7 + 1;
        add_mailbox(&w, 0);
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        rig_advance(&w.r, 10 * GALE_SECOND, GALE_SECOND);
        assert_int_equal(w.mail.seen, 1);
        assert_int_equal(w.spout->fails, 1);
        assert_int_equal(redeliver(&w, "from", "default", w.mail.number, 2, &error), 0);
        rig_settle(&w.r);
        assert_int_equal(w.wrongs->tries[7], 3);
        assert_int_equal(w.mail.seen, 1);
        assert_int_equal(w.spout->acks + w.spout->fails, 10);
        assert_int_equal(rig_stats(&w.r)->acked, 9 + 1 + 1); /* the letter, and what it carried */
        assert_int_equal(rig_stats(&w.r)->open, 0);
        assert_int_equal(rig_stats(&w.r)->retained_bytes, 0);
        end(&w);
    }
}

static void what_fails_again_is_a_dead_letter_again(void **state) {
    (void)state;
    world w;
    gale_error error = GALE_ERROR_INIT;
    begin(&w, 1, FAIL, 4, 2);
    add_mailbox(&w, 0);
    rig_make(&w.r, 2);
    rig_settle(&w.r);
    rig_advance(&w.r, 10 * GALE_SECOND, GALE_SECOND);
    for (uint64_t letters = 1; letters <= 2; letters++) {
        assert_int_equal(w.mail.seen, letters);
        assert_int_equal(w.mail.message_id, 0);
        assert_int_equal(w.mail.attempts, 2);
        assert_string_equal(w.mail.text, "no, thanks");
        assert_int_equal(rig_stats(&w.r)->given_up, letters);
        assert_int_equal(gale_runtime_failures(w.r.runtime, "work", GALE_REASON_FAILED), letters);
        assert_int_equal(redeliver(&w, "from", "default", 0, 2, &error), 0);
        rig_settle(&w.r);
        rig_advance(&w.r, 10 * GALE_SECOND, GALE_SECOND);
    }
    assert_int_equal(w.mail.seen, 2);
    assert_int_equal(w.wrongs->tries[0], 5);
    assert_int_equal(w.spout->fails, 1);
    assert_int_equal(rig_stats(&w.r)->dead_letters_lost, 0);
    end(&w);
}

static void what_is_delivered_again_waits_for_an_active_spout(void **state) {
    (void)state;
    world w;
    gale_error error = GALE_ERROR_INIT;
    begin(&w, 0, FAIL, 0, 2);
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    gale_runtime_deactivate(w.r.runtime);
    rig_settle(&w.r);
    assert_int_equal(redeliver(&w, "from", "default", 5, 2, &error), 0);
    rig_settle(&w.r);
    assert_int_equal(w.wrongs->tries[5], 0);
    gale_runtime_activate(w.r.runtime);
    rig_settle(&w.r);
    assert_int_equal(w.wrongs->tries[5], 1);
    drain_for(&w, GALE_SECOND);
    assert_int_equal(redeliver(&w, "from", "default", 5, 2, &error), GALE_STOPPED);
    end(&w);
}

static void what_the_end_stops_is_no_letter_that_was_lost(void **state) {
    (void)state;
    world w;
    gale_error error = GALE_ERROR_INIT;
    begin(&w, 0, HOLD, TRIES_MAX, 2);
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    assert_int_equal(redeliver(&w, "from", "default", 5, 2, &error), 0);
    rig_settle(&w.r);
    gale_runtime_stop(w.r.runtime);
    rig_settle(&w.r);
    assert_int_equal(rig_stats(&w.r)->stopped, 1);
    assert_int_equal(rig_stats(&w.r)->dead_letters_lost, 0);
    assert_int_equal(w.spout->fails, 0);
    end(&w);
}

static void delivered(world *w, int code, const char *spout, const char *stream, size_t count, const char *words) {
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(redeliver(w, spout, stream, 1, count, &error), code);
    if (!strstr(error.text, words)) print_error("'%s' lacks '%s'\n", error.text, words);
    assert_non_null(strstr(error.text, words));
}

static void what_fits_no_spout_is_not_delivered(void **state) {
    (void)state;
    world w;
    begin(&w, 0, FAIL, 0, 2);
    rig_make(&w.r, 1);
    delivered(&w, GALE_NOT_FOUND, "form", "default", 2, "there is no spout 'form'; did you mean 'from'?");
    delivered(&w, GALE_NOT_FOUND, "work", "default", 2, "there is no spout 'work'");
    delivered(&w, GALE_NOT_FOUND, "from", "other", 2, "spout 'from' has no stream 'other'");
    delivered(&w, GALE_NOT_FOUND, "from", "__dead_letter", 9, "has no stream '__dead_letter'");
    delivered(&w, GALE_FIELDS, "from", "default", 1, "has 2 fields, the letter 1");
    assert_int_equal(gale_runtime_redeliver(NULL, "from", "default", 1, NULL, 0, NULL), GALE_INVALID);
    end(&w);
    begin(&w, 0, FAIL, 0, 1);
    rig_make(&w.r, 1);
    delivered(&w, GALE_STATE, "from", "default", 2, "has neither replay nor dead letters");
    end(&w);
}

static int emit_to_letters(void *self, gale_collector *out, gale_wait *wait) {
    (void)wait;
    int *codes = self;
    gale_value values[9] = { { 0 } };
    codes[0] = gale_emit(out, 1, values, 9);
    codes[1] = gale_emit_tracked(out, 1, values, 9, 1);
    return GALE_NEXT_DONE;
}

static void the_stream_of_dead_letters_is_the_engines_own(void **state) {
    (void)state;
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "meddler", .next = emit_to_letters };
    static const gale_output outputs[] = { { NULL, "number" } };
    int codes[2] = { 0, 0 };
    rig r;
    rig_init(&r);
    mail m = { 0 };
    rig_bolt *bolt = calloc(1, sizeof *bolt);
    bolt->on = on_mail;
    bolt->user = &m;
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = codes, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r.topology, "from", spout, 1);
    gale_topology_add_bolt(r.topology, "mailbox", rig_manual(bolt), 1);
    gale_topology_subscribe(r.topology, "mailbox", "from", "__dead_letter", gale_shuffle());
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(codes[0], GALE_NOT_FOUND);
    assert_int_equal(codes[1], GALE_NOT_FOUND);
    assert_int_equal(m.seen, 0);
    rig_fini(&r);
    free(bolt);
}

/* --- The file --- */

static char folder[64];

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char *content(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    size_t size = fread(text, 1, (1 << 16) - 1, file);
    text[size] = 0;
    fclose(file);
    return text;
}

static void a_letter_is_in_the_file_as_one_line(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, 10, FAIL, TRIES_MAX, 2);
        w.wrongs->only = 7 + 1;
        (void)remove(path_of("letters"));
        gale_topology_set(w.r.topology, NULL, "topology.dead_letters.file", gale_text(path_of("letters")));
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        drain_for(&w, 10 * GALE_SECOND);
        char *text = content(path_of("letters")), expected[512];
        snprintf(
            expected, sizeof expected,
            "{\"component\":\"from\",\"stream\":\"default\",\"message_id\":7,\"tuple\":[7,0],\"reason\":\"failed\","
            "\"text\":\"no, thanks\",\"place\":\"work\",\"task\":%u,\"attempts\":2,\"time\":",
            w.spout->last_failure.task);
        char *time = text + strlen(expected), *behind;
        assert_memory_equal(text, expected, strlen(expected));
        assert_true(strtod(time, &behind) > 1.7e9);
        assert_string_equal(behind, "}\n");
        assert_int_equal(rig_stats(&w.r)->dead_letters, 1);
        free(text);
        end(&w);
    }
}

static void letters_are_appended_and_whole_before_the_spout_hears(void **state) {
    (void)state;
    (void)remove(path_of("more"));
    for (int run = 1; run <= 2; run++) {
        world w;
        begin(&w, 100, FAIL, 1, 1);
        gale_topology_set(w.r.topology, NULL, "topology.dead_letters.file", gale_text(path_of("more")));
        rig_make(&w.r, 2);
        rig_settle(&w.r);
        assert_int_equal(w.spout->fails, 100);
        char *text = content(path_of("more"));
        int lines = 0;
        for (const char *c = text; *c; c++) lines += *c == '\n';
        assert_int_equal(lines, 100 * run);
        free(text);
        end(&w);
    }
}

static void refuses_to_start(const char *path) {
    world w;
    begin(&w, 1, FAIL, 1, 1);
    gale_topology_set(w.r.topology, NULL, "topology.dead_letters.file", gale_text(path));
    rig_make(&w.r, 2);
    rig_settle(&w.r);
    assert_int_equal(rig_stats(&w.r)->phase, GALE_PHASE_CLOSED);
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_runtime_wait(w.r.runtime, 0, &error), GALE_IO);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "topology.dead_letters.file"));
    assert_int_equal(w.spout->emitted, 0);
    end(&w);
}

static void a_file_that_cannot_be_made_stops_the_start(void **state) {
    (void)state;
    refuses_to_start("/no/such/folder/letters");
    refuses_to_start(folder);
}

static void a_write_that_fails_stops_the_run(void **state) {
    (void)state;
    struct stat about;
    if (stat("/dev/full", &about) != 0) skip();
    world w;
    begin(&w, 10, FAIL, 1, 1);
    gale_topology_set(w.r.topology, NULL, "topology.dead_letters.file", gale_text("/dev/full"));
    rig_make(&w.r, 2);
    rig_settle(&w.r);
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(rig_stats(&w.r)->phase, GALE_PHASE_CLOSED);
    assert_int_equal(gale_runtime_wait(w.r.runtime, 0, &error), GALE_IO);
    assert_non_null(strstr(error.text, "/dev/full"));
    assert_true(w.spout->fails > 0);
    for (int n = 0; n < 10; n++) assert_int_equal(w.spout->failed[n], (uint64_t)n < w.spout->emitted);
    assert_int_equal(w.spout->finals, 0);
    assert_int_equal(w.spout->last_failure.reason, GALE_REASON_STOPPED);
    const gale_run_stats *s = rig_stats(&w.r);
    assert_int_equal(s->stopped, s->trees);
    assert_int_equal(s->given_up + s->dead_letters + s->dead_letters_lost + s->failed, 0);
    assert_int_equal(s->retained_bytes, 0);
    end(&w);
}

/* Tens always fail, what ends with a 1 fails at first. */
static int on_number(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    uint32_t *tries = bolt->user;
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    uint32_t try_ = tries[number]++;
    bool bad = number % 10 == 0 || (number % 10 == 1 && try_ == 0);
    return bad ? gale_fail(out, gale_tuple_handle(tuple), GALE_REASON_FAILED, "bad")
               : gale_ack(out, gale_tuple_handle(tuple));
}

enum { LANES = 3, LANE_NUMBERS = 2000 };

typedef struct lane {
    rig_spout spout;
    rig_bolt bolt;
    uint32_t tries[LANE_NUMBERS];
    char names[2][16];
} lane;

/* Each spout beside another one's bolt, and all letters in one file. */
static void add_lane(gale_topology *t, lane *l, int64_t i) {
    snprintf(l->names[0], sizeof l->names[0], "from%d", (int)i);
    snprintf(l->names[1], sizeof l->names[1], "work%d", (int)i);
    l->spout.to_emit = LANE_NUMBERS;
    l->bolt.on = on_number;
    l->bolt.user = l->tries;
    gale_topology_add_spout(t, l->names[0], rig_spout_of(&l->spout), 1);
    gale_topology_add_bolt(t, l->names[1], rig_manual(&l->bolt), 1);
    gale_topology_subscribe(t, l->names[1], l->names[0], NULL, gale_shuffle());
    gale_topology_set(t, l->names[0], "gale.executor", gale_i64(i));
    gale_topology_set(t, l->names[1], "gale.executor", gale_i64((i + 1) % LANES));
}

static void check_lane(const lane *l) {
    assert_int_equal(l->spout.acks, LANE_NUMBERS * 9 / 10);
    assert_int_equal(l->spout.fails, LANE_NUMBERS / 10);
    for (int n = 0; n < LANE_NUMBERS; n++) {
        assert_int_equal(l->tries[n], n % 10 == 0 ? 3 : n % 10 == 1 ? 2 : 1);
        assert_int_equal(l->spout.failed[n], n % 10 == 0);
        assert_int_equal(l->spout.acked[n], n % 10 != 0);
    }
}

static void on_threads_every_tuple_is_answered_once_and_every_letter_is_a_line(void **state) {
    (void)state;
    (void)remove(path_of("threads"));
    lane *lanes = calloc(LANES, sizeof *lanes);
    gale_error error = GALE_ERROR_INIT;
    rig r;
    rig_init(&r);
    for (int i = 0; i < LANES; i++) add_lane(r.topology, &lanes[i], i);
    gale_topology_set(r.topology, NULL, "topology.replay.attempts", gale_i64(3));
    gale_topology_set(r.topology, NULL, "topology.replay.backoff.initial.secs", gale_f64(0.001));
    gale_topology_set(r.topology, NULL, "topology.dead_letters.file", gale_text(path_of("threads")));
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_clock_monotonic();
    options.executors = LANES;
    options.until_drained = true;
    options.clock = &clock;
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_run(r.runtime, &error), GALE_OK);
    for (int i = 0; i < LANES; i++) check_lane(&lanes[i]);
    const gale_run_stats *s = rig_stats(&r);
    assert_int_equal(s->dead_letters, LANES * LANE_NUMBERS / 10);
    assert_int_equal(s->dead_letters_lost, 0);
    assert_int_equal(s->replayed, LANES * LANE_NUMBERS * 3 / 10);
    assert_int_equal(s->retained_bytes, 0);
    FILE *file = fopen(path_of("threads"), "r");
    char line[512];
    uint64_t lines = 0;
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); lines++) {
        assert_int_equal(strncmp(line, "{\"component\":\"from", 18), 0);
        assert_non_null(strstr(line, "\"attempts\":3,\"time\":"));
    }
    fclose(file);
    assert_int_equal(lines, LANES * LANE_NUMBERS / 10);
    rig_fini(&r);
    free(lanes);
}

/* --- Configuration --- */

static void refuses(const char *key, gale_value value, const char *key2, gale_value value2, const char *said) {
    rig_spout spout = { .to_emit = 1 };
    gale_topology *t = gale_topology_new("t");
    gale_topology_add_spout(t, "from", rig_spout_of(&spout), 1);
    assert_true(gale_topology_set(t, NULL, key, value) >= 0);
    assert_true(gale_topology_set(t, NULL, key2, value2) >= 0);
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = NULL;
    assert_int_equal(gale_runtime_new(t, NULL, &runtime, &error), GALE_CONFIG);
    assert_non_null(strstr(error.text, said));
    gale_topology_free(t);
}

static void attempts_for_which_a_step_had_no_time_are_due_at_once(void **state) {
    (void)state;
    world w;
    begin(&w, 300, FAIL, 1, 2);
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    int64_t due = gale_runtime_next_due(w.r.runtime);
    assert_int_equal(due, GALE_SECOND);
    gale_manual_clock_advance(w.r.clock, due);
    gale_runtime_step(w.r.runtime);
    assert_in_range(rig_stats(&w.r)->replayed, 1, 299); /* a part of them */
    assert_int_equal(gale_runtime_next_due(w.r.runtime), due);
    rig_settle(&w.r);
    assert_int_equal(w.spout->acks, 300);
    end(&w);
}

static void configurations_that_cannot_be_kept_are_refused(void **state) {
    (void)state;
    refuses("topology.replay.backoff.initial.secs", gale_i64(10), "topology.replay.backoff.max.secs", gale_f64(2.5),
            "topology.replay.backoff.max.secs (2.5) is less than topology.replay.backoff.initial.secs (10)");
    refuses("topology.acker.executors", gale_i64(0), "topology.replay.attempts", gale_i64(2),
            "topology.replay.attempts needs acks");
    refuses("topology.acker.executors", gale_i64(0), "topology.dead_letters.file", gale_text("x"),
            "topology.dead_letters.file needs acks");
}

static void a_backoff_of_zero_is_the_next_step(void **state) {
    (void)state;
    world w;
    begin(&w, 5, FAIL, 3, 4);
    gale_topology_set(w.r.topology, NULL, "topology.replay.backoff.initial.secs", gale_i64(0));
    rig_make(&w.r, 2);
    rig_settle(&w.r);
    assert_int_equal(w.spout->acks, 5);
    assert_int_equal(rig_stats(&w.r)->replayed, 15);
    end(&w);
}

/* --- Memory --- */

/* Returns whether the run met the failing allocation. */
static bool run_with_failing(size_t n, bool after) {
    counting_allocator counting = { .fail_at = n, .fail_after = after };
    gale_allocator handle = counting_handle(&counting);
    world w;
    begin(&w, 30, FAIL, 2, 3);
    w.wrongs->only = 0;
    add_mailbox(&w, 1);
    gale_topology_set(w.r.topology, NULL, "topology.dead_letters.file", gale_text(path_of("failing")));
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(w.r.clock);
    options.allocator = &handle;
    options.executors = 2;
    options.clock = &clock;
    options.seed = 1;
    gale_error error = GALE_ERROR_INIT;
    int rc = gale_runtime_new(w.r.topology, &options, &w.r.runtime, &error);
    if (rc < 0) {
        assert_int_equal(rc, GALE_NO_MEMORY);
        w.r.runtime = NULL;
    } else {
        rig_advance(&w.r, 20 * GALE_SECOND, GALE_SECOND);
        gale_runtime_stop(w.r.runtime);
        rig_settle(&w.r);
        for (uint64_t i = 0; i < w.spout->emitted; i++) assert_int_equal(w.spout->acked[i] + w.spout->failed[i], 1);
        rig_stats(&w.r);
    }
    bool met = counting.calls >= n;
    end(&w);
    assert_int_equal(counting.blocks, 0);
    return met;
}

static void any_allocation_may_fail_and_every_tuple_is_answered_once(void **state) {
    (void)state;
    size_t n = 1;
    while (run_with_failing(n, false)) n++;
    assert_true(n > 20);
    for (size_t from = 1; from < n; from += 3) run_with_failing(from, true);
}

typedef struct big {
    uint64_t emitted, acked;
    char text[5000];
    uint32_t seen;
} big;

static int big_next(void *self, gale_collector *out, gale_wait *wait) {
    big *b = self;
    (void)wait;
    if (b->emitted) return GALE_NEXT_DONE;
    gale_value value = gale_string(b->text, sizeof b->text);
    int rc = gale_emit_tracked(out, 0, &value, 1, 1);
    if (rc < 0) return rc;
    b->emitted++;
    return GALE_NEXT_EMITTED;
}

static void big_ack(void *self, uint64_t id) {
    (void)id;
    ((big *)self)->acked++;
}

static int fail_twice(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    big *b = bolt->user;
    gale_value value = gale_tuple_value(tuple, 0);
    assert_int_equal(value.size, sizeof b->text);
    assert_memory_equal(value.as.string, b->text, sizeof b->text);
    if (b->seen++ < 2) return gale_fail(out, gale_tuple_handle(tuple), 0, NULL);
    return gale_ack(out, gale_tuple_handle(tuple));
}

static void a_large_body_is_shared_and_given_back(void **state) {
    (void)state;
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "big", .next = big_next, .ack = big_ack };
    static const gale_output outputs[] = { { NULL, "text" } };
    for (size_t e = 0; e < 3; e++) {
        big b = { 0 };
        for (size_t i = 0; i < sizeof b.text; i++) b.text[i] = (char)('a' + i % 26);
        rig r;
        rig_init(&r);
        rig_bolt *bolt = calloc(1, sizeof *bolt);
        bolt->on = fail_twice;
        bolt->user = &b;
        gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = &b, .outputs = outputs, .output_count = 1 };
        gale_topology_add_spout(r.topology, "from", spout, 1);
        gale_topology_add_bolt(r.topology, "work", rig_manual(bolt), 1);
        gale_topology_subscribe(r.topology, "work", "from", NULL, gale_shuffle());
        gale_topology_set(r.topology, NULL, "topology.replay.attempts", gale_i64(3));
        gale_topology_set(r.topology, "work", "gale.executor", gale_i64(executor_counts[e] - 1));
        rig_make(&r, executor_counts[e]);
        rig_settle(&r);
        assert_in_range(rig_stats(&r)->retained_bytes, sizeof b.text, 2 * sizeof b.text);
        rig_advance(&r, 3 * GALE_SECOND, GALE_SECOND);
        assert_int_equal(b.seen, 3);
        assert_int_equal(b.acked, 1);
        assert_int_equal(rig_stats(&r)->retained_bytes, 0);
        rig_fini(&r);
        free(bolt);
    }
}

/* --- What is kept is what the stream has --- */

static int refusals[3];

static int emit_too_many(void *self, gale_collector *out, gale_wait *wait) {
    const gale_value values[2] = { gale_i64(1), gale_i64(2) };
    size_t more = (size_t)1 << 40; /* nobody looks for so many */
    (void)self, (void)wait;
    refusals[0] = gale_emit_tracked(out, 0, values, more, 1);
    refusals[1] = gale_emit_direct_tracked(out, 1, 0, values, more, 1);
    refusals[2] = gale_emit_tracked(out, 7, values, more, 1);
    return GALE_NEXT_DONE;
}

static void values_that_the_stream_does_not_have_are_not_looked_at(void **state) {
    (void)state;
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "many", .next = emit_too_many };
    static rig_bolt taker = { .on = rig_take };
    rig r;
    rig_init(&r);
    static const gale_output outputs[] = { { NULL, "number, again" } };
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r.topology, "many", spout, 1);
    gale_topology_add_bolt(r.topology, "taker", rig_simple(&taker), 1);
    gale_topology_subscribe(r.topology, "taker", "many", NULL, gale_shuffle());
    gale_topology_set(r.topology, NULL, "topology.replay.attempts", gale_i64(3));
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(refusals[0], GALE_FIELDS);
    assert_int_equal(refusals[1], GALE_FIELDS);
    assert_int_equal(refusals[2], GALE_NOT_FOUND);
    assert_int_equal(rig_stats(&r)->trees, 0);
    rig_drain(&r);
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backoffs_double_up_to_the_greatest_and_are_exact),
        cmocka_unit_test(the_runtime_knows_when_the_next_attempt_is_due),
        cmocka_unit_test(attempts_for_which_a_step_had_no_time_are_due_at_once),
        cmocka_unit_test(the_spout_hears_one_failure_after_the_last_attempt),
        cmocka_unit_test(without_replay_a_failure_is_told_at_once_and_is_not_final),
        cmocka_unit_test(one_component_may_have_attempts_of_its_own),
        cmocka_unit_test(what_is_rejected_is_not_emitted_again),
        cmocka_unit_test(what_times_out_is_emitted_again_and_late_acks_of_it_are_stale),
        cmocka_unit_test(a_reading_never_shows_a_failure_that_is_not_the_last_word),
        cmocka_unit_test(what_overflows_is_tried_again_and_shows_nowhere),
        cmocka_unit_test(waiting_trees_count_as_pending),
        cmocka_unit_test(a_direct_tuple_goes_to_the_same_task_again),
        cmocka_unit_test(what_is_due_waits_while_its_spout_is_held),
        cmocka_unit_test(what_waits_is_among_the_open_trees_and_says_so),
        cmocka_unit_test(a_stop_answers_what_waits_once_as_stopped),
        cmocka_unit_test(a_drain_waits_for_what_waits),
        cmocka_unit_test(what_waits_is_emitted_also_while_the_topology_is_inactive),
        cmocka_unit_test(a_dead_letter_says_what_why_where_and_how_often),
        cmocka_unit_test(a_subscriber_alone_makes_dead_letters_of_first_failures),
        cmocka_unit_test(a_dead_letter_that_fails_is_tried_again_and_then_lost_but_never_a_dead_letter),
        cmocka_unit_test(what_is_delivered_again_is_answered_and_its_spout_does_not_hear_of_it),
        cmocka_unit_test(what_fails_again_is_a_dead_letter_again),
        cmocka_unit_test(what_is_delivered_again_waits_for_an_active_spout),
        cmocka_unit_test(what_the_end_stops_is_no_letter_that_was_lost),
        cmocka_unit_test(what_fits_no_spout_is_not_delivered),
        cmocka_unit_test(the_stream_of_dead_letters_is_the_engines_own),
        cmocka_unit_test(a_letter_is_in_the_file_as_one_line),
        cmocka_unit_test(letters_are_appended_and_whole_before_the_spout_hears),
        cmocka_unit_test(on_threads_every_tuple_is_answered_once_and_every_letter_is_a_line),
        cmocka_unit_test(a_file_that_cannot_be_made_stops_the_start),
        cmocka_unit_test(a_write_that_fails_stops_the_run),
        cmocka_unit_test(a_backoff_of_zero_is_the_next_step),
        cmocka_unit_test(any_allocation_may_fail_and_every_tuple_is_answered_once),
        cmocka_unit_test(a_large_body_is_shared_and_given_back),
        cmocka_unit_test(values_that_the_stream_does_not_have_are_not_looked_at),
    };
    const struct CMUnitTest alone[] = { cmocka_unit_test(configurations_that_cannot_be_kept_are_refused) };
    snprintf(folder, sizeof folder, "/tmp/gale-replay-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests_name("configuration", alone, NULL, NULL) + rig_run_on_both_ledgers(tests);
    static const char *const files[] = { "letters", "more", "failing", "threads" };
    for (size_t i = 0; i < 4; i++) (void)remove(path_of(files[i]));
    (void)rmdir(folder);
    return failed;
}
