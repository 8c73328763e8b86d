#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static void begin(fixture *f, int64_t window, int64_t emit) {
    fake_init(&f->fake);
    assert_int_equal(gale_rolling_count_bolt(window, emit, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static void take(fixture *f, const char *word) {
    const gale_tuple *tuple = fake_tuple_text(&f->fake, word);
    uint64_t acks = f->fake.acks;
    assert_int_equal(f->bolt.ops->execute(f->self, tuple, &f->fake.collector), 0);
    assert_int_equal(f->fake.acks, acks + 1);
    assert_int_equal(f->fake.last_acked, gale_tuple_handle(tuple));
}

static int tick(fixture *f, int64_t seconds) {
    gale_manual_clock_advance(f->fake.clock, seconds * GALE_SECOND);
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tick(&f->fake, seconds), &f->fake.collector);
}

static void expect_tick(fixture *f, int64_t seconds, const char *emitted) {
    assert_int_equal(tick(f, seconds), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
    assert_int_equal(f->fake.acks, 0); /* ticks are not acked */
}

static void counts_slide_and_a_zero_is_told_once(void **state) {
    (void)state;
    fixture f;
    begin(&f, 9, 3);
    expect_tick(&f, 3, "");
    take(&f, "a");
    take(&f, "b");
    take(&f, "a");
    expect_tick(&f, 3, "~[\"a\",2,6]\n~[\"b\",1,6]\n");
    take(&f, "b");
    expect_tick(&f, 3, "~[\"a\",2,9]\n~[\"b\",2,9]\n");
    expect_tick(&f, 3, "~[\"a\",2,9]\n~[\"b\",2,9]\n");
    expect_tick(&f, 3, "~[\"a\",0,9]\n~[\"b\",1,9]\n");
    expect_tick(&f, 3, "~[\"b\",0,9]\n");
    expect_tick(&f, 3, "");
    end(&f);
}

static void what_the_window_holds_comes_out_when_the_input_has_ended(void **state) {
    (void)state;
    fixture f;
    begin(&f, 9, 3);
    take(&f, "a");
    expect_tick(&f, 3, "~[\"a\",1,3]\n");
    take(&f, "a");
    take(&f, "b");
    gale_manual_clock_advance(f.fake.clock, 2 * GALE_SECOND);
    fake_forget(&f.fake);
    assert_int_equal(f.bolt.ops->finish(f.self, &f.fake.collector), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "~[\"a\",2,5]\n~[\"b\",1,5]\n");
    end(&f);
}

static void the_example_of_storms_documentation_holds(void **state) {
    (void)state;
    static const int counts[] = { 1, 2, 3, 4, 4, 3, 2, 1, 0 };
    fixture f;
    begin(&f, 5, 1);
    for (int i = 0; i < 9; i++) {
        if (i < 4) take(&f, "a");
        char wanted[40];
        snprintf(wanted, sizeof wanted, "~[\"a\",%d,%d]\n", counts[i], i < 4 ? i + 1 : 5);
        expect_tick(&f, 1, wanted);
    }
    expect_tick(&f, 1, "");
    end(&f);
}

static void the_length_follows_irregular_ticks(void **state) {
    (void)state;
    static const int ticks[] = { 3, 4, 3, 3, 3 }, lengths[] = { 3, 7, 10, 10, 9 };
    fixture f;
    begin(&f, 9, 3);
    for (int i = 0; i < 5; i++) {
        take(&f, "a");
        assert_int_equal(tick(&f, ticks[i]), 0);
        char wanted[40];
        snprintf(wanted, sizeof wanted, ",%d]\n", lengths[i]);
        assert_non_null(strstr(fake_text(&f.fake.emitted), wanted));
    }
    end(&f);
}

static void a_wrong_length_is_warned_of_once(void **state) {
    (void)state;
    fixture f;
    begin(&f, 9, 3);
    for (int i = 0; i < 6; i++) {
        expect_tick(&f, 3, "");
        assert_string_equal(fake_text(&f.fake.logged), ""); /* nothing is wrong while it fills */
    }
    expect_tick(&f, 4, "");
    assert_string_equal(fake_text(&f.fake.logged), "the window's actual length is 10 seconds, it should be 9\n");
    expect_tick(&f, 3, "");
    assert_string_equal(fake_text(&f.fake.logged), "");
    end(&f);
}

static void a_window_that_is_too_long_before_it_is_full_is_warned_of(void **state) {
    (void)state;
    fixture f;
    begin(&f, 9, 3);
    expect_tick(&f, 10, "");
    assert_string_equal(fake_text(&f.fake.logged), "the window's actual length is 10 seconds, it should be 9\n");
    end(&f);
}

/* Ticks keep their cadence, but each is executed a little late: now more, now less than the one a window before. */
static void the_length_is_the_windows_however_late_each_tick_is(void **state) {
    (void)state;
    static const int64_t windows[][2] = { { 3, 1 }, { 9, 3 }, { 60, 5 }, { 300, 60 } };
    gx_random late = gx_random_new(7, 7);
    for (size_t w = 0; w < 4; w++)
        for (int run = 0; run < 100; run++) {
            int64_t window = windows[w][0], emit = windows[w][1], before = 0;
            fixture f;
            begin(&f, window, emit);
            for (int64_t i = 1; i <= 3 * window / emit; i++) {
                int64_t at = i * emit * GALE_SECOND + gx_random_below(&late, 499) * GALE_MILLISECOND;
                gale_manual_clock_advance(f.fake.clock, at - before);
                before = at;
                take(&f, "a");
                assert_int_equal(tick(&f, 0), 0);
                char wanted[40];
                int64_t length = i * emit < window ? i * emit : window;
                snprintf(wanted, sizeof wanted, ",%lld]\n", (long long)length);
                assert_non_null(strstr(fake_text(&f.fake.emitted), wanted));
                assert_string_equal(fake_text(&f.fake.logged), "");
            }
            end(&f);
        }
}

static void a_window_that_is_no_multiple_is_cut_as_storm_does(void **state) {
    (void)state;
    fixture f;
    begin(&f, 10, 4); /* two slots, eight seconds */
    take(&f, "a");
    expect_tick(&f, 4, "~[\"a\",1,4]\n");
    expect_tick(&f, 4, "~[\"a\",1,8]\n");
    expect_tick(&f, 4, "~[\"a\",0,8]\n");
    end(&f);
}

static void any_type_is_counted(void **state) {
    (void)state;
    fixture f;
    begin(&f, 2, 1);
    const gale_value values[] = { gale_i64(1), gale_f64(1), gale_null(), gale_i64(1) };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, &values[i], 1), &f.fake.collector), 0);
    }
    expect_tick(&f, 1, "~[1,2,1]\n~[1.0,1,1]\n~[null,1,1]\n");
    end(&f);
}

static void a_field_is_counted_that_is_not_the_first(void **state) {
    (void)state;
    fixture f;
    gale_value pair[2] = { gale_text("h"), gale_text("r") };
    fake_init(&f.fake);
    assert_int_equal(gale_field_rolling_count_bolt("request", 2, 1, &f.bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
    fake_source(&f.fake, "parse", "host, request");
    for (int i = 0; i < 3; i++)
        assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, pair, 2), &f.fake.collector), 0);
    assert_int_equal(f.fake.acks, 3);
    expect_tick(&f, 1, "~[\"r\",3,1]\n");
    end(&f);
}

static void a_tuple_without_values_fails_unacked(void **state) {
    (void)state;
    fixture f;
    begin(&f, 2, 1);
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tuple(&f.fake, NULL, 0), &f.fake.collector), GALE_FIELDS);
    assert_int_equal(f.fake.acks, 0);
    end(&f);
}

static void a_failing_emit_is_told_and_the_window_moves_on(void **state) {
    (void)state;
    fixture f;
    begin(&f, 2, 1);
    take(&f, "a");
    take(&f, "b");
    f.fake.emit_error = GALE_NO_MEMORY;
    f.fake.emits_before = 1;
    assert_int_equal(tick(&f, 1), GALE_NO_MEMORY);
    f.fake.emit_error = 0;
    expect_tick(&f, 1, "~[\"a\",1,2]\n~[\"b\",1,2]\n");
    expect_tick(&f, 1, "~[\"a\",0,2]\n~[\"b\",0,2]\n");
    expect_tick(&f, 1, "");
    end(&f);
}

static void arguments_are_checked(void **state) {
    (void)state;
    static const int64_t wrong[][2] = { { 9, 0 },  { 9, -1 },        { 5, 3 },         { 0, 1 },
                                        { -9, 3 }, { 3, INT64_MAX }, { INT64_MAX, 1 }, { 1, 1 } };
    gale_bolt bolt = { 0 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(gale_rolling_count_bolt(wrong[i][0], wrong[i][1], &bolt, &error), GALE_INVALID);
        assert_true(error.length > 0);
    }
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_rolling_count_bolt(9, 0, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "rolling count bolt: emit_seconds is 0, must be 1 to 2147483647");
    assert_int_equal(gale_rolling_count_bolt(5, 3, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text,
                        "rolling count bolt: a window of 5 seconds, emitted every 3, has 1 slots, must have 2 "
                        "to 1000000");
    assert_null(bolt.ops);
}

static void the_definition_asks_for_its_tick(void **state) {
    (void)state;
    gale_bolt bolt;
    assert_int_equal(gale_rolling_count_bolt(9, 3, &bolt, NULL), 0);
    assert_int_equal(bolt.ops->kind, GALE_BOLT_MANUAL);
    assert_int_equal(bolt.setting_count, 1);
    assert_string_equal(bolt.settings[0].key, "topology.tick.tuple.freq.secs");
    assert_int_equal(bolt.settings[0].value.as.i64, 3);
    assert_string_equal(bolt.outputs[0].fields, "obj, count, actualWindowLengthInSeconds");
    bolt.free_user(bolt.user);
}

static void every_failing_allocation_is_survived_and_counts_stay_right(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 30; n++) {
        fixture f;
        fake_init(&f.fake);
        assert_int_equal(gale_rolling_count_bolt(9, 3, &f.bolt, NULL), 0);
        f.fake.fail_at = n;
        if (fake_prepare(&f.fake, &f.bolt, &f.self) < 0) assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        for (int i = 0; i < 200; i++) {
            gale_value value = gale_i64(i);
            const gale_tuple *tuple = fake_tuple(&f.fake, &value, 1);
            if (f.bolt.ops->execute(f.self, tuple, &f.fake.collector) < 0) {
                assert_int_equal(f.bolt.ops->execute(f.self, tuple, &f.fake.collector), 0);
            }
        }
        assert_int_equal(f.fake.acks, 200);
        assert_int_equal(tick(&f, 3), 0);
        assert_int_equal(f.fake.emissions, 200);
        assert_null(strstr(fake_text(&f.fake.emitted), ",2,3]"));
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_slide_and_a_zero_is_told_once),
        cmocka_unit_test(what_the_window_holds_comes_out_when_the_input_has_ended),
        cmocka_unit_test(the_example_of_storms_documentation_holds),
        cmocka_unit_test(the_length_follows_irregular_ticks),
        cmocka_unit_test(a_wrong_length_is_warned_of_once),
        cmocka_unit_test(a_window_that_is_too_long_before_it_is_full_is_warned_of),
        cmocka_unit_test(the_length_is_the_windows_however_late_each_tick_is),
        cmocka_unit_test(a_window_that_is_no_multiple_is_cut_as_storm_does),
        cmocka_unit_test(any_type_is_counted),
        cmocka_unit_test(a_field_is_counted_that_is_not_the_first),
        cmocka_unit_test(a_tuple_without_values_fails_unacked),
        cmocka_unit_test(a_failing_emit_is_told_and_the_window_moves_on),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(the_definition_asks_for_its_tick),
        cmocka_unit_test(every_failing_allocation_is_survived_and_counts_stay_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
