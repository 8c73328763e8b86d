#include "connect/spool/rig.h"

/* --- In and out ---------------------------------------------------------------------------------------------------- */

static void nothing_comes_from_nothing(void **state) {
    (void)state;
    rig r;
    begin_open(&r);
    assert_int_equal(read_from(&r, 1), 0);
    reopen(&r);
    assert_int_equal(read_from(&r, 1), 0);
    assert_string_equal(told(&r), "");
    end(&r);
}

static void a_record_comes_when_it_is_safe_and_not_before(void **state) {
    (void)state;
    rig r;
    begin_open(&r);
    add_many(&r, 1, 3);
    assert_int_equal(read_from(&r, 1), 0);
    assert_int_equal(gx_spool_log_write(&r.log, NULL), 0);
    assert_int_equal(read_from(&r, 1), 0);
    assert_int_equal(gx_spool_log_sync(&r.log, NULL), 0);
    assert_int_equal(read_from(&r, 1), 1);
    assert_int_equal(read_from(&r, 2), 0);
    end(&r);
}

static uint64_t fill(rig *r, size_t more) {
    uint64_t before = r->added;
    int rc;
    while ((rc = add(r, more, NULL)) == 0) continue;
    assert_int_equal(rc, GALE_AGAIN);
    make_safe(r);
    return r->added - before;
}

static void it_takes_what_the_limit_allows_and_goes_on_when_something_is_answered(void **state) {
    (void)state;
    rig r;
    begin_open(&r);
    uint64_t read = 0, count = fill(&r, 100);
    assert_in_range(count, 300, 500);
    for (int round = 0; round < 50; round++) {
        assert_true(r.log.bytes <= r.log.limit);
        read += read_from(&r, read + 1);
        assert_int_equal(read, r.added);
        answer(&r, read - 100);
        assert_true(fill(&r, 100) > 0);
    }
    assert_string_equal(told(&r), "");
    end(&r);
}

static void what_is_larger_than_all_of_it_is_refused(void **state) {
    (void)state;
    rig r;
    begin_open(&r);
    assert_int_equal(add(&r, 65535, NULL), GALE_TOO_LARGE);
    add_many(&r, 1, 65536 - 200);
    make_safe(&r);
    assert_int_equal(read_from(&r, 1), 1);
    end(&r);
}

static void a_large_record_finds_room_when_all_is_answered(void **state) {
    (void)state;
    rig r;
    begin_open(&r);
    add_many(&r, 1, 60000);
    make_safe(&r);
    assert_int_equal(add(&r, 60000, NULL), GALE_AGAIN);
    assert_int_equal(read_from(&r, 1), 1);
    answer(&r, 2);
    assert_int_equal(add(&r, 60000, NULL), GALE_AGAIN); /* and another segment is begun */
    assert_int_equal(gx_spool_log_sync(&r.log, NULL), 0);
    answer(&r, 2);
    add_many(&r, 1, 60000);
    make_safe(&r);
    assert_int_equal(read_from(&r, 2), 1);
    end(&r);
}

/* --- From run to run ----------------------------------------------------------------------------------------------- */

static void the_next_run_has_what_is_not_answered(void **state) {
    (void)state;
    rig r;
    begin_open(&r);
    add_many(&r, 200, 50);
    make_safe(&r);
    answer(&r, 150);
    reopen(&r);
    assert_int_equal(r.log.position, 150);
    assert_int_equal(read_from(&r, 150), 51);
    add_many(&r, 10, 50);
    make_safe(&r);
    assert_int_equal(read_from(&r, 201), 10);
    answer(&r, 211);
    reopen(&r);
    assert_int_equal(r.log.count, 0);
    add_many(&r, 1, 0);
    make_safe(&r);
    assert_int_equal(read_from(&r, 211), 1);
    end(&r);
}

static void a_folder_has_one_owner(void **state) {
    (void)state;
    rig r;
    gx_spool_log other;
    gale_error error = GALE_ERROR_INIT;
    begin_open(&r);
    assert_int_equal(gx_spool_log_open(&other, &r.heap, r.path, &(gx_spool_owner){ 0, 1, false }, &error), GALE_STATE);
    assert_non_null(strstr(error.text, "is in use by this process already"));
    end(&r);
}

static void records_of_another_number_of_tasks_are_refused_until_they_are_through(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    begin_open(&r);
    add_many(&r, 3, 0);
    make_safe(&r);
    close_log(&r);
    assert_int_equal(gx_spool_log_open(&r.log, &r.heap, r.path, &(gx_spool_owner){ 0, 2, false }, &error), GALE_STATE);
    assert_non_null(strstr(error.text, "has records that 1 task wrote, and there are 2 now"));
    assert_int_equal(open_log(&r, NULL), 0);
    answer(&r, 4);
    close_log(&r);
    assert_int_equal(gx_spool_log_open(&r.log, &r.heap, r.path, &(gx_spool_owner){ 0, 2, false }, NULL), 0);
    gx_spool_log_close(&r.log);
    end(&r);
}

static void a_run_without_a_state_keeps_off_what_durable_runs_have(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    begin_open(&r); /* of a run without a state: whoever has the folder first, a durable run may go on with it */
    add_many(&r, 2, 0);
    make_safe(&r);
    close_log(&r);
    r.durable = true;
    assert_int_equal(open_log(&r, &error), 0);
    assert_int_equal(read_from(&r, 1), 2);
    close_log(&r);
    r.durable = false;
    assert_int_equal(open_log(&r, &error), GALE_STATE);
    assert_non_null(strstr(error.text, "durable runs have it, and would cut off what this one adds"));
    assert_non_null(strstr(error.text, "--state or another path (--set)"));
    assert_non_null(strstr(error.text, "remove '/tmp/gale-spool-"));
    assert_non_null(strstr(error.text, "/durable' where no state needs it"));
    end(&r);
}

static void what_is_in_the_mark_of_durable_runs_does_not_matter(void **state) {
    (void)state;
    rig r;
    char mark[100];
    begin(&r);
    r.durable = true;
    assert_int_equal(open_log(&r, NULL), 0);
    close_log(&r);
    snprintf(mark, sizeof mark, "%s/durable", r.home);
    assert_int_equal(truncate(mark, 0), 0);
    assert_int_equal(open_log(&r, NULL), 0);
    close_log(&r);
    r.durable = false;
    assert_int_equal(open_log(&r, NULL), GALE_STATE);
    assert_int_equal(remove(mark), 0);
    assert_int_equal(open_log(&r, NULL), 0);
    close_log(&r);
    assert_int_equal(mkdir(mark, 0700), 0);
    assert_int_equal(open_log(&r, NULL), GALE_STATE);
    r.durable = true;
    assert_int_equal(open_log(&r, NULL), 0);
    end(&r);
}

/* --- Going back ---------------------------------------------------------------------------------------------------- */

static void what_is_behind_a_record_is_cut_off(void **state) {
    (void)state;
    for (uint64_t last = 1; last <= SOME; last += 4) {
        rig r;
        begin_with_some(&r);
        assert_int_equal(gx_spool_log_cut(&r.log, last, NULL), 0);
        assert_int_equal(read_from(&r, 1), last);
        add_many(&r, 7, 5);
        make_safe(&r);
        assert_int_equal(read_from(&r, last + 1), 7);
        reopen(&r);
        assert_int_equal(read_from(&r, 1), last + 7);
        assert_string_equal(told(&r), "");
        end(&r);
    }
}

static void going_back_to_what_is_not_there_is_refused(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    begin_with_some(&r);
    assert_int_equal(gx_spool_log_cut(&r.log, SOME + 1, &error), GALE_STATE);
    assert_non_null(strstr(error.text, "has fewer"));
    answer(&r, 40);
    error.length = 0;
    assert_int_equal(gx_spool_log_cut(&r.log, 20, &error), GALE_STATE);
    assert_non_null(strstr(error.text, "has let go of more"));
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_comes_from_nothing),
        cmocka_unit_test(a_record_comes_when_it_is_safe_and_not_before),
        cmocka_unit_test(it_takes_what_the_limit_allows_and_goes_on_when_something_is_answered),
        cmocka_unit_test(what_is_larger_than_all_of_it_is_refused),
        cmocka_unit_test(a_large_record_finds_room_when_all_is_answered),
        cmocka_unit_test(the_next_run_has_what_is_not_answered),
        cmocka_unit_test(a_folder_has_one_owner),
        cmocka_unit_test(records_of_another_number_of_tasks_are_refused_until_they_are_through),
        cmocka_unit_test(a_run_without_a_state_keeps_off_what_durable_runs_have),
        cmocka_unit_test(what_is_in_the_mark_of_durable_runs_does_not_matter),
        cmocka_unit_test(what_is_behind_a_record_is_cut_off),
        cmocka_unit_test(going_back_to_what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
