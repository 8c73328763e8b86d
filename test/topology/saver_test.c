#include "topology/saver.h"

#include "base/hash.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"
#include "tuple/hash.h"

static counting_allocator counting;
static gale_allocator allocator;
static gx_heap heap;
static gx_buf records;
static gx_pledges pledges;
static gale_saver saver;
static gale_saved saved;

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ .fail_at = 0 };
    allocator = counting_handle(&counting);
    gx_heap_init(&heap, &allocator);
    records = (gx_buf)GX_BUF_INIT(&heap);
    pledges = (gx_pledges){ .heap = &heap };
    saver = (gale_saver){ .records = &records, .pledges = &pledges, .component = "sink", .checkpoint = 7 };
    saved = (gale_saved){ .heap = &heap, .checkpoint = 6, .part = 1, .parts = 3, .task_index = 2, .task_count = 5 };
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gx_saved_fini(&saved);
    gx_pledges_fini(&pledges);
    gx_buf_fini(&records);
    assert_int_equal(counting.blocks, 0);
    return 0;
}

static void save(const char *text, int64_t number) {
    const gale_value values[2] = { gale_string(text, strlen(text)), gale_i64(number) };
    assert_int_equal(gale_save(&saver, values, 2), GALE_OK);
}

static void open_saved(void) {
    saved.records = (gale_str){ records.data, records.size };
    assert_true(gx_records_are_whole(saved.records));
}

static void assert_record(const char *text, int64_t number) {
    const gale_value *values;
    size_t count;
    assert_int_equal(gale_saved_next(&saved, &values, &count), 1);
    assert_int_equal(count, 2);
    assert_int_equal(values[0].size, strlen(text));
    assert_memory_equal(values[0].as.string, text, values[0].size);
    assert_int_equal(values[1].as.i64, number);
}

static void assert_no_more(void) {
    const gale_value *values;
    size_t count;
    assert_int_equal(gale_saved_next(&saved, &values, &count), 0);
}

/* --- Records --- */

static void without_any_there_is_none(void **state) {
    (void)state;
    open_saved();
    assert_no_more();
}

static void records_come_back_in_the_order_of_saving(void **state) {
    (void)state;
    save("a", 1);
    save("a text that is longer than a slot", -1);
    assert_int_equal(gale_save(&saver, NULL, 0), GALE_OK);
    save("", INT64_MIN);
    open_saved();
    assert_record("a", 1);
    assert_record("a text that is longer than a slot", -1);
    const gale_value *values;
    size_t count = 9;
    assert_int_equal(gale_saved_next(&saved, &values, &count), 1);
    assert_int_equal(count, 0);
    assert_record("", INT64_MIN);
    assert_no_more();
    assert_no_more();
}

static void numbers_are_told(void **state) {
    (void)state;
    uint32_t parts;
    assert_int_equal(gale_save_checkpoint(&saver), 7);
    assert_int_equal(gale_saved_checkpoint(&saved), 6);
    assert_int_equal(gale_saved_part(&saved, &parts), 1);
    assert_int_equal(parts, 3);
    assert_false(gale_saved_is_end(&saved));
    saved.complete = true;
    assert_true(gale_saved_is_end(&saved));
}

static void what_is_cut_or_of_another_size_is_noticed(void **state) {
    (void)state;
    save("word", 1);
    save("word", 2);
    for (size_t size = 1; size < records.size; size++) {
        bool edge = size == records.size / 2;
        assert_int_equal(gx_records_are_whole((gale_str){ records.data, size }), edge);
    }
    for (size_t at = 0; at < 8; at++) {
        records.data[at] ^= 0x40;
        assert_false(gx_records_are_whole((gale_str){ records.data, records.size }));
        records.data[at] ^= 0x40;
    }
    assert_true(gx_records_are_whole((gale_str){ records.data, records.size }));
}

static void the_first_error_of_a_save_is_kept(void **state) {
    (void)state;
    gale_value wrong = gale_i64(1);
    wrong.type = 99;
    assert_int_equal(gale_save(&saver, &wrong, 1), GALE_INVALID);
    save("a", 1);
    assert_int_equal(saver.failed, GALE_INVALID);
}

static void a_save_that_finds_no_memory_leaves_whole_records(void **state) {
    (void)state;
    save("a", 1);
    gale_value large[64];
    for (size_t i = 0; i < 64; i++) large[i] = gale_string("a text of some length, so that it takes room", 43);
    counting.fail_at = counting.calls + 1;
    assert_int_equal(gale_save(&saver, large, 64), GALE_NO_MEMORY);
    assert_int_equal(saver.failed, GALE_NO_MEMORY);
    saved.records = (gale_str){ records.data, records.size };
    assert_true(gx_records_are_whole(saved.records));
    assert_record("a", 1);
    assert_no_more();
}

static void misuse_is_refused(void **state) {
    (void)state;
    const gale_value *values;
    size_t count;
    gale_value one = gale_i64(1);
    assert_int_equal(gale_save(NULL, &one, 1), GALE_INVALID);
    assert_int_equal(gale_save(&saver, NULL, 1), GALE_INVALID);
    assert_int_equal(gale_saved_next(NULL, &values, &count), GALE_INVALID);
    assert_int_equal(gale_saved_next(&saved, NULL, &count), GALE_INVALID);
    assert_int_equal(gale_save_checkpoint(NULL), 0);
    assert_int_equal(gale_saved_checkpoint(NULL), 0);
    assert_int_equal(gale_saved_part(NULL, NULL), 0);
    gale_state *keyed;
    assert_int_equal(gale_state_open(NULL, NULL, &keyed), GALE_INVALID);
    assert_int_equal(gale_state_put(NULL, &one, &one), GALE_INVALID);
}

static void whoever_keeps_no_state_says_so(void **state) {
    (void)state;
    gale_collector_ops old = { .size = offsetof(gale_collector_ops, state) };
    gale_collector out = { &old };
    gale_state *keyed;
    assert_int_equal(gale_state_open(&out, NULL, &keyed), GALE_UNSUPPORTED);
}

/* --- Whose a key is --- */

static void a_key_is_its_own_where_fields_grouping_brings_it(void **state) {
    (void)state;
    saved.by_key = true;
    uint32_t own = 0;
    for (int64_t i = 0; i < 1000; i++) {
        gale_value key[2] = { gale_i64(i), gale_string("x", 1) };
        const uint16_t both[2] = { 0, 1 };
        uint32_t owner = gx_hash_below(gx_values_hash(key, both, 2), 5);
        assert_int_equal(gx_saved_owner(key, 2, 5), owner);
        assert_int_equal(gale_saved_is_own(&saved, key, 2), owner == 2);
        own += owner == 2;
    }
    assert_in_range(own, 150, 250);
}

static void where_no_key_leads_to_a_task_everything_is_its_own(void **state) {
    (void)state;
    gale_value key = gale_i64(1);
    assert_true(gale_saved_is_own(&saved, &key, 1));
    assert_true(gale_saved_is_own(NULL, &key, 1));
}

/* --- Pledges --- */

typedef struct promise {
    char log[8];
    int prepared, committed; /* what they return */
} promise;

static void note(promise *p, const char *what) {
    strncat(p->log, what, sizeof p->log - strlen(p->log) - 1);
}

static int prepare(void *pledge, gale_error *error) {
    promise *p = pledge;
    (void)error;
    note(p, "p");
    return p->prepared;
}

static int commit(void *pledge, gale_error *error) {
    promise *p = pledge;
    note(p, "c");
    return p->committed < 0 ? gale_error_set(error, p->committed, "the broker is away") : 0;
}

static void drop(void *pledge) {
    note(pledge, "d");
}

static const gale_pledge_ops ops = { .size = sizeof ops, .prepare = prepare, .commit = commit, .drop = drop };

static void pledges_are_prepared_committed_and_dropped_in_their_order(void **state) {
    (void)state;
    promise a = { .prepared = 0 }, b = { .prepared = 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_save_pledge(&saver, &ops, &a), GALE_OK);
    assert_int_equal(gale_save_pledge(&saver, &ops, &b), GALE_OK);
    assert_int_equal(gx_pledges_prepare(&pledges, &error), GALE_OK);
    assert_int_equal(gx_pledges_commit(&pledges, &error), GALE_OK);
    gx_pledges_drop(&pledges);
    assert_string_equal(a.log, "pcd");
    assert_string_equal(b.log, "pcd");
    assert_int_equal(pledges.count, 0);
}

static void the_first_that_fails_is_named_and_all_are_dropped(void **state) {
    (void)state;
    promise a = { .prepared = GALE_IO }, b = { .committed = GALE_CLOSED_PIPE };
    gale_error error = GALE_ERROR_INIT;
    gale_save_pledge(&saver, &ops, &a);
    gale_save_pledge(&saver, &ops, &b);
    assert_int_equal(gx_pledges_prepare(&pledges, &error), GALE_IO);
    assert_non_null(strstr(error.text, "'sink' could not prepare its part of a checkpoint"));
    assert_string_equal(b.log, "");
    error = (gale_error)GALE_ERROR_INIT;
    assert_int_equal(gx_pledges_commit(&pledges, &error), GALE_CLOSED_PIPE);
    assert_non_null(strstr(error.text, "the broker is away"));
    assert_non_null(strstr(error.text, "'sink' could not commit"));
    gx_pledges_drop(&pledges);
    assert_string_equal(a.log, "pcd");
    assert_string_equal(b.log, "cd");
}

static const gale_pledge_ops late_ops = {
    .size = sizeof late_ops, .prepare = prepare, .commit = commit, .drop = drop, .flags = GALE_PLEDGE_LATE
};

static void promise_late(const char *component, promise *p) {
    saver.component = component;
    assert_int_equal(gale_save_pledge(&saver, &late_ops, p), GALE_OK);
}

static void what_may_be_late_is_committed_apart_and_asked_again(void **state) {
    (void)state;
    promise now = { .prepared = 0 }, late = { .committed = GALE_AGAIN };
    gale_error error = GALE_ERROR_INIT;
    promise_late("database", &late);
    assert_int_equal(gale_save_pledge(&saver, &ops, &now), GALE_OK);
    assert_int_equal(gx_pledges_prepare(&pledges, &error), GALE_OK);
    assert_int_equal(gx_pledges_commit(&pledges, &error), GALE_OK);
    assert_true(gx_pledge_is_owed(&pledges.list[0]));
    assert_false(gx_pledge_is_owed(&pledges.list[1]));
    gx_pledges_drop_kept(&pledges);
    assert_string_equal(now.log, "pcd");
    assert_string_equal(late.log, "p");
    assert_int_equal(gx_pledges_keep(&pledges, &error), GALE_AGAIN);
    assert_non_null(strstr(error.text, "the broker is away"));
    assert_non_null(strstr(error.text, "'database' could not commit"));
    late.committed = 0;
    assert_int_equal(gx_pledges_keep(&pledges, &error), GALE_OK);
    assert_int_equal(gx_pledges_keep(&pledges, &error), GALE_OK); /* not again */
    assert_false(gx_pledge_is_owed(&pledges.list[0]));
    gx_pledges_drop_kept(&pledges);
    assert_string_equal(late.log, "pccd");
    assert_int_equal(pledges.count, 0);
}

static void behind_what_is_not_committed_yet_the_others_wait(void **state) {
    (void)state;
    promise first = { .prepared = 0 }, second = { .committed = GALE_AGAIN }, third = { .prepared = 0 };
    gale_error error = GALE_ERROR_INIT;
    promise_late("database", &first);
    promise_late("database", &second);
    promise_late("database", &third);
    assert_int_equal(gx_pledges_keep(&pledges, &error), GALE_AGAIN);
    assert_string_equal(first.log, "c");
    assert_string_equal(third.log, "");
    second.committed = 0;
    assert_int_equal(gx_pledges_keep(&pledges, &error), GALE_OK);
    gx_pledges_drop(&pledges);
    assert_string_equal(first.log, "cd");
    assert_string_equal(second.log, "ccd");
    assert_string_equal(third.log, "cd");
}

static void an_error_of_what_is_late_ends_it(void **state) {
    (void)state;
    promise wrong = { .committed = GALE_COMPONENT }, behind = { .prepared = 0 };
    gale_error error = GALE_ERROR_INIT;
    promise_late("database", &wrong);
    promise_late("database", &behind);
    assert_int_equal(gx_pledges_keep(&pledges, &error), GALE_COMPONENT);
    assert_non_null(strstr(error.text, "'database' could not commit"));
    gx_pledges_drop(&pledges);
    assert_string_equal(behind.log, "d");
}

/* As a component has it that was compiled with an earlier header. */
static void operations_without_flags_are_never_late(void **state) {
    (void)state;
    static const gale_pledge_ops short_ops = { .size = offsetof(gale_pledge_ops, flags),
                                               .commit = commit,
                                               .flags = GALE_PLEDGE_LATE };
    promise p = { .prepared = 0 };
    assert_int_equal(gale_save_pledge(&saver, &short_ops, &p), GALE_OK);
    assert_false(gx_pledge_is_owed(&pledges.list[0]));
    assert_int_equal(gx_pledges_commit(&pledges, NULL), GALE_OK);
    gx_pledges_drop(&pledges);
    assert_string_equal(p.log, "c");
}

static void a_pledge_that_cannot_be_kept_is_dropped_at_once(void **state) {
    (void)state;
    promise a = { .prepared = 0 };
    counting.fail_at = counting.calls + 1;
    assert_int_equal(gale_save_pledge(&saver, &ops, &a), GALE_NO_MEMORY);
    assert_int_equal(saver.failed, GALE_NO_MEMORY);
    assert_string_equal(a.log, "d");
    assert_int_equal(gale_save_pledge(NULL, &ops, &a), GALE_INVALID);
    assert_int_equal(gale_save_pledge(&saver, NULL, &a), GALE_INVALID);
    assert_string_equal(a.log, "dd");
    static const gale_pledge_ops nothing = { .size = sizeof nothing };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_save_pledge(&saver, &nothing, NULL), GALE_OK);
    assert_int_equal(gx_pledges_prepare(&pledges, &error), GALE_OK);
    assert_int_equal(gx_pledges_commit(&pledges, &error), GALE_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_any_there_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(records_come_back_in_the_order_of_saving, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_cut_or_of_another_size_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_error_of_a_save_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_save_that_finds_no_memory_leaves_whole_records, setup, teardown),
        cmocka_unit_test_setup_teardown(misuse_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(whoever_keeps_no_state_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_is_its_own_where_fields_grouping_brings_it, setup, teardown),
        cmocka_unit_test_setup_teardown(where_no_key_leads_to_a_task_everything_is_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(pledges_are_prepared_committed_and_dropped_in_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_that_fails_is_named_and_all_are_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(what_may_be_late_is_committed_apart_and_asked_again, setup, teardown),
        cmocka_unit_test_setup_teardown(behind_what_is_not_committed_yet_the_others_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(an_error_of_what_is_late_ends_it, setup, teardown),
        cmocka_unit_test_setup_teardown(operations_without_flags_are_never_late, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pledge_that_cannot_be_kept_is_dropped_at_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
