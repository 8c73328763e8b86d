#include "ds/block.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <pthread.h>
#include <sched.h>

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_blocks pool, other;
} fixture;

static void setup(fixture *f) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_blocks_init(&f->pool, &f->heap);
    gx_blocks_init(&f->other, &f->heap);
}

static void teardown(fixture *f) {
    assert_null(gx_blocks_flaw(&f->pool));
    assert_null(gx_blocks_flaw(&f->other));
    gx_blocks_fini(&f->pool);
    gx_blocks_fini(&f->other);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static void a_pool_that_was_never_used_needs_no_memory(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_int_equal(f.counting.calls, 0);
    teardown(&f);
}

static void a_block_has_room_for_what_was_asked_and_less_than_twice_that(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    static const size_t sizes[] = { 0, 1, 2, 127, 128, 129, 255, 256, 257, 4096, 4097, 1 << 20, (1 << 20) + 1 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        gx_block *block = gx_block_take(&f.pool, sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block->bytes % 16, 0);
        assert_true(gx_block_size(block) >= sizes[i]);
        assert_true(gx_block_size(block) <= 128 || gx_block_size(block) < 2 * sizes[i]);
        memset(block->bytes, 1, gx_block_size(block));
        assert_int_equal(gx_load_relaxed(&f.pool.used_bytes), gx_block_size(block));
        gx_block_release(block, &f.pool);
        assert_int_equal(gx_load_relaxed(&f.pool.used_bytes), 0);
    }
    teardown(&f);
}

static void a_released_block_is_taken_again_without_the_heap(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_block *block = gx_block_take(&f.pool, 1000);
    gx_block_release(block, &f.pool);
    assert_ptr_equal(gx_block_take(&f.pool, 513), block);
    gx_block *second = gx_block_take(&f.pool, 1000);
    assert_ptr_not_equal(second, block);
    gx_block_release(block, &f.pool);
    gx_block_release(second, &f.pool);
    assert_int_equal(f.counting.calls, 2);
    assert_non_null(gx_block_take(&f.pool, 100)); /* another size takes another block */
    assert_int_equal(f.counting.calls, 3);
    teardown(&f);
}

static void the_last_of_many_references_gives_the_block_back(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_block *block = gx_block_take(&f.pool, 10);
    gx_block_ref(block, 1);
    gx_block_ref(block, 5);
    for (int i = 0; i < 6; i++) {
        gx_block_release(block, &f.pool);
        assert_int_equal(gx_load_relaxed(&f.pool.used_bytes), 128);
    }
    gx_block_release(block, &f.pool);
    assert_int_equal(gx_load_relaxed(&f.pool.used_bytes), 0);
    assert_ptr_equal(gx_block_take(&f.pool, 10), block);
    teardown(&f);
}

static void what_others_release_comes_back_to_its_owner(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_block *blocks[20];
    for (int i = 0; i < 20; i++) blocks[i] = gx_block_take(&f.pool, i % 2 ? 100 : 1000);
    for (int i = 0; i < 20; i++) gx_block_release(blocks[i], i % 3 ? &f.other : NULL);
    assert_int_equal(gx_load_relaxed(&f.pool.used_bytes), 0);
    assert_int_equal(gx_load_relaxed(&f.other.used_bytes), 0);
    for (int i = 0; i < 20; i++) assert_non_null(gx_block_take(&f.pool, i % 2 ? 100 : 1000));
    assert_int_equal(f.counting.calls, 20);
    teardown(&f);
}

static void a_size_beyond_the_largest_class_is_refused(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_null(gx_block_take(&f.pool, ((size_t)1 << 31) + 1));
    assert_null(gx_block_take(&f.pool, ((size_t)1 << 63) + 1));
    assert_null(gx_block_take(&f.pool, SIZE_MAX));
    assert_int_equal(f.counting.calls, 0);
    teardown(&f);
}

static void a_block_without_memory_is_null_and_changes_nothing(void **state) {
    (void)state;
    for (size_t n = 1; n <= 5; n++) {
        fixture f;
        setup(&f);
        f.counting.fail_at = n;
        for (size_t i = 1; i <= 5; i++) {
            uint64_t used = gx_load_relaxed(&f.pool.used_bytes);
            gx_block *block = gx_block_take(&f.pool, 200);
            assert_int_equal(block == NULL, i == n);
            assert_int_equal(gx_load_relaxed(&f.pool.used_bytes), used + (block ? 256 : 0));
        }
        assert_int_equal(f.counting.blocks, 4);
        teardown(&f);
    }
}

/* --- Two threads: blocks are taken by one and released by another; a mailbox of 64 places hands them over. --- */

enum { BLOCKS = 500000, PLACES = 64 };

typedef struct mailbox {
    _Atomic(gx_block *) places[PLACES];
    gx_blocks pool;
    uint64_t wrong;
} mailbox;

static void *release_all(void *user) {
    mailbox *m = user;
    gx_random random = gx_random_new(1, 2);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        gx_block *block;
        while (!(block = gx_load_acquire(&m->places[i % PLACES]))) sched_yield();
        gx_store_release(&m->places[i % PLACES], NULL);
        uint64_t mark = gx_random_next(&random);
        m->wrong += memcmp(block->bytes, &mark, sizeof mark) != 0;
        memset(block->bytes, 0, sizeof mark); /* the next user's bytes are not ours any more */
        gx_block_release(block, NULL);
    }
    return NULL;
}

static void two_threads_take_and_release_and_nothing_is_shared_or_lost(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    static mailbox m;
    memset(&m, 0, sizeof m);
    gx_blocks_init(&m.pool, &f.heap);
    pthread_t releaser;
    assert_int_equal(pthread_create(&releaser, NULL, release_all, &m), 0);
    gx_random random = gx_random_new(1, 2), sizes = gx_random_new(3, 4);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        while (gx_load_acquire(&m.places[i % PLACES])) sched_yield();
        gx_block *block = gx_block_take(&m.pool, 8 + gx_random_below(&sizes, 1000));
        if (!block) abort();
        uint64_t mark = gx_random_next(&random);
        memcpy(block->bytes, &mark, sizeof mark);
        bool shared = gx_random_below(&sizes, 4) == 0;
        if (shared) gx_block_ref(block, 1);
        gx_store_release(&m.places[i % PLACES], block);
        /* Half of the shared ones come back last from here: what the other thread did to them must be over by then. */
        while (shared && i % 2 && gx_load_relaxed(&block->refs) != 1) sched_yield();
        if (shared) gx_block_release(block, &m.pool);
    }
    pthread_join(releaser, NULL);
    assert_int_equal(m.wrong, 0);
    assert_int_equal(gx_load_relaxed(&m.pool.used_bytes), 0);
    assert_true(f.counting.calls < 4 * (2 * PLACES + 2));
    gx_blocks_fini(&m.pool);
    teardown(&f);
}

static void what_does_not_hold_is_said(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_block *used = gx_block_take(&f.pool, 100), *idle = gx_block_take(&f.pool, 100);
    gx_block_release(idle, &f.pool);
    assert_null(gx_blocks_flaw(&f.pool));
    gx_add_relaxed(&f.pool.used_bytes, 128);
    assert_string_equal(gx_blocks_flaw(&f.pool), "blocks in use are not as large as is said");
    gx_add_relaxed(&f.pool.used_bytes, (uint64_t)-128);
    f.pool.free[0] = NULL; /* lost */
    assert_string_equal(gx_blocks_flaw(&f.pool), "a block is neither in use nor free, or both");
    f.pool.free[0] = used;
    assert_string_equal(gx_blocks_flaw(&f.pool), "a block is neither in use nor free, or both");
    f.pool.free[0] = idle;
    gx_block_release(used, &f.other); /* goes home by the stack */
    assert_null(gx_blocks_flaw(&f.pool));
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_that_was_never_used_needs_no_memory),
        cmocka_unit_test(a_block_has_room_for_what_was_asked_and_less_than_twice_that),
        cmocka_unit_test(a_released_block_is_taken_again_without_the_heap),
        cmocka_unit_test(the_last_of_many_references_gives_the_block_back),
        cmocka_unit_test(what_others_release_comes_back_to_its_owner),
        cmocka_unit_test(a_size_beyond_the_largest_class_is_refused),
        cmocka_unit_test(a_block_without_memory_is_null_and_changes_nothing),
        cmocka_unit_test(two_threads_take_and_release_and_nothing_is_shared_or_lost),
        cmocka_unit_test(what_does_not_hold_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
