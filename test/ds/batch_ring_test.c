#include "ds/batch_ring.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <pthread.h>
#include <sched.h>

enum { CAPACITY = 2048, LEAST = GX_BATCH_RING_LEAST, PLACES = CAPACITY / LEAST, QUARTER = CAPACITY / 4 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_batch_ring *ring;
    gx_batch_producer p;
    gx_batch_consumer c;
} fixture;

static void setup(fixture *f) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    f->ring = gx_batch_ring_new(&f->heap, CAPACITY);
    assert_non_null(f->ring);
    f->p.ring = f->c.ring = f->ring;
}

static void teardown(fixture *f) {
    gx_batch_ring_free(&f->heap, f->ring);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

/* A batch that weighs so much; for a ring it is nothing else. */
static gx_batch of_weight(uint64_t weight) {
    return (gx_batch){ .blocks = weight - sizeof(gx_batch) };
}

static void pop(fixture *f, const gx_batch *batch) {
    assert_ptr_equal(gx_batch_ring_peek(&f->c), batch);
    gx_batch_ring_advance(&f->c);
}

/* Puts it, takes it and gives its room back. */
static void pass(fixture *f, gx_batch *batch) {
    assert_true(gx_batch_ring_put(&f->p, batch));
    assert_true(gx_batch_ring_publish(&f->p));
    assert_true(gx_batch_ring_refresh(&f->c));
    pop(f, batch);
    assert_true(gx_batch_ring_release(&f->c));
}

static void an_empty_ring_has_nothing_to_take_to_publish_or_to_release(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_false(gx_batch_ring_refresh(&f.c));
    assert_null(gx_batch_ring_peek(&f.c));
    assert_false(gx_batch_ring_publish(&f.p));
    assert_false(gx_batch_ring_release(&f.c));
    teardown(&f);
    gx_batch_ring_free(&f.heap, NULL);
}

static void a_new_ring_keeps_its_sides_apart(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_int_equal(f.ring->capacity, CAPACITY);
    assert_int_equal(f.ring->places, PLACES);
    uintptr_t tail = (uintptr_t)&f.ring->producer.tail, head = (uintptr_t)&f.ring->consumer.head;
    assert_int_equal(tail % GX_APART, 0);
    assert_int_equal(head % GX_APART, 0);
    assert_true(head - tail >= GX_APART);
    assert_true((uintptr_t)f.ring->place - head >= GX_APART);
    teardown(&f);
}

static void a_batch_is_seen_after_publish_and_refresh_and_not_before(void **state) {
    (void)state;
    fixture f;
    gx_batch batch = of_weight(LEAST);
    setup(&f);
    assert_true(gx_batch_ring_put(&f.p, &batch));
    assert_false(gx_batch_ring_refresh(&f.c));
    assert_true(gx_batch_ring_publish(&f.p));
    assert_false(gx_batch_ring_publish(&f.p));
    assert_null(gx_batch_ring_peek(&f.c));
    assert_true(gx_batch_ring_refresh(&f.c));
    assert_ptr_equal(gx_batch_ring_peek(&f.c), &batch); /* as often as one looks */
    pop(&f, &batch);
    assert_null(gx_batch_ring_peek(&f.c));
    assert_false(gx_batch_ring_refresh(&f.c));
    assert_true(gx_batch_ring_release(&f.c));
    assert_false(gx_batch_ring_release(&f.c));
    teardown(&f);
}

static void a_ring_is_full_by_weight_and_refuses_without_a_change(void **state) {
    (void)state;
    fixture f;
    gx_batch heavy[3], light = of_weight(LEAST), odd = of_weight(QUARTER - LEAST + 1);
    setup(&f);
    for (int i = 0; i < 3; i++) {
        heavy[i] = of_weight(QUARTER);
        assert_true(gx_batch_ring_put(&f.p, &heavy[i]));
    }
    assert_true(gx_batch_ring_put(&f.p, &light));
    gx_batch_producer before = f.p;
    assert_false(gx_batch_ring_put(&f.p, &odd)); /* by one too heavy */
    assert_memory_equal(&f.p, &before, sizeof before);
    odd.blocks--;
    assert_true(gx_batch_ring_put(&f.p, &odd));
    assert_false(gx_batch_ring_has_room(&f.p, LEAST));
    assert_false(gx_batch_ring_put(&f.p, &light));
    gx_batch_ring_publish(&f.p);
    gx_batch_ring_refresh(&f.c);
    for (int i = 0; i < 3; i++) pop(&f, &heavy[i]);
    pop(&f, &light);
    pop(&f, &odd);
    assert_null(gx_batch_ring_peek(&f.c));
    teardown(&f);
}

static void room_comes_back_when_it_is_released_and_not_before(void **state) {
    (void)state;
    fixture f;
    gx_batch batches[5];
    setup(&f);
    for (int i = 0; i < 5; i++) batches[i] = of_weight(QUARTER);
    for (int i = 0; i < 4; i++) assert_true(gx_batch_ring_put(&f.p, &batches[i]));
    gx_batch_ring_publish(&f.p);
    gx_batch_ring_refresh(&f.c);
    pop(&f, &batches[0]);
    assert_false(gx_batch_ring_put(&f.p, &batches[4]));
    assert_true(gx_batch_ring_release(&f.c));
    assert_true(gx_batch_ring_put(&f.p, &batches[4]));
    assert_false(gx_batch_ring_put(&f.p, &batches[0]));
    gx_batch_ring_publish(&f.p);
    gx_batch_ring_refresh(&f.c);
    for (int i = 1; i < 5; i++) pop(&f, &batches[i]);
    teardown(&f);
}

/* The room that comes back is what a batch weighed when it was put: who has it may have changed it since. */
static void what_was_put_is_what_is_released(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (int i = 0; i < 100; i++) {
        gx_batch batch = of_weight(CAPACITY);
        assert_true(gx_batch_ring_put(&f.p, &batch));
        assert_false(gx_batch_ring_has_room(&f.p, LEAST));
        gx_batch_ring_publish(&f.p);
        gx_batch_ring_refresh(&f.c);
        batch.blocks -= 500; /* as when a row of it was run */
        pop(&f, &batch);
        gx_batch_ring_release(&f.c);
        assert_int_equal(f.p.tail, f.c.released);
    }
    teardown(&f);
}

static void a_batch_that_weighs_more_than_the_ring_goes_in_when_it_is_empty_and_alone(void **state) {
    (void)state;
    fixture f;
    gx_batch heavy = of_weight(10 * CAPACITY), light = of_weight(LEAST);
    setup(&f);
    for (int i = 0; i < 3 * PLACES; i++) {
        assert_true(gx_batch_ring_put(&f.p, &light));
        assert_false(gx_batch_ring_put(&f.p, &heavy));
        gx_batch_ring_publish(&f.p);
        gx_batch_ring_refresh(&f.c);
        pop(&f, &light);
        assert_false(gx_batch_ring_put(&f.p, &heavy)); /* its room has not come back */
        gx_batch_ring_release(&f.c);
        assert_true(gx_batch_ring_put(&f.p, &heavy));
        assert_false(gx_batch_ring_put(&f.p, &light));
        gx_batch_ring_publish(&f.p);
        gx_batch_ring_refresh(&f.c);
        pop(&f, &heavy);
        assert_false(gx_batch_ring_put(&f.p, &light));
        gx_batch_ring_release(&f.c);
    }
    teardown(&f);
}

static void places_fill_and_wrap_from_every_one(void **state) {
    (void)state;
    gx_batch batches[PLACES];
    for (int i = 0; i < PLACES; i++) batches[i] = of_weight(LEAST);
    for (int start = 0; start <= PLACES; start++) {
        fixture f;
        setup(&f);
        for (int i = 0; i < start; i++) pass(&f, &batches[0]);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < PLACES; i++) assert_true(gx_batch_ring_put(&f.p, &batches[i]));
            assert_false(gx_batch_ring_put(&f.p, &batches[0]));
            gx_batch_ring_publish(&f.p);
            gx_batch_ring_refresh(&f.c);
            for (int i = 0; i < PLACES; i++) pop(&f, &batches[i]);
            assert_null(gx_batch_ring_peek(&f.c));
            gx_batch_ring_release(&f.c);
        }
        teardown(&f);
    }
}

static void positions_may_wrap_at_64_bits(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t start = (uint64_t)0 - 2 * CAPACITY;
    gx_store_relaxed(&f.ring->producer.tail, start);
    gx_store_relaxed(&f.ring->consumer.head, start);
    f.p = (gx_batch_producer){ f.ring, start, start, start, 0 };
    f.c = (gx_batch_consumer){ f.ring, start, start, start, 0 };
    gx_batch batches[3] = { of_weight(LEAST), of_weight(3 * QUARTER), of_weight(3 * CAPACITY) };
    for (int i = 0; i < 100; i++) pass(&f, &batches[i % 3]);
    assert_true(f.p.tail < start);
    teardown(&f);
}

static void a_ring_without_memory_is_null_and_leaves_nothing(void **state) {
    (void)state;
    counting_allocator counting = { .fail_at = 1 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    assert_null(gx_batch_ring_new(&heap, CAPACITY));
    assert_int_equal(counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static uint64_t draw_weight(gx_random *random) {
    return gx_random_below(random, 100) ? LEAST + gx_random_below(random, QUARTER) : 2 * CAPACITY;
}

static void random_puts_and_takes_keep_order_and_weight(void **state) {
    (void)state;
    enum { BATCHES = 2 * PLACES };
    gx_batch batches[BATCHES]; /* more than are ever in the ring */
    fixture f;
    setup(&f);
    gx_random choice = gx_random_new(3, 4);
    uint64_t in = 0, out = 0, released = 0;
    for (int i = 0; i < 300000; i++) {
        if (gx_random_below(&choice, 2)) {
            batches[in % BATCHES] = of_weight(draw_weight(&choice));
            uint64_t weight = gx_batch_weight(&batches[in % BATCHES]), taken = f.p.tail - f.c.released;
            bool fits = taken + weight <= CAPACITY || !taken;
            assert_int_equal(gx_batch_ring_put(&f.p, &batches[in % BATCHES]), fits);
            in += fits;
            if (gx_random_below(&choice, 3) == 0) gx_batch_ring_publish(&f.p);
        } else {
            if (gx_random_below(&choice, 3) == 0) gx_batch_ring_refresh(&f.c);
            if (gx_batch_ring_peek(&f.c)) pop(&f, &batches[out++ % BATCHES]);
            if (gx_random_below(&choice, 3) == 0) released += gx_batch_ring_release(&f.c);
        }
        assert_true(in - out <= PLACES);
    }
    assert_true(released > 1000);
    gx_batch_ring_publish(&f.p);
    gx_batch_ring_refresh(&f.c);
    while (out < in) pop(&f, &batches[out++ % BATCHES]);
    assert_null(gx_batch_ring_peek(&f.c));
    teardown(&f);
}

/* --- Slight batches --- */

/* One with a row of so many bytes, which say where they are. */
static gx_batch *with_row(gx_batches *pool, uint32_t bytes) {
    gx_batch *batch = gx_batch_take(pool, false, bytes);
    assert_non_null(batch);
    batch->source = 3;
    batch->target = 4;
    batch->used = bytes;
    for (uint32_t i = 4; i < bytes; i++) batch->bytes[i] = (unsigned char)i;
    memcpy(batch->bytes, &bytes, sizeof bytes);
    return batch;
}

static void a_slight_batch_travels_as_a_copy_and_stays_with_its_owner(void **state) {
    (void)state;
    fixture f;
    gx_batches pool;
    setup(&f);
    gx_batches_init(&pool, &f.heap, 0);
    for (uint32_t bytes = 8; bytes <= 2 * GX_BATCH_SLIGHT; bytes += 8) {
        gx_batch *batch = with_row(&pool, bytes);
        bool slight = bytes <= GX_BATCH_SLIGHT;
        assert_int_equal(gx_batch_is_slight(batch), slight);
        assert_true(gx_batch_ring_put(&f.p, batch));
        gx_batch_ring_publish(&f.p);
        assert_true(gx_batch_ring_refresh(&f.c));
        gx_batch *seen = gx_batch_ring_peek(&f.c);
        assert_int_equal(seen != batch, slight);
        assert_int_equal(gx_batch_home(seen) == NULL, slight);
        assert_int_equal(seen->source << 8 | seen->target, 3 << 8 | 4);
        assert_int_equal(seen->used, bytes);
        assert_memory_equal(seen->bytes, batch->bytes, bytes);
        gx_batch_ring_advance(&f.c);
        gx_batch_ring_release(&f.c);
        assert_int_equal(f.p.tail, f.c.released);
        gx_batch_give(&pool, batch);
    }
    assert_null(gx_batches_flaw(&pool));
    gx_batches_fini(&pool);
    teardown(&f);
}

static void copies_take_a_place_each_and_what_they_name_besides(void **state) {
    (void)state;
    fixture f;
    gx_batches pool;
    setup(&f);
    gx_batches_init(&pool, &f.heap, 0);
    gx_batch *batch = with_row(&pool, 40);
    for (int i = 0; i < PLACES; i++) assert_true(gx_batch_ring_put(&f.p, batch));
    assert_false(gx_batch_ring_put(&f.p, batch));
    gx_batch_ring_publish(&f.p);
    gx_batch_ring_refresh(&f.c);
    for (int i = 0; i < PLACES; i++) gx_batch_ring_advance(&f.c);
    gx_batch_ring_release(&f.c);
    batch->blocks = QUARTER;
    assert_int_equal(gx_batch_ring_weight(batch), LEAST + QUARTER);
    for (int i = 0; i < 3; i++) assert_true(gx_batch_ring_put(&f.p, batch));
    assert_false(gx_batch_ring_put(&f.p, batch));
    gx_batch_give(&pool, batch);
    gx_batches_fini(&pool);
    teardown(&f);
}

static void what_is_to_stay_is_copied_once_more_without_the_rows_that_were_read(void **state) {
    (void)state;
    fixture f;
    gx_batches pool;
    setup(&f);
    gx_batches_init(&pool, &f.heap, 0);
    gx_batch *batch = with_row(&pool, 24);
    memcpy(batch->bytes + 24, batch->bytes, 24);
    batch->used = 48;
    batch->blocks = 7;
    batch->lane = 2;
    assert_true(gx_batch_ring_put(&f.p, batch));
    gx_batch_ring_publish(&f.p);
    gx_batch_ring_refresh(&f.c);
    gx_batch *seen = gx_batch_ring_peek(&f.c);
    seen->read = 24;
    f.counting.fail_at = f.counting.calls + 1;
    gx_batch *kept = gx_batch_copy(&pool, seen); /* there is a page already */
    assert_non_null(kept);
    assert_int_equal(gx_batch_rows(kept), 1);
    assert_memory_equal(gx_batch_front(kept), batch->bytes, 24);
    assert_true(gx_batch_home(kept) == &pool && kept->blocks == 7 && kept->lane == 2);
    assert_int_equal(kept->source << 8 | kept->target, 3 << 8 | 4);
    gx_batches poor;
    gx_batches_init(&poor, &f.heap, 0);
    assert_null(gx_batch_copy(&poor, seen));
    gx_batch_give(&pool, kept);
    gx_batch_give(&pool, batch);
    gx_batches_fini(&pool);
    teardown(&f);
}

/* --- Two threads --- */

enum { PASSED = 300000, THREADED_CAPACITY = 16 << 10 };

typedef struct race {
    gx_batches pool;
    gx_batch_producer p;
    gx_batch_consumer c;
    uint64_t wrong, copies;
} race;

static uint64_t row_of(uint64_t number, uint32_t at) {
    return number * 31 + at;
}

/* Rows of 16 bytes that say which batch they are in. */
static gx_batch *fill(race *r, gx_random *random, uint64_t number) {
    bool large = gx_random_below(random, 8) == 0;
    gx_batch *batch = gx_batch_take(&r->pool, large, 16);
    if (!batch) abort();
    uint32_t rows = 1 + gx_random_below(random, 8);
    for (uint32_t i = 0; i < rows; i++, batch->used += 16) {
        gx_store64(batch->bytes + batch->used, 16);
        gx_store64(batch->bytes + batch->used + 8, row_of(number, i));
    }
    return batch;
}

static void *produce_batches(void *user) {
    race *r = user;
    gx_random random = gx_random_new(5, 6);
    for (uint64_t i = 0; i < PASSED; i++) {
        gx_batch *batch = fill(r, &random, i);
        while (!gx_batch_ring_put(&r->p, batch))
            if (!gx_batch_ring_publish(&r->p)) sched_yield();
        if (gx_batch_is_slight(batch)) gx_batch_give(&r->pool, batch);
        if (gx_random_below(&random, 16) == 0) gx_batch_ring_publish(&r->p);
    }
    gx_batch_ring_publish(&r->p);
    return NULL;
}

static bool is_whole(const gx_batch *batch, uint64_t number) {
    uint32_t at = 0;
    for (const unsigned char *row = gx_batch_front(batch); row; row = gx_batch_next(batch, row), at++)
        if (gx_load32(row) != 16 || gx_load64(row + 8) != row_of(number, at)) return false;
    return at > 0;
}

/* Reads, writes over it, and sends home. */
static void consume_batches(race *r) {
    gx_random random = gx_random_new(9, 10);
    for (uint64_t i = 0; i < PASSED; i++) {
        gx_batch *batch;
        while (!(batch = gx_batch_ring_peek(&r->c))) {
            gx_batch_ring_release(&r->c);
            if (!gx_batch_ring_refresh(&r->c)) sched_yield();
        }
        r->wrong += !is_whole(batch, i);
        memset(batch->bytes, 255, batch->used);
        bool copy = !gx_batch_home(batch);
        r->copies += copy;
        gx_batch_ring_advance(&r->c);
        if (!copy) gx_batches_return(&r->pool, batch, batch);
        if (gx_random_below(&random, 16) == 0) gx_batch_ring_release(&r->c);
    }
}

static void two_threads_pass_batches_whole_and_in_order_and_home_again(void **state) {
    (void)state;
    static race r;
    fixture f;
    setup(&f);
    gx_batch_ring *ring = gx_batch_ring_new(&f.heap, THREADED_CAPACITY);
    assert_non_null(ring);
    memset(&r, 0, sizeof r);
    gx_batches_init(&r.pool, &f.heap, 0);
    r.p.ring = r.c.ring = ring;
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce_batches, &r), 0);
    consume_batches(&r);
    pthread_join(producer, NULL);
    assert_int_equal(r.wrong, 0);
    assert_in_range(r.copies, PASSED / 4, PASSED / 4 * 3); /* so many have four rows or fewer */
    assert_false(gx_batch_ring_refresh(&r.c));
    assert_null(gx_batches_flaw(&r.pool));
    assert_int_equal(gx_batches_returning(&r.pool), gx_load_relaxed(&r.pool.used));
    gx_batches_fini(&r.pool);
    gx_batch_ring_free(&f.heap, ring);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_ring_has_nothing_to_take_to_publish_or_to_release),
        cmocka_unit_test(a_new_ring_keeps_its_sides_apart),
        cmocka_unit_test(a_batch_is_seen_after_publish_and_refresh_and_not_before),
        cmocka_unit_test(a_ring_is_full_by_weight_and_refuses_without_a_change),
        cmocka_unit_test(room_comes_back_when_it_is_released_and_not_before),
        cmocka_unit_test(what_was_put_is_what_is_released),
        cmocka_unit_test(a_batch_that_weighs_more_than_the_ring_goes_in_when_it_is_empty_and_alone),
        cmocka_unit_test(places_fill_and_wrap_from_every_one),
        cmocka_unit_test(positions_may_wrap_at_64_bits),
        cmocka_unit_test(a_ring_without_memory_is_null_and_leaves_nothing),
        cmocka_unit_test(random_puts_and_takes_keep_order_and_weight),
        cmocka_unit_test(a_slight_batch_travels_as_a_copy_and_stays_with_its_owner),
        cmocka_unit_test(copies_take_a_place_each_and_what_they_name_besides),
        cmocka_unit_test(what_is_to_stay_is_copied_once_more_without_the_rows_that_were_read),
        cmocka_unit_test(two_threads_pass_batches_whole_and_in_order_and_home_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
