#include "ds/batch.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <pthread.h>
#include <sched.h>

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_batches pool;
} fixture;

static void setup_with(fixture *f, uint32_t most) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_batches_init(&f->pool, &f->heap, most);
}

static void setup(fixture *f) {
    setup_with(f, 0);
}

static uint64_t used(const fixture *f) {
    return gx_load_relaxed(&((fixture *)f)->pool.used);
}

static void teardown(fixture *f) {
    assert_null(gx_batches_flaw(&f->pool));
    assert_int_equal(used(f), 0);
    gx_batches_fini(&f->pool);
    assert_int_equal(f->counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
}

static gx_batch *take(fixture *f, bool large) {
    gx_batch *batch = gx_batch_take(&f->pool, large, 8);
    assert_non_null(batch);
    assert_int_equal(batch->parts, large ? GX_BATCH_PARTS : 1);
    return batch;
}

static void give_all(fixture *f, gx_batch *const *batches, int count) {
    for (int i = 0; i < count; i++) gx_batch_give(&f->pool, batches[i]);
}

/* A row of `length` bytes behind those of the batch, all of them `mark`. */
static void write_row(gx_batch *batch, uint32_t length, unsigned char mark) {
    assert_true(batch->used + length <= gx_batch_space(batch));
    unsigned char *at = batch->bytes + batch->used;
    memset(at, mark, length);
    gx_store32(at, length);
    batch->used += length;
}

/* --- Taking and giving --- */

static void a_new_pool_has_asked_for_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_int_equal(f.counting.calls, 0);
    assert_int_equal(gx_batches_returning(&f.pool), 0);
    teardown(&f);
}

static void a_taken_batch_is_empty_whatever_it_was_before(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (int large = 0; large <= 1; large++) {
        gx_batch *batch = take(&f, large);
        assert_int_equal((uintptr_t)batch % 64, 0);
        assert_int_equal((uintptr_t)batch->bytes % 16, 0);
        write_row(batch, gx_batch_space(batch), 7);
        batch->read = batch->used;
        batch->blocks = 1000;
        batch->lane = 3;
        gx_batch_give(&f.pool, batch);
        gx_batch *again = take(&f, large);
        assert_ptr_equal(again, batch);
        assert_int_equal(again->used + again->read + again->lane, 0);
        assert_int_equal(again->blocks, 0);
        assert_null(gx_batch_front(again));
        assert_ptr_equal(gx_batch_home(again), &f.pool);
        assert_int_equal(again->room, large ? GX_BATCH_ROOM : GX_BATCH_ROOM_SMALL);
        gx_batch_give(&f.pool, again);
    }
    teardown(&f);
}

static void a_row_that_needs_more_than_a_small_batch_gets_a_large_one(void **state) {
    (void)state;
    static const struct {
        uint32_t length;
        int parts;
    } cases[] = { { 8, 1 },
                  { GX_BATCH_ROOM_SMALL, 1 },
                  { GX_BATCH_ROOM_SMALL + 8, GX_BATCH_PARTS },
                  { GX_BATCH_ROOM, GX_BATCH_PARTS } };
    fixture f;
    setup(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gx_batch *batch = gx_batch_take(&f.pool, false, cases[i].length);
        assert_int_equal(batch->parts, cases[i].parts);
        assert_true(gx_batch_space(batch) >= cases[i].length);
        gx_batch_give(&f.pool, batch);
    }
    teardown(&f);
}

static void eight_small_ones_share_a_page_and_a_byte_of_none_is_another_ones(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *small[GX_BATCH_PARTS + 1];
    for (int i = 0; i <= GX_BATCH_PARTS; i++) {
        small[i] = take(&f, false);
        assert_int_equal(f.counting.calls, i < GX_BATCH_PARTS ? 1 : 2);
        assert_int_equal(used(&f), (i + 1) * GX_BATCH_SMALL);
        write_row(small[i], GX_BATCH_ROOM_SMALL, (unsigned char)(i + 1));
    }
    for (int i = 0; i <= GX_BATCH_PARTS; i++) {
        assert_int_equal(small[i]->used, GX_BATCH_ROOM_SMALL);
        for (uint32_t k = 4; k < GX_BATCH_ROOM_SMALL; k++) assert_int_equal(small[i]->bytes[k], i + 1);
    }
    give_all(&f, small, GX_BATCH_PARTS + 1);
    teardown(&f);
}

static void a_page_is_whole_again_when_its_last_part_is_back_and_not_before(void **state) {
    (void)state;
    for (int last = 0; last < GX_BATCH_PARTS; last++) {
        fixture f;
        setup(&f);
        gx_batch *small[GX_BATCH_PARTS];
        for (int i = 0; i < GX_BATCH_PARTS; i++) small[i] = take(&f, false);
        for (int i = 0; i < GX_BATCH_PARTS; i++)
            if (i != last) gx_batch_give(&f.pool, small[i]);
        assert_null(gx_batches_flaw(&f.pool));
        gx_batch *other = take(&f, true);
        assert_int_equal(f.counting.calls, 2);
        gx_batch_give(&f.pool, small[last]);
        gx_batch *whole = take(&f, true);
        assert_int_equal(f.counting.calls, 2);
        assert_ptr_equal(whole->page, small[0]->page);
        gx_batch_give(&f.pool, other);
        gx_batch_give(&f.pool, whole);
        teardown(&f);
    }
}

static void a_page_that_is_split_is_used_up_before_a_whole_one_is_split(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *large[2] = { take(&f, true), take(&f, true) }, *small[GX_BATCH_PARTS];
    give_all(&f, large, 2);
    for (int i = 0; i < GX_BATCH_PARTS; i++) {
        small[i] = take(&f, false);
        assert_ptr_equal(small[i]->page, small[0]->page);
    }
    gx_batch *whole = take(&f, true);
    assert_int_equal(f.counting.calls, 2);
    gx_batch_give(&f.pool, whole);
    give_all(&f, small, GX_BATCH_PARTS);
    teardown(&f);
}

/* What was large once is small later, and large again: the most that there was is all that is ever asked for. */
static void loads_that_shift_allocate_nothing(void **state) {
    (void)state;
    enum { PAGES = 20, ROUNDS = 50 };
    fixture f;
    gx_batch *batches[PAGES * GX_BATCH_PARTS];
    gx_random random = gx_random_new(1, 2);
    setup(&f);
    for (int round = 0; round < ROUNDS; round++) {
        bool large = round % 2 == 0;
        int count = large ? PAGES : PAGES * GX_BATCH_PARTS;
        for (int i = 0; i < count; i++) batches[i] = take(&f, large);
        assert_int_equal(f.counting.calls, PAGES);
        assert_null(gx_batches_flaw(&f.pool));
        for (int i = count - 1; i >= 0; i--) {
            int other = (int)gx_random_below(&random, (uint32_t)i + 1);
            gx_batch_give(&f.pool, batches[other]);
            batches[other] = batches[i];
        }
        assert_null(gx_batches_flaw(&f.pool));
    }
    teardown(&f);
}

static void random_takes_and_gives_never_share_a_byte_and_add_up(void **state) {
    (void)state;
    enum { MOST = 300 };
    gx_batch *held[MOST];
    fixture f;
    setup(&f);
    gx_random random = gx_random_new(3, 4);
    uint64_t bytes = 0;
    int count = 0;
    for (int i = 0; i < 100000; i++) {
        bool grow = (i / 2000) % 2 == 0;
        if (count < MOST && gx_random_below(&random, 5) < (grow ? 3u : 2u)) {
            gx_batch *batch = held[count++] = take(&f, gx_random_below(&random, 4) == 0);
            memset(batch->bytes, (int)((uintptr_t)batch / 64 % 251), gx_batch_space(batch));
            bytes += batch->parts * GX_BATCH_SMALL;
        } else if (count) {
            uint32_t at = gx_random_below(&random, (uint32_t)count);
            gx_batch *batch = held[at];
            held[at] = held[--count];
            for (uint32_t k = 0; k < gx_batch_space(batch); k++)
                if (batch->bytes[k] != (uintptr_t)batch / 64 % 251) fail_msg("another one's byte");
            bytes -= batch->parts * GX_BATCH_SMALL;
            gx_batch_give(&f.pool, batch);
        }
        assert_int_equal(used(&f), bytes);
        if (i % 100 == 0) assert_null(gx_batches_flaw(&f.pool));
    }
    give_all(&f, held, count);
    teardown(&f);
}

static void a_batch_without_memory_is_null_and_changes_nothing(void **state) {
    (void)state;
    for (size_t n = 1; n <= 4; n++) {
        fixture f;
        gx_batch *taken[6];
        int count = 0;
        setup(&f);
        f.counting.fail_at = n;
        for (int i = 0; i < 5; i++) {
            bool large = i != 2;
            gx_batch *batch = gx_batch_take(&f.pool, large, 8);
            if (!batch) {
                assert_int_equal(f.counting.calls, n);
                assert_null(gx_batches_flaw(&f.pool));
                assert_non_null(batch = gx_batch_take(&f.pool, large, 8));
            }
            taken[count++] = batch;
        }
        give_all(&f, taken, count);
        teardown(&f);
    }
}

/* --- Small loads --- */

static void a_pool_of_small_loads_has_batches_of_as_few_bytes_though_one_row_always_fits(void **state) {
    (void)state;
    static const uint32_t most[] = { 1, 8, 100, GX_BATCH_ROOM_SMALL, 1000, 1 << 20 };
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        fixture f;
        setup_with(&f, most[i]);
        for (int large = 0; large <= 1; large++) {
            gx_batch *batch = take(&f, large);
            uint32_t space = large ? GX_BATCH_ROOM : GX_BATCH_ROOM_SMALL;
            assert_int_equal(gx_batch_space(batch), space);
            assert_int_equal(batch->room, most[i] < space ? most[i] : space);
            assert_int_equal(gx_batch_weight(batch), sizeof *batch + batch->room);
            gx_batch_give(&f.pool, batch);
        }
        gx_batch *batch = gx_batch_take(&f.pool, false, GX_BATCH_ROOM);
        assert_int_equal(gx_batch_space(batch), GX_BATCH_ROOM);
        gx_batch_give(&f.pool, batch);
        teardown(&f);
    }
}

/* Below the border there is room for what was asked, and one byte further there is not. */
static void a_border_is_where_the_last_row_may_begin(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *batch = take(&f, false);
    for (uint32_t bytes = 8; bytes <= GX_BATCH_ROOM_SMALL; bytes += 8) {
        uint32_t border = gx_batch_border(batch, bytes);
        assert_int_equal(border - 1 + bytes, GX_BATCH_ROOM_SMALL);
    }
    batch->room = 16;
    assert_int_equal(gx_batch_border(batch, 8), 16);
    assert_int_equal(gx_batch_border(batch, GX_BATCH_ROOM_SMALL - 8), 9);
    gx_batch_give(&f.pool, batch);
    teardown(&f);
}

/* --- Rows --- */

static void rows_are_read_in_order_from_where_reading_stopped(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *batch = take(&f, true);
    static const uint32_t lengths[] = { 8, 64, 16, 1024, 8 };
    assert_int_equal(gx_batch_rows(batch), 0);
    for (unsigned char i = 0; i < 5; i++) write_row(batch, lengths[i], i);
    const unsigned char *row = gx_batch_front(batch);
    for (int i = 0; i < 5; row = gx_batch_next(batch, row), i++) {
        assert_non_null(row);
        assert_int_equal(gx_load32(row), lengths[i]);
        assert_int_equal(row[4], i);
    }
    assert_null(row);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(gx_batch_rows(batch), 5 - i);
        assert_int_equal(gx_load32(gx_batch_front(batch)), lengths[i]);
        assert_int_equal(gx_batch_touched(batch), sizeof *batch + batch->used - batch->read);
        assert_null(gx_batch_flaw(batch));
        batch->read += lengths[i];
    }
    assert_null(gx_batch_front(batch));
    assert_int_equal(gx_batch_rows(batch), 0);
    gx_batch_give(&f.pool, batch);
    teardown(&f);
}

static void what_it_weighs_is_its_head_its_room_and_its_blocks_whether_it_is_full_or_read(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *batch = take(&f, false);
    assert_int_equal(gx_batch_weight(batch), GX_BATCH_SMALL);
    write_row(batch, 64, 1);
    batch->read = 64;
    assert_int_equal(gx_batch_weight(batch), GX_BATCH_SMALL);
    batch->blocks = 5000;
    assert_int_equal(gx_batch_weight(batch), GX_BATCH_SMALL + 5000);
    gx_batch_give(&f.pool, batch);
    teardown(&f);
}

/* --- Lists --- */

static void a_list_is_first_in_first_out_and_knows_its_weight(void **state) {
    (void)state;
    fixture f;
    gx_batch_list list = { 0 };
    gx_batch *batches[10];
    setup(&f);
    assert_null(gx_batch_list_flaw(&list));
    for (int round = 0; round < 3; round++) {
        uint64_t weight = 0;
        for (int i = 0; i < 10; i++) {
            batches[i] = take(&f, i % 3 == 0);
            write_row(batches[i], 8, 1);
            batches[i]->blocks = (uint64_t)i * 100;
            gx_batch_list_push(&list, batches[i]);
            weight += gx_batch_weight(batches[i]);
            assert_int_equal(list.count, i + 1);
            assert_int_equal(list.weight, weight);
            assert_null(gx_batch_list_flaw(&list));
        }
        for (int i = 0; i < 10; i++) {
            assert_ptr_equal(gx_batch_list_pop(&list), batches[i]);
            assert_null(gx_batch_list_flaw(&list));
        }
        assert_int_equal(list.count, 0);
        assert_int_equal(list.weight, 0);
        assert_null(list.head);
        give_all(&f, batches, 10);
    }
    teardown(&f);
}

static void what_is_put_back_is_the_first_again(void **state) {
    (void)state;
    fixture f;
    gx_batch_list list = { 0 };
    setup(&f);
    gx_batch *batches[2] = { take(&f, false), take(&f, false) };
    for (int i = 0; i < 2; i++) write_row(batches[i], 8, 1), write_row(batches[i], 8, 2);
    gx_batch_list_put_back(&list, batches[0]); /* into none */
    gx_batch_list_push(&list, batches[1]);
    assert_null(gx_batch_list_flaw(&list));
    gx_batch *first = gx_batch_list_pop(&list);
    first->read = 8;
    gx_batch_list_put_back(&list, first);
    assert_null(gx_batch_list_flaw(&list));
    for (int i = 0; i < 2; i++) assert_ptr_equal(gx_batch_list_pop(&list), batches[i]);
    give_all(&f, batches, 2);
    teardown(&f);
}

/* --- Home from elsewhere --- */

static void what_another_returned_is_taken_in_when_nothing_else_is_there(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *large[3] = { take(&f, true), take(&f, true), take(&f, true) };
    large[0]->next = large[1];
    gx_batches_return(&f.pool, large[0], large[1]);
    gx_batches_return(&f.pool, large[2], large[2]);
    assert_int_equal(gx_batches_returning(&f.pool), 3 * GX_BATCH_LARGE);
    assert_int_equal(used(&f), 3 * GX_BATCH_LARGE); /* they are on their way */
    assert_null(gx_batches_flaw(&f.pool));
    gx_batch *small = take(&f, false);
    assert_int_equal(f.counting.calls, 3);
    assert_int_equal(gx_batches_returning(&f.pool), 0);
    assert_int_equal(used(&f), GX_BATCH_SMALL);
    for (int i = 0; i < 2; i++) large[i] = take(&f, true);
    assert_int_equal(f.counting.calls, 3);
    give_all(&f, large, 2);
    gx_batch_give(&f.pool, small);
    teardown(&f);
}

static void parts_come_home_to_their_pages(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *small[2 * GX_BATCH_PARTS];
    for (int i = 0; i < 2 * GX_BATCH_PARTS; i++) small[i] = take(&f, false);
    for (int i = 0; i < 2 * GX_BATCH_PARTS; i += 2) gx_batch_give(&f.pool, small[i]);
    for (int i = 1; i < 2 * GX_BATCH_PARTS; i += 2) gx_batches_return(&f.pool, small[i], small[i]);
    for (int i = 0; i < 2; i++) small[i] = take(&f, true);
    assert_int_equal(f.counting.calls, 2);
    give_all(&f, small, 2);
    teardown(&f);
}

enum { RETURNERS = 2, SLOTS = 64, CHAIN = 5, PASSED = 100000 };

typedef struct exchange {
    fixture *f;
    _Atomic(gx_batch *) slots[SLOTS]; /* from the owner to whoever is first */
    _Atomic uint64_t returned, wrong;
} exchange;

static bool has_marks(const gx_batch *batch) {
    for (uint32_t k = 0; k < batch->used; k++)
        if (batch->bytes[k] != batch->source % 251) return false;
    return batch->used > 0;
}

/* Looks at what it finds, writes over it, and returns some at once. */
static void *return_batches(void *user) {
    exchange *x = user;
    gx_random random = gx_random_new(7, (uint64_t)(uintptr_t)&random);
    while (atomic_load(&x->returned) < PASSED) {
        gx_batch *first = NULL, *last = NULL;
        uint64_t count = 0;
        for (uint32_t most = 1 + gx_random_below(&random, CHAIN), i = 0; i < SLOTS && count < most; i++) {
            gx_batch *batch = atomic_exchange_explicit(&x->slots[i], NULL, memory_order_acquire);
            if (!batch) continue;
            if (!has_marks(batch)) atomic_fetch_add(&x->wrong, 1);
            memset(batch->bytes, 255, batch->used);
            batch->next = first;
            first = batch;
            if (!last) last = batch;
            count++;
        }
        if (first) gx_batches_return(&x->f->pool, first, last);
        atomic_fetch_add(&x->returned, count);
        if (!first) sched_yield();
    }
    return NULL;
}

static void hand_over(exchange *x, gx_random *random, uint16_t number) {
    gx_batch *batch = gx_batch_take(&x->f->pool, gx_random_below(random, 4) == 0, 64);
    if (!batch) abort();
    batch->source = number;
    batch->used = 64;
    memset(batch->bytes, number % 251, 64);
    for (uint32_t at = number % SLOTS;; at = (at + 1) % SLOTS) {
        gx_batch *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&x->slots[at], &none, batch, memory_order_release,
                                                    memory_order_relaxed))
            return;
        if (at == number % SLOTS) sched_yield();
    }
}

static void two_threads_return_what_a_third_takes_and_none_is_lost_or_used_by_two(void **state) {
    (void)state;
    static exchange x;
    fixture f;
    pthread_t threads[RETURNERS];
    setup(&f);
    memset(&x, 0, sizeof x);
    x.f = &f;
    gx_random random = gx_random_new(5, 6);
    for (int i = 0; i < RETURNERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, return_batches, &x), 0);
    for (uint32_t i = 0; i < PASSED; i++) hand_over(&x, &random, (uint16_t)i);
    for (int i = 0; i < RETURNERS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&x.wrong), 0);
    assert_null(gx_batches_flaw(&f.pool));
    assert_int_equal(gx_batches_returning(&f.pool), used(&f));
    /* When a page was asked for, one was out for each slot, some in hands, and none on its way home. */
    int pages = (int)f.counting.calls, count = 0;
    assert_in_range(pages, 1, SLOTS + RETURNERS * CHAIN + 1);
    gx_batch *all[SLOTS + RETURNERS * CHAIN + 1];
    while (count < pages) all[count++] = take(&f, true);
    assert_int_equal(f.counting.calls, pages);
    give_all(&f, all, count);
    teardown(&f);
}

/* --- Flaws --- */

static void expect(const char *flaw, const char *words) {
    assert_non_null(flaw);
    assert_string_equal(flaw, words);
}

static void what_does_not_hold_of_a_batch_is_said(void **state) {
    (void)state;
    static const char length_flaw[] = "a row is of a length that none can have";
    static const uint32_t none[] = { 0, 4, 12, 72 };
    fixture f;
    setup(&f);
    gx_batch *batch = take(&f, false);
    write_row(batch, 64, 1);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        gx_store32(batch->bytes, none[i]);
        expect(gx_batch_flaw(batch), length_flaw);
    }
    gx_store32(batch->bytes, 64);
    batch->used = GX_BATCH_ROOM_SMALL + 8;
    expect(gx_batch_flaw(batch), "a batch has more rows than room");
    batch->used = 64;
    batch->read = 72;
    expect(gx_batch_flaw(batch), "a batch has more rows than room");
    batch->read = 64;
    assert_null(gx_batch_flaw(batch));
    gx_batch_give(&f.pool, batch);
    teardown(&f);
}

static void what_does_not_hold_of_a_list_is_said(void **state) {
    (void)state;
    fixture f;
    gx_batch_list list = { 0 };
    setup(&f);
    gx_batch *batches[2] = { take(&f, false), take(&f, false) };
    for (int i = 0; i < 2; i++) write_row(batches[i], 64, 1), gx_batch_list_push(&list, batches[i]);
    gx_batch_list wrong = list;
    wrong.count = 1;
    expect(gx_batch_list_flaw(&wrong), "a list has more batches than it says");
    wrong.count = 3;
    expect(gx_batch_list_flaw(&wrong), "a list has fewer batches than it says");
    wrong = list;
    wrong.weight++;
    expect(gx_batch_list_flaw(&wrong), "a list's batches do not weigh what it says");
    wrong = list;
    wrong.tail = batches[0];
    expect(gx_batch_list_flaw(&wrong), "a list does not end with its last batch");
    batches[1]->read = 64;
    expect(gx_batch_list_flaw(&list), "a batch waits, and has no rows");
    batches[1]->read = 0;
    batches[0]->read = 128;
    expect(gx_batch_list_flaw(&list), "a batch has more rows than room");
    batches[0]->read = 0;
    batches[1]->next = batches[0]; /* round and round */
    expect(gx_batch_list_flaw(&list), "a list has more batches than it says");
    batches[1]->next = NULL;
    assert_null(gx_batch_list_flaw(&list));
    give_all(&f, batches, 2);
    teardown(&f);
}

#define EXPECT_FLAW(f, lie, truth, words)                                                                              \
    do {                                                                                                               \
        lie;                                                                                                           \
        expect(gx_batches_flaw(&(f)->pool), words);                                                                    \
        truth;                                                                                                         \
        assert_null(gx_batches_flaw(&(f)->pool));                                                                      \
    } while (0)

static void what_does_not_hold_of_a_pool_is_said(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_batch *large = take(&f, true), *small = take(&f, false), *free_one = take(&f, true);
    gx_batch_give(&f.pool, free_one);
    gx_page *page = small->page;
    uint32_t free = page->free;
    EXPECT_FLAW(&f, page->free = 1u << GX_BATCH_PARTS, page->free = free, "a page is not as pages are");
    EXPECT_FLAW(&f, page->home = NULL, page->home = &f.pool, "a page is not as pages are");
    EXPECT_FLAW(&f, page->free = 0, page->free = free, "a page without free parts is among those that have some");
    EXPECT_FLAW(&f, f.pool.split = NULL, f.pool.split = page, "a page with free parts is not to be found");
    free_one->page->free = 1; /* in parts, and whole */
    page->behind = free_one->page;
    expect(gx_batches_flaw(&f.pool), "a batch is free twice");
    free_one->page->free = 0;
    page->behind = NULL;
    EXPECT_FLAW(&f, free_one->next = free_one, free_one->next = NULL, "a batch is free twice");
    EXPECT_FLAW(&f, f.pool.large = NULL, f.pool.large = free_one, "a batch is neither free nor in use");
    EXPECT_FLAW(&f, gx_count(&f.pool.used, GX_BATCH_SMALL), gx_count(&f.pool.used, 0 - (uint64_t)GX_BATCH_SMALL),
                "a batch is neither free nor in use");
    gx_batch_give(&f.pool, large);
    gx_batch_give(&f.pool, small);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_pool_has_asked_for_nothing),
        cmocka_unit_test(a_taken_batch_is_empty_whatever_it_was_before),
        cmocka_unit_test(a_row_that_needs_more_than_a_small_batch_gets_a_large_one),
        cmocka_unit_test(eight_small_ones_share_a_page_and_a_byte_of_none_is_another_ones),
        cmocka_unit_test(a_page_is_whole_again_when_its_last_part_is_back_and_not_before),
        cmocka_unit_test(a_page_that_is_split_is_used_up_before_a_whole_one_is_split),
        cmocka_unit_test(loads_that_shift_allocate_nothing),
        cmocka_unit_test(random_takes_and_gives_never_share_a_byte_and_add_up),
        cmocka_unit_test(a_batch_without_memory_is_null_and_changes_nothing),
        cmocka_unit_test(a_pool_of_small_loads_has_batches_of_as_few_bytes_though_one_row_always_fits),
        cmocka_unit_test(a_border_is_where_the_last_row_may_begin),
        cmocka_unit_test(rows_are_read_in_order_from_where_reading_stopped),
        cmocka_unit_test(what_it_weighs_is_its_head_its_room_and_its_blocks_whether_it_is_full_or_read),
        cmocka_unit_test(a_list_is_first_in_first_out_and_knows_its_weight),
        cmocka_unit_test(what_is_put_back_is_the_first_again),
        cmocka_unit_test(what_another_returned_is_taken_in_when_nothing_else_is_there),
        cmocka_unit_test(parts_come_home_to_their_pages),
        cmocka_unit_test(two_threads_return_what_a_third_takes_and_none_is_lost_or_used_by_two),
        cmocka_unit_test(what_does_not_hold_of_a_batch_is_said),
        cmocka_unit_test(what_does_not_hold_of_a_list_is_said),
        cmocka_unit_test(what_does_not_hold_of_a_pool_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
