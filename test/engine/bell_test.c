#include "engine/bell.h"

#include "harness/cm.h"

#include <pthread.h>

static void a_quiet_owner_may_park_and_wakes_itself(void **state) {
    (void)state;
    gx_bell bell;
    assert_true(gx_bell_init(&bell));
    assert_true(gx_bell_may_park(&bell));
    assert_int_equal(gx_load_seq(&bell.state), GX_BELL_PARKED);
    gx_wake_park(&bell.wake, -1, NULL, 0);
    gx_bell_wake(&bell);
    assert_int_equal(gx_load_seq(&bell.state), GX_BELL_AWAKE);
    gx_bell_fini(&bell);
}

static void an_owner_that_was_rung_looks_again_before_it_may_park(void **state) {
    (void)state;
    gx_bell bell;
    assert_true(gx_bell_init(&bell));
    for (int i = 0; i < 3; i++) {
        gx_bell_ring(&bell);
        gx_bell_ring(&bell);
        assert_false(gx_os_readable(bell.wake.fd)); /* nobody is parked: no system call */
        assert_false(gx_bell_may_park(&bell));
        assert_int_equal(gx_load_seq(&bell.state), GX_BELL_AWAKE);
        assert_true(gx_bell_may_park(&bell));
        gx_bell_wake(&bell);
    }
    gx_bell_fini(&bell);
}

static void a_ring_while_parked_wakes_once(void **state) {
    (void)state;
    gx_bell bell;
    assert_true(gx_bell_init(&bell));
    assert_true(gx_bell_may_park(&bell));
    gx_bell_ring(&bell);
    assert_true(gx_os_readable(bell.wake.fd));
    gx_bell_ring(&bell);
    gx_wake_park(&bell.wake, -1, NULL, -1);
    gx_bell_wake(&bell);
    assert_false(gx_os_readable(bell.wake.fd));
    assert_true(gx_bell_may_park(&bell));
    gx_bell_wake(&bell);
    gx_bell_fini(&bell);
}

/* --- Two threads that hand a number back and forth; each parks without a bound whenever there is nothing new. A ring
 * that is missed stops the test for ever. --- */

enum { ROUNDS = 100000 };

typedef struct side {
    gx_bell bell;
    gx_atomic64 news; /* written by the other side */
    uint64_t parked;
} side;

typedef struct pair {
    side sides[2];
} pair;

static void wait_for(side *mine, uint64_t number) {
    while (gx_load_acquire(&mine->news) < number) {
        if (!gx_bell_may_park(&mine->bell)) continue;
        if (gx_load_acquire(&mine->news) < number) {
            mine->parked++;
            gx_wake_park(&mine->bell.wake, -1, NULL, -1);
        }
        gx_bell_wake(&mine->bell);
    }
}

static void tell(side *other, uint64_t number) {
    gx_store_release(&other->news, number);
    gx_bell_ring(&other->bell);
}

static void *answer_all(void *user) {
    pair *p = user;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        wait_for(&p->sides[1], i);
        tell(&p->sides[0], i);
    }
    return NULL;
}

static void init(pair *p) {
    for (int i = 0; i < 2; i++) {
        assert_true(gx_bell_init(&p->sides[i].bell));
        gx_store_relaxed(&p->sides[i].news, 0);
        p->sides[i].parked = 0;
    }
}

static void fini(pair *p) {
    for (int i = 0; i < 2; i++) gx_bell_fini(&p->sides[i].bell);
}

static void a_parked_owner_never_misses_a_ring(void **state) {
    (void)state;
    static pair p;
    init(&p);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, answer_all, &p), 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        tell(&p.sides[1], i);
        wait_for(&p.sides[0], i);
    }
    pthread_join(other, NULL);
    fini(&p);
}

/* The ringer does not wait: rings fall into every moment of the owner's way to its park. */
static void *tell_all(void *user) {
    pair *p = user;
    for (uint64_t i = 1; i <= ROUNDS; i++) tell(&p->sides[0], i);
    return NULL;
}

static void rings_at_any_moment_are_found(void **state) {
    (void)state;
    static pair p;
    init(&p);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, tell_all, &p), 0);
    for (uint64_t seen = 0; seen < ROUNDS;) {
        wait_for(&p.sides[0], seen + 1);
        seen = gx_load_acquire(&p.sides[0].news);
    }
    pthread_join(other, NULL);
    fini(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_owner_may_park_and_wakes_itself),
        cmocka_unit_test(an_owner_that_was_rung_looks_again_before_it_may_park),
        cmocka_unit_test(a_ring_while_parked_wakes_once),
        cmocka_unit_test(a_parked_owner_never_misses_a_ring),
        cmocka_unit_test(rings_at_any_moment_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
