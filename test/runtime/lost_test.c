/* A spout whose source is lost (gale_source_lost): which trees end, what is heard of them, and what is said of them later;
 * on virtual time, with sums at ledgers and at acker tasks. */
#include "runtime/rig.h"

#include <string.h>

static const uint32_t executor_counts[] = { 1, 2, 8 };

enum { NUMBERS = 10 };

typedef struct world {
    rig r;
    rig_spout spout;
    rig_bolt bolt, letters;
} world;

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
}

/* On its tick it acks all that it holds. */
static int hold_until_tick(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) return hold(bolt, tuple, out);
    for (size_t i = 0; i < bolt->held_count; i++) assert_int_equal(gale_ack(out, bolt->held[i]), GALE_OK);
    bolt->held_count = 0;
    bolt->ticks++;
    return gale_ack(out, gale_tuple_handle(tuple));
}

static bool is_even(void *user, uint64_t message_id) {
    (void)user;
    return message_id % 2 == 0;
}

static bool is_none(void *user, uint64_t message_id) {
    (void)user, (void)message_id;
    return false;
}

/* NUMBERS are emitted, which the bolt holds for 10 s; then their source is lost, and one more comes. */
static void begin(world *w, gale_is_lost_fn *is_lost) {
    memset(w, 0, sizeof *w);
    rig_init(&w->r);
    w->spout.to_emit = NUMBERS + 1;
    w->spout.lose_at = NUMBERS;
    w->spout.is_lost = is_lost;
    w->bolt.on = hold_until_tick;
    gale_topology *t = w->r.topology;
    gale_topology_add_spout(t, "from", rig_spout_of(&w->spout), 1);
    gale_topology_add_bolt(t, "work", rig_manual(&w->bolt), 1);
    gale_topology_subscribe(t, "work", "from", NULL, gale_shuffle());
    gale_topology_set(t, "work", "topology.tick.tuple.freq.secs", gale_i64(10));
    gale_topology_set(t, NULL, "topology.message.timeout.secs", gale_i64(60));
}

static void expect_failure(const world *w) {
    assert_int_equal(w->spout.last_failure.reason, GALE_REASON_SOURCE_LOST);
    assert_int_equal(w->spout.last_failure.task, 0);
    assert_null(w->spout.last_failure.component);
    assert_string_equal(w->spout.last_text, "where it came from is gone");
    assert_int_equal(w->spout.finals, 0);
}

static void those_that_are_lost_fail_at_once_and_the_others_are_as_open_as_before(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, is_even);
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        assert_int_equal(w.spout.lost, NUMBERS / 2);
        assert_int_equal(w.spout.fails, NUMBERS / 2);
        for (int i = 0; i < NUMBERS; i++) assert_int_equal(w.spout.failed[i], i % 2 == 0);
        expect_failure(&w);
        assert_int_equal(rig_stats(&w.r)->open, NUMBERS / 2 + 1);
        rig_advance(&w.r, 11 * GALE_SECOND, GALE_SECOND);
        assert_int_equal(w.spout.acks, NUMBERS / 2 + 1);
        for (int i = 0; i < NUMBERS; i++) assert_int_equal(w.spout.acked[i], i % 2 == 1);
        rig_drain(&w.r);
        const gale_run_stats *s = rig_stats(&w.r);
        assert_int_equal(s->trees, NUMBERS + 1);
        assert_int_equal(s->failed, NUMBERS / 2);
        assert_int_equal(s->acked, NUMBERS / 2 + 1);
        assert_true(s->stale >= NUMBERS / 2); /* the answers of what went on */
        rig_fini(&w.r);
    }
}

static void all_or_none_may_be_lost(void **state) {
    (void)state;
    for (int none = 0; none < 2; none++) {
        world w;
        begin(&w, none ? is_none : NULL);
        rig_make(&w.r, 2);
        rig_settle(&w.r);
        assert_int_equal(w.spout.lost, none ? 0 : NUMBERS);
        assert_int_equal(w.spout.fails, none ? 0 : NUMBERS);
        rig_advance(&w.r, 11 * GALE_SECOND, GALE_SECOND);
        rig_drain(&w.r);
        assert_int_equal(rig_stats(&w.r)->open, 0);
        rig_fini(&w.r);
    }
}

/* The last one only on its tick. */
static int refuse(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_handle handle = gale_tuple_handle(tuple);
    if (gale_tuple_is_tick(tuple)) {
        if (bolt->held_count) (void)gale_fail(out, bolt->held[--bolt->held_count], GALE_REASON_FAILED, "not here");
        return gale_ack(out, handle);
    }
    if (gale_tuple_value(tuple, 0).as.i64 == NUMBERS) return hold(bolt, tuple, out);
    return gale_fail(out, handle, GALE_REASON_FAILED, "not here");
}

static int count(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bolt->seen++;
    return gale_ack(out, gale_tuple_handle(tuple));
}

static void what_is_lost_is_neither_emitted_again_nor_a_dead_letter(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        world w;
        begin(&w, is_even);
        w.letters.on = count;
        gale_topology_set(w.r.topology, NULL, "topology.replay.attempts", gale_i64(5));
        gale_topology_add_bolt(w.r.topology, "mailbox", rig_manual(&w.letters), 1);
        gale_topology_subscribe(w.r.topology, "mailbox", "from", "__dead_letter", gale_global());
        rig_make(&w.r, executor_counts[e]);
        rig_settle(&w.r);
        assert_int_equal(w.spout.fails, NUMBERS / 2);
        expect_failure(&w);
        rig_advance(&w.r, 30 * GALE_SECOND, GALE_SECOND);
        assert_int_equal(w.letters.seen, 0);
        assert_int_equal(rig_stats(&w.r)->replayed, 0);
        assert_int_equal(rig_stats(&w.r)->given_up, 0);
        assert_int_equal(rig_stats(&w.r)->retained_bytes, 0);
        assert_int_equal(w.spout.acks, NUMBERS / 2 + 1);
        rig_fini(&w.r);
    }
}

static void a_dead_letter_of_the_same_number_is_not_lost(void **state) {
    (void)state;
    world w;
    begin(&w, NULL);
    w.spout.lose_at = 0;
    w.bolt.on = refuse;
    w.letters.on = hold;
    gale_topology_set(w.r.topology, NULL, "topology.replay.attempts", gale_i64(1));
    gale_topology_add_bolt(w.r.topology, "mailbox", rig_manual(&w.letters), 1);
    gale_topology_subscribe(w.r.topology, "mailbox", "from", "__dead_letter", gale_global());
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    assert_int_equal(w.letters.held_count, NUMBERS);
    w.spout.lose_at = NUMBERS + 1; /* when the failure of the last one has it asked for more */
    w.spout.lost = -1;
    rig_advance(&w.r, 11 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(w.spout.fails, NUMBERS + 1);
    assert_int_equal(w.spout.lost, 0);
    assert_int_equal(w.letters.held_count, NUMBERS + 1);
    assert_int_equal(rig_stats(&w.r)->open, NUMBERS + 1);
    rig_fini(&w.r);
}

static int lose_here(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bolt->seen++;
    assert_int_equal(gale_source_lost(out, NULL, NULL), GALE_STATE);
    return gale_ack(out, gale_tuple_handle(tuple));
}

static void a_bolt_has_no_source(void **state) {
    (void)state;
    world w;
    begin(&w, is_none);
    w.bolt.on = lose_here;
    rig_make(&w.r, 1);
    rig_settle(&w.r);
    assert_int_equal(w.bolt.seen, NUMBERS + 1);
    assert_int_equal(w.spout.acks, NUMBERS + 1);
    assert_int_equal(rig_task(&w.r, "work", 0).misused, NUMBERS + 1);
    rig_fini(&w.r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_are_lost_fail_at_once_and_the_others_are_as_open_as_before),
        cmocka_unit_test(all_or_none_may_be_lost),
        cmocka_unit_test(what_is_lost_is_neither_emitted_again_nor_a_dead_letter),
        cmocka_unit_test(a_dead_letter_of_the_same_number_is_not_lost),
        cmocka_unit_test(a_bolt_has_no_source),
    };
    return rig_run_on_both_ledgers(tests);
}
