#include "kit/rig.h"

#include <gale/kit.h>
#include <math.h>
#include <stdio.h>

static int make(gale_rate_limit_options options, gale_bolt *ret_bolt, gale_error *error) {
    options.size = sizeof options;
    return gale_rate_limit_bolt(&options, ret_bolt, error);
}

static void begin(rig *r, gale_rate_limit_options options) {
    options.fields = "user, n";
    rig_begin(r, make(options, &r->bolt, NULL), "user, n");
}

static const char *take(rig *r, int64_t user, int64_t n) {
    const gale_value values[] = { gale_i64(user), gale_i64(n) };
    assert_int_equal(rig_take(r, values, 2), GALE_OK);
    return fake_text(&r->fake.emitted);
}

/* How many of so many pass at once. */
static int count(rig *r, int64_t user, int tuples) {
    int passed = 0;
    for (int i = 0; i < tuples; i++) passed += *take(r, user, i) == '[';
    return passed;
}

static void pass_time(rig *r, int64_t milliseconds) {
    (void)gale_manual_clock_advance(r->fake.clock, milliseconds * GALE_MILLISECOND);
}

static void so_many_pass_a_second(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_rate_limit_options){ .rate = 10 });
    assert_int_equal(count(&r, 0, 50), 10); /* a burst of one second */
    assert_int_equal(count(&r, 0, 50), 0);
    pass_time(&r, 100);
    assert_int_equal(count(&r, 0, 50), 1);
    pass_time(&r, 99);
    assert_int_equal(count(&r, 0, 50), 0);
    pass_time(&r, 1);
    assert_int_equal(count(&r, 0, 50), 1);
    pass_time(&r, 3600000);
    assert_int_equal(count(&r, 0, 50), 10);
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void a_burst_is_as_deep_as_it_says(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_rate_limit_options){ .rate = 0.5 });
    assert_int_equal(count(&r, 0, 9), 1);
    pass_time(&r, 1999);
    assert_int_equal(count(&r, 0, 9), 0);
    pass_time(&r, 1);
    assert_int_equal(count(&r, 0, 9), 1);
    rig_end(&r);
    begin(&r, (gale_rate_limit_options){ .rate = 100, .burst = 5 });
    assert_int_equal(count(&r, 0, 9), 5);
    pass_time(&r, 30);
    assert_int_equal(count(&r, 0, 9), 3);
    rig_end(&r);
    begin(&r, (gale_rate_limit_options){ .rate = 2.5 });
    assert_int_equal(count(&r, 0, 9), 3);
    rig_end(&r);
}

/* Over a long time, in steps of a second with more than enough in each, the rate is what it says to 0.05 %. */
static void a_rate_is_kept_over_a_long_time(void **state) {
    (void)state;
    static const double rates[] = { 3, 7.3, 300 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        rig r;
        int64_t passed = 0;
        begin(&r, (gale_rate_limit_options){ .rate = rates[i], .burst = 1000 });
        (void)count(&r, 0, 1000);
        for (int second = 0; second < 200; second++) {
            pass_time(&r, 1000);
            passed += count(&r, 0, (int)rates[i] + 20);
        }
        double wanted = 200 * rates[i];
        assert_true(fabs((double)passed - wanted) <= 1 + wanted / 2000);
        rig_end(&r);
    }
}

static void each_key_has_a_rate_of_its_own(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_rate_limit_options){ .rate = 1, .burst = 2, .key = "user" });
    for (int64_t user = 0; user < 100; user++) assert_int_equal(count(&r, user, 5), 2);
    for (int64_t user = 0; user < 100; user++) assert_int_equal(count(&r, user, 5), 0);
    pass_time(&r, 1000);
    for (int64_t user = 0; user < 100; user++) assert_int_equal(count(&r, user, 5), 1);
    rig_end(&r);
}

/* Whatever is forgotten, no key has more than one with a bucket of its own that is never forgotten. */
static void forgetting_gives_nobody_more(void **state) {
    (void)state;
    gx_random random = gx_random_new(3, 1);
    rig keyed, alone[4];
    begin(&keyed, (gale_rate_limit_options){ .rate = 2, .burst = 3, .key = "user" });
    for (int i = 0; i < 4; i++) begin(&alone[i], (gale_rate_limit_options){ .rate = 2, .burst = 3 });
    for (int round = 0; round < 4000; round++) {
        int64_t user = gx_random_below(&random, 4), step = gx_random_below(&random, 8) ? 100 : 3000;
        step = gx_random_below(&random, (uint32_t)step);
        pass_time(&keyed, step);
        for (int i = 0; i < 4; i++) pass_time(&alone[i], step);
        char wanted[60];
        snprintf(wanted, sizeof wanted, "%s", take(&alone[user], user, round));
        assert_string_equal(take(&keyed, user, round), wanted);
    }
    rig_end(&keyed);
    for (int i = 0; i < 4; i++) rig_end(&alone[i]);
}

static void there_are_no_more_keys_than_there_may_be(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_rate_limit_options){ .rate = 0.001, .key = "user", .max_keys = 100 });
    uint64_t blocks = 0;
    for (int64_t user = 0; user < 100000; user++) {
        assert_int_equal(count(&r, user, 1), 1);
        if (user == 1000) blocks = r.fake.blocks;
    }
    assert_true(r.fake.blocks <= blocks + 2);
    assert_int_equal(count(&r, 99999, 1), 0);
    assert_int_equal(count(&r, 0, 1), 1);
    rig_clean(&r);
    assert_non_null(strstr(fake_text(&r.fake.logged), "keys were forgotten "));
    assert_non_null(
        strstr(fake_text(&r.fake.logged), " times, for there were more than 100; each of them began anew\n"));
    rig_end(&r);
}

static void what_is_above_the_rate_is_counted_or_goes_to_a_stream(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_rate_limit_options){ .rate = 1 });
    assert_string_equal(take(&r, 0, 1), "[0,1]\n");
    assert_string_equal(take(&r, 0, 2), "");
    assert_string_equal(take(&r, 0, 3), "");
    rig_clean(&r);
    assert_string_equal(fake_text(&r.fake.logged), "2 tuples were above 1 a second, and dropped\n");
    assert_int_equal(r.bolt.output_count, 1);
    rig_end(&r);
    begin(&r, (gale_rate_limit_options){ .rate = 1, .over = GALE_RATE_LIMIT_STREAM });
    assert_string_equal(take(&r, 0, 1), "[0,1]\n");
    assert_string_equal(take(&r, 0, 2), "1:[0,2]\n");
    streams_unheard = 1 << 1;
    assert_string_equal(take(&r, 0, 3), "");
    rig_clean(&r);
    assert_string_equal(fake_text(&r.fake.logged), "1 tuple was above 1 a second, and dropped\n");
    assert_int_equal(r.bolt.output_count, 2);
    assert_string_equal(r.bolt.outputs[1].fields, "user, n");
    rig_end(&r);
}

static void what_it_cannot_read_or_emit_fails(void **state) {
    (void)state;
    static char lengthy[70000];
    const gale_value values[] = { gale_i64(1), gale_i64(2) },
                     large[] = { gale_string(lengthy, sizeof lengthy), gale_i64(2) };
    rig r;
    begin(&r, (gale_rate_limit_options){ .rate = 1, .key = "user" });
    assert_int_equal(rig_take(&r, large, 2), GALE_TOO_LARGE);
    r.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(rig_take(&r, values, 2), GALE_NO_MEMORY);
    fake_source(&r.fake, "others", "user, m");
    assert_int_equal(rig_take(&r, values, 2), GALE_FIELDS);
    fake_source(&r.fake, "others", "usr, n");
    assert_int_equal(rig_take(&r, values, 2), GALE_FIELDS);
    rig_end(&r);
}

static int make_any(gale_bolt *ret_bolt) {
    return make((gale_rate_limit_options){ .fields = "line", .rate = 1, .key = "line" }, ret_bolt, NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_any, "line", "a key that is longer than those that lie in the table", 8);
}

#define REFUSES(message, ...) RIG_REFUSES(make((gale_rate_limit_options){ __VA_ARGS__ }, &bolt, &error), message)

static void options_that_are_wrong_are_told(void **state) {
    (void)state;
    gale_rate_limit_options options = { .size = 0 };
    REFUSES("rate limit bolt: fields names no field", .rate = 1);
    REFUSES("rate limit bolt: rate is 0 a second, must be above 0 and at most 1e+06", .fields = "a");
    REFUSES("rate limit bolt: rate is -1 a second, must be above 0 and at most 1e+06", .fields = "a", .rate = -1);
    REFUSES("rate limit bolt: rate is nan a second, must be above 0 and at most 1e+06", .fields = "a",
            .rate = (double)NAN);
    REFUSES("rate limit bolt: rate is 2e+06 a second, must be above 0 and at most 1e+06", .fields = "a", .rate = 2e6);
    REFUSES("rate limit bolt: a burst of 1e+06 at 1e-06 a second takes more than 1e+09 seconds", .fields = "a",
            .rate = 1e-6, .burst = 1000000);
    REFUSES("rate limit bolt: over is 2, which is neither drop (0) nor stream (1)", .fields = "a", .rate = 1,
            .over = 2);
    REFUSES("rate limit bolt: key has an empty name: 'a,'", .fields = "a", .rate = 1, .key = "a,");
    RIG_REFUSES(gale_rate_limit_bolt(&options, &bolt, &error),
                "rate limit bolt: options.size is 0; set it to the size of the structure");
    RIG_REFUSES(gale_rate_limit_bolt(&options, NULL, &error), "rate limit bolt: there is no place for its definition");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_pass_a_second),
        cmocka_unit_test(a_burst_is_as_deep_as_it_says),
        cmocka_unit_test(a_rate_is_kept_over_a_long_time),
        cmocka_unit_test(each_key_has_a_rate_of_its_own),
        cmocka_unit_test(forgetting_gives_nobody_more),
        cmocka_unit_test(there_are_no_more_keys_than_there_may_be),
        cmocka_unit_test(what_is_above_the_rate_is_counted_or_goes_to_a_stream),
        cmocka_unit_test(what_it_cannot_read_or_emit_fails),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_that_are_wrong_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
