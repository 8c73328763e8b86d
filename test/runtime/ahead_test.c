/* What a bolt may know of the tuples behind the one in execution. */
#include "runtime/rig.h"

#include <string.h>

enum { TUPLES = 5000, FARTHEST = 4 };

static rig_spout spout;
static rig_bolt bolt;
static uint64_t known[FARTHEST + 1], wrong;

static void look(const gale_tuple *tuple, gale_collector *out) {
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    bool ends = false;
    for (uint32_t distance = 0; distance <= FARTHEST; distance++) {
        const gale_body *body = gale_ahead(out, distance);
        if (body) known[distance]++;
        if (body && ends) wrong++; /* there is one behind the last */
        if (body && gale_body_value(body, 0).as.i64 != number + distance) wrong++;
        ends = !body;
    }
}

static int on_tuple(rig_bolt *self, const gale_tuple *tuple, gale_collector *out) {
    self->seen++;
    if (!gale_tuple_is_tick(tuple)) look(tuple, out);
    return 0;
}

static int on_tuples(rig_bolt *self, gale_batch *tuples, gale_collector *out) {
    const gale_tuple *tuple;
    while ((tuple = gale_batch_next(tuples)) != NULL) (void)on_tuple(self, tuple, out);
    wrong += gale_ahead(out, 0) != NULL;
    return 0;
}

static int on_flush(rig_bolt *self, gale_collector *out) {
    (void)self;
    wrong += gale_ahead(out, 0) || gale_ahead(out, 1);
    return 0;
}

static void run(bool at_once, bool flushes) {
    rig r;
    memset(&spout, 0, sizeof spout);
    memset(&bolt, 0, sizeof bolt);
    memset(known, 0, sizeof known);
    wrong = 0;
    spout.to_emit = TUPLES;
    bolt.on = on_tuple;
    if (at_once) bolt.on_batch = on_tuples;
    if (flushes) bolt.on_flush = on_flush;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "bolt", rig_simple(&bolt), 1);
    gale_topology_subscribe(r.topology, "bolt", "spout", NULL, gale_shuffle());
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    rig_make_with(&r, options);
    rig_settle(&r);
    assert_int_equal(spout.acks, TUPLES);
    assert_int_equal(bolt.seen, TUPLES);
    assert_int_equal(known[0], TUPLES);
    assert_int_equal(wrong, 0);
    rig_fini(&r);
}

static void tuples_of_the_batch_are_known_in_their_order(void **state) {
    (void)state;
    for (int at_once = 0; at_once < 2; at_once++) {
        run(at_once, false);
        for (uint32_t distance = 1; distance <= FARTHEST; distance++)
            assert_in_range(known[distance], 1, known[distance - 1] - 1); /* a batch has a last row */
    }
}

static void nothing_is_known_outside_of_an_execution(void **state) {
    (void)state;
    run(false, true);
    run(true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuples_of_the_batch_are_known_in_their_order),
        cmocka_unit_test(nothing_is_known_outside_of_an_execution),
    };
    return rig_run_on_both_ledgers(tests);
}
