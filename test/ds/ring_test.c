#include "ds/ring.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <pthread.h>
#include <sched.h>

enum { CAPACITY = 1024, LARGEST = CAPACITY / 4 };

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

/* An entry whose every byte behind the length says who it is. */
static bool push(fixture *f, uint32_t length, unsigned char mark) {
    unsigned char *at = gx_ring_claim(&f->p, length);
    if (!at) return false;
    gx_store32(at, length);
    memset(at + 4, mark, length - 4);
    return true;
}

static void check_entry(const unsigned char *entry, uint32_t length, unsigned char mark) {
    assert_int_equal(gx_load32(entry), length);
    for (uint32_t i = 4; i < length; i++) assert_int_equal(entry[i], mark);
}

static void pop(fixture *f, uint32_t length, unsigned char mark) {
    const unsigned char *entry = gx_ring_peek(&f->c);
    assert_non_null(entry);
    check_entry(entry, length, mark);
    gx_ring_advance(&f->c, length);
}

/* Moves an empty ring to `position`, in entries of at most 64 bytes. */
static void go_to(fixture *f, uint64_t position) {
    while (f->p.tail < position) {
        uint64_t step = position - f->p.tail < 64 ? position - f->p.tail : 64;
        assert_true(push(f, (uint32_t)step, 0));
        gx_ring_publish(&f->p);
        gx_ring_refresh(&f->c);
        pop(f, (uint32_t)step, 0);
        gx_ring_release(&f->c);
    }
}

static void an_empty_ring_has_nothing_to_read_to_publish_or_to_release(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    assert_false(gx_ring_refresh(&f.c));
    assert_null(gx_ring_peek(&f.c));
    assert_null(gx_ring_next_item(&f.c));
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

static void an_entry_is_seen_after_publish_and_refresh_and_not_before(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    assert_true(push(&f, 24, 7));
    assert_false(gx_ring_refresh(&f.c));
    assert_true(gx_ring_publish(&f.p));
    assert_false(gx_ring_publish(&f.p));
    assert_null(gx_ring_peek(&f.c));
    assert_true(gx_ring_refresh(&f.c));
    check_entry(gx_ring_peek(&f.c), 24, 7);
    pop(&f, 24, 7);
    assert_null(gx_ring_peek(&f.c));
    assert_false(gx_ring_refresh(&f.c));
    assert_true(gx_ring_release(&f.c));
    assert_false(gx_ring_release(&f.c));
    teardown(&f);
}

static void claim_in_a_full_ring_returns_null_and_changes_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    for (int i = 0; i < CAPACITY / 64; i++) assert_true(push(&f, 64, (unsigned char)i));
    uint64_t tail = f.p.tail;
    assert_null(gx_ring_claim(&f.p, 8));
    assert_null(gx_ring_claim(&f.p, LARGEST));
    assert_null(gx_ring_claim_item(&f.p));
    assert_int_equal(f.p.tail, tail);
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    for (int i = 0; i < CAPACITY / 64; i++) pop(&f, 64, (unsigned char)i);
    assert_null(gx_ring_peek(&f.c));
    teardown(&f);
}

static void room_comes_back_when_it_is_released_and_not_before(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    for (int i = 0; i < 4; i++) assert_true(push(&f, LARGEST, (unsigned char)i));
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, LARGEST, 0);
    assert_false(push(&f, 8, 9));
    assert_true(gx_ring_release(&f.c));
    assert_true(push(&f, LARGEST, 9));
    assert_false(push(&f, 8, 9));
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    for (int i = 1; i < 4; i++) pop(&f, LARGEST, (unsigned char)i);
    pop(&f, LARGEST, 9);
    teardown(&f);
}

static void an_entry_that_ends_with_the_ring_needs_no_padding(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    go_to(&f, CAPACITY - LARGEST);
    assert_true(push(&f, LARGEST, 3));
    assert_int_equal(f.p.tail, CAPACITY);
    assert_true(push(&f, 16, 4));
    assert_int_equal(f.p.tail, CAPACITY + 16);
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, LARGEST, 3);
    pop(&f, 16, 4);
    teardown(&f);
}

static void every_entry_at_every_position_wraps_with_the_right_padding(void **state) {
    (void)state;
    for (uint32_t length = 8; length <= LARGEST; length += 8) {
        fixture f;
        setup(&f, CAPACITY);
        for (uint64_t at = CAPACITY - LARGEST; at <= CAPACITY; at += 8) {
            uint64_t start = (f.p.tail / CAPACITY + 1) * CAPACITY + at;
            go_to(&f, start);
            assert_true(push(&f, length, 5));
            bool crosses = at + length > CAPACITY;
            assert_int_equal(f.p.tail, start + length + (crosses ? CAPACITY - at : 0));
            gx_ring_publish(&f.p);
            gx_ring_refresh(&f.c);
            pop(&f, length, 5);
            assert_null(gx_ring_peek(&f.c));
            assert_int_equal(f.c.head, f.p.tail);
            gx_ring_release(&f.c);
        }
        teardown(&f);
    }
}

static void padding_counts_as_room_and_a_claim_that_fails_for_it_writes_none(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    go_to(&f, CAPACITY - 128);
    static const uint32_t lengths[] = { 120, 248, LARGEST, 192, 192, 8 };
    for (unsigned char i = 0; i < 6; i++) assert_true(push(&f, lengths[i], i));
    /* The 8 bytes between the first entry and the end were padded. */
    assert_int_equal(f.p.tail - f.c.released, CAPACITY);
    assert_false(push(&f, 8, 9));
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, 120, 0);
    pop(&f, 248, 1);
    gx_ring_release(&f.c);
    /* 376 bytes are free, 128 of them before the end. */
    assert_true(push(&f, 104, 6));
    uint64_t tail = f.p.tail;
    unsigned char before[24];
    memcpy(before, f.ring->bytes + CAPACITY - 24, sizeof before);
    assert_null(gx_ring_claim(&f.p, LARGEST)); /* 24 of padding and 256: 8 too many */
    assert_int_equal(f.p.tail, tail);
    assert_memory_equal(f.ring->bytes + CAPACITY - 24, before, sizeof before);
    assert_true(push(&f, 248, 7));
    assert_false(push(&f, 8, 9));
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    for (unsigned char i = 2; i < 6; i++) pop(&f, lengths[i], i);
    pop(&f, 104, 6);
    pop(&f, 248, 7);
    assert_null(gx_ring_peek(&f.c));
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
    for (int i = 0; i < 100; i++) {
        assert_true(push(&f, 200, (unsigned char)i));
        assert_true(push(&f, 40, (unsigned char)i));
        assert_true(gx_ring_publish(&f.p));
        assert_true(gx_ring_refresh(&f.c));
        pop(&f, 200, (unsigned char)i);
        pop(&f, 40, (unsigned char)i);
        assert_true(gx_ring_release(&f.c));
    }
    assert_true(f.p.tail < start);
    teardown(&f);
}

static void a_later_producer_and_consumer_begin_where_the_ring_stands(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    push(&f, 64, 1);
    push(&f, 64, 2);
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, 64, 1);
    gx_ring_release(&f.c);
    push(&f, 64, 9); /* never published: gone with its producer */
    f.p = gx_ring_produce(f.ring);
    f.c = gx_ring_consume(f.ring);
    push(&f, 64, 3);
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    pop(&f, 64, 2);
    pop(&f, 64, 3);
    assert_null(gx_ring_peek(&f.c));
    teardown(&f);
}

static void items_fill_the_ring_to_the_last_byte_and_wrap(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    uint64_t in = 0, out = 0;
    for (int round = 0; round < 50; round++) {
        uint64_t *item;
        uint64_t had = in;
        while ((item = gx_ring_claim_item(&f.p)) != NULL) {
            item[0] = in;
            item[1] = ~in++;
        }
        assert_int_equal(in - out, CAPACITY / 16);
        assert_int_equal(gx_ring_publish(&f.p), in != had);
        gx_ring_refresh(&f.c);
        for (int i = 0; i < 1 + round; i++) {
            const uint64_t *got = gx_ring_next_item(&f.c);
            assert_non_null(got);
            assert_int_equal(got[0], out);
            assert_int_equal(got[1], ~out);
            out++;
        }
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

/* Any sizes, any batches: what comes out is what went in. */
static void random_pushes_and_pops_keep_order_and_contents(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    gx_random random = gx_random_new(1, 2), echo = random;
    uint64_t waiting = 0;
    gx_random choice = gx_random_new(3, 4);
    for (int i = 0; i < 300000; i++) {
        if (gx_random_below(&choice, 2)) {
            gx_random before = random;
            uint64_t word = gx_random_next(&random);
            if (push(&f, 8 + 8 * (uint32_t)(word % (LARGEST / 8)), (unsigned char)(word >> 32)))
                waiting++;
            else
                random = before;
            if (gx_random_below(&choice, 3) == 0) gx_ring_publish(&f.p);
        } else {
            if (gx_random_below(&choice, 3) == 0) gx_ring_refresh(&f.c);
            if (gx_ring_peek(&f.c)) {
                uint64_t word = gx_random_next(&echo);
                pop(&f, 8 + 8 * (uint32_t)(word % (LARGEST / 8)), (unsigned char)(word >> 32));
                waiting--;
            }
            if (gx_random_below(&choice, 3) == 0) gx_ring_release(&f.c);
        }
    }
    gx_ring_publish(&f.p);
    gx_ring_refresh(&f.c);
    while (gx_ring_peek(&f.c)) {
        uint64_t word = gx_random_next(&echo);
        pop(&f, 8 + 8 * (uint32_t)(word % (LARGEST / 8)), (unsigned char)(word >> 32));
        waiting--;
    }
    assert_int_equal(waiting, 0);
    teardown(&f);
}

/* --- Two threads --- */

enum { ENTRIES = 2000000 };

typedef struct race {
    gx_ring_producer p;
    gx_ring_consumer c;
    uint64_t wrong;
} race;

static uint32_t size_of(uint64_t word) {
    return word % 64 ? 8 + 8 * (uint32_t)(word % 12) : LARGEST;
}

static void *produce_entries(void *user) {
    race *r = user;
    gx_random random = gx_random_new(5, 6), batch = gx_random_new(7, 8);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint64_t word = gx_random_next(&random);
        uint32_t length = size_of(word);
        unsigned char *at;
        while (!(at = gx_ring_claim(&r->p, length)))
            if (!gx_ring_publish(&r->p)) sched_yield();
        gx_store32(at, length);
        gx_store32(at + 4, (uint32_t)word);
        for (uint32_t k = 8; k < length; k += 8) gx_store64(at + k, word ^ k);
        if (gx_random_below(&batch, 16) == 0) gx_ring_publish(&r->p);
    }
    gx_ring_publish(&r->p);
    return NULL;
}

static bool is_whole(const unsigned char *entry, uint64_t word) {
    uint32_t length = size_of(word);
    if (gx_load32(entry) != length || gx_load32(entry + 4) != (uint32_t)word) return false;
    for (uint32_t k = 8; k < length; k += 8)
        if (gx_load64(entry + k) != (word ^ k)) return false;
    return true;
}

static void consume_entries(race *r) {
    gx_random random = gx_random_new(5, 6), batch = gx_random_new(9, 10);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const unsigned char *entry;
        while (!(entry = gx_ring_peek(&r->c))) {
            gx_ring_release(&r->c);
            if (!gx_ring_refresh(&r->c)) sched_yield();
        }
        uint64_t word = gx_random_next(&random);
        if (!is_whole(entry, word)) {
            r->wrong++;
            return;
        }
        gx_ring_advance(&r->c, size_of(word));
        if (gx_random_below(&batch, 16) == 0) gx_ring_release(&r->c);
    }
}

static void two_threads_pass_two_million_entries_of_any_size_whole_and_in_order(void **state) {
    (void)state;
    fixture f;
    setup(&f, CAPACITY);
    race r = { f.p, f.c, 0 };
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce_entries, &r), 0);
    consume_entries(&r);
    if (r.wrong) abort(); /* the producer would wait for ever */
    pthread_join(producer, NULL);
    assert_null(gx_ring_peek(&r.c));
    assert_false(gx_ring_refresh(&r.c));
    teardown(&f);
}

static void *produce_items(void *user) {
    race *r = user;
    gx_random random = gx_random_new(5, 6), batch = gx_random_new(7, 8);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint64_t *at;
        while (!(at = gx_ring_claim_item(&r->p)))
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
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const uint64_t *item;
        while (!(item = gx_ring_next_item(&r->c))) {
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
        cmocka_unit_test(an_entry_is_seen_after_publish_and_refresh_and_not_before),
        cmocka_unit_test(claim_in_a_full_ring_returns_null_and_changes_nothing),
        cmocka_unit_test(room_comes_back_when_it_is_released_and_not_before),
        cmocka_unit_test(an_entry_that_ends_with_the_ring_needs_no_padding),
        cmocka_unit_test(every_entry_at_every_position_wraps_with_the_right_padding),
        cmocka_unit_test(padding_counts_as_room_and_a_claim_that_fails_for_it_writes_none),
        cmocka_unit_test(positions_may_wrap_at_64_bits),
        cmocka_unit_test(a_later_producer_and_consumer_begin_where_the_ring_stands),
        cmocka_unit_test(items_fill_the_ring_to_the_last_byte_and_wrap),
        cmocka_unit_test(a_ring_without_memory_is_null_and_leaves_nothing),
        cmocka_unit_test(random_pushes_and_pops_keep_order_and_contents),
        cmocka_unit_test(two_threads_pass_two_million_entries_of_any_size_whole_and_in_order),
        cmocka_unit_test(two_threads_pass_two_million_items_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
