#include "ds/ready.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <pthread.h>

enum { COUNT = 130 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_ready ready;
} fixture;

static void setup(fixture *f, uint32_t count) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    assert_true(gx_ready_init(&f->ready, &f->heap, count));
}

static void teardown(fixture *f) {
    gx_ready_fini(&f->ready, &f->heap);
    assert_int_equal(f->counting.blocks, 0);
}

/* How many inlets would be looked at; each in its turn, once. */
static uint32_t looked_at(const gx_ready *ready) {
    uint32_t seen = 0;
    for (uint32_t i = gx_ready_next(ready, 0), last = 0; i < ready->count; i = gx_ready_next(ready, i + 1)) {
        assert_true(!seen || i > last);
        last = i;
        seen++;
    }
    return seen;
}

static void few_inlets_are_all_looked_at_without_memory(void **state) {
    (void)state;
    for (uint32_t count = 0; count <= GX_READY_FEW; count++) {
        fixture f;
        setup(&f, count);
        assert_int_equal(f.counting.calls, 0);
        gx_ready_set(&f.ready, 0);
        gx_ready_take(&f.ready, false);
        gx_ready_done(&f.ready, 0);
        assert_int_equal(looked_at(&f.ready), count);
        teardown(&f);
    }
}

static void of_many_only_those_that_were_set_are_looked_at_until_they_are_done(void **state) {
    (void)state;
    fixture f;
    setup(&f, COUNT);
    gx_ready_take(&f.ready, false);
    assert_int_equal(looked_at(&f.ready), 0);
    static const uint32_t set[] = { 0, 63, 64, 127, 128, 129 };
    for (int i = 0; i < 6; i++) gx_ready_set(&f.ready, set[i]);
    assert_int_equal(looked_at(&f.ready), 0); /* not taken yet */
    gx_ready_take(&f.ready, false);
    for (int i = 0; i < 6; i++) assert_int_equal(gx_ready_next(&f.ready, i ? set[i - 1] + 1 : 0), set[i]);
    assert_int_equal(gx_ready_next(&f.ready, 130), 130);
    gx_ready_done(&f.ready, 64);
    gx_ready_take(&f.ready, false);
    assert_int_equal(looked_at(&f.ready), 5);
    for (int i = 0; i < 6; i++) gx_ready_done(&f.ready, set[i]);
    assert_int_equal(looked_at(&f.ready), 0);
    teardown(&f);
}

static void all_are_looked_at_when_asked_and_now_and_then(void **state) {
    (void)state;
    fixture f;
    setup(&f, COUNT);
    gx_ready_take(&f.ready, true);
    assert_int_equal(looked_at(&f.ready), COUNT);
    for (uint32_t i = 0; i < COUNT; i++) gx_ready_done(&f.ready, i);
    for (int round = 1; round <= 3 * GX_READY_ROUND; round++) {
        gx_ready_take(&f.ready, false);
        assert_int_equal(looked_at(&f.ready), round % GX_READY_ROUND ? 0 : COUNT);
        for (uint32_t i = 0; i < COUNT; i++) gx_ready_done(&f.ready, i);
    }
    teardown(&f);
}

static void without_memory_there_is_nothing(void **state) {
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        counting_allocator counting = { .fail_at = n };
        gale_allocator handle = counting_handle(&counting);
        gx_heap heap;
        gx_heap_init(&heap, &handle);
        gx_ready ready;
        assert_false(gx_ready_init(&ready, &heap, COUNT));
        assert_int_equal(counting.blocks, 0);
        gx_ready_fini(&ready, &heap);
    }
}

/* --- Two threads --- */

enum { ROUNDS = 20000 };

typedef struct exchange {
    gx_ready *ready;
    uint64_t numbers[COUNT]; /* plain memory, that the bits hand over */
    gx_atomic64 taken[COUNT];
} exchange;

static void *producer(void *user) {
    exchange *x = user;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint32_t inlet = (uint32_t)(round * 7 % COUNT);
        while (gx_load_acquire(&x->taken[inlet]) != x->numbers[inlet]) sched_yield();
        x->numbers[inlet] = round;
        gx_ready_set(x->ready, inlet);
    }
    return NULL;
}

static void a_bit_that_was_taken_shows_what_was_written_before(void **state) {
    (void)state;
    fixture f;
    static exchange x;
    setup(&f, COUNT);
    x = (exchange){ .ready = &f.ready };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, producer, &x), 0);
    uint64_t seen = 0;
    while (seen < ROUNDS) {
        f.ready.rounds = 0; /* bits alone */
        gx_ready_take(&f.ready, false);
        for (uint32_t i = gx_ready_next(&f.ready, 0); i < COUNT; i = gx_ready_next(&f.ready, i + 1)) {
            assert_true(x.numbers[i] > gx_load_relaxed(&x.taken[i]));
            gx_ready_done(&f.ready, i);
            gx_store_release(&x.taken[i], x.numbers[i]);
            seen++;
        }
        sched_yield();
    }
    pthread_join(thread, NULL);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_inlets_are_all_looked_at_without_memory),
        cmocka_unit_test(of_many_only_those_that_were_set_are_looked_at_until_they_are_done),
        cmocka_unit_test(all_are_looked_at_when_asked_and_now_and_then),
        cmocka_unit_test(without_memory_there_is_nothing),
        cmocka_unit_test(a_bit_that_was_taken_shows_what_was_written_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
