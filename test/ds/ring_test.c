#include "ds/ring.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <pthread.h>
#include <sched.h>

enum { CAPACITY = 1024, FIT = CAPACITY / GX_RING_ITEM };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_ring *ring;
    gx_ring_producer p;
    gx_ring_consumer c;
} fixture;

static void setup(fixture *f, uint64_t capacity) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    f->ring = gx_ring_new(&f->heap, capacity);
    assert_non_null(f->ring);
    f->p = gx_ring_produce(f->ring);
    f->c = gx_ring_consume(f->ring);
}

static void teardown(fixture *f) {
    gx_ring_free(&f->heap, f->ring);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

/* An item that says who it is. */
static bool push(fixture *f, uint64_t number) {
    uint64_t *at = gx_ring_claim(&f->p);
    if (!at) return false;
    at[0] = number;
    at[1] = ~number;
    return true;
}

static void pop(fixture *f, uint64_t number) {
    const uint64_t *item = gx_ring_next(&f->c);
    assert_non_null(item);
    assert_int_equal(item[0], number);
    assert_int_equal(item[1], ~number);
}

static void an_empty_ring_has_nothing_to_read_to_publish_or_to_release(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    assert_false(gx_ring_refresh(&f.c));
    assert_null(gx_ring_next(&f.c));
    assert_false(gx_ring_publish(&f.p));
    assert_false(gx_ring_release(&f.c));
    teardown(&f);
    gx_ring_free(&f.heap, NULL);
}

static void a_new_ring_says_what_it_is_and_keeps_its_sides_apart(void **state) {
    (void)state;
    fixture f;
    setup(&f, 4096);
    assert_int_equal(f.ring->magic, GX_RING_MAGIC);
    assert_int_equal(f.ring->version, GX_RING_VERSION);
    assert_int_equal(f.ring->capacity, 4096);
    uintptr_t tail = (uintptr_t)&f.ring->producer.tail, head = (uintptr_t)&f.ring->consumer.head;
    assert_int_equal(tail % GX_APART, 0);
    assert_int_equal(head % GX_APART, 0);
    assert_true(head - tail >= GX_APART);
    assert_true((uintptr_t)f.ring->bytes - head >= GX_APART);
    teardown(&f);
}

static void an_item_is_seen_after_publish_and_refresh_and_not_before(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    assert_true(push(&f, 7));
    assert_false(gx_ring_refresh(&f.c));
    assert_true(gx_ring_publish(&f.p));
    assert_false(gx_ring_publish(&f.p));
    assert_null(gx_ring_next(&f.c));
    assert_true(gx_ring_refresh(&f.c));
    pop(&f, 7);
    assert_null(gx_ring_next(&f.c));
    assert_false(gx_ring_refresh(&f.c));
    assert_true(gx_ring_release(&f.c));
    assert_false(gx_ring_release(&f.c));
    teardown(&f);
}

static void claim_in_a_full_ring_returns_null_and_changes_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    for (uint64_t i = 0; i < FIT; i++) assert_true(push(&f, i));
    uint64_t tail = f.p.tail;
    assert_false(gx_ring_has_room(&f.p));
    assert_null(gx_ring_claim(&f.p));
    assert_int_equal(f.p.tail, tail);
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    for (uint64_t i = 0; i < FIT; i++) pop(&f, i);
    assert_null(gx_ring_next(&f.c));
    teardown(&f);
}

static void room_comes_back_when_it_is_released_and_not_before(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    for (uint64_t i = 0; i < FIT; i++) assert_true(push(&f, i));
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, 0);
    assert_false(push(&f, FIT));
    assert_true(gx_ring_release(&f.c));
    assert_true(push(&f, FIT));
    assert_false(push(&f, FIT + 1));
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    for (uint64_t i = 1; i <= FIT; i++) pop(&f, i);
    teardown(&f);
}

static void positions_may_wrap_at_64_bits(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    uint64_t start = (uint64_t)0 - 2 * CAPACITY;
    gx_store_relaxed(&f.ring->producer.tail, start);
    gx_store_relaxed(&f.ring->consumer.head, start);
    f.p = gx_ring_produce(f.ring);
    f.c = gx_ring_consume(f.ring);
    for (uint64_t i = 0; i < 300; i += 2) {
        assert_true(push(&f, i));
        assert_true(push(&f, i + 1));
        assert_true(gx_ring_publish(&f.p));
        assert_true(gx_ring_refresh(&f.c));
        pop(&f, i);
        pop(&f, i + 1);
        assert_true(gx_ring_release(&f.c));
    }
    assert_true(f.p.tail < start);
    teardown(&f);
}

static void a_later_producer_and_consumer_begin_where_the_ring_stands(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    push(&f, 1);
    push(&f, 2);
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, 1);
    gx_ring_release(&f.c);
    push(&f, 9); /* never published: gone with its producer */
    f.p = gx_ring_produce(f.ring);
    f.c = gx_ring_consume(f.ring);
    push(&f, 3);
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, 2);
    pop(&f, 3);
    assert_null(gx_ring_next(&f.c));
    teardown(&f);
}

static void items_fill_the_ring_to_the_last_byte_and_wrap(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    uint64_t in = 0, out = 0;
    for (uint64_t round = 0; round < 50; round++) {
        uint64_t had = in;
        while (push(&f, in)) in++;
        assert_int_equal(in - out, FIT);
        assert_int_equal(gx_ring_publish(&f.p), in != had);
        gx_ring_refresh(&f.c);
        for (uint64_t i = 0; i < 1 + round; i++) pop(&f, out++);
        gx_ring_release(&f.c);
    }
    teardown(&f);
}

static void a_ring_without_memory_is_null_and_leaves_nothing(void **state) {
    (void)state;
    counting_allocator counting = { .fail_at = 1 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    assert_null(gx_ring_new(&heap, CAPACITY));
    assert_int_equal(counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

/* Published and released as it happens: what comes out is what went in. */
static void random_pushes_and_pops_keep_order_and_contents(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    gx_random choice = gx_random_new(3, 4);
    uint64_t in = 0, out = 0;
    for (int i = 0; i < 300000; i++) {
        if (gx_random_below(&choice, 2)) {
            assert_int_equal(push(&f, in), in - f.c.released / GX_RING_ITEM < FIT);
            in = f.p.tail / GX_RING_ITEM;
            if (gx_random_below(&choice, 3) == 0) gx_ring_publish(&f.p);
        } else {
            if (gx_random_below(&choice, 3) == 0) gx_ring_refresh(&f.c);
            if (f.c.head != f.c.tail_cached) pop(&f, out++);
            if (gx_random_below(&choice, 3) == 0) gx_ring_release(&f.c);
        }
    }
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    while (out < in) pop(&f, out++);
    assert_null(gx_ring_next(&f.c));
    teardown(&f);
}

/* --- Two threads --- */

enum { ITEMS = 2000000 };

typedef struct race {
    gx_ring_producer p;
    gx_ring_consumer c;
    uint64_t wrong;
} race;

static void *produce_items(void *user) {
    race *r = user;
    gx_random random = gx_random_new(5, 6), batch = gx_random_new(7, 8);
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint64_t *at;
        while (!(at = gx_ring_claim(&r->p)))
            if (!gx_ring_publish(&r->p)) sched_yield();
        at[0] = gx_random_next(&random);
        at[1] = i;
        if (gx_random_below(&batch, 16) == 0) gx_ring_publish(&r->p);
    }
    gx_ring_publish(&r->p);
    return NULL;
}

static void consume_items(race *r) {
    gx_random random = gx_random_new(5, 6), batch = gx_random_new(9, 10);
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint64_t *item;
        while (!(item = gx_ring_next(&r->c))) {
            gx_ring_release(&r->c);
            if (!gx_ring_refresh(&r->c)) sched_yield();
        }
        r->wrong += item[0] != gx_random_next(&random) || item[1] != i;
        if (gx_random_below(&batch, 16) == 0) gx_ring_release(&r->c);
    }
}

static void two_threads_pass_two_million_items_in_order(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    race r = { f.p, f.c, 0 };
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce_items, &r), 0);
    consume_items(&r);
    pthread_join(producer, NULL);
    assert_int_equal(r.wrong, 0);
    assert_false(gx_ring_refresh(&r.c));
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_ring_has_nothing_to_read_to_publish_or_to_release),
        cmocka_unit_test(a_new_ring_says_what_it_is_and_keeps_its_sides_apart),
        cmocka_unit_test(an_item_is_seen_after_publish_and_refresh_and_not_before),
        cmocka_unit_test(claim_in_a_full_ring_returns_null_and_changes_nothing),
        cmocka_unit_test(room_comes_back_when_it_is_released_and_not_before),
        cmocka_unit_test(positions_may_wrap_at_64_bits),
        cmocka_unit_test(a_later_producer_and_consumer_begin_where_the_ring_stands),
        cmocka_unit_test(items_fill_the_ring_to_the_last_byte_and_wrap),
        cmocka_unit_test(a_ring_without_memory_is_null_and_leaves_nothing),
        cmocka_unit_test(random_pushes_and_pops_keep_order_and_contents),
        cmocka_unit_test(two_threads_pass_two_million_items_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
