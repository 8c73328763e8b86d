#include "harness/fake_saver.h"

#include "base/utf8.h"
#include "kit/retry.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gx_heap heap;
    gx_retry retry;
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    gx_heap_init(&f->heap, &f->fake.allocator);
    gx_retry_init(&f->retry, &f->heap, &f->fake.collector, 2);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gx_retry_fini(&f->retry);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static uint32_t send(fixture *f, const char *line, uint64_t number) {
    uint32_t id;
    gale_str bytes = gx_str(line);
    bool is_text = gx_utf8_valid(bytes.data, bytes.size);
    assert_int_equal(gx_retry_add(&f->retry, bytes, is_text, number, &id), 0);
    assert_int_equal(gx_retry_emit(&f->retry, &f->fake.collector, id), GALE_NEXT_EMITTED);
    return id;
}

static void fail_for(fixture *f, uint64_t id, int32_t reason, const char *text) {
    gale_failure failure = { sizeof failure, reason, 3, "count", text, 1, false };
    gx_retry_fail(&f->retry, id, &failure);
}

static void an_acked_line_frees_its_slot_for_the_next(void **state) {
    fixture *f = *state;
    uint32_t first = send(f, "a", 1);
    gx_retry_ack(&f->retry, first);
    assert_int_equal(send(f, "b", 2), first);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"a\"] #0\n[\"b\"] #0\n");
}

static void failed_lines_come_again_in_the_order_of_failing(void **state) {
    fixture *f = *state;
    uint32_t a = send(f, "a", 1), b = send(f, "b", 2), c = send(f, "c", 3);
    fail_for(f, b, GALE_REASON_TIMEOUT, "");
    fail_for(f, a, GALE_REASON_TIMEOUT, "");
    gx_retry_ack(&f->retry, c);
    fake_forget(&f->fake);
    uint32_t id;
    while (gx_retry_take(&f->retry, &id)) gx_retry_emit(&f->retry, &f->fake.collector, id);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"b\"] #1\n[\"a\"] #0\n");
    assert_false(gx_retry_waiting(&f->retry));
}

static void a_line_is_given_up_after_its_attempts_and_reported_once(void **state) {
    fixture *f = *state;
    uint32_t id = send(f, "a", 17);
    fail_for(f, id, GALE_REASON_TIMEOUT, "");
    assert_true(gx_retry_take(&f->retry, &id));
    gx_retry_emit(&f->retry, &f->fake.collector, id);
    fail_for(f, id, GALE_REASON_FAILED, "bad value");
    assert_string_equal(fake_text(&f->fake.reports), "line 17 given up after 2 attempts: failed: bad value (count)\n");
    assert_int_equal(f->retry.given_up, 1);
    assert_false(gx_retry_take(&f->retry, &id));
}

static void a_rejected_line_is_given_up_at_once(void **state) {
    fixture *f = *state;
    fail_for(f, send(f, "a", 5), GALE_REASON_REJECTED, "");
    assert_string_equal(fake_text(&f->fake.reports), "line 5 given up after 1 attempt: rejected (count)\n");
}

static void a_failure_that_the_engine_calls_final_is_given_up_at_once(void **state) {
    fixture *f = *state;
    gale_failure failure = {
        .size = sizeof failure, .text = "bad value", .component = "count", .attempts = 2, .final = true
    };
    gx_retry_fail(&f->retry, send(f, "a", 5), &failure);
    assert_string_equal(fake_text(&f->fake.reports), "line 5 given up after 2 attempts: failed: bad value (count)\n");
    assert_false(gx_retry_waiting(&f->retry));
}

static void a_stop_gives_nothing_up(void **state) {
    fixture *f = *state;
    uint32_t id = send(f, "a", 5);
    fail_for(f, id, GALE_REASON_FAILED, "");
    assert_true(gx_retry_take(&f->retry, &id));
    gx_retry_emit(&f->retry, &f->fake.collector, id);
    fail_for(f, id, GALE_REASON_STOPPED, "");
    assert_string_equal(fake_text(&f->fake.reports), "");
    assert_int_equal(f->retry.given_up, 0);
}

static void answers_to_what_is_not_open_change_nothing(void **state) {
    fixture *f = *state;
    gx_retry_ack(&f->retry, 0);
    uint32_t id = send(f, "a", 1);
    gx_retry_ack(&f->retry, id);
    gx_retry_ack(&f->retry, id);
    fail_for(f, id, GALE_REASON_FAILED, "");
    fail_for(f, UINT64_MAX, GALE_REASON_FAILED, "");
    assert_false(gx_retry_waiting(&f->retry));
    assert_int_equal(send(f, "b", 2), id);
    assert_int_equal(send(f, "c", 3), id + 1);
}

static void a_collector_that_is_full_keeps_the_line_first(void **state) {
    fixture *f = *state;
    fail_for(f, send(f, "a", 1), GALE_REASON_FAILED, "");
    f->fake.emit_error = GALE_AGAIN;
    uint32_t id;
    assert_int_equal(gx_retry_add(&f->retry, gx_str("b"), true, 2, &id), 0);
    assert_int_equal(gx_retry_emit(&f->retry, &f->fake.collector, id), GALE_NEXT_NOTHING);
    f->fake.emit_error = 0;
    fake_forget(&f->fake);
    while (gx_retry_take(&f->retry, &id)) gx_retry_emit(&f->retry, &f->fake.collector, id);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"b\"] #1\n[\"a\"] #0\n");
}

static void an_emit_that_is_refused_for_good_uses_up_attempts(void **state) {
    fixture *f = *state;
    f->fake.emit_error = GALE_TOO_LARGE;
    uint32_t id;
    assert_int_equal(gx_retry_add(&f->retry, gx_str("b"), true, 2, &id), 0);
    assert_int_equal(gx_retry_emit(&f->retry, &f->fake.collector, id), GALE_TOO_LARGE);
    assert_true(gx_retry_take(&f->retry, &id));
    assert_int_equal(gx_retry_emit(&f->retry, &f->fake.collector, id), GALE_TOO_LARGE);
    assert_false(gx_retry_take(&f->retry, &id));
    assert_string_equal(fake_text(&f->fake.reports), "line 2 given up after 2 attempts: failed: too large\n");
}

static uint64_t oldest(const fixture *f) {
    const gx_retry_slot *slot = gx_retry_oldest(&f->retry);
    return slot ? slot->number : 0;
}

static void the_oldest_line_is_the_first_one_that_is_not_answered(void **state) {
    fixture *f = *state;
    assert_int_equal(oldest(f), 0);
    uint32_t a = send(f, "a", 1), b = send(f, "b", 2), c = send(f, "c", 3);
    gx_retry_ack(&f->retry, b);
    assert_int_equal(oldest(f), 1);
    uint32_t d = send(f, "d", 4); /* takes the slot of b, and is younger than c all the same */
    assert_int_equal(d, b);
    fail_for(f, a, GALE_REASON_TIMEOUT, "");
    assert_int_equal(oldest(f), 1);
    assert_true(gx_retry_take(&f->retry, &a));
    gx_retry_emit(&f->retry, &f->fake.collector, a);
    fail_for(f, a, GALE_REASON_REJECTED, "");
    assert_int_equal(oldest(f), 3);
    gx_retry_ack(&f->retry, d);
    assert_int_equal(oldest(f), 3);
    gx_retry_ack(&f->retry, c);
    assert_int_equal(oldest(f), 0);
    send(f, "e", 5);
    assert_int_equal(oldest(f), 5);
}

static void what_is_not_utf8_goes_out_as_bytes(void **state) {
    fixture *f = *state;
    send(f, "", 1);
    send(f, "gr\xc3\xbc\xc3\x9f", 2);
    send(f, "\xff", 3);
    assert_string_equal(fake_text(&f->fake.emitted),
                        "[\"\"] #0\n[\"gr\xc3\xbc\xc3\x9f\"] #1\n[{\"base64\":\"/w==\"}] #2\n");
}

static void the_steady_state_allocates_nothing(void **state) {
    fixture *f = *state;
    uint32_t ids[20];
    for (int i = 0; i < 20; i++) ids[i] = send(f, "some line of text", 1);
    for (int i = 0; i < 20; i++) gx_retry_ack(&f->retry, ids[i]);
    uint64_t before = f->fake.allocations;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 20; i++) ids[i] = send(f, "another line of text", 1);
        for (int i = 19; i >= 0; i--) gx_retry_ack(&f->retry, ids[i]);
    }
    assert_int_equal(f->fake.allocations, before);
}

static void the_buffer_of_a_huge_line_goes_back(void **state) {
    fixture *f = *state;
    char *line = test_malloc(10 << 20);
    memset(line, 'x', 10 << 20);
    uint32_t id;
    assert_int_equal(gx_retry_add(&f->retry, (gale_str){ line, 10 << 20 }, true, 1, &id), 0);
    test_free(line);
    assert_int_equal(f->retry.slots[id].capacity, 10 << 20);
    f->retry.slots[id].state = GX_RETRY_OPEN;
    gx_retry_ack(&f->retry, id);
    assert_int_equal(f->retry.slots[id].capacity, 0);
}

static void running_out_of_memory_changes_nothing(void **state) {
    fixture *f = *state;
    for (uint64_t n = 1; n <= 2; n++) {
        uint32_t id = 77;
        f->fake.fail_at = f->fake.allocations + n;
        assert_int_equal(gx_retry_add(&f->retry, gx_str("a"), true, 1, &id), GALE_NO_MEMORY);
        assert_int_equal(id, 77);
        f->fake.fail_at = 0;
    }
    assert_int_equal(send(f, "a", 1), 0);
}

/* --- Beyond the process --- */

static int save_retry(void *self, gale_saver *to) {
    return gx_retry_save(self, to);
}

static int restore_retry(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gx_retry_restore(self, from);
}

static const gale_durable_ops durable = { .size = sizeof durable, .save = save_retry, .restore = restore_retry };

/* What was saved, in the hands of a process that begins. */
static int begin_again(fixture *f, fake_saver *saver) {
    gx_retry_fini(&f->retry);
    gx_retry_init(&f->retry, &f->heap, &f->fake.collector, 2);
    return fake_restore(saver, &durable, &f->retry);
}

static void lines_that_were_saved_come_back_under_their_ids_and_in_their_orders(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    uint32_t a = send(f, "a", 1), b = send(f, "b", 2), c = send(f, "c\xff", 3), d = send(f, "", 4), e = send(f, "e", 5);
    gx_retry_ack(&f->retry, a);
    fail_for(f, d, GALE_REASON_TIMEOUT, "");
    fail_for(f, b, GALE_REASON_TIMEOUT, "");
    a = send(f, "f", 6); /* the newest line, in the first slot */
    f->retry.slots[e].place = 77;
    assert_int_equal(fake_save(&saver, &durable, &f->retry), GALE_OK);
    assert_int_equal(begin_again(f, &saver), GALE_OK);

    fake_forget(&f->fake);
    uint32_t id;
    assert_int_equal(gx_retry_oldest(&f->retry)->number, 2);
    assert_int_equal(f->retry.slots[e].place, 77);
    while (gx_retry_take(&f->retry, &id))
        assert_int_equal(gx_retry_emit(&f->retry, &f->fake.collector, id), GALE_NEXT_EMITTED);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"\"] #3\n[\"b\"] #1\n");
    gx_retry_ack(&f->retry, b);
    assert_int_equal(gx_retry_oldest(&f->retry)->number, 3);
    fail_for(f, c, GALE_REASON_TIMEOUT, "");
    fail_for(f, d, GALE_REASON_TIMEOUT, ""); /* the second time */
    assert_string_equal(fake_text(&f->fake.reports), "line 4 given up after 2 attempts: timeout (count)\n");
    gx_retry_ack(&f->retry, e);
    gx_retry_ack(&f->retry, a);
    assert_int_equal(gx_retry_oldest(&f->retry)->number, 3);
    assert_true(gx_retry_take(&f->retry, &id));
    gx_retry_emit(&f->retry, &f->fake.collector, id);
    gx_retry_ack(&f->retry, c);
    assert_null(gx_retry_oldest(&f->retry));
    assert_int_equal(send(f, "new", 7), c);
    fake_saver_fini(&saver);
}

static void without_lines_nothing_but_the_count_of_those_given_up_is_kept(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    fail_for(f, send(f, "a", 1), GALE_REASON_REJECTED, "");
    assert_int_equal(fake_save(&saver, &durable, &f->retry), GALE_OK);
    assert_int_equal(begin_again(f, &saver), GALE_OK);
    assert_int_equal(f->retry.given_up, 1);
    assert_int_equal(f->retry.used, 0);
    assert_int_equal(send(f, "b", 2), 0);
    fake_saver_fini(&saver);
}

static void a_line_of_the_largest_size_is_saved_in_pieces(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    size_t size = (size_t)64 << 20;
    char *line = test_malloc(size);
    for (size_t i = 0; i < size; i++) line[i] = (char)(i % 251);
    uint32_t id;
    assert_int_equal(gx_retry_add(&f->retry, (gale_str){ line, size }, false, 1, &id), 0);
    assert_int_equal(fake_save(&saver, &durable, &f->retry), GALE_OK);
    assert_int_equal(begin_again(f, &saver), GALE_OK);
    assert_int_equal(f->retry.slots[id].size, size);
    assert_true(memcmp(f->retry.slots[id].data, line, size) == 0);
    test_free(line);
    fake_saver_fini(&saver);
}

/* Each record of a good checkpoint with one value changed, left out and cut off behind. */
static void records_that_are_not_such_lines_are_refused(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    static const int64_t wrong[][9] = {
        /* slots, lines, queued; id, size, attempts, queued id, records */
        { -1, 1, 1, 0, 1, 1, 0, 3 },         { UINT32_MAX, 1, 1, 0, 1, 1, 0, 3 }, { 1, 2, 1, 0, 1, 1, 0, 3 },
        { 1, -1, 1, 0, 1, 1, 0, 3 },         { 1, 1, 2, 0, 1, 1, 0, 3 },          { 1, 1, -1, 0, 1, 1, 0, 3 },
        { 1, 1, 1, 1, 1, 1, 0, 3 },          { 1, 1, 1, -1, 1, 1, 0, 3 },         { 1, 1, 1, 0, 2, 1, 0, 3 },
        { 1, 1, 1, 0, -1, 1, 0, 3 },         { 1, 1, 1, 0, 0, 1, 0, 3 },          { 1, 1, 1, 0, 1, -1, 0, 3 },
        { 1, 1, 1, 0, 1, UINT32_MAX, 0, 3 }, { 1, 1, 1, 0, 1, 1, 1, 3 },          { 1, 1, 1, 0, 1, 1, -1, 3 },
        { 1, 1, 1, 0, 1, 1, 0, 2 },          { 1, 1, 1, 0, 1, 1, 0, 1 },          { 1, 1, 1, 0, 1, 1, 0, 0 },
        { 2, 2, 1, 0, 1, 1, 0, 3 },          { 1, 1, 1, 0, 1 << 30, 1, 0, 3 },
    };
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        static const int64_t right[9] = { 1, 1, 1, 0, 1, 1, 0, 3 };
        const int64_t *n = i ? wrong[i - 1] : right;
        const gale_value head[] = { gale_i64(n[0]), gale_i64(n[1]), gale_i64(n[2]), gale_i64(0) };
        const gale_value line[] = { gale_i64(n[3]), gale_i64(9),     gale_i64(0),       gale_i64(n[4]),
                                    gale_i64(n[5]), gale_bool(true), gale_bytes("x", 1) };
        const gale_value queued = gale_i64(n[6]);
        gx_buf_reset(&saver.records);
        if (n[7] > 0) assert_int_equal(gx_record_add(&saver.records, head, 4), GALE_OK);
        if (n[7] > 1) assert_int_equal(gx_record_add(&saver.records, line, 7), GALE_OK);
        if (n[7] > 2) assert_int_equal(gx_record_add(&saver.records, &queued, 1), GALE_OK);
        int rc = begin_again(f, &saver);
        if (rc != (i ? GALE_DAMAGED : GALE_OK)) fail_msg("case %zu: %d", i, rc);
    }
    const gale_value text[] = { gale_text("a"), gale_i64(0), gale_i64(0), gale_i64(0) };
    gx_buf_reset(&saver.records);
    assert_int_equal(gx_record_add(&saver.records, text, 4), GALE_OK);
    assert_int_equal(begin_again(f, &saver), GALE_DAMAGED);
    fake_saver_fini(&saver);
}

static void a_restore_without_memory_says_so_and_leaks_nothing(void **state) {
    fixture *f = *state;
    fake_saver saver;
    fake_saver_init(&saver, &f->fake);
    for (int i = 0; i < 70; i++) send(f, "some line of text that is longer than sixty-four bytes, which is small", 1);
    assert_int_equal(fake_save(&saver, &durable, &f->retry), GALE_OK);
    int rc = GALE_NO_MEMORY;
    for (uint64_t n = 1; rc == GALE_NO_MEMORY; n++) {
        assert_in_range(n, 1, 200);
        f->fake.fail_at = f->fake.allocations + n;
        rc = begin_again(f, &saver);
    }
    f->fake.fail_at = 0;
    assert_int_equal(rc, GALE_OK);
    fake_saver_fini(&saver);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(an_acked_line_frees_its_slot_for_the_next),
        CASE(failed_lines_come_again_in_the_order_of_failing),
        CASE(a_line_is_given_up_after_its_attempts_and_reported_once),
        CASE(a_rejected_line_is_given_up_at_once),
        CASE(a_failure_that_the_engine_calls_final_is_given_up_at_once),
        CASE(a_stop_gives_nothing_up),
        CASE(answers_to_what_is_not_open_change_nothing),
        CASE(a_collector_that_is_full_keeps_the_line_first),
        CASE(an_emit_that_is_refused_for_good_uses_up_attempts),
        CASE(the_oldest_line_is_the_first_one_that_is_not_answered),
        CASE(what_is_not_utf8_goes_out_as_bytes),
        CASE(the_steady_state_allocates_nothing),
        CASE(the_buffer_of_a_huge_line_goes_back),
        CASE(running_out_of_memory_changes_nothing),
        CASE(lines_that_were_saved_come_back_under_their_ids_and_in_their_orders),
        CASE(without_lines_nothing_but_the_count_of_those_given_up_is_kept),
        CASE(a_line_of_the_largest_size_is_saved_in_pieces),
        CASE(records_that_are_not_such_lines_are_refused),
        CASE(a_restore_without_memory_says_so_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
