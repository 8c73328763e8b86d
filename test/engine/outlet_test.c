#include "engine/outlet.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

enum { CAPACITY = 1024 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_chunks chunks;
    gx_ring *ring;
    gx_outlet outlet;
    gx_ring_consumer in;
} fixture;

static void setup(fixture *f) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_chunks_init(&f->chunks, &f->heap);
    f->ring = gx_ring_new(&f->heap, CAPACITY);
    assert_non_null(f->ring);
    f->outlet.ring = gx_ring_produce(f->ring);
    f->in = gx_ring_consume(f->ring);
}

static void teardown(fixture *f) {
    gx_fifo_clear(&f->outlet.outbox, &f->chunks);
    gx_chunks_fini(&f->chunks);
    gx_ring_free(&f->heap, f->ring);
    assert_int_equal(f->counting.blocks, 0);
}

static bool send(fixture *f, uint32_t length, uint32_t number) {
    unsigned char *at = gx_outlet_claim(&f->outlet, &f->chunks, length);
    if (!at) return false;
    memset(at, 0, length);
    gx_store32(at, length);
    gx_store32(at + 4, number);
    return true;
}

/* Reads all that was published; returns how many entries, which must be numbered from `from`. */
static uint32_t receive(fixture *f, uint32_t from) {
    uint32_t number = from;
    gx_ring_publish(&f->outlet.ring);
    gx_ring_refresh(&f->in);
    const unsigned char *entry;
    while ((entry = gx_ring_peek(&f->in)) != NULL) {
        assert_int_equal(gx_load32(entry + 4), number++);
        gx_ring_advance(&f->in, gx_load32(entry));
    }
    gx_ring_release(&f->in);
    return number - from;
}

static void records_go_to_the_ring_while_it_has_room(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_int_equal(gx_outlet_flush(&f.outlet, &f.chunks), 0);
    for (uint32_t i = 0; i < CAPACITY / 64; i++) assert_true(send(&f, 64, i));
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_int_equal(f.outlet.sent, CAPACITY / 64);
    assert_int_equal(receive(&f, 0), CAPACITY / 64);
    assert_int_equal(f.counting.calls, 1);
    teardown(&f);
}

static void what_finds_no_room_waits_in_the_outbox_and_later_records_behind_it(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (uint32_t i = 0; i < 4; i++) assert_true(send(&f, 240, i));
    assert_true(send(&f, 128, 4));
    assert_false(gx_outlet_is_clear(&f.outlet));
    assert_true(send(&f, 8, 5)); /* would fit the ring, but not before the other */
    assert_int_equal(f.outlet.outbox.count, 2);
    assert_int_equal(f.outlet.sent, 4);
    assert_int_equal(gx_outlet_flush(&f.outlet, &f.chunks), 0);
    assert_int_equal(receive(&f, 0), 4);
    assert_int_equal(gx_outlet_flush(&f.outlet, &f.chunks), 2);
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_int_equal(f.outlet.sent, 6);
    assert_true(send(&f, 8, 6));
    assert_int_equal(receive(&f, 4), 3);
    teardown(&f);
}

static void a_flush_moves_as_much_as_fits_and_keeps_the_rest_in_order(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    gx_random random = gx_random_new(1, 1);
    uint32_t sent = 0, received = 0;
    for (int round = 0; round < 2000; round++) {
        for (uint32_t n = gx_random_below(&random, 20); n > 0; n--)
            assert_true(send(&f, 8 + 8 * gx_random_below(&random, CAPACITY / 4 / 8), sent++));
        if (gx_random_below(&random, 2)) received += receive(&f, received);
        gx_outlet_flush(&f.outlet, &f.chunks);
        while (f.outlet.outbox.count > 500) {
            received += receive(&f, received);
            gx_outlet_flush(&f.outlet, &f.chunks);
        }
        assert_int_equal(f.outlet.sent + f.outlet.outbox.count, sent);
    }
    while (received < sent) {
        received += receive(&f, received);
        gx_outlet_flush(&f.outlet, &f.chunks);
    }
    assert_int_equal(f.outlet.sent, sent);
    teardown(&f);
}

static void a_record_without_memory_is_refused_and_nothing_before_it_is_lost(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (uint32_t i = 0; i < 4; i++) assert_true(send(&f, 256, i));
    f.counting.fail_at = f.counting.calls + 1;
    assert_false(send(&f, 64, 4));
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_true(send(&f, 64, 4));
    assert_int_equal(receive(&f, 0), 4);
    gx_outlet_flush(&f.outlet, &f.chunks);
    assert_int_equal(receive(&f, 4), 1);
    teardown(&f);
}

static uint64_t receive_items(fixture *f, uint64_t from) {
    uint64_t number = from;
    gx_ring_publish(&f->outlet.ring);
    gx_ring_refresh(&f->in);
    const uint64_t *item;
    while ((item = gx_ring_next_item(&f->in)) != NULL) {
        assert_int_equal(item[0], number);
        assert_int_equal(item[1], ~number);
        number++;
    }
    gx_ring_release(&f->in);
    return number - from;
}

static void items_go_through_ring_and_outbox_in_order(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    enum { ITEMS = 3000, FIT = CAPACITY / 16 };
    for (uint64_t i = 0; i < ITEMS; i++) {
        assert_true(gx_outlet_send_item(&f.outlet, &f.chunks, i, ~i));
        assert_int_equal(f.outlet.outbox.count, i < FIT ? 0 : i - FIT + 1);
    }
    assert_int_equal(f.outlet.sent, FIT);
    assert_int_equal(gx_outlet_flush_items(&f.outlet, &f.chunks), 0);
    uint64_t received = 0;
    while (received < ITEMS) {
        received += receive_items(&f, received);
        assert_int_equal(gx_outlet_flush_items(&f.outlet, &f.chunks), ITEMS - received < FIT ? ITEMS - received : FIT);
    }
    assert_int_equal(f.outlet.sent, ITEMS);
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_int_equal(gx_load_relaxed(&f.chunks.used), 1);
    teardown(&f);
}

static void an_item_waits_behind_those_that_wait_though_the_ring_has_room(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t i = 0;
    for (; i < CAPACITY / 16 + 2; i++) assert_true(gx_outlet_send_item(&f.outlet, &f.chunks, i, ~i));
    uint64_t received = receive_items(&f, 0);
    assert_int_equal(received, CAPACITY / 16);
    assert_true(gx_outlet_send_item(&f.outlet, &f.chunks, i, ~i));
    assert_int_equal(f.outlet.outbox.count, 3);
    assert_int_equal(gx_outlet_flush_items(&f.outlet, &f.chunks), 3);
    assert_int_equal(receive_items(&f, received), 3);
    teardown(&f);
}

static void an_item_without_memory_is_refused_and_changes_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t i = 0;
    for (; i < CAPACITY / 16; i++) assert_true(gx_outlet_send_item(&f.outlet, &f.chunks, i, ~i));
    f.counting.fail_at = f.counting.calls + 1;
    assert_false(gx_outlet_send_item(&f.outlet, &f.chunks, 0, 0));
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_true(gx_outlet_send_item(&f.outlet, &f.chunks, i, ~i));
    assert_int_equal(receive_items(&f, 0), i);
    assert_int_equal(gx_outlet_flush_items(&f.outlet, &f.chunks), 1);
    assert_int_equal(receive_items(&f, i), 1);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_go_to_the_ring_while_it_has_room),
        cmocka_unit_test(what_finds_no_room_waits_in_the_outbox_and_later_records_behind_it),
        cmocka_unit_test(a_flush_moves_as_much_as_fits_and_keeps_the_rest_in_order),
        cmocka_unit_test(a_record_without_memory_is_refused_and_nothing_before_it_is_lost),
        cmocka_unit_test(items_go_through_ring_and_outbox_in_order),
        cmocka_unit_test(an_item_waits_behind_those_that_wait_though_the_ring_has_room),
        cmocka_unit_test(an_item_without_memory_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
