/* The ring between executors and who looks at their tuples. */
#include "serve/tap_ring.h"

#include "harness/cm.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static gx_tap_ring *new_ring(void) {
    static char *fields[] = { (char *)(uintptr_t) "word", (char *)(uintptr_t) "n" };
    static gx_output outputs[] = { { (char *)(uintptr_t) "default", fields, 2 },
                                   { (char *)(uintptr_t) "odd", fields, 1 } };
    static const gx_component built = { .outputs = outputs, .output_count = 2 };
    const gx_part part = { .name = "split", .built = &built, .stream_count = 2 };
    gx_tap_shape *shape = gx_tap_shape_new(&part, NULL);
    assert_non_null(shape);
    gx_tap_ring *ring = gx_tap_ring_new(shape);
    assert_non_null(ring);
    return ring;
}

static void free_ring(gx_tap_ring *ring) {
    gx_tap_ring_release(ring);
    gx_tap_ring_release(ring);
}

static void put(gx_tap_ring *ring, uint32_t task, int64_t number) {
    const gale_value values[] = { gale_text("sea"), gale_i64(number) };
    const gale_event event = { .size = sizeof event,
                               .when = number,
                               .component = "split",
                               .stream = "default",
                               .task = task,
                               .values = values,
                               .count = 2 };
    gx_tap_ring_put(ring, &event);
}

/* -1: there is none. */
static int64_t take(gx_tap_ring *ring) {
    gx_tap_tuple *tuple = gx_tap_ring_take(ring);
    if (!tuple) return -1;
    int64_t number = gale_body_value(gx_tap_tuple_body(tuple), 1).as.i64;
    free(tuple);
    return number;
}

static void an_empty_ring_has_nothing(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    assert_int_equal(take(ring), -1);
    assert_int_equal(gx_tap_ring_dropped(ring), 0);
    free_ring(ring);
}

static void one_comes_out_as_it_was_put(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    const gale_value values[] = { gale_text("sea") };
    const gale_event event = { sizeof event, 12, "split", "odd", 3, true, 77, values, 1 };
    gx_tap_ring_put(ring, &event);
    gx_tap_tuple *tuple = gx_tap_ring_take(ring);
    assert_int_equal(tuple->when, 12);
    assert_int_equal(tuple->task, 3);
    assert_string_equal(gx_tap_ring_shape(ring)->streams[tuple->stream].name, "odd");
    assert_true(tuple->tracked);
    assert_int_equal(tuple->message_id, 77);
    gale_value word = gale_body_value(gx_tap_tuple_body(tuple), 0);
    assert_memory_equal(word.as.string, "sea", 3);
    free(tuple);
    assert_int_equal(take(ring), -1);
    free_ring(ring);
}

static void a_full_ring_drops_the_newest_and_counts_them(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    for (int64_t i = 0; i < GX_TAP_RING_ROOM + 5; i++) put(ring, 1, i);
    assert_int_equal(gx_tap_ring_dropped(ring), 5);
    for (int64_t i = 0; i < GX_TAP_RING_ROOM; i++) assert_int_equal(take(ring), i);
    assert_int_equal(take(ring), -1);
    put(ring, 1, 7);
    assert_int_equal(take(ring), 7);
    assert_int_equal(gx_tap_ring_dropped(ring), 5);
    free_ring(ring);
}

static void it_wraps_many_times_without_mixing(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    for (int64_t i = 0; i < 5 * GX_TAP_RING_ROOM; i += 3) {
        for (int64_t k = 0; k < 3; k++) put(ring, 1, i + k);
        for (int64_t k = 0; k < 3; k++) assert_int_equal(take(ring), i + k);
    }
    assert_int_equal(gx_tap_ring_dropped(ring), 0);
    free_ring(ring);
}

static void put_text(gx_tap_ring *ring, const char *text, size_t size) {
    const gale_value values[] = { gale_string(text, size), gale_i64(0) };
    const gale_event event = { sizeof event, 0, "split", "default", 1, false, 0, values, 2 };
    gx_tap_ring_put(ring, &event);
}

static void a_tuple_that_is_too_large_is_dropped_and_the_next_is_not(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    char *text = calloc(1, GX_TAP_TUPLE_MAX + 1);
    put_text(ring, text, GX_TAP_TUPLE_MAX + 1);
    put(ring, 1, 9);
    assert_int_equal(gx_tap_ring_dropped(ring), 1);
    assert_int_equal(take(ring), 9);
    free(text);
    free_ring(ring);
}

static void all_together_take_no_more_than_their_bytes(void **state) {
    (void)state;
    enum { SIZE = GX_TAP_TUPLE_MAX / 2, MANY = 2 * GX_TAP_RING_BYTES / SIZE };
    gx_tap_ring *ring = new_ring();
    char *text = calloc(1, SIZE);
    for (int i = 0; i < MANY; i++) put_text(ring, text, SIZE);
    uint64_t dropped = gx_tap_ring_dropped(ring);
    assert_true(dropped > MANY / 2 && dropped < MANY);
    for (uint64_t i = dropped; i < MANY; i++) assert_int_equal(take(ring), 0);
    assert_int_equal(take(ring), -1);
    put_text(ring, text, SIZE);
    assert_int_equal(take(ring), 0);
    free(text);
    free_ring(ring);
}

static void a_stream_that_is_not_looked_at_is_dropped(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    const gale_event event = { sizeof event, 0, "split", "other", 1, false, 0, NULL, 0 };
    gx_tap_ring_put(ring, &event);
    assert_int_equal(take(ring), -1);
    assert_int_equal(gx_tap_ring_dropped(ring), 1);
    free_ring(ring);
}

static void what_was_never_taken_goes_with_the_ring(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    for (int64_t i = 0; i < 100; i++) put(ring, 1, i);
    free_ring(ring);
}

/* --- Two that write, one that reads ---------------------------------------------------------------------------------- */

enum { EACH = 20000 };

typedef struct writer {
    gx_tap_ring *ring;
    uint32_t task;
    gx_atomic32 *done;
} writer;

static void *write_all(void *user) {
    writer *w = user;
    for (int64_t i = 0; i < EACH; i++) put(w->ring, w->task, i);
    gx_add_release(w->done, 1);
    return NULL;
}

static void each_writer_s_tuples_come_in_its_order_and_none_is_lost_uncounted(void **state) {
    (void)state;
    gx_tap_ring *ring = new_ring();
    gx_atomic32 done = 0;
    writer writers[2] = { { ring, 0, &done }, { ring, 1, &done } };
    pthread_t threads[2];
    int64_t last[2] = { -1, -1 };
    uint64_t taken = 0;
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
    for (bool over = false, empty = false; !over || !empty;) {
        over = gx_load_acquire(&done) == 2;
        gx_tap_tuple *tuple = gx_tap_ring_take(ring);
        empty = !tuple;
        if (!tuple) {
            sched_yield();
            continue;
        }
        assert_true(tuple->when > last[tuple->task]);
        assert_int_equal(gale_body_value(gx_tap_tuple_body(tuple), 1).as.i64, tuple->when);
        last[tuple->task] = tuple->when;
        taken++;
        free(tuple);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_int_equal(taken + gx_tap_ring_dropped(ring), 2 * EACH);
    free_ring(ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_ring_has_nothing),
        cmocka_unit_test(one_comes_out_as_it_was_put),
        cmocka_unit_test(a_full_ring_drops_the_newest_and_counts_them),
        cmocka_unit_test(it_wraps_many_times_without_mixing),
        cmocka_unit_test(a_tuple_that_is_too_large_is_dropped_and_the_next_is_not),
        cmocka_unit_test(all_together_take_no_more_than_their_bytes),
        cmocka_unit_test(a_stream_that_is_not_looked_at_is_dropped),
        cmocka_unit_test(what_was_never_taken_goes_with_the_ring),
        cmocka_unit_test(each_writer_s_tuples_come_in_its_order_and_none_is_lost_uncounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
