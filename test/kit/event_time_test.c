#include "kit/streams.h"

#include <gale/kit.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static void begin(fixture *f, int64_t lateness) {
    gale_event_time_options options = { .size = sizeof options, .output = "who", .lateness_seconds = lateness };
    fake_init(&f->fake);
    streams_use(&f->fake);
    fake_source(&f->fake, "parse", "who, time");
    assert_int_equal(gale_event_time_bolt(&options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int take_value(fixture *f, gale_value time) {
    gale_value values[2] = { gale_text("a"), time };
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 2), &f->fake.collector);
}

static int take(fixture *f, int64_t time) {
    return take_value(f, gale_i64(time));
}

static void expect(fixture *f, int64_t time, const char *emitted) {
    assert_int_equal(take(f, time), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void a_tuple_passes_up_to_the_lateness_and_is_late_behind_it(void **state) {
    (void)state;
    fixture f;
    begin(&f, 10);
    expect(&f, 100, "2:~[90,100]\n[\"a\"]\n");
    expect(&f, 100, "[\"a\"]\n");
    expect(&f, 90, "[\"a\"]\n");
    expect(&f, 89, "1:[\"a\",11,1]\n");
    expect(&f, 101, "2:~[91,101]\n[\"a\"]\n");
    expect(&f, 90, "1:[\"a\",11,2]\n");
    expect(&f, -5, "1:[\"a\",106,3]\n");
    expect(&f, 1000, "2:~[990,1000]\n[\"a\"]\n");
    end(&f);
}

static void without_lateness_time_must_not_go_back(void **state) {
    (void)state;
    fixture f;
    begin(&f, 0);
    expect(&f, -7, "2:~[-7,-7]\n[\"a\"]\n");
    expect(&f, -7, "[\"a\"]\n");
    expect(&f, -8, "1:[\"a\",1,1]\n");
    end(&f);
}

static void late_tuples_that_nobody_takes_are_counted_and_logged(void **state) {
    (void)state;
    fixture f;
    begin(&f, 0);
    streams_unheard = 1 << 1;
    expect(&f, 5, "2:~[5,5]\n[\"a\"]\n");
    expect(&f, 4, "");
    assert_string_equal(
        fake_text(&f.fake.logged),
        "a tuple is 1 second behind the newest, where latenessSeconds allows 0, and is left out, as all "
        "such will be; subscribe to the stream 'late', or raise latenessSeconds\n");
    fake_forget(&f.fake);
    f.bolt.ops->cleanup(f.self);
    f.self = NULL;
    assert_string_equal(fake_text(&f.fake.logged),
                        "1 tuple was more than 0 seconds late; who subscribes to the stream 'late' gets them\n");
    end(&f);
}

/* A run that follows its input never comes to its end. */
static void late_tuples_that_nobody_takes_are_told_of_at_each_power_of_ten(void **state) {
    (void)state;
    static const char tenth[] =
        "10 tuples so far were more than 5 seconds late and left out, the last one by 6; subscribe "
        "to the stream 'late', or raise latenessSeconds\n";
    fixture f;
    begin(&f, 5);
    streams_unheard = 1 << 1;
    expect(&f, 106, "2:~[101,106]\n[\"a\"]\n");
    uint32_t told = 0;
    for (int i = 1; i <= 1000; i++) {
        expect(&f, 100, "");
        bool logs = *fake_text(&f.fake.logged) != 0;
        assert_int_equal(logs, i == 1 || i == 10 || i == 100 || i == 1000);
        if (i == 10) assert_string_equal(fake_text(&f.fake.logged), tenth);
        told += logs;
    }
    assert_int_equal(told, 4);
    streams_unheard = 0;
    expect(&f, 100, "1:[\"a\",6,1001]\n");
    assert_string_equal(fake_text(&f.fake.logged), "");
    end(&f);
}

static void what_could_not_be_told_is_told_with_the_next_tuple(void **state) {
    (void)state;
    fixture f;
    begin(&f, 10);
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(take(&f, 100), GALE_NO_MEMORY);
    f.fake.emits_before = 1;
    assert_int_equal(take(&f, 100), GALE_NO_MEMORY);
    assert_string_equal(fake_text(&f.fake.emitted), "2:~[90,100]\n");
    assert_int_equal(take(&f, 50), GALE_NO_MEMORY);
    f.fake.emit_error = 0;
    expect(&f, 100, "[\"a\"]\n");
    expect(&f, 50, "1:[\"a\",50,1]\n"); /* not counted when it could not be emitted */
    end(&f);
}

static void expect_of(fixture *f, gale_value time, const char *emitted) {
    assert_int_equal(take_value(f, time), 0);
    assert_string_equal(fake_text(&f->fake.emitted), emitted);
}

static void fractions_of_a_second_decide_what_is_late_and_watermarks_are_whole(void **state) {
    (void)state;
    fixture f;
    begin(&f, 1);
    expect_of(&f, gale_f64(1789000010.75), "2:~[1789000009,1789000010]\n[\"a\"]\n");
    expect_of(&f, gale_f64(1789000010.875), "[\"a\"]\n"); /* the same second: no other watermark */
    expect_of(&f, gale_f64(1789000009.875), "[\"a\"]\n");
    expect_of(&f, gale_f64(1789000009.75), "1:[\"a\",1.125,1]\n");
    expect_of(&f, gale_i64(1789000011), "2:~[1789000010,1789000011]\n[\"a\"]\n"); /* both types in one stream */
    expect_of(&f, gale_f64(-0.5), "1:[\"a\",1789000011.5,2]\n");
    end(&f);
}

static void before_1970_the_watermark_is_rounded_down_too(void **state) {
    (void)state;
    fixture f;
    begin(&f, 0);
    expect_of(&f, gale_f64(-1.5), "2:~[-2,-2]\n[\"a\"]\n");
    expect_of(&f, gale_f64(-1.25), "[\"a\"]\n");
    expect_of(&f, gale_f64(-1.375), "1:[\"a\",0.125,1]\n");
    end(&f);
}

static void what_is_no_time_fails(void **state) {
    (void)state;
    fixture f;
    begin(&f, 1);
    assert_int_equal(take_value(&f, gale_text("noon")), GALE_TYPE);
    assert_int_equal(take_value(&f, gale_null()), GALE_TYPE);
    assert_int_equal(take(&f, INT64_C(1795370400000)), GALE_INVALID); /* milliseconds */
    assert_int_equal(take(&f, INT64_C(100000000000)), GALE_INVALID);
    assert_int_equal(take(&f, INT64_MAX), GALE_INVALID);
    assert_int_equal(take(&f, INT64_MIN), GALE_INVALID);
    assert_string_equal(fake_text(&f.fake.reports),
                        "event time: the time -9223372036854775808 of component 'parse' is before the year 1824: event "
                        "times are seconds since 1970; milliseconds become seconds by `format: epoch_ms` of "
                        "gale.bolt.Timestamp, or by `time // 1000` in gale.bolt.Map\n");
    fake_source(&f.fake, "parse", "who, tine");
    assert_int_equal(take(&f, 1), GALE_FIELDS);
    fake_source(&f.fake, "parse", "whom, time");
    assert_int_equal(take(&f, 1), GALE_FIELDS);
    assert_string_equal(fake_text(&f.fake.emitted), "");
    assert_int_equal(f.bolt.ops->execute(f.self, fake_tick(&f.fake, 1), &f.fake.collector), 0);
    end(&f);
}

static void it_is_one_task(void **state) {
    (void)state;
    fixture f;
    gale_event_time_options options = { .size = sizeof options, .output = "who" };
    fake_init(&f.fake);
    f.fake.context.task_count = 2;
    assert_int_equal(gale_event_time_bolt(&options, &f.bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), GALE_INVALID);
    assert_string_equal(fake_text(&f.fake.reports),
                        "event time: 2 tasks of 'subject' would each see a part of the times; it must be one\n");
    f.fake.context.task_count = 1;
    f.fake.fail_at = f.fake.allocations + 1;
    assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), GALE_NO_MEMORY);
    end(&f);
}

static void arguments_are_checked(void **state) {
    (void)state;
    gale_bolt bolt = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_event_time_options options = { .size = sizeof options };
    assert_int_equal(gale_event_time_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "event time bolt: output names no field");
    options.output = "a";
    options.lateness_seconds = -1;
    assert_int_equal(gale_event_time_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "event time bolt: lateness_seconds is -1, must be 0 to 1000000000");
    options.lateness_seconds = INT64_MAX;
    assert_int_equal(gale_event_time_bolt(&options, &bolt, &error), GALE_INVALID);
    options.lateness_seconds = 1;
    options.time = "a, b";
    assert_int_equal(gale_event_time_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "event time bolt: time names 2 fields, must name one: 'a, b'");
    assert_null(bolt.ops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tuple_passes_up_to_the_lateness_and_is_late_behind_it),
        cmocka_unit_test(without_lateness_time_must_not_go_back),
        cmocka_unit_test(late_tuples_that_nobody_takes_are_counted_and_logged),
        cmocka_unit_test(late_tuples_that_nobody_takes_are_told_of_at_each_power_of_ten),
        cmocka_unit_test(what_could_not_be_told_is_told_with_the_next_tuple),
        cmocka_unit_test(fractions_of_a_second_decide_what_is_late_and_watermarks_are_whole),
        cmocka_unit_test(before_1970_the_watermark_is_rounded_down_too),
        cmocka_unit_test(what_is_no_time_fails),
        cmocka_unit_test(it_is_one_task),
        cmocka_unit_test(arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
