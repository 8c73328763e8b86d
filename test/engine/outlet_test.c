#include "engine/outlet.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

enum { CAPACITY = 2048 };

enum {
    WEIGHT = GX_BATCH_RING_LEAST,
    HALF = CAPACITY / 2
}; /* of a batch: the least, and one that shares the ring with one other */

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_batch_ring *ring;
    gx_outlet outlet;
    gx_batch_consumer in;
    gx_ring *item_ring;
    gx_ack_outlet acks;
    gx_ring_consumer items;
} fixture;

static void setup(fixture *f) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    f->ring = gx_batch_ring_new(&f->heap, CAPACITY);
    f->item_ring = gx_ring_new(&f->heap, CAPACITY);
    assert_true(f->ring && f->item_ring);
    f->outlet.ring.ring = f->in.ring = f->ring;
    f->acks.ring = gx_ring_produce(f->item_ring);
    f->items = gx_ring_consume(f->item_ring);
}

static void teardown(fixture *f) {
    assert_int_equal(f->outlet.outbox.count, 0);
    assert_int_equal(f->outlet.outbox.weight, 0);
    gx_ack_outlet_fini(&f->acks, &f->heap);
    gx_batch_ring_free(&f->heap, f->ring);
    gx_ring_free(&f->heap, f->item_ring);
    assert_int_equal(f->counting.blocks, 0);
}

/* --- Batches --- */

/* Sends a batch that weighs so much. */
static void send(fixture *f, gx_batch *batch, uint32_t weight) {
    *batch = (gx_batch){ .room = weight - (uint32_t)sizeof *batch };
    gx_outlet_send(&f->outlet, batch, NULL); /* none is slight */
}

/* Reads all that was published; returns how many, which must be those from `from` on. */
static uint32_t receive(fixture *f, const gx_batch *from) {
    uint32_t count = 0;
    gx_batch_ring_publish(&f->outlet.ring);
    gx_batch_ring_refresh(&f->in);
    for (const gx_batch *batch; (batch = gx_batch_ring_peek(&f->in)) != NULL; count++) {
        assert_ptr_equal(batch, from + count);
        gx_batch_ring_advance(&f->in);
    }
    gx_batch_ring_release(&f->in);
    return count;
}

static void batches_go_to_the_ring_while_it_has_room(void **state) {
    (void)state;
    gx_batch batches[CAPACITY / WEIGHT];
    fixture f;
    setup(&f);
    size_t calls = f.counting.calls;
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_false(gx_outlet_may_flush(&f.outlet));
    assert_int_equal(gx_outlet_flush(&f.outlet, NULL), 0);
    for (uint32_t i = 0; i < CAPACITY / WEIGHT; i++) send(&f, &batches[i], WEIGHT);
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_int_equal(f.outlet.sent, CAPACITY / WEIGHT);
    assert_int_equal(receive(&f, batches), CAPACITY / WEIGHT);
    assert_int_equal(f.counting.calls, calls);
    teardown(&f);
}

static void what_finds_no_room_waits_in_the_outbox_and_later_batches_behind_it(void **state) {
    (void)state;
    gx_batch batches[6];
    fixture f;
    setup(&f);
    send(&f, &batches[0], HALF);
    send(&f, &batches[1], HALF - WEIGHT);
    send(&f, &batches[2], 2 * WEIGHT);
    assert_false(gx_outlet_is_clear(&f.outlet));
    send(&f, &batches[3], WEIGHT); /* would fit the ring, but not before the other */
    send(&f, &batches[4], WEIGHT);
    assert_int_equal(f.outlet.outbox.count, 3);
    assert_int_equal(f.outlet.outbox.weight, 4 * WEIGHT);
    assert_int_equal(f.outlet.sent, 2);
    assert_false(gx_outlet_may_flush(&f.outlet));
    assert_int_equal(gx_outlet_flush(&f.outlet, NULL), 0);
    assert_int_equal(receive(&f, batches), 2);
    assert_true(gx_outlet_may_flush(&f.outlet));
    assert_int_equal(gx_outlet_flush(&f.outlet, NULL), 3);
    assert_true(gx_outlet_is_clear(&f.outlet));
    assert_int_equal(f.outlet.sent, 5);
    send(&f, &batches[5], WEIGHT);
    assert_int_equal(receive(&f, batches + 2), 4);
    teardown(&f);
}

static void a_batch_that_weighs_more_than_the_ring_goes_alone(void **state) {
    (void)state;
    gx_batch batches[3];
    fixture f;
    setup(&f);
    send(&f, &batches[0], WEIGHT);
    send(&f, &batches[1], 4 * CAPACITY);
    send(&f, &batches[2], WEIGHT);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(f.outlet.outbox.count, 2 - i);
        assert_false(gx_outlet_may_flush(&f.outlet));
        assert_int_equal(receive(&f, batches + i), 1);
        assert_int_equal(gx_outlet_flush(&f.outlet, NULL), i < 2);
    }
    teardown(&f);
}

static void a_flush_moves_as_much_as_fits_and_keeps_the_rest_in_order(void **state) {
    (void)state;
    static gx_batch batches[2000 * 20];
    fixture f;
    setup(&f);
    gx_random random = gx_random_new(1, 1);
    uint32_t sent = 0, received = 0;
    for (int round = 0; round < 2000; round++) {
        for (uint32_t n = gx_random_below(&random, 20); n > 0; n--)
            send(&f, &batches[sent++], WEIGHT + 8 * gx_random_below(&random, HALF / 8));
        if (gx_random_below(&random, 2)) received += receive(&f, batches + received);
        gx_outlet_flush(&f.outlet, NULL);
        while (f.outlet.outbox.count > 500) {
            received += receive(&f, batches + received);
            gx_outlet_flush(&f.outlet, NULL);
        }
        assert_null(f.outlet.outbox.count ? NULL : f.outlet.outbox.head);
        assert_int_equal(f.outlet.sent + f.outlet.outbox.count, sent);
    }
    while (received < sent) {
        received += receive(&f, batches + received);
        gx_outlet_flush(&f.outlet, NULL);
    }
    assert_int_equal(f.outlet.sent, sent);
    teardown(&f);
}

static void a_slight_batch_goes_back_to_its_pool_at_once_or_when_it_leaves_the_outbox(void **state) {
    (void)state;
    fixture f;
    gx_batches pool;
    gx_batch heavy;
    setup(&f);
    gx_batches_init(&pool, &f.heap, 0);
    for (int waits = 0; waits < 2; waits++) {
        if (waits) send(&f, &heavy, CAPACITY);
        gx_batch *batch = gx_batch_take(&pool, false, 40);
        batch->used = 40;
        gx_outlet_send(&f.outlet, batch, &pool);
        assert_int_equal(gx_load_relaxed(&pool.used), waits ? GX_BATCH_SMALL : 0);
        assert_int_equal(f.outlet.outbox.count, waits);
        gx_batch_ring_publish(&f.outlet.ring);
        gx_batch_ring_refresh(&f.in);
        gx_batch_ring_advance(&f.in);
        gx_batch_ring_release(&f.in);
        assert_int_equal(gx_outlet_flush(&f.outlet, &pool), waits);
        assert_int_equal(gx_load_relaxed(&pool.used), 0);
    }
    assert_int_equal(f.outlet.sent, 3);
    gx_batches_fini(&pool);
    teardown(&f);
}

/* --- Items --- */

static bool send_item(fixture *f, uint64_t number) {
    return gx_ack_outlet_send(&f->acks, &f->heap, number, ~number);
}

static uint64_t receive_items(fixture *f, uint64_t from) {
    uint64_t number = from;
    gx_ring_publish(&f->acks.ring);
    gx_ring_refresh(&f->items);
    const uint64_t *item;
    while ((item = gx_ring_next(&f->items)) != NULL) {
        assert_int_equal(item[0], number);
        assert_int_equal(item[1], ~number);
        number++;
    }
    gx_ring_release(&f->items);
    return number - from;
}

enum { FIT = CAPACITY / GX_RING_ITEM };

static void items_go_through_ring_and_outbox_in_order(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    enum { ITEMS = 3000 };
    for (uint64_t i = 0; i < ITEMS; i++) {
        assert_true(send_item(&f, i));
        assert_int_equal(gx_ack_outlet_waiting(&f.acks), i < FIT ? 0 : i - FIT + 1);
    }
    assert_int_equal(f.acks.sent, FIT);
    assert_int_equal(gx_ack_outlet_flush(&f.acks), 0);
    uint64_t received = 0;
    while (received < ITEMS) {
        received += receive_items(&f, received);
        assert_int_equal(gx_ack_outlet_flush(&f.acks), ITEMS - received < FIT ? ITEMS - received : FIT);
    }
    assert_int_equal(f.acks.sent, ITEMS);
    assert_int_equal(gx_ack_outlet_waiting(&f.acks), 0);
    teardown(&f);
}

static void an_item_waits_behind_those_that_wait_though_the_ring_has_room(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t i = 0;
    for (; i < FIT + 2; i++) assert_true(send_item(&f, i));
    uint64_t received = receive_items(&f, 0);
    assert_int_equal(received, FIT);
    assert_true(gx_ring_has_room(&f.acks.ring));
    assert_false(gx_ack_outlet_put(&f.acks, i, ~i));
    assert_true(send_item(&f, i));
    assert_int_equal(gx_ack_outlet_waiting(&f.acks), 3);
    assert_int_equal(gx_ack_outlet_flush(&f.acks), 3);
    assert_int_equal(receive_items(&f, received), 3);
    teardown(&f);
}

static void an_item_without_memory_is_refused_and_changes_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t i = 0;
    for (; i < FIT; i++) assert_true(send_item(&f, i));
    f.counting.fail_at = f.counting.calls + 1;
    assert_false(gx_ack_outlet_send(&f.acks, &f.heap, 0, 0));
    assert_int_equal(gx_ack_outlet_waiting(&f.acks), 0);
    assert_true(send_item(&f, i));
    assert_int_equal(receive_items(&f, 0), i);
    assert_int_equal(gx_ack_outlet_flush(&f.acks), 1);
    assert_int_equal(receive_items(&f, i), 1);
    teardown(&f);
}

static void what_was_made_sure_of_can_be_sent_when_memory_is_out(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t sent = 0;
    for (; sent < FIT; sent++) assert_true(send_item(&f, sent));
    assert_true(gx_ack_outlet_ensure(&f.acks, &f.heap, 100));
    f.counting.fail_at = f.counting.calls + 1;
    f.counting.fail_after = true;
    for (; sent < FIT + 100; sent++) assert_true(send_item(&f, sent));
    for (uint64_t received = 0; received < sent; gx_ack_outlet_flush(&f.acks)) received += receive_items(&f, received);
    teardown(&f);
}

/* A reader that is always a little behind: what waits is never more than a few items, and neither is its room. */
static void an_outbox_that_is_never_empty_uses_its_room_again(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t sent = 0, received = 0;
    for (; sent < FIT + 10; sent++) assert_true(send_item(&f, sent));
    for (int round = 0; round < 1000; round++) {
        received += receive_items(&f, received);
        assert_int_equal(gx_ack_outlet_flush(&f.acks), sent - received < FIT ? sent - received : FIT);
        while (sent - received < FIT + 10) assert_true(send_item(&f, sent++));
        assert_int_equal(gx_ack_outlet_waiting(&f.acks), 10);
    }
    assert_in_range(f.acks.outbox.capacity, 10, 2 * FIT);
    while (received < sent) {
        received += receive_items(&f, received);
        gx_ack_outlet_flush(&f.acks);
    }
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_go_to_the_ring_while_it_has_room),
        cmocka_unit_test(what_finds_no_room_waits_in_the_outbox_and_later_batches_behind_it),
        cmocka_unit_test(a_batch_that_weighs_more_than_the_ring_goes_alone),
        cmocka_unit_test(a_flush_moves_as_much_as_fits_and_keeps_the_rest_in_order),
        cmocka_unit_test(a_slight_batch_goes_back_to_its_pool_at_once_or_when_it_leaves_the_outbox),
        cmocka_unit_test(items_go_through_ring_and_outbox_in_order),
        cmocka_unit_test(an_item_waits_behind_those_that_wait_though_the_ring_has_room),
        cmocka_unit_test(an_item_without_memory_is_refused_and_changes_nothing),
        cmocka_unit_test(what_was_made_sure_of_can_be_sent_when_memory_is_out),
        cmocka_unit_test(an_outbox_that_is_never_empty_uses_its_room_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
