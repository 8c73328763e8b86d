#include "ds/fifo.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_chunks pool;
    gx_fifo fifo;
} fixture;

static void setup(fixture *f) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_chunks_init(&f->pool, &f->heap);
}

static void teardown(fixture *f) {
    assert_null(gx_fifo_flaw(&f->fifo));
    assert_null(gx_chunks_flaw(&f->pool));
    assert_int_equal(gx_fifo_chunks(&f->fifo), gx_load_relaxed(&f->pool.used));
    gx_fifo_clear(&f->fifo, &f->pool);
    assert_int_equal(gx_load_relaxed(&f->pool.used), 0);
    gx_chunks_fini(&f->pool);
    assert_int_equal(f->counting.blocks, 0);
}

static unsigned char *push(fixture *f, uint32_t length, unsigned char mark) {
    unsigned char *at = gx_fifo_push(&f->fifo, &f->pool, length);
    if (!at) return NULL;
    gx_store32(at, length);
    memset(at + 4, mark, length - 4);
    return at;
}

static void pop(fixture *f, uint32_t length, unsigned char mark) {
    const unsigned char *at = gx_fifo_front(&f->fifo);
    assert_non_null(at);
    assert_int_equal(gx_load32(at), length);
    for (uint32_t i = 4; i < length; i++) assert_int_equal(at[i], mark);
    gx_fifo_pop(&f->fifo, &f->pool, length);
}

static void an_empty_fifo_has_no_front_and_no_memory(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_null(gx_fifo_front(&f.fifo));
    gx_fifo_clear(&f.fifo, &f.pool);
    assert_int_equal(f.counting.calls, 0);
    teardown(&f);
}

static void one_entry_goes_in_and_out(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    unsigned char *at = push(&f, 48, 3);
    assert_int_equal((uintptr_t)at % 8, 0);
    assert_int_equal(f.fifo.count, 1);
    assert_int_equal(f.fifo.bytes, 48);
    assert_ptr_equal(gx_fifo_front(&f.fifo), at);
    pop(&f, 48, 3);
    assert_null(gx_fifo_front(&f.fifo));
    assert_int_equal(f.fifo.count, 0);
    assert_int_equal(f.fifo.bytes, 0);
    teardown(&f);
}

static void filling_and_emptying_again_and_again_takes_one_chunk_once(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 100; i++) assert_non_null(push(&f, 64, (unsigned char)i));
        for (int i = 0; i < 100; i++) pop(&f, 64, (unsigned char)i);
    }
    assert_int_equal(f.counting.calls, 1);
    assert_int_equal(gx_load_relaxed(&f.pool.used), 1);
    teardown(&f);
}

static void entries_stay_where_they_are_while_others_come_and_go(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    unsigned char *places[1000];
    for (int i = 0; i < 1000; i++) places[i] = push(&f, 200, (unsigned char)i);
    for (int i = 0; i < 1000; i++) {
        assert_ptr_equal(gx_fifo_front(&f.fifo), places[i]);
        assert_non_null(push(&f, 8, 0));
        pop(&f, 200, (unsigned char)i);
    }
    assert_int_equal(f.fifo.count, 1000);
    assert_int_equal(f.fifo.bytes, 8000);
    for (int i = 0; i < 1000; i++) pop(&f, 8, 0);
    teardown(&f);
}

static void largest_entries_share_no_chunk_that_has_no_room_for_them(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (int i = 0; i < 10; i++) assert_non_null(push(&f, GX_FIFO_ENTRY_MAX, (unsigned char)i));
    assert_int_equal(gx_load_relaxed(&f.pool.used), 10 / (GX_CHUNK_ROOM / GX_FIFO_ENTRY_MAX));
    assert_non_null(push(&f, GX_CHUNK_ROOM - GX_FIFO_ENTRY_MAX, 77)); /* fills the last chunk to its last byte */
    assert_int_equal(gx_load_relaxed(&f.pool.used), 10);
    assert_non_null(push(&f, 8, 78));
    assert_int_equal(gx_load_relaxed(&f.pool.used), 11);
    for (int i = 0; i < 10; i++) pop(&f, GX_FIFO_ENTRY_MAX, (unsigned char)i);
    pop(&f, GX_CHUNK_ROOM - GX_FIFO_ENTRY_MAX, 77);
    pop(&f, 8, 78);
    assert_int_equal(gx_load_relaxed(&f.pool.used), 1);
    teardown(&f);
}

static void chunks_go_back_as_soon_as_they_are_read(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (int i = 0; i < 8; i++) push(&f, 8184, 1); /* two fill a chunk */
    assert_int_equal(gx_load_relaxed(&f.pool.used), 4);
    for (uint64_t left = 4; left > 1; left--) {
        pop(&f, 8184, 1);
        assert_int_equal(gx_load_relaxed(&f.pool.used), left);
        pop(&f, 8184, 1);
        assert_int_equal(gx_load_relaxed(&f.pool.used), left - 1);
    }
    gx_fifo_clear(&f.fifo, &f.pool);
    assert_int_equal(gx_load_relaxed(&f.pool.used), 0);
    assert_int_equal(f.fifo.count, 0);
    assert_int_equal(f.fifo.bytes, 0);
    assert_null(gx_fifo_front(&f.fifo));
    assert_non_null(push(&f, 16, 5));
    pop(&f, 16, 5);
    teardown(&f);
}

static void a_push_without_memory_is_null_and_changes_nothing(void **state) {
    (void)state;
    for (size_t n = 1; n <= 6; n++) {
        fixture f;
        setup(&f);
        f.counting.fail_at = n;
        uint32_t pushed = 0;
        while (pushed < 20) {
            gx_fifo before = f.fifo;
            if (!push(&f, 4096, (unsigned char)pushed)) {
                assert_memory_equal(&f.fifo, &before, sizeof before);
                assert_int_equal(pushed, (n - 1) * (GX_CHUNK_ROOM / 4096));
                assert_non_null(push(&f, 4096, (unsigned char)pushed));
            }
            pushed++;
        }
        for (uint32_t i = 0; i < 20; i++) pop(&f, 4096, (unsigned char)i);
        teardown(&f);
    }
}

static void what_is_written_at_the_back_is_no_entry_until_it_is_committed(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_false(gx_fifo_has_room(&f.fifo, 8)); /* no chunk yet */
    push(&f, 8, 7);
    assert_true(gx_fifo_has_room(&f.fifo, GX_CHUNK_ROOM - 8));
    assert_false(gx_fifo_has_room(&f.fifo, GX_CHUNK_ROOM));
    unsigned char *at = f.fifo.back;
    gx_store32(at, 24);
    memset(at + 4, 9, 20);
    assert_int_equal(f.fifo.count, 1);
    gx_fifo_commit(&f.fifo, 24);
    assert_int_equal(f.fifo.bytes, 32);
    assert_ptr_equal(push(&f, 16, 8), at + 24);
    pop(&f, 8, 7);
    pop(&f, 24, 9);
    pop(&f, 16, 8);
    teardown(&f);
}

static void random_pushes_and_pops_keep_order_contents_and_sums(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_random in = gx_random_new(1, 1), out = in, choice = gx_random_new(2, 2);
    uint64_t count = 0, bytes = 0;
    for (int i = 0; i < 200000; i++) {
        bool grow = (i / 5000) % 2 == 0;
        if (gx_random_below(&choice, 5) < (grow ? 3u : 2u)) {
            uint64_t word = gx_random_next(&in);
            uint32_t length = 8 + 8 * (uint32_t)(word % 64);
            assert_non_null(push(&f, length, (unsigned char)(word >> 40)));
            count++;
            bytes += length;
        } else if (count) {
            uint64_t word = gx_random_next(&out);
            uint32_t length = 8 + 8 * (uint32_t)(word % 64);
            pop(&f, length, (unsigned char)(word >> 40));
            count--;
            bytes -= length;
        }
        assert_int_equal(f.fifo.count, count);
        assert_int_equal(f.fifo.bytes, bytes);
        assert_int_equal(gx_fifo_front(&f.fifo) != NULL, count != 0);
        if (i % 1000 == 0) assert_null(gx_fifo_flaw(&f.fifo));
    }
    teardown(&f);
}

static void expect_flaw(const gx_fifo *fifo, const char *words) {
    const char *flaw = gx_fifo_flaw(fifo);
    assert_non_null(flaw);
    assert_string_equal(flaw, words);
}

static void what_does_not_hold_is_said(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (int i = 0; i < 1000; i++) push(&f, 64, (unsigned char)i);
    assert_null(gx_fifo_flaw(&f.fifo));
    gx_fifo wrong = f.fifo;
    wrong.bytes += 64;
    expect_flaw(&wrong, "a queue has fewer bytes than it says");
    wrong = f.fifo;
    wrong.bytes -= 64;
    expect_flaw(&wrong, "a queue has more bytes than it says");
    wrong = f.fifo;
    wrong.count--, wrong.bytes -= 64;
    expect_flaw(&wrong, "a queue's entries do not end where the next one goes");
    wrong = f.fifo;
    wrong.front_end += 8;
    expect_flaw(&wrong, "a queue's ends are not in its chunks");
    gx_store32(f.fifo.front, 12);
    expect_flaw(&f.fifo, "a queue has an entry of a length that none can have");
    gx_store32(f.fifo.front, 64);
    gx_fifo_extend(&f.fifo, &f.pool); /* a last chunk that is empty is none */
    assert_null(gx_fifo_flaw(&f.fifo));
    f.pool.free_count++;
    assert_string_equal(gx_chunks_flaw(&f.pool), "the list of free chunks is not as long as it says");
    f.pool.free_count--;
    wrong = (gx_fifo){ .count = 1 };
    expect_flaw(&wrong, "a queue of nothing has entries");
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_fifo_has_no_front_and_no_memory),
        cmocka_unit_test(one_entry_goes_in_and_out),
        cmocka_unit_test(filling_and_emptying_again_and_again_takes_one_chunk_once),
        cmocka_unit_test(entries_stay_where_they_are_while_others_come_and_go),
        cmocka_unit_test(largest_entries_share_no_chunk_that_has_no_room_for_them),
        cmocka_unit_test(chunks_go_back_as_soon_as_they_are_read),
        cmocka_unit_test(a_push_without_memory_is_null_and_changes_nothing),
        cmocka_unit_test(what_is_written_at_the_back_is_no_entry_until_it_is_committed),
        cmocka_unit_test(random_pushes_and_pops_keep_order_contents_and_sums),
        cmocka_unit_test(what_does_not_hold_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
