#include "ds/chunk.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_chunks pool;
} fixture;

static void setup(fixture *f) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_chunks_init(&f->pool, &f->heap);
}

static void teardown(fixture *f) {
    gx_chunks_fini(&f->pool);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static void a_new_pool_has_asked_for_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_true(gx_chunks_ensure(&f.pool, 0));
    assert_int_equal(f.counting.calls, 0);
    teardown(&f);
}

static void a_taken_chunk_is_empty_and_alone(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_chunk *first = gx_chunks_take(&f.pool);
    assert_non_null(first);
    assert_int_equal(first->end, 0);
    assert_null(first->next);
    assert_int_equal((uintptr_t)first->bytes % 16, 0);
    memset(first->bytes, 1, GX_CHUNK_ROOM);
    first->end = GX_CHUNK_ROOM;
    gx_chunks_give(&f.pool, first);
    gx_chunk *again = gx_chunks_take(&f.pool);
    assert_ptr_equal(again, first);
    assert_int_equal(again->end, 0);
    assert_null(again->next);
    gx_chunks_give(&f.pool, again);
    teardown(&f);
}

static void what_comes_back_is_taken_again_without_the_heap(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_chunk *taken[10];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 10; i++) assert_non_null(taken[i] = gx_chunks_take(&f.pool));
        for (int i = 0; i < 10; i++)
            for (int k = 0; k < i; k++) assert_ptr_not_equal(taken[i], taken[k]);
        assert_int_equal(gx_load_relaxed(&f.pool.used), 10);
        for (int i = 0; i < 10; i++) gx_chunks_give(&f.pool, taken[i]);
        assert_int_equal(gx_load_relaxed(&f.pool.used), 0);
        assert_int_equal(f.pool.free_count, 10);
        assert_int_equal(f.counting.calls, 10);
    }
    teardown(&f);
}

static void ensured_chunks_can_be_taken_when_memory_is_out(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_true(gx_chunks_ensure(&f.pool, 3));
    assert_true(gx_chunks_ensure(&f.pool, 2));
    assert_int_equal(f.counting.calls, 3);
    assert_int_equal(gx_load_relaxed(&f.pool.used), 0);
    f.counting.fail_at = 4;
    f.counting.fail_after = true;
    gx_chunk *taken[3];
    for (int i = 0; i < 3; i++) assert_non_null(taken[i] = gx_chunks_take(&f.pool));
    assert_null(gx_chunks_take(&f.pool));
    assert_false(gx_chunks_ensure(&f.pool, 1));
    assert_int_equal(gx_load_relaxed(&f.pool.used), 3);
    for (int i = 0; i < 3; i++) gx_chunks_give(&f.pool, taken[i]);
    assert_true(gx_chunks_ensure(&f.pool, 3));
    teardown(&f);
}

static void ensuring_stops_at_the_allocation_that_fails_and_keeps_what_it_has(void **state) {
    (void)state;
    for (size_t n = 1; n <= 5; n++) {
        fixture f;
        setup(&f);
        f.counting.fail_at = n;
        assert_false(gx_chunks_ensure(&f.pool, 5));
        assert_int_equal(f.pool.free_count, n - 1);
        assert_true(gx_chunks_ensure(&f.pool, 5));
        assert_int_equal(f.pool.free_count, 5);
        teardown(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_pool_has_asked_for_nothing),
        cmocka_unit_test(a_taken_chunk_is_empty_and_alone),
        cmocka_unit_test(what_comes_back_is_taken_again_without_the_heap),
        cmocka_unit_test(ensured_chunks_can_be_taken_when_memory_is_out),
        cmocka_unit_test(ensuring_stops_at_the_allocation_that_fails_and_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
