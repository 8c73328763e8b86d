#include "ds/window_queue.h"

#include "window_heap.h"

/* A pane holds a stretch of whole numbers. Two are put together only where the one ends and the other begins: a combination
 * that is out of order, or comes twice, is found at once. */
typedef struct pane {
    int64_t start;
    int64_t first, behind; /* equal: nothing */
} pane;

static uint64_t combinations;

static void append(const void *user, void *to, const void *from) {
    (void)user;
    pane *t = to;
    const pane *f = from;
    combinations++;
    if (f->first == f->behind) return;
    if (t->first == t->behind)
        t->first = f->first;
    else
        assert_int_equal(t->behind, f->first);
    t->behind = f->behind;
}

static void drop(const void *user, void *at) {
    (void)user;
    pane *p = at;
    p->first = p->behind = 0;
}

static const gx_window_combine how = { append, drop, NULL, sizeof(pane) };

static void make(gx_window_queue *queue, int64_t number) {
    pane *made = gx_window_queue_make(queue, &how, &heap, number);
    assert_non_null(made);
    made->first = number;
    made->behind = number + 1;
}

static void expect(const gx_window_queue *queue, int64_t first, int64_t behind) {
    pane sum = { 0, 0, 0 };
    const char *flaw = gx_window_queue_flaw(queue, &how);
    if (flaw) fail_msg("%s", flaw);
    gx_window_queue_read(queue, &how, &sum);
    assert_int_equal(gx_window_queue_closed(queue), behind - first);
    if (first == behind) assert_true(sum.first == sum.behind);
    if (first != behind) assert_true(sum.first == first && sum.behind == behind);
}

static void an_empty_one_holds_nothing(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    assert_int_equal(gx_window_queue_count(&queue), 0);
    assert_null(gx_window_queue_find(&queue, &how, 1));
    expect(&queue, 0, 0);
    gx_window_queue_fini(&queue, &how, &heap);
}

static void one_comes_and_goes(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    for (int64_t n = 1; n < 100; n++) {
        make(&queue, n);
        gx_window_queue_close(&queue, &how);
        expect(&queue, n, n + 1);
        gx_window_queue_drop(&queue, &how, &heap);
        expect(&queue, 0, 0);
    }
    gx_window_queue_fini(&queue, &how, &heap);
}

/* Every sequence of so many comings and goings. */
static void what_all_hold_is_known_whatever_comes_and_goes(void **state) {
    (void)state;
    enum { STEPS = 13 };
    for (uint32_t ways = 0; ways < 1u << STEPS; ways++) {
        gx_window_queue queue = { 0 };
        int64_t first = 1, behind = 1;
        for (int s = 0; s < STEPS; s++) {
            if (ways >> s & 1 || first == behind) {
                make(&queue, behind++);
                gx_window_queue_close(&queue, &how);
            } else {
                gx_window_queue_drop(&queue, &how, &heap);
                first++;
            }
            expect(&queue, first, behind);
        }
        gx_window_queue_fini(&queue, &how, &heap);
    }
}

static void no_operation_combines_more_than_three_times(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    gx_random random = gx_random_new(3, 0);
    int64_t first = 1, behind = 1;
    for (int round = 0; round < 200000; round++) {
        bool grows = round % 20000 < 12000;
        uint64_t before = combinations;
        if (first == behind || gx_random_below(&random, 10) < (grows ? 7 : 3)) {
            make(&queue, behind++);
            gx_window_queue_close(&queue, &how);
        } else {
            gx_window_queue_drop(&queue, &how, &heap);
            first++;
        }
        assert_true(combinations - before <= 3);
        if (round % 1000 == 0) expect(&queue, first, behind);
    }
    gx_window_queue_fini(&queue, &how, &heap);
}

static void open_panes_are_made_in_any_order_and_found(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    static const int64_t order[] = { 5, 9, 7, 6, 8, 10, 4 };
    for (size_t i = 0; i < 7; i++) make(&queue, order[i]);
    for (int64_t n = 4; n <= 10; n++) {
        const pane *found = gx_window_queue_find(&queue, &how, n);
        assert_non_null(found);
        assert_int_equal(found->first, n);
    }
    assert_null(gx_window_queue_find(&queue, &how, 3));
    assert_null(gx_window_queue_find(&queue, &how, 11));
    expect(&queue, 0, 0); /* nothing is closed */
    for (int64_t n = 4; n <= 6; n++) gx_window_queue_close(&queue, &how);
    expect(&queue, 4, 7);
    assert_null(gx_window_queue_find(&queue, &how, 5)); /* closed */
    assert_int_equal(gx_window_queue_start(&queue, &how, 3), 7);
    for (int64_t n = 7; n <= 10; n++) gx_window_queue_close(&queue, &how);
    expect(&queue, 4, 11);
    gx_window_queue_fini(&queue, &how, &heap);
}

static void one_that_was_made_in_vain_goes_again(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    for (int64_t n = 1; n <= 5; n++) make(&queue, n);
    gx_window_queue_close(&queue, &how);
    gx_window_queue_unmake(&queue, &how, 3);
    gx_window_queue_unmake(&queue, &how, 5);
    assert_int_equal(gx_window_queue_count(&queue), 3);
    assert_null(gx_window_queue_find(&queue, &how, 3));
    assert_null(gx_window_queue_find(&queue, &how, 5));
    assert_non_null(gx_window_queue_find(&queue, &how, 4));
    expect(&queue, 1, 2);
    gx_window_queue_fini(&queue, &how, &heap);
}

static void memory_goes_back_when_panes_have_gone(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    for (int64_t n = 1; n <= 1000; n++) make(&queue, n);
    for (int64_t n = 1; n <= 1000; n++) gx_window_queue_close(&queue, &how);
    size_t most = gx_window_queue_bytes(&queue, &how);
    assert_int_equal(counting.bytes, most);
    for (int64_t n = 1; n < 1000; n++) {
        gx_window_queue_drop(&queue, &how, &heap);
        expect(&queue, n + 1, 1001);
    }
    assert_true(gx_window_queue_bytes(&queue, &how) < most / 50);
    gx_window_queue_fini(&queue, &how, &heap);
}

static void numbers_of_panes_may_wrap_around(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    queue.first = queue.left = queue.right = queue.accumulated = queue.back = queue.closed = queue.end = UINT32_MAX -
                                                                                                         20;
    for (int64_t n = 1; n <= 60; n++) {
        make(&queue, n);
        gx_window_queue_close(&queue, &how);
        if (n > 10) gx_window_queue_drop(&queue, &how, &heap);
        expect(&queue, n > 10 ? n - 9 : 1, n + 1);
    }
    gx_window_queue_fini(&queue, &how, &heap);
}

static void without_memory_no_pane_is_made_and_nothing_changes(void **state) {
    (void)state;
    gx_window_queue queue = { 0 };
    fail_at(1);
    assert_null(gx_window_queue_make(&queue, &how, &heap, 1));
    for (int64_t n = 1; n <= 32; n++) {
        make(&queue, n);
        if (n <= 20) gx_window_queue_close(&queue, &how);
    }
    fail_at(1);
    assert_null(gx_window_queue_make(&queue, &how, &heap, 33));
    expect(&queue, 1, 21);
    fail_at(0);
    make(&queue, 33);
    fail_at(1);
    for (int64_t n = 1; n <= 20; n++) gx_window_queue_drop(&queue, &how, &heap); /* too much memory is no error */
    fail_at(0);
    assert_int_equal(gx_window_queue_count(&queue), 13);
    gx_window_queue_fini(&queue, &how, &heap);
}

static void where_nothing_is_combined_panes_are_kept_all_the_same(void **state) {
    (void)state;
    const gx_window_combine plain = { NULL, NULL, NULL, sizeof(pane) };
    gx_window_queue queue = { 0 };
    for (int64_t n = 1; n <= 50; n++) {
        assert_non_null(gx_window_queue_make(&queue, &plain, &heap, n));
        gx_window_queue_close(&queue, &plain);
        if (n > 5) gx_window_queue_drop(&queue, &plain, &heap);
        assert_null(gx_window_queue_flaw(&queue, &plain));
    }
    assert_int_equal(gx_window_queue_closed(&queue), 5);
    assert_int_equal(gx_window_queue_start(&queue, &plain, 0), 46);
    gx_window_queue_fini(&queue, &plain, &heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_one_holds_nothing),
        cmocka_unit_test(one_comes_and_goes),
        cmocka_unit_test(what_all_hold_is_known_whatever_comes_and_goes),
        cmocka_unit_test(no_operation_combines_more_than_three_times),
        cmocka_unit_test(open_panes_are_made_in_any_order_and_found),
        cmocka_unit_test(one_that_was_made_in_vain_goes_again),
        cmocka_unit_test(memory_goes_back_when_panes_have_gone),
        cmocka_unit_test(numbers_of_panes_may_wrap_around),
        cmocka_unit_test(without_memory_no_pane_is_made_and_nothing_changes),
        cmocka_unit_test(where_nothing_is_combined_panes_are_kept_all_the_same),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
