#include "kit/rig.h"

#include "kit/moment.h"

#include <gale/kit.h>
#include <math.h>
#include <stdio.h>

static int make(gale_timestamp_options options, gale_bolt *ret_bolt, gale_error *error) {
    options.size = sizeof options;
    return gale_timestamp_bolt(&options, ret_bolt, error);
}

static void begin(rig *r, gale_timestamp_options options) {
    if (!options.fields) options.fields = "at";
    rig_begin(r, make(options, &r->bolt, NULL), options.fields);
}

/* One text in one format. */
static void expect(const char *format, const char *text, const char *emitted) {
    rig r;
    begin(&r, (gale_timestamp_options){ .format = format });
    rig_expect(&r, text, emitted);
    rig_end(&r);
}

static void each_format_reads_what_it_is_for(void **state) {
    (void)state;
    expect(NULL, "2026-11-22T19:00:05Z", "[1795374005]\n");
    expect("iso8601", "2026-11-22T19:00:05.25+01:00", "[1795370405]\n");
    expect("iso8601", "2026-11-22 19:00", "[1795374000]\n");
    expect("iso8601", "2026-11-22", "[1795305600]\n");
    expect("epoch", "971211336", "[971211336]\n");
    expect("epoch", "-1.5", "[-2]\n");
    expect("epoch_ms", "971211336999", "[971211336]\n");
    expect("clf", "10/Oct/2000:13:55:36 -0700", "[971211336]\n");
    expect("%d.%m.%Y %H:%M", "10.10.2000 13:55", "[971186100]\n");
    expect("%s", "971211336", "[971211336]\n");
    expect("%Y-%j", "2000-366", "[978220800]\n");
    expect("%d %b %y %I:%M %p %%", "1 jan 99   12:30 am %", "[915150600]\n");
}

static void what_is_no_time_goes_to_a_stream_of_its_own(void **state) {
    (void)state;
    static const char *const isos[] = { "",
                                        "yesterday",
                                        "2026-13-01",
                                        "2026-02-29",
                                        "2026-11-22T24:00",
                                        "2026-11-22T19:00:05+1",
                                        "2026-11-22 ",
                                        " 2026-11-22",
                                        "2026-11-22T19:00:05.",
                                        "1795374005" };
    char wanted[200];
    for (size_t i = 0; i < sizeof isos / sizeof *isos; i++) {
        snprintf(wanted, sizeof wanted, "1:[\"%s\",\"it is no time like 2026-11-22T19:00:05.25+01:00\"]\n", isos[i]);
        expect(NULL, isos[i], wanted);
    }
    expect("epoch", "1e9", "1:[\"1e9\",\"it is no number of seconds since 1970 within the years 0 to 9999\"]\n");
    expect("epoch", "1.", "1:[\"1.\",\"it is no number of seconds since 1970 within the years 0 to 9999\"]\n");
    expect("epoch", "253402300800",
           "1:[\"253402300800\",\"it is no number of seconds since 1970 within the years 0 to 9999\"]\n");
    expect("epoch_ms", "x", "1:[\"x\",\"it is no number of milliseconds since 1970 within the years 0 to 9999\"]\n");
    expect("clf", "10/Okt/2000:13:55:36 -0700",
           "1:[\"10/Okt/2000:13:55:36 -0700\",\"it is no time like 10/Oct/2000:13:55:36 -0700\"]\n");
    expect("%H:%M", "25:00", "1:[\"25:00\",\"it is no time as '%H:%M' says\"]\n");
}

static void numbers_are_times_where_the_format_counts(void **state) {
    (void)state;
    rig r;
    gale_value whole = gale_i64(-1), part = gale_f64(1.75), bad = gale_f64((double)NAN), null = gale_null();
    begin(&r, (gale_timestamp_options){ .format = "epoch", .unit = GALE_TIMESTAMP_MS });
    rig_expect_of(&r, &whole, 1, "[-1000]\n");
    rig_expect_of(&r, &part, 1, "[1750]\n");
    rig_expect_of(&r, &bad, 1, "1:[null,\"it is no number of seconds since 1970 within the years 0 to 9999\"]\n");
    rig_expect_of(&r, &null, 1, "1:[null,\"it is no number of seconds since 1970 within the years 0 to 9999\"]\n");
    rig_fails(
        &r, gale_bool(true), GALE_TYPE,
        "timestamp bolt: field 'at' (value 0) of component 'lines' must be a number, string or bytes, is bool true\n");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .format = "epoch_ms", .unit = GALE_TIMESTAMP_NS });
    rig_expect_of(&r, &whole, 1, "[-1000000]\n");
    rig_expect_of(&r, &part, 1, "[1750000]\n");
    whole = gale_i64(INT64_MIN);
    rig_expect_of(
        &r, &whole, 1,
        "1:[-9223372036854775808,\"it is no number of milliseconds since 1970 within the years 0 to 9999\"]\n");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .format = NULL });
    rig_fails(&r, whole, GALE_TYPE,
              "timestamp bolt: field 'at' (value 0) of component 'lines' must be string or bytes, is i64 "
              "-9223372036854775808\n");
    rig_end(&r);
}

static void a_fraction_is_kept_to_the_nanosecond(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_timestamp_options){ .unit = GALE_TIMESTAMP_NS });
    rig_expect(&r, "2026-11-22T19:00:05.1234567899Z", "[1795374005123456789]\n");
    rig_expect(&r, "1969-12-31T23:59:59.9Z", "[-100000000]\n");
    rig_expect(&r, "2300-01-01", "1:[\"2300-01-01\",\"nanoseconds are counted in the years 1678 to 2261 only\"]\n");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .format = "epoch", .unit = GALE_TIMESTAMP_NS });
    rig_expect(&r, "1795374005.123456789", "[1795374005123456789]\n");
    rig_expect(&r, "-0.000000001", "[-1]\n");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .format = "epoch_ms", .unit = GALE_TIMESTAMP_NS });
    rig_expect(&r, "-1.5", "[-1500000]\n");
    rig_end(&r);
}

static void a_zone_is_for_texts_that_have_none(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_timestamp_options){ .zone = "+02:00" });
    rig_expect(&r, "1970-01-01T02:00", "[0]\n");
    rig_expect(&r, "1970-01-01T02:00Z", "[7200]\n");
    rig_expect(&r, "1970-01-01T02:00-01", "[10800]\n");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .zone = "-0730", .format = "%Y %H:%M %Z" });
    rig_expect(&r, "1970 00:00 UTC", "[0]\n");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .zone = "-0730", .format = "%Y %H:%M" });
    rig_expect(&r, "1970 00:00", "[27000]\n");
    rig_end(&r);
}

/* The run's clock is one that the test moves: what it says are seconds since 1970. */
static void set_clock(rig *r, int64_t second) {
    gale_manual_clock_advance(r->fake.clock, second * GALE_SECOND - gale_context_now(&r->fake.context));
}

static void a_text_without_a_year_is_of_the_one_nearest_to_now(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_timestamp_options){ .format = "syslog" });
    set_clock(&r, 978307200 - 60); /* 2000-12-31T23:59:00Z */
    rig_expect(&r, "Dec 31 23:58:00", "[978307080]\n");
    rig_expect(&r, "Jan  1 00:01:00", "[978307260]\n");
    rig_expect(&r, "Oct 11 22:14:15", "[971302455]\n");
    rig_expect(&r, "Feb 29 00:00:00", "[951782400]\n");
    set_clock(&r, 978307200 + 60); /* 2001-01-01T00:01:00Z */
    rig_expect(&r, "Dec 31 23:58:00", "[978307080]\n");
    rig_expect(&r, "Jan 1 00:00:30", "[978307230]\n");
    rig_expect(&r, "Feb 30 00:00:00", "1:[\"Feb 30 00:00:00\",\"it is no time like Oct 11 22:14:15\"]\n");
    rig_end(&r);
}

static void other_fields_pass_and_the_time_has_its_name(void **state) {
    (void)state;
    rig r;
    const gale_value values[] = { gale_text("h"), gale_text("1970-01-02"), gale_i64(7) };
    begin(&r, (gale_timestamp_options){ .fields = "host, at, n", .field = "at" });
    rig_expect_of(&r, values, 3, "[\"h\",86400,7]\n");
    assert_string_equal(r.bolt.outputs[0].fields, "host, at, n");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .fields = "host, at, n", .field = "at", .as = "time" });
    rig_expect_of(&r, values, 3, "[\"h\",\"1970-01-02\",7,86400]\n");
    assert_string_equal(r.bolt.outputs[0].fields, "host, at, n, time");
    rig_end(&r);
    begin(&r, (gale_timestamp_options){ .fields = "host, at, n", .field = "at", .as = "n" });
    rig_expect_of(&r, values, 3, "[\"h\",\"1970-01-02\",86400]\n");
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void what_nobody_takes_is_told_first_and_counted(void **state) {
    (void)state;
    rig r;
    gale_value whole = gale_i64(INT64_MAX);
    begin(&r, (gale_timestamp_options){ .format = "epoch" });
    streams_unheard = 1 << 1;
    rig_expect_of(&r, &whole, 1, "");
    assert_string_equal(
        fake_text(&r.fake.logged),
        "no time, it is no number of seconds since 1970 within the years 0 to 9999: 9223372036854775807\n");
    rig_clean(&r);
    assert_string_equal(fake_text(&r.fake.logged),
                        "1 line was no time; who subscribes to the stream 'bad' gets them\n");
    rig_end(&r);
}

static void what_cannot_be_emitted_fails(void **state) {
    (void)state;
    rig r;
    gale_value good = gale_text("1970-01-01"), bad = gale_text("x");
    begin(&r, (gale_timestamp_options){ .fields = NULL });
    r.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(rig_take(&r, &good, 1), GALE_NO_MEMORY);
    assert_int_equal(rig_take(&r, &bad, 1), GALE_NO_MEMORY);
    fake_source(&r.fake, "others", "when");
    r.fake.emit_error = 0;
    assert_int_equal(rig_take(&r, &good, 1), GALE_FIELDS);
    rig_end(&r);
}

static int make_any(gale_bolt *ret_bolt) {
    return make((gale_timestamp_options){ .fields = "line" }, ret_bolt, NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_any, "line", "1970-01-01", 2);
}

#define REFUSES(message, ...) RIG_REFUSES(make((gale_timestamp_options){ __VA_ARGS__ }, &bolt, &error), message)

static void options_that_are_wrong_are_told(void **state) {
    (void)state;
    gale_timestamp_options options = { .size = 0 };
    char lengthy[300] = { 0 };
    memset(lengthy, '%', 256);
    REFUSES("timestamp bolt: fields names no field", .field = "a");
    REFUSES("timestamp bolt: field: there is no field 'tim'; did you mean 'time'?", .fields = "host, time",
            .field = "tim");
    REFUSES("timestamp bolt: as names 2 fields, must name one: 'a, b'", .fields = "a", .as = "a, b");
    REFUSES("timestamp bolt: format 'iso' is none of iso8601, epoch, epoch_ms, clf, syslog, nor has it a '%'; did you "
            "mean 'iso8601'?",
            .fields = "a", .format = "iso");
    REFUSES("timestamp bolt: format 'sysolg' is none of iso8601, epoch, epoch_ms, clf, syslog, nor has it a '%'; did "
            "you mean "
            "'syslog'?",
            .fields = "a", .format = "sysolg");
    REFUSES("timestamp bolt: format '%Y %' ends with a '%'", .fields = "a", .format = "%Y %");
    REFUSES("timestamp bolt: format '%Q' has a '%Q', which is none of %Y %y %m %d %e %j %H %I %p %M %S %f %L %b %B %a "
            "%A %z "
            "%Z %s %F %T %%",
            .fields = "a", .format = "%Q");
    REFUSES("timestamp bolt: format has more than 255 bytes", .fields = "a", .format = lengthy);
    REFUSES("timestamp bolt: zone 'Europe/Berlin' is not like +02:00, -0730 or Z", .fields = "a",
            .zone = "Europe/Berlin");
    REFUSES("timestamp bolt: unit is 3, which is neither s (0), ms (1) nor ns (2)", .fields = "a", .unit = 3);
    RIG_REFUSES(gale_timestamp_bolt(&options, &bolt, &error),
                "timestamp bolt: options.size is 0; set it to the size of the structure");
    RIG_REFUSES(gale_timestamp_bolt(&options, NULL, &error), "timestamp bolt: there is no place for its definition");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_reads_what_it_is_for),
        cmocka_unit_test(what_is_no_time_goes_to_a_stream_of_its_own),
        cmocka_unit_test(numbers_are_times_where_the_format_counts),
        cmocka_unit_test(a_fraction_is_kept_to_the_nanosecond),
        cmocka_unit_test(a_zone_is_for_texts_that_have_none),
        cmocka_unit_test(a_text_without_a_year_is_of_the_one_nearest_to_now),
        cmocka_unit_test(other_fields_pass_and_the_time_has_its_name),
        cmocka_unit_test(what_nobody_takes_is_told_first_and_counted),
        cmocka_unit_test(what_cannot_be_emitted_fails),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_that_are_wrong_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
