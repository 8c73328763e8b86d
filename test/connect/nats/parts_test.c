/* Parts of the connector nats that need no server. */
#include "connect/nats/answer.h"
#include "connect/nats/open.h"
#include "connect/nats/place.h"
#include "connect/nats/pulls.h"
#include "connect/nats/ranges.h"
#include "connect/nats/subject.h"
#include "harness/fake_collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A number below `bound`, of a seed. */
static uint32_t draw(uint64_t *seed, uint32_t bound) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % bound);
}

/* --- Places ------------------------------------------------------------------------------------------------------------ */

static void a_place_is_read_of_both_forms_of_subjects(void **state) {
    nats_place place;
    (void)state;
    assert_true(nats_place_read("$JS.ACK.ORDERS.reader.2.345.678.1795715836059214415.9", &place));
    assert_int_equal(place.delivered, 2);
    assert_int_equal(place.sequence, 345);
    assert_int_equal(place.number, 678);
    assert_int_equal(place.time, 1795715836059214415);
    assert_int_equal(place.pending, 9);
    assert_true(nats_place_read("$JS.ACK.hub.ACCHASH.ORDERS.reader.1.7.8.9.0.token", &place));
    assert_int_equal(place.sequence, 7);
    assert_int_equal(place.pending, 0);
}

static void what_is_no_place_is_none_and_changes_nothing(void **state) {
    static const char *const bad[] = { "",
                                       "$JS.ACK.",
                                       "$JS.ACK.S.c.1.2.3.4",
                                       "$JS.ACK.S.c.1.2.3.4.x",
                                       "$JS.ACK.S.c.1.0.3.4.5",
                                       "$JS.ACK.S.c.1.-2.3.4.5",
                                       "$JS.ACK.S.c.1..3.4.5",
                                       "$JS.ACK.S.c.1.9223372036854775807.3.4.5",
                                       "$JS.ACK.S.c.1.99999999999999999999.3.4.5",
                                       "_INBOX.abc.1.2.3.4.5.6.7" };
    nats_place place = { .sequence = 77 };
    (void)state;
    assert_false(nats_place_read(NULL, &place));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(nats_place_read(bad[i], &place));
    assert_int_equal(place.sequence, 77);
}

/* --- Ranges ------------------------------------------------------------------------------------------------------------ */

enum { MODEL = 200 };

static void check_ranges(const nats_ranges *ranges, const bool *model) {
    size_t count = 0;
    for (int64_t i = 1; i < MODEL; i++) {
        assert_int_equal(nats_ranges_have(ranges, i), model[i]);
        count += model[i] && !model[i - 1];
    }
    assert_int_equal(ranges->count, count);
}

static void ranges_are_a_set_of_sequences_as_a_model_has_it(void **state) {
    nats_ranges ranges = { .list = NULL };
    bool model[MODEL] = { false };
    uint64_t seed = 7;
    (void)state;
    for (int turn = 0; turn < 5000; turn++) {
        int64_t first = 1 + draw(&seed, MODEL - 1), last = first + draw(&seed, 6) - 1;
        if (last >= MODEL) last = MODEL - 1;
        if (draw(&seed, 3)) {
            assert_int_equal(nats_ranges_remove(&ranges, first), 0);
            model[first] = false;
        } else {
            assert_int_equal(nats_ranges_add(&ranges, first, last), 0);
            for (int64_t i = first; i <= last; i++) model[i] = true;
        }
        if (turn % 50 == 0) check_ranges(&ranges, model);
    }
    check_ranges(&ranges, model);
    nats_ranges_free(&ranges);
}

static void what_is_read_in_order_is_one_range(void **state) {
    nats_ranges ranges = { .list = NULL };
    (void)state;
    for (int64_t i = 1; i <= 100000; i++) assert_int_equal(nats_ranges_add(&ranges, i, i), 0);
    assert_int_equal(ranges.count, 1);
    nats_ranges_free(&ranges);
}

static void ranges_that_were_saved_are_the_same_and_others_are_damaged(void **state) {
    static const nats_range good[] = { { 1, 5 }, { 7, 7 }, { 9, 20 } };
    static const nats_range touching[] = { { 1, 5 }, { 6, 7 } }, turned[] = { { 5, 1 } }, zero[] = { { 0, 1 } };
    nats_ranges ranges = { .list = NULL };
    (void)state;
    assert_int_equal(nats_ranges_load(&ranges, good, sizeof good), 0);
    assert_true(nats_ranges_have(&ranges, 7));
    assert_false(nats_ranges_have(&ranges, 8));
    assert_int_equal(nats_ranges_load(&ranges, touching, sizeof touching), GALE_DAMAGED);
    assert_int_equal(nats_ranges_load(&ranges, turned, sizeof turned), GALE_DAMAGED);
    assert_int_equal(nats_ranges_load(&ranges, zero, sizeof zero), GALE_DAMAGED);
    assert_int_equal(nats_ranges_load(&ranges, good, sizeof good - 1), GALE_DAMAGED);
    assert_int_equal(ranges.count, 3);
    nats_ranges_free(&ranges);
}

/* --- Open messages ------------------------------------------------------------------------------------------------------ */

static void open_messages_are_found_as_a_model_has_them(void **state) {
    nats_open open = { .rows = NULL };
    bool model[MODEL] = { false };
    uint64_t seed = 3;
    size_t count = 0;
    (void)state;
    for (int turn = 0; turn < 20000; turn++) {
        int64_t at = 1 + draw(&seed, MODEL - 1), sequence = at * 1000003;
        assert_int_equal(nats_open_find(&open, sequence) != NULL, model[at]);
        if (model[at])
            nats_open_remove(&open, sequence);
        else
            assert_non_null(nats_open_add(&open, sequence));
        model[at] = !model[at];
        count += model[at] ? 1 : (size_t)-1;
        assert_int_equal(open.count, count);
    }
    nats_open_free(&open);
}

/* --- Requests ------------------------------------------------------------------------------------------------------------ */

static void the_oldest_request_is_served_first_and_what_is_late_is_over(void **state) {
    nats_pulls pulls = { .numbers = 0 };
    (void)state;
    nats_pulls_take(&pulls); /* one that nobody asked for */
    assert_int_equal(nats_pulls_begin(&pulls, 2, 100, 10)->number, 1);
    assert_int_equal(nats_pulls_begin(&pulls, 5, 100, 20)->number, 2);
    assert_null(nats_pulls_begin(&pulls, 1, 1, 30));
    nats_pulls_take(&pulls);
    assert_int_equal(nats_pulls_left(&pulls), 6);
    nats_pulls_take(&pulls);
    assert_null(nats_pulls_find(&pulls, 1));
    assert_int_equal(nats_pulls_begin(&pulls, 1, 50, 15)->number, 3);
    nats_pulls_take(&pulls);
    assert_int_equal(nats_pulls_find(&pulls, 2)->left, 4);
    assert_int_equal(nats_pulls_bytes(&pulls), 150);
    nats_pulls_expire(&pulls, 15);
    assert_int_equal(nats_pulls_left(&pulls), 4);
    nats_pulls_clear(&pulls);
    assert_int_equal(nats_pulls_left(&pulls), 0);
}

/* --- Subjects ------------------------------------------------------------------------------------------------------------- */

static int write_subject(const char *template, gale_value value, char to[NATS_SUBJECT_MAX]) {
    char why[200];
    fake_collector fake;
    fake_init(&fake);
    fake_source(&fake, "in", "id");
    int rc = nats_subject_write(template, fake_tuple(&fake, &value, 1), to, why, sizeof why);
    if (rc < 0) assert_int_equal(strncmp(why, "subject: ", 9), 0);
    fake_fini(&fake);
    return rc;
}

static void a_field_is_one_level_of_a_subject_unless_it_may_be_more(void **state) {
    char to[NATS_SUBJECT_MAX], long_text[1100];
    (void)state;
    assert_int_equal(write_subject("a.{id}.b", gale_text("x-1"), to), 0);
    assert_string_equal(to, "a.x-1.b");
    assert_int_equal(write_subject("{id}", gale_i64(-7), to), 0);
    assert_string_equal(to, "-7");
    assert_int_equal(write_subject("a.{+id}", gale_text("x.y"), to), 0);
    assert_string_equal(to, "a.x.y");
    static const char *const bad[] = { "", "a.b", "a b", "*", ">", "a\r\nPUB x", "\x7f" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(write_subject("a.{id}", gale_text(bad[i]), to), GALE_INVALID);
    assert_int_equal(write_subject("a.{+id}", gale_text("x..y"), to), GALE_INVALID);
    assert_int_equal(write_subject("a.{+id}", gale_text(".x"), to), GALE_INVALID);
    assert_int_equal(write_subject("a.{id}", gale_f64(1.5), to), GALE_INVALID);
    assert_int_equal(write_subject("a.{other}", gale_text("x"), to), GALE_INVALID);
    assert_int_equal(write_subject("{+id}.x", gale_text("$JS.API"), to), GALE_INVALID);
    memset(long_text, 'x', sizeof long_text);
    long_text[1022] = '\0';
    assert_int_equal(write_subject("{id}", gale_text(long_text), to), 0);
    assert_int_equal(write_subject("{id}.b", gale_text(long_text), to), GALE_INVALID);
}

/* --- Answers --------------------------------------------------------------------------------------------------------------- */

static nats_answer answer_of(const char *text, char why[200]) {
    *why = '\0';
    return nats_answer_read(text, strlen(text), why, 200);
}

static void an_answer_is_a_yes_or_never_or_not_now(void **state) {
    static const char *const yes[] = { "{\"stream\":\"S\",\"seq\":1}", "{\"stream\":\"S\", \"seq\":123456}",
                                       "{\"stream\":\"S\", \"seq\":5,\"duplicate\": true}",
                                       "{\"seq\":5,\"stream\":\"S\",\"domain\":\"hub\"}" };
    static const char *const no_answer[] = { "",
                                             "{",
                                             "{}",
                                             "{\"stream\":\"S\",\"seq\":0}",
                                             "{\"stream\":\"S\",\"seq\":",
                                             "null",
                                             "{\"stream\":\"S\\\"\",\"seq\":0}",
                                             "{\"stream\":\"S\",\"seq\":1" };
    char why[200];
    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) assert_int_equal(answer_of(yes[i], why), NATS_HAS_IT);
    for (size_t i = 0; i < sizeof no_answer / sizeof *no_answer; i++)
        assert_int_equal(answer_of(no_answer[i], why), NATS_NOT_NOW);
    assert_string_equal(why, "what answers is no stream");
    assert_int_equal(answer_of("{\"error\":{\"code\":400,\"err_code\":10060,\"description\":\"expected stream does not "
                               "match\"},\"stream\":\"S\",\"seq\":0}",
                               why),
                     NATS_NEVER);
    assert_string_equal(why, "expected stream does not match (10060)");
    assert_int_equal(answer_of("{\"error\":{\"code\":503,\"description\":\"maximum messages exceeded\"}}", why),
                     NATS_NOT_NOW);
    assert_int_equal(answer_of("{\"error\":{\"code\":400,\"err_code\":10002,\"description\":\"full\"}}", why),
                     NATS_NOT_NOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_read_of_both_forms_of_subjects),
        cmocka_unit_test(what_is_no_place_is_none_and_changes_nothing),
        cmocka_unit_test(ranges_are_a_set_of_sequences_as_a_model_has_it),
        cmocka_unit_test(what_is_read_in_order_is_one_range),
        cmocka_unit_test(ranges_that_were_saved_are_the_same_and_others_are_damaged),
        cmocka_unit_test(open_messages_are_found_as_a_model_has_them),
        cmocka_unit_test(the_oldest_request_is_served_first_and_what_is_late_is_over),
        cmocka_unit_test(a_field_is_one_level_of_a_subject_unless_it_may_be_more),
        cmocka_unit_test(an_answer_is_a_yes_or_never_or_not_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
