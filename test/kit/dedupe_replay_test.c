/* Whole topologies: what a dedupe bolt does to tuples that fail behind it and are emitted again. */
#include "runtime/rig.h"

#include <gale/kit.h>

#include "harness/cm.h"

enum { TUPLES = 1000, KEYS = 100 };

/* Fails the first delivery of each key, and counts the others. */
typedef struct flaky {
    uint32_t tries[KEYS];
    uint32_t done[KEYS];
} flaky;

static int on_flaky(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    flaky *f = bolt->user;
    int64_t key = gale_tuple_value(tuple, 0).as.i64;
    if (f->tries[key]++ == 0) {
        gale_report(out, "not yet");
        return GALE_INVALID;
    }
    f->done[key]++;
    return 0;
}

static void run(const char *identity, flaky *f, rig_spout *spout) {
    rig r;
    gale_bolt bolt;
    gale_dedupe_options options = { .size = sizeof options, .key = "key", .identity = identity };
    rig_bolt last = { .on = on_flaky, .user = f };
    rig_init(&r);
    assert_int_equal(gale_dedupe_bolt(&options, &bolt, NULL), 0);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(spout), 1);
    gale_topology_add_bolt(r.topology, "dedupe", bolt, 2);
    gale_topology_add_bolt(r.topology, "flaky", rig_simple(&last), 1);
    gale_topology_subscribe(r.topology, "dedupe", "spout", NULL, gale_fields("key"));
    gale_topology_subscribe(r.topology, "flaky", "dedupe", NULL, gale_global());
    rig_make(&r, 1);
    rig_settle(&r);
    rig_drain(&r);
    rig_fini(&r);
}

static void with_an_identity_each_key_arrives_though_its_first_delivery_failed(void **state) {
    (void)state;
    static flaky f;
    static rig_spout spout;
    f = (flaky){ .tries = { 0 } };
    spout = (rig_spout){ .to_emit = TUPLES, .again = true, .keys = KEYS };
    run("number", &f, &spout);
    assert_int_equal(spout.fails, KEYS);
    assert_int_equal(spout.acks, TUPLES);
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(f.tries[i], 2); /* the one that failed, once more; no duplicate of it */
        assert_int_equal(f.done[i], 1);
    }
}

/* What the documentation says: a replay looks like a duplicate. */
static void without_one_a_replay_is_dropped(void **state) {
    (void)state;
    static flaky f;
    static rig_spout spout;
    f = (flaky){ .tries = { 0 } };
    spout = (rig_spout){ .to_emit = TUPLES, .again = true, .keys = KEYS };
    run(NULL, &f, &spout);
    assert_int_equal(spout.fails, KEYS);
    assert_int_equal(spout.acks, TUPLES);
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(f.tries[i], 1);
        assert_int_equal(f.done[i], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_an_identity_each_key_arrives_though_its_first_delivery_failed),
        cmocka_unit_test(without_one_a_replay_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
