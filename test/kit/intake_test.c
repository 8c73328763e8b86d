#include "harness/fake_saver.h"

#include <gale/connect.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_intake *intake;
    gx_buf answers; /* lines: "source:place", and of one that is given up its reason and first value */
} fixture;

static void note(void *user, const gale_answered *answered) {
    fixture *f = user;
    gx_buf_format(&f->answers, "%u:%" PRId64, answered->source, answered->place);
    if (answered->failure)
        gx_buf_format(&f->answers, " %s %.*s", gale_reason_name(answered->failure->reason),
                      (int)answered->values[0].size, answered->values[0].as.string);
    else
        assert_null(answered->values);
    gx_buf_add_byte(&f->answers, '\n');
}

static void begin(fixture *f, uint64_t memory) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.memory = memory;
    options.attempts = 2;
    options.answered = note;
    options.user = f;
    assert_int_equal(gale_intake_new(&f->fake.context, &f->fake.collector, &options, &f->intake, NULL), 0);
}

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    f->answers = (gx_buf)GX_BUF_INIT(NULL);
    begin(f, 1000);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gale_intake_free(f->intake);
    gx_buf_fini(&f->answers);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static void take(fixture *f, const char *text, uint32_t source, int64_t place) {
    const gale_value row[] = { gale_text(text), gale_i64(place) };
    assert_int_equal(gale_intake_take(f->intake, row, 2, source, place), 0);
}

static int next(fixture *f) {
    gale_wait wait = { 0, 0 };
    return gale_intake_next(f->intake, &wait);
}

/* Takes a row and emits it; its message id. */
static uint64_t send(fixture *f, const char *text, uint32_t source, int64_t place) {
    take(f, text, source, place);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    return f->fake.last_message;
}

static void fail_for(fixture *f, uint64_t id, int32_t reason) {
    const gale_failure failure = { sizeof failure, reason, 3, "count", "why", 1, false };
    gale_intake_fail(f->intake, id, &failure);
}

static void expect_answers(fixture *f, const char *lines) {
    assert_string_equal(fake_text(&f->answers), lines);
    f->answers.size = 0;
}

static void a_row_is_emitted_as_it_was_taken_and_answered_by_where_it_came_from(void **state) {
    fixture *f = *state;
    const gale_value items[] = { gale_i64(1), gale_text("b") };
    const gale_value row[] = { gale_null(), gale_bytes("\0x", 2), gale_list(items, 2), gale_f64(0.5), gale_bool(true) };
    assert_true(gale_intake_wants(f->intake));
    assert_int_equal(gale_intake_take(f->intake, row, 5, 7, 42), 0);
    assert_false(gale_intake_wants(f->intake)); /* this one goes out first */
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_non_null(strstr(fake_text(&f->fake.emitted), "[1,\"b\"],0.5,true] #"));
    assert_int_equal(gale_intake_count(f->intake), 1);
    gale_intake_ack(f->intake, &f->fake.last_message, 1);
    expect_answers(f, "7:42\n");
    gale_intake_ack(f->intake, &f->fake.last_message, 1);
    expect_answers(f, "");
    assert_int_equal(gale_intake_count(f->intake), 0);
}

static void what_fails_goes_out_again_before_what_is_new(void **state) {
    fixture *f = *state;
    uint64_t a = send(f, "a", 0, 1), b = send(f, "b", 0, 2);
    fail_for(f, b, GALE_REASON_TIMEOUT);
    assert_false(gale_intake_wants(f->intake));
    fail_for(f, a, GALE_REASON_FAILED);
    fake_forget(&f->fake);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_WATCHED);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"b\",2] #1\n[\"a\",1] #0\n");
    expect_answers(f, "");
}

static void the_last_attempt_that_fails_is_reported_and_answered(void **state) {
    fixture *f = *state;
    uint64_t id = send(f, "a", 3, 9);
    fail_for(f, id, GALE_REASON_FAILED);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    fail_for(f, id, GALE_REASON_TIMEOUT);
    expect_answers(f, "3:9 timeout a\n");
    assert_string_equal(fake_text(&f->fake.reports), "message 9 given up after 2 attempts: timeout: why (count)\n");
    assert_int_equal(gale_intake_given_up(f->intake), 1);
    assert_int_equal(gale_intake_count(f->intake), 0);
    assert_int_equal(next(f), GALE_NEXT_WATCHED);
}

/* What is kept with a row does not go out, and is there when it is given up. */
static void note_second(void *user, const gale_answered *answered) {
    fixture *f = user;
    if (!answered->failure) return;
    gx_buf_format(&f->answers, "%zu values, the second %" PRId64 "\n", answered->count, answered->values[1].as.i64);
}

static void values_behind_those_that_go_out_stay_with_their_row(void **state) {
    fixture *f = *state;
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.emits = 1;
    options.answered = note_second;
    options.user = f;
    gale_intake_free(f->intake);
    assert_int_equal(gale_intake_new(&f->fake.context, &f->fake.collector, &options, &f->intake, NULL), 0);
    uint64_t a = send(f, "a", 0, 41);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n");
    fail_for(f, a, GALE_REASON_REJECTED);
    expect_answers(f, "2 values, the second 41\n");
}

static void what_is_rejected_does_not_come_again(void **state) {
    fixture *f = *state;
    fail_for(f, send(f, "a", 3, 9), GALE_REASON_REJECTED);
    expect_answers(f, "3:9 rejected a\n");
}

static void what_a_collector_refuses_is_an_attempt_and_what_it_cannot_take_now_is_none(void **state) {
    fixture *f = *state;
    take(f, "a", 0, 1);
    f->fake.emit_error = GALE_AGAIN;
    assert_int_equal(next(f), GALE_NEXT_NOTHING);
    assert_int_equal(next(f), GALE_NEXT_NOTHING);
    f->fake.emit_error = GALE_FIELDS;
    assert_int_equal(next(f), GALE_FIELDS);
    assert_int_equal(gale_intake_count(f->intake), 1);
    assert_int_equal(next(f), GALE_FIELDS);
    expect_answers(f, "0:1 failed a\n");
    assert_int_equal(next(f), GALE_NEXT_WATCHED);
}

static void while_it_is_full_it_wants_nothing_and_says_when_that_is_over(void **state) {
    fixture *f = *state;
    uint64_t ids[100];
    size_t count = 0;
    while (gale_intake_wants(f->intake)) {
        assert_in_range(count, 0, 99);
        ids[count] = send(f, "something", 0, (int64_t)count);
        count++;
    }
    assert_in_range(count, 1000 / 100, 1000 / 9);
    assert_int_equal(next(f), GALE_NEXT_WATCHED);
    assert_int_equal(fake_tell_watches(&f->fake), 0);
    gale_manual_clock_advance(f->fake.clock, 5);
    gale_intake_ack(f->intake, ids, 1);
    assert_true(gale_intake_wants(f->intake));
    assert_int_equal(fake_tell_watches(&f->fake), 1);
    gale_intake_ack(f->intake, ids + 1, count - 1);
    assert_int_equal(fake_tell_watches(&f->fake), 0);
    assert_int_equal(gale_intake_count(f->intake), 0);
}

static void it_keeps_the_rate(void **state) {
    fixture *f = *state;
    gale_wait wait = { 0, 0 };
    gale_manual_clock_advance(f->fake.clock, GALE_SECOND);
    gale_intake_free(f->intake);
    fake_set_rate(&f->fake, 10);
    begin(f, 1000);
    (void)send(f, "a", 0, 1);
    take(f, "b", 0, 2);
    assert_int_equal(gale_intake_next(f->intake, &wait), GALE_NEXT_UNTIL);
    assert_int_equal(wait.until, GALE_SECOND + 100 * GALE_MILLISECOND);
    gale_manual_clock_advance(f->fake.clock, 100 * GALE_MILLISECOND);
    assert_int_equal(gale_intake_next(f->intake, &wait), GALE_NEXT_EMITTED);
}

static void rows_of_a_source_that_is_dropped_are_not_emitted_again(void **state) {
    fixture *f = *state;
    uint64_t out = send(f, "out", 1, 1), acked = send(f, "acked", 1, 2), other = send(f, "other", 2, 3);
    uint64_t queued = send(f, "queued", 1, 4), kept = send(f, "kept", 2, 5);
    fail_for(f, queued, GALE_REASON_FAILED);
    fail_for(f, kept, GALE_REASON_FAILED);
    gale_intake_drop(f->intake, 1);
    assert_int_equal(gale_intake_count(f->intake), 4);
    char lost[64];
    snprintf(lost, sizeof lost, " #%" PRIu64 " #%" PRIu64, out, acked);
    assert_string_equal(fake_text(&f->fake.lost), lost);
    fail_for(f, out, GALE_REASON_SOURCE_LOST);
    gale_intake_ack(f->intake, &acked, 1); /* it was on its way */
    fail_for(f, other, GALE_REASON_REJECTED);
    expect_answers(f, "1:2\n2:3 rejected other\n");
    fake_forget(&f->fake);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_WATCHED);
    assert_non_null(strstr(fake_text(&f->fake.emitted), "[\"kept\",5]"));
    assert_int_equal(gale_intake_count(f->intake), 1);
    /* The source may come back: its slots are others' by then. */
    uint64_t again = send(f, "again", 1, 6);
    fail_for(f, again, GALE_REASON_FAILED);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
}

/* What the connector says of rows that would be given up: those with an even place go back. */
static bool give_back(void *user, const gale_answered *answered) {
    fixture *f = user;
    bool back = answered->place % 2 == 0;
    assert_non_null(answered->failure);
    assert_int_equal(answered->count, 2);
    if (back) gx_buf_format(&f->answers, "back %u:%" PRId64 "\n", answered->source, answered->place);
    return back;
}

static void a_row_that_is_given_back_is_neither_reported_nor_counted_nor_answered(void **state) {
    fixture *f = *state;
    gale_intake_free(f->intake);
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.attempts = 1;
    options.answered = note;
    options.give_back = give_back;
    options.user = f;
    assert_int_equal(gale_intake_new(&f->fake.context, &f->fake.collector, &options, &f->intake, NULL), 0);
    fail_for(f, send(f, "back", 1, 2), GALE_REASON_FAILED);
    assert_string_equal(fake_text(&f->fake.reports), "");
    assert_int_equal(gale_intake_given_up(f->intake), 0);
    fail_for(f, send(f, "over", 1, 3), GALE_REASON_FAILED);
    expect_answers(f, "back 1:2\n1:3 failed over\n");
    assert_int_equal(gale_intake_given_up(f->intake), 1);
    assert_non_null(strstr(fake_text(&f->fake.reports), "message 3 given up after 1 attempt"));
    assert_int_equal(gale_intake_count(f->intake), 0);
}

static void name_row(void *user, const gale_answered *answered, char *to, size_t size) {
    (void)user;
    assert_int_equal(answered->count, 2);
    snprintf(to, size, "entry %.*s-%" PRId64 " of %u", (int)answered->values[0].size, answered->values[0].as.string,
             answered->place, answered->source);
}

static void a_row_that_is_given_up_is_reported_as_its_system_calls_it(void **state) {
    fixture *f = *state;
    gale_intake_free(f->intake);
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.attempts = 1;
    options.name = name_row;
    options.user = f;
    assert_int_equal(gale_intake_new(&f->fake.context, &f->fake.collector, &options, &f->intake, NULL), 0);
    fail_for(f, send(f, "15269", 7, 55), GALE_REASON_FAILED);
    assert_non_null(strstr(fake_text(&f->fake.reports), "entry 15269-55 of 7 given up after 1 attempt: failed"));
}

static void a_row_with_attempts_left_is_not_given_back(void **state) {
    fixture *f = *state;
    gale_intake_free(f->intake);
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.attempts = 2;
    options.give_back = give_back;
    options.user = f;
    assert_int_equal(gale_intake_new(&f->fake.context, &f->fake.collector, &options, &f->intake, NULL), 0);
    fail_for(f, send(f, "again", 1, 2), GALE_REASON_FAILED);
    expect_answers(f, "");
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    fail_for(f, f->fake.last_message, GALE_REASON_FAILED);
    expect_answers(f, "back 1:2\n");
}

static void without_memory_a_row_is_not_taken(void **state) {
    fixture *f = *state;
    const gale_value row = gale_text("a");
    uint64_t before = f->fake.allocations;
    uint64_t refused = 0;
    for (uint64_t n = 1;; n++) {
        f->fake.fail_at = f->fake.allocations + n;
        before = f->fake.allocations;
        int rc = gale_intake_take(f->intake, &row, 1, 0, (int64_t)n);
        bool reached = f->fake.allocations - before >= n;
        f->fake.fail_at = 0;
        if (!reached) break;
        assert_int_equal(rc, GALE_NO_MEMORY);
        refused++;
    }
    assert_in_range(refused, 1, 10);
    assert_int_equal(gale_intake_count(f->intake), 1);
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    assert_int_equal(next(f), GALE_NEXT_WATCHED);
}

static void what_is_wrong_is_refused(void **state) {
    fixture *f = *state;
    gale_value row[GALE_INTAKE_VALUES_MAX + 1];
    gale_value bad = { .type = 99 };
    gale_wait wait = { 0, 0 };
    gale_intake *intake = NULL;
    gale_error error = GALE_ERROR_INIT;
    for (size_t i = 0; i <= GALE_INTAKE_VALUES_MAX; i++) row[i] = gale_i64(1);
    assert_int_equal(gale_intake_take(f->intake, row, GALE_INTAKE_VALUES_MAX + 1, 0, 0), GALE_INVALID);
    assert_int_equal(gale_intake_take(f->intake, &bad, 1, 0, 0), GALE_INVALID);
    assert_int_equal(gale_intake_take(f->intake, NULL, 1, 0, 0), GALE_INVALID);
    assert_int_equal(gale_intake_take(NULL, row, 1, 0, 0), GALE_INVALID);
    assert_int_equal(gale_intake_next(NULL, &wait), GALE_INVALID);
    assert_int_equal(gale_intake_next(f->intake, NULL), GALE_INVALID);
    assert_false(gale_intake_wants(NULL));
    gale_intake_ack(f->intake, NULL, 1);
    gale_intake_ack(NULL, NULL, 0);
    gale_intake_fail(NULL, 0, NULL);
    gale_intake_fail(f->intake, 0, NULL);
    gale_intake_drop(NULL, 0);
    gale_intake_free(NULL);
    assert_int_equal(gale_intake_count(NULL) + gale_intake_given_up(NULL), 0);
    assert_int_equal(gale_intake_new(NULL, &f->fake.collector, NULL, &intake, &error), GALE_INVALID);
    assert_int_equal(gale_intake_new(&f->fake.context, NULL, NULL, &intake, &error), GALE_INVALID);
    f->fake.watch_error = GALE_UNSUPPORTED;
    assert_int_equal(gale_intake_new(&f->fake.context, &f->fake.collector, NULL, &intake, &error), GALE_UNSUPPORTED);
    assert_null(intake);
    assert_int_equal(gale_intake_take(f->intake, row, GALE_INTAKE_VALUES_MAX, 0, 0), 0);
}

/* --- Checkpoints --- */

static int save(void *self, gale_saver *to) {
    return gale_intake_save(((fixture *)self)->intake, to);
}

static void note_kept(void *user, uint32_t source, int64_t place) {
    gx_buf_format(&((fixture *)user)->answers, "kept %u:%" PRId64 "\n", source, place);
}

static int restore(void *self, gale_saved *from, gale_collector *out) {
    fixture *f = self;
    (void)out;
    return gale_intake_restore(f->intake, from, note_kept, f);
}

static const gale_durable_ops durable = { .size = sizeof durable, .version = 1, .save = save, .restore = restore };

static void begin_again(fixture *f, uint64_t waiting, bool soon) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.answered = note;
    options.user = f;
    options.waiting = waiting;
    options.soon = soon;
    f->fake.context.durable = true;
    gale_intake_free(f->intake);
    assert_int_equal(gale_intake_new(&f->fake.context, &f->fake.collector, &options, &f->intake, NULL), 0);
}

static void in_a_durable_run_an_answer_waits_for_its_checkpoint(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    begin_again(f, 0, false);
    uint64_t a = send(f, "a", 1, 10), b = send(f, "b", 1, 11);
    gale_intake_ack(f->intake, &a, 1);
    expect_answers(f, "");
    assert_int_equal(fake_save(&saver, &durable, f), 0);
    gale_intake_ack(f->intake, &b, 1);
    gale_intake_committed(f->intake, saver.checkpoint - 1);
    expect_answers(f, "");
    gale_intake_committed(f->intake, saver.checkpoint);
    expect_answers(f, "1:10\n");
    assert_int_equal(fake_save(&saver, &durable, f), 0);
    gale_intake_committed(f->intake, saver.checkpoint);
    expect_answers(f, "1:11\n");
    fake_saver_fini(&saver);
}

static void rows_without_an_answer_are_there_again_after_a_restart(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    begin_again(f, 0, false);
    uint64_t a = send(f, "a", 1, 10), b = send(f, "b", 2, 7);
    take(f, "c", 1, 11);
    gale_intake_ack(f->intake, &a, 1);
    assert_int_equal(fake_save(&saver, &durable, f), 0);
    begin_again(f, 0, false);
    assert_int_equal(fake_restore(&saver, &durable, f), 0);
    expect_answers(f, "kept 2:7\nkept 1:11\n");
    assert_int_equal(next(f), GALE_NEXT_EMITTED);
    uint64_t c = f->fake.last_message;
    gale_intake_ack(f->intake, &b, 1);
    gale_intake_ack(f->intake, &c, 1);
    assert_int_equal(gale_intake_count(f->intake), 0);
    assert_int_equal(fake_save(&saver, &durable, f), 0);
    gale_intake_committed(f->intake, saver.checkpoint);
    expect_answers(f, "2:7\n1:11\n");
    fake_saver_fini(&saver);
}

static void enough_that_waits_asks_for_a_checkpoint_and_more_is_not_wanted(void **state) {
    fixture *f = *state;
    begin_again(f, 2, false);
    for (int64_t i = 0; i < 8; i++) {
        uint64_t id = send(f, "a", 1, i);
        gale_intake_ack(f->intake, &id, 1);
        assert_int_equal(f->fake.wishes, i > 0);
        assert_int_equal(gale_intake_wants(f->intake), i < 7);
    }
}

static void who_waits_for_each_answer_asks_for_a_checkpoint_when_no_row_is_open(void **state) {
    fixture *f = *state;
    begin_again(f, 0, true);
    uint64_t a = send(f, "a", 1, 1), b = send(f, "b", 1, 2);
    gale_intake_ack(f->intake, &a, 1);
    assert_int_equal(f->fake.wishes, 0);
    fail_for(f, b, GALE_REASON_REJECTED);
    assert_int_equal(f->fake.wishes, 1);
    f->fake.reports.size = 0;
}

static void what_was_not_saved_so_is_refused_with_a_sentence(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    begin_again(f, 0, false);
    (void)send(f, "a", 1, 10);
    assert_int_equal(fake_save(&saver, &durable, f), 0);
    size_t whole = saver.records.size;
    for (size_t size = 0; size < whole; size += 8) {
        gale_str part = { saver.records.data, size };
        if (!gx_records_are_whole(part)) continue;
        begin_again(f, 0, false);
        saver.records.size = size;
        assert_int_equal(fake_restore(&saver, &durable, f), GALE_DAMAGED);
        assert_true(f->fake.reports.size > 0);
    }
    fake_saver_fini(&saver);
    assert_int_equal(gale_intake_save(NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_intake_restore(f->intake, NULL, NULL, NULL), GALE_INVALID);
    gale_intake_committed(NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_row_is_emitted_as_it_was_taken_and_answered_by_where_it_came_from, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_fails_goes_out_again_before_what_is_new, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_attempt_that_fails_is_reported_and_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(values_behind_those_that_go_out_stay_with_their_row, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_rejected_does_not_come_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_collector_refuses_is_an_attempt_and_what_it_cannot_take_now_is_none,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(while_it_is_full_it_wants_nothing_and_says_when_that_is_over, setup, teardown),
        cmocka_unit_test_setup_teardown(it_keeps_the_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_of_a_source_that_is_dropped_are_not_emitted_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_that_is_given_back_is_neither_reported_nor_counted_nor_answered, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_row_that_is_given_up_is_reported_as_its_system_calls_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_with_attempts_left_is_not_given_back, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_a_row_is_not_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(in_a_durable_run_an_answer_waits_for_its_checkpoint, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_without_an_answer_are_there_again_after_a_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(enough_that_waits_asks_for_a_checkpoint_and_more_is_not_wanted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(who_waits_for_each_answer_asks_for_a_checkpoint_when_no_row_is_open, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_not_saved_so_is_refused_with_a_sentence, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
