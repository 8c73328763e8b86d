#include "ds/window_agenda.h"

#include "window_heap.h"

enum { ITEMS = 40 };

static gx_agenda_item items[ITEMS];

static void put(gx_agenda *agenda, int item, int64_t due) {
    assert_true(gx_agenda_reserve(agenda));
    gx_agenda_put(agenda, &items[item], due);
    assert_null(gx_agenda_flaw(agenda));
}

/* Takes the first, which is this one. */
static void expect_first(gx_agenda *agenda, int item) {
    gx_agenda_item *first = gx_agenda_first(agenda);
    assert_ptr_equal(first, &items[item]);
    gx_agenda_take(agenda, first);
    assert_null(gx_agenda_flaw(agenda));
}

static void an_empty_one_has_nothing_due(void **state) {
    (void)state;
    gx_agenda agenda = { .heap = &heap };
    assert_null(gx_agenda_first(&agenda));
    gx_agenda_fini(&agenda);
}

static void the_earliest_comes_first_and_of_one_time_who_came_first(void **state) {
    (void)state;
    gx_agenda agenda = { .heap = &heap };
    put(&agenda, 0, 20);
    put(&agenda, 1, 10);
    put(&agenda, 2, 20);
    put(&agenda, 3, 15);
    put(&agenda, 4, 10);
    expect_first(&agenda, 1);
    expect_first(&agenda, 4);
    expect_first(&agenda, 3);
    expect_first(&agenda, 0);
    expect_first(&agenda, 2);
    assert_null(gx_agenda_first(&agenda));
    gx_agenda_fini(&agenda);
}

static void one_may_be_taken_from_anywhere(void **state) {
    (void)state;
    gx_agenda agenda = { .heap = &heap };
    for (int i = 0; i < 9; i++) put(&agenda, i, i / 3);
    gx_agenda_take(&agenda, &items[4]);
    gx_agenda_take(&agenda, &items[8]);
    gx_agenda_take(&agenda, &items[3]);
    gx_agenda_take(&agenda, &items[5]);
    assert_null(gx_agenda_flaw(&agenda));
    for (int i = 0; i < 3; i++) expect_first(&agenda, i);
    expect_first(&agenda, 6);
    expect_first(&agenda, 7);
    assert_null(gx_agenda_first(&agenda));
    gx_agenda_fini(&agenda);
}

static void a_walk_goes_over_all_and_changes_nothing(void **state) {
    (void)state;
    gx_agenda agenda = { .heap = &heap };
    for (int i = 0; i < 12; i++) put(&agenda, i, 5 - i % 3);
    for (int i = 0; i < 12; i += 3) gx_agenda_take(&agenda, &items[i + 1]); /* a time of which all have gone */
    size_t count = 0;
    int64_t before = INT64_MIN;
    for (const gx_agenda_item *item = gx_agenda_first(&agenda); item; item = gx_agenda_next(&agenda, item), count++) {
        assert_true(item->due >= before);
        before = item->due;
    }
    assert_int_equal(count, 8);
    assert_ptr_equal(gx_agenda_after(&agenda, 3), &items[0]); /* those of 4 have gone */
    assert_ptr_equal(gx_agenda_after(&agenda, INT64_MIN), &items[2]);
    assert_null(gx_agenda_after(&agenda, 5));
    assert_null(gx_agenda_after(&agenda, INT64_MAX));
    gx_agenda_fini(&agenda);
}

/* Against the plainest thing that does the same. */
static void a_random_one_equals_a_search_of_all(void **state) {
    (void)state;
    gx_agenda agenda = { .heap = &heap };
    uint64_t order[ITEMS] = { 0 }, clock = 0; /* when it was put there; 0: it is not */
    gx_random random = gx_random_new(7, 0);
    for (int round = 0; round < 20000; round++) {
        int i = (int)gx_random_below(&random, ITEMS), best = -1;
        if (order[i]) {
            gx_agenda_take(&agenda, &items[i]);
            order[i] = 0;
        } else {
            assert_true(gx_agenda_reserve(&agenda));
            gx_agenda_put(&agenda, &items[i], round / 100 + (int64_t)gx_random_below(&random, 50));
            order[i] = ++clock;
        }
        for (int k = 0; k < ITEMS; k++) {
            if (!order[k]) continue;
            if (best < 0 || items[k].due < items[best].due ||
                (items[k].due == items[best].due && order[k] < order[best]))
                best = k;
        }
        assert_ptr_equal(gx_agenda_first(&agenda), best < 0 ? NULL : &items[best]);
        if (round % 100 == 0) assert_null(gx_agenda_flaw(&agenda));
    }
    gx_agenda_fini(&agenda);
}

static void without_memory_there_is_no_room_and_nothing_changes(void **state) {
    (void)state;
    gx_agenda agenda = { .heap = &heap };
    fail_at(1);
    assert_false(gx_agenda_reserve(&agenda));
    for (int i = 0; i < ITEMS; i++) put(&agenda, i, i);
    while (agenda.from + agenda.count < agenda.capacity) {
        assert_true(gx_agenda_reserve(&agenda));
        gx_agenda_take(&agenda, &items[0]);
        gx_agenda_put(&agenda, &items[0], 1000 + (int64_t)agenda.count);
    }
    fail_at(1);
    assert_false(gx_agenda_reserve(&agenda));
    assert_null(gx_agenda_flaw(&agenda));
    expect_first(&agenda, 1);
    gx_agenda_fini(&agenda);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_one_has_nothing_due),
        cmocka_unit_test(the_earliest_comes_first_and_of_one_time_who_came_first),
        cmocka_unit_test(one_may_be_taken_from_anywhere),
        cmocka_unit_test(a_walk_goes_over_all_and_changes_nothing),
        cmocka_unit_test(a_random_one_equals_a_search_of_all),
        cmocka_unit_test(without_memory_there_is_no_room_and_nothing_changes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
